/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_MESSAGES_H
#define PROVIDERS_MESSAGES_H

/*
 * Messages of the plug-ins shm and ofi, of their engine and of their links. As
 * those of vipl/messages.h: the fault and, after a newline, one remedy; each
 * line fits 80 columns with "vipl: " before it (tests/said/messages.py), and
 * docs/reference/errors.md has all of them. A "%s" at the end of a fault is
 * a reason of at most 42 columns, of MSG_LIMIT or of the system.
 */

/* The engine below them */
#define MSG_ENG_MEMORY		"%s: no memory for a NIC: RLIMIT_DATA or RLIMIT_AS\n" \
				"raise it: ulimit -d, ulimit -v"
#define MSG_ENG_STACK		"%s: no room for a thread: RLIMIT_DATA or RLIMIT_AS\n" \
				"raise it: ulimit -d, ulimit -v"
#define MSG_ENG_THREAD		"%s: cannot start a thread: RLIMIT_NPROC\n" \
				"raise it: ulimit -u"

/* shm */
#define MSG_SHM_VERSION		"shm is of another release than the library"
#define MSG_SHM_NAME		"'shm:%.32s' names no VI NIC\n" \
				"give a number from 0 to 9999, such as shm:0"
#define MSG_SHM_MEMORY		"shm:%.16s: no memory: %s"
#define MSG_SHM_SOCKET		"shm:%.16s: no socket: %s"
#define MSG_SHM_NUMBER		"give a number from 0 to 9999; NICs of one number meet"
#define MSG_SHM_SANDBOX		"memfd_create() fails: a sandbox, or too many open files"
#define MSG_SHM_RING		"no memory for a peer"

/* Limits of the process: the reasons of other messages */
#define MSG_LIMIT		"%s: RLIMIT_%s is %llu\n" \
				"raise the limit: ulimit -%s"
#define MSG_SYSTEM_FILES	"too many open files on this host\n" \
				"as root: sysctl -w fs.file-max=NUMBER"

/* Links between processes: the provider's name and the text */
#define MSG_LINK_TELL		"%s: %s: %s"
#define MSG_LINK_WAIT		"what connects has to wait"
#define MSG_LINK_NAME		"no name to listen at"
#define MSG_LINK_FOREIGN	"the listener there is another user's"
#define MSG_LINK_FULL		"the listener there accepts nothing"
#define MSG_LINK_FILES		"no file for a peer's"
#define MSG_LINK_SOCKET		"no socket to connect with"
#define MSG_LINK_CONNECTION	"no file for a connection"
#define MSG_LINK_PORT		"%s: no port to listen at: %s\n" \
				"other hosts do not find this one; set VIPL_OFI_PORT"
#define MSG_LINK_LIMIT		"%s: a peer is refused: %u of %u peers, %u of %u of its host\n" \
				"raise the limit: ulimit -n"
#define MSG_LINK_REFUSED	"%s: the other end takes no more peers of this host\n" \
				"raise the limit there: ulimit -n"

/* ofi; the texts behind "ofi:DEVICE: " */
#define MSG_OFI_RELEASE		"it is of another release"
#define MSG_OFI_NO_MEMORY	"there is no memory"
#define MSG_OFI_NIC		"ofi:%.24s: %s"
#define MSG_OFI_SELF		"ofi:%.*s at every address does not reach itself\n" \
				"open it with an interface or an address: ofi:tcp,lo"
#define MSG_OFI_NO_ADDRESS	"no IP address on this host\n" \
				"as root: ip link set lo up"
#define MSG_OFI_NO_KIND		"no such kind of libfabric's\n" \
				"use ofi:tcp, ofi:verbs, ofi:psm2 or ofi:efa"
#define MSG_OFI_VIA		"libfabric's via is libvipl itself\n" \
				"open the VI NIC by its own name: viainfo lists them"
#define MSG_OFI_SHM		"libfabric's shm cannot sleep\n" \
				"use shm:0"
#define MSG_OFI_NET		"libfabric's net wakes sleepers without cause\n" \
				"use ofi:tcp"
#define MSG_OFI_SOCKETS		"libfabric's sockets is superseded\n" \
				"use ofi:tcp"
#define MSG_OFI_UDP		"libfabric's udp loses messages\n" \
				"use ofi:tcp"
#define MSG_OFI_PORT		"ofi.port '%.16s' is not the number of a port\n" \
				"correct it in vipl.conf, or VIPL_OFI_PORT"
#define MSG_OFI_PLACE		"no address or interface '%.16s' here\n" \
				"ip address lists them; the interface has to be up"
#define MSG_OFI_CONTROL		"no control socket: %s"
#define MSG_OFI_WAIT		"cannot wait: %s"
#define MSG_OFI_ABSENT		"no %.16s here: %s"
#define MSG_OFI_PART		"%.16s: no %s: %s"
#define MSG_OFI_NOT_AT		"libfabric has no %.16s at %.24s"
#define MSG_OFI_NO_TCP		"libfabric was built without its provider tcp\n" \
				"as root: apt-get install libfabric1"
#define MSG_OFI_NO_PSM2		"no Omni-Path adapter (/dev/hfi1*)"
#define MSG_OFI_NO_EFA		"no EFA adapter\n" \
				"with one, as root: apt-get install ibverbs-providers"
#define MSG_OFI_NO_RDMA		"no RDMA device\n" \
				"as root: rdma link add rxe0 type rxe netdev INTERFACE"
#define MSG_OFI_NO_VERBS	"no RDMA device with an IP address\n" \
				"as root: apt-get install ibverbs-providers"
#define MSG_OFI_LOAD		"no libfabric: %s\n" \
				"as root: apt-get install libfabric1"
#define MSG_OFI_SYMBOL		"libfabric has no %s of version %s\n" \
				"as root: apt-get install libfabric1"
#define MSG_OFI_OWN_CALLS	"the program has its own %s() and its own %s()\n" \
				"run it with the C library's allocator, without LD_PRELOAD"

#endif /* PROVIDERS_MESSAGES_H */

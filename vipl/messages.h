/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_MESSAGES_H
#define VIPL_MESSAGES_H

/*
 * Messages of the library and its built-in provider, and of via(8) without the
 * kernel agent, in one place. A message is
 * the fault and, after a newline, one remedy with its Debian package where it
 * has one. Each line is printed with "vipl: " before it and fits 80 columns
 * (tests/said/messages.py); docs/reference/errors.md has all of them.
 */

#define MSG_AS_ROOT_MODULES	"as root: apt-get install mvia-dkms"
#define MSG_AS_ROOT_ATTACH	"as root: via dev attach %s (package mvia-tools)"
#define MSG_ONE_RELEASE		"as root: install mvia-dkms and libvipl1 of one release"
#define MSG_ONE_LIBRARY		"as root: install libvipl1 and its plug-ins of one release"
#define MSG_TOOLS_RELEASE	"as root: install mvia-dkms and mvia-tools of one release"
#define MSG_PLUGINS		"as root: apt-get install libvipl1-plugins"
#define MSG_OTHER_PLUGINS	"use shm:0 or ofi:tcp; as root: apt-get install libvipl1-plugins"
#define MSG_VIAINFO		"give a name that viainfo lists, such as shm:0"

/* Names of devices */
#define MSG_NOT_A_NAME		"'%.64s' names no VI NIC\n" MSG_VIAINFO
#define MSG_BAD_CHOICE		"%s is '%.64s', which names no VI NIC\n" MSG_VIAINFO
#define MSG_CHOSEN		"VI NIC '%s%s%.64s' is the choice of %s"
#define MSG_PROVIDER_NAME	"'%.32s' is a provider, and names no VI NIC\n" \
				"give a VI NIC of it: %s"
#define MSG_LOG_LEVEL		"VIPL_LOG is '%.32s', which is no level\n" \
				"use debug, info, warn, error or none"
#define MSG_FALLBACK		"no VI NIC '%.48s': %.48s is opened instead\n" \
				"it is \"fallback\" in vipl.conf"
#define MSG_NO_NIC		"no VI NIC on this host\n%s"
#define MSG_NO_MODULES		"no VI NIC: the kernel modules are not installed\n%s"
#define MSG_NO_AGENT		"the kernel agent is not loaded\n" \
				"as root: modprobe via_netdev"
#define MSG_NO_OLD_NAME		"'%.32s' is Ethernet VI NIC %d, which is missing\n%s"

/* Nodes of the kernel's VI NICs */
#define MSG_NO_NODE		"no VI NIC %s: node /dev/%s is missing\n%s"
#define MSG_NO_INTERFACE	"no VI NIC %s, and no interface %s\n" MSG_VIAINFO
#define MSG_LOAD_LO		"as root: modprobe via_lo"
#define MSG_ATTACH_UDP		"as root: via dev attach ADDRESS (package mvia-tools)"
#define MSG_ELSEWHERE		"VI NIC %s is in another network namespace\n" \
				"run there: ip netns exec NAMESPACE PROGRAM"
#define MSG_NO_PERMISSION	"no permission to use /dev/%s: join group via\n" \
				"as root: usermod -aG via USER, who then logs in again"
#define MSG_NOT_A_NODE		"'ka:%.64s' names no VI NIC\n" \
				"give a name that viainfo lists, such as via_lo"
#define MSG_CANNOT_OPEN		"cannot open /dev/%s: %s"
#define MSG_CANNOT_MAP		"cannot map the control page of /dev/%s: %s"
#define MSG_OPEN_FILES		"cannot open /dev/%s: too many open files\n" \
				"raise the limit: ulimit -n"
#define MSG_OTHER_LAYOUT	"/dev/%s: another layout of version %u of the interface\n" \
				MSG_ONE_RELEASE
#define MSG_OTHER_VERSION	"/dev/%s: interface version %u, the library's is %d\n" \
				MSG_ONE_RELEASE
#define MSG_OLD_MODULES		"the kernel modules are older and lack call %#lx\n" \
				MSG_ONE_RELEASE

/* Memory */
#define MSG_NO_MEMORY		"no memory for a VI NIC: RLIMIT_DATA or RLIMIT_AS\n" \
				"raise it: ulimit -d, ulimit -v"
#define MSG_PAGES_QUOTA		"cannot pin %lu bytes: this user's pages are used up\n" \
				"as root: via limit set pages NUMBER (package mvia-tools)"
#define MSG_MEMLOCK		"cannot pin %lu bytes: locked-memory limit %llu KiB\n" \
				"ulimit -l, or memlock in /etc/security/limits.conf"
#define MSG_NOT_WRITABLE	"%.32s: %p is not memory that the program may write"
#define MSG_CUT_POINTER		MSG_NOT_WRITABLE "\n" \
				"a pointer cut to 32 bits? Declare the function it is from"
#define MSG_NO_RESOURCE		"no room for a %s on %.32s: a limit or memory\n" \
				"see the limits: viainfo, via limit (package mvia-tools)"

/* Names and connections; given to the program, not printed */
#define MSG_UNKNOWN_HOST	"unknown host '%.32s' on %.24s\n" \
				"add a line 'ADDRESS NAME' to /etc/vip_hosts"
#define MSG_BAD_ADDRESS		"'%.32s' is no address of %.24s"
#define MSG_NO_ADDRESS_NAME	"no name is known for the address\n" \
				"add a line 'ADDRESS NAME' to /etc/vip_hosts"
#define MSG_NO_ANSWER		"%.48s does not answer (%s)\n" \
				"check that it is up, and on the same network"
#define MSG_NO_SERVER		"nothing waits at that discriminator of %.32s\n" \
				"start the server first"
#define MSG_REJECTED		"%.48s rejects the connection"
#define MSG_MTU_DIFFERS		"the peer's VI has another MaxTransferSize\n" \
				"set the same at both ends"
#define MSG_LEVEL_DIFFERS	"the peer's VI has another ReliabilityLevel\n" \
				"set the same at both ends"

/* Providers */
#define MSG_STATIC		"no provider %.32s: a program linked with -static has none\n" \
				"link it with the shared libvipl (package libvipl-dev)"
#define MSG_NO_PLUGIN_DIR	"no provider %.32s: VIPL_PROVIDERS is no directory\n" \
				"give an absolute path, or unset it"
#define MSG_NO_PLUGIN		"no provider %.32s: %s is missing\n%s"
#define MSG_BAD_PLUGIN		"cannot load provider %.32s: %s\n" MSG_PLUGINS
#define MSG_PLUGIN_VERSION	"provider %.32s speaks version %u, and libvipl version %u\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_INCOMPLETE	"provider %.32s is incomplete (%u bytes)\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_FLAGS	"provider %.32s, release %.16s, has unknown flags 0x%x\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_NAME		"the provider in %.32s.so calls itself '%.32s'\n" \
				"give both one name"
#define MSG_PLUGIN_MANY		"provider %.32s is one too many: at most %u"
#define MSG_PLUGIN_REFUSES	"provider %.32s refuses version %u%s%.200s"
#define MSG_PLUGIN_NESTED	"'%.32s:' is opened while another provider is opened"
#define MSG_PLUGIN_IDENTITY	"provider %.32s opens a NIC without an identity"
#define MSG_PLUGIN_LATER_NIC	"provider %.32s has a NIC of a later interface\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_LATER_EVENT	"provider %.32s has events of a later interface\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_LATER_CONN	"provider %.32s has requests of a later interface\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_SIZES	"provider %.16s: lengths %u, %u, %u exceed %u, %u and %zu\n" \
				MSG_ONE_LIBRARY
#define MSG_PLUGIN_REQUEST	"provider %.16s: request of %u and %u bytes, limits %u, %u\n" \
				MSG_ONE_LIBRARY

/* Files */
#define MSG_CONF_KEYWORD	"%s:%d: unknown keyword '%.32s' ignored\n" \
				"known: alias, default, fallback, PROVIDER.KEY"
#define MSG_CONF_VALUE		"%s:%d: '%s' without a usable value ignored"
#define MSG_CONF_LENGTH		"%s:%d: ignored; a line has at most %d bytes"
#define MSG_HOSTS_LINE		"%s:%d: ignored\na line is: %s name [alias ...]"

/* Asynchronous errors without a handler (VipErrorCallback) */
#define MSG_POST_DESC		"%.32s: descriptor %p is misaligned or not registered\n" \
				"VI %p: align it to 64 bytes, in registered memory"
#define MSG_CONN_LOST		"%s: the connection of VI %p%s is lost"
#define MSG_RECVQ_EMPTY		"%.24s: VI %p dropped a message: no receive is posted\n" \
				"post the receive before the peer sends"
#define MSG_VI_OVERRUN		"%.24s: VI %p dropped descriptor %p\n" \
				"its %s queue is full: collect completed ones"
#define MSG_RDMA_REFUSED	"%.32s: VI %p refused an RDMA %s of its peer\n" \
				"enable it for the VI and the region, with one tag"
#define MSG_NIC_GONE		"%s: the NIC is gone"
#define MSG_ASYNC_ERROR		"%s: asynchronous error %d, see VipErrorCallback(3)"

#endif /* VIPL_MESSAGES_H */

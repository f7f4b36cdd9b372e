/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
#ifndef _UAPI_VIA_NETLINK_H
#define _UAPI_VIA_NETLINK_H

/*
 * Configuration of VI NICs: the generic netlink family "via", of via_ka.  The
 * tool via(8) is its user; programs that use a NIC need include/uapi/via.h only.
 *
 * A message concerns the network namespace of its socket: the VI NICs of that
 * namespace's interfaces, and those without an interface, are seen, others are
 * not.
 *
 * Each command takes the attributes listed with it; all others are refused, as
 * is any malformed one (strict validation).  An extended acknowledgement says
 * what is wrong.
 *
 * A VI NIC is named by VIA_NL_A_NIC (its node, "via_eth0") or by
 * VIA_NL_A_IFINDEX.
 */

#define VIA_NL_NAME		"via"
#define VIA_NL_VERSION		1

/* Multicast groups. */
#define VIA_NL_GROUP_NIC	"nic"	/* VIA_NL_CMD_NIC_NEW, _DEL */
#define VIA_NL_GROUP_PEER	"peer"	/* VIA_NL_CMD_PEER_EVENT; CAP_NET_ADMIN */

#define VIA_NL_NIC_MAX		63	/* characters of a NIC's name */
#define VIA_NL_DRIVER_MAX	63	/* of a module's */
#define VIA_NL_LIMIT_MAX	31	/* of a limit's */
#define VIA_NL_ADDR_MAX		16	/* bytes of a host's address */
#define VIA_NL_KEY_LEN		32	/* bytes of a key */
#define VIA_NL_PEERS_MAX	4096	/* hosts on the list of one NIC */

/*
 * "initial": CAP_NET_ADMIN in the initial user namespace.  "owner":
 * CAP_NET_ADMIN in the user namespace that owns the network namespace.
 */
enum via_nl_cmd {
	VIA_NL_CMD_UNSPEC,

	/*
	 * NICs; anyone.  Of one (NIC or IFINDEX), or a dump.  Answers:
	 * NIC_NEW.
	 */
	VIA_NL_CMD_NIC_GET,
	/* An answer, or of a group: a NIC is there. */
	VIA_NL_CMD_NIC_NEW,
	/* Of a group: a NIC has gone. */
	VIA_NL_CMD_NIC_DEL,
	/*
	 * Make an interface (IFINDEX), or an address of this host (ADDR; and
	 * PORT, and the interface that it is bound to, IFINDEX), a VI NIC, by
	 * the module DRIVER or by the first that can; initial.  -EEXIST: it is
	 * one.
	 */
	VIA_NL_CMD_ATTACH,
	/* Undo it (NIC or IFINDEX); owner. */
	VIA_NL_CMD_DETACH,

	/*
	 * Hosts that may talk to a NIC (NIC or IFINDEX): a dump; owner.
	 * Answers: PEER_SET with one PEER in each.
	 */
	VIA_NL_CMD_PEER_GET,
	/*
	 * Add the hosts of PEERS to the list of a NIC, which begins with them
	 * if there is none, or change their keys; with ONLY: they become the
	 * list, and without PEERS it is empty.  A host that was on the list has
	 * the key that it had, unless it is told another one.  All at once;
	 * owner.
	 */
	VIA_NL_CMD_PEER_SET,
	/*
	 * Take the hosts of PEERS off the list, which stays, even if it is
	 * empty; without PEERS: remove the list, and all hosts may talk to the
	 * NIC.  All at once, or -ENOENT; owner.
	 */
	VIA_NL_CMD_PEER_DEL,
	/* Of a group: something has happened with a host (EVENT, ADDR). */
	VIA_NL_CMD_PEER_EVENT,

	/* Limits of users, a dump; anyone.  Answers: LIMIT_SET. */
	VIA_NL_CMD_LIMIT_GET,
	/*
	 * A limit (LIMIT_NAME) becomes LIMIT_VALUE; initial, and
	 * CAP_SYS_RESOURCE there.
	 */
	VIA_NL_CMD_LIMIT_SET,

	__VIA_NL_CMD_MAX
};

#define VIA_NL_CMD_MAX (__VIA_NL_CMD_MAX - 1)

enum via_nl_attr {
	VIA_NL_A_UNSPEC,
	VIA_NL_A_PAD,
	VIA_NL_A_NIC,		/* string: node, without "/dev/" */
	VIA_NL_A_IFINDEX,	/* u32, not 0 */
	VIA_NL_A_TYPE,		/* u32: VIA_NIC_* of via.h */
	VIA_NL_A_ADDR,		/* binary: a host's address */
	VIA_NL_A_DRIVER,	/* string: the module that has it */
	VIA_NL_A_MTU,		/* u32: payload bytes of one frame */
	VIA_NL_A_VIS,		/* u32: VIs there are */
	VIA_NL_A_LISTED,	/* u32: hosts on its list; none: all may talk */
	VIA_NL_A_PEERS,		/* nest of PEER */
	VIA_NL_A_PEER,		/* nest of VIA_NL_PEER_A_* */
	VIA_NL_A_ONLY,		/* flag: no hosts but these */
	VIA_NL_A_EVENT,		/* u32: VIA_NL_PEER_* */
	VIA_NL_A_LIMIT_NAME,	/* string */
	VIA_NL_A_LIMIT_VALUE,	/* u64; 0: no limit */
	VIA_NL_A_PORT,		/* u16: of UDP, not 0 */
	VIA_NL_A_NEAR,		/* flag: without a list, hosts of its subnets may talk */

	__VIA_NL_A_MAX
};

#define VIA_NL_A_MAX (__VIA_NL_A_MAX - 1)

enum via_nl_peer_attr {
	VIA_NL_PEER_A_UNSPEC,
	VIA_NL_PEER_A_ADDR,	/* binary, as long as the NIC's own */
	VIA_NL_PEER_A_KEY,	/* binary: VIA_NL_KEY_LEN bytes; never told */
	VIA_NL_PEER_A_NO_KEY,	/* flag: the host has no key any more */
	VIA_NL_PEER_A_KEYED,	/* flag, told: the host has a key */
	VIA_NL_PEER_A_PREFIX,	/* u8: all hosts with so many first bits of ADDR */

	__VIA_NL_PEER_A_MAX
};

#define VIA_NL_PEER_A_MAX (__VIA_NL_PEER_A_MAX - 1)

enum via_nl_peer_event {
	VIA_NL_PEER_UNSPEC,
	VIA_NL_PEER_UP,		/* the first connection with the host stands */
	VIA_NL_PEER_DOWN,	/* the last one has ended */
	VIA_NL_PEER_DENIED,	/* it is not on the list, and sends; 10 a second */
};

#endif /* _UAPI_VIA_NETLINK_H */

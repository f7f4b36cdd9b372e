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
	 * PORT, SHAPE, and the interface that it is bound to, IFINDEX), a VI
	 * NIC, by the module DRIVER or by the first that can; initial.
	 * -EEXIST: it is one.
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

	/*
	 * Objects of programs, one command for each kind: dumps, of all NICs or
	 * of one (NIC or IFINDEX).  Own ones are told to any user; those of
	 * others to an owner, and on NICs without an interface or an address,
	 * which are in all network namespaces, to initial.  Each has NIC and
	 * HANDLE, UID, and, where its process is one of the reader's pid
	 * namespace, PID and COMM.
	 */
	VIA_NL_CMD_RES_VI,	/* VIs */
	VIA_NL_CMD_RES_MR,	/* registered memory */
	VIA_NL_CMD_RES_CQ,	/* completion queues */
	VIA_NL_CMD_RES_CONN,	/* connections, attempts, requests, waiters, listeners */

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
	VIA_NL_A_HANDLE,	/* u64: an open node; of its NIC alone, never reused */
	VIA_NL_A_PID,		/* u32: the process that opened it */
	VIA_NL_A_COMM,		/* string: that one's name */
	VIA_NL_A_UID,		/* u32: the user that opened it */
	VIA_NL_A_VI,		/* u32: id */
	VIA_NL_A_STATE,		/* u32: VIA_STATE_* of via.h */
	VIA_NL_A_LEVEL,		/* u32: VIA_UNRELIABLE ... of via.h */
	VIA_NL_A_PTAG,		/* u32: of its handle; 0: the default one */
	VIA_NL_A_RIGHTS,	/* u32: VIA_RDMA_* of via.h */
	VIA_NL_A_SEND_POSTED,	/* u32: not completed */
	VIA_NL_A_SEND_IN_FLIGHT, /* u32: of them, with the device */
	VIA_NL_A_RECV_POSTED,	/* u32: not completed */
	VIA_NL_A_SEND_CQ,	/* u32: id; none: it has no CQ */
	VIA_NL_A_RECV_CQ,	/* u32: likewise */
	VIA_NL_A_REMOTE,	/* binary: the other host's address */
	VIA_NL_A_LOCAL_DISC,	/* binary: discriminator, any bytes */
	VIA_NL_A_REMOTE_DISC,	/* binary: likewise */
	VIA_NL_A_MR,		/* u32: number among its handle's, no memory handle */
	VIA_NL_A_LENGTH,	/* u64: bytes */
	VIA_NL_A_PAGES,		/* u32: pinned */
	VIA_NL_A_CQ,		/* u32: id */
	VIA_NL_A_ENTRIES,	/* u32: there is room for; of a listener: its backlog */
	VIA_NL_A_USED,		/* u32: not collected; of a listener: requests kept */
	VIA_NL_A_QUEUES,	/* u32: work queues that complete into it */
	VIA_NL_A_CONN,		/* u32: VIA_NL_CONN_* */
	VIA_NL_A_BOUND,		/* u32, told: interface that a NIC in UDP is bound to */
	VIA_NL_A_SHAPE,		/* u32: VIA_NL_SHAPE_*, of a NIC in UDP; none: UDP */

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

/* Headers of long messages. */
enum via_nl_shape {
	VIA_NL_SHAPE_UDP,	/* datagrams */
	VIA_NL_SHAPE_TCP,	/* TCP's, to hosts that take them; of IPv4 */
};

/* What of a connection there is, in VIA_NL_CMD_RES_CONN. */
enum via_nl_conn {
	VIA_NL_CONN_UNSPEC,
	VIA_NL_CONN_WAIT,	/* the program waits for requests */
	VIA_NL_CONN_REQUEST,	/* one came, the program has not answered */
	VIA_NL_CONN_PENDING,	/* a VI asks, or its answer is under way */
	VIA_NL_CONN_PEER,	/* a VI looks for its peer */
	VIA_NL_CONN_CONNECTED,	/* a VI is connected */
	VIA_NL_CONN_LISTEN,	/* requests are kept for the program */
};

#endif /* _UAPI_VIA_NETLINK_H */

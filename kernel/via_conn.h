/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a VI device module sees of connections: requests that arrive, attempts
 * that it makes for VIs of this host, VIs that look for their peers.
 *
 * What functions return: see via_ka.h.
 */
#ifndef _VIA_CONN_H
#define _VIA_CONN_H

#include "via_ka.h"

#define VIA_CONN_PRIV	64	/* bytes of a request that are the device's */
#define VIA_REPLY_MAX	128	/* bytes of a consumer in the kernel, of an answer */

/**
 * struct via_reply - what a consumer in the kernel says with its answer to a request
 * @len:	bytes
 * @data:	the bytes
 */
struct via_reply {
	u32 len;
	u8 data[VIA_REPLY_MAX];
};

struct via_backlog;

/**
 * struct via_conn - a connection request that reached this host
 * @nic:	where it arrived
 * @link:	nic->conn.lock: on file->conns
 * @by_id:	nic->conn.lock: in nic->conn.conns, by @id
 * @ref:	the server's handle, the device's state
 * @id:		what the server's program knows it by, constant
 * @file:	nic->conn.lock: the server's NIC handle, while in nic->conn.conns
 * @backlog:	nic->conn.lock: keeps it until the program takes it, or NULL
 * @kept:	nic->conn.lock: on backlog->kept
 * @dead:	nic->conn.lock: the client gave up
 * @local:	server's address, constant
 * @remote:	client's address, constant
 * @attrs:	client's VI, constant
 * @deadline:	via_now() at which the client gives up, constant
 * @client:	the client's VI when it lives on this host, else NULL; a
 *		reference is held
 * @reply:	what goes with the answer, NULL: nothing; while it is being answered
 * @priv:	the device's, as given to via_conn_incoming()
 */
struct via_conn {
	struct via_nic *nic;
	struct list_head link;
	struct via_order_node by_id;
	struct kref ref;
	u32 id;
	struct via_file *file;
	struct via_backlog *backlog;
	struct list_head kept;
	bool dead;
	struct via_net_addr local;
	struct via_net_addr remote;
	struct via_vi_attrs attrs;
	unsigned long deadline;
	struct via_vi *client;
	const struct via_reply *reply;
	u8 priv[VIA_CONN_PRIV] __aligned(8);
};

/**
 * via_conn_incoming() - a request has arrived
 * @nic:	where
 * @local:	server's address
 * @remote:	client's address
 * @attrs:	client's VI
 * @timeout:	jiffies until the client gives up; MAX_JIFFY_OFFSET: never
 * @priv:	the device's, copied to conn->priv
 * @priv_len:	VIA_CONN_PRIV at most
 *
 * Matches it against the listeners and waiters of the NIC, takes nic->conn.lock for
 * it.  Any context but hard interrupts, no queue lock held.
 *
 * Return: the request, with a reference that is the device's, or ERR_PTR():
 * -ENOENT no listener or waiter (NO_MATCH), -ENOMEM, -EINVAL an address is too long.
 */
struct via_conn *via_conn_incoming(struct via_nic *nic,
				   const struct via_net_addr *local,
				   const struct via_net_addr *remote,
				   const struct via_vi_attrs *attrs,
				   unsigned long timeout, const void *priv,
				   size_t priv_len);
/*
 * The client gave up: no program can accept or reject it any more.  The
 * device's reference stays the device's.  Context as via_conn_incoming().
 */
void via_conn_cancel(struct via_conn *conn);
/* Any context. */
void via_conn_get(struct via_conn *conn);
void via_conn_put(struct via_conn *conn);

/*
 * Pending to Connected, with the device's transport; false: it is not Pending
 * any more, and the device undoes its side.  @attrs are the peer's; NULL: the
 * agent has them, since the VI is a server's.  Both queue locks held, so that
 * the device's view of the attempt and the agent's change at once.
 */
bool via_conn_established(struct via_vi *vi, const struct via_vi_attrs *attrs);
/*
 * Pending to Idle, with a verdict that is not 0; posted receives stay.  Nothing
 * happens when the VI is not Pending any more.  Both queue locks held.
 */
void via_conn_failed(struct via_vi *vi, enum via_verdict verdict);
/**
 * enum via_kernel_fault - why the connection of a consumer in the kernel has ended
 * @VIA_KERNEL_FAULT_NONE: it has not, or this end has left it
 * @VIA_KERNEL_FAULT_PEER_LEFT: the peer has, in good order
 * @VIA_KERNEL_FAULT_PEER_ACCESS: the peer has refused an RDMA Write: handle, range or
 *	rights
 * @VIA_KERNEL_FAULT_PEER_READ: the same of an RDMA Read
 * @VIA_KERNEL_FAULT_PEER_RECEIVE: the peer had no receive, or a bad or too short one
 * @VIA_KERNEL_FAULT_LOCAL_ACCESS: this end has refused RDMA of the peer's
 * @VIA_KERNEL_FAULT_LOCAL_RECEIVE: this end had no receive, or a bad or too short one
 * @VIA_KERNEL_FAULT_LOST: anything else: the peer does not answer, or what it said was
 *	lost; the NIC or its interface went; or a descriptor was wrong, whose status
 *	tells
 */
enum via_kernel_fault {
	VIA_KERNEL_FAULT_NONE,
	VIA_KERNEL_FAULT_PEER_LEFT,
	VIA_KERNEL_FAULT_PEER_ACCESS,
	VIA_KERNEL_FAULT_PEER_READ,
	VIA_KERNEL_FAULT_PEER_RECEIVE,
	VIA_KERNEL_FAULT_LOCAL_ACCESS,
	VIA_KERNEL_FAULT_LOCAL_RECEIVE,
	VIA_KERNEL_FAULT_LOST,
};

/* The connection ends by that; the first one counts.  A queue lock held. */
void via_conn_fault(struct via_vi *vi, enum via_kernel_fault fault);

/* What the other end of a connection takes. */
#define VIA_TAKES_REPLY	0x1	/* of an attempt: a reply with its answer */
#define VIA_TAKES_NOTES	0x2	/* SENDs with VIA_CTL_KERNEL_NOTES */

/*
 * Between consumers in the kernel; for a VI of a program they do nothing.  Both queue
 * locks held, the VI is Pending; notes: either, and it may be Connected.
 *
 * takes: the other end can do that, VIA_TAKES_*; each attempt begins with 0.  notes: may
 * SENDs of either end have VIA_CTL_KERNEL_NOTES?  reply:
 * what goes with the answer that this VI is, or NULL: nothing, or the client does not
 * take it.  replied: what came with the answer to the attempt of this VI.
 */
void via_conn_takes(struct via_vi *vi, u32 what);
bool via_conn_notes(const struct via_vi *vi);
const struct via_reply *via_conn_reply(const struct via_vi *vi);
void via_conn_replied(struct via_vi *vi, const struct via_reply *reply);

/**
 * via_p2p_find() - the first VI that looks for a peer elsewhere
 * @nic:	where
 * @local:	the VI's address
 * @remote:	the address that it looks for
 * @claim:	the device's name of the peer; 0: do not claim
 *
 * VIs that are claimed by another than @claim are passed by; the one found is
 * claimed from then on.  Takes nic->conn.lock.  BH off, no queue lock held.
 *
 * Return: the VI or NULL, without a reference: it is there for the caller's
 * RCU read side.  Whether it still looks is seen by via_p2p_looks().
 */
struct via_vi *via_p2p_find(struct via_nic *nic,
			    const struct via_net_addr *local,
			    const struct via_net_addr *remote, u64 claim);
/* Does it look from @local for @remote?  Certain under a queue lock. */
bool via_p2p_looks(const struct via_vi *vi, const struct via_net_addr *local,
		   const struct via_net_addr *remote);
/* The VI may be found by others, if it has that claim.  No queue lock held. */
void via_p2p_release(struct via_vi *vi, u64 claim);

#endif /* _VIA_CONN_H */

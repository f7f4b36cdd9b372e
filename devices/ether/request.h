/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of other hosts' clients (request.c). */
#ifndef _VIA_ETHER_REQUEST_H
#define _VIA_ETHER_REQUEST_H

#include <linux/types.h>
#include "../../kernel/order.h"
#include "proto/host.h"

struct via_conn;
struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;
struct via_peer;

/* The client: what names a request at the server; lies in via_conn.priv. */
struct via_ether_client {
	struct via_host host;
	u32 vi;
	u64 cookie;
	u64 epoch;
	u32 first_seq;
	u32 mtu;
	u32 frames;
	bool want_seal;
	u8 takes;		/* VIA_TAKES_* */
};

/* A request that the server's program has not answered. */
struct via_ether_req {
	struct via_order_node due;	/* nic->lock: in nic->reqs */
	struct hlist_node node;		/* nic->lock: see via_peer_req() */
	struct via_peer *peer;		/* constant, with a use of it */
	struct via_conn *conn;		/* NULL for a moment */
	struct via_ether_client client;
	unsigned long seen;		/* jiffies of the last REQUEST */
	unsigned long deadline;
	bool forever;
};

/* ops->reject: process context, no queue lock held. */
void via_ether_reject(struct via_conn *conn);
/*
 * Unlink the request of a client; false when there is none.  The caller gets
 * a copy and a use of its peer, and its reference on the connection, if that is
 * there yet: without one the request's maker is still at it, and frees it as
 * soon as it sees it unlinked.  BH off, nic->lock not held.
 */
bool via_ether_take_req(struct via_ether_nic *nic, const u8 *host, u32 vi,
			u64 cookie, struct via_ether_req *copy);
/* What the copy has is given back. */
void via_ether_drop_req(const struct via_ether_req *copy);
void via_ether_request_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);
/* A job of the tick: those whose client has left. */
bool via_ether_reqs_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_ether_reqs_expire(struct via_ether_nic *nic);
/* All.  No frame comes any more; BH on. */
void via_ether_reqs_end(struct via_ether_nic *nic);

#endif /* _VIA_ETHER_REQUEST_H */

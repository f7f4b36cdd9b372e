/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trains in TCP's shape: see udp_shape.c. */
#ifndef _VIA_UDP_SHAPE_H
#define _VIA_UDP_SHAPE_H

#include "udp.h"

/**
 * struct via_udp_shape - of a NIC that was attached with it
 * @port:	constant: a socket that has TCP's port, so that no other one has
 * @raw:	constant: where raw sockets that get TCP's packets would be
 * @hook:	constant: of the packet filter
 * @hooked:	RTNL: it is registered
 * @rx:		constant: what the hook does with a packet of TCP's to this host, with
 *		the NIC's port on one side.
 *		@open: no filter is behind the hook; @routed: IP has routed the like
 * @taken:	jiffies of the last train: WRITE_ONCE(), READ_ONCE()
 * @ended:	how often trains to a host ended; racy
 */
struct via_udp_shape {
	struct socket *port;
	const struct hlist_head *raw;
	struct nf_hook_ops hook;
	bool hooked;
	unsigned int (*rx)(struct via_udp *u, struct sk_buff *skb, bool open,
			   bool routed);
	unsigned long taken;
	u64 ended;
};

/* udp_shape.c */
/* Before there is a NIC of that address. */
int via_udp_shape_open(struct via_udp *u, const u8 *addr);
/* Nothing is received any more. */
void via_udp_shape_close(struct via_udp *u);
/* Of struct via_ether_ops. */
bool via_udp_shape_get_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			     const struct via_ether_link *link,
			     struct via_ether_train *t,
			     struct via_ether_buf *buf);
bool via_udp_shape_put_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			     const struct via_ether_train *t,
			     struct via_ether_buf *buf);
void via_udp_shape_resent(struct via_ether_nic *nic,
			  const struct via_ether_link *link);
bool via_udp_shape_rx_other(struct via_ether_nic *nic,
			    const struct via_ether_frame *f);
/* A probe has come. */
void via_udp_shape_probed(struct via_udp *u, struct via_udp_link *kept,
			  u64 cookie);
/* What has come may not be taken any more. */
void via_udp_shape_stop(struct via_udp *u, struct via_udp_link *kept);
/* A host's TCP refuses a packet that had @seq as its acknowledgement number. */
void via_udp_shape_refused(struct via_udp *u, struct via_udp_link *kept, u32 seq);

/* udp_shape_recv.c: as @rx above */
unsigned int via_udp_shape_rx(struct via_udp *u, struct sk_buff *skb, bool open,
			      bool routed);

#endif /* _VIA_UDP_SHAPE_H */

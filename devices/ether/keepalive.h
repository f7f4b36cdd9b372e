/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the other host there, with the same connections?  (keepalive.c) */
#ifndef _VIA_ETHER_KEEPALIVE_H
#define _VIA_ETHER_KEEPALIVE_H

#include "vi.h"

/* A job of the tick: peers that are due. */
bool via_keepalive_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_keepalive_run(struct via_ether_nic *nic);
/* HEARTBEAT, HEARTBEAT_ACK, LIST.  BH off, RCU read side. */
void via_keepalive_rx(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		       const struct via_frame_hdr *h);
/* The peer has lost a connection: it may have been started again. */
void via_keepalive_check(struct via_peer *peer);

/* A frame of the connection came.  rq.lock held. */
static inline void via_ether_heard(struct via_ether_vi *ev)
{
	unsigned long now = jiffies;

	/* Most frames come in the same tick as another one. */
	if (likely(ev->rcv.last_rx == now))
		return;
	ev->rcv.last_rx = now;
	if (READ_ONCE(ev->peer->last_rx) != now)
		WRITE_ONCE(ev->peer->last_rx, now);
}

#endif /* _VIA_ETHER_KEEPALIVE_H */

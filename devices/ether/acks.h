/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Acknowledgements that are owed (acks.c). */
#ifndef _VIA_ETHER_ACKS_H
#define _VIA_ETHER_ACKS_H

#include <linux/types.h>

struct via_ether_nic;
struct via_ether_vi;
struct via_vi;
struct via_work;

/*
 * To the peer of a connection, with all that is known of what has arrived; the
 * second asks for as much.  rq.lock held.  @delay as in via_ether_ack().
 */
bool via_ether_send_ack(struct via_ether_vi *ev, u32 delay);
bool via_ether_send_ack_request(struct via_ether_vi *ev);
/* Acknowledge what has just come, in a frame of its own.  No queue lock held. */
void via_ether_ack_now(struct via_vi *vi, u64 cookie);
/* The peer asks; the newest frame may have come long ago.  No queue lock held. */
void via_ether_rx_ack_request(struct via_vi *vi, u64 cookie);
/*
 * The network is full: the peer is to hear of it, with an acknowledgement soon.
 * rq.lock held.
 */
void via_ether_echo_soon(struct via_ether_vi *ev);
/*
 * A push is to be acknowledged once the frames that came with it are taken:
 * one frame then answers many small messages, of all connections with the
 * peer.  rq.lock held.
 */
void via_ether_ack_soon(struct via_ether_vi *ev);
/*
 * Data of the VI leaves and answers none of its pushes: the acknowledgement of
 * another VI to the peer, which waits for data, goes behind it.  sq.lock held.
 */
void via_ether_ack_behind(struct via_ether_vi *ev);
/* Data of the VI answers a PUSH that was acknowledged at once.  sq.lock held. */
void via_ether_answered(struct via_ether_vi *ev);
/*
 * The next frame is a PUSH: the flag to add if this end looks at the time, and
 * asks when the acknowledgement is late; 0: it does not.  sq.lock held.
 */
u8 via_ether_ack_deadline(struct via_ether_vi *ev);
/* The connection is over, and with it its ACK deadline.  nic->lock held. */
void via_ether_ack_deadline_over(struct via_ether_vi *ev);
/* Busy polling begins or ends: does this end keep ACK deadlines?  Takes nic->lock. */
void via_ether_ack_deadlines(struct via_ether_nic *nic, bool polled);
/* -ENOMEM.  May sleep. */
int via_ether_acks_init(struct via_ether_nic *nic);
/* A frame was taken that is to be acknowledged later.  rq.lock held. */
void via_ether_sample_rx(struct via_ether_vi *ev);
void via_ether_watch_rx(struct via_ether_vi *ev);
/* The alarm: what has waited long enough leaves with what others owe.  rq.lock held. */
void via_ether_check_rx(struct via_ether_vi *ev, u64 ns);
/*
 * What this CPU has found to be owed is sent, a part of it at once and the rest by
 * its tasklet.  BH off, RCU read side, no queue lock held.
 */
void via_ether_pay(struct via_ether_nic *nic, struct via_work *work);
/* The connection is over, and it has its peer yet.  nic->lock held. */
void via_ether_owes_no_more(struct via_ether_vi *ev);

#endif /* _VIA_ETHER_ACKS_H */

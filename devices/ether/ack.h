/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An acknowledgement came (ack.c).  BH off. */
#ifndef _VIA_ACK_H
#define _VIA_ACK_H

#include "vi.h"

/*
 * Frames before @ack have arrived: complete what they finish, in order, and use
 * the room.  @delay: how long the newest frame has waited for this,
 * VIA_WIRE_DELAY_US; VIA_WIRE_DELAY_MAX: not known.  sq.lock held.
 */
void via_ether_ack(struct via_vi *vi, u32 ack, const struct via_range *range,
		   u32 ranges, u32 delay);
/* All data for the oldest read has come, into that descriptor.  sq.lock held. */
void via_ether_read_done(struct via_ether_vi *ev, u32 index);
/*
 * The descriptor that broke the connection: it gets the status, and what is
 * not complete before it is flushed, as is what is behind.  sq.lock held.
 */
void via_ether_offender(struct via_vi *vi, u32 index, enum via_status status);

/* What came with a frame for the sender's half.  No queue lock held. */
void via_ether_rx_ack(struct via_vi *vi, const struct via_frame_hdr *h,
		      const struct via_range *range, u32 ranges, u32 delay);
/* The peer has got a frame twice. */
void via_ether_rx_dsack(struct via_vi *vi, const struct via_frame_hdr *h);
/* A frame of ours was marked Congestion Experienced. */
void via_ether_rx_mark(struct via_vi *vi, const struct via_frame_hdr *h);
/* How much the peer can take from this host. */
void via_ether_rx_share(struct via_vi *vi, const struct via_frame_hdr *h);
/* ACKS.  RCU read side. */
void via_ether_acks_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h);

#endif /* _VIA_ACK_H */

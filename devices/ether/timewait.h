/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DISCONNECT until it is answered (timewait.c). */
#ifndef _VIA_ETHER_TIMEWAIT_H
#define _VIA_ETHER_TIMEWAIT_H

#include <linux/types.h>

struct via_end_frame;
struct via_ether_nic;
struct via_ether_vi;
struct via_frame_hdr;
struct via_peer;

/* A DISCONNECT is to be sent: send it again.  Both queue locks held. */
void via_timewait_begin(struct via_ether_vi *ev, const struct via_end_frame *end);
/* A job of the tick: those that are sent again. */
bool via_timewait_wanted(const struct via_ether_nic *nic, unsigned long *at);
bool via_timewait_run(struct via_ether_nic *nic);
/* Is DISCONNECT_ACK of one that is sent again?  RCU read side, BH off. */
bool via_timewait_has(const struct via_peer *peer,
		      const struct via_frame_hdr *h);
/*
 * The peer, if the frame is of a connection whose DISCONNECT it has not answered; and
 * what that says.  RCU read side, BH off.
 */
struct via_peer *via_timewait_left(struct via_ether_nic *nic, const u8 *host,
				   const struct via_frame_hdr *h,
				   struct via_end_frame *end);
/* DISCONNECT_ACK: the other end has heard it.  RCU read side, BH off. */
void via_timewait_acked(struct via_ether_nic *nic, const u8 *host,
			const struct via_frame_hdr *h);
void via_timewait_stop(struct via_ether_nic *nic);

#endif /* _VIA_ETHER_TIMEWAIT_H */

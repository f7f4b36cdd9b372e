/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames about connections, as they come (handshake.c).  BH off, RCU read side. */
#ifndef _VIA_HANDSHAKE_H
#define _VIA_HANDSHAKE_H

#include <linux/types.h>

struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;

/* What answers an attempt. */
void via_ether_attempt_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);
/* PEER_REQUEST. */
void via_ether_p2p_request(struct via_ether_nic *nic,
			   const struct via_ether_frame *f,
			   const struct via_frame_hdr *h);
/* CANCEL. */
void via_ether_rx_cancel(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
			 const struct via_frame_hdr *h);
/*
 * The peer has no such end of a connection as @id and @cookie say: RESET, which
 * tells in @seq what it answers, or NULL.
 */
void via_ether_no_such_end(struct via_ether_nic *nic, const u8 *host, u32 id,
			   u64 cookie, const u32 *seq);

#endif /* _VIA_HANDSHAKE_H */

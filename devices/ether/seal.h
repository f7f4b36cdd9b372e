/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lies behind the headers of a frame and is of all of it (seal.c). */
#ifndef _VIA_ETHER_SEAL_H
#define _VIA_ETHER_SEAL_H

#include "proto/auth.h"
#include "session.h"
#include "stats.h"
#include "vi.h"

/*
 * A frame is complete but for its seal: headers and the seal's room are @size
 * bytes, and @len bytes of payload follow.  BH off; the
 * first puts a checksum there, the second what is chosen, the third what the
 * connection has: a queue lock held.
 */
void via_ether_seal(void *frame, u32 size, u32 len);
void via_ether_close(const struct via_seal *seal, void *frame, u32 size,
		     u32 len);
void via_ether_close_data(const struct via_ether_vi *ev, void *frame, u32 size,
			  u32 len);
/* Of (PEER_)REQUEST the checksum is looked at by this, and counted. */
bool via_ether_sum_ok(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h);
/* Does a frame on this connection have what was agreed upon? */
static inline bool via_ether_seal_fits(const struct via_ether_vi *ev,
				       const struct via_frame_hdr *h)
{
	return likely(ev->conn.seal == (h->flags & VIA_WIRE_SEALS));
}

/* One that does not is dropped. */
static inline void via_ether_seal_wrong(const struct via_ether_vi *ev)
{
	if (READ_ONCE(ev->conn.seal) == VIA_WIRE_AUTH)
		via_ether_count(ev->nic, BAD_AUTH);
	else
		via_ether_count(ev->nic, BAD_SEAL);
}

#endif /* _VIA_ETHER_SEAL_H */

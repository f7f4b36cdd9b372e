/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who is heard, who is answered, and how much (admit.c).  BH off. */
#ifndef _VIA_ADMIT_H
#define _VIA_ADMIT_H

#include <linux/types.h>

struct via_ether_frame;
struct via_ether_nic;
struct via_frame_hdr;

/*
 * A frame with a seal: is it as it was sent?  A request of a host with a key may
 * come back without its flag AUTH.  RCU read side.
 */
bool via_ether_open(struct via_ether_nic *nic, const struct via_ether_frame *f,
		    struct via_frame_hdr *h);
/* Must it have an authenticator, and has none?  Then it is counted.  Likewise. */
bool via_ether_lacks_auth(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h);

#endif /* _VIA_ADMIT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that are not acknowledged in time (retransmit.c). */
#ifndef _VIA_ETHER_RETRANSMIT_H
#define _VIA_ETHER_RETRANSMIT_H

struct via_ether_vi;

/* When the VI is made. */
void via_ether_visit_init(struct via_ether_vi *ev);

#endif /* _VIA_ETHER_RETRANSMIT_H */

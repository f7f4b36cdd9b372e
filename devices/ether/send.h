/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Descriptors to bursts of frames (send.c). */
#ifndef _VIA_ETHER_SEND_H
#define _VIA_ETHER_SEND_H

#include <linux/types.h>

struct via_vi;
struct via_work;

/* transport->send: 0 or VIA_TRAP_MORE.  sq.lock held, BH off. */
int via_ether_send(struct via_vi *vi);
/*
 * Go on after a stall or a timeout, for VIA_ETHER_BUDGET at most, which are
 * charged to the caller's work.  False: the NIC takes no more.
 */
bool via_ether_resume(struct via_vi *vi, struct via_work *work);

#endif /* _VIA_ETHER_SEND_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parameters, scaled for slow kernels (param.c).  Any context. */
#ifndef _VIA_ETHER_PARAM_H
#define _VIA_ETHER_PARAM_H

#include <linux/types.h>

struct via_ether_vi;

extern ushort via_ether_type;
extern bool via_ether_checksum;
extern uint via_ether_window;
extern uint via_ether_ooo_max;
extern uint via_ether_retries;
extern uint via_ether_ack_every;
u32 via_ether_rto_min(void);			/* us */
u32 via_ether_rto_max(void);			/* us */
u32 via_ether_ack_delay(void);			/* us */
unsigned long via_ether_scaled(uint ms);	/* jiffies */
unsigned long via_ether_heartbeat(void);	/* jiffies */
unsigned long via_ether_dead(void);		/* jiffies */
/* Bytes of payload, see there.  A queue lock held. */
u32 via_ether_dma_from(const struct via_ether_vi *ev);

#endif /* _VIA_ETHER_PARAM_H */

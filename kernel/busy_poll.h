/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Busy polling: programs that spin take a NIC's frames themselves. */
#ifndef _VIA_BUSY_POLL_H
#define _VIA_BUSY_POLL_H

#include "file.h"

void via_busy_poll_init(struct via_nic *nic);
/*
 * nic->dead is set: no handle is a busy poller after this, and a trap that has
 * found one ends its RCU read side.
 */
void via_busy_poll_exit(struct via_nic *nic);

/* VIA_OP_POLL. */
long via_busy_poll_trap(struct via_file *f);

void __via_busy_poll_end(struct via_file *f);

/* The program stops spinning, to sleep or for good. */
static inline void via_busy_poll_end(struct via_file *f)
{
	if (unlikely(READ_ONCE(f->ctl->poll)))
		__via_busy_poll_end(f);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Busy polling: programs that spin take a NIC's frames themselves.  What
 * functions return: see via_ka.h.
 */
#ifndef _VIA_BUSY_POLL_H
#define _VIA_BUSY_POLL_H

#include "file.h"

/* Before the NIC is registered. */
void via_busy_poll_init(struct via_nic *nic);
/*
 * nic->dead is set: no handle is a busy poller after this, and a trap that has
 * found one ends its RCU read side.  May sleep.
 */
void via_busy_poll_exit(struct via_nic *nic);

/* VIA_OP_POLL.  Process context, no lock held; does not sleep.  0. */
long via_busy_poll_trap(struct via_file *f);

void __via_busy_poll_end(struct via_file *f);

/*
 * The program stops spinning, to sleep or for good.  Process context; takes
 * nic->polls.lock.
 */
static inline void via_busy_poll_end(struct via_file *f)
{
	if (unlikely(READ_ONCE(f->ctl->poll)))
		__via_busy_poll_end(f);
}

#endif

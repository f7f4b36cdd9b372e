/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Programs that spin look for a NIC's frames themselves. */
#ifndef _VIA_POLL_H
#define _VIA_POLL_H

#include "file.h"

void via_poll_init(struct via_nic *nic);
/*
 * nic->dead is set: no handle is a poller after this, and a trap that has found
 * one ends its RCU read side.
 */
void via_poll_exit(struct via_nic *nic);

/* VIA_OP_POLL. */
long via_poll_trap(struct via_file *f);

void __via_poll_rest(struct via_file *f);

/* The program stops spinning, to sleep or for good. */
static inline void via_poll_rest(struct via_file *f)
{
	if (unlikely(READ_ONCE(f->ctl->poll)))
		__via_poll_rest(f);
}

#endif

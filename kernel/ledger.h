/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ledger of objects.  What functions return: see via_ka.h. */
#ifndef _VIA_LEDGER_H
#define _VIA_LEDGER_H

#include <linux/atomic.h>

/*
 * What became of everything ever made: a leak shows as a difference between
 * made and gone.  In /sys/module/via_ka/parameters/.
 */
struct via_ledger {
	atomic_long_t files;
	atomic_long_t vis;
	atomic_long_t cqs;
	atomic_long_t rings;	/* of CQs */
	atomic_long_t regions;
	atomic_long_t pages;	/* pinned */
	atomic_long_t conns;
};

extern struct via_ledger via_made, via_gone;

/* At the module's end: a line of the kernel's log for each leak. */
void via_ledger_report(void);

#endif

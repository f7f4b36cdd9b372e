/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters, as VIA_IOC_STATS and sysfs give them.  What functions return: see via_ka.h.
 */
#ifndef _VIA_STATS_H
#define _VIA_STATS_H

#include "file.h"

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

/*
 * VIA_IOC_STATS, for any program that has the node open.  No lock held; may
 * sleep.  A call's result: 0, VIA_R_NO_MATCH (no further VI) or -errno.
 */
long via_stats(struct via_file *f, struct via_stats __user *uarg);
/*
 * /sys/class/via/NIC/statistics: a file for each counter of the NIC, read where
 * the node could be opened (-ENXIO elsewhere).  make: when the device can be
 * asked, before the node is made; 0 or -ENOMEM.  free: after the node is gone.
 */
int via_stats_dir_make(struct via_nic *nic);
const struct attribute_group *via_stats_group(const struct via_nic *nic);
void via_stats_dir_free(struct via_nic *nic);
/* At the module's end: a line of the kernel's log for each leak. */
void via_ledger_report(void);

#endif

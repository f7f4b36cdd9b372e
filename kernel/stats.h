/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters, as VIA_IOC_STATS and sysfs give them.  What functions return: see via_ka.h.
 */
#ifndef _VIA_STATS_H
#define _VIA_STATS_H

#include "file.h"

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

#endif

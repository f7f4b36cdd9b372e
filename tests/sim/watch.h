/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rule for calls into a device, checked at each of them: watch.c. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

struct via_device_ops;

/* From here on; again is no harm.  One device at a time. */
void sim_watch(struct via_device_ops *ops);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The rule for calls into a device, checked at each of them: watch.c. */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

struct via_nic;

/* From here on, for all NICs of its table of calls.  All are of one class. */
void sim_watch(struct via_nic *nic);

#endif

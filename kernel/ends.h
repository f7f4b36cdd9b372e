/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ends of handles and of VIs, and other work items, and one rule for all:
 *
 *   Nothing waits for another object's end with file->mutex held, nor is there a
 *   wait in an end.  What ends in a work item takes no lock that a program can
 *   hold: neither file->mutex (tried, never waited for: see via_file_unlock()) nor
 *   mmap_lock.
 *
 * Else the ends of one user's objects wait for that user, and those of all other
 * users behind them.  Nor is there such a wait under RTNL.  Two maps show lockdep
 * what is waited for: a program's locks and RTNL are inside of via_waits, and a
 * program's locks outside of via_ends.  The simulator has the same
 * rule (tests/sim/kernel/sched.c).
 */
#ifndef _VIA_ENDS_H
#define _VIA_ENDS_H

#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

extern struct lockdep_map via_ends, via_waits;

int via_ends_init(void);
/* All ends are over; those that wait for RCU are queued already. */
void via_ends_exit(void);

/* The end of a handle; false: it is queued.  Any context. */
bool via_end_queue(struct work_struct *end);
/*
 * What is left of a VI, a grace period from now.  Not behind ends of handles.
 * Any context.
 */
void via_reap_queue(struct rcu_work *work);

/*
 * More of a queue than one softirq looks at; false: it is queued.  Behind neither of
 * these: a program can have one for each of its VIs, all the time.  Any context.
 */
bool via_scan_queue(struct work_struct *scan);

/* Around all that such a work item does. */
static inline void via_end_begins(void)
{
	lock_map_acquire(&via_ends);
}

static inline void via_end_is_over(void)
{
	lock_map_release(&via_ends);
}

/* Before each wait for ends, or for work of a program's size.  May sleep. */
void via_end_awaited(void);
/* The rule, for file->mutex that was initialised, and the caller's mmap_lock. */
void via_ends_teach(struct mutex *file_mutex);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sleeping until a work queue or a completion queue moves. */
#ifndef _VIA_WAIT_H
#define _VIA_WAIT_H

#include <linux/sched.h>
#include "file.h"

/* A sleeping thread, on its own stack; the lock is the queue's or CQ's. */
struct via_sleeper {
	struct hlist_node link;
	struct task_struct *task;
};

/*
 * Wake all that sleep on a queue.  Its lock is held: a sleeper looks at the
 * queue under the same lock before it goes, so none is missed, and completing
 * needs no barrier to find that there is none.
 */
static inline void via_wake(struct hlist_head *sleepers)
{
	struct via_sleeper *s;

	hlist_for_each_entry(s, sleepers, link)
		wake_up_process(s->task);
}

/* VIA_IOC_WAIT: 0, VIA_R_TIMEOUT or -errno. */
long via_wait(struct via_file *f, const struct via_wait *w);
/* VIA_OP_WAIT_*: 0 or -errno. */
long via_wait_trap(struct via_file *f, u32 op, u32 id);

#endif

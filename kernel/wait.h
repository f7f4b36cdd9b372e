/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting until a work queue or a completion queue moves.  What functions
 * return: see via_ka.h.
 */
#ifndef _VIA_WAIT_H
#define _VIA_WAIT_H

#include "file.h"

/*
 * Wake all that sleep on a queue.  Its lock is held: a sleeper looks at the
 * queue under the same lock before it goes, so none is missed, and completing
 * needs no barrier to find that there is none.
 */
void via_wake_some(struct hlist_head *sleepers);

static inline void via_wake(struct hlist_head *sleepers)
{
	if (unlikely(!hlist_empty(sleepers)))
		via_wake_some(sleepers);
}

/*
 * VIA_IOC_WAIT.  No lock held; sleeps.  A call's result: 0, VIA_R_TIMEOUT or
 * -errno (-EINTR: a signal).
 */
long via_wait(struct via_file *f, const struct via_wait *w);
/* VIA_OP_WAIT_*: 0 or -errno.  No lock held; sleeps. */
long via_wait_trap(struct via_file *f, u32 op, u32 id);
/* VIA_OP_NOTIFY_*: 0 or -errno.  No lock held; process context. */
long via_notify_trap(struct via_file *f, u32 op, u32 id);
/* The queue or CQ is dead, its lock is held: nothing is told any more. */
void via_notice_cancel(struct via_notice *n);

#endif

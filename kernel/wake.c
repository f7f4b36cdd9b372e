// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The other side of wait.c: a queue that has moved wakes what waits for it,
 * threads and notices.
 */

#include <linux/sched.h>
#include "event.h"
#include "via_work.h"
#include "wait.h"

/*
 * Threads that are woken at once.  As many may sleep on a queue as the program
 * has, and the lock is held with bottom halves off.
 */
#define WAKES	32u

/*
 * The queue's or CQ's lock is held, and both kinds look at the queue under it
 * before they go on the list, so no move is missed.  Both are told once.  Where
 * more sleep than are woken at once, the last thread of these gets the others, and
 * wakes them before it returns: via_wake_rest().  Those that come meanwhile are
 * not among them.
 */
void via_wake_some(struct hlist_head *sleepers)
{
	struct via_work work = VIA_WORK(WAKES);
	struct via_sleeper *s;
	struct via_notice *n;

	while (!hlist_empty(sleepers)) {
		s = hlist_entry(sleepers->first, struct via_sleeper, link);
		via_work_visit(&work);
		hlist_del_init(&s->link);
		if (unlikely(!s->task)) {
			n = container_of(s, struct via_notice, sleeper);
			via_events_notice(n->events, n);
			continue;
		}
		/* A queue has one notice, so this is soon a thread. */
		if (unlikely(via_work_over(&work)) && !hlist_empty(sleepers))
			hlist_move_list(sleepers, &s->rest);
		wake_up_process(s->task);
		/* Pairs with via_sleep_until(): *s may go from here. */
		smp_store_release(&s->told, true);
	}
}

void via_notice_cancel(struct via_notice *n)
{
	if (!hlist_unhashed(&n->sleeper.link))
		hlist_del_init(&n->sleeper.link);
	/* Never armed: it has not been on any list. */
	if (n->events)
		via_events_forget(n->events, n);
}

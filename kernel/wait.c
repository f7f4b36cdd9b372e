// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waiting until a work queue or a completion queue moves: asleep, or by a
 * notice among the events of the handle.
 *
 * A wait queue would do; this does it under the lock that completing holds
 * anyway, and a blocking round trip is 400 instructions shorter for it.
 */

#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include "busy_poll.h"
#include "cq.h"
#include "vi.h"
#include "wait.h"

/* Those that a thread got with its own wake-up.  @lock is the queue's, not held. */
static noinline void via_wake_rest(spinlock_t *lock, struct hlist_head *rest)
{
	do {
		spin_lock_bh(lock);
		via_wake_some(rest);
		spin_unlock_bh(lock);
		cond_resched();
	} while (!hlist_empty(rest));
}

static void via_notice_arm(struct via_notice *n, struct hlist_head *sleepers,
			   struct via_file *f, bool moved)
{
	n->events = &f->events;
	if (moved)
		via_events_notice(n->events, n);
	else if (hlist_unhashed(&n->sleeper.link))
		hlist_add_head(&n->sleeper.link, sleepers);
}

static bool via_vi_moved(const struct via_queue *q, u32 seen)
{
	lockdep_assert_held(&q->lock);
	return q->head != seen || q->dead;
}

static bool via_cq_moved(const struct via_cq *cq, u32 seen)
{
	lockdep_assert_held(&cq->lock);
	return cq->tail != seen || cq->dead || via_cq_overflown(cq);
}

/**
 * struct via_deadline - until when a thread waits
 * @at:		on the monotonic clock
 * @coarse:	jiffies that the wheel of timers may have first, or 0
 *
 * Most waits end long before: so the wheel has the first half of a long one, which
 * costs half of what a timer by the clock does.
 */
struct via_deadline {
	ktime_t at;
	unsigned long coarse;
};

/* Until woken, or a deadline; false when that has passed. */
static inline bool via_nap(struct via_deadline *deadline)
{
	unsigned long coarse;

	if (likely(!deadline)) {
		schedule();
		return true;
	}
	coarse = deadline->coarse;
	if (coarse) {
		deadline->coarse = 0;
		schedule_timeout(coarse);
		return true;
	}
	return schedule_hrtimeout_range(&deadline->at, current->timer_slack_ns,
					HRTIMER_MODE_ABS);
}

/*
 * Sleep with @lock held around each look.  1: @moved says so, 0: @deadline (on
 * the monotonic clock, NULL: none) has passed, -EINTR: a signal.
 *
 * Not in jiffies alone: where a virtual CPU was not run for a while they leap, and
 * a wait counted in them is shorter than asked.
 *
 * A sleeper that a move wakes is off the list already and need not look again;
 * it returns without the lock as soon as the waker has let go of _me.
 */
#define via_sleep_until(lock, sleepers, deadline, moved)		\
({									\
	struct via_sleeper _me = { .task = current };			\
	bool _over, _time = true;					\
	int _ret;							\
									\
	spin_lock_bh(lock);						\
	hlist_add_head(&_me.link, sleepers);				\
	for (;;) {							\
		set_current_state(TASK_INTERRUPTIBLE);			\
		_over = (moved) || hlist_unhashed(&_me.link);		\
		_ret = !_over && signal_pending(current) ? -EINTR :	\
		       _over || _time;					\
		if (_over || _ret <= 0) {				\
			__set_current_state(TASK_RUNNING);		\
			if (!hlist_unhashed(&_me.link))			\
				hlist_del(&_me.link);			\
			spin_unlock_bh(lock);				\
			break;						\
		}							\
		spin_unlock_bh(lock);					\
		_time = via_nap(deadline);				\
		/* Pairs with the release in via_wake_some(). */	\
		if (likely(smp_load_acquire(&_me.told)))		\
			break;						\
		spin_lock_bh(lock);					\
	}								\
	if (unlikely(!hlist_empty(&_me.rest)))				\
		via_wake_rest(lock, &_me.rest);				\
	_ret;								\
})

/* What via_sleep_until() says, or another -errno. */
static int via_wait_queue(struct via_file *f, u32 id, bool recv,
			  const u32 *seen, struct via_deadline *deadline)
{
	struct via_queue *q;
	struct via_vi *vi;
	bool empty;
	u32 from;
	int ret;

	/* The reference keeps the VI, only RCU what it shares. */
	rcu_read_lock();
	vi = via_vi_get_rcu(f, id);
	if (unlikely(!vi)) {
		rcu_read_unlock();
		return -ENODEV;
	}
	q = recv ? &vi->rq : &vi->sq;
	from = seen ? *seen : READ_ONCE(q->prog->collected);
	empty = !seen && READ_ONCE(q->prog->tail) == from;
	rcu_read_unlock();
	via_vi_settle(vi);
	/* Another thread took the last one meanwhile: nothing to wait for. */
	if (empty) {
		via_vi_put(vi);
		return 1;
	}
	ret = via_sleep_until(&q->lock, &q->sleepers, deadline,
			      via_vi_moved(q, from));
	if (READ_ONCE(q->dead))
		ret = -ENODEV;
	via_vi_put(vi);
	return ret;
}

static int via_wait_cq(struct via_file *f, u32 id, const u32 *seen,
		       struct via_deadline *deadline)
{
	struct via_cq *cq = via_cq_get(f, id);
	u32 from;
	int ret;

	if (!cq)
		return -ENODEV;
	from = seen ? *seen : READ_ONCE(cq->shared->head);
	ret = via_sleep_until(&cq->lock, &cq->sleepers, deadline,
			      via_cq_moved(cq, from));
	if (READ_ONCE(cq->dead))
		ret = -ENODEV;
	via_cq_put(cq);
	return ret;
}

static int via_wait_any(struct via_file *f, u32 kind, u32 id, const u32 *seen,
			struct via_deadline *deadline)
{
	int ret;

	/* From here on frames have to interrupt. */
	via_busy_poll_end(f);
	switch (kind) {
	case VIA_WAIT_SEND:
	case VIA_WAIT_RECV:
		ret = via_wait_queue(f, id, kind == VIA_WAIT_RECV, seen,
				     deadline);
		break;
	case VIA_WAIT_CQ:
		ret = via_wait_cq(f, id, seen, deadline);
		break;
	default:
		return -EINVAL;
	}
	/* EINTR: the library comes back for what time is left. */
	if (ret < 0)
		return ret;
	return ret ? 0 : VIA_R_TIMEOUT;
}

long via_wait(struct via_file *f, const struct via_wait *w)
{
	struct via_deadline deadline;
	u64 ns = w->timeout;

	if (w->reserved)
		return -EINVAL;
	if (ns == VIA_FOREVER)
		return via_wait_any(f, w->kind, w->id, &w->seen, NULL);
	ns = min_t(u64, ns, KTIME_MAX);
	deadline.at = ktime_add_safe(ktime_get(), ns_to_ktime(ns));
	/* What is longer than a second ends by the clock, too. */
	deadline.coarse = (u32)min_t(u64, ns, NSEC_PER_SEC) /
			  (2 * TICK_NSEC);
	return via_wait_any(f, w->kind, w->id, &w->seen, &deadline);
}

long via_wait_trap(struct via_file *f, u32 op, u32 id)
{
	return via_wait_any(f, op - VIA_OP_WAIT_SEND, id, NULL, NULL);
}

static long via_notify_queue(struct via_file *f, u32 id, bool recv)
{
	struct via_vi *vi = via_vi_get(f, id);
	struct via_queue *q;
	long ret = 0;

	if (!vi)
		return -ENODEV;
	via_vi_settle(vi);
	q = recv ? &vi->rq : &vi->sq;
	spin_lock_bh(&q->lock);
	if (q->dead) {
		ret = -ENODEV;
	} else {
		/* What is shared stays until a grace period after dead. */
		q->notice.id = id;
		q->notice.code = recv ? VIA_EVENT_RECV : VIA_EVENT_SEND;
		via_notice_arm(&q->notice, &q->sleepers, f,
			       via_vi_moved(q, READ_ONCE(q->prog->collected)));
	}
	spin_unlock_bh(&q->lock);
	via_vi_put(vi);
	return ret;
}

static long via_notify_cq(struct via_file *f, u32 id)
{
	struct via_cq *cq = via_cq_get(f, id);
	long ret = 0;

	if (!cq)
		return -ENODEV;
	spin_lock_bh(&cq->lock);
	if (cq->dead) {
		ret = -ENODEV;
	} else {
		cq->notice.id = id;
		cq->notice.code = VIA_EVENT_CQ;
		via_notice_arm(&cq->notice, &cq->sleepers, f,
			       via_cq_moved(cq, READ_ONCE(cq->shared->head)));
	}
	spin_unlock_bh(&cq->lock);
	via_cq_put(cq);
	return ret;
}

long via_notify_trap(struct via_file *f, u32 op, u32 id)
{
	via_busy_poll_end(f);
	if (op == VIA_OP_NOTIFY_CQ)
		return via_notify_cq(f, id);
	return via_notify_queue(f, id, op == VIA_OP_NOTIFY_RECV);
}

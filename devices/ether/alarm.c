// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The alarm of a NIC: when what programs wait for is due.
 *
 * It is of high resolution, and the earliest of: the visit of a VI (nic->due,
 * ordered by time: timer.c says when and why), a question that was promised,
 * the retry of VIs that could not send, the opening of a peer.  When it goes off
 * it visits the VIs whose time has come, in O(log n) each.  A list of all VIs at
 * work would be walked at each alarm; a wheel would need slots of 10 us for
 * times up to a second; a timer for each VI would put the tree into the kernel's
 * hands, and take an interrupt for each.
 *
 * The clock of the alarm is a timer, or programs that busy-poll: each of their
 * traps compares the time with nic->armed.  While they do, no timer is started
 * where it can be helped: in a virtual machine that costs as much as a message.
 * Where they do not look any more, the tick of busy polling notices.  It is
 * short where there is a ring to look into, too.  Where there is none it is
 * long, and two things keep a program that computes from being late for others:
 *
 *  - The timer is started all the same if this end owes an acknowledgement, if
 *    a VI could not send, if a peer is not to be sent to for a while.
 *  - The end that is acknowledged looks at the time itself.  It promises to ask
 *    (PUSH with PROBE) if its acknowledgement has not come in the time that one
 *    may wait, and the peer does not watch what came with a promise.  One
 *    promise at a time stands for a NIC: other pushes go without.
 */

#include "ether.h"

#define AHEAD_NS	(100 * NSEC_PER_USEC)	/* VIs that rest leave early */

/* In one piece, on machines of 32 bits as well. */
static u64 armed(const struct via_ether_nic *nic)
{
	return atomic64_read(&nic->armed);
}

/*
 * Later than it is armed for: that can wait for another look of some VI, which
 * comes before it goes off if they come as they did.  To arm it costs as much
 * as a look, and in a virtual machine far more.  nic->lock held.
 */
static bool can_wait(struct via_ether_nic *nic, u64 now)
{
	u64 gap = now - nic->looked_at;

	nic->looked_at = now;
	return armed(nic) > now + gap + gap / 4;
}

/* For some time, and not at work.  nic->lock held. */
static bool is_armed(const struct via_ether_nic *nic)
{
	return armed(nic) && armed(nic) != U64_MAX;
}

/* nic->lock held. */
static void start_timer(struct via_ether_nic *nic)
{
	nic->started = armed(nic);
	hrtimer_start(&nic->alarm, ns_to_ktime(armed(nic)),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Is it for programs that busy-poll to look at the time?  nic->lock held. */
static bool programs_look(struct via_ether_nic *nic)
{
	if (!nic->polled)
		return false;
	return nic->ops->busy_poll ||
	       (!nic->rx_watched && nic->retry_at == U64_MAX &&
		!timerqueue_getnext(&nic->openings));
}

/* What is due first; U64_MAX: nothing.  nic->lock held. */
static u64 earliest(struct via_ether_nic *nic)
{
	struct timerqueue_node *first = timerqueue_getnext(&nic->due);
	u64 when = min(nic->retry_at, nic->ask_at);

	if (first)
		when = min_t(u64, when, first->expires);
	first = timerqueue_getnext(&nic->openings);
	if (first)
		when = min_t(u64, when, first->expires);
	return when;
}

/*
 * Armed for what is due first, earlier or later than before; @now: for a look,
 * 0: for something else.  One that nothing waits for any more goes off for
 * nothing, once.  nic->lock held.
 */
static void set_alarm(struct via_ether_nic *nic, u64 now)
{
	u64 when = earliest(nic);
	bool timer;

	lockdep_assert_held(&nic->lock);
	/* While it goes off it arms itself, at its end. */
	if (nic->stopping || !armed(nic) || when == U64_MAX)
		return;
	timer = !programs_look(nic);
	if (timer && now && when > armed(nic) && can_wait(nic, now))
		when = armed(nic);
	/* Pairs with via_ether_alarm_poll(). */
	atomic64_set(&nic->armed, when);
	if (timer && when != nic->started)
		start_timer(nic);
}

/* Often it is the only one, and keeps its place.  nic->lock held. */
static bool stays_first(struct via_ether_vi *ev, u64 when)
{
	struct timerqueue_node *next;

	if (timerqueue_getnext(&ev->nic->due) != &ev->due || when == U64_MAX)
		return false;
	next = timerqueue_iterate_next(&ev->due);
	if (next && (u64)next->expires < when)
		return false;
	ev->due.expires = when;
	return true;
}

/* On nic->due, at the time of the half that is due first.  nic->lock held. */
static void enqueue(struct via_ether_vi *ev, u64 now)
{
	struct via_ether_nic *nic = ev->nic;
	u64 when = min(ev->want[VIA_ETHER_TX], ev->want[VIA_ETHER_RX]);

	lockdep_assert_held(&nic->lock);
	if (ev->queued) {
		if (when == (u64)ev->due.expires)
			goto out;
		if (stays_first(ev, when))
			goto out;
		timerqueue_del(&nic->due, &ev->due);
	}
	ev->queued = when != U64_MAX;
	if (!ev->queued)
		return;
	ev->due.expires = when;
	timerqueue_add(&nic->due, &ev->due);
out:
	set_alarm(nic, now);
}

/* nic->lock held. */
static void want(struct via_ether_vi *ev, enum via_ether_half half, u64 when)
{
	if (half == VIA_ETHER_RX)
		ev->nic->rx_watched += (when != U64_MAX) -
				       (ev->want[half] != U64_MAX);
	ev->want[half] = when;
}

void via_ether_visit_at(struct via_ether_vi *ev, enum via_ether_half half,
			u64 when, u64 now)
{
	spin_lock(&ev->nic->lock);
	want(ev, half, when);
	enqueue(ev, now);
	spin_unlock(&ev->nic->lock);
}

void via_ether_visited(struct via_ether_vi *ev, u64 tx, u64 rx)
{
	spin_lock(&ev->nic->lock);
	want(ev, VIA_ETHER_TX, tx);
	want(ev, VIA_ETHER_RX, rx);
	enqueue(ev, 0);
	spin_unlock(&ev->nic->lock);
}

/* nic->lock held. */
static void forget_promise(struct via_ether_nic *nic)
{
	nic->asker = NULL;
	nic->ask_at = U64_MAX;
}

void via_ether_unwatch(struct via_ether_vi *ev)
{
	want(ev, VIA_ETHER_TX, U64_MAX);
	want(ev, VIA_ETHER_RX, U64_MAX);
	enqueue(ev, 0);
	if (ev->nic->asker == ev)
		forget_promise(ev->nic);
}

/*
 * The acknowledgement has come that a question was promised for, or there is no
 * promise.  A hint, as its sq.lock is not held.  nic->lock held.
 */
static bool is_kept(const struct via_ether_nic *nic)
{
	return !nic->asker ||
	       via_seq_before(nic->ask_seq, READ_ONCE(nic->asker->tx.una));
}

u8 via_ether_promise(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;
	u64 now;
	bool ok;

	lockdep_assert_held(&ev->vi->sq.lock);
	if (!ev->reliable)
		return 0;
	now = ktime_get_ns();
	spin_lock(&nic->lock);
	/* An older one is not put off: it may be that none ever came due. */
	ok = nic->promises && is_kept(nic);
	if (ok) {
		nic->asker = ev;
		nic->ask_seq = ev->tx.nxt;
		nic->ask_at = now + via_ether_bet_ns(ev);
		set_alarm(nic, now);
	}
	spin_unlock(&nic->lock);
	return ok ? VIA_WIRE_PROBE : 0;
}

/* As was promised, unless the answer has come meanwhile.  BH off, RCU. */
static void ask(struct via_ether_vi *ev, u32 seq)
{
	struct via_vi *vi = ev->vi;

	via_ether_lock(vi);
	/* It may be another connection by now: then the question does no harm. */
	if (ev->phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi) &&
	    seq - ev->tx.una < via_win_flight(&ev->tx))
		via_ether_send_question(ev);
	via_ether_unlock(vi);
	via_vi_settle(vi);
}

void via_ether_retry_at(struct via_ether_nic *nic, u64 when)
{
	lockdep_assert_held(&nic->lock);
	nic->retry_at = when;
	set_alarm(nic, 0);
}

/*
 * Nothing is in flight and nothing owed: all that is left to do at the visit is
 * not to be visited any more.  A hint, as the locks are not held.
 */
static bool rests(const struct via_ether_vi *ev)
{
	return READ_ONCE(ev->tx.una) == READ_ONCE(ev->tx.nxt) &&
	       READ_ONCE(ev->rx.next) == READ_ONCE(ev->acked);
}

/*
 * Is the VI due?  One that rests is some time before, so that not each of many
 * costs an interrupt of its own.
 */
static bool is_due(const struct via_ether_vi *ev, u64 now)
{
	u64 when = ev->due.expires;

	return when <= now + VIA_ETHER_GAP_NS ||
	       (when <= now + AHEAD_NS && rests(ev));
}

/*
 * The VI to visit next, off the queue; NULL: none is due, or those that are stay
 * for the next alarm, which is armed for them.
 */
static struct via_ether_vi *next_due(struct via_ether_nic *nic, u64 now,
				     struct via_work *work)
{
	struct timerqueue_node *first;
	struct via_ether_vi *ev = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->due);
	if (first)
		ev = container_of(first, struct via_ether_vi, due);
	if (ev && (!is_due(ev, now) || !via_work_visit(work)))
		ev = NULL;
	if (ev) {
		want(ev, VIA_ETHER_TX, U64_MAX);
		want(ev, VIA_ETHER_RX, U64_MAX);
		ev->queued = false;
		timerqueue_del(&nic->due, first);
	}
	spin_unlock(&nic->lock);
	return ev;
}

bool via_ether_open_at(struct via_peer *peer, u64 when)
{
	struct via_ether_nic *nic = peer->nic;
	bool ok;

	spin_lock(&nic->lock);
	ok = peer->users && !nic->stopping;
	if (ok) {
		/* Of a pause that nothing waited for any more. */
		if (peer->opens)
			timerqueue_del(&nic->openings, &peer->opening);
		peer->opens = true;
		peer->opening.expires = when;
		timerqueue_add(&nic->openings, &peer->opening);
		set_alarm(nic, 0);
	}
	spin_unlock(&nic->lock);
	return ok;
}

/* The peer that may be sent to again, off the queue; NULL as above. */
static struct via_peer *next_opening(struct via_ether_nic *nic, u64 now,
				     struct via_work *work)
{
	struct timerqueue_node *first;
	struct via_peer *peer = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->openings);
	if (first && first->expires <= (s64)(now + VIA_ETHER_GAP_NS) &&
	    via_work_visit(work)) {
		peer = container_of(first, struct via_peer, opening);
		peer->opens = false;
		timerqueue_del(&nic->openings, first);
	}
	spin_unlock(&nic->lock);
	return peer;
}

/* What is due now; @timer: by the timer's clock.  BH off. */
static void run_alarm(struct via_ether_nic *nic, bool timer)
{
	struct via_work visits = VIA_WORK(VIA_ETHER_VISITS);
	struct via_work openings = VIA_WORK(VIA_ETHER_VISITS);
	struct via_work acks = VIA_WORK(VIA_ETHER_VISITS);
	u64 now = ktime_get_ns();
	struct via_ether_vi *ev, *asker = NULL;
	struct via_peer *peer;
	bool late, retry;
	u32 seq;

	rcu_read_lock();
	spin_lock(&nic->lock);
	if (timer)
		nic->started = U64_MAX;
	/*
	 * The timer and programs that look may come at once: one is enough.  A
	 * timer of before busy polling may find that they have done it all.
	 */
	if (!is_armed(nic)) {
		spin_unlock(&nic->lock);
		rcu_read_unlock();
		return;
	}
	late = now > armed(nic) + VIA_ETHER_LATE_NS;
	atomic64_set(&nic->armed, 0);
	retry = nic->retry_at <= now + VIA_ETHER_GAP_NS;
	if (retry)
		nic->retry_at = U64_MAX;
	if (nic->ask_at <= now + VIA_ETHER_GAP_NS) {
		asker = nic->asker;
		seq = nic->ask_seq;
		forget_promise(nic);
	}
	spin_unlock(&nic->lock);

	if (retry)
		via_ether_run_stalled(nic);
	/* This CPU did not run: an answer may lie in the ring. */
	if (late && nic->ops->rx_look)
		nic->ops->rx_look(nic);
	if (asker)
		ask(asker, seq);
	while ((ev = next_due(nic, now, &visits)))
		via_ether_visit(ev, now, &visits);
	while ((peer = next_opening(nic, now, &openings)))
		via_ether_share_open(peer, &openings);
	via_ether_pay(nic, &acks);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	atomic64_set(&nic->armed, U64_MAX);
	set_alarm(nic, 0);
	spin_unlock(&nic->lock);
}

static enum hrtimer_restart go_off(struct hrtimer *t)
{
	run_alarm(container_of(t, struct via_ether_nic, alarm), true);
	return HRTIMER_NORESTART;
}

void via_ether_alarm_poll(struct via_ether_nic *nic)
{
	u64 when = armed(nic);

	/* 0: it runs, on another CPU. */
	if (likely(!when || when == U64_MAX || when > ktime_get_ns()))
		return;
	local_bh_disable();
	run_alarm(nic, false);
	local_bh_enable();
}

void via_ether_alarm_mode(struct via_ether_nic *nic,
			  enum via_busy_poll_step step)
{
	spin_lock_bh(&nic->lock);
	nic->polled = step != VIA_BUSY_POLL_END;
	WRITE_ONCE(nic->promises, nic->polled && !nic->ops->busy_poll);
	if (is_kept(nic))
		forget_promise(nic);
	if (step == VIA_BUSY_POLL_END)
		set_alarm(nic, 0);
	/* No program has looked for a tick.  While it runs it arms itself. */
	else if (!nic->stopping && is_armed(nic) &&
		 armed(nic) <= ktime_get_ns())
		start_timer(nic);
	spin_unlock_bh(&nic->lock);
}

void via_ether_alarm_init(struct via_ether_nic *nic)
{
	hrtimer_setup(&nic->alarm, go_off, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	atomic64_set(&nic->armed, U64_MAX);
	nic->started = U64_MAX;
	timerqueue_init_head(&nic->due);
	timerqueue_init_head(&nic->openings);
	nic->ask_at = U64_MAX;
	nic->retry_at = U64_MAX;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The timers of a NIC: mechanism alone.  It calls functions that others have set,
 * and knows none of them.
 *
 * The alarm is of high resolution: acknowledgements owed, timeouts of frames in
 * flight and transmitters that were full are what a program may be waiting for.
 * The coarse timer, in jiffies, serves attempts, the expiry of requests, and
 * peers.
 *
 * A message does not arm the alarm, and reads no clock.  A VI that begins to
 * wait for something is watched: it is put on nic->clock.due, and the alarm is armed
 * if that is the earliest.  A half of it that goes on working looks at itself
 * each so many frames (@delack.interval, @rto.interval), as many as it had lately in
 * 15/16 of the time until the alarm.  At a look it reads the clock, and what
 * has moved since the last look puts the alarm off.  So the alarm does not go
 * off while frames come as they did; it is an interrupt, and costs five times
 * what a look does.  When it visits a VI, what has not moved is due, what has
 * moved is visited again, and a half that waits for nothing is not watched any
 * more.  An idle VI costs nothing.
 *
 * The price: the time of an event in a VI that is watched already is known to
 * one look only.  An acknowledgement that is the only one owed is in time to a
 * microsecond by the CPU's cycle counter; others are sent early, after a part
 * of the ACK delay.  A timeout comes after one to two times its value.
 *
 * The alarm has entries, struct via_alarm, on nic->clock.due in the order of their
 * times.  When it fires it calls the function of each whose time has come, in
 * O(log n) each.  Entries are: a VI with both halves (retransmit.c), the
 * sender's ACK deadline (acks.c), the retry of VIs that
 * could not send (run.c), the end of a peer's pause (share.c).  A list of all
 * VIs at work would be walked at each alarm; a wheel would need slots of 10 us
 * for times up to a second; a timer for each VI would put the tree into the
 * kernel's hands, and take an interrupt for each.  A VI has one entry and not
 * one for each half: a visit takes both locks once.
 *
 * The clock of the alarm is a timer, or programs that busy-poll: each of their
 * traps compares the time with nic->clock.armed.  While they do, no timer is started
 * where it can be helped: in a virtual machine that costs as much as a message.
 * Where they do not look any more, the tick of busy polling notices.  It is
 * short where there is a ring to look into, too.  Where there is none it is
 * long, and two things keep a program that computes from being late for others:
 *
 *  - The timer is started all the same if this end owes an acknowledgement, if
 *    a VI could not send, if a peer is not to be sent to for a while.
 *  - The end that is acknowledged keeps the ACK deadline itself.  Its PUSH with
 *    PROBE says so: it requests the acknowledgement that has not come by then,
 *    and the peer does not watch the frame.  A NIC has one deadline at a time:
 *    other PUSHes go without.
 */

#include "param.h"
#include "run.h"
#include "timer.h"
#include "vi.h"

#define AHEAD_NS	(100 * NSEC_PER_USEC)	/* VIs that rest leave early */

/* In one piece, on machines of 32 bits as well. */
static u64 armed_at(const struct via_ether_nic *nic)
{
	return atomic64_read(&nic->clock.armed);
}

/*
 * Later than it is armed for: that can wait for another look of some VI, which
 * comes before it goes off if they come as they did.  To arm it costs as much
 * as a look, and in a virtual machine far more.  nic->lock held.
 */
static bool can_wait(struct via_ether_nic *nic, u64 now)
{
	u64 gap = now - nic->clock.looked_at;

	nic->clock.looked_at = now;
	return armed_at(nic) > now + gap + gap / 4;
}

/* For some time, and not at work.  nic->lock held. */
static bool is_armed(const struct via_ether_nic *nic)
{
	return armed_at(nic) && armed_at(nic) != U64_MAX;
}

/* nic->lock held. */
static void start_timer(struct via_ether_nic *nic)
{
	nic->clock.started = armed_at(nic);
	hrtimer_start(&nic->clock.timer, ns_to_ktime(armed_at(nic)),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* Is it for programs that busy-poll to look at the time?  nic->lock held. */
static bool programs_look(struct via_ether_nic *nic)
{
	if (!nic->clock.polled)
		return false;
	return nic->ops->busy_poll || !nic->clock.urgent;
}

/* What is due first; U64_MAX: nothing.  nic->lock held. */
static u64 earliest_alarm(struct via_ether_nic *nic)
{
	struct timerqueue_node *first = timerqueue_getnext(&nic->clock.due);

	return first ? first->expires : U64_MAX;
}

/*
 * Armed for what is due first, earlier or later than before; @now: for a look,
 * 0: for something else.  One that nothing waits for any more goes off for
 * nothing, once.  nic->lock held.
 */
static void set_alarm(struct via_ether_nic *nic, u64 now)
{
	u64 when = earliest_alarm(nic);
	bool timer;

	lockdep_assert_held(&nic->lock);
	/* While it goes off it arms itself, at its end. */
	if (nic->stopping || !armed_at(nic) || when == U64_MAX)
		return;
	timer = !programs_look(nic);
	if (timer && now && when > armed_at(nic) && can_wait(nic, now))
		when = armed_at(nic);
	/* Pairs with via_ether_alarm_poll(). */
	atomic64_set(&nic->clock.armed, when);
	if (timer && when != nic->clock.started)
		start_timer(nic);
}

/* Often it is the only one, and keeps its place.  nic->lock held. */
static bool stays_first(struct via_ether_nic *nic, struct via_alarm *a,
			u64 when)
{
	struct timerqueue_node *next;

	if (timerqueue_getnext(&nic->clock.due) != &a->node || when == U64_MAX)
		return false;
	next = timerqueue_iterate_next(&a->node);
	if (next && (u64)next->expires < when)
		return false;
	a->node.expires = when;
	return true;
}

/* nic->lock held. */
static void dequeue_alarm(struct via_ether_nic *nic, struct via_alarm *a)
{
	timerqueue_del(&nic->clock.due, &a->node);
	a->queued = false;
	nic->clock.urgent -= a->urgent;
}

void via_alarm_set(struct via_ether_nic *nic, struct via_alarm *a, u64 when,
		   u64 now)
{
	lockdep_assert_held(&nic->lock);
	if (a->queued) {
		if (when == (u64)a->node.expires)
			goto out;
		if (stays_first(nic, a, when))
			goto out;
		dequeue_alarm(nic, a);
	}
	if (when == U64_MAX)
		return;
	a->queued = true;
	nic->clock.urgent += a->urgent;
	a->node.expires = when;
	timerqueue_add(&nic->clock.due, &a->node);
out:
	set_alarm(nic, now);
}

void via_alarm_init(struct via_alarm *a, bool urgent,
		    void (*fire)(struct via_alarm *a, u64 now,
				 struct via_work *work),
		    bool (*rests)(const struct via_alarm *a))
{
	timerqueue_init(&a->node);
	a->queued = false;
	a->urgent = urgent;
	a->fire = fire;
	a->rests = rests;
}

/* Of a VI: the receiver's half is what other hosts wait for.  nic->lock held. */
static void want_alarm(struct via_ether_vi *ev, enum via_ether_half half,
		       u64 when)
{
	struct via_alarm *a = &ev->on.due;
	bool urgent;

	ev->on.want[half] = when;
	urgent = ev->on.want[VIA_ETHER_RX] != U64_MAX;
	if (a->queued)
		ev->nic->clock.urgent += urgent - a->urgent;
	a->urgent = urgent;
}

/* At the time of the half that is due first.  nic->lock held. */
static void enqueue_vi(struct via_ether_vi *ev, u64 now)
{
	via_alarm_set(ev->nic, &ev->on.due,
		      min(ev->on.want[VIA_ETHER_TX], ev->on.want[VIA_ETHER_RX]),
		      now);
}

void via_ether_visit_at(struct via_ether_vi *ev, enum via_ether_half half,
			u64 when, u64 now)
{
	spin_lock(&ev->nic->lock);
	want_alarm(ev, half, when);
	enqueue_vi(ev, now);
	spin_unlock(&ev->nic->lock);
}

void via_ether_visited(struct via_ether_vi *ev, u64 tx, u64 rx)
{
	spin_lock(&ev->nic->lock);
	want_alarm(ev, VIA_ETHER_TX, tx);
	want_alarm(ev, VIA_ETHER_RX, rx);
	enqueue_vi(ev, 0);
	spin_unlock(&ev->nic->lock);
}

void via_ether_unwatch(struct via_ether_vi *ev)
{
	want_alarm(ev, VIA_ETHER_TX, U64_MAX);
	want_alarm(ev, VIA_ETHER_RX, U64_MAX);
	enqueue_vi(ev, 0);
}

/*
 * Is it due?  One that rests is some time before, so that not each of many costs
 * an interrupt of its own.
 */
static bool is_due(const struct via_alarm *a, u64 now)
{
	u64 when = a->node.expires;

	return when <= now + VIA_ETHER_GAP_NS ||
	       (when <= now + AHEAD_NS && a->rests && a->rests(a));
}

/*
 * The entry that is due next, off the queue; NULL: none is due, or those that are
 * stay for the next alarm, which is armed for them.
 */
static struct via_alarm *next_due(struct via_ether_nic *nic, u64 now,
				  struct via_work *work)
{
	struct timerqueue_node *first;
	struct via_alarm *a = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->clock.due);
	if (first)
		a = container_of(first, struct via_alarm, node);
	if (a && (!is_due(a, now) || !via_work_visit(work)))
		a = NULL;
	if (a)
		dequeue_alarm(nic, a);
	spin_unlock(&nic->lock);
	return a;
}

/* What is due now; @timer: by the timer's clock.  BH off. */
static void run_alarm(struct via_ether_nic *nic, bool timer)
{
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS);
	struct via_work acks = VIA_WORK(VIA_ETHER_VISITS);
	u64 now = ktime_get_ns();
	struct via_alarm *a;
	bool late;

	rcu_read_lock();
	spin_lock(&nic->lock);
	if (timer)
		nic->clock.started = U64_MAX;
	/*
	 * The timer and programs that look may come at once: one is enough.  A
	 * timer of before busy polling may find that they have done it all.
	 */
	if (!is_armed(nic)) {
		spin_unlock(&nic->lock);
		rcu_read_unlock();
		return;
	}
	late = now > armed_at(nic) + VIA_ETHER_LATE_NS;
	atomic64_set(&nic->clock.armed, 0);
	spin_unlock(&nic->lock);

	/* This CPU did not run: an answer may lie in the ring. */
	if (late && nic->ops->rx_look)
		nic->ops->rx_look(nic);
	while ((a = next_due(nic, now, &work)))
		a->fire(a, now, &work);
	nic->runs.ops->acks(nic, &acks);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	atomic64_set(&nic->clock.armed, U64_MAX);
	set_alarm(nic, 0);
	spin_unlock(&nic->lock);
}

static enum hrtimer_restart go_off(struct hrtimer *t)
{
	run_alarm(container_of(t, struct via_ether_nic, clock.timer), true);
	return HRTIMER_NORESTART;
}

void via_ether_alarm_poll(struct via_ether_nic *nic)
{
	u64 when = armed_at(nic);

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
	nic->clock.polled = step != VIA_BUSY_POLL_END;
	if (step == VIA_BUSY_POLL_END)
		set_alarm(nic, 0);
	/* No program has looked for a tick.  While it runs it arms itself. */
	else if (!nic->stopping && is_armed(nic) &&
		 armed_at(nic) <= ktime_get_ns())
		start_timer(nic);
	spin_unlock_bh(&nic->lock);
}

static void nic_alarm_init(struct via_ether_nic *nic)
{
	hrtimer_setup(&nic->clock.timer, go_off, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	atomic64_set(&nic->clock.armed, U64_MAX);
	nic->clock.started = U64_MAX;
	timerqueue_init_head(&nic->clock.due);
}

/* The coarse timer */

/*
 * For the job that is due first.  While a tick runs this does nothing: its end
 * arms the timer.  nic->lock held.
 */
static void arm_tick(struct via_ether_nic *nic)
{
	const struct via_tick_job *job;
	unsigned long at, when = 0;
	bool wanted = false;

	lockdep_assert_held(&nic->lock);
	if (nic->stopping)
		return;
	for (job = nic->tick.jobs; job->run; job++) {
		at = nic->tick.next_live;
		if (!job->wanted(nic, &at))
			continue;
		if (!wanted || time_before(at, when))
			when = at;
		wanted = true;
	}
	if (!wanted || (nic->tick.armed && time_before_eq(nic->tick.at, when)))
		return;
	nic->tick.armed = true;
	nic->tick.at = when;
	mod_timer(&nic->tick.timer, when);
}

void via_ether_arm(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	arm_tick(nic);
	spin_unlock(&nic->lock);
}

void via_ether_hurry(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	nic->tick.next_live = jiffies;
	/* Those that a round has come to are looked at again, too. */
	nic->tick.peers_left = nic->peers->non;
	arm_tick(nic);
	spin_unlock(&nic->lock);
}

/* Is it time for a round of the jobs without times of their own? */
static bool round_begins(struct via_ether_nic *nic)
{
	bool begins;

	spin_lock(&nic->lock);
	begins = time_after_eq(jiffies, nic->tick.next_live);
	if (begins)
		nic->tick.next_live = jiffies + via_ether_heartbeat() / 4 + 1;
	spin_unlock(&nic->lock);
	return begins;
}

static void run_tick(struct timer_list *t)
{
	struct via_ether_nic *nic = timer_container_of(nic, t, tick.timer);
	const struct via_tick_job *job;
	/* Before the jobs: via_ether_hurry() requests another round after them. */
	bool round = round_begins(nic), more = false;

	rcu_read_lock();
	for (job = nic->tick.jobs; job->run; job++)
		if (round || job->every_tick)
			more |= job->run(nic);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	if (more && time_after(nic->tick.next_live, jiffies + 1))
		nic->tick.next_live = jiffies + 1;
	nic->tick.armed = false;
	arm_tick(nic);
	spin_unlock(&nic->lock);
}

void via_ether_timer_init(struct via_ether_nic *nic,
			  const struct via_tick_job *jobs)
{
	nic->tick.jobs = jobs;
	timer_setup(&nic->tick.timer, run_tick, 0);
	nic->tick.next_live = jiffies;
	nic_alarm_init(nic);
}

/* For good.  May sleep. */
void via_ether_timer_stop(struct via_ether_nic *nic)
{
	spin_lock_bh(&nic->lock);
	nic->stopping = true;
	spin_unlock_bh(&nic->lock);
	timer_delete_sync(&nic->tick.timer);
	hrtimer_cancel(&nic->clock.timer);
}

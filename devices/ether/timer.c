// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What VIs wait for, and the coarse timer of a NIC.
 *
 * Acknowledgements owed, timeouts of frames in flight and transmitters that
 * were full are what a program may be waiting for: the alarm serves them
 * (alarm.c).  The coarse timer, in jiffies, serves attempts, the expiry of
 * requests, and peers (beat.c).
 *
 * A message does not arm the alarm, and reads no clock.  A VI that begins to
 * wait for something is watched: it is put on nic->due, and the alarm is armed
 * if that is the earliest.  A half of it that goes on working looks at itself
 * each so many frames (@rx_pace, @rto.pace), as many as it had lately in 15/16 of
 * the time until the alarm.  At a look it reads the clock, and what has moved
 * since the last look puts the alarm off.  So the alarm does not go off while
 * frames come as they did; it is an interrupt, and costs five times what a look
 * does.  When it visits a VI, what has not moved is due, what has moved is
 * visited again, and a half that waits for nothing is not watched any more.  An
 * idle VI costs nothing.
 *
 * The price: the time of an event in a VI that is watched already is known to
 * one look only.  An acknowledgement that is the only one owed is in time to a
 * microsecond by the CPU's cycle counter; others are sent early, after a part
 * of a bet.  A timeout comes after one to two times its value.
 */

#include <linux/math64.h>
#include <linux/timex.h>
#include "ether.h"
#include "proto/pace.h"

#define DOUBT_MAX	1024u		/* pushes, after bets that were lost */
#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */
#define UNRELIABLE_NS	VIA_RTO_LAZY_NS	/* until Unreliable is acknowledged */

/*
 * For the job that is due first.  While a tick runs this does nothing: its end
 * arms the timer.  nic->lock held.
 */
static void arm(struct via_ether_nic *nic)
{
	const struct via_tick_job *job;
	unsigned long at, when = 0;
	bool wanted = false;

	lockdep_assert_held(&nic->lock);
	if (nic->stopping)
		return;
	for (job = nic->jobs; job->run; job++) {
		at = nic->next_live;
		if (!job->wanted(nic, &at))
			continue;
		if (!wanted || time_before(at, when))
			when = at;
		wanted = true;
	}
	if (!wanted || (nic->ticking && time_before_eq(nic->tick_at, when)))
		return;
	nic->ticking = true;
	nic->tick_at = when;
	mod_timer(&nic->timer, when);
}

void via_ether_arm(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	arm(nic);
	spin_unlock(&nic->lock);
}

void via_ether_hurry(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	nic->next_live = jiffies;
	/* Those that a round has come to are looked at again, too. */
	nic->beats_left = nic->peers->non;
	arm(nic);
	spin_unlock(&nic->lock);
}

/*
 * How long an acknowledgement waits for data, ns.  The rule is the larger of
 * 100 us and two round trips; an eighth is for the time that this host takes.
 * Round trips are without the waits of the peer: those are told in
 * acknowledgements, or each end would lengthen the other's without bound.
 */
u64 via_ether_bet_ns(const struct via_ether_vi *ev)
{
	u32 rtt = via_ether_rtt_net(ev);

	if (unlikely(!ev->reliable))
		return UNRELIABLE_NS;
	return max(2 * rtt - rtt / 4, via_ether_ack_delay()) *
	       (u64)NSEC_PER_USEC;
}

static void note_rx(struct via_ether_vi *ev, u64 now, u64 bet)
{
	ev->rx_pace = ev->rx_pace ? via_pace(ev->rx.next - ev->rx_seen,
					     now - ev->rx_at, bet) : 1;
	ev->rx_seen = ev->rx.next;
	ev->rx_at = now;
	ev->rx_at_cycles = get_cycles();
}

/* Did the oldest frame that is not acknowledged come before the last look? */
static bool owed_before(const struct via_ether_vi *ev)
{
	return via_seq_before(READ_ONCE(ev->acked), ev->rx_seen);
}

static void watch_rx(struct via_ether_vi *ev, u64 now, u64 bet, u64 due)
{
	lockdep_assert_held(&ev->vi->rq.lock);
	note_rx(ev, now, bet);
	ev->rx_due = due;
	via_ether_visit_at(ev, VIA_ETHER_RX, due, now);
}

void via_ether_watch_rx(struct via_ether_vi *ev)
{
	u64 now = ktime_get_ns(), bet = via_ether_bet_ns(ev), due;

	if (!ev->rx_pace || READ_ONCE(ev->acked) + 1 == ev->rx.next)
		due = now + bet;	/* what has just come */
	else if (!owed_before(ev))
		due = ev->rx_at + bet;
	else
		due = ev->rx_due;
	watch_rx(ev, now, bet, due);
}

void via_ether_ack_again(struct via_ether_vi *ev)
{
	u64 now = ktime_get_ns(), bet = via_ether_bet_ns(ev);

	if (ev->rx_pace)
		return;
	/* A transmitter that is full is not asked after each bet. */
	watch_rx(ev, now, bet, now + (ev->late == ev->rx.next ? FULL_NS : bet));
}

void via_ether_look_rx(struct via_ether_vi *ev)
{
	/* In the middle of a message: nothing completes by it yet. */
	if (!ev->rx_open || ev->rx_pace)
		via_ether_watch_rx(ev);
}

/*
 * No data has come to carry the acknowledgement.  With as many bets won as
 * pushes were acknowledged at once for the last one that was lost, the program
 * has changed its mind; else it answers late as a rule, and is believed half
 * as often.  rq.lock held.
 */
void via_ether_bet_lost(struct via_ether_vi *ev)
{
	s32 won = ev->turns - VIA_ETHER_TURNS;

	if (ev->push && won >= 0) {
		if (won >= (s32)ev->doubt)
			ev->doubt = VIA_ETHER_DOUBT;
		ev->turns = -(s32)ev->doubt;
		ev->doubt = min(2 * ev->doubt, DOUBT_MAX);
	}
	ev->push = false;
	ev->pushed_at = ktime_get_ns();
}

/*
 * How long the newest frame has waited, if it is the only one that does, ns.
 * The counter has no unit: what it made of the time since the last look tells
 * its pace.  One that stands still tells nothing; where each CPU has one of its
 * own, the frame may wait for two bets.
 */
static u64 waited(const struct via_ether_vi *ev, u64 now)
{
	u64 cycles = get_cycles(), took = now - ev->rx_at;
	u64 all = cycles - ev->rx_at_cycles, ours = cycles - ev->pushed;

	if (!ev->push || ev->acked + 1 != ev->rx.next || !all)
		return U64_MAX;
	/* A PUSH that a look has seen came just before it. */
	if (ours >= all)
		return took;
	return took > NSEC_PER_SEC ? U64_MAX : div64_u64(took * ours, all);
}

static u32 delay_of(u64 ns)
{
	return min_t(u64, div_u64(ns, VIA_WIRE_DELAY_US * NSEC_PER_USEC),
		     VIA_WIRE_DELAY_MAX);
}

/*
 * What was owed at the last look goes alone, at the time that it had then.
 * What has come since has the time from when it came, or from that look.
 * rq.lock held.
 */
static void check_rx(struct via_ether_vi *ev, u64 now)
{
	u64 bet, age;

	if (!ev->rx_pace)
		return;
	if (ev->rx.next == ev->acked) {
		ev->rx_pace = 0;
		return;
	}
	if (now + VIA_ETHER_GAP_NS < ev->rx_due)
		return;
	age = waited(ev, now);
	if (!owed_before(ev)) {
		bet = via_ether_bet_ns(ev);
		ev->rx_due = now + bet - min(age, now - ev->rx_at);
		if (ev->rx_due > now + VIA_ETHER_GAP_NS) {
			note_rx(ev, now, bet);
			return;
		}
	}
	via_ether_bet_lost(ev);
	ev->rx_pace = 0;
	/* With what others owe at this alarm. */
	via_ether_ack_late(ev, delay_of(age));
}

void via_ether_visit(struct via_ether_vi *ev, u64 now, struct via_work *work)
{
	struct via_vi *vi = ev->vi;

	spin_lock(&vi->sq.lock);
	if (ev->phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi))
		via_ether_check_tx(ev, now, work);
	spin_lock(&vi->rq.lock);
	if (ev->phase != VIA_PHASE_CONNECTED || via_vi_is_broken(vi)) {
		ev->rto.pace = 0;
		ev->rx_pace = 0;
		goto unlock;
	}
	check_rx(ev, now);
	via_ether_visited(ev, ev->rto.pace ? ev->rto.due : U64_MAX,
			  ev->rx_pace ? ev->rx_due : U64_MAX);
unlock:
	spin_unlock(&vi->rq.lock);
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

/* Is it time for a round of the jobs without times of their own? */
static bool round_begins(struct via_ether_nic *nic)
{
	bool begins;

	spin_lock(&nic->lock);
	begins = time_after_eq(jiffies, nic->next_live);
	if (begins)
		nic->next_live = jiffies + via_ether_heartbeat() / 4 + 1;
	spin_unlock(&nic->lock);
	return begins;
}

static void tick(struct timer_list *t)
{
	struct via_ether_nic *nic = timer_container_of(nic, t, timer);
	const struct via_tick_job *job;
	/* Before the jobs: via_ether_hurry() requests another round after them. */
	bool round = round_begins(nic), more = false;

	rcu_read_lock();
	for (job = nic->jobs; job->run; job++)
		if (round || job->every_tick)
			more |= job->run(nic);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	if (more && time_after(nic->next_live, jiffies + 1))
		nic->next_live = jiffies + 1;
	nic->ticking = false;
	arm(nic);
	spin_unlock(&nic->lock);
}

void via_ether_timer_init(struct via_ether_nic *nic,
			  const struct via_tick_job *jobs)
{
	nic->jobs = jobs;
	timer_setup(&nic->timer, tick, 0);
	nic->next_live = jiffies;
	via_ether_alarm_init(nic);
}

/* For good.  May sleep. */
void via_ether_timer_stop(struct via_ether_nic *nic)
{
	spin_lock_bh(&nic->lock);
	nic->stopping = true;
	spin_unlock_bh(&nic->lock);
	timer_delete_sync(&nic->timer);
	hrtimer_cancel(&nic->alarm);
}

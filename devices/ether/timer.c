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
 * each so many frames (@rx_pace, @tx_pace), as many as it had lately in 15/16 of
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

#define PACE_MAX	0x100000u	/* frames from look to look */
#define DOUBT_MAX	1024u		/* pushes, after bets that were lost */
#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */
#define BLACK_RETRIES	4		/* in vain, and */
#define BLACK_MS	500		/* since the first: is the path black? */
#define UNRELIABLE_NS	NSEC_PER_MSEC	/* until Unreliable is acknowledged */

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

/*
 * From the last progress to a probe, or to the next timeout, ns: a round trip,
 * and what the peer may wait for data.  If it has become slow it knows that
 * before this host does.
 */
static u64 timeout_ns(const struct via_ether_vi *ev)
{
	u32 delay = via_ether_ack_delay(), srtt = via_ether_srtt(ev);
	u32 rtt = max(srtt, via_ether_rtt_net(ev));
	u64 us = srtt + delay + max(2 * rtt, delay);

	us = max_t(u64, us, via_peer_rto(ev->peer));
	/* Not known yet: the first one costs one frame, and comes early. */
	if (unlikely(!srtt))
		us = max_t(u64, us / (ev->retries ? 2 : 4),
			   via_ether_rto_min());
	if (unlikely(!ev->reliable))
		us += 2 * UNRELIABLE_NS / NSEC_PER_USEC;
	us <<= min(ev->retries + ev->backoff, 20u);
	return min_t(u64, us, via_ether_rto_max()) * NSEC_PER_USEC;
}

/*
 * How many frames there are until the next look, if they go on as they did in
 * the time from the last one: it is to be shortly before the alarm goes off.
 */
static u32 pace(u32 frames, u64 took, u64 period)
{
	u64 want = min(frames, PACE_MAX) * (period - period / 16);

	return clamp_t(u64, div64_u64(want, took + 1), 1, PACE_MAX);
}

/* From here on: what is as it is at the next look has not moved. */
static void note_tx(struct via_ether_vi *ev, u64 now, u64 timeout)
{
	ev->tx_pace = pace(ev->tx.nxt - ev->tx_seen, now - ev->tx_at, timeout);
	ev->tx_seen = ev->tx.nxt;
	ev->tx_acked = ev->tx.una;
	ev->news = false;
	ev->tx_at = now;
}

/* Has a frame arrived since the last look, or was there none in flight? */
static bool moved(const struct via_ether_vi *ev)
{
	return ev->tx.una != ev->tx_acked || ev->tx_acked == ev->tx_seen ||
	       ev->news;
}

void via_ether_watch_tx(struct via_ether_vi *ev)
{
	u64 now = ktime_get_ns(), timeout = timeout_ns(ev);

	lockdep_assert_held(&ev->vi->sq.lock);
	note_tx(ev, now, timeout);
	ev->tx_pace = 1;
	ev->excused = false;
	ev->tx_due = now + timeout;
	via_ether_visit_at(ev, VIA_ETHER_TX, ev->tx_due, now);
}

void via_ether_look_tx(struct via_ether_vi *ev)
{
	u64 now, timeout;

	if (!ev->tx_pace) {
		via_ether_watch_tx(ev);
		return;
	}
	lockdep_assert_held(&ev->vi->sq.lock);
	now = ktime_get_ns();
	timeout = timeout_ns(ev);
	/* All acknowledgements may have had data to ride on. */
	if (ev->reliable &&
	    time_after(jiffies, READ_ONCE(ev->peer->known_at) + HZ))
		ev->tx_odd |= VIA_ODD_ASK;
	if (moved(ev)) {
		ev->excused = false;
		ev->tx_due = now + timeout;
		via_ether_visit_at(ev, VIA_ETHER_TX, ev->tx_due, now);
	}
	note_tx(ev, now, timeout);
}

static void note_rx(struct via_ether_vi *ev, u64 now, u64 bet)
{
	ev->rx_pace = ev->rx_pace ? pace(ev->rx.next - ev->rx_seen,
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
 * The retries prove that this host has asked, and not only waited for its own
 * CPU; the time, that the peer had one to answer: on a short way the retries
 * take half of it.  sq.lock held.
 */
static bool unanswered(const struct via_ether_vi *ev)
{
	return ev->retries >= via_ether_retries &&
	       time_after_eq(jiffies, ev->stuck + via_ether_dead());
}

/*
 * A path may drop long frames and say nothing (RFC 8899 calls that a black hole).
 * Its sign: the oldest frame is lost again and again, and half a second after
 * the first time the peer is heard all the same.  At Unreliable nothing is known
 * of a frame that was sent: it may have been as long as any.  sq.lock held.
 */
static void check_path(struct via_ether_vi *ev)
{
	const struct via_ether_ops *ops = ev->nic->ops;
	u32 len = VIA_WIRE_SEND_HDR;

	if (likely(!ops->path_black) || ev->retries < BLACK_RETRIES ||
	    !time_after(READ_ONCE(ev->peer->last_rx),
			ev->stuck + via_ether_scaled(BLACK_MS)))
		return;
	len += ev->reliable ? via_win_rec(&ev->tx, ev->tx.una)->len :
			      READ_ONCE(ev->seg_send);
	/* What was sent before the peer was heard may be lost with its silence. */
	if (ev->black)
		ops->path_black(ev->nic, &ev->peer->link, len);
	ev->black = true;
}

/* One more, or the first one.  sq.lock held. */
static void count_timeout(struct via_ether_vi *ev)
{
	ev->timeouts++;
	via_ether_count(ev->nic, TIMEOUTS);
	if (ev->retries)
		return;
	ev->stuck = jiffies;
	ev->black = false;
}

/* Nothing has arrived for too long.  sq.lock held. */
static void timed_out(struct via_ether_vi *ev, struct via_work *work)
{
	count_timeout(ev);
	if (unanswered(ev)) {
		via_ether_give_up(ev, VIA_END_UNACKED, VIA_WIRE_R_TRANSPORT);
		return;
	}
	ev->retries++;
	ev->again = ev->tx.nxt;
	if (ev->retries == 1) {
		via_win_probe(&ev->tx);
		via_ether_share_probe(ev);
	} else {
		ev->rtt_on = false;
		via_ether_share_timeout(ev, via_win_timeout(&ev->tx));
		check_path(ev);
	}
	via_ether_resume(ev->vi, work);
}

/*
 * Unreliable, and no acknowledgement: what was sent is not in the network any
 * more, wherever it is.  sq.lock held.
 */
static void forget_flight(struct via_ether_vi *ev, struct via_work *work)
{
	count_timeout(ev);
	ev->retries = min(ev->retries + 1, VIA_ETHER_BACKOFF);
	ev->again = ev->tx.nxt;
	ev->tx.una = ev->tx.nxt;
	check_path(ev);
	via_ether_share_timeout(ev, ev->retries > 1);
	if (ev->tx_busy)
		via_ether_resume(ev->vi, work);
}

/*
 * What it held when it was at work and does not use: others may.  One that is
 * to send more than it may has nothing to spare.  sq.lock held.
 */
static void check_credit(struct via_ether_vi *ev)
{
	if (!ev->tx_busy &&
	    ev->tx.credit > via_win_pipe(&ev->tx) + VIA_CREDIT_FIRST)
		via_ether_share_trim(ev, VIA_CREDIT_FIRST);
}

/*
 * None of its frames is in the network, since it waits for credit to send them
 * again: that is not the peer's silence.  sq.lock held.
 */
static bool starved(const struct via_ether_vi *ev)
{
	return ev->tx_odd & VIA_ODD_WAITS && !via_win_pipe(&ev->tx);
}

/*
 * An alarm that goes off late proves that this CPU did not run, and the peer's
 * may not have run either: it waits once more before it judges, but not twice
 * in a row.  sq.lock held.
 */
static void check_tx(struct via_ether_vi *ev, u64 now, struct via_work *work)
{
	u64 timeout, late;

	if (!ev->tx_pace)
		return;
	via_ether_catch_up(ev);
	if (!via_win_flight(&ev->tx)) {
		ev->tx_pace = 0;
		via_ether_share_trim(ev, 0);
		return;
	}
	if (now + VIA_ETHER_GAP_NS < ev->tx_due)
		return;
	check_credit(ev);
	late = max_t(u64, timeout_ns(ev) / 4, VIA_ETHER_LATE_NS);
	if (moved(ev) || starved(ev)) {
		ev->excused = false;
	} else if (!ev->excused && now > ev->tx_due + late) {
		ev->excused = true;
		ev->rtt_on = false;
	} else {
		ev->excused = false;
		if (likely(ev->reliable))
			timed_out(ev, work);
		else
			forget_flight(ev, work);
	}
	timeout = timeout_ns(ev);
	note_tx(ev, now, timeout);
	ev->tx_due = now + timeout;
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
		check_tx(ev, now, work);
	spin_lock(&vi->rq.lock);
	if (ev->phase != VIA_PHASE_CONNECTED || via_vi_is_broken(vi)) {
		ev->tx_pace = 0;
		ev->rx_pace = 0;
		goto unlock;
	}
	check_rx(ev, now);
	via_ether_visited(ev, ev->tx_pace ? ev->tx_due : U64_MAX,
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

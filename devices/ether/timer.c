// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The two timers of a NIC.
 *
 * The alarm is of high resolution.  It serves what a program may be waiting
 * for: acknowledgements owed, timeouts of frames in flight, transmitters that
 * were full.  The coarse timer, in jiffies, serves attempts, the expiry of
 * requests, and peers (beat.c).
 *
 * A message does not arm the alarm, and reads no clock.  A VI that begins to
 * wait for something is watched: it is put on nic->due, ordered by time, and
 * the alarm is armed if that is the earliest.  A half of it that goes on
 * working looks at itself each so many frames (@rx_pace, @tx_pace), as many as
 * it had lately in 15/16 of the time until the alarm.  At a look it reads the
 * clock, and what has moved since the last look puts the alarm off.  So the
 * alarm does not go off while frames come as they did; it is an interrupt, and
 * costs five times what a look does.  When it goes off it visits the VIs whose
 * time has come, in O(log n) each: what has not moved is due, what has moved
 * is visited again, and a half that waits for nothing is not watched any more.
 * An idle VI costs nothing.  A list of all VIs at work would be walked at each
 * alarm; a wheel would need slots of 10 us for times up to a second; a timer
 * for each VI would put the tree into the kernel's hands, and take an
 * interrupt for each.
 *
 * While programs busy-poll, their traps look at the clock and the alarm is not
 * armed: in a virtual machine each arming costs as much as a message.  Where
 * they do not look any more, the tick of busy polling notices (nic->polled).
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
#define GAP_NS		(10 * NSEC_PER_USEC)	/* between two alarms */
#define AHEAD_NS	(100 * NSEC_PER_USEC)	/* VIs that rest leave early */
#define LATE_NS		(100 * NSEC_PER_USEC)	/* an alarm that is late */
#define RETRY_MIN_NS	(50 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(4 * NSEC_PER_MSEC)
#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */
#define BLACK_RETRIES	4		/* in vain, and */
#define BLACK_MS	500		/* since the first: is the path black? */
#define UNRELIABLE_NS	NSEC_PER_MSEC	/* until Unreliable is acknowledged */

/* nic->lock held. */
static void arm(struct via_ether_nic *nic)
{
	unsigned long when;

	lockdep_assert_held(&nic->lock);
	if (nic->stopping)
		return;
	if (!list_empty(&nic->hot))
		when = jiffies + 1;
	else if (!list_empty(&nic->reqs) || via_peers_wait(nic))
		when = nic->next_live;
	else
		return;
	nic->ticking = true;
	mod_timer(&nic->timer, when);
}

void via_ether_arm(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	if (!nic->ticking)
		arm(nic);
	spin_unlock(&nic->lock);
}

void via_ether_hurry(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	nic->next_live = jiffies;
	arm(nic);
	spin_unlock(&nic->lock);
}

/* sq.lock held, phase not NONE. */
void via_ether_heat(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	if (!ev->hot) {
		bool first = list_empty(&nic->hot);

		ev->hot = true;
		list_add_tail_rcu(&ev->hot_link, &nic->hot);
		if (first || !nic->ticking)
			arm(nic);
	}
	spin_unlock(&nic->lock);
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
	return nic->armed > now + gap + gap / 4;
}

/* For some time, and not at work.  nic->lock held. */
static bool is_armed(const struct via_ether_nic *nic)
{
	return nic->armed && nic->armed != U64_MAX;
}

/* nic->lock held. */
static void start_alarm(struct via_ether_nic *nic)
{
	hrtimer_start(&nic->alarm, ns_to_ktime(nic->armed),
		      HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * Armed for what is due first, earlier or later than before; @now: for a look,
 * 0: for something else.  One that nothing waits for any more goes off for
 * nothing, once.  nic->lock held.
 */
static void set_alarm(struct via_ether_nic *nic, u64 now)
{
	struct timerqueue_node *first = timerqueue_getnext(&nic->due);
	u64 when = nic->retry_at;

	lockdep_assert_held(&nic->lock);
	if (first)
		when = min_t(u64, when, first->expires);
	first = timerqueue_getnext(&nic->openings);
	if (first)
		when = min_t(u64, when, first->expires);
	/* While it goes off it arms itself, at its end. */
	if (nic->stopping || !nic->armed || when == nic->armed ||
	    when == U64_MAX)
		return;
	if (now && when > nic->armed && can_wait(nic, now))
		return;
	/* Pairs with via_ether_alarm_poll(). */
	WRITE_ONCE(nic->armed, when);
	if (!nic->polled)
		start_alarm(nic);
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
			return;
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

/* The queue lock of that half held, phase not NONE. */
static void visit_at(struct via_ether_vi *ev, enum via_ether_half half,
		     u64 when, u64 now)
{
	spin_lock(&ev->nic->lock);
	ev->want[half] = when;
	enqueue(ev, now);
	spin_unlock(&ev->nic->lock);
}

void via_ether_unwatch(struct via_ether_vi *ev)
{
	ev->want[VIA_ETHER_TX] = U64_MAX;
	ev->want[VIA_ETHER_RX] = U64_MAX;
	enqueue(ev, 0);
}

/*
 * How long an acknowledgement waits for data, ns.  The rule is the larger of
 * 100 us and two round trips; an eighth is for the time that this host takes.
 * Round trips are without the waits of the peer: those are told in
 * acknowledgements, or each end would lengthen the other's without bound.
 */
static u64 bet_ns(const struct via_ether_vi *ev)
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
	visit_at(ev, VIA_ETHER_TX, ev->tx_due, now);
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
		visit_at(ev, VIA_ETHER_TX, ev->tx_due, now);
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
	visit_at(ev, VIA_ETHER_RX, due, now);
}

void via_ether_watch_rx(struct via_ether_vi *ev)
{
	u64 now = ktime_get_ns(), bet = bet_ns(ev), due;

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
	u64 now = ktime_get_ns(), bet = bet_ns(ev);

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
static void timed_out(struct via_ether_vi *ev)
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
	via_ether_resume(ev->vi);
}

/*
 * Unreliable, and no acknowledgement: what was sent is not in the network any
 * more, wherever it is.  sq.lock held.
 */
static void forget_flight(struct via_ether_vi *ev)
{
	count_timeout(ev);
	ev->retries = min(ev->retries + 1, VIA_ETHER_BACKOFF);
	ev->again = ev->tx.nxt;
	ev->tx.una = ev->tx.nxt;
	check_path(ev);
	via_ether_share_timeout(ev, ev->retries > 1);
	if (ev->tx_busy)
		via_ether_resume(ev->vi);
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
static void check_tx(struct via_ether_vi *ev, u64 now)
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
	if (now + GAP_NS < ev->tx_due)
		return;
	check_credit(ev);
	late = max_t(u64, timeout_ns(ev) / 4, LATE_NS);
	if (moved(ev) || starved(ev)) {
		ev->excused = false;
	} else if (!ev->excused && now > ev->tx_due + late) {
		ev->excused = true;
		ev->rtt_on = false;
	} else {
		ev->excused = false;
		if (likely(ev->reliable))
			timed_out(ev);
		else
			forget_flight(ev);
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
static void bet_lost(struct via_ether_vi *ev)
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
	if (now + GAP_NS < ev->rx_due)
		return;
	age = waited(ev, now);
	if (!owed_before(ev)) {
		bet = bet_ns(ev);
		ev->rx_due = now + bet - min(age, now - ev->rx_at);
		if (ev->rx_due > now + GAP_NS) {
			note_rx(ev, now, bet);
			return;
		}
	}
	bet_lost(ev);
	ev->rx_pace = 0;
	/* With what others owe at this alarm. */
	via_ether_ack_late(ev, delay_of(age));
}

static void visit(struct via_ether_vi *ev, u64 now)
{
	struct via_vi *vi = ev->vi;

	spin_lock(&vi->sq.lock);
	if (ev->phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi))
		check_tx(ev, now);
	spin_lock(&vi->rq.lock);
	if (ev->phase != VIA_PHASE_CONNECTED || via_vi_is_broken(vi)) {
		ev->tx_pace = 0;
		ev->rx_pace = 0;
		goto unlock;
	}
	check_rx(ev, now);
	spin_lock(&ev->nic->lock);
	ev->want[VIA_ETHER_TX] = ev->tx_pace ? ev->tx_due : U64_MAX;
	ev->want[VIA_ETHER_RX] = ev->rx_pace ? ev->rx_due : U64_MAX;
	enqueue(ev, 0);
	spin_unlock(&ev->nic->lock);
unlock:
	spin_unlock(&vi->rq.lock);
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

/* The attempt is over.  sq.lock held. */
static void cool(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	if (ev->hot) {
		ev->hot = false;
		list_del_rcu(&ev->hot_link);
	}
	spin_unlock(&nic->lock);
}

static void tick_hot(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;

	spin_lock(&vi->sq.lock);
	if (via_ether_trying(ev)) {
		spin_unlock(&vi->sq.lock);
		via_ether_conn_tick(ev);
		return;
	}
	cool(ev);
	spin_unlock(&vi->sq.lock);
}

static void tick(struct timer_list *t)
{
	struct via_ether_nic *nic = from_timer(nic, t, timer);
	struct via_ether_vi *ev;
	bool more;

	rcu_read_lock();
	list_for_each_entry_rcu(ev, &nic->hot, hot_link)
		tick_hot(ev);
	if (time_after_eq(jiffies, nic->next_live)) {
		more = via_ether_beats(nic);
		via_ether_tombs(nic);
		via_ether_reqs_expire(nic, false);
		via_peers_expire(nic);
		nic->next_live = more ? jiffies + 1 :
				 jiffies + via_ether_heartbeat() / 4 + 1;
	}
	rcu_read_unlock();

	spin_lock(&nic->lock);
	nic->ticking = false;
	arm(nic);
	spin_unlock(&nic->lock);
}

/* The VI could not send and owes it.  sq.lock held. */
void via_ether_stall(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	if (list_empty(&ev->stall_link))
		list_add_tail(&ev->stall_link, &nic->stalled);
	if (nic->retry_at == U64_MAX) {
		nic->retry_at = ktime_get_ns() + nic->retry_ns;
		nic->retry_ns = min_t(u64, nic->retry_ns * 2, RETRY_MAX_NS);
		set_alarm(nic, 0);
	}
	spin_unlock(&nic->lock);
}

static struct via_ether_vi *next_stalled(struct via_ether_nic *nic,
					 struct list_head *list)
{
	struct via_ether_vi *ev;

	spin_lock(&nic->lock);
	ev = list_first_entry_or_null(list, struct via_ether_vi, stall_link);
	if (ev)
		list_del_init(&ev->stall_link);
	else if (list_empty(&nic->stalled))
		nic->retry_ns = RETRY_MIN_NS;
	spin_unlock(&nic->lock);
	return ev;
}

/* BH off. */
static void run_stalled(struct via_ether_nic *nic)
{
	struct via_ether_vi *ev;
	LIST_HEAD(list);

	rcu_read_lock();
	/* A list of its own: a VI that stalls again waits its turn. */
	spin_lock(&nic->lock);
	list_splice_init(&nic->stalled, &list);
	spin_unlock(&nic->lock);
	while ((ev = next_stalled(nic, &list))) {
		spin_lock(&ev->vi->sq.lock);
		via_ether_resume(ev->vi);
		spin_unlock(&ev->vi->sq.lock);
		via_vi_settle(ev->vi);
	}
	rcu_read_unlock();
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

	return when <= now + GAP_NS || (when <= now + AHEAD_NS && rests(ev));
}

/* The VI to visit next, off the queue; NULL: none is due. */
static struct via_ether_vi *next_due(struct via_ether_nic *nic, u64 now)
{
	struct timerqueue_node *first;
	struct via_ether_vi *ev = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->due);
	if (first)
		ev = container_of(first, struct via_ether_vi, due);
	if (ev && !is_due(ev, now))
		ev = NULL;
	if (ev) {
		ev->want[VIA_ETHER_TX] = U64_MAX;
		ev->want[VIA_ETHER_RX] = U64_MAX;
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
	ok = !peer->opens && peer->users && !nic->stopping;
	if (ok) {
		peer->opens = true;
		peer->opening.expires = when;
		timerqueue_add(&nic->openings, &peer->opening);
		set_alarm(nic, 0);
	}
	spin_unlock(&nic->lock);
	return ok;
}

/* The peer that may be sent to again, off the queue; NULL: none. */
static struct via_peer *next_opening(struct via_ether_nic *nic, u64 now)
{
	struct timerqueue_node *first;
	struct via_peer *peer = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->openings);
	if (first && first->expires <= (s64)(now + GAP_NS)) {
		peer = container_of(first, struct via_peer, opening);
		peer->opens = false;
		timerqueue_del(&nic->openings, first);
	}
	spin_unlock(&nic->lock);
	return peer;
}

/* What is due now.  BH off. */
static void run_alarm(struct via_ether_nic *nic)
{
	u64 now = ktime_get_ns();
	struct via_ether_vi *ev;
	struct via_peer *peer;
	bool late, retry;

	spin_lock(&nic->lock);
	/*
	 * The timer and programs that look may come at once: one is enough.  A
	 * timer of before busy polling may find that they have done it all.
	 */
	if (!is_armed(nic)) {
		spin_unlock(&nic->lock);
		return;
	}
	late = now > nic->armed + LATE_NS;
	WRITE_ONCE(nic->armed, 0);
	retry = nic->retry_at <= now + GAP_NS;
	if (retry)
		nic->retry_at = U64_MAX;
	spin_unlock(&nic->lock);

	if (retry)
		run_stalled(nic);
	rcu_read_lock();
	/* This CPU did not run: an answer may lie in the ring. */
	if (late && nic->ops->rx_look)
		nic->ops->rx_look(nic);
	while ((ev = next_due(nic, now)))
		visit(ev, now);
	while ((peer = next_opening(nic, now)))
		via_ether_share_open(peer);
	via_ether_pay(nic);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	WRITE_ONCE(nic->armed, U64_MAX);
	set_alarm(nic, 0);
	spin_unlock(&nic->lock);
}

static enum hrtimer_restart go_off(struct hrtimer *t)
{
	run_alarm(container_of(t, struct via_ether_nic, alarm));
	return HRTIMER_NORESTART;
}

void via_ether_alarm_poll(struct via_ether_nic *nic)
{
	u64 when = READ_ONCE(nic->armed);

	/* 0: it runs, on another CPU. */
	if (likely(!when || when == U64_MAX || when > ktime_get_ns()))
		return;
	local_bh_disable();
	run_alarm(nic);
	local_bh_enable();
}

void via_ether_alarm_mode(struct via_ether_nic *nic,
			  enum via_busy_poll_step step)
{
	spin_lock_bh(&nic->lock);
	nic->polled = step != VIA_BUSY_POLL_END;
	/*
	 * No program has looked for a tick, or none will: what is due may be
	 * due since.  While the alarm runs it arms itself.
	 */
	if (!nic->stopping && is_armed(nic) &&
	    (step == VIA_BUSY_POLL_END ||
	     (step == VIA_BUSY_POLL_KEEP && nic->armed <= ktime_get_ns())))
		start_alarm(nic);
	spin_unlock_bh(&nic->lock);
}

void via_ether_wake(struct via_ether_nic *nic)
{
	if (list_empty(&nic->stalled))
		return;
	local_bh_disable();
	run_stalled(nic);
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(via_ether_wake);

void via_ether_timer_init(struct via_ether_nic *nic)
{
	timer_setup(&nic->timer, tick, 0);
	tasklet_setup(&nic->acker, via_ether_run_acks);
	nic->next_live = jiffies;
	hrtimer_init(&nic->alarm, CLOCK_MONOTONIC,
		     HRTIMER_MODE_ABS_PINNED_SOFT);
	nic->alarm.function = go_off;
	nic->armed = U64_MAX;
	timerqueue_init_head(&nic->due);
	timerqueue_init_head(&nic->openings);
	nic->retry_at = U64_MAX;
	nic->retry_ns = RETRY_MIN_NS;
}

/* For good.  May sleep. */
void via_ether_timer_stop(struct via_ether_nic *nic)
{
	spin_lock_bh(&nic->lock);
	nic->stopping = true;
	spin_unlock_bh(&nic->lock);
	del_timer_sync(&nic->timer);
	hrtimer_cancel(&nic->alarm);
	tasklet_kill(&nic->acker);
}

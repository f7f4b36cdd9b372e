// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The two timers of a NIC.
 *
 * The alarm is of high resolution.  It serves what a program may be waiting
 * for: acknowledgements owed, timeouts of frames in flight, transmitters that
 * were full.  The coarse timer, in jiffies, serves attempts, shares of a way,
 * the expiry of requests, and peers (beat.c).
 *
 * No message arms or stops the alarm, and none reads a clock.  A VI that
 * begins to wait for something is watched: it is put on nic->due, ordered by
 * time, and the alarm is armed if that is the earliest.  What happens to the VI
 * from then on leaves marks only (@moved, @acked, rx.next).  The alarm visits
 * the VIs whose time has come, in O(log n) each, and judges by what has changed
 * since its last visit: what is as it was is due; what has moved is looked at
 * one period later; a half of the VI that has done nothing for a period is not
 * watched any more.  So a VI costs one visit a period while it works, none
 * when it is idle, and VIs that are not due cost a visit nothing.  A list of
 * all VIs at work would be walked at each alarm; a wheel would need slots of
 * 10 us for times up to a second; a timer for each VI would put the tree into
 * the kernel's hands, and take an interrupt for each.
 *
 * The price: the time of an event in a VI that is watched already is known to
 * one period only.  An acknowledgement is sent after half a bet (a quarter,
 * where messages are many) to a whole one, a timeout comes after one to two
 * times its value.
 */

#include "ether.h"

#define COOL_TICKS	8		/* idle ticks until a VI leaves the list */
#define MANY		4u		/* frames in half a bet */
#define DOUBT_MAX	1024u		/* pushes, after bets that were lost */
#define GAP_NS		(10 * NSEC_PER_USEC)	/* between two alarms */
#define SHARE_MAX	32u		/* senders on one way, that count */
#define RETRY_MIN_NS	(50 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(4 * NSEC_PER_MSEC)
#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */

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
	ev->idle = 0;
	if (!ev->hot) {
		bool first = list_empty(&nic->hot);

		ev->hot = true;
		list_add_tail_rcu(&ev->hot_link, &nic->hot);
		if (first || !nic->ticking)
			arm(nic);
	}
	spin_unlock(&nic->lock);
}

/* Earlier than it is armed for, or not at all.  nic->lock held. */
static void set_alarm(struct via_ether_nic *nic)
{
	struct timerqueue_node *first = timerqueue_getnext(&nic->due);
	u64 when = nic->retry_at;

	lockdep_assert_held(&nic->lock);
	if (first)
		when = min_t(u64, when, first->expires);
	if (nic->stopping || when >= nic->armed)
		return;
	nic->armed = when;
	hrtimer_start(&nic->alarm, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
}

/* A queue lock of the VI held, phase not NONE. */
static void visit_at(struct via_ether_vi *ev, u64 when)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	if (!ev->queued || (s64)when < ev->due.expires) {
		if (ev->queued)
			timerqueue_del(&nic->due, &ev->due);
		ev->queued = true;
		ev->due.expires = when;
		timerqueue_add(&nic->due, &ev->due);
		set_alarm(nic);
	}
	spin_unlock(&nic->lock);
}

/*
 * How long an acknowledgement waits for data, ns.  The rule is the larger of
 * 100 us and two round trips; it is half of one that is taken.  What the peer
 * measures has our wait in it, and what we measure has the peer's: with a whole
 * round trip or more, each would lengthen the other's without bound.  It is a
 * low one, since a pause of this host is no reason to wait.  And the peer's
 * timeout, after two round trips and 100 us, does not come before it.
 */
static u64 bet_ns(const struct via_ether_vi *ev)
{
	return max(via_ether_rtt_low(ev) / 2, via_ether_ack_delay()) *
	       (u64)NSEC_PER_USEC;
}

/* From the last progress to a probe, or to the next timeout, ns. */
static u64 timeout_ns(const struct via_ether_vi *ev)
{
	u64 us = max(2 * via_ether_srtt(ev) + via_ether_ack_delay(),
		     via_peer_rto(ev->peer));

	us <<= min(ev->retries + ev->backoff, 20u);
	return min_t(u64, us, via_ether_rto_max()) * NSEC_PER_USEC;
}

/* It counts from here on. */
void via_ether_watch_tx(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	ev->tx_watched = true;
	ev->moved = false;
	ev->excused = false;
	ev->tx_seen = ev->tx.nxt;
	ev->tx_due = ktime_get_ns() + timeout_ns(ev);
	visit_at(ev, ev->tx_due);
}

/* Likewise: this one has all of its time. */
void via_ether_watch_rx(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->vi->rq.lock);
	ev->rx_watched = true;
	ev->late = true;
	ev->late_acked = ev->acked;
	ev->rx_seen = ev->rx.next;
	ev->rx_at = ktime_get_ns();
	ev->rx_due = ev->rx_at + bet_ns(ev);
	visit_at(ev, ev->rx_due);
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

/* Nothing has arrived for too long.  sq.lock held. */
static void timed_out(struct via_ether_vi *ev)
{
	ev->timeouts++;
	via_ether_count(ev->nic, TIMEOUTS);
	if (!ev->retries)
		ev->stuck = jiffies;
	if (unanswered(ev)) {
		via_ether_give_up(ev, VIA_END_UNACKED, VIA_WIRE_R_TRANSPORT);
		return;
	}
	ev->retries++;
	ev->again = ev->tx.nxt;
	if (ev->retries == 1) {
		via_win_probe(&ev->tx);
	} else {
		ev->rtt_on = false;
		via_win_timeout(&ev->tx);
	}
	via_ether_resume(ev->vi);
}

/*
 * An alarm that goes off late proves that this CPU did not run, and what has
 * arrived meanwhile may lie in the NIC's ring: it waits once more before it
 * judges, but not twice in a row.  sq.lock held.
 */
static void check_tx(struct via_ether_vi *ev, u64 now)
{
	bool flight = via_win_flight(&ev->tx);

	if (!ev->tx_watched || now + GAP_NS < ev->tx_due)
		return;
	/* The others on its way are to hear of it, at the next tick. */
	if (ev->tx.cut && !ev->hot)
		via_ether_heat(ev);
	if (!flight && ev->tx_seen == ev->tx.nxt) {
		ev->tx_watched = false;
		return;
	}
	ev->stamp = jiffies;
	if (!flight || ev->moved) {
		ev->excused = false;
	} else if (!ev->excused && now > ev->tx_due + timeout_ns(ev) / 2) {
		ev->excused = true;
		ev->rtt_on = false;
	} else {
		ev->excused = false;
		timed_out(ev);
	}
	ev->moved = false;
	ev->tx_seen = ev->tx.nxt;
	ev->tx_due = now + timeout_ns(ev);
}

/*
 * VIs with one remote host share the way there.  Together they are to take
 * what one connection would, and no more: each grows by its part of a frame a
 * round, and what one has lost reduces all of them, at the next tick.  Those
 * with @tx_busy take part: more is posted than the window, or the NIC, has
 * taken.
 * It is the timer that does it, so sending pays nothing and no VI looks into
 * another one.  sq.lock held.
 */
static void check_way(struct via_ether_vi *ev)
{
	struct via_peer_load *load = via_peer_load(ev->peer);
	struct via_win_tx *tx = &ev->tx;

	if (ev->tx_busy && load[1].busy < SHARE_MAX)
		load[1].busy++;
	tx->share = max_t(u32, load[0].busy, 1);
	if (load[0].cut && ev->tx_busy && !ev->was_cut && tx->share > 1)
		via_win_back_off(tx);
	load[1].cut |= tx->cut;
	ev->was_cut = tx->cut;
	tx->cut = false;
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
}

/*
 * One owed at the last visit and at this one goes alone.  One that is owed now
 * only has come since the last visit at the earliest, and lasts a bet from
 * there.  Where frames are many, answers come soon: the next visit leaves less
 * time for the bet, and visits are fewer.  rq.lock held.
 */
static void check_rx(struct via_ether_vi *ev, u64 now)
{
	u32 acked = ev->acked, frames = ev->rx.next - ev->rx_seen;
	u64 bet = bet_ns(ev);

	if (!ev->rx_watched || now + GAP_NS < ev->rx_due)
		return;
	if (ev->rx.next == acked || !ev->reliable) {
		ev->late = false;
		ev->rx_due = now + (frames < MANY ? bet / 2 : bet * 3 / 4);
		if (!frames) {
			ev->rx_watched = false;
			return;
		}
	} else if (ev->late && ev->late_acked == acked) {
		bet_lost(ev);
		/* A transmitter that is full is not asked at each visit. */
		ev->late = !via_ether_send_ack(ev);
		ev->rx_due = now + (ev->late ? FULL_NS : bet / 2);
	} else {
		ev->late = true;
		ev->late_acked = acked;
		ev->rx_due = max(ev->rx_at + bet, now + bet / 4);
	}
	ev->rx_seen = ev->rx.next;
	ev->rx_at = now;
}

static void visit(struct via_ether_vi *ev, u64 now)
{
	struct via_vi *vi = ev->vi;
	u64 when = U64_MAX;

	spin_lock(&vi->sq.lock);
	if (ev->phase != VIA_PHASE_CONNECTED || via_vi_is_broken(vi)) {
		spin_lock(&vi->rq.lock);
		ev->tx_watched = false;
		ev->rx_watched = false;
		goto unlock;
	}
	if (ev->reliable)
		check_tx(ev, now);
	spin_lock(&vi->rq.lock);
	check_rx(ev, now);
	if (ev->tx_watched)
		when = ev->tx_due;
	/* One visit for both, where the timeout is not much later for it. */
	if (ev->rx_watched &&
	    (!ev->tx_watched || ev->rx_due < when + bet_ns(ev) / 2))
		when = ev->rx_due;
	if (when != U64_MAX)
		visit_at(ev, when);
unlock:
	spin_unlock(&vi->rq.lock);
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

/* Nothing is owed that did not find room.  sq.lock held. */
static void check_idle(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	if (ev->tx_busy) {
		ev->idle = 0;
		return;
	}
	if (ev->idle++ < COOL_TICKS)
		return;
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
	if (ev->phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi)) {
		if (ev->reliable)
			check_way(ev);
		check_idle(ev);
	}
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

static void tick(struct timer_list *t)
{
	struct via_ether_nic *nic = from_timer(nic, t, timer);
	struct via_ether_vi *ev;
	bool more;

	rcu_read_lock();
	nic->peers->ticks++;
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
		set_alarm(nic);
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

/* The VI to visit next, off the queue; NULL: none is due. */
static struct via_ether_vi *next_due(struct via_ether_nic *nic, u64 now)
{
	struct timerqueue_node *first;
	struct via_ether_vi *ev = NULL;

	spin_lock(&nic->lock);
	first = timerqueue_getnext(&nic->due);
	if (first && first->expires <= (s64)(now + GAP_NS)) {
		ev = container_of(first, struct via_ether_vi, due);
		ev->queued = false;
		timerqueue_del(&nic->due, first);
	}
	spin_unlock(&nic->lock);
	return ev;
}

static enum hrtimer_restart go_off(struct hrtimer *t)
{
	struct via_ether_nic *nic = container_of(t, struct via_ether_nic,
						 alarm);
	u64 now = ktime_get_ns();
	struct via_ether_vi *ev;
	bool retry;

	spin_lock(&nic->lock);
	nic->armed = 0;
	retry = nic->retry_at <= now + GAP_NS;
	if (retry)
		nic->retry_at = U64_MAX;
	spin_unlock(&nic->lock);

	if (retry)
		run_stalled(nic);
	rcu_read_lock();
	while ((ev = next_due(nic, now)))
		visit(ev, now);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	nic->armed = U64_MAX;
	set_alarm(nic);
	spin_unlock(&nic->lock);
	return HRTIMER_NORESTART;
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
	hrtimer_init(&nic->alarm, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->alarm.function = go_off;
	nic->armed = U64_MAX;
	timerqueue_init_head(&nic->due);
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

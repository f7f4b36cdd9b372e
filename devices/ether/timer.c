// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The two timers of a NIC.
 *
 * The alarm is of high resolution.  It serves what a program may be waiting
 * for: acknowledgements owed, timeouts of frames in flight, transmitters that
 * were full.  The coarse timer, in jiffies, serves attempts, the expiry of requests, and the silence of peers (silence.c).
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

#define MANY		4u		/* frames in half a bet */
#define DOUBT_MAX	1024u		/* pushes, after bets that were lost */
#define GAP_NS		(10 * NSEC_PER_USEC)	/* between two alarms */
#define RETRY_MIN_NS	(50 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(4 * NSEC_PER_MSEC)
#define FULL_NS		NSEC_PER_MSEC	/* between acknowledgements not taken */
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
	if (unlikely(!ev->reliable))
		return UNRELIABLE_NS;
	return max(via_ether_rtt_low(ev) / 2, via_ether_ack_delay()) *
	       (u64)NSEC_PER_USEC;
}

/* From the last progress to a probe, or to the next timeout, ns. */
static u64 timeout_ns(const struct via_ether_vi *ev)
{
	u64 us = max(2 * via_ether_srtt(ev) + via_ether_ack_delay(),
		     via_peer_rto(ev->peer));

	if (unlikely(!ev->reliable))
		us += 2 * UNRELIABLE_NS / NSEC_PER_USEC;
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

void via_ether_give_up(struct via_ether_vi *ev, unsigned long since,
		       const char *what)
{
	struct via_vi *vi = ev->vi;

	pr_info_ratelimited("%s: VI %u: no %s from %pM for %u ms: broken\n",
			    ev->nic->ka->name, vi->index, what, ev->remote_mac,
			    jiffies_to_msecs(jiffies - since));
	/* What is in flight may be answers to the peer's reads only. */
	if (ev->reliable && vi->sq.head != vi->sq.next &&
	    (via_win_flight(&ev->tx) || ev->read_head != ev->read_tail))
		via_send_complete(vi, VIA_ST_TRANSPORT_ERROR, 0);
	ev->reason = VIA_WIRE_R_TRANSPORT;
	/* It may be our frames only that do not get through. */
	via_vi_break_later(vi, VIA_BROKEN_TELL);
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
		via_ether_count(ev->nic, UNACKED);
		via_ether_give_up(ev, ev->stuck, "acknowledgement");
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
	}
	via_ether_resume(ev->vi);
}

/*
 * Unreliable, and no acknowledgement: what was sent is not in the network any
 * more, wherever it is.  sq.lock held.
 */
static void forget_flight(struct via_ether_vi *ev)
{
	ev->timeouts++;
	via_ether_count(ev->nic, TIMEOUTS);
	ev->retries = min(ev->retries + 1, VIA_ETHER_BACKOFF);
	ev->again = ev->tx.nxt;
	ev->tx.una = ev->tx.nxt;
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
 * An alarm that goes off late proves that this CPU did not run, and what has
 * arrived meanwhile may lie in the NIC's ring: it waits once more before it
 * judges, but not twice in a row.  sq.lock held.
 */
static void check_tx(struct via_ether_vi *ev, u64 now)
{
	bool flight = via_win_flight(&ev->tx);

	if (!ev->tx_watched || now + GAP_NS < ev->tx_due)
		return;
	if (!flight && ev->tx_seen == ev->tx.nxt) {
		ev->tx_watched = false;
		via_ether_share_trim(ev, 0);
		return;
	}
	check_credit(ev);
	if (!flight || ev->moved || starved(ev)) {
		ev->excused = false;
	} else if (!ev->excused && now > ev->tx_due + timeout_ns(ev) / 2) {
		ev->excused = true;
		ev->rtt_on = false;
	} else {
		ev->excused = false;
		if (likely(ev->reliable))
			timed_out(ev);
		else
			forget_flight(ev);
	}
	ev->moved = false;
	ev->tx_seen = ev->tx.nxt;
	ev->tx_due = now + timeout_ns(ev);
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
	if (ev->rx.next == acked) {
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

	rcu_read_lock();
	list_for_each_entry_rcu(ev, &nic->hot, hot_link)
		tick_hot(ev);
	if (time_after_eq(jiffies, nic->next_live)) {
		via_ether_silence(nic);
		via_ether_tombs(nic);
		via_ether_reqs_expire(nic, false);
		via_peers_expire(nic);
		nic->next_live = jiffies + via_ether_heartbeat() / 4 + 1;
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

/*
 * A push is to be acknowledged once the frames that came with it are taken:
 * one frame then answers many small messages.  A queue lock of the VI held.
 */
void via_ether_ack_soon(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	if (!list_empty(&ev->ack_link))
		return;
	spin_lock(&nic->lock);
	if (list_empty(&ev->ack_link) && !nic->stopping) {
		list_add_tail(&ev->ack_link, &nic->acks);
		/* Runs after the receive softirq that we are in. */
		tasklet_schedule(&nic->acker);
	}
	spin_unlock(&nic->lock);
}

static void run_acks(struct tasklet_struct *t)
{
	struct via_ether_nic *nic = from_tasklet(nic, t, acker);
	struct via_ether_vi *ev;

	rcu_read_lock();
	for (;;) {
		spin_lock(&nic->lock);
		ev = list_first_entry_or_null(&nic->acks, struct via_ether_vi,
					      ack_link);
		if (ev)
			list_del_init(&ev->ack_link);
		spin_unlock(&nic->lock);
		if (!ev)
			break;
		spin_lock(&ev->vi->rq.lock);
		/*
		 * Data for the peer's reads carries the acknowledgement.  A
		 * read that is taken after we looked, under this lock, finds
		 * us off the list and puts us there again.
		 */
		if (unlikely(ev->ans_tail != READ_ONCE(ev->ans_next))) {
			spin_unlock(&ev->vi->rq.lock);
			via_ether_reads_answer(ev);
			spin_lock(&ev->vi->rq.lock);
		}
		if (ev->phase == VIA_PHASE_CONNECTED &&
		    (ev->rx.next != READ_ONCE(ev->acked) || ev->echo))
			via_ether_send_ack(ev);
		spin_unlock(&ev->vi->rq.lock);
	}
	rcu_read_unlock();
}

void via_ether_timer_init(struct via_ether_nic *nic)
{
	timer_setup(&nic->timer, tick, 0);
	tasklet_setup(&nic->acker, run_acks);
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

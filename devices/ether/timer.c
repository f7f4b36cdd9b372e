// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The coarse timer of a NIC, and the wake-ups after its transmitter was full.
 *
 * No message arms or stops a timer: a VI that has something to wait for is
 * put on the hot list and stays there while it works and a few ticks more;
 * the timer walks the list each tick.  Connections without work are not visited:
 * their peers are, a few times per heartbeat (silence.c).
 */

#include "ether.h"

#define COOL_TICKS	8		/* idle ticks until a VI leaves the list */
#define SHARE_MAX	32u		/* senders on one way, that count */
#define RETRY_MIN_NS	(50 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(4 * NSEC_PER_MSEC)

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

/* A queue lock of the VI held, phase not NONE. */
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

/*
 * The oldest frame is unacknowledged for too long.  Two ticks on top of the
 * estimate: one since a tick may come at once, one for the peer's delayed
 * acknowledgement.  sq.lock held.
 */
static void check_rto(struct via_ether_vi *ev)
{
	unsigned long rto;

	if (!via_win_flight(&ev->tx))
		return;
	rto = usecs_to_jiffies(via_peer_rto(ev->peer)) << min(ev->retries, 10u);
	rto = min(rto, usecs_to_jiffies(via_ether_rto_max())) + 2;
	if (time_before(jiffies, ev->stamp + rto))
		return;
	ev->timeouts++;
	via_ether_count(ev->nic, TIMEOUTS);
	if (!ev->retries)
		ev->stuck = ev->stamp;
	if (unanswered(ev)) {
		via_ether_count(ev->nic, UNACKED);
		via_ether_give_up(ev, ev->stuck, "acknowledgement");
		return;
	}
	ev->retries++;
	ev->stamp = jiffies;
	if (ev->retries == 1) {
		via_win_probe(&ev->tx);
	} else {
		ev->rtt_on = false;
		via_win_timeout(&ev->tx);
	}
	via_ether_resume(ev->vi);
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

/* An acknowledgement owed for a whole tick goes alone.  rq.lock held. */
static void check_ack(struct via_ether_vi *ev)
{
	u32 acked = ev->acked;

	if (!ev->reliable || ev->rx.next == acked) {
		ev->late = false;
	} else if (ev->late && ev->late_acked == acked) {
		ev->late = false;
		/* It is not answered: no ping-pong. */
		ev->turns = 0;
		ev->push = false;
		via_ether_send_ack(ev);
	} else {
		ev->late = true;
		ev->late_acked = acked;
	}
}

/* Both queue locks held: no context can find work for it at this moment. */
static void check_idle(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	if (ev->reliable &&
	    (via_win_flight(&ev->tx) || ev->rx.next != ev->acked)) {
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
		if (ev->reliable) {
			check_rto(ev);
			check_way(ev);
		}
		spin_lock(&vi->rq.lock);
		check_ack(ev);
		check_idle(ev);
		spin_unlock(&vi->rq.lock);
	}
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

static void tick(struct timer_list *t)
{
	struct via_ether_nic *nic = from_timer(nic, t, timer);
	struct via_ether_vi *ev;

	rcu_read_lock();
	nic->peers->ticks++;
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
	if (!nic->stopping && !hrtimer_is_queued(&nic->retry)) {
		hrtimer_start(&nic->retry, ns_to_ktime(nic->retry_ns),
			      HRTIMER_MODE_REL_SOFT);
		nic->retry_ns = min_t(u64, nic->retry_ns * 2, RETRY_MAX_NS);
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

static enum hrtimer_restart retry(struct hrtimer *t)
{
	run_stalled(container_of(t, struct via_ether_nic, retry));
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
		    ev->rx.next != READ_ONCE(ev->acked))
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
	hrtimer_init(&nic->retry, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	nic->retry.function = retry;
	nic->retry_ns = RETRY_MIN_NS;
}

/* For good.  May sleep. */
void via_ether_timer_stop(struct via_ether_nic *nic)
{
	spin_lock_bh(&nic->lock);
	nic->stopping = true;
	spin_unlock_bh(&nic->lock);
	del_timer_sync(&nic->timer);
	hrtimer_cancel(&nic->retry);
	tasklet_kill(&nic->acker);
}

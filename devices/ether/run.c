// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VIs that are to send again, and what else is done after a softirq.
 *
 *   nic->runs.ready		lists of each CPU (ready.c): its tasklet resumes them
 *   nic->runs.tx_blocked	VIs that found the NIC full.  via_ether_wake() resumes
 *			them when there is room, or the alarm after a time.  One
 *			of these is not resumed by a tasklet: there is no room
 *
 * The NIC's tasklet has other jobs (struct via_run_ops).
 */

#include "ready.h"
#include "run.h"
#include "timer.h"
#include "vi.h"

#define RETRY_MIN_NS	(50 * NSEC_PER_USEC)
#define RETRY_MAX_NS	(4 * NSEC_PER_MSEC)

void via_ether_run_soon(struct via_ether_nic *nic)
{
	lockdep_assert_held(&nic->lock);
	if (!nic->stopping)
		tasklet_schedule(&nic->runs.tasklet);
}

bool via_ether_is_tx_blocked(const struct via_ether_vi *ev)
{
	return READ_ONCE(ev->on.tx_blocked);
}

/* One that is resumed when there is room takes pool_lock after this, if it has to. */
void via_ether_run(struct via_ether_vi *ev)
{
	if (!via_ether_is_tx_blocked(ev))
		via_ready_add(ev);
}

void via_ether_tx_blocked(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	spin_lock(&nic->lock);
	if (!ev->on.tx_blocked) {
		list_add_tail(&ev->on.run, &nic->runs.tx_blocked);
		WRITE_ONCE(ev->on.tx_blocked, true);
	}
	if (!nic->runs.retry.queued) {
		via_alarm_set(nic, &nic->runs.retry,
			      ktime_get_ns() + nic->runs.retry_ns, 0);
		nic->runs.retry_ns =
			min_t(u64, nic->runs.retry_ns * 2, RETRY_MAX_NS);
	}
	spin_unlock(&nic->lock);
}

/* nic->lock held. */
static void unblock(struct via_ether_vi *ev)
{
	list_del_init(&ev->on.run);
	WRITE_ONCE(ev->on.tx_blocked, false);
}

void via_ether_run_forget(struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->nic->lock);
	unblock(ev);
	via_ready_del(ev);
}

/* The first one of @list, off it; NULL: there is none, or it is enough for now. */
static struct via_ether_vi *next_blocked(struct via_ether_nic *nic,
					 struct list_head *list,
					 struct via_work *work)
{
	struct via_ether_vi *ev;

	spin_lock(&nic->lock);
	ev = list_first_entry_or_null(list, struct via_ether_vi, on.run);
	if (!ev && list_empty(&nic->runs.tx_blocked))
		nic->runs.retry_ns = RETRY_MIN_NS;
	if (ev && !via_work_visit(work))
		ev = NULL;
	if (ev)
		unblock(ev);
	spin_unlock(&nic->lock);
	return ev;
}

bool via_ether_run_now(struct via_ether_vi *ev, struct via_work *work)
{
	bool ok;

	spin_lock(&ev->vi->sq.lock);
	ok = ev->nic->runs.ops->resume(ev->vi, work);
	spin_unlock(&ev->vi->sq.lock);
	via_vi_settle(ev->vi);
	return ok;
}

/*
 * Those that are left come before what was blocked meanwhile.  Where the NIC
 * takes no more, one of these has armed the retry; else it follows at once.
 */
static void block_again(struct via_ether_nic *nic, struct list_head *list,
			bool full)
{
	spin_lock(&nic->lock);
	if (!list_empty(list)) {
		list_splice_init(list, &nic->runs.tx_blocked);
		if (!full || !nic->runs.retry.queued)
			via_alarm_set(nic, &nic->runs.retry, ktime_get_ns(), 0);
	}
	spin_unlock(&nic->lock);
}

/*
 * Up to the first that stalls again: the others would, too, and each costs as
 * much as a send.  BH off.
 */
static void run_tx_blocked(struct via_ether_nic *nic)
{
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS);
	struct via_ether_vi *ev;
	LIST_HEAD(list);
	bool ok = true;

	rcu_read_lock();
	/* A list of its own: a VI that stalls again waits its turn. */
	spin_lock(&nic->lock);
	list_splice_init(&nic->runs.tx_blocked, &list);
	spin_unlock(&nic->lock);
	while (ok && (ev = next_blocked(nic, &list, &work)))
		ok = via_ether_run_now(ev, &work);
	block_again(nic, &list, !ok);
	rcu_read_unlock();
}

static void retry_blocked(struct via_alarm *a, u64 now, struct via_work *work)
{
	run_tx_blocked(container_of(a, struct via_ether_nic, runs.retry));
}

void via_ether_wake(struct via_ether_nic *nic)
{
	if (list_empty(&nic->runs.tx_blocked))
		return;
	local_bh_disable();
	run_tx_blocked(nic);
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(via_ether_wake);

/* Half of the visits each for VIs and jobs: neither waits for the other's. */
static void run_ready(struct tasklet_struct *t)
{
	struct via_ready *r = from_tasklet(r, t, tasklet);
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS / 2);
	struct via_ether_vi *ev;

	rcu_read_lock();
	while ((ev = via_ready_next(r, &work)))
		if (!via_ether_is_tx_blocked(ev))
			via_ether_run_now(ev, &work);
	rcu_read_unlock();
}

static void run_jobs(struct tasklet_struct *t)
{
	struct via_ether_nic *nic = from_tasklet(nic, t, runs.tasklet);
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS / 2);

	rcu_read_lock();
	nic->runs.ops->visits(nic, &work);
	rcu_read_unlock();
}

int via_ether_run_init(struct via_ether_nic *nic, const struct via_run_ops *ops)
{
	nic->runs.ops = ops;
	INIT_LIST_HEAD(&nic->runs.tx_blocked);
	tasklet_setup(&nic->runs.tasklet, run_jobs);
	nic->runs.retry_ns = RETRY_MIN_NS;
	via_alarm_init(&nic->runs.retry, true, retry_blocked, NULL);
	return via_ready_init(nic, run_ready);
}

void via_ether_run_stop(struct via_ether_nic *nic)
{
	tasklet_kill(&nic->runs.tasklet);
	via_ready_stop(nic);
}

void via_ether_run_free(struct via_ether_nic *nic)
{
	via_ready_free(nic);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VIs that were given credit by what others do, and are to send again: on a list of
 * the CPU where that was.  A VI's locks are never taken under another one's, so a
 * tasklet of that CPU resumes them.
 *
 * 1. A VI is on one list at most; on.ready_on is the struct via_ready that it is of,
 *    NULL: it is on none.
 * 2. It gets on a list under pool_lock, and is off before it is resumed.  A VI that is
 *    on a list when it is given more takes pool_lock after that, or has credit enough.
 * 3. It is off when its connection ends: via_ready_del() comes after
 *    via_ether_share_end(), after which it is given no credit.
 */

#include "ready.h"

void via_ready_add(struct via_ether_vi *ev)
{
	struct via_ready *r = this_cpu_ptr(ev->nic->runs.ready);

	spin_lock(&r->lock);
	if (!cmpxchg(&ev->on.ready_on, NULL, r)) {
		list_add_tail(&ev->on.ready, &r->list);
		tasklet_schedule(&r->tasklet);
	}
	spin_unlock(&r->lock);
}

/* Its list's lock held. */
static void take_off(struct via_ether_vi *ev)
{
	list_del(&ev->on.ready);
	/* Pairs with the cmpxchg() of via_ready_add(), which may be another CPU's. */
	smp_store_release(&ev->on.ready_on, NULL);
}

void via_ready_del(struct via_ether_vi *ev)
{
	struct via_ready *r = READ_ONCE(ev->on.ready_on);

	lockdep_assert_held(&ev->vi->sq.lock);
	if (!r)
		return;
	spin_lock(&r->lock);
	/* Unless it was taken off meanwhile. */
	if (ev->on.ready_on == r)
		take_off(ev);
	spin_unlock(&r->lock);
}

struct via_ether_vi *via_ready_next(struct via_ready *r, struct via_work *work)
{
	struct via_ether_vi *ev;

	spin_lock(&r->lock);
	ev = list_first_entry_or_null(&r->list, struct via_ether_vi, on.ready);
	if (ev && !via_work_visit(work)) {
		tasklet_schedule(&r->tasklet);
		ev = NULL;
	}
	if (ev)
		take_off(ev);
	spin_unlock(&r->lock);
	return ev;
}

int via_ready_init(struct via_ether_nic *nic,
		   void (*run)(struct tasklet_struct *t))
{
	struct via_ready *r;
	unsigned int cpu;

	nic->runs.ready = alloc_percpu(struct via_ready);
	if (!nic->runs.ready)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		r = per_cpu_ptr(nic->runs.ready, cpu);
		tasklet_setup(&r->tasklet, run);
		spin_lock_init(&r->lock);
		INIT_LIST_HEAD(&r->list);
	}
	return 0;
}

void via_ready_stop(struct via_ether_nic *nic)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(nic->runs.ready, cpu)->tasklet);
}

void via_ready_free(struct via_ether_nic *nic)
{
	free_percpu(nic->runs.ready);
}

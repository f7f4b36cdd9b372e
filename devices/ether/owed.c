// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VIs that owe an acknowledgement after a batch of frames, on lists of the CPU that
 * has received them: where each flow has a CPU, no line of memory is written by two.
 *
 * 1. A VI is on one list at most, of one CPU; on.owed is that CPU's struct via_owed,
 *    NULL: it is on none.  It is written under the lock of the one that it points to,
 *    or is to point to.
 * 2. It gets on a list while it is connected, and is off when that ends:
 *    via_owed_del() is called with the locks that via_owed_add() needs one of, and
 *    takes it out of its slot of o->delayed first.
 * 3. VIs of a peer are on one list of a CPU, so that one frame acknowledges them all;
 *    other peers may be on the same list.
 * 4. What a CPU's tasklet leaves, since it is enough for now, is that tasklet's again.
 * 5. A VI is in the slots of one CPU at most, of on.delayed.  It leaves them under that
 *    CPU's lock, so a VI taken from a slot under the lock is connected until that is
 *    given back.
 */

#include "owed.h"
#include "peer.h"

static u32 list_of(const struct via_ether_vi *ev)
{
	return ev->peer->hash % VIA_OWED_LISTS;
}

/* False: it owed before.  @o->lock held. */
static bool put_on(struct via_owed *o, struct via_ether_vi *ev, bool behind)
{
	u32 n = list_of(ev);

	if (cmpxchg(&ev->on.owed, NULL, o))
		return false;
	ev->on.behind = behind;
	list_add_tail(&ev->on.owing, &o->list[n]);
	WRITE_ONCE(o->filled, o->filled | BIT(n));
	return true;
}

bool via_owed_add(struct via_ether_vi *ev, bool behind)
{
	struct via_owed *o = via_owed_here(ev->nic);
	bool first;

	spin_lock(&o->lock);
	first = put_on(o, ev, behind);
	spin_unlock(&o->lock);
	return first;
}

/* Out of its slot, if it is in one.  rq.lock held. */
static void leave_slot(struct via_ether_vi *ev)
{
	struct via_owed *o = ev->on.delayed;

	if (!o)
		return;
	spin_lock(&o->lock);
	/* It is set without the lock. */
	cmpxchg(via_owed_slot(o, ev), ev, NULL);
	spin_unlock(&o->lock);
	ev->on.delayed = NULL;
}

void __via_owed_delay(struct via_owed *o, struct via_ether_vi *ev)
{
	lockdep_assert_held(&ev->vi->rq.lock);
	if (ev->on.delayed != o)
		leave_slot(ev);
	ev->on.delayed = o;
	WRITE_ONCE(*via_owed_slot(o, ev), ev);
}

bool via_owed_behind(const struct via_ether_vi *ev)
{
	struct via_owed *o = via_owed_here(ev->nic);
	struct via_ether_vi *other;
	bool first = false;

	lockdep_assert_held(&ev->vi->sq.lock);
	spin_lock(&o->lock);
	other = xchg(via_owed_slot(o, ev), NULL);
	if (other && other != ev && other->peer == ev->peer &&
	    READ_ONCE(other->delack.push))
		first = put_on(o, other, true);
	spin_unlock(&o->lock);
	return first;
}

/* @o->lock held. */
static void take_off(struct via_ether_vi *ev)
{
	list_del(&ev->on.owing);
	ev->on.behind = false;
	/* Pairs with the cmpxchg() of via_owed_add(), which may be another CPU's. */
	smp_store_release(&ev->on.owed, NULL);
}

/* @o->lock held. */
static void look_empty(struct via_owed *o, u32 n)
{
	if (list_empty(&o->list[n]))
		WRITE_ONCE(o->filled, o->filled & ~BIT(n));
}

void via_owed_del(struct via_ether_vi *ev)
{
	struct via_owed *o;

	leave_slot(ev);
	o = READ_ONCE(ev->on.owed);
	if (!o)
		return;
	spin_lock(&o->lock);
	/* Unless it was taken off meanwhile; no CPU adds it now. */
	if (ev->on.owed == o) {
		take_off(ev);
		look_empty(o, list_of(ev));
	}
	spin_unlock(&o->lock);
}

u32 via_owed_turn(struct via_owed *o)
{
	u32 n = VIA_OWED_LISTS, up;

	if (!READ_ONCE(o->filled))
		return n;
	spin_lock(&o->lock);
	up = o->filled & ~(BIT(o->turn) - 1);
	if (o->filled) {
		n = __ffs(up ? up : o->filled);
		o->turn = (n + 1) % VIA_OWED_LISTS;
	}
	spin_unlock(&o->lock);
	return n;
}

struct via_ether_vi *via_owed_next(struct via_owed *o, u32 n, bool *behind,
				   bool *last, struct via_work *work)
{
	struct via_ether_vi *ev;

	spin_lock(&o->lock);
	ev = list_first_entry_or_null(&o->list[n], struct via_ether_vi,
				      on.owing);
	if (ev && !via_work_visit(work))
		ev = NULL;
	*behind = ev && ev->on.behind;
	if (ev)
		take_off(ev);
	*last = list_empty(&o->list[n]);
	look_empty(o, n);
	spin_unlock(&o->lock);
	return ev;
}

int via_owed_init(struct via_ether_nic *nic,
		  void (*pay)(struct tasklet_struct *t))
{
	struct via_owed *o;
	unsigned int cpu;
	u32 n;

	nic->owed = alloc_percpu(struct via_owed);
	if (!nic->owed)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		o = per_cpu_ptr(nic->owed, cpu);
		tasklet_setup(&o->pay, pay);
		spin_lock_init(&o->lock);
		for (n = 0; n < VIA_OWED_LISTS; n++)
			INIT_LIST_HEAD(&o->list[n]);
	}
	return 0;
}

void via_owed_stop(struct via_ether_nic *nic)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(nic->owed, cpu)->pay);
}

void via_owed_free(struct via_ether_nic *nic)
{
	free_percpu(nic->owed);
}

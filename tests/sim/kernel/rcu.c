// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * RCU and SRCU.  A grace period ends when the readers of its beginning have
 * left, at once or somewhat later: the simulator draws lots.  Readers are
 * rcu_read_lock() and whatever cannot be preempted.
 */
#include "sched.h"
#include "../engine.h"
#include "model.h"

static u64 order;			/* counts beginnings */
static struct rcu_head *pending, **pending_tail = &pending;
static struct rcu_head *ready, **ready_tail = &ready;
static u32 npending;			/* callbacks not run yet */
static LIST_HEAD(sync_waiters);
static LIST_HEAD(barrier_waiters);
static struct sim_softirq softirq;
static struct sim_event *lag;

u64 sim_rcu_now(void)
{
	return ++order;
}

/* Is there a reader that began before? */
static bool readers_before(u64 when)
{
	struct sim_ctx *c;

	list_for_each_entry(c, &sim_all, link)
		if ((c->rcu || c->pinned) && c->rcu_since < when)
			return true;
	return false;
}

static void run_callbacks(struct sim_softirq *s)
{
	struct rcu_head *head;

	while ((head = ready)) {
		ready = head->next;
		if (!ready)
			ready_tail = &ready;
		head->func(head);
		npending--;
	}
	if (!npending)
		sim_wake_list(&barrier_waiters);
}

/* Callbacks whose grace period is over become ready, in their order. */
static void advance(void)
{
	struct rcu_head *head;

	while ((head = pending) && !readers_before(head->after)) {
		pending = head->next;
		if (!pending)
			pending_tail = &pending;
		head->next = NULL;
		*ready_tail = head;
		ready_tail = &head->next;
	}
	if (ready)
		sim_raise(&softirq, run_callbacks);
}

static void lagged(void *arg)
{
	lag = NULL;
	advance();
}

void sim_rcu_quiet(void)
{
	sim_wake_list(&sync_waiters);
	if (!pending || lag)
		return;
	/* Mostly at once: what was forgotten to wait is hit then. */
	if (sim_dice(4))
		advance();
	else
		lag = sim_at(sim_clock + sim_dice(10000000), lagged, NULL);
}

void call_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head))
{
	sim_drain();
	head->func = func;
	head->next = NULL;
	head->after = ++order;
	*pending_tail = head;
	pending_tail = &head->next;
	npending++;
	if (!lag)
		lag = sim_at(sim_clock + (sim_dice(4) ? 0 : sim_dice(10000000)),
			     lagged, NULL);
	sim_yield();
}


struct free_later {
	struct rcu_head rcu;
	void *p;
};

static void free_it(struct rcu_head *head)
{
	struct free_later *f = container_of(head, struct free_later, rcu);

	kfree(f->p);
	free(f);
}

void sim_kfree_rcu(struct rcu_head *head, size_t off)
{
	struct free_later *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->p = (char *)head - off;
	call_rcu(&f->rcu, free_it);
}

void synchronize_rcu(void)
{
	u64 when;

	might_sleep();
	/* A reader that begins after this finds what was stored before. */
	sim_drain();
	when = ++order;
	sim_self->graces++;
	while (readers_before(when))
		sim_block(&sync_waiters);
	sim_yield();
}

void rcu_barrier(void)
{
	might_sleep();
	while (npending) {
		if (!lag)
			advance();
		sim_block(&barrier_waiters);
	}
}

int init_srcu_struct(struct srcu_struct *s)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	memset(s, 0, sizeof(*s));
	s->live = true;
	mutex_init(&s->mutex);
	INIT_LIST_HEAD(&s->waiters);
	return 0;
}

void cleanup_srcu_struct(struct srcu_struct *s)
{
	if (!s->live || s->readers[0] || s->readers[1])
		sim_fail("an SRCU structure is cleaned up with readers");
	s->live = false;
}

int srcu_read_lock(struct srcu_struct *s)
{
	int idx;

	sim_drain();
	sim_yield();
	if (!s->live)
		sim_fail("SRCU read side of a structure that is gone");
	if (sim_self->srcu)
		sim_fail("SRCU read sides are nested");
	sim_self->srcu = s;
	idx = s->cur;
	s->readers[idx]++;
	sim_yield();
	return idx;
}

void srcu_read_unlock(struct srcu_struct *s, int idx)
{
	sim_drain();
	sim_yield();
	sim_self->srcu = NULL;
	if (--s->readers[idx] < 0)
		sim_fail("SRCU: more unlocks than locks");
	if (!s->readers[idx])
		sim_wake_list(&s->waiters);
	sim_yield();
}

void synchronize_srcu(struct srcu_struct *s)
{
	int i, idx;

	might_sleep();
	if (sim_self->srcu == s)
		sim_fail("SRCU: a reader waits for readers");
	sim_self->graces++;
	mutex_lock(&s->mutex);
	for (i = 0; i < 2; i++) {
		idx = s->cur;
		s->cur = !idx;
		sim_yield();
		while (s->readers[idx])
			sim_block(&s->waiters);
	}
	mutex_unlock(&s->mutex);
}

void sim_rcu_reset(void)
{
	pending = ready = NULL;
	pending_tail = &pending;
	ready_tail = &ready;
	npending = 0;
	order = 0;
	lag = NULL;
	memset(&softirq, 0, sizeof(softirq));
	INIT_LIST_HEAD(&sync_waiters);
	INIT_LIST_HEAD(&barrier_waiters);
}

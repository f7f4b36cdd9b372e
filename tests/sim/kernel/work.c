// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Workqueues, with a few workers for all of them.  As in the kernel a queue runs
 * so many of its works at once and no more, so that works which wait for others
 * behind them in the same queue wait for ever.
 */
#include "sched.h"
#include "../engine.h"
#include "model.h"

#define WORKERS	6
#define ACTIVE	3			/* of one queue */

struct workqueue_struct {
	const char *name;
	u32 count;			/* works queued or running */
	u32 active;			/* running */
	u32 grace;			/* behind a grace period */
};

static LIST_HEAD(queued);
static LIST_HEAD(idle);
static LIST_HEAD(flushers);
/* Beside the works, which may be freed by their own function. */
static struct work_struct *running[WORKERS];
static bool ending;

/* The first whose queue may run another one. */
static struct work_struct *next_work(void)
{
	struct work_struct *w;

	list_for_each_entry(w, &queued, entry)
		if (w->wq->active < ACTIVE)
			return w;
	return NULL;
}

static void worker_loop(void *arg)
{
	struct work_struct **mine = arg;
	struct workqueue_struct *wq;
	struct work_struct *w;

	sim_self->daemon = true;
	for (;;) {
		while (!(w = next_work())) {
			if (ending)
				return;
			sim_block(&idle);
		}
		list_del_init(&w->entry);
		wq = w->wq;
		wq->active++;
		w->pending = false;
		*mine = w;
		sim_yield();
		/* A worker lets others run between two of them. */
		sim_self->kept = 0;
		sim_self->in_work = true;
		w->func(w);
		sim_self->in_work = false;
		*mine = NULL;
		if (sim_self->rcu || sim_self->pinned || sim_self->nheld)
			sim_fail("a work ends with locks held");
		wq->count--;
		wq->active--;
		sim_wake_list(&flushers);
	}
}

static bool is_running(const struct work_struct *w)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		if (running[i] == w)
			return true;
	return false;
}

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max, ...)
{
	struct workqueue_struct *wq = sim_kmalloc(sizeof(*wq),
						  GFP_KERNEL | __GFP_ZERO);

	if (wq)
		wq->name = name;
	return wq;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
	while (wq->count)
		sim_block(&flushers);
	if (wq->grace)
		sim_fail("a workqueue goes before its works");
	kfree(wq);
}

static void enqueue(struct workqueue_struct *wq, struct work_struct *w)
{
	w->wq = wq;
	wq->count++;
	list_add_tail(&w->entry, &queued);
	if (!list_empty(&idle))
		sim_wake(list_first_entry(&idle, struct sim_ctx, wait));
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *w)
{
	sim_drain();
	sim_yield();
	if (w->pending)
		return false;
	w->pending = true;
	enqueue(wq, w);
	sim_yield();
	return true;
}

static void rcu_work_ready(struct rcu_head *head)
{
	struct rcu_work *w = container_of(head, struct rcu_work, rcu);

	w->wq->grace--;
	enqueue(w->wq, &w->work);
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *w)
{
	sim_drain();
	sim_yield();
	if (w->work.pending)
		return false;
	w->work.pending = true;
	w->wq = wq;
	/* destroy_workqueue() without rcu_barrier() is the caller's fault. */
	wq->grace++;
	call_rcu(&w->rcu, rcu_work_ready);
	return true;
}

bool flush_work(struct work_struct *w)
{
	bool waited = false;

	sim_endless_wait("flush_work()");
	while (w->pending || is_running(w)) {
		waited = true;
		sim_block(&flushers);
	}
	return waited;
}

bool cancel_work(struct work_struct *w)
{
	bool was;

	sim_drain();
	sim_yield();
	was = w->pending && !list_empty(&w->entry);
	if (was) {
		list_del_init(&w->entry);
		w->pending = false;
		w->wq->count--;
		sim_wake_list(&flushers);
	}
	return was;
}

bool cancel_work_sync(struct work_struct *w)
{
	bool was = cancel_work(w);

	flush_work(w);
	return was;
}

void sim_work_reset(void)
{
	INIT_LIST_HEAD(&queued);
	INIT_LIST_HEAD(&idle);
	INIT_LIST_HEAD(&flushers);
	memset(running, 0, sizeof(running));
	ending = false;
}

void sim_work_begin(void)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		sim_spawn("worker", worker_loop, &running[i]);
}

void sim_work_end(void)
{
	ending = true;
	sim_wake_list(&idle);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The clock, timers, softirqs, tasklets, sleeping and wait queues. */
#include "sched.h"
#include "../engine.h"
#include "model.h"

u64 sim_now(void)
{
	return sim_clock;
}

cycles_t get_cycles(void)
{
	return sim_config.seed % 4 ? 3 * sim_clock : 0;
}

unsigned long sim_jiffies_start;

unsigned long sim_jiffies(void)
{
	return sim_jiffies_start + sim_clock / TICK_NSEC;
}

static u64 jiffies_time(unsigned long j)
{
	long left = j - jiffies;

	return left <= 0 ? sim_clock :
	       (sim_clock / TICK_NSEC + left) * TICK_NSEC;
}

/* Softirqs */

static LIST_HEAD(raised);
static LIST_HEAD(idle_softirqs);
static bool ending;
#define SOFTIRQS	3		/* contexts, each on a CPU of its own */

static void softirq_loop(void *arg)
{
	struct sim_softirq *s;

	sim_self->daemon = true;
	for (;;) {
		while (list_empty(&raised)) {
			if (ending)
				return;
			sim_block(&idle_softirqs);
		}
		local_bh_disable();
		/* It may have waited for a CPU. */
		s = list_first_entry_or_null(&raised, struct sim_softirq, link);
		if (s) {
			sim_self->softirq = true;
			list_del_init(&s->link);
			s->raised = false;
			s->fn(s);
			sim_self->softirq = false;
		}
		local_bh_enable();
	}
}

void sim_raise(struct sim_softirq *s, void (*fn)(struct sim_softirq *s))
{
	if (s->raised)
		return;
	s->raised = true;
	s->fn = fn;
	list_add_tail(&s->link, &raised);
	if (!list_empty(&idle_softirqs))
		sim_wake(list_first_entry(&idle_softirqs, struct sim_ctx,
					  wait));
}

/* A softirq of its own for each thing that fires once. */
struct shot {
	struct sim_softirq s;
	void *what;
};

static LIST_HEAD(sync_waiters);		/* wait for the end of a timer */

static void begins(struct sim_timer *t)
{
	t->queued = false;
	t->running = sim_self;
}

static void ends(struct sim_ctx **running)
{
	*running = NULL;
	sim_wake_list(&sync_waiters);
}

/*
 * Timers and tasklets are embedded in memory of their owners, which is freed
 * once they are stopped: between firing and the softirq a shot names them.
 */
static struct shot *shots[4096];
static int nshots;

static void fire(void *what, void (*fn)(struct sim_softirq *s))
{
	struct shot *shot = calloc(1, sizeof(*shot));

	if (!shot || nshots == ARRAY_SIZE(shots))
		sim_fail("too many softirqs at once");
	shot->what = what;
	shots[nshots++] = shot;
	sim_raise(&shot->s, fn);
}

static void unshoot(struct shot *shot)
{
	int i;

	for (i = 0; i < nshots; i++)
		if (shots[i] == shot)
			shots[i] = shots[--nshots];
}

/* What a shot was to call, or NULL: it was stopped meanwhile. */
static void *aimed(struct sim_softirq *s)
{
	struct shot *shot = container_of(s, struct shot, s);
	void *what = shot->what;

	unshoot(shot);
	free(shot);
	return what;
}

static void disarm(void *what)
{
	int i;

	for (i = 0; i < nshots; i++)
		if (shots[i]->what == what)
			shots[i]->what = NULL;
}

/* Of one that is pending, the arming ends: 1. */
static int stop(struct sim_timer *t, void *what)
{
	if (t->event) {
		sim_cancel(t->event);
		t->event = NULL;
		return 1;
	}
	if (t->queued) {
		t->queued = false;
		disarm(what);
		return 1;
	}
	return 0;
}

static void wait_over(struct sim_ctx **running)
{
	while (*running) {
		if (*running == sim_self)
			sim_fail("a timer waits for itself");
		sim_block(&sync_waiters);
	}
}

static void timer_softirq(struct sim_softirq *s)
{
	struct timer_list *t = aimed(s);
	struct sim_ctx **running;

	if (!t)
		return;
	/* One at a time, as on its CPU. */
	begins(&t->t);
	running = &t->t.running;
	t->function(t);
	/* It may have been freed by its own function: not in this tree. */
	ends(running);
}

static void timer_due(void *arg)
{
	struct timer_list *t = arg;

	t->t.event = NULL;
	if (t->t.running) {
		/* Still in its last call: at the next tick. */
		t->t.event = sim_at(sim_clock + TICK_NSEC, timer_due, t);
		return;
	}
	t->t.queued = true;
	fire(t, timer_softirq);
}

void timer_setup(struct timer_list *t, void (*f)(struct timer_list *t),
		 unsigned int flags)
{
	memset(t, 0, sizeof(*t));
	t->function = f;
}

int mod_timer(struct timer_list *t, unsigned long when)
{
	int was;

	sim_yield();
	was = stop(&t->t, t);
	t->expires = when;
	t->t.event = sim_at(jiffies_time(when), timer_due, t);
	return was;
}

int sim_timer_delete(struct timer_list *t)
{
	sim_yield();
	return stop(&t->t, t);
}

int timer_delete_sync(struct timer_list *t)
{
	int was = 0;

	sim_yield();
	do {
		wait_over(&t->t.running);
		was |= stop(&t->t, t);
	} while (t->t.running || t->t.event || t->t.queued);
	return was;
}

u32 sim_alarms;

static void hrtimer_softirq(struct sim_softirq *s)
{
	struct hrtimer *t = aimed(s);
	struct sim_ctx **running;
	enum hrtimer_restart again;

	if (!t)
		return;
	begins(&t->t);
	running = &t->t.running;
	sim_alarms++;
	again = t->function(t);
	if (again == HRTIMER_RESTART && !t->t.event)
		hrtimer_start(t, t->expires, HRTIMER_MODE_ABS);
	ends(running);
}

static void hrtimer_due(void *arg)
{
	struct hrtimer *t = arg;

	t->t.event = NULL;
	if (t->t.running) {
		t->t.event = sim_at(sim_clock + 1000, hrtimer_due, t);
		return;
	}
	t->t.queued = true;
	fire(t, hrtimer_softirq);
}

void hrtimer_setup(struct hrtimer *t,
		   enum hrtimer_restart (*f)(struct hrtimer *t), int clock,
		   enum hrtimer_mode mode)
{
	memset(t, 0, sizeof(*t));
	t->function = f;
}

void hrtimer_start(struct hrtimer *t, ktime_t when, enum hrtimer_mode mode)
{
	bool rel = mode == HRTIMER_MODE_REL || mode == HRTIMER_MODE_REL_SOFT ||
		   mode == HRTIMER_MODE_REL_PINNED_SOFT;

	sim_yield();
	stop(&t->t, t);
	t->expires = rel ? sim_clock + when : (u64)when;
	t->t.event = sim_at(t->expires, hrtimer_due, t);
}

int hrtimer_try_to_cancel(struct hrtimer *t)
{
	sim_yield();
	return t->t.running ? -1 : stop(&t->t, t);
}

int hrtimer_cancel(struct hrtimer *t)
{
	int was = 0;

	sim_yield();
	do {
		wait_over(&t->t.running);
		was |= stop(&t->t, t);
	} while (t->t.running || t->t.event || t->t.queued);
	return was;
}

u64 hrtimer_forward_now(struct hrtimer *t, ktime_t interval)
{
	u64 n = 0;

	for (; t->expires <= sim_clock; n++)
		t->expires += interval;
	return n;
}

/* Nodes in the order of their times */

bool timerqueue_add(struct timerqueue_head *h, struct timerqueue_node *n)
{
	struct timerqueue_node *at;

	if (!list_empty(&n->link))
		sim_fail("a node is on a timerqueue already");
	list_for_each_entry(at, &h->list, link)
		if (n->expires < at->expires)
			break;
	n->head = h;
	/* Before @at, which is the head when none is later. */
	list_add_tail(&n->link, &at->link);
	return h->list.next == &n->link;
}

bool timerqueue_del(struct timerqueue_head *h, struct timerqueue_node *n)
{
	if (list_empty(&n->link))
		sim_fail("a node is on no timerqueue");
	list_del_init(&n->link);
	return !list_empty(&h->list);
}

struct timerqueue_node *timerqueue_getnext(struct timerqueue_head *h)
{
	return list_first_entry_or_null(&h->list, struct timerqueue_node,
					link);
}

struct timerqueue_node *timerqueue_iterate_next(struct timerqueue_node *n)
{
	if (n->link.next == &n->head->list)
		return NULL;
	return list_entry(n->link.next, struct timerqueue_node, link);
}

/* Tasklets */

static void tasklet_softirq(struct sim_softirq *s)
{
	struct tasklet_struct *t = aimed(s);
	struct sim_ctx **running;

	if (!t)
		return;
	if (t->running) {
		/* Once that call is over: nothing spins for it. */
		t->again = true;
		return;
	}
	t->scheduled = false;
	t->running = sim_self;
	running = &t->running;
	t->callback(t);
	if (t->again) {
		t->again = false;
		fire(t, tasklet_softirq);
	}
	ends(running);
}

void tasklet_setup(struct tasklet_struct *t,
		   void (*f)(struct tasklet_struct *t))
{
	memset(t, 0, sizeof(*t));
	t->callback = f;
}

bool sim_tasklets_late;

static void tasklet_due(void *arg)
{
	fire(arg, tasklet_softirq);
}

void tasklet_schedule(struct tasklet_struct *t)
{
	sim_drain();
	sim_yield();
	if (t->scheduled)
		return;
	t->scheduled = true;
	/* ksoftirqd has it, and waits for a processor. */
	if (sim_tasklets_late && !sim_dice(8))
		sim_at(sim_clock + sim_dice(1000000), tasklet_due, t);
	else
		fire(t, tasklet_softirq);
}

void tasklet_kill(struct tasklet_struct *t)
{
	might_sleep();
	while (t->scheduled || t->running)
		sim_block(&sync_waiters);
}

/* Sleeping */

static void timeout(void *arg)
{
	struct sim_event **slot = arg;
	struct task_struct *t = *(struct task_struct **)(slot + 1);

	*slot = NULL;
	sim_wake_task(t, TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE);
}

/* True: the time is over. */
static bool sleep_until(u64 when)
{
	struct {
		struct sim_event *event;
		struct task_struct *task;
	} s = { NULL, current };

	s.event = sim_at(when, timeout, &s);
	schedule();
	if (!s.event)
		return true;
	sim_cancel(s.event);
	return false;
}

long schedule_timeout(long left)
{
	u64 until;

	/* Centuries are for ever, and fit in no clock of nanoseconds. */
	if (left >= (long)(KTIME_MAX / 2 / TICK_NSEC)) {
		schedule();
		return left;
	}
	until = (sim_clock / TICK_NSEC + left + 1) * TICK_NSEC;
	if (sleep_until(until))
		return 0;
	return until > sim_clock ? (long)((until - sim_clock) / TICK_NSEC) : 0;
}

/* 0: the time is over, -EINTR: woken before. */
int schedule_hrtimeout_range(ktime_t *t, u64 slack, enum hrtimer_mode mode)
{
	u64 when = mode == HRTIMER_MODE_ABS ? (u64)*t : sim_clock + *t;

	if (when <= sim_clock) {
		__set_current_state(TASK_RUNNING);
		return 0;
	}
	if (when >= (u64)KTIME_MAX / 2) {
		schedule();
		return -EINTR;
	}
	return sleep_until(when) ? 0 : -EINTR;
}

void msleep(unsigned int ms)
{
	__set_current_state(TASK_UNINTERRUPTIBLE);
	sleep_until(sim_clock + ms * (u64)NSEC_PER_MSEC);
}

void prepare_to_wait(wait_queue_head_t *w, struct wait_queue_entry *e,
		     int state)
{
	spin_lock_bh(&w->lock);
	if (!e->task) {
		e->task = current;
		list_add_tail(&e->entry, &w->head);
	}
	set_current_state(state);
	spin_unlock_bh(&w->lock);
}

void finish_wait(wait_queue_head_t *w, struct wait_queue_entry *e)
{
	__set_current_state(TASK_RUNNING);
	spin_lock_bh(&w->lock);
	list_del(&e->entry);
	spin_unlock_bh(&w->lock);
}

void sim_wake_up(wait_queue_head_t *w, unsigned int mode, int n)
{
	struct wait_queue_entry *e;

	spin_lock_bh(&w->lock);
	list_for_each_entry(e, &w->head, entry)
		if (sim_wake_task(e->task, mode) && n && !--n)
			break;
	spin_unlock_bh(&w->lock);
}

void sim_time_reset(void)
{
	INIT_LIST_HEAD(&raised);
	INIT_LIST_HEAD(&idle_softirqs);
	INIT_LIST_HEAD(&sync_waiters);
	while (nshots)
		free(shots[--nshots]);
	ending = sim_tasklets_late = false;
	sim_jiffies_start = INITIAL_JIFFIES;
	sim_random = NULL;
}

void sim_time_begin(void)
{
	int i;

	for (i = 0; i < SOFTIRQS; i++)
		sim_spawn("softirq", softirq_loop, NULL);
}

void sim_time_end(void)
{
	ending = true;
	sim_wake_list(&idle_softirqs);
}

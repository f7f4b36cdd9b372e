// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tasks, preemption, bottom halves, store buffers, locks and their order. */
#include "sched.h"
#include "../engine.h"
#include "model.h"

/* Of contexts that are no program's: the scenario, workers, softirqs. */
static struct task_struct engine_task, kernel_tasks[64];
static u32 nkernel_tasks;

static struct task_struct *kernel_task(void)
{
	struct task_struct *t;
	u32 i;

	for (i = 0; i < nkernel_tasks; i++)
		if (kernel_tasks[i].ctx == sim_self)
			return &kernel_tasks[i];
	if (nkernel_tasks == ARRAY_SIZE(kernel_tasks))
		sim_fail("too many kernel threads");
	t = &kernel_tasks[nkernel_tasks++];
	*t = (struct task_struct){ .ctx = sim_self };
	return t;
}

struct task_struct *sim_current(void)
{
	if (!sim_self)
		return &engine_task;
	return sim_self->task ? sim_self->task : kernel_task();
}

void schedule(void)
{
	struct task_struct *t = current;

	might_sleep();
	sim_drain();
	if (t->__state == TASK_RUNNING) {
		sim_pass();
		return;
	}
	if ((t->__state & TASK_INTERRUPTIBLE && t->pending) ||
	    (t->__state & TASK_WAKEKILL && t->killed)) {
		t->__state = TASK_RUNNING;
		return;
	}
	sim_block(NULL);
	t->__state = TASK_RUNNING;
}

int sim_wake_task(struct task_struct *t, unsigned int mode)
{
	if (!(t->__state & mode))
		return 0;
	t->__state = TASK_RUNNING;
	sim_wake(t->ctx);
	return 1;
}

int wake_up_process(struct task_struct *t)
{
	if (sim_self && sim_self->pinned && ++sim_self->wakes > SIM_WAKES)
		sim_fail("%s wakes more than %u threads with preemption off",
			 sim_self->name, SIM_WAKES);
	sim_drain();
	sim_yield();
	return sim_wake_task(t, TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE);
}

void might_sleep(void)
{
	struct sim_ctx *c = sim_self;

	if (c && (c->pinned || c->bh_off || c->rcu))
		sim_fail("%s sleeps in atomic context: preemption off %d, BH off %d, RCU %d",
			 c->name, c->pinned, c->bh_off, c->rcu);
	if (c)
		c->kept = 0;
	sim_yield();
}

/* Preemption */

const volatile void *sim_looked_at;

void sim_pin(void);
void sim_unpin(void);

/* An RCU reader is also what cannot be preempted. */
static void reader_begins(struct sim_ctx *c)
{
	if (!c->pinned && !c->rcu)
		c->rcu_since = sim_rcu_now();
}

void preempt_disable(void)
{
	struct sim_ctx *c = sim_self;

	if (!c)
		return;
	if (!c->pinned) {
		sim_work_begins();
		sim_pin();
		reader_begins(c);
	}
	c->pinned++;
}

void preempt_enable(void)
{
	struct sim_ctx *c = sim_self;

	if (!c)
		return;
	if (c->pinned <= 0)
		sim_fail("preempt_enable() without preempt_disable()");
	if (c->pinned == 1)
		sim_work_begins();
	if (!--c->pinned) {
		sim_unpin();
		if (!c->rcu)
			sim_rcu_quiet();
	}
	sim_yield();
}

void local_bh_disable(void)
{
	preempt_disable();
	if (sim_self)
		sim_self->bh_off++;
}

void local_bh_enable(void)
{
	if (sim_self && --sim_self->bh_off < 0)
		sim_fail("local_bh_enable() without local_bh_disable()");
	preempt_enable();
}

void rcu_read_lock(void)
{
	if (!sim_self)
		return;
	reader_begins(sim_self);
	sim_self->rcu++;
	sim_yield();
}

void rcu_read_unlock(void)
{
	if (!sim_self)
		return;
	if (--sim_self->rcu < 0)
		sim_fail("rcu_read_unlock() without rcu_read_lock()");
	if (!sim_self->rcu && !sim_self->pinned)
		sim_rcu_quiet();
	sim_yield();
}

bool rcu_read_lock_held(void)
{
	return !sim_self || sim_self->rcu;
}

void sim_rcu_check(void)
{
	if (!rcu_read_lock_held())
		sim_fail("RCU pointer read by %s outside of a read side",
			 sim_self->name);
}

int sim_cpu(void)
{
	return sim_self && sim_self->cpu >= 0 ? sim_self->cpu : 0;
}

int sim_this_cpu(void)
{
	if (sim_self && !sim_self->pinned)
		sim_fail("%s uses a per-CPU variable with preemption on",
			 sim_self->name);
	return sim_cpu();
}

bool sim_in_softirq(void)
{
	return sim_self && sim_self->softirq;
}

/* Store buffers: as a processor of x86 has them, but longer. */

static void write_out(struct sim_store *s)
{
	memcpy((void *)s->p, &s->v, s->size);
}

void sim_drain(void)
{
	struct sim_ctx *c = sim_self;
	int i;

	if (!c)
		return;
	for (i = 0; i < c->nstores; i++)
		write_out(&c->stores[i]);
	c->nstores = 0;
}

bool sim_on_stack(const void *p);

void sim_buffer(volatile void *p, u64 v, unsigned int size)
{
	struct sim_ctx *c = sim_self;
	struct sim_store s = { p, v, size };

	/* A frame of our stack may be another's when the buffer is written. */
	if (!c || size > sizeof(v) || sim_on_stack((const void *)p)) {
		sim_drain();
		write_out(&s);
		return;
	}
	if (c->nstores == SIM_STORES) {
		write_out(&c->stores[0]);
		memmove(c->stores, c->stores + 1,
			(SIM_STORES - 1) * sizeof(*c->stores));
		c->nstores--;
	}
	c->stores[c->nstores++] = s;
}

/* What this context has stored last; or the whole buffer, where it overlaps. */
bool sim_forward(const volatile void *p, void *v, unsigned int size)
{
	struct sim_ctx *c = sim_self;
	const char *at = (const char *)p;
	struct sim_store *s;
	int i;

	for (i = c ? c->nstores : 0; i--;) {
		s = &c->stores[i];
		if (s->p == p && s->size == size) {
			memcpy(v, &s->v, size);
			return true;
		}
		if (at < (const char *)s->p + s->size &&
		    (const char *)s->p < at + size) {
			sim_drain();
			return false;
		}
	}
	return false;
}

/* A plain access sees what its own context has stored. */
void sim_plain_stores(const void *p);
void sim_plain_stores(const void *p)
{
	char c;

	sim_forward(p, &c, 1);
}

/*
 * Locks.  Classes are ordered by what was ever taken under what in this run;
 * a class that is taken in softirqs must not be taken with them on.
 */

#define CLASSES_MAX	96

static struct lock_class {
	struct lock_class_key *key;
	int subclass;
	const char *name;
	bool in_softirq, bh_on;
	bool after[CLASSES_MAX];	/* taken while this one was held */
} classes[CLASSES_MAX];
static int nclasses;

#define MAPS_MAX	4

static struct {
	struct lockdep_map *map;
	struct sim_lock lock;
} maps[MAPS_MAX];

void sim_locks_reset(void)
{
	sim_looked_at = NULL;
	memset(classes, 0, sizeof(classes));
	nclasses = 0;
	nkernel_tasks = 0;
	memset(maps, 0, sizeof(maps));
}

static int class_of(struct sim_lock *l, int subclass)
{
	int i = l->class;

	if (i < nclasses && classes[i].key == l->dep_map.key &&
	    classes[i].subclass == subclass)
		return i;
	for (i = 0; i < nclasses; i++)
		if (classes[i].key == l->dep_map.key &&
		    classes[i].subclass == subclass)
			return l->class = i;
	if (nclasses == CLASSES_MAX)
		sim_fail("more than %d classes of locks", CLASSES_MAX);
	classes[nclasses].key = l->dep_map.key;
	classes[nclasses].subclass = subclass;
	classes[nclasses].name = l->dep_map.name;
	return nclasses++;
}

static bool reaches(int from, int to, bool *seen)
{
	int i;

	if (from == to)
		return true;
	seen[from] = true;
	for (i = 0; i < nclasses; i++)
		if (classes[from].after[i] && !seen[i] && reaches(i, to, seen))
			return true;
	return false;
}

/* held[] has the lock, its subclass in the two lowest bits. */
#define HELD_LOCK(h)	((struct sim_lock *)((uintptr_t)(h) & ~3ul))
#define HELD_SUB(h)	((int)((uintptr_t)(h) & 3))

/*
 * The first is held by what ends a NIC, and a program can make the holder of
 * the second wait: see "Locking" in kernel/via_ka.h.
 */
static const char *const never[][2] = {
	{ "&rtnl", "&f->mutex" }, { "&nic->mutex", "&f->mutex" },
};

static void check_never(const char *held, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(never); i++)
		if (!strcmp(held, never[i][0]) && !strcmp(name, never[i][1]))
			sim_fail("%s takes %s while it holds %s",
				 sim_self->name, name, held);
}

/*
 * kernel/ends.h.  A program can make the holder of these wait, and what runs in a
 * work item ends objects, for all users.
 */
static bool is_programs(const char *name)
{
	return !strcmp(name, "&f->mutex") || !strcmp(name, "&m->mmap_lock");
}

void sim_endless_wait(const char *what)
{
	const char *name;
	int i;

	for (i = 0; sim_self && i < sim_self->nheld; i++) {
		name = HELD_LOCK(sim_self->held[i])->dep_map.name;
		if (!strcmp(name, "&f->mutex") || !strcmp(name, "&rtnl"))
			sim_fail("%s is in %s while it holds %s",
				 sim_self->name, what, name);
	}
	might_sleep();
}

static void check_order(struct sim_lock *l, int subclass)
{
	bool seen[CLASSES_MAX];
	struct sim_ctx *c = sim_self;
	int mine = class_of(l, subclass), i, other;

	if (!l->dep_map.key)
		sim_fail("a lock that is not initialised");
	classes[mine].in_softirq |= c->softirq;
	classes[mine].bh_on |= !c->softirq && !c->bh_off;
	if (classes[mine].in_softirq && classes[mine].bh_on)
		sim_fail("lock %s is taken in softirqs, and by %s with softirqs on",
			 classes[mine].name, c->name);
	for (i = 0; i < c->nheld; i++) {
		if (HELD_LOCK(c->held[i]) == l)
			sim_fail("%s takes %s twice", c->name, l->dep_map.name);
		other = class_of(HELD_LOCK(c->held[i]), HELD_SUB(c->held[i]));
		if (classes[other].after[mine])
			continue;
		check_never(classes[other].name, classes[mine].name);
		memset(seen, 0, sizeof(seen));
		if (reaches(mine, other, seen))
			sim_fail("lock order: %s takes %s/%d while it holds %s/%d, elsewhere it is the reverse",
				 c->name, l->dep_map.name, subclass,
				 classes[other].name, classes[other].subclass);
		classes[other].after[mine] = true;
	}
}

void sim_lock_init(struct sim_lock *l, struct lock_class_key *key,
		   const char *name)
{
	*l = (struct sim_lock){ .dep_map = { key, name } };
	INIT_LIST_HEAD(&l->waiters);
}

static void hold(struct sim_lock *l, int subclass)
{
	struct sim_ctx *c = sim_self;

	if (c->nheld == SIM_HELD)
		sim_fail("%s holds too many locks", c->name);
	/* Under a mutex that others wait for asleep: as many as there are. */
	c->held_visits[c->nheld] = c->pinned ? 0 : INT32_MIN;
	c->held[c->nheld++] = (void *)((uintptr_t)l | subclass);
}

static void taken(struct sim_lock *l, int subclass)
{
	l->owner = sim_self;
	hold(l, subclass);
}

/* 0, or -EINTR where @killable. */
static int take(struct sim_lock *l, bool sleeps, bool killable, int subclass)
{
	struct sim_ctx *c = sim_self;

	if (!c)
		return 0;
	if (sleeps)
		might_sleep();
	/* An acquire: what was stored before may be seen after it. */
	if (!sim_config.weak)
		sim_drain();
	if (c->in_work && is_programs(l->dep_map.name))
		sim_fail("%s waits for %s in a work item", c->name,
			 l->dep_map.name);
	check_order(l, subclass);
	sim_yield();
	while (l->owner) {
		if (killable && current->killed)
			return -EINTR;
		sim_block(&l->waiters);
	}
	taken(l, subclass);
	sim_yield();
	return 0;
}

void sim_lock(struct sim_lock *l, bool sleeps, int subclass)
{
	take(l, sleeps, false, subclass);
}

int sim_lock_killable(struct sim_lock *l)
{
	return take(l, true, true, 0);
}

bool sim_trylock(struct sim_lock *l)
{
	if (!sim_self)
		return true;
	/* One that fails orders nothing. */
	sim_yield();
	if (l->owner)
		return false;
	if (!sim_config.weak)
		sim_drain();
	taken(l, 0);
	return true;
}

static void let_go(struct sim_lock *l)
{
	struct sim_ctx *c = sim_self;
	int i;

	for (i = c->nheld; i--;)
		if (HELD_LOCK(c->held[i]) == l)
			break;
	if (i < 0)
		sim_fail("%s unlocks %s, which it does not hold", c->name,
			 l->dep_map.name);
	memmove(&c->held[i], &c->held[i + 1],
		(c->nheld - i - 1) * sizeof(c->held[0]));
	memmove(&c->held_visits[i], &c->held_visits[i + 1],
		(c->nheld - i - 1) * sizeof(c->held_visits[0]));
	c->nheld--;
}

void sim_unlock(struct sim_lock *l)
{
	struct sim_ctx *c = sim_self;

	if (!c)
		return;
	sim_yield();
	sim_drain();
	if (l->owner != c)
		sim_fail("%s unlocks %s, which it does not hold", c->name,
			 l->dep_map.name);
	let_go(l);
	l->owner = NULL;
	/* All of them look again: which is first is the schedule's choice. */
	sim_wake_list(&l->waiters);
	sim_yield();
}

bool sim_lock_mine(const struct sim_lock *l)
{
	return !sim_self || l->owner == sim_self;
}

/* Maps of lockdep: a lock each, for its class alone. */

static struct sim_lock *lock_of(struct lockdep_map *m)
{
	int i;

	for (i = 0; i < MAPS_MAX && maps[i].map && maps[i].map != m; i++)
		;
	if (i == MAPS_MAX)
		sim_fail("too many maps of lockdep");
	if (!maps[i].map) {
		maps[i].map = m;
		sim_lock_init(&maps[i].lock, m->key, m->name);
	}
	return &maps[i].lock;
}

void lockdep_init_map(struct lockdep_map *m, const char *name,
		      struct lock_class_key *key, int subclass)
{
	*m = (struct lockdep_map){ key, name };
}

void lock_map_acquire(struct lockdep_map *m)
{
	struct sim_lock *l = lock_of(m);

	/* Any number of contexts are in it. */
	if (!sim_self)
		return;
	check_order(l, 0);
	hold(l, 0);
}

void lock_map_release(struct lockdep_map *m)
{
	struct sim_lock *l = lock_of(m);

	if (sim_self)
		let_go(l);
}

/* Per-CPU memory */

#define PERCPU_MAX	256

static struct {
	char *base;
	size_t stride;
} percpu[PERCPU_MAX];
static int npercpu;

void *sim_alloc_percpu(size_t size)
{
	char *p = sim_kmalloc(size * SIM_CPUS, GFP_KERNEL | __GFP_ZERO);
	int i;

	if (!p)
		return NULL;
	for (i = 0; i < npercpu && percpu[i].base; i++)
		;
	if (i == PERCPU_MAX)
		sim_fail("too many per-CPU areas");
	if (i == npercpu)
		npercpu++;
	percpu[i].base = p;
	percpu[i].stride = size;
	return p;
}

void free_percpu(void *p)
{
	int i;

	for (i = 0; p && i < npercpu; i++)
		if (percpu[i].base == p)
			percpu[i].base = NULL;
	kfree(p);
}

/* Of a member of the first CPU's area, this CPU's. */
void *sim_this_address(void *p)
{
	static int last;
	int i = last, n;

	for (n = 0; n <= npercpu; n++, i = n - 1)
		if (i < npercpu && percpu[i].base &&
		    (uintptr_t)p - (uintptr_t)percpu[i].base <
		    percpu[i].stride) {
			last = i;
			return (char *)p + percpu[i].stride * sim_this_cpu();
		}
	sim_fail("no per-CPU variable");
}

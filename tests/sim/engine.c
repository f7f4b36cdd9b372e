// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Contexts, the schedule, virtual time.
 *
 * A schedule is a list of turns: (step, context).  The default is to run a
 * context until it waits, and then the next one in the order of ids; each
 * departure from that is recorded, so that any run can be repeated and
 * shortened by leaving turns out.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine.h"

/* Compiled without its checks, but linked with it: SIM_ASAN is defined. */
#ifdef SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_BYTES	(256u << 10)
#define EVENTS_MAX	(1u << 20)
#define CPUS		4		/* as the model has it */
#define SLICE		9		/* 2^n points in a program, or up to twice that */

struct sim_config sim_config;
struct sim_ctx *sim_self;
struct list_head sim_all;
uint64_t sim_clock;
uint64_t sim_steps;
struct sim_turn *sim_record;
uint32_t *sim_nrecord;
bool sim_verbose;
bool sim_tso;
bool sim_coarse;
uint32_t sim_most_steps, sim_most_visits;

static uint64_t schedule_state, dice_state;
static uint32_t next_id, nexttime;
static struct sim_event **heap;
static int nevents;
static uint64_t event_seq;
static struct sim_ctx *holder[CPUS];	/* the pinned context of each CPU */
static uint64_t next_change;		/* step at which the schedule changes */
static uint64_t *changes;
static uint32_t nchanges, change_at;
static uint32_t turn_at;
static int64_t lowest;			/* priority given last */
static LIST_HEAD(ready);		/* contexts that may run */
static uint32_t nready;
static bool woken;			/* one more since the last choice */
static uint64_t attend;			/* step at which there is to choose */
static uint64_t soonest = UINT64_MAX;	/* time of the first event */
static void *engine_sp;
static char *stacks;			/* free ones, linked */
static struct sim_ctx *ended;		/* its stack is still in use */
#ifdef SIM_ASAN
static const void *engine_bottom;
static size_t engine_size;
#endif

/* Chance */

static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t sim_dice64(void)
{
	return mix(&dice_state);
}

uint32_t sim_dice(uint32_t n)
{
	return n > 1 ? (uint32_t)(mix(&dice_state) >> 32) % n : 0;
}

static uint32_t choose(uint32_t n)
{
	return n > 1 ? (uint32_t)(mix(&schedule_state) >> 32) % n : 0;
}

/* Words */

void sim_log(const char *fmt, ...)
{
	va_list ap;

	if (!sim_verbose)
		return;
	fprintf(stderr, "[%llu.%06llu %s] ",
		(unsigned long long)(sim_clock / 1000000000),
		(unsigned long long)(sim_clock / 1000 % 1000000),
		sim_self ? sim_self->name : "-");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* Events: a heap by time, then by order of arming. */

static bool sooner(const struct sim_event *a, const struct sim_event *b)
{
	return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void put_event(int i, struct sim_event *e)
{
	heap[i] = e;
	e->at = i;
}

static void sift_up(int i, struct sim_event *e)
{
	for (; i && sooner(e, heap[(i - 1) / 2]); i = (i - 1) / 2)
		put_event(i, heap[(i - 1) / 2]);
	put_event(i, e);
}

static void sift_down(int i, struct sim_event *e)
{
	int child;

	while ((child = 2 * i + 1) < nevents) {
		if (child + 1 < nevents && sooner(heap[child + 1], heap[child]))
			child++;
		if (!sooner(heap[child], e))
			break;
		put_event(i, heap[child]);
		i = child;
	}
	put_event(i, e);
}

struct sim_event *sim_at(uint64_t time, void (*fn)(void *arg), void *arg)
{
	struct sim_event *e = malloc(sizeof(*e));

	if (!e || nevents == EVENTS_MAX)
		abort();
	*e = (struct sim_event){ .time = time > sim_clock ? time : sim_clock,
				 .seq = event_seq++, .fn = fn, .arg = arg };
	sift_up(nevents++, e);
	soonest = heap[0]->time;
	return e;
}

static void take_event(struct sim_event *e)
{
	struct sim_event *last = heap[--nevents];
	int at = e->at;

	if (last != e && at && sooner(last, heap[(at - 1) / 2]))
		sift_up(at, last);
	else if (last != e)
		sift_down(at, last);
	soonest = nevents ? heap[0]->time : UINT64_MAX;
}

void sim_cancel(struct sim_event *e)
{
	take_event(e);
	free(e);
}

/* Everything that is due.  Runs on whatever stack; never switches. */
static void run_due(void)
{
	struct sim_ctx *self = sim_self;
	struct sim_event *e;

	while (soonest <= sim_clock) {
		e = heap[0];
		take_event(e);
		sim_self = NULL;
		e->fn(e->arg);
		sim_self = self;
		free(e);
	}
}

/* Stacks and switching */

static char *get_stack(void)
{
	char *s = stacks;

	if (s) {
		memcpy(&stacks, s, sizeof(stacks));
		return s;
	}
	s = mmap(NULL, STACK_BYTES + 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s == MAP_FAILED || mprotect(s, 4096, PROT_NONE))
		abort();
	return s + 4096;
}

static void free_stack(char *s)
{
#ifdef SIM_ASAN
	__asan_unpoison_memory_region(s, STACK_BYTES);
#endif
	memcpy(s, &stacks, sizeof(stacks));
	stacks = s;
}

#ifdef __x86_64__
/* Callee-saved registers and the stack pointer: all that a call keeps. */
void sim_swap(void **from, void *to);
__asm__(".text\n.globl sim_swap\n.type sim_swap,@function\nsim_swap:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n	pushq %r13\n"
	"	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n"
	"	popq %rbx\n	popq %rbp\n	ret\n"
	".size sim_swap,.-sim_swap\n");
#else
#error "tests/sim switches stacks on x86-64 only"
#endif

/* What was running has left its stack: what has ended may go. */
static void arrived(void)
{
	if (ended) {
		free_stack(ended->stack);
		free(ended->tls);
		free(ended);
		ended = NULL;
	}
}

static void first(void)
{
#ifdef SIM_ASAN
	const void *bottom;
	size_t size;

	__sanitizer_finish_switch_fiber(NULL, &bottom, &size);
	if (!engine_bottom) {
		engine_bottom = bottom;
		engine_size = size;
	}
#endif
	arrived();
	sim_self->fn(sim_self->arg);
	sim_exit();
}

static void swap_to(struct sim_ctx *to)
{
	struct sim_ctx *from = sim_self;
	void **save = from ? &from->sp : &engine_sp;
	int error = errno;

	if (from && from->tls)
		memcpy(from->tls, from->tls_at, from->tls_size);
	if (to && to->tls)
		memcpy(to->tls_at, to->tls, to->tls_size);
	sim_self = to;
	if (to)
		to->slice = (1 << SLICE) + hash_long(sim_steps, SLICE);
#ifdef SIM_ASAN
	void *fake = NULL;

	__sanitizer_start_switch_fiber(from && from->state == SIM_ENDED ?
				       NULL : &fake,
				       to ? to->stack : engine_bottom,
				       to ? STACK_BYTES : engine_size);
#endif
	sim_swap(save, to ? to->sp : engine_sp);
#ifdef SIM_ASAN
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
	errno = error;
	arrived();
}

/* When sim_yield() has to look at the schedule. */
static void set_attend(void)
{
	if (sim_config.replay)
		attend = turn_at < sim_config.nturns ?
			 sim_config.turns[turn_at].step : UINT64_MAX;
	else if (sim_config.policy == SIM_PCT && woken)
		attend = 0;
	else
		attend = next_change;
	if (sim_config.max_steps && attend > sim_config.max_steps)
		attend = sim_config.max_steps;
}

static void make_ready(struct sim_ctx *c)
{
	struct list_head *at = ready.prev;

	while (at != &ready && list_entry(at, struct sim_ctx, run)->id > c->id)
		at = at->prev;
	list_add(&c->run, at);
	nready++;
	woken = true;
	set_attend();
}

static void make_unready(struct sim_ctx *c)
{
	list_del(&c->run);
	nready--;
}

struct sim_ctx *sim_spawn(const char *name, void (*fn)(void *arg), void *arg)
{
	struct sim_ctx *c = calloc(1, sizeof(*c));
	void **sp;

	if (!c)
		abort();
	c->id = ++next_id;
	c->name = name;
	c->fn = fn;
	c->arg = arg;
	c->cpu = -1;
	c->prio = 1000 + choose(1000);
	c->stack = get_stack();
	INIT_LIST_HEAD(&c->wait);
	list_add_tail(&c->link, &sim_all);
	make_ready(c);
	sp = (void **)(c->stack + STACK_BYTES - 64);
	*--sp = NULL;			/* where first() would return to */
	*--sp = (void *)first;
	sp -= 6;
	c->sp = sp;
	return c;
}

/* The schedule */

/* May it run now?  What is pinned has a CPU; to be pinned is to get one. */
static bool eligible(const struct sim_ctx *c)
{
	return c->state == SIM_READY;
}

static struct sim_ctx *by_id(uint32_t id)
{
	struct sim_ctx *c;

	list_for_each_entry(c, &sim_all, link)
		if (c->id == id)
			return c;
	return NULL;
}

/* The default: this one as long as it may, then the next in order of ids. */
static struct sim_ctx *default_next(struct sim_ctx *self, bool pass)
{
	uint32_t id = self ? self->id : nexttime;
	struct sim_ctx *c;

	if (self && !pass && eligible(self))
		return self;
	list_for_each_entry(c, &ready, run)
		if (c->id > id)
			return c;
	return list_first_entry_or_null(&ready, struct sim_ctx, run);
}

static struct sim_ctx *any(void)
{
	struct sim_ctx *c;
	uint32_t n;

	if (!nready)
		return NULL;
	n = choose(nready);
	list_for_each_entry(c, &ready, run)
		if (!n--)
			return c;
	return NULL;
}

static struct sim_ctx *highest(void)
{
	struct sim_ctx *c, *best = NULL;

	list_for_each_entry(c, &ready, run)
		if (!best || c->prio > best->prio)
			best = c;
	return best;
}

static void plan_change(void)
{
	uint64_t mean = sim_config.mean ? sim_config.mean : 1;

	switch (sim_config.policy) {
	case SIM_WALK:
		next_change = sim_steps + 1 + choose(2 * mean);
		break;
	case SIM_PCT:
	case SIM_FEW:
		next_change = change_at < nchanges ? changes[change_at++] :
						     UINT64_MAX;
		break;
	}
}

/* Without a recording: what the policy says. */
static struct sim_ctx *policy_next(struct sim_ctx *self, bool pass)
{
	bool change = sim_steps >= next_change;

	if (change)
		plan_change();
	switch (sim_config.policy) {
	case SIM_WALK:
		return change || pass || !self || !eligible(self) ? any() : self;
	case SIM_PCT:
		/* One that spins must not starve what it waits for. */
		if (self && (change || pass))
			self->prio = --lowest;
		return highest();
	case SIM_FEW:
		return change ? any() : default_next(self, pass);
	}
	return NULL;
}

static struct sim_ctx *replay_next(struct sim_ctx *self, bool pass)
{
	struct sim_ctx *c;

	while (turn_at < sim_config.nturns &&
	       sim_config.turns[turn_at].step < sim_steps)
		turn_at++;
	if (turn_at < sim_config.nturns &&
	    sim_config.turns[turn_at].step == sim_steps) {
		c = by_id(sim_config.turns[turn_at].ctx);
		turn_at++;
		if (c && eligible(c))
			return c;
	}
	return default_next(self, pass);
}

static void note_turn(struct sim_ctx *c, struct sim_ctx *self, bool pass)
{
	if (!sim_record || c == default_next(self, pass) ||
	    *sim_nrecord == SIM_TURNS)
		return;
	sim_record[(*sim_nrecord)++] = (struct sim_turn){ sim_steps, c->id };
}

static struct sim_ctx *next(struct sim_ctx *self, bool pass)
{
	struct sim_ctx *c;

	c = sim_config.replay ? replay_next(self, pass) :
				policy_next(self, pass);
	woken = false;
	set_attend();
	if (c)
		note_turn(c, self, pass);
	return c;
}

/* The CPU of a context that may not be moved. */
void sim_pin(void)
{
	int i;

	while (sim_self->cpu < 0) {
		for (i = 0; i < CPUS; i++) {
			int cpu = (sim_self->id + i) % CPUS;

			if (!holder[cpu]) {
				holder[cpu] = sim_self;
				sim_self->cpu = cpu;
				return;
			}
		}
		sim_pass();
	}
}

void sim_unpin(void)
{
	holder[sim_self->cpu] = NULL;
	sim_self->cpu = -1;
}

static void step(void)
{
	sim_steps++;
	sim_clock += sim_config.step_ns;
	if (sim_config.max_steps && sim_steps > sim_config.max_steps)
		sim_fail("no end after %llu steps",
			 (unsigned long long)sim_steps);
	if (soonest <= sim_clock)
		run_due();
}

void sim_check_time(void)
{
	if (sim_config.max_time && sim_clock > sim_config.max_time)
		sim_fail("no end after %llu virtual seconds",
			 (unsigned long long)(sim_clock / 1000000000));
}

static void switch_to(struct sim_ctx *c)
{
	if (c != sim_self)
		swap_to(c);
}

void sim_die_if_killed(void);
void sim_plain_stores(const void *p);
bool sim_on_stack(const void *p);

static __attribute__((__noinline__)) void yield_slow(struct sim_ctx *self)
{
	struct sim_ctx *c;
	bool turn;

	/* Undone for step(). */
	sim_steps--;
	sim_clock -= sim_config.step_ns;
	if (self->in_user && !self->slice--) {
		/* It may be spinning for what others do. */
		self->slice = (1 << SLICE) + hash_long(sim_steps, SLICE);
		sim_pass();
		return;
	}
	step();
	if (self->nstores && !hash_long(sim_steps ^ sim_config.seed,
					sim_config.keep_bits))
		sim_drain();
	if (sim_config.replay)
		turn = turn_at < sim_config.nturns &&
		       sim_config.turns[turn_at].step <= sim_steps;
	else
		turn = sim_steps >= next_change ||
		       (sim_config.policy == SIM_PCT && woken);
	if (turn) {
		c = next(self, false);
		if (c)
			switch_to(c);
	}
	if (self->in_user)
		sim_die_if_killed();
}

void sim_work_begins(void)
{
	struct sim_ctx *self = sim_self;

	if (!self)
		return;
	if (self->pinned && self->steps > sim_most_steps)
		sim_most_steps = self->steps;
	if (self->visits > sim_most_visits)
		sim_most_visits = self->visits;
	self->steps = 0;
	self->visits = 0;
	self->wakes = 0;
}

static __attribute__((__noinline__)) void too_long(struct sim_ctx *self)
{
	if (self->pinned)
		sim_fail("%s takes more than %u steps with preemption off",
			 self->name, SIM_HELD_STEPS);
	self->steps = 0;
}

void sim_visit(void);
void sim_visit(void)
{
	int32_t most = sim_config.lock_visits ?: SIM_LOCK_VISITS;
	uint32_t kept = sim_config.kept_visits ?: SIM_KEPT;
	struct sim_ctx *self = sim_self;

	if (!self)
		return;
	if (++self->visits > SIM_VISITS)
		sim_fail("%s visits more than %u with bottom halves off",
			 self->name, SIM_VISITS);
	if (!self->softirq && ++self->kept > kept)
		sim_fail("%s visits more than %u and keeps its CPU",
			 self->name, kept);
	if (self->nheld && ++self->held_visits[self->nheld - 1] > most)
		sim_fail("%s visits more than %d while it holds one lock",
			 self->name, most);
}

/* A point at which another context may run. */
void sim_yield(void)
{
	struct sim_ctx *self = sim_self;

	if (!self)
		return;
	sim_steps++;
	sim_clock += sim_config.step_ns;
	if (++self->steps > SIM_HELD_STEPS)
		too_long(self);
	if (sim_steps >= attend || sim_clock >= soonest || self->nstores ||
	    self->in_user)
		yield_slow(self);
}

/* Of the context that runs. */
bool sim_on_stack(const void *p)
{
	return sim_self &&
	       (uintptr_t)p - (uintptr_t)sim_self->stack < STACK_BYTES;
}

/* A plain access of the code under test, as the compiler tells of it. */
static inline void plain(const void *p)
{
	struct sim_ctx *self = sim_self;

	if (!self || sim_coarse)
		return;
	if (self->nstores)
		sim_plain_stores(p);
	if ((uintptr_t)p - (uintptr_t)self->stack >= STACK_BYTES)
		sim_yield();
}

#define SIM_PLAIN(n) \
	void __sanitizer_cov_load##n(const void *p); \
	void __sanitizer_cov_store##n(const void *p); \
	void __sanitizer_cov_load##n(const void *p) { plain(p); } \
	void __sanitizer_cov_store##n(const void *p) { plain(p); }
/* clang adds the others only together with this one. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
}

SIM_PLAIN(1)
SIM_PLAIN(2)
SIM_PLAIN(4)
SIM_PLAIN(8)
SIM_PLAIN(16)

void sim_pass(void)
{
	struct sim_ctx *c;

	sim_drain();
	step();
	c = next(sim_self, true);
	if (c == sim_self && nevents) {
		/* It spins alone: time passes for it. */
		if (heap[0]->time > sim_clock)
			sim_clock += 1000;
		run_due();
	}
	if (c)
		switch_to(c);
	if (sim_self->in_user)
		sim_die_if_killed();
}

/* On to the next context; to the engine when there is none. */
static void leave(void)
{
	struct sim_ctx *c;

	step();
	c = next(sim_self, false);
	/* What was due at this step may have woken us: our sp is not saved. */
	if (c != sim_self)
		swap_to(c);
}

void sim_block(struct list_head *on)
{
	struct sim_ctx *self = sim_self;

	sim_drain();
	self->state = SIM_BLOCKED;
	self->kept = 0;
	make_unready(self);
	if (on)
		list_add_tail(&self->wait, on);
	leave();
}

void sim_wake(struct sim_ctx *c)
{
	if (c->state != SIM_BLOCKED)
		return;
	if (!list_empty(&c->wait))
		list_del_init(&c->wait);
	c->state = SIM_READY;
	make_ready(c);
}

void sim_wake_list(struct list_head *on)
{
	while (!list_empty(on))
		sim_wake(list_first_entry(on, struct sim_ctx, wait));
}

void sim_exit(void)
{
	struct sim_ctx *self = sim_self;

	sim_drain();
	if (self->pinned || self->bh_off || self->rcu || self->nheld)
		sim_fail("%s ends with preemption off %d, BH off %d, RCU %d, locks %d",
			 self->name, self->pinned, self->bh_off, self->rcu,
			 self->nheld);
	self->state = SIM_ENDED;
	make_unready(self);
	list_del(&self->link);
	ended = self;
	leave();
	abort();
}

bool sim_run(bool (*done)(void *arg), void *arg)
{
	struct sim_ctx *c;

	while (!done || !done(arg)) {
		c = next(NULL, false);
		if (c) {
			nexttime = c->id;
			swap_to(c);
			continue;
		}
		if (!nevents)
			return !done;
		if (soonest > sim_clock)
			sim_clock = soonest;
		sim_check_time();
		run_due();
	}
	return true;
}

/* A run */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void plan(void)
{
	uint32_t i;

	nchanges = sim_config.policy == SIM_WALK ? 0 : sim_config.changes;
	changes = realloc(changes, (nchanges + 1) * sizeof(*changes));
	for (i = 0; i < nchanges; i++)
		changes[i] = 1 + mix(&schedule_state) %
				 (sim_config.length ? sim_config.length : 1);
	qsort(changes, nchanges, sizeof(*changes), by_value);
	change_at = 0;
	plan_change();
}

void sim_begin(const struct sim_config *config)
{
	sim_config = *config;
	if (!sim_config.step_ns)
		sim_config.step_ns = 10;
	if (!heap) {
		heap = calloc(EVENTS_MAX, sizeof(*heap));
		INIT_LIST_HEAD(&sim_all);
	}
	if (!list_empty(&sim_all) || nevents)
		sim_fail("contexts or events are left of the last run");
	schedule_state = config->seed * 2 + 1;
	dice_state = config->seed ^ 0xd1ce;
	next_id = nexttime = 0;
	event_seq = 0;
	sim_clock = 1000000000;
	sim_steps = 0;
	if (sim_nrecord)
		*sim_nrecord = 0;
	turn_at = 0;
	lowest = 0;
	sim_tso = config->tso;
	sim_coarse = config->coarse;
	INIT_LIST_HEAD(&ready);
	nready = 0;
	woken = false;
	plan();
	set_attend();
}

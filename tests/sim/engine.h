/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The simulator's engine: contexts with stacks of their own in one thread, a
 * schedule chosen from a seed, virtual time, failures.  It knows nothing of
 * the kernel; tests/sim/kernel is the model of that.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernel/list.h"

#define SIM_STORES	16		/* of a store buffer */
#define SIM_HELD	12		/* locks held at once by a context */

enum sim_state {
	SIM_READY,			/* may run */
	SIM_BLOCKED,			/* until sim_wake() */
	SIM_ENDED,
};

struct sim_store {
	volatile void *p;
	uint64_t v;
	unsigned int size;		/* bytes */
};

/**
 * struct sim_ctx - a thread, a softirq or a worker
 * @link:	on the list of all contexts
 * @run:	on the list of those that may run, in order of ids
 * @wait:	on the list of what it waits for, while blocked
 * @id:		counts from 1 in each run
 * @cpu:	where it runs while @pinned, else -1
 * @pinned:	depth of preempt_disable(), local_bh_disable()
 * @bh_off:	depth of local_bh_disable(), softirqs are one deep
 * @rcu:	depth of rcu_read_lock()
 * @rcu_since:	when the outermost read side of any kind began
 * @srcu:	the SRCU structure that it reads, or NULL
 * @graces:	grace periods, of either kind, that it has waited for
 * @steps:	points since preemption went off last, or since a frame or a trap
 * @visits:	what it has visited since then, as struct via_work counts it
 * @kept:	the same since it could have slept, or was in its program
 * @wakes:	threads that it has woken since then
 * @in_user:	runs code of a program, and may be killed at any point
 * @in_work:	runs a work item, which a program's lock must not stop
 * @prio:	for priority schedules: the highest runs
 * @slice:	points in its program before others have a turn
 * @task:	the kernel model's
 * @group:	the kernel model's, too
 * @user:	what a program keeps of its thread
 * @tls:	its variables of threads, while others have theirs at @tls_at
 */
struct sim_ctx {
	struct list_head link;
	struct list_head run;
	struct list_head wait;
	uint32_t id;
	enum sim_state state;
	const char *name;
	void (*fn)(void *arg);
	void *arg;
	void *sp;
	char *stack;
	void *fake;			/* AddressSanitizer's */
	int cpu;
	int pinned;
	int bh_off;
	bool softirq;
	bool daemon;			/* a kernel thread that waits for work */
	int rcu;
	uint64_t rcu_since;
	void *srcu;
	uint32_t graces;
	uint32_t steps;
	uint32_t visits;
	uint32_t kept;
	uint32_t wakes;
	bool in_user;
	bool in_work;
	int64_t prio;
	uint32_t slice;
	int nheld;
	void *held[SIM_HELD];
	int32_t held_visits[SIM_HELD];	/* with nothing taken inside it */
	int nstores;
	struct sim_store stores[SIM_STORES];
	void *task;
	void *group;			/* that it allocates for, if not its own */
	void *user;
	void *tls, *tls_at;
	size_t tls_size;
};

struct sim_event {
	uint64_t time;			/* ns */
	uint64_t seq;			/* among those of one time */
	void (*fn)(void *arg);
	void *arg;
	int at;				/* place in the heap */
};

/* How contexts are chosen. */
enum sim_policy {
	SIM_WALK,			/* any context, at random moments */
	SIM_PCT,			/* priorities that change a few times */
	SIM_FEW,			/* preempted at a few random moments */
};

/* A departure from the schedule that runs a context until it waits. */
struct sim_turn {
	uint64_t step;
	uint32_t ctx;
};

struct sim_config {
	uint64_t seed;
	enum sim_policy policy;
	uint32_t mean;			/* WALK: steps between switches */
	uint32_t changes;		/* PCT, FEW: how many */
	uint64_t length;		/* PCT, FEW: of a run, in steps, about */
	bool tso;			/* stores are buffered */
	u32 keep_bits;			/* for 2^n steps on average */
	bool weak;			/* taking a lock is no barrier */
	bool replay;			/* by turns[] instead of a policy */
	struct sim_turn *turns;
	uint32_t nturns;
	uint32_t fail_alloc;		/* which allocation fails, 0: none */
	bool no_atomic;			/* GFP_ATOMIC finds no memory */
	uint64_t max_steps;		/* 0: as many as it takes */
	uint64_t max_time;		/* ns, likewise */
	uint32_t step_ns;		/* virtual time of a step */
	bool coarse;			/* plain accesses are no steps */
	int32_t lock_visits;		/* 0: SIM_LOCK_VISITS */
	uint32_t kept_visits;		/* 0: SIM_KEPT */
	bool keys_collide;		/* jhash() of each is the same */
};

extern struct sim_config sim_config;
extern struct sim_ctx *sim_self;	/* NULL: the engine itself */
extern struct list_head sim_all;	/* contexts that have not ended */

/*
 * Work with bottom halves off is bounded: by visits of what programs and other
 * hosts can make many, and by steps, whatever they are spent on.
 */
#define SIM_VISITS	1024u
#define SIM_LOCK_VISITS	80		/* while one lock is held, the innermost */
#define SIM_KEPT	1024u		/* of a thread that could let others run */
#define SIM_HELD_STEPS	400000u
#define SIM_WAKES	64u
/* One that has it off begins with what is counted by itself. */
void sim_work_begins(void);
/* The most that there were, of all runs. */
extern uint32_t sim_most_steps, sim_most_visits;

extern uint64_t sim_clock;		/* ns */
extern uint64_t sim_steps;
/* Turns taken in this run, of SIM_TURNS at most; NULL: not recorded. */
#define SIM_TURNS	(1u << 20)
extern struct sim_turn *sim_record;
extern uint32_t *sim_nrecord;

/* Begins a run: everything of the last one is forgotten. */
void sim_begin(const struct sim_config *config);
/* Until @done says so, or nothing is left to happen: false. */
bool sim_run(bool (*done)(void *arg), void *arg);

struct sim_ctx *sim_spawn(const char *name, void (*fn)(void *arg), void *arg);
void sim_exit(void) __attribute__((__noreturn__));
/* Gives up the processor until woken. */
void sim_block(struct list_head *on);
void sim_wake(struct sim_ctx *c);
void sim_wake_list(struct list_head *on);
/* The processor to another context, if one is ready: spinning calls this. */
void sim_pass(void);

struct sim_event *sim_at(uint64_t time, void (*fn)(void *arg), void *arg);
void sim_cancel(struct sim_event *e);

/* Chance that does not depend on the schedule's: 0..n-1. */
uint32_t sim_dice(uint32_t n);
uint64_t sim_dice64(void);

/* Where a failure is written; the process ends. */
void sim_fail(const char *fmt, ...)
	__attribute__((__noreturn__, __format__(printf, 1, 2)));
/* What a run is at, for the report of a failure. */
void sim_doing(const char *what);
extern bool sim_verbose;
void sim_log(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));

#endif

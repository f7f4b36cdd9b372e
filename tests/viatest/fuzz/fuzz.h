/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* viatest fuzz: processes that call the device node, and their victim. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include "common/ledger.h"
#include "common/rng.h"

#define POOL		64u	/* values of a kind that were seen once */

enum pool { P_PTAG, P_MEM, P_VI, P_CQ, P_CONN, P_WAITER, POOLS };

struct coverage;

/* Shared by all processes of a run; written with atomics. */
struct score {
	int post[2];			/* descriptors go through here */
	uint32_t pool[POOLS][POOL];	/* of all processes, living or not */
	struct coverage *coverage;	/* NULL: not guided */
	uint64_t ops;			/* calls made */
	uint64_t good;			/* that were taken, so it is no idling */
	uint64_t messages;		/* of the victim, each compared */
	uint32_t stop;			/* all end */
	uint32_t wrong;			/* the victim has seen what it must not */
	uint32_t comes_and_goes;	/* the NIC: open it until it opens */
};

/* What came of a call. */
static inline void score_call(struct score *s, int ret)
{
	if (!ret)
		__atomic_add_fetch(&s->good, 1, __ATOMIC_RELAXED);
}

static inline int score_stop(const struct score *s)
{
	return __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE);
}

static inline void score_end(struct score *s)
{
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
}

static inline void score_wrong(struct score *s)
{
	__atomic_store_n(&s->wrong, 1, __ATOMIC_RELEASE);
}

/* The rest of a line; without a verdict: how far it is. */
void score_print(const struct score *s, const char *verdict);

struct coverage *coverage_new(void);
void coverage_print(const struct coverage *c);

/* Threads of this process call anything, until it has had enough. */
void attack(const char *device, uint64_t seed, unsigned int threads,
	    struct score *score) __attribute__((noreturn));
/* A process of its own for it. */
typedef void attacker_fn(uint64_t seed, struct score *score);
pid_t attacker_start(attacker_fn *f, struct rng *r, struct score *score);
/* Kills it now and then, and starts another where it has ended. */
int attacker_tend(pid_t *pid, attacker_fn *f, struct rng *r,
		  struct score *score);
/*
 * Another, that is made here: it sends messages to itself between canaries,
 * and compares, until all end; it has begun, or failed, at the return.
 */
pid_t victim(const char *device, struct score *score);
/* A signal for this thread every so many ns: nothing sleeps for ever. */
void nudge(timer_t *t, long ns);
/* Every kind of memory is registered; the number of wrong verdicts. */
unsigned int memory_kinds(const char *device);
/*
 * Memory that never comes: what else waits for it, and what is left of it
 * that was not there before; the number of faults.
 */
unsigned int blocked_memory(const char *device, struct ledger *before);
/* Every limit is reached, one after the other, beside a victim. */
unsigned int limits(const char *device, struct score *score);
/* A NIC comes and goes so many times, beside a victim on another. */
int churn(const char *device, uint64_t seed, uint64_t count,
	  struct score *score);

#endif

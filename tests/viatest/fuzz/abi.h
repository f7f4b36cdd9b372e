/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* viatest fuzz: processes that throw calls at the device node, and their victim. */
#ifndef FUZZ_ABI_H
#define FUZZ_ABI_H

#include <stdint.h>

#define POOL		64u	/* values of a kind that were seen once */

enum pool { P_PTAG, P_MEM, P_VI, P_CQ, P_CONN, P_WAITER, POOLS };

struct coverage;
struct ledger;

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

struct rng {
	uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
	/* splitmix64 */
	uint64_t z = r->s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (rng_next(r) >> 32) * n >> 32;
}

/* One in so many times. */
static inline int rng_one_in(struct rng *r, uint32_t n)
{
	return !rng_below(r, n);
}

struct coverage *coverage_new(void);
void coverage_print(const struct coverage *c);

/* A process of its own: threads that call anything, until it has had enough. */
void attack(const char *device, uint64_t seed, unsigned int threads,
	    uint64_t ops, struct score *score);
/* Another: sends messages to itself between canaries, and compares. */
void victim(const char *device, struct score *score);
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

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Random numbers: the same for the same seed. */
#ifndef TESTS_RNG_H
#define TESTS_RNG_H

#include <stdint.h>

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

#endif

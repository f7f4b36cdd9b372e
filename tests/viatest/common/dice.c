// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dice.h"
#include "rng.h"

uint64_t mix(uint64_t x)
{
	struct rng r = { x };

	return rng_next(&r);
}

uint32_t dice_roll(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (x * 0x2545f4914f6cdd1dull) >> 32;
}

uint32_t dice(uint32_t below)
{
	static __thread uint64_t state = 0x9e3779b97f4a7c15ull;

	return (uint64_t)dice_roll(&state) * below >> 32;
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_DICE_H
#define TESTS_DICE_H

#include <stdint.h>

/* Any number to one that looks random (splitmix64). */
uint64_t mix(uint64_t x);

/* A state for dice_roll(): the same for the same seed and number. */
static inline uint64_t dice_seed(uint64_t seed, uint64_t n)
{
	return mix(seed << 32 | n) | 1;
}

/* xorshift64*; the state must not be 0. */
uint32_t dice_roll(uint64_t *state);
/* 0 to below - 1, from a state of the thread. */
uint32_t dice(uint32_t below);

#endif

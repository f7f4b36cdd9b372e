/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A hostile program of verbs: what it draws, and its two kinds of rounds. */
#ifndef VERBS_FUZZ_H
#define VERBS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof(*(a)))

/* Of a round, by its seed; a second thread has dice of its own. */
struct dice {
	uint64_t state;
};

void dice_seed(struct dice *d, uint64_t seed);
uint64_t dice(struct dice *d);
/* Below n. */
uint32_t draw(struct dice *d, uint32_t n);
/* Once in n times. */
bool once_in(struct dice *d, uint32_t n);
/* A length, an address, a number that programs get wrong. */
uint32_t odd_number(struct dice *d);

/* Rounds of `steps` calls; what they change is their process's. */
void rings_round(const char *near, const char *far, uint64_t seed,
		 unsigned int steps);
void calls_round(const char *device, uint32_t driver, uint64_t seed,
		 unsigned int steps);

#endif

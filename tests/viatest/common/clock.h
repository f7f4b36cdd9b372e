/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Times, beside now_ns() and sleep_ns(). */
#ifndef TESTS_CLOCK_H
#define TESTS_CLOCK_H

#include <stdint.h>
#include "common/msg.h"

#define MS	1000000ull	/* ns */

static inline uint64_t now_ms(void)
{
	return now_ns() / MS;
}

static inline void sleep_ms(uint32_t ms)
{
	sleep_ns(ms * MS);
}

/* Since now_ns() was @begin. */
static inline double ms_since(uint64_t begin)
{
	return (double)(now_ns() - begin) / MS;
}

/* The one of n times than which @rank are less. */
uint64_t time_of_rank(const uint64_t *ns, uint32_t n, uint32_t rank);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_TIMEOUT_H
#define VIPL_TIMEOUT_H

#include <stdint.h>
#include <time.h>
#include <vipl.h>

/* Nanoseconds; VIPL_FOREVER sleeps without limit. */
#define VIPL_FOREVER	UINT64_MAX

static inline uint64_t vipl_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Both spellings of infinity. */
static inline int vipl_forever(VIP_ULONG ms)
{
	return ms == VIP_INFINITE || ms == 0xffffffffu;
}

/* A call's milliseconds, for who counts from its own now on. */
static inline uint64_t vipl_ns(VIP_ULONG ms)
{
	const uint64_t most = (VIPL_FOREVER - 1) / 1000000u;
	uint64_t n = ms;	/* VIP_ULONG may have 32 bits */

	if (vipl_forever(ms))
		return VIPL_FOREVER;
	return n > most ? VIPL_FOREVER - 1 : n * 1000000u;
}

/* When a call's milliseconds are over. */
static inline uint64_t vipl_deadline(VIP_ULONG ms)
{
	uint64_t now, ns = vipl_ns(ms);

	if (ns == VIPL_FOREVER)
		return VIPL_FOREVER;
	now = vipl_now();
	return ns < VIPL_FOREVER - 1 - now ? now + ns : VIPL_FOREVER - 1;
}

static inline uint64_t vipl_left(uint64_t deadline)
{
	uint64_t now;

	if (deadline == VIPL_FOREVER)
		return VIPL_FOREVER;
	now = vipl_now();
	return now < deadline ? deadline - now : 0;
}

#endif /* VIPL_TIMEOUT_H */

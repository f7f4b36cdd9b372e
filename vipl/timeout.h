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

/* When a call's milliseconds are over. */
static inline uint64_t vipl_deadline(VIP_ULONG ms)
{
	uint64_t now;

	if (vipl_forever(ms))
		return VIPL_FOREVER;
	now = vipl_now();
	if (ms > (VIPL_FOREVER - 1 - now) / 1000000u)
		return VIPL_FOREVER - 1;
	return now + ms * (uint64_t)1000000u;
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

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Print how fast this machine's time stamp counter runs, in kHz.
 *
 * An emulated guest reads the host's counter, and finds its speed at boot by
 * emulated timers.  Where QEMU is not run for some milliseconds at that moment
 * the guest takes it for several times slower than it is, and its clock then
 * runs as much too fast.  So it is told.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define SPAN_NS		50000000ull

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* A pair that was read with nothing in between: the closest of some. */
static void look(uint64_t *ns, uint64_t *tsc)
{
	uint64_t best = UINT64_MAX, a, b, t;
	int i;

	for (i = 0; i < 50; i++) {
		a = __rdtsc();
		t = now_ns();
		b = __rdtsc();
		if (b - a < best) {
			best = b - a;
			*ns = t;
			*tsc = a + (b - a) / 2;
		}
	}
}

int main(void)
{
	struct timespec span = { 0, SPAN_NS };
	uint64_t ns[2], tsc[2];

	look(&ns[0], &tsc[0]);
	nanosleep(&span, NULL);
	look(&ns[1], &tsc[1]);
	printf("%llu\n", (unsigned long long)
	       ((tsc[1] - tsc[0]) * 1000000 / (ns[1] - ns[0])));
	return 0;
}

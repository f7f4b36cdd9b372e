// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "regress.h"
#include <sched.h>
#include <stdlib.h>

uint32_t dice(uint32_t below)
{
	static __thread uint64_t x = 0x9e3779b97f4a7c15ull;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	return ((x * 0x2545f4914f6cdd1dull >> 32) * below) >> 32;
}

void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/* With one CPU there is nothing to choose. */
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

pthread_t start(void *(*f)(void *arg), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, arg))
		die("no thread");
	return t;
}

static void *intruding(void *arg)
{
	struct sched_param rt = { .sched_priority = 10 };
	struct intruder *in = arg;
	uint64_t until;

	pin(in->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt))
		die("no real-time priority");
	while (!over(&in->stop)) {
		sleep_ns(dice(in->gap_us) * 1000ull);
		until = now_ns() + in->spin_us * 1000ull;
		while (now_ns() < until)
			;
	}
	return NULL;
}

void intrude(struct intruder *in)
{
	in->stop = false;
	in->thread = start(intruding, in);
}

void intruder_end(struct intruder *in)
{
	end(&in->stop);
	pthread_join(in->thread, NULL);
}

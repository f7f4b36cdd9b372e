// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "regress.h"

static void *intruding(void *arg)
{
	struct intruder *in = arg;
	uint64_t until;

	thread_pin(in->cpu);
	thread_realtime();
	while (!load_acquire(&in->stop)) {
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
	in->thread = thread_start(intruding, in);
}

void intruder_end(struct intruder *in)
{
	store_release(&in->stop, true);
	pthread_join(in->thread, NULL);
}

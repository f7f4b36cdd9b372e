// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "thread.h"
#include "common/msg.h"
#include <sched.h>
#include <stdlib.h>

pthread_t thread_start(void *(*f)(void *arg), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, arg))
		die("no thread");
	return t;
}

void threads_run(void *(*f)(void *number), uint32_t n)
{
	pthread_t *t = xcalloc(n, sizeof(*t));
	uint32_t i;

	for (i = 0; i < n; i++)
		t[i] = thread_start(f, (void *)(uintptr_t)i);
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

void thread_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

void thread_realtime(void)
{
	struct sched_param rt = { .sched_priority = 10 };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &rt))
		die("no real-time priority");
}

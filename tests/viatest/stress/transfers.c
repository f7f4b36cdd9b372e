// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An ordinary run: transfers of several threads, and their sum. */
#include "stress.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define REPORT_S	5

struct worker {
	pthread_t thread;
	struct client c;
	uint32_t id, messages;
	struct result r;
	struct breaks b;
	int ret;
};

static uint32_t progress;

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t seed = args.seed + w->id * 7919;

	if (stress_args.may_break)
		w->ret = client_run_on(&w->c, w->messages, seed, &progress,
				       &w->r, &w->b);
	else
		w->ret = client_run(&w->c, w->messages, seed, &progress, &w->r);
	return NULL;
}

static int begin(struct worker *w)
{
	uint32_t i;

	for (i = 0; i < args.threads; i++) {
		w[i].id = i;
		w[i].messages = args.count / args.threads +
				(i < args.count % args.threads);
		if (client_open(&w[i].c))
			return -1;
	}
	return 0;
}

/* The threads to their ends, with a word now and then. */
static void run(struct worker *w)
{
	struct timespec t;
	uint32_t i;

	for (i = 0; i < args.threads; i++)
		w[i].thread = thread_start(work, &w[i]);
	clock_gettime(CLOCK_REALTIME, &t);
	for (i = 0; i < args.threads; i++) {
		t.tv_sec += REPORT_S;
		while (pthread_timedjoin_np(w[i].thread, NULL, &t)) {
			printf("viatest stress: %u of %u\n",
			       load_acquire(&progress), args.count);
			t.tv_sec += REPORT_S;
		}
	}
}

/* All of them as one: client, result and breaks. */
static struct worker sum_up(const struct worker *w)
{
	struct worker sum = { .ret = 0 };
	uint32_t i;

	for (i = 0; i < args.threads; i++) {
		sum.r.passed += w[i].r.passed;
		sum.r.failed += w[i].r.failed;
		sum.r.lost += w[i].r.lost;
		sum.c.reads += w[i].c.reads;
		sum.b.count += w[i].b.count;
		if (w[i].b.told_ms > sum.b.told_ms)
			sum.b.told_ms = w[i].b.told_ms;
		sum.ret |= w[i].ret;
	}
	/* Only an unreliable level may lose, and even it not all. */
	if (stress_args.level != VIP_SERVICE_UNRELIABLE) {
		sum.r.failed += sum.r.lost;
		sum.r.lost = 0;
	}
	if (!sum.r.passed)
		sum.r.failed += !sum.r.failed;
	return sum;
}

static void report(const struct worker *sum, uint64_t ms)
{
	if (stress_args.reads)
		printf("viatest stress: %llu of the operations were reads\n",
		       (unsigned long long)sum->c.reads);
	if (stress_args.may_break)
		printf("viatest stress: %u connections were lost, the server knew of each %u ms later at most\n",
		       sum->b.count, sum->b.told_ms);
	printf("viatest stress: seed %llu, %llu lost, %llu ms\n",
	       (unsigned long long)args.seed, (unsigned long long)sum->r.lost,
	       (unsigned long long)ms);
	printf("%llu passed, %llu failed\n",
	       (unsigned long long)sum->r.passed,
	       (unsigned long long)sum->r.failed);
}

/* Frames for the server's interface meanwhile. */
static int throw_garbage(struct garbage *g, const struct nic *nic)
{
	union net_addr to;

	peer_address(&to, nic);
	if (to.a.HostAddressLen != 6)
		return -1;
	return garbage_start(g, stress_args.garbage, to.a.HostAddress);
}

int run_transfers(void)
{
	struct worker *w = xcalloc(args.threads, sizeof(*w)), sum;
	uint64_t start = now_ms(), ms;
	struct garbage g;
	uint32_t i;

	if (begin(w) || (stress_args.garbage && throw_garbage(&g, &w->c.nic)))
		return 1;
	run(w);
	ms = now_ms() - start;
	if (stress_args.garbage) {
		garbage_stop(&g);
		printf("viatest stress: %llu malformed frames thrown\n",
		       (unsigned long long)g.thrown);
	}
	for (i = 0; i < args.threads; i++)
		client_close(&w[i].c);
	sum = sum_up(w);
	free(w);
	report(&sum, ms);
	return sum.ret || sum.r.failed;
}

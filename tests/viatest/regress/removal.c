// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The NIC goes away, by detaching its interface, beside calls that need no
 * live handle; and the time that this takes with many handles open.
 */
#include "regress.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define VIS	4u

struct asker {
	int fd;
	uint32_t kind;
	bool stop;
	uint64_t calls;
};

static void *asking(void *arg)
{
	struct via_stat stat[128];
	struct asker *a = arg;

	thread_pin(1);
	while (!load_acquire(&a->stop)) {
		struct via_stats s = {
			.kind = a->kind,
			.count = 128,
			.stats = (uintptr_t)stat,
			.id = a->kind == VIA_STATS_VI ? dice(VIS) : 0,
		};

		ioctl(a->fd, VIA_IOC_STATS, &s);
		a->calls++;
	}
	return NULL;
}

/* One handle was shut down, so that removal passes it over; one has VIs. */
int run_stats(void)
{
	struct intruder in = { .cpu = 1, .gap_us = 3000, .spin_us = 60000 };
	uint32_t n, i;
	struct asker asker[2];
	struct handle shut, live;
	pthread_t t[2];
	uint64_t calls = 0;

	thread_pin(0);
	for (n = 0; n < args.count; n++) {
		handle_open(&shut, args.device);
		handle_open(&live, args.device);
		for (i = 0; i < VIS; i++)
			vi_new(&live, MOST_BYTES, 0);
		ioctl(shut.fd, VIA_IOC_SHUTDOWN);
		for (i = 0; i < 2; i++) {
			asker[i] = (struct asker){
				.fd = shut.fd,
				.kind = i ? VIA_STATS_VI : VIA_STATS_NIC,
			};
			t[i] = thread_start(asking, &asker[i]);
		}
		sleep_ms(1);
		intrude(&in);
		sleep_ns(dice(4000) * 1000);
		detach();
		intruder_end(&in);
		for (i = 0; i < 2; i++) {
			store_release(&asker[i].stop, true);
			pthread_join(t[i], NULL);
			calls += asker[i].calls;
		}
		handle_close(&shut);
		handle_close(&live);
		attach();
	}
	printf("detaches %u calls %llu\n", n, (unsigned long long)calls);
	return calls < n;
}

#define ASKED	32u		/* requests of a round */

static struct handle server[2];		/* [0] is shut down */
static uint32_t taken[ASKED], waiting;	/* waiting: atomic */

/* On the first handle, which is shut down as soon as it is matched. */
static void *matched(void *arg)
{
	struct via_conn_wait w;

	thread_pin(1);
	fetch_add(&waiting, 1);
	await(&server[0], "ends", 20000000000ull, &w);
	return arg;
}

static void *rejecting(void *arg)
{
	struct via_conn_reject r = { 0 };
	uint32_t i;

	thread_pin(1);
	for (i = 0; i < ASKED; i++) {
		r.conn = taken[i];
		if (r.conn)
			ioctl(server[1].fd, VIA_IOC_CONN_REJECT, &r);
	}
	return arg;
}

/* Requests come from the peer's interface: answers go out as frames. */
static void requests(struct handle *client, const char *disc, uint32_t tries)
{
	struct via_conn_request r;
	uint32_t i, n;

	for (i = 0; i < ASKED; i++) {
		r = to_ask(vi_new(client, MOST_BYTES, 0).vi, VIA_FOREVER,
			   "client", &server[0], disc);
		n = tries;
		do {
			if (ask(client, VIA_IOC_CONN_REQUEST, &r))
				die("a request is not taken");
			if (n > 1)
				sleep_ns(300000);
		} while (--n && verdict(client, r.vi, VIA_CONN_NOWAIT) ==
			 VIA_R_NO_MATCH);
	}
}

static uint32_t take_all(void)
{
	struct via_conn_wait w;
	uint32_t i, n = 0;

	for (i = 0; i < ASKED; i++) {
		taken[i] = await(&server[1], "rejected", 100000000, &w) ? 0 :
			   w.conn;
		n += !!taken[i];
	}
	return n;
}

static void *asking_first(void *arg)
{
	/* One waiter takes them all: some come too early. */
	requests(arg, "rejected", 20);
	return arg;
}

static uint32_t answered(uint32_t spin_us)
{
	struct intruder in = { .cpu = 1, .gap_us = 400, .spin_us = spin_us };
	pthread_t t[ASKED + 1], asker;
	struct handle client;
	uint32_t i, n;

	handle_open(&server[0], args.device);
	handle_open(&server[1], args.device);
	handle_open(&client, args.peer);
	asker = thread_start(asking_first, &client);
	n = take_all();
	pthread_join(asker, NULL);
	waiting = 0;
	for (i = 0; i < ASKED; i++)
		t[i] = thread_start(matched, NULL);
	while (load_acquire(&waiting) < ASKED)
		sleep_ns(100000);
	sleep_ms(2);
	/* They have no CPU to end on until all is under way. */
	intrude(&in);
	requests(&client, "ends", 1);
	t[ASKED] = thread_start(rejecting, NULL);
	ioctl(server[0].fd, VIA_IOC_SHUTDOWN);
	detach();
	intruder_end(&in);
	for (i = 0; i <= ASKED; i++)
		pthread_join(t[i], NULL);
	handle_close(&client);
	handle_close(&server[0]);
	handle_close(&server[1]);
	attach();
	return n;
}

int run_answers(void)
{
	uint32_t n, requests = 0;

	thread_pin(0);
	for (n = 0; n < args.count; n++)
		requests += answered(1000 + dice(30000));
	printf("detaches %u rejects %u\n", n, requests);
	return !requests;
}

/* Many handles */

#define TRIES		20u
#define FEW		5u
#define ALLOWED_NS	100000000ull
#define TIMES		5u
#define EVERY		16u		/* handle has a VI */

static uint64_t detach_with(uint32_t handles)
{
	struct handle *h = xcalloc(handles, sizeof(*h));
	uint64_t ns;
	uint32_t i;

	for (i = 0; i < handles; i++) {
		handle_open(&h[i], args.device);
		if (i % EVERY == 0)
			vi_new(&h[i], MOST_BYTES, 0);
	}
	ns = detach();
	for (i = 0; i < handles; i++)
		handle_close(&h[i]);
	free(h);
	attach();
	return ns;
}

/* The least of a few: a busy host makes it longer, never shorter. */
int run_crowd(void)
{
	uint32_t handles = args.count, i;
	struct rlimit files = { handles + 64, handles + 64 };
	uint64_t ns, one = ~0ull, all = ~0ull, allowed = ALLOWED_NS;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die("RLIMIT_NOFILE: %s", strerror(errno));
	for (i = 0; i < FEW; i++) {
		ns = detach_with(1);
		one = ns < one ? ns : one;
	}
	if (TIMES * one > allowed)
		allowed = TIMES * one;
	for (i = 0; i < TRIES && all > allowed; i++) {
		ns = detach_with(handles);
		all = ns < all ? ns : all;
	}
	printf("handles %u one_ms %.1f all_ms %.1f\n", handles, one / 1e6,
	       all / 1e6);
	if (all <= allowed)
		return 0;
	warn_msg("detaching takes %.0f ms with %u handles, %.0f with one",
		 all / 1e6, handles, one / 1e6);
	return 1;
}

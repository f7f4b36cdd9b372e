// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two threads of one NIC: one sleeps in a wait for connections, the other polls,
 * and takes from the sockets what was to wake the first. Then it sleeps, too:
 * the next message has to wake one of them.
 */
#include "tests.h"
#include "end.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define POLL_NS		5000000u	/* long enough for a look at sockets */
#define CALM_US		30000u		/* until all others sleep */
#define LATE_MS		2000u

static struct end ends[2];
static int rounds_of;
static cpu_set_t cpu;

/* Both on one CPU, the sleeper behind all others: it comes when all is taken. */
static void on_one_cpu(int policy)
{
	struct sched_param p = { 0 };

	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	pthread_setschedparam(pthread_self(), policy, &p);
}

static void *sleeper(void *arg)
{
	VIP_VI_ATTRIBUTES attrs;
	VIP_CONN_HANDLE conn;
	union address a, from;
	VIP_RETURN r;

	(void)arg;
	on_one_cpu(SCHED_IDLE);
	address(&ends[1], &a, "never");
	r = VipConnectWait(ends[1].nic, &a.a, VIP_INFINITE, &from.a, &attrs,
			   &conn);
	must("VipConnectWait", r, VIP_SUCCESS);
	VipConnectReject(conn);
	return NULL;
}

static void *serve(void *arg)
{
	uint64_t until;
	VIP_DESCRIPTOR *d;
	uint32_t i;

	(void)arg;
	on_one_cpu(SCHED_OTHER);
	OK(accept_on(&ends[1], ends[1].vi, "wake", 10000));
	for (i = 0; i < 2 * (uint32_t)rounds_of; i += 2) {
		while (VipRecvDone(ends[1].vi, &d) == VIP_NOT_DONE)
			;
		until = now_ns() + POLL_NS;
		while (now_ns() < until)
			VipRecvDone(ends[1].vi, &d);
		OK(post_recv(&ends[1], i));
		OK(post_send(&ends[1], i, 4));
		OK(VipSendWait(ends[1].vi, VIP_INFINITE, &d));
		OK(VipRecvWait(ends[1].vi, LATE_MS, &d));
		OK(post_recv(&ends[1], i + 1));
		OK(post_send(&ends[1], i + 1, 4));
		OK(VipSendWait(ends[1].vi, VIP_INFINITE, &d));
	}
	return NULL;
}

static void message(uint32_t i)
{
	VIP_DESCRIPTOR *d;

	usleep(CALM_US);
	OK(post_send(&ends[0], i, 4));
	OK(VipSendWait(ends[0].vi, VIP_INFINITE, &d));
	OK(VipRecvWait(ends[0].vi, 2 * LATE_MS, &d));
	OK(post_recv(&ends[0], i));
}

/* It waits for good: a request ends that, and is rejected. */
static void end_sleeper(void)
{
	VIP_VI_HANDLE vi = ends[0].vi;

	end_vi(&ends[0]);
	must("VipConnectRequest",
	     connect_to(&ends[0], ends[0].vi, "never", 5000),
	     VIP_REJECT);
	OK(VipDestroyVi(ends[0].vi));
	ends[0].vi = vi;
}

int test_wake(int rounds)
{
	pthread_t server, idle;
	uint32_t i, k;

	rounds_of = rounds;
	CPU_ZERO(&cpu);
	CPU_SET(sched_getcpu(), &cpu);
	for (i = 0; i < 2; i++) {
		end_open(&ends[i]);
		end_vi(&ends[i]);
		for (k = 0; k < SLOTS; k++)
			OK(post_recv(&ends[i], k));
	}
	if (pthread_create(&server, NULL, serve, NULL))
		fail("pthread_create", 0);
	OK(connect_to(&ends[0], ends[0].vi, "wake", 10000));
	if (pthread_create(&idle, NULL, sleeper, NULL))
		fail("pthread_create", 0);
	for (i = 0; i < 2 * (uint32_t)rounds; i++)
		message(i);
	pthread_join(server, NULL);
	end_sleeper();
	pthread_join(idle, NULL);
	for (i = 0; i < 2; i++) {
		OK(VipDisconnect(ends[i].vi));
		end_close(&ends[i]);
	}
	return 0;
}

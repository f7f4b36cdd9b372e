// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A region that is deregistered while a stopped peer may still read from it:
 * the connection to that peer ends, those to others live on, and what other
 * threads deregister meanwhile waits for nothing.
 */
#include "tests.h"
#include "end.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG		50000u		/* bytes: they are pulled */
#define SOON_NS		2000000000u
#define MIDST_US	300000u		/* the other thread is at it by then */
#define WAIT_MS		20000

static struct end end;			/* of the program that deregisters */
static VIP_VI_HANDLE well, ill;
static volatile int over;
static volatile VIP_RETURN hurt;
static volatile long sent;
static volatile long *taken;		/* by the healthy peer: a receive is free */
static uint64_t took;			/* ns, of the deregistration */

/* Receives until the connection ends; the one is stopped before that. */
static void peer(const char *disc, int stops)
{
	VIP_DESCRIPTOR *d;
	struct end e;
	uint32_t i;

	end_serve(&e, disc);
	if (stops)
		raise(SIGSTOP);
	for (i = 0; VipRecvWait(e.vi, VIP_INFINITE, &d) == VIP_SUCCESS; i++)
		if (post_recv(&e, i) == VIP_SUCCESS)
			++*taken;
	_exit(0);
}

static pid_t spawn(const char *disc, int stops)
{
	pid_t pid = fork();

	if (!pid)
		peer(disc, stops);
	return pid;
}

/* Messages that the healthy peer pulls, all the time. */
static void *sender(void *arg)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;

	(void)arg;
	while (!over) {
		/* The peer has a receive for it, however slow it is. */
		if (sent - *taken >= (long)SLOTS) {
			sched_yield();
			continue;
		}
		r = post_send(&end, 0, BIG);
		if (r == VIP_SUCCESS)
			r = VipSendWait(well, WAIT_MS, &d);
		if (r != VIP_SUCCESS) {
			hurt = r;
			return NULL;
		}
		sent++;
	}
	return NULL;
}

struct region {
	uint8_t *at;
	VIP_MEM_HANDLE h;
};

static struct region make(void)
{
	struct region r = { aligned_alloc(4096, 65536), 0 };

	if (!r.at)
		fail("no memory", 0);
	memset(r.at, 1, 65536);
	OK(VipRegisterMem(end.nic, r.at, 65536, NULL, &r.h));
	return r;
}

static void *drop(void *arg)
{
	struct region *r = arg;
	uint64_t start = now_ns();

	OK(VipDeregisterMem(end.nic, r->at, r->h));
	took = now_ns() - start;
	return NULL;
}

static void send_from(const struct region *r)
{
	VIP_DESCRIPTOR *d = desc_of(&end, 1, 1);

	memset(d, 0, sizeof(*d));
	d->Control.SegCount = 1;
	d->Control.Length = BIG;
	d->Data[0].Data.Address = r->at;
	d->Data[0].Handle = r->h;
	d->Data[0].Length = BIG;
	OK(VipPostSend(ill, d, end.mem_h));
}

/* While the one thread waits: another region goes, and one is changed. */
static void meanwhile(struct region *other)
{
	VIP_MEM_ATTRIBUTES m = { NULL, VIP_FALSE, VIP_FALSE };
	uint64_t start = now_ns();

	OK(VipSetMemAttributes(end.nic, other->at, other->h, &m));
	OK(VipDeregisterMem(end.nic, other->at, other->h));
	if (now_ns() - start > SOON_NS)
		fail("another region's deregistration waits, ms",
		     (long)((now_ns() - start) / 1000000));
}

int test_dereg(int rounds)
{
	pid_t healthy, stopped;
	struct region held, other;
	pthread_t talks, drops;
	long before;
	int status;

	(void)rounds;
	taken = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	healthy = spawn("healthy", 0);
	stopped = spawn("stopped", 1);
	end_open(&end);
	end_vi(&end);
	ill = end.vi;
	OK(connect_to(&end, ill, "stopped", WAIT_MS));
	end_vi(&end);
	well = end.vi;
	OK(connect_to(&end, well, "healthy", WAIT_MS));
	waitpid(stopped, &status, WUNTRACED);
	held = make();
	other = make();
	send_from(&held);
	if (pthread_create(&talks, NULL, sender, NULL) ||
	    pthread_create(&drops, NULL, drop, &held))
		fail("pthread_create", 0);
	usleep(MIDST_US);
	before = sent;
	meanwhile(&other);
	pthread_join(drops, NULL);
	over = 1;
	pthread_join(talks, NULL);
	kill(stopped, SIGKILL);
	waitpid(stopped, NULL, 0);
	if (hurt)
		fail("the connection to a healthy peer ends", hurt);
	if (sent == before)
		fail("nothing is sent meanwhile", sent);
	if (took < SOON_NS)
		fail("the peer was not waited for", (long)took);
	VipDisconnect(well);
	waitpid(healthy, NULL, 0);
	end_close(&end);
	free(held.at);
	free(other.at);
	printf("given up after %llu ms, %ld messages to another peer meanwhile\n",
	       (unsigned long long)took / 1000000, sent - before);
	return 0;
}

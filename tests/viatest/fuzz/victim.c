// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that minds its own business on the NIC under attack: two VIs of
 * its own, messages between them, and pages round the buffers, registered and
 * open to RDMA, whose handle no other process has been given.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "common/memory.h"
#include "common/proc.h"
#include "common/twins.h"
#include "fuzz.h"

#define PAGE		4096u
#define BODY		(4 * PAGE)	/* of a buffer, between two canaries */
#define CANARY		0xa5

struct area {
	uint8_t *mem;			/* canary, descriptors, canary, ... */
	VIP_MEM_HANDLE handle;
};

static struct score *score;

static void wrong(const char *what, unsigned long value)
{
	score_wrong(score);
	fprintf(stderr, "viatest fuzz: the victim: %s (%#lx)\n", what, value);
	_exit(3);
}

static void must(const char *what, VIP_RETURN rc)
{
	if (rc != VIP_SUCCESS)
		wrong(what, rc);
}

static void canaries(const struct area *a)
{
	static const unsigned int pages[] = { 0, 2, 7 };
	unsigned int p, i;

	for (p = 0; p < 3; p++)
		for (i = pages[p] * PAGE; i < (pages[p] + 1) * PAGE; i++)
			if (a->mem[i] != CANARY)
				wrong("a canary has changed, offset", i);
}

/* Page 0 canary, 1 descriptors, 2 canary, 3..6 the buffer, 7 canary. */
static void area_make(const struct twins *t, struct area *a)
{
	a->mem = memory_new(8 * PAGE);
	memset(a->mem, CANARY, 8 * PAGE);
	a->handle = twins_register(t, a->mem, 8 * PAGE);
}

static VIP_DESCRIPTOR *describe(struct area *a, VIP_ULONG len)
{
	return twins_describe(a->mem + PAGE, (uintptr_t)a->mem + 3 * PAGE,
			      a->handle, len);
}

static void message(const struct twins *t, unsigned int from, struct area *tx,
		    struct area *rx, uint64_t n)
{
	uint8_t *out = tx->mem + 3 * PAGE, *in = rx->mem + 3 * PAGE;
	struct rng r = { n };
	VIP_ULONG len = 1 + rng_below(&r, BODY), i;
	VIP_DESCRIPTOR *d;

	for (i = 0; i < len; i++)
		out[i] = n + i * 7;
	memset(in, CANARY, BODY);
	d = twins_carry(t, from, describe(tx, len), tx->handle,
			describe(rx, BODY), rx->handle);
	if (d->Control.Length != len)
		wrong("another length", d->Control.Length);
	for (i = 0; i < len; i++)
		if (in[i] != (uint8_t)(n + i * 7))
			wrong("other bytes, offset", i);
	for (; i < BODY; i++)
		if (in[i] != CANARY)
			wrong("bytes behind the message, offset", i);
	canaries(tx);
	canaries(rx);
}

static void work(const char *device)
{
	/* The attacker knows this discriminator no better than any other. */
	struct twins t = { .must = must, .disc = "victim_", .rdma = VIP_TRUE };
	struct area area[2];
	uint64_t n;

	twins_open(&t, device);
	area_make(&t, &area[0]);
	area_make(&t, &area[1]);
	must("a connection", twins_join(&t, TWINS_MS));
	for (n = 0; !score_stop(score); n++) {
		message(&t, n & 1, &area[n & 1], &area[~n & 1], n);
		__atomic_add_fetch(&score->messages, 1, __ATOMIC_RELAXED);
		/* It is to be there, not to take the CPU from the others. */
		usleep(1000);
	}
	twins_part(&t);
	must("VipCloseNic", VipCloseNic(t.nic));
}

pid_t victim(const char *device, struct score *shared)
{
	pid_t pid = proc_fork();
	unsigned int i;

	score = shared;
	if (!pid) {
		work(device);
		_exit(0);
	}
	/* It is to have its VIs before there are none left. */
	for (i = 0; i < 3000 && !score->messages && !score->wrong; i++)
		usleep(10000);
	return pid;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Short messages, which have ways of their own: every length around the
 * longest of them, at the ends of a region, around the ring more than once;
 * and what a region that is not there any more, or too short, does to one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "end.h"
#include "tests.h"

#define LONGEST	40u		/* bytes; 32 go in one line of a ring */
#define PAGE	4096u

static struct end ends[2];
static uint8_t *edge[2];	/* regions of a page, data at their end */
static VIP_MEM_HANDLE edge_h[2];

static void *serve(void *arg)
{
	(void)arg;
	OK(accept_on(&ends[1], ends[1].vi, "short", 10000));
	return NULL;
}

static void meet(void)
{
	pthread_t server;
	int i;

	for (i = 0; i < 2; i++)
		end_vi(&ends[i]);
	if (pthread_create(&server, NULL, serve, NULL))
		fail("pthread_create", 0);
	OK(connect_to(&ends[0], ends[0].vi, "short", 10000));
	pthread_join(server, NULL);
}

static void part(void)
{
	VIP_DESCRIPTOR *d;
	int i;

	for (i = 0; i < 2; i++)
		OK(VipDisconnect(ends[i].vi));
	for (i = 0; i < 2; i++) {
		do
			VipSendDone(ends[i].vi, &d);
		while (d);
		do
			VipRecvDone(ends[i].vi, &d);
		while (d);
		OK(VipDestroyVi(ends[i].vi));
	}
}

/* Slot i of the queue (0 receives), its data at `at` of the edge. */
static VIP_DESCRIPTOR *describe(int end, int queue, unsigned int i,
				int32_t at, uint32_t len)
{
	VIP_DESCRIPTOR *d = desc_of(&ends[end], queue, i);

	memset(d, 0, sizeof(*d));
	d->Control.SegCount = 1;
	d->Control.Length = len;
	d->Data[0].Data.Address = edge[end] + at;
	d->Data[0].Handle = edge_h[end];
	d->Data[0].Length = len;
	return d;
}

static VIP_RETURN recv_one(int end, VIP_DESCRIPTOR **d)
{
	uint64_t late = now_ns() + 10000000000ull;
	VIP_RETURN r;

	do
		r = VipRecvDone(ends[end].vi, d);
	while (r == VIP_NOT_DONE && now_ns() < late);
	return r;
}

static void one(unsigned int seq, uint32_t len)
{
	int to = seq & 1, from = !to;
	uint8_t *in = edge[to] + PAGE - LONGEST, *out = edge[from];
	VIP_DESCRIPTOR *d;
	uint32_t i;

	/* Received at the end of the region, sent from it. */
	memset(in, 0xa5, LONGEST);
	OK(VipPostRecv(ends[to].vi, describe(to, 0, seq, (int32_t)(PAGE - len),
						len),
		       ends[to].mem_h));
	pattern(out + PAGE - len, len, seq);
	OK(VipPostSend(ends[from].vi, describe(from, 1, seq,
						  (int32_t)(PAGE - len), len),
		       ends[from].mem_h));
	OK(VipSendDone(ends[from].vi, &d));
	if (d != desc_of(&ends[from], 1, seq) || d->Control.Length != len)
		fail("another send completes", seq);
	OK(recv_one(to, &d));
	if (d != desc_of(&ends[to], 0, seq) || d->Control.Length != len ||
	    d->Control.Status != (VIP_STATUS_OP_RECEIVE | VIP_STATUS_DONE))
		fail("another receive completes", seq);
	if (pattern_bad(in + LONGEST - len, len, seq))
		fail("bytes of a message are others, length", len);
	for (i = 0; i < LONGEST - len; i++)
		if (in[i] != 0xa5)
			fail("bytes before a message are written", len);
}

/* A receive whose region goes between its post and the message. */
static void region_goes(void)
{
	VIP_DESCRIPTOR *d;

	meet();
	one(1, 4);
	one(3, 4);
	OK(VipPostRecv(ends[1].vi, describe(1, 0, 0, 0, 4), ends[1].mem_h));
	OK(VipDeregisterMem(ends[1].nic, edge[1], edge_h[1]));
	OK(VipPostSend(ends[0].vi, describe(0, 1, 0, 0, 4), ends[0].mem_h));
	memset(edge[1], 0xa5, 4);
	if (recv_one(1, &d) != VIP_DESCRIPTOR_ERROR || !d ||
	    !(d->Control.Status & VIP_STATUS_PROTECTION_ERROR))
		fail("a receive without its region", d ? d->Control.Status : 0);
	if (edge[1][0] != 0xa5)
		fail("memory that is not registered is written", 0);
	part();
	OK(VipRegisterMem(ends[1].nic, edge[1], PAGE, NULL, &edge_h[1]));
}

/* A send that ends so many bytes behind its region. */
static void outside(int32_t off, uint32_t len)
{
	int32_t at = (int32_t)(PAGE - len) + off;
	VIP_DESCRIPTOR *d;

	meet();
	one(0, 4);
	one(2, 4);
	OK(VipPostSend(ends[1].vi, describe(1, 1, 0, at, len),
		       ends[1].mem_h));
	if (VipSendDone(ends[1].vi, &d) != VIP_DESCRIPTOR_ERROR || !d ||
	    !(d->Control.Status & VIP_STATUS_PROTECTION_ERROR))
		fail("a send from outside its region", off);
	part();
}

int test_short(int rounds)
{
	uint32_t len;
	int i;

	for (i = 0; i < 2; i++) {
		end_open(&ends[i]);
		/* Registered is the first of two pages. */
		edge[i] = aligned_alloc(PAGE, 2 * PAGE);
		if (!edge[i])
			fail("no memory", 0);
		OK(VipRegisterMem(ends[i].nic, edge[i], PAGE, NULL,
				  &edge_h[i]));
	}
	meet();
	for (i = 0; i < rounds; i++)
		one((unsigned int)i, 1 + (uint32_t)i / 2 % LONGEST);
	part();
	region_goes();
	for (len = 1; len <= 32; len *= 2) {
		outside(1, len);
		outside((int32_t)len, len);
		outside((int32_t)len + 1, len);
	}
	/* Before the region: all of it, and the first byte. */
	outside(-(int32_t)PAGE, 4);
	outside(3 - (int32_t)PAGE, 4);
	for (i = 0; i < 2; i++) {
		end_close(&ends[i]);
		free(edge[i]);
	}
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Many processes and one server, many VIs between two, opening again. */
#include "tests.h"
#include "end.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EACH		200	/* messages of a process */
#define SMALL		64	/* bytes of one */
#define LONG_MS		30000

/* A VI of many: descriptors and data of one message each way. */
struct small {
	VIP_VI_HANDLE vi;
	struct {
		_Alignas(64) uint8_t desc[64];
		uint8_t data[SMALL];
	} m[2];
};

static struct small *small_new(struct end *e, int count, VIP_MEM_HANDLE *h)
{
	struct small *s = aligned_alloc(64, (size_t)count * sizeof(*s));

	if (!s)
		fail("no memory", count);
	memset(s, 0, (size_t)count * sizeof(*s));
	OK(VipRegisterMem(e->nic, s, (size_t)count * sizeof(*s), NULL, h));
	return s;
}

static VIP_DESCRIPTOR *small_desc(struct small *s, int queue, VIP_MEM_HANDLE h)
{
	VIP_DESCRIPTOR *d = (VIP_DESCRIPTOR *)s->m[queue].desc;

	memset(d, 0, 64);
	d->Control.SegCount = 1;
	d->Control.Length = SMALL;
	d->Data[0].Data.Address = s->m[queue].data;
	d->Data[0].Handle = h;
	d->Data[0].Length = SMALL;
	return d;
}

static void small_vi(struct end *e, struct small *s, VIP_CQ_HANDLE cq)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, MSG_MAX, NULL,
				NULL, VIP_FALSE, VIP_FALSE };

	OK(VipCreateVi(e->nic, &a, NULL, cq, &s->vi));
}

static void crowd_client(int number)
{
	struct end e;
	uint32_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	end_open(&e);
	end_vi(&e);
	OK(post_recv(&e, 0));
	OK(connect_to(&e, e.vi, "crowd", LONG_MS));
	for (i = 0; i < EACH; i++) {
		VIP_DESCRIPTOR *d;

		pattern(data_of(&e, 1, i), SMALL, i + (uint32_t)number);
		OK(post_send(&e, i, SMALL));
		OK(VipSendWait(e.vi, LONG_MS, &d));
		OK(VipRecvWait(e.vi, LONG_MS, &d));
		if (pattern_bad(data_of(&e, 0, i), SMALL,
				i + (uint32_t)number))
			fail("other bytes", (long)i);
		OK(post_recv(&e, i + 1));
	}
	VipDisconnect(e.vi);
	_exit(0);
}

/* Echo what the CQ tells of. */
static void echo_all(struct small *s, int count, VIP_CQ_HANDLE cq,
		     VIP_MEM_HANDLE h, long messages)
{
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;
	int i;

	while (messages) {
		OK(VipCQWait(cq, LONG_MS, &vi, &recv));
		for (i = 0; i < count && s[i].vi != vi; i++)
			;
		/* A receive that its client did not need: it has left. */
		if (VipRecvDone(vi, &d) == VIP_DESCRIPTOR_ERROR)
			continue;
		messages--;
		memcpy(s[i].m[1].data, s[i].m[0].data, SMALL);
		OK(VipPostRecv(vi, small_desc(&s[i], 0, h), h));
		OK(VipPostSend(vi, small_desc(&s[i], 1, h), h));
		OK(VipSendWait(vi, LONG_MS, &d));
	}
}

int test_crowd(int count)
{
	struct small *s;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	uint64_t start, met;
	struct end e;
	int i, status;

	for (i = 0; i < count; i++)
		if (!fork())
			crowd_client(i);
	start = now_ns();
	end_open(&e);
	s = small_new(&e, count, &h);
	OK(VipCreateCQ(e.nic, (VIP_ULONG)count * 4, &cq));
	for (i = 0; i < count; i++) {
		small_vi(&e, &s[i], cq);
		OK(VipPostRecv(s[i].vi, small_desc(&s[i], 0, h), h));
		OK(accept_on(&e, s[i].vi, "crowd", LONG_MS));
	}
	met = now_ns();
	echo_all(s, count, cq, h, (long)count * EACH);
	printf("%d processes: connected in %llu ms, %d messages each in %llu "
	       "ms\n", count, (unsigned long long)(met - start) / 1000000,
	       EACH, (unsigned long long)(now_ns() - met) / 1000000);
	for (i = 0; i < count; i++)
		if (wait(&status) < 0 || status)
			fail("a client", status);
	end_close(&e);
	free(s);
	return 0;
}

static void many_server(int count)
{
	struct small *s;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	struct end e;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	end_open(&e);
	s = small_new(&e, count, &h);
	OK(VipCreateCQ(e.nic, (VIP_ULONG)count * 2, &cq));
	for (i = 0; i < count; i++) {
		small_vi(&e, &s[i], cq);
		OK(VipPostRecv(s[i].vi, small_desc(&s[i], 0, h), h));
		OK(accept_on(&e, s[i].vi, "many", LONG_MS));
	}
	echo_all(s, count, cq, h, count);
	end_close(&e);
	_exit(0);
}

int test_many(int count)
{
	struct small *s;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	uint64_t start, met;
	struct end e;
	int i, status;

	if (!fork())
		many_server(count);
	start = now_ns();
	end_open(&e);
	s = small_new(&e, count, &h);
	for (i = 0; i < count; i++) {
		small_vi(&e, &s[i], NULL);
		OK(VipPostRecv(s[i].vi, small_desc(&s[i], 0, h), h));
		OK(connect_to(&e, s[i].vi, "many", LONG_MS));
	}
	met = now_ns();
	for (i = 0; i < count; i++) {
		pattern(s[i].m[1].data, SMALL, (uint32_t)i);
		OK(VipPostSend(s[i].vi, small_desc(&s[i], 1, h), h));
	}
	for (i = 0; i < count; i++) {
		OK(VipRecvWait(s[i].vi, LONG_MS, &d));
		if (pattern_bad(s[i].m[0].data, SMALL, (uint32_t)i))
			fail("other bytes", i);
		OK(VipSendWait(s[i].vi, LONG_MS, &d));
	}
	printf("%d VIs: connected in %llu ms, a message each in %llu us\n",
	       count, (unsigned long long)(met - start) / 1000000,
	       (unsigned long long)(now_ns() - met) / 1000);
	wait(&status);
	if (status)
		fail("the server", status);
	end_close(&e);
	free(s);
	return 0;
}

int test_open(int rounds)
{
	uint64_t start, ns, worst = 0, best = UINT64_MAX;
	VIP_NIC_HANDLE nic;
	int i;

	for (i = 0; i < rounds; i++) {
		start = now_ns();
		OK(VipOpenNic((VIP_CHAR *)device, &nic));
		ns = now_ns() - start;
		/* The first one loads the provider. */
		if (!i)
			printf("VipOpenNic: %llu us the first time, ",
			       (unsigned long long)ns / 1000);
		worst = ns > worst ? ns : worst;
		best = ns < best ? ns : best;
		OK(VipCloseNic(nic));
	}
	printf("%llu to %llu us\n", (unsigned long long)best / 1000,
	       (unsigned long long)worst / 1000);
	if (best > 5000000)
		fail("opening takes too long, us", (long)(best / 1000));
	return 0;
}

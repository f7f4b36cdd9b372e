// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "end.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define DESC_BYTES	64u
#define SLOT_BYTES	(DESC_BYTES + MSG_MAX)

const char *device;

void fail(const char *what, long n)
{
	fprintf(stderr, "viashm %d: %s: %ld\n", getpid(), what, n);
	_exit(1);
}

void must(const char *call, VIP_RETURN r, VIP_RETURN want)
{
	if (r != want)
		fail(call, r);
}

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR *e)
{
	struct end *end = context;

	if (e->ErrorCode == VIP_ERROR_CONN_LOST)
		end->lost = 1;
}

void end_open(struct end *e)
{
	size_t size = (2 * SLOTS * SLOT_BYTES + 4095) & ~(size_t)4095;

	memset(e, 0, sizeof(*e));
	OK(VipOpenNic((VIP_CHAR *)device, &e->nic));
	OK(VipErrorCallback(e->nic, e, on_error));
	OK(VipQueryNic(e->nic, &e->attr));
	e->mem = aligned_alloc(4096, size);
	if (!e->mem)
		fail("no memory", 0);
	memset(e->mem, 0, size);
	OK(VipRegisterMem(e->nic, e->mem, size, NULL, &e->mem_h));
}

void end_close(struct end *e)
{
	OK(VipCloseNic(e->nic));
	free(e->mem);
}

void end_vi(struct end *e)
{
	VIP_VI_ATTRIBUTES a = { VIP_SERVICE_RELIABLE_DELIVERY, MSG_MAX, NULL,
				NULL, VIP_FALSE, VIP_FALSE };

	OK(VipCreateVi(e->nic, &a, NULL, NULL, &e->vi));
}

void address(const struct end *e, union address *a, const char *disc)
{
	memset(a, 0, sizeof(*a));
	a->a.HostAddressLen = e->attr.NicAddressLen;
	memcpy(a->a.HostAddress, e->attr.LocalNicAddress,
	       e->attr.NicAddressLen);
	a->a.DiscriminatorLen = strlen(disc);
	memcpy(a->a.HostAddress + a->a.HostAddressLen, disc, strlen(disc));
}

VIP_RETURN connect_to(struct end *e, VIP_VI_HANDLE vi, const char *disc,
		      unsigned int ms)
{
	uint64_t end = now_ns() + ms * 1000000ull;
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_RETURN r;

	address(e, &local, "");
	address(e, &remote, disc);
	do {
		r = VipConnectRequest(vi, &local.a, &remote.a, ms, &theirs);
		if (r == VIP_NO_MATCH)
			usleep(200);
	} while (r == VIP_NO_MATCH && now_ns() < end);
	return r;
}

VIP_RETURN accept_on(struct end *e, VIP_VI_HANDLE vi, const char *disc,
		     VIP_ULONG ms)
{
	union address local, remote;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE c;
	VIP_RETURN r;

	address(e, &local, disc);
	r = VipConnectWait(e->nic, &local.a, ms, &remote.a, &theirs, &c);
	return r == VIP_SUCCESS ? VipConnectAccept(c, vi) : r;
}

void end_serve(struct end *e, const char *disc)
{
	uint32_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	end_open(e);
	end_vi(e);
	for (i = 0; i < SLOTS; i++)
		OK(post_recv(e, i));
	OK(accept_on(e, e->vi, disc, VIP_INFINITE));
}

static uint8_t *slot_of(struct end *e, int queue, unsigned int i)
{
	return e->mem + (queue * SLOTS + i % SLOTS) * (size_t)SLOT_BYTES;
}

VIP_DESCRIPTOR *desc_of(struct end *e, int queue, unsigned int i)
{
	return (VIP_DESCRIPTOR *)slot_of(e, queue, i);
}

uint8_t *data_of(struct end *e, int queue, unsigned int i)
{
	return slot_of(e, queue, i) + DESC_BYTES;
}

static VIP_DESCRIPTOR *fill(struct end *e, int queue, unsigned int i,
			    uint32_t len)
{
	VIP_DESCRIPTOR *d = desc_of(e, queue, i);

	memset(d, 0, DESC_BYTES);
	d->Control.SegCount = 1;
	d->Control.Length = len;
	d->Data[0].Data.Address = data_of(e, queue, i);
	d->Data[0].Handle = e->mem_h;
	d->Data[0].Length = len;
	return d;
}

VIP_RETURN post_recv(struct end *e, unsigned int i)
{
	return VipPostRecv(e->vi, fill(e, 0, i, MSG_MAX), e->mem_h);
}

VIP_RETURN post_send(struct end *e, unsigned int i, uint32_t len)
{
	return VipPostSend(e->vi, fill(e, 1, i, len), e->mem_h);
}

void pattern(uint8_t *p, uint32_t len, uint32_t seq)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)(seq * 31 + i * 7 + (i >> 8));
}

int pattern_bad(const uint8_t *p, uint32_t len, uint32_t seq)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		if (p[i] != (uint8_t)(seq * 31 + i * 7 + (i >> 8)))
			return 1;
	return 0;
}

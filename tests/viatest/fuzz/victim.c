// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that minds its own business on the NIC under attack: two VIs of
 * its own, messages between them, and pages round the buffers, registered and
 * open to RDMA, whose handle no other process has been given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vipl.h>
#include "abi.h"

#define PAGE		4096u
#define BODY		(4 * PAGE)	/* of a buffer, between two canaries */
#define CANARY		0xa5
#define PATIENCE	20000		/* ms */

struct area {
	uint8_t *mem;			/* canary, descriptors, canary, ... */
	VIP_MEM_HANDLE handle;
};

static struct score *score;

static void wrong(const char *what, unsigned long value)
{
	__atomic_store_n(&score->wrong, 1, __ATOMIC_RELEASE);
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
static void area_make(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE tag,
		      struct area *a)
{
	VIP_MEM_ATTRIBUTES attr = { tag, VIP_TRUE, VIP_TRUE };

	a->mem = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a->mem == MAP_FAILED)
		wrong("no memory", 0);
	memset(a->mem, CANARY, 8 * PAGE);
	must("VipRegisterMem", VipRegisterMem(nic, a->mem, 8 * PAGE, &attr,
					      &a->handle));
}

static VIP_DESCRIPTOR *describe(struct area *a, VIP_ULONG len)
{
	VIP_DESCRIPTOR *d = (void *)(a->mem + PAGE);

	memset(d, 0, sizeof(*d));
	d->Control.Control = VIP_CONTROL_OP_SENDRECV;
	d->Control.SegCount = 1;
	d->Control.Length = len;
	d->DS[0].Local.Data.Address = a->mem + 3 * PAGE;
	d->DS[0].Local.Handle = a->handle;
	d->DS[0].Local.Length = len;
	return d;
}

static void message(VIP_VI_HANDLE from, VIP_VI_HANDLE to, struct area *tx,
		    struct area *rx, uint64_t n)
{
	uint8_t *out = tx->mem + 3 * PAGE, *in = rx->mem + 3 * PAGE;
	struct rng r = { n };
	VIP_ULONG len = 1 + rng_below(&r, BODY), i;
	VIP_DESCRIPTOR *d;

	for (i = 0; i < len; i++)
		out[i] = n + i * 7;
	memset(in, CANARY, BODY);
	must("VipPostRecv", VipPostRecv(to, describe(rx, BODY), rx->handle));
	must("VipPostSend", VipPostSend(from, describe(tx, len), tx->handle));
	must("VipSendWait", VipSendWait(from, PATIENCE, &d));
	must("VipRecvWait", VipRecvWait(to, PATIENCE, &d));
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

/* The attacker knows this discriminator no better than any other. */
static void join(VIP_NIC_HANDLE nic, VIP_VI_HANDLE a, VIP_VI_HANDLE b)
{
	union {
		VIP_NET_ADDRESS a;
		uint8_t space[sizeof(VIP_NET_ADDRESS) + 96];
	} one = { 0 }, two = { 0 };
	VIP_VI_ATTRIBUTES theirs;
	VIP_NIC_ATTRIBUTES attr;

	must("VipQueryNic", VipQueryNic(nic, &attr));
	one.a.HostAddressLen = attr.NicAddressLen;
	memcpy(one.a.HostAddress, attr.LocalNicAddress, attr.NicAddressLen);
	one.a.DiscriminatorLen = 8;
	two = one;
	memcpy(one.a.HostAddress + attr.NicAddressLen, "victim_1", 8);
	memcpy(two.a.HostAddress + attr.NicAddressLen, "victim_2", 8);
	must("VipConnectPeerRequest",
	     VipConnectPeerRequest(a, &one.a, &two.a, PATIENCE));
	must("VipConnectPeerRequest",
	     VipConnectPeerRequest(b, &two.a, &one.a, PATIENCE));
	must("VipConnectPeerWait", VipConnectPeerWait(a, &theirs));
	must("VipConnectPeerWait", VipConnectPeerWait(b, &theirs));
}

void victim(const char *device, struct score *shared)
{
	VIP_VI_ATTRIBUTES attr = { VIP_SERVICE_RELIABLE_DELIVERY, 32768, NULL,
				   NULL, VIP_TRUE, VIP_TRUE };
	VIP_PROTECTION_HANDLE tag;
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi[2];
	struct area area[2];
	uint64_t n;

	score = shared;
	must("VipOpenNic", VipOpenNic(device, &nic));
	must("VipCreatePtag", VipCreatePtag(nic, &tag));
	attr.Ptag = tag;
	must("VipCreateVi", VipCreateVi(nic, &attr, NULL, NULL, &vi[0]));
	must("VipCreateVi", VipCreateVi(nic, &attr, NULL, NULL, &vi[1]));
	area_make(nic, tag, &area[0]);
	area_make(nic, tag, &area[1]);
	join(nic, vi[0], vi[1]);
	for (n = 0; !__atomic_load_n(&score->stop, __ATOMIC_ACQUIRE); n++) {
		message(vi[n & 1], vi[~n & 1], &area[n & 1], &area[~n & 1], n);
		__atomic_add_fetch(&score->messages, 1, __ATOMIC_RELAXED);
		/* It is to be there, not to take the CPU from the others. */
		usleep(1000);
	}
	must("VipDisconnect", VipDisconnect(vi[0]));
	must("VipDisconnect", VipDisconnect(vi[1]));
	must("VipCloseNic", VipCloseNic(nic));
	_exit(0);
}

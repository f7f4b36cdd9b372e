// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A stream of records through a ring, without a copy in either program.
 *
 *	ring DEVICE			consumes
 *	ring DEVICE HOST [COUNT]	produces COUNT records
 *
 * The producer makes a record in slot N of its ring, an RDMA Write carries it
 * into slot N of the consumer's, which works on it where it lies. Immediate
 * data tell the slot and which record is the last. Credits come back as empty
 * messages whose immediate data are the number of slots that are free again: a
 * slot is never written while the consumer reads it.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

#define DISC		"ring"
#define SLOTS		16u
#define SLOT_BYTES	4096u
#define BATCH		4u	/* slots in a credit */
#define LAST		0x80000000u

struct grant {
	VIP_UINT64 address;
	VIP_MEM_HANDLE handle;
	VIP_UINT32 slots, slot_bytes;
};

/* Own descriptors and, at the consumer, one receive for each slot; at the
 * producer one for each credit that may be under way.
 */
struct control {
	struct {
		_Alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR d;
	} recv[SLOTS], send[SLOTS];
	struct grant grant;
};

struct ring {
	struct node n;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE control_handle, slots_handle;
	struct control *c;
	unsigned char *slots;
};

static void post_recv(struct ring *r, unsigned int i)
{
	describe(&r->c->recv[i].d, NULL, 0, 0);
	must(VipPostRecv(r->vi, &r->c->recv[i].d, r->control_handle));
}

static VIP_DESCRIPTOR *recv_wait(struct ring *r, const char *what)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc = VipRecvWait(r->vi, VIP_INFINITE, &d);

	return completed(rc, d, what);
}

static void send_wait(struct ring *r, const char *what)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc = VipSendWait(r->vi, VIP_INFINITE, &d);

	completed(rc, d, what);
}

/* The work on a record: a sum that the other end compares by eye. */
static VIP_UINT32 work(const unsigned char *record, VIP_UINT32 len)
{
	VIP_UINT32 i, sum = 0;

	for (i = 0; i < len; i++)
		sum = sum * 31 + record[i];
	return sum;
}

static void send_grant(struct ring *r)
{
	VIP_DESCRIPTOR *d = &r->c->send[0].d;

	r->c->grant = (struct grant){ (VIP_UINT64)(uintptr_t)r->slots,
				      r->slots_handle, SLOTS, SLOT_BYTES };
	describe(d, &r->c->grant, sizeof(r->c->grant), r->control_handle);
	must(VipPostSend(r->vi, d, r->control_handle));
	send_wait(r, "grant");
}

/* Descriptors of credits are used in turn; the one that comes up again has
 * completed long ago, and is collected here.
 */
static void send_credit(struct ring *r, unsigned int nth, VIP_UINT32 slots)
{
	VIP_DESCRIPTOR *d = &r->c->send[nth % SLOTS].d;

	if (nth >= SLOTS)
		send_wait(r, "credit");
	describe(d, NULL, 0, 0);
	d->CS.Control = VIP_CONTROL_IMMEDIATE;
	d->CS.ImmediateData = slots;
	must(VipPostSend(r->vi, d, r->control_handle));
}

static void consume(struct ring *r)
{
	VIP_UINT32 sum = 0, slot, tag = 0;
	unsigned int i, credits = 0;
	unsigned long records = 0;
	VIP_DESCRIPTOR *d;

	for (i = 0; i < SLOTS; i++)
		post_recv(r, i);
	serve_one(&r->n, r->vi, DISC);
	send_grant(r);
	while (!(tag & LAST)) {
		d = recv_wait(r, "record");
		tag = d->CS.ImmediateData;
		slot = tag & ~LAST;
		if (!(d->CS.Status & VIP_STATUS_IMMEDIATE) || slot >= SLOTS ||
		    d->CS.Length > SLOT_BYTES)
			errx(1, "not a record of this ring");
		sum += work(r->slots + slot * SLOT_BYTES, d->CS.Length);
		/* Receives complete in order: this one was the oldest. The new
		 * one is there before the credit that lets a write come.
		 */
		post_recv(r, records % SLOTS);
		if (++records % BATCH == 0)
			send_credit(r, credits++, BATCH);
	}
	printf("consumed %lu records, sum %08x\n", records, sum);
}

static VIP_UINT32 make_record(unsigned char *slot, unsigned long n)
{
	VIP_UINT32 len = 1 + n * 37 % SLOT_BYTES;

	memset(slot, (int)(n % 251), len);
	return len;
}

static void produce(struct ring *r, const char *host, unsigned long count)
{
	VIP_UINT32 len, sum = 0, credit = SLOTS, slot;
	unsigned long n, credits = 0;
	unsigned char *data;
	struct grant *g;
	VIP_DESCRIPTOR *d;

	g = &r->c->grant;
	d = &r->c->recv[0].d;
	describe(d, g, sizeof(*g), r->control_handle);
	must(VipPostRecv(r->vi, d, r->control_handle));
	/* As many as credits can be under way, and they complete in order. */
	for (n = 1; n < SLOTS; n++)
		post_recv(r, n);
	connect_to(&r->n, r->vi, host, DISC);
	recv_wait(r, "grant");
	post_recv(r, 0);
	if (g->slots != SLOTS || g->slot_bytes != SLOT_BYTES)
		errx(1, "a ring of another size");
	for (n = 0; n < count; n++) {
		slot = n % SLOTS;
		if (n >= SLOTS)
			send_wait(r, "record");	/* the slot's own last write */
		if (!credit) {
			d = recv_wait(r, "credit");
			credit += d->CS.ImmediateData;
			post_recv(r, ++credits % SLOTS);
		}
		data = r->slots + slot * SLOT_BYTES;
		len = make_record(data, n);
		sum += work(data, len);
		d = &r->c->send[slot].d;
		describe_write(d, data, len, r->slots_handle,
			       g->address + slot * SLOT_BYTES, g->handle);
		d->CS.Control |= VIP_CONTROL_IMMEDIATE;
		d->CS.ImmediateData = slot | (n + 1 == count ? LAST : 0);
		must(VipPostSend(r->vi, d, r->control_handle));
		credit--;
	}
	for (n = count < SLOTS ? count : SLOTS; n; n--)
		send_wait(r, "record");
	printf("produced %lu records, sum %08x\n", count, sum);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 0) : 1000;
	struct ring r;

	if (argc < 2 || argc > 4 || !count)
		errx(2, "usage: ring DEVICE [HOST [COUNT]]");
	open_node(&r.n, argv[1]);
	r.vi = new_vi(&r.n, SLOT_BYTES, NULL, NULL);
	r.c = new_region(&r.n, sizeof(*r.c), VIP_FALSE, &r.control_handle);
	r.slots = new_region(&r.n, (size_t)SLOTS * SLOT_BYTES, argc == 2,
			     &r.slots_handle);
	if (argc == 2)
		consume(&r);
	else
		produce(&r, argv[2], count);
	must(VipDisconnect(r.vi));
	must(VipCloseNic(r.n.nic));
	return 0;
}

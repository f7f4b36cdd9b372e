// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Very many VIs, all of them connected and used at once, on several CQs. */
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RX	2u
#define BYTES	256u
#define STRIDE	1024u		/* of a VI: three descriptors, three buffers */
#define VIS_DISC DISC "-vis"

struct one {
	VIP_VI_HANDLE vi;
	uint32_t next;		/* the receive that is next */
	uint32_t got, lost;
	uint32_t sent;
};

static struct {
	struct nic nic;
	uint8_t *mem;
	VIP_MEM_HANDLE mem_h;
	struct one *one;
	VIP_CQ_HANDLE *cq;
	uint32_t taken;		/* atomic: VIs of which a thread takes care */
	uint32_t wrong;		/* atomic */
	uint32_t got, lost;	/* atomic: of all */
	uint32_t round;
	union net_addr host;
	uint64_t *times;
	bool client;
} all;

static VIP_DESCRIPTOR *desc(uint32_t i, uint32_t n)
{
	return (VIP_DESCRIPTOR *)(all.mem + i * STRIDE) + n;
}

static uint8_t *buffer(uint32_t i, uint32_t n)
{
	return all.mem + i * STRIDE + 256 + n * BYTES;
}

static VIP_DESCRIPTOR *prepare(uint32_t i, uint32_t n, uint32_t len)
{
	desc_data(desc(i, n), buffer(i, n), len, all.mem_h);
	return desc(i, n);
}

static void post(uint32_t i)
{
	struct one *o = &all.one[i];

	if (VipPostRecv(o->vi, prepare(i, o->next++ % RX, BYTES), all.mem_h))
		die("cannot post to VI %u", i);
}

/* The n-th message of a VI; its last one must be off the buffer before. */
static void send(uint32_t i, uint32_t n)
{
	uint32_t len = length_of(i, n) % BYTES + 1;
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	if (all.one[i].sent++) {
		rc = VipSendWait(all.one[i].vi, args.limit, &d);
		if (rc)
			die("VI %u: send %u: %s", i, all.one[i].sent - 1,
			    vip_str(rc));
	}
	fill(buffer(i, RX), i, n, len);
	rc = VipPostSend(all.one[i].vi, prepare(i, RX, len), all.mem_h);
	if (rc)
		die("cannot send on VI %u: %s", i, vip_str(rc));
}

/* Bytes that are available on this machine. */
static uint64_t available(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (uint64_t)kib << 10;
}

/* VIs of a CQ. */
static uint32_t share(uint32_t cq)
{
	return args.count / scale_args.cqs + (cq < args.count % scale_args.cqs);
}

static void create(void)
{
	size_t len = (size_t)args.count * STRIDE;
	uint64_t before, start;
	uint32_t i, n;

	nic_open(&all.nic, args.device);
	all.one = xcalloc(args.count, sizeof(*all.one));
	all.cq = xcalloc(scale_args.cqs, sizeof(*all.cq));
	all.times = xcalloc(args.count, sizeof(*all.times));
	all.mem = memory_try(len);
	if (!all.mem ||
	    VipRegisterMem(all.nic.h, all.mem, len, NULL, &all.mem_h))
		die("cannot register %zu bytes", len);
	for (i = 0; i < scale_args.cqs; i++)
		if (VipCreateCQ(all.nic.h, RX * share(i), &all.cq[i]))
			die("cannot create CQ %u", i);
	before = available();
	for (i = 0; i < args.count; i++) {
		start = now_ns();
		if (vi_make(&all.nic, 4096, all.cq[i % scale_args.cqs],
			    &all.one[i].vi))
			die("cannot create VI %u", i);
		all.times[i] = now_ns() - start;
		for (n = 0; n < RX; n++)
			post(i);
	}
	printf("vi_kib %.1f\n", (before - available()) / 1024.0 / args.count);
}

/* The VI of the discriminator, so that both ends have the same numbers. */
static void *connecting(void *arg)
{
	uint64_t start;
	char disc[32];
	VIP_RETURN rc;
	uint32_t i;

	while ((i = fetch_add(&all.taken, 1)) < args.count) {
		snprintf(disc, sizeof(disc), VIS_DISC "-%u", i);
		start = now_ns();
		if (all.client)
			rc = conn_request(&all.nic, all.one[i].vi, &all.host,
					  disc, "", 0, args.limit);
		else
			rc = conn_accept(&all.nic, disc, all.one[i].vi,
					 4 * args.limit);
		if (rc != VIP_SUCCESS)
			die("VI %u does not connect: %s", i, vip_str(rc));
		all.times[i] = now_ns() - start;
	}
	return arg;
}

static uint32_t number_of(VIP_VI_HANDLE vi, uint32_t cq)
{
	uint32_t i;

	/* Found by search: handles are the library's. */
	for (i = cq; i < args.count; i += scale_args.cqs)
		if (all.one[i].vi == vi)
			return i;
	die("a completion of an unknown VI");
}

static void received(uint32_t i, VIP_DESCRIPTOR *d)
{
	struct one *o = &all.one[i];
	uint32_t len = length_of(i, o->got) % BYTES + 1;

	if (d != desc(i, o->next % RX) || d->CS.Length != len ||
	    !filled(d->DS[0].Local.Data.Address, i, o->got, len))
		fetch_add(&all.wrong, 1);
	o->got++;
	post(i);
	fetch_add(&all.got, 1);
	/* The same back, from our own knowledge of it. */
	if (!all.client)
		send(i, o->got - 1);
}

/* Takes what a CQ has until a round (client) or the connections are over. */
static void *collecting(void *arg)
{
	uint32_t cq = (uintptr_t)arg, mine, end, had = 0, i;
	VIP_DESCRIPTOR *d;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN recv;
	VIP_RETURN rc;

	mine = share(cq);
	end = all.client ? mine : RX * mine;
	while (had < end) {
		rc = VipCQWait(all.cq[cq], 4 * args.limit, &vi, &recv);
		if (rc != VIP_SUCCESS)
			die("CQ %u after %u of %u: %s", cq, had, end,
			    vip_str(rc));
		i = number_of(vi, cq);
		rc = VipRecvDone(vi, &d);
		if (rc == VIP_SUCCESS) {
			received(i, d);
			had += all.client;
		} else if (!all.client && rc == VIP_DESCRIPTOR_ERROR) {
			had++;
		} else {
			die("VI %u: %s", i, vip_str(rc));
		}
	}
	return NULL;
}

/* In any order: what is found by a search is found late or soon. */
static void destroy(void)
{
	uint32_t *order = xcalloc(args.count, sizeof(*order)), i, j, n;
	uint64_t start, state = dice_seed(args.seed, 0);
	VIP_DESCRIPTOR *d;

	for (n = 0; n < args.count; n++) {
		j = dice_roll(&state) % (n + 1);
		order[n] = order[j];
		order[j] = n;
	}
	for (n = 0; n < args.count; n++) {
		i = order[n];
		/* The first end to leave may take the last acknowledgement along. */
		if (all.one[i].sent &&
		    VipSendWait(all.one[i].vi, args.limit, &d) &&
		    (all.client || !d))
			die("VI %u: the last send", i);
		start = now_ns();
		if (VipDisconnect(all.one[i].vi) || VipDestroyVi(all.one[i].vi))
			die("VI %u does not go", i);
		all.times[n] = now_ns() - start;
	}
	free(order);
	for (i = 0; i < scale_args.cqs; i++)
		if (VipDestroyCQ(all.cq[i]))
			die("CQ %u does not go", i);
	if (VipDeregisterMem(all.nic.h, all.mem, all.mem_h))
		die("the memory does not go");
	nic_close(&all.nic);
}

int run_vis(void)
{
	uint32_t rounds = args.seconds ? args.seconds : 10, i, r;
	uint64_t start;

	all.client = true;
	create();
	report_times("create", all.times, args.count, FEW_FIRST);
	peer_address(&all.host, &all.nic);
	start = now_ns();
	threads_run(connecting, args.threads);
	printf("connected %u in_ms %.0f\n", args.count, ms_since(start));
	report_times("connect", all.times, args.count, FEW_FIRST);
	start = now_ns();
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < args.count; i++)
			send(i, r);
		threads_run(collecting, scale_args.cqs);
	}
	printf("messages %u per_s %.0f\n", 2 * rounds * args.count,
	       2e9 * rounds * args.count / (now_ns() - start));
	if (scale_args.waits) {
		printf("wrong %u\nwaits\n", all.wrong);
		fflush(stdout);
		pause();
	}
	destroy();
	report_times("destroy", all.times, args.count, MANY_FIRST);
	printf("wrong %u\n", all.wrong);
	if (all.got != rounds * args.count)
		die("%u of %u messages came back", all.got,
		    rounds * args.count);
	return all.wrong != 0;
}

int serve_vis(void)
{
	create();
	printf("ready\n");
	threads_run(connecting, args.threads);
	threads_run(collecting, scale_args.cqs);
	destroy();
	printf("echoed %u wrong %u\n", all.got, all.wrong);
	return all.wrong != 0;
}

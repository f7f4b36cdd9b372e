// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Very many VIs, all of them connected and used at once, on several CQs. */
#include "scale.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
	VIP_DESCRIPTOR *d = desc(i, n);

	memset(d, 0, sizeof(*d));
	d->CS.Length = len;
	d->CS.SegCount = 1;
	d->DS[0].Local.Data.Address = buffer(i, n);
	d->DS[0].Local.Handle = all.mem_h;
	d->DS[0].Local.Length = len;
	return d;
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
		rc = VipSendWait(all.one[i].vi, scale_opt.limit, &d);
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

static void create(void)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = 4096,
	};
	size_t len = (size_t)scale_opt.count * STRIDE;
	uint64_t before, start;
	uint32_t i, n;

	nic_open(&all.nic, scale_opt.device);
	all.one = xcalloc(scale_opt.count, sizeof(*all.one));
	all.cq = xcalloc(scale_opt.cqs, sizeof(*all.cq));
	all.times = xcalloc(scale_opt.count, sizeof(*all.times));
	all.mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (all.mem == MAP_FAILED ||
	    VipRegisterMem(all.nic.h, all.mem, len, NULL, &all.mem_h))
		die("cannot register %zu bytes", len);
	for (i = 0; i < scale_opt.cqs; i++)
		if (VipCreateCQ(all.nic.h, RX * scale_opt.count, &all.cq[i]))
			die("cannot create CQ %u", i);
	before = available();
	for (i = 0; i < scale_opt.count; i++) {
		start = now_ns();
		if (VipCreateVi(all.nic.h, &a, NULL, all.cq[i % scale_opt.cqs],
				&all.one[i].vi))
			die("cannot create VI %u", i);
		all.times[i] = now_ns() - start;
		for (n = 0; n < RX; n++)
			post(i);
	}
	printf("vi_kib %.1f\n", (before - available()) / 1024.0 / scale_opt.count);
}

static uint32_t take(uint32_t *counter)
{
	return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* The VI of the discriminator, so that both ends have the same numbers. */
static void *connecting(void *arg)
{
	struct conn_peer peer;
	uint64_t start;
	char disc[32];
	VIP_RETURN rc;
	uint32_t i;

	while ((i = take(&all.taken)) < scale_opt.count) {
		snprintf(disc, sizeof(disc), VIS_DISC "-%u", i);
		start = now_ns();
		if (all.client) {
			rc = conn_request(&all.nic, all.one[i].vi, &all.host,
					  disc, "", 0, scale_opt.limit);
		} else {
			rc = conn_wait(&all.nic, disc, 4 * scale_opt.limit, &peer);
			if (rc == VIP_SUCCESS)
				rc = VipConnectAccept(peer.conn,
						      all.one[i].vi);
		}
		if (rc != VIP_SUCCESS)
			die("VI %u does not connect: %s", i, vip_str(rc));
		all.times[i] = now_ns() - start;
	}
	return arg;
}

static void run_threads(void *(*f)(void *), uint32_t n)
{
	pthread_t *t = xcalloc(n, sizeof(*t));
	uint32_t i;

	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, f, (void *)(uintptr_t)i))
			die("no more threads");
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

static uint32_t number_of(VIP_VI_HANDLE vi, uint32_t cq)
{
	uint32_t i;

	/* Found by search: handles are the library's. */
	for (i = cq; i < scale_opt.count; i += scale_opt.cqs)
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
		__atomic_fetch_add(&all.wrong, 1, __ATOMIC_RELAXED);
	o->got++;
	post(i);
	__atomic_fetch_add(&all.got, 1, __ATOMIC_RELAXED);
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

	mine = scale_opt.count / scale_opt.cqs + (cq < scale_opt.count % scale_opt.cqs);
	end = all.client ? mine : RX * mine;
	while (had < end) {
		rc = VipCQWait(all.cq[cq], 4 * scale_opt.limit, &vi, &recv);
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
	uint32_t *order = xcalloc(scale_opt.count, sizeof(*order)), i, j, n;
	uint64_t start, state = dice_seed(scale_opt.seed, 0);
	VIP_DESCRIPTOR *d;

	for (n = 0; n < scale_opt.count; n++) {
		j = scale_dice(&state) % (n + 1);
		order[n] = order[j];
		order[j] = n;
	}
	for (n = 0; n < scale_opt.count; n++) {
		i = order[n];
		/* The first end to leave may take the last acknowledgement along. */
		if (all.one[i].sent &&
		    VipSendWait(all.one[i].vi, scale_opt.limit, &d) &&
		    (all.client || !d))
			die("VI %u: the last send", i);
		start = now_ns();
		if (VipDisconnect(all.one[i].vi) ||
		    VipDestroyVi(all.one[i].vi))
			die("VI %u does not go", i);
		all.times[n] = now_ns() - start;
	}
	free(order);
	for (i = 0; i < scale_opt.cqs; i++)
		if (VipDestroyCQ(all.cq[i]))
			die("CQ %u does not go", i);
	if (VipDeregisterMem(all.nic.h, all.mem, all.mem_h))
		die("the memory does not go");
	nic_close(&all.nic);
}

int run_vis(void)
{
	uint32_t rounds = scale_opt.seconds ? scale_opt.seconds : 10, i, r;
	uint64_t start;

	all.client = true;
	create();
	report_times("create", all.times, scale_opt.count, FEW_FIRST);
	peer_address(&all.host, &all.nic);
	start = now_ns();
	run_threads(connecting, scale_opt.threads);
	printf("connected %u in_ms %.0f\n", scale_opt.count,
	       (now_ns() - start) / 1e6);
	report_times("connect", all.times, scale_opt.count, FEW_FIRST);
	start = now_ns();
	for (r = 0; r < rounds; r++) {
		for (i = 0; i < scale_opt.count; i++)
			send(i, r);
		run_threads(collecting, scale_opt.cqs);
	}
	printf("messages %u per_s %.0f\n", 2 * rounds * scale_opt.count,
	       2e9 * rounds * scale_opt.count / (now_ns() - start));
	destroy();
	report_times("destroy", all.times, scale_opt.count, MANY_FIRST);
	printf("wrong %u\n", all.wrong);
	if (all.got != rounds * scale_opt.count)
		die("%u of %u messages came back", all.got,
		    rounds * scale_opt.count);
	return all.wrong != 0;
}

int serve_vis(void)
{
	create();
	printf("ready\n");
	fflush(stdout);
	run_threads(connecting, scale_opt.threads);
	run_threads(collecting, scale_opt.cqs);
	destroy();
	printf("echoed %u wrong %u\n", all.got, all.wrong);
	return all.wrong != 0;
}

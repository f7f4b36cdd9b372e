// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VipResizeCQ: section 10.5, and what section 9 says of entries. */
#include "loss.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Completions without a peer: receives of no bytes are posted in Idle and
 * flushed by VipDisconnect, one notice each, in that order.
 */
#define VIS	3
#define EACH	300		/* descriptors of a VI, each used once */

struct source {
	VIP_VI_HANDLE vi;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	unsigned int posted;
	unsigned int seen[EACH];
};

static void sources(struct source *s, unsigned int n, VIP_CQ_HANDLE cq)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_MEM_ATTRIBUTES m = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	size_t len = n * EACH * sizeof(VIP_DESCRIPTOR);
	VIP_DESCRIPTOR *d = pages(len);
	VIP_MEM_HANDLE h;
	unsigned int i;

	REQUIRE_RC(VipRegisterMem(env.nic.h, d, len, &m, &h), VIP_SUCCESS);
	for (i = 0; i < n; i++) {
		memset(&s[i], 0, sizeof(s[i]));
		s[i].d = d + i * EACH;
		s[i].h = h;
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, cq, &s[i].vi),
			   VIP_SUCCESS);
	}
}

/* So many completions more. */
static bool complete(struct source *s, unsigned int n)
{
	bool ok = true;

	while (n--)
		ok &= VipPostRecv(s->vi, &s->d[s->posted++], s->h) ==
		      VIP_SUCCESS;
	return ok & (VipDisconnect(s->vi) == VIP_SUCCESS);
}

/* What is in a CQ, by rights. */
struct model {
	VIP_CQ_HANDLE cq;
	struct source s[VIS];
	unsigned int fifo[VIS * EACH];	/* which source */
	unsigned int in, out;
};

static void model_start(struct model *m, VIP_ULONG entries)
{
	memset(m, 0, sizeof(*m));
	REQUIRE_RC(VipCreateCQ(env.nic.h, entries, &m->cq), VIP_SUCCESS);
	sources(m->s, VIS, m->cq);
}

static void model_put(struct model *m, unsigned int which, unsigned int n)
{
	CHECK(complete(&m->s[which], n));
	while (n--)
		m->fifo[m->in++] = which;
}

/* Takes n, or all there are; each is the one that has to come. */
static void model_take(struct model *m, unsigned int n)
{
	VIP_BOOLEAN which;
	VIP_VI_HANDLE vi;
	struct source *s;
	struct done r;

	for (; n && m->out < m->in; n--) {
		s = &m->s[m->fifo[m->out++]];
		vi = NULL;
		which = 7;
		REQUIRE_RC(VipCQDone(m->cq, &vi, &which), VIP_SUCCESS);
		REQUIRE(vi == s->vi);
		CHECK_EQ(which, VIP_TRUE);
		/* C10, and each queue's in its own order. */
		r = poll_done(vi, RECVQ);
		CHECK(r.d == &s->d[s->seen[0]++]);
	}
}

static void model_end(struct model *m)
{
	VIP_BOOLEAN which;
	VIP_VI_HANDLE vi;
	unsigned int i;

	model_take(m, ~0u);
	CHECK_RC(VipCQDone(m->cq, &vi, &which), VIP_NOT_DONE);
	for (i = 0; i < VIS; i++) {
		CHECK(poll_done(m->s[i].vi, RECVQ).d == NULL);
		CHECK_RC(VipDestroyVi(m->s[i].vi), VIP_SUCCESS);
	}
	CHECK_RC(VipDestroyCQ(m->cq), VIP_SUCCESS);
}

static void arguments(void)
{
	VIP_ULONG max = env.nic.attr.MaxCQEntries;
	VIP_CQ_HANDLE gone;
	struct model m;

	model_start(&m, 8);
	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &gone), VIP_SUCCESS);
	REQUIRE_RC(VipDestroyCQ(gone), VIP_SUCCESS);
	model_put(&m, 0, 5);
	CHECK_INVALID(VipResizeCQ(NULL, 8));
	CHECK_INVALID(VipResizeCQ(gone, 8));
	CHECK_INVALID(VipResizeCQ(m.s[0].vi, 8));
	CHECK_INVALID(VipResizeCQ(env.nic.h, 8));
	CHECK_INVALID(VipResizeCQ(m.cq, 0));
	CHECK_INVALID(VipResizeCQ(NULL, 0));
	CHECK_RC(VipResizeCQ(m.cq, max + 1), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(m.cq, 1ul << 32), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(m.cq, (1ul << 32) + 8), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(m.cq, ~(VIP_ULONG)0), VIP_ERROR_RESOURCE);
	/* None of that has cost an entry. */
	model_take(&m, 2);
	CHECK_RC(VipResizeCQ(m.cq, max), VIP_SUCCESS);
	model_take(&m, 1);
	CHECK_RC(VipResizeCQ(m.cq, 1), VIP_SUCCESS);
	model_end(&m);
	CHECK_INVALID(VipResizeCQ(m.cq, 8));
}

/* Growing and shrinking, with entries in it, also more than it will hold. */
static void order(void)
{
	static const struct {
		unsigned int put, take;
		VIP_ULONG size;
	} step[] = {
		{ 0, 0, 64 },		/* empty */
		{ 3, 0, 128 }, { 5, 4, 16 },
		{ 20, 0, 32 },		/* overflowing, then grown */
		{ 0, 9, 8 },		/* shrunk below what is in it */
		{ 30, 3, 8 },		/* the same size */
		{ 0, 0, 1 }, { 0, 1, 2 }, { 9, 0, 4096 }, { 25, 30, 1 },
		{ 1, 0, 7 }, { 0, ~0u, 3 }, { 50, 0, 5 }, { 0, 2, 256 },
		{ 0, 1, 9 }, { 1, 60, 64 },
	};
	unsigned int i, j, n;
	struct model m;

	model_start(&m, 4);
	for (i = 0; i < 2 * ARRAY_SIZE(step); i++) {
		about("step %u", i);
		/* In helpings, so that the queues' notices are mixed. */
		n = step[i % ARRAY_SIZE(step)].put;
		for (j = 0; n; j++) {
			unsigned int k = 1 + (i + j) % 4;

			k = k < n ? k : n;
			model_put(&m, (i + j) % VIS, k);
			n -= k;
		}
		model_take(&m, step[i % ARRAY_SIZE(step)].take);
		REQUIRE_RC(VipResizeCQ(m.cq,
				       step[i % ARRAY_SIZE(step)].size),
			   VIP_SUCCESS);
	}
	model_end(&m);
}

/* A full ring with more behind it, shrunk and grown again and again. */
static void overflow(void)
{
	unsigned int i;
	struct model m;

	model_start(&m, 2);
	for (i = 0; i < 30; i++) {
		about("round %u", i);
		model_put(&m, i % VIS, 7);
		REQUIRE_RC(VipResizeCQ(m.cq, 1 + i * 37 % 100), VIP_SUCCESS);
		REQUIRE_RC(VipResizeCQ(m.cq, 1 + i % 5), VIP_SUCCESS);
		model_put(&m, (i + 1) % VIS, 1);
		model_take(&m, i % 12);
	}
	model_end(&m);
}

/*
 * Entries that are not needed any more: collected without the CQ, or of a VI
 * that is gone. They may be shown or not, and must not hide the others.
 */
static void stale(void)
{
	unsigned int i, n, left, size;
	VIP_BOOLEAN which;
	VIP_VI_HANDLE vi;
	struct model m;

	for (size = 1; size <= 64; size *= 4) {
		about("to %u", size);
		model_start(&m, 32);
		CHECK(complete(&m.s[0], 6) && complete(&m.s[1], 6));
		CHECK(complete(&m.s[2], 6) && complete(&m.s[0], 6));
		for (i = 0; i < 4; i++)
			CHECK(poll_done(m.s[0].vi, RECVQ).d == &m.s[0].d[i]);
		CHECK_RC(VipDestroyVi(m.s[1].vi), VIP_SUCCESS);
		CHECK_RC(VipResizeCQ(m.cq, size), VIP_SUCCESS);
		CHECK(complete(&m.s[2], 1));
		left = 8 + 7;
		for (n = 0; VipCQDone(m.cq, &vi, &which) == VIP_SUCCESS; n++) {
			CHECK(vi == m.s[0].vi || vi == m.s[2].vi);
			left -= poll_done(vi, RECVQ).d != NULL;
		}
		CHECK(n <= 25);
		CHECK_EQ(left, 0);
		CHECK_RC(VipDestroyVi(m.s[0].vi), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(m.s[2].vi), VIP_SUCCESS);
		CHECK_RC(VipDestroyCQ(m.cq), VIP_SUCCESS);
	}
}

/* A thread that sleeps on it sleeps on, and is woken by what comes after. */
static void waiters(void)
{
	static const VIP_ULONG limit[] = { VIP_INFINITE, 60000 };
	struct cq_waiter w[3];
	struct source s;
	VIP_CQ_HANDLE cq;
	unsigned int i, j;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 16, &cq), VIP_SUCCESS);
	sources(&s, 1, cq);
	for (i = 0; i < 4; i++) {
		about("round %u", i);
		for (j = 0; j < ARRAY_SIZE(w); j++)
			start_cq_waiter(&w[j], cq, limit[j % 2]);
		if (i & 1)
			pause_ms(2);
		CHECK_RC(VipResizeCQ(cq, i & 2 ? 1 : 64), VIP_SUCCESS);
		/* One for each, when the ring has room for one only, too. */
		for (j = 0; j < ARRAY_SIZE(w); j++) {
			CHECK(complete(&s, 1));
			CHECK_RC(VipResizeCQ(cq, 1 + j * 8), VIP_SUCCESS);
		}
		for (j = 0; j < ARRAY_SIZE(w); j++) {
			pthread_join(w[j].thread, NULL);
			CHECK_RC(w[j].rc, VIP_SUCCESS);
			CHECK(w[j].vi == s.vi && w[j].recv == VIP_TRUE);
			CHECK(poll_done(s.vi, RECVQ).d != NULL);
		}
	}
	about("a wait's time is its own");
	start_cq_waiter(&w[0], cq, SHORT_MS);
	for (i = 0; i < 20; i++)
		CHECK_RC(VipResizeCQ(cq, 1 + i), VIP_SUCCESS);
	pthread_join(w[0].thread, NULL);
	CHECK_RC(w[0].rc, VIP_TIMEOUT);
	CHECK(w[0].took_ms >= SHORT_MS - 1 && w[0].took_ms < LONG_MS);
	CHECK_RC(VipDestroyVi(s.vi), VIP_SUCCESS);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

struct worker {
	pthread_t thread;
	struct model *m;
	struct source *s;	/* a producer's */
	VIP_ULONG timeout;	/* a consumer's, 0: it polls */
	unsigned int *left;
	unsigned int failed;
};

static void *produce_main(void *arg)
{
	struct worker *w = arg;

	while (w->s->posted < EACH)
		w->failed += !complete(w->s, 5);
	return NULL;
}

/* Every notice is worth one descriptor, which no other thread has had. */
static void consume(struct worker *w, VIP_VI_HANDLE vi, VIP_BOOLEAN recv)
{
	VIP_DESCRIPTOR *d = NULL;
	unsigned int i, k;

	VipRecvDone(vi, &d);
	for (i = 0; i < VIS; i++) {
		if (w->m->s[i].vi != vi)
			continue;
		k = d - w->m->s[i].d;
		w->failed += !d || recv != VIP_TRUE || k >= EACH ||
			     __atomic_exchange_n(&w->m->s[i].seen[k], 1,
						 __ATOMIC_ACQ_REL);
		__atomic_fetch_sub(w->left, 1, __ATOMIC_ACQ_REL);
		return;
	}
	w->failed++;
}

static void *consume_main(void *arg)
{
	struct worker *w = arg;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;

	while (__atomic_load_n(w->left, __ATOMIC_ACQUIRE)) {
		rc = w->timeout ? VipCQWait(w->m->cq, w->timeout, &vi, &recv) :
				  VipCQDone(w->m->cq, &vi, &recv);
		if (rc == VIP_SUCCESS)
			consume(w, vi, recv);
		else
			w->failed += rc != (w->timeout ? VIP_TIMEOUT :
							 VIP_NOT_DONE);
	}
	return NULL;
}

/* Producers, pollers, a sleeper, and the CQ never keeps its size. */
static void threads(void)
{
	unsigned int left = VIS * EACH, i, n = 0;
	struct worker w[VIS + 3];
	struct model m;

	model_start(&m, 4);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		w[i] = (struct worker){ .m = &m, .left = &left,
					.s = i < VIS ? &m.s[i] : NULL,
					.timeout = i == VIS ? 5 : 0 };
		REQUIRE(!pthread_create(&w[i].thread, NULL, i < VIS ?
					produce_main : consume_main, &w[i]));
	}
	for (i = 0; __atomic_load_n(&left, __ATOMIC_ACQUIRE); i++)
		n += VipResizeCQ(m.cq, 1 + i * 31 % 97) != VIP_SUCCESS;
	CHECK_EQ(n, 0);
	for (i = 0; i < ARRAY_SIZE(w); i++) {
		pthread_join(w[i].thread, NULL);
		CHECK_EQ(w[i].failed, 0);
	}
	for (i = 0; i < VIS * EACH; i++)
		n += m.s[i / EACH].seen[i % EACH] != 1;
	CHECK_EQ(n, 0);
	model_end(&m);
}

#define LOAD 48

struct collector {
	pthread_t thread;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	unsigned int got, failed;
};

static void *collect_main(void *arg)
{
	struct collector *c = arg;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	struct done r;

	while (c->got < 2 * LOAD) {
		if (VipCQWait(c->cq, LONG_MS, &vi, &recv) != VIP_SUCCESS)
			break;
		r = poll_done(vi, recv ? RECVQ : SENDQ);
		c->failed += vi != c->vi || r.rc != VIP_SUCCESS;
		c->got++;
	}
	return NULL;
}

/* The same with completions that the network brings, both ways. */
static void load(void)
{
	struct xfer rx = our_buf(0, 200, 1), prx = peer_buf(0, 200, 1);
	struct xfer tx = our_buf(1000, 200, 1), ptx = peer_buf(1000, 200, 1);
	struct collector c = { .got = 0 };
	struct pair p;
	unsigned int i;

	if (!(env.nic.attr.ReliabilityLevelSupport &
	      VIP_SERVICE_RELIABLE_DELIVERY))
		return;
	env.level = VIP_SERVICE_RELIABLE_DELIVERY;
	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &c.cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .send_cq = c.cq, .recv_cq = c.cq });
	c.vi = p.vi;
	for (i = 0; i < LOAD; i++)
		pair_post(&p, RECVQ, &rx);
	CHECK_RC(peer_post_many(p.pvi, RECVQ, &prx, LOAD), VIP_SUCCESS);
	REQUIRE(!pthread_create(&c.thread, NULL, collect_main, &c));
	peer_spawn((struct ctl_msg){ .cmd = P_POST, .vi = p.pvi,
				     .queue = SENDQ, .x = ptx, .count = LOAD },
		   2);
	for (i = 0; i < LOAD; i++) {
		CHECK_RC(nic_post_again(&env.nic, p.vi, SENDQ, &tx, NULL),
			 VIP_SUCCESS);
		CHECK_RC(VipResizeCQ(c.cq, 1 + i * 7 % 40), VIP_SUCCESS);
	}
	CHECK_RC(peer_join(2).rc, VIP_SUCCESS);
	pthread_join(c.thread, NULL);
	CHECK_EQ(c.got, 2 * LOAD);
	CHECK_EQ(c.failed, 0);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(c.cq), VIP_SUCCESS);
}

struct resizer {
	pthread_t thread;
	VIP_CQ_HANDLE cq;
	unsigned int id, done, failed;
};

static void *resize_main(void *arg)
{
	struct resizer *r = arg;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	VIP_RETURN rc;

	do {
		rc = r->id ? VipResizeCQ(r->cq, 1 + r->done % 50) :
			     VipCQWait(r->cq, 1, &vi, &recv);
		r->failed += rc != VIP_SUCCESS && rc != VIP_TIMEOUT &&
			     rc != VIP_INVALID_PARAMETER;
		__atomic_fetch_add(&r->done, 1, __ATOMIC_RELEASE);
	} while (rc != VIP_INVALID_PARAMETER);
	return NULL;
}

/* The CQ, or all of its NIC handle, goes while others resize it. */
static void destroyed(void)
{
	struct resizer r[3];
	VIP_NIC_HANDLE nic;
	unsigned int i, j;

	for (i = 0; i < 4; i++) {
		about("round %u", i);
		REQUIRE_RC(VipOpenNic(env.device, &nic), VIP_SUCCESS);
		REQUIRE_RC(VipCreateCQ(nic, 8, &r[0].cq), VIP_SUCCESS);
		for (j = 0; j < ARRAY_SIZE(r); j++) {
			r[j] = (struct resizer){ .cq = r[0].cq, .id = j };
			REQUIRE(!pthread_create(&r[j].thread, NULL,
						resize_main, &r[j]));
		}
		while (__atomic_load_n(&r[1].done, __ATOMIC_ACQUIRE) < i)
			;
		if (i & 1)
			CHECK_RC(VipDestroyCQ(r[0].cq), VIP_SUCCESS);
		else
			CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
		for (j = 0; j < ARRAY_SIZE(r); j++) {
			pthread_join(r[j].thread, NULL);
			CHECK_EQ(r[j].failed, 0);
		}
		if (i & 1)
			CHECK_RC(VipCloseNic(nic), VIP_SUCCESS);
	}
}

static unsigned long lines_of_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long n = 0;
	int c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/*
 * By the page tables: statm lags behind on Linux 6.1, by all the pages that a
 * thread has mapped since its last 64 faults.
 */
static unsigned long resident_kib(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	unsigned long kib = 0;
	char line[128];

	while (f && !kib && fgets(line, sizeof(line), f))
		if (sscanf(line, "Rss: %lu kB", &kib) != 1)
			kib = 0;
	if (f)
		fclose(f);
	return kib;
}

/* Many resizes cost no more than one: neither mappings nor memory. */
static void leak(void)
{
	unsigned long maps, resident;
	struct model m;
	unsigned int i;

	model_start(&m, 16);
	CHECK_RC(VipResizeCQ(m.cq, 4096), VIP_SUCCESS);
	model_put(&m, 0, 10);
	/* What the first ones take once: code, and a heap. */
	for (i = 0; i < 10; i++)
		CHECK_RC(VipResizeCQ(m.cq, i % 2 ? 4096 : 2048), VIP_SUCCESS);
	maps = lines_of_maps();
	resident = resident_kib();
	CHECK(resident);
	for (i = 0; i < 200; i++)
		CHECK_RC(VipResizeCQ(m.cq, i % 2 ? 4096 : 2048), VIP_SUCCESS);
	CHECK_EQ(lines_of_maps(), maps);
	/* A ring is 16 to 32 KiB, 200 of them are 3,200 at least. */
	CHECK(resident_kib() < resident + 1600);
	model_end(&m);
}

/* No address space for the new ring: the old one goes on. */
static void no_room(void)
{
	struct rlimit old, none = { 0, 0 };
	struct model m;

	REQUIRE(!getrlimit(RLIMIT_AS, &old));
	model_start(&m, 8);
	model_put(&m, 0, 6);
	model_put(&m, 1, 6);
	none.rlim_max = old.rlim_max;
	REQUIRE(!setrlimit(RLIMIT_AS, &none));
	CHECK_RC(VipResizeCQ(m.cq, 4096), VIP_ERROR_RESOURCE);
	CHECK_RC(VipResizeCQ(m.cq, 1), VIP_ERROR_RESOURCE);
	REQUIRE(!setrlimit(RLIMIT_AS, &old));
	model_take(&m, 7);
	model_put(&m, 2, 4);
	CHECK_RC(VipResizeCQ(m.cq, 64), VIP_SUCCESS);
	model_end(&m);
}

static const struct group groups[] = {
	{ "resize.arguments", "10.5 VipResizeCQ", arguments, 0, 0 },
	{ "resize.order", "10.5 no entry may be lost, 9 order", order, 0, 0 },
	{ "resize.overflow", "9 overflow, 10.5 VipResizeCQ", overflow, 0, 0 },
	{ "resize.stale", "9 stale entries, C10", stale, 0, 0 },
	{ "resize.waiters", "10.5 VipCQWait on a live CQ", waiters, 0, 0 },
	{ "resize.threads", "11 one CQ, 10.5 a live CQ", threads, 0, 0 },
	{ "resize.load", "10.5 a live CQ, under traffic", load, G_PEER, 0 },
	{ "resize.destroyed", "10.5 VipDestroyCQ, 10.1 VipCloseNic", destroyed,
	  0, 0 },
	{ "resize.leak", "10.5 VipResizeCQ, again and again", leak, 0, 0 },
	{ "resize.no_room", "10.5 VipResizeCQ ERROR_RESOURCE", no_room,
	  G_OWN, 0 },
};

NOUN(resize, groups);

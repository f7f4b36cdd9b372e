// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Threads: section 11. */
#include "loss.h"
#include <string.h>

#define SENDERS		4
#define EACH		40

struct sender {
	pthread_t thread;
	struct pair *p;
	unsigned int id;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	unsigned int failed;
};

static VIP_DESCRIPTOR *descriptors(unsigned int n, VIP_MEM_HANDLE *h)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_DESCRIPTOR *d = pages(n * sizeof(*d));

	REQUIRE_RC(VipRegisterMem(env.nic.h, d, n * sizeof(*d), &a, h),
		   VIP_SUCCESS);
	return d;
}

static void *send_main(void *arg)
{
	struct sender *s = arg;
	unsigned int i;

	for (i = 0; i < EACH; i++) {
		s->d[i].CS.Control = VIP_CONTROL_IMMEDIATE;
		s->d[i].CS.ImmediateData = s->id << 16 | i;
		if (VipPostSend(s->p->vi, &s->d[i], s->h) != VIP_SUCCESS)
			s->failed++;
	}
	return NULL;
}

struct collector {
	pthread_t thread;
	VIP_VI_HANDLE vi;
	unsigned int *left;
	unsigned int got, failed;
};

static void *collect_main(void *arg)
{
	struct collector *c = arg;
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	while (__atomic_load_n(c->left, __ATOMIC_ACQUIRE)) {
		d = NULL;
		rc = VipSendDone(c->vi, &d);
		if (d) {
			c->got++;
			__atomic_fetch_sub(c->left, 1, __ATOMIC_ACQ_REL);
			c->failed += rc != VIP_SUCCESS;
		}
	}
	return NULL;
}

/* All post on one VI, others collect from it. */
static struct burst all_on_one(void)
{
	struct burst all = { .n = SENDERS * EACH };
	unsigned int left = SENDERS * EACH, i;
	struct burst b[SENDERS];
	struct xfer rx = peer_buf(0, 0, 0);
	struct collector c[2];
	struct sender s[SENDERS];
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	struct pair p;

	pair_open(&p, NULL);
	/* The peer's slots are fewer than the messages: two helpings. */
	REQUIRE(SENDERS * EACH <= 2 * 80);
	d = descriptors(SENDERS * EACH, &h);
	for (i = 0; i < 2; i++)
		CHECK_RC(peer_post_many(p.pvi, RECVQ, &rx, 80), VIP_SUCCESS);
	for (i = 0; i < SENDERS; i++) {
		b[i] = (struct burst){ .n = EACH };
		s[i] = (struct sender){ .p = &p, .id = i, .d = d + i * EACH,
					.h = h };
		REQUIRE(!pthread_create(&s[i].thread, NULL, send_main, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		c[i] = (struct collector){ .vi = p.vi, .left = &left };
		REQUIRE(!pthread_create(&c[i].thread, NULL, collect_main,
					&c[i]));
	}
	for (i = 0; i < SENDERS; i++) {
		pthread_join(s[i].thread, NULL);
		CHECK_EQ(s[i].failed, 0);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(c[i].thread, NULL);
		CHECK_EQ(c[i].failed, 0);
	}
	CHECK_EQ(c[0].got + c[1].got, SENDERS * EACH);
	/* Whole, once, and each thread's in its order. */
	for (i = 0; i < SENDERS * EACH; i++) {
		struct ctl_msg m = peer_wait(p.pvi, RECVQ, patience());
		unsigned int id = m.immediate >> 16;

		if (!CHECK(id < SENDERS))
			break;
		all.got += came(&b[id], m.rc, m.status, m.immediate & 0xffff);
		if (b[id].over)
			break;
	}
	CHECK(poll_done(p.vi, SENDQ).d == NULL);
	pair_close(&p);
	return all;
}

static void one_vi(void)
{
	until_it_came(all_on_one);
}

struct cq_worker {
	pthread_t thread;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	unsigned int got, bad;
	unsigned int *left;
};

static void *cq_main(void *arg)
{
	struct cq_worker *w = arg;
	VIP_VI_HANDLE vi;
	VIP_BOOLEAN which;
	VIP_DESCRIPTOR *d;
	VIP_RETURN rc;

	while (__atomic_load_n(w->left, __ATOMIC_ACQUIRE)) {
		rc = VipCQWait(w->cq, 20, &vi, &which);
		if (rc == VIP_TIMEOUT)
			continue;
		d = NULL;
		w->bad += rc != VIP_SUCCESS || vi != w->vi || which != VIP_TRUE;
		/* A notice each, so a descriptor each, in any order. */
		VipRecvDone(w->vi, &d);
		w->bad += d == NULL;
		w->got++;
		__atomic_fetch_sub(w->left, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

/* Waits until none is left, or the time is up. */
static unsigned int left_after(unsigned int *left, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	unsigned int n;

	while ((n = __atomic_load_n(left, __ATOMIC_ACQUIRE)) && now_ms() < end)
		pause_ms(1);
	return n;
}

static void one_cq(void)
{
	struct xfer rx = our_buf(0, 4, 1), tx = peer_buf(0, 4, 1);
	unsigned int left = 60, i, got = 0, bad = 0;
	struct tries t = { 0 };
	struct cq_worker w[3];
	VIP_CQ_HANDLE cq;
	struct pair p;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .recv_cq = cq });
	for (i = 0; i < left; i++)
		pair_post(&p, RECVQ, &rx);
	for (i = 0; i < 3; i++) {
		w[i] = (struct cq_worker){ .cq = cq, .vi = p.vi,
					   .left = &left };
		REQUIRE(!pthread_create(&w[i].thread, NULL, cq_main, &w[i]));
	}
	CHECK_RC(peer_post_many(p.pvi, SENDQ, &tx, 60), VIP_SUCCESS);
	/* What was lost is sent again. */
	while ((i = left_after(&left, patience())) && once_more(&t))
		CHECK_RC(peer_post_many(p.pvi, SENDQ, &tx, i), VIP_SUCCESS);
	for (i = 0; i < 3; i++) {
		pthread_join(w[i].thread, NULL);
		got += w[i].got;
		bad += w[i].bad;
	}
	CHECK_EQ(got, 60);
	CHECK_EQ(bad, 0);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

struct maker {
	pthread_t thread;
	unsigned int bad;
};

/* All kinds of objects made and destroyed, on one NIC handle. */
static void *make_main(void *arg)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	VIP_MEM_ATTRIBUTES ma = { NULL, VIP_TRUE, VIP_FALSE };
	struct maker *k = arg;
	void *p = pages(3 * 4096);
	VIP_NIC_HANDLE nic;
	VIP_MEM_HANDLE h;
	VIP_CQ_HANDLE cq;
	VIP_VI_HANDLE vi;
	unsigned int i;

	for (i = 0; i < 15; i++) {
		k->bad += VipCreatePtag(env.nic.h, &a.Ptag) != VIP_SUCCESS;
		ma.Ptag = a.Ptag;
		k->bad += VipRegisterMem(env.nic.h, p, 9000, &ma, &h) !=
			  VIP_SUCCESS;
		k->bad += VipCreateCQ(env.nic.h, 16, &cq) != VIP_SUCCESS;
		k->bad += VipCreateVi(env.nic.h, &a, cq, cq, &vi) !=
			  VIP_SUCCESS;
		if (i % 8 == 0) {
			k->bad += VipOpenNic(env.device, &nic) != VIP_SUCCESS;
			k->bad += VipCloseNic(nic) != VIP_SUCCESS;
		}
		k->bad += VipDestroyPtag(env.nic.h, a.Ptag) !=
			  VIP_ERROR_RESOURCE;
		k->bad += VipDestroyVi(vi) != VIP_SUCCESS;
		k->bad += VipDestroyCQ(cq) != VIP_SUCCESS;
		k->bad += VipDeregisterMem(env.nic.h, p, h) != VIP_SUCCESS;
		k->bad += VipDestroyPtag(env.nic.h, a.Ptag) != VIP_SUCCESS;
	}
	return NULL;
}

static void objects(void)
{
	struct maker k[4];
	unsigned int i;

	memset(k, 0, sizeof(k));
	for (i = 0; i < ARRAY_SIZE(k); i++)
		REQUIRE(!pthread_create(&k[i].thread, NULL, make_main, &k[i]));
	for (i = 0; i < ARRAY_SIZE(k); i++) {
		pthread_join(k[i].thread, NULL);
		CHECK_EQ(k[i].bad, 0);
	}
}

/* A thread in VipConnectWait, others at work beside it. */
struct server {
	pthread_t thread;
	struct disc d;
	VIP_VI_HANDLE vi;
	VIP_RETURN wait, accept;
};

static void *server_main(void *arg)
{
	struct net_address local, remote;
	struct server *s = arg;
	VIP_VI_ATTRIBUTES theirs;
	VIP_CONN_HANDLE conn;

	own_address(&env.nic, &local, s->d.bytes, s->d.len);
	s->wait = VipConnectWait(env.nic.h, &local.a, LONG_MS, &remote.a,
				 &theirs, &conn);
	if (s->wait == VIP_SUCCESS)
		s->accept = VipConnectAccept(conn, s->vi);
	return NULL;
}

/* Both ends in one process, on one NIC handle, several at once (C7). */
static void self(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, env.level);
	struct xfer rx = our_buf(0, 3000, 2), tx = our_buf(10000, 3000, 3);
	struct tries t = { 0 };
	VIP_VI_HANDLE vi[3];
	struct server s[3];
	struct done r;
	unsigned int i;

	/* Its own address, whatever the peer. */
	env.host = NULL;
	for (i = 0; i < 3; i++) {
		s[i].d = new_disc();
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &s[i].vi),
			   VIP_SUCCESS);
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi[i]),
			   VIP_SUCCESS);
		REQUIRE(!pthread_create(&s[i].thread, NULL, server_main,
					&s[i]));
	}
	for (i = 0; i < 3; i++) {
		vi_post(s[i].vi, RECVQ, &rx);
		CHECK_RC(connect_peer(vi[i], &s[i].d, LONG_MS, NULL),
			 VIP_SUCCESS);
		pthread_join(s[i].thread, NULL);
		CHECK_RC(s[i].wait, VIP_SUCCESS);
		CHECK_RC(s[i].accept, VIP_SUCCESS);
		tx.seed = rx.seed = i + 50;
		t.n = 0;
		do {
			vi_post(vi[i], SENDQ, &tx);
			CHECK_RC(wait_done(vi[i], SENDQ, LONG_MS).rc,
				 VIP_SUCCESS);
			r = wait_done(s[i].vi, RECVQ, patience());
		} while (r.rc == VIP_TIMEOUT && once_more(&t));
		CHECK_RC(r.rc, VIP_SUCCESS);
		CHECK_EQ(r.length, 3000);
		CHECK_EQ(xfer_wrong(&rx, 3000), 0);
	}
	for (i = 0; i < 3; i++) {
		CHECK_RC(VipDisconnect(vi[i]), VIP_SUCCESS);
		CHECK_STATE(s[i].vi, VIP_STATE_ERROR);
		CHECK_RC(VipDisconnect(s[i].vi), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(vi[i]), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(s[i].vi), VIP_SUCCESS);
	}
}

/* A VI destroyed and a NIC closed while others look at them. */
struct looker {
	pthread_t thread;
	VIP_NIC_HANDLE nic;
	VIP_VI_HANDLE vi;
	unsigned int stop, bad;
};

static void *look_main(void *arg)
{
	struct looker *l = arg;
	VIP_BOOLEAN se, re;
	VIP_VI_ATTRIBUTES a;
	VIP_NIC_ATTRIBUTES na;
	VIP_DESCRIPTOR *d;
	VIP_VI_STATE st;
	VIP_RETURN rc;

	while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		rc = VipQueryVi(l->vi, &st, &a, &se, &re);
		l->bad += rc != VIP_SUCCESS && rc != VIP_INVALID_PARAMETER;
		rc = VipRecvDone(l->vi, &d);
		l->bad += rc != VIP_DESCRIPTOR_ERROR &&
			  rc != VIP_INVALID_PARAMETER;
		rc = VipQueryNic(l->nic, &na);
		l->bad += rc != VIP_SUCCESS && rc != VIP_INVALID_PARAMETER;
	}
	return NULL;
}

static void destroyed(void)
{
	VIP_VI_ATTRIBUTES a = { env.level, 4096, NULL, NULL, 0, 0 };
	struct looker l;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		memset(&l, 0, sizeof(l));
		REQUIRE_RC(VipOpenNic(env.device, &l.nic), VIP_SUCCESS);
		REQUIRE_RC(VipCreateVi(l.nic, &a, NULL, NULL, &l.vi),
			   VIP_SUCCESS);
		REQUIRE(!pthread_create(&l.thread, NULL, look_main, &l));
		if (i & 1)
			CHECK_RC(VipDestroyVi(l.vi), VIP_SUCCESS);
		CHECK_RC(VipCloseNic(l.nic), VIP_SUCCESS);
		__atomic_store_n(&l.stop, 1, __ATOMIC_RELEASE);
		pthread_join(l.thread, NULL);
		CHECK_EQ(l.bad, 0);
	}
}

static const struct group groups[] = {
	{ "threads.one_vi", "11 many threads on one VI", one_vi,
	  G_PEER | G_LEVELS, 0 },
	{ "threads.one_cq", "11 many threads on one CQ", one_cq, G_PEER, 0 },
	{ "threads.objects", "11 many threads on one NIC handle", objects, 0,
	  0 },
	{ "threads.self", "C7 a NIC connected to its own address", self,
	  G_LEVELS | G_SUNNY, 0 },
	{ "threads.destroyed", "10, 11 objects destroyed under others",
	  destroyed, 0, 0 },
};

NOUN(threads, groups);

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Work queues: order, emptiness, fullness. Sections 7, 8, 10.4. */
#include "loss.h"
#include <stdlib.h>
#include <string.h>

static uint32_t len_of(unsigned int i)
{
	/* Large and small by turns: the small must not overtake. */
	return i & 1 ? i : 16000 - i;
}

/* Which of the 16 has this length. */
static unsigned int number_of(uint32_t len)
{
	return len & 1 ? len : 16000 - len;
}

static struct burst by_turns(void)
{
	struct burst b = { .n = 16 };
	VIP_DESCRIPTOR *sent[16];
	struct xfer tx, rx;
	struct ctl_msg m;
	uint64_t recvs[16];
	struct done s;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 16; i++) {
		rx = peer_buf(i * 16384, 16000, 1);
		rx.seed = 100 + i;
		m = peer_do((struct ctl_msg){ .cmd = P_POST, .vi = p.pvi,
					      .queue = RECVQ, .x = rx });
		CHECK_RC(m.rc, VIP_SUCCESS);
		recvs[i] = m.addr;
	}
	for (i = 0; i < 16; i++) {
		tx = our_buf(i * 16384, len_of(i), 1);
		tx.seed = 100 + i;
		sent[i] = pair_post(&p, SENDQ, &tx);
	}
	for (i = 0; i < 16; i++) {
		about("message %u", i);
		s = wait_done(p.vi, SENDQ, LONG_MS);
		CHECK_RC(s.rc, VIP_SUCCESS);
		CHECK(s.d == sent[i]);
		if (b.over)
			continue;
		m = peer_wait_verify(p.pvi, RECVQ, patience(), reliable());
		if (!came(&b, m.rc, m.status, number_of(m.length)))
			continue;
		CHECK(m.addr == recvs[i]);
		CHECK_EQ(m.length, len_of(b.next - 1));
		m.x.seed = 100 + b.next - 1;
		if (reliable())
			CHECK_EQ(m.bad, 0);
		else
			CHECK_EQ(peer_wrong_after_loss(&m.x, m.length), 0);
	}
	pair_close(&p);
	return b;
}

static void fifo(void)
{
	until_it_came(by_turns);
}

static void empty(void)
{
	enum queue q;
	struct pair p;
	unsigned int i;

	pair_create(&p, NULL);
	for (i = 0; i < 3; i++) {
		for (q = SENDQ; q <= RECVQ; q++) {
			about("state %u, queue %u", i, q);
			CHECK_NONE(poll_done(p.vi, q), VIP_DESCRIPTOR_ERROR);
			/* At once, whatever the time-out. */
			CHECK_NONE(wait_done(p.vi, q, VIP_INFINITE),
				   VIP_DESCRIPTOR_ERROR);
			CHECK_NONE(wait_done(p.vi, q, 0), VIP_DESCRIPTOR_ERROR);
		}
		if (i == 0)
			pair_connect(&p);
		if (i == 1) {
			peer_disconnect(p.pvi);
			CHECK_STATE(p.vi, VIP_STATE_ERROR);
		}
	}
	pair_close(&p);
}

static void not_done(void)
{
	struct xfer rx = our_buf(0, 100, 1), tx = peer_buf(0, 10, 1);
	VIP_DESCRIPTOR *first, *second;
	struct pair p;

	pair_open(&p, NULL);
	first = pair_post(&p, RECVQ, &rx);
	rx.addr += 200;
	second = pair_post(&p, RECVQ, &rx);
	CHECK_NONE(poll_done(p.vi, RECVQ), VIP_NOT_DONE);
	CHECK(one_arrives(&p, &tx).d == first);
	CHECK_NONE(poll_done(p.vi, RECVQ), VIP_NOT_DONE);
	CHECK(one_arrives(&p, &tx).d == second);
	CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_DESCRIPTOR_ERROR);
	pair_close(&p);
}

/* Descriptors of 64 bytes, as many as the queue takes and some. */
static VIP_DESCRIPTOR *many(unsigned int n, VIP_MEM_HANDLE *h)
{
	VIP_MEM_ATTRIBUTES a = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_DESCRIPTOR *d = pages(n * sizeof(*d));

	REQUIRE_RC(VipRegisterMem(env.nic.h, d, n * sizeof(*d), &a, h),
		   VIP_SUCCESS);
	return d;
}

static void full(void)
{
	unsigned int i, n = env.nic.attr.MaxDescriptorsPerQueue;
	VIP_ERROR_DESCRIPTOR e;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	struct done r;
	struct pair p;

	d = many(n + 1, &h);
	pair_open(&p, NULL);
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipPostRecv(p.vi, &d[i], h), VIP_SUCCESS);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_VI_OVERRUN), 0);
	d[n].CS.Status = 0;
	CHECK_RC(VipPostRecv(p.vi, &d[n], h), VIP_SUCCESS);
	memset(&e, 0, sizeof(e));
	CHECK_EQ(nic_error_wait(&env.nic, p.vi, VIP_ERROR_VI_OVERRUN, 1,
				LONG_MS, &e), 1);
	CHECK(e.NicHandle == env.nic.h && e.ViHandle == p.vi);
	CHECK(e.CQHandle == NULL && e.ResourceCode == VIP_RESOURCE_VI);
	CHECK_EQ(e.OpCode, 1);
	CHECK_EQ(vi_state(p.vi), reliable() ? VIP_STATE_ERROR :
					      VIP_STATE_CONNECTED);
	if (!reliable()) {
		struct xfer tx = peer_buf(0, 0, 0);

		CHECK(one_arrives(&p, &tx).d == &d[0]);
		CHECK_RC(VipPostRecv(p.vi, &d[0], h), VIP_SUCCESS);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	}
	/* The one too many was never queued; all others come back. */
	for (i = 0; i < n; i++) {
		r = poll_done(p.vi, RECVQ);
		if (r.rc != VIP_DESCRIPTOR_ERROR || r.d == &d[n] ||
		    !(r.status & VIP_STATUS_DESC_FLUSHED_ERROR))
			CHECK(!"a posted receive comes back flushed");
	}
	CHECK_NONE(poll_done(p.vi, RECVQ), VIP_DESCRIPTOR_ERROR);
	pair_close(&p);
}

/* A send queue is full of what was sent and not collected, too. */
static void full_sends(void)
{
	unsigned int i, n = env.nic.attr.MaxDescriptorsPerQueue;
	struct xfer rx = peer_buf(0, 0, 0);
	VIP_ERROR_DESCRIPTOR e;
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	struct done r;
	struct pair p;

	d = many(n + 1, &h);
	pair_open(&p, NULL);
	CHECK_RC(peer_post_many(p.pvi, RECVQ, &rx, n), VIP_SUCCESS);
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipPostSend(p.vi, &d[i], h), VIP_SUCCESS);
	CHECK_EQ(nic_errors(&env.nic, p.vi, VIP_ERROR_VI_OVERRUN), 0);
	/* Whether done or not: what is not collected holds its slot. */
	for (i = 0; reliable() && i < n; i++)
		REQUIRE_RC(peer_wait(p.pvi, RECVQ, LONG_MS).rc, VIP_SUCCESS);
	CHECK_RC(VipPostSend(p.vi, &d[n], h), VIP_SUCCESS);
	memset(&e, 0, sizeof(e));
	CHECK_EQ(nic_error_wait(&env.nic, p.vi, VIP_ERROR_VI_OVERRUN, 1,
				LONG_MS, &e), 1);
	CHECK(e.ViHandle == p.vi && e.ResourceCode == VIP_RESOURCE_VI);
	CHECK_EQ(e.OpCode, 0);
	CHECK_EQ(vi_state(p.vi), reliable() ? VIP_STATE_ERROR :
					      VIP_STATE_CONNECTED);
	for (i = 0; i < n; i++) {
		r = wait_done(p.vi, SENDQ, LONG_MS);
		if (r.d != &d[i])
			CHECK(!"sends come back in order");
	}
	CHECK(poll_done(p.vi, SENDQ).d == NULL);
	pair_close(&p);
}

/* The whole depth is usable, and so is every slot again and again. */
static void depth(void)
{
	unsigned int i, j, n = env.nic.attr.MaxDescriptorsPerQueue;
	struct xfer rx = peer_buf(0, 0, 0);
	VIP_DESCRIPTOR *d, *got = NULL;
	VIP_MEM_HANDLE h;
	struct pair p;

	if (n > 4096)
		n = 4096;
	d = many(n, &h);
	pair_open(&p, NULL);
	CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
	/* Flushing empties it twice over. */
	for (j = 0; j < 2; j++) {
		for (i = 0; i < n; i++)
			REQUIRE_RC(VipPostRecv(p.vi, &d[i], h), VIP_SUCCESS);
		CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
		for (i = 0; i < n; i++) {
			if (VipRecvDone(p.vi, &got) != VIP_DESCRIPTOR_ERROR ||
			    got != &d[i])
				CHECK(!"flushed in the order of posting");
		}
		CHECK_RC(VipRecvDone(p.vi, &got), VIP_DESCRIPTOR_ERROR);
		CHECK(got == NULL);
	}
	peer_disconnect(p.pvi);
	pair_connect(&p);
	/* Round the ring of the send queue with what the peer can take. */
	for (i = 0; i < n / 8 + 3; i++) {
		if (i % 32 == 0)
			CHECK_RC(peer_post_many(p.pvi, RECVQ, &rx, 32),
				 VIP_SUCCESS);
		memset(&d[i], 0, sizeof(d[i]));
		REQUIRE_RC(VipPostSend(p.vi, &d[i], h), VIP_SUCCESS);
		REQUIRE_RC(VipSendWait(p.vi, LONG_MS, &got), VIP_SUCCESS);
		REQUIRE(got == &d[i]);
		if (i % 32 == 31)
			for (j = 0; j < 32; j++)
				peer_wait(p.pvi, RECVQ, SHORT_MS);
	}
	pair_close(&p);
}

/* n descriptors at once in both queues of both ends; all complete in order. */
static void deep(struct pair *p, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h,
		 unsigned int n)
{
	struct ctl_msg m = { .cmd = P_POST, .vi = p->pvi, .queue = RECVQ,
			     .x = peer_buf(0, 0, 0), .count = n };
	unsigned int i;

	memset(d, 0, 2 * n * sizeof(*d));
	CHECK_RC(peer_do(m).rc, VIP_SUCCESS);
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipPostRecv(p->vi, &d[n + i], h), VIP_SUCCESS);
	m.queue = SENDQ;
	CHECK_RC(peer_do(m).rc, VIP_SUCCESS);
	for (i = 0; i < n; i++)
		REQUIRE_RC(VipPostSend(p->vi, &d[i], h), VIP_SUCCESS);
	for (i = 0; i < n; i++) {
		about("%u of %u", i, n);
		REQUIRE(wait_done(p->vi, SENDQ, LONG_MS).d == &d[i]);
		REQUIRE(wait_done(p->vi, RECVQ, LONG_MS).d == &d[n + i]);
		REQUIRE_RC(peer_wait(p->pvi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
		REQUIRE_RC(peer_wait(p->pvi, RECVQ, LONG_MS).rc, VIP_SUCCESS);
	}
}

/* A queue takes more than it ever did while it has descriptors in flight. */
static void deeper(void)
{
	static const unsigned int depths[] = { 15, 17, 70, 140 };
	VIP_DESCRIPTOR *d;
	VIP_MEM_HANDLE h;
	unsigned int k;
	struct pair p;

	/* Without an acknowledgement none of them need come. */
	if (!reliable())
		return;
	d = many(2 * depths[3], &h);
	pair_open(&p, NULL);
	for (k = 0; k < sizeof(depths) / sizeof(*depths); k++)
		deep(&p, d, h, depths[k]);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "queue.fifo", "7.1, 7.2", fifo, G_PEER | G_LEVELS | G_EARLY | G_SUNNY,
	  0 },
	{ "queue.empty", "10.4 queue empty", empty, G_PEER | G_EARLY, 0 },
	{ "queue.not_done", "10.4 head still pending", not_done,
	  G_PEER | G_LEVELS | G_EARLY, 0 },
	{ "queue.full", "8 VI_OVERRUN, 14", full, G_PEER | G_LEVELS, 0 },
	{ "queue.full_sends", "8 VI_OVERRUN, 14", full_sends,
	  G_PEER | G_LEVELS, 0 },
	{ "queue.depth", "12 MaxDescriptorsPerQueue", depth,
	  G_PEER | G_LEVELS, 0 },
	{ "queue.deeper", "12 MaxDescriptorsPerQueue, 7.1", deeper,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
};

NOUN(queue, groups);

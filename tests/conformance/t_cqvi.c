// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Completion queues under traffic: section 9. */
#include "loss.h"

#define VIS 4

static void next(VIP_CQ_HANDLE cq, VIP_VI_HANDLE vi, VIP_BOOLEAN recv)
{
	VIP_VI_HANDLE got = NULL;
	VIP_BOOLEAN which = 7;

	CHECK_RC(VipCQWait(cq, LONG_MS, &got, &which), VIP_SUCCESS);
	CHECK(got == vi);
	/* Exactly TRUE or FALSE. */
	CHECK_EQ(which, recv);
}

/* The same for a message that the peer has sent; again if it was lost. */
static void next_recv(VIP_CQ_HANDLE cq, struct pair *p, const struct xfer *tx)
{
	struct tries t = { 0 };
	VIP_VI_HANDLE got;
	VIP_BOOLEAN which;
	VIP_RETURN rc;

	do {
		got = NULL;
		which = 7;
		rc = VipCQWait(cq, patience(), &got, &which);
	} while (rc == VIP_TIMEOUT && peer_once_more(&t, p, tx));
	CHECK_RC(rc, VIP_SUCCESS);
	CHECK(got == p->vi);
	CHECK_EQ(which, VIP_TRUE);
}

static void none(VIP_CQ_HANDLE cq)
{
	VIP_VI_HANDLE got;
	VIP_BOOLEAN which;

	CHECK_RC(VipCQDone(cq, &got, &which), VIP_NOT_DONE);
}

/* Which queues are attached, and what is announced where. */
static void notices(void)
{
	struct xfer tx = our_buf(0, 40, 1), rx = our_buf(200, 40, 1);
	struct xfer ptx = peer_buf(0, 40, 1), prx = peer_buf(200, 40, 1);
	VIP_CQ_HANDLE s, r;
	struct ctl_msg m;
	struct pair p;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		about("attached %s %s", i & 1 ? "send" : "", i & 2 ? "recv" :
		      "");
		REQUIRE_RC(VipCreateCQ(env.nic.h, 16, &s), VIP_SUCCESS);
		REQUIRE_RC(VipCreateCQ(env.nic.h, 16, &r), VIP_SUCCESS);
		pair_open(&p, &(struct pair_opt){
			.send_cq = i & 1 ? s : NULL,
			.recv_cq = i & 2 ? r : NULL });
		none(s);
		none(r);
		pair_post(&p, RECVQ, &rx);
		none(r);
		CHECK_RC(peer_post(p.pvi, RECVQ, &prx), VIP_SUCCESS);
		pair_post(&p, SENDQ, &tx);
		if (i & 1) {
			next(s, p.vi, VIP_FALSE);
			CHECK_RC(poll_done(p.vi, SENDQ).rc, VIP_SUCCESS);
		} else {
			CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc,
				 VIP_SUCCESS);
		}
		m = peer_wait(p.pvi, RECVQ, patience());
		came_or_lost(m.rc, m.status);
		if (i & 2) {
			CHECK_RC(peer_post(p.pvi, SENDQ, &ptx), VIP_SUCCESS);
			next_recv(r, &p, &ptx);
			CHECK_RC(poll_done(p.vi, RECVQ).rc, VIP_SUCCESS);
		} else {
			one_arrives(&p, &ptx);
		}
		none(s);
		none(r);
		pair_close(&p);
		none(s);
		none(r);
		CHECK_RC(VipDestroyCQ(s), VIP_SUCCESS);
		CHECK_RC(VipDestroyCQ(r), VIP_SUCCESS);
	}
}

/* One CQ for both queues of several VIs: in the order of completion. */
static void shared(void)
{
	static const unsigned int order[] = { 2, 0, 3, 1, 1, 3, 0, 2, 2, 2 };
	struct xfer rx, ptx = peer_buf(0, 40, 1), prx = peer_buf(200, 40, 1);
	struct xfer tx = our_buf(0, 40, 1);
	struct pair p[VIS];
	struct ctl_msg m;
	VIP_CQ_HANDLE cq;
	unsigned int i, j;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 64, &cq), VIP_SUCCESS);
	for (i = 0; i < VIS; i++) {
		pair_open(&p[i], &(struct pair_opt){ .send_cq = cq,
						     .recv_cq = cq });
		for (j = 0; j < 4; j++) {
			rx = our_buf(400 + (i * 4 + j) * 100, 40, 1);
			pair_post(&p[i], RECVQ, &rx);
		}
	}
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		struct pair *q = &p[order[i]];

		about("step %u", i);
		peer_sends(q->pvi, &ptx);
		next_recv(cq, q, &ptx);
		CHECK_RC(poll_done(q->vi, RECVQ).rc, VIP_SUCCESS);
		CHECK_RC(peer_post(q->pvi, RECVQ, &prx), VIP_SUCCESS);
		vi_post(q->vi, SENDQ, &tx);
		next(cq, q->vi, VIP_FALSE);
		CHECK_RC(poll_done(q->vi, SENDQ).rc, VIP_SUCCESS);
		m = peer_wait(q->pvi, RECVQ, patience());
		came_or_lost(m.rc, m.status);
	}
	none(cq);
	for (i = 0; i < VIS; i++)
		pair_close(&p[i]);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Many completions lie in the CQ before a thread looks. */
static void backlog(void)
{
	struct xfer rx, ptx = peer_buf(0, 16, 1);
	VIP_DESCRIPTOR *d[24];
	VIP_CQ_HANDLE cq;
	struct done r;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 4, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .recv_cq = cq });
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		rx = our_buf(i * 100, 16, 1);
		d[i] = pair_post(&p, RECVQ, &rx);
	}
	for (i = 0; i < ARRAY_SIZE(d); i++)
		peer_sends(p.pvi, &ptx);
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		about("message %u", i);
		next_recv(cq, &p, &ptx);
		r = poll_done(p.vi, RECVQ);
		CHECK_RC(r.rc, VIP_SUCCESS);
		CHECK(r.d == d[i]);
	}
	none(cq);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* A queue with a CQ may be waited on directly, too (14). */
static void direct_wait(void)
{
	struct xfer rx = our_buf(0, 40, 1), ptx = peer_buf(0, 40, 1);
	struct xfer tx = our_buf(200, 40, 1), prx = peer_buf(200, 40, 1);
	VIP_CQ_HANDLE cq;
	struct pair p;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .send_cq = cq, .recv_cq = cq });
	pair_post(&p, RECVQ, &rx);
	CHECK_RC(wait_done(p.vi, RECVQ, SHORT_MS).rc, VIP_TIMEOUT);
	one_arrives(&p, &ptx);
	CHECK_RC(peer_post(p.pvi, RECVQ, &prx), VIP_SUCCESS);
	pair_post(&p, SENDQ, &tx);
	CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* A wait without limit is ended by a message, and by a lost connection. */
static void wakes(void)
{
	struct xfer rx = our_buf(0, 40, 1), ptx = peer_buf(0, 40, 1);
	VIP_CQ_HANDLE cq;
	struct cq_waiter w;
	struct done r;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 8, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .recv_cq = cq });
	for (i = 0; i < 3; i++) {
		about("round %u", i);
		pair_post(&p, RECVQ, &rx);
		start_cq_waiter(&w, cq, i & 1 ? 0xffffffff : VIP_INFINITE);
		pause_ms(10);
		if (i < 2) {
			CHECK_RC(peer_post(p.pvi, SENDQ, &ptx), VIP_SUCCESS);
			join_waiter(&p, &ptx, w.thread);
		} else {
			peer_disconnect(p.pvi);
			pthread_join(w.thread, NULL);
		}
		CHECK_RC(w.rc, VIP_SUCCESS);
		CHECK(w.vi == p.vi && w.recv == VIP_TRUE);
		r = poll_done(p.vi, RECVQ);
		CHECK_RC(r.rc, i < 2 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR);
		CHECK(r.d != NULL);
	}
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

/* Errors and flushes are announced like everything else. */
static void failures(void)
{
	struct xfer rx = our_buf(0, 40, 1), tx = our_buf(200, 40, 1);
	VIP_CQ_HANDLE cq;
	struct done r;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 64, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .send_cq = cq, .recv_cq = cq });
	tx.handle = 0;
	pair_post(&p, SENDQ, &tx);
	next(cq, p.vi, VIP_FALSE);
	CHECK(poll_done(p.vi, SENDQ).status & VIP_STATUS_PROTECTION_ERROR);
	if (reliable())
		pair_reset(&p);
	for (i = 0; i < 3; i++)
		pair_post(&p, RECVQ, &rx);
	peer_disconnect(p.pvi);
	for (i = 0; i < 3; i++) {
		next(cq, p.vi, VIP_TRUE);
		r = poll_done(p.vi, RECVQ);
		CHECK(r.status & VIP_STATUS_DESC_FLUSHED_ERROR);
	}
	/* Flushed at the moment of posting. */
	pair_post(&p, RECVQ, &rx);
	next(cq, p.vi, VIP_TRUE);
	CHECK(poll_done(p.vi, RECVQ).d != NULL);
	tx.handle = env.nic.arena_h;
	pair_post(&p, SENDQ, &tx);
	next(cq, p.vi, VIP_FALSE);
	CHECK(poll_done(p.vi, SENDQ).d != NULL);
	none(cq);
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
}

static const struct group groups[] = {
	{ "cqvi.notices", "9 one entry for each completion, C10", notices,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "cqvi.shared", "9 many VIs, order of completion", shared,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "cqvi.backlog", "9 FIFO, small CQ", backlog, G_PEER | G_LEVELS, 0 },
	{ "cqvi.direct_wait", "14 waits on a queue with a CQ", direct_wait,
	  G_PEER, 0 },
	{ "cqvi.wakes", "10.5 VipCQWait, C16, C20", wakes, G_PEER | G_LEVELS,
	  0 },
	{ "cqvi.failures", "9 flushed descriptors produce entries", failures,
	  G_PEER | G_LEVELS, 0 },
};

NOUN(cqvi, groups);

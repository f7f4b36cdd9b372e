// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Shared receive queues: one at an end, of four queue pairs. */
#include "link.h"
#include <errno.h>
#include <rdma/siw-abi.h>
#include <string.h>

#define QPS	4
#define EACH	64u		/* bytes of a short message */
#define ROUNDS	8
#define BIG	(512u << 10)
#define BIGS	12u

struct group_of_links {
	struct link l[QPS];
	struct side *side;	/* that has the queue */
	uint32_t srq, entries;
};

static struct point *taker(struct group_of_links *g, int i)
{
	return g->side == &near ? &g->l[i].near : &g->l[i].far;
}

static struct point *sender(struct group_of_links *g, int i)
{
	return g->side == &near ? &g->l[i].far : &g->l[i].near;
}

static int srq_do(struct group_of_links *g, struct order *o, struct answer *a)
{
	struct answer mine;

	o->srq = g->srq;
	return ask(g->side, o, a ? a : &mine);
}

static int srq_recv(struct group_of_links *g, const struct work *w, uint32_t n)
{
	struct order o = { .op = OP_SRQ_RECV, .n = n, .work = *w };

	return srq_do(g, &o, NULL);
}

static int srq_modify(struct group_of_links *g, int what, uint32_t n)
{
	struct order o = { .op = OP_SRQ_MODIFY, .flags = what, .n = n };

	return srq_do(g, &o, NULL);
}

static uint32_t srq_limit(struct group_of_links *g)
{
	struct order o = { .op = OP_SRQ_QUERY };
	struct answer a;

	CHECK_EQ(srq_do(g, &o, &a), 0);
	CHECK_EQ(a.v[0], g->entries);
	return a.v[1];
}

static int srq_drop(struct group_of_links *g)
{
	struct order o = { .op = OP_DROP_SRQ };

	return srq_do(g, &o, NULL);
}

/* The next event of a queue pair or of the queue, or -1. */
static int next_event(struct group_of_links *g, int i, uint32_t ms)
{
	struct order o = { .op = OP_ASYNC, .conn = taker(g, i)->conn,
			   .ms = ms };
	struct answer a;

	return srq_do(g, &o, &a) ? -1 : (int)a.event;
}

/* Both events, in any order, and no other. */
static void two_events(struct group_of_links *g, int i, int one, int two)
{
	int first = next_event(g, i, LONG_MS), second;

	second = next_event(g, i, LONG_MS);
	CHECK(first == one || first == two);
	CHECK_EQ(second, first == one ? two : one);
	CHECK_EQ(next_event(g, i, SHORT_MS), -1);
}

/* Four connections; their receives at one side come from one queue. */
static bool open_group(struct group_of_links *g, struct side *side,
		       uint32_t entries, struct plan *p)
{
	struct order o = { .op = OP_SRQ, .n = entries };
	struct answer a;
	uint32_t port = 0;
	int i;

	memset(g, 0, sizeof(*g));
	if (!env.limits.max_srq) {
		skip("the device has no shared receive queues");
		return false;
	}
	g->side = side;
	if (!CHECK_EQ(ask(side, &o, &a), 0) ||
	    !link_listen(&g->l[0], env.far, 16, &port))
		return false;
	g->srq = a.n;
	g->entries = a.v[0];
	CHECK(g->entries >= entries);
	if (side == &near)
		p->near_srq = g->srq;
	else
		p->far_srq = g->srq;
	for (i = 0; i < QPS; i++) {
		g->l[i].listener = g->l[0].listener;
		if (!link_through(&g->l[i], p, port))
			return false;
	}
	return mem_new(&near, &g->l[0].near.mem, p->mem, p->access, 0) &&
	       mem_new(&far, &g->l[0].far.mem, p->mem, p->access, 0);
}

static void close_group(struct group_of_links *g)
{
	int i;

	for (i = 1; i < QPS; i++) {
		point_drop(&g->l[i].near);
		point_drop(&g->l[i].far);
	}
	link_close(&g->l[0]);
	CHECK_EQ(srq_drop(g), 0);
}

/* A message of that length from the memory's start, signalled. */
static bool send_some(struct group_of_links *g, int i, uint64_t id,
		      uint32_t len)
{
	struct work w = work(id, &sender(g, 0)->mem, 0, len);

	return CHECK_EQ(post_send(sender(g, i), &w, 1), 0);
}

/* Receives go in the order of the queue, whichever queue pair takes them. */
static void order(void)
{
	struct plan p = usual;
	struct group_of_links g;
	struct work w;
	uint32_t i;

	if (!open_group(&g, &far, 32, &p))
		return;
	for (i = 0; i < 3 * g.entries; i++) {
		w = work(i, &g.l[0].far.mem, i % 32 * EACH, EACH);
		if (i & 1) {
			w.sge[1] = w.sge[0];
			w.sge[0].len /= 2;
			w.sge[1].len /= 2;
			w.sge[1].off += EACH / 2;
			w.n_sge = 2;
		}
		NEED_EQ(srq_recv(&g, &w, 1), 0);
		mem_fill(&g.l[0].near.mem, 0, EACH, i);
		NEED(send_some(&g, i % QPS, i, EACH));
		NEED(DONE(&g.l[i % QPS].far, RQ, i, SUCCESS));
		NEED(DONE(&g.l[i % QPS].near, SQ, i, SUCCESS));
		CHECK(mem_is(&g.l[0].far.mem, i % 32 * EACH, EACH, i));
	}
	close_group(&g);
}

/* A full queue refuses a receive, and does not keep it. */
static void full(void)
{
	struct plan p = usual;
	struct group_of_links g;
	struct work w;

	if (!open_group(&g, &far, 32, &p))
		return;
	w = work(0, &g.l[0].far.mem, 0, EACH);
	NEED_EQ(srq_recv(&g, &w, g.entries), 0);
	CHECK_EQ(srq_recv(&g, &w, 1), -ENOMEM);
	NEED(send_some(&g, 2, 7, EACH));
	DONE(&g.l[2].far, RQ, 0, SUCCESS);
	w.id = g.entries;
	CHECK_EQ(srq_recv(&g, &w, 1), 0);
	CHECK_EQ(srq_recv(&g, &w, 1), -ENOMEM);
	close_group(&g);
}

/* Messages of four at once: each receive is taken once. */
static void together(void)
{
	static unsigned int seen[QPS * ROUNDS * 8];
	struct plan p = usual;
	struct group_of_links g;
	struct answer a;
	struct work w;
	uint32_t i, j, k;

	if (!open_group(&g, &far, ARRAY_SIZE(seen), &p))
		return;
	memset(seen, 0, sizeof(seen));
	w = work(0, &g.l[0].far.mem, 0, 3000);
	NEED_EQ(srq_recv(&g, &w, ARRAY_SIZE(seen)), 0);
	w = work(0, &g.l[0].near.mem, 0, 3000);
	for (i = 0; i < ROUNDS; i++)
		for (j = 0; j < QPS; j++)
			NEED_EQ(post_send(&g.l[j].near, &w, 8), 0);
	for (j = 0; j < QPS; j++) {
		for (i = 0; i < ROUNDS; i++) {
			NEED_EQ(all_done(&g.l[j].far, RQ, 8, &a, LONG_MS), 8);
			for (k = 0; k < 8; k++) {
				CHECK_EQ(a.done[k].status, IBV_WC_SUCCESS);
				CHECK_EQ(a.done[k].qp, g.l[j].far.qp);
				CHECK_EQ(a.done[k].len, 3000);
				NEED(a.done[k].id < ARRAY_SIZE(seen));
				seen[a.done[k].id]++;
			}
		}
		CHECK(nothing_done(&g.l[j].far, RQ));
	}
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		CHECK_EQ(seen[i], 1);
	close_group(&g);
}

/* Told when there are fewer, once, and never again until it is set again. */
static void limit(void)
{
	struct plan p = usual;
	struct group_of_links g;
	struct work w;
	uint32_t i;

	if (!open_group(&g, &far, 16, &p))
		return;
	w = work(0, &g.l[0].far.mem, 0, EACH);
	NEED_EQ(srq_recv(&g, &w, 12), 0);
	CHECK_EQ(srq_limit(&g), 0);
	CHECK(srq_modify(&g, IBV_SRQ_LIMIT, g.entries + 1) < 0);
	NEED_EQ(srq_modify(&g, IBV_SRQ_LIMIT, 8), 0);
	CHECK_EQ(srq_limit(&g), 8);
	for (i = 0; i < 4; i++) {
		NEED(send_some(&g, i, i, EACH));
		NEED(DONE(&g.l[i].far, RQ, i, SUCCESS));
	}
	CHECK_EQ(next_event(&g, 0, SHORT_MS), -1);
	NEED(send_some(&g, 0, 4, EACH));
	NEED(DONE(&g.l[0].far, RQ, 4, SUCCESS));
	CHECK_EQ(next_event(&g, 0, LONG_MS), IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK_EQ(srq_limit(&g), 0);
	NEED(send_some(&g, 1, 5, EACH));
	NEED(DONE(&g.l[1].far, RQ, 5, SUCCESS));
	CHECK_EQ(next_event(&g, 0, SHORT_MS), -1);
	/* Six are left. */
	NEED_EQ(srq_modify(&g, IBV_SRQ_LIMIT, 6), 0);
	if (env.codes) {
		CHECK_EQ(next_event(&g, 0, SHORT_MS), -1);
		NEED_EQ(srq_modify(&g, IBV_SRQ_LIMIT, 7), 0);
		CHECK_EQ(next_event(&g, 0, LONG_MS),
			 IBV_EVENT_SRQ_LIMIT_REACHED);
		/* All entries are fewer than all when one is taken. */
		NEED_EQ(srq_recv(&g, &w, g.entries - 6), 0);
		NEED_EQ(srq_modify(&g, IBV_SRQ_LIMIT, g.entries), 0);
		CHECK_EQ(next_event(&g, 0, SHORT_MS), -1);
		NEED(send_some(&g, 2, 6, EACH));
		CHECK_EQ(next_event(&g, 0, LONG_MS),
			 IBV_EVENT_SRQ_LIMIT_REACHED);
		CHECK(srq_modify(&g, IBV_SRQ_MAX_WR, 64) < 0);
	}
	close_group(&g);
}

/* A queue pair that finds none ends, with a count and events; the others go on. */
static void empty(void)
{
	struct plan p = usual;
	struct group_of_links g;
	long long before;
	struct work w;
	int i;

	if (!env.codes) {
		skip("the device may wait for a receive");
		return;
	}
	if (!open_group(&g, &near, 16, &p))
		return;
	before = near_counter("no_receive");
	NEED(send_some(&g, 1, 1, EACH));
	two_events(&g, 1, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED);
	CHECK_EQ(point_state(&g.l[1].near), IBV_QPS_ERR);
	CHECK_EQ(near_counter("no_receive"), before + 1);
	w = work(20, &g.l[0].near.mem, 0, EACH);
	NEED_EQ(srq_recv(&g, &w, QPS), 0);
	for (i = 0; i < QPS; i++) {
		if (i == 1)
			continue;
		CHECK_EQ(point_state(&g.l[i].near), IBV_QPS_RTS);
		NEED(send_some(&g, i, 2, EACH));
		CHECK(DONE(&g.l[i].near, RQ, i - (i > 1) + 20, SUCCESS));
	}
	/* In ERR it takes none of them. */
	CHECK(nothing_done(&g.l[1].near, RQ));
	close_group(&g);
}

/* One that is too short, or has a wrong key, is its taker's trouble alone. */
static void bad_receive(void)
{
	struct plan p = usual;
	struct group_of_links g;
	struct work w;

	if (!open_group(&g, &far, 16, &p))
		return;
	w = work(1, &g.l[0].far.mem, 0, EACH - 1);
	NEED_EQ(srq_recv(&g, &w, 1), 0);
	w = work(2, &g.l[0].far.mem, 0, EACH);
	w.sge[0].skew = 0x00123400;
	NEED_EQ(srq_recv(&g, &w, 1), 0);
	w = work(3, &g.l[0].far.mem, 0, EACH);
	NEED_EQ(srq_recv(&g, &w, 1), 0);
	NEED(send_some(&g, 0, 1, EACH));
	CHECK(DONE(&g.l[0].far, RQ, 1, LOC_LEN_ERR));
	NEED(send_some(&g, 1, 1, EACH));
	CHECK(DONE(&g.l[1].far, RQ, 2, LOC_PROT_ERR));
	NEED(send_some(&g, 2, 1, EACH));
	CHECK(DONE(&g.l[2].far, RQ, 3, SUCCESS));
	close_group(&g);
}

/*
 * A queue pair ends while a message comes: the receive that it had completes flushed,
 * once, and those that it had not are there for another one.
 */
static void flush_round(struct group_of_links *g, unsigned int *flushed)
{
	bool seen[BIGS] = { false };
	struct answer a;
	struct work w;
	uint32_t i, n, rest;

	w = work(0, &g->l[0].far.mem, 0, BIG);
	NEED_EQ(srq_recv(g, &w, BIGS), 0);
	w = work(0, &g->l[0].near.mem, 0, BIG);
	NEED_EQ(post_send(&g->l[0].near, &w, BIGS), 0);
	NEED_EQ(all_done(&g->l[0].far, RQ, 1, &a, LONG_MS), 1);
	seen[0] = a.done[0].id == 0;
	CHECK_EQ(point_modify(&g->l[0].far, IBV_QPS_ERR), 0);
	CHECK_EQ(next_event(g, 0, LONG_MS), IBV_EVENT_QP_LAST_WQE_REACHED);
	n = all_done(&g->l[0].far, RQ, BIGS, &a, SHORT_MS);
	for (i = 0; i < n; i++) {
		NEED(a.done[i].id < BIGS);
		CHECK(!seen[a.done[i].id]);
		seen[a.done[i].id] = true;
		if (a.done[i].status == IBV_WC_SUCCESS)
			continue;
		CHECK_EQ(a.done[i].status, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(i, n - 1);
		++*flushed;
	}
	for (i = rest = 0; i < BIGS; i++)
		rest += !seen[i];
	w = work(0, &g->l[0].near.mem, 0, EACH);
	for (i = 0; i < rest; i++) {
		NEED_EQ(post_send(&g->l[1].near, &w, 1), 0);
		NEED_EQ(all_done(&g->l[1].far, RQ, 1, &a, LONG_MS), 1);
		CHECK_EQ(a.done[0].status, IBV_WC_SUCCESS);
		NEED(a.done[0].id < BIGS);
		CHECK(!seen[a.done[0].id]);
		seen[a.done[0].id] = true;
	}
}

static void flush(void)
{
	struct plan p = usual;
	struct group_of_links g;
	unsigned int i, flushed = 0;

	if (!env.codes) {
		skip("the device may tell the last receive when it likes");
		return;
	}
	p.mem = BIG;
	for (i = 0; i < ROUNDS; i++) {
		if (!open_group(&g, &far, BIGS, &p))
			return;
		flush_round(&g, &flushed);
		close_group(&g);
	}
	/* Half a mebibyte is on its way nearly always, but within one device. */
	CHECK(flushed || !strcmp(env.near, env.far));
}

/* The queue stays as long as a queue pair has it; of another domain none has. */
static void in_use(void)
{
	struct order o = { .op = OP_PD };
	struct plan p = usual;
	struct group_of_links g;
	struct point alone = { .side = &far };
	struct queues q = usual.queues;
	struct answer a;
	int i;

	if (!open_group(&g, &far, 16, &p))
		return;
	CHECK_EQ(srq_drop(&g), -EBUSY);
	if (env.codes) {
		NEED_EQ(ask(&far, &o, &a), 0);
		q.pd = a.n;
		q.srq = g.srq;
		NEED_EQ(link_resolve(&alone, env.far, env.near, 9), 0);
		o = (struct order){ .op = OP_QUEUES, .conn = alone.conn,
				    .queues = q };
		CHECK_EQ(ask(&far, &o, &a), -EINVAL);
		point_drop(&alone);
	}
	for (i = 0; i < QPS - 1; i++)
		point_drop(&g.l[i].far);
	CHECK_EQ(srq_drop(&g), -EBUSY);
	close_group(&g);
}

/* Raw entries: what a ring says is a program's word, of its own queue pairs. */
static void ring(void)
{
	struct order o = { .op = OP_SRQ_RING };
	struct plan p = usual;
	struct group_of_links g;

	if (!env.codes) {
		skip("the ring has its own form");
		return;
	}
	if (!open_group(&g, &far, 16, &p))
		return;
	/* Only the next entry of the ring counts. */
	o.work = work(5, &g.l[0].far.mem, 0, EACH);
	o.off = 1;
	o.n = 1;
	o.flags = SIW_WQE_VALID;
	NEED_EQ(srq_do(&g, &o, NULL), 0);
	NEED(send_some(&g, 0, 1, EACH));
	two_events(&g, 0, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED);
	/* More segments than there are, for a message without bytes. */
	o.off = 0;
	o.n = 255;
	o.work.id = 4;
	NEED_EQ(srq_do(&g, &o, NULL), 0);
	NEED(send_some(&g, 1, 1, 0));
	CHECK(DONE(&g.l[1].far, RQ, 4, LOC_QP_OP_ERR));
	/* Key 0 is all memory, to the kernel alone. */
	o.off = 1;
	o.n = 1;
	o.work.id = 6;
	NEED(mem_drop(&g.l[0].far.mem));
	g.l[0].far.mem.n = 0;
	o.flags = 0xffff;
	NEED_EQ(srq_do(&g, &o, NULL), 0);
	NEED(send_some(&g, 2, 1, EACH));
	CHECK(DONE(&g.l[2].far, RQ, 6, LOC_PROT_ERR));
	/* Taken back in time. */
	o.off = 2;
	NEED_EQ(srq_do(&g, &o, NULL), 0);
	o.flags = 0;
	NEED_EQ(srq_do(&g, &o, NULL), 0);
	NEED(send_some(&g, 3, 1, EACH));
	CHECK(nothing_done(&g.l[3].far, RQ));
	CHECK_EQ(point_state(&g.l[3].far), IBV_QPS_ERR);
	close_group(&g);
}

static const struct group groups[] = {
	{ "srq.order", order, "four queue pairs, one after the other", 0 },
	{ "srq.full", full, "as many receives as it has entries", 0 },
	{ "srq.together", together, "four queue pairs at once", 0 },
	{ "srq.limit", limit, "fewer receives than wanted", 0 },
	{ "srq.empty", empty, "no receive for a message", 0 },
	{ "srq.bad_receive", bad_receive, "receives that do not fit", 0 },
	{ "srq.flush", flush, "a queue pair ends within a message", 120 },
	{ "srq.in_use", in_use, "destroyed while it is used", 0 },
	{ "srq.ring", ring, "entries that no library writes", 0 },
};

const struct file file_srq = { groups, ARRAY_SIZE(groups) };

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Queues: order, signals, states, sizes. */
#include "link.h"
#include <stdio.h>
#include <string.h>

#define DEEP	8192u

/* Of a hundred a tenth is signalled; a receive always is. */
static void unsignalled(void)
{
	struct work w;
	struct link l;
	unsigned int i, round;
	struct answer a;

	NEED(link_open(&l, &usual));
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 10; i++)
			NEED_EQ(recv_one(&l.far, round * 10 + i, 0, 16), 0);
		for (i = 0; i < 10; i++) {
			w = work(round * 10 + i, &l.near.mem, 0, 16);
			w.flags = i == 9 ? IBV_SEND_SIGNALED : 0;
			NEED_EQ(post_send(&l.near, &w, 1), 0);
		}
		CHECK_EQ(all_done(&l.far, RQ, 10, &a, LONG_MS), 10);
		for (i = 0; i < a.n; i++)
			CHECK_EQ(a.done[i].id, round * 10 + i);
		DONE(&l.near, SQ, round * 10 + 9, SUCCESS);
	}
	CHECK(nothing_done(&l.near, SQ));
	link_close(&l);
}

/* The queue pair says that all are signalled. */
static void all_signalled(void)
{
	struct plan p = usual;
	struct work w;
	struct link l;

	p.queues.all_signalled = 1;
	NEED(link_open(&l, &p));
	NEED_EQ(recv_one(&l.far, 1, 0, 16), 0);
	w = work(2, &l.near.mem, 0, 16);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	DONE(&l.near, SQ, 2, SUCCESS);
	link_close(&l);
}

/* Long and short ones, of all kinds, complete as they were posted. */
static void order(void)
{
	static const uint32_t len[] = { 60000, 1, 4096, 30000, 0 };
	struct answer a;
	struct work w;
	struct link l;
	unsigned int i, sends = 0;

	NEED(link_open(&l, &usual));
	mem_fill(&l.near.mem, 0, MEM_LEN, 4);
	for (i = 0; i < 10; i++)
		NEED_EQ(recv_one(&l.far, i, 0, MEM_LEN), 0);
	for (i = 0; i < 30; i++) {
		uint32_t n = len[i % ARRAY_SIZE(len)];

		if (i % 3 == 0)
			w = work(100 + i, &l.near.mem, 0, n);
		else
			w = rdma(100 + i, i % 3 == 1 ? IBV_WR_RDMA_WRITE :
				 IBV_WR_RDMA_READ, &l.near.mem, 0, n,
				 &l.far.mem, 0);
		/* What a READ brings is what was there. */
		if (i % 3 == 2)
			w.flags |= IBV_SEND_FENCE;
		NEED_EQ(post_send(&l.near, &w, 1), 0);
	}
	CHECK_EQ(all_done(&l.near, SQ, 30, &a, LONG_MS), 30);
	for (i = 0; i < a.n; i++) {
		CHECK_EQ(a.done[i].id, 100 + i);
		CHECK_EQ(a.done[i].status, IBV_WC_SUCCESS);
	}
	CHECK_EQ(all_done(&l.far, RQ, 10, &a, LONG_MS), 10);
	for (i = 0; i < a.n; i++) {
		CHECK_EQ(a.done[i].id, i);
		CHECK_EQ(a.done[i].len, len[(i * 3) % ARRAY_SIZE(len)]);
		sends++;
	}
	CHECK_EQ(sends, 10);
	link_close(&l);
}

/* A receive that completed means that the WRITEs before it are there. */
static void write_then_send(void)
{
	struct work w;
	struct link l;
	unsigned int i;

	NEED(link_open(&l, &usual));
	for (i = 0; i < 50; i++) {
		mem_fill(&l.near.mem, 0, 20000, i);
		NEED_EQ(recv_one(&l.far, i, MEM_LEN - 8, 8), 0);
		w = rdma(1, IBV_WR_RDMA_WRITE, &l.near.mem, 0, 20000,
			 &l.far.mem, 0);
		w.flags = 0;
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		NEED_EQ(send_one(&l.near, 2, 0, 8), 0);
		DONE(&l.far, RQ, i, SUCCESS);
		CHECK(mem_is(&l.far.mem, 0, 20000, i));
		DONE(&l.near, SQ, 2, SUCCESS);
	}
	link_close(&l);
}

/* A fenced SEND carries what the READ before it brought. */
static void fence(void)
{
	struct work w;
	struct link l;
	unsigned int i;

	NEED(link_open(&l, &usual));
	for (i = 0; i < 20; i++) {
		mem_fill(&l.far.mem, 0, 30000, i);
		NEED_EQ(recv_one(&l.far, i, 32768, 30000), 0);
		w = rdma(1, IBV_WR_RDMA_READ, &l.near.mem, 0, 30000,
			 &l.far.mem, 0);
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		w = work(2, &l.near.mem, 0, 30000);
		w.flags |= IBV_SEND_FENCE;
		NEED_EQ(post_send(&l.near, &w, 1), 0);
		DONE(&l.near, SQ, 1, SUCCESS);
		DONE(&l.near, SQ, 2, SUCCESS);
		DONE(&l.far, RQ, i, SUCCESS);
		CHECK(mem_is(&l.far.mem, 32768, 30000, i));
	}
	link_close(&l);
}

/* A queue wraps many times, with as many posted as it holds. */
static void full(void)
{
	struct plan p = usual;
	struct answer a;
	struct link l;
	struct work w;
	unsigned int round, i;

	p.queues.send_wr = p.queues.recv_wr = 16;
	NEED(link_open(&l, &p));
	for (round = 0; round < 40; round++) {
		w = work(round * 16, &l.far.mem, 0, 64);
		NEED_EQ(post_recv(&l.far, &w, 16), 0);
		w = work(round * 16, &l.near.mem, 0, 64);
		NEED_EQ(post_send(&l.near, &w, 16), 0);
		NEED_EQ(all_done(&l.near, SQ, 16, &a, LONG_MS), 16);
		NEED_EQ(all_done(&l.far, RQ, 16, &a, LONG_MS), 16);
		for (i = 0; i < 16; i++)
			CHECK_EQ(a.done[i].id, round * 16 + i);
	}
	link_close(&l);
}

/* Receives beyond the queue's end are refused, and leave it as it is. */
static void too_many(void)
{
	struct order o = { .op = OP_RECV, .n = 100000 };
	struct plan p = usual;
	struct answer a;
	struct link l;
	uint32_t held;

	p.queues.recv_wr = 8;
	NEED(link_open(&l, &p));
	o.conn = l.far.conn;
	o.work = work(0, &l.far.mem, 0, 64);
	CHECK(ask(&far, &o, &a) < 0);
	held = a.n;
	CHECK(held >= 8 && held < 100000);
	NEED_EQ(send_one(&l.near, 1, 0, 64), 0);
	DONE(&l.near, SQ, 1, SUCCESS);
	DONE(&l.far, RQ, 0, SUCCESS);
	NEED_EQ(recv_one(&l.far, held, 0, 64), 0);
	link_close(&l);
}

static void two_on_one_cq(void)
{
	struct plan p = usual;
	struct done d;
	struct link l;
	bool sent = false, got = false;
	int i;

	p.queues.one_cq = 1;
	NEED(link_open(&l, &p));
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED_EQ(recv_one(&l.near, 2, 0, 64), 0);
	NEED_EQ(send_one(&l.near, 3, 0, 64), 0);
	DONE(&l.far, RQ, 1, SUCCESS);
	NEED_EQ(send_one(&l.far, 4, 0, 64), 0);
	for (i = 0; i < 2; i++) {
		NEED(next_done(&l.near, SQ, &d));
		CHECK_EQ(d.status, IBV_WC_SUCCESS);
		sent |= d.id == 3;
		got |= d.id == 2;
	}
	CHECK(sent && got);
	link_close(&l);
}

static void states(void)
{
	struct link l = { .near.side = &near, .far.side = &far };
	uint32_t port = 0;

	NEED(link_listen(&l, env.far, 4, &port));
	NEED_EQ(link_resolve(&l.near, env.near, env.far, port), 0);
	NEED(point_queues(&l.near, &usual.queues));
	CHECK_EQ(point_state(&l.near), IBV_QPS_INIT);
	/* A receive may wait for the connection. */
	NEED(mem_new(&near, &l.near.mem, 4096, ALL_RIGHTS, 0));
	CHECK_EQ(recv_one(&l.near, 1, 0, 64), 0);
	point_drop(&l.near);
	NEED(link_through(&l, &usual, port));
	CHECK_EQ(point_state(&l.near), IBV_QPS_RTS);
	CHECK_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_ERR);
	/* There is no way back but by RESET. */
	CHECK(point_modify(&l.near, IBV_QPS_RTS) < 0);
	/* iWARP's connection manager ends a connection by this one. */
	if (!env.limits.iwarp)
		CHECK(point_modify(&l.near, IBV_QPS_SQD) < 0);
	CHECK_EQ(point_state(&l.near), IBV_QPS_ERR);
	/* Again is no error. */
	CHECK_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
	link_close(&l);
}

/* Receives that were posted before the connection take its first messages. */
static void early_receives(void)
{
	struct link l = { .near.side = &near, .far.side = &far };
	struct point listener = { .side = &far };
	struct answer a;
	uint32_t port = 0, i;

	NEED(link_listen(&l, env.far, 4, &port));
	listener.conn = l.listener;
	NEED(mem_new(&near, &l.near.mem, MEM_LEN, ALL_RIGHTS, 0));
	NEED(mem_new(&far, &l.far.mem, MEM_LEN, ALL_RIGHTS, 0));
	NEED_EQ(link_resolve(&l.near, env.near, env.far, port), 0);
	NEED(point_queues(&l.near, &usual.queues));
	NEED(point_offer(&l.near, OP_CONNECT, &usual.near));
	NEED(point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a));
	l.far.conn = a.n;
	NEED(point_queues(&l.far, &usual.queues));
	for (i = 0; i < 8; i++)
		NEED_EQ(recv_one(&l.far, i, i * 64, 64), 0);
	NEED(point_offer(&l.far, OP_ACCEPT, &usual.far));
	NEED(point_expect(&l.near, RDMA_CM_EVENT_ESTABLISHED, NULL));
	/* At once: the far end may not know yet that it is established. */
	for (i = 0; i < 8; i++) {
		mem_fill(&l.near.mem, i * 64, 64, i);
		NEED_EQ(send_one(&l.near, i, i * 64, 64), 0);
	}
	for (i = 0; i < 8; i++) {
		DONE(&l.far, RQ, i, SUCCESS);
		CHECK(mem_is(&l.far.mem, i * 64, 64, i));
	}
	NEED(point_expect(&l.far, RDMA_CM_EVENT_ESTABLISHED, NULL));
	link_close(&l);
}

/* What a device says that it cannot do it refuses. */
static void limits(void)
{
	struct link l = { .near.side = &near };
	struct order o = { .op = OP_QUEUES };
	struct answer a;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		struct queues q = usual.queues;

		if (i == 0)
			q.send_wr = env.limits.max_wr + 1;
		else if (i == 1)
			q.recv_wr = env.limits.max_wr + 1;
		else if (i == 2)
			q.sge = env.limits.max_sge + 1;
		else
			q.cqe = env.limits.max_cqe + 1;
		/* Resolving wants no listener. */
		NEED_EQ(link_resolve(&l.near, env.near, env.far, 7471), 0);
		o.conn = l.near.conn;
		o.queues = q;
		CHECK(ask(&near, &o, &a) < 0);
		point_drop(&l.near);
	}
}

/* So many come in order, with that status. */
static void in_order(struct point *p, int which, uint32_t depth,
		     enum ibv_wc_status status)
{
	struct answer a = { 0 };
	uint32_t i, j, n;

	for (i = 0; i < depth; i += n) {
		n = depth - i < MAX_WCS ? depth - i : MAX_WCS;
		NEED_EQ(all_done(p, which, n, &a, LONG_MS), n);
		for (j = 0; j < n; j++) {
			NEED_EQ(a.done[j].id, i + j);
			NEED_EQ(a.done[j].status, status);
		}
	}
	CHECK(nothing_done(p, which));
}

/* Queues of thousands are filled, emptied, and flushed when they are full. */
static void deep(void)
{
	struct order o = { .op = OP_SEND, .flags = 1 };
	uint32_t depth = env.limits.max_wr;
	struct plan p = usual;
	struct answer a;
	struct link l;
	struct work w;

	if (depth > DEEP)
		depth = DEEP;
	p.queues.send_wr = p.queues.recv_wr = depth;
	p.queues.cqe = depth;
	NEED(link_open(&l, &p));
	w = work(0, &l.far.mem, 0, 16);
	NEED_EQ(post_recv(&l.far, &w, depth), 0);
	o.conn = l.near.conn;
	o.n = depth;
	o.work = work(0, &l.near.mem, 0, 16);
	NEED_EQ(ask(&near, &o, &a), 0);
	in_order(&l.far, RQ, depth, IBV_WC_SUCCESS);
	in_order(&l.near, SQ, depth, IBV_WC_SUCCESS);
	w = work(0, &l.near.mem, 0, 16);
	NEED_EQ(post_recv(&l.near, &w, depth), 0);
	CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
	in_order(&l.near, RQ, depth, IBV_WC_WR_FLUSH_ERR);
	link_close(&l);
}

/* The deepest queues that it says it has. */
static void deepest(void)
{
	struct plan p = usual;
	struct link l;

	p.queues.send_wr = p.queues.recv_wr =
		env.limits.max_wr < DEEP ? env.limits.max_wr : DEEP;
	p.queues.sge = env.limits.max_sge < 16 ? env.limits.max_sge : 16;
	NEED(link_open(&l, &p));
	NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 64), 0);
	DONE(&l.near, SQ, 2, SUCCESS);
	DONE(&l.far, RQ, 1, SUCCESS);
	link_close(&l);
}

static const struct group groups[] = {
	{ "queue.unsignalled", unsignalled, "one SEND of ten signals", 0 },
	{ "queue.all_signalled", all_signalled, "sq_sig_all", 0 },
	{ "queue.order", order, "completions come as posted", 0 },
	{ "queue.write_send", write_then_send,
	  "a SEND arrives behind the WRITEs before it", 0 },
	{ "queue.fence", fence, "a fenced SEND waits for READs", 0 },
	{ "queue.full", full, "as many as there is room, 40 times", 0 },
	{ "queue.too_many", too_many, "receives beyond the queue", 0 },
	{ "queue.one_cq", two_on_one_cq, "both queues on one CQ", 0 },
	{ "queue.states", states, "INIT, RTS, ERR and no way back", 0 },
	{ "queue.early", early_receives, "receives before the connection",
	  0 },
	{ "queue.limits", limits, "beyond the device's limits", 0 },
	{ "queue.deep", deep, "thousands of work requests", 0 },
	{ "queue.deepest", deepest, "at the device's limits", 0 },
};

const struct file file_queue = { groups, ARRAY_SIZE(groups) };

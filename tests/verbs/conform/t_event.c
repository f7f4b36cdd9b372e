// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Asynchronous events: a fault of a queue pair is told once, to the program that has
 * it; what a program ends itself is none.
 */
#include "link.h"
#include <errno.h>

#define ENDS	30

/* Devices differ in what they tell; ours is to say what its documents do. */
static bool open_telling(struct link *l, const struct plan *p)
{
	if (!env.codes) {
		skip("the device tells what it likes");
		return false;
	}
	return CHECK(link_open(l, p));
}

/* Each end has that event, and no other; -1: none at all. */
static void told(struct link *l, int near_event, int far_event)
{
	if (near_event >= 0)
		CHECK_EQ(point_async(&l->near, LONG_MS), near_event);
	if (far_event >= 0)
		CHECK_EQ(point_async(&l->far, LONG_MS), far_event);
	CHECK_EQ(point_async(&l->near, SHORT_MS), -1);
	CHECK_EQ(point_async(&l->far, SHORT_MS), -1);
	CHECK_EQ(point_state(&l->near), IBV_QPS_ERR);
}

static void wrong_key(enum ibv_wr_opcode opcode)
{
	struct work w;
	struct link l;

	if (!open_telling(&l, &usual))
		return;
	w = rdma(1, opcode, &l.near.mem, 0, 64, &l.far.mem, 0);
	w.rkey ^= 0x12345600;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	told(&l, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR);
	link_close(&l);
}

static void write_key(void)
{
	wrong_key(IBV_WR_RDMA_WRITE);
}

static void read_key(void)
{
	wrong_key(IBV_WR_RDMA_READ);
}

static void short_receive(void)
{
	struct link l;

	if (!open_telling(&l, &usual))
		return;
	NEED_EQ(recv_one(&l.far, 1, 0, 100), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 101), 0);
	told(&l, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_FATAL);
	link_close(&l);
}

static void no_receive(void)
{
	struct link l;

	if (!open_telling(&l, &usual))
		return;
	NEED_EQ(send_one(&l.near, 1, 0, 64), 0);
	told(&l, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_FATAL);
	link_close(&l);
}

static void receive_key(void)
{
	struct work w;
	struct link l;

	if (!open_telling(&l, &usual))
		return;
	w = work(1, &l.far.mem, 0, 64);
	w.sge[0].skew = 0x00123400;
	NEED_EQ(post_recv(&l.far, &w, 1), 0);
	NEED_EQ(send_one(&l.near, 2, 0, 64), 0);
	told(&l, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR);
	link_close(&l);
}

/* To its peer, an end that has failed is one that has gone. */
static void send_key(void)
{
	struct work w;
	struct link l;

	if (!open_telling(&l, &usual))
		return;
	w = work(1, &l.near.mem, 0, 64);
	w.sge[0].skew = 0x00345600;
	NEED_EQ(post_send(&l.near, &w, 1), 0);
	CHECK_EQ(point_async(&l.near, LONG_MS), IBV_EVENT_QP_FATAL);
	CHECK_EQ(point_async(&l.near, SHORT_MS), -1);
	link_close(&l);
}

/* A completion that is lost ends the connection of its queue pair. */
static void overflow(void)
{
	struct plan p = usual;
	struct link l;
	struct work w;
	uint32_t n;
	int one, two;

	p.queues.cqe = 16;
	p.queues.recv_wr = p.queues.send_wr = 256;
	if (!open_telling(&l, &p))
		return;
	n = l.far.cqe + 8;
	w = work(0, &l.far.mem, 0, 16);
	NEED_EQ(post_recv(&l.far, &w, n), 0);
	w = work(0, &l.near.mem, 0, 16);
	w.flags = 0;
	NEED_EQ(post_send(&l.near, &w, n), 0);
	one = point_async(&l.far, LONG_MS);
	two = point_async(&l.far, LONG_MS);
	CHECK(one == IBV_EVENT_CQ_ERR || two == IBV_EVENT_CQ_ERR);
	CHECK(one == IBV_EVENT_QP_FATAL || two == IBV_EVENT_QP_FATAL);
	CHECK_EQ(point_async(&l.far, SHORT_MS), -1);
	CHECK_EQ(point_state(&l.far), IBV_QPS_ERR);
	/* By number it may have had all that it sent. */
	if (!env.number)
		link_ended(&l);
	link_close(&l);
}

/*
 * A queue pair ends with receives posted whose flushes find no room: what breaks its
 * connection is noted while it goes.  The kernel says whether that was in order.
 */
static void lost_at_end(void)
{
	struct plan p = usual;
	struct link l;
	struct work w;
	int i;

	p.queues.cqe = 1;
	for (i = 0; i < ENDS; i++) {
		NEED(link_open(&l, &p));
		w = work(0, &l.far.mem, 0, 16);
		NEED_EQ(post_recv(&l.far, &w, p.queues.recv_wr), 0);
		/* A message brings all of them to the device. */
		NEED_EQ(send_one(&l.near, 1, 0, 16), 0);
		DONE(&l.near, SQ, 1, SUCCESS);
		point_drop(&l.far);
		link_close(&l);
	}
}

/* Work in both queues when the program disconnects, or says ERR. */
static void no_fault(void)
{
	struct work w;
	struct link l;
	int i;

	for (i = 0; i < 2; i++) {
		if (!open_telling(&l, &usual))
			return;
		NEED_EQ(recv_one(&l.far, 1, 0, 64), 0);
		NEED_EQ(recv_one(&l.near, 1, 0, 64), 0);
		w = rdma(100, IBV_WR_RDMA_WRITE, &l.near.mem, 0, 65536,
			 &l.far.mem, 0);
		NEED_EQ(post_send(&l.near, &w, 20), 0);
		if (i)
			CHECK_EQ(point_modify(&l.near, IBV_QPS_ERR), 0);
		else
			CHECK_EQ(point_do(&l.near, OP_DISCONNECT), 0);
		point_expect(&l.far, RDMA_CM_EVENT_DISCONNECTED, NULL);
		told(&l, -1, -1);
		link_close(&l);
	}
}

/* An object of some kind; NULL: errno says why not. */
static void *pd_new(struct ibv_context *v)
{
	return ibv_alloc_pd(v);
}

static int pd_drop(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *cq_new(struct ibv_context *v)
{
	return ibv_create_cq(v, 1, NULL, NULL, 0);
}

static int cq_drop(void *cq)
{
	return ibv_destroy_cq(cq);
}

static struct ibv_pd *qp_pd;

static void *srq_new(struct ibv_context *v)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1,
						    .max_sge = 1 } };

	(void)v;
	return ibv_create_srq(qp_pd, &attr);
}

static int srq_drop(void *srq)
{
	return ibv_destroy_srq(srq);
}

static struct ibv_cq *qp_cq;

static void *qp_new(struct ibv_context *v)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = qp_cq,
		.recv_cq = qp_cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	(void)v;
	return ibv_create_qp(qp_pd, &attr);
}

static int qp_drop(void *qp)
{
	return ibv_destroy_qp(qp);
}

#define MOST	8192

/*
 * As many as the device says and no more, of all programs together; when one goes,
 * there is room for one.
 */
static void most(struct ibv_context *v, int limit, void *(*make)(struct ibv_context *),
		 int (*drop)(void *))
{
	long long refused = near_counter("over_limit");
	static void *made[MOST + 1];
	int n = 0;

	if (limit > MOST) {
		skip("the device has more than can be tried");
		return;
	}
	while (n <= limit && (made[n] = make(v)))
		n++;
	CHECK_EQ(errno, ENOMEM);
	CHECK(n <= limit);
	/* Others may have some. */
	CHECK(n >= limit - 64);
	if (CHECK(n)) {
		CHECK_EQ(drop(made[--n]), 0);
		made[n] = make(v);
		CHECK(made[n]);
		n += !!made[n];
	}
	CHECK(!make(v));
	if (env.codes)
		CHECK(near_counter("over_limit") >= refused + 2);
	while (n)
		CHECK_EQ(drop(made[--n]), 0);
}

static void limits(void *(*make)(struct ibv_context *), int (*drop)(void *))
{
	struct ibv_context *v = near.end->conn[0].id->verbs;
	struct ibv_device_attr attr;

	NEED_EQ(ibv_query_device(v, &attr), 0);
	most(v, make == pd_new ? attr.max_pd : make == cq_new ? attr.max_cq :
	     make == srq_new ? attr.max_srq : attr.max_qp, make, drop);
}

static void limit_pd(void)
{
	limits(pd_new, pd_drop);
}

static void limit_cq(void)
{
	limits(cq_new, cq_drop);
}

static void limit_qp(void)
{
	struct ibv_context *v = near.end->conn[0].id->verbs;

	qp_pd = ibv_alloc_pd(v);
	qp_cq = ibv_create_cq(v, 1, NULL, NULL, 0);
	NEED(qp_pd && qp_cq);
	limits(qp_new, qp_drop);
	ibv_destroy_cq(qp_cq);
	ibv_dealloc_pd(qp_pd);
}

static void limit_srq(void)
{
	if (!env.limits.max_srq) {
		skip("the device has no shared receive queues");
		return;
	}
	qp_pd = ibv_alloc_pd(near.end->conn[0].id->verbs);
	NEED(qp_pd);
	limits(srq_new, srq_drop);
	ibv_dealloc_pd(qp_pd);
}

static const struct group groups[] = {
	{ "event.write", write_key, "a WRITE with a wrong key", 0 },
	{ "event.read", read_key, "a READ with a wrong key", 0 },
	{ "event.short", short_receive, "a message longer than the receive",
	  0 },
	{ "event.none", no_receive, "no receive for a message", 0 },
	{ "event.receive", receive_key, "a receive with a wrong key", 0 },
	{ "event.send", send_key, "a SEND with a wrong key", 0 },
	{ "event.overflow", overflow, "a completion queue is full", 0 },
	{ "event.lost_at_end", lost_at_end, "a full queue when the QP ends", 0 },
	{ "event.no_fault", no_fault, "disconnect, ERR", 0 },
	{ "limit.pd", limit_pd, "protection domains", 0 },
	{ "limit.cq", limit_cq, "completion queues", 120 },
	{ "limit.qp", limit_qp, "queue pairs", 120 },
	{ "limit.srq", limit_srq, "shared receive queues", 120 },
};

const struct file file_event = { groups, ARRAY_SIZE(groups) };

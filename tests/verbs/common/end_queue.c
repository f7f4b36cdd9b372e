// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is posted, and what completes. */
#include "end.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

bool end_segments(struct end *e, const struct work *w, struct ibv_sge *s)
{
	uint32_t i;

	if (w->n_sge > MAX_SGES)
		return false;
	for (i = 0; i < w->n_sge; i++) {
		const struct sge *g = &w->sge[i];
		struct memory *m = g->mr < MAX_MRS ? &e->mem[g->mr] : NULL;

		if (!m || !m->bytes)
			return false;
		s[i].addr = (uintptr_t)m->bytes + g->off;
		s[i].length = g->len;
		s[i].lkey = (m->mr ? m->mr->lkey : 0) ^ g->skew;
	}
	return true;
}

/* All of them in one call. */
static void post_list(const struct order *o, struct conn *c,
		      struct ibv_sge *s, struct answer *a)
{
	struct ibv_send_wr *w = calloc(o->n, sizeof(*w)), *bad;
	uint32_t i;

	a->rc = -ENOMEM;
	if (!w)
		return;
	for (i = 0; i < o->n; i++) {
		w[i].next = i + 1 < o->n ? &w[i + 1] : NULL;
		w[i].wr_id = o->work.id + i;
		w[i].sg_list = s;
		w[i].num_sge = o->work.n_sge;
		w[i].opcode = o->work.opcode;
		w[i].send_flags = o->work.flags;
	}
	a->rc = end_rc(ibv_post_send(c->id->qp, w, &bad));
	a->n = a->rc ? 0 : o->n;
	free(w);
}

/* One call for each: what a caller does that wants to know which failed. */
static void post(struct end *e, const struct order *o, struct conn *c,
		 struct answer *a)
{
	const struct work *w = &o->work;
	struct ibv_send_wr sw, *bad_send;
	struct ibv_recv_wr rw, *bad_recv;
	struct ibv_sge s[MAX_SGES];
	uint32_t i;
	int rc = 0;

	if (!c->id->qp || !end_segments(e, w, s)) {
		a->rc = -ENOENT;
		return;
	}
	if (o->op == OP_SEND && o->flags && o->n) {
		post_list(o, c, s, a);
		return;
	}
	for (i = 0; i < o->n && !rc; i++) {
		if (o->op == OP_RECV) {
			rw = (struct ibv_recv_wr){
				.wr_id = w->id + i, .sg_list = s,
				.num_sge = w->n_sge,
			};
			rc = ibv_post_recv(c->id->qp, &rw, &bad_recv);
		} else {
			sw = (struct ibv_send_wr){
				.wr_id = w->id + i, .sg_list = s,
				.num_sge = w->n_sge, .opcode = w->opcode,
				.send_flags = w->flags,
			};
			sw.wr.rdma.remote_addr = w->raddr;
			sw.wr.rdma.rkey = w->rkey;
			rc = ibv_post_send(c->id->qp, &sw, &bad_send);
		}
	}
	a->n = i - !!rc;
	/* Libraries differ in the sign. */
	a->rc = end_rc(rc);
}

/* Until there are n, or ms without one more. */
static void poll_cq(const struct order *o, struct conn *c, struct answer *a)
{
	uint64_t end = now_ms() + o->ms;
	struct ibv_wc wc;
	int n;

	a->rc = -ENOENT;
	if (o->which > RQ || !c->cq[o->which] || o->n > MAX_WCS)
		return;
	a->rc = 0;
	while (a->n < o->n) {
		n = ibv_poll_cq(c->cq[o->which], 1, &wc);
		if (n < 0) {
			a->rc = -EIO;
			return;
		}
		if (n) {
			a->done[a->n++] = (struct done){
				wc.wr_id, wc.status, wc.opcode, wc.byte_len,
				wc.qp_num,
			};
			end = now_ms() + o->ms;
			continue;
		}
		if (now_ms() >= end)
			break;
		sched_yield();
	}
	if (a->n < o->n)
		a->rc = -ETIME;
}

static void cq_event(const struct order *o, struct conn *c, struct answer *a)
{
	struct ibv_cq *cq;
	void *context;

	a->rc = -ETIME;
	if (!end_wait(c->channel[o->which]->fd, o->ms))
		return;
	a->rc = ibv_get_cq_event(c->channel[o->which], &cq, &context) ?
		-errno : 0;
	if (a->rc)
		return;
	a->n = cq == c->cq[o->which];
	ibv_ack_cq_events(cq, 1);
}

static void state(struct conn *c, struct answer *a)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	a->rc = -ibv_query_qp(c->id->qp, &attr, IBV_QP_STATE, &init);
	a->v[0] = attr.qp_state;
}

bool end_queue(struct end *e, const struct order *o, struct answer *a)
{
	struct ibv_qp_attr attr = { .qp_state = o->n };
	struct conn *c = NULL;

	if (o->op < OP_SEND || o->op > OP_MODIFY)
		return false;
	c = end_conn(e, o->conn, a);
	if (!c)
		return true;
	if (!c->id->qp || o->which > RQ) {
		a->rc = -ENOENT;
		return true;
	}
	switch (o->op) {
	case OP_SEND:
	case OP_RECV:
		post(e, o, c, a);
		break;
	case OP_POLL:
		poll_cq(o, c, a);
		break;
	case OP_ARM:
		a->rc = -ibv_req_notify_cq(c->cq[o->which], o->n);
		break;
	case OP_CQ_EVENT:
		cq_event(o, c, a);
		break;
	case OP_STATE:
		state(c, a);
		break;
	default:
		a->rc = end_rc(ibv_modify_qp(c->id->qp, &attr, IBV_QP_STATE));
	}
	return true;
}

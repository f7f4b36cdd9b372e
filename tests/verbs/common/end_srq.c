// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Shared receive queues; and their ring as a program of bad faith writes it. */
#include "end.h"
#include "maps.h"
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/siw-abi.h>
#include <unistd.h>

/* The one that was not there before; NULL: the device shares no ring. */
static void *new_map(const struct map *before, unsigned int n)
{
	struct map now[DEVICE_MAPS];
	unsigned int i, j, m = device_maps(now, DEVICE_MAPS);

	for (i = 0; i < m; i++) {
		for (j = 0; j < n && before[j].bytes != now[i].bytes; j++)
			;
		if (j == n)
			return now[i].bytes;
	}
	return NULL;
}

static void new_srq(struct end *e, const struct order *o, struct answer *a)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = o->n, .max_sge = 4 },
	};
	struct map before[DEVICE_MAPS];
	unsigned int i, n;

	for (i = 1; i < MAX_SRQS && e->srq[i].srq; i++)
		;
	a->rc = -ENFILE;
	if (i == MAX_SRQS || o->pd >= MAX_PDS || !e->pd[o->pd])
		return;
	n = device_maps(before, DEVICE_MAPS);
	e->srq[i].srq = ibv_create_srq(e->pd[o->pd], &init);
	a->rc = e->srq[i].srq ? 0 : -errno;
	if (a->rc)
		return;
	e->srq[i].ring = new_map(before, n);
	e->srq[i].entries = init.attr.max_wr;
	a->n = i;
	a->v[0] = init.attr.max_wr;
}

/* An entry of the ring as it is not to be; flags last, as the library does. */
static void write_ring(struct shared *s, const struct order *o,
		       const struct ibv_sge *sge, struct answer *a)
{
	const struct work *w = &o->work;
	struct siw_rqe *r = s->ring;
	unsigned int i;

	a->rc = r && o->off < s->entries ? 0 : -ENOENT;
	if (a->rc)
		return;
	r += o->off;
	r->id = w->id;
	r->num_sge = o->n;
	for (i = 0; i < w->n_sge && i < SIW_MAX_SGE; i++)
		r->sge[i] = (struct siw_sge){ sge[i].addr, sge[i].length,
					      sge[i].lkey };
	__atomic_store_n(&r->flags, o->flags, __ATOMIC_RELEASE);
}

static void post(struct shared *s, const struct order *o, struct ibv_sge *sge,
		 struct answer *a)
{
	struct ibv_recv_wr w = { .sg_list = sge, .num_sge = o->work.n_sge };
	struct ibv_recv_wr *bad;
	int rc = 0;

	while (a->n < o->n && !rc) {
		w.wr_id = o->work.id + a->n;
		rc = ibv_post_srq_recv(s->srq, &w, &bad);
		a->n += !rc;
	}
	a->rc = end_rc(rc);
}

static void modify(struct shared *s, const struct order *o, struct answer *a)
{
	struct ibv_srq_attr attr = { .max_wr = o->n, .srq_limit = o->n };

	a->rc = end_rc(ibv_modify_srq(s->srq, &attr, o->flags));
}

/* By the call itself: libsiw has no function for it. */
static void query(struct shared *s, struct answer *a)
{
	struct ib_uverbs_query_srq_resp resp = { 0 };
	struct {
		struct ib_uverbs_cmd_hdr head;
		struct ib_uverbs_query_srq body;
	} q = {
		.head = { IB_USER_VERBS_CMD_QUERY_SRQ, sizeof(q) / 4,
			  sizeof(resp) / 4 },
		.body = { .response = (uintptr_t)&resp,
			  .srq_handle = s->srq->handle },
	};

	if (write(s->srq->context->cmd_fd, &q, sizeof(q)) != sizeof(q))
		a->rc = -errno;
	a->v[0] = resp.max_wr;
	a->v[1] = resp.srq_limit;
}

bool end_srq(struct end *e, const struct order *o, struct answer *a)
{
	struct ibv_sge sge[MAX_SGES];
	struct shared *s;

	if (o->op < OP_SRQ || o->op > OP_DROP_SRQ)
		return false;
	if (o->op == OP_SRQ) {
		new_srq(e, o, a);
		return true;
	}
	s = o->srq && o->srq < MAX_SRQS ? &e->srq[o->srq] : NULL;
	a->rc = -ENOENT;
	if (!s || !s->srq || !end_segments(e, &o->work, sge))
		return true;
	a->rc = 0;
	switch (o->op) {
	case OP_SRQ_RECV:
		post(s, o, sge, a);
		break;
	case OP_SRQ_RING:
		write_ring(s, o, sge, a);
		break;
	case OP_SRQ_MODIFY:
		modify(s, o, a);
		break;
	case OP_SRQ_QUERY:
		query(s, a);
		break;
	default:
		a->rc = end_rc(ibv_destroy_srq(s->srq));
		if (!a->rc)
			s->srq = NULL;
	}
	return true;
}

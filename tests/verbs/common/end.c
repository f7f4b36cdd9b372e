// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* An end's memory and the end itself; the rest is in end_cm.c, end_queue.c. */
#include "end.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct conn *end_conn(struct end *e, uint32_t n, struct answer *a)
{
	if (n < MAX_CONNS && e->conn[n].id)
		return &e->conn[n];
	a->rc = -ENOENT;
	return NULL;
}

bool end_wait(int fd, uint32_t ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* The byte that a seed has at an offset. */
static uint8_t pattern(uint32_t seed, uint64_t off)
{
	uint32_t x = seed * 0x9e3779b1u + (uint32_t)(off >> 2);

	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	return x >> (8 * (off & 3));
}

static void open_end(struct end *e, struct answer *a)
{
	struct limits *l = &a->limits;
	struct ibv_context *c = e->conn[0].id->verbs;
	struct ibv_device_attr d;
	struct ibv_port_attr p;

	e->pd[0] = ibv_alloc_pd(c);
	a->rc = e->pd[0] ? -ibv_query_device(c, &d) : -errno;
	if (!a->rc)
		a->rc = -ibv_query_port(c, e->conn[0].id->port_num, &p);
	if (a->rc)
		return;
	snprintf(l->device, sizeof(l->device), "%s",
		 ibv_get_device_name(c->device));
	l->iwarp = c->device->transport_type == IBV_TRANSPORT_IWARP;
	l->max_sge = d.max_sge;
	l->max_sge_rd = d.max_sge_rd;
	l->max_wr = d.max_qp_wr;
	l->max_cqe = d.max_cqe;
	l->max_rd_atom = d.max_qp_rd_atom;
	l->max_init_rd = d.max_qp_init_rd_atom;
	l->max_srq = d.max_srq;
	l->max_srq_wr = d.max_srq_wr;
	l->max_msg = p.max_msg_sz;
}

static void new_pd(struct end *e, struct answer *a)
{
	unsigned int i;

	for (i = 1; i < MAX_PDS && e->pd[i]; i++)
		;
	a->rc = -ENFILE;
	if (i == MAX_PDS)
		return;
	e->pd[i] = ibv_alloc_pd(e->conn[0].id->verbs);
	a->rc = e->pd[i] ? 0 : -errno;
	a->n = i;
}

static void drop_pd(struct end *e, uint32_t n, struct answer *a)
{
	a->rc = n < MAX_PDS && e->pd[n] ? -ibv_dealloc_pd(e->pd[n]) : -ENOENT;
	if (!a->rc)
		e->pd[n] = NULL;
}

static void new_mr(struct end *e, const struct order *o, struct answer *a)
{
	struct memory *m;
	unsigned int i;

	for (i = 1; i < MAX_MRS && e->mem[i].bytes; i++)
		;
	a->rc = -ENFILE;
	if (i == MAX_MRS || o->pd >= MAX_PDS || !e->pd[o->pd])
		return;
	m = &e->mem[i];
	m->bytes = mmap(NULL, o->len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->bytes == MAP_FAILED)
		m->bytes = NULL;
	m->mr = m->bytes ? ibv_reg_mr(e->pd[o->pd], m->bytes, o->len,
				      o->flags) : NULL;
	a->rc = m->mr ? 0 : -errno;
	if (a->rc) {
		if (m->bytes)
			munmap(m->bytes, o->len);
		m->bytes = NULL;
		return;
	}
	m->len = o->len;
	a->n = i;
	a->key = m->mr->lkey;
	a->rkey = m->mr->rkey;
	a->v[0] = (uintptr_t)m->bytes;
}

static void memory(struct end *e, const struct order *o, struct answer *a)
{
	struct memory *m = o->mr < MAX_MRS ? &e->mem[o->mr] : NULL;
	volatile uint8_t *p;
	uint64_t i;

	a->rc = -ENOENT;
	if (!m || !m->bytes)
		return;
	a->rc = -ERANGE;
	if (o->op != OP_DROP_MR && (o->off > m->len ||
				    o->len > m->len - o->off))
		return;
	a->rc = 0;
	p = m->bytes + o->off;
	switch (o->op) {
	case OP_DROP_MR:
		a->rc = m->mr ? -ibv_dereg_mr(m->mr) : -ENOENT;
		if (!a->rc)
			m->mr = NULL;
		break;
	case OP_FILL:
		for (i = 0; i < o->len; i++)
			p[i] = pattern(o->seed, i);
		break;
	default:
		for (i = 0; i < o->len && p[i] == pattern(o->seed, i); i++)
			;
		a->v[0] = i;
	}
}

/* Events of others, as of a connection that the test closed, are no news. */
static void async_event(struct conn *c, const struct ibv_srq *srq,
			const struct order *o, struct answer *a)
{
	struct ibv_context *v = c->id->verbs;
	struct ibv_async_event ev;
	bool ours;

	a->rc = -ETIME;
	while (a->rc && end_wait(v->async_fd, o->ms)) {
		if (ibv_get_async_event(v, &ev)) {
			a->rc = -errno;
			return;
		}
		switch (ev.event_type) {
		case IBV_EVENT_CQ_ERR:
			ours = ev.element.cq == c->cq[SQ] ||
			       ev.element.cq == c->cq[RQ];
			break;
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
		case IBV_EVENT_QP_LAST_WQE_REACHED:
			ours = ev.element.qp == c->id->qp;
			break;
		case IBV_EVENT_SRQ_LIMIT_REACHED:
			ours = ev.element.srq == srq;
			break;
		default:
			ours = false;
		}
		a->event = ev.event_type;
		ibv_ack_async_event(&ev);
		if (ours)
			a->rc = 0;
	}
}

void end_do(struct end *e, const struct order *o, struct answer *a)
{
	struct conn *c;

	memset(a, 0, sizeof(*a));
	if (end_cm(e, o, a)) {
		if (o->op == OP_OPEN && !a->rc)
			open_end(e, a);
		return;
	}
	if (end_queue(e, o, a) || end_srq(e, o, a))
		return;
	switch (o->op) {
	case OP_PD:
		new_pd(e, a);
		break;
	case OP_DROP_PD:
		drop_pd(e, o->pd, a);
		break;
	case OP_MR:
		new_mr(e, o, a);
		break;
	case OP_DROP_MR:
	case OP_FILL:
	case OP_CHECK:
		memory(e, o, a);
		break;
	case OP_ASYNC:
		c = end_conn(e, o->conn, a);
		if (c)
			async_event(c, o->srq < MAX_SRQS ?
				    e->srq[o->srq].srq : NULL, o, a);
		break;
	default:
		a->rc = -EINVAL;
	}
}

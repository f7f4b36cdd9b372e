// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections, by librdmacm.  Each has an event channel of its own. */
#include "end.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_MS	5000

/* 10.0.0.1, fe80::1%eth0, or "*" and "::" for any. */
static bool address(const char *text, uint32_t port,
		    struct sockaddr_storage *s)
{
	struct sockaddr_in6 *six = (void *)s;
	struct sockaddr_in *four = (void *)s;
	char copy[64], *zone;

	memset(s, 0, sizeof(*s));
	if (!strchr(text, ':')) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return !strcmp(text, "*") ||
		       inet_pton(AF_INET, text, &four->sin_addr) == 1;
	}
	strncpy(copy, text, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = 0;
	zone = strchr(copy, '%');
	if (zone) {
		*zone = 0;
		six->sin6_scope_id = if_nametoindex(zone + 1);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return inet_pton(AF_INET6, copy, &six->sin6_addr) == 1;
}

struct conn *end_unused(struct end *e, struct answer *a, uint32_t first)
{
	uint32_t i;

	for (i = first; i < MAX_CONNS; i++) {
		if (e->conn[i].id)
			continue;
		memset(&e->conn[i], 0, sizeof(e->conn[i]));
		e->conn[i].events = rdma_create_event_channel();
		a->rc = e->conn[i].events ? 0 : -errno;
		a->n = i;
		return a->rc ? NULL : &e->conn[i];
	}
	a->rc = -ENFILE;
	return NULL;
}

void end_drop_qp(struct conn *c)
{
	if (!c->number)
		rdma_destroy_qp(c->id);
	else if (!ibv_destroy_qp(c->id->qp))
		c->id->qp = NULL;
}

static void drop(struct conn *c)
{
	int i;

	if (c->id && c->id->qp)
		end_drop_qp(c);
	for (i = 0; i < 2; i++) {
		if (c->cq[i] && !(i && c->one_cq))
			ibv_destroy_cq(c->cq[i]);
		if (c->channel[i] && !(i && c->one_cq))
			ibv_destroy_comp_channel(c->channel[i]);
	}
	if (c->number)
		number_drop(c);
	else if (c->id)
		rdma_destroy_id(c->id);
	if (c->events)
		rdma_destroy_event_channel(c->events);
	memset(c, 0, sizeof(*c));
}

/* Bound to an address; a listener when there is a backlog. */
static void bound(struct end *e, const struct order *o, struct answer *a)
{
	struct conn *c = end_unused(e, a, o->op != OP_OPEN);
	struct sockaddr_storage s;

	if (!c)
		return;
	if (!address(o->address, o->port, &s)) {
		a->rc = -EINVAL;
	} else if (rdma_create_id(c->events, &c->id, NULL, RDMA_PS_TCP) ||
		   rdma_bind_addr(c->id, (void *)&s) ||
		   (o->op == OP_LISTEN && rdma_listen(c->id, o->n))) {
		a->rc = -errno;
	} else if (o->op == OP_OPEN && !c->id->verbs) {
		a->rc = -ENODEV;
	} else {
		a->v[0] = ntohs(rdma_get_src_port(c->id));
		return;
	}
	drop(c);
}

static bool next_event(struct conn *c, uint32_t ms, struct answer *a,
		       struct rdma_cm_event **ev)
{
	a->rc = -ETIME;
	if (!end_wait(c->events->fd, ms))
		return false;
	a->rc = rdma_get_cm_event(c->events, ev) ? -errno : 0;
	return !a->rc;
}

/* One step of resolving: the event that it ends with is to be this one. */
static bool step(struct conn *c, enum rdma_cm_event_type want,
		 struct answer *a)
{
	struct rdma_cm_event *ev;

	if (!next_event(c, RESOLVE_MS * 2, a, &ev))
		return false;
	a->event = ev->event;
	a->status = ev->status;
	rdma_ack_cm_event(ev);
	if (a->event == want)
		return true;
	a->rc = a->status < 0 ? a->status : -EHOSTUNREACH;
	return false;
}

static void resolve(struct end *e, const struct order *o, struct answer *a)
{
	struct sockaddr_storage own, peer;
	struct conn *c = end_unused(e, a, 1);

	if (!c)
		return;
	if (!address(o->address, 0, &own) || !address(o->peer, o->port, &peer))
		a->rc = -EINVAL;
	else if (rdma_create_id(c->events, &c->id, NULL, RDMA_PS_TCP) ||
		 rdma_resolve_addr(c->id, (void *)&own, (void *)&peer,
				   RESOLVE_MS))
		a->rc = -errno;
	else if (step(c, RDMA_CM_EVENT_ADDR_RESOLVED, a))
		a->rc = rdma_resolve_route(c->id, RESOLVE_MS) ? -errno : 0;
	if (!a->rc)
		step(c, RDMA_CM_EVENT_ROUTE_RESOLVED, a);
	if (a->rc)
		drop(c);
}

static bool make_cq(struct conn *c, int i, uint32_t cqe)
{
	c->channel[i] = ibv_create_comp_channel(c->id->verbs);
	if (!c->channel[i])
		return false;
	c->cq[i] = ibv_create_cq(c->id->verbs, cqe, NULL, c->channel[i], 0);
	return c->cq[i];
}

static void queues(struct end *e, const struct order *o, struct conn *c,
		   struct answer *a)
{
	const struct queues *q = &o->queues;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = q->all_signalled,
		.cap = { q->send_wr, q->recv_wr, q->sge, q->sge,
			 q->inline_data },
	};

	a->rc = -ENOENT;
	if (q->pd >= MAX_PDS || !e->pd[q->pd] || q->srq >= MAX_SRQS ||
	    (q->srq && !e->srq[q->srq].srq))
		return;
	c->one_cq = q->one_cq;
	errno = ENOMEM;
	if (!make_cq(c, SQ, q->cqe) || (!q->one_cq && !make_cq(c, RQ, q->cqe))) {
		a->rc = -errno;
		return;
	}
	if (q->one_cq) {
		c->channel[RQ] = c->channel[SQ];
		c->cq[RQ] = c->cq[SQ];
	}
	init.send_cq = c->cq[SQ];
	init.recv_cq = c->cq[RQ];
	init.srq = e->srq[q->srq].srq;
	if (c->number)
		a->rc = number_qp(c, e->pd[q->pd], &init, a->gid);
	else
		a->rc = rdma_create_qp(c->id, e->pd[q->pd], &init) ?
			-errno : 0;
	if (a->rc)
		return;
	a->queues = (struct queues){
		.send_wr = init.cap.max_send_wr,
		.recv_wr = init.cap.max_recv_wr,
		.sge = init.cap.max_send_sge,
		.inline_data = init.cap.max_inline_data,
		.cqe = c->cq[SQ]->cqe,
	};
	a->n = c->id->qp->qp_num;
}

static void offer(const struct order *o, struct conn *c, struct answer *a)
{
	const struct offer *f = &o->offer;
	struct rdma_conn_param p = {
		.private_data = f->len ? f->data : NULL,
		.private_data_len = f->len, .responder_resources = f->ird,
		.initiator_depth = f->ord, .retry_count = 7,
		.rnr_retry_count = f->rnr_retry,
	};
	int rc;

	if (o->op == OP_CONNECT)
		rc = rdma_connect(c->id, &p);
	else if (o->op == OP_ACCEPT)
		rc = rdma_accept(c->id, &p);
	else
		rc = rdma_reject(c->id, f->data, f->len);
	a->rc = rc ? -errno : 0;
}

static void event(struct end *e, const struct order *o, struct conn *c,
		  struct answer *a)
{
	struct rdma_cm_event *ev;
	struct rdma_conn_param p;
	struct rdma_cm_id *id;
	struct conn *child;

	if (!next_event(c, o->ms, a, &ev))
		return;
	a->event = ev->event;
	a->status = ev->status;
	p = ev->param.conn;
	id = ev->id;
	switch (ev->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
		a->offer.ird = p.responder_resources;
		a->offer.ord = p.initiator_depth;
		a->offer.len = p.private_data_len;
		if (a->offer.len)
			memcpy(a->offer.data, p.private_data, a->offer.len);
		break;
	default:
		break;
	}
	rdma_ack_cm_event(ev);
	if (a->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return;
	child = end_unused(e, a, 1);
	if (child && rdma_migrate_id(id, child->events))
		a->rc = -errno;
	if (child && !a->rc)
		child->id = id;
	else
		rdma_destroy_id(id);
}

bool end_cm(struct end *e, const struct order *o, struct answer *a)
{
	struct conn *c = NULL;

	if (end_number(e, o, a))
		return true;
	switch (o->op) {
	case OP_OPEN:
	case OP_LISTEN:
		bound(e, o, a);
		return true;
	case OP_RESOLVE:
		resolve(e, o, a);
		return true;
	case OP_QUEUES:
	case OP_CONNECT:
	case OP_ACCEPT:
	case OP_REJECT:
	case OP_EVENT:
	case OP_DISCONNECT:
	case OP_DROP:
		c = end_conn(e, o->conn, a);
		break;
	case OP_MEET:
	case OP_INIT:
		a->rc = -ENOTCONN;
		return true;
	default:
		return false;
	}
	if (!c)
		return true;
	switch (o->op) {
	case OP_QUEUES:
		queues(e, o, c, a);
		break;
	case OP_EVENT:
		event(e, o, c, a);
		break;
	case OP_DISCONNECT:
		a->rc = rdma_disconnect(c->id) ? -errno : 0;
		break;
	case OP_DROP:
		drop(c);
		break;
	default:
		offer(o, c, a);
	}
	return true;
}

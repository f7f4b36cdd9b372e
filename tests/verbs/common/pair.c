// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "pair.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_MS	20000

static const struct offer offer = { .ird = 4, .ord = 4, .rnr_retry = 7 };

static bool ask(struct pair *p, int which, struct order *o, struct answer *a,
		const char *what)
{
	end_do(p->end[which], o, a);
	if (a->rc)
		fprintf(stderr, "%s: %s\n", what, strerror(-a->rc));
	return !a->rc;
}

static bool expect(struct pair *p, int which, uint32_t conn, uint32_t want,
		   struct answer *a)
{
	struct order o = { .op = OP_EVENT, .conn = conn, .ms = EVENT_MS };

	if (!ask(p, which, &o, a, "an event of a connection"))
		return false;
	if (a->event == want)
		return true;
	fprintf(stderr, "event %s, status %d\n", rdma_event_str(a->event),
		a->status);
	return false;
}

/* A shared receive queue of this end: the first, as q->srq says. */
static bool shared(struct pair *p, int which, const struct queues *q)
{
	struct order o = { .op = OP_SRQ, .n = q->recv_wr };
	struct answer a;

	return ask(p, which, &o, &a, "a shared receive queue") &&
	       a.n == q->srq;
}

static bool queues(struct pair *p, int which, const struct queues *q)
{
	struct order o = { .op = OP_QUEUES, .conn = p->conn[which],
			   .queues = *q };
	struct answer a;

	if (q->srq && !shared(p, which, q))
		return false;
	return ask(p, which, &o, &a, "a queue pair");
}

static bool offered(struct pair *p, int which, enum op op)
{
	struct order o = { .op = op, .conn = p->conn[which], .offer = offer };
	struct answer a;

	return ask(p, which, &o, &a, op == OP_CONNECT ? "connect" : "accept");
}

static bool memory(struct pair *p, int which, uint64_t len)
{
	struct order o = { .op = OP_MR, .len = len,
			   .flags = IBV_ACCESS_LOCAL_WRITE |
				    IBV_ACCESS_REMOTE_WRITE |
				    IBV_ACCESS_REMOTE_READ };
	struct answer a;

	if (!ask(p, which, &o, &a, "registering memory"))
		return false;
	p->mr[which] = a.n;
	memset(pair_mem(p, which)->bytes, 1, len);
	return true;
}

static bool addressed(struct pair *p, int which, const char *address)
{
	struct order o = { .op = OP_OPEN };
	struct answer a;

	p->end[which] = calloc(1, sizeof(*p->end[which]));
	snprintf(o.address, sizeof(o.address), "%s", address);
	if (!p->end[which] || !ask(p, which, &o, &a, address))
		return false;
	if (!which)
		p->limits = a.limits;
	return true;
}

/* Each has queues, whose number the other is told. */
static bool by_number(struct pair *p, const char *address[2],
		      const struct queues *q)
{
	struct order meet[2] = { };
	struct answer a;

	for (int i = 0; i < 2; i++) {
		struct order resolve = { .op = OP_RESOLVE };
		struct order make = { .op = OP_QUEUES, .queues = *q };

		snprintf(resolve.address, sizeof(resolve.address), "%s",
			 address[i]);
		if (!ask(p, i, &resolve, &a, "a place"))
			return false;
		p->conn[i] = a.n;
		make.conn = a.n;
		if ((q->srq && !shared(p, i, q)) ||
		    !ask(p, i, &make, &a, "a queue pair"))
			return false;
		meet[!i] = (struct order){ .op = OP_MEET, .n = a.n,
					   .offer = offer };
		memcpy(meet[!i].gid, a.gid, sizeof(a.gid));
	}
	for (int i = 0; i < 2; i++) {
		meet[i].conn = p->conn[i];
		if (!ask(p, i, &meet[i], &a, "meeting by number"))
			return false;
	}
	return true;
}

/* By librdmacm. */
static bool by_address(struct pair *p, const char *near, const char *far,
		       const struct queues *q)
{
	struct order listen = { .op = OP_LISTEN, .n = 4 };
	struct order resolve = { .op = OP_RESOLVE };
	struct answer a;

	snprintf(listen.address, sizeof(listen.address), "%s", far);
	snprintf(resolve.address, sizeof(resolve.address), "%s", near);
	snprintf(resolve.peer, sizeof(resolve.peer), "%s", far);
	if (!ask(p, 1, &listen, &a, "listen"))
		return false;
	p->listener = a.n;
	resolve.port = a.v[0];
	if (!ask(p, 0, &resolve, &a, "resolving the address"))
		return false;
	p->conn[0] = a.n;
	if (!queues(p, 0, q) || !offered(p, 0, OP_CONNECT) ||
	    !expect(p, 1, p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, &a))
		return false;
	p->conn[1] = a.n;
	return queues(p, 1, q) && offered(p, 1, OP_ACCEPT) &&
	       expect(p, 0, p->conn[0], RDMA_CM_EVENT_ESTABLISHED, &a) &&
	       expect(p, 1, p->conn[1], RDMA_CM_EVENT_ESTABLISHED, &a);
}

bool pair_open(struct pair *p, const char *near, const char *far,
	       const struct queues *q, uint64_t mem)
{
	const char *address[] = { near, far };

	memset(p, 0, sizeof(*p));
	if (!addressed(p, 0, near) || !addressed(p, 1, far))
		return false;
	return (end_is_number(near) ? by_number(p, address, q) :
				      by_address(p, near, far, q)) &&
	       memory(p, 0, mem) && memory(p, 1, mem);
}

void pair_close(struct pair *p)
{
	struct order o = { .op = OP_DROP };
	struct answer a;
	int i;

	for (i = 0; i < 2; i++) {
		o.conn = p->conn[i];
		end_do(p->end[i], &o, &a);
		o.op = OP_DROP_MR;
		o.mr = p->mr[i];
		end_do(p->end[i], &o, &a);
		o.op = OP_DROP;
	}
	o.conn = p->listener;
	end_do(p->end[1], &o, &a);
}

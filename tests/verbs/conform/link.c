// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "link.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct plan usual = {
	.queues = { .send_wr = 64, .recv_wr = 64, .sge = 4, .inline_data = 64,
		    .cqe = 128 },
	.near = { .ird = 4, .ord = 4, .rnr_retry = 7 },
	.far = { .ird = 4, .ord = 4, .rnr_retry = 7 },
	.mem = MEM_LEN,
	.access = ALL_RIGHTS,
};

static void copy(char *to, const char *from, size_t n)
{
	snprintf(to, n, "%s", from);
}

bool point_listen(struct point *p, const char *address, uint32_t backlog,
		  uint32_t *port)
{
	struct order o = { .op = OP_LISTEN, .port = *port, .n = backlog };
	struct answer a;

	copy(o.address, address, sizeof(o.address));
	if (!CHECK_EQ(ask(p->side, &o, &a), 0))
		return false;
	p->conn = a.n;
	*port = a.v[0];
	return CHECK(*port);
}

bool link_listen(struct link *l, const char *address, uint32_t backlog,
		 uint32_t *port)
{
	struct point listener = { .side = &far };
	bool ok;

	/* Queue pairs that are connected by number have no listener. */
	if (env.number) {
		*port = 1;
		return true;
	}
	ok = point_listen(&listener, address, backlog, port);
	l->listener = listener.conn;
	return ok;
}

int link_resolve(struct point *p, const char *from, const char *to,
		 uint32_t port)
{
	struct order o = { .op = OP_RESOLVE, .port = port };
	struct answer a;

	copy(o.address, from, sizeof(o.address));
	copy(o.peer, to, sizeof(o.peer));
	ask(p->side, &o, &a);
	if (!a.rc)
		p->conn = a.n;
	return a.rc;
}

bool point_queues(struct point *p, const struct queues *q)
{
	struct order o = { .op = OP_QUEUES, .conn = p->conn, .queues = *q };
	struct answer a;

	if (!CHECK_EQ(ask(p->side, &o, &a), 0))
		return false;
	p->qp = a.n;
	p->cqe = a.queues.cqe;
	p->inline_data = a.queues.inline_data;
	memcpy(p->gid, a.gid, sizeof(p->gid));
	return true;
}

bool point_offer(struct point *p, enum op op, const struct offer *f)
{
	struct order o = { .op = op, .conn = p->conn, .offer = *f };
	struct answer a;

	return CHECK_EQ(ask(p->side, &o, &a), 0);
}

int point_meet(struct point *p, const struct point *peer, const struct offer *f,
	       bool rtr_only)
{
	struct order o = { .op = OP_MEET, .conn = p->conn, .n = peer->qp,
			   .flags = rtr_only, .offer = *f };
	struct answer a;

	memcpy(o.gid, peer->gid, sizeof(o.gid));
	return ask(p->side, &o, &a);
}

bool point_event(struct point *p, struct answer *a, uint32_t ms)
{
	struct order o = { .op = OP_EVENT, .conn = p->conn, .ms = ms };

	return !ask(p->side, &o, a);
}

bool point_expect(struct point *p, enum rdma_cm_event_type want,
		  struct answer *a)
{
	struct answer mine;

	if (env.number)
		return true;
	if (!a)
		a = &mine;
	if (!CHECK(point_event(p, a, LONG_MS)))
		return false;
	if (a->event == want)
		return CHECK_EQ(a->event, want);
	printf("  event %s, status %d, for %s\n", rdma_event_str(a->event),
	       a->status, rdma_event_str(want));
	return CHECK_EQ(a->event, want);
}

int point_do(struct point *p, enum op op)
{
	struct order o = { .op = op, .conn = p->conn };
	struct answer a;

	return ask(p->side, &o, &a);
}

void point_drop(struct point *p)
{
	if (p->conn)
		CHECK_EQ(point_do(p, OP_DROP), 0);
	p->conn = 0;
}

/* From the listener's request to the end that it makes. */
static bool take_request(struct link *l)
{
	struct point listener = { .side = &far, .conn = l->listener };

	l->far.side = &far;
	if (!point_expect(&listener, RDMA_CM_EVENT_CONNECT_REQUEST,
			  &l->request))
		return false;
	l->far.conn = l->request.n;
	return true;
}

bool link_ends(struct link *l, const struct queues *near_queues,
	       const struct queues *far_queues)
{
	l->near.side = &near;
	l->far.side = &far;
	return CHECK_EQ(link_resolve(&l->near, env.near, env.far, 0), 0) &&
	       CHECK_EQ(link_resolve(&l->far, env.far, env.near, 0), 0) &&
	       point_queues(&l->near, near_queues) &&
	       point_queues(&l->far, far_queues);
}

bool link_through(struct link *l, const struct plan *p, uint32_t port)
{
	struct queues near_queues = p->queues, far_queues = p->queues;

	near_queues.srq = p->near_srq;
	far_queues.srq = p->far_srq;
	if (env.number)
		return link_ends(l, &near_queues, &far_queues) &&
		       CHECK_EQ(point_meet(&l->near, &l->far, &p->near,
					   false), 0) &&
		       CHECK_EQ(point_meet(&l->far, &l->near, &p->far,
					   false), 0);
	l->near.side = &near;
	l->far.side = &far;
	return CHECK_EQ(link_resolve(&l->near, p->from ? p->from : env.near,
				     p->to ? p->to : env.far, port), 0) &&
	       point_queues(&l->near, &near_queues) &&
	       point_offer(&l->near, OP_CONNECT, &p->near) &&
	       take_request(l) &&
	       point_queues(&l->far, &far_queues) &&
	       point_offer(&l->far, OP_ACCEPT, &p->far) &&
	       point_expect(&l->near, RDMA_CM_EVENT_ESTABLISHED, &l->reply) &&
	       point_expect(&l->far, RDMA_CM_EVENT_ESTABLISHED, NULL);
}

bool link_open(struct link *l, const struct plan *p)
{
	uint32_t port = 0;

	memset(l, 0, sizeof(*l));
	return link_listen(l, p->listen ? p->listen : env.far, 16, &port) &&
	       link_through(l, p, port) &&
	       mem_new(&near, &l->near.mem, p->mem, p->access, 0) &&
	       mem_new(&far, &l->far.mem, p->mem, p->access, 0);
}

void link_close(struct link *l)
{
	struct point listener = { .side = &far, .conn = l->listener };

	point_drop(&l->near);
	point_drop(&l->far);
	point_drop(&listener);
	if (l->near.mem.n)
		mem_drop(&l->near.mem);
	if (l->far.mem.n)
		mem_drop(&l->far.mem);
}

bool mem_new(struct side *s, struct mem *m, uint64_t len, uint32_t access,
	     uint32_t pd)
{
	struct order o = { .op = OP_MR, .len = len, .flags = access,
			   .pd = pd };
	struct answer a;

	if (!CHECK_EQ(ask(s, &o, &a), 0))
		return false;
	*m = (struct mem){ s, a.n, a.key, a.rkey, a.v[0], len };
	return true;
}

bool mem_drop(struct mem *m)
{
	struct order o = { .op = OP_DROP_MR, .mr = m->n };
	struct answer a;

	return CHECK_EQ(ask(m->side, &o, &a), 0);
}

void mem_fill(struct mem *m, uint64_t off, uint64_t len, uint32_t seed)
{
	struct order o = { .op = OP_FILL, .mr = m->n, .off = off, .len = len,
			   .seed = seed };
	struct answer a;

	CHECK_EQ(ask(m->side, &o, &a), 0);
}

bool mem_is(struct mem *m, uint64_t off, uint64_t len, uint32_t seed)
{
	struct order o = { .op = OP_CHECK, .mr = m->n, .off = off, .len = len,
			   .seed = seed };
	struct answer a;

	if (ask(m->side, &o, &a))
		return false;
	if (a.v[0] != len)
		printf("  %llu of %llu bytes as they should be\n",
		       (unsigned long long)a.v[0], (unsigned long long)len);
	return a.v[0] == len;
}

struct work work(uint64_t id, const struct mem *m, uint64_t off, uint32_t len)
{
	struct work w = { .id = id, .opcode = IBV_WR_SEND,
			  .flags = IBV_SEND_SIGNALED };

	if (m) {
		w.n_sge = 1;
		w.sge[0] = (struct sge){ .mr = m->n, .off = off, .len = len };
	}
	return w;
}

struct work rdma(uint64_t id, enum ibv_wr_opcode opcode, const struct mem *m,
		 uint64_t off, uint32_t len, const struct mem *remote,
		 uint64_t roff)
{
	struct work w = work(id, m, off, len);

	w.opcode = opcode;
	w.rkey = remote->rkey;
	w.raddr = remote->addr + roff;
	return w;
}

static int post(struct point *p, enum op op, const struct work *w, uint32_t n)
{
	struct order o = { .op = op, .conn = p->conn, .n = n, .work = *w };
	struct answer a;

	return ask(p->side, &o, &a);
}

int post_send(struct point *p, const struct work *w, uint32_t n)
{
	return post(p, OP_SEND, w, n);
}

int post_recv(struct point *p, const struct work *w, uint32_t n)
{
	return post(p, OP_RECV, w, n);
}

int send_one(struct point *p, uint64_t id, uint64_t off, uint32_t len)
{
	struct work w = work(id, &p->mem, off, len);

	return post_send(p, &w, 1);
}

int recv_one(struct point *p, uint64_t id, uint64_t off, uint32_t len)
{
	struct work w = work(id, &p->mem, off, len);

	return post_recv(p, &w, 1);
}

uint32_t all_done(struct point *p, int which, uint32_t n, struct answer *a,
		  uint32_t ms)
{
	struct order o = { .op = OP_POLL, .conn = p->conn, .which = which,
			   .n = n, .ms = ms };

	ask(p->side, &o, a);
	return a->n;
}

bool next_done(struct point *p, int which, struct done *d)
{
	struct answer a;

	if (all_done(p, which, 1, &a, LONG_MS) != 1)
		return false;
	*d = a.done[0];
	return true;
}

bool nothing_done(struct point *p, int which)
{
	struct answer a;

	if (!all_done(p, which, 1, &a, SHORT_MS))
		return true;
	printf("  completion of %llu: %s\n", (unsigned long long)a.done[0].id,
	       ibv_wc_status_str(a.done[0].status));
	return false;
}

bool expect_done(struct point *p, int which, uint64_t id,
		 enum ibv_wc_status status, const char *file, int line)
{
	struct done d = { 0 };

	if (!check(next_done(p, which, &d), file, line, "a completion comes"))
		return false;
	if (d.status != status)
		printf("  %s, for %s\n", ibv_wc_status_str(d.status),
		       ibv_wc_status_str(status));
	check_eq(d.id, id, file, line, "wr_id");
	check_eq(d.qp, p->qp, file, line, "qp_num");
	return check_eq(d.status, status, file, line, "status") && d.id == id;
}

int point_state(struct point *p)
{
	struct order o = { .op = OP_STATE, .conn = p->conn };
	struct answer a;

	return ask(p->side, &o, &a) ? a.rc : (int)a.v[0];
}

int point_modify(struct point *p, enum ibv_qp_state s)
{
	struct order o = { .op = OP_MODIFY, .conn = p->conn, .n = s };
	struct answer a;

	return ask(p->side, &o, &a);
}

int point_arm(struct point *p, int which, bool solicited)
{
	struct order o = { .op = OP_ARM, .conn = p->conn, .which = which,
			   .n = solicited };
	struct answer a;

	return ask(p->side, &o, &a);
}

bool point_notified(struct point *p, int which, uint32_t ms)
{
	struct order o = { .op = OP_CQ_EVENT, .conn = p->conn, .which = which,
			   .ms = ms };
	struct answer a;

	return !ask(p->side, &o, &a) && CHECK_EQ(a.n, 1);
}

/*
 * An iWARP device ends the connection itself.  A RoCE device leaves that to
 * the program: the queue pair that found the error is in error, no more.
 */
void link_ended(struct link *l)
{
	unsigned int i;

	if (env.limits.iwarp) {
		point_expect(&l->near, RDMA_CM_EVENT_DISCONNECTED, NULL);
		point_expect(&l->far, RDMA_CM_EVENT_DISCONNECTED, NULL);
		CHECK_EQ(point_state(&l->far), IBV_QPS_ERR);
	}
	/* Without events, its completion may be told just before. */
	for (i = 0; env.number && point_state(&l->near) != IBV_QPS_ERR &&
	     i < LONG_MS / 10; i++)
		usleep(10000);
	CHECK_EQ(point_state(&l->near), IBV_QPS_ERR);
}

int point_async(struct point *p, uint32_t ms)
{
	struct order o = { .op = OP_ASYNC, .conn = p->conn, .ms = ms };
	struct answer a;

	return ask(p->side, &o, &a) ? -1 : (int)a.event;
}

long long near_counter(const char *name)
{
	long long value = -1;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 env.limits.device, name);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

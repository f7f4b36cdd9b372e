// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The queues that a program shares with the device, by the ABI of siw: the
 * stock library makes the connection, then its mapped rings are filled with
 * whatever comes, doorbells are rung, and a second thread changes what the
 * device is reading.  The rings are found in /proc/self/maps: the library
 * does not tell.
 */
#include "fuzz.h"
#include "maps.h"
#include "pair.h"
#include <errno.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/siw-abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_MAPS	16
#define MEM		(256u << 10)
#define WRS		32	/* entries of a queue: each has pages of its own */

struct state {
	struct dice d;
	struct pair p;
	struct map map[MAX_MAPS];
	bool gone[MAX_MAPS];
	unsigned int n_maps;
	volatile bool stop;
	bool qp_gone[2], cq_gone[2];
	uint32_t srq;			/* of each end, or 0 */
	unsigned int next[MAX_MAPS];	/* of each map, as a queue of requests */
};

/* A mapping that is still there. */
static struct map *some_map(struct state *s, struct dice *d)
{
	unsigned int i;

	if (!s->n_maps)
		return NULL;
	i = draw(d, s->n_maps);
	return s->gone[i] ? NULL : &s->map[i];
}

static uint32_t some_key(struct state *s, bool remote)
{
	struct memory *m = pair_mem(&s->p, draw(&s->d, 2));
	uint32_t key = m->mr ? (remote ? m->mr->rkey : m->mr->lkey) : 0;

	switch (draw(&s->d, 8)) {
	case 0: return key ^ (1u << draw(&s->d, 32));
	case 1: return dice(&s->d);
	case 2: return 0;
	default: return key;
	}
}

static uint64_t some_address(struct state *s)
{
	struct memory *m = pair_mem(&s->p, draw(&s->d, 2));

	switch (draw(&s->d, 8)) {
	case 0: return dice(&s->d);
	case 1: return 0xffff888000000000ull + draw(&s->d, 1 << 30);
	case 2: return (uintptr_t)m->bytes + MEM - draw(&s->d, 64);
	case 3: return -(uint64_t)draw(&s->d, 4096);
	default: return (uintptr_t)m->bytes + draw(&s->d, MEM);
	}
}

static uint32_t some_length(struct state *s)
{
	switch (draw(&s->d, 6)) {
	case 0: return odd_number(&s->d);
	case 1: return 0;
	case 2: return draw(&s->d, MEM);
	default: return draw(&s->d, 200);
	}
}

static void segments(struct state *s, struct siw_sge *sge)
{
	unsigned int i;

	for (i = 0; i < SIW_MAX_SGE; i++) {
		sge[i].laddr = some_address(s);
		sge[i].length = some_length(s);
		sge[i].lkey = some_key(s, false);
	}
}

static uint8_t some_count(struct state *s)
{
	static const uint8_t odd[] = { 7, 16, 127, 128, 255 };

	return once_in(&s->d, 5) ? odd[draw(&s->d, ARRAY_SIZE(odd))] :
				   draw(&s->d, SIW_MAX_SGE + 1);
}

static uint16_t some_flags(struct state *s)
{
	uint16_t f = SIW_WQE_VALID;

	if (once_in(&s->d, 8))
		return dice(&s->d);
	if (once_in(&s->d, 2))
		f |= SIW_WQE_SIGNALLED;
	if (once_in(&s->d, 4))
		f |= SIW_WQE_INLINE;
	if (once_in(&s->d, 4))
		f |= SIW_WQE_SOLICITED;
	if (once_in(&s->d, 6))
		f |= SIW_WQE_READ_FENCE;
	return f;
}

/* As a send queue's entry; flags last, as the library does. */
static void write_send(struct state *s, struct siw_sqe *q)
{
	q->id = dice(&s->d);
	q->num_sge = some_count(s);
	q->opcode = once_in(&s->d, 6) ? dice(&s->d) : draw(&s->d, 4) == 3 ?
		    SIW_OP_SEND : draw(&s->d, SIW_OP_SEND + 1);
	q->rkey = some_key(s, true);
	q->raddr = some_address(s);
	segments(s, q->sge);
	__atomic_store_n(&q->flags, some_flags(s), __ATOMIC_RELEASE);
}

static void write_receive(struct state *s, struct siw_rqe *q)
{
	q->id = dice(&s->d);
	q->num_sge = some_count(s);
	q->opcode = dice(&s->d);
	segments(s, q->sge);
	__atomic_store_n(&q->flags, some_flags(s), __ATOMIC_RELEASE);
}

/* The next entries in turn, and now and then just any. */
static void write_entries(struct state *s)
{
	struct map *m = some_map(s, &s->d);
	bool send = once_in(&s->d, 2);
	size_t each = send ? sizeof(struct siw_sqe) : sizeof(struct siw_rqe);
	unsigned int n, at, *next;

	if (!m)
		return;
	next = &s->next[m - s->map];
	for (n = draw(&s->d, 6) + 1; n; n--) {
		at = once_in(&s->d, 4) ? draw(&s->d, m->len / each) :
					 (*next)++ % WRS;
		if ((at + 1) * each > m->len)
			continue;
		if (send)
			write_send(s, (void *)(m->bytes + at * each));
		else
			write_receive(s, (void *)(m->bytes + at * each));
	}
}

/* Bytes anywhere: of a CQ too, its flags and its entries. */
static void scribble(struct state *s)
{
	struct map *m = some_map(s, &s->d);
	unsigned int i;

	for (i = draw(&s->d, 64); m && i; i--)
		m->bytes[draw(&s->d, m->len)] = dice(&s->d);
}

static void doorbell(struct state *s)
{
	uint64_t raw[64] = { 0 };
	struct ib_uverbs_cmd_hdr *head = (void *)raw;
	struct ib_uverbs_post_send *body = (void *)(head + 1);
	int which = draw(&s->d, 2);
	struct conn *c = pair_conn(&s->p, which);
	uint32_t bad;
	size_t n = sizeof(*head) + sizeof(*body);

	if (s->qp_gone[which])
		return;
	body->qp_handle = c->id->qp->handle;
	body->wqe_size = sizeof(struct ib_uverbs_send_wr);
	body->response = (uintptr_t)&bad;
	if (once_in(&s->d, 10)) {
		/* Requests in the call, which this ABI has in the ring. */
		body->wr_count = draw(&s->d, 3);
		body->sge_count = draw(&s->d, 4);
		n += draw(&s->d, 64) * 4;
	}
	if (once_in(&s->d, 20))
		body->wqe_size = odd_number(&s->d);
	head->command = IB_USER_VERBS_CMD_POST_SEND;
	head->in_words = n / 4;
	head->out_words = 1;
	if (write(c->id->verbs->cmd_fd, raw, n) < 0)
		return;
}

/* What an honest program does, so that there is something to disturb. */
static void honest(struct state *s)
{
	int which = draw(&s->d, 2);
	struct order o = { .op = once_in(&s->d, 2) ? OP_SEND : OP_RECV,
			   .conn = s->p.conn[which], .n = draw(&s->d, 8) };
	struct answer a;

	if (s->qp_gone[which])
		return;
	if (o.op == OP_RECV && s->srq)
		o.op = OP_SRQ_RECV;
	o.srq = s->srq;
	o.work = (struct work){ .id = dice(&s->d), .n_sge = 1,
				.flags = IBV_SEND_SIGNALED };
	o.work.opcode = once_in(&s->d, 2) ? IBV_WR_SEND :
			once_in(&s->d, 2) ? IBV_WR_RDMA_WRITE :
					    IBV_WR_RDMA_READ;
	o.work.rkey = some_key(s, true);
	o.work.raddr = some_address(s);
	o.work.sge[0] = (struct sge){ .mr = s->p.mr[which],
				      .off = draw(&s->d, MEM),
				      .len = draw(&s->d, 20000) };
	end_do(s->p.end[which], &o, &a);
}

static void look(struct state *s)
{
	int which = draw(&s->d, 2);
	struct order o = { .op = once_in(&s->d, 3) ? OP_ARM : OP_POLL,
			   .conn = s->p.conn[which], .which = draw(&s->d, 2),
			   .n = 8 };
	struct answer a;

	if (s->qp_gone[which] || s->cq_gone[which])
		return;
	if (o.op == OP_ARM)
		o.n = draw(&s->d, 2);
	end_do(s->p.end[which], &o, &a);
}

/* Part of a mapping, or all of it, while the device uses it. */
static void unmap(struct state *s)
{
	struct map *m = some_map(s, &s->d);

	if (!m)
		return;
	/* The other thread writes there: it is to be ready for that. */
	s->gone[m - s->map] = true;
	munmap(m->bytes, m->len);
}

/* The child has the same descriptors, and no mapping of the rings. */
static void forked(struct state *s)
{
	pid_t pid = fork();

	if (!pid) {
		doorbell(s);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* The queue that both could share: its limit, its answers, its end. */
static void shared(struct state *s)
{
	static const enum op op[] = { OP_SRQ_MODIFY, OP_SRQ_MODIFY,
				      OP_SRQ_QUERY, OP_DROP_SRQ };
	struct order o = { .op = op[draw(&s->d, ARRAY_SIZE(op))],
			   .srq = s->srq, .n = draw(&s->d, WRS + 2),
			   .flags = once_in(&s->d, 6) ? dice(&s->d) :
						       IBV_SRQ_LIMIT };
	struct answer a;

	if (once_in(&s->d, 8))
		o.n = odd_number(&s->d);
	end_do(s->p.end[draw(&s->d, 2)], &o, &a);
}

/* Objects, in any order: what is in use has to stay. */
static void destroy(struct state *s)
{
	int which = draw(&s->d, 2), q = draw(&s->d, 2);
	struct conn *c = pair_conn(&s->p, which);
	struct memory *m = pair_mem(&s->p, which);

	switch (draw(&s->d, 7)) {
	case 0:
		if (!s->qp_gone[which])
			end_drop_qp(c);
		s->qp_gone[which] = true;
		break;
	case 1:
		if (!s->cq_gone[which] && s->qp_gone[which] &&
		    !ibv_destroy_cq(c->cq[q])) {
			s->cq_gone[which] = true;
			c->cq[q] = NULL;
		}
		break;
	case 2:
		if (m->mr && !ibv_dereg_mr(m->mr))
			m->mr = NULL;
		break;
	case 3:
		if (s->p.end[which]->pd[0] &&
		    !ibv_dealloc_pd(s->p.end[which]->pd[0]))
			s->p.end[which]->pd[0] = NULL;
		break;
	case 4:
		if (!c->number)
			rdma_disconnect(c->id);
		break;
	case 5:
		shared(s);
		break;
	default:
		if (!s->qp_gone[which])
			ibv_modify_qp(c->id->qp, &(struct ibv_qp_attr){
				.qp_state = draw(&s->d, 8) }, IBV_QP_STATE);
	}
}

/* Memory that is registered goes from the address space. */
static void pull_memory(struct state *s)
{
	struct memory *m = pair_mem(&s->p, draw(&s->d, 2));

	madvise(m->bytes + draw(&s->d, MEM / 4096) * 4096, 4096,
		MADV_DONTNEED);
}

/* Changes flags, counts and lengths while the device looks at them. */
static void *racer(void *arg)
{
	struct state *s = arg;
	struct dice d;
	struct map *m;
	size_t each;
	uint8_t *p;

	dice_seed(&d, s->d.state ^ 0x5bd1e995);
	while (!s->stop) {
		m = some_map(s, &d);
		each = once_in(&d, 2) ? sizeof(struct siw_sqe) :
					sizeof(struct siw_rqe);
		if (!m)
			continue;
		p = m->bytes + draw(&d, m->len / each) * each;
		if (p + each > m->bytes + m->len)
			continue;
		switch (draw(&d, 4)) {
		case 0: p[8] ^= SIW_WQE_VALID; break;
		case 1: p[10] = dice(&d); break;
		case 2: p[11] = draw(&d, 16); break;
		default: p[24 + draw(&d, 96)] ^= 1u << draw(&d, 8);
		}
	}
	return NULL;
}

static void step(struct state *s)
{
	uint32_t n = draw(&s->d, 100);

	if (n < 35)
		write_entries(s);
	else if (n < 60)
		doorbell(s);
	else if (n < 78)
		honest(s);
	else if (n < 88)
		look(s);
	else if (n < 92)
		scribble(s);
	else if (n < 94)
		shared(s);
	else if (n < 97)
		pull_memory(s);
	else if (n < 98)
		forked(s);
	else if (once_in(&s->d, 4))
		unmap(s);
	else if (once_in(&s->d, 2))
		destroy(s);
}

void rings_round(const char *near, const char *far, uint64_t seed,
		 unsigned int steps)
{
	static struct state s;
	struct queues q = { .send_wr = WRS, .recv_wr = WRS, .sge = 4,
			    .inline_data = 64, .cqe = 64 };
	pthread_t t;
	bool racing;

	dice_seed(&s.d, seed);
	/* Receives of their own in two rounds of three. */
	q.srq = s.srq = once_in(&s.d, 3);
	if (!pair_open(&s.p, near, far, &q, MEM))
		_exit(3);
	s.n_maps = device_maps(s.map, MAX_MAPS);
	racing = !once_in(&s.d, 3) && !pthread_create(&t, NULL, racer, &s);
	while (steps--)
		step(&s);
	s.stop = true;
	if (racing)
		pthread_join(t, NULL);
	/* The kernel ends what is left, in its order; some of it in ours. */
	if (once_in(&s.d, 2))
		_exit(0);
	for (steps = 12; steps--;)
		destroy(&s);
	_exit(0);
}

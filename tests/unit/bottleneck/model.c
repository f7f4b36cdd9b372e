// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICK_US		4000u	/* HZ=250 */
#define ACK_EVERY	16u
#define RTO_MIN_US	2000u
#define RTO_MAX_US	1000000u
#define LINE		8192u	/* a power of two */

struct packet {
	uint64_t at;		/* when it arrives */
	uint32_t flow, seq, ack, ranges;
	struct via_range range[VIA_WIN_RANGES];
	bool now;		/* ACK_NOW; TCP: none */
};

/* Things in the order of their arrival. */
struct line {
	struct packet p[LINE];
	uint32_t head, tail;
};

struct via {
	struct via_win_tx tx;
	struct via_credit credit;
	bool turn;		/* it was given credit by another one */
	struct via_win_rx rx;
	struct via_rtt rtt;
	uint32_t dsack, acked, late_acked, retries, rtt_seq;
	uint64_t stamp, rtt_start, rtt_at;
	bool late, rtt_on;
};

struct tcp {
	double cwnd, ssthresh, wmax, west, k;
	uint64_t epoch, last_ack, sent_at[LINE];
	uint32_t nxt, una, recover;
	double rtt;		/* us */
};

static struct {
	struct model *m;
	uint64_t now, wire_free;
	struct line there, back;
	struct via via[MODEL_FLOWS];
	struct tcp tcp[MODEL_FLOWS];
	uint64_t got[MODEL_FLOWS];
	uint64_t bits[MODEL_FLOWS][VIA_WIN_WORDS(VIA_WIN_MAX)];
	struct via_pool pool[MODEL_FLOWS];	/* by host */
} s;

static bool chance(uint32_t millionths)
{
	return (uint32_t)(random() % 1000000) < millionths;
}

static struct packet *last(struct line *l, uint32_t back)
{
	return &l->p[(l->tail - 1 - back) % LINE];
}

/* Frames that wait for the wire; the delay line behind it is not the queue. */
static uint32_t waiting(void)
{
	if (s.wire_free <= s.now)
		return 0;
	return (s.wire_free - s.now) / s.m->frame_us;
}

static void transmit(struct packet p)
{
	struct model *m = s.m;
	uint32_t by;

	if (chance(m->loss))
		return;
	if (waiting() >= m->queue || s.there.tail - s.there.head >= LINE - 1) {
		m->drops++;
		return;
	}
	if (s.wire_free < s.now)
		s.wire_free = s.now;
	s.wire_free += m->frame_us;
	p.at = s.wire_free + m->delay_us;
	s.there.p[s.there.tail++ % LINE] = p;
	/* An earlier frame that this one overtakes. */
	if (!chance(m->reorder) || !m->gap)
		return;
	by = 1 + random() % m->gap;
	for (uint32_t i = 0; i < by && s.there.tail - s.there.head > i + 1;
	     i++) {
		struct packet *a = last(&s.there, i), *b = last(&s.there, i + 1);
		uint64_t at = a->at;
		struct packet x = *a;

		a->at = b->at;
		b->at = at;
		x = *a;
		*a = *b;
		*b = x;
		at = a->at;
		a->at = b->at > at ? b->at : at;
		b->at = b->at > at ? at : b->at;
	}
}

/* Ours */

static void via_put(struct via *v, uint32_t flow, uint32_t seq, bool now)
{
	if (!v->rtt_on && s.now - v->rtt_at >= TICK_US) {
		v->rtt_on = true;
		v->rtt_at = v->rtt_start = s.now;
		v->rtt_seq = seq;
	}
	transmit((struct packet){ .flow = flow, .seq = seq, .now = now });
}

static struct via_pool *pool_of(uint32_t flow)
{
	return &s.pool[flow % s.m->hosts];
}

static struct via_cong_now moment(const struct via *v)
{
	return (struct via_cong_now){ .us = s.now, .rtt = v->rtt.srtt / 8 };
}

/* As unlock_pool() of share.c. */
static void share(uint32_t flow)
{
	struct via *v = &s.via[flow];
	struct via_work work = VIA_WORK(~0u);
	struct via_credit *c;

	while ((c = via_pool_serve(pool_of(flow), &work)))
		if (c != &v->credit)
			list_entry(c, struct via, credit)->turn = true;
	via_credit_see(&v->credit);
	v->tx.credit = v->credit.mine;
}

static void give(uint32_t flow)
{
	struct via *v = &s.via[flow];

	via_credit_give(pool_of(flow), &v->credit, via_win_pipe(&v->tx));
	share(flow);
}

/* As more_room() of send.c. */
static bool more_room(uint32_t flow)
{
	struct via *v = &s.via[flow];
	uint32_t had = v->tx.credit, frames;

	if (via_win_room(&v->tx))
		return false;
	if (via_win_is_short(&v->tx)) {
		frames = via_win_wants(&v->tx);
		free(via_win_use(&v->tx, malloc(via_win_ring_bytes(frames)),
				 frames));
	}
	via_credit_take(pool_of(flow), &v->credit, v->tx.limit, v->tx.lost,
			s.now / 1000);
	share(flow);
	return v->tx.credit > had;
}

static void via_send_some(uint32_t flow)
{
	struct via *v = &s.via[flow];
	uint32_t seq, room, half;

	while (via_win_lost(&v->tx, &seq)) {
		if (!via_win_room(&v->tx))
			return;
		if (seq == v->rtt_seq)
			v->rtt_on = false;
		s.m->resent++;
		via_win_resent(&v->tx, seq);
		transmit((struct packet){ .flow = flow, .seq = seq,
					  .now = true });
	}
	room = via_win_room_new(&v->tx);
	half = via_win_half(&v->tx);
	while (room) {
		if (!via_win_flight(&v->tx))
			v->stamp = s.now;
		seq = via_win_push(&v->tx, 0, 0, 1, 1);
		via_put(v, flow, seq, room == 1 || room == half);
		room--;
	}
}

static void via_send(uint32_t flow)
{
	struct via *v = &s.via[flow];

	if (v->tx.cwr) {
		v->tx.cwr = false;
		via_cong_loss(&pool_of(flow)->cong, &v->credit.flow, v->tx.una,
			      v->tx.nxt, moment(v));
		give(flow);
	}
	do {
		via_send_some(flow);
	} while (more_room(flow));
}

/* As run_turns() of share.c. */
static void via_turns(void)
{
	struct via_credit *c;
	bool any = true;
	uint32_t i;

	for (i = 0; i < s.m->hosts; i++)
		while ((c = via_pool_visit(&s.pool[i])))
			give(list_entry(c, struct via, credit) - s.via);
	while (any) {
		any = false;
		for (i = 0; i < s.m->via; i++) {
			if (!s.via[i].turn)
				continue;
			s.via[i].turn = false;
			any = true;
			via_send(i);
		}
	}
}

static void via_ack_out(uint32_t flow)
{
	struct via *v = &s.via[flow];

	struct packet p = {
		.at = s.now + s.m->delay_us, .flow = flow,
		.ack = v->rx.next, .seq = v->dsack,
	};

	v->acked = v->rx.next;
	p.ranges = via_win_ranges(&v->rx, p.range);
	v->dsack = 0;
	if (chance(s.m->loss) || s.back.tail - s.back.head >= LINE - 1)
		return;
	s.back.p[s.back.tail++ % LINE] = p;
}

static void via_receive(const struct packet *p)
{
	struct via *v = &s.via[p->flow];
	bool ack = p->now;

	switch (via_win_place(&v->rx, p->seq)) {
	case VIA_WIN_NEXT:
		s.got[p->flow]++;
		while (via_win_taken(&v->rx)) {
			s.got[p->flow]++;
			ack = true;
		}
		if (v->rx.next - v->acked >= ACK_EVERY)
			ack = true;
		break;
	case VIA_WIN_HOLD:
		via_win_hold(&v->rx, p->seq);
		ack = true;
		break;
	case VIA_WIN_DUP:
		v->dsack = p->seq;
		ack = true;
		break;
	default:
		return;
	}
	if (ack)
		via_ack_out(p->flow);
}

static void via_acked(const struct packet *p)
{
	struct via *v = &s.via[p->flow];

	struct via_pool *pool = pool_of(p->flow);
	uint32_t n;

	if (p->seq)
		via_win_dsack(&v->tx, p->seq);
	if (v->tx.undo) {
		v->tx.undo = false;
		via_cong_undo(&pool->cong, &v->credit.flow);
		share(p->flow);
	}
	n = via_win_ack(&v->tx, p->ack, p->range, p->ranges);
	if (pool->want) {
		via_cong_hear(&pool->cong, &v->credit.flow, v->tx.nxt,
			      moment(v));
		if (n && !list_empty(&pool->waiters) &&
		    !via_win_recovers(&v->tx))
			via_cong_grow(&pool->cong, n, s.now / 1000);
		give(p->flow);
	}
	if (n || (p->ranges && v->tx.news)) {
		v->stamp = s.now;
		v->retries = 0;
	}
	if (v->rtt_on && (via_seq_before(v->rtt_seq, p->ack) ||
			  via_win_arrived(&v->tx, v->rtt_seq))) {
		v->rtt_on = false;
		via_rtt_sample(&v->rtt, s.now - v->rtt_start,
			       RTO_MIN_US, RTO_MAX_US);
	}
	via_send(p->flow);
}

static void via_timeout(uint32_t flow, bool again)
{
	struct via_pool *pool = pool_of(flow);
	struct via *v = &s.via[flow];
	struct via_cong_now now = moment(v);

	now.rtt = v->rtt.rto;
	v->tx.cwr = false;
	via_cong_timeout(&pool->cong, &v->credit.flow, v->tx.nxt,
			 pool->granted - v->credit.mine, again, now);
	give(flow);
}

/* As timer.c does it. */
static void via_tick(uint32_t flow)
{
	struct via *v = &s.via[flow];
	uint64_t rto = ((uint64_t)v->rtt.rto + TICK_US - 1) / TICK_US;

	rto <<= v->retries < 10 ? v->retries : 10;
	if (rto > RTO_MAX_US / TICK_US)
		rto = RTO_MAX_US / TICK_US;
	if (via_win_flight(&v->tx) &&
	    (via_win_pipe(&v->tx) || !via_credit_waits(&v->credit)) &&
	    s.now >= v->stamp + (rto + 2) * TICK_US) {
		s.m->timeouts++;
		v->stamp = s.now;
		if (!v->retries++) {
			via_win_probe(&v->tx);
			if (!via_win_room(&v->tx))
				via_credit_force(pool_of(flow), &v->credit, 1);
			share(flow);
		} else {
			v->rtt_on = false;
			via_timeout(flow, via_win_timeout(&v->tx));
		}
		via_send(flow);
	}
	if (v->rx.next == v->acked) {
		v->late = false;
	} else if (v->late && v->late_acked == v->acked) {
		v->late = false;
		via_ack_out(flow);
	} else {
		v->late = true;
		v->late_acked = v->acked;
	}
}

/* TCP: CUBIC with its friendly region, selective acknowledgements, no Hystart */

static void tcp_send(uint32_t flow)
{
	struct tcp *t = &s.tcp[flow];

	while (t->nxt - t->una < (uint32_t)t->cwnd) {
		t->sent_at[t->nxt % LINE] = s.now;
		transmit((struct packet){ .flow = flow, .seq = t->nxt++ });
	}
}

static void tcp_cut(struct tcp *t, double to)
{
	t->wmax = t->cwnd < t->wmax ? t->cwnd * 0.85 : t->cwnd;
	t->ssthresh = fmax(t->cwnd * 0.7, 2);
	t->cwnd = to ? to : t->ssthresh;
	t->epoch = 0;
	t->recover = t->nxt;
}

static void tcp_grow(struct tcp *t)
{
	double at, want;

	if (t->cwnd < t->ssthresh) {
		t->cwnd++;
		return;
	}
	if (!t->epoch) {
		t->epoch = s.now;
		t->west = t->cwnd;
		t->k = t->wmax > t->cwnd ? cbrt((t->wmax - t->cwnd) / 0.4) : 0;
		if (t->wmax < t->cwnd)
			t->wmax = t->cwnd;
	}
	at = (s.now - t->epoch + t->rtt) / 1e6 - t->k;
	want = 0.4 * at * at * at + t->wmax;
	t->west += 0.529 / t->cwnd;
	want = fmin(fmax(want, t->west), 1.5 * t->cwnd);
	if (want > t->cwnd)
		t->cwnd += (want - t->cwnd) / t->cwnd;
}

/* One queue, so what has not come before this one is lost. */
static void tcp_acked(const struct packet *p)
{
	struct tcp *t = &s.tcp[p->flow];
	double rtt = s.now - t->sent_at[p->seq % LINE];

	if ((int32_t)(p->seq - t->una) < 0)
		return;
	t->rtt = t->rtt ? t->rtt * 0.875 + rtt * 0.125 : rtt;
	t->last_ack = s.now;
	if (p->seq != t->una && (int32_t)(t->una - t->recover) >= 0)
		tcp_cut(t, 0);
	else
		tcp_grow(t);
	t->una = p->seq + 1;
	tcp_send(p->flow);
}

static void tcp_tick(uint32_t flow)
{
	struct tcp *t = &s.tcp[flow];

	if (t->nxt == t->una || s.now < t->last_ack + 200000)
		return;
	t->una = t->nxt;
	t->last_ack = s.now;
	tcp_cut(t, 1);
	tcp_send(flow);
}

/* The clock */

static void arrived(const struct packet *p)
{
	if (p->flow < s.m->via) {
		via_receive(p);
		return;
	}
	s.got[p->flow]++;
	if (chance(s.m->loss) || s.back.tail - s.back.head >= LINE - 1)
		return;
	s.back.p[s.back.tail++ % LINE] = (struct packet){
		.at = s.now + s.m->delay_us, .flow = p->flow, .seq = p->seq,
	};
}

static void tick(void)
{
	uint32_t i;

	for (i = 0; i < s.m->via; i++)
		via_tick(i);
	for (; i < s.m->via + s.m->tcp; i++)
		tcp_tick(i);
	via_turns();
}

static bool next_packet(struct line *l, uint64_t until, struct packet *p)
{
	if (l->head == l->tail || l->p[l->head % LINE].at > until)
		return false;
	*p = l->p[l->head++ % LINE];
	return true;
}

/* Everything up to a tick, in order. */
static void run_until(uint64_t until)
{
	struct packet p;
	uint64_t a, b;

	for (;;) {
		a = s.there.head == s.there.tail ? UINT64_MAX :
		    s.there.p[s.there.head % LINE].at;
		b = s.back.head == s.back.tail ? UINT64_MAX :
		    s.back.p[s.back.head % LINE].at;
		if ((a < b ? a : b) > until)
			break;
		if (a <= b && next_packet(&s.there, until, &p)) {
			s.now = p.at > s.now ? p.at : s.now;
			arrived(&p);
		} else if (next_packet(&s.back, until, &p)) {
			s.now = p.at > s.now ? p.at : s.now;
			if (p.flow < s.m->via) {
				via_acked(&p);
				via_turns();
			} else {
				tcp_acked(&p);
			}
		}
	}
	s.now = until;
}

void model_run(struct model *m)
{
	uint32_t n = m->via + m->tcp, i;
	double whole;

	memset(&s, 0, sizeof(s));
	s.m = m;
	m->timeouts = m->resent = m->drops = 0;
	m->via_sum = m->tcp_sum = 0;
	if (!m->hosts)
		m->hosts = 1;
	s.now = 1000000;
	if (!m->window)
		m->window = 64;
	for (i = 0; i < m->hosts; i++) {
		via_pool_init(&s.pool[i], s.now / 1000);
		via_cong_bound(&s.pool[i].cong, m->window);
	}
	for (i = 0; i < m->via; i++) {
		via_credit_init(&s.via[i].credit);
		via_cong_begin(&pool_of(i)->cong, &s.via[i].credit.flow, 0);
		via_win_init(&s.via[i].tx, 0, m->window);
		via_win_rx_init(&s.via[i].rx, 0, m->window);
		via_win_rx_use(&s.via[i].rx, s.bits[i], VIA_WIN_MAX);
		via_rtt_init(&s.via[i].rtt, 20000);
	}
	for (; i < n; i++) {
		s.tcp[i].cwnd = 10;
		s.tcp[i].ssthresh = 1e9;
		s.tcp[i].last_ack = s.now;
	}
	for (i = 0; i < n; i++) {
		if (i < m->via)
			via_send(i);
		else
			tcp_send(i);
		run_until(s.now + 997);
	}
	for (uint64_t t = 0; t < m->seconds * 1000000ull; t += TICK_US) {
		if (t == 1000000)
			memset(s.got, 0, sizeof(s.got));
		run_until(s.now + TICK_US);
		tick();
	}
	whole = (m->seconds - 1) * 1e6 / m->frame_us;
	for (i = 0; i < n; i++) {
		m->goodput[i] = s.got[i] / whole;
		if (i < m->via)
			m->via_sum += m->goodput[i];
		else
			m->tcp_sum += m->goodput[i];
	}
	for (i = 0; i < m->via; i++)
		free(via_win_end(&s.via[i].tx));
}

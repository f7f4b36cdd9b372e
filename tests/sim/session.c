// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connections of streams: their beginning, their end, what is known then. */
#include <stdio.h>
#include "stream.h"

#define TOLD_NS		(30 * SEC)	/* from one end's loss to the other's */
#define GONE_NS		(25 * SEC)	/* a host's death to the news of it */
#define CONNECT_NS	(120 * SEC)

/* All that was posted has an end. */
static void collect_all(struct stream_end *e)
{
	u64 until = sim_clock + SEC;

	while (e->fifo_head != e->fifo_tail ||
	       e->vi.q[1].collected != e->vi.q[1].tail) {
		stream_collect(e, 10 * MS);
		sim_expect(sim_clock < until,
			   "(%s: %u sends and %u receives do not end)", e->name,
			   e->fifo_tail - e->fifo_head,
			   e->vi.q[1].tail - e->vi.q[1].collected);
	}
}

/* An event tells of a loss, once; what is flushed is seen before it. */
static void check_event(struct stream_end *e)
{
	u64 until = sim_clock + SEC;
	struct via_event ev;
	u32 lost = 0;

	for (;;) {
		if (prog_event(&e->nic, &ev)) {
			if (lost || !e->lost || !e->up || sim_clock > until)
				break;
			sim_sleep(MS);
			continue;
		}
		sim_log("%s: event %u", e->name, ev.code);
		if (ev.code == VIA_ERR_CONN_LOST)
			lost++;
		else
			sim_expect(e->stream->plan.may_lie || e->lost ||
				   (ev.code == VIA_ERR_RECVQ_EMPTY &&
				    e->stream->plan.level == VIA_UNRELIABLE),
				   "(%s: %u)", e->name, ev.code);
	}
	sim_expect(e->stream->plan.may_lie ||
		   (lost <= 1 && (lost || !e->lost || !e->up)), "(%s)", e->name);
}

/* The other end comes to the same end, or knows of the loss. */
static void wait_over(struct stream_end *e)
{
	u64 until = sim_clock + TOLD_NS;

	e->closing = !e->lost;
	while (!e->peer->finished && !e->peer->lost && !e->peer->over) {
		sim_sleep(MS);
		if (e->lost && !e->stream->plan.may_lie)
			sim_expect(sim_clock < until,
				   "(%s: the other end does not know)",
				   e->name);
	}
}

/* Until the other end is here, too. */
static void meet(struct stream_end *e, u32 stage)
{
	u64 ns;

	e->stage = e->session * 4 + stage;
	/* Longer and longer: it may be a week away. */
	for (ns = MS; e->peer->stage < e->stage; ns += ns / 8)
		sim_sleep(min(ns, 60 * SEC));
}

static void check_counts(struct stream_end *e)
{
	const struct stream_plan *p = &e->stream->plan;

	if (p->may_lie)
		return;
	if (e->peer->killed) {
		sim_expect(!e->up || sim_clock < e->peer->died + GONE_NS,
			   "(%s: told %llu ms after the end)", e->name,
			   (sim_clock - e->peer->died) / MS);
		return;
	}
	/* What is complete has arrived, at the reliable levels. */
	if (p->level != VIA_UNRELIABLE)
		sim_expect(e->ok <= e->peer->got,
			   "(%s: %u complete, %u came)", e->name, e->ok,
			   e->peer->got);
	e->all_lost += e->ok > e->peer->got ? e->ok - e->peer->got : 0;
}

/* True: connected. */
static bool connect(struct stream_end *e)
{
	u64 until = sim_clock + CONNECT_NS;
	int ret;

	do {
		if (e->client)
			ret = prog_request(&e->vi, e->server, e->stream->disc,
					   5 * SEC);
		else
			ret = prog_accept(&e->vi, e->stream->disc, 5 * SEC);
		sim_log("%s: connect: %d", e->name, ret);
		if (!ret)
			break;
		sim_expect(ret == VIA_R_TIMEOUT || ret == VIA_R_NO_MATCH ||
			   /* Its own MTU may be below any. */
			   (e->stream->plan.may_break &&
			    ret == VIA_R_NOT_REACHABLE) ||
			   /* What is forged may say anything. */
			   (e->stream->plan.may_lie && ret > 0) ||
			   /* Of a request that is not the stream's. */
			   (e->stream->plan.ghosts && !e->client &&
			    (ret == VIA_R_INVALID_RELIABILITY_LEVEL ||
			     ret == VIA_R_INVALID_MTU)),
			   "(%s, %d)", e->name, ret);
		sim_sleep(MS);
		/* The other end was connected for a moment, and has left. */
		if (e->peer->over || e->peer->lost)
			break;
	} while (sim_clock < until);
	sim_expect(!ret || e->peer->over || e->peer->lost ||
		   e->stream->plan.may_lie || e->stream->plan.may_break,
		   "(%s, %d)", e->name, ret);
	return !ret;
}

/* Its state follows the error of a descriptor. */
static void wait_error(struct stream_end *e)
{
	u64 until = sim_clock + SEC;

	while (e->lost && !e->stream->plan.may_lie &&
	       prog_state(&e->vi) != VIA_STATE_ERROR) {
		sim_sleep(MS / 10);
		sim_expect(sim_clock < until, "(%s)", e->name);
	}
}

static void session(struct stream_end *e)
{
	stream_fill(e);
	meet(e, 1);
	e->up = connect(e);
	if (e->up) {
		e->conns++;
		stream_transfer(e);
		wait_over(e);
		wait_error(e);
		prog_disconnect(&e->vi);
		collect_all(e);
	} else {
		e->lost = true;
	}
	check_event(e);
	e->over = true;
	meet(e, 2);
	check_counts(e);
	meet(e, 3);
	e->posted = e->sent = e->ok = e->next = e->got = e->room = 0;
	e->fifo_head = e->fifo_tail = 0;
	e->up = e->finished = e->lost = e->over = false;
	e->closing = false;
	e->session++;
}

static void run_end(void *arg)
{
	struct stream_end *e = arg;
	const struct stream_plan *p = &e->stream->plan;
	u32 stride = e->stream->stride;
	int ret;

	ret = prog_open(&e->nic, host_node(e->host), PAGE_SIZE +
			(3 * p->slots + p->depth) * stride);
	sim_expect(!ret, "(%s, %d)", e->name, ret);
	prog_buffer(&e->nic, PAGE_SIZE);
	e->out = prog_buffer(&e->nic, p->slots * stride);
	e->target = prog_buffer(&e->nic, p->slots * stride);
	e->back = prog_buffer(&e->nic, p->slots * stride);
	e->in = prog_buffer(&e->nic, p->depth * stride);
	ret = prog_cq(&e->cq, &e->nic, 2048);
	sim_expect(!ret, "(%s, %d)", e->name, ret);
	ret = prog_vi(&e->vi, &e->nic, p->level, e->cq.id, e->cq.id);
	sim_expect(!ret, "(%s, %d)", e->name, ret);
	while (e->session < p->sessions && !e->peer->killed)
		session(e);
	/* Receives of a VI that was never connected are still posted. */
	if (e->vi.q[1].tail == e->vi.q[1].collected) {
		ret = prog_vi_destroy(&e->vi);
		sim_expect(!ret, "(%s, %d)", e->name, ret);
		ret = prog_cq_destroy(&e->cq);
		sim_expect(!ret, "(%s, %d)", e->name, ret);
	}
	prog_close(&e->nic);
	e->ended = true;
}

struct stream *stream_begin(const struct stream_plan *plan, u32 index,
			    u32 client, u32 server)
{
	struct stream *s = calloc(1, sizeof(*s));
	u32 i;

	if (!s)
		abort();
	s->plan = *plan;
	s->seed = sim_dice64() >> 8;
	s->stride = ALIGN(plan->most + 1, 64);
	snprintf(s->disc, sizeof(s->disc), "stream%u", index);
	for (i = 0; i < 2; i++) {
		struct stream_end *e = &s->end[i];

		e->stream = s;
		e->peer = &s->end[!i];
		e->client = !i;
		e->host = i ? server : client;
		memcpy(e->server, host_mac(server), ETH_ALEN);
		snprintf(e->name, sizeof(e->name), "%s%u",
			 i ? "server" : "client", index);
		e->proc = sim_proc_new(e->name, 0);
		sim_thread(e->proc, e->name, run_end, e);
	}
	return s;
}

struct stream *stream_between(const struct stream_plan *plan, u32 index)
{
	u32 client = sim_dice(2);

	return stream_begin(plan, index, client, !client);
}

bool stream_done(const struct stream *s)
{
	return s->end[0].ended && s->end[1].ended;
}

void stream_kill(struct stream *s, u32 host)
{
	struct stream_end *e = &s->end[s->end[1].host == host];

	s->plan.may_break = true;
	e->killed = true;
	sim_kill(e->proc);
	while (!sim_proc_ended(e->proc))
		msleep(1);
	/* The other one waits for nothing of it. */
	e->lost = e->over = e->ended = true;
	e->stage = U32_MAX;
	e->died = sim_clock;
}

void stream_end(struct stream *s)
{
	sim_proc_wait(s->end[0].proc);
	sim_proc_wait(s->end[1].proc);
	free(s);
}

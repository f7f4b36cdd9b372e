// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Bandwidth between two VIs, or more pairs of them at once.
 *
 * Flow control is ours: the receiver grants credits, in control messages, for
 * the receives that it has posted. Credits are absolute ("you may have sent n
 * in all"), so that none can be counted twice; where messages may be lost, a
 * sender that stalls tells how many it has sent, and the lost ones are granted
 * anew. The average counts what arrived, until the receiver has said so.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/pair.h"
#include "common/progress.h"
#include "common/report.h"
#include "common/session.h"

#define STALL_NS	20000000u
#define GONE_NS		20000000000ull
#define EXACT_RX	64
#define COPY_BYTES	4096	/* from here on reading the clock is nothing */
#define POLITE_MASK	0x1f	/* empty looks between two courtesies */

/* A connection. */
struct bw {
	struct session	*s;
	struct chan	*data;
	uint32_t	conn;		/* its number */
	bool		sends, receives;
	bool		counted;	/* each message takes a receive */
	bool		reliable;

	/* as a sender */
	uint64_t	sent, done, credit, target;
	uint64_t	deadline;	/* ns, 0: none */
	uint64_t	delivered;	/* as the peer says */
	bool		closing, fin_sent, result_in;

	/* as a receiver */
	uint64_t	received, granted, lost, expected;
	uint32_t	rbase;		/* receives consumed before this round */
	bool		fin_in, result_out;
	uint64_t	last_ns;	/* when something happened */
};

/* All connections, for one size. */
struct bw_run {
	struct session	*s;
	struct bw	*of;
	uint32_t	n;
	uint32_t	size;
	uint64_t	done;		/* sends that are complete, all together */
	uint64_t	mark_ns, mark_done;
	double		peak;
	uint64_t	start;		/* ns */
	uint64_t	shown;		/* messages of intervals that are over */
};

static void set_peak(struct bw_run *r)
{
	uint64_t n = r->done - r->mark_done, now;
	double rate;

	if (n < 2 * r->n * r->of->data->cfg.tx)
		return;
	now = now_ns();
	rate = mbps(n * r->size, now - r->mark_ns);
	if (r->mark_ns && rate > r->peak)
		r->peak = rate;
	r->mark_ns = now;
	r->mark_done = r->done;
}

/*
 * A plain RDMA Write, or a Read, takes no receive: a message without data behind the last
 * one tells the receiver that all are in place.
 */
static void close_writes(struct bw *b)
{
	chan_send_msg(b->data, NULL, 0, true, 0);
	b->done = b->sent;
}

static void send_some(struct bw *b)
{
	if (b->deadline && now_ns() >= b->deadline)
		b->target = b->sent;
	while (b->sent < b->target && b->sent < b->credit &&
	       chan_inflight(b->data) < b->data->cfg.tx) {
		chan_post_send(b->data);
		b->sent++;
	}
	if (b->sent < b->target || b->fin_sent)
		return;
	if (!b->counted && b->reliable && !b->closing) {
		b->closing = true;
		close_writes(b);
	}
	if (!chan_inflight(b->data)) {
		session_send_of(b->s, b->conn, CTL_FIN, b->sent, 0);
		b->fin_sent = true;
	}
}

static void grant(struct bw *b, bool force)
{
	uint64_t now = b->lost + (b->data->rposted - b->rbase);

	if (!b->counted || b->result_out)
		return;
	if (!force && now - b->granted < b->data->cfg.rx / 4)
		return;
	b->granted = now;
	session_send_of(b->s, b->conn, CTL_CREDIT, now, 0);
}

static void on_recv(struct bw *b)
{
	b->received++;
	chan_post_recv(b->data);
	grant(b, false);
}

/* Take what has arrived before judging what has not. */
static void drain(struct bw *b)
{
	while (chan_recv_done(b->data))
		on_recv(b);
}

static void on_ctl(struct bw_run *r, const struct ctl_msg *m)
{
	struct bw *b;

	if (m->conn >= r->n)
		die("a control message about connection %u", m->conn);
	b = &r->of[m->conn];
	switch (m->type) {
	case CTL_CREDIT:
		if (m->a > b->credit)
			b->credit = m->a;
		break;
	case CTL_SYNC:
		drain(b);
		if (m->a > b->received)
			b->lost = m->a - b->received;
		grant(b, true);
		break;
	case CTL_FIN:
		drain(b);
		b->expected = m->a;
		b->fin_in = true;
		break;
	case CTL_RESULT:
		b->delivered = m->a;
		b->result_in = true;
		break;
	default:
		die("control message %u in the middle of a run", m->type);
	}
}

static void answer_fin(struct bw *b)
{
	uint64_t n = b->received;

	if (!b->fin_in || b->result_out)
		return;
	if (b->reliable && n < (b->counted ? b->expected : 1))
		return;
	if (!b->counted)
		n = b->expected;	/* the reader of memory cannot count */
	session_send_of(b->s, b->conn, CTL_RESULT, n, 0);
	b->result_out = true;
}

static bool look_at_queues(struct bw_run *r)
{
	struct ctl_msg m;
	bool any = false;

	for (struct bw *b = r->of; b < r->of + r->n; b++) {
		if (chan_send_done(b->data)) {
			b->done++;
			r->done++;
			any = true;
		}
		if (b->receives && chan_recv_done(b->data)) {
			on_recv(b);
			any = true;
		}
	}
	if (session_poll(r->s, &m)) {
		on_ctl(r, &m);
		any = true;
	}
	return any;
}

/* NULL: it is of the control channel. */
static struct bw *bw_of(struct bw_run *r, VIP_VI_HANDLE vi)
{
	for (struct bw *b = r->of; b < r->of + r->n; b++)
		if (b->data->vi == vi)
			return b;
	return NULL;
}

static bool sleep_on_cq(struct bw_run *r, uint64_t ns)
{
	struct session *s = r->s;
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	struct ctl_msg m;
	VIP_RETURN rc;
	struct bw *b;

	rc = VipCQWait(s->cq, ns / 1000000, &vi, &recv);
	if (rc == VIP_TIMEOUT)
		return false;
	if (rc != VIP_SUCCESS)
		die("VipCQWait: %s", vip_str(rc));
	/* A notice may be stale: the handshake did not read the CQ. */
	b = bw_of(r, vi);
	if (!b && recv) {
		if (session_poll(s, &m))
			on_ctl(r, &m);
	} else if (!b) {
		chan_send_done(&s->ctl);
	} else if (recv) {
		if (chan_recv_done(b->data))
			on_recv(b);
	} else if (chan_send_done(b->data)) {
		b->done++;
		r->done++;
	}
	return true;
}

/* Nothing happens: where messages get lost, credits get lost with them. */
static void on_silence(struct bw *b)
{
	uint64_t now = now_ns();

	/* A peer that writes into memory, or reads it, says nothing meanwhile. */
	if (!b->last_ns || (!b->counted && !b->sends))
		b->last_ns = now;
	else if (now - b->last_ns > GONE_NS)
		die("the other end has been silent for %llu s",
		    GONE_NS / 1000000000);
	if (b->sends && !b->reliable && b->counted && !b->fin_sent &&
	    !chan_inflight(b->data) && b->sent >= b->credit)
		session_send_of(b->s, b->conn, CTL_SYNC, b->sent, 0);
}

static bool finished(const struct bw_run *r)
{
	for (const struct bw *b = r->of; b < r->of + r->n; b++)
		if ((b->sends && !b->result_in) ||
		    (b->receives && !b->result_out))
			return false;
	return true;
}

/* Messages so far: sends that are complete, and what came. */
static uint64_t bw_messages(const struct bw_run *r)
{
	uint64_t n = 0;

	for (const struct bw *b = r->of; b < r->of + r->n; b++)
		n += (b->sends ? b->done : 0) + b->received;
	return n;
}

static void bw_partial(void *arg, const char *why)
{
	const struct bw_run *r = arg;
	struct bw_summary sum = {
		.messages = bw_messages(r), .ns = now_ns() - r->start,
		.peak = r->peak,
	};

	sum.bytes = sum.messages * r->size;
	report_stop(sum.messages);
	report_bw(r->size, &sum, why);
	if (!r->of->reliable)
		report_note("that counts what was sent, lost or not");
}

static void bw_interval(void *arg, uint64_t from, uint64_t to)
{
	struct bw_run *r = arg;
	uint64_t n = bw_messages(r);

	if (n != r->shown)
		report_bw_interval(r->size, n - r->shown, from, to);
	r->shown = n;
}

static double bw_done(void *arg, char *text, unsigned int len)
{
	const struct bw_run *r = arg;
	const struct opts *o = &r->s->o;
	uint64_t ns = now_ns() - r->start, n = bw_messages(r);

	snprintf(text, len, "%" PRIu32 " bytes, %" PRIu64 " messages, %.2f Mb/sec",
		 r->size, n, mbps(n * r->size, ns));
	if (o->seconds)
		return ns >= o->seconds * 1000000000ull ? 1 :
		       (double)ns / 1e9 / o->seconds;
	return (double)n / o->iters / r->n / (o->bidir ? 2 : 1);
}

static const struct progress_calls bw_calls = {
	.partial = bw_partial, .interval = bw_interval, .done = bw_done,
};

/* Reading the clock for each small message would count. */
static inline void bw_look(const struct bw_run *r)
{
	uint64_t now;

	progress_check();
	if (progress_next == UINT64_MAX ||
	    (r->size < COPY_BYTES && bw_messages(r) & 63))
		return;
	now = now_ns();
	if (now >= progress_next)
		progress_tick(now);
}

static void drive(struct bw_run *r)
{
	for (struct bw *b = r->of; b < r->of + r->n; b++) {
		if (b->sends)
			send_some(b);
		answer_fin(b);
	}
}

static void run_queues(struct bw_run *r)
{
	struct session *s = r->s;
	uint64_t idle_from = 0;
	uint32_t idle = 0;

	while (!finished(r)) {
		bool any;

		drive(r);
		if (finished(r))
			break;
		any = s->cq ? sleep_on_cq(r, STALL_NS) : look_at_queues(r);
		if (any) {
			idle_from = idle = 0;
			for (uint32_t i = 0; i < r->n; i++)
				r->of[i].last_ns = 0;
			set_peak(r);
			bw_look(r);
			continue;
		}
		if (!s->cq) {
			if (!(++idle & POLITE_MASK))
				spin_politely();
			if (idle & 0xfff)
				continue;
			if (!idle_from)
				idle_from = now_ns();
			if (now_ns() - idle_from < STALL_NS)
				continue;
			idle_from = 0;
		}
		progress_check();
		if (now_ns() >= progress_next)
			progress_tick(now_ns());
		for (uint32_t i = 0; i < r->n; i++)
			on_silence(&r->of[i]);
	}
}

static void bw_begin(struct bw *b, struct session *s, uint32_t conn,
		     uint32_t size)
{
	const struct opts *o = &s->o;

	*b = (struct bw){
		.s = s, .data = session_data(s, conn), .conn = conn,
		.sends = o->bidir || !s->server,
		.receives = o->bidir || s->server,
		.counted = o->op != OP_WRITE && o->op != OP_READ,
		.reliable = o->level != VIP_SERVICE_UNRELIABLE,
		.credit = s->peer_rx,
		.target = o->seconds ? UINT64_MAX : o->iters,
	};
	if (!b->counted)
		b->credit = UINT64_MAX;
	chan_prepare(b->data, o->op, size, session_remote(s, conn));
	b->rbase = b->data->rdone;
	b->granted = b->data->rposted - b->data->rdone;
}

/* What a connection has done, to that of others. */
static void bw_add(const struct bw *b, struct bw_summary *sum)
{
	bool bidir = b->sends && b->receives;

	sum->messages += b->delivered;
	if (bidir)
		sum->messages += b->counted ? b->received : b->expected;
	sum->lost += b->sent - b->delivered;
	if (bidir && b->counted)
		sum->lost += b->expected - b->received;
}

static void bw_size(struct session *s, uint32_t size)
{
	const struct opts *o = &s->o;
	struct bw_summary sum = { 0 };
	struct bw_run r = { .s = s, .n = o->conns, .size = size };
	uint64_t end;

	r.of = xcalloc(r.n, sizeof(*r.of));
	for (uint32_t i = 0; i < r.n; i++)
		bw_begin(&r.of[i], s, i, size);
	session_barrier(s);
	report_start();
	r.start = r.mark_ns = now_ns();
	for (uint32_t i = 0; o->seconds && i < r.n; i++)
		r.of[i].deadline = r.start + o->seconds * 1000000000ull;
	/* The figures are the client's. */
	if (!s->server)
		progress_watch(o, &bw_calls, &r, r.start);
	run_queues(&r);
	end = now_ns();
	report_stop(bw_messages(&r));
	session_barrier(s);
	for (uint32_t i = 0; i < r.n; i++) {
		drain(&r.of[i]);
		bw_add(&r.of[i], &sum);
	}
	if (!s->server) {
		progress_done();
		sum.bytes = sum.messages * size;
		sum.ns = end - r.start;
		sum.peak = r.peak;
		report_bw(size, &sum, NULL);
	}
	free(r.of);
}

static void run_session(struct session *s)
{
	uint32_t size = opts_first_size(&s->o);

	for (;;) {
		bw_size(s, size);
		size = opts_next_size(&s->o, size, s->max_size);
		if (!size)
			break;
	}
}

/* Keep the queue of one end full until all has arrived at the other. */
static void exact_size(struct pair *p, const struct opts *o, uint32_t size)
{
	struct chan *a = &p->ch[0], *b = &p->ch[1];
	struct remote_buf to = pair_remote(p, 1);
	struct bw_summary sum = { 0 };
	uint32_t first_sent = a->sposted, first_got = b->rdone;
	uint64_t start, quiet = 0;

	chan_prepare(a, o->op, size, &to);
	report_start();
	start = now_ns();
	while (b->rdone - first_got < o->iters) {
		bool any = false;

		while (a->sposted - first_sent < o->iters &&
		       chan_inflight(a) < a->cfg.tx &&
		       a->sposted - first_sent <
		       b->rposted - first_got) {
			chan_post_send(a);
			any = true;
		}
		while (chan_recv_done(b)) {
			chan_post_recv(b);
			any = true;
		}
		while (chan_send_done(a))
			any = true;
		if (any)
			quiet = 0;
		else if (!(++quiet & POLITE_MASK))
			spin_politely();
		if (quiet == 2000000)
			die("messages are missing: %u of %u arrived",
			    b->rdone - first_got, o->iters);
	}
	while (chan_inflight(a))
		chan_reap_wait(a);
	sum.ns = now_ns() - start;
	report_stop(o->iters);
	sum.messages = o->iters;
	sum.bytes = (uint64_t)o->iters * size;
	report_bw(size, &sum, NULL);
}

static int exact_main(const struct opts *o)
{
	struct pair *p = xcalloc(1, sizeof(*p));
	struct chan_config c = {
		.level = o->level, .tx = o->tx < EXACT_RX ? o->tx : EXACT_RX,
		.rx = EXACT_RX, .share = true,
	};
	uint32_t size;

	if (o->op == OP_WRITE)
		die_usage("--exact counts arrivals: use --op send or write_imm");
	if (o->bidir || o->seconds)
		die_usage("--exact sends one way and counts messages: leave out -b and -D");
	c.buf_len = o->all ? 65536 : o->size ? o->size : 1;
	c.max_transfer = c.buf_len;
	use_cpu(o->cpu[0]);
	pair_init(p, o, &c);
	size = opts_first_size(o);
	do {
		exact_size(p, o, size);
		size = opts_next_size(o, size, c.buf_len);
	} while (size);
	pair_fini(p);
	return 0;
}

int main(int argc, char **argv)
{
	struct opts o = {
		.prog = OPT_BW, .name = "vipl_bw", .size = 65536,
		.iters = 1000, .tx = 128, .port = 18516,
		.level = VIP_SERVICE_RELIABLE_DELIVERY,
	};
	int ret;

	opts_parse(&o, argc, argv);
	report_begin(&o, o.dev ? o.dev : "via", level_str(o.level));
	ret = o.exact && !o.events ? exact_main(&o) :
				     session_main(&o, run_session);
	report_end();
	return ret;
}

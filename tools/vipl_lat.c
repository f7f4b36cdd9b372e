// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Half round-trip time between two VIs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "common/pair.h"
#include "common/progress.h"
#include "common/report.h"
#include "common/session.h"

#define LOST_NS		100000000u	/* unreliable: when to send again */
#define GONE_NS		10000000000ull
#define SPINS		4096		/* between two looks at the clock */
#define DATA_RX		16
#define EXACT_BATCH	16		/* rounds: reading the clock counts too */

/* One end of a ping-pong. */
struct end {
	struct chan	*ch;
	enum test_op	op;
	bool		block;
	uint32_t	size;
	unsigned char	seq_out, seq_in;	/* last byte of --op write */
};

/* The immediate data of the plain send that ends a round. */
static inline uint32_t fin_imm(uint32_t size)
{
	return 0x66000000u ^ size;
}

enum got { GOT_MSG, GOT_FIN, GOT_NOTHING };

static void end_init(struct end *e, struct chan *ch, const struct opts *o,
		     uint32_t size, const struct remote_buf *to)
{
	*e = (struct end){
		.ch = ch, .op = o->op, .block = o->events, .size = size,
	};
	chan_prepare(ch, o->op, size, to);
	memset(ch->rbuf, 0, size);
	memset(ch->sbuf, 0, size);
}

static inline void ping(struct end *e)
{
	/* Completions are collected a queue at a time, as users do. */
	if (chan_inflight(e->ch) == e->ch->cfg.tx)
		chan_reap_wait(e->ch);
	if (e->op == OP_WRITE)
		e->ch->sbuf[e->size - 1] = ++e->seq_out;
	chan_post_send(e->ch);
}

static inline enum got take(struct end *e, VIP_DESCRIPTOR *d)
{
	enum got g = GOT_MSG;

	if ((d->CS.Status & VIP_STATUS_IMMEDIATE) &&
	    (d->CS.Status & VIP_STATUS_OP_MASK) == VIP_STATUS_OP_RECEIVE)
		/* The end of another round is a late copy. */
		g = d->CS.ImmediateData == fin_imm(e->size) ? GOT_FIN :
							      GOT_NOTHING;
	chan_post_recv(e->ch);
	return g;
}

/* Look once. */
static inline enum got peek(struct end *e)
{
	VIP_DESCRIPTOR *d;

	if (e->op == OP_WRITE) {
		volatile unsigned char *last = &e->ch->rbuf[e->size - 1];

		if (*last == (unsigned char)(e->seq_in + 1)) {
			e->seq_in++;
			return GOT_MSG;
		}
		return GOT_NOTHING;
	}
	d = chan_recv_done(e->ch);
	return d ? take(e, d) : GOT_NOTHING;
}

static enum got wait_spinning(struct end *e, uint64_t timeout_ns)
{
	uint64_t until = 0;

	for (;;) {
		VIP_DESCRIPTOR *d;

		for (int i = 0; i < SPINS; i++) {
			enum got g = peek(e);

			if (g != GOT_NOTHING)
				return g;
		}
		/* Here, where it counts in no round that is quick. */
		progress_check();
		/* An RDMA Write's reader learns of the end and of loss here. */
		d = e->op == OP_WRITE ? chan_recv_done(e->ch) : NULL;
		if (d)
			return take(e, d);
		if (!until)
			until = now_ns() + timeout_ns;
		else if (now_ns() > until)
			return GOT_NOTHING;
	}
}

static inline enum got pong(struct end *e, uint64_t timeout_ns)
{
	VIP_DESCRIPTOR *d;

	if (!e->block)
		return wait_spinning(e, timeout_ns);
	/* A reliable wait needs no limit of ours: a lost peer ends it. */
	d = chan_recv_wait(e->ch, timeout_ns < GONE_NS ?
			   timeout_ns / 1000000 : 0xffffffff);
	return d ? take(e, d) : GOT_NOTHING;
}

/* How long to wait for an answer before doing something about it. */
static uint64_t patience(const struct opts *o)
{
	return o->level == VIP_SERVICE_UNRELIABLE ? LOST_NS : GONE_NS;
}

/* A whole one: there is no answer but the data. */
static void read_round(struct end *e)
{
	uint32_t spins = 0;

	chan_post_send(e->ch);
	if (e->block)
		return chan_reap_wait(e->ch);
	while (!chan_send_done(e->ch))
		if (!(++spins & (SPINS - 1)))
			progress_check();
}

static void client_round(struct end *e, const struct opts *o, uint32_t *lost)
{
	if (e->op == OP_READ)
		return read_round(e);
	ping(e);
	while (pong(e, patience(o)) == GOT_NOTHING) {
		if (o->level != VIP_SERVICE_UNRELIABLE || *lost >= 1000)
			die("no answer from the other end");
		++*lost;
		e->seq_out--;
		ping(e);
	}
}

/* A measurement of one size. */
struct lat_run {
	const struct opts *o;
	uint32_t	size, batch;	/* batch: rounds of a sample */
	struct samples	samples;
	size_t		shown;		/* samples of intervals that are over */
	uint64_t	start, last;	/* ns; last: of the newest sample */
	uint64_t	apart;		/* ns in which something was printed */
	uint32_t	lost;
};

/* Both messages of a round, or its read. */
static void run_stop(struct lat_run *r)
{
	report_stop((uint64_t)r->samples.n * r->batch *
		    (r->o->op == OP_READ ? 1 : 2));
}

static void run_report(struct lat_run *r, const char *why)
{
	uint64_t ns = (r->last - r->start - r->apart) / r->batch;

	if (r->lost)
		report_note("%u messages were lost and sent again", r->lost);
	run_stop(r);
	report_lat(r->size, &r->samples, r->o->op == OP_READ ? 2 * ns : ns,
		   why);
}

static void run_partial(void *arg, const char *why)
{
	run_report(arg, why);
}

static void run_interval(void *arg, uint64_t from, uint64_t to)
{
	struct lat_run *r = arg;

	if (r->shown == r->samples.n)
		return;
	report_lat_interval(r->size, &r->samples, r->shown, from, to);
	r->shown = r->samples.n;
}

static double run_done(void *arg, char *text, unsigned int len)
{
	const struct lat_run *r = arg;
	uint64_t n = (uint64_t)r->samples.n * r->batch;

	snprintf(text, len, "%" PRIu32 " bytes, %" PRIu64 " messages", r->size,
		 n);
	if (r->o->seconds)
		return (double)(r->last - r->start) / 1e9 / r->o->seconds;
	return (double)n / r->o->iters;
}

static const struct progress_calls run_calls = {
	.partial = run_partial, .interval = run_interval, .done = run_done,
};

static void run_init(struct lat_run *r, const struct opts *o, uint32_t size,
		     uint32_t batch)
{
	*r = (struct lat_run){ .o = o, .size = size, .batch = batch };
	samples_reserve(&r->samples, o->seconds ? 1u << 20 : o->iters);
}

static void run_start(struct lat_run *r)
{
	report_start();
	r->start = r->last = now_ns();
	progress_watch(r->o, &run_calls, r, r->start);
}

/* A batch of rounds is over. */
static inline void run_sample(struct lat_run *r)
{
	uint64_t now = now_ns();

	/* What is reported is half a sample, and a whole RDMA Read. */
	samples_add(&r->samples, (now - r->last) / r->batch *
		    (r->o->op == OP_READ ? 2 : 1));
	r->last = now;
	progress_check();
	if (__builtin_expect(now < progress_next, 1))
		return;
	progress_tick(now);
	/* The next sample starts behind what was printed. */
	r->last = now_ns();
	r->apart += r->last - now;
}

static void client_size(struct session *s, uint32_t size)
{
	const struct opts *o = &s->o;
	uint32_t warm = o->iters / 10 < 100 ? o->iters / 10 + 1 : 100;
	uint64_t end;
	VIP_DESCRIPTOR *d;
	struct ctl_msg m;
	struct lat_run r;
	struct end e;

	end_init(&e, &s->data, o, size, &s->remote);
	run_init(&r, o, size, o->exact ? EXACT_BATCH : 1);
	session_barrier(s);
	for (uint32_t i = 0; i < warm; i++)
		client_round(&e, o, &r.lost);
	run_start(&r);
	end = r.start + o->seconds * 1000000000ull;
	do {
		for (uint32_t i = 0; i < r.batch; i++)
			client_round(&e, o, &r.lost);
		run_sample(&r);
	} while (o->seconds ? r.last < end : r.samples.n * r.batch < o->iters);
	run_stop(&r);

	/* Until the server has heard it: an unreliable one may be lost. */
	do {
		chan_send_msg(&s->data, NULL, 0, true, fin_imm(size));
		d = chan_recv_wait(&s->ctl, patience(o) / 1000000);
		if (!d && (o->level != VIP_SERVICE_UNRELIABLE ||
			   ++r.lost > 1000))
			die("the server does not end the round");
	} while (!d);
	session_take(s, d, &m);
	/* A late copy of an answer must not be one of the next round. */
	while (chan_recv_done(&s->data))
		chan_post_recv(&s->data);
	progress_done();
	run_report(&r, NULL);
	samples_free(&r.samples);
}

static void server_size(struct session *s, uint32_t size)
{
	VIP_DESCRIPTOR *d;
	uint64_t heard;
	struct end e;

	end_init(&e, &s->data, &s->o, size, &s->remote);
	session_barrier(s);
	heard = now_ns();
	for (;;) {
		enum got g = pong(&e, patience(&s->o));

		if (g == GOT_FIN)
			break;
		if (g == GOT_MSG) {
			ping(&e);
			heard = 0;
			continue;
		}
		/* Its memory is read, and it hears of nothing but the end. */
		if (e.op == OP_READ)
			continue;
		if (!heard)
			heard = now_ns();
		if (now_ns() - heard > GONE_NS)
			die("the client has been silent for %llu s",
			    GONE_NS / 1000000000);
		/* A lost answer that the client cannot ask for again. */
		if (e.op == OP_WRITE && e.seq_out) {
			e.seq_out--;
			ping(&e);
		}
	}
	session_send(s, CTL_RESULT, 0, 0);
	/* Second copies of the end of an unreliable round. */
	while ((d = chan_recv_done(&s->data)))
		chan_post_recv(&s->data);
}

static void run_session(struct session *s)
{
	uint32_t size = opts_first_size(&s->o);

	do {
		if (s->server)
			server_size(s, size);
		else
			client_size(s, size);
		size = opts_next_size(&s->o, size, s->max_size);
	} while (size);
}

static void one_round(struct end *e)
{
	for (int i = 0; i < 2; i++) {
		ping(&e[i]);
		if (wait_spinning(&e[1 - i], GONE_NS) != GOT_MSG)
			die("a message did not arrive");
	}
}

/*
 * Here a message has arrived before it is first looked for, as on no wire that
 * there is. What NICs do for programs that spin, they do when they see it.
 */
static void spin_idle(struct end *e)
{
	for (int n = 0; n < SPINS; n++)
		if (peek(&e[n & 1]) != GOT_NOTHING)
			die("a message that was not sent");
}

static void exact_size(struct pair *p, const struct opts *o, uint32_t size)
{
	struct lat_run r;
	struct end e[2];

	for (int i = 0; i < 2; i++) {
		struct remote_buf to = pair_remote(p, 1 - i);

		end_init(&e[i], &p->ch[i], o, size, &to);
	}
	run_init(&r, o, size, EXACT_BATCH);
	spin_idle(e);
	for (int i = 0; i < 100; i++)
		one_round(e);
	run_start(&r);
	for (uint32_t i = 0; i < o->iters; i += EXACT_BATCH) {
		for (int j = 0; j < EXACT_BATCH; j++)
			one_round(e);
		run_sample(&r);
	}
	progress_done();
	run_report(&r, NULL);
	samples_free(&r.samples);
}

static int exact_main(const struct opts *o)
{
	struct pair *p = xcalloc(1, sizeof(*p));
	struct chan_config c = {
		.level = o->level, .tx = o->tx, .rx = DATA_RX, .share = true,
	};
	uint32_t size;

	if (o->seconds)
		die_usage("--exact counts messages without -e: leave out -D");
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
		.prog = OPT_LAT, .name = "vipl_lat", .size = 4, .iters = 1000,
		.tx = 64, .port = 18515,
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

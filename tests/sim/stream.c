// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Streams of messages over connections, each byte known. */
#include <stdio.h>
#include "stream.h"

#define CANARY		0xa5
#define POLL_NS		(50 * 1000ull)	/* looks at the other end: first, */
#define POLL_MOST_NS	(5 * MS)	/* and at most so rarely */
#define FORCE_NS	(100 * MS)	/* Unreliable: so long without credit */
#define QUIET_NS	(1500 * MS)	/* Unreliable: nothing comes any more */

enum kind { SEND, SEND_IMM, WRITE_IMM, WRITE_SEND, KINDS };

/* What message n of a stream is. */
struct what {
	enum kind kind;
	u32 len;
	bool read, fence;
};

static u64 mixed(u64 a, u64 b)
{
	u64 z = a + (b + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static struct what what_of(const struct stream_end *from, u32 n)
{
	const struct stream_plan *p = &from->stream->plan;
	u64 r = mixed(from->stream->seed ^ (u64)from->session << 32 ^
		      from->client, n);
	struct what w;
	u32 bound;

	switch (r % 32) {
	case 0:
		bound = p->most;
		break;
	case 1 ... 4:
		bound = 8192;
		break;
	case 5 ... 12:
		bound = 1500;
		break;
	default:
		bound = 64;
	}
	bound = p->big || p->same ? p->most : min(bound, p->most);
	w.len = p->same ? bound : 1 + (r >> 8) % bound;
	w.kind = (r >> 48) % KINDS;
	if (p->plain)
		w.kind &= 1;
	/* Its number is found by its bytes: there must be some. */
	if (p->level == VIA_UNRELIABLE) {
		if (w.kind == SEND && w.len < 16)
			w.kind = SEND_IMM;
		if (w.kind == WRITE_SEND)
			w.kind = WRITE_IMM;
	}
	w.read = (w.kind == WRITE_IMM || w.kind == WRITE_SEND) &&
		 p->level != VIA_UNRELIABLE && r >> 56 & 1;
	w.fence = !(r >> 57 & 7);
	return w;
}

static u64 content_of(const struct stream_end *from)
{
	return from->stream->seed * 4 + from->session * 2 + from->client + 1;
}

/* Sending */

static void post(struct stream_end *e, u16 control, void *p, u32 len,
		 u32 slot, u32 n, bool last)
{
	static const u32 ops[] = { VIA_ST_OP_SEND, VIA_ST_OP_RDMA_WRITE,
				   VIA_ST_OP_RDMA_READ };
	struct stream_end *to = e->peer;
	u32 op = control & VIA_CTL_OP_MASK;

	e->fifo[e->fifo_tail++ % 1024] = (struct stream_sent) {
		.number = n, .op = ops[op], .len = len, .last = last,
	};
	e->vi.immediate = n + 1;
	prog_post(&e->vi, false, control, p, len, e->nic.handle,
		  op ? (uintptr_t)to->target + slot * e->stream->stride : 0,
		  op ? to->nic.handle : 0);
}

static void post_message(struct stream_end *e)
{
	u32 n = e->posted, slot = n % e->stream->plan.slots;
	struct what w = what_of(e, n);
	u32 at = slot * e->stream->stride;
	u16 fence = w.fence ? VIA_CTL_QFENCE : 0;
	u8 *p = e->out + at;

	prog_fill(p, w.len, content_of(e), n);
	switch (w.kind) {
	case SEND:
		post(e, VIA_CTL_OP_SENDRECV | fence, p, w.len, slot, n, true);
		break;
	case SEND_IMM:
		post(e, VIA_CTL_OP_SENDRECV | VIA_CTL_IMMEDIATE, p, w.len,
		     slot, n, true);
		break;
	case WRITE_IMM:
		post(e, VIA_CTL_OP_RDMAWRITE | VIA_CTL_IMMEDIATE | fence, p,
		     w.len, slot, n, !w.read);
		break;
	default:
		post(e, VIA_CTL_OP_RDMAWRITE, p, w.len, slot, n, false);
		post(e, VIA_CTL_OP_SENDRECV | VIA_CTL_IMMEDIATE | fence, NULL,
		     0, slot, n, !w.read);
	}
	if (w.read) {
		memset(e->back + at, CANARY, w.len + 1);
		post(e, VIA_CTL_OP_RDMAREAD | fence, e->back + at, w.len, slot,
		     n, true);
	}
	e->posted++;
}

static void broken(struct stream_end *e, const char *why, u32 status)
{
	const struct stream_plan *p = &e->stream->plan;

	if (e->lost || e->closing)
		return;
	sim_log("%s: lost at session %u, %u sent, %u got: %s %#x", e->name,
		e->session, e->sent, e->got, why, status);
	sim_expect(p->may_break || p->may_lie || !e->peer->up ||
		   e->peer->closing,
		   "(%s: %s, status %#x)", e->name, why, status);
	e->lost = true;
}

/* What may stand in the status of a descriptor that was not carried out. */
static void check_error(struct stream_end *e, u32 status, bool recv)
{
	u32 legal = VIA_ST_DESC_FLUSHED_ERROR;

	if (!recv)
		legal |= VIA_ST_TRANSPORT_ERROR;
	sim_expect(e->stream->plan.may_lie ||
		   !(status & VIA_ST_ERROR_MASK & ~legal),
		   "(%s, %#x)", e->name, status);
}

static void take_sent(struct stream_end *e)
{
	struct stream_sent *s = &e->fifo[e->fifo_head % 1024];
	bool lies = e->stream->plan.may_lie;
	struct prog_done d;
	u8 *p;

	sim_expect(prog_done(&e->vi, false, &d), "(%s)", e->name);
	sim_expect(e->fifo_head != e->fifo_tail, "(%s)", e->name);
	e->fifo_head++;
	e->progress = sim_clock;
	sim_expect((d.status & VIA_ST_OP_MASK) == s->op, "(%s, %#x)", e->name,
		   d.status);
	if (d.status & VIA_ST_ERROR_MASK) {
		check_error(e, d.status, false);
		broken(e, "a send", d.status);
	} else {
		sim_expect(d.length == s->len, "(%s, %u for %u)", e->name,
			   d.length, s->len);
	}
	if (s->op == VIA_ST_OP_RDMA_READ &&
	    !(d.status & VIA_ST_ERROR_MASK) && !lies) {
		p = e->back + s->number % e->stream->plan.slots *
			      e->stream->stride;
		sim_expect(prog_filled(p, s->len, content_of(e), s->number) &&
			   p[s->len] == CANARY, "(%s: message %u read back)",
			   e->name, s->number);
	}
	if (!s->last)
		return;
	/* What is complete is the program's again: it writes something else. */
	memset(e->out + s->number % e->stream->plan.slots * e->stream->stride,
	       ~CANARY, what_of(e, s->number).len);
	e->sent++;
	if (!(d.status & VIA_ST_ERROR_MASK)) {
		/* Those before it, too. */
		sim_expect(lies || e->ok == s->number, "(%s)", e->name);
		e->ok++;
		e->all_sent++;
	}
}

/* Receiving */

static void post_recv(struct stream_end *e)
{
	u32 slot = e->vi.q[1].tail % e->stream->plan.depth;
	u8 *p = e->in + slot * e->stream->stride;

	memset(p, CANARY, min(e->stream->stride, 80u));
	prog_post_recv(&e->vi, p, e->stream->stride);
	e->room++;
}

static bool is_message(struct stream_end *e, const struct prog_done *d,
		       const u8 *in, u32 n)
{
	struct stream_end *from = e->peer;
	struct what w = what_of(from, n);
	u32 slot = n % e->stream->plan.slots;
	u32 op = w.kind == WRITE_IMM ? VIA_ST_OP_REMOTE_RDMA_WRITE :
				       VIA_ST_OP_RECEIVE;
	const u8 *p = w.kind >= WRITE_IMM ?
		      e->target + slot * e->stream->stride : in;

	if ((d->status & VIA_ST_OP_MASK) != op ||
	    d->length != (w.kind == WRITE_SEND ? 0 : w.len) ||
	    !(d->status & VIA_ST_IMMEDIATE) != (w.kind == SEND))
		return false;
	if (w.kind != SEND && d->immediate != n + 1)
		return false;
	if (!prog_filled(p, w.len, content_of(from), n))
		return false;
	/* Unreliable: half a message may have come before. */
	return p != in || w.len >= 80 || in[w.len] == CANARY ||
	       from->stream->plan.level == VIA_UNRELIABLE;
}

static void take_message(struct stream_end *e, const struct prog_done *d,
			 const u8 *in)
{
	const struct stream_plan *p = &e->stream->plan;
	u32 n = e->next, most = p->messages[!e->peer->client];

	if (p->may_lie) {
		e->next = n + 1;
		return;
	}
	if (p->level == VIA_UNRELIABLE && d->status & VIA_ST_IMMEDIATE)
		n = d->immediate - 1;
	sim_expect(n >= e->next && n < most && (!p->no_loss || n == e->next),
		   "(%s: message %u for %u)", e->name, n, e->next);
	if (p->level == VIA_UNRELIABLE && !(d->status & VIA_ST_IMMEDIATE))
		while (n < most && !is_message(e, d, in, n))
			n++;
	sim_expect(n < most && is_message(e, d, in, n),
		   "(%s: message %u of %u bytes, status %#x, immediate %u; %u is due, of kind %d, %u bytes; level %u)",
		   e->name, n, d->length, d->status, d->immediate, e->next,
		   what_of(e->peer, e->next).kind,
		   what_of(e->peer, e->next).len, p->level);
	e->all_bytes += what_of(e->peer, n).len;
	e->next = n + 1;
}

static void take_received(struct stream_end *e)
{
	u32 slot = e->vi.q[1].collected % e->stream->plan.depth;
	struct prog_done d;

	sim_expect(prog_done(&e->vi, true, &d), "(%s)", e->name);
	e->progress = sim_clock;
	if (d.status & VIA_ST_ERROR_MASK) {
		check_error(e, d.status, true);
		broken(e, "a receive", d.status);
		return;
	}
	take_message(e, &d, e->in + slot * e->stream->stride);
	e->got++;
	e->all_got++;
	if (!e->lost && prog_state(&e->vi) == VIA_STATE_CONNECTED)
		post_recv(e);
}

/* Everything that a queue tells of, after waiting for the first. */
bool stream_collect(struct stream_end *e, u64 ns)
{
	bool any = false, recv;
	u32 vi;

	if (ns && prog_cq_wait(&e->cq, ns, &vi, &recv))
		return false;
	if (!ns && prog_cq_done(&e->cq, &vi, &recv) != 1)
		return false;
	do {
		sim_expect(vi == e->vi.id, "");
		if (recv)
			take_received(e);
		else
			take_sent(e);
		any = true;
	} while (prog_cq_done(&e->cq, &vi, &recv) == 1);
	return any;
}

void stream_fill(struct stream_end *e)
{
	struct prog_queue *q = &e->vi.q[1];

	while (q->tail - q->collected < e->stream->plan.depth)
		post_recv(e);
	e->room = q->tail - q->collected;
}

/* May the next message be posted: its slots here and there are free? */
static bool may_post(struct stream_end *e, bool force)
{
	const struct stream_plan *p = &e->stream->plan;
	struct stream_end *to = e->peer;
	u32 n = e->posted, room;

	if (n >= p->messages[!e->client] || n - e->sent >= p->slots)
		return false;
	if (p->level == VIA_UNRELIABLE && !p->no_loss) {
		room = to->vi.q[1].tail - to->vi.q[1].collected;
		return force || (n < to->next + room &&
				 n < to->next + p->slots);
	}
	return n < to->room && n < to->next + p->slots;
}

/* All that is to happen in a session has. */
static bool satisfied(struct stream_end *e)
{
	const struct stream_plan *p = &e->stream->plan;

	if (e->sent < p->messages[!e->client])
		return false;
	if (p->level != VIA_UNRELIABLE || p->no_loss)
		return e->next >= p->messages[e->client];
	return e->peer->over || (e->peer->finished &&
				 sim_clock - e->progress > QUIET_NS);
}

static void check_hang(struct stream_end *e)
{
	const struct stream_plan *p = &e->stream->plan;

	if (sim_clock - e->progress <= p->patience)
		return;
	if (p->may_lie) {
		e->lost = true;
		return;
	}
	sim_fail("%s: no progress for %llu ms: session %u, posted %u, sent %u, next %u, room %u of the other end %u, lost there %d",
		 e->name, p->patience / MS, e->session, e->posted, e->sent,
		 e->next, e->room, e->peer->room, e->peer->lost);
}

void stream_transfer(struct stream_end *e)
{
	const struct stream_plan *p = &e->stream->plan;
	u32 all = p->messages[!e->client], seen;
	bool force = false;
	u64 ns = POLL_NS;

	while (p->hold && *p->hold)
		sim_sleep(MS);
	e->progress = sim_clock;
	if (!e->begin)
		e->begin = sim_clock;
	while (!e->lost && !satisfied(e)) {
		seen = e->posted;
		while (!e->lost && may_post(e, force)) {
			post_message(e);
			force = false;
			if (p->idle_ns && e->client && e->posted == all / 2)
				sim_sleep(p->idle_ns);
			if (p->pace_ns) {
				sim_sleep(sim_dice(2 * p->pace_ns));
				e->progress = sim_clock;
				break;
			}
		}
		/* Unreliable: the receivers may have heard nothing. */
		if (e->sent == all)
			e->finished = true;
		if (e->posted == all)
			ns = p->idle_ns && p->level != VIA_UNRELIABLE ?
			     3600 * SEC : POLL_MOST_NS;
		if (stream_collect(e, e->posted != seen ? 0 : ns) ||
		    e->posted != seen) {
			ns = POLL_NS;
			continue;
		}
		ns = min(2 * ns, POLL_MOST_NS);
		if (prog_state(&e->vi) == VIA_STATE_ERROR)
			broken(e, "the state", 0);
		/* The other end looks when it has slept. */
		if (e->posted == e->sent && sim_clock - e->progress >
		    FORCE_NS + 2 * p->pace_ns + p->idle_ns)
			force = true;
		check_hang(e);
	}
	e->end = sim_clock;
	e->finished = !e->lost;
}

struct stream_plan stream_bulk(u32 messages, u32 bytes)
{
	return (struct stream_plan) {
		.level = VIA_RELIABLE_DELIVERY,
		.messages = { messages, 0 },
		.sessions = 1,
		.most = bytes,
		.depth = 32,
		.slots = 16,
		.same = true,
		.plain = true,
		.patience = 45 * SEC,
	};
}

void stream_draw(struct stream_plan *p, u32 level)
{
	static const u32 levels[] = { VIA_UNRELIABLE, VIA_RELIABLE_DELIVERY,
				      VIA_RELIABLE_RECEPTION };
	static const u32 mosts[] = { 64, 1500, 5000, 8192, 32700 };

	memset(p, 0, sizeof(*p));
	p->level = level ? level : levels[sim_dice(3)];
	p->most = mosts[sim_dice(5)];
	p->messages[0] = 1 + sim_dice(60);
	p->messages[1] = sim_dice(4) ? sim_dice(60) : 0;
	p->sessions = 1 + sim_dice(2);
	p->big = !sim_dice(4);
	/* One frame of a message then fits into any other message. */
	p->same = !sim_dice(6);
	if (p->same && sim_dice(4))
		p->most = min(p->most, 5000u);
	/* Mostly what a window takes, in some runs far more. */
	p->slots = 1 + sim_dice(sim_dice(4) ? 20 : p->most > 1500 ? 30 : 100);
	p->depth = 1 + sim_dice(sim_dice(4) ? 40 : p->most > 1500 ? 30 : 100);
	p->patience = 45 * SEC;
}

void stream_figure(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

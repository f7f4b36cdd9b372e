// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The patterns, whatever they run over. */
#include <errno.h>
#include <string.h>

#include "common/msg.h"
#include "pattern.h"

#define LOST_MS		200		/* when to send again */
#define SPINS		4096		/* looks between two at the clock */
#define SPIN_US		10000		/* a longer pause is slept */

void check(int failed, const char *what)
{
	if (failed)
		die("%s: %s", what, strerror(errno));
}

int set_take(struct set *s, uint32_t *msg, int ms)
{
	uint64_t until = 0;

	if (s->block)
		return s->ops->wait(s, msg, ms);
	for (;;) {
		for (int n = 0; n < SPINS; n++) {
			int i = s->ops->look(s, msg);

			if (i >= 0)
				return i;
		}
		spin_politely();
		if (ms < 0)
			continue;
		if (!until)
			until = now_ns() + ms * 1000000ull;
		else if (now_ns() > until)
			return -1;
	}
}

void set_wait_sent(struct set *s, int i)
{
	if (s->block) {
		s->ops->wait_sent(s, i);
		return;
	}
	for (int n = 1; !s->ops->sent(s, i); n++)
		if (n % SPINS == 0)
			spin_politely();
}

/* A program that polls computes meanwhile, one that blocks sleeps. */
static void pause_us(const struct set *s, uint32_t us)
{
	uint64_t until;

	if (!us)
		return;
	if (s->block || us >= SPIN_US) {
		sleep_ns(us * 1000ull);
		return;
	}
	until = now_ns() + us * 1000ull;
	while (now_ns() < until)
		;
}

static void send_msg(struct run *r, struct set *s, int i, uint32_t flags,
		     uint32_t len)
{
	s->ops->send(s, i, (uint32_t)r->seq << 24 | flags | len, len);
}

/*
 * The answers to what was sent last on the connections of the mask. What was
 * lost is sent again, which the round's time includes.
 */
static void get_answers(struct run *r, struct set *s, uint32_t mask,
			uint32_t len)
{
	uint32_t msg;

	while (mask) {
		int i = set_take(s, &msg, s->lossy ? LOST_MS : -1);

		if (i >= 0) {
			if (M_SEQ(msg) == r->seq)
				mask &= ~(1u << i);
			continue;
		}
		if (++r->lost > 1000)
			die("no answer from the other end");
		for (int k = 0; k < s->ask.conns; k++)
			if (mask & 1u << k)
				send_msg(r, s, k, M_ANSWER, len);
	}
}

/* Until the last message is known to have arrived, by what tells it. */
static void get_there(struct run *r, struct set *s, uint32_t len)
{
	if (s->sent_is_there)
		set_wait_sent(s, 0);
	else
		get_answers(r, s, 1, len);
}

static uint32_t last_flag(const struct set *s)
{
	return s->sent_is_there ? 0 : M_ANSWER;
}

static void round_ask(struct run *r, struct set *s, int i)
{
	send_msg(r, s, i, M_ANSWER, s->ask.size);
	get_answers(r, s, 1u << i, s->ask.size);
}

static void round_fanout(struct run *r, struct set *s)
{
	for (int i = 0; i < s->ask.conns; i++)
		send_msg(r, s, i, M_ANSWER, s->ask.size);
	get_answers(r, s, (1u << s->ask.conns) - 1, s->ask.size);
}

static void round_burst(struct run *r, struct set *s)
{
	for (uint32_t k = 1; k < r->burst; k++)
		send_msg(r, s, 0, 0, s->ask.size);
	send_msg(r, s, 0, last_flag(s), s->ask.size);
	get_there(r, s, s->ask.size);
}

static void round_message(struct run *r, struct set *s)
{
	send_msg(r, s, 0, last_flag(s), s->ask.size);
	get_there(r, s, s->ask.size);
}

static void round_write(struct run *r, struct set *s, bool send_too)
{
	if (s->ops->write)
		s->ops->write(s, 0, s->ask.size);
	else
		send_msg(r, s, 0, send_too ? 0 : last_flag(s), s->ask.size);
	if (send_too)
		send_msg(r, s, 0, last_flag(s), sizeof(uint32_t));
	get_there(r, s, send_too ? sizeof(uint32_t) : s->ask.size);
}

static void one_round(struct run *r, struct set *s, uint32_t number)
{
	r->seq++;
	switch (r->pattern) {
	case P_TURN:
		round_ask(r, s, number % s->ask.conns);
		break;
	case P_WRITE:
	case P_WRITE_SEND:
		round_write(r, s, r->pattern == P_WRITE_SEND);
		break;
	case P_BURST:
		round_burst(r, s);
		break;
	case P_TAIL:
		round_message(r, s);
		break;
	case P_FANOUT:
		round_fanout(r, s);
		break;
	default:
		round_ask(r, s, 0);
	}
}

static uint32_t warm_rounds(const struct run *r)
{
	return r->iters < 200 ? r->iters / 10 + 1 : 20;
}

/* Until the server has heard it: the message may be lost. */
static void end_run(struct run *r, struct set *s)
{
	uint32_t tries = 0;

	r->seq++;
	do {
		if (tries++ > 100)
			die("the server does not end the run");
		send_msg(r, s, 0, M_FIN, sizeof(uint32_t));
	} while (!s->heard(s, s->lossy ? LOST_MS : -1));
}

void run_pattern(struct run *r, struct set *s)
{
	uint32_t warm = warm_rounds(r);
	uint64_t server_ns = s->ask.think * 1000ull;

	samples_reserve(&r->samples, r->iters);
	for (uint32_t n = 0; n < warm + r->iters; n++) {
		uint64_t start, ns;

		pause_us(s, r->think);
		start = now_ns();
		one_round(r, s, n);
		ns = now_ns() - start;
		if (n >= warm)
			samples_add(&r->samples, ns > server_ns ?
				    ns - server_ns : 0);
	}
	end_run(r, s);
}

static void pass(struct run *r, struct set *from, struct set *to)
{
	uint32_t msg;

	send_msg(r, from, 0, 0, from->ask.size);
	/* One that is late is of an earlier round. */
	do {
		if (set_take(to, &msg, from->lossy ? LOST_MS : -1) >= 0)
			continue;
		if (++r->lost > 1000)
			die("no message at the other end");
		send_msg(r, from, 0, 0, from->ask.size);
	} while (M_SEQ(msg) != r->seq);
}

void run_both(struct run *r, struct set *a, struct set *b)
{
	uint32_t warm = warm_rounds(r);

	samples_reserve(&r->samples, r->iters);
	for (uint32_t n = 0; n < warm + r->iters; n++) {
		uint64_t start;

		pause_us(a, r->think);
		start = now_ns();
		r->seq++;
		pass(r, a, b);
		pass(r, b, a);
		set_wait_sent(a, 0);
		set_wait_sent(b, 0);
		if (n >= warm)
			samples_add(&r->samples, now_ns() - start);
	}
}

void serve(struct set *s)
{
	for (;;) {
		uint32_t msg, len = s->ask.answer;
		int i = set_take(s, &msg, -1);

		if (i < 0)
			continue;
		if (msg & M_FIN)
			return;
		pause_us(s, s->ask.think);
		if (!(msg & M_ANSWER))
			continue;
		s->ops->send(s, i, (msg & ~0xffffffu) | len, len);
		if (s->ask.wait_sent)
			set_wait_sent(s, i);
	}
}

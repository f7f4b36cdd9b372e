// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a round is to be: dice alone reach few of the ways in which calls can
 * meet, so each round has a plot, which says what its racers draw from.  One
 * plot leaves all open.
 */
#include <stdio.h>
#include <string.h>
#include "race.h"

#define US		1000u
#define MENU		8u

/* What a racer does: first one of these, then some of those. */
struct role {
	uint8_t side;
	enum op first[MENU], then[MENU];
};

struct plot {
	const char *name;
	struct role role[RACERS];
};

/* Both ends are here, on two handles. */
static const struct plot plots[] = {
	{ "a peer request's end beside the next attempt", {
		{ 0, { O_PEER }, { O_REQUEST, O_PEER } },
		{ 1, { O_PEER }, { O_RESULT, O_DISCONNECT, O_PEER } },
		{ 0, { O_RESULT, O_REQUEST, O_DISCONNECT },
		  { O_RESULT, O_DESTROY, O_DISCONNECT } } } },
	{ "a request beside its deadline", {
		{ 0, { O_REQUEST }, { O_REQUEST, O_DISCONNECT, O_RESULT } },
		{ 0, { O_RESULT }, { O_RESULT, O_DESTROY } },
		{ 1, { O_WAIT }, { O_ACCEPT, O_ACCEPT, O_REJECT } } } },
	{ "an accept beside its deadline", {
		{ 1, { O_WAIT }, { O_ACCEPT } },
		{ 1, { O_RESULT }, { O_RESULT, O_QUERY, O_DESTROY } },
		{ 0, { O_REQUEST }, { O_RESULT, O_DISCONNECT } } } },
	{ "a peer request beside its deadline", {
		{ 0, { O_PEER }, { O_PEER, O_RESULT } },
		{ 0, { O_RESULT, O_QUERY }, { O_RESULT, O_DESTROY, O_SET } },
		{ 1, { O_PEER }, { O_RESULT, O_DISCONNECT, O_PEER } } } },
	{ "leaving beside joining", {
		{ 0, { O_PEER, O_REQUEST }, { O_DISCONNECT, O_DESTROY } },
		{ 1, { O_PEER, O_WAIT }, { O_ACCEPT, O_DISCONNECT } },
		{ 0, { O_DISCONNECT, O_DESTROY, O_RESULT },
		  { O_DISCONNECT, O_REQUEST, O_PEER, O_SET } } } },
	{ "anything", { { 0, { O_NONE }, { O_NONE } },
			{ 1, { O_NONE }, { O_NONE } },
			{ 0, { O_NONE }, { O_NONE } } } },
};

/* The partner is another host's. */
static const struct plot wire_plots[] = {
	{ "an accept beside its deadline", {
		{ 0, { O_WAIT }, { O_ACCEPT } },
		{ 0, { O_RESULT }, { O_RESULT, O_QUERY } },
		{ 0, { O_QUERY, O_DISCONNECT }, { O_RESULT, O_DESTROY } } } },
	{ "a request beside its deadline", {
		{ 0, { O_REQUEST, O_PEER }, { O_RESULT, O_DISCONNECT } },
		{ 0, { O_RESULT }, { O_RESULT, O_QUERY } },
		{ 0, { O_RESULT, O_QUERY }, { O_DESTROY, O_SET } } } },
	{ "leaving beside joining", {
		{ 0, { O_PEER, O_REQUEST, O_WAIT }, { O_ACCEPT, O_RESULT } },
		{ 0, { O_DISCONNECT, O_DESTROY, O_RESULT },
		  { O_DISCONNECT, O_REQUEST, O_PEER } },
		{ 0, { O_RESULT, O_DISCONNECT }, { O_RESULT } } } },
	{ "anything", { { 0, { O_NONE }, { O_NONE } },
			{ 0, { O_NONE }, { O_NONE } },
			{ 0, { O_NONE }, { O_NONE } } } },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const names[OPS] = {
	"nothing", "peer request", "request", "result", "disconnect",
	"destroy", "query", "set", "wait", "accept", "reject",
};

/* An empty menu is any call. */
static enum op draw_op(struct rng *r, const enum op *menu)
{
	uint32_t n = 0;

	while (menu[n])
		n++;
	if (!n)
		return 1 + rng_below(r, OPS - 1);
	/* What ends the menu is drawn now and then: nothing. */
	return menu[rng_below(r, n + rng_one_in(r, 8))];
}

/* Deadlines are in ticks: the shortest is one or two away. */
static uint64_t draw_timeout(struct rng *r)
{
	switch (rng_below(r, 8)) {
	case 0:
		return VIA_FOREVER;
	case 1:
		return 1 + rng_below(r, 20000000);
	case 2:
		return 50000000;
	default:
		return 1;
	}
}

/* Before it with a part, so that the call is under way when it comes. */
static void near_deadline(struct rng *r, struct step *s)
{
	s->moment = AT_DEADLINE;
	s->offset = (int32_t)rng_below(r, 300 * US) - 80 * US;
}

static void draw_moment(struct rng *r, struct step *s)
{
	s->tick = 1 + rng_below(r, 4);
	switch (rng_below(r, 4)) {
	case 0:
		s->moment = AT_ONCE;
		break;
	case 1:
		near_deadline(r, s);
		break;
	default:
		s->moment = AT_PAUSE;
		s->offset = rng_below(r, rng_one_in(r, 4) ? 200 * US : 30 * US);
	}
}

static void draw_step(struct rng *r, struct step *s, enum op op, uint32_t vi)
{
	s->op = op;
	s->vi = vi;
	s->timeout = draw_timeout(r);
	s->flags = rng_below(r, 4);
	s->times = rng_one_in(r, 2) ? 1 :
		   1 + rng_below(r, rng_one_in(r, 8) ? 400 : 50);
	draw_moment(r, s);
	switch (op) {
	case O_PEER:
	case O_REQUEST:
		/* It makes the deadline. */
		if (s->moment == AT_DEADLINE)
			s->moment = AT_ONCE;
		break;
	case O_WAIT:
		s->moment = AT_ONCE;
		s->timeout = 1 + rng_below(r, 25000000);
		break;
	case O_RESULT:
		/* Which sleeps to the deadline; not where it goes round. */
		if (!rng_one_in(r, 4))
			s->flags |= VIA_CONN_NOWAIT;
		/* fallthrough */
	case O_QUERY:
		if (rng_one_in(r, 2)) {
			near_deadline(r, s);
			s->times += 20;
		}
		break;
	case O_ACCEPT:
		/* One that is late is refused before it begins. */
		if (!rng_one_in(r, 3)) {
			s->moment = AT_DEADLINE;
			s->offset = (int32_t)rng_below(r, 160 * US) - 150 * US;
		}
		break;
	case O_DESTROY:
		/* Else there is nothing left to race about. */
		if (!rng_one_in(r, 4))
			near_deadline(r, s);
		break;
	default:
		break;
	}
}

/* A request that comes before its server waits is refused, and that is all. */
static void let_wait(struct rng *r, struct plan *p)
{
	uint32_t n;

	for (n = 0; n < p->racers; n++)
		if (p->step[n][0].op == O_REQUEST) {
			p->step[n][0].moment = AT_PAUSE;
			p->step[n][0].offset = (100 + rng_below(r, 300)) * US;
		}
}

/*
 * A CPU that is taken from a racer inside a call makes its window as long as
 * a deadline, or as a few calls of another racer.
 */
static void draw_stops(struct rng *r, struct plan *p)
{
	static const uint32_t length[] = { 30 * US, 100 * US, 500 * US, 0, 0, 0 };
	const struct step *first = &p->step[0][0];
	uint32_t i;

	p->stops = rng_one_in(r, 6) ? 0 : 1 + rng_below(r, STOPS);
	p->stop_racer = rng_one_in(r, 6) ? rng_below(r, p->racers) : 0;
	/* A server's call is near the deadline, the others are at the start. */
	p->stop_late = first->op == O_WAIT;
	for (i = 0; i < p->stops; i++) {
		p->stop_at[i] = rng_below(r, (p->stop_late ? 50 : 80) * US);
		if (!p->stop_late && first->moment == AT_PAUSE)
			p->stop_at[i] += first->offset;
		p->stop_for[i] = length[rng_below(r, COUNT(length))];
	}
}

static const struct plot *draw_plot(struct rng *r, int wire)
{
	return wire ? &wire_plots[rng_below(r, COUNT(wire_plots))] :
		      &plots[rng_below(r, COUNT(plots))];
}

static int has_server(const struct plot *plot)
{
	return plot->role[2].first[0] == O_WAIT ||
	       plot->role[0].first[0] == O_WAIT;
}

void plan_draw(struct plan *p, struct rng *r, int wire)
{
	const struct plot *plot = draw_plot(r, wire);
	/* Two of three times the partner is one that does not match. */
	uint32_t partner = rng_below(r, 3) ? 2 : 1, i, n, last;

	memset(p, 0, sizeof(*p));
	p->plot = plot->name;
	p->racers = rng_one_in(r, 3) ? 2 : RACERS;
	/* Mostly the third is there to disturb, but not where it serves. */
	if (has_server(plot))
		p->racers = RACERS;
	for (n = 0; n < p->racers; n++) {
		const struct role *role = &plot->role[n];
		uint32_t vi = role->side ? partner : 0;

		draw_step(r, &p->step[n][0], draw_op(r, role->first), vi);
		last = 1 + rng_below(r, STEPS - 1);
		for (i = 1; i <= last; i++)
			draw_step(r, &p->step[n][i], draw_op(r, role->then),
				  vi);
	}
	p->patient = has_server(plot);
	if (p->patient)
		let_wait(r, p);
	draw_stops(r, p);
}

void plan_print(const struct plan *p)
{
	uint32_t n, i;

	printf("viatest fuzz: the round: %s\n", p->plot);
	for (n = 0; n < p->racers; n++)
		for (i = 0; i < STEPS; i++) {
			const struct step *s = &p->step[n][i];

			if (!s->op)
				continue;
			printf("  racer %u: %s, VI %u, flags %u, timeout %lld ns, %u times, moment %d %+d ns\n",
			       n, names[s->op], s->vi, s->flags,
			       (long long)s->timeout, s->times, s->moment,
			       s->offset);
		}
	for (i = 0; i < p->stops; i++)
		printf("  racer %u's CPU is taken after %u ns for %u ns\n",
		       p->stop_racer, p->stop_at[i], p->stop_for[i]);
}

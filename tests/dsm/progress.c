// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Who owns the NIC: the server and the threads of one node, as run.c drives
 * dsm/lead.c. A part that run.c does under the lock is one step, and so is each
 * access to a word without it; which actor steps next is drawn from a seed.
 *
 * Time passes only while no actor can step. If a message waits then, or a thread
 * whose wait has ended sleeps, it may pass for twice LEAD_QUICK_NS at most: no
 * wake-up is left to the limits of sleeps.
 */
#include <stdlib.h>
#include <string.h>

#include "../../dsm/lead.h"
#include "progress.h"

#define THREADS		3u
#define ITEMS		64u
#define STEPS		3000u
#define TURN_NS		20000000u
#define US		1000u

enum at { COMPUTES, LOOKS, LIES, CHECKS, IN_NIC, RISES, ROUSES, WAITS, RESTS };
enum item { NONE, REQUEST, ROUSE, ANSWER };	/* ANSWER + the thread */

struct actor {
	enum at at, then;	/* then: behind ROUSES */
	unsigned int seen;	/* call, events or bell, as it was under the lock */
	uint64_t until;		/* of a sleep */
	uint64_t kept;		/* a handler runs on it until then */
	enum item got;
	bool server, serves, leads;
	bool waits, done;	/* done: its wait may end */
	bool local;		/* another thread ends its wait */
	bool asked;		/* the answer is not on the way yet */
};

struct world {
	uint64_t random, now, excused;	/* until then: a rouse was taken away */
	struct lead lead;
	struct actor actor[THREADS + 1];	/* the last is the server */
	unsigned int threads, events, turn, bell, taken;
	enum item queue[ITEMS];
	uint64_t came[ITEMS];
	unsigned int items;
	bool rouses, locals;
	const char *wrong;
};

static unsigned int draw(struct world *w, unsigned int below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 16) % below;
}

static void put(struct world *w, enum item item)
{
	if (w->items == ITEMS)
		return;
	w->queue[w->items] = item;
	w->came[w->items++] = w->now;
}

static enum item take(struct world *w)
{
	enum item item = w->queue[0];

	if (!w->items)
		return NONE;
	w->items--;
	memmove(w->queue, w->queue + 1, w->items * sizeof(*w->queue));
	memmove(w->came, w->came + 1, w->items * sizeof(*w->came));
	w->taken++;
	return item;
}

static void handle(struct world *w, enum item item)
{
	if (item == ROUSE)
		w->rouses = false;
	if (item < ANSWER)
		return;
	w->actor[item - ANSWER].done = true;
	w->events++;
}

/* drop_lock() of run.c */
static void drop(struct world *w, struct actor *a, enum at next)
{
	if (w->turn != w->events && !a->leads)
		lead_event(&w->lead);
	w->turn = w->events;
	a->at = next;
	if (!lead_calls(&w->lead))
		return;
	a->then = next;
	a->at = ROUSES;
}

static void enter_nic(struct world *w, struct actor *a)
{
	a->seen = atomic_load(&w->lead.call);
	a->got = NONE;
	drop(w, a, LOOKS);
}

static void leave(struct world *w, struct actor *a)
{
	if (lead_leave(&w->lead, a->leads, w->now))
		w->bell++;
	if (lead_orphans(&w->lead))
		w->events++;
	a->leads = a->waits = a->done = a->asked = false;
	a->until = w->now + draw(w, 3) * draw(w, 100) * US;
	drop(w, a, COMPUTES);
}

/* wait_for() of run.c, from one look at what it waits for to the next */
static void go_on(struct world *w, struct actor *a)
{
	if (a->done) {
		leave(w, a);
		return;
	}
	if (!a->leads && a->serves)
		a->leads = lead_take(&w->lead, w->now);
	if (a->leads) {
		enter_nic(w, a);
		return;
	}
	a->seen = w->events;
	w->lead.waiters += a->serves;
	drop(w, a, WAITS);
}

/* A thread of the program makes a call that waits. Those that wait for another
 * thread of the node go on.
 */
static void begin(struct world *w, struct actor *a)
{
	for (unsigned int i = 0; i < w->threads; i++)
		if (w->actor[i].waits && w->actor[i].local &&
		    !w->actor[i].done) {
			w->actor[i].done = true;
			w->events++;
		}
	a->waits = true;
	a->local = w->locals && a != &w->actor[0] && draw(w, 2);
	a->asked = !a->local;
	go_on(w, a);
}

static void serve(struct world *w, struct actor *a)
{
	uint64_t rest;
	enum lead_act act = lead_serve(&w->lead, w->now, &rest);

	if (act == LEAD_NIC) {
		enter_nic(w, a);
		return;
	}
	while (act == LEAD_STAND_IN && w->items) {
		enum item item = take(w);

		if (item == ROUSE && w->excused < w->now + TURN_NS)
			w->excused = w->now + TURN_NS;
		handle(w, item);
	}
	a->seen = w->bell;
	a->until = w->now + rest;
	drop(w, a, RESTS);
}

/* serve_once() of run.c has the lock again */
static void out_of_nic(struct world *w, struct actor *a)
{
	w->lead.beats++;
	handle(w, a->got);
	if (!a->server) {
		go_on(w, a);
		return;
	}
	lead_hand(&w->lead, w->now);
	if (lead_orphans(&w->lead))
		w->events++;
	serve(w, a);
}

static void take_or(struct world *w, struct actor *a, enum at next)
{
	a->got = take(w);
	if (a->got != NONE)
		next = RISES;
	a->at = next;
	a->until = w->now + TURN_NS;
}

static void rouse(struct world *w, struct actor *a)
{
	a->at = a->then;
	if (!atomic_load(&w->lead.asleep) || w->rouses)
		return;
	w->rouses = true;
	put(w, ROUSE);
}

static void step(struct world *w, struct actor *a)
{
	switch (a->at) {
	case COMPUTES:
		begin(w, a);
		return;
	case LOOKS:
		take_or(w, a, LIES);
		return;
	case LIES:
		lead_sleep(&w->lead);
		a->at = CHECKS;
		return;
	case CHECKS:
		a->at = lead_called(&w->lead, a->seen) ? RISES : IN_NIC;
		return;
	case IN_NIC:
		take_or(w, a, RISES);
		return;
	case RISES:
		lead_wake(&w->lead);
		out_of_nic(w, a);
		return;
	case ROUSES:
		rouse(w, a);
		return;
	case WAITS:
		w->lead.waiters -= a->serves;
		go_on(w, a);
		return;
	case RESTS:
		serve(w, a);
		return;
	}
}

static bool can_step(const struct world *w, const struct actor *a)
{
	if (w->now < a->kept)
		return false;
	if (a->at == COMPUTES || a->at == RESTS)
		return w->now >= a->until || (a->server && w->bell != a->seen);
	if (a->at == IN_NIC)
		return w->items || w->now >= a->until;
	return a->at != WAITS || w->turn != a->seen;
}

static bool owns(const struct actor *a)
{
	return a->at >= LOOKS && a->at <= RISES;
}

/* Answers and requests of other nodes come; a handler runs on an owner. */
static void surprise(struct world *w, bool handlers)
{
	struct actor *a = &w->actor[draw(w, w->threads)];

	if (a->asked && draw(w, 2)) {
		a->asked = false;
		put(w, ANSWER + (a - w->actor));
	}
	if (!draw(w, 20))
		put(w, REQUEST);
	if (!handlers || !owns(a) || draw(w, 20))
		return;
	a->kept = w->now + (uint64_t)draw(w, 500) * 1000 * US;
	if (w->excused < a->kept + TURN_NS)
		w->excused = a->kept + TURN_NS;
}

static const char *late(const struct world *w, uint64_t next)
{
	bool kept = w->now < w->excused;
	uint64_t limit = kept ? 3ull * LEAD_WATCH_NS : 2 * LEAD_QUICK_NS;

	if (w->items && next - w->came[0] > limit && next - w->now > US)
		return kept ? "a message is not taken in another's stead" :
			      "a message is not taken";
	for (unsigned int i = 0; i < w->threads; i++) {
		const struct actor *a = &w->actor[i];

		if (a->waits && a->done && !kept && next - w->now > limit)
			return "a thread sleeps, and what it waits for is there";
		if (a->at == WAITS && a->serves && !kept &&
		    w->lead.owner != LEAD_THREAD)
			return "a thread waits for the server";
	}
	return NULL;
}

/* No actor can step: the first sleep that ends. */
static bool pass_time(struct world *w)
{
	uint64_t next = UINT64_MAX, at;

	for (unsigned int i = 0; i <= w->threads; i++) {
		const struct actor *a = &w->actor[i];

		at = a->kept > w->now ? a->kept : a->until;
		if (at > w->now && at < next &&
		    (a->kept > w->now || a->at != WAITS))
			next = at;
	}
	if (next == UINT64_MAX)
		return false;
	w->wrong = late(w, next);
	w->now = next;
	return true;
}

static void check(struct world *w)
{
	unsigned int owners = 0;

	for (unsigned int i = 0; i <= w->threads; i++)
		owners += owns(&w->actor[i]);
	if (owners > 1 && !w->wrong)
		w->wrong = "two threads are in the NIC";
}

const char *progress(uint64_t seed)
{
	struct world w = { .random = seed * 0x9E3779B97F4A7C15 + 1 };
	struct actor *can[THREADS + 1], *server;
	bool handlers = !draw(&w, 4);
	unsigned int n;

	w.now = 1000000000;
	w.threads = 1 + draw(&w, THREADS);
	w.locals = draw(&w, 2);
	for (unsigned int i = 0; i < w.threads; i++)
		w.actor[i].serves = !i || draw(&w, 4);
	server = &w.actor[w.threads];
	server->server = true;
	server->at = RESTS;
	for (unsigned int i = 0; i < STEPS && !w.wrong; i++) {
		n = 0;
		for (unsigned int k = 0; k <= w.threads; k++)
			if (can_step(&w, &w.actor[k]))
				can[n++] = &w.actor[k];
		if (n)
			step(&w, can[draw(&w, n)]);
		else if (!pass_time(&w) && !w.wrong)
			w.wrong = "no actor of the node goes on";
		check(&w);
		if (!draw(&w, 3))
			surprise(&w, handlers);
	}
	if (!w.wrong && !handlers && w.taken < STEPS / 100)
		w.wrong = "few messages are taken";
	return w.wrong;
}

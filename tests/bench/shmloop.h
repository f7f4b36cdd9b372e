/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BENCH_SHMLOOP_H
#define BENCH_SHMLOOP_H

/*
 * The loops of a run (shmrun.h), the same for each library. They are compiled
 * with each of them, so no call by a pointer is timed. The file that includes
 * this one has the five calls below.
 *
 * A client is never more than two windows of messages ahead of the server's
 * answers, so no queue of receives becomes empty.
 */
#include <sched.h>

#include "common/msg.h"
#include "common/samples.h"
#include "shmrun.h"

#define LOOP_BATCH	16	/* round trips: the clock takes time, too */
#define LOOP_EMPTY	32	/* polls, after which a client yields */

struct end;

/* A message is taken: the number of the end that sent it; -1: there is none. */
static int end_arrived(struct end *e);

/* Post a receive, in place of the one that was taken last. */
static void end_recv(struct end *e, int from);

/* Post a message of as many bytes as this end sends. */
static void end_send(struct end *e, int to);

/* Take sends that are done; how many to this end are not. */
static uint32_t end_sent(struct end *e, int to);

/* What the library wants of this end while others go on; no arrivals. */
static void end_idle(struct end *e);

/*
 * Clients of a fan-in share a processor: the one that waits for an answer
 * leaves it to the others.
 */
static inline int loop_take(struct end *e, bool yields)
{
	unsigned int empty = 0;
	int from;

	while ((from = end_arrived(e)) < 0)
		if (yields && !(++empty % LOOP_EMPTY))
			sched_yield();
	return from;
}

/* The answer to a message may come before the message is done. */
static inline void loop_settle(struct end *e)
{
	while (end_sent(e, 0) > SHM_ANSWERS / 2)
		;
}

static inline void loop_bounce_client(struct end *e, const struct shm_run *r)
{
	for (uint32_t i = 0; i < r->warm + r->count; i++) {
		end_send(e, 0);
		loop_settle(e);
		loop_take(e, false);
		end_recv(e, 0);
	}
}

static inline double loop_bounce_server(struct end *e, const struct shm_run *r)
{
	struct lat_summary sum;
	struct samples s = { 0 };
	uint64_t last = 0;

	samples_reserve(&s, r->count / LOOP_BATCH + 1);
	for (uint32_t i = 0; i < r->warm + r->count; i++) {
		loop_take(e, false);
		end_send(e, 0);
		if (i >= r->warm && !(i % LOOP_BATCH)) {
			uint64_t now = now_ns();

			if (last)
				samples_add(&s, (now - last) / LOOP_BATCH);
			last = now;
		}
		end_recv(e, 0);
		loop_settle(e);
	}
	samples_summary(&s, &sum);
	samples_free(&s);
	return sum.typical * 1000;
}

static inline void loop_stream_client(struct end *e, const struct shm_run *r)
{
	const bool yields = r->kind == SHM_FANIN;
	const uint32_t ahead = shm_ahead(r);
	uint32_t total = r->warm + r->count;

	for (uint32_t i = 0; i < total + ahead; i++) {
		if (i >= ahead && !(i % r->window)) {
			loop_take(e, yields);
			end_recv(e, 0);
		}
		if (i >= total)
			continue;
		end_send(e, 0);
		/* Eight at once, as a program that cares would. */
		if (!(i % 8))
			while (end_sent(e, 0) > ahead - 8)
				;
	}
	while (end_sent(e, 0))
		;
}

/* Messages/s. */
static inline double loop_stream_server(struct end *e, const struct shm_run *r)
{
	uint64_t warm = (uint64_t)r->warm * r->clients;
	uint64_t total = (uint64_t)r->count * r->clients + warm;
	uint32_t got[SHM_CLIENTS] = { 0 };
	uint64_t start = 0;
	double ns;

	for (uint64_t i = 0; i < total; i++) {
		int from = loop_take(e, false);

		end_recv(e, from);
		if (!(++got[from] % r->window)) {
			end_send(e, from);
			end_sent(e, from);
		}
		if (i + 1 == warm)
			start = now_ns();
	}
	ns = (double)(now_ns() - start);
	for (uint32_t i = 0; i < r->clients; i++)
		while (end_sent(e, (int)i))
			;
	return (double)(total - warm) * 1e9 / ns;
}

static inline void loop_idle(void *e)
{
	end_idle(e);
}

/* With the ends connected and their receives posted: the server's figure. */
static inline double loop_run(struct end *e, const struct shm_run *r,
			      const int *fd)
{
	double figure = 0;

	shm_meet(r, fd, loop_idle, e);
	if (!shm_server(r) && r->kind == SHM_LAT)
		loop_bounce_client(e, r);
	else if (!shm_server(r))
		loop_stream_client(e, r);
	else if (r->kind == SHM_LAT)
		figure = loop_bounce_server(e, r);
	else
		figure = loop_stream_server(e, r);
	/* A library may need calls at both ends until all is done. */
	shm_meet(r, fd, loop_idle, e);
	return r->kind == SHM_STREAM ? figure * r->size * 8 / 1e6 : figure;
}

#endif

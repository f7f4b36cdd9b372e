// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * via_patterns over VIA, as two programs of the model: its loops as they are,
 * memory of the scenario instead of its control connection.  They block: a
 * program that polls makes a step of the model each time it looks.
 *
 * One object with all of it, of which patterns_main() alone is global.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs.h"
#include "../../../tools/common/msg.c"
#include "../../../tools/common/progress.c"
#include "../../../tools/common/samples.c"
#include "../../../tools/common/conn.c"
#include "../../../tools/common/chan.c"
#include "../../../tools/common/nic.c"
#include "../../bench/pattern.c"
#include "../../bench/pattern_via.c"

#define ROUNDS		24
#define IDLE_ROUNDS	3
#define NAP_NS		100000

static const struct patterns *mine;

static bool heard(struct set *s, int ms)
{
	uint64_t end = now_ns() + (uint64_t)ms * 1000000;

	(void)s;
	while (!*mine->ended) {
		if (ms >= 0 && now_ns() > end)
			return false;
		sleep_ns(NAP_NS);
	}
	return true;
}

static struct ask ask_of(const struct patterns *p, const char *device)
{
	bool bulk = p->pattern == P_WRITE || p->pattern == P_WRITE_SEND;
	struct ask a = {
		.proto = PAT_VIA, .conns = p->conns, .block = true,
		.wait_sent = p->pattern == P_TURN, .level = p->level,
		.size = bulk ? 4096 : p->pattern == P_TAIL ? 3500 :
			p->pattern == P_BURST || p->pattern == P_FANOUT ?
			1024 : 4,
		.answer = p->pattern == P_FANOUT ? 1024 : 4,
		.think = p->think_server, .cookie = 1,
	};

	snprintf(a.dev, sizeof(a.dev), "%s", device);
	return a;
}

static struct set set_of(const char *device, bool client)
{
	return (struct set){
		.ops = &via_ops, .ask = ask_of(mine, device), .block = true,
		.host = client ? "the server" : NULL, .ctl = -1,
		.heard = heard,
	};
}

static void *join_other(void *s)
{
	via_ops.join(s, mine->where[0]);
	return NULL;
}

/* In this thread; a second one only while they connect. */
static void open_other(struct set *a, struct set *b)
{
	pthread_t thread;

	*b = set_of(mine->peer, false);
	b->ops->open(b, mine->where[1]);
	if (pthread_create(&thread, NULL, join_other, b))
		die("cannot start a thread");
	a->ops->join(a, mine->where[1]);
	pthread_join(thread, NULL);
}

static void measure(struct set *s, struct set *other)
{
	struct run r = {
		.pattern = mine->pattern, .think = mine->think, .burst = 64,
		.iters = mine->think > 100000 ? IDLE_ROUNDS : ROUNDS,
	};
	struct lat_summary l;

	if (other)
		run_both(&r, s, other);
	else
		run_pattern(&r, s);
	samples_summary(&r.samples, &l);
	samples_free(&r.samples);
	/* Of both, one way. */
	*mine->p50 = l.typical * (other ? 1 : 2);
	*mine->max = l.max * (other ? 1 : 2);
	*mine->mean = l.avg * (other ? 1 : 2);
	*mine->lost = r.lost;
}

void *patterns_main(void *arg);

void *patterns_main(void *arg)
{
	struct set s, other;

	_Static_assert(MAX_CONNS * sizeof(struct where) <= PATTERNS_WHERE,
		       "where[] is that long");
	mine = arg;
	s = set_of(mine->device, mine->client);
	s.ops->open(&s, mine->where[!mine->client]);
	if (mine->peer) {
		open_other(&s, &other);
		measure(&s, &other);
		other.ops->close(&other);
		s.ops->close(&s);
		return NULL;
	}
	(*mine->met)++;
	while (*mine->met < 2)
		sleep_ns(NAP_NS);
	s.ops->join(&s, mine->where[mine->client]);
	if (mine->client) {
		measure(&s, NULL);
	} else {
		serve(&s);
		*mine->ended = true;
	}
	/* The other one may still have something to take. */
	(*mine->met)++;
	while (*mine->met < 4)
		sleep_ns(NAP_NS);
	s.ops->close(&s);
	return NULL;
}

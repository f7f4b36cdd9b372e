// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz --race: two or three threads at one VI's attempt to connect,
 * round after round.  A seed gives the same dice, not the same schedule.
 *
 * What must hold when a round is over: a VI is gone if a destroy has taken it
 * and only then; one that is not Pending has no verdict to come; connected
 * are none or two, where both ends are here; after a disconnect a VI is Idle
 * and can be destroyed.  What must hold when the handles are closed: all that
 * was made is gone, and the next two meet.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "common/msg.h"
#include "race.h"

#define SCENE		256u		/* rounds between two looks at the ledger */
#define PATIENCE_S	120u		/* a round that takes longer hangs */
#define HURRY_MS	12u		/* then what still sleeps is woken */

struct race race;

static struct {
	struct rng r;
	uint64_t round;
	unsigned int faults;
	struct ledger before;
} run;

static void fault(const char *what, long value)
{
	printf("viatest fuzz: round %llu: %s (%ld)\n",
	       (unsigned long long)run.round, what, value);
	fflush(stdout);
	run.faults++;
}

/* And what the round was. */
static void wrong(const char *what, long value)
{
	fault(what, value);
	plan_print(&race.plan);
	fflush(stdout);
}

static void ledger_check(void)
{
	const char *left = ledger_left(&run.before, PATIENCE_S);
	char what[320];

	if (!left)
		return;
	snprintf(what, sizeof(what), "left over of the last rounds: %s", left);
	fault(what, SCENE);
}

static uint32_t vi_make(unsigned int i)
{
	struct via_vi_create v = { .attrs = { VIA_RELIABLE_DELIVERY, 0,
					      i == 2 ? 8192 : 4096, 0 } };
	int ret = race_call(!!i, VIA_IOC_VI_CREATE, &v);

	if (ret)
		fault("no VI can be made", ret);
	return v.vi;
}

void race_open(struct abi *a)
{
	int ret = abi_open(a, race.device);

	if (!ret)
		return;
	fprintf(stderr, "viatest fuzz: %s: %s\n", race.device, strerror(-ret));
	exit(2);
}

static void scene_open(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++)
		race_open(&race.side[i]);
	for (i = 0; i < VIS; i++)
		race.vi[i] = vi_make(i);
	memset(race.destroyed, 0, sizeof(race.destroyed));
}

static void scene_close(void)
{
	abi_close(&race.side[0]);
	abi_close(&race.side[1]);
}

static int query(unsigned int i)
{
	struct via_vi_query q = { .vi = race.vi[i] };
	int ret = race_call(!!i, VIA_IOC_VI_QUERY, &q);

	return ret ? -1 : (int)q.state;
}

/* Its state, or -1 where it was destroyed. */
static int looked_at(unsigned int i)
{
	int state = query(i);

	if (state < 0 && !race.destroyed[i])
		wrong("a VI is gone that was not destroyed", i);
	if (state >= 0 && race.destroyed[i])
		wrong("a VI is destroyed and there, its state", state);
	if (state < 0 || state == VIA_STATE_PENDING)
		return state;
	if (race_result(i, VIA_CONN_NOWAIT) == VIA_R_NOT_DONE ||
	    race_result(i, VIA_CONN_NOWAIT | VIA_CONN_PEER) == VIA_R_NOT_DONE)
		wrong("a verdict is to come in state", state);
	return state;
}

static void left_alone(unsigned int i)
{
	int ret = race_vi(i, VIA_IOC_DISCONNECT);
	int state = query(i);

	if (ret || state != VIA_STATE_IDLE)
		wrong("after a disconnect a VI is in state", state);
}

static void unmade(unsigned int i)
{
	int ret;

	if (!race.destroyed[i]) {
		ret = race_vi(i, VIA_IOC_VI_DESTROY);
		if (ret)
			wrong("an idle VI cannot be destroyed", ret);
		if (query(i) >= 0)
			wrong("a VI outlives its destruction", i);
	}
	race.vi[i] = vi_make(i);
	race.destroyed[i] = 0;
}

/* Every thread has come back: what do we have? */
static void aftermath(void)
{
	unsigned int i, joined = 0;
	int state;

	for (i = 0; i < RACERS; i++) {
		struct via_conn_reject j = { .conn = race.conn[i] };

		if (!j.conn)
			continue;
		/* Either handle may have it; most are answered. */
		race_call(0, VIA_IOC_CONN_REJECT, &j);
		race_call(1, VIA_IOC_CONN_REJECT, &j);
		race.conn[i] = 0;
	}
	for (i = 0; i < VIS; i++) {
		state = looked_at(i);
		joined += state == VIA_STATE_CONNECTED;
	}
	if (!race.host && joined != 0 && joined != 2)
		wrong("VIs are connected, without their peers", joined);
	/* Now and then the next round begins with what is. */
	for (i = 0; i < VIS; i++) {
		if (!race.destroyed[i] && rng_one_in(&run.r, 8))
			continue;
		if (!race.destroyed[i])
			left_alone(i);
		/* At once, while what was begun for it may be on its way. */
		if (race.destroyed[i] || rng_one_in(&run.r, 3))
			unmade(i);
	}
}

/* A racer that sleeps until the other end answers, or for ever, is woken. */
static void hurry(void)
{
	unsigned int i;

	for (i = 0; i < VIS; i++)
		race_vi(i, VIA_IOC_DISCONNECT);
}

static void hung(void)
{
	wrong("a round hangs, for seconds", PATIENCE_S);
	racers_where();
	/* A thread may be in a call that no signal ends. */
	_exit(3);
}

static void round_run(void)
{
	uint64_t end;

	plan_draw(&race.plan, &run.r, !!race.host);
	racers_go();
	end = now_ns() + PATIENCE_S * 1000000000ull;
	while (!racers_wait(HURRY_MS)) {
		if (now_ns() > end)
			hung();
		hurry();
	}
	aftermath();
}

/* A matching request of each: they must find each other, and nothing else. */
static void meeting(void)
{
	struct via_conn_request q = {
		.timeout = PATIENCE_S * 1000000000ull,
	};
	const uint8_t *host = race.side[0].hello.addr;
	unsigned int i;
	int ret;

	for (i = 0; i < 2; i++) {
		q.vi = race.vi[i];
		race_address(&q.local, host, 'p', i);
		race_address(&q.remote, host, 'p', !i);
		ret = race_call(i, VIA_IOC_PEER_REQUEST, &q);
		if (ret)
			fault("new VIs: a peer request", ret);
	}
	for (i = 0; i < 2; i++) {
		ret = race_result(i, VIA_CONN_PEER);
		if (ret)
			fault("new VIs do not meet", ret);
	}
}

static void progress(void)
{
	const struct tally *t = &race.tally;

	printf("viatest fuzz: %llu rounds, %llu calls, %llu connected, %llu refused, %llu late, %llu early, %llu destroyed, %llu accepted\n",
	       (unsigned long long)run.round, (unsigned long long)t->calls,
	       (unsigned long long)t->connected,
	       (unsigned long long)t->refused, (unsigned long long)t->late,
	       (unsigned long long)t->early, (unsigned long long)t->destroyed,
	       (unsigned long long)t->accepted);
	fflush(stdout);
}

static unsigned int cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n;
}

int race_rounds(const char *device, uint64_t seed, uint64_t rounds,
		const uint8_t *host)
{
	struct timespec t;

	clock_getres(CLOCK_MONOTONIC_COARSE, &t);
	race.tick = t.tv_nsec;
	race.device = device;
	race.host = host;
	run.r.s = seed;
	run.before = ledger_read();
	racers_start(cpus());
	while (run.round < rounds && run.faults < 10) {
		scene_open();
		do {
			if (run.round % 32 == 0)
				racers_place(&run.r);
			round_run();
		} while (++run.round % SCENE && run.round < rounds);
		scene_close();
		ledger_check();
		scene_open();
		if (!host)
			meeting();
		scene_close();
		if (run.round % (4 * SCENE) == 0)
			progress();
	}
	progress();
	printf("viatest fuzz: %u faults: %s\n", run.faults,
	       run.faults ? "FAILED" : "ok");
	return run.faults;
}

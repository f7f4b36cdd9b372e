// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The delayed acknowledgement: when it leaves, and what ends ping-pong mode. */

#include "delack.h"
#include "unit.h"

#define US		1000ull
#define MS		(1000 * US)
#define DELAY		(100 * US)
#define CYCLES		3u		/* in a nanosecond */
#define NEVER		(~0ull)

static struct via_delack_now at(u64 ns, u32 acked, u32 next)
{
	return (struct via_delack_now){
		.acked = acked, .next = next, .ns = ns, .cycles = CYCLES * ns,
		.delay = DELAY,
	};
}

static struct via_delack start(void)
{
	struct via_delack d = { .least = 16, .most = 64 };

	via_delack_init(&d, 100, 500, 0);
	return d;
}

/* Data answers a PUSH: in recv.c and burst.h. */
static void answer(struct via_delack *d)
{
	via_delack_push(d);
	if (!via_delack_data(d))
		via_delack_answered(d);
}

/* In ping-pong mode, after @n delayed acknowledgements that data carried. */
static struct via_delack pingpong(u32 n)
{
	struct via_delack d = start();
	u32 i;

	for (i = 0; i < VIA_DELACK_PINGPONG + n; i++)
		answer(&d);
	return d;
}

/* The PUSH that has come now times out. */
static void time_out(struct via_delack *d, u64 ns)
{
	struct via_delack_now now = at(ns, 100, 101);
	u64 age;

	via_delack_push(d);
	d->pushed_cycles = now.cycles;
	via_delack_watch(d, &now);
	now = at(d->due, 100, 101);
	CU_ASSERT(via_delack_expired(d, &now, &age));
}

static void how_long(void)
{
	CU_ASSERT_EQUAL(via_delack_ns(0, 100, true), 100 * US);
	CU_ASSERT_EQUAL(via_delack_ns(40, 100, true), 100 * US);
	CU_ASSERT_EQUAL(via_delack_ns(800, 100, true), 1400 * US);
	CU_ASSERT_EQUAL(via_delack_ns(800, 100, false), MS);
}

static void three_answers_begin_the_mode(void)
{
	struct via_delack d = start();
	u32 i;

	for (i = 0; i < VIA_DELACK_PINGPONG; i++) {
		CU_ASSERT(via_delack_push(&d));
		CU_ASSERT(!via_delack_data(&d));
		CU_ASSERT(!d.push);
		via_delack_answered(&d);
	}
	CU_ASSERT(!via_delack_push(&d));
	CU_ASSERT(via_delack_data(&d));
	/* A PUSH that nothing has answered before the next one ends it. */
	CU_ASSERT(!via_delack_push(&d));
	CU_ASSERT(via_delack_push(&d));
	CU_ASSERT_EQUAL(d.pingpong, 0);
}

static void a_timeout_ends_the_mode(void)
{
	struct via_delack d = pingpong(1);
	u32 i;

	time_out(&d, MS);
	CU_ASSERT_EQUAL(d.pingpong, -16);
	CU_ASSERT_EQUAL(d.quick, 32);
	CU_ASSERT(!d.push);
	CU_ASSERT_EQUAL(d.pushed_ns, MS + DELAY);
	/* 16 and three PUSHes that are answered, then it begins again. */
	for (i = 0; i < 16 + VIA_DELACK_PINGPONG; i++) {
		CU_ASSERT(via_delack_push(&d));
		via_delack_data(&d);
		via_delack_answered(&d);
	}
	CU_ASSERT(!via_delack_push(&d));
	/* Doubled each time, up to the most. */
	for (i = 0; i < 10; i++) {
		d.pingpong = VIA_DELACK_PINGPONG;
		time_out(&d, MS);
	}
	CU_ASSERT_EQUAL(d.quick, VIA_DELACK_QUICK_MAX);
	CU_ASSERT_EQUAL(d.pingpong, -(s32)VIA_DELACK_QUICK_MAX);
	/* The mode has lasted as long: from the beginning. */
	d.pingpong = VIA_DELACK_PINGPONG + VIA_DELACK_QUICK_MAX - 1;
	time_out(&d, MS);
	CU_ASSERT_EQUAL(d.quick, VIA_DELACK_QUICK_MAX);
	d.pingpong = VIA_DELACK_PINGPONG + VIA_DELACK_QUICK_MAX;
	time_out(&d, MS);
	CU_ASSERT_EQUAL(d.quick, 2 * VIA_DELACK_QUICK);
	CU_ASSERT_EQUAL(d.pingpong, -(s32)VIA_DELACK_QUICK);
	/* Outside of the mode it costs nothing. */
	time_out(&d, MS);
	CU_ASSERT_EQUAL(d.quick, 2 * VIA_DELACK_QUICK);
}

static void data_of_another_vi(void)
{
	struct via_delack d = pingpong(0);

	CU_ASSERT(!via_delack_redeem(&d));
	CU_ASSERT_EQUAL(d.pingpong, VIA_DELACK_PINGPONG);
	via_delack_push(&d);
	CU_ASSERT(via_delack_redeem(&d));
	CU_ASSERT_EQUAL(d.pingpong, VIA_DELACK_PINGPONG + 1);
	CU_ASSERT(!d.push);
	/* They are counted only so far. */
	d.pingpong = VIA_DELACK_PINGPONG + VIA_DELACK_WON;
	via_delack_push(&d);
	CU_ASSERT(via_delack_redeem(&d));
	CU_ASSERT_EQUAL(d.pingpong, VIA_DELACK_PINGPONG + VIA_DELACK_WON);
	via_delack_push(&d);
	CU_ASSERT(!via_delack_data(&d));
	via_delack_answered(&d);
	CU_ASSERT_EQUAL(d.pingpong, VIA_DELACK_PINGPONG + VIA_DELACK_WON);
}

static void what_has_just_come_waits(void)
{
	struct via_delack d = start();
	struct via_delack_now now = at(MS, 100, 101);
	u64 age = 0;

	via_delack_watch(&d, &now);
	CU_ASSERT_EQUAL(d.due, MS + DELAY);
	CU_ASSERT_EQUAL(d.interval, 1);
	/* Several, of which none was there at the last sample. */
	now = at(MS + 20 * US, 101, 104);
	via_delack_watch(&d, &now);
	CU_ASSERT_EQUAL(d.due, MS + DELAY);
	/* 3 frames in 20 us, so 14 in 15/16 of 100 us. */
	CU_ASSERT_EQUAL(d.interval, 14);
	CU_ASSERT(via_delack_samples(&d, 118));
	CU_ASSERT(!via_delack_samples(&d, 117));
	/* One of them was: the time stays. */
	now = at(MS + 50 * US, 102, 106);
	via_delack_watch(&d, &now);
	CU_ASSERT_EQUAL(d.due, MS + DELAY);
	now = at(MS + DELAY - VIA_SAMPLE_GAP_NS - 1, 102, 106);
	CU_ASSERT(!via_delack_expired(&d, &now, &age));
	now.ns++;
	CU_ASSERT(via_delack_expired(&d, &now, &age));
	CU_ASSERT_EQUAL(d.interval, 0);
	CU_ASSERT_EQUAL(age, NEVER);
	CU_ASSERT(!via_delack_expired(&d, &now, &age));
}

static void nothing_owed_nothing_waits(void)
{
	struct via_delack d = start();
	struct via_delack_now now = at(MS, 100, 101);
	u64 age;

	via_delack_watch(&d, &now);
	now = at(MS + 1, 101, 101);
	CU_ASSERT(!via_delack_expired(&d, &now, &age));
	CU_ASSERT_EQUAL(d.interval, 0);
}

static void what_came_since_has_its_own_time(void)
{
	struct via_delack d = pingpong(0);
	struct via_delack_now now = at(MS, 100, 101);
	u64 age = 0;

	via_delack_watch(&d, &now);
	/* It was acknowledged; a PUSH came 40 us later. */
	via_delack_push(&d);
	d.pushed_cycles = CYCLES * (MS + 40 * US);
	now = at(MS + DELAY, 101, 102);
	CU_ASSERT(!via_delack_expired(&d, &now, &age));
	CU_ASSERT_EQUAL(age, 60 * US);
	CU_ASSERT_EQUAL(d.due, MS + 140 * US);
	now = at(MS + 140 * US, 101, 102);
	CU_ASSERT(via_delack_expired(&d, &now, &age));
	CU_ASSERT_EQUAL(age, 40 * US);
	/* A counter that stands still tells nothing: from the last sample. */
	d = pingpong(0);
	now = at(MS, 100, 101);
	via_delack_watch(&d, &now);
	via_delack_push(&d);
	now = at(MS + DELAY, 101, 102);
	now.cycles = CYCLES * MS;
	CU_ASSERT(via_delack_expired(&d, &now, &age));
	CU_ASSERT_EQUAL(age, NEVER);
}

static void a_full_transmitter(void)
{
	struct via_delack d = start();
	struct via_delack_now now = at(MS, 100, 101);

	via_delack_again(&d, &now, MS);
	CU_ASSERT_EQUAL(d.due, MS + DELAY);
	d.interval = 0;
	/* The alarm has tried it. */
	via_delack_late(&d, 101, 7);
	CU_ASSERT_EQUAL(via_delack_waited(&d, 101), 7);
	CU_ASSERT_EQUAL(via_delack_waited(&d, 102), 0);
	via_delack_again(&d, &now, MS);
	CU_ASSERT_EQUAL(d.due, 2 * MS);
}

static void fewer_where_nothing_waits(void)
{
	struct via_delack d = start();
	u32 i;

	for (i = 0; i < VIA_DELACK_PATIENCE - 1; i++)
		via_delack_unasked(&d);
	CU_ASSERT_EQUAL(d.every, 16);
	via_delack_unasked(&d);
	CU_ASSERT_EQUAL(d.every, 32);
	for (i = 0; i < 3 * VIA_DELACK_PATIENCE; i++)
		via_delack_unasked(&d);
	CU_ASSERT_EQUAL(d.every, 64);
	/* The sender waited: more, and the next try comes later. */
	via_delack_often(&d);
	CU_ASSERT_EQUAL(d.every, 32);
	CU_ASSERT_EQUAL(d.patience, 2 * VIA_DELACK_PATIENCE);
	for (i = 0; i < 20; i++)
		via_delack_often(&d);
	CU_ASSERT_EQUAL(d.every, 16);
	CU_ASSERT_EQUAL(d.patience, VIA_DELACK_PATIENCE_MAX);
	for (i = 0; i < 3 * VIA_DELACK_PATIENCE_MAX; i++)
		via_delack_unasked(&d);
	CU_ASSERT_EQUAL(d.every, 64);
	CU_ASSERT_EQUAL(d.patience, VIA_DELACK_PATIENCE_MAX / 2);
}

static void requests_of_the_sender(void)
{
	struct via_delack d = pingpong(0);

	/* Nothing waits. */
	via_delack_asked(&d, 101, MS);
	via_delack_push(&d);
	/* The first one: this host may have been late as a whole. */
	via_delack_asked(&d, 102, MS);
	CU_ASSERT_EQUAL(d.pingpong, VIA_DELACK_PINGPONG);
	CU_ASSERT(d.push);
	via_delack_asked(&d, 104, 2 * MS);
	CU_ASSERT_EQUAL(d.pingpong, -(s32)VIA_DELACK_QUICK);
	CU_ASSERT_EQUAL(d.pushed_ns, 2 * MS);
	d = pingpong(0);
	via_delack_push(&d);
	via_delack_asked(&d, 102, MS);
	via_delack_asked(&d, 105, MS);
	CU_ASSERT(d.push);
}

static void seldom(void)
{
	struct via_delack d = start();

	/* Data of ours has left, and 4 ms are over. */
	CU_ASSERT(!via_delack_seldom(&d, 501, VIA_DELACK_SELDOM_NS));
	CU_ASSERT(via_delack_seldom(&d, 502, 3ull * VIA_DELACK_SELDOM_NS));
	CU_ASSERT(!via_delack_seldom(&d, 503, 3ull * VIA_DELACK_SELDOM_NS + 5));
	/* A stream in one direction is acknowledged at once. */
	CU_ASSERT(!via_delack_seldom(&d, 503, 9ull * VIA_DELACK_SELDOM_NS));
}

UNIT_MAIN("delack",
	  { "how long a delay is", how_long },
	  { "three answers begin ping-pong mode", three_answers_begin_the_mode },
	  { "a timeout ends the mode", a_timeout_ends_the_mode },
	  { "data of another VI", data_of_another_vi },
	  { "what has just come waits", what_has_just_come_waits },
	  { "nothing owed, nothing waits", nothing_owed_nothing_waits },
	  { "what came since has its own time", what_came_since_has_its_own_time },
	  { "a transmitter that is full", a_full_transmitter },
	  { "fewer where no sender waits", fewer_where_nothing_waits },
	  { "requests of the sender", requests_of_the_sender },
	  { "PUSHes that come seldom", seldom });

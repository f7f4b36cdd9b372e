// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Credit of a peer's window: none is lost, none is made, all have a turn. */

#include <stdlib.h>
#include "credit.h"
#include "unit.h"

#define FLOWS	40u

static struct via_pool pool;
static struct via_credit flow[FLOWS];
static u32 pipe[FLOWS];			/* frames in the network */

static void begin(u32 cwnd)
{
	u32 i;

	via_pool_init(&pool, 0);
	pool.cong.cwnd = cwnd;
	for (i = 0; i < FLOWS; i++) {
		via_credit_init(&flow[i]);
		via_cong_begin(&pool.cong, &flow[i].flow, 0);
		pipe[i] = 0;
	}
}

static u32 list_count(const struct list_head *list)
{
	const struct list_head *l;
	u32 n = 0;

	for (l = list->next; l != list; l = l->next)
		n++;
	return n;
}

/* Is what idle flows hold to be given back? */
static bool is_spare_used(void)
{
	u32 size = via_pool_size(&pool);

	return pool.starved &&
	       via_pool_free(&pool) < (size < 64 ? size / 4 : 16);
}

/* What the lists and counts say must be so. */
static void check(void)
{
	u32 sum = 0, holders = 0, starving = 0, waiters = 0, i, held;
	struct list_head *l;

	for (i = 0; i < FLOWS; i++) {
		held = flow[i].mine + flow[i].given;
		sum += held;
		holders += !!held;
		CU_ASSERT_FATAL(list_empty(&flow[i].hold) == !held);
		if (!via_credit_waits(&flow[i]))
			continue;
		waiters++;
		starving += !held;
		CU_ASSERT_FATAL(flow[i].turn && flow[i].turn <=
				VIA_CREDIT_TURN);
	}
	CU_ASSERT_FATAL(sum == pool.granted);
	CU_ASSERT_FATAL(holders == pool.nholders);
	CU_ASSERT_FATAL(starving == pool.starving);
	for (l = pool.waiters.next; l != &pool.waiters; l = l->next)
		waiters--;
	CU_ASSERT_FATAL(!waiters);
	CU_ASSERT_FATAL(pool.want == (starving ? VIA_WANT_SOME :
			!list_empty(&pool.waiters) || via_pool_over(&pool) ?
			VIA_WANT_MORE : is_spare_used() ? VIA_WANT_IDLE :
			VIA_WANT_NONE));
	CU_ASSERT_FATAL(pool.want >= VIA_WANT_MORE || !pool.to_visit);
}

/* The flows that are given something by so many visits. */
static u64 serve_some(u32 visits)
{
	struct via_work work = VIA_WORK(visits);
	struct via_credit *c;
	u64 turns = 0;

	while ((c = via_pool_serve(&pool, &work)))
		turns |= (u64)1 << (c - flow);
	check();
	return turns;
}

/*
 * As share.c: what is free is served, in portions.  Which flows have their turn?
 */
static u64 serve(void)
{
	u64 turns = 0;

	do
		turns |= serve_some(3);
	while (via_pool_is_owed(&pool));
	/* Nothing stays free while a flow waits that may have more. */
	CU_ASSERT_FATAL(list_empty(&pool.waiters) || !via_pool_free(&pool));
	return turns;
}

static bool take(u32 i, u32 most)
{
	bool got = via_credit_take(&pool, &flow[i], most, false, 0);

	serve();
	return got;
}

static void portions(void)
{
	begin(16);
	CU_ASSERT(take(0, 100));
	CU_ASSERT_EQUAL(flow[0].mine, VIA_CREDIT_FIRST);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_NONE);
	CU_ASSERT(take(0, 100));
	CU_ASSERT_EQUAL(flow[0].mine, 16);
	CU_ASSERT(!take(0, 100));
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_MORE);
	/* It is the only one: there is nothing to collect. */
	CU_ASSERT_EQUAL(pool.to_visit, 0);
	/* What is free goes to it. */
	pool.cong.cwnd = 40;
	CU_ASSERT_EQUAL(serve(), 1);
	CU_ASSERT_EQUAL(flow[0].given, 24);
	CU_ASSERT(take(0, 100));
	CU_ASSERT_EQUAL(flow[0].mine, 40);
	via_credit_sated(&pool, &flow[0]);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_NONE);
	via_credit_end(&pool, &flow[0]);
	CU_ASSERT_EQUAL(pool.granted, 0);
	/* At most as many as it can use. */
	CU_ASSERT(take(1, 2));
	CU_ASSERT_EQUAL(flow[1].mine, 2);
	CU_ASSERT(!take(1, 2));
	CU_ASSERT(!via_credit_waits(&flow[1]));
}

static void idle_ones_give_back(void)
{
	u32 i;

	/* Four idle flows hold all there is. */
	begin(16);
	for (i = 0; i < 4; i++)
		CU_ASSERT(take(i, 100));
	CU_ASSERT(!take(4, 100));
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_SOME);
	CU_ASSERT_EQUAL(pool.to_visit, 4);
	for (i = 0; i < 4; i++) {
		CU_ASSERT_PTR_EQUAL(via_pool_visit(&pool), &flow[i]);
		via_credit_give(&pool, &flow[i], i == 2);
		serve();
		/* The rest of them keeps something. */
		CU_ASSERT_EQUAL(flow[i].mine, i == 2 ? 3 : i ? 2 : 0);
	}
	CU_ASSERT_PTR_NULL(via_pool_visit(&pool));
	CU_ASSERT(take(4, 100));
	CU_ASSERT_EQUAL(flow[4].mine, 9);
}

/* A message of flow @i alone: is it sent at once?  It has what it needs after. */
static bool in_turn(u32 i, u32 now_ms)
{
	bool sent = flow[i].mine ||
		    via_credit_take(&pool, &flow[i], 100, false, now_ms);

	serve();
	if (pool.want == VIA_WANT_IDLE)
		via_credit_idle(&pool, &flow[i]);
	check();
	return sent;
}

/* The tasklet's visits: idle flows give back. */
static void collect(void)
{
	struct via_credit *c;

	while ((c = via_pool_visit(&pool))) {
		via_credit_give(&pool, c, 0);
		serve();
	}
}

static void many_in_turn(void)
{
	u32 i, round;

	/* As many as there are portions keep what they hold. */
	begin(16);
	for (round = 0; round < 2; round++)
		for (i = 0; i < 4; i++)
			CU_ASSERT(in_turn(i, 0));
	CU_ASSERT_EQUAL(pool.nholders, 4);
	/* The fifth finds nothing: what others do not use is collected. */
	CU_ASSERT(!in_turn(4, 0));
	collect();
	/* It has more than a first portion, which is not for one message. */
	CU_ASSERT(take(4, 100));
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_MORE);
	via_credit_sated(&pool, &flow[4]);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_IDLE);
	via_credit_idle(&pool, &flow[4]);
	CU_ASSERT_EQUAL(flow[4].mine, 10);
	/* The alarm returns that, and then each finds some. */
	via_credit_trim(&pool, &flow[4], 0, 0);
	for (round = 0; round < 4; round++)
		for (i = 0; i < FLOWS; i++)
			CU_ASSERT(in_turn(i, 999));
	CU_ASSERT(via_pool_free(&pool) >= VIA_CREDIT_FIRST);
	/* A second later they keep it again. */
	CU_ASSERT(in_turn(FLOWS - 1, 1000));
	CU_ASSERT_EQUAL(flow[FLOWS - 1].mine, VIA_CREDIT_FIRST);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_NONE);
	for (i = FLOWS - 2; in_turn(i, 1000); i--)
		;
	/* Others wait: that is the visits' affair. */
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_SOME);
	via_credit_idle(&pool, &flow[FLOWS - 1]);
	CU_ASSERT_EQUAL(flow[FLOWS - 1].mine, VIA_CREDIT_FIRST);
	check();
}

/* A flow that waits for the peer alone keeps what it is given. */
static void alone_it_keeps(void)
{
	begin(16);
	pool.shut = true;
	CU_ASSERT(!take(0, 100));
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_SOME);
	pool.shut = false;
	CU_ASSERT_EQUAL(serve(), 1);
	CU_ASSERT(take(0, 100));
	while (take(0, 100))
		;
	via_credit_sated(&pool, &flow[0]);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_NONE);
	CU_ASSERT_EQUAL(flow[0].mine, 16);
}

static void turns_are_fair(void)
{
	u32 sent[3] = { 0 }, i, n, round, turns;

	begin(20);
	for (i = 0; i < 3; i++)
		while (take(i, 2000))
			;
	/* Each frame that is acknowledged makes room for one. */
	for (round = 0; round < 3000; round++) {
		i = rand() % 3;
		n = min(flow[i].mine, 1 + rand() % 8u);
		via_credit_give(&pool, &flow[i], flow[i].mine - n);
		turns = serve();
		for (i = 0; i < 3; i++) {
			if (!(turns >> i & 1))
				continue;
			n = flow[i].mine;
			CU_ASSERT(take(i, 2000));
			sent[i] += flow[i].mine - n;
			take(i, 2000);
		}
	}
	for (i = 0; i < 3; i++)
		CU_ASSERT(sent[i] >= sent[(i + 1) % 3] - VIA_CREDIT_TURN &&
			  sent[i] <= sent[(i + 1) % 3] + VIA_CREDIT_TURN);
	/* One that waits in vain since another is in a hurry: once. */
	CU_ASSERT(!via_credit_take(&pool, &flow[3], 9, true, 0));
	via_credit_give(&pool, &flow[0], 0);
	CU_ASSERT(serve() & 8);
}

/* Each of @n flows has @part after some rounds of acknowledgements. */
static void see_parts(u32 n, u32 part)
{
	u32 round, i;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < n; i++) {
			take(i, 2000);
			via_credit_give(&pool, &flow[i], 0);
			CU_ASSERT(flow[i].mine <= part);
			serve();
		}
	}
	for (i = 0; i < n; i++) {
		via_credit_see(&flow[i]);
		/* A frame is on its way from one that had more. */
		CU_ASSERT(flow[i].mine >= part - 1 && flow[i].mine <= part + 1);
	}
}

/* In a large window flows that wait keep an equal part, and no more. */
static void equal_parts_stay(void)
{
	u32 i;

	begin(100);
	while (take(0, 2000))
		;
	CU_ASSERT_EQUAL(flow[0].mine, 100);
	for (i = 1; i < 4; i++)
		CU_ASSERT(!take(i, 2000));
	/* It keeps a quarter of what is acknowledged; all wait for the rest. */
	via_credit_give(&pool, &flow[0], 0);
	CU_ASSERT_EQUAL(flow[0].mine, 25);
	serve();
	see_parts(4, 25);
	/* A fifth one has its part of them all. */
	CU_ASSERT(!take(4, 2000));
	see_parts(5, 20);
	/* One that needs less leaves the rest of its part to them. */
	via_credit_sated(&pool, &flow[4]);
	via_credit_give(&pool, &flow[4], 1);
	serve();
	check();
	CU_ASSERT(flow[4].mine <= 1 + VIA_CREDIT_KEPT);
	/* Where parts are no longer than a turn, nothing is kept. */
	begin(4 * VIA_CREDIT_TURN);
	while (take(0, 2000))
		;
	for (i = 1; i < 4; i++)
		CU_ASSERT(!take(i, 2000));
	via_credit_give(&pool, &flow[0], 0);
	CU_ASSERT_EQUAL(flow[0].mine, 0);
	serve();
}

static void a_smaller_window_comes_back(void)
{
	begin(64);
	while (take(0, 64))
		;
	via_credit_sated(&pool, &flow[0]);
	pool.cong.cwnd = 32;
	/* 40 of its frames are in the network, then 20. */
	via_credit_give(&pool, &flow[0], 40);
	serve();
	CU_ASSERT_EQUAL(flow[0].mine, 40);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_MORE);
	via_credit_give(&pool, &flow[0], 20);
	serve();
	CU_ASSERT_EQUAL(flow[0].mine, 32);
	CU_ASSERT_EQUAL(pool.want, VIA_WANT_NONE);
	/* A frame that has to go. */
	via_credit_force(&pool, &flow[0], 1);
	CU_ASSERT_EQUAL(flow[0].mine, 33);
	via_credit_trim(&pool, &flow[0], 1, 4);
	serve();
	CU_ASSERT_EQUAL(flow[0].mine, 5);
	via_credit_trim(&pool, &flow[0], 0, 0);
	check();
	CU_ASSERT_EQUAL(pool.granted, 0);
}

static void large_windows_rest(void)
{
	begin(800);
	pool.cong.used_at = 0;
	via_credit_take(&pool, &flow[0], 100, false, 3000);
	CU_ASSERT_EQUAL(pool.cong.cwnd, 100);
	/* In use it does not. */
	while (via_credit_take(&pool, &flow[0], 100, false, 3000))
		;
	via_credit_take(&pool, &flow[1], 100, false, 3900);
	via_credit_take(&pool, &flow[2], 100, false, 4800);
	CU_ASSERT_EQUAL(pool.cong.cwnd, 100);
	serve();
}

/*
 * Anything in any order.  A flow that waits while others have frames in the
 * network gets some when these are acknowledged.
 */
static void any_order(void)
{
	u32 step, i, run, served;

	srand(5);
	for (run = 0; run < 40; run++) {
		begin(1 + rand() % 100);
		for (step = 0; step < 1500; step++) {
			i = rand() % FLOWS;
			switch (rand() % 12) {
			case 0: case 1: case 2: case 3:
				if (pipe[i] < flow[i].mine)
					pipe[i] += 1 + rand() %
						(flow[i].mine - pipe[i]);
				else
					via_credit_take(&pool, &flow[i],
							1 + rand() % 64,
							!(rand() % 4), step);
				break;
			case 4: case 5: case 6:
				pipe[i] -= rand() % (pipe[i] + 1);
				if (pool.want == VIA_WANT_IDLE && !pipe[i])
					via_credit_idle(&pool, &flow[i]);
				else if (pool.want)
					via_credit_give(&pool, &flow[i],
							pipe[i]);
				break;
			case 7:
				if (pipe[i] < flow[i].mine)
					via_credit_sated(&pool, &flow[i]);
				break;
			case 8:
				pipe[i] = 0;
				via_credit_end(&pool, &flow[i]);
				CU_ASSERT_FATAL(!flow[i].mine);
				break;
			case 9:
				pool.cong.cwnd = 1 + rand() % 100;
				break;
			case 10:
				via_credit_trim(&pool, &flow[i], pipe[i],
						rand() % 8);
				break;
			default:
				if (!(rand() % 8)) {
					via_credit_force(&pool, &flow[i], 1);
					pipe[i]++;
				}
			}
			serve();
			via_credit_see(&flow[i]);
			CU_ASSERT_FATAL(flow[i].mine >= pipe[i]);
		}
		/* All is acknowledged, and all that wait get some in the end. */
		for (served = 0; served < 100 * FLOWS; served++) {
			i = served % FLOWS;
			pipe[i] = 0;
			if (via_credit_waits(&flow[i]) &&
			    flow[i].mine + flow[i].given)
				via_credit_sated(&pool, &flow[i]);
			via_credit_give(&pool, &flow[i], 0);
			serve();
		}
		CU_ASSERT_FATAL(list_empty(&pool.waiters));
		for (i = 0; i < FLOWS; i++)
			via_credit_end(&pool, &flow[i]);
		CU_ASSERT_FATAL(!pool.granted && !pool.nholders);
	}
}

/* The peer's share bounds all flows together, and lasts for a second. */
static void the_peer_bounds(void)
{
	u32 i;

	begin(16);
	take(0, 16);
	via_pool_told(&pool, 2 * VIA_CONG_PARTS, 0);
	serve();
	CU_ASSERT_EQUAL(via_pool_over(&pool), 2);
	via_credit_give(&pool, &flow[0], 1);
	serve();
	CU_ASSERT_EQUAL(flow[0].mine, 2);
	CU_ASSERT_FALSE(take(1, 16));
	via_pool_told(&pool, 0, 0);
	serve();
	CU_ASSERT(pool.granted > 2);
	/* The window has not grown, nor shrunk. */
	CU_ASSERT_EQUAL(pool.cong.cwnd, 16);

	begin(16);
	via_pool_told(&pool, VIA_CONG_PARTS, 0);
	via_credit_take(&pool, &flow[0], 16, false, 999);
	CU_ASSERT_EQUAL(via_pool_size(&pool), 1);
	via_credit_take(&pool, &flow[1], 16, false, 1000);
	CU_ASSERT_EQUAL(via_pool_size(&pool), 16);
	for (i = 0; i < 2; i++)
		via_credit_sated(&pool, &flow[i]);
}

/* Of three halves of a frame every other one is two. */
static void parts_of_a_frame(void)
{
	u32 i, sum = 0;

	begin(16);
	for (i = 0; i < 16; i++) {
		via_pool_told(&pool, VIA_CONG_PARTS * 3 / 2, 0);
		sum += via_pool_size(&pool);
	}
	CU_ASSERT_EQUAL(sum, 24);
	CU_ASSERT_EQUAL(via_pool_pause(&pool), 0);
	/* A quarter: three round trips without a frame, then one with it. */
	via_pool_told(&pool, VIA_CONG_PARTS / 4, 0);
	CU_ASSERT_EQUAL(via_pool_size(&pool), 1);
	CU_ASSERT_EQUAL(via_pool_pause(&pool), 3 * VIA_CONG_PARTS);
	via_pool_told(&pool, 0, 0);
	CU_ASSERT_EQUAL(via_pool_pause(&pool), 0);
}

/* In a pause nothing is given, and what was is collected. */
static void pauses(void)
{
	begin(16);
	take(0, 16);
	pool.shut = true;
	CU_ASSERT_FALSE(take(1, 16));
	via_credit_give(&pool, &flow[0], 1);
	serve();
	CU_ASSERT_EQUAL(flow[0].mine, 1);
	pool.shut = false;
	CU_ASSERT_EQUAL(serve(), 2);
	/* It ends with the last flow. */
	pool.shut = true;
	via_credit_end(&pool, &flow[0]);
	CU_ASSERT(pool.shut);
	via_credit_end(&pool, &flow[1]);
	CU_ASSERT_FALSE(pool.shut);
}

/*
 * Flows that are served, and those that are found to have their most: no more of
 * either than there are visits, and all in the end.
 */
static void served_in_portions(void)
{
	u32 i, left;

	begin(1);
	for (i = 0; i < FLOWS; i++)
		via_credit_take(&pool, &flow[i], VIA_CREDIT_TURN, false, 0);
	pool.cong.cwnd = VIA_WIN_MAX;
	for (left = FLOWS - 1; left > 10; left -= 10)
		CU_ASSERT_EQUAL(__builtin_popcountll(serve_some(10)), 10);
	CU_ASSERT(via_pool_is_owed(&pool));
	CU_ASSERT_EQUAL((u32)__builtin_popcountll(serve_some(left)),
			left);
	/* Their turns are over, and none of them has looked. */
	left = FLOWS - 1;
	CU_ASSERT_EQUAL(list_count(&pool.waiters), left);
	CU_ASSERT_EQUAL(serve_some(10), 0);
	CU_ASSERT_EQUAL(list_count(&pool.waiters), left - 10);
	CU_ASSERT(via_pool_is_owed(&pool));
	CU_ASSERT_EQUAL(serve(), 0);
	CU_ASSERT(list_empty(&pool.waiters));
}

UNIT_MAIN("credit",
	  { "served in portions", served_in_portions },
	  { "portions of what is free", portions },
	  { "idle flows give back", idle_ones_give_back },
	  { "many flows in turn", many_in_turn },
  { "one that waits alone keeps it", alone_it_keeps },
  { "turns are fair", turns_are_fair },
	  { "equal parts stay", equal_parts_stay },
	  { "a smaller window comes back", a_smaller_window_comes_back },
	  { "a large window rests", large_windows_rest },
	  { "the peer bounds all flows", the_peer_bounds },
	  { "parts of a frame", parts_of_a_frame },
	  { "pauses", pauses },
	  { "anything in any order", any_order });

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The window of a peer: growth, reductions, who has heard of them. */

#include "congestion.h"
#include "unit.h"

#define RTT	1000u

static struct via_cong_now at(u64 us)
{
	return (struct via_cong_now){ .us = us, .rtt = RTT };
}

static struct via_cong start(u32 cwnd)
{
	struct via_cong c;

	via_cong_init(&c, 0);
	c.cwnd = cwnd;
	c.ssthresh = cwnd;
	return c;
}

static void begins_with_16(void)
{
	struct via_cong c;

	via_cong_init(&c, 5);
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_INIT);
	via_cong_bound(&c, 8);
	CU_ASSERT_EQUAL(c.cwnd, 8);
	via_cong_grow(&c, 100, 0);
	CU_ASSERT_EQUAL(c.cwnd, 8);
	via_cong_bound(&c, 0);
	CU_ASSERT_EQUAL(c.cwnd, 1);
	via_cong_bound(&c, 100000);
	CU_ASSERT_EQUAL(c.most, VIA_WIN_MAX);
}

static void grows_and_shrinks(void)
{
	struct via_cong_flow f;
	struct via_cong c;
	u32 i;

	via_cong_init(&c, 0);
	via_cong_bound(&c, 64);
	via_cong_begin(&c, &f, 0);
	via_cong_grow(&c, 16, 0);
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_grow(&c, 64, 0);
	CU_ASSERT_EQUAL(c.cwnd, 64);
	via_cong_loss(&c, &f, 0, 64, at(0));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	/* From here on five frames in four rounds. */
	for (i = 0; i < 4; i++)
		via_cong_grow(&c, c.cwnd, 0);
	CU_ASSERT_EQUAL(c.cwnd, 37);
	for (i = 0; i < 10; i++)
		via_cong_loss(&c, &f, 64 + i * 10, 74 + i * 10, at(i * RTT));
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_MIN);
}

static void once_a_round(void)
{
	struct via_cong c = start(64);
	struct via_cong_flow a, b, d;

	via_cong_begin(&c, &a, 100);
	via_cong_begin(&c, &b, 0xfffffff0);
	via_cong_begin(&c, &d, 7);
	via_cong_loss(&c, &a, 100, 120, at(5 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	/* Its own frames of before, and another flow's. */
	via_cong_loss(&c, &a, 119, 150, at(5 * RTT + 10));
	via_cong_loss(&c, &b, 0xfffffff0, 8, at(5 * RTT + 10));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	/* It knows which they were: later ones count, however soon. */
	via_cong_loss(&c, &b, 7, 20, at(5 * RTT + 20));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_loss(&c, &b, 8, 20, at(5 * RTT + 30));
	CU_ASSERT_EQUAL(c.cwnd, 16);
	/* One that has not heard of it for longer than a round trip. */
	via_cong_loss(&c, &d, 7, 9, at(7 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 8);
	/* A flow that begins has lost nothing before. */
	via_cong_begin(&c, &d, 50);
	via_cong_loss(&c, &d, 50, 60, at(7 * RTT + 10));
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_MIN);
	/* A round of long ago is no round, whatever its number looks like. */
	c.cwnd = 64;
	via_cong_loss(&c, &d, 60 + 0x80000000, 70 + 0x80000000, at(9 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
}

static void hears_in_time(void)
{
	struct via_cong c = start(64);
	struct via_cong_flow a, b;

	via_cong_begin(&c, &a, 0);
	via_cong_begin(&c, &b, 0);
	via_cong_loss(&c, &a, 0, 10, at(RTT));
	/* Told at once, it sends more: what was in flight is of the round. */
	via_cong_hear(&c, &b, 30, at(RTT + RTT / 2));
	via_cong_loss(&c, &b, 29, 60, at(3 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_loss(&c, &b, 30, 60, at(3 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 16);
	/* Told late, nothing is. */
	via_cong_hear(&c, &a, 90, at(9 * RTT));
	via_cong_loss(&c, &a, 80, 90, at(9 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 8);
}

static void what_was_no_loss_is_undone(void)
{
	struct via_cong c = start(64);
	struct via_cong_flow a, b;

	via_cong_begin(&c, &a, 0);
	via_cong_begin(&c, &b, 0);
	via_cong_loss(&c, &a, 0, 10, at(RTT));
	via_cong_loss(&c, &b, 0, 10, at(RTT + 1));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	/* All flows that have lost something must have lost nothing. */
	via_cong_undo(&c, &a);
	via_cong_undo(&c, &a);
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_undo(&c, &b);
	CU_ASSERT_EQUAL(c.cwnd, 64);
	CU_ASSERT_EQUAL(c.ssthresh, 64);
	/* Of a reduction that another one followed there is no way back. */
	via_cong_loss(&c, &a, 10, 20, at(4 * RTT));
	via_cong_loss(&c, &a, 20, 30, at(8 * RTT));
	via_cong_undo(&c, &b);
	CU_ASSERT_EQUAL(c.cwnd, 16);
	via_cong_undo(&c, &a);
	CU_ASSERT_EQUAL(c.cwnd, 32);
}

static void a_mark_stands(void)
{
	struct via_cong c = start(64);
	struct via_cong_flow f;

	via_cong_begin(&c, &f, 0);
	via_cong_mark(&c, &f, 0, 10, at(RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_mark(&c, &f, 9, 10, at(RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_loss(&c, &f, 9, 10, at(RTT));
	via_cong_undo(&c, &f);
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_mark(&c, &f, 10, 20, at(3 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 16);
}

static void timeouts(void)
{
	struct via_cong c = start(64);
	struct via_cong_flow a, b;

	/* One flow: to the least, and what was is reached fast. */
	via_cong_begin(&c, &a, 0);
	via_cong_begin(&c, &b, 0);
	via_cong_timeout(&c, &a, 30, 0, false, at(RTT));
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_MIN);
	CU_ASSERT_EQUAL(c.ssthresh, 32);
	CU_ASSERT_EQUAL(c.wmax, 64);
	via_cong_undo(&c, &a);
	CU_ASSERT_EQUAL(c.cwnd, 64);
	/* The second time of one silence. */
	via_cong_timeout(&c, &a, 60, 0, false, at(9 * RTT));
	via_cong_timeout(&c, &a, 60, 0, true, at(12 * RTT));
	CU_ASSERT_EQUAL(c.ssthresh, 32);
	via_cong_undo(&c, &a);
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_MIN);
	/* Others go on: half, once, however often this one asks. */
	c.cwnd = 64;
	via_cong_timeout(&c, &a, 90, 40, false, at(20 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	via_cong_timeout(&c, &a, 90, 30, true, at(22 * RTT));
	CU_ASSERT_EQUAL(c.cwnd, 32);
	/* They have met the same outage. */
	via_cong_timeout(&c, &a, 120, 30, false, at(40 * RTT));
	via_cong_timeout(&c, &b, 44, 30, false, at(40 * RTT + 10));
	CU_ASSERT_EQUAL(c.cwnd, 16);
}

static void rest_halves(void)
{
	struct via_cong c = start(800);

	c.ssthresh = 300;
	via_cong_rest(&c, 999);
	CU_ASSERT_EQUAL(c.cwnd, 800);
	via_cong_rest(&c, 2500);
	CU_ASSERT_EQUAL(c.cwnd, 200);
	CU_ASSERT_EQUAL(c.ssthresh, 600);
	via_cong_rest(&c, 0xfffffff0);
	CU_ASSERT_EQUAL(c.cwnd, VIA_CONG_INIT);
	c.cwnd = 4;
	via_cong_rest(&c, 5000);
	CU_ASSERT_EQUAL(c.cwnd, 4);
}

/* Acknowledged by 16 frames, a window each 100 ms: ms until it is @to. */
static u32 time_to_grow(struct via_cong *c, u32 from, u32 to)
{
	u32 now = from, left;

	while (c->cwnd < to && now - from < 100000) {
		now += 100;
		for (left = c->cwnd; left; left -= min(left, 16u))
			via_cong_grow(c, min(left, 16u), now);
	}
	return now - from;
}

static void grows_like_cubic(void)
{
	struct via_cong c = start(1000);
	struct via_cong_flow f;
	u32 now = 0xffffff00, ms;

	/* 1,000 frames fell to 500: back after the cube root of 500 / 0.407 */
	via_cong_begin(&c, &f, 0);
	via_cong_loss(&c, &f, 0, 1000, at(RTT));
	CU_ASSERT_EQUAL(c.cwnd, 500);
	ms = time_to_grow(&c, now, 990);
	CU_ASSERT(ms > 6000 && ms < 11500);
	/* Then slow, then fast. */
	now += ms;
	ms = time_to_grow(&c, now, 1010);
	CU_ASSERT(ms > 1500 && ms < 12000);
	now += ms;
	ms = time_to_grow(&c, now, 2000);
	CU_ASSERT(ms < 16000);
	/* A small window as it always did. */
	c = start(20);
	c.wmax = 1000;
	ms = time_to_grow(&c, 0, 30);
	CU_ASSERT(ms > 700 && ms < 900);
}

UNIT_MAIN("congestion",
	  { "16 frames at first", begins_with_16 },
	  { "the window grows and shrinks", grows_and_shrinks },
	  { "once a round trip, whoever loses", once_a_round },
	  { "a flow hears of a reduction", hears_in_time },
	  { "what was no loss is undone", what_was_no_loss_is_undone },
	  { "a mark stands", a_mark_stands },
	  { "timeouts", timeouts },
	  { "rest halves the window", rest_halves },
	  { "a large window grows like CUBIC", grows_like_cubic });

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What window.c, congestion.c and credit.c make of a wire that is slower than its senders: a model. */

#include <stdlib.h>

#include "model.h"
#include "unit.h"

/* 40 Mb/s, a queue of 64 frames, round trips of 0.2, 1 and 5 ms */
static const uint32_t delays[] = { 100, 500, 2500 };

static struct model run(struct model m)
{
	srandom(1);
	if (!m.frame_us)
		m.frame_us = 300;
	if (!m.queue)
		m.queue = 64;
	if (!m.seconds)
		m.seconds = 11;
	model_run(&m);
	return m;
}

#define RUN(...) run((struct model){ __VA_ARGS__ })
#define EACH(d) (unsigned int i = 0, d = delays[0]; \
		 i < 3; d = delays[++i % 3])

static void fills_the_wire(void)
{
	for EACH(d) {
		struct model m = RUN(.via = 1, .delay_us = d);

		CU_ASSERT(m.via_sum > 0.98);
		CU_ASSERT_EQUAL(m.resent, 0);
		CU_ASSERT_EQUAL(m.timeouts, 0);
	}
}

static void lives_with_loss(void)
{
	struct model m;

	for (unsigned int i = 0; i < 2; i++) {
		m = RUN(.via = 1, .delay_us = delays[i], .loss = 10000);
		CU_ASSERT(m.via_sum > 0.9);
		m = RUN(.via = 1, .delay_us = delays[i], .loss = 100000);
		CU_ASSERT(m.via_sum > 0.6);
		m = RUN(.via = 4, .delay_us = delays[i], .loss = 100000);
		CU_ASSERT(m.via_sum > 0.6);
		m = RUN(.via = 1, .delay_us = delays[i], .loss = 300000);
		CU_ASSERT(m.via_sum > 0.05);
	}
}

static void shares_with_tcp(void)
{
	static const uint32_t vis[] = { 1, 4, 8 };

	for EACH(d) {
		for (unsigned int k = 0; k < 3; k++) {
			struct model m = RUN(.via = vis[k], .tcp = 1,
					     .delay_us = d);

			CU_ASSERT(m.via_sum > 0.34);
			CU_ASSERT(m.tcp_sum > 0.34);
			CU_ASSERT(m.via_sum + m.tcp_sum > 0.97);
		}
	}
}

static void shares_with_its_like(void)
{
	for EACH(d) {
		for (uint32_t hosts = 1; hosts <= 8; hosts += 7) {
			/* Those of one host are one to the queue. */
			struct model m = RUN(.via = 8, .hosts = hosts,
					     .window = hosts > 1 ? 64 : 256,
					     .delay_us = d);
			double least = 1, most = 0;

			CU_ASSERT(m.via_sum > 0.97);
			CU_ASSERT(m.drops > 0);
			for (unsigned int k = 0; k < 8; k++) {
				if (m.goodput[k] < least)
					least = m.goodput[k];
				if (m.goodput[k] > most)
					most = m.goodput[k];
			}
			CU_ASSERT(most < 2 * least);
		}
	}
}

static void learns_of_reordering(void)
{
	static const uint32_t gaps[] = { 3, 10, 30 };

	for EACH(d) {
		for (unsigned int k = 0; k < 3; k++) {
			struct model m = RUN(.via = 1, .delay_us = d,
					     .reorder = 50000, .gap = gaps[k]);

			CU_ASSERT(m.via_sum > 0.9);
		}
	}
}

/* 1 Gb/s, and round trips that hold 20 to 1,667 frames of 1,500 bytes */
static void fills_a_long_way(void)
{
	static const struct {
		uint32_t frames, queue, loss;
		double bar;
	} way[] = {
		{ 20, 256, 0, 0.98 }, { 20, 256, 1000, 0.9 },
		{ 100, 256, 0, 0.98 }, { 100, 256, 100, 0.8 },
		{ 500, 256, 0, 0.9 }, { 500, 1024, 0, 0.95 },
		{ 500, 1024, 10, 0.6 }, { 1667, 1024, 0, 0.8 },
	};

	for (unsigned int i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		struct model m = RUN(.via = 1, .window = 2048, .frame_us = 12,
				     .delay_us = way[i].frames * 6,
				     .queue = way[i].queue,
				     .loss = way[i].loss);

		CU_ASSERT(m.via_sum > way[i].bar);
		CU_ASSERT_EQUAL(m.timeouts, 0);
	}
}

static void shares_a_long_way(void)
{
	for (uint32_t frames = 20; frames <= 500; frames *= 5) {
		struct model m = RUN(.via = 1, .tcp = 1, .window = 2048,
				     .frame_us = 12, .queue = 256,
				     .delay_us = frames * 6);

		CU_ASSERT(m.via_sum > 0.3);
		CU_ASSERT(m.tcp_sum > 0.3);
		CU_ASSERT(m.via_sum + m.tcp_sum > 0.95);
	}
}

UNIT_MAIN("bottleneck",
	  { "one sender fills the wire", fills_the_wire },
	  { "goodput where frames get lost", lives_with_loss },
	  { "TCP and VIA share the wire", shares_with_tcp },
	  { "eight senders share the wire", shares_with_its_like },
	  { "reordering is not taken for loss", learns_of_reordering },
	  { "a large window fills a long way", fills_a_long_way },
	  { "TCP and VIA share a long way", shares_a_long_way });

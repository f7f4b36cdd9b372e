// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What window.c makes of a wire that is slower than its senders: a model. */

#include <stdlib.h>

#include "model.h"
#include "unit.h"

/* 40 Mb/s, a queue of 64 frames, round trips of 0.2, 1 and 5 ms */
static const uint32_t delays[] = { 100, 500, 2500 };

static struct model run(struct model m)
{
	srandom(1);
	m.frame_us = 300;
	m.queue = 64;
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
			struct model m = RUN(.via = 8, .hosts = hosts,
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

UNIT_MAIN("bottleneck",
	  { "one sender fills the wire", fills_the_wire },
	  { "goodput where frames get lost", lives_with_loss },
	  { "TCP and VIA share the wire", shares_with_tcp },
	  { "eight senders share the wire", shares_with_its_like },
	  { "reordering is not taken for loss", learns_of_reordering });

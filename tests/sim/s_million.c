// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A million messages over a wire that loses one frame in a hundred. */
#include "stream.h"

#define CONNECTIONS	8

static void many(u32 each)
{
	struct stream_plan p = stream_bulk(each, 64);
	struct stream *s[CONNECTIONS];
	u64 got = 0, begin = sim_clock;
	u32 i;

	p.messages[1] = each;
	p.same = false;
	p.depth = 64;
	p.slots = 32;
	hosts_up(2);
	sim_config.max_steps = 0;
	for (i = 0; i < CONNECTIONS; i++)
		s[i] = stream_begin(&p, i, 0, 1);
	for (i = 0; i < CONNECTIONS; i++) {
		sim_await(stream_done(s[i]), 100 * MS);
		got += s[i]->end[0].all_got + s[i]->end[1].all_got;
		stream_end(s[i]);
	}
	sim_expect(got == 2ull * CONNECTIONS * each, "");
	/* Losses are found by what comes after them, not by a timer. */
	sim_expect(sim_clock - begin < got * 5000 + SEC / 2, "(%llu ms)",
		   (sim_clock - begin) / MS);
	stream_figure("%llu messages in %llu virtual ms, %llu frames, %llu lost",
		      got, (sim_clock - begin) / MS, sim_wire.frames,
		      sim_wire.lost);
	hosts_down();
}

static void million(void)
{
	many(1000000 / CONNECTIONS / 2);
}

static void crowd(void)
{
	many(500);
}

SIM_SCENARIO(.name = "million", .run = million, .runs = 1, .loss = 100,
	     .coarse = true,
	     .what = "a million messages, 1 % of the frames are lost")
SIM_SCENARIO(.name = "thousands", .run = crowd, .runs = 5, .loss = 100,
	     .coarse = true,
	     .what = "8,000 messages, 1 % of the frames are lost")

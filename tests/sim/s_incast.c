// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Many hosts send to one, whose port of the switch has a small queue. */
#include "stream.h"

#define HOSTS		64
#define NS_PER_BYTE	8		/* a wire of 1 Gb/s */

static struct stream *s[HOSTS];
static bool hold;			/* until all are connected */

/* To host 0.  @fair: there are enough messages to tell. */
static void crowd(u32 hosts, u32 messages, u32 bytes, u32 queue, bool fair)
{
	struct stream_plan p = stream_bulk(messages, bytes);
	u64 first = 0, all = 0, most_had = 0, least_had = ~0ull, had, start;
	u64 sum = 0, last = 0, wire, least, most;
	u32 i, left = hosts;

	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.port_frames = queue;
	hold = true;
	p.same = false;
	p.hold = &hold;
	hosts_up(1 + hosts);
	for (i = 0; i < hosts; i++)
		s[i] = stream_begin(&p, i, 1 + i, 0);
	for (i = 0; i < hosts; i++)
		sim_await(s[i]->end[0].conns && s[i]->end[1].conns, MS);
	hold = false;
	start = sim_clock;
	while (left) {
		msleep(1);
		for (i = 0, left = 0; i < hosts; i++)
			left += !stream_done(s[i]);
		/* Shares, while all of them compete. */
		for (i = 0; i < hosts && !first; i++)
			if (s[i]->end[0].sent == messages)
				first = sim_clock;
		for (i = 0; i < hosts && first && !sum; i++) {
			had = s[i]->end[1].all_bytes;
			all += had;
			most_had = max(most_had, had);
			least_had = min(least_had, had);
		}
		if (first && !sum)
			sum = all;
	}
	for (i = 0, all = 0; i < hosts; i++) {
		sim_expect(s[i]->end[1].all_got == messages, "");
		all += s[i]->end[1].all_bytes;
		last = max(last, s[i]->end[0].end);
		stream_end(s[i]);
	}
	hosts_down();
	/* So long at a tenth of the wire's speed, and a few timeouts. */
	sim_expect(last - start < all * NS_PER_BYTE * 10 + 60 * SEC,
		   "(%llu ms)", (last - start) / MS);
	if (!fair)
		return;
	wire = all * NS_PER_BYTE * 100 / (last - start);
	least = least_had * 100 * hosts / sum;
	most = most_had * 100 * hosts / sum;
	stream_figure("%u hosts, queue of %u frames: %llu bytes in %llu ms, %llu %% of the wire; when the first was through, after %llu ms, shares were %llu to %llu %% of the mean; %llu frames, %llu dropped",
		      hosts, queue, all, (last - start) / MS, wire,
		      (first - start) / MS, least, most, sim_wire.frames,
		      sim_wire.lost);
	sim_expect(wire >= 85, "(%llu %%)", wire);
	sim_expect(most <= 2 * least, "(%llu to %llu %%)", least, most);
}

static void incast(void)
{
	crowd(HOSTS, 1000, 8192, 16 + sim_dice(100), true);
}

/* Not one frame of each host has room. */
static void narrow(void)
{
	crowd(HOSTS / 2, 1500, 8192, 16 + sim_dice(16), true);
}

/* The same with turns anywhere. */
static void few(void)
{
	crowd(2 + sim_dice(7), 30, 5000, 2 + sim_dice(20), false);
}

SIM_SCENARIO(.name = "incast", .run = incast, .runs = 1, .max_vi = 128,
	     .coarse = true,
	     .what = "64 hosts send to one through a port with a small queue")
SIM_SCENARIO(.name = "incast-narrow", .run = narrow, .runs = 12, .max_vi = 128,
	     .coarse = true,
	     .what = "32 hosts send to one through a port with room for 16 to 31 frames")
SIM_SCENARIO(.name = "incast-few", .run = few, .runs = 20,
	     .what = "two to eight hosts send to one")

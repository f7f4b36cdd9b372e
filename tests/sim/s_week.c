// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A connection that is idle for a day, for a week, and is used again. */
#include "stream.h"
#include "../../devices/ether/proto/wire.h"

#define DAY		(24 * 3600 * SEC)
#define WEEK		(7 * DAY)

static u64 heartbeats, beats, others;

static bool count(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *w = (const void *)(frame + ETH_HLEN);

	if (w->type == VIA_WIRE_HEARTBEAT)
		heartbeats++;
	else if (w->type == VIA_WIRE_HEARTBEAT_ACK)
		beats++;
	else
		others++;
	return true;
}

static void idle(u64 span)
{
	struct stream_plan p = {
		.level = VIA_RELIABLE_DELIVERY,
		.messages = { 2, 0 },
		.sessions = 1,
		.most = 64,
		.depth = 4,
		.slots = 4,
		.plain = true,
		.idle_ns = span,
		.patience = 2 * span,
	};
	struct stream *s;

	hosts_up(2);
	heartbeats = beats = others = 0;
	sim_config.max_steps = 0;
	sim_wire.meddle = count;
	s = stream_begin(&p, 0, 0, 1);
	stream_end(s);
	sim_expect(sim_clock > span, "");
	/* One a second, of both hosts by turns, and as many answers. */
	sim_expect(heartbeats <= span / SEC + 10, "(%llu)", heartbeats);
	sim_expect(heartbeats >= span / SEC / 2, "(%llu)", heartbeats);
	sim_expect(beats == heartbeats, "(%llu)", beats);
	/* Two messages, connecting, the end. */
	sim_expect(others < 15, "(%llu)", others);
	stream_figure("%llu hours of silence: %llu heartbeats, %llu answers, %llu other frames",
		      span / (3600 * SEC), heartbeats, beats, others);
	hosts_down();
}

static void day(void)
{
	idle(DAY);
}

static void week(void)
{
	idle(WEEK);
}

SIM_SCENARIO(.name = "day", .run = day, .runs = 1, .coarse = true,
	     .what = "a connection that is idle for a day")
SIM_SCENARIO(.name = "week", .run = week, .runs = 1, .coarse = true,
	     .what = "a connection that is idle for a week")

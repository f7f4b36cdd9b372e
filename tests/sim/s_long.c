// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A fast wire that is long: only a large window fills it, and after a rest
 * such a window is not what the wire is sent at once.
 */
#include "stream.h"
#include "../../devices/ether/proto/wire.h"

#define NS_PER_BYTE	8		/* a wire of 1 Gb/s */
#define DELAY		(10 * MS)	/* there, and back */
#define MESSAGES	1200u
#define BYTES		60000u
#define REST		(10 * SEC)

static bool hold;

static struct {
	u64 last, rested;		/* ns: a frame left; the rest was over */
	u32 before, first;		/* frames until then; soon after it */
} w;

/* Before an answer to the first frame after the rest can be back. */
static bool count(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	if (h->type != VIA_WIRE_SEND || *len < BYTES / 64)
		return true;
	if (!w.rested && w.last && sim_clock > w.last + REST / 2)
		w.rested = sim_clock;
	w.last = sim_clock;
	if (!w.rested)
		w.before++;
	else if (sim_clock < w.rested + DELAY)
		w.first++;
	return true;
}

/* A stream over that wire. */
static struct stream *begin(u32 messages, u64 idle_ns)
{
	struct stream_plan p = stream_bulk(messages, BYTES);

	p.depth = STREAM_SLOTS;
	p.slots = STREAM_SLOTS;
	p.hold = &hold;
	p.idle_ns = idle_ns;
	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.delay_ns = DELAY;
	sim_wire.credit = 2048;
	sim_param_set("window", 2048);
	prog_max_transfer = BYTES;
	hosts_up(2);
	return stream_begin(&p, 0, 0, 1);
}

static void end(struct stream *s)
{
	stream_end(s);
	hosts_down();
	prog_max_transfer = 32768;
}

static void long_way(void)
{
	u64 from = 0, had = 0;
	struct stream *s;

	hold = true;
	s = begin(MESSAGES, 0);
	sim_await(s->end[0].conns && s->end[1].conns, MS);
	hold = false;
	while (!stream_done(s)) {
		msleep(1);
		/* Without the beginning, when the window grows. */
		if (!from && s->end[1].all_got > MESSAGES / 2) {
			from = sim_clock;
			had = s->end[1].all_bytes;
		}
	}
	sim_expect(s->end[1].all_got == MESSAGES, "");
	had = (s->end[1].all_bytes - had) * NS_PER_BYTE * 100 /
	      (sim_clock - from);
	sim_expect(had >= 80, "(%llu %% of the wire)", had);
	stream_figure("1 Gb/s, 20 ms: %llu %% of the wire", had);
	end(s);
}

SIM_SCENARIO(.name = "long-way", .run = long_way, .runs = 1, .max_vi = 8,
	     .coarse = true,
	     .what = "a stream over a fast wire that is long")

static void long_rest(void)
{
	struct stream *s;

	hold = false;
	sim_wire.meddle = count;
	s = begin(MESSAGES / 2, REST);
	sim_await(stream_done(s), 10 * MS);
	sim_expect(w.rested && w.before > MESSAGES, "");
	sim_expect(w.first && w.first <= 2 * 16,
		   "%u frames at once after a rest", w.first);
	end(s);
}

SIM_SCENARIO(.name = "long-rest", .run = long_rest, .runs = 1, .max_vi = 8,
	     SIM_STATE(w), .coarse = true,
	     .what = "a rest after which a large window is not sent at once")

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

static void long_way(void)
{
	struct stream_plan p = {
		.level = VIA_RELIABLE_DELIVERY,
		.messages = { MESSAGES, 0 },
		.sessions = 1,
		.most = BYTES,
		.depth = STREAM_SLOTS,
		.slots = STREAM_SLOTS,
		.same = true,
		.plain = true,
		.hold = &hold,
		.patience = 45 * SEC,
	};
	struct sim_nic *a, *b;
	u64 from = 0, had = 0;
	struct stream *s;

	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.delay_ns = DELAY;
	sim_wire.credit = 2048;
	sim_param_set("window", 2048);
	prog_max_transfer = BYTES;
	hold = true;
	a = sim_nic_up("a", 1);
	b = sim_nic_up("b", 2);
	s = stream_begin(&p, 0, "via_a", "via_b", sim_nic_mac(b));
	while (!s->end[0].conns || !s->end[1].conns)
		msleep(1);
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
	stream_end(s);
	sim_nic_down(a);
	sim_nic_down(b);
	prog_max_transfer = 32768;
}

SIM_SCENARIO(.name = "long-way", .run = long_way, .runs = 1,
	     .max_vi = 8, .coarse = true,
	     .what = "a stream over a fast wire that is long")

static void long_rest(void)
{
	struct stream_plan p = {
		.level = VIA_RELIABLE_DELIVERY,
		.messages = { MESSAGES / 2, 0 },
		.sessions = 1,
		.most = BYTES,
		.depth = STREAM_SLOTS,
		.slots = STREAM_SLOTS,
		.same = true,
		.plain = true,
		.idle_ns = REST,
		.patience = 45 * SEC,
	};
	struct sim_nic *a, *b;
	struct stream *s;

	memset(&w, 0, sizeof(w));
	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.delay_ns = DELAY;
	sim_wire.credit = 2048;
	sim_wire.meddle = count;
	sim_param_set("window", 2048);
	prog_max_transfer = BYTES;
	a = sim_nic_up("a", 1);
	b = sim_nic_up("b", 2);
	s = stream_begin(&p, 0, "via_a", "via_b", sim_nic_mac(b));
	while (!stream_done(s))
		msleep(10);
	sim_expect(w.rested && w.before > MESSAGES, "");
	sim_expect(w.first && w.first <= 2 * 16,
		   "%u frames at once after a rest", w.first);
	stream_end(s);
	sim_nic_down(a);
	sim_nic_down(b);
	prog_max_transfer = 32768;
}

SIM_SCENARIO(.name = "long-rest", .run = long_rest, .runs = 1,
	     .max_vi = 8, .coarse = true,
	     .what = "a rest after which a large window is not sent at once")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How many acknowledgements does bulk have?  Each costs its sender as much as
 * many frames, so they become rarer, and a sender whose window is smaller than
 * what one is for is soon spared the wait.
 */
#include "prog.h"
#include "../../devices/ether/vi.h"
#include "../../devices/ether/param.h"
#include "../../devices/ether/proto/wire.h"

#define US		1000ull
#define BYTES		32768u
#define READS		8		/* under way */
#define SMALL		40		/* frames of a window */
#define CREDIT		2048		/* frames that a NIC takes */

static struct {
	struct prog_nic nic[2];
	struct prog_vi vi[2];
	char *mem[2];
	u32 rounds;
	u32 frames, acks, probes;	/* of data; the reader's, alone */
	bool over;
} w;

static const u8 macs[2][6] = { { 0x52, 0x54, 0, 0, 1, 1 },
			       { 0x52, 0x54, 0, 0, 1, 2 } };

static bool note(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (const void *)frame;
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	w.acks += h->type == VIA_WIRE_ACK &&
		  !memcmp(eth->h_source, macs[0], ETH_ALEN);
	w.frames += h->type == VIA_WIRE_READ_DATA;
	w.probes += h->type == VIA_WIRE_READ_DATA &&
		    h->flags & VIA_WIRE_PROBE;
	return true;
}

static void start(u32 me)
{
	struct prog_nic *n = &w.nic[me];

	prog_open_vi(n, &w.vi[me], me ? "via_b" : "via_a", 2 * BYTES,
		     VIA_RELIABLE_DELIVERY);
	prog_buffer(n, 8192);
	w.mem[me] = prog_buffer(n, BYTES);
	sim_ok(prog_p2p(&w.vi[me], macs[!me], "acks", 2 * SEC));
}

static void target(void *arg)
{
	start(1);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&w.nic[1]);
}

static void reader(void *arg)
{
	u32 r, i;

	start(0);
	for (r = 0; r < w.rounds; r++) {
		for (i = 0; i < READS; i++)
			prog_post_read(&w.vi[0], w.mem[0], BYTES,
				       (uintptr_t)w.mem[1], w.nic[1].handle);
		for (i = 0; i < READS; i++)
			prog_good(&w.vi[0], false, SEC);
	}
	WRITE_ONCE(w.over, true);
	prog_close(&w.nic[0]);
}

static void run(u32 rounds, u32 window)
{
	uint before = via_ether_window;

	w.rounds = rounds;
	sim_wire.delay_ns = 20 * US;
	sim_wire.credit = CREDIT;
	sim_wire.meddle = note;
	sim_config.step_ns = 2;
	via_ether_window = window;
	hosts_up(2);
	host_run(0, "reader", reader, NULL);
	host_run(1, "target", target, NULL);
	programs_wait();
	via_ether_window = before;
	hosts_down();
	sim_log("%u acknowledgements and %u probes of %u frames", w.acks,
		w.probes, w.frames);
}

static void rarely(void)
{
	run(16, 256);
	sim_expect(w.acks <= w.frames / 22, "%u acknowledgements of %u frames",
		   w.acks, w.frames);
	sim_expect(!w.probes, "%u probes", w.probes);
}

static void small(void)
{
	run(32, SMALL);
	sim_expect(w.acks >= w.frames / SMALL, "%u acknowledgements", w.acks);
	/* One for each try, and tries become rarer. */
	sim_expect(w.probes <= 6, "the sender has waited %u times", w.probes);
}

SIM_SCENARIO(.name = "acks-rare", .run = rarely, .runs = 20, .seconds = 60,
	     SIM_STATE(w),
	     .what = "bulk has one acknowledgement for many frames")
SIM_SCENARIO(.name = "acks-small", .run = small, .runs = 20, .seconds = 60,
	     SIM_STATE(w),
	     .what = "a sender with a small window is acknowledged in time")

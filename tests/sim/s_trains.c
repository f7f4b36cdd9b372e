// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Streams of long messages between NICs that send trains: over a wire that takes
 * them whole, or that gets frames of them, and loses, repeats and overtakes both.
 */
#include "../../devices/ether/via_ether.h"
#include "stream.h"

static u64 count(const struct sim_nic *nic, const char *name)
{
	u32 n = via_ether_counts(), i;
	u64 *value = calloc(n, sizeof(*value)), found = 0;

	if (!value)
		abort();
	via_ether_count_read(sim_nic_ether(nic), value);
	for (i = 0; i < n; i++)
		if (!strcmp(via_ether_count_name(i), name))
			found = value[i];
	free(value);
	return found;
}

static void run(u32 level)
{
	u64 sent = 0, got = 0;
	struct stream_plan p;
	struct stream *s;
	u32 i;

	stream_draw(&p, level);
	p.big = true;
	p.most = 32700;
	p.messages[0] += 8;
	p.no_loss = !sim_wire.loss && !sim_wire.reorder;
	p.idle_ns = 0;
	sim_wire.credit = 64 << sim_dice(4);
	hosts_up(2);
	for (i = 0; i < 2; i++)
		sim_nic_ether(host_nic(i))->trains = true;
	s = stream_begin(&p, 0, 0, 1);
	stream_end(s);
	for (i = 0; i < 2; i++) {
		sent += count(host_nic(i), "tx_trains");
		got += count(host_nic(i), "rx_trains");
	}
	sim_log("%llu trains sent, %llu came as such", sent, got);
	sim_expect(sent > 4, "(%llu)", sent);
	sim_expect(got > 0 || sim_wire.loss > 1000, "(%llu of %llu)", got,
		   sent);
	hosts_down();
}

static void lost(void)
{
	sim_wire.loss = 50 + sim_dice(400);
	sim_wire.dup = sim_dice(2) ? sim_dice(1000) : 0;
	run(0);
}

static void overtaken(void)
{
	static const u32 ns[] = { 60000, 3000000, 50000000, 500000000 };

	/* In some runs later than what is sent again for them. */
	sim_wire.reorder = 100 + sim_dice(sim_dice(2) ? 1500 : 6000);
	sim_wire.jitter_ns = ns[sim_dice(4)];
	run(0);
}

SIM_SCENARIO(.name = "trains", .run_as = run, .as = 0, .runs = 20,
	     .seconds = 2000,
	     .what = "long messages as trains, joined and cut")
SIM_SCENARIO(.name = "trains-lost", .run = lost, .runs = 20, .seconds = 2000,
	     .what = "the same where trains and frames of them are lost")
SIM_SCENARIO(.name = "trains-late", .run = overtaken, .runs = 20,
	     .seconds = 2000,
	     .what = "the same where they overtake one another")

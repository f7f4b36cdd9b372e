// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A NIC that takes no frame for a while: what is owed meanwhile is offered to
 * it from time to time, not as often as an acknowledgement may be due, and
 * leaves when there is room.
 */
#include "raw.h"

#define FULL_MS	100u

static struct raw_host r;

static struct {
	bool over;
} w;

static void server(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u8 *in;

	prog_open_vi(&n, &v, "via_a", 16 << 10, r.level);
	prog_buffer(&n, 8192);
	in = prog_buffer(&n, 1000);
	prog_post_recv(&v, in, 1000);
	prog_connect(&v, NULL, "refused", 10 * SEC);
	sim_await(w.over, MS);
	prog_close(&n);
}

static void refused(void)
{
	u32 offered;
	u8 byte = 1;

	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.level = sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION;
	host_run(0, "server", server, NULL);
	sim_expect(raw_connect(&r, "refused", true), "");
	sim_pause(10 * MS);
	raw_forget(&r);

	sim_nic_stop(host_nic(0), true);
	offered = sim_nic_refused(host_nic(0));
	raw_send(&r, &byte, 1);
	sim_pause(FULL_MS * MS);
	offered = sim_nic_refused(host_nic(0)) - offered;
	sim_expect(offered > FULL_MS / 10 && offered < FULL_MS + 10,
		   "%u times in %u ms", offered, FULL_MS);
	sim_nic_stop(host_nic(0), false);
	sim_expect(raw_await(&r, VIA_WIRE_ACK, 5 * MS), "");

	w.over = true;
	programs_wait();
	raw_end(&r);
	hosts_down();
}

SIM_SCENARIO(.name = "refused", .run = refused, .runs = 50, .max_vi = 4,
	     SIM_STATE(w),
	     .what = "a NIC that takes no frames, and what is owed meanwhile")

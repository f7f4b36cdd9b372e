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
	struct sim_nic *nic;
	bool over;
} w;

static void server(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u8 *in;

	sim_expect(!prog_open(&n, "via_a", 16 << 10), "");
	prog_buffer(&n, 8192);
	in = prog_buffer(&n, 1000);
	sim_expect(!prog_vi(&v, &n, r.level, 0, 0), "");
	prog_post_recv(&v, in, 1000);
	sim_expect(!prog_accept(&v, "refused", 10 * SEC), "");
	while (!w.over)
		sim_sleep(MS);
	prog_close(&n);
}

static void refused(void)
{
	struct sim_proc *p;
	u32 offered;
	u8 byte = 1;

	memset(&w, 0, sizeof(w));
	w.nic = sim_nic_up("a", 1);
	raw_begin(&r, w.nic, 1);
	r.level = sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION;
	p = sim_proc_new("server", 1000);
	sim_thread(p, "server", server, NULL);
	sim_expect(raw_connect(&r, "refused", true), "");
	sim_pause(10 * MS);
	raw_forget(&r);

	sim_nic_stop(w.nic, true);
	offered = sim_nic_refused(w.nic);
	raw_send(&r, &byte, 1);
	sim_pause(FULL_MS * MS);
	offered = sim_nic_refused(w.nic) - offered;
	sim_expect(offered > FULL_MS / 10 && offered < FULL_MS + 10,
		   "%u times in %u ms", offered, FULL_MS);
	sim_nic_stop(w.nic, false);
	sim_expect(raw_await(&r, VIA_WIRE_ACK, 5 * MS), "");

	w.over = true;
	sim_proc_wait(p);
	raw_end(&r);
	sim_nic_down(w.nic);
}

SIM_SCENARIO(.name = "refused", .run = refused, .runs = 50,
	     .max_vi = 4,
	     .what = "a NIC that takes no frames, and what is owed meanwhile")

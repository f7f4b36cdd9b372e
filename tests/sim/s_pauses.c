// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that has spun for a while does something else, and says nothing:
 * within 1 ms it polls no more, and its NIC interrupts again
 * (include/uapi/via.h, "Polling").
 */
#include "prog.h"

static void spins(void *arg)
{
	struct prog_nic n;
	u64 until;
	u32 i;

	sim_ok(prog_open(&n, "via_a", 0));
	for (i = 0; i < 3; i++) {
		until = sim_now() + 1 + sim_dice(4 * MS);
		while (sim_now() < until) {
			sim_trap(n.file, VIA_OP_POLL, 0);
			sim_sleep(1 + sim_dice(50000));
		}
		sim_sleep(2 * MS);
		sim_expect(!READ_ONCE(n.ctl->poll),
			   "2 ms after its last look it is to look");
	}
	prog_close(&n);
}

static void pauses(void)
{
	sim_nics_polled();
	hosts_up(1);
	host_run(0, "spins", spins, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "poll-pauses", .run = pauses, .runs = 100, .max_vi = 4,
	     .seconds = 60,
	     .what = "a program that spun does something else")

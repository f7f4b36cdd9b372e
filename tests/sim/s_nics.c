// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* NICs of one module come and go while another one is opened and closed. */
#include "prog.h"

static bool over;

static void opens(void *arg)
{
	struct prog_nic n;

	while (!READ_ONCE(over)) {
		if (!prog_open(&n, "via_a", 0))
			prog_close(&n);
		sim_sleep(sim_dice(3000));
	}
}

static void come(void)
{
	struct sim_nic *a, *b;
	struct sim_proc *p;
	u32 i;

	over = false;
	a = sim_nic_up("a", 1);
	p = sim_proc_new("opens", 0);
	sim_thread(p, "opens", opens, NULL);
	for (i = 0; i < 5; i++) {
		b = sim_nic_up("b", 2);
		sim_nic_down(b);
	}
	WRITE_ONCE(over, true);
	sim_proc_wait(p);
	sim_nic_down(a);
}

SIM_SCENARIO(nics_come, .name = "nics-come", .run = come, .runs = 30,
	     .what = "NICs come and go while another one is opened")

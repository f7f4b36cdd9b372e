// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * NICs of one module come and go while another one is opened and closed, or is
 * unloaded and loaded.
 */
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

SIM_SCENARIO(.name = "nics-come", .run = come, .runs = 30,
	     .what = "NICs come and go while another one is opened")

int sim_init_via_lo(void);
void sim_exit_via_lo(void);

/* Its device is not under RTNL: its number is free while others come. */
static void reload(void *arg)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		sim_exit_via_lo();
		sim_pause(sim_dice(3000));
		sim_expect(!sim_init_via_lo() || sim_config.fail_alloc, "");
	}
	WRITE_ONCE(over, true);
}

static void swap_numbers(void)
{
	struct sim_nic *nic;
	u32 i;

	over = false;
	sim_kthread("reload", reload, NULL);
	for (i = 0; i < 12 || !READ_ONCE(over); i++) {
		nic = sim_nic_up("a", 1);
		sim_expect(nic || sim_config.fail_alloc, "no NIC");
		sim_pause(sim_dice(3000));
		if (nic)
			sim_nic_down(nic);
	}
}

SIM_SCENARIO(.name = "nics-swap", .run = swap_numbers, .runs = 200,
	     .what = "NICs come and go while via_lo is unloaded and loaded")

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
	u32 i;

	over = false;
	hosts_up(1);
	host_run_as(0, 0, "opens", opens, NULL);
	for (i = 0; i < 5; i++) {
		host_up(1);
		host_down(1);
	}
	WRITE_ONCE(over, true);
	hosts_down();
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
	u32 i;

	over = false;
	sim_kthread("reload", reload, NULL);
	for (i = 0; i < 12 || !READ_ONCE(over); i++) {
		sim_expect(host_up(0) || sim_config.fail_alloc, "no NIC");
		sim_pause(sim_dice(3000));
		host_down(0);
	}
}

SIM_SCENARIO(.name = "nics-swap", .run = swap_numbers, .runs = 200,
	     .what = "NICs come and go while via_lo is unloaded and loaded")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Modules are loaded and unloaded, NICs come and go beside programs. */
#include "prog.h"

#define TURNS	3

static const char *const nodes[] = { "via_a", "via_b", "via_lo" };
static const u8 macs[][6] = { { 0x52, 0x54, 0, 0, 1, 1 },
			      { 0x52, 0x54, 0, 0, 1, 2 },
			      { 0x02, 0, 0, 0, 0, 0x01 } };
static bool over;

/* Whatever NIC there is, and no longer than it is there. */
static void user(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 at, conn;
	int ret;

	while (!over) {
		at = sim_dice(3);
		if (prog_open(&n, nodes[at], 4096)) {
			sim_sleep(sim_dice(MS));
			continue;
		}
		if (!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0)) {
			prog_post_recv(&v, n.mem, 16);
			if (sim_dice(2)) {
				ret = prog_request(&v, macs[sim_dice(3)],
						   "users", 5 * MS);
			} else {
				ret = prog_conn_wait(&n, "users", 5 * MS,
						     &conn);
				if (!ret && sim_dice(3))
					ret = prog_accept_start(&v, conn);
			}
			if (!ret)
				prog_post_send(&v, n.mem, 16);
			sim_sleep(sim_dice(2 * MS));
		}
		if (sim_dice(4))
			prog_close(&n);
	}
}

static void nics(void)
{
	u32 turns = 1 + sim_dice(6), i, k;

	for (i = 0; i < turns; i++) {
		k = sim_dice(2);
		if (host_nic(k))
			host_down(k);
		else
			host_up(k);
		msleep(sim_dice(4));
	}
	host_down(0);
	host_down(1);
}

static void load(bool users)
{
	struct sim_proc *p[2];
	u32 i;

	if (sim_load()) {
		sim_expect(sim_config.fail_alloc, "the modules do not load");
		return;
	}
	over = false;
	for (i = 0; users && i < 2; i++)
		p[i] = host_run(i, "user", user, NULL);
	nics();
	over = true;
	for (i = 0; users && i < 2; i++) {
		if (sim_dice(2))
			sim_kill(p[i]);
		program_wait(p[i]);
	}
	sim_unload();
}

static void modules(void)
{
	u32 i;

	for (i = 0; i < TURNS; i++)
		load(i);
}

SIM_SCENARIO(.name = "modules", .run = modules, .runs = 200, .max_vi = 8,
	     .seconds = 60, .unloaded = true,
	     .what = "modules loaded and unloaded, NICs that come and go")

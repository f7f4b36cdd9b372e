// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What waits for grace periods: no call of a program that ends VIs
 * (docs/explain/architecture.md), and the end of a NIC for a few, however many handles
 * and VIs it has (docs/notes/reliability.md).
 */
#include "prog.h"

#define HANDLES	6
#define VIS	4			/* of each, at most */
#define GRACES	6			/* of the end of a NIC */

static struct {
	u32 handles, ready;
	bool go;
} w;

static void owner(void *arg)
{
	u32 vis = sim_dice(VIS + 1), some = sim_dice(vis + 1), before;
	struct prog_vi v[VIS];
	struct prog_nic n;

	sim_ok(prog_open(&n, "via_a", 0));
	prog_vis(v, vis, &n, VIA_RELIABLE_DELIVERY);
	before = sim_self->graces;
	while (some)
		sim_ok(prog_vi_destroy(&v[--some]));
	sim_expect(sim_self->graces == before, "VipDestroyVi waits for %u",
		   sim_self->graces - before);
	w.ready++;
	sim_await(w.go, 100000);
	before = sim_self->graces;
	prog_close(&n);
	sim_expect(sim_self->graces == before,
		   "the end of a handle waits for %u",
		   sim_self->graces - before);
}

static void graces(void)
{
	struct sim_proc *p;
	u32 i, before;

	hosts_up(1);
	w.handles = 1 + sim_dice(HANDLES);
	p = host_run(0, "owner", owner, NULL);
	for (i = 1; i < w.handles; i++)
		sim_thread(p, "owner", owner, NULL);
	sim_await(w.ready >= w.handles, MS);
	before = sim_self->graces;
	if (sim_dice(2))
		host_down(0);
	sim_expect(sim_self->graces - before <= GRACES,
		   "%u grace periods for %u handles", sim_self->graces - before,
		   w.handles);
	w.go = true;
	hosts_down();
}

SIM_SCENARIO(.name = "graces", .run = graces, .runs = 100, .max_vi = 32,
	     .seconds = 60, SIM_STATE(w),
	     .what = "how many grace periods the end of VIs and NICs waits for")

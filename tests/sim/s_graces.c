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
	u32 vis = sim_dice(VIS + 1), some = sim_dice(vis + 1), i, before;
	struct prog_vi v[VIS];
	struct prog_nic n;

	sim_expect(!prog_open(&n, "via_a", 0), "");
	for (i = 0; i < vis; i++)
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
	before = sim_self->graces;
	while (some)
		sim_expect(!prog_vi_destroy(&v[--some]), "");
	sim_expect(sim_self->graces == before, "VipDestroyVi waits for %u",
		   sim_self->graces - before);
	w.ready++;
	while (!w.go)
		sim_sleep(100000);
	before = sim_self->graces;
	prog_close(&n);
	sim_expect(sim_self->graces == before,
		   "the end of a handle waits for %u",
		   sim_self->graces - before);
}

static void graces(void)
{
	struct sim_nic *nic = sim_nic_up("a", 1);
	struct sim_proc *p = sim_proc_new("owner", 1000);
	bool first = sim_dice(2);
	u32 i, before;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	w.handles = 1 + sim_dice(HANDLES);
	for (i = 0; i < w.handles; i++)
		sim_thread(p, "owner", owner, NULL);
	while (w.ready < w.handles)
		msleep(1);
	before = sim_self->graces;
	if (first)
		sim_nic_down(nic);
	sim_expect(sim_self->graces - before <= GRACES,
		   "%u grace periods for %u handles", sim_self->graces - before,
		   w.handles);
	w.go = true;
	sim_proc_wait(p);
	if (!first)
		sim_nic_down(nic);
}

SIM_SCENARIO(.name = "graces", .run = graces, .runs = 100,
	     .max_vi = 32,
	     .what = "how many grace periods the end of VIs and NICs waits for")

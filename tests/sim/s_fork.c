// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program forks and ends, and its child lives on with its files and with what
 * madvise() can give it: the handle ends with its owner all the same, its
 * memory is free and its peer is told (include/uapi/via.h, "Opening").
 */
#include "prog.h"
#include "kernel/model.h"

static struct {
	struct sim_proc *owner, *child;
	struct prog_nic n;
	bool connected, told, over;
	u32 exits;			/* 0: killed, 1: by itself */
} w;

static void child(void *arg)
{
	long ret;

	while (!w.over) {
		ret = sim_trap(w.n.file, VIA_OP_POLL, 0);
		sim_expect(ret == -EPERM, "(%ld)", ret);
		sim_sleep(MS);
	}
}

static void owner(void *arg)
{
	struct prog_vi v;

	prog_open_vi(&w.n, &v, "via_lo", 8192, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_p2p(&v, host_mac(1), "fork", 5 * SEC));
	if (sim_dice(4))
		sim_dofork(w.n.ctl);
	if (sim_dice(2))
		sim_dofork(v.shared);
	w.child = sim_fork("child", child, NULL);
	w.connected = true;
	if (w.exits)
		return;
	for (;;)
		sim_sleep(MS);
}

/* Of the owner, in a process of its own. */
static void peer(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, "via_lo", 0, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_p2p(&v, host_mac(0), "fork", 5 * SEC));
	sim_await(prog_state(&v) != VIA_STATE_CONNECTED || w.over, MS);
	w.told = prog_state(&v) != VIA_STATE_CONNECTED;
	prog_close(&n);
}

static void forks(void)
{
	w.exits = sim_dice(2);
	w.owner = host_run(0, "owner", owner, NULL);
	host_run(1, "peer", peer, NULL);
	sim_await(w.connected, MS);
	if (!w.exits)
		sim_kill(w.owner);
	program_wait(w.owner);
	sim_pause(100 * MS);
	sim_expect(w.told, "a child keeps its parent's connection");
	sim_expect(!sim_pins, "a child keeps %ld pages of its parent pinned",
		   sim_pins);
	w.over = true;
	sim_proc_wait(w.child);
	hosts_down();
}

SIM_SCENARIO(.name = "fork", .run = forks, .runs = 100, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a program forks and ends, and its child lives on")

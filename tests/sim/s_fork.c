// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program forks and ends, and its child lives on with its files and with what
 * madvise() can give it: the handle ends with its owner all the same, its
 * memory is free and its peer is told (include/uapi/via.h, "Opening").
 */
#include "prog.h"
#include "kernel/model.h"

static const u8 own[] = { 0x02, 0, 0, 0, 0, 0x01 };

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
	int ret;

	sim_expect(!prog_open(&w.n, "via_lo", 8192) &&
		   !prog_vi(&v, &w.n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	ret = prog_p2p(&v, own, "fork", 5 * SEC);
	sim_expect(!ret, "(%d)", ret);
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

	sim_expect(!prog_open(&n, "via_lo", 0) &&
		   !prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	sim_expect(!prog_p2p(&v, own, "fork", 5 * SEC), "");
	while (prog_state(&v) == VIA_STATE_CONNECTED && !w.over)
		sim_sleep(MS);
	w.told = prog_state(&v) != VIA_STATE_CONNECTED;
	prog_close(&n);
}

static void forks(void)
{
	struct sim_proc *p;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	w.exits = sim_dice(2);
	w.owner = sim_proc_new("owner", 1000);
	p = sim_proc_new("peer", 1001);
	sim_thread(w.owner, "owner", owner, NULL);
	sim_thread(p, "peer", peer, NULL);
	while (!w.connected)
		sim_pause(MS);
	if (!w.exits)
		sim_kill(w.owner);
	sim_proc_wait(w.owner);
	sim_pause(100 * MS);
	sim_expect(w.told, "a child keeps its parent's connection");
	sim_expect(!sim_pins, "a child keeps %ld pages of its parent pinned",
		   sim_pins);
	w.over = true;
	sim_proc_wait(w.child);
	sim_proc_wait(p);
}

SIM_SCENARIO(.name = "fork", .run = forks, .runs = 100, .max_vi = 8,
	     .what = "a program forks and ends, and its child lives on")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI is destroyed beside each kind of call that names it, again and again:
 * the call finds it or it does not.
 */
#include "prog.h"

#define TURNS	8
#define CALLERS	2
#define CALLS	16			/* of one VI, by each */

enum call { WAIT_TRAP, WAIT, NOTIFY, RING, QUERY, RESULT, OVERRUN, NCALLS };

static struct {
	struct prog_nic nic;
	enum call call[CALLERS];
	u32 id;
	bool there, over;
} w;

static long call(enum call what)
{
	u32 recv = sim_dice(2), id = w.id;
	struct via_conn_result res = { .vi = id, .flags = VIA_CONN_NOWAIT };
	struct via_overrun run = { .vi = id, .recv = recv };
	struct via_vi_query q = { .vi = id };
	struct via_wait a = {
		.kind = recv ? VIA_WAIT_RECV : VIA_WAIT_SEND,
		.id = id, .timeout = sim_dice(2000),
	};

	switch (what) {
	case WAIT_TRAP:
		/* Nothing is posted, so there is nothing to wait for. */
		return sim_trap(w.nic.file, recv ? VIA_OP_WAIT_RECV :
				VIA_OP_WAIT_SEND, id);
	case WAIT:
		return sim_ioctl(w.nic.file, VIA_IOC_WAIT, &a);
	case NOTIFY:
		return sim_trap(w.nic.file, recv ? VIA_OP_NOTIFY_RECV :
				VIA_OP_NOTIFY_SEND, id);
	case RING:
		return sim_trap(w.nic.file, recv ? VIA_OP_RECV : VIA_OP_SEND,
				id);
	case QUERY:
		return sim_ioctl(w.nic.file, VIA_IOC_VI_QUERY, &q);
	case RESULT:
		return sim_ioctl(w.nic.file, VIA_IOC_CONN_RESULT, &res);
	default:
		return sim_ioctl(w.nic.file, VIA_IOC_VI_OVERRUN, &run);
	}
}

static void caller(void *arg)
{
	enum call what = w.call[(uintptr_t)arg];
	u32 id = 0, made = 0;
	long ret;

	while (!READ_ONCE(w.over)) {
		if (w.id != id)
			made = 0;
		id = w.id;
		if (!w.there || made++ >= CALLS) {
			sim_sleep(500);
			continue;
		}
		ret = call(what);
		switch (what) {
		case WAIT_TRAP:
		case NOTIFY:
			sim_expect(!ret || ret == -ENODEV, "(%ld)", ret);
			break;
		case WAIT:
			sim_expect(!ret || ret == VIA_R_TIMEOUT ||
				   ret == -ENODEV, "(%ld)", ret);
			break;
		case RING:
			sim_expect(!ret || ret == -EINVAL, "(%ld)", ret);
			break;
		case RESULT:
			sim_expect(ret == VIA_R_INVALID_STATE ||
				   ret == VIA_R_INVALID_PARAMETER, "(%ld)",
				   ret);
			break;
		default:
			sim_expect(!ret || ret == VIA_R_INVALID_PARAMETER,
				   "(%ld)", ret);
			break;
		}
	}
}

static void owner(void *arg)
{
	struct prog_vi v;
	uintptr_t i;

	sim_ok(prog_open(&w.nic, "via_lo", 0));
	for (i = 0; i < CALLERS; i++)
		sim_thread(current->proc, "caller", caller, (void *)i);
	for (i = 0; i < TURNS; i++) {
		sim_ok(prog_vi(&v, &w.nic, VIA_RELIABLE_DELIVERY, 0, 0));
		w.id = v.id;
		w.there = true;
		sim_sleep(sim_dice(3000));
		sim_ok(prog_vi_destroy(&v));
		w.there = false;
	}
	w.over = true;
}

static void vi_gone(void)
{
	u32 i;

	for (i = 0; i < CALLERS; i++)
		w.call[i] = sim_dice(NCALLS);
	/* More often what looks at shared memory and takes no lock. */
	if (sim_dice(2))
		w.call[0] = WAIT_TRAP;
	host_run_as(0, 0, "owner", owner, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "vi-gone", .run = vi_gone, .runs = 500, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a VI goes beside each kind of call into it")

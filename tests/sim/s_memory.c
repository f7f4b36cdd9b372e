// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Regions that are made, changed and ended beside the transfers that use them,
 * pages that come late or never, processes that are killed while they pin, and
 * a NIC that goes meanwhile.
 *
 * Once a call that takes rights away, or the region, has returned, not a byte
 * of it changes any more.
 */
#include "prog.h"

#define PAGES	2
#define BYTES	(PAGES * 4096u)
#define TURNS	10

static struct side {
	u32 n;				/* of its host */
	struct sim_proc *proc;
	struct prog_nic nic;
	struct prog_vi vi;
	char *mem;			/* what the other one writes to and reads */
	u32 handle;			/* 0: not registered */
	char *own;			/* local ends of transfers */
	u32 own_handle;
	bool ready;
} side[2];

static struct {
	bool ended;			/* a process or a NIC */
	bool arrived;			/* the late pages */
	u32 level;
} w;

static bool fails(long ret)
{
	return w.ended || (sim_config.fail_alloc &&
			   (ret == -ENOMEM || ret == VIA_R_ERROR_RESOURCE));
}

/* Closed to writes: its bytes stay what they are. */
static void still(struct side *s)
{
	static char was[2][BYTES];

	memcpy(was[s->n], s->mem, BYTES);
	sim_sleep(sim_dice(200000));
	sim_expect(!memcmp(was[s->n], s->mem, BYTES),
		   "memory of side %u changes that it has closed", s->n);
}

static void set(struct side *s, u32 rights)
{
	struct via_mem_attrs a = {
		.addr = (uintptr_t)s->mem, .handle = s->handle,
		.rights = rights,
	};
	long ret = sim_ioctl(s->nic.file, VIA_IOC_MEM_SET, &a);

	sim_expect(!ret || fails(ret), "(%ld)", ret);
	if (ret)
		return;
	a.rights = 99;
	ret = sim_ioctl(s->nic.file, VIA_IOC_MEM_QUERY, &a);
	sim_expect(fails(ret) || (!ret && a.rights == rights), "(%ld)", ret);
	if (!(rights & VIA_RDMA_WRITE))
		still(s);
}

static void change(void *arg)
{
	struct side *s = arg;
	u32 i, handle;
	int ret;

	for (i = 0; i < TURNS; i++) {
		sim_sleep(sim_dice(60000));
		switch (sim_dice(4)) {
		case 0:
			set(s, sim_dice(4));
			break;
		case 1:
			handle = s->handle;
			ret = prog_deregister(&s->nic, s->mem, handle);
			sim_expect(!ret || fails(ret), "(%d)", ret);
			if (ret)
				break;
			still(s);
			ret = prog_register(&s->nic, s->mem, BYTES,
					    sim_dice(4), &s->handle);
			sim_expect(!ret || fails(ret), "(%d)", ret);
			if (ret)
				return;
			break;
		case 2:
			handle = s->own_handle;
			ret = prog_deregister(&s->nic, s->own, handle);
			sim_expect(!ret || fails(ret), "(%d)", ret);
			if (!ret)
				ret = prog_register(&s->nic, s->own, BYTES, 0,
						    &s->own_handle);
			sim_expect(!ret || fails(ret), "(%d)", ret);
			if (ret)
				return;
			break;
		default:
			set(s, VIA_RDMA_WRITE | VIA_RDMA_READ);
			break;
		}
	}
}

/* One after the other, so that what has come is known. */
static void move(void *arg)
{
	struct side *s = arg, *o = &side[!s->n];
	struct prog_vi *v = &s->vi;
	struct prog_done d;
	u32 i, n, off;
	u16 op;
	int ret;

	for (i = 0; i < TURNS && prog_state(v) == VIA_STATE_CONNECTED; i++) {
		n = 1 + sim_dice(BYTES);
		off = sim_dice(BYTES - n + 1);
		op = sim_dice(3);
		prog_fill(s->own, op == VIA_CTL_OP_RDMAREAD ? 0 : n, s->n, i);
		prog_post(v, false, op, s->own, n, s->own_handle,
			  (uintptr_t)o->mem + off, o->handle);
		ret = prog_wait(v, false, 30 * SEC, &d);
		if (ret) {
			sim_expect(w.ended, "transfer %u: %d", i, ret);
			break;
		}
		while (prog_done(v, true, &d) &&
		       prog_state(v) == VIA_STATE_CONNECTED)
			prog_post_recv(v, s->own, 0);
	}
}

static bool come(void *arg)
{
	return w.arrived;
}

static void late(void *arg)
{
	struct side *s = arg;
	char *p = sim_memory_late(BYTES, come, NULL);
	u32 handle;
	int ret;

	ret = prog_register(&s->nic, p, BYTES, 0, &handle);
	sim_expect(!ret || fails(ret) || ret == -EINTR, "(%d)", ret);
	if (!ret && sim_dice(2))
		prog_deregister(&s->nic, p, handle);
}

static void process(void *arg)
{
	struct side *s = arg, *o = &side[!s->n];
	u32 i;
	int ret;

	if (prog_open(&s->nic, host_node(s->n), 16 << 10))
		goto out;
	s->mem = sim_memory(BYTES);
	s->own = sim_memory(BYTES);
	if (prog_register(&s->nic, s->mem, BYTES, 3, &s->handle) ||
	    prog_register(&s->nic, s->own, BYTES, 0, &s->own_handle) ||
	    prog_vi(&s->vi, &s->nic, w.level, 0, 0))
		goto out;
	for (i = 0; i < TURNS; i++)
		prog_post_recv(&s->vi, s->own, sim_dice(2) ? BYTES : 0);
	ret = prog_p2p(&s->vi, host_mac(!s->n), "memory", 2 * SEC);
	if (ret) {
		sim_expect(fails(ret) || sim_config.fail_alloc || o->ready,
			   "(%d)", ret);
		goto out;
	}
	sim_thread(s->proc, "move", move, s);
	if (sim_dice(4))
		sim_thread(s->proc, "change", change, s);
	if (!sim_dice(3))
		sim_thread(s->proc, "late", late, s);
	sim_threads_wait(MS);
	/* Its regions stay until the other one is done. */
	s->ready = true;
	for (i = 0; i < 200 && !o->ready && !w.ended; i++)
		sim_sleep(MS);
	if (sim_dice(2))
		prog_close(&s->nic);
	return;
out:
	s->ready = true;
	prog_close(&s->nic);
}

static void memory(void)
{
	u32 wire = sim_dice(3), how = sim_dice(6), victim = sim_dice(2), i;

	memset(side, 0, sizeof(side));
	w.level = prog_reliable();
	if (!hosts_up(wire ? 2 : 0))
		goto down;
	for (i = 0; i < 2; i++) {
		side[i].n = i;
		side[i].proc = host_run(i, i ? "right" : "left", process,
					&side[i]);
	}
	schedule_hrtimeout_range(&(ktime_t){ 1 + sim_dice(3 * MS) }, 0,
				 HRTIMER_MODE_REL);
	if (how == 0) {
		w.ended = true;
		sim_kill(side[victim].proc);
	}
	if (how == 1 && wire) {
		w.ended = true;
		host_down(victim);
	}
	if (how == 2) {
		/* They never come; the NIC's end does not wait for them. */
		w.ended = true;
		host_down(victim);
		msleep(5);
		for (i = 0; i < 2; i++)
			sim_kill(side[i].proc);
	} else {
		w.arrived = true;
		for (i = 0; i < 2; i++)
			sim_memory_arrived(side[i].proc);
	}
down:
	hosts_down();
}

SIM_SCENARIO(.name = "memory", .run = memory, .runs = 300, .max_vi = 4,
	     .seconds = 100, SIM_STATE(w),
	     .what = "regions made, changed and ended beside their transfers")

/* The same with NICs that read it themselves. */
static void memory_dma(void)
{
	sim_nics_dma();
	memory();
}

SIM_SCENARIO(.name = "memory-dma", .run = memory_dma, .runs = 100, .max_vi = 4,
	     .seconds = 100, SIM_STATE(w),
	     .what = "regions that NICs read, made and ended")

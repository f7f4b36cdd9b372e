// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One region after the other is closed, by MEM_SET or MEM_DEREGISTER, in the
 * middle of the transfers that write to it or read from it: once the call has
 * returned not a byte of it changes.  The VIs are Unreliable, so that what is
 * refused ends no connection.
 */
#include "prog.h"

#define BYTES	(3 * 4096u)
#define TURNS	10
#define MOVES	100

enum what { RIGHTS, TARGET, SOURCE, NWHATS };

static struct {
	enum what what;
	struct prog_nic n[2];
	struct prog_vi v[2];
	struct region {
		char *p;
		u32 handle;
	} source, target;
	bool over;
} w;

static void enter(struct prog_nic *n, struct region *r)
{
	int ret = prog_register(n, r->p, BYTES, VIA_RDMA_WRITE, &r->handle);

	sim_expect(!ret, "(%d)", ret);
}

/* Closed: what was under way has come or never will. */
static void still(void)
{
	static char was[BYTES];

	memcpy(was, w.target.p, BYTES);
	sim_sleep(sim_dice(4000));
	sim_expect(!memcmp(was, w.target.p, BYTES),
		   "memory changes that is closed");
}

static void set(u32 rights)
{
	struct via_mem_attrs a = {
		.addr = (uintptr_t)w.target.p, .handle = w.target.handle,
		.rights = rights,
	};
	long ret = sim_ioctl(w.n[1].file, VIA_IOC_MEM_SET, &a);

	sim_expect(!ret, "(%ld)", ret);
}

static void change(void *arg)
{
	u32 i;

	for (i = 0; i < TURNS; i++) {
		if (sim_dice(2))
			sim_sleep(sim_dice(2000));
		switch (w.what) {
		case RIGHTS:
			set(0);
			still();
			set(VIA_RDMA_WRITE);
			break;
		case TARGET:
			sim_ok(prog_deregister(&w.n[1], w.target.p,
					       w.target.handle));
			still();
			enter(&w.n[1], &w.target);
			break;
		default:
			sim_ok(prog_deregister(&w.n[0], w.source.p,
					       w.source.handle));
			enter(&w.n[0], &w.source);
		}
	}
	w.over = true;
}

static void move(void *arg)
{
	struct prog_done d;
	u32 i, n, off;
	bool write;

	for (i = 0; i < MOVES && !w.over; i++) {
		n = 1 + sim_dice(BYTES);
		off = sim_dice(BYTES - n + 1);
		write = w.what == RIGHTS || sim_dice(2);
		prog_fill(w.source.p, n, 0, i);
		if (!write)
			prog_post(&w.v[1], true, VIA_CTL_OP_SENDRECV,
				  w.target.p + off, n, w.target.handle, 0, 0);
		prog_post(&w.v[0], false, write ? VIA_CTL_OP_RDMAWRITE :
			  VIA_CTL_OP_SENDRECV, w.source.p, n, w.source.handle,
			  (uintptr_t)w.target.p + off, w.target.handle);
		sim_ok(prog_wait(&w.v[0], false, SEC, &d));
		while (prog_done(&w.v[1], true, &d))
			;
	}
}

static void process(void *arg)
{
	u32 i;

	for (i = 0; i < 2; i++)
		prog_open_vi(&w.n[i], &w.v[i], host_node(i), 8192,
			     VIA_UNRELIABLE);
	w.source.p = sim_memory(BYTES);
	w.target.p = sim_memory(BYTES);
	enter(&w.n[0], &w.source);
	enter(&w.n[1], &w.target);
	sim_ok(prog_meet(&w.v[0], &w.v[1], "regions"));
	sim_thread(current->proc, "move", move, NULL);
	sim_thread(current->proc, "change", change, NULL);
	sim_threads_wait(5000);
	for (i = 0; i < 2; i++)
		prog_close(&w.n[i]);
}

static void regions(void)
{
	w.what = sim_dice(NWHATS);
	hosts_up(sim_dice(3) ? 0 : 2);
	host_run(0, "regions", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "regions", .run = regions, .runs = 300, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "regions are closed in the middle of transfers")

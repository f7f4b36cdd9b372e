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
	u32 threads;
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
			sim_expect(!prog_deregister(&w.n[1], w.target.p,
						    w.target.handle), "");
			still();
			enter(&w.n[1], &w.target);
			break;
		default:
			sim_expect(!prog_deregister(&w.n[0], w.source.p,
						    w.source.handle), "");
			enter(&w.n[0], &w.source);
		}
	}
	w.over = true;
	w.threads--;
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
		sim_expect(!prog_wait(&w.v[0], false, SEC, &d), "");
		while (prog_done(&w.v[1], true, &d))
			;
	}
	w.threads--;
}

static bool connect(void)
{
	const u8 *a = w.n[0].hello.addr, *b = w.n[1].hello.addr;

	return !prog_request_start(&w.v[0], b, "regions", SEC, true) &&
	       !prog_p2p(&w.v[1], a, "regions", SEC) &&
	       !prog_result(&w.v[0], VIA_CONN_PEER);
}

static void process(void *arg)
{
	const char *const *nodes = arg;
	u32 i;

	for (i = 0; i < 2; i++) {
		sim_expect(!prog_open(&w.n[i], nodes[i], 8192), "");
		sim_expect(!prog_vi(&w.v[i], &w.n[i], VIA_UNRELIABLE, 0, 0),
			   "");
	}
	w.source.p = sim_memory(BYTES);
	w.target.p = sim_memory(BYTES);
	enter(&w.n[0], &w.source);
	enter(&w.n[1], &w.target);
	sim_expect(connect(), "not connected");
	w.threads = 2;
	sim_thread(current->proc, "move", move, NULL);
	sim_thread(current->proc, "change", change, NULL);
	while (w.threads)
		sim_sleep(5000);
	for (i = 0; i < 2; i++)
		prog_close(&w.n[i]);
}

static void regions(void)
{
	static const char *const lo[2] = { "via_lo", "via_lo" };
	static const char *const wire[2] = { "via_a", "via_b" };
	struct sim_nic *nic[2] = { };
	bool on_wire = !sim_dice(3);
	struct sim_proc *p;
	u32 i;

	memset(&w, 0, sizeof(w));
	w.what = sim_dice(NWHATS);
	sim_config.max_time = sim_clock + 60 * SEC;
	for (i = 0; on_wire && i < 2; i++)
		nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
	p = sim_proc_new("regions", 1000);
	sim_thread(p, "main", process, (void *)(on_wire ? wire : lo));
	sim_proc_wait(p);
	for (i = 0; on_wire && i < 2; i++)
		sim_nic_down(nic[i]);
}

SIM_SCENARIO(.name = "regions", .run = regions, .runs = 300,
	     .max_vi = 4,
	     .what = "regions are closed in the middle of transfers")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Memory whose pages come late, or never: other calls of the handle go on
 * meanwhile, and what ends the handle ends the registration (docs/explain/security.md,
 * "Cannot hold the machine up").
 */
#include "prog.h"
#include "kernel/model.h"

#define BYTES	(2 * PAGE_SIZE)

enum end { ARRIVES, SHUT, UNMAPPED, GONE, KILLED, ENDS };

static struct {
	enum end end;
	struct sim_proc *proc;
	struct prog_nic n;
	bool soon;			/* they come about when it ends */
	bool begun, arrived, others_done, ended, over;
	bool busy;			/* a thread calls until the handle has ended */
} w;

static bool come(void *arg)
{
	w.begun = true;
	return w.arrived;
}

static void late(void *arg)
{
	char *p = sim_memory_late(BYTES, come, NULL);
	u32 handle;
	int ret = prog_register(&w.n, p, BYTES, 0, &handle);

	switch (w.end) {
	case ARRIVES:
		sim_expect(!ret, "(%d)", ret);
		sim_ok(prog_deregister(&w.n, p, handle));
		break;
	case SHUT:
	case UNMAPPED:
		sim_expect(ret == -ESHUTDOWN || (!ret && w.soon), "(%d)", ret);
		break;
	case GONE:
		sim_expect(ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
		break;
	default:
		sim_expect(false, "(%d)", ret);
	}
	w.over = true;
}

/* A call at each moment, until the handle has ended. */
static void busy(void *arg)
{
	struct prog_cq c;

	while (!prog_cq(&c, &w.n, 16)) {
		prog_cq_destroy(&c);
		sim_sleep(100);
	}
	w.busy = false;
}

/* Calls of each kind, beside the one that waits. */
static void others(void *arg)
{
	struct prog_vi v;
	struct prog_cq c;
	u32 i, handle;

	for (i = 0; i < 3; i++) {
		sim_ok(prog_cq(&c, &w.n, 16));
		sim_ok(prog_vi(&v, &w.n, VIA_RELIABLE_DELIVERY, c.id, 0));
		sim_ok(prog_register(&w.n, w.n.mem, 64, 0, &handle));
		prog_post_recv(&v, w.n.mem, 64);
		prog_disconnect(&v);
		sim_ok(prog_deregister(&w.n, w.n.mem, handle));
		sim_ok(prog_vi_destroy(&v));
		sim_ok(prog_cq_destroy(&c));
	}
	w.others_done = true;
	sim_await(w.ended, 100000);
	w.busy = w.end == SHUT && sim_dice(2);
	if (w.busy) {
		sim_thread(w.proc, "busy", busy, NULL);
		sim_sleep(sim_dice(50000));
	}
	if (w.end == SHUT)
		sim_ioctl(w.n.file, VIA_IOC_SHUTDOWN, NULL);
	if (w.end == UNMAPPED) {
		sim_munmap(w.n.ctl);
		w.n.ctl = NULL;
	}
	sim_await(w.end == KILLED || (w.over && !w.busy), 100000);
	/* A handle that has ended has no memory, while its file is open. */
	if (w.end == SHUT || w.end == UNMAPPED) {
		sim_sleep(5 * MS);
		sim_expect(!sim_pins, "%ld pages are pinned", sim_pins);
	}
	prog_close(&w.n);
}

static void opens(void *arg)
{
	sim_ok(prog_open(&w.n, host_node(0), 8192));
	sim_thread(w.proc, "late", late, NULL);
	sim_await(w.begun, 10000);
	sim_thread(w.proc, "others", others, NULL);
}

static void late_pages(void)
{
	u64 until = sim_clock + SEC;

	w.end = sim_dice(ENDS);
	w.soon = sim_dice(2);
	if (w.end == GONE || sim_dice(2))
		hosts_up(1);
	w.proc = host_run(0, "late", opens, NULL);
	while (!w.others_done) {
		sim_expect(sim_clock < until,
			   "a page that does not come keeps other calls");
		sim_pause(100000);
	}
	if (w.end == GONE)
		host_down(0);
	w.ended = true;
	sim_pause(w.soon ? 1 + sim_dice(200000) : 5 * MS);
	if (w.end == KILLED) {
		sim_kill(w.proc);
	} else {
		w.arrived = true;
		sim_memory_arrived(w.proc);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "late-pages", .run = late_pages, .runs = 300, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "pages that come late, beside calls and ends of a handle")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The ends of one user's objects wait for that user alone.  More handles than a
 * workqueue runs works at once are to end, and cannot: each has a thread in the
 * kernel that waits for VIs of its user to be gone, or its program holds
 * mmap_lock.  Another user opens, makes VIs and exits meanwhile.
 */
#include "prog.h"

#define HANDLES	5
#define LIMIT	(HANDLES + 1)
#define VIS	3

static struct {
	struct prog_nic n[HANDLES];
	u32 ready;
	bool go;			/* the control pages are unmapped */
	bool ended;			/* the other user has been here */
} w;

/* One VI after the other, at the quota, until the handle has ended. */
static void churns(void *arg)
{
	struct prog_nic *n = &w.n[(uintptr_t)arg];
	struct via_vi_create c;
	struct via_vi_arg d;
	long ret;

	do {
		c = (struct via_vi_create){
			.attrs = { VIA_RELIABLE_DELIVERY, 0, 4096, 0 },
		};
		ret = sim_ioctl(n->file, VIA_IOC_VI_CREATE, &c);
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE ||
			   ret == -ESHUTDOWN, "(%ld)", ret);
		if (ret > 0)
			sim_sleep(100000);
		if (ret)
			continue;
		d = (struct via_vi_arg){ .vi = c.vi };
		ret = sim_ioctl(n->file, VIA_IOC_VI_DESTROY, &d);
		sim_expect(!ret || ret == -ESHUTDOWN, "(%ld)", ret);
	} while (ret != -ESHUTDOWN);
}

static void at_quota(void *arg)
{
	struct prog_vi v[LIMIT];
	struct prog_nic full;
	uintptr_t i;
	int ret;

	sim_ok(prog_open(&full, "via_lo", 0));
	prog_vis(v, LIMIT - 1, &full, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < HANDLES; i++)
		sim_ok(prog_open(&w.n[i], "via_lo", 0));
	for (i = 0; i < HANDLES; i++)
		sim_thread(current->proc, "churns", churns, (void *)i);
	sim_sleep(1 + sim_dice(100000));
	for (i = 0; i < HANDLES; i++) {
		sim_munmap(w.n[i].ctl);
		w.n[i].ctl = NULL;
	}
	w.go = true;
	sim_await(READ_ONCE(w.ended), MS);
	/* What they had has gone with them. */
	for (i = 0; i < 1000; i++) {
		ret = prog_vi(&v[LIMIT - 1], &full, VIA_RELIABLE_DELIVERY, 0,
			      0);
		if (!ret)
			break;
		sim_sleep(MS);
	}
	sim_expect(!ret, "(%d) a VI is left of a handle that has ended", ret);
	prog_close(&full);
}

static void in_fault(void *arg)
{
	struct prog_nic *n = &w.n[(uintptr_t)arg];

	sim_ok(prog_open(n, "via_lo", 1 + sim_dice(3 * PAGE_SIZE)));
	sim_munmap(n->ctl);
	n->ctl = NULL;
	w.ready++;
	sim_fault_until(&w.ended);
}

static void other(void *arg)
{
	struct prog_vi v[VIS];
	struct prog_nic n;
	u32 made = 1 + sim_dice(VIS);

	sim_ok(prog_open(&n, "via_lo", PAGE_SIZE));
	prog_vis(v, made, &n, VIA_RELIABLE_DELIVERY);
	if (sim_dice(2))
		sim_ok(prog_vi_destroy(&v[--made]));
	/* Else as an exit does it. */
	if (sim_dice(2))
		prog_close(&n);
}

static void others_come(void)
{
	u32 i;

	/* The second finds what the first one had gone, or waits for it. */
	for (i = 0; i < 2; i++)
		program_wait(host_run(1, "other", other, NULL));
}

static void quota(void)
{
	sim_limit("vi", LIMIT);
	host_run(0, "at quota", at_quota, NULL);
	sim_await(READ_ONCE(w.go), 20000);
	others_come();
	w.ended = true;
	hosts_down();
}

static void fault(void)
{
	uintptr_t i;

	sim_limit("vi", VIS);
	for (i = 0; i < HANDLES; i++)
		host_run(0, "in fault", in_fault, (void *)i);
	sim_await(READ_ONCE(w.ready) >= HANDLES, 20000);
	others_come();
	w.ended = true;
	hosts_down();
}

SIM_SCENARIO(.name = "others-quota", .run = quota, .runs = 100, .seconds = 20,
	     SIM_STATE(w),
	     .what = "handles end beside calls that wait at a quota, and others")
SIM_SCENARIO(.name = "others-fault", .run = fault, .runs = 100, .seconds = 20,
	     SIM_STATE(w),
	     .what = "handles end whose programs hold mmap_lock, and others")

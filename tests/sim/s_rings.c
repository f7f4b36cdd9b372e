// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Spare rings of one completion queue, made, mapped and dropped by several. */
#include "prog.h"

#define THREADS	3
#define TURNS	6

static struct {
	struct prog_nic n;
	struct prog_cq cq;
} w;

static long resize(struct via_cq_resize *a, u32 step)
{
	a->cq = w.cq.id;
	a->step = step;
	return sim_ioctl(w.n.file, VIA_IOC_CQ_RESIZE, a);
}

/* What another thread does meanwhile makes EINVAL of it, no more. */
static void turns(void *arg)
{
	struct via_cq_resize a;
	void *p;
	u32 i;
	long ret;

	for (i = 0; i < TURNS; i++) {
		a = (struct via_cq_resize){ .entries = 1u << sim_dice(11) };
		ret = resize(&a, VIA_CQ_PREPARE);
		sim_expect(!ret || (sim_config.fail_alloc &&
				    ret == VIA_R_ERROR_RESOURCE), "(%ld)",
			   ret);
		if (ret)
			continue;
		p = sim_mmap(w.n.file, NULL, a.mmap_offset, a.mmap_size, true);
		sim_expect(!IS_ERR(p) || PTR_ERR(p) == -EINVAL ||
			   sim_config.fail_alloc, "(%ld)", PTR_ERR(p));
		ret = resize(&a, sim_dice(2) ? VIA_CQ_ABANDON : VIA_CQ_COMMIT);
		sim_expect(!ret || ret == -EINVAL, "(%ld)", ret);
		if (!IS_ERR(p) && sim_dice(2))
			sim_munmap(p);
	}
}

static void process(void *arg)
{
	u32 i;

	if (prog_open(&w.n, "via_lo", 0))
		return;
	if (prog_cq(&w.cq, &w.n, 4))
		goto out;
	for (i = 0; i < THREADS; i++)
		sim_thread(current->proc, "turns", turns, NULL);
	sim_threads_wait(MS);
	if (sim_dice(2))
		prog_cq_destroy(&w.cq);
out:
	prog_close(&w.n);
}

static void rings(void)
{
	host_run(0, "rings", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "rings", .run = rings, .runs = 200, .max_vi = 4,
	     SIM_STATE(w),
	     .what = "spare rings of a completion queue, by several threads")

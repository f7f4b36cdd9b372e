// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Limits of a NIC and of a handle, as VIA_IOC_HELLO tells them: so many are
 * made, none more, and one for each that goes.
 */
#include "prog.h"

#define MOST	8

enum what { VIS, CQS, TAGS, REGIONS, WHATS };

static struct {
	u32 id[MOST];
	struct prog_vi vi[MOST];
	struct prog_cq cq[MOST];
	char *mem;
} w;

static int make(struct prog_nic *n, enum what what, u32 i)
{
	struct via_ptag_arg tag = {};
	int ret;

	switch (what) {
	case VIS:
		return prog_vi(&w.vi[i], n, VIA_UNRELIABLE, 0, 0);
	case CQS:
		return prog_cq(&w.cq[i], n, n->hello.max_cq_entries);
	case TAGS:
		ret = sim_ioctl(n->file, VIA_IOC_PTAG_CREATE, &tag);
		w.id[i] = tag.ptag;
		return ret;
	default:
		return prog_register(n, w.mem, 64, 0, &w.id[i]);
	}
}

static int unmake(struct prog_nic *n, enum what what, u32 i)
{
	struct via_ptag_arg tag = { .ptag = w.id[i] };

	switch (what) {
	case VIS:
		return prog_vi_destroy(&w.vi[i]);
	case CQS:
		return prog_cq_destroy(&w.cq[i]);
	case TAGS:
		return sim_ioctl(n->file, VIA_IOC_PTAG_DESTROY, &tag);
	default:
		return prog_deregister(n, w.mem, w.id[i]);
	}
}

static void fill(struct prog_nic *n, enum what what, u32 limit)
{
	u32 i, at;
	int ret;

	sim_expect(limit < MOST, "(%u, %u)", what, limit);
	for (i = 0; i < limit; i++)
		sim_ok(make(n, what, i));
	for (i = 0; i < 3; i++) {
		ret = make(n, what, limit);
		sim_expect(ret == VIA_R_ERROR_RESOURCE,
			   "(%u, one more than %u: %d)", what, limit, ret);
		at = sim_dice(limit);
		sim_ok(unmake(n, what, at));
		sim_ok(make(n, what, at));
	}
	while (limit--)
		unmake(n, what, limit);
}

static void fills(void *arg)
{
	struct prog_nic n;
	struct prog_cq cq;
	enum what what;

	sim_ok(prog_open(&n, "via_a", 0));
	w.mem = sim_memory(64);
	sim_expect(prog_cq(&cq, &n, n.hello.max_cq_entries + 1) ==
		   VIA_R_ERROR_RESOURCE, "a larger queue than may be");
	for (what = 0; what < WHATS; what++)
		fill(&n, what,
		     what == VIS ? n.hello.max_vi :
		     what == CQS ? n.hello.max_cq :
		     what == TAGS ? n.hello.max_ptags : n.hello.max_regions);
	prog_close(&n);
}

static void limits(void)
{
	sim_param_set("max_vi", 1 + sim_dice(MOST - 1));
	sim_param_set("max_cq", 1 + sim_dice(MOST - 1));
	sim_param_set("max_cq_entries", 1 << sim_dice(6));
	sim_param_set("max_ptags", 1 + sim_dice(MOST - 1));
	sim_param_set("max_regions", 1 + sim_dice(MOST - 1));
	hosts_up(1);
	host_run(0, "fills", fills, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "limits", .run = limits, .runs = 50, SIM_STATE(w),
	     .what = "as many VIs, queues, tags and regions as may be, no more")

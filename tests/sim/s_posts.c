// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* libvipl: threads that post to one VI while its connection ends. */
#include "vipl/posix.h"
#include "kernel/model.h"
#include "vipl/programs.h"

static void posts(void)
{
	struct posts p = {
		.device = "via_lo",
		.rounds = 8,
		.posters = sim_dice(2) ? 1 : 2 + sim_dice(4),
		.before_ns = sim_dice(2) ? 0 : sim_dice(3000),
	};
	struct sim_proc *proc;

	/* What is posted later makes up for a doorbell: few are. */
	p.each = 1 + sim_dice(3);
	px_begin();
	proc = px_start(0, "posts", 0, posts_main, &p, NULL);
	sim_proc_wait(proc);
}

SIM_SCENARIO(.name = "vipl-end", .run = posts, .runs = 500, .max_vi = 4,
	     .seconds = 60,
	     .what = "libvipl: threads post to a VI whose connection ends")

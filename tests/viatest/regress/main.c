// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "regress.h"
#include "viatest.h"

static const struct choice modes[] = {
	MODE("peers", run_peers,
	     "-s seconds of peer requests that end each other"),
	MODE("stats", run_stats, "-n detaches beside VIA_IOC_STATS",
	     .count = 40),
	MODE("answers", run_answers, "-n detaches beside answers; -p client",
	     .count = 40, .peer = true),
	MODE("crowd", run_crowd, "detach with -n open handles", .count = 1024),
	MODE("page", run_page, "registers a page that never comes"),
	MODE("throttled", run_throttled, "-n detaches beside one in group -g",
	     .group = true),
	MODE("control", run_control, "the control page is its owner's alone"),
	MODE("overtaken", run_overtaken,
	     "-s seconds of requests that end at once"),
	MODE("late", run_late, "-n accepts at the last moment; -p client",
	     .count = 60, .peer = true),
	MODE("notices", run_notices,
	     "notices of -n VIs on one completion queue", .count = 2000),
	MODE("segments", run_segments, "memory of descriptors, -g; -p peer",
	     .peer = true, .group = true),
	MODE("resize", run_resize, "-n resizes beside changing heads",
	     .count = 20),
	MODE("grace", run_grace, "-n VIs made and unmade", .count = 1000),
	MODE("again", run_again, "a VI in place of another, -n are allowed"),
	MODE("others", run_others,
	     "-n handles of one user that end, and other users",
	     .count = 320),
	{ 0 },
};

static const struct option_row options[] = {
	TEXT("-d", "NIC", "the VI NIC", args.device),
	NUMBER("-n", "N", "how many", args.count),
	NUMBER("-s", "N", "seconds (5)", args.seconds),
	NUMBER("-l", "N", "ms that are too long (2000)", args.limit),
	TEXT("-p", "NIC", "the other one, of this machine too", args.peer),
	TEXT("-g", "FOLDER", "a control group", args.group),
	{ 0 },
};

static const struct command regress = {
	.usage = "regress MODE -d NIC [options]",
	.choices = modes,
	.options = options,
};

int viatest_regress(int argc, char **argv)
{
	args = (struct args){ .seconds = 5, .limit = 2000 };
	return command_parse(&regress, argc, argv)->mode();
}

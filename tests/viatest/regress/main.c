// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "regress.h"
#include "viatest.h"

static const struct choice modes[] = {
	{ "peers", run_peers,
	  .help = "-s seconds of peer requests that end each other" },
	{ "stats", run_stats, .count = 40,
	  .help = "-n detaches beside VIA_IOC_STATS" },
	{ "answers", run_answers, .count = 40, .peer = true,
	  .help = "-n detaches beside requests answered; -p client" },
	{ "crowd", run_crowd, .count = 1024,
	  .help = "detach with -n open handles" },
	{ "page", run_page, .help = "registers a page that never comes" },
	{ "throttled", run_throttled, .group = true,
	  .help = "-n detaches beside one in group -g" },
	{ "control", run_control,
	  .help = "the control page is its owner's alone" },
	{ "overtaken", run_overtaken,
	  .help = "-s seconds of requests that end at once" },
	{ "late", run_late, .count = 60, .peer = true,
	  .help = "-n accepts at the last moment; -p client" },
	{ "notices", run_notices, .count = 2000,
	  .help = "notices of -n VIs on one completion queue" },
	{ "segments", run_segments, .peer = true, .group = true,
	  .help = "memory of descriptors, group -g; -p peer" },
	{ "resize", run_resize, .count = 20,
	  .help = "-n resizes beside changing heads" },
	{ "grace", run_grace, .count = 1000, .help = "-n VIs made and unmade" },
	{ "again", run_again,
	  .help = "a VI in place of another, -n are allowed" },
	{ 0 },
};

static const struct option_row options[] = {
	{ 'd', .value = "NIC", .help = "the VI NIC",
	  .to_text = &args.device },
	{ 'n', .value = "N", .help = "how many", .to_number = &args.count },
	{ 's', .value = "N", .help = "seconds (5)",
	  .to_number = &args.seconds },
	{ 'l', .value = "N", .help = "ms that are too long (2000)",
	  .to_number = &args.limit },
	{ 'p', .value = "NIC", .help = "the other one, of this machine too",
	  .to_text = &args.peer },
	{ 'g', .value = "FOLDER", .help = "a control group",
	  .to_text = &args.group },
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

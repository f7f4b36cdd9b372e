// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "viatest.h"
#include "regress.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options regress_opt = { .seconds = 5, .limit = 2000 };

static const struct {
	const char *name;
	int (*run)(void);
	const char *help;
} modes[] = {
	{ "peers", run_peers, "-s seconds of peer requests that end each other" },
	{ "stats", run_stats, "-n detaches beside VIA_IOC_STATS" },
	{ "answers", run_answers, "-n detaches beside requests answered; -p client" },
	{ "crowd", run_crowd, "detach with -n open handles" },
	{ "page", run_page, "registers a page that never comes" },
	{ "throttled", run_throttled, "-n detaches beside one in group -g" },
	{ "control", run_control, "the control page is its owner's alone" },
	{ "overtaken", run_overtaken, "-s seconds of requests that end at once" },
	{ "late", run_late, "-n accepts at the last moment; -p client" },
	{ "notices", run_notices, "notices of -n VIs on one completion queue" },
	{ "segments", run_segments, "memory of descriptors, group -g; -p peer" },
	{ "resize", run_resize, "-n resizes beside changing heads" },
	{ "grace", run_grace, "-n VIs made and unmade" },
	{ "again", run_again, "a VI in place of another, -n are allowed" },
};

#define MODES	(sizeof(modes) / sizeof(modes[0]))

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: viatest regress MODE -d DEVICE [options]\n", f);
	for (i = 0; i < MODES; i++)
		fprintf(f, "  %-12s%s\n", modes[i].name, modes[i].help);
	fputs("  -n N       how many\n"
	      "  -s N       seconds (5)\n"
	      "  -l N       ms that are too long (2000)\n"
	      "  -p DEVICE  the other NIC, of this machine too\n"
	      "  -g FOLDER  a control group\n", f);
}

int viatest_regress(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	size_t i;
	int c;

	while ((c = getopt_long(argc, argv, "d:p:g:n:s:l:h", longs,
				NULL)) != -1) {
		switch (c) {
		case 'd':
			regress_opt.device = optarg;
			break;
		case 'p':
			regress_opt.peer = optarg;
			break;
		case 'g':
			regress_opt.group = optarg;
			break;
		case 'n':
			regress_opt.count = strtoul(optarg, NULL, 0);
			break;
		case 's':
			regress_opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			regress_opt.limit = strtoul(optarg, NULL, 0);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind != argc - 1 || !regress_opt.device) {
		usage(stderr);
		return 2;
	}
	/* What is wrong is said last. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < MODES; i++)
		if (!strcmp(argv[optind], modes[i].name))
			return modes[i].run();
	usage(stderr);
	return 2;
}

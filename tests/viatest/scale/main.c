// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include "viatest.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options scale_opt = {
	.count = 100, .threads = 4, .cqs = 4, .limit = 30000, .seed = 1,
};

static const struct {
	const char *name;
	int (*run)(void);
	const char *help;
} modes[] = {
	{ "serve", serve, "the server of kill and process" },
	{ "kill", run_kill, "-n kills, -t processes at once, seed" },
	{ "process", run_process, "-n rounds of fork, vfork and exec" },
	{ "serve-vis", serve_vis, "-n VIs, -c CQs, -t connecting threads" },
	{ "vis", run_vis, "its client; -s rounds of messages" },
	{ "regions", run_regions, "-n regions in -t processes, -v VIs beside" },
	{ "serve-connects", serve_connects, "-n connections of -t threads" },
	{ "connects", run_connects, "its client" },
	{ "pair", run_pair, "-n connections from -d to -D in namespace -N" },
	{ "races", run_races, "-n rounds of each operation by each teardown" },
	{ "held", run_held, "-n rounds of a receiver to be stopped" },
	{ "held-send", run_held_send, "its sender; -s pauses between rounds" },
	{ "squeeze", run_squeeze, "-n rounds of all that fits" },
};

#define MODES	(sizeof(modes) / sizeof(modes[0]))

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: viatest scale MODE -d DEVICE [options] [HOST]\n", f);
	for (i = 0; i < MODES; i++)
		fprintf(f, "  %-16s%s\n", modes[i].name, modes[i].help);
	fputs("  -n N  how many (100)      -t N  threads or processes (4)\n"
	      "  -c N  CQs (4)             -v N  VIs\n"
	      "  -s N  seconds or rounds   -l N  ms that are too long (30000)\n"
	      "  -S N  seed (1)            -D NIC, -N namespace of the other end\n"
	      "HOST is where the server is: this machine without it\n", f);
}

int viatest_scale(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	size_t i;
	int c;

	while ((c = getopt_long(argc, argv, "d:D:N:n:t:c:v:s:l:S:h", longs,
				NULL)) != -1) {
		switch (c) {
		case 'd':
			scale_opt.device = optarg;
			break;
		case 'D':
			scale_opt.peer_device = optarg;
			break;
		case 'N':
			scale_opt.netns = optarg;
			break;
		case 'n':
			scale_opt.count = strtoul(optarg, NULL, 0);
			break;
		case 't':
			scale_opt.threads = strtoul(optarg, NULL, 0);
			break;
		case 'c':
			scale_opt.cqs = strtoul(optarg, NULL, 0);
			break;
		case 'v':
			scale_opt.vis = strtoul(optarg, NULL, 0);
			break;
		case 's':
			scale_opt.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			scale_opt.limit = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			scale_opt.seed = strtoull(optarg, NULL, 0);
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	if (optind == argc || !scale_opt.count || !scale_opt.threads || !scale_opt.cqs) {
		usage(stderr);
		return 2;
	}
	if (optind + 1 < argc)
		scale_opt.host = argv[optind + 1];
	/* What is wrong is said last. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < MODES; i++)
		if (!strcmp(argv[optind], modes[i].name))
			return last_word(modes[i].run());
	usage(stderr);
	return 2;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "viatest.h"
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "stress", viatest_stress, "messages of a server and a client" },
	{ "scale", viatest_scale, "much of everything, and its death" },
	{ "fuzz", viatest_fuzz, "any call with any argument" },
	{ "fault", viatest_fault, "allocations that fail" },
	{ "frames", viatest_frames, "frames thrown at a live node" },
	{ "regress", viatest_regress, "faults that were there once" },
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *f)
{
	size_t i;

	fputs("usage: viatest COMMAND [options]\n", f);
	for (i = 0; i < COMMANDS; i++)
		fprintf(f, "  %-12s%s\n", commands[i].name, commands[i].help);
	fputs("'viatest COMMAND --help' tells its options\n", f);
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc == 2 && (!strcmp(argv[1], "--help") ||
			  !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	usage(stderr);
	return 2;
}

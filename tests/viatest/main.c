// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/args.h"
#include "viatest.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct choice commands[] = {
	{ "stress", .help = "messages of a server and a client",
	  .command = viatest_stress },
	{ "scale", .help = "much of everything, and its death",
	  .command = viatest_scale },
	{ "fuzz", .help = "any call with any argument",
	  .command = viatest_fuzz },
	{ "fault", .help = "allocations that fail",
	  .command = viatest_fault },
	{ "frames", .help = "frames thrown at a live node",
	  .command = viatest_frames },
	{ "regress", .help = "faults that were there once",
	  .command = viatest_regress },
	{ 0 },
};

static const struct command viatest = {
	.usage = "COMMAND [options]",
	.choices = commands,
	.more = "'viatest COMMAND --help' tells its options\n",
};

int main(int argc, char **argv)
{
	const struct choice *c = choice_of(&viatest, argv[1]);
	static char name[32];

	if (!c)
		command_help(&viatest, argc == 2 &&
			     (!strcmp(argv[1], "--help") ||
			      !strcmp(argv[1], "-h")));
	/* Messages begin with it. */
	snprintf(name, sizeof(name), "viatest %s", c->name);
	program_invocation_short_name = name;
	argv[1] = name;
	return c->command(argc - 1, argv + 1);
}

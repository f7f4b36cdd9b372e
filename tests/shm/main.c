// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viashm - what processes of a host do to each other
 *
 *	viashm [-d DEVICE] TEST [COUNT]
 *
 * The device is a space of shm of its own, unless it is given.
 */
#include "tests.h"
#include "end.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int (*run)(int count);
	int count;
	const char *what;
} tests[] = {
	{ "kill", test_kill, 20, "kill -9 of an end or of another one" },
	{ "stop", test_stop, 3, "a peer that is stopped for a while" },
	{ "stopdir", test_stopdir, 3, "one of two that wait is stopped" },
	{ "forks", test_forks, 3, "children do not hide the end of a parent" },
	{ "signals", test_signals, 1, "the program's signal handlers stay" },
	{ "crowd", test_crowd, 64, "so many processes and one server" },
	{ "many", test_many, 2000, "so many VIs between two processes" },
	{ "strangers", test_strangers, 1000, "garbage on its sockets, for ms" },
	{ "uid", test_uid, 1, "a process of another user" },
	{ "short", test_short, 20000, "so many short messages, and bad ones" },
	{ "wake", test_wake, 10, "two threads of a NIC, one of which sleeps" },
	{ "dereg", test_dereg, 1, "memory that a stopped peer may still read" },
	{ "limits", test_limits, 1, "limits of the process that are too low" },
	{ "squat", test_squat, 1, "names that another user has taken" },
	{ "open", test_open, 20, "how long opening a NIC takes" },
};

int main(int argc, char **argv)
{
	static char name[32];
	unsigned int i;
	FILE *out;
	int help;

	snprintf(name, sizeof(name), "shm:%d", 1000 + getpid() % 9000);
	device = name;
	if (argc > 2 && !strcmp(argv[1], "-d")) {
		device = argv[2];
		argc -= 2;
		argv += 2;
	}
	for (i = 0; argc > 1 && i < sizeof(tests) / sizeof(tests[0]); i++)
		if (!strcmp(argv[1], tests[i].name))
			return tests[i].run(argc > 2 ? atoi(argv[2]) :
						       tests[i].count);
	help = argc == 2 && !strcmp(argv[1], "--help");
	out = help ? stdout : stderr;
	fprintf(out, "usage: viashm [-d DEVICE] TEST [COUNT]\n");
	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		fprintf(out, "  %-10s %s (%d)\n", tests[i].name,
			tests[i].what, tests[i].count);
	return help ? 0 : 2;
}

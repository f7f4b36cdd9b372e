/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef RULE_H
#define RULE_H

/* A program of rules: PROGRAM NAME runs one of them on this node. */
#include <stdio.h>
#include <string.h>
#include <viadsm.h>

#define PAGE	4096u

struct rule {
	const char *name;
	void (*run)(void);	/* between dsm_init() and dsm_exit() */
	void (*before)(void);	/* dsm_init(); may be NULL */
};

static int failed;

#define CHECK(what)	check(what, #what, __LINE__)
static void check(int holds, const char *what, int line)
{
	if (holds)
		return;
	printf("node %u, line %d: not %s\n", dsm_rank(), line, what);
	failed = 1;
}

/* The status of main(). */
static int run_rule(int argc, char **argv, const struct rule *all, size_t count)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc == 2 && i < count; i++) {
		if (strcmp(argv[1], all[i].name))
			continue;
		if (all[i].before)
			all[i].before();
		dsm_init();
		all[i].run();
		dsm_exit();
		return failed;
	}
	fprintf(stderr, "Usage: %s WHAT\n", argv[0]);
	return 2;
}

#endif

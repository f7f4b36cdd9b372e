/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Instructions of calls, by stepping.  A child plays, on one thread, both ends
 * of what is measured, so that a poll finds what it looks for.  The parent
 * steps that thread from mark to mark and stops all others: progress threads
 * would take packets instead of the polls.  Instructions of the program
 * itself, which load arguments, are left out.
 */
#ifndef BENCH_STEP_H
#define BENCH_STEP_H

#include <stdint.h>

#define STEP_OPS	8
#define STEP_PARTS	6

struct step {
	unsigned int	ops;		/* kinds of calls */
	unsigned int	first;		/* calls of each that are not counted */
	/* Of a line of /proc/PID/maps with text: a part, or -1 to leave out. */
	int		(*part)(const char *name);
	/* Results. */
	uint64_t	counts[STEP_OPS][STEP_PARTS];
	unsigned int	calls[STEP_OPS];	/* the first ones, too */
	unsigned int	idle;			/* polls in vain: not counted */
};

/* Between them the parent counts; idle is for a poll in vain. */
void step_begin(unsigned int op);
void step_end(int idle);
/* The child: before what is to be counted, and after it. */
void step_ready(void);
void step_over(const struct step *s);
/*
 * The parent: @child plays in a process of its own.  0; 77 where a process
 * cannot be traced; 1.
 */
int step_run(struct step *s, void (*child)(const struct step *s, void *arg),
	     void *arg);

#endif

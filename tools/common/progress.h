/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "opts.h"

/*
 * A measurement under way: what is told of it meanwhile, and what is kept of
 * it when it ends before its time, because a user interrupts it or something
 * fails.
 *
 * While progress_watch() is in force, SIGINT and SIGTERM ask for its end. The
 * program looks at progress_over between two messages; where it sleeps in a
 * call of the library, which takes no notice of signals, the handler itself
 * ends it. A second signal ends the program at once.
 */
extern volatile sig_atomic_t progress_over, progress_sleeping;

/* ns of now_ns() at which progress_tick() is due; ~0: never. */
extern uint64_t progress_next;

struct progress_calls {
	/* Print what was measured so far, and why there is no more. */
	void	(*partial)(void *arg, const char *why);
	/* An interval has passed: print what came of it. */
	void	(*interval)(void *arg, uint64_t from, uint64_t to);
	/* How much there is of how much, and in what state, in a few words. */
	double	(*done)(void *arg, char *text, unsigned int len);
};

/* From now on, start being the first nanosecond that is measured. */
void progress_watch(const struct opts *o, const struct progress_calls *calls,
		    void *arg, uint64_t start);
/* All is measured: an end before the time is over. */
void progress_done(void);

void progress_tick(uint64_t now);

/* After a signal: does not come back. */
void progress_interrupted(void) __attribute__((noreturn));

static inline void progress_check(void)
{
	if (__builtin_expect(progress_over, 0))
		progress_interrupted();
}

/* Around a call that may sleep; a signal between the two lines is seen. */
static inline void progress_sleep(void)
{
	progress_sleeping = 1;
	progress_check();
}

static inline void progress_awake(void)
{
	progress_sleeping = 0;
}

#endif

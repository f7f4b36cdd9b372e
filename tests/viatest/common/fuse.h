/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory whose pages come from a program, or do not. */
#ifndef TESTS_FUSE_H
#define TESTS_FUSE_H

#include <stdbool.h>
#include <stdint.h>

#define FUSE_BYTES	(64u << 10)	/* of the file */
#define FUSE_LATE_MS	1500u

/* NEVER: not before fuse_answer(). */
enum fuse_way { ANSWERS, LATE, NEVER, DIES };

/*
 * A file, open for both, that a new process serves in that way: its pages are
 * read when they are touched.  -1: there is no FUSE here.
 *
 * @async: a thread that faults sleeps on its page, where a signal can end it;
 * else inside of the file system, where nothing can.
 */
int fuse_file(enum fuse_way way, bool async);
/* How many reads the last one was asked for. */
uint32_t fuse_asked(void);
/* The last one answers what it has kept, and what it is asked from now on. */
void fuse_answer(void);
/* The last one's server dies: a thread that waits for a page is told so. */
void fuse_end(void);

#endif

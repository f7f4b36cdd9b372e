/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Memory whose pages come from a program, or do not. */
#ifndef FUZZ_FUSE_H
#define FUZZ_FUSE_H

#include <stdint.h>

#define FUSE_BYTES	(64u << 10)	/* of the file */
#define FUSE_LATE_MS	1500u

enum fuse_way { ANSWERS, LATE, NEVER, DIES };

/*
 * A file, open for both, that a new process serves in that way: its pages are
 * read when they are touched.  -1: there is no FUSE here.
 */
int fuse_file(enum fuse_way way);
/* How many reads the last one was asked for. */
uint32_t fuse_asked(void);
/* The last one's server dies: a thread that waits for a page is told so. */
void fuse_end(void);

#endif

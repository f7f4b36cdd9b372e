/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef REGRESS_FUSE_H
#define REGRESS_FUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file system of one file, of one page, served by a process of ours: it is
 * read only when, and if, the server answers.
 */
struct fuse {
	char dir[32];
	char path[40];			/* the file */
	pid_t server;
	struct fuse_shared *shared;
};

/*
 * @async: whoever wants the page sleeps on the page, where a signal can end
 * it; else inside of the file system, where nothing can.
 */
void fuse_start(struct fuse *f, bool async);
bool fuse_asked(const struct fuse *f);	/* for the page, at least once */
void fuse_answer(struct fuse *f);	/* the page comes after all */
void fuse_end(struct fuse *f);		/* it never does: an error */

#endif

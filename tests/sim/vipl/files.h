/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Open files of simulated programs. */
#ifndef SIM_VIPL_FILES_H
#define SIM_VIPL_FILES_H

#include "posix.h"

#define PIPE_BYTES	(64u << 10)

enum kind { VIA, EVENT, PIPE_R, PIPE_W, OUTPUT, PIDFD };

struct px_pipe {
	u32 ends;
	u32 n;
	wait_queue_head_t wait;
	bool no_reader, no_writer;
	char bytes[PIPE_BYTES];
};

struct px_file {
	u32 refs;
	enum kind kind;
	int flags;			/* O_NONBLOCK */
	struct file *via;
	struct px_pipe *pipe;
	u64 count;			/* of an eventfd */
	wait_queue_head_t wait;		/* likewise */
};

struct px_file *px_file_of(int fd);
struct px_file *px_file_new(enum kind kind, int flags);

#endif

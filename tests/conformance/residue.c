// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "residue.h"
#include "harness.h"
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A provider in user space keeps sockets to each NIC that it has met. So much
 * may a session have more of than when it began; what each group leaves behind
 * is more.
 */
#define FILES_MAX	24

struct state {
	unsigned int threads;
	int lowest_fd;
	dev_t err_dev;
	ino_t err_ino;
	struct rlimit memlock, nofile;
};

static struct state marked;

/* Links of the directory of threads: two of every directory, one each. */
static unsigned int threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) ? 0 : st.st_nlink - 2;
}

static struct state look(void)
{
	struct state s = { .threads = threads() };
	struct stat st = { 0 };

	s.lowest_fd = dup(STDERR_FILENO);
	close(s.lowest_fd);
	fstat(STDERR_FILENO, &st);
	s.err_dev = st.st_dev;
	s.err_ino = st.st_ino;
	getrlimit(RLIMIT_MEMLOCK, &s.memlock);
	getrlimit(RLIMIT_NOFILE, &s.nofile);
	return s;
}

void residue_mark(void)
{
	static int first_fd;

	marked = look();
	if (!first_fd)
		first_fd = marked.lowest_fd;
	marked.lowest_fd = first_fd;
}

bool residue_none(void)
{
	struct state s = look();
	unsigned int i;

	/* A thread that was joined may take a moment to be gone. */
	for (i = 0; i < 20 && s.threads > marked.threads; i++) {
		pause_ms(1);
		s.threads = threads();
	}
	return s.threads == marked.threads &&
	       s.lowest_fd <= marked.lowest_fd + FILES_MAX &&
	       s.err_dev == marked.err_dev && s.err_ino == marked.err_ino &&
	       s.memlock.rlim_cur == marked.memlock.rlim_cur &&
	       s.nofile.rlim_cur == marked.nofile.rlim_cur;
}

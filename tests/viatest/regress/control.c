// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The control page: its unmapping ends the handle, so there is one mapping of
 * it, in one place, of one process, whatever that asks for.
 */
#include "regress.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096u
#define GENERATIONS	4u
#define BYTES		(8u << 20)
#define LEFT_MS		60000u

static uint32_t wrong;

/* With this error, or (0) with any. */
static void refused(int rc, int error, const char *what)
{
	if (rc < 0 && (!error || errno == error))
		return;
	warn_msg("%s of the control page: %s", what,
		 rc < 0 ? strerror(errno) : "allowed");
	wrong++;
}

static int moved(void *p, size_t from, size_t to, int flags)
{
	void *to_p = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	void *q = flags & MREMAP_FIXED ? mremap(p, from, to, flags, to_p) :
					 mremap(p, from, to, flags);

	return q == MAP_FAILED ? -1 : 0;
}

static void asked_for(struct handle *h)
{
	refused(madvise(h->ctl, PAGE, MADV_DOFORK), EINVAL, "MADV_DOFORK");
	refused(mprotect(h->ctl, PAGE, PROT_READ | PROT_WRITE), EACCES,
		"writing");
	refused(moved(h->ctl, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED), 0,
		"a move");
	refused(moved(h->ctl, 0, PAGE, MREMAP_MAYMOVE), 0, "a copy");
	refused(moved(h->ctl, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP),
		0, "a move that leaves it");
	refused(moved(h->ctl, PAGE, 2 * PAGE, MREMAP_MAYMOVE), 0, "growth");
}

/* What a program may say of it, taken or not: a child does not get it. */
static void advised(struct handle *h)
{
	static const int advice[] = {
		MADV_DOFORK, MADV_DODUMP, MADV_DONTDUMP, MADV_KEEPONFORK,
		MADV_WIPEONFORK, MADV_NORMAL, MADV_SEQUENTIAL, MADV_RANDOM,
		MADV_WILLNEED, MADV_MERGEABLE, MADV_HUGEPAGE, MADV_FREE,
		MADV_COLD, MADV_PAGEOUT, MADV_REMOVE,
	};
	unsigned char core;
	uint32_t i;
	int status;
	pid_t pid;

	for (i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		madvise(h->ctl, PAGE, advice[i]);
	pid = fork();
	if (!pid)
		_exit(!mincore(h->ctl, PAGE, &core));
	if (waitpid(pid, &status, 0) != pid || status) {
		warn_msg("a child has the control page");
		wrong++;
	}
}

/* Each child opens a handle of its own, and its parent ends. */
static void generations(int said)
{
	void *p = memory(BYTES);
	struct handle h;
	uint32_t handle, i;
	long left;

	for (i = 0; i < GENERATIONS; i++) {
		handle_open(&h, args.device);
		if (mem_register(&h, p, BYTES, &handle))
			die("no memory is registered");
		madvise(h.ctl, PAGE, MADV_DOFORK);
		if (fork())
			_exit(0);
	}
	left = pinned_after(0, LEFT_MS);
	if (write(said, &left, sizeof(left)) != sizeof(left))
		_exit(1);
	_exit(0);
}

int run_control(void)
{
	struct handle h;
	long left = -2;
	int fds[2];

	if (pinned() > 0)
		die("there are pages pinned already");
	handle_open(&h, args.device);
	asked_for(&h);
	advised(&h);
	handle_close(&h);
	if (pipe(fds))
		die("pipe: %s", strerror(errno));
	if (!fork())
		generations(fds[1]);
	if (read(fds[0], &left, sizeof(left)) != sizeof(left))
		die("no child is left");
	printf("pinned %ld\n", left);
	if (left > 0) {
		warn_msg("%ld pages of processes that are gone stay pinned",
			 left);
		wrong++;
	}
	return wrong != 0;
}

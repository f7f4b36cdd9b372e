// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Limits of the process that leave no room: for a NIC, or for one more peer.
 * The call fails, a line on standard error names the limit, no signal comes,
 * and the process goes on. So it is with memory that is not there.
 */
#include "tests.h"
#include "end.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SERVE_MS	1500	/* how long it waits for a client */
#define TRY_MS		500

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED	1	/* that takes what RLIMIT_DATA leaves */
#else
#define SANITIZED	0
#endif

static void limit(int which, rlim_t value)
{
	struct rlimit r = { value, value };

	if (setrlimit(which, &r))
		fail("setrlimit", which);
}

/* A child whose standard error is `said`. */
static pid_t child(int said[2])
{
	pid_t pid;

	if (pipe(said))
		fail("pipe", 0);
	pid = fork();
	if (pid) {
		close(said[1]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(said[1], STDERR_FILENO);
	close(said[0]);
	close(said[1]);
	return 0;
}

/* One message: its fault, and a remedy at most. */
static int is_one(const char *text)
{
	const char *end = strchr(text, '\n');

	if (!end || strncmp(text, "vipl: ", 6))
		return 0;
	if (!end[1])
		return 1;
	text = end + 1;
	end = strchr(text, '\n');
	return end && !end[1] && !strncmp(text, "vipl: ", 6);
}

/* It has exited with 0, and printed one message with that word in it. */
static void ended(pid_t pid, int said, const char *word)
{
	char text[4096];
	size_t have = 0;
	ssize_t n;
	int status;

	while (have < sizeof(text) - 1 &&
	       (n = read(said, text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = 0;
	close(said);
	waitpid(pid, &status, 0);
	if (status || !strstr(text, word) || !is_one(text)) {
		fprintf(stderr, "%s: it says '%s'\n", word, text);
		fail("a process with a limit, status", status);
	}
}

static void opens(int which, rlim_t value, const char *word)
{
	int said[2];
	pid_t pid = child(said);
	VIP_NIC_HANDLE nic;

	if (!pid) {
		limit(which, value);
		_exit(VipOpenNic((VIP_CHAR *)device, &nic) !=
		      VIP_ERROR_RESOURCE);
	}
	ended(pid, said[0], word);
}

/* The pointer of a function without a declaration, in an old program. */
static void unmapped(void *at, const char *word)
{
	int said[2], i;
	pid_t pid = child(said);
	VIP_NIC_HANDLE nic;
	VIP_MEM_HANDLE h;

	if (!pid) {
		OK(VipOpenNic((VIP_CHAR *)device, &nic));
		/* Said once, however often it is tried. */
		for (i = 0; i < 3; i++)
			must("VipRegisterMem",
			     VipRegisterMem(nic, at, 4096, NULL, &h),
			     VIP_INVALID_PARAMETER);
		_exit(0);
	}
	ended(pid, said[0], word);
}

static int next_file(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/*
 * A server that has a NIC and then no more room; a client finds it. files: how
 * many more it may open; the first one is to wait with.
 */
static void serves(int which, int files, const char *word)
{
	int said[2];
	pid_t pid = child(said);
	struct end e;
	VIP_RETURN r;

	if (!pid) {
		end_open(&e);
		end_vi(&e);
		limit(which, which == RLIMIT_NOFILE ?
		      (rlim_t)(next_file() + files) : 0);
		r = accept_on(&e, e.vi, "limits", SERVE_MS);
		_exit(r != (which == RLIMIT_NOFILE && !files ?
			    VIP_ERROR_RESOURCE : VIP_TIMEOUT));
	}
	end_open(&e);
	end_vi(&e);
	r = connect_to(&e, e.vi, "limits", TRY_MS);
	if (r == VIP_SUCCESS)
		fail("a server without room is connected", r);
	ended(pid, said[0], word);
	end_close(&e);
}

int test_limits(int rounds)
{
	void *page = mmap(NULL, 8192, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)rounds;
	unmapped(page, "is not memory that the program may write\n");
	if (sizeof(void *) == 8)
		unmapped((void *)(intptr_t)(int32_t)0xd5a0b000,
			 "a pointer cut to 32 bits");
	opens(RLIMIT_NOFILE, 6, "RLIMIT_NOFILE is 6\n");
	opens(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE is 0\n");
	if (!SANITIZED) {
		opens(RLIMIT_DATA, 1000000, "RLIMIT_DATA");
		opens(RLIMIT_DATA, 10000000, "RLIMIT_DATA");
	}
	serves(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE is 0\n");
	serves(RLIMIT_NOFILE, 0, "no name to listen at: too many open files: "
	       "RLIMIT_NOFILE is ");
	serves(RLIMIT_NOFILE, 1, "RLIMIT_NOFILE is ");
	return 0;
}

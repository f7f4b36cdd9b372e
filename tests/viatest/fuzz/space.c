// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What a program does to its own address space while its calls run: other
 * memory where some is registered, mappings that move, split, and go, and
 * children that get a part of them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include "calls.h"
#include "common/proc.h"

#define CHILD_CALLS	8u

/* Memory of other kinds at places of the space. */
void remap(struct rng *r)
{
	static const char *const paths[] = { "/proc/self/exe", "/dev/zero",
					     "/dev/null", "/etc/passwd" };
	size_t len = 4096u << rng_below(r, 5);
	uint8_t *at = self.space + (rng_below(r, SPACE - 65536) & ~4095u);
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int prot = PROT_READ | PROT_WRITE;

	switch (rng_below(r, 8)) {
	case 0:
		prot = PROT_READ;
		break;
	case 1:
		prot = PROT_NONE;
		break;
	case 2:
		flags = MAP_SHARED | MAP_ANONYMOUS;
		break;
	case 3:
		fd = open(paths[rng_below(r, 4)], O_RDONLY);
		flags = MAP_PRIVATE;
		break;
	case 4:
		fd = file(r);
		flags = MAP_SHARED;
		break;
	case 5:
		munmap(at, len);
		return;
	case 6:
		madvise(at, len, rng_below(r, 26));
		return;
	}
	mmap(at, len, prot, flags | MAP_FIXED, fd, 0);
	if (fd >= 0 && flags == MAP_PRIVATE)
		close(fd);
}

/* A control page, a mapping of queues, or a part of the space. */
static uint8_t *some_mapping(struct rng *r, size_t *len)
{
	uint32_t i = rng_below(r, MAPS);

	*len = 4096;
	switch (rng_below(r, 3)) {
	case 0:
		return self.ctl[rng_below(r, CTLS)];
	case 1:
		*len = self.map_size[i];
		return self.map[i];
	default:
		*len = 4096u << rng_below(r, 5);
		return self.space + (rng_below(r, SPACE - 65536) & ~4095u);
	}
}

/* It stays what it is: the agent refuses it, or it is only what it was. */
void pages(struct rng *r)
{
	static const int advice[] = { MADV_DOFORK, MADV_DONTFORK,
				      MADV_WIPEONFORK, MADV_KEEPONFORK,
				      MADV_DONTNEED, MADV_DODUMP };
	size_t len;
	uint8_t *at = some_mapping(r, &len);
	void *to;

	if (!at || !len)
		return;
	switch (rng_below(r, 12)) {
	case 0:		/* it moves, or grows, or both */
		mremap(at, len, rng_below(r, 2) ? len : 2 * len,
		       rng_below(r, 2) ? MREMAP_MAYMOVE : 0);
		break;
	case 1:		/* to where memory is that was registered */
		to = self.space + (rng_below(r, SPACE - 65536) & ~4095u);
		if (len <= 65536)
			mremap(at, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		break;
	case 2:		/* the end of the handle, if it was its control page */
		munmap(at, 4096);
		break;
	case 3:
		mprotect(at, 4096, rng_below(r, 4));
		break;
	default:
		madvise(at, len, advice[rng_below(r, sizeof(advice) /
						  sizeof(advice[0]))]);
	}
}

/*
 * A control page is not inherited, whatever the parent has asked for.  It is
 * known by what no queue's mapping is: never to be written.
 */
static void inherited(void)
{
	static char text[256 << 10];
	char *line, *rest = text, *ours = NULL;

	proc_read("/proc/self/smaps", text, sizeof(text));
	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, "-") && strstr(line, " 00:"))
			ours = strstr(line, "/dev/via_") ? line : NULL;
		if (!ours || strncmp(line, "VmFlags:", 8) ||
		    strstr(line, " mw"))
			continue;
		fprintf(stderr, "viatest fuzz: a control page is inherited: %s\n",
			ours);
		score_wrong(self.score);
		return;
	}
}

/* While other threads are in their calls. */
void forked(struct rng *r)
{
	uint32_t i;
	pid_t pid;

	if (!rng_one_in(r, 16))
		return;
	pid = fork();
	if (pid < 0)
		return;
	if (pid) {
		while (waitpid(pid, NULL, 0) < 0 &&
		       !score_stop(self.score))
			;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	self.stranger = 1;
	inherited();
	for (i = 0; i < CHILD_CALLS; i++)
		call_strange(r);
	_exit(0);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/chan.h"
#include "common/msg.h"
#include "step.h"

__attribute__((noinline)) void step_begin(unsigned int op)
{
	__asm__ volatile("" : : "r" (op));
}

__attribute__((noinline)) void step_end(int idle)
{
	__asm__ volatile("" : : "r" (idle));
}

void step_ready(void)
{
	/* Meanwhile the progress threads go to sleep, without a lock. */
	usleep(50000);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(77);
	raise(SIGSTOP);
}

void step_over(const struct step *s)
{
	step_begin(s->ops);
}

/* The text of each object, as the child has it mapped. */
#define TEXTS	512

static struct {
	unsigned long from, to;
	int part;
} texts[TEXTS];
static unsigned int ntexts;

static void read_maps(const struct step *s, pid_t pid)
{
	char path[64], line[512], perms[8], *name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "r");
	if (!f)
		die("%s: %s", path, strerror(errno));
	while (ntexts < TEXTS && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s", &texts[ntexts].from,
			   &texts[ntexts].to, perms) != 3 || perms[2] != 'x')
			continue;
		name = strchr(line, '/');
		texts[ntexts++].part = s->part(name ? name : "");
	}
	fclose(f);
}

static int part_of(const struct step *s, unsigned long rip)
{
	for (unsigned int i = 0; i < ntexts; i++)
		if (rip >= texts[i].from && rip < texts[i].to)
			return texts[i].part;
	return s->part("");
}

/*
 * Polls in vain, in a row: a thread was stopped amid its work.  All are let go
 * for a moment.
 */
#define STUCK	10
#define MOMENT	5000	/* us */

/* Every thread but the first one, which is stopped already. */
#define OTHERS_MAX	64

static pid_t others[OTHERS_MAX];
static unsigned int nothers;

static void stop(pid_t tid)
{
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) ||
	    waitpid(tid, NULL, __WALL) != tid)
		die("a thread cannot be stopped: %s", strerror(errno));
}

static void stop_others(pid_t pid)
{
	char path[64];
	struct dirent *e;
	pid_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		die("%s: %s", path, strerror(errno));
	while ((e = readdir(dir))) {
		tid = (pid_t)atoi(e->d_name);
		if (tid <= 0 || tid == pid)
			continue;
		if (nothers == OTHERS_MAX)
			die("more than %d threads", OTHERS_MAX);
		if (ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_EXITKILL))
			die("a thread cannot be traced: %s", strerror(errno));
		stop(tid);
		others[nothers++] = tid;
	}
	closedir(dir);
}

static void let_others_go(void)
{
	unsigned int i;

	for (i = 0; i < nothers; i++)
		ptrace(PTRACE_CONT, others[i], NULL, NULL);
	usleep(MOMENT);
	for (i = 0; i < nothers; i++)
		stop(others[i]);
}

static struct user_regs_struct regs;

/* One instruction; 0 when the child has ended. */
static int step(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) ||
	    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return 0;
	return !ptrace(PTRACE_GETREGS, pid, NULL, &regs);
}

static void count(struct step *s, pid_t pid)
{
	unsigned int op, row = 0;
	uint64_t n[STEP_PARTS];
	int part;

	while (step(pid)) {
		if (regs.rip != (unsigned long)step_begin)
			continue;
		op = (unsigned int)regs.rdi;
		if (op >= s->ops)
			return;
		memset(n, 0, sizeof(n));
		while (step(pid) && regs.rip != (unsigned long)step_end) {
			part = part_of(s, regs.rip);
			if (part >= 0)
				n[part]++;
		}
		if (regs.rdi) {
			s->idle++;
			if (!(++row % STUCK))
				let_others_go();
			continue;
		}
		row = 0;
		if (++s->calls[op] > s->first)
			for (int i = 0; i < STEP_PARTS; i++)
				s->counts[op][i] += n[i];
	}
}

int step_run(struct step *s, void (*child)(const struct step *s, void *arg),
	     void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		child(s, arg);
		_exit(0);
	}
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status)) {
		printf("cannot be traced\n");
		return WIFEXITED(status) && WEXITSTATUS(status) != 77 ? 1 : 77;
	}
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL)) {
		printf("cannot be traced: %s\n", strerror(errno));
		kill(pid, SIGKILL);
		return 77;
	}
	stop_others(pid);
	read_maps(s, pid);
	/* Should the child be stuck nevertheless. */
	alarm(270);
	count(s, pid);
	kill(pid, SIGKILL);
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "checks.h"
#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a worker is told to run; the tables are the same after a fork. */
struct order {
	const struct group *group;
	VIP_RELIABILITY_LEVEL level;
};

struct worker {
	pid_t pid;
	int pidfd;
	int orders;		/* struct order each */
	int answers;		/* one byte each: see enum answer */
};

enum answer { ANSWER_NONE, ANSWER_CLEAN, ANSWER_DIRTY };

static const struct harness_ops *ops;
/* Runs whatever needs no process of its own; there while pid is not 0. */
static struct worker shared;

void harness_init(const struct harness_ops *o)
{
	ops = o;
	/* A worker that died is noticed by its pidfd. */
	signal(SIGPIPE, SIG_IGN);
	verdicts = mmap(NULL, sizeof(*verdicts), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (verdicts == MAP_FAILED) {
		perror("viaconform: mmap");
		exit(2);
	}
}

static void to_cunit(bool ok, const char *text, const char *file, int line)
{
	CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, line, text, file, "",
				CU_FALSE);
}

static void work(int orders, int answers)
{
	struct order o;
	uint8_t a;

	while (read(orders, &o, sizeof(o)) == sizeof(o)) {
		checks_begin();
		ops->start(o.group, o.level);
		o.group->run();
		checks_about_nothing();
		a = ops->finish(o.group) ? ANSWER_CLEAN : ANSWER_DIRTY;
		verdicts->finished = 1;
		if (write(answers, &a, 1) != 1)
			break;
	}
	_exit(0);
}

static bool worker_start(struct worker *w)
{
	int orders[2], answers[2];

	fflush(NULL);
	if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		return false;
	w->pid = fork();
	if (w->pid == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		close(orders[1]);
		close(answers[0]);
		work(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	w->orders = orders[1];
	w->answers = answers[0];
	if (w->pid > 0) {
		/* Here too: it is killed by its group's number. */
		setpgid(w->pid, w->pid);
		w->pidfd = syscall(SYS_pidfd_open, w->pid, 0);
	}
	if (w->pid > 0 && w->pidfd >= 0)
		return true;
	perror("viaconform: a process to run groups in");
	exit(2);
}

/* Its wait status; whatever it left running goes with it. */
static int worker_end(struct worker *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };
	int status = 0;

	kill(-w->pid, SIGKILL);
	/* One that does not even die is left behind, and said so. */
	if (poll(&p, 1, 5000) > 0)
		waitpid(w->pid, &status, 0);
	else
		to_cunit(false, "the group's process cannot be killed",
			 "harness", 0);
	close(w->pidfd);
	close(w->orders);
	close(w->answers);
	w->pid = 0;
	return status;
}

/* Waits for its answer or its end; false when the deadline came first. */
static bool worker_wait(struct worker *w, unsigned int deadline_s,
			enum answer *answer)
{
	struct pollfd p[2] = {
		{ .fd = w->answers, .events = POLLIN },
		{ .fd = w->pidfd, .events = POLLIN },
	};
	uint8_t a;
	int n;

	*answer = ANSWER_NONE;
	do {
		n = poll(p, 2, deadline_s * 1000);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && (p[0].revents & POLLIN) && read(w->answers, &a, 1) == 1)
		*answer = a;
	return n != 0;
}

static void report(const struct group *g, bool in_time, int status,
		   unsigned int deadline_s)
{
	unsigned int i, n = verdicts->failed;
	char text[TEXT_LEN];

	for (i = 0; i < verdicts->passed; i++)
		to_cunit(true, "", "", 0);
	for (i = 0; i < n && i < MAX_FAILURES; i++)
		to_cunit(false, verdicts->failures[i].text,
			 verdicts->failures[i].file,
			 verdicts->failures[i].line);
	for (; i < n; i++)
		to_cunit(false, "one more failure", g->name, 0);
	if (!in_time) {
		snprintf(text, sizeof(text), "%s: no end after %u s; last check"
			 " %s:%u", g->name, deadline_s, verdicts->step_file,
			 verdicts->step);
		to_cunit(false, text, g->name, 0);
	} else if (!verdicts->finished) {
		snprintf(text, sizeof(text), "%s: died by %s %d after the check"
			 " at %s:%u", g->name,
			 WIFSIGNALED(status) ? "signal" : "exit",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
					       WEXITSTATUS(status),
			 verdicts->step_file, verdicts->step);
		to_cunit(false, text, g->name, 0);
	} else if (!verdicts->passed && !n) {
		to_cunit(false, "the group checked nothing", g->name, 0);
	}
}

bool harness_run(const struct group *g, VIP_RELIABILITY_LEVEL level,
		 unsigned int deadline_s)
{
	bool own = g->flags & (G_OWN | G_BARE), in_time;
	struct order o = { g, level };
	struct worker *w, single;
	enum answer answer;
	int status = 0;

	memset(verdicts, 0, sizeof(*verdicts));
	w = own ? &single : &shared;
	if ((own || !w->pid) && !worker_start(w)) {
		to_cunit(false, "no process to run it in", g->name, 0);
		return false;
	}
	if (write(w->orders, &o, sizeof(o)) != sizeof(o))
		perror("viaconform: pipe");
	in_time = worker_wait(w, deadline_s, &answer);
	if (own || answer != ANSWER_CLEAN || verdicts->failed)
		status = worker_end(w);
	report(g, in_time, status, deadline_s);
	return in_time && verdicts->finished && verdicts->passed &&
	       !verdicts->failed;
}

void harness_end(void)
{
	if (shared.pid)
		worker_end(&shared);
}

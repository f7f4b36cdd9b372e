// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "harness.h"
#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_FAILURES	24
#define TEXT_LEN	320

struct failure {
	int line;
	char file[64];
	char text[TEXT_LEN];
};

/* Written by the group's process and its threads, read by the parent. */
struct verdicts {
	unsigned int passed;
	unsigned int failed;
	unsigned int finished;
	unsigned int step;		/* line of the last check, for a hang */
	char step_file[64];
	struct failure failures[MAX_FAILURES];
};

static struct verdicts *verdicts;
static __thread char about_text[128];

static const char *const rc_names[] = {
	"SUCCESS", "NOT_DONE", "INVALID_PARAMETER", "ERROR_RESOURCE",
	"TIMEOUT", "REJECT", "INVALID_RELIABILITY_LEVEL", "INVALID_MTU",
	"INVALID_QOS", "INVALID_PTAG", "INVALID_RDMAREAD", "DESCRIPTOR_ERROR",
	"INVALID_STATE", "ERROR_NAMESERVICE", "NO_MATCH", "NOT_REACHABLE",
	"ERROR_NOT_SUPPORTED",
};

const char *rc_name(VIP_RETURN rc)
{
	if ((unsigned int)rc < ARRAY_SIZE(rc_names))
		return rc_names[rc];
	return "a value outside VIP_RETURN";
}

const char *level_name(VIP_RELIABILITY_LEVEL level)
{
	switch (level) {
	case VIP_SERVICE_UNRELIABLE:
		return "unreliable";
	case VIP_SERVICE_RELIABLE_DELIVERY:
		return "rd";
	case VIP_SERVICE_RELIABLE_RECEPTION:
		return "rr";
	}
	return "?";
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void pause_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

static const char *base(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static bool record(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static bool record(bool ok, const char *file, int line, const char *fmt, ...)
{
	struct failure *f;
	unsigned int n;
	va_list ap;
	int len;

	verdicts->step = line;
	snprintf(verdicts->step_file, sizeof(verdicts->step_file), "%s",
		 base(file));
	if (ok) {
		__atomic_fetch_add(&verdicts->passed, 1, __ATOMIC_RELAXED);
		return true;
	}
	n = __atomic_fetch_add(&verdicts->failed, 1, __ATOMIC_RELAXED);
	if (n >= MAX_FAILURES)
		return false;
	f = &verdicts->failures[n];
	f->line = line;
	snprintf(f->file, sizeof(f->file), "%s", base(file));
	va_start(ap, fmt);
	len = vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	if (about_text[0] && len < (int)sizeof(f->text))
		snprintf(f->text + len, sizeof(f->text) - len, " [%s]",
			 about_text);
	return false;
}

void about(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(about_text, sizeof(about_text), fmt, ap);
	va_end(ap);
}

bool check_(bool ok, const char *text, const char *file, int line)
{
	return record(ok, file, line, "%s", text);
}

bool check_rc_(VIP_RETURN rc, VIP_RETURN want, const char *text,
	       const char *file, int line)
{
	return record(rc == want, file, line, "%s gave %s, wanted %s", text,
		      rc_name(rc), rc_name(want));
}

bool check_eq_(unsigned long long got, unsigned long long want,
	       const char *text, const char *file, int line)
{
	return record(got == want, file, line, "%s: %llu (0x%llx), wanted "
		      "%llu (0x%llx)", text, got, got, want, want);
}

void give_up(void)
{
	verdicts->finished = 1;
	_exit(1);
}

void harness_init(void)
{
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

/* Waits for the child; false when the deadline came first. */
static bool wait_child(pid_t pid, unsigned int deadline_s, int *status)
{
	struct pollfd p = { .events = POLLIN };
	int n;

	p.fd = syscall(SYS_pidfd_open, pid, 0);
	if (p.fd < 0) {
		perror("viaconform: pidfd_open");
		exit(2);
	}
	do {
		n = poll(&p, 1, deadline_s * 1000);
	} while (n < 0 && errno == EINTR);
	if (n == 0) {
		kill(-pid, SIGKILL);
		/* One that does not even die is left behind, and said so. */
		n = poll(&p, 1, 5000);
		if (n > 0)
			waitpid(pid, status, 0);
		else
			to_cunit(false, "the group's process cannot be killed",
				 "harness", 0);
		close(p.fd);
		return false;
	}
	close(p.fd);
	waitpid(pid, status, 0);
	/* Whatever the group left running goes with it. */
	kill(-pid, SIGKILL);
	return true;
}

static void child(const struct group *g, VIP_RELIABILITY_LEVEL level,
		  void (*start)(const struct group *, VIP_RELIABILITY_LEVEL))
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	start(g, level);
	g->run();
	verdicts->finished = 1;
	_exit(0);
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

void harness_run(const struct group *g, VIP_RELIABILITY_LEVEL level,
		 unsigned int deadline_s, void (*start)(const struct group *,
							VIP_RELIABILITY_LEVEL))
{
	int status = 0;
	bool in_time;
	pid_t pid;

	memset(verdicts, 0, sizeof(*verdicts));
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		to_cunit(false, "fork failed", g->name, 0);
		return;
	}
	if (pid == 0)
		child(g, level, start);
	in_time = wait_child(pid, deadline_s, &status);
	report(g, in_time, status, deadline_s);
}

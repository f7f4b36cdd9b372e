// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viadsm: starts the nodes of a program that shares memory by libviadsm, waits
 * for them, and ends the others when one of them fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <viadsm.h>

#include "common/version.h"

#define LATER_SECONDS	5	/* for the others to say why they end */

struct job {
	unsigned int size, hosts;
	char *host[DSM_MAX_NODES];
	char *agent;
	bool stats;
	char name[32];
	pid_t pid[DSM_MAX_NODES];
	int fd[DSM_MAX_NODES];		/* statistics of a node */
	unsigned int left;
	int status;
	bool killed;			/* nodes, by this program */
};

static struct job job = { .size = 2, .agent = "ssh" };
static volatile sig_atomic_t stop;

static void usage(void)
{
	printf("Usage: viadsm [-n N] [OPTION...] PROGRAM [ARGUMENT...]\n\n"
	       "  -n, --nodes N        nodes of the program, 1 to %d (default: 2)\n"
	       "  -d, --dev NIC        VI NIC (default: shm:0, with -H that of each host)\n"
	       "  -m, --memory MIB     shared memory (default: 64)\n"
	       "  -s, --stats          what each node has done, at the end\n"
	       "  -H, --hosts LIST     hosts with commas between them, for node 0, 1, ...\n"
	       "  -a, --agent COMMAND  starts a command on a host (default: ssh)\n"
	       "      --faults WAY     mprotect (default) or userfaultfd\n"
	       "      --fetch WAY      pages by read (RDMA Read) or ask (messages);\n"
	       "                       default: by the NIC\n"
	       "      --spin LOOKS     looks for an event before a wait sleeps\n"
	       "  -h, --help           show this text\n"
	       "  -V, --version        " VERSION_HELP "\n", DSM_MAX_NODES);
}

static void fail(const char *format, ...)
	__attribute__((noreturn, format(printf, 1, 2)));
static void fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "viadsm: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(2);
}

static unsigned int number(const char *text, const char *what,
			   unsigned int least, unsigned int most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !*text || n < least || n > most)
		fail("%s: %s\n        give a number from %u to %u", what, text,
		     least, most);
	return n;
}

static void one_of(const char *text, const char *what, const char *a,
		   const char *b)
{
	if (strcmp(text, a) && strcmp(text, b))
		fail("%s: %s\n        give %s or %s", what, text, a, b);
}

static void split_hosts(char *text)
{
	for (char *h = strtok(text, ","); h; h = strtok(NULL, ",")) {
		if (job.hosts == DSM_MAX_NODES)
			fail("more than %d hosts\n        name each once",
			     DSM_MAX_NODES);
		job.host[job.hosts++] = h;
	}
}

static void set_number(const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

static const char *const passed[] = {
	"VIADSM_JOB", "VIADSM_SIZE", "VIADSM_RANK", "VIADSM_NIC",
	"VIADSM_MEMORY", "VIADSM_FAULTS", "VIADSM_FETCH", "VIADSM_SPIN",
	"VIADSM_HOSTS",
};

/* AGENT HOST env NAME=VALUE... PROGRAM ARGUMENT... */
static void run_by_agent(const char *host, char **program)
{
	enum { MOST = sizeof(passed) / sizeof(*passed) };
	char *words[16 + MOST + 256], *pair;
	size_t n = 0;

	for (char *w = strtok(job.agent, " "); w && n < 12;
	     w = strtok(NULL, " "))
		words[n++] = w;
	words[n++] = (char *)host;
	words[n++] = "env";
	for (size_t i = 0; i < MOST; i++)
		if (getenv(passed[i]) &&
		    asprintf(&pair, "%s=%s", passed[i], getenv(passed[i])) > 0)
			words[n++] = pair;
	for (int i = 0; program[i] && i < 256; i++)
		words[n++] = program[i];
	words[n] = NULL;
	execvp(words[0], words);
	fail("%s: %s\n        name another agent: -a COMMAND", words[0],
	     strerror(errno));
}

static void start(unsigned int rank, char **program)
{
	int pipes[2] = { -1, -1 };
	pid_t parent = getpid();

	if (job.stats && pipe2(pipes, O_CLOEXEC))
		fail("pipe: %s", strerror(errno));
	job.fd[rank] = pipes[0];
	job.pid[rank] = fork();
	if (job.pid[rank] < 0)
		fail("fork: %s\n        start fewer nodes", strerror(errno));
	if (job.pid[rank]) {
		close(pipes[1]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(2);
	set_number("VIADSM_RANK", rank);
	if (job.stats) {
		fcntl(pipes[1], F_SETFD, 0);
		set_number("VIADSM_STATS_FD", pipes[1]);
	}
	if (job.hosts)
		run_by_agent(job.host[rank % job.hosts], program);
	execvp(program[0], program);
	fail("%s: %s\n        give the path of a program", program[0],
	     strerror(errno));
}

static void kill_all(int sig)
{
	job.killed = true;
	for (unsigned int i = 0; i < job.size; i++)
		if (job.pid[i] > 0)
			kill(job.pid[i], sig);
}

static void on_signal(int sig)
{
	stop = sig;
}

/* The node that ended, or -1 where none has yet. */
static int reap(int flags, int *status)
{
	pid_t pid = waitpid(-1, status, flags);

	if (pid <= 0)
		return -1;
	for (unsigned int i = 0; i < job.size; i++)
		if (job.pid[i] == pid) {
			job.pid[i] = 0;
			job.left--;
			return i;
		}
	return -1;
}

static void ended(int rank, int status)
{
	if (WIFSIGNALED(status) && job.killed)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "viadsm: node %d ended by signal %d (%s)\n",
			rank, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		fprintf(stderr, "viadsm: node %d ended with status %d\n", rank,
			WEXITSTATUS(status));
	else
		return;
	if (!job.status)
		job.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
						   WEXITSTATUS(status);
}

/* The others have some seconds to say why they end, too. */
static void end_others(void)
{
	struct timespec pause = { .tv_nsec = 20000000 };
	int status, rank;

	for (int i = 0; job.left && i < LATER_SECONDS * 50; i++) {
		rank = reap(WNOHANG, &status);
		if (rank >= 0)
			ended(rank, status);
		else
			nanosleep(&pause, NULL);
		if (stop || i == LATER_SECONDS * 25)
			kill_all(SIGTERM);
	}
	if (job.left)
		kill_all(SIGKILL);
	while (job.left && reap(0, &status) >= 0)
		;
}

static void wait_all(void)
{
	int status, rank;

	while (job.left && !job.status && !stop) {
		rank = reap(0, &status);
		if (rank >= 0)
			ended(rank, status);
		else if (errno == ECHILD)
			break;
	}
	if (stop) {
		kill_all(SIGTERM);
		job.status = 128 + stop;
	}
	if (job.left)
		end_others();
}

static void print_stats(void)
{
	struct dsm_stats s;

	fprintf(stderr, "node   faults:r        w  fetches    diffs  changed KiB     sent KiB messages     ms: faults   locks barriers\n");
	for (unsigned int i = 0; i < job.size; i++) {
		if (read(job.fd[i], &s, sizeof(s)) != sizeof(s)) {
			fprintf(stderr, "%4u   none: it did not come to dsm_exit()\n",
				i);
			continue;
		}
		fprintf(stderr, "%4u %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8"
			PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64
			" %14" PRIu64 " %7" PRIu64 " %8" PRIu64 "\n",
			i, s.read_faults, s.write_faults, s.fetches, s.diffs,
			s.changed_bytes / 1024, s.sent_bytes / 1024, s.messages,
			s.fault_ns / 1000000, s.lock_ns / 1000000,
			s.barrier_ns / 1000000);
	}
}

static void prepare(void)
{
	char list[4096] = "";

	if (job.hosts && job.stats)
		fail("-s shows nodes of this host alone\n        leave out -s, or -H");
	if (job.hosts)
		for (unsigned int i = 0; i < job.size; i++)
			snprintf(list + strlen(list),
				 sizeof(list) - strlen(list), "%s%s",
				 i ? "," : "", job.host[i % job.hosts]);
	else if (!getenv("VIADSM_NIC"))
		setenv("VIADSM_NIC", "shm:0", 1);
	setenv("VIADSM_HOSTS", list, 1);
	snprintf(job.name, sizeof(job.name), "dsm%lx.%x", (long)time(NULL),
		 getpid());
	setenv("VIADSM_JOB", job.name, 1);
	set_number("VIADSM_SIZE", job.size);
}

enum { OPT_FAULTS = 256, OPT_FETCH, OPT_SPIN };

static const struct option longs[] = {
	{ "nodes", required_argument, NULL, 'n' },
	{ "dev", required_argument, NULL, 'd' },
	{ "memory", required_argument, NULL, 'm' },
	{ "stats", no_argument, NULL, 's' },
	{ "hosts", required_argument, NULL, 'H' },
	{ "agent", required_argument, NULL, 'a' },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "fetch", required_argument, NULL, OPT_FETCH },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "help", no_argument, NULL, 'h' },
	VERSION_LONG,
	{ }
};

static void take_option(int c)
{
	switch (c) {
	case 'n':
		job.size = number(optarg, "nodes", 1, DSM_MAX_NODES);
		break;
	case 'm':
		set_number("VIADSM_MEMORY",
			   number(optarg, "memory", 1, 65536));
		break;
	case 'd': setenv("VIADSM_NIC", optarg, 1); break;
	case 's': job.stats = true; break;
	case 'H': split_hosts(optarg); break;
	case 'a': job.agent = optarg; break;
	case OPT_FAULTS:
		one_of(optarg, "faults", "mprotect", "userfaultfd");
		setenv("VIADSM_FAULTS", optarg, 1);
		break;
	case OPT_FETCH:
		one_of(optarg, "fetch", "ask", "read");
		setenv("VIADSM_FETCH", optarg, 1);
		break;
	case OPT_SPIN:
		set_number("VIADSM_SPIN",
			   number(optarg, "spin", 0, 100000000));
		break;
	case 'h': usage(); exit(0);
	case OPT_VERSION: print_version("viadsm");
	default: fail("see viadsm -h");
	}
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_signal };
	int c;

	while ((c = getopt_long(argc, argv, "+n:d:m:sH:a:hV", longs,
				NULL)) != -1)
		take_option(c);
	if (optind == argc)
		fail("no program\n        see viadsm -h");
	prepare();
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	for (unsigned int i = 0; i < job.size; i++) {
		start(i, argv + optind);
		job.left++;
	}
	wait_all();
	if (job.stats)
		print_stats();
	return job.status;
}

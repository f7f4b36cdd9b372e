// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viadsm: starts the nodes of a program that shares memory by libviadsm, waits
 * for them, and ends the others when one of them fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <viadsm.h>

#include "common/version.h"

#define SAY_SECONDS	2	/* for others to say why they end */
#define WAIT_SECONDS	5	/* for nodes to end, once they were asked */
#define AGENT_SECONDS	2	/* for agents, behind their nodes */

struct job {
	unsigned int size, hosts;
	char *host[DSM_MAX_NODES];
	char *agent;
	char self[PATH_MAX];
	bool stats, keep;
	pid_t pid[DSM_MAX_NODES];
	int fd[DSM_MAX_NODES];		/* statistics of a node */
	int rope[DSM_MAX_NODES];	/* standard input of an agent */
	unsigned int left;
	int status;
	bool stopped;			/* this program, by a signal */
	bool killed;			/* nodes, by this program */
	sigset_t signals, before;	/* blocked now: wait_signal() */
};

static struct job job = { .size = 2, .agent = "ssh" };

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
	       "      --keep           for agents: the program ends with its input\n"
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
	if (!job.hosts)
		fail("hosts: there is none in the list\n        name one or more, with commas between them");
}

static void set_number(const char *name, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	setenv(name, text, 1);
}

static const char *const passed[] = {
	"VIADSM_SIZE", "VIADSM_RANK", "VIADSM_NIC",
	"VIADSM_MEMORY", "VIADSM_FAULTS", "VIADSM_FETCH", "VIADSM_SPIN",
	"VIADSM_HOSTS",
};

/* The words of a command: a list that grows, with NULL at its end. */
struct words {
	char **word;
	size_t count;
};

static void add_word(struct words *w, const char *word)
{
	char *copy = strdup(word);
	char **more = realloc(w->word, (w->count + 2) * sizeof(*more));

	if (!copy || !more)
		fail("no memory for a command\n        give it fewer words");
	more[w->count++] = copy;
	more[w->count] = NULL;
	w->word = more;
}

/* As one word of a shell, since ssh joins its words for one. */
static void add_quoted(struct words *w, const char *word)
{
	char *quoted, *to;

	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789@%+=:,./_-")]) {
		add_word(w, word);
		return;
	}
	quoted = malloc(4 * strlen(word) + 3);
	if (!quoted)
		fail("no memory for a command\n        give it fewer words");
	to = quoted;
	*to++ = '\'';
	for (; *word; word++)
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	strcpy(to, "'");
	add_word(w, quoted);
	free(quoted);
}

/* AGENT HOST env NAME=VALUE... viadsm --keep PROGRAM ARGUMENT... */
static void run_by_agent(const char *host, char **program)
{
	struct words words = { 0 };
	char *pair;

	for (char *w = strtok(job.agent, " "); w; w = strtok(NULL, " "))
		add_word(&words, w);
	if (!words.count)
		fail("agent: it has no name\n        name another agent: -a COMMAND");
	add_word(&words, host);
	add_word(&words, "env");
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		if (getenv(passed[i]) &&
		    asprintf(&pair, "%s=%s", passed[i], getenv(passed[i])) > 0)
			add_quoted(&words, pair);
	add_quoted(&words, job.self);
	add_word(&words, "--keep");
	for (; *program; program++)
		add_quoted(&words, *program);
	execvp(words.word[0], words.word);
	fail("%s: %s\n        name another agent: -a COMMAND", words.word[0],
	     strerror(errno));
}

static void run_program(char **program)
{
	execvp(program[0], program);
	fail("%s: %s\n        give the path of a program", program[0],
	     strerror(errno));
}

/* A child's standard input: `fd`, or nothing where that is -1. */
static void set_input(int fd)
{
	if (fd < 0)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		fail("standard input: %s", strerror(errno));
}

/* The agent's standard input is the job's name, which ps(1) shall not show, and
 * ends when this program ends or says so: viadsm --keep, on the other host,
 * ends its node then.
 */
static int new_rope(unsigned int rank)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) ||
	    dprintf(ends[1], "%s\n", getenv("VIADSM_JOB")) < 0)
		fail("pipe: %s", strerror(errno));
	job.rope[rank] = ends[1];
	return ends[0];
}

static pid_t start_process(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		fail("fork: %s\n        start fewer nodes", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(2);
	sigprocmask(SIG_SETMASK, &job.before, NULL);
	return 0;
}

static void start(unsigned int rank, char **program)
{
	int pipes[2] = { -1, -1 }, input = -1;

	if (job.stats && pipe2(pipes, O_CLOEXEC))
		fail("pipe: %s", strerror(errno));
	if (job.stats)	/* a child of the node may keep the other end */
		fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	job.fd[rank] = pipes[0];
	job.rope[rank] = -1;
	if (job.hosts)
		input = new_rope(rank);
	job.pid[rank] = start_process();
	if (job.pid[rank]) {
		if (pipes[1] >= 0)
			close(pipes[1]);
		if (input >= 0)
			close(input);
		return;
	}
	set_number("VIADSM_RANK", rank);
	if (job.hosts) {
		set_input(input);
		run_by_agent(job.host[rank % job.hosts], program);
	}
	if (rank)
		set_input(-1);
	if (job.stats) {
		fcntl(pipes[1], F_SETFD, 0);
		set_number("VIADSM_STATS_FD", pipes[1]);
	}
	run_program(program);
}

static void kill_all(int sig)
{
	job.killed = true;
	for (unsigned int i = 0; i < job.size; i++)
		if (job.pid[i] > 0)
			kill(job.pid[i], sig);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* SIGINT, SIGTERM or SIGHUP, when one has come; 0 for the end of a child, or of the
 * seconds. For ever, if these are negative.
 */
static int wait_signal(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };
	int sig;

	time.tv_nsec = (seconds - (double)time.tv_sec) * 1e9;
	do
		sig = sigtimedwait(&job.signals, NULL,
				   seconds < 0 ? NULL : &time);
	while (sig < 0 && errno == EINTR);
	return sig < 0 || sig == SIGCHLD ? 0 : sig;
}

/* Nodes of this host by a signal; those elsewhere end with their agents'
 * standard input.
 */
static void ask_to_end(void)
{
	job.killed = true;
	if (!job.hosts)
		kill_all(SIGTERM);
	for (unsigned int i = 0; i < job.size; i++) {
		if (job.rope[i] >= 0)
			close(job.rope[i]);
		job.rope[i] = -1;
	}
}

/* The node that ended, or -1 where none has yet. */
static int reap(int *status)
{
	pid_t pid;

	while ((pid = waitpid(-1, status, WNOHANG)) > 0)
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
	if (job.killed && (WIFSIGNALED(status) ||
			   WEXITSTATUS(status) == 128 + SIGTERM ||
			   WEXITSTATUS(status) == 128 + SIGKILL))
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

static void reap_all(void)
{
	int status, rank;

	while (job.left && (rank = reap(&status)) >= 0)
		ended(rank, status);
}

/* Until all have ended, these seconds are over, or a signal comes; where they
 * are negative, until one node has failed.
 */
static bool all_end_in(double seconds)
{
	double end = now() + seconds, left;
	int sig;

	for (;;) {
		reap_all();
		left = end - now();
		if (!job.left)
			return true;
		if (seconds < 0 ? job.status : left <= 0)
			return false;
		sig = wait_signal(seconds < 0 ? -1 : left);
		if (!sig)
			continue;
		job.stopped = true;
		if (!job.status)
			job.status = 128 + sig;
		return false;
	}
}

/* When a node has failed the others have some seconds to say why they end.
 * A second signal ends them at once.
 */
static void wait_all(void)
{
	if (all_end_in(-1) || (!job.stopped && all_end_in(SAY_SECONDS)))
		return;
	ask_to_end();
	if (all_end_in(WAIT_SECONDS + (job.hosts ? AGENT_SECONDS : 0)))
		return;
	kill_all(SIGKILL);
	while (job.left) {
		wait_signal(1);
		reap_all();
	}
}

/* Block signals, which wait_signal() takes. nohup stays as it is. */
static void block_signals(void)
{
	struct sigaction hangup;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&job.signals);
	sigaddset(&job.signals, SIGINT);
	sigaddset(&job.signals, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaddset(&job.signals, SIGHUP);
	sigaddset(&job.signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &job.signals, &job.before);
}

/* True: standard input is at its end, or a signal asks to end. */
static bool told_to_end(int signals, int ms)
{
	struct pollfd fd[2] = {
		{ .fd = ms < 0 ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct signalfd_siginfo info = { .ssi_signo = SIGCHLD };
	char c;

	if (poll(fd, 2, ms) <= 0)
		return false;
	if (fd[1].revents && read(signals, &info, sizeof(info)) > 0 &&
	    info.ssi_signo != SIGCHLD)
		return true;
	return fd[0].revents && read(STDIN_FILENO, &c, 1) <= 0;
}

static void read_job(void)
{
	char name[64] = "";
	size_t n = 0;

	while (n < sizeof(name) && read(STDIN_FILENO, name + n, 1) == 1 &&
	       name[n] != '\n')
		n++;
	if (n == sizeof(name) || name[n] != '\n')
		fail("there is no standard input, whose end ends the node\n        use an agent that passes it on: -a COMMAND");
	name[n] = 0;
	setenv("VIADSM_JOB", name, 1);
}

/* On another host: the program ends when standard input does, since signals do
 * not come through ssh. It and its children are a process group.
 */
static int keep(char **program)
{
	int signals = signalfd(-1, &job.signals, SFD_CLOEXEC), status;
	double end = 0;
	pid_t pid;

	if (signals < 0)
		fail("signalfd: %s", strerror(errno));
	read_job();
	pid = start_process();
	setpgid(pid, pid);
	if (!pid) {
		set_input(-1);
		run_program(program);
	}
	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (end > 0 && now() >= end)
			kill(-pid, SIGKILL);
		if (!told_to_end(signals, end > 0 ? 100 : -1) || end > 0)
			continue;
		kill(-pid, SIGTERM);
		end = now() + WAIT_SECONDS;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (end <= 0)
		fprintf(stderr, "viadsm: node %s ended by signal %d (%s)\n",
			getenv("VIADSM_RANK"), WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return 128 + WTERMSIG(status);
}

static void print_stats(void)
{
	struct dsm_stats s;

	fprintf(stderr, "node   faults:r        w  fetches    diffs  bytes: changed    sent home     all sent messages     ms: faults   locks barriers\n");
	for (unsigned int i = 0; i < job.size; i++) {
		if (read(job.fd[i], &s, sizeof(s)) != sizeof(s)) {
			fprintf(stderr, "%4u   none: it did not come to dsm_exit()\n",
				i);
			continue;
		}
		fprintf(stderr, "%4u %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8"
			PRIu64 " %15" PRIu64 " %12" PRIu64 " %12" PRIu64
			" %8" PRIu64 " %14" PRIu64 " %7" PRIu64 " %8" PRIu64 "\n",
			i, s.read_faults, s.write_faults, s.fetches, s.diffs,
			s.changed_bytes, s.diff_bytes, s.sent_bytes, s.messages,
			s.fault_ns / 1000000, s.lock_ns / 1000000,
			s.barrier_ns / 1000000);
	}
}

static void set_hosts(void)
{
	size_t bytes = 1;
	char *list, *to;

	for (unsigned int i = 0; i < job.size && job.hosts; i++)
		bytes += strlen(job.host[i % job.hosts]) + 1;
	to = list = calloc(1, bytes);
	if (!list)
		fail("no memory for the list of hosts");
	for (unsigned int i = 0; i < job.size && job.hosts; i++)
		to += sprintf(to, "%s%s", i ? "," : "",
			      job.host[i % job.hosts]);
	setenv("VIADSM_HOSTS", list, 1);
	free(list);
}

/* A name that nobody can guess. */
static void set_job(void)
{
	unsigned char random[16];
	char name[2 + 2 * sizeof(random)] = "d";

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		fail("getrandom: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		sprintf(name + 1 + 2 * i, "%02x", random[i]);
	setenv("VIADSM_JOB", name, 1);
}

static void prepare(void)
{
	if (job.hosts && job.stats)
		fail("-s shows nodes of this host alone\n        leave out -s, or -H");
	if (readlink("/proc/self/exe", job.self, sizeof(job.self) - 1) < 0)
		fail("/proc/self/exe: %s\n        mount /proc", strerror(errno));
	if (!job.hosts && !getenv("VIADSM_NIC"))
		setenv("VIADSM_NIC", "shm:0", 1);
	set_hosts();
	set_job();
	set_number("VIADSM_SIZE", job.size);
	unsetenv("VIADSM_STATS_FD");
}

enum { OPT_FAULTS = 256, OPT_FETCH, OPT_SPIN, OPT_KEEP };

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
	{ "keep", no_argument, NULL, OPT_KEEP },
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
	case OPT_KEEP: job.keep = true; break;
	case 'h': usage(); exit(0);
	case OPT_VERSION: print_version("viadsm");
	default: fail("see viadsm -h");
	}
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "+n:d:m:sH:a:hV", longs,
				NULL)) != -1)
		take_option(c);
	if (optind == argc)
		fail("no program\n        see viadsm -h");
	block_signals();
	if (job.keep)
		return keep(argv + optind);
	prepare();
	for (unsigned int i = 0; i < job.size; i++) {
		start(i, argv + optind);
		job.left++;
	}
	wait_all();
	if (job.stats)
		print_stats();
	return job.status;
}

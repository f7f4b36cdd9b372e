// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * verbsconform - does an RDMA device do what verbs promise?
 *
 * Every test is a process of its own, so that whatever it leaves is gone, and
 * a hang costs a deadline.  A server's end of a test is one, too.
 */
#include "suite.h"
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_S	60
#define PORT		"18515"

struct env env = { .scale = 1, .port = PORT };
struct side near = { .sock = -1 }, far = { .sock = -1 };

static const struct file *const files[] = {
	&file_connect, &file_refuse, &file_number, &file_data, &file_queue, &file_error,
	&file_access, &file_cq, &file_srq, &file_event, &file_process,
};

/* What there is only with a connection manager, and what only without. */
static const char *const of_cm[] = {
	"connect.data*", "connect.wildcard*", "connect.six", "connect.ports",
	"connect.depths", "refuse.*", "process.peer", "queue.early", NULL
};
static const char *const of_number[] = { "number.*", NULL };

/* Of the test that runs; written in its process. */
static struct verdict {
	unsigned int passed, failed, skipped, finished;
	char why[128];
} *verdict;

bool check(bool ok, const char *file, int line, const char *text)
{
	const char *base = strrchr(file, '/');

	__atomic_add_fetch(ok ? &verdict->passed : &verdict->failed, 1,
			   __ATOMIC_RELAXED);
	if (!ok)
		printf("  %s:%d: %s\n", base ? base + 1 : file, line, text);
	return ok;
}

bool check_eq(int64_t got, int64_t want, const char *file, int line,
	      const char *text)
{
	char s[256];

	snprintf(s, sizeof(s), "%s: %lld, wanted %lld", text, (long long)got,
		 (long long)want);
	return check(got == want, file, line, s);
}

void skip(const char *why)
{
	verdict->skipped = 1;
	snprintf(verdict->why, sizeof(verdict->why), "%s", why);
}

static bool all(int sock, void *data, size_t n, bool out)
{
	ssize_t k;
	char *p;

	for (p = data; n; p += k, n -= k) {
		k = out ? send(sock, p, n, MSG_NOSIGNAL) :
			  recv(sock, p, n, MSG_WAITALL);
		if (k <= 0)
			return false;
	}
	return true;
}

int ask(struct side *s, struct order *o, struct answer *a)
{
	o->magic = ORDER_MAGIC;
	if (s->end) {
		end_do(s->end, o, a);
	} else if (!all(s->sock, o, sizeof(*o), true) ||
		   !all(s->sock, a, sizeof(*a), false)) {
		check(false, "server", 0, "the far end is gone");
		exit(1);
	}
	return a->rc;
}

static int tcp(const char *host, bool server)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = server ? AI_PASSIVE : 0 }, *list;
	int sock = -1, one = 1, rc;

	rc = getaddrinfo(host, env.port, &hints, &list);
	if (rc) {
		fprintf(stderr, "verbsconform: %s: %s\n", host,
			gai_strerror(rc));
		return -1;
	}
	sock = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server)
		setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (server)
		rc = bind(sock, list->ai_addr, list->ai_addrlen) ||
		     listen(sock, 16);
	else
		rc = connect(sock, list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
	if (!rc)
		return sock;
	fprintf(stderr, "verbsconform: %s port %s: %m\n", host ? host : "any",
		env.port);
	close(sock);
	return -1;
}

static bool open_one(struct side *s, const char *address)
{
	struct order o = { .op = OP_OPEN };
	struct answer a;

	snprintf(o.address, sizeof(o.address), "%s", address);
	if (ask(s, &o, &a)) {
		fprintf(stderr, "verbsconform: no RDMA device has address %s: "
			"%s\n", address, strerror(-a.rc));
		return false;
	}
	if (s == &near)
		env.limits = a.limits;
	return true;
}

bool sides_open(void)
{
	near.end = calloc(1, sizeof(*near.end));
	if (!env.host)
		far.end = calloc(1, sizeof(*far.end));
	else
		far.sock = tcp(env.host, false);
	if (!near.end || !(far.end || far.sock >= 0))
		return false;
	return open_one(&near, env.near) && open_one(&far, env.far);
}

/* Orders of one test, until it ends. */
static void serve(int sock)
{
	struct end *e = calloc(1, sizeof(*e));
	struct answer a;
	struct order o;

	while (e && all(sock, &o, sizeof(o), false) && o.magic == ORDER_MAGIC) {
		end_do(e, &o, &a);
		if (!all(sock, &a, sizeof(a), true))
			break;
	}
}

static int server(void)
{
	int sock = tcp(NULL, true), one = 1, peer;

	if (sock < 0)
		return 2;
	signal(SIGCHLD, SIG_IGN);
	printf("verbsconform: serving on port %s\n", env.port);
	fflush(stdout);
	for (;;) {
		peer = accept4(sock, NULL, NULL, SOCK_CLOEXEC);
		if (peer < 0)
			continue;
		setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (!fork()) {
			close(sock);
			serve(peer);
			_exit(0);
		}
		close(peer);
	}
}

static void child(const struct group *g)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (check(sides_open(), "suite", 0, "both ends are there"))
		g->run();
	verdict->finished = 1;
	fflush(stdout);
	_exit(0);
}

/* False: it failed. */
static bool run(const struct group *g)
{
	int deadline = (g->deadline_s ? g->deadline_s : DEADLINE_S) *
		       env.scale, status = 0, pidfd;
	pid_t pid;

	memset(verdict, 0, sizeof(*verdict));
	fflush(stdout);
	pid = fork();
	if (!pid)
		child(g);
	setpgid(pid, pid);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (!end_wait(pidfd, deadline * 1000)) {
		printf("  no end after %d s\n", deadline);
		verdict->failed++;
	}
	kill(-pid, SIGKILL);
	/* One that does not even die is told and left behind. */
	if (end_wait(pidfd, 20000))
		waitpid(pid, &status, 0);
	else
		printf("  the test's process cannot be killed\n");
	close(pidfd);
	if (!verdict->finished && WIFSIGNALED(status) &&
	    WTERMSIG(status) != SIGKILL)
		printf("  died by signal %d\n", WTERMSIG(status));
	if (!verdict->finished)
		verdict->failed++;
	if (verdict->failed)
		printf("FAILED %s: %s\n", g->name, g->what);
	else if (verdict->skipped)
		printf("skipped %s: %s\n", g->name, verdict->why);
	else if (env.verbose)
		printf("passed %s (%u checks)\n", g->name, verdict->passed);
	if (!verdict->failed && !verdict->skipped && !verdict->passed) {
		printf("FAILED %s: it checked nothing\n", g->name);
		return false;
	}
	return !verdict->failed;
}

static bool wanted(const struct group *g, char **patterns, int n,
		   const char *except)
{
	char copy[256], *word, *rest = NULL;
	int i;

	if (except) {
		snprintf(copy, sizeof(copy), "%s", except);
		for (word = strtok_r(copy, ",", &rest); word;
		     word = strtok_r(NULL, ",", &rest))
			if (!fnmatch(word, g->name, 0))
				return false;
	}
	for (i = 0; i < n; i++)
		if (!fnmatch(patterns[i], g->name, 0) ||
		    !strncmp(patterns[i], g->name, strlen(patterns[i])))
			return true;
	return !n;
}

static bool in(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!fnmatch(*list, name, 0))
			return true;
	return false;
}

static int run_all(char **patterns, int n, const char *except, bool list)
{
	unsigned int passed = 0, failed = 0, skipped = 0;
	const struct group *g;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		for (j = 0; j < files[i]->count; j++) {
			g = &files[i]->groups[j];
			if (!wanted(g, patterns, n, except) ||
			    in(g->name, env.number ? of_cm : of_number))
				continue;
			if (list)
				printf("%-24s %s\n", g->name, g->what);
			else if (!run(g))
				failed++;
			else if (verdict->skipped)
				skipped++;
			else
				passed++;
		}
	}
	if (list)
		return 0;
	printf("verbsconform: %s, %s: %u passed, %u failed, %u skipped\n",
	       env.near, env.host ? env.host : env.far, passed, failed,
	       skipped);
	return failed || !(passed + skipped);
}

static void usage(FILE *f)
{
	fputs("usage: verbsconform [options] NEAR[,FAR] [TEST...]\n"
	      "       verbsconform --server [--port P]\n"
	      "NEAR and FAR are IP addresses of RDMA devices, or devices and\n"
	      "GIDs, as roce0#0, to connect by numbers; both ends are in\n"
	      "this process, at one address when there is one. TEST is a shell\n"
	      "pattern or the start of a name.\n"
	      "  --host HOST       the far end is that of a server there\n"
	      "  --six NEAR,FAR    addresses of IPv6, for the tests of them\n"
	      "  --port P          of the server: TCP, " PORT " by default\n"
	      "  --codes           errors have the codes that RoCE gives, which\n"
	      "                    an iWARP device need not know\n"
	      "  --except P[,P]    not these tests\n"
	      "  --timeout-scale N for slow kernels\n"
	      "  -l                list the tests\n"
	      "  -v                name those that passed\n", f);
}

static bool two(char *text, const char **a, const char **b)
{
	char *comma = strchr(text, ',');

	if (comma)
		*comma++ = 0;
	*a = text;
	*b = comma ? comma : text;
	return **a && **b;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "server", no_argument, NULL, 's' },
		{ "host", required_argument, NULL, 'H' },
		{ "six", required_argument, NULL, '6' },
		{ "port", required_argument, NULL, 'p' },
		{ "codes", no_argument, NULL, 'c' },
		{ "except", required_argument, NULL, 'X' },
		{ "timeout-scale", required_argument, NULL, 'T' },
		{ "hold", required_argument, NULL, 'O' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct rlimit files_open = { 1 << 14, 1 << 14 };
	bool serving = false, list = false, bad = false;
	const char *except = NULL, *what = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "lvh", longs, NULL)) != -1) {
		switch (c) {
		case 's': serving = true; break;
		case 'H': env.host = optarg; break;
		case '6': bad |= !two(optarg, &env.near6, &env.far6); break;
		case 'p': env.port = optarg; break;
		case 'c': env.codes = true; break;
		case 'O': what = optarg; break;
		case 'X': except = optarg; break;
		case 'T': env.scale = strtoul(optarg, NULL, 0); break;
		case 'l': list = true; break;
		case 'v': env.verbose = true; break;
		case 'h': usage(stdout); return 0;
		default: bad = true;
		}
	}
	bad |= !env.scale || env.scale > 100;
	if (!bad && !serving && !list)
		bad = optind == argc ||
		      !two(argv[optind++], &env.near, &env.far);
	if (bad) {
		usage(stderr);
		return 2;
	}
	if (env.near)
		env.number = end_is_number(env.near);
	verdict = mmap(NULL, sizeof(*verdict), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (verdict == MAP_FAILED) {
		perror("verbsconform: mmap");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* A thousand connections have three descriptors each. */
	setrlimit(RLIMIT_NOFILE, &files_open);
	if (serving)
		return server();
	if (what)
		return hold(what);
	return run_all(argv + optind, argc - optind, except, list);
}

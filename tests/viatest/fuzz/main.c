// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz: any call with any argument on a VI NIC's device node, by several
 * processes, some of which are killed on the way, beside one that does honest
 * work and watches its memory.
 *
 * Ends with status 0 when the victim saw nothing wrong; what the kernel has to
 * say is for the caller to read.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "viatest.h"
#include "abi.h"
#include "race.h"

#define LIFE_OPS	20000u		/* of one attacker */
#define ATTACKERS	16u

static struct {
	const char *device;
	uint64_t ops, seed;
	unsigned int attackers, threads, user;
	int guided, memory, limits, race, partner, churn;
	uint8_t host[8];
	int has_host;
} opt = { .device = "/dev/via_lo", .ops = 100000, .attackers = 3,
	  .threads = 3 };

static const char help[] =
	"usage: viatest fuzz [-d DEVICE] [-n CALLS] [-s SEED] [-p PROCESSES] [-t THREADS]\n"
	"               [-u ID] [--guided]\n"
	"       viatest fuzz [-d DEVICE] --memory | --limits\n"
	"       viatest fuzz [-d DEVICE] [-n ROUNDS] [-s SEED] [-H ADDRESS] [-o WORD] --race\n"
	"       viatest fuzz [-d DEVICE] [-s SEED] -H ADDRESS --race-partner\n"
	"       viatest fuzz [-d OTHER] [-n TIMES] [-s SEED] --churn\n"
	"Calls a VI NIC's device node in every way it can be called, and checks\n"
	"that a process beside it is not disturbed.  CALLS is a total (100000).\n"
	"  -u ID      as the user and group of that number\n"
	"  --guided   by what the calls reach in the kernel, which has KCOV\n"
	"  --memory   registers every kind of memory instead\n"
	"  --limits   reaches every limit instead\n"
	"  --race     threads race on one VI's attempts to connect instead, in\n"
	"             rounds: with a second handle, or with the partner of -H;\n"
	"             -o WORD: only rounds whose plot has it in its name\n"
	"  --race-partner   that partner\n"
	"  --churn    a NIC of its own comes and goes instead, so many times\n";

static const struct option longs[] = {
	{ "guided", no_argument, &opt.guided, 1 },
	{ "memory", no_argument, &opt.memory, 1 },
	{ "limits", no_argument, &opt.limits, 1 },
	{ "help", no_argument, NULL, 'h' },
	{ "race", no_argument, &opt.race, 1 },
	{ "churn", no_argument, &opt.churn, 1 },
	{ "race-partner", no_argument, &opt.partner, 1 },
	{ 0 },
};

static uint64_t number(const char *s, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(s, &end, 0);
	if (errno || end == s || *end || *s == '-' || n < least || n > most) {
		fprintf(stderr, "viatest fuzz: '%s' is no number from %llu to %llu\n",
			s, (unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return n;
}

static void host(const char *s)
{
	unsigned int b[6], i;

	opt.has_host = sscanf(s, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2],
			      &b[3], &b[4], &b[5]) == 6;
	for (i = 0; i < 6 && opt.has_host; i++)
		opt.host[i] = b[i];
	if (!opt.has_host) {
		fprintf(stderr, "viatest fuzz: '%s' is no hardware address\n", s);
		exit(2);
	}
}

static void options(int argc, char **argv)
{
	static char device[80];
	int c;

	opt.seed = time(NULL);
	while ((c = getopt_long(argc, argv, "d:n:s:p:t:u:H:o:h", longs, NULL)) !=
	       -1) {
		switch (c) {
		case 0:
			break;
		case 'u':
			opt.user = number(optarg, 1, UINT32_MAX - 1);
			break;
		case 'o':
			race.only = optarg;
			break;
		case 'H':
			host(optarg);
			break;
		case 'd':
			snprintf(device, sizeof(device), "%s%s",
				 *optarg == '/' ? "" : "/dev/", optarg);
			opt.device = device;
			break;
		case 'n':
			opt.ops = number(optarg, 1, UINT64_MAX / 2);
			break;
		case 's':
			opt.seed = number(optarg, 0, UINT64_MAX);
			break;
		case 'p':
			opt.attackers = number(optarg, 1, ATTACKERS);
			break;
		case 't':
			opt.threads = number(optarg, 1, 15);
			break;
		default:
			fputs(help, c == 'h' ? stdout : stderr);
			exit(c == 'h' ? 0 : 2);
		}
	}
	if (optind < argc) {
		fputs(help, stderr);
		exit(2);
	}
}

static pid_t start(struct score *score, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid) {
		if (seed)
			attack(opt.device, seed, opt.threads, LIFE_OPS, score);
		else
			victim(opt.device, score);
	}
	return pid;
}

static void pause_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* New ones for those that have ended; now and then one is killed. */
static unsigned int tend(struct score *score, pid_t *pids, struct rng *r)
{
	unsigned int i, bad = 0;
	int status;

	for (i = 0; i < opt.attackers; i++) {
		if (rng_one_in(r, 64))
			kill(pids[i], SIGKILL);
		if (waitpid(pids[i], &status, WNOHANG) != pids[i])
			continue;
		bad |= WIFEXITED(status) && WEXITSTATUS(status) == 2;
		pids[i] = start(score, rng_next(r) | 1);
	}
	return bad;
}

static void progress(const struct score *score, uint64_t ops)
{
	printf("viatest fuzz: %llu calls, %llu messages\n",
	       (unsigned long long)ops, (unsigned long long)score->messages);
	if (score->coverage)
		coverage_print(score->coverage);
	fflush(stdout);
}

static int run(struct score *score)
{
	pid_t pids[ATTACKERS], watched;
	struct rng r = { opt.seed };
	unsigned int i, ticks = 0;
	int status = 0, bad = 0;
	uint64_t ops;

	watched = start(score, 0);
	/* It is to have its VIs before there are none left. */
	while (!score->messages && !score->wrong && ticks++ < 3000)
		pause_ms(10);
	for (i = 0; i < opt.attackers; i++)
		pids[i] = start(score, rng_next(&r) | 1);
	for (ticks = 0; !bad; ticks++) {
		ops = __atomic_load_n(&score->ops, __ATOMIC_RELAXED);
		if (ops >= opt.ops ||
		    __atomic_load_n(&score->wrong, __ATOMIC_ACQUIRE))
			break;
		if (ticks % 500 == 499)
			progress(score, ops);
		bad = tend(score, pids, &r);
		pause_ms(20);
	}
	__atomic_store_n(&score->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < opt.attackers; i++)
		waitpid(pids[i], NULL, 0);
	waitpid(watched, &status, 0);
	return bad || status || score->wrong;
}

static void become(unsigned int id)
{
	if (setgroups(0, NULL) || setgid(id) || setuid(id)) {
		perror("viatest fuzz: -u");
		exit(2);
	}
}

static struct score *score_new(void)
{
	struct score *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, s->post)) {
		perror("viatest fuzz");
		exit(2);
	}
	if (opt.guided)
		s->coverage = coverage_new();
	return s;
}

int viatest_fuzz(int argc, char **argv)
{
	struct score *score;
	int status;

	options(argc, argv);
	if (opt.user)
		become(opt.user);
	if (opt.memory)
		return memory_kinds(opt.device) ? 1 : 0;
	fprintf(stderr, "viatest fuzz: %s, seed %llu\n", opt.device,
		(unsigned long long)opt.seed);
	if (opt.race)
		return race_rounds(opt.device, opt.seed, opt.ops,
				   opt.has_host ? opt.host : NULL) ? 1 : 0;
	if (opt.partner)
		return race_partner(opt.device, opt.seed, opt.host);
	score = score_new();
	if (opt.churn)
		return churn(opt.device, opt.seed, opt.ops, score) ? 1 : 0;
	if (opt.limits)
		return limits(opt.device, score) ? 1 : 0;
	status = run(score);
	if (score->coverage)
		coverage_print(score->coverage);
	printf("viatest fuzz: %llu calls, %llu of them taken, %llu messages compared beside them: %s\n",
	       (unsigned long long)score->ops,
	       (unsigned long long)score->good,
	       (unsigned long long)score->messages,
	       status ? "FAILED" : "ok");
	return status ? 1 : 0;
}

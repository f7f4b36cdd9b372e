// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest fuzz: any call with any argument on a VI NIC's device node, by
 * several processes, some of which are killed on the way, beside one that does
 * honest work and watches its memory.
 *
 * Ends with status 0 when the victim saw nothing wrong; what the kernel has to
 * say is for the caller to read.
 */
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "viatest.h"
#include "common/memory.h"
#include "common/words.h"
#include "fuzz.h"
#include "race.h"

#define ATTACKERS	3u

enum mode { CALLS, MEMORY, LIMITS, RACE, PARTNER, CHURN };

static struct {
	const char *device;
	uint64_t ops, seed;
	unsigned int user;
	int guided, mode;
	uint8_t host[8];
	int has_host;
} opt = { .device = "/dev/via_lo", .ops = 100000 };

static const char help[] =
	"usage: viatest fuzz [-d DEVICE] [-n CALLS] [-s SEED] [-u ID] [--guided]\n"
	"       viatest fuzz [-d DEVICE] --memory | --limits\n"
	"       viatest fuzz [-d DEVICE] [-n ROUNDS] [-s SEED] [-H ADDRESS] --race\n"
	"       viatest fuzz [-d DEVICE] [-s SEED] -H ADDRESS --race-partner\n"
	"       viatest fuzz [-d OTHER] [-n TIMES] [-s SEED] --churn\n"
	"Calls a VI NIC's device node in every way it can be called, and checks\n"
	"that a process beside it is not disturbed.  CALLS is a total (100000).\n"
	"  -u ID      as the user and group of that number\n"
	"  --guided   by what the calls reach in the kernel, which has KCOV\n"
	"  --memory   registers every kind of memory instead\n"
	"  --limits   reaches every limit instead\n"
	"  --race     threads race on one VI's attempts to connect instead, in\n"
	"             rounds: with a second handle, or with the partner of -H\n"
	"  --race-partner   that partner\n"
	"  --churn    a NIC of its own comes and goes instead, so many times\n";

static const struct option longs[] = {
	{ "guided", no_argument, &opt.guided, 1 },
	{ "memory", no_argument, &opt.mode, MEMORY },
	{ "limits", no_argument, &opt.mode, LIMITS },
	{ "help", no_argument, NULL, 'h' },
	{ "race", no_argument, &opt.mode, RACE },
	{ "churn", no_argument, &opt.mode, CHURN },
	{ "race-partner", no_argument, &opt.mode, PARTNER },
	{ 0 },
};

static void options(int argc, char **argv)
{
	static char device[80];
	int c;

	opt.seed = time(NULL);
	while ((c = getopt_long(argc, argv, "d:n:s:u:H:h", longs, NULL)) !=
	       -1) {
		switch (c) {
		case 0:
			break;
		case 'u':
			opt.user = word_number(optarg, 1, UINT32_MAX - 1);
			break;
		case 'H':
			word_mac(optarg, opt.host);
			opt.has_host = 1;
			break;
		case 'd':
			snprintf(device, sizeof(device), "%s%s",
				 *optarg == '/' ? "" : "/dev/", optarg);
			opt.device = device;
			break;
		case 'n':
			opt.ops = word_number(optarg, 1, UINT64_MAX / 2);
			break;
		case 's':
			opt.seed = word_number(optarg, 0, UINT64_MAX);
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

static void attacker(uint64_t seed, struct score *score)
{
	attack(opt.device, seed, 3, score);
}

void score_print(const struct score *score, const char *verdict)
{
	printf("%llu calls, ", (unsigned long long)score->ops);
	if (verdict)
		printf("%llu of them taken, %llu messages compared beside them: %s\n",
		       (unsigned long long)score->good,
		       (unsigned long long)score->messages, verdict);
	else
		printf("%llu messages\n", (unsigned long long)score->messages);
	fflush(stdout);
}

static void report(const struct score *score, const char *verdict)
{
	if (score->coverage)
		coverage_print(score->coverage);
	printf("viatest fuzz: ");
	score_print(score, verdict);
}

static int run(struct score *score)
{
	pid_t pids[ATTACKERS], watched;
	struct rng r = { opt.seed };
	unsigned int i, ticks;
	int status = 0, bad = 0;

	watched = victim(opt.device, score);
	for (i = 0; i < ATTACKERS; i++)
		pids[i] = attacker_start(attacker, &r, score);
	for (ticks = 1; !bad; ticks++) {
		if (__atomic_load_n(&score->ops, __ATOMIC_RELAXED) >=
		    opt.ops ||
		    __atomic_load_n(&score->wrong, __ATOMIC_ACQUIRE))
			break;
		if (ticks % 500 == 0)
			report(score, NULL);
		for (i = 0; i < ATTACKERS; i++)
			bad |= attacker_tend(&pids[i], attacker, &r, score);
		usleep(20000);
	}
	score_end(score);
	for (i = 0; i < ATTACKERS; i++)
		waitpid(pids[i], NULL, 0);
	waitpid(watched, &status, 0);
	bad = bad || status || score->wrong;
	report(score, bad ? "FAILED" : "ok");
	return bad;
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
	struct score *s = memory_shared(sizeof(*s));

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, s->post)) {
		perror("viatest fuzz");
		exit(2);
	}
	if (opt.guided)
		s->coverage = coverage_new();
	return s;
}

/* How much is wrong. */
static int carry_out(const uint8_t *host)
{
	switch (opt.mode) {
	case MEMORY:
		return memory_kinds(opt.device);
	case LIMITS:
		return limits(opt.device, score_new());
	case RACE:
		return race_rounds(opt.device, opt.seed, opt.ops, host);
	case PARTNER:
		return race_partner(opt.device, opt.seed, opt.host);
	case CHURN:
		return churn(opt.device, opt.seed, opt.ops, score_new());
	default:
		return run(score_new());
	}
}

int viatest_fuzz(int argc, char **argv)
{
	options(argc, argv);
	if (opt.user)
		become(opt.user);
	fprintf(stderr, "viatest fuzz: %s, seed %llu\n", opt.device,
		(unsigned long long)opt.seed);
	return carry_out(opt.has_host ? opt.host : NULL) ? 1 : 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viafuzz: any call with any argument on a VI NIC's device node, by several
 * processes, some of which are killed on the way, beside one that does honest
 * work and watches its memory.
 *
 * Ends with status 0 when the victim saw nothing wrong; what the kernel has to
 * say is for the caller to read.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi.h"

#define LIFE_OPS	20000u		/* of one attacker */
#define ATTACKERS	16u

static struct {
	const char *device;
	uint64_t ops, seed;
	unsigned int attackers, threads;
} opt = { "/dev/via_lo", 100000, 0, 2, 3 };

static const char help[] =
	"usage: viafuzz [-d DEVICE] [-n CALLS] [-s SEED] [-p PROCESSES] [-t THREADS]\n"
	"Calls a VI NIC's device node in every way it can be called, and checks\n"
	"that a process beside it is not disturbed.  CALLS is a total (100000).\n";

static uint64_t number(const char *s, uint64_t least, uint64_t most)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(s, &end, 0);
	if (errno || end == s || *end || *s == '-' || n < least || n > most) {
		fprintf(stderr, "viafuzz: '%s' is no number from %llu to %llu\n",
			s, (unsigned long long)least, (unsigned long long)most);
		exit(2);
	}
	return n;
}

static void options(int argc, char **argv)
{
	static char device[80];
	int c;

	opt.seed = time(NULL);
	while ((c = getopt(argc, argv, "d:n:s:p:t:h")) != -1) {
		switch (c) {
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
			fprintf(stderr, "viafuzz: %llu calls, %llu messages\n",
				(unsigned long long)ops,
				(unsigned long long)score->messages);
		bad = tend(score, pids, &r);
		pause_ms(20);
	}
	__atomic_store_n(&score->stop, 1, __ATOMIC_RELEASE);
	for (i = 0; i < opt.attackers; i++)
		waitpid(pids[i], NULL, 0);
	waitpid(watched, &status, 0);
	return bad || status;
}

int main(int argc, char **argv)
{
	struct score *score;
	int status;

	options(argc, argv);
	score = mmap(NULL, sizeof(*score), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (score == MAP_FAILED) {
		perror("viafuzz");
		return 2;
	}
	fprintf(stderr, "viafuzz: %s, seed %llu\n", opt.device,
		(unsigned long long)opt.seed);
	status = run(score);
	printf("viafuzz: %llu calls, %llu of them taken, %llu messages compared beside them: %s\n",
	       (unsigned long long)score->ops,
	       (unsigned long long)score->good,
	       (unsigned long long)score->messages,
	       status ? "FAILED" : "ok");
	return status ? 1 : 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viasim: runs scenarios under schedules from seeds.
 *
 * A child does the runs; what it is at, and the turns that it took, are in
 * memory that is shared, so that the parent knows them whatever ends the child.
 * A failing run is repeated with turns left out until none can be spared.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "run.h"

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=0:exitcode=99:handle_segv=1:allocator_may_return_null=1";
}

#define MESSAGE		400

/* Shared with the child that runs. */
struct shared {
	uint64_t seed;
	uint64_t runs, steps;
	uint64_t time;			/* virtual ns of all runs */
	uint32_t allocations;		/* of the last run */
	uint32_t nturns;
	bool finished;
	char doing[100];
	char message[MESSAGE];
};

static struct shared *shared;
static struct sim_turn *turns;		/* shared, too */

static struct {
	uint64_t seed;
	uint64_t runs;
	int policy;			/* -1: each in turn */
	bool tso_only, no_tso;
	bool keep_going;
	bool alloc;			/* each allocation fails once */
	uint32_t fail_alloc;
	bool verbose;
	bool shorten;
	uint64_t max_steps;
	double seconds;
	const char *replay;
	const char *out;		/* folder for turns of failures */
} opt = { .seed = 1, .policy = -1, .shorten = true, .out = "build/sim/failed" };

static struct sim_scenario *scenarios;

void sim_scenario_add(struct sim_scenario *s)
{
	struct sim_scenario **at = &scenarios;

	while (*at && strcmp((*at)->name, s->name) < 0)
		at = &(*at)->next;
	s->next = *at;
	*at = s;
}

void sim_doing(const char *what)
{
	snprintf(shared->doing, sizeof(shared->doing), " in %s", what);
}

void sim_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(shared->message, MESSAGE, fmt, ap);
	va_end(ap);
	if (opt.verbose)
		fprintf(stderr, "[%llu.%06llu %s] FAILS: %s\n",
			(unsigned long long)(sim_clock / 1000000000),
			(unsigned long long)(sim_clock / 1000 % 1000000),
			sim_self ? sim_self->name : "-", shared->message);
	_exit(98);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Of a processor's time, by this process: as many schedules on a busy machine
 * as on a quiet one.
 */
static double used(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* What the seed stands for, so that each brings another mixture. */
static struct sim_config config_of(const struct sim_scenario *s, uint64_t seed)
{
	static const uint32_t means[] = { 3, 10, 30, 100, 400, 2000 };
	uint64_t h = seed * 0x9e3779b97f4a7c15ull;
	struct sim_config c = { .seed = seed, .max_steps = opt.max_steps };

	h ^= h >> 29;
	c.policy = opt.policy >= 0 ? opt.policy : (int)(h % 3);
	c.mean = means[h / 3 % ARRAY_SIZE(means)];
	c.coarse = s->coarse;
	if (s->coarse)
		c.mean = 4000;
	c.changes = 1 + h / 18 % 6;
	c.length = 1ull << (9 + h / 108 % 9);
	/* As a processor's buffer, or as long as the language allows. */
	c.keep_bits = (const uint32_t[]){ 3, 3, 7, 20 }[h / 1944 % 4];
	c.weak = h / 1944 % 4 == 3;
	c.tso = opt.tso_only || (!opt.no_tso && !s->coarse && h / 972 % 2);
	c.fail_alloc = opt.fail_alloc;
	/* PCT: two threads of high priority that sleep in turn starve a softirq. */
	if (opt.policy < 0 &&
	    (s->coarse || (s->prompt && c.policy == SIM_PCT)))
		c.policy = SIM_WALK;
	return c;
}

static void run_seed(const struct sim_scenario *s, uint64_t seed,
		     const struct sim_config *config)
{
	struct sim_config c = config ? *config : config_of(s, seed);

	shared->seed = seed;
	sim_run_scenario(s, &c);
	shared->runs++;
	shared->steps += sim_steps;
	shared->time += sim_clock;
	shared->allocations = sim_allocations();
}

/* A child for some runs; its wait status. */
static int in_child(void (*body)(void *arg), void *arg, bool quiet)
{
	int status;
	pid_t pid;

	shared->message[0] = shared->doing[0] = 0;
	shared->finished = false;
	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("viasim: fork");
		exit(2);
	}
	if (!pid) {
		if (quiet && !freopen("/dev/null", "w", stderr))
			_exit(97);
		sim_record = turns;
		sim_nrecord = &shared->nturns;
		body(arg);
		shared->finished = true;
		_exit(0);
	}
	if (waitpid(pid, &status, 0) < 0) {
		perror("viasim: waitpid");
		exit(2);
	}
	return status;
}

struct batch {
	const struct sim_scenario *s;
	uint64_t from, to;
	double seconds;			/* 0: as many as it takes */
	struct sim_config *config;
};

static void run_batch(void *arg)
{
	struct batch *b = arg;
	uint64_t seed;

	for (seed = b->from; seed < b->to; seed++) {
		if (b->seconds && used() > b->seconds)
			break;
		run_seed(b->s, seed, b->config);
	}
}

/* The same failure, whatever its numbers. */
static bool alike(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* Does the run still fail, in the same way, with these turns only? */
static bool fails_with(struct batch *b, struct sim_turn *t, uint32_t n)
{
	static char message[MESSAGE];
	struct sim_config c = config_of(b->s, b->from);
	bool failed;

	memcpy(message, shared->message, MESSAGE);
	c.replay = true;
	c.turns = t;
	c.nturns = n;
	c.max_steps = opt.max_steps ? opt.max_steps : 20000000;
	b->config = &c;
	failed = in_child(run_batch, b, true) &&
		 alike(shared->message, message);
	if (!failed)
		memcpy(shared->message, message, MESSAGE);
	return failed;
}

/* Leave out what can be spared: halves, quarters, ... single turns. */
static uint32_t shorten(struct batch *b, struct sim_turn *t, uint32_t n)
{
	struct sim_turn *some = calloc(n + 1, sizeof(*some));
	double until = now() + 30;
	uint32_t chunk, i;
	bool less;

	for (chunk = (n + 1) / 2; chunk; chunk = chunk > 1 ? (chunk + 1) / 2 : 0)
		do {
			less = false;
			for (i = 0; i + chunk <= n && now() < until;) {
				memcpy(some, t, i * sizeof(*t));
				memcpy(some + i, t + i + chunk,
				       (n - i - chunk) * sizeof(*t));
				if (fails_with(b, some, n - chunk)) {
					n -= chunk;
					memcpy(t, some, n * sizeof(*t));
					less = true;
				} else {
					i += chunk;
				}
			}
			if (chunk == 1)
				break;
		} while (less && now() < until);
	free(some);
	return n;
}

static void save(const struct sim_scenario *s, uint64_t seed,
		 const struct sim_turn *t, uint32_t n)
{
	char path[256];
	uint32_t i;
	FILE *f;

	snprintf(path, sizeof(path), "%s-%s-%llu.turns", opt.out, s->name,
		 (unsigned long long)seed);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "viasim: cannot write %s: %s\n", path,
			strerror(errno));
		return;
	}
	for (i = 0; i < n; i++)
		fprintf(f, "%llu %u\n", (unsigned long long)t[i].step,
			t[i].ctx);
	fclose(f);
	printf("  again: viasim %s --seed %llu --replay %s --verbose\n",
	       s->name, (unsigned long long)seed, path);
}

static void report(const struct sim_scenario *s, int status)
{
	uint32_t n = shared->nturns, was = n;
	struct batch b = { .s = s, .from = shared->seed,
			   .to = shared->seed + 1 };
	struct sim_turn *t = calloc(n + 1, sizeof(*t));
	char first[MESSAGE];

	memcpy(first, shared->message, MESSAGE);
	if (!first[0])
		snprintf(first, sizeof(first), WIFSIGNALED(status) ?
			 "signal %d" : "a sanitizer's report above, status %d",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
			 WEXITSTATUS(status));
	printf("%s: seed %llu%s%s FAILS: %s\n", s->name,
	       (unsigned long long)shared->seed, shared->doing,
	       opt.fail_alloc ? " (an allocation fails)" : "", first);
	memcpy(t, turns, n * sizeof(*t));
	if (opt.shorten && !opt.replay) {
		if (fails_with(&b, t, n)) {
			n = shorten(&b, t, n);
			printf("  %u turns instead of %u are enough\n", n, was);
		} else {
			printf("  it does not fail again by its turns\n");
		}
	}
	save(s, b.from, t, n);
	memcpy(shared->message, first, MESSAGE);
	free(t);
}

static struct sim_turn *load(const char *path, uint32_t *n)
{
	struct sim_turn *t = calloc(SIM_TURNS, sizeof(*t));
	FILE *f = fopen(path, "r");
	unsigned long long step;
	unsigned int ctx;

	if (!f) {
		fprintf(stderr, "viasim: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	for (*n = 0; *n < SIM_TURNS && fscanf(f, "%llu %u", &step, &ctx) == 2;
	     ++*n)
		t[*n] = (struct sim_turn){ step, ctx };
	fclose(f);
	return t;
}

/* False: it failed. */
static bool run_scenario(const struct sim_scenario *s)
{
	uint64_t runs = opt.runs ? opt.runs : s->runs ? s->runs : 100;
	struct batch b = { .s = s, .from = opt.seed, .to = opt.seed + runs,
			   .seconds = opt.seconds };
	double start = now(), took;
	struct sim_config c;
	int status;

	memset(shared, 0, sizeof(*shared));
	if (opt.replay) {
		c = config_of(s, opt.seed);
		c.replay = true;
		c.turns = load(opt.replay, &c.nturns);
		b.config = &c;
		b.to = b.from + 1;
	}
	status = in_child(run_batch, &b, false);
	if (status) {
		report(s, status);
		return false;
	}
	took = now() - start;
	printf("%s: %llu runs, %llu steps, %.1f virtual s, %.1f s\n", s->name,
	       (unsigned long long)shared->runs,
	       (unsigned long long)shared->steps, shared->time / 1e9, took);
	return true;
}

/* The scenario once for each allocation that it makes, which fails. */
static bool run_failing(const struct sim_scenario *s)
{
	uint32_t i, n;
	bool ok;

	opt.fail_alloc = 0;
	opt.runs = 1;
	if (!run_scenario(s))
		return false;
	n = shared->allocations;
	for (i = 1; i <= n; i++) {
		struct batch b = { .s = s, .from = opt.seed,
				   .to = opt.seed + 1 };
		int status;

		opt.fail_alloc = i;
		memset(shared, 0, sizeof(*shared));
		status = in_child(run_batch, &b, false);
		if (status) {
			printf("allocation %u of %u: ", i, n);
			report(s, status);
			return false;
		}
	}
	ok = true;
	opt.fail_alloc = 0;
	printf("%s: each of %u allocations failed once\n", s->name, n);
	return ok;
}

static void usage(FILE *f)
{
	fprintf(f,
"Usage: viasim [OPTION]... [SCENARIO]...\n"
"Run the agent and the Ethernet class in virtual time, under schedules chosen\n"
"from a seed; all scenarios when none is named.\n"
"\n"
"  -l, --list             names of scenarios and what they do\n"
"  -s, --seed=N           the first seed (1); the same seed is the same run\n"
"  -n, --runs=N           seeds one after the other (each scenario's own)\n"
"  -t, --seconds=N        at most so much processor time a scenario\n"
"  -p, --policy=WHICH     walk, pct or few, instead of all of them in turn\n"
"  -T, --tso              with store buffers always; --no-tso: never\n"
"  -a, --allocations      fail each allocation in turn, one run for each\n"
"  -A, --allocation=N     fail the N-th allocation\n"
"  -m, --max-steps=N      a run that takes more fails (50,000,000)\n"
"  -r, --replay=FILE      the turns of a failure instead of a policy\n"
"  -o, --out=PREFIX       where turns of failures go (build/sim/failed)\n"
"      --pcap=FILE        write the frames that are sent, with virtual time\n"
"  -k, --keep-going       other scenarios after a failure\n"
"      --no-shorten       leave a failing run as it is\n"
"  -v, --verbose          messages of the kernel and of the scenario\n"
"  -h, --help             this text\n"
"\n"
"Exit status: 0 all well, 1 a scenario failed, 2 wrong usage.\n");
}

static bool named(const struct sim_scenario *s, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(s->name, names[i]))
			return true;
	return !n;
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 's' },
		{ "runs", required_argument, NULL, 'n' },
		{ "seconds", required_argument, NULL, 't' },
		{ "policy", required_argument, NULL, 'p' },
		{ "tso", no_argument, NULL, 'T' },
		{ "no-tso", no_argument, NULL, 'N' },
		{ "allocations", no_argument, NULL, 'a' },
		{ "allocation", required_argument, NULL, 'A' },
		{ "max-steps", required_argument, NULL, 'm' },
		{ "replay", required_argument, NULL, 'r' },
		{ "out", required_argument, NULL, 'o' },
		{ "pcap", required_argument, NULL, 'w' },
		{ "keep-going", no_argument, NULL, 'k' },
		{ "no-shorten", no_argument, NULL, 'S' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	static const char *const policies[] = { "walk", "pct", "few" };
	struct sim_scenario *s;
	int c, i;

	opt.max_steps = 50000000;
	while ((c = getopt_long(argc, argv, "ls:n:t:p:TNaA:m:r:o:kSvh", longs,
				NULL)) != -1)
		switch (c) {
		case 'l':
			for (s = scenarios; s; s = s->next)
				printf("%-20s %s\n", s->name, s->what);
			exit(0);
		case 's':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			opt.runs = strtoull(optarg, NULL, 0);
			break;
		case 't':
			opt.seconds = atof(optarg);
			break;
		case 'p':
			for (i = 0; i < 3; i++)
				if (!strcmp(optarg, policies[i]))
					opt.policy = i;
			if (opt.policy < 0) {
				fprintf(stderr, "viasim: no policy %s: walk, pct or few\n",
					optarg);
				exit(2);
			}
			break;
		case 'T':
			opt.tso_only = true;
			break;
		case 'N':
			opt.no_tso = true;
			break;
		case 'a':
			opt.alloc = true;
			break;
		case 'A':
			opt.fail_alloc = atoi(optarg);
			break;
		case 'm':
			opt.max_steps = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			opt.replay = optarg;
			break;
		case 'o':
			opt.out = optarg;
			break;
		case 'w':
			sim_capture_open(optarg);
			break;
		case 'k':
			opt.keep_going = true;
			break;
		case 'S':
			opt.shorten = false;
			break;
		case 'v':
			opt.verbose = sim_verbose = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
}

static void known(char **names, int n)
{
	struct sim_scenario *s;
	int i;

	for (i = 0; i < n; i++) {
		for (s = scenarios; s && strcmp(s->name, names[i]); s = s->next)
			;
		if (!s) {
			fprintf(stderr, "viasim: no scenario %s; viasim --list names them\n",
				names[i]);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct sim_scenario *s;
	int bad = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	turns = mmap(NULL, SIM_TURNS * sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED || turns == MAP_FAILED) {
		perror("viasim: mmap");
		return 2;
	}
	parse(argc, argv);
	known(argv + optind, argc - optind);
	for (s = scenarios; s && (!bad || opt.keep_going); s = s->next)
		if (named(s, argv + optind, argc - optind))
			bad |= opt.alloc ? !run_failing(s) : !run_scenario(s);
	return bad;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viaconform - does a VIPL library do what VIPL promises?
 *
 * Needs nothing but vipl.h, and vipl_ext.h where addresses are not Ethernet's.
 * This process never opens a NIC: it forks workers for the groups (harness.h)
 * and the peer.
 */
#include "peer.h"
#include "remote.h"
#include "results.h"
#include "suite.h"
#include <CUnit/Basic.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S	20
#define MAX_TESTS	1024

static const VIP_RELIABILITY_LEVEL all_levels[] = {
	VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
	VIP_SERVICE_RELIABLE_RECEPTION,
};

/* A group at a level: one CUnit test, found again by its name. */
struct test {
	char name[80];
	const struct group *group;
	VIP_RELIABILITY_LEVEL level;
};

static struct test tests[MAX_TESTS];
static unsigned int n_tests;

/* What a short-lived child finds out about the NIC. */
struct probe {
	VIP_RETURN rc;
	const char *what;
	unsigned int levels;
	unsigned int host_len;
	uint8_t host[64];
};

struct options {
	const char *device, *host, *pattern, *except, *levels, *results;
	unsigned int level_mask;
	enum suite suite;		/* the last that runs */
	bool server, list, stop;
};

static void usage(FILE *f)
{
	fputs("usage: viaconform -d DEVICE [options]           one node\n"
	      "       viaconform -d DEVICE --server            the peer\n"
	      "       viaconform -d DEVICE [options] HOST      two nodes\n"
	      "HOST is a name the name service knows, or an address.\n"
	      "  -l                list the groups, the level of the suite\n"
	      "                    each is of, and what it tests\n"
	      "  --suite S         early, functional (with early), or full,\n"
	      "                    which is all and the default\n"
	      "  -g P[,P]          only groups that match (shell pattern,\n"
	      "                    or the start of a name)\n"
	      "  --except P[,P]    not those\n"
	      "  --levels L[,L]    of unreliable, rd, rr; default: those the\n"
	      "                    NIC claims\n"
	      "  --seed N          of message contents\n"
	      "  --timeout-scale N for slow kernels\n"
	      "  --results FILE    a line of JSON for each test\n"
	      "  --inside OBJECT   the peer is a thread of each process:\n"
	      "                    of viaconform_inside.so\n"
	      "  --stop            end the server afterwards\n"
	      "  -v                name each group with its time\n", f);
}

static int fail_usage(const char *text, const char *arg)
{
	fprintf(stderr, "viaconform: %s%s%s; see viaconform --help\n", text,
		arg ? " " : "", arg ? arg : "");
	return 2;
}

static bool parse_levels(struct options *o)
{
	char copy[64], *word, *rest = NULL;
	unsigned int i;

	if (!o->levels)
		return true;
	snprintf(copy, sizeof(copy), "%s", o->levels);
	for (word = strtok_r(copy, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		for (i = 0; i < ARRAY_SIZE(all_levels); i++)
			if (!strcmp(word, level_name(all_levels[i])))
				break;
		if (i == ARRAY_SIZE(all_levels))
			return false;
		o->level_mask |= all_levels[i];
	}
	return o->level_mask;
}

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "server", no_argument, NULL, 's' },
		{ "levels", required_argument, NULL, 'L' },
		{ "seed", required_argument, NULL, 'S' },
		{ "timeout-scale", required_argument, NULL, 'T' },
		{ "stop", no_argument, NULL, 'E' },
		{ "suite", required_argument, NULL, 'C' },
		{ "results", required_argument, NULL, 'R' },
		{ "inside", required_argument, NULL, 'I' },
		{ "except", required_argument, NULL, 'X' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:g:lvh", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->device = optarg;
			break;
		case 'g':
			o->pattern = optarg;
			break;
		case 'l':
			o->list = true;
			break;
		case 'X':
			o->except = optarg;
			break;
		case 'I':
			env.inside = optarg;
			break;
		case 'v':
			env.verbose = true;
			break;
		case 's':
			o->server = true;
			break;
		case 'E':
			o->stop = true;
			break;
		case 'L':
			o->levels = optarg;
			break;
		case 'C':
			o->suite = suite_by_name(optarg);
			if (o->suite == SUITES)
				return fail_usage("no suite", optarg);
			break;
		case 'R':
			o->results = optarg;
			break;
		case 'S':
			env.seed = strtoul(optarg, NULL, 0);
			break;
		case 'T':
			env.scale = strtoul(optarg, NULL, 0);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc)
		o->host = argv[optind++];
	if (optind < argc)
		return fail_usage("too many arguments:", argv[optind]);
	if (!o->device && !o->list)
		return fail_usage("which device? -d via_lo for loopback", NULL);
	if (o->server && o->host)
		return fail_usage("a server takes no host", NULL);
	if (o->stop && !o->host)
		return fail_usage("--stop needs a host", NULL);
	if (!env.scale || env.scale > 100)
		return fail_usage("--timeout-scale is 1 to 100", NULL);
	if (!parse_levels(o))
		return fail_usage("no such level in", o->levels);
	return 0;
}

static void probe_child(const struct options *o, struct probe *p)
{
	struct net_address a;
	VIP_NIC_ATTRIBUTES attr;
	VIP_NIC_HANDLE nic;

	p->what = "cannot be opened";
	p->rc = VipOpenNic(o->device, &nic);
	if (p->rc == VIP_SUCCESS) {
		p->what = "cannot be queried";
		p->rc = VipQueryNic(nic, &attr);
	}
	if (p->rc != VIP_SUCCESS)
		return;
	p->levels = attr.ReliabilityLevelSupport;
	if (!o->host)
		return;
	memset(&a, 0, sizeof(a));
	p->what = "does not know the host";
	p->rc = VipNSInit(nic, NULL);
	if (p->rc == VIP_SUCCESS)
		p->rc = VipNSGetHostByName(nic, (VIP_CHAR *)o->host, &a.a, 0);
	p->host_len = a.a.HostAddressLen;
	if (p->host_len > sizeof(p->host))
		p->rc = VIP_ERROR_NAMESERVICE;
	else
		memcpy(p->host, a.a.HostAddress, p->host_len);
}

static struct probe *probe(const struct options *o)
{
	struct probe *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (p == MAP_FAILED)
		return NULL;
	p->rc = VIP_ERROR;
	p->what = "made its user crash";
	pid = fork();
	if (pid == 0) {
		probe_child(o, p);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		return NULL;
	return p;
}

static void run_current(void)
{
	const char *name = CU_get_current_test()->pName;
	const struct group *g;
	uint64_t start = now_ms(), ms;
	unsigned int i, deadline;
	bool passed;

	for (i = 0; i < n_tests && strcmp(tests[i].name, name); i++)
		;
	g = tests[i].group;
	deadline = (g->deadline ? g->deadline : DEADLINE_S) * env.scale;
	passed = harness_run(g, tests[i].level, deadline);
	ms = now_ms() - start;
	results_test(g, tests[i].level, passed, ms);
	if (env.verbose) {
		printf(" (%llu ms)", (unsigned long long)ms);
		fflush(stdout);
	}
}

static bool matches(const struct group *g, const char *patterns)
{
	char copy[512], *p, *rest = NULL;

	snprintf(copy, sizeof(copy), "%s", patterns);
	for (p = strtok_r(copy, ",", &rest); p; p = strtok_r(NULL, ",", &rest))
		if (!strncmp(g->name, p, strlen(p)) || !fnmatch(p, g->name, 0))
			return true;
	return false;
}

static bool wanted(const struct options *o, const struct group *g)
{
	if (suite_of(g) > o->suite || (o->except && matches(g, o->except)))
		return false;
	return !o->pattern || matches(g, o->pattern);
}

static bool add_test(CU_pSuite s, const struct group *g,
		     VIP_RELIABILITY_LEVEL level, bool name_level)
{
	struct test *t = &tests[n_tests];

	if (n_tests == MAX_TESTS)
		return false;
	snprintf(t->name, sizeof(t->name), "%s%s%s", g->name,
		 name_level ? "/" : "", name_level ? level_name(level) : "");
	t->group = g;
	t->level = level;
	n_tests++;
	return CU_add_test(s, t->name, run_current) != NULL;
}

static bool add_group(CU_pSuite s, const struct group *g, unsigned int mask)
{
	VIP_RELIABILITY_LEVEL best = VIP_SERVICE_UNRELIABLE;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all_levels); i++) {
		if (!(mask & all_levels[i]))
			continue;
		if ((g->flags & G_LEVELS) &&
		    !add_test(s, g, all_levels[i], true))
			return false;
		if (best != VIP_SERVICE_RELIABLE_DELIVERY)
			best = all_levels[i];
	}
	return (g->flags & G_LEVELS) || add_test(s, g, best, false);
}

static bool add_all(const struct options *o)
{
	unsigned int i, j;
	CU_pSuite s;

	for (i = 0; i < n_nouns; i++) {
		s = NULL;
		for (j = 0; j < nouns[i]->count; j++) {
			const struct group *g = &nouns[i]->groups[j];

			if (!wanted(o, g))
				continue;
			if (!s)
				s = CU_add_suite(nouns[i]->name, NULL, NULL);
			if (!s || !add_group(s, g, o->level_mask))
				return false;
		}
	}
	return true;
}

static int list(const struct options *o)
{
	struct suite_count c = { 0 };
	unsigned int i, j;

	for (i = 0; i < n_nouns; i++)
		for (j = 0; j < nouns[i]->count; j++)
			if (wanted(o, &nouns[i]->groups[j]))
				suite_list(&c, &nouns[i]->groups[j]);
	suite_total(&c);
	return 0;
}

static int run_all(const struct options *o)
{
	uint64_t start = now_ms();
	unsigned int failed, ran;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	if (!add_all(o)) {
		fprintf(stderr, "viaconform: %s\n", CU_get_error_msg());
		return 2;
	}
	if (!n_tests)
		return fail_usage("no group matches", o->pattern);
	if (o->results && !results_open(o->results, o->device, o->host,
					o->level_mask)) {
		perror(o->results);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	CU_basic_set_mode(env.verbose ? CU_BRM_VERBOSE : CU_BRM_NORMAL);
	CU_basic_run_tests();
	failed = CU_get_number_of_failures();
	ran = CU_get_number_of_tests_run();
	CU_cleanup_registry();
	/* CUnit's figure is of processor time, and of one process. */
	printf("\nviaconform: %s, %s: %u tests, %u failures, %.1f s\n",
	       o->device, o->host ? o->host : "one node", ran, failed,
	       (now_ms() - start) / 1000.0);
	if (!results_close(ran, failed, now_ms() - start)) {
		perror(o->results);
		return 2;
	}
	return failed || ran != n_tests;
}

static int one_node_peer(const struct options *o, const char *disc)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(peer_serve(o->device, disc, env.verbose));
	}
	return pid;
}

/* In a child: this process opens no NIC. */
static void stop_server(void)
{
	struct ctl_msg m = { .magic = CTL_MAGIC, .cmd = P_QUIT };
	pid_t pid = fork();

	if (pid == 0) {
		if (ctl_connect(&env.ctl, env.device, env.host, env.host_len,
				env.disc, LONG_MS) != VIP_SUCCESS ||
		    !ctl_send(&env.ctl, &m) ||
		    !ctl_recv(&env.ctl, &m, LONG_MS))
			fputs("viaconform: the server cannot be stopped\n",
			      stderr);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct harness_ops ops = { env_start, env_finish };
	static char disc[32] = "viaconform";
	struct options o = { .suite = SUITE_FULL };
	struct probe *p;
	pid_t peer = 0;
	int ret;

	env.scale = 1;
	env.seed = 1;
	ret = parse(argc, argv, &o);
	if (ret)
		return ret;
	if (o.list)
		return list(&o);
	p = probe(&o);
	if (!p || p->rc != VIP_SUCCESS) {
		fprintf(stderr, "viaconform: %s %s: %s\n", o.device,
			p ? p->what : "cannot be probed",
			p ? rc_name(p->rc) : "no memory");
		return 2;
	}
	env.device = o.device;
	env.disc = disc;
	if (o.server)
		return peer_serve(o.device, disc, env.verbose);
	if (!o.levels)
		o.level_mask = p->levels;
	if (o.host) {
		env.host = p->host;
		env.host_len = p->host_len;
	} else {
		snprintf(disc, sizeof(disc), "viaconform.%d", (int)getpid());
		if (!env.inside)
			peer = one_node_peer(&o, disc);
		if (peer < 0) {
			perror("viaconform: fork");
			return 2;
		}
	}
	harness_init(&ops);
	ret = run_all(&o);
	harness_end();
	if (o.stop)
		stop_server();
	if (peer) {
		kill(peer, SIGKILL);
		waitpid(peer, NULL, 0);
	}
	return ret;
}

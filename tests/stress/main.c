// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "stress.h"
#include "plan.h"
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS	64u

static void usage(FILE *f)
{
	fputs("usage: viastress -d DEVICE --server\n"
	      "       viastress -d DEVICE [options] HOST     against a server\n"
	      "       viastress -d DEVICE [options]          both ends here\n"
	      "  --messages N    in all (100000)\n"
	      "  --level L       unreliable, rd or rr (rd)\n"
	      "  --reads         read back each RDMA Write, sometimes fenced\n"
	      "  --max-size N    bytes of the largest (65536)\n"
	      "  --seed N        of sizes, kinds and contents (1)\n"
	      "  --threads N     connections, a thread each (1)\n"
	      "  --kill N        kill -9 the sender in N rounds instead\n"
	      "  --garbage IF    throw malformed frames at HOST meanwhile\n"
	      "  --stop          end the server afterwards\n", f);
}

static int fail(const char *text, const char *arg)
{
	fprintf(stderr, "viastress: %s%s%s; see viastress --help\n", text,
		arg ? " " : "", arg ? arg : "");
	return 2;
}

static int check_options(void)
{
	if (!opt.device)
		return fail("which device? -d via_lo for loopback", NULL);
	if (opt.server && opt.host)
		return fail("a server takes no host", NULL);
	if (!opt.threads || opt.threads > MAX_THREADS)
		return fail("--threads is 1 to 64", NULL);
	if (!opt.messages || opt.messages < opt.threads)
		return fail("--messages is at least one a thread", NULL);
	if (opt.reads && opt.level == VIP_SERVICE_UNRELIABLE)
		return fail("--reads needs a reliable level", NULL);
	if (opt.garbage && !opt.host)
		return fail("--garbage needs a host to throw at", NULL);
	return 0;
}

static int parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "server", no_argument, NULL, 's' },
		{ "messages", required_argument, NULL, 'n' },
		{ "level", required_argument, NULL, 'l' },
		{ "reads", no_argument, NULL, 'R' },
		{ "max-size", required_argument, NULL, 'm' },
		{ "seed", required_argument, NULL, 'S' },
		{ "threads", required_argument, NULL, 't' },
		{ "kill", required_argument, NULL, 'k' },
		{ "garbage", required_argument, NULL, 'g' },
		{ "stop", no_argument, NULL, 'E' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	opt = (struct options){ .messages = 100000, .max_size = 65536,
				.threads = 1, .seed = 1,
				.level = VIP_SERVICE_RELIABLE_DELIVERY };
	while ((c = getopt_long(argc, argv, "d:h", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 's':
			opt.server = 1;
			break;
		case 'n':
			opt.messages = strtoul(optarg, NULL, 0);
			break;
		case 'l':
			if (!strcmp(optarg, "unreliable"))
				opt.level = VIP_SERVICE_UNRELIABLE;
			else if (!strcmp(optarg, "rr"))
				opt.level = VIP_SERVICE_RELIABLE_RECEPTION;
			else if (strcmp(optarg, "rd"))
				return fail("no such level:", optarg);
			break;
		case 'R':
			opt.reads = 1;
			break;
		case 'm':
			opt.max_size = strtoul(optarg, NULL, 0);
			break;
		case 'S':
			opt.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			opt.threads = strtoul(optarg, NULL, 0);
			break;
		case 'k':
			opt.kills = strtoul(optarg, NULL, 0);
			break;
		case 'g':
			opt.garbage = optarg;
			break;
		case 'E':
			opt.stop = 1;
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
		opt.host = argv[optind++];
	if (optind < argc)
		return fail("too many arguments:", argv[optind]);
	return check_options();
}

struct worker {
	pthread_t thread;
	struct client c;
	uint32_t id, messages;
	struct result r;
	int ret;
};

static uint32_t progress;

static void *work(void *arg)
{
	struct worker *w = arg;

	w->ret = client_run(&w->c, w->messages, opt.seed + w->id * 7919,
			    &progress, &w->r);
	return NULL;
}

struct reporter {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t over;
	int stop;
};

static void *report_main(void *arg)
{
	struct reporter *r = arg;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	pthread_mutex_lock(&r->lock);
	while (!r->stop) {
		t.tv_sec += 5;
		if (pthread_cond_timedwait(&r->over, &r->lock, &t))
			printf("viastress: %u of %u\n",
			       __atomic_load_n(&progress, __ATOMIC_RELAXED),
			       opt.messages);
		fflush(stdout);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void stop_server(struct client *c)
{
	struct msg m = { .type = MSG_STOP };

	if (client_ask(c, &m, MSG_REPORT))
		fputs("viastress: the server cannot be stopped\n", stderr);
}

int run_transfers(void)
{
	struct worker *w = calloc(opt.threads, sizeof(*w));
	struct reporter rep = { .lock = PTHREAD_MUTEX_INITIALIZER,
				.over = PTHREAD_COND_INITIALIZER };
	struct result sum = { 0, 0, 0 };
	uint64_t start = now_ms(), took, reads = 0;
	struct garbage g;
	uint8_t mac[64];
	uint32_t i;
	int ret = 0;

	if (!w)
		return 1;
	for (i = 0; i < opt.threads; i++) {
		w[i].id = i;
		w[i].messages = opt.messages / opt.threads +
				(i < opt.messages % opt.threads);
		if (client_open(&w[i].c))
			return 1;
	}
	if (opt.garbage && (resolve(w[0].c.nic, &w[0].c.attr, mac) != 6 ||
			    garbage_start(&g, opt.garbage, mac)))
		return 1;
	pthread_create(&rep.thread, NULL, report_main, &rep);
	for (i = 0; i < opt.threads; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	for (i = 0; i < opt.threads; i++) {
		pthread_join(w[i].thread, NULL);
		sum.passed += w[i].r.passed;
		sum.failed += w[i].r.failed;
		sum.lost += w[i].r.lost;
		reads += w[i].c.reads;
		ret |= w[i].ret;
	}
	took = now_ms() - start;
	pthread_mutex_lock(&rep.lock);
	rep.stop = 1;
	pthread_cond_signal(&rep.over);
	pthread_mutex_unlock(&rep.lock);
	pthread_join(rep.thread, NULL);
	if (opt.garbage) {
		garbage_stop(&g);
		printf("viastress: %llu malformed frames thrown\n",
		       (unsigned long long)g.thrown);
	}
	if (opt.stop && !ret)
		stop_server(&w[0].c);
	for (i = 0; i < opt.threads; i++)
		client_close(&w[i].c);
	free(w);
	/* Only an unreliable level may lose, and even it not all. */
	if (opt.level != VIP_SERVICE_UNRELIABLE) {
		sum.failed += sum.lost;
		sum.lost = 0;
	}
	if (!sum.passed)
		sum.failed += !sum.failed;
	if (opt.reads)
		printf("viastress: %llu of the operations were reads\n",
		       (unsigned long long)reads);
	printf("viastress: seed %llu, %llu lost, %llu ms\n",
	       (unsigned long long)opt.seed, (unsigned long long)sum.lost,
	       (unsigned long long)took);
	printf("%llu passed, %llu failed\n", (unsigned long long)sum.passed,
	       (unsigned long long)sum.failed);
	return ret || sum.failed;
}

int main(int argc, char **argv)
{
	pid_t pid = 0;
	int ret;

	ret = parse(argc, argv);
	if (ret)
		return ret;
	if (opt.server)
		return serve();
	if (!opt.host) {
		/* Before any NIC is opened here: the child opens its own. */
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(serve());
		}
		if (pid < 0) {
			perror("viastress: fork");
			return 1;
		}
	}
	ret = opt.kills ? run_kills() : run_transfers();
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return ret;
}

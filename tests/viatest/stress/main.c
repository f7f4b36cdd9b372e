// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "viatest.h"
#include "stress.h"
#include "plan.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	pthread_t thread;
	struct client c;
	uint32_t id, messages;
	struct result r;
	struct breaks b;
	int ret;
};

static uint32_t progress;

static void *work(void *arg)
{
	struct worker *w = arg;

	uint64_t seed = stress_opt.seed + w->id * 7919;

	if (stress_opt.may_break)
		w->ret = client_run_on(&w->c, w->messages, seed, &progress,
				       &w->r, &w->b);
	else
		w->ret = client_run(&w->c, w->messages, seed, &progress,
				    &w->r);
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
			printf("viatest stress: %u of %u\n",
			       __atomic_load_n(&progress, __ATOMIC_RELAXED),
			       stress_opt.messages);
		fflush(stdout);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void stop_server(struct client *c)
{
	struct msg m = { .type = MSG_STOP };

	if (client_ask(c, &m, MSG_REPORT))
		fputs("viatest stress: the server cannot be stopped\n", stderr);
}

int run_transfers(void)
{
	struct worker *w = calloc(stress_opt.threads, sizeof(*w));
	struct reporter rep = { .lock = PTHREAD_MUTEX_INITIALIZER,
				.over = PTHREAD_COND_INITIALIZER };
	struct result sum = { 0, 0, 0 };
	struct breaks breaks = { 0, 0 };
	uint64_t start = now_ms(), took, reads = 0;
	struct garbage g;
	uint8_t mac[64];
	uint32_t i;
	int ret = 0;

	if (!w)
		return 1;
	for (i = 0; i < stress_opt.threads; i++) {
		w[i].id = i;
		w[i].messages = stress_opt.messages / stress_opt.threads +
				(i < stress_opt.messages % stress_opt.threads);
		if (client_open(&w[i].c))
			return 1;
	}
	if (stress_opt.garbage && (resolve(w[0].c.nic, &w[0].c.attr, mac) != 6 ||
			    garbage_start(&g, stress_opt.garbage, mac)))
		return 1;
	pthread_create(&rep.thread, NULL, report_main, &rep);
	for (i = 0; i < stress_opt.threads; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	for (i = 0; i < stress_opt.threads; i++) {
		pthread_join(w[i].thread, NULL);
		sum.passed += w[i].r.passed;
		sum.failed += w[i].r.failed;
		sum.lost += w[i].r.lost;
		reads += w[i].c.reads;
		breaks.count += w[i].b.count;
		if (w[i].b.told_ms > breaks.told_ms)
			breaks.told_ms = w[i].b.told_ms;
		ret |= w[i].ret;
	}
	took = now_ms() - start;
	pthread_mutex_lock(&rep.lock);
	rep.stop = 1;
	pthread_cond_signal(&rep.over);
	pthread_mutex_unlock(&rep.lock);
	pthread_join(rep.thread, NULL);
	if (stress_opt.garbage) {
		garbage_stop(&g);
		printf("viatest stress: %llu malformed frames thrown\n",
		       (unsigned long long)g.thrown);
	}
	if (stress_opt.stop && !ret)
		stop_server(&w[0].c);
	for (i = 0; i < stress_opt.threads; i++)
		client_close(&w[i].c);
	free(w);
	/* Only an unreliable level may lose, and even it not all. */
	if (stress_opt.level != VIP_SERVICE_UNRELIABLE) {
		sum.failed += sum.lost;
		sum.lost = 0;
	}
	if (!sum.passed)
		sum.failed += !sum.failed;
	if (stress_opt.reads)
		printf("viatest stress: %llu of the operations were reads\n",
		       (unsigned long long)reads);
	if (stress_opt.may_break)
		printf("viatest stress: %u connections were lost, the server knew "
		       "of each %u ms later at most\n", breaks.count,
		       breaks.told_ms);
	printf("viatest stress: seed %llu, %llu lost, %llu ms\n",
	       (unsigned long long)stress_opt.seed, (unsigned long long)sum.lost,
	       (unsigned long long)took);
	printf("%llu passed, %llu failed\n", (unsigned long long)sum.passed,
	       (unsigned long long)sum.failed);
	return ret || sum.failed;
}

static int run(void)
{
	if (stress_opt.kills)
		return run_kills();
	if (stress_opt.sacrifice)
		return run_sacrifice();
	if (stress_opt.connects)
		return stress_connects();
	return stress_opt.idle ? run_idle() : run_transfers();
}

int viatest_stress(int argc, char **argv)
{
	pid_t pid = 0;
	int ret;

	ret = parse(argc, argv);
	if (ret)
		return ret;
	if (stress_opt.server)
		return stress_serve();
	if (!stress_opt.host) {
		/* Before any NIC is opened here: the child opens its own. */
		pid = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(stress_serve());
		}
		if (pid < 0) {
			perror("viatest stress: fork");
			return 1;
		}
	}
	ret = run();
	if (pid) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return ret;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A member of group via that means harm: threads of one process that call the
 * device node in any way, one that scribbles over what it shares with the
 * kernel while the kernel reads it, and a child that has inherited the files.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "calls.h"
#include "common/memory.h"
#include "common/proc.h"

#define NUDGE_NS	4000000
#define STRANGE_CALLS	200u
#define LIFE_OPS	20000u		/* of a process */

struct thread {
	pthread_t id;
	struct rng r;
};

static void nothing(int sig)
{
	(void)sig;
}

void nudge(timer_t *t, long ns)
{
	struct sigaction wake = { .sa_handler = nothing };
	struct sigevent e = { .sigev_notify = SIGEV_THREAD_ID,
			      .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, ns }, { 0, ns } };

	sigaction(SIGUSR1, &wake, NULL);
	e._sigev_un._tid = syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &e, t);
	timer_settime(*t, 0, &every, NULL);
}

static int over(void)
{
	return score_stop(self.score) ||
	       (int64_t)__atomic_load_n(&self.ops_left,
					__ATOMIC_RELAXED) <= 0;
}

static void *caller(void *arg)
{
	struct thread *t = arg;
	unsigned int n = 0;
	timer_t timer;

	nudge(&timer, NUDGE_NS);
	if (self.score->coverage)
		guided_thread(&t->r, over);
	while (!over()) {
		if (n % 32 == 0)
			call_file(rng_next(&t->r));
		call_kind(rng_below(&t->r, call_kinds()), &t->r);
		__atomic_sub_fetch(&self.ops_left, 1, __ATOMIC_RELAXED);
		if (++n % 64 == 0)
			__atomic_add_fetch(&self.score->ops, 64,
					   __ATOMIC_RELAXED);
	}
	timer_delete(timer);
	return NULL;
}

/* While the kernel reads: indexes most of all, slots, completions, CQs. */
static void *scribbler(void *arg)
{
	struct thread *t = arg;
	struct rng *r = &t->r;

	while (!over()) {
		uint32_t i = rng_below(r, MAPS);
		uint8_t *p = self.map[i];
		size_t size = self.map_size[i];

		if (p && size >= 4096) {
			uint32_t at = rng_one_in(r, 2) ?
				rng_below(r, 320) : rng_below(r, size - 8);

			/* It may be read-only, or gone: that is a signal. */
			*(volatile uint32_t *)(p + (at & ~3u)) =
				interesting(r);
		}
		if (rng_one_in(r, 32))
			sched_yield();
	}
	return NULL;
}

/* Where the scribbler hit nothing: there is memory now. */
static void hit(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~4095ul;

	(void)context;
	if (page < 4096 ||
	    mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		_exit(sig);
}

/* Its calls are refused, each; then it closes in any order, or just dies. */
static pid_t stranger(uint64_t seed)
{
	struct rng r = { seed };
	uint32_t i, first;
	timer_t timer;
	pid_t pid = proc_fork();

	if (pid)
		return pid;
	self.stranger = 1;
	nudge(&timer, NUDGE_NS);
	for (i = 0; i < STRANGE_CALLS; i++)
		call_strange(&r);
	__atomic_add_fetch(&self.score->ops, STRANGE_CALLS, __ATOMIC_RELAXED);
	first = rng_below(&r, FILES);
	for (i = 0; i < FILES && !rng_one_in(&r, 4); i++)
		close(self.fd[(first + i) % FILES]);
	_exit(0);
}

pid_t attacker_start(attacker_fn *f, struct rng *r, struct score *score)
{
	uint64_t seed = rng_next(r);
	pid_t pid = proc_fork();

	if (!pid)
		f(seed, score);
	return pid;
}

int attacker_tend(pid_t *pid, attacker_fn *f, struct rng *r,
		  struct score *score)
{
	int status;

	if (rng_one_in(r, 64))
		kill(*pid, SIGKILL);
	if (waitpid(*pid, &status, WNOHANG) != *pid)
		return 0;
	*pid = attacker_start(f, r, score);
	return WIFEXITED(status) && WEXITSTATUS(status) == 2;
}

void attack(const char *device, uint64_t seed, unsigned int threads,
	    struct score *score)
{
	struct sigaction fault = { .sa_sigaction = hit,
				   .sa_flags = SA_SIGINFO | SA_NODEFER };
	struct thread t[16];
	unsigned int i;
	pid_t child;

	self.device = device;
	self.score = score;
	self.ops_left = LIFE_OPS;
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	self.space = memory_new(SPACE);
	for (i = 0; i < FILES; i++) {
		do {
			self.fd[i] = open_one();
		} while (self.fd[i] < 0 && score->comes_and_goes && !over() &&
			 !usleep(1000));
		if (self.fd[i] < 0) {
			perror(device);
			_exit(2);
		}
	}
	child = stranger(seed ^ 0x5742);
	for (i = 0; i <= threads; i++) {
		t[i].r.s = seed * 131 + i;
		if (pthread_create(&t[i].id, NULL,
				   i < threads ? caller : scribbler, &t[i]))
			_exit(2);
	}
	for (i = 0; i <= threads; i++)
		pthread_join(t[i].id, NULL);
	waitpid(child, NULL, 0);
	_exit(0);
}

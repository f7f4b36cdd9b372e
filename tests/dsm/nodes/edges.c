// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * dsmedges WHAT: what a program may do beside shared memory, and what it must
 * not do with it; started by viadsm. tests/dsm/run says how each ends.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "few.h"
#include "rule.h"

static sigjmp_buf back;
static volatile int signals;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	signals++;
	if (info->si_code > 0)
		siglongjmp(back, 1);
}

static void recover(void)
{
	struct sigaction a = { .sa_sigaction = on_fault,
			       .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &a, NULL);
	sigaction(SIGBUS, &a, NULL);
}

/* A handler that was there before keeps its faults, and shared memory its own. */
static void chained(void)
{
	volatile int *p = dsm_malloc_at(8 * PAGE, 0);
	volatile char *guard = mmap(NULL, PAGE, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!dsm_rank())
		for (unsigned int i = 0; i < 8; i++)
			p[i * PAGE / sizeof(*p)] = 7 + i;
	dsm_barrier();
	for (unsigned int i = 0; i < 8; i++) {
		if (!sigsetjmp(back, 1))
			*guard = 1;
		kill(getpid(), i % 2 ? SIGSEGV : SIGBUS);
		CHECK(signals == 2 * ((int)i + 1));
		CHECK(p[i * PAGE / sizeof(*p)] == 7 + (int)i);
	}
}

static void killed(void)
{
	dsm_barrier();
	kill(getpid(), SIGSEGV);
	for (;;)
		dsm_barrier();
}

static void ignore(void)
{
	signal(SIGSEGV, SIG_IGN);
}

static void ignored(void)
{
	volatile char *p = dsm_malloc_at(PAGE, 0);

	kill(getpid(), SIGSEGV);
	if (!dsm_rank())
		*p = 5;
	dsm_barrier();
	CHECK(*p == 5);
}

/* The kernel forgets where pages are, as it does when memory is short. */
static void forgotten(void)
{
	volatile unsigned char *p = dsm_malloc_at(2 * PAGE, 0);

	if (!dsm_rank())
		p[0] = p[PAGE] = 3;
	dsm_barrier();
	alarm(8);
	CHECK(p[0] == 3);
	p[PAGE + 1 + dsm_rank()] = 4;
	for (int i = 0; i < 3; i++) {
		madvise((void *)p, 2 * PAGE, MADV_DONTNEED);
		CHECK(p[0] == 3);
		CHECK(p[PAGE + 1 + dsm_rank()] == 4);
		madvise((void *)p, 2 * PAGE, MADV_DONTNEED);
		p[PAGE + 1 + dsm_rank()] = 4;
	}
	dsm_barrier();
	for (unsigned int i = 0; i < dsm_size(); i++)
		CHECK(p[PAGE + 1 + i] == 4);
}

/* Faults on a signal stack that is small wait there, and serve other nodes. */
static void narrow(void)
{
	enum { PAGES = 64, STACK = 16384 };
	volatile unsigned char *p = dsm_malloc(PAGES * PAGE);
	unsigned char *room = mmap(NULL, PAGE + STACK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = room + PAGE, .ss_size = STACK }, none = {
		.ss_flags = SS_DISABLE };
	size_t left = 0;

	memset(room, 0xa5, PAGE + STACK);
	mprotect(room, PAGE, PROT_NONE);
	CHECK(!sigaltstack(&stack, NULL));
	for (int turn = 1; turn < 30; turn++) {
		for (size_t i = 0; i < PAGES; i++)
			p[i * PAGE + dsm_rank()] = turn;
		dsm_barrier();
		for (size_t i = 0; i < PAGES * dsm_size(); i++)
			CHECK(p[i / dsm_size() * PAGE + i % dsm_size()] == turn);
		dsm_barrier();
	}
	CHECK(!sigaltstack(&none, NULL));
	while (room[PAGE + left] == 0xa5)
		left++;
	printf("node %u: %zu bytes of %d of the signal stack were not used\n",
	       dsm_rank(), left, STACK);
	CHECK(left > STACK / 4);
	munmap(room, PAGE + STACK);
}

/* Differences of many pages, from all to all, at once. */
static void storm(void)
{
	enum { PAGES = 512 };
	volatile unsigned char *p = dsm_malloc(PAGES * PAGE);
	unsigned int me = dsm_rank();

	for (unsigned int turn = 1; turn < 6; turn++) {
		for (size_t i = 0; i < PAGES; i++)
			memset((void *)(p + i * PAGE + me * 256), turn + me, 200);
		dsm_acquire(me);
		dsm_release(me);
		dsm_barrier();
		for (size_t i = 0; i < PAGES; i++)
			for (unsigned int k = 0; k < dsm_size(); k++)
				CHECK(p[i * PAGE + k * 256] == turn + k);
		dsm_barrier();
	}
}

static void exits(void)
{
	if (dsm_rank())
		return;
	for (;;)
		dsm_barrier();
}

static void order(void)
{
	int first = dsm_rank() % 2;

	dsm_malloc_at(PAGE, first);
	dsm_malloc_at(PAGE, !first);
	dsm_barrier();
}

/* Without a barrier between: the page's home is another node for each. */
static void homes(void)
{
	volatile int *p = dsm_malloc_at(PAGE, !dsm_rank());

	for (;;) {
		*p = 1;
		dsm_acquire(0);
		dsm_release(0);
	}
}

static void again(void)
{
	dsm_acquire(3);
	dsm_acquire(3);
}

static void *release(void *lock)
{
	dsm_release((size_t)lock);
	return NULL;
}

static void another(void)
{
	pthread_t t;

	dsm_acquire(dsm_rank());
	pthread_create(&t, NULL, release, (void *)(size_t)dsm_rank());
	pthread_join(t, NULL);
}

static void *come(void *unused)
{
	dsm_barrier();
	return unused;
}

static void both(void)
{
	pthread_t t;

	if (!dsm_rank())
		for (;;)
			sleep(1);
	pthread_create(&t, NULL, come, NULL);
	come(NULL);
	pthread_join(t, NULL);
}

static void twice(void)
{
	dsm_exit();
	dsm_init();
}

/* Two hosts, by the names in the list, that have two nodes each. */
static void hosts(void)
{
	CHECK(few_here && few_here() == 2);
}

static const struct rule all[] = {
	{ "chained", chained, recover }, { "killed", killed, NULL },
	{ "ignored", ignored, ignore }, { "forgotten", forgotten, NULL },
	{ "hosts", hosts, NULL },
	{ "narrow", narrow, NULL }, { "storm", storm, NULL }, { "exits", exits, NULL },
	{ "order", order, NULL }, { "homes", homes, NULL },
	{ "again", again, NULL }, { "another", another, NULL },
	{ "both", both, NULL }, { "twice", twice, NULL },
};

int main(int argc, char **argv)
{
	return run_rule(argc, argv, all, sizeof(all) / sizeof(*all));
}

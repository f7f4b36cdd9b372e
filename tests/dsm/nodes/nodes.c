// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * dsmnodes WHAT: one rule of viadsm.h, started by viadsm. Status 0 where it
 * holds on this node; those whose end is a message end in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rule.h"

/* A counter, and a byte of each node in the same page. */
static void counter(void)
{
	enum { TURNS = 500 };
	unsigned char *page = dsm_malloc_at(PAGE, dsm_size() - 1);
	int *count = (int *)(page + 64);

	for (int i = 0; i < TURNS; i++) {
		dsm_acquire(i % 3);	/* three locks, three counters */
		count[i % 3]++;
		page[dsm_rank()]++;
		dsm_release(i % 3);
	}
	dsm_barrier();
	CHECK(count[0] + count[1] + count[2] == (int)(TURNS * dsm_size()));
	for (unsigned int i = 0; i < dsm_size(); i++)
		CHECK(page[i] == (unsigned char)TURNS);
}

/* All nodes write every page, other bytes of it: more changes at once than
 * there are receives posted. Each byte is another value than before.
 */
static void writers(void)
{
	enum { PAGES = 300 };
	unsigned char *p = dsm_malloc(PAGES * PAGE);
	unsigned int me = dsm_rank(), n = dsm_size();

	for (unsigned int turn = 1; turn < 5; turn++) {
		for (size_t i = me; i < PAGES * PAGE; i += n)
			p[i] = turn * 50 + i % 50;
		dsm_barrier();
		for (size_t i = 0; i < PAGES * PAGE; i += 61)
			CHECK(p[i] == (unsigned char)(turn * 50 + i % 50));
		dsm_barrier();
	}
}

static uint64_t fetches_of(volatile char *p, size_t page)
{
	struct dsm_stats before, after;

	dsm_stats(&before);
	CHECK(p[page * PAGE] == 1);
	dsm_stats(&after);
	return after.fetches - before.fetches;
}

/* Behind two faults at one distance each fault asks for more pages, up to eight;
 * one elsewhere asks for its own alone.
 */
static void ahead(void)
{
	enum { PAGES = 512, READS = 21 };
	static const unsigned char asked[READS] = {
		1, 1, 2, 0, 3, 0, 0, 5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 8,
	};
	static const struct { size_t first, step, beyond; } run[] = {
		{ 7, 1, 90 }, { 100, 4, 99 }, { 250, -1, 299 },
	};
	volatile char *p = dsm_malloc_at(PAGES * PAGE, 0);
	size_t r, i;

	if (!dsm_rank())
		for (i = 0; i < PAGES; i++)
			p[i * PAGE] = 1;
	dsm_barrier();
	for (r = 0; dsm_rank() && r < 3; r++) {
		for (i = 0; i < READS; i++)
			CHECK(fetches_of(p, run[r].first + i * run[r].step) ==
			      asked[i]);
		CHECK(fetches_of(p, run[r].beyond) == 1);
		CHECK(fetches_of(p, PAGES - 1 - r * r) == 1);
	}
	/* No page is behind the last one. */
	if (dsm_rank())
		for (i = PAGES - 16; i < PAGES; i++)
			fetches_of(p, i);
}

/* An interval whose notices need several messages: every other page. */
static void notices(void)
{
	enum { PAGES = 6000 };
	char *p = dsm_malloc_at(PAGES * PAGE, 0);
	unsigned int writer = dsm_size() - 1;

	for (int turn = 1; turn < 3; turn++) {
		if (dsm_rank() == writer)
			for (int i = 0; i < PAGES; i += 2)
				p[i * PAGE] = turn;
		dsm_barrier();
		for (int i = 0; i < PAGES; i += 40)
			CHECK(p[i * PAGE] == turn);
		dsm_barrier();
	}
}

static void *toucher(void *page)
{
	for (int turn = 0; turn < 200; turn++) {
		dsm_acquire(7);
		++*(int *)page;
		dsm_release(7);
	}
	return NULL;
}

/* Threads of one node fault on one page and wait for one lock. */
static void threads(void)
{
	int *count = dsm_malloc_at(PAGE, 0);
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, toucher, count);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	dsm_barrier();
	CHECK(*count == (int)(600 * dsm_size()));
}

/* The kernel does not fetch. */
static void touch(void)
{
	char *p = dsm_malloc_at(4 * PAGE, 0);
	int fd = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
	int pipes[2];

	CHECK(!pipe(pipes));
	if (!dsm_rank())
		memset(p, 'a', 4 * PAGE);
	dsm_barrier();
	if (dsm_rank()) {
		CHECK(write(pipes[1], p, PAGE) < 0 && errno == EFAULT);
		CHECK(!dsm_touch(p, PAGE, 0));
		CHECK(write(pipes[1], p, PAGE) == (ssize_t)PAGE);
		CHECK(read(fd, p, PAGE) < 0 && errno == EFAULT);
	}
	dsm_barrier();
	if (dsm_rank() == dsm_size() - 1) {
		CHECK(!dsm_touch(p + 100, 3 * PAGE, 1));
		CHECK(read(fd, p + 100, 3 * PAGE) == (ssize_t)(3 * PAGE));
	}
	dsm_barrier();
	CHECK(p[99] == 'a' && !p[100] && !p[3 * PAGE + 99] &&
	      p[3 * PAGE + 100] == 'a');
	CHECK(dsm_touch(&fd, 1, 0) < 0 && errno == EINVAL);
	CHECK(dsm_touch(p, 5 * PAGE, 0) < 0 && errno == EINVAL);
	close(fd);
	close(out);
}

static void memory(void)
{
	size_t first, end;
	char *p = dsm_malloc(1), *q = dsm_malloc(PAGE + 1);

	CHECK(q - p == (long)PAGE && !((size_t)p % PAGE));
	CHECK(!dsm_malloc(1ul << 40) && errno == ENOMEM);
	CHECK(!dsm_malloc(0) && errno == EINVAL);
	CHECK((char *)dsm_malloc(1) - q == (long)(2 * PAGE));
	dsm_share(10, &first, &end);
	CHECK(first == 10ul * dsm_rank() / dsm_size());
	CHECK(end == 10ul * (dsm_rank() + 1) / dsm_size());
}

static void dies(void)
{
	dsm_barrier();
	if (dsm_rank() == dsm_size() - 1)
		kill(getpid(), SIGKILL);
	for (;;)
		dsm_barrier();
}

/* The others wait for a lock that the dead one holds. */
static void holder(void)
{
	if (dsm_rank() == dsm_size() - 1)
		dsm_acquire(5);
	dsm_barrier();
	if (dsm_rank() == dsm_size() - 1)
		kill(getpid(), SIGKILL);
	dsm_acquire(5);
	_exit(0);
}

/* The others wait for a page whose home is dead. */
static void home(void)
{
	volatile char *p = dsm_malloc_at(PAGE, dsm_size() - 1);

	dsm_barrier();
	if (dsm_rank() == dsm_size() - 1)
		kill(getpid(), SIGKILL);
	usleep(100000);
	(void)*p;
	_exit(0);
}

/* The others are in dsm_exit(). */
static void last(void)
{
	dsm_barrier();
	if (dsm_rank() == dsm_size() - 1) {
		usleep(100000);
		kill(getpid(), SIGKILL);
	}
}

static void leaves(void)
{
	if (dsm_rank() == dsm_size() - 1)
		_exit(0);
	dsm_barrier();
}

static int status_of_child(void (*act)(void *), void *p)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		act(p);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_to(void *p)
{
	*(volatile char *)p = 1;
}

static void come(void *p)
{
	(void)p;
	dsm_barrier();
}

static void nothing(void *p)
{
	(void)p;
}

static void child(void)
{
	char *p = dsm_malloc(PAGE);

	*p = 7;
	CHECK(status_of_child(nothing, p) == 0);
	CHECK(status_of_child(write_to, p) == 2);
	CHECK(status_of_child(come, p) == 2);
	dsm_barrier();
}

static char *shared;

static void on_alarm(int sig)
{
	(void)sig;
	*shared = 1;	/* a page of another node's, invalid here */
}

/* A handler interrupts calls and touches shared memory. It ends in a message,
 * or the page is fetched where it came between two calls; so it comes until it
 * has met one, at most for 8 s.
 */
static void handler(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	time_t end = time(NULL) + 8;
	timer_t timer;

	shared = dsm_malloc_at(PAGE, 0);
	signal(SIGUSR1, on_alarm);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int i = 0; time(NULL) < end; i++) {
		soon.it_value.tv_nsec = 1 + i * 37 % 20000;
		if (dsm_rank())
			timer_settime(timer, 0, &soon, NULL);
		dsm_acquire(1);
		dsm_release(1);
	}
}

/* A fault that is none of ours has its old end: of no address, and behind the
 * last allocation. Who comes behind it ends with 0.
 */
static void elsewhere(void)
{
	volatile char *p = NULL;

	dsm_barrier();
	*p = 1;
	_exit(0);
}

static void behind(void)
{
	volatile char *p = dsm_malloc(PAGE);

	*p = 1;
	dsm_barrier();
	p[PAGE] = 1;
	_exit(0);
}

static void locks(void)
{
	dsm_barrier();
	dsm_release(3);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void reads_within(volatile char *p, double limit)
{
	double start = seconds();

	for (unsigned int i = 0; i < 64; i++)
		CHECK(p[i * PAGE] == 5);
	CHECK(seconds() - start < limit);
}

/* No thread of the home waits: its messages are taken all the same. */
static void computes(void)
{
	char *p = dsm_malloc_at(64 * PAGE, 0);
	double end = seconds() + 2;

	for (unsigned int i = 0; i < 64 && !dsm_rank(); i++)
		p[i * PAGE] = 5;
	dsm_barrier();
	if (dsm_rank())
		reads_within(p, 1);
	while (!dsm_rank() && seconds() < end)
		;
	dsm_barrier();
}

static void sleep_long(int sig)
{
	(void)sig;
	sleep(3);
}

/* A handler runs on the home's thread, which waits. */
static void kept(void)
{
	const struct itimerval soon = { .it_value.tv_usec = 200000 };
	char *p = dsm_malloc_at(64 * PAGE, 0);

	for (unsigned int i = 0; i < 64 && !dsm_rank(); i++)
		p[i * PAGE] = 5;
	signal(SIGALRM, sleep_long);
	dsm_barrier();
	if (!dsm_rank())
		setitimer(ITIMER_REAL, &soon, NULL);
	else
		usleep(500000);
	if (dsm_rank())
		reads_within(p, 1.5);
	dsm_barrier();
}

static const struct rule all[] = {
	{ "computes", computes, NULL }, { "kept", kept, NULL },
	{ "counter", counter, NULL }, { "writers", writers, NULL },
	{ "notices", notices, NULL }, { "ahead", ahead, NULL },
	{ "threads", threads, NULL },
	{ "touch", touch, NULL }, { "memory", memory, NULL },
	{ "child", child, NULL }, { "dies", dies, NULL },
	{ "leaves", leaves, NULL }, { "handler", handler, NULL },
	{ "elsewhere", elsewhere, NULL }, { "locks", locks, NULL },
	{ "behind", behind, NULL }, { "holder", holder, NULL },
	{ "home", home, NULL }, { "last", last, NULL },
};

int main(int argc, char **argv)
{
	return run_rule(argc, argv, all, sizeof(all) / sizeof(*all));
}

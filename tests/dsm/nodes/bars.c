// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * dsmbars [LIMIT [FAULT]]: what a fault, a release, a hand-over of a lock and a
 * barrier take between two nodes, beside a message and an RDMA Read of the same
 * NIC in the same run: medians, in microseconds, of node 0. Started by viadsm -n 2.
 * Status 1 where a figure is more than LIMIT times its bar, where LIMIT is not
 * 0. The bar of a fault is FAULT RDMA Reads, 3 if it is not said: between two
 * machines it is 1.3.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <viadsm.h>

#include "bare.h"

#define PAGE	4096u
#define PAGES	512u
#define TURNS	1000
#define TURNS_OF_ALL	3	/* of which each has all pages */
#define HOLD_NS	200000	/* the other node asks for the lock meanwhile */

struct times {
	double us[TURNS_OF_ALL * PAGES + TURNS];
	int count;
};

static struct times samples, read_us, round_us;
static double message, bare_read, limit, fault_bar;
static int failed;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void take(struct times *t, double us)
{
	t->us[t->count++] = us;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Takes them away. */
static double median(struct times *t)
{
	int count = t->count;

	t->count = 0;
	qsort(t->us, count, sizeof(*t->us), by_size);
	return count ? t->us[count / 2] : 0;
}

static void judge(double ratio, double bar, const char *of)
{
	printf(", %.2f %s; bar %.1f", ratio, of, bar);
	if (ratio > bar)
		printf(", missed");
	if (limit && ratio > bar * limit)
		failed = 1;
}

/* Beside its bar, so many times `unit`, where there is one. */
static void show(const char *what, double unit, double bar, const char *of)
{
	double us = median(&samples);

	if (dsm_rank())
		return;
	printf("%-34s %8.2f us", what, us);
	if (unit > 0)
		judge(us / unit, bar, of);
	printf("\n");
}

/* Both nodes call it; node 1 answers. */
static void bare(void)
{
	for (int i = 0; i < TURNS; i++) {
		double start = now();

		bare_round();
		take(&round_us, now() - start);
	}
	for (int i = 0; i < TURNS && !dsm_rank(); i++) {
		double start = now();

		bare_read_page();
		take(&read_us, now() - start);
	}
	bare_round();	/* node 1 has waited for it */
	message = median(&round_us) / 2;
	bare_read = median(&read_us);
	if (!dsm_rank())
		printf("%-34s %8.2f us\n%-34s %8.2f us\n",
		       "a message of 64 bytes, bare", message,
		       "an RDMA Read of 4 KiB, bare", bare_read);
	dsm_barrier();
}

/* The home of the pages is node 1: it changes each, and then waits. */
static void change_all(volatile unsigned char *p)
{
	if (dsm_rank())
		for (size_t i = 0; i < PAGES; i++)
			p[i * PAGE]++;
	dsm_barrier();
}

/* Triangular numbers: of a power of two pages each comes once, and no two
 * distances in turn are equal, so that no page is asked for ahead.
 */
static void scattered_reads(volatile unsigned char *p)
{
	for (size_t i = 0; i < PAGES && !dsm_rank(); i++) {
		double start = now();

		(void)p[i * (i + 1) / 2 % PAGES * PAGE];
		take(&samples, now() - start);
	}
	dsm_barrier();
}

static void strided_reads(volatile unsigned char *p)
{
	double start = now();

	if (!dsm_rank()) {
		for (size_t i = 0; i < PAGES; i++)
			(void)p[i * PAGE];
		take(&samples, (now() - start) / PAGES);
	}
	dsm_barrier();
}

static void faults(volatile unsigned char *p)
{
	for (int turn = 0; turn < TURNS_OF_ALL; turn++) {
		change_all(p);
		scattered_reads(p);
	}
	show("a fault: fetch of a page and map", bare_read, fault_bar,
	     "RDMA Reads");
	for (int turn = 0; turn < TURNS_OF_ALL; turn++) {
		change_all(p);
		strided_reads(p);
	}
	show("a page of all, one after another", 0, 0, "");
	for (size_t i = 0; i < PAGES && !dsm_rank(); i++) {
		double start = now();

		p[i * PAGE]++;
		take(&samples, now() - start);
	}
	show("the first write of a page (twin)", 0, 0, "");
	dsm_barrier();
}

/* One byte of one page goes home at each release. */
static void releases(volatile unsigned char *p)
{
	for (int i = 0; i < TURNS && !dsm_rank(); i++) {
		double start;

		dsm_acquire(0);
		p[0]++;
		start = now();
		dsm_release(0);
		take(&samples, now() - start);
	}
	show("a release of a page with a change", 0, 0, "");
	dsm_barrier();
}

/* Another node was asked for the lock. */
static bool acquired_from_other(unsigned int lock)
{
	struct dsm_stats before, after;

	dsm_stats(&before);
	dsm_acquire(lock);
	dsm_stats(&after);
	return after.remote_acquires > before.remote_acquires;
}

/* The nodes hold a lock in turn, since each asks for it while the other holds
 * it. From its release to its next grant a node waits for two hand-overs and
 * the other's hold. Turns in which a node took the lock back at once do not
 * count, and are counted.
 */
static void hand_over(double *hold)
{
	const struct timespec pause = { .tv_nsec = HOLD_NS };
	double released = 0, granted, mine;
	int kept = 0;

	for (int i = 0; i < TURNS; i++) {
		if (!acquired_from_other(2))
			kept++;
		else if (released)
			take(&samples, now() - released);
		granted = now();
		nanosleep(&pause, NULL);
		released = now();
		take(&read_us, released - granted);
		dsm_release(2);
	}
	mine = median(&read_us);
	hold[dsm_rank()] = mine;
	dsm_barrier();
	for (int i = 0; i < samples.count; i++)
		samples.us[i] = (samples.us[i] - hold[!dsm_rank()]) / 2;
	show("a lock's hand-over, alternating", message, 2.5, "messages");
	if (!dsm_rank() && kept > 1)
		printf("%-34s %8d turns of %d\n", "  the lock stayed", kept, TURNS);
	if (kept > TURNS / 2) {
		printf("node %u: the nodes did not alternate\n", dsm_rank());
		failed = 1;
	}
	dsm_barrier();
}

static void barriers(void)
{
	for (int i = 0; i < TURNS; i++) {
		double start = now();

		dsm_barrier();
		take(&samples, now() - start);
	}
	show("a barrier", message, 2.5, "messages");
}

/* Every other double of a page that has its home elsewhere, as red-black
 * relaxation changes them.
 */
static void changes(unsigned char *p)
{
	struct dsm_stats before, after;
	double *d = (double *)p;

	dsm_stats(&before);
	for (int turn = 0; turn < 4; turn++) {
		for (size_t i = turn % 2; i < PAGES * PAGE / 8 && !dsm_rank();
		     i += 2)
			d[i] = 1.0 / (double)(i + 3 + turn / 2);
		dsm_barrier();
	}
	dsm_stats(&after);
	if (dsm_rank())
		return;
	printf("%-34s %8llu KiB", "bytes sent home, every other double",
	       (unsigned long long)(after.diff_bytes - before.diff_bytes) / 1024);
	judge((double)(after.diff_bytes - before.diff_bytes) /
	      (double)(after.changed_bytes - before.changed_bytes), 1.3,
	      "of the bytes changed");
	printf("\n");
}

int main(int argc, char **argv)
{
	unsigned char *p;
	double *hold;

	limit = argc > 1 ? atof(argv[1]) : 0;
	fault_bar = argc > 2 ? atof(argv[2]) : 3;
	bare_note();
	dsm_init();
	if (dsm_size() != 2) {
		fprintf(stderr, "dsmbars is for two nodes: viadsm -n 2\n");
		return 2;
	}
	p = dsm_malloc_at(PAGES * PAGE, 1);
	hold = dsm_malloc_at(PAGE, 0);
	bare_open(dsm_rank());
	bare();
	faults(p);
	releases(p);
	hand_over(hold);
	barriers();
	changes(p);
	dsm_exit();
	return failed;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * dsmbars: what a fault, a release, a lock that stays and a barrier take:
 * medians, in microseconds, of node 0. Started by viadsm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <viadsm.h>

#define PAGE	4096u
#define PAGES	512u
#define TURNS	2000

static double us[TURNS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void show(const char *what, int count)
{
	qsort(us, count, sizeof(*us), by_size);
	if (!dsm_rank())
		printf("%-40s %8.2f us\n", what, us[count / 2]);
}

/* The home of the pages is the last node, which waits in a barrier. */
static void faults(volatile unsigned char *p)
{
	unsigned int writer = dsm_size() - 1;
	int n = 0;

	for (int turn = 0; turn < 3; turn++) {
		if (dsm_rank() == writer)
			for (size_t i = 0; i < PAGES; i++)
				p[i * PAGE]++;
		dsm_barrier();
		for (size_t i = 0; i < PAGES && !dsm_rank(); i++) {
			double start = now();

			(void)p[i * PAGE];
			us[n++] = now() - start;
		}
		dsm_barrier();
	}
	show("fault, fetch of a page and map", dsm_rank() ? 1 : n);
	n = 0;
	for (size_t i = 0; i < PAGES && !dsm_rank(); i++) {
		double start = now();

		p[i * PAGE]++;
		us[n++] = now() - start;
	}
	show("first write of a page (twin)", dsm_rank() ? 1 : n);
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
		us[i] = now() - start;
	}
	show("release of a page with one change", dsm_rank() ? 1 : TURNS);
	dsm_barrier();
}

/* Mostly a node takes again the lock that it has just released: this is no
 * figure of a hand-over, in which two nodes alternate.
 */
static void own_lock(void)
{
	double start = now();

	for (int i = 0; i < TURNS && dsm_rank() < 2; i++) {
		dsm_acquire(2);
		dsm_release(2);
	}
	us[0] = (now() - start) / TURNS;
	show("acquire and release, two nodes at once", 1);
	dsm_barrier();
}

static void barriers(void)
{
	for (int i = 0; i < TURNS; i++) {
		double start = now();

		dsm_barrier();
		us[i] = now() - start;
	}
	show("barrier", TURNS);
}

int main(void)
{
	unsigned char *p;

	dsm_init();
	p = dsm_malloc_at(PAGES * PAGE, dsm_size() - 1);
	faults(p);
	releases(p);
	own_lock();
	barriers();
	dsm_exit();
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Molecular dynamics: particles in a box that repeats, with the potential of
 * Lennard and Jones. Each pair is computed once, by one of the workers, and its
 * force belongs to both: a worker adds its sums to everyone's behind locks, in
 * whole numbers, so that the order does not matter.
 *
 *	viadsm -n 4 molecules [PARTICLES [STEPS]]
 */
#include <math.h>
#include <stdint.h>

#include "crew.h"

#define GROUP	64		/* particles behind one lock */
#define REACH	2.5
#define STEP	0.001
#define UNIT	1e-9		/* of forces */

struct box {
	int count;
	double side;
	double (*at)[3], (*speed)[3];
	int64_t (*force)[3];
};

static double nearest(double way, double side)
{
	return way - side * nearbyint(way / side);
}

static void pair(const struct box *b, int i, int j, int64_t (*sum)[3])
{
	double way[3], square = 0, over, force;

	for (int d = 0; d < 3; d++) {
		way[d] = nearest(b->at[i][d] - b->at[j][d], b->side);
		square += way[d] * way[d];
	}
	if (square > REACH * REACH)
		return;
	over = 1 / (square * square * square);
	force = 24 * over * (2 * over - 1) / square;
	for (int d = 0; d < 3; d++) {
		int64_t f = force * way[d] / UNIT;

		sum[i][d] += f;
		sum[j][d] -= f;
	}
}

static void compute(const struct box *b, size_t first, size_t end,
		    int64_t (*sum)[3])
{
	memset(sum, 0, b->count * sizeof(*sum));
	for (size_t i = first; i < end; i++)
		for (int k = 1; k <= b->count / 2; k++)
			if (2 * k < b->count || (int)i < b->count / 2)
				pair(b, i, (i + k) % b->count, sum);
}

/* Groups begin with the worker's own, so that not all want the same lock. */
static void give(struct box *b, size_t first, int64_t (*sum)[3])
{
	int groups = (b->count + GROUP - 1) / GROUP;

	for (int k = 0; k < groups; k++) {
		int g = (first / GROUP + k) % groups;

		crew_acquire(g);
		for (int i = g * GROUP; i < b->count && i < (g + 1) * GROUP; i++)
			for (int d = 0; d < 3; d++)
				b->force[i][d] += sum[i][d];
		crew_release(g);
	}
}

static void move(struct box *b, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		for (int d = 0; d < 3; d++) {
			b->speed[i][d] += STEP * UNIT * b->force[i][d];
			b->at[i][d] += STEP * b->speed[i][d];
			b->force[i][d] = 0;
		}
}

static void fill(struct box *b, size_t first, size_t end)
{
	int across = ceil(cbrt(b->count));

	for (size_t i = first; i < end; i++)
		for (int d = 0; d < 3; d++) {
			int place = d == 0 ? i % across : d == 1 ?
				i / across % across : i / across / across;

			b->at[i][d] = 1.2 * place + i * 37 % 11 * 0.01;
			b->speed[i][d] = 0;
			b->force[i][d] = 0;
		}
}

static int check(const struct box *shared, int64_t (*sum)[3], int steps,
		 double seconds)
{
	size_t bytes = shared->count * sizeof(*shared->at);
	struct box own = *shared;
	double start;
	int right;

	own.at = malloc(bytes);
	own.speed = malloc(bytes);
	own.force = malloc(bytes);
	if (!own.at || !own.speed || !own.force)
		return 2;
	fill(&own, 0, own.count);
	start = crew_seconds();
	for (int i = 0; i < steps; i++) {
		compute(&own, 0, own.count, sum);
		memcpy(own.force, sum, bytes);
		move(&own, 0, own.count);
	}
	start = crew_seconds() - start;
	right = !memcmp(own.at, shared->at, bytes);
	free(own.at);
	free(own.speed);
	free(own.force);
	return crew_report("molecules", seconds, start, right);
}

static int work(int argc, char **argv)
{
	struct box b = { .count = crew_argument(argc, argv, 1, 512) };
	int steps = crew_argument(argc, argv, 2, 3), status = 0;
	size_t bytes = b.count * sizeof(*b.at), first, end;
	int64_t (*sum)[3] = malloc(bytes);
	double start;

	b.side = 1.2 * ceil(cbrt(b.count));
	b.at = crew_malloc(bytes);
	b.speed = crew_malloc(bytes);
	b.force = crew_malloc(bytes);
	if (!sum || !b.at || !b.speed || !b.force ||
	    b.count > 1024 * GROUP) {
		fprintf(stderr, "molecules: no memory for the particles\n");
		return 1;
	}
	crew_share(b.count, &first, &end);
	fill(&b, first, end);
	crew_barrier();
	start = crew_seconds();
	for (int i = 0; i < steps; i++) {
		compute(&b, first, end, sum);
		give(&b, first, sum);
		crew_barrier();
		move(&b, first, end);
		crew_barrier();
	}
	start = crew_seconds() - start;
	if (!crew_rank())
		status = check(&b, sum, steps, start);
	free(sum);
	return status;
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}

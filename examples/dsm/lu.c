// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * LU factorisation by blocks, without pivots, of a matrix whose diagonal
 * dominates. The blocks are dealt out in two dimensions, and each one is at
 * home where it is computed.
 *
 *	viadsm -n 4 lu [SIDE]
 */
#include "crew.h"

#define B	32	/* side of a block; it fills two pages */

struct matrix {
	int blocks;		/* of one side */
	unsigned int down, across;	/* the workers, as a rectangle */
	double **at;		/* of each block */
};

static unsigned int owner(const struct matrix *m, int i, int j)
{
	return i % m->down * m->across + j % m->across;
}

static double *block(const struct matrix *m, int i, int j)
{
	return m->at[i * m->blocks + j];
}

static void fill(double *a, int side, int i, int j)
{
	for (int r = 0; r < B; r++)
		for (int c = 0; c < B; c++)
			a[r * B + c] = i == j && r == c ? 2.0 * side :
				((i * B + r) * 31 + (j * B + c) * 17) % 23 / 8.0;
}

static void factor(double *a)
{
	for (int k = 0; k < B; k++)
		for (int r = k + 1; r < B; r++) {
			a[r * B + k] /= a[k * B + k];
			for (int c = k + 1; c < B; c++)
				a[r * B + c] -= a[r * B + k] * a[k * B + c];
		}
}

/* a: a block of the column below d; it is divided by d's upper half. */
static void divide(double *a, const double *d)
{
	for (int k = 0; k < B; k++)
		for (int r = 0; r < B; r++) {
			a[r * B + k] /= d[k * B + k];
			for (int c = k + 1; c < B; c++)
				a[r * B + c] -= a[r * B + k] * d[k * B + c];
		}
}

/* a: a block of the row beside d; solved by d's lower half. */
static void solve(double *a, const double *d)
{
	for (int k = 0; k < B; k++)
		for (int r = k + 1; r < B; r++)
			for (int c = 0; c < B; c++)
				a[r * B + c] -= d[r * B + k] * a[k * B + c];
}

static void subtract(double *a, const double *left, const double *up)
{
	for (int r = 0; r < B; r++)
		for (int k = 0; k < B; k++)
			for (int c = 0; c < B; c++)
				a[r * B + c] -= left[r * B + k] *
						up[k * B + c];
}

/* The share of worker `me`, or all where it is -1. */
static int mine(const struct matrix *m, int me, int i, int j)
{
	return me < 0 || owner(m, i, j) == (unsigned int)me;
}

static void pause_for(int me)
{
	if (me >= 0)
		crew_barrier();
}

static void decompose(const struct matrix *m, int me)
{
	int n = m->blocks, i, j, k;

	for (k = 0; k < n; k++) {
		if (mine(m, me, k, k))
			factor(block(m, k, k));
		pause_for(me);
		for (i = k + 1; i < n; i++) {
			if (mine(m, me, i, k))
				divide(block(m, i, k), block(m, k, k));
			if (mine(m, me, k, i))
				solve(block(m, k, i), block(m, k, k));
		}
		pause_for(me);
		for (i = k + 1; i < n; i++)
			for (j = k + 1; j < n; j++)
				if (mine(m, me, i, j))
					subtract(block(m, i, j), block(m, i, k),
						 block(m, k, j));
	}
	pause_for(me);
}

static int check(const struct matrix *shared, double seconds)
{
	int n = shared->blocks, right = 1;
	double *all = malloc(sizeof(*all) * n * n * B * B), start;
	struct matrix own = *shared;

	own.at = malloc(sizeof(*own.at) * n * n);
	if (!all || !own.at)
		return 2;
	for (int i = 0; i < n * n; i++) {
		own.at[i] = all + (size_t)i * B * B;
		fill(own.at[i], n * B, i / n, i % n);
	}
	start = crew_seconds();
	decompose(&own, -1);
	start = crew_seconds() - start;
	for (int i = 0; i < n * n; i++)
		right &= !memcmp(own.at[i], shared->at[i],
				 sizeof(*all) * B * B);
	free(all);
	free(own.at);
	return crew_report("lu", seconds, start, right);
}

/* Each worker's blocks are one piece of memory, at its node. */
static int allot(struct matrix *m)
{
	int n = m->blocks, count[32] = { 0 };
	double *piece[32];

	for (int i = 0; i < n * n; i++)
		count[owner(m, i / n, i % n)]++;
	for (unsigned int w = 0; w < crew_size(); w++) {
		piece[w] = crew_malloc_at(sizeof(double) * B * B *
					  (count[w] ? count[w] : 1), w);
		if (!piece[w])
			return 0;
	}
	for (int i = 0; i < n * n; i++) {
		unsigned int w = owner(m, i / n, i % n);

		m->at[i] = piece[w];
		piece[w] += B * B;
	}
	return 1;
}

static int work(int argc, char **argv)
{
	struct matrix m = {
		.blocks = (crew_argument(argc, argv, 1, 512) + B - 1) / B,
		.down = 1,
	};
	int n = m.blocks, status = 0;
	double start;

	for (unsigned int d = 1; d * d <= crew_size(); d++)
		if (!(crew_size() % d))
			m.down = d;
	m.across = crew_size() / m.down;
	m.at = malloc(sizeof(*m.at) * n * n);
	if (!m.at || !allot(&m)) {
		fprintf(stderr, "lu: no memory for the matrix\n");
		return 1;
	}
	for (int i = 0; i < n * n; i++)
		if (mine(&m, crew_rank(), i / n, i % n))
			fill(m.at[i], n * B, i / n, i % n);
	crew_barrier();
	start = crew_seconds();
	decompose(&m, crew_rank());
	start = crew_seconds() - start;
	if (!crew_rank())
		status = check(&m, start);
	free(m.at);
	return status;
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}

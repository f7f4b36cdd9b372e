// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Red-black successive over-relaxation: each point of a grid becomes the mean
 * of its neighbours, the points of one colour first. A worker has a block of
 * rows, and reads the last row of each neighbour.
 *
 *	viadsm -n 4 sor [SIDE [ITERATIONS]]
 */
#include "crew.h"

static void fill(double *grid, int side, size_t first, size_t end)
{
	for (size_t r = first; r < end; r++)
		for (int c = 0; c < side; c++)
			grid[r * side + c] = (r * 7 + c * 13) % 101;
}

static void relax(double *grid, int side, size_t first, size_t end, int colour)
{
	for (size_t r = first ? first : 1; r < end && r + 1 < (size_t)side; r++) {
		double *row = grid + r * side;

		for (int c = 1 + (r + colour + 1) % 2; c < side - 1; c += 2)
			row[c] = (row[c - side] + row[c + side] + row[c - 1] +
				  row[c + 1]) * 0.25;
	}
}

static int check(const double *grid, int side, int iterations, double seconds)
{
	double *own = malloc(sizeof(*own) * side * side), start;
	int right;

	if (!own)
		return 2;
	fill(own, side, 0, side);
	start = crew_seconds();
	for (int i = 0; i < 2 * iterations; i++)
		relax(own, side, 0, side, i % 2);
	start = crew_seconds() - start;
	right = !memcmp(own, grid, sizeof(*own) * side * side);
	free(own);
	return crew_report("sor", seconds, start, right);
}

static int work(int argc, char **argv)
{
	int side = crew_argument(argc, argv, 1, 512), status = 0;
	int iterations = crew_argument(argc, argv, 2, 20);
	double *grid = crew_malloc(sizeof(*grid) * side * side), start;
	size_t first, end;

	if (!grid) {
		fprintf(stderr, "sor: no memory for the grid\n");
		return 1;
	}
	crew_share(side, &first, &end);
	fill(grid, side, first, end);
	crew_barrier();
	start = crew_seconds();
	for (int i = 0; i < 2 * iterations; i++) {
		relax(grid, side, first, end, i % 2);
		crew_barrier();
	}
	start = crew_seconds() - start;
	if (!crew_rank())
		status = check(grid, side, iterations, start);
	return status;
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * PageRank of a graph that is made from a formula. A worker has a block of
 * vertices, and reads the ranks of those that point to them. Half of the edges
 * come from near vertices, as in a web of sites.
 *
 *	viadsm -n 4 pagerank [VERTICES [ITERATIONS]]
 */
#include "crew.h"

#define EDGES	8	/* that come to a vertex */

static size_t source(size_t v, int e, size_t count)
{
	unsigned long long h = (v * EDGES + e + 1) * 0x9E3779B97F4A7C15ull;

	h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9ull;
	h ^= h >> 32;
	return e % 2 ? h % count : (v + count + h % 256 - 128) % count;
}

static void count_out(unsigned int *out, size_t count)
{
	memset(out, 0, count * sizeof(*out));
	for (size_t v = 0; v < count; v++)
		for (int e = 0; e < EDGES; e++)
			out[source(v, e, count)]++;
}

static void iterate(double *to, const double *from, const unsigned int *out,
		    size_t count, size_t first, size_t end)
{
	for (size_t v = first; v < end; v++) {
		double sum = 0;

		for (int e = 0; e < EDGES; e++) {
			size_t u = source(v, e, count);

			sum += from[u] / out[u];
		}
		to[v] = 0.15 / count + 0.85 * sum;
	}
}

static int check(const double *rank, const unsigned int *out, size_t count,
		 int iterations, double seconds)
{
	double *own[2], start;
	int right;

	for (int i = 0; i < 2; i++) {
		own[i] = malloc(count * sizeof(double));
		if (!own[i])
			return 2;
	}
	for (size_t v = 0; v < count; v++)
		own[0][v] = 1.0 / count;
	start = crew_seconds();
	for (int i = 0; i < iterations; i++)
		iterate(own[(i + 1) % 2], own[i % 2], out, count, 0, count);
	start = crew_seconds() - start;
	right = !memcmp(own[iterations % 2], rank, count * sizeof(double));
	free(own[0]);
	free(own[1]);
	return crew_report("pagerank", seconds, start, right);
}

static int work(int argc, char **argv)
{
	size_t count = crew_argument(argc, argv, 1, 20000), first, end;
	int iterations = crew_argument(argc, argv, 2, 5), status = 0;
	unsigned int *out = malloc(count * sizeof(*out));
	double *rank[2], start;

	for (int i = 0; i < 2; i++)
		rank[i] = crew_malloc(count * sizeof(double));
	if (!out || !rank[0] || !rank[1]) {
		fprintf(stderr, "pagerank: no memory for the graph\n");
		return 1;
	}
	count_out(out, count);
	crew_share(count, &first, &end);
	for (size_t v = first; v < end; v++)
		rank[0][v] = 1.0 / count;
	crew_barrier();
	start = crew_seconds();
	for (int i = 0; i < iterations; i++) {
		iterate(rank[(i + 1) % 2], rank[i % 2], out, count, first, end);
		crew_barrier();
	}
	start = crew_seconds() - start;
	if (!crew_rank())
		status = check(rank[iterations % 2], out, count, iterations,
			       start);
	free(out);
	return status;
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}

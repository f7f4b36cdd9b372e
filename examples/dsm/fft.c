// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A Fourier transform of SIDE * SIDE points in six steps: the points are a
 * matrix, whose rows are transformed between transpositions. A worker has a
 * block of rows; a transposition reads columns from everyone.
 *
 *	viadsm -n 4 fft [SIDE]		SIDE: a power of two
 */
#include <complex.h>
#include <math.h>

#include "crew.h"

typedef double complex point;

struct job {
	size_t side, first, end;	/* rows of this worker */
	point *a, *b;
	int alone;
};

static const double turn = 6.283185307179586476925286766559;

static void wait_all(const struct job *j)
{
	if (!j->alone)
		crew_barrier();
}

/* By tiles, so that a page of each row is read at once. */
static void transpose(const struct job *j, point *to, const point *from)
{
	enum { TILE = 16 };
	size_t n = j->side;

	for (size_t r0 = j->first; r0 < j->end; r0 += TILE)
		for (size_t c0 = 0; c0 < n; c0 += TILE)
			for (size_t r = r0; r < r0 + TILE && r < j->end; r++)
				for (size_t c = c0; c < c0 + TILE && c < n; c++)
					to[r * n + c] = from[c * n + r];
	wait_all(j);
}

/* In place, radix 2. */
static void transform(point *x, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n / 2;
		point t = x[i];

		for (; j & bit; bit /= 2)
			j -= bit;
		j += bit;
		if (i < j) {
			x[i] = x[j];
			x[j] = t;
		}
	}
	for (size_t len = 2; len <= n; len *= 2)
		for (size_t k = 0; k < len / 2; k++) {
			point w = cexp(-I * turn * k / len);

			for (size_t i = k; i < n; i += len) {
				point u = x[i], v = x[i + len / 2] * w;

				x[i] = u + v;
				x[i + len / 2] = u - v;
			}
		}
}

static void rows(const struct job *j, point *m, int twiddle)
{
	size_t n = j->side;

	for (size_t r = j->first; r < j->end; r++) {
		transform(m + r * n, n);
		for (size_t c = 0; twiddle && c < n; c++)
			m[r * n + c] *= cexp(-I * turn * (r * c) / (n * n));
	}
	wait_all(j);
}

static void six_steps(const struct job *j)
{
	transpose(j, j->b, j->a);
	rows(j, j->b, 1);
	transpose(j, j->a, j->b);
	rows(j, j->a, 0);
	transpose(j, j->b, j->a);
}

static void fill(const struct job *j)
{
	for (size_t i = j->first * j->side; i < j->end * j->side; i++)
		j->a[i] = (i * 7919 % 1013) / 1013.0 +
			  I * ((i * 104729 % 997) / 997.0);
}

/* Some values by the definition. */
static int is_transform(const struct job *in, const point *out)
{
	size_t n = in->side * in->side;

	for (size_t k = 1; k < n; k = k * 5 + 3) {
		point sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += in->a[i] * cexp(-I * turn * (i * k % n) / n);
		if (cabs(sum - out[k]) > 1e-6 * n)
			return 0;
	}
	return 1;
}

static int check(const struct job *shared, double seconds)
{
	size_t n = shared->side, bytes = n * n * sizeof(point);
	struct job own = { .side = n, .end = n, .a = malloc(bytes),
			   .b = malloc(bytes), .alone = 1 };
	double start;
	int right;

	if (!own.a || !own.b)
		return 2;
	fill(&own);
	start = crew_seconds();
	six_steps(&own);
	start = crew_seconds() - start;
	right = !memcmp(own.b, shared->b, bytes);
	fill(&own);
	right &= is_transform(&own, shared->b);
	free(own.a);
	free(own.b);
	return crew_report("fft", seconds, start, right);
}

static int work(int argc, char **argv)
{
	struct job j = { .side = crew_argument(argc, argv, 1, 128) };
	int status = 0;
	double start;

	if (j.side < 2 || j.side & (j.side - 1)) {
		fprintf(stderr, "fft: the side is no power of two\n");
		return 1;
	}
	crew_share(j.side, &j.first, &j.end);
	j.a = crew_malloc(j.side * j.side * sizeof(point));
	j.b = crew_malloc(j.side * j.side * sizeof(point));
	if (!j.a || !j.b) {
		fprintf(stderr, "fft: no memory for the points\n");
		return 1;
	}
	fill(&j);
	crew_barrier();
	start = crew_seconds();
	six_steps(&j);
	start = crew_seconds() - start;
	if (!crew_rank())
		status = check(&j, start);
	return status;
}

int main(int argc, char **argv)
{
	return crew_main(argc, argv, work);
}

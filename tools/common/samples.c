// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "samples.h"

void samples_reserve(struct samples *s, size_t room)
{
	uint64_t *v;

	if (room <= s->room)
		return;
	v = realloc(s->v, room * sizeof(*v));
	if (!v)
		die("out of memory for %zu samples", room);
	/* Touch it now: a page fault must not land in a measured round. */
	memset(v + s->room, 0, (room - s->room) * sizeof(*v));
	s->v = v;
	s->room = room;
}

void samples_free(struct samples *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double half_us(const struct samples *s, double fraction)
{
	size_t i = (size_t)ceil(fraction * (double)s->n);

	return (double)s->v[i ? i - 1 : 0] / 2000.0;
}

void samples_summary(struct samples *s, struct lat_summary *out)
{
	double sum = 0, var = 0;

	qsort(s->v, s->n, sizeof(*s->v), cmp_u64);
	for (size_t i = 0; i < s->n; i++)
		sum += (double)s->v[i] / 2000.0;
	out->avg = sum / (double)s->n;
	for (size_t i = 0; i < s->n; i++) {
		double d = (double)s->v[i] / 2000.0 - out->avg;

		var += d * d;
	}
	out->stdev = sqrt(var / (double)s->n);
	out->min = (double)s->v[0] / 2000.0;
	out->max = (double)s->v[s->n - 1] / 2000.0;
	out->typical = half_us(s, 0.5);
	out->p90 = half_us(s, 0.9);
	out->p99 = half_us(s, 0.99);
	out->p999 = half_us(s, 0.999);
	out->p9999 = half_us(s, 0.9999);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_SAMPLES_H
#define TOOLS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Round-trip times of one run, ns. */
struct samples {
	uint64_t	*v;
	size_t		n, room;
};

/* Half round trips, us. */
struct lat_summary {
	double	min, max, typical, avg, stdev, p90, p99, p999, p9999;
};

void samples_reserve(struct samples *s, size_t room);
void samples_free(struct samples *s);

static inline void samples_add(struct samples *s, uint64_t ns)
{
	if (__builtin_expect(s->n == s->room, 0))
		samples_reserve(s, s->room ? s->room * 2 : 4096);
	s->v[s->n++] = ns;
}

/* Sorts the samples. There must be one at least. */
void samples_summary(struct samples *s, struct lat_summary *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_HIST_H
#define TOOLS_HIST_H

#include <stdint.h>
#include <stdio.h>

/*
 * A histogram of HdrHistogram's layout for three significant digits: buckets
 * of 1,024 counts each (the first one of 2,048), of which each next one takes
 * values of twice the width.
 */
#define HIST_HALF_BITS	10
#define HIST_HALF	(1u << HIST_HALF_BITS)
#define HIST_BUCKETS	32
#define HIST_LARGEST	3600000000000ull	/* an hour of ns */
#define HIST_COUNTS	((HIST_BUCKETS + 1) * HIST_HALF)

struct hist {
	uint64_t	n, max;
	uint64_t	count[HIST_COUNTS];
};

void hist_add(struct hist *h, uint64_t value);

/* The largest value that is counted with the one at this fraction of all. */
uint64_t hist_at(const struct hist *h, double fraction);

/* In the compressed form of version 2, as base64: a field of a log's line. */
void hist_write(const struct hist *h, FILE *f);

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Figures of vipl_lat and viaping: of rounds that take seconds, too. */
#include "samples.h"
#include "hist.h"
#include "unit.h"
#include "msg.h"
#include <stdlib.h>

#define S	1000000000ull

void die(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

void *xcalloc(size_t n, size_t size)
{
	return calloc(n, size);
}

static int is(double got, double want)
{
	return got > want * 0.999999 && got < want * 1.000001;
}

/* A round of 10 s is one of 5,000,000 us each way; so are its percentiles. */
static void seconds(void)
{
	struct samples s = { 0 };
	struct lat_summary l;
	unsigned int i;

	samples_add(&s, 10 * S);
	for (i = 0; i < 9; i++)
		samples_add(&s, 2000);
	samples_summary(&s, &l);
	CU_ASSERT(is(l.max, 5000000) && is(l.p99, 5000000));
	CU_ASSERT(is(l.p9999, 5000000) && is(l.avg, 500000.9));
	CU_ASSERT(is(l.min, 1) && is(l.typical, 1) && is(l.p90, 1));
	samples_free(&s);
}

/* All that the histogram of the same rounds can hold. */
static void histogram(void)
{
	struct hist *h = calloc(1, sizeof(*h));

	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	hist_add(h, 3000 * S);
	CU_ASSERT_EQUAL(h->max, 3000 * S);
	CU_ASSERT(is((double)hist_at(h, 0.99), 3e12));
	free(h);
}

UNIT_MAIN("samples",
	{ "rounds of seconds", seconds },
	{ "a histogram of seconds", histogram });

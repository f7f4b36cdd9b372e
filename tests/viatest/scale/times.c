// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <stdio.h>
#include <string.h>

#define SLACK_US	10.0	/* and a clock of this machine's grain */
#define TELLING		500u	/* a quarter of fewer is chance */

static char verdict[256];	/* the last word of the program */

/* A low quantile: what an operation takes where nothing comes between. */
static double low_us(const uint64_t *ns, uint32_t n)
{
	return time_of_rank(ns, n, n / 10) / 1e3;
}

void report_times(const char *what, const uint64_t *ns, uint32_t n,
		  enum order_of order)
{
	uint32_t part = n / 4 ? n / 4 : 1, i;
	double first = low_us(ns, part), last = low_us(ns + n - part, part);
	double few = order == FEW_FIRST ? first : last;
	double many = order == FEW_FIRST ? last : first;
	double sum = 0;
	size_t len;

	for (i = 0; i < n; i++)
		sum += ns[i];
	printf("%s n %u us_each %.1f few_us %.1f many_us %.1f\n", what, n,
	       sum / n / 1e3, few, many);
	if (n < TELLING || 2 * many <= 3 * few + SLACK_US)
		return;
	len = strlen(verdict);
	snprintf(verdict + len, sizeof(verdict) - len,
		 "%s%s grows: %.1f us with few, %.1f with many",
		 len ? "; " : "", what, few, many);
}

int last_word(int status)
{
	if (status || !verdict[0])
		return status;
	warn_msg("%s", verdict);
	return GROWS;
}

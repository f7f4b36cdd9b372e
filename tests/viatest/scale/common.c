// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t scale_dice(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (x * 0x2545f4914f6cdd1dull) >> 32;
}

uint64_t dice_seed(uint64_t seed, uint64_t n)
{
	uint64_t x = (seed << 32 | n) + 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (x ^ x >> 31) | 1;
}

void peer_address(union net_addr *n, const struct nic *nic)
{
	if (scale_opt.host)
		net_addr_resolve(n, nic, scale_opt.host);
	else
		net_addr_local(n, nic, "", 0);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A low quantile: what an operation takes where nothing comes between. */
static double low_us(const uint64_t *ns, uint32_t n)
{
	uint64_t *copy = xcalloc(n, sizeof(*copy));
	double low;

	memcpy(copy, ns, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_size);
	low = copy[n / 10] / 1e3;
	free(copy);
	return low;
}

#define SLACK_US	10.0	/* and a clock of this machine's grain */
#define TELLING		500u	/* a quarter of fewer is chance */

static char verdict[256];	/* the last word of the program */

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

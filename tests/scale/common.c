// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t dice(uint64_t *state)
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
	if (opt.host)
		net_addr_resolve(n, nic, opt.host);
	else
		net_addr_local(n, nic, "", 0);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median_us(const uint64_t *ns, uint32_t n)
{
	uint64_t *copy = xcalloc(n, sizeof(*copy));
	double median;

	memcpy(copy, ns, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_size);
	median = copy[n / 2] / 1e3;
	free(copy);
	return median;
}

#define SLACK_US	50.0	/* and a clock of this machine's grain */
#define TELLING		500u	/* a tenth of fewer is chance */

int report_times(const char *what, const uint64_t *ns, uint32_t n)
{
	uint32_t tenth = n / 10 ? n / 10 : 1, i;
	double first = median_us(ns, tenth), sum = 0;
	double last = median_us(ns + n - tenth, tenth);

	for (i = 0; i < n; i++)
		sum += ns[i];
	printf("%s n %u us_each %.1f first_us %.1f last_us %.1f\n", what, n,
	       sum / n / 1e3, first, last);
	if (n < TELLING || last <= 3 * first + SLACK_US)
		return 0;
	fprintf(stderr, "viascale: %s gets slower: %.1f us at first, %.1f at last\n",
		what, first, last);
	return 1;
}

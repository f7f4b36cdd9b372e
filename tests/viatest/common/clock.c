// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "clock.h"
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t time_of_rank(const uint64_t *ns, uint32_t n, uint32_t rank)
{
	uint64_t *copy = xcalloc(n, sizeof(*copy)), found;

	memcpy(copy, ns, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_size);
	found = copy[rank];
	free(copy);
	return found;
}

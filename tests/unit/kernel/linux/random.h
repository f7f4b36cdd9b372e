/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests: the same bytes in each run. */
#ifndef UNIT_RANDOM_H
#define UNIT_RANDOM_H

#include <stddef.h>
#include <stdlib.h>

static inline void get_random_bytes(void *p, size_t n)
{
	unsigned char *b = p;

	while (n--)
		*b++ = random() >> 8;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_PINS_H
#define TESTS_PINS_H

#include <stdint.h>

/* Pages pinned for long, on all CPUs; -1 where the kernel does not count. */
long pinned(void);
/* The same, when there are no more than @before, or after @ms. */
long pinned_after(long before, uint32_t ms);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_TIMES_H
#define TESTS_TIMES_H

#include <stdint.h>

/* The one of n times than which @rank are less. */
uint64_t time_of_rank(const uint64_t *ns, uint32_t n, uint32_t rank);

#endif

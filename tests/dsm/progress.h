/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_DSM_PROGRESS_H
#define TESTS_DSM_PROGRESS_H

#include <stdint.h>

/* A random run of the threads of one node by dsm/lead.h: NULL, or what went
 * wrong.
 */
const char *progress(uint64_t seed);

#endif

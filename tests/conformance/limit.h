/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_CONFORMANCE_LIMIT_H
#define TESTS_CONFORMANCE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A limit of users (via(8), "via limit") of the agent: true if there is one of
 * that name, and for a change if it is ours to make.
 */
bool limit_get(const char *name, uint64_t *value);
bool limit_set(const char *name, uint64_t value);

#endif

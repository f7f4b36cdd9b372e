/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Results for machines: a file of lines, each a JSON object. The first says
 * what ran where, then there is one for each test, then one for the end.
 */
#ifndef CONFORMANCE_RESULTS_H
#define CONFORMANCE_RESULTS_H

#include "harness.h"

/* False, with errno, when the file cannot be written. */
bool results_open(const char *path, const char *device, const char *peer,
		  unsigned int levels);
void results_test(const struct group *g, VIP_RELIABILITY_LEVEL level,
		  bool passed, unsigned int ms);
bool results_close(unsigned int ran, unsigned int failed, unsigned int ms);

#endif

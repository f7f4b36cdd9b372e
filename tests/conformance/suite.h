/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The three levels of the suite, each of which includes those before it. */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H

#include "harness.h"

enum suite { SUITE_EARLY, SUITE_FUNCTIONAL, SUITE_FULL, SUITES };

/* All tables of groups, in the order in which they run. */
extern const struct noun *const nouns[];
extern const unsigned int n_nouns;

enum suite suite_of(const struct group *g);
const char *suite_name(enum suite s);
/* SUITES when there is none of that name. */
enum suite suite_by_name(const char *name);

/* Lists groups one by one, and then how many they are. */
struct suite_count {
	unsigned int groups[SUITES];
	unsigned int sunny;
};

void suite_list(struct suite_count *c, const struct group *g);
void suite_total(const struct suite_count *c);

#endif

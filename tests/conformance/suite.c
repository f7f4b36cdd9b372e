// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "suite.h"
#include <stdio.h>
#include <string.h>

static const char *const names[SUITES] = { "early", "functional", "full" };

enum suite suite_of(const struct group *g)
{
	if (g->flags & G_EARLY)
		return SUITE_EARLY;
	return g->flags & G_FULL ? SUITE_FULL : SUITE_FUNCTIONAL;
}

const char *suite_name(enum suite s)
{
	return names[s];
}

enum suite suite_by_name(const char *name)
{
	enum suite s = 0;

	while (s < SUITES && strcmp(names[s], name))
		s++;
	return s;
}

void suite_list(struct suite_count *c, const struct group *g)
{
	bool sunny = g->flags & G_SUNNY;

	printf("%-27s %-11s%-6s %s\n", g->name, suite_name(suite_of(g)),
	       sunny ? "sunny" : "", g->section);
	c->groups[suite_of(g)]++;
	c->sunny += sunny;
}

void suite_total(const struct suite_count *c)
{
	unsigned int early = c->groups[SUITE_EARLY];
	unsigned int functional = early + c->groups[SUITE_FUNCTIONAL];
	unsigned int full = functional + c->groups[SUITE_FULL];

	printf("%u groups: early %u, functional %u, full %u\n", full, early,
	       functional, full);
	if (full)
		printf("%u of them (%u %%) exercise failure, limits or "
		       "races\n", full - c->sunny,
		       100 * (full - c->sunny) / full);
}

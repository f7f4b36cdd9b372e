// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "suite.h"
#include <stdio.h>
#include <string.h>

extern const struct noun nic_noun, ptag_noun, memory_noun, memattr_noun,
	vi_noun, setvi_noun, states_noun, connect_noun, accept_noun, p2p_noun,
	send_noun, immediate_noun, queue_noun, format_noun, protection_noun,
	post_noun, rdma_noun, rdmaprot_noun, read_noun, reception_noun,
	order_noun, disconnect_noun, wait_noun, notify_noun, cq_noun,
	cqvi_noun, resize_noun, threads_noun, process_noun, handles_noun,
	names_noun, discover_noun, mgmt_noun, errors_noun,
	limits_noun, compat_noun, ext_noun;

const struct noun *const nouns[] = {
	&nic_noun,
	&ptag_noun,
	&memory_noun,
	&memattr_noun,
	&vi_noun,
	&setvi_noun,
	&states_noun,
	&connect_noun,
	&accept_noun,
	&p2p_noun,
	&send_noun,
	&immediate_noun,
	&queue_noun,
	&format_noun,
	&protection_noun,
	&post_noun,
	&rdma_noun,
	&rdmaprot_noun,
	&read_noun,
	&reception_noun,
	&order_noun,
	&disconnect_noun,
	&wait_noun,
	&notify_noun,
	&cq_noun,
	&cqvi_noun,
	&resize_noun,
	&threads_noun,
	&process_noun,
	&handles_noun,
	&names_noun,
	&discover_noun,
	&mgmt_noun,
	&errors_noun,
	&limits_noun,
	&compat_noun,
	&ext_noun,
};
const unsigned int n_nouns = ARRAY_SIZE(nouns);

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

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Nodes of the protocol in one process, and the channels between them. Which
 * message comes next is drawn from a seed.
 */
#ifndef TESTS_DSM_SIM_H
#define TESTS_DSM_SIM_H

#include "../../dsm/node.h"

#define SIM_PAGES	4u
#define SIM_PAGE	64u	/* bytes */

struct sim_item {
	struct sim_item *next;
	struct dsm_msg *msg;	/* NULL: an RDMA Read */
	uint32_t page;
	unsigned int stage;	/* of it */
};

struct sim_channel {
	struct sim_item *first, **last;
};

struct sim_node {
	struct sim *sim;
	struct node node;
	uint8_t mem[SIM_PAGES * SIM_PAGE], twin[SIM_PAGES * SIM_PAGE];
	uint8_t flag[8], home[8], state[8], bits[8];
	uint32_t dirty[8], noticed[8];
	enum page_view view[SIM_PAGES];
	struct sim_channel in[DSM_NODES], read[DSM_NODES];
};

struct sim {
	unsigned int size;
	uint64_t random;
	const char *wrong;	/* what the nodes did, or NULL */
	struct sim_node *at[DSM_NODES];
};

uint32_t sim_draw(struct sim *s, uint32_t below);

/* Reads by RDMA, or by messages. */
struct sim *sim_new(uint64_t seed, unsigned int size, bool rdma);
void sim_free(struct sim *s);

/* Each page's view is that of its state, by the table in node.h. */
bool sim_views_fit(const struct sim *s);

/* Something on the way arrives; false: nothing is. */
bool sim_deliver(struct sim *s);

#endif

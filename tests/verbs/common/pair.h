/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A connection with both ends in this process, for programs that use it. */
#ifndef VERBS_PAIR_H
#define VERBS_PAIR_H

#include "end.h"

struct pair {
	struct end *end[2];	/* the active one first */
	uint32_t conn[2], mr[2], listener;
	struct limits limits;
};

/* With memory of so many bytes and all rights; q->srq: 0 or 1; false: told on stderr. */
bool pair_open(struct pair *p, const char *near, const char *far,
	       const struct queues *q, uint64_t mem);
void pair_close(struct pair *p);

static inline struct conn *pair_conn(const struct pair *p, int which)
{
	return &p->end[which]->conn[p->conn[which]];
}

static inline struct memory *pair_mem(const struct pair *p, int which)
{
	return &p->end[which]->mem[p->mr[which]];
}

#endif

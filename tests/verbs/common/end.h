/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* One end: objects of libibverbs and librdmacm, and orders about them. */
#ifndef VERBS_END_H
#define VERBS_END_H

#include "order.h"
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#define MAX_CONNS	1100
#define MAX_MRS		64
#define MAX_PDS		8

struct conn {
	struct rdma_cm_id *id;		/* NULL: the entry is free */
	struct rdma_event_channel *events;
	struct ibv_comp_channel *channel[2];
	struct ibv_cq *cq[2];		/* of the send and the receive queue */
	bool one_cq;
};

struct memory {
	uint8_t *bytes;			/* NULL: the entry is free */
	size_t len;
	struct ibv_mr *mr;		/* NULL: deregistered */
	struct ibv_pd *pd;
};

/* Entry 0 of each table is the end's own: an address, none, a domain. */
struct end {
	struct conn conn[MAX_CONNS];
	struct memory mem[MAX_MRS];
	struct ibv_pd *pd[MAX_PDS];
};

/* Carries the order out. */
void end_do(struct end *e, const struct order *o, struct answer *a);

/* Of an order's parts: connections (end_cm.c), queues (end_queue.c). */
bool end_cm(struct end *e, const struct order *o, struct answer *a);
bool end_queue(struct end *e, const struct order *o, struct answer *a);

/* NULL, with the answer's rc set, where there is no such object. */
struct conn *end_conn(struct end *e, uint32_t n, struct answer *a);

/* The fd becomes readable within ms. */
bool end_wait(int fd, uint32_t ms);

#endif

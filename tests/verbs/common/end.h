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
#define MAX_SRQS	4
#define DEVICE_MAPS	64

struct conn {
	struct rdma_cm_id *id;		/* NULL: the entry is free */
	struct rdma_event_channel *events;
	struct ibv_comp_channel *channel[2];
	struct ibv_cq *cq[2];		/* of the send and the receive queue */
	bool one_cq;
	bool number;			/* of no librdmacm: @id is ours */
	int gid;			/* its index, then */
};

struct memory {
	uint8_t *bytes;			/* NULL: the entry is free */
	size_t len;
	struct ibv_mr *mr;		/* NULL: deregistered */
	struct ibv_pd *pd;
};

struct shared {
	struct ibv_srq *srq;		/* NULL: the entry is free */
	void *ring;			/* as the device maps it, or NULL */
	uint32_t entries;
};

/* Entry 0 of each table is the end's own: an address, none, a domain. */
struct end {
	struct conn conn[MAX_CONNS];
	struct memory mem[MAX_MRS];
	struct ibv_pd *pd[MAX_PDS];
	struct shared srq[MAX_SRQS];
};

/* Carries the order out. */
void end_do(struct end *e, const struct order *o, struct answer *a);

/* Of an order's parts: connections (end_cm.c), queues (end_queue.c, end_srq.c). */
bool end_cm(struct end *e, const struct order *o, struct answer *a);
bool end_queue(struct end *e, const struct order *o, struct answer *a);
bool end_srq(struct end *e, const struct order *o, struct answer *a);

/* What end_cm() does for connections by number; end_number() is for orders of theirs. */
bool end_number(struct end *e, const struct order *o, struct answer *a);
struct conn *end_unused(struct end *e, struct answer *a, uint32_t first);
bool end_is_number(const char *address);
int number_qp(struct conn *c, struct ibv_pd *pd, struct ibv_qp_init_attr *init,
	      uint8_t *gid);
void number_drop(struct conn *c);
/* Its queue pair, of whichever kind; one that cannot go yet stays. */
void end_drop_qp(struct conn *c);

/* NULL, with the answer's rc set, where there is no such object. */
struct conn *end_conn(struct end *e, uint32_t n, struct answer *a);

/* Of memory that is deregistered there is no key; a skewed 0 is none. */
/* Milliseconds of a clock that only goes on. */
uint64_t now_ms(void);
bool end_segments(struct end *e, const struct work *w, struct ibv_sge *s);

/* Of calls that return an errno, or its negative: the negative. */
static inline int end_rc(int rc)
{
	return rc < 0 ? rc : -rc;
}

/* The fd becomes readable within ms. */
bool end_wait(int fd, uint32_t ms);

#endif

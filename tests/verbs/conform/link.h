/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A connection under test, and short names for what tests do with it. */
#ifndef VERBS_LINK_H
#define VERBS_LINK_H

#include "suite.h"

#define MEM_LEN		(68 << 10)
#define ALL_RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ)

struct mem {
	struct side *side;
	uint32_t n, key, rkey;
	uint64_t addr, len;
};

struct point {			/* one end of the connection */
	struct side *side;
	uint32_t conn;
	uint32_t qp;
	uint32_t cqe;		/* as it was made */
	uint32_t inline_data;
	uint8_t gid[16];	/* where it is connected by number */
	struct mem mem;
};

struct link {
	struct point near, far;
	uint32_t listener;
	struct answer request, reply;	/* events of connecting */
};

struct plan {
	struct queues queues;
	struct offer near, far;
	const char *listen, *from, *to;
	uint64_t mem;
	uint32_t access;
	uint32_t near_srq, far_srq;
};

extern const struct plan usual;

/* The steps of connecting: tests of connections take some. */
bool point_listen(struct point *p, const char *address, uint32_t backlog,
		  uint32_t *port);
/* The same at the far end. */
bool link_listen(struct link *l, const char *address, uint32_t backlog,
		 uint32_t *port);
/* To the request at the near end; resolving failed: rc. */
int link_resolve(struct point *p, const char *from, const char *to,
		 uint32_t port);
bool point_queues(struct point *p, const struct queues *q);
bool point_offer(struct point *p, enum op op, const struct offer *f);
/* By number: to RTR, and to RTS unless rtr_only. */
int point_meet(struct point *p, const struct point *peer, const struct offer *f,
	       bool rtr_only);
/* Both ends, in INIT. */
bool link_ends(struct link *l, const struct queues *near_queues,
	       const struct queues *far_queues);
/* The next event, any; and the one that is to be. */
bool point_event(struct point *p, struct answer *a, uint32_t ms);
bool point_expect(struct point *p, enum rdma_cm_event_type want,
		  struct answer *a);
void point_drop(struct point *p);
/* All of them, with memory at both ends. */
bool link_open(struct link *l, const struct plan *p);
/* From a listener that is there. */
bool link_through(struct link *l, const struct plan *p, uint32_t port);
void link_close(struct link *l);

bool mem_new(struct side *s, struct mem *m, uint64_t len, uint32_t access,
	     uint32_t pd);
bool mem_drop(struct mem *m);
void mem_fill(struct mem *m, uint64_t off, uint64_t len, uint32_t seed);
bool mem_is(struct mem *m, uint64_t off, uint64_t len, uint32_t seed);

/* A work request of one segment; of none when len is 0 and m NULL. */
struct work work(uint64_t id, const struct mem *m, uint64_t off, uint32_t len);
struct work rdma(uint64_t id, enum ibv_wr_opcode opcode, const struct mem *m,
		 uint64_t off, uint32_t len, const struct mem *remote,
		 uint64_t roff);
/* n of them with wr_id counted up; rc. */
int post_send(struct point *p, const struct work *w, uint32_t n);
int post_recv(struct point *p, const struct work *w, uint32_t n);
/* A signalled SEND out of the point's memory, a receive into it. */
int send_one(struct point *p, uint64_t id, uint64_t off, uint32_t len);
int recv_one(struct point *p, uint64_t id, uint64_t off, uint32_t len);

/* The next completion; false where none came. */
bool next_done(struct point *p, int which, struct done *d);
/* How many of n came until none came any more; in a->done. */
uint32_t all_done(struct point *p, int which, uint32_t n, struct answer *a,
		  uint32_t ms);
bool nothing_done(struct point *p, int which);
/* The next completion is this one's, with that status. */
bool expect_done(struct point *p, int which, uint64_t id,
		 enum ibv_wc_status status, const char *file, int line);
#define DONE(p, which, id, status) \
	expect_done(p, which, id, IBV_WC_##status, __FILE__, __LINE__)

int point_state(struct point *p);
int point_modify(struct point *p, enum ibv_qp_state s);
int point_do(struct point *p, enum op op);
int point_arm(struct point *p, int which, bool solicited);
bool point_notified(struct point *p, int which, uint32_t ms);

/* Both ends know that the connection is no more. */
void link_ended(struct link *l);
/* The next asynchronous event of the point's queues within ms, or -1. */
int point_async(struct point *p, uint32_t ms);
/* One of the near device's own counters; -1: it has none of that name. */
long long near_counter(const char *name);

#endif

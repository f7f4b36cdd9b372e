/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a test asks of one end of a connection.  Both ends take the same orders:
 * the near one always and the far one by default are in the test's process; the
 * far one of another machine reads them from a TCP connection.  Both machines
 * run the same program on the same architecture, so an order goes as it is.
 *
 * An address is one of IP, for librdmacm; or a device, '#' and the index of a GID, or
 * an address of IPv4 that is one: then
 * ends are connected by the numbers of their queue pairs, and there are no listeners, no
 * events.
 *
 * Objects are numbers of the end: connections (with their queues), memory,
 * protection domains.  An answer's rc is 0 or a negative errno.
 */
#ifndef VERBS_ORDER_H
#define VERBS_ORDER_H

#include <stdint.h>

#define ORDER_MAGIC	0x76627330u
#define MAX_SGES	16
#define MAX_DATA	256
#define MAX_WCS		32

enum op {
	/* One end as a whole */
	OP_OPEN,	/* address; answers the device and its limits */
	OP_ASYNC,	/* conn, srq, ms; the next event of its CQs, its QP, that SRQ */
	/* Connections */
	OP_LISTEN,	/* address, port, n: backlog; answers the port */
	OP_RESOLVE,	/* address: own, peer, port; a connection, no queues */
	OP_QUEUES,	/* conn, struct queues */
	OP_CONNECT,	/* conn, struct offer */
	OP_ACCEPT,	/* conn, struct offer */
	OP_REJECT,	/* conn, struct offer: the data */
	OP_EVENT,	/* conn, ms; a request's is a new connection */
	OP_DISCONNECT,	/* conn */
	OP_DROP,	/* conn, queues and all */
	OP_MEET,	/* conn, n: the peer's QP, gid, struct offer; by number;
			 * flags: to RTR only
			 */
	OP_INIT,	/* conn, of no connection manager, out of RESET */
	/* Memory */
	OP_PD,
	OP_DROP_PD,
	OP_MR,		/* pd, len, flags: access */
	OP_DROP_MR,	/* mr; its bytes stay where they are */
	OP_FILL,	/* mr, off, len, seed */
	OP_CHECK,	/* mr, off, len, seed; v[0]: how many are as filled */
	/* Queues */
	OP_SEND,	/* conn, struct work, n of them with wr_id counted up; flags: one call */
	OP_RECV,	/* the same */
	OP_POLL,	/* conn, which, ms, n: at most so many */
	OP_ARM,		/* conn, which, n: solicited only */
	OP_CQ_EVENT,	/* conn, which, ms */
	OP_STATE,	/* conn */
	OP_MODIFY,	/* conn, n: to this state */
	/* Shared receive queues */
	OP_SRQ,		/* pd, n: entries; v[0]: how many it has */
	OP_SRQ_RECV,	/* srq, struct work, n of them */
	OP_SRQ_RING,	/* srq, off: entry, n: segments, flags, struct work: raw */
	OP_SRQ_MODIFY,	/* srq, n, flags: enum ibv_srq_attr_mask */
	OP_SRQ_QUERY,	/* srq; v[0]: entries, v[1]: limit */
	OP_DROP_SRQ,	/* srq */
	OPS
};

enum { SQ, RQ };

struct queues {
	uint32_t send_wr, recv_wr, sge, inline_data, cqe;
	uint32_t pd;		/* 0: that of the end */
	uint32_t all_signalled;
	uint32_t one_cq;	/* of both queues */
	uint32_t srq;		/* 0: receives of its own */
};

struct offer {
	uint32_t ird, ord, rnr_retry, len;
	uint8_t data[MAX_DATA];
};

struct sge {
	uint32_t mr, len;
	uint64_t off;		/* in the memory */
	uint32_t skew;		/* this is xored into the key */
};

struct work {
	uint64_t id;
	uint32_t opcode, flags, n_sge, rkey;
	uint64_t raddr;
	struct sge sge[MAX_SGES];
};

struct order {
	uint32_t magic, op;
	uint32_t conn, mr, pd, srq, n, which, ms, flags, seed, port;
	uint64_t off, len;
	char address[64], peer[64];
	uint8_t gid[16];
	union {
		struct queues queues;
		struct offer offer;
		struct work work;
	};
};

/* A completion; the device's names of things. */
struct done {
	uint64_t id;
	uint32_t status, opcode, len, qp;
};

struct limits {
	char device[64];
	uint32_t iwarp, max_sge, max_sge_rd, max_wr, max_cqe, max_rd_atom;
	uint32_t max_init_rd, max_srq, max_srq_wr;
	uint64_t max_msg;
};

struct answer {
	int32_t rc;
	uint32_t n;		/* a new object, or how many */
	uint32_t event;
	int32_t status;
	uint32_t key, rkey;
	uint64_t v[4];
	uint8_t gid[16];	/* of queues that are connected by number */
	union {
		struct offer offer;
		struct limits limits;
		struct queues queues;
		struct done done[MAX_WCS];
	};
};

#endif

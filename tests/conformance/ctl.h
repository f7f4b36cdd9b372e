/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The control connection to the peer: one VI on a NIC handle of its own, one
 * request and one answer at a time, of plain fixed-size data.
 */
#ifndef CONFORMANCE_CTL_H
#define CONFORMANCE_CTL_H

#include "ledger.h"
#include "xfer.h"

#define CTL_MAGIC	0x76631005	/* changes with what follows */
#define CTL_DISC_MAX	64
#define CTL_SLOTS	6

/* What the peer can be told to do. rc and the fields named are the answer. */
enum ctl_cmd {
	P_HELLO,	/* addr, handle, len: the arena; magic */
	P_RESET,	/* destroys all but the arena; rc: whether it could */
	P_PTAG,		/* obj */
	P_REGION,	/* len, ptag, rdma, off -> obj, addr, handle */
	P_DEREG,	/* obj */
	P_VI,		/* level, mtu, ptag, rdma -> obj */
	P_DESTROY,	/* vi */
	P_CWAIT,	/* disc, timeout -> obj (connection), peer_* , bad */
	P_ACCEPT,	/* conn, vi */
	P_REJECT,	/* conn */
	P_LISTEN,	/* P_CWAIT, then P_ACCEPT: rc, rc2 */
	/* vi, disc, timeout: the peer is the client; count: ms to seek */
	P_REQUEST,
	P_DISCONNECT,	/* vi */
	P_POST,		/* vi, queue, x, count -> addr: the descriptor */
	P_DONE,		/* vi, queue -> rc, addr, status, ... */
	P_WAIT,		/* and timeout, verify */
	P_QUERY,	/* vi -> state, send_empty, recv_empty */
	P_ERRORS,	/* vi, code, timeout, count: of them -> count */
	P_FILL,		/* addr, len, value */
	P_OTHER,	/* addr, len, value -> bad: bytes that differ */
	P_WRONG,	/* addr, len, seed -> bad */
	P_PUT,		/* addr, len, seed: the pattern goes there */
	P_WATCH,	/* addr, len, seed: the last byte's arrival -> bad */
	P_DIE,		/* SIGKILL */
	P_EXIT,		/* exit() without closing */
	P_QUIT,		/* no more sessions after this one */
	P_JOIN,		/* slot: the answer of what runs there */
	P_PEER_REQUEST,	/* vi, disc: own, peer_disc, host, timeout */
	P_PEER_RESULT,	/* vi, count: 1 to wait -> rc, peer_*, bad */
	P_MEET,		/* P_PEER_REQUEST, then P_PEER_RESULT: rc, rc2 */
	P_CHECK,	/* x, len: xfer_wrong_after_loss() -> bad */
};

#define CTL_NO_PTAG	(-1)	/* NULL Ptag, or NULL attributes */
#define CTL_MAIN_PTAG	(-2)	/* the tag of the arena */

/* Rights of a VI or a region, in rdma. */
#define CTL_WRITE	0x1
#define CTL_READ	0x2

struct ctl_msg {
	uint32_t magic;
	uint32_t cmd;		/* enum ctl_cmd */
	uint32_t spawn;		/* 1: run in a thread, answer at once */
	uint32_t slot;		/* of the thread */
	uint32_t obj;
	uint32_t vi;
	uint32_t conn;
	uint32_t queue;
	uint32_t count;
	uint32_t timeout;	/* ms */
	uint32_t level;
	uint32_t rdma;
	uint32_t state;
	uint32_t send_empty;
	uint32_t recv_empty;
	uint32_t code;
	uint32_t status;
	uint32_t length;
	uint32_t immediate;
	uint32_t handle;
	uint32_t seed;
	uint32_t value;
	uint32_t verify;	/* 1: check the buffers against the pattern */
	uint32_t intact;	/* 1: the descriptor is as it should be */
	int32_t ptag;
	int32_t rc;
	int32_t rc2;
	uint32_t off;
	uint64_t mtu;
	uint64_t addr;
	uint64_t len;
	uint64_t bad;
	struct xfer x;
	/* What a server learned about its client. */
	uint64_t peer_mtu;
	uint32_t peer_level;
	uint32_t peer_rdma;
	uint32_t peer_disc_len;
	uint32_t disc_len;
	uint8_t disc[CTL_DISC_MAX];
	uint8_t peer_disc[CTL_DISC_MAX];
	uint32_t host_len;
	uint8_t host[32];
};

struct ctl {
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES attr;
	VIP_VI_HANDLE vi;
	VIP_MEM_HANDLE mem_h;
	uint8_t *mem;
	bool sending;			/* the last send is not collected */
};

/* Client: the peer's address in host. Retries while no server waits. */
VIP_RETURN ctl_connect(struct ctl *c, const char *device, const uint8_t *host,
		       unsigned int host_len, const char *disc,
		       unsigned int timeout_ms);
/* Server: takes the next client. */
VIP_RETURN ctl_serve(struct ctl *c, const char *device, const char *disc);

/* False when the connection is gone or the time is up. */
bool ctl_send(struct ctl *c, const struct ctl_msg *m);
bool ctl_recv(struct ctl *c, struct ctl_msg *m, VIP_ULONG timeout_ms);

#endif

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RC through libibverbs: rdma_rxe in the lab. */
#include "pattern.h"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"

#define GID_INDEX	1	/* perftest's -x 1: the IPv4 address */
#define PORT		1
#define MAX_MSGS	64	/* completions that one look takes */

struct qp {
	struct ibv_qp	*qp;
	struct ibv_mr	*mr;
	unsigned char	*mem, *sbuf, *rbuf, *target;
	uint32_t	sposted, sdone;
	uint64_t	to;		/* RDMA Write: address, key */
	uint32_t	to_key;
};

struct rc {
	struct ibv_context *ctx;
	struct ibv_pd	*pd;
	struct ibv_comp_channel *chans[2];
	struct ibv_cq	*cqs[2];	/* of sends, of receives */
	uint32_t	slot;		/* bytes of a buffer */
	struct qp	qps[MAX_CONNS];
	/* Receives that one look at the queue has taken. */
	struct ibv_wc	wcs[MAX_MSGS];
	int		nwcs, at;
};

enum { SENDS, RECVS };

static uint64_t id_of(int i, uint32_t slot)
{
	return (uint64_t)i << 32 | slot;
}

static struct ibv_context *device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!*name || !strcmp(ibv_get_device_name(list[i]), name)) {
			ctx = ibv_open_device(list[i]);
			break;
		}
	if (list)
		ibv_free_device_list(list);
	if (!ctx)
		die("no RDMA device '%s': rdma link add rxe0 type rxe netdev eth0",
		    name);
	return ctx;
}

static void post_recv(struct rc *r, int i, uint32_t slot)
{
	struct qp *q = &r->qps[i];
	struct ibv_sge sge = {
		.addr = (uintptr_t)(q->rbuf + (size_t)slot * r->slot),
		.length = r->slot, .lkey = q->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = id_of(i, slot), .sg_list = &sge, .num_sge = 1,
	};

	check(ibv_post_recv(q->qp, &wr, &bad), "ibv_post_recv");
}

static void make_qp(struct rc *r, struct qp *q)
{
	struct ibv_qp_init_attr init = {
		.send_cq = r->cqs[SENDS], .recv_cq = r->cqs[RECVS],
		.cap = { .max_send_wr = TX_DEPTH, .max_recv_wr = RX_DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	size_t bytes = (size_t)r->slot * (TX_DEPTH + RX_DEPTH + 1);

	q->mem = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	if (!q->mem)
		die("out of memory (%zu bytes)", bytes);
	memset(q->mem, 0, bytes);
	q->sbuf = q->mem;
	q->rbuf = q->sbuf + (size_t)r->slot * TX_DEPTH;
	q->target = q->rbuf + (size_t)r->slot * RX_DEPTH;
	q->mr = ibv_reg_mr(r->pd, q->mem, bytes, IBV_ACCESS_LOCAL_WRITE |
			   IBV_ACCESS_REMOTE_WRITE);
	check(!q->mr, "ibv_reg_mr");
	q->qp = ibv_create_qp(r->pd, &init);
	check(!q->qp, "ibv_create_qp");
	check(ibv_modify_qp(q->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			    IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "QP to INIT");
}

static void rc_open(struct set *s, struct where *here)
{
	const struct ask *a = &s->ask;
	struct rc *r = xcalloc(1, sizeof(*r));
	union ibv_gid gid;

	s->own = r;
	s->sent_is_there = true;
	r->slot = a->size > a->answer ? a->size : a->answer;
	r->slot = (r->slot + 63) & ~63u;
	r->ctx = device(a->dev);
	r->pd = ibv_alloc_pd(r->ctx);
	check(!r->pd, "ibv_alloc_pd");
	check(ibv_query_gid(r->ctx, PORT, GID_INDEX, &gid), "ibv_query_gid");
	for (int k = 0; k < 2; k++) {
		r->chans[k] = ibv_create_comp_channel(r->ctx);
		check(!r->chans[k], "ibv_create_comp_channel");
		r->cqs[k] = ibv_create_cq(r->ctx, a->conns *
					  (TX_DEPTH + RX_DEPTH), NULL,
					  r->chans[k], 0);
		check(!r->cqs[k], "ibv_create_cq");
	}
	for (int i = 0; i < a->conns; i++) {
		struct qp *q = &r->qps[i];

		make_qp(r, q);
		for (uint32_t n = 0; n < RX_DEPTH; n++)
			post_recv(r, i, n);
		memcpy(here[i].addr, &gid, sizeof(gid));
		here[i].qpn = q->qp->qp_num;
		here[i].target = (uintptr_t)q->target;
		here[i].key = q->mr->rkey;
	}
}

/* Timeouts and retries are perftest's. */
static void rc_join(struct set *s, const struct where *there)
{
	struct rc *r = s->own;

	for (int i = 0; i < s->ask.conns; i++) {
		struct qp *q = &r->qps[i];
		struct ibv_qp_attr rtr = {
			.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
			.dest_qp_num = there[i].qpn, .max_dest_rd_atomic = 1,
			.min_rnr_timer = 12,
			.ah_attr = {
				.is_global = 1, .port_num = PORT,
				.grh = { .sgid_index = GID_INDEX,
					 .hop_limit = 64 },
			},
		};
		struct ibv_qp_attr rts = {
			.qp_state = IBV_QPS_RTS, .timeout = 14,
			.retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
		};

		memcpy(&rtr.ah_attr.grh.dgid, there[i].addr,
		       sizeof(there[i].addr));
		check(ibv_modify_qp(q->qp, &rtr, IBV_QP_STATE | IBV_QP_AV |
				    IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER), "QP to RTR");
		check(ibv_modify_qp(q->qp, &rts, IBV_QP_STATE |
				    IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC), "QP to RTS");
		q->to = there[i].target;
		q->to_key = there[i].key;
	}
}

static void rc_close(struct set *s)
{
	struct rc *r = s->own;

	for (int i = 0; i < s->ask.conns; i++) {
		ibv_destroy_qp(r->qps[i].qp);
		ibv_dereg_mr(r->qps[i].mr);
		free(r->qps[i].mem);
	}
	for (int k = 0; k < 2; k++) {
		ibv_destroy_cq(r->cqs[k]);
		ibv_destroy_comp_channel(r->chans[k]);
	}
	ibv_dealloc_pd(r->pd);
	ibv_close_device(r->ctx);
	free(r);
}

static void check_wc(const struct ibv_wc *wc, const char *what)
{
	if (wc->status != IBV_WC_SUCCESS)
		die("%s: %s", what, ibv_wc_status_str(wc->status));
}

/* Take the sends that have completed. */
static int take_sends(struct rc *r)
{
	struct ibv_wc wc[MAX_MSGS];
	int n = ibv_poll_cq(r->cqs[SENDS], MAX_MSGS, wc);

	if (n < 0)
		die("ibv_poll_cq failed");
	for (int k = 0; k < n; k++) {
		check_wc(&wc[k], "send");
		r->qps[wc[k].wr_id >> 32].sdone++;
	}
	return n;
}

static bool rc_sent(struct set *s, int i)
{
	struct rc *r = s->own;
	struct qp *q = &r->qps[i];

	if (q->sposted != q->sdone)
		take_sends(r);
	return q->sposted == q->sdone;
}

/* Sleep until the armed queue has something new; false after ms. */
static bool take_event(struct rc *r, int which, int ms)
{
	struct pollfd p = { .fd = r->chans[which]->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *own;

	if (ms >= 0 && !poll(&p, 1, ms))
		return false;
	check(ibv_get_cq_event(r->chans[which], &cq, &own),
	      "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

static void arm(struct rc *r, int which)
{
	check(ibv_req_notify_cq(r->cqs[which], 0), "ibv_req_notify_cq");
}

/* Take one send at least. */
static void reap(struct set *s)
{
	struct rc *r = s->own;

	while (!take_sends(r)) {
		if (!s->block)
			continue;
		arm(r, SENDS);
		if (take_sends(r))
			break;
		take_event(r, SENDS, -1);
	}
}

static void rc_wait_sent(struct set *s, int i)
{
	while (!rc_sent(s, i))
		reap(s);
}

static void post(struct set *s, int i, struct ibv_send_wr *wr, uint32_t len,
		 const uint32_t *msg)
{
	struct rc *r = s->own;
	struct qp *q = &r->qps[i];
	unsigned char *buf = q->sbuf +
			     (size_t)(q->sposted % TX_DEPTH) * r->slot;
	struct ibv_sge sge = {
		.addr = (uintptr_t)buf, .length = len, .lkey = q->mr->lkey,
	};
	struct ibv_send_wr *bad;

	while (q->sposted - q->sdone == TX_DEPTH)
		reap(s);
	if (msg)
		memcpy(buf, msg, sizeof(*msg));
	wr->wr_id = id_of(i, 0);
	wr->sg_list = &sge;
	wr->num_sge = 1;
	check(ibv_post_send(q->qp, wr, &bad), "ibv_post_send");
	q->sposted++;
}

static void rc_send(struct set *s, int i, uint32_t msg, uint32_t len)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	post(s, i, &wr, len, &msg);
}

static void rc_write(struct set *s, int i, uint32_t len)
{
	struct qp *q = &((struct rc *)s->own)->qps[i];
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = q->to, .rkey = q->to_key },
	};

	post(s, i, &wr, len, NULL);
}

static int rc_look(struct set *s, uint32_t *msg)
{
	struct rc *r = s->own;
	const struct ibv_wc *wc;
	uint32_t slot;
	int i;

	if (r->at == r->nwcs) {
		r->at = 0;
		r->nwcs = ibv_poll_cq(r->cqs[RECVS], MAX_MSGS, r->wcs);
		if (r->nwcs < 0)
			die("ibv_poll_cq failed");
		if (!r->nwcs)
			return -1;
	}
	wc = &r->wcs[r->at++];
	check_wc(wc, "receive");
	i = wc->wr_id >> 32;
	slot = (uint32_t)wc->wr_id;
	memcpy(msg, r->qps[i].rbuf + (size_t)slot * r->slot, sizeof(*msg));
	post_recv(r, i, slot);
	return i;
}

static int rc_wait(struct set *s, uint32_t *msg, int ms)
{
	struct rc *r = s->own;
	int i;

	while ((i = rc_look(s, msg)) < 0) {
		arm(r, RECVS);
		i = rc_look(s, msg);
		if (i >= 0)
			break;
		if (!take_event(r, RECVS, ms))
			return -1;
	}
	return i;
}

const struct set_ops rc_ops = {
	.open = rc_open, .join = rc_join, .close = rc_close,
	.send = rc_send, .write = rc_write, .look = rc_look, .wait = rc_wait,
	.sent = rc_sent, .wait_sent = rc_wait_sent,
};
#else
const struct set_ops rc_ops = { .open = NULL };
#endif

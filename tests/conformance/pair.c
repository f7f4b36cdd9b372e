// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Pairs of connected VIs, and messages that have to arrive. */
#include "loss.h"
#include <string.h>

void pair_create(struct pair *p, const struct pair_opt *o)
{
	static const struct pair_opt usual;
	VIP_VI_ATTRIBUTES theirs;
	int32_t ptag;

	if (!o)
		o = &usual;
	p->attr = vi_attributes(&env.nic, env.level);
	if (o->mtu)
		p->attr.MaxTransferSize = o->mtu;
	if (o->ptag)
		p->attr.Ptag = o->ptag;
	if (o->null_ptag)
		p->attr.Ptag = NULL;
	p->attr.EnableRdmaRead = o->read;
	REQUIRE_RC(VipCreateVi(env.nic.h, &p->attr, o->send_cq, o->recv_cq,
			       &p->vi), VIP_SUCCESS);
	theirs = p->attr;
	theirs.EnableRdmaRead = o->peer_read;
	if (o->peer_no_rdma)
		theirs.EnableRdmaWrite = VIP_FALSE;
	ptag = o->peer_ptag ? o->peer_ptag : CTL_MAIN_PTAG;
	p->pvi = peer_vi(&theirs, o->peer_null_ptag ? CTL_NO_PTAG : ptag);
}

void pair_connect(struct pair *p)
{
	struct disc d = new_disc();
	struct ctl_msg m;
	VIP_RETURN rc;

	peer_listen(p->pvi, &d, 0);
	rc = connect_peer(p->vi, &d, LONG_MS, NULL);
	m = peer_join(0);
	/* When it fails both views are worth knowing. */
	CHECK_RC(rc, VIP_SUCCESS);
	CHECK_RC(m.rc, VIP_SUCCESS);
	CHECK_RC(m.rc2, VIP_SUCCESS);
	REQUIRE(rc == VIP_SUCCESS && m.rc == VIP_SUCCESS &&
		m.rc2 == VIP_SUCCESS);
}

void pair_open(struct pair *p, const struct pair_opt *o)
{
	pair_create(p, o);
	pair_connect(p);
}

VIP_DESCRIPTOR *vi_post_(VIP_VI_HANDLE vi, enum queue q, const struct xfer *x,
			 const char *file, int line)
{
	VIP_DESCRIPTOR *d = NULL;

	check_rc_(nic_post(&env.nic, vi, q, x, &d), VIP_SUCCESS,
		  q == SENDQ ? "posting a send" : "posting a receive",
		  file, line);
	return d;
}

void pair_part(struct pair *p)
{
	enum queue q;

	CHECK_RC(VipDisconnect(p->vi), VIP_SUCCESS);
	peer_disconnect(p->pvi);
	for (q = SENDQ; q <= RECVQ; q++) {
		drain(p->vi, q);
		peer_drain(p->pvi, q);
	}
}

void pair_reset(struct pair *p)
{
	pair_part(p);
	pair_connect(p);
}

void pair_close(struct pair *p)
{
	CHECK_RC(VipDisconnect(p->vi), VIP_SUCCESS);
	peer_disconnect(p->pvi);
	CHECK_RC(VipDestroyVi(p->vi), VIP_SUCCESS);
	peer_destroy(p->pvi);
}

struct done one_arrives(struct pair *p, const struct xfer *tx)
{
	struct tries t = { 0 };
	struct ctl_msg m;
	struct done r;

	do {
		CHECK_RC(peer_post(p->pvi, SENDQ, tx), VIP_SUCCESS);
		m = peer_wait(p->pvi, SENDQ, LONG_MS);
		CHECK_RC(m.rc, VIP_SUCCESS);
		r = wait_done(p->vi, RECVQ, patience());
	} while (r.rc == VIP_TIMEOUT && once_more(&t));
	CHECK_RC(r.rc, VIP_SUCCESS);
	return r;
}

/* What a completed send looks like when all went well. */
static void check_sent(const struct done *s, VIP_DESCRIPTOR *d,
		       const struct xfer *tx)
{
	unsigned int op = tx->control & VIP_CONTROL_OP_MASK;

	CHECK_RC(s->rc, VIP_SUCCESS);
	CHECK(s->d == d);
	CHECK_EQ(s->status & ~VIP_STATUS_IMMEDIATE, VIP_STATUS_DONE |
		 (op == VIP_CONTROL_OP_RDMAWRITE ? VIP_STATUS_OP_RDMA_WRITE :
						   VIP_STATUS_OP_SEND));
	CHECK_EQ(s->length, tx->len);
	CHECK(xfer_intact(d, tx, XFER_DESC_SIZE));
}

/*
 * The receive of a message that has been given up serves the next one; after
 * this it is off the queue.
 */
static void use_up(struct pair *p, bool back)
{
	struct xfer tx = back ? peer_buf(0, 0, 0) : our_buf(0, 0, 0);
	struct tries t = { 0 };
	VIP_RETURN rc;

	if (back) {
		one_arrives(p, &tx);
		return;
	}
	do {
		pair_post(p, SENDQ, &tx);
		CHECK_RC(wait_done(p->vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
		rc = peer_wait(p->pvi, RECVQ, patience()).rc;
	} while (rc == VIP_TIMEOUT && once_more(&t));
	CHECK_RC(rc, VIP_SUCCESS);
}

struct ctl_msg deliver(struct pair *p, const struct xfer *tx,
		       const struct xfer *rx)
{
	bool imm = tx->control & VIP_CONTROL_IMMEDIATE;
	struct tries t = { .len = tx->len };
	VIP_DESCRIPTOR *d = NULL;
	struct ctl_msg m = { .rc = VIP_SUCCESS };
	struct done s;

	do {
		/* One that was lost has left its receive there. */
		if (m.rc != VIP_TIMEOUT)
			CHECK_RC(peer_post(p->pvi, RECVQ, rx), VIP_SUCCESS);
		d = pair_post(p, SENDQ, tx);
		s = wait_done(p->vi, SENDQ, LONG_MS);
		check_sent(&s, d, tx);
		m = peer_wait_verify(p->pvi, RECVQ, patience(), 1);
	} while (lost(m.rc, m.status) && once_more(&t));
	if (t.given_up) {
		if (m.rc == VIP_TIMEOUT)
			use_up(p, false);
		return m;
	}
	CHECK_RC(m.rc, VIP_SUCCESS);
	CHECK_EQ(m.status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
		 (imm ? VIP_STATUS_IMMEDIATE : 0));
	CHECK_EQ(m.length, tx->len);
	CHECK_EQ(m.immediate, imm ? tx->immediate : rx->immediate);
	CHECK(m.intact);
	CHECK_EQ(m.bad, 0);
	return m;
}

struct done deliver_back(struct pair *p, const struct xfer *tx,
			 const struct xfer *rx)
{
	bool imm = tx->control & VIP_CONTROL_IMMEDIATE;
	struct tries t = { .len = tx->len };
	VIP_DESCRIPTOR *d = NULL;
	struct ctl_msg m;
	struct done r = { .rc = VIP_SUCCESS };

	do {
		if (r.rc != VIP_TIMEOUT)
			d = pair_post(p, RECVQ, rx);
		CHECK_RC(peer_post(p->pvi, SENDQ, tx), VIP_SUCCESS);
		m = peer_wait(p->pvi, SENDQ, LONG_MS);
		CHECK_RC(m.rc, VIP_SUCCESS);
		CHECK_EQ(m.length, tx->len);
		r = wait_done(p->vi, RECVQ, patience());
	} while (lost(r.rc, r.status) && once_more(&t));
	if (t.given_up) {
		if (r.rc == VIP_TIMEOUT)
			use_up(p, true);
		return r;
	}
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK(r.d == d);
	CHECK_EQ(r.status, VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
		 (imm ? VIP_STATUS_IMMEDIATE : 0));
	CHECK_EQ(r.length, tx->len);
	CHECK_EQ(r.immediate, imm ? tx->immediate : rx->immediate);
	CHECK(xfer_intact(d, rx, XFER_DESC_SIZE));
	CHECK_EQ(xfer_wrong(rx, r.length), 0);
	return r;
}

void check_alive(struct pair *p)
{
	struct xfer tx = our_buf(0, 77, 1), rx = peer_buf(0, 100, 1);

	deliver(p, &tx, &rx);
	tx = peer_buf(0, 78, 2);
	rx = our_buf(0, 100, 2);
	deliver_back(p, &tx, &rx);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bad.h"
#include "loss.h"

void after_error(struct pair *p)
{
	struct xfer x = our_buf(500000, 10, 1);
	VIP_DESCRIPTOR *d = NULL;
	struct done r;
	enum queue q;

	if (!reliable()) {
		CHECK_EQ(vi_state(p->vi), VIP_STATE_CONNECTED);
		CHECK_EQ(peer_state(p->pvi), VIP_STATE_CONNECTED);
		check_alive(p);
		return;
	}
	CHECK_STATE(p->vi, VIP_STATE_ERROR);
	CHECK_PEER_STATE(p->pvi, VIP_STATE_ERROR);
	drain(p->vi, SENDQ);
	drain(p->vi, RECVQ);
	for (q = SENDQ; q <= RECVQ; q++) {
		d = pair_post(p, q, &x);
		r = poll_done(p->vi, q);
		CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
		CHECK(r.d == d);
		CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
			 VIP_STATUS_DESC_FLUSHED_ERROR);
	}
	pair_reset(p);
}

static void check_bad(const struct done *r, VIP_DESCRIPTOR *d, uint32_t bits)
{
	CHECK_RC(r->rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r->d == d);
	CHECK(r->status & VIP_STATUS_DONE);
	if (!(r->status & bits))
		CHECK_EQ(r->status & VIP_STATUS_ERROR_MASK, bits);
	/* Exactly one of those, and no other. */
	CHECK_EQ(r->status & VIP_STATUS_ERROR_MASK & ~bits, 0);
	CHECK_EQ(r->status & VIP_STATUS_RESERVED, 0);
}

void bad_send(struct pair *p, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h,
	      uint32_t bits)
{
	struct done r;

	CHECK_RC(VipPostSend(p->vi, d, h), VIP_SUCCESS);
	r = wait_done(p->vi, SENDQ, LONG_MS);
	check_bad(&r, d, bits);
	after_error(p);
}

void bad_send_xfer(struct pair *p, const struct xfer *x, uint32_t bits)
{
	VIP_DESCRIPTOR *d = nic_slot(&env.nic);

	xfer_build(d, x, XFER_DESC_SIZE);
	bad_send(p, d, env.nic.slots_h, bits);
}

void bad_recv(struct pair *p, VIP_DESCRIPTOR *d, VIP_MEM_HANDLE h,
	      const struct xfer *tx, uint32_t bits)
{
	struct tries t = { 0 };
	struct done r;

	CHECK_RC(VipPostRecv(p->vi, d, h), VIP_SUCCESS);
	do {
		CHECK_RC(peer_post(p->pvi, SENDQ, tx), VIP_SUCCESS);
		r = wait_done(p->vi, RECVQ, patience());
		peer_wait(p->pvi, SENDQ, LONG_MS);
	} while (r.rc == VIP_TIMEOUT && once_more(&t));
	check_bad(&r, d, bits);
	after_error(p);
}

void bad_recv_xfer(struct pair *p, const struct xfer *rx,
		   const struct xfer *tx, uint32_t bits)
{
	VIP_DESCRIPTOR *d = nic_slot(&env.nic);

	xfer_build(d, rx, XFER_DESC_SIZE);
	bad_recv(p, d, env.nic.slots_h, tx, bits);
}

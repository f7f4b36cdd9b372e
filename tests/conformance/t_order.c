// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Ordering and visibility: sections 7.1, 7.11, 9. */
#include "loss.h"

#define TARGET	300000u		/* offset in the peer's arena */

static struct xfer write_of(uint32_t off, uint32_t len, uint32_t seed)
{
	struct xfer x = our_buf(off, len, 1);

	x.seed = env.seed * 6007 + seed;
	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = env.p_arena + TARGET;
	x.rhandle = env.p_arena_h;
	return x;
}

/* Of unequal sizes and kinds: started, arriving and completed as posted. */
static struct burst fifo_burst(void)
{
	static const uint32_t lens[] = { 60000, 1, 3000, 0, 20000, 100 };
	VIP_DESCRIPTOR *d[24];
	struct burst b = { .n = ARRAY_SIZE(d) };
	struct xfer x, rx;
	struct ctl_msg m;
	struct pair p;
	unsigned int i;
	struct done s;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		rx = peer_buf(0, 60000, 1);
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	}
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		x = write_of(0, lens[i % ARRAY_SIZE(lens)], i);
		x.addr += i % 8 * 61000;
		/* Every third one is an RDMA Write. */
		x.control = VIP_CONTROL_IMMEDIATE;
		if (i % 3 == 1)
			x.control |= VIP_CONTROL_OP_RDMAWRITE;
		x.immediate = i;
		d[i] = pair_post(&p, SENDQ, &x);
	}
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		about("send %u", i);
		s = wait_done(p.vi, SENDQ, LONG_MS);
		CHECK_RC(s.rc, VIP_SUCCESS);
		CHECK(s.d == d[i]);
		CHECK_EQ(s.length, lens[i % ARRAY_SIZE(lens)]);
	}
	for (i = 0; i < ARRAY_SIZE(d) && !b.over; i++) {
		about("receive %u", i);
		m = peer_wait(p.pvi, RECVQ, patience());
		if (came(&b, m.rc, m.status, m.immediate))
			CHECK_EQ(m.length,
				 lens[m.immediate % ARRAY_SIZE(lens)]);
	}
	pair_close(&p);
	return b;
}

static void fifo(void)
{
	until_it_came(fifo_burst);
}

/* Posted receives are used in order, whatever the messages' sizes. */
static struct burst receives_burst(void)
{
	VIP_DESCRIPTOR *d[16];
	struct burst b = { .n = ARRAY_SIZE(d) };
	struct xfer rx, tx;
	struct done r;
	struct pair p;
	unsigned int i, n;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		rx = our_buf(i * 20100, 20000, 1 + i % 3);
		rx.seed += i;
		d[i] = pair_post(&p, RECVQ, &rx);
	}
	for (i = 0; i < ARRAY_SIZE(d); i++) {
		tx = peer_buf(i * 20100, i % 2 ? 20000 - i : i, 1);
		tx.seed += i;
		tx.control = VIP_CONTROL_IMMEDIATE;
		tx.immediate = i;
		CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
	}
	for (i = 0; i < ARRAY_SIZE(d) && !b.over; i++) {
		about("receive %u", i);
		r = wait_done(p.vi, RECVQ, patience());
		if (r.rc != VIP_TIMEOUT)
			CHECK(r.d == d[i]);
		if (!came(&b, r.rc, r.status, r.immediate))
			continue;
		n = r.immediate;
		CHECK_EQ(r.length, n % 2 ? 20000 - n : n);
		rx = *nic_posted(&env.nic, r.d);
		rx.seed = env.seed + n;
		if (reliable())
			CHECK_EQ(xfer_wrong(&rx, r.length), 0);
		else
			CHECK_EQ(xfer_wrong_after_loss(&rx, r.length), 0);
	}
	pair_close(&p);
	return b;
}

static void receives(void)
{
	until_it_came(receives_burst);
}

/* An entry in the CQ means that Done succeeds, at once, each time. */
static struct burst six_rounds(void)
{
	struct burst b = { .n = 36 };
	struct xfer x[6], rx, tx;
	VIP_DESCRIPTOR *d[6];
	VIP_BOOLEAN recv;
	VIP_VI_HANDLE vi;
	VIP_CQ_HANDLE cq;
	struct done r;
	struct pair p;
	unsigned int i, round, sends, recvs;

	REQUIRE_RC(VipCreateCQ(env.nic.h, 64, &cq), VIP_SUCCESS);
	pair_open(&p, &(struct pair_opt){ .send_cq = cq, .recv_cq = cq });
	for (round = 0; round < 6; round++) {
		for (i = 0; i < 6; i++) {
			rx = our_buf(500000 + i * 5000, 4000, 1);
			pair_post(&p, RECVQ, &rx);
		}
		for (i = 0; i < 6; i++) {
			tx = peer_buf(i * 5000, 4000, 1);
			CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
			x[i] = write_of(i * 5000, 4000 - i, i);
			d[i] = pair_post(&p, SENDQ, &x[i]);
		}
		sends = 0;
		recvs = 0;
		while (sends + recvs < 12) {
			about("round %u, %u sent, %u received", round, sends,
			      recvs);
			if (VipCQWait(cq, patience(), &vi, &recv) !=
			    VIP_SUCCESS)
				break;
			CHECK(vi == p.vi);
			r = poll_done(vi, recv ? RECVQ : SENDQ);
			if (!recv || r.rc == VIP_TIMEOUT ||
			    !lost(r.rc, r.status))
				CHECK_RC(r.rc, VIP_SUCCESS);
			if (!recv && sends < 6)
				CHECK(r.d == d[sends]);
			sends += !recv;
			recvs += !!recv;
		}
		CHECK_EQ(sends, 6);
		if (reliable())
			CHECK_EQ(recvs, 6);
		CHECK_RC(VipCQDone(cq, &vi, &recv), VIP_NOT_DONE);
		b.got += recvs;
	}
	pair_close(&p);
	CHECK_RC(VipDestroyCQ(cq), VIP_SUCCESS);
	return b;
}

static void cq_then_done(void)
{
	until_it_came(six_rounds);
}

/* Fills a buffer at the peer by RDMA Writes, while it watches the last byte. */
static struct ctl_msg fill_and_watch(struct pair *p, const struct xfer *x,
				     unsigned int n)
{
	struct ctl_msg w = { .cmd = P_WATCH, .addr = x->raddr, .len = x->len,
			     .seed = x->seed, .timeout = patience() };
	uint32_t part = x->len / n;
	unsigned int i;
	uint8_t last;

	pattern(&last, x->seed, x->len - 1, 1);
	peer_fill(w.addr, w.len, ~last);
	xfer_fill(x);
	peer_spawn(w, 2);
	for (i = 0; i < n; i++) {
		struct xfer y = *x;

		y.addr += i * part;
		y.raddr += i * part;
		y.len = part;
		CHECK_RC(nic_post_again(&env.nic, p->vi, SENDQ, &y, NULL),
			 VIP_SUCCESS);
	}
	for (i = 0; i < n; i++)
		CHECK_RC(wait_done(p->vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
	return peer_join(2);
}

/*
 * Watching memory alone: RDMA Writes one after the other fill one buffer,
 * and when the last byte of the last of them is there, all of it is.
 */
static void last_byte_last(void)
{
	const uint32_t part = 9000, n = 8;
	unsigned int round;
	struct ctl_msg w;
	struct tries t;
	struct xfer x;
	struct pair p;

	pair_open(&p, NULL);
	for (round = 0; round < 4; round++) {
		about("round %u", round);
		x = write_of(0, part * n, round);
		t = (struct tries){ .len = x.len };
		do {
			w = fill_and_watch(&p, &x, n);
		} while (!watched(&w) && once_more(&t));
		if (t.given_up)
			break;
		CHECK_RC(w.rc, VIP_SUCCESS);
		CHECK_EQ(w.bad, 0);
	}
	CHECK_EQ(vi_state(p.vi), VIP_STATE_CONNECTED);
	pair_close(&p);
}

/* A receive, and a read, come behind the RDMA Writes before them. */
static void write_then(void)
{
	static const VIP_RELIABILITY_LEVEL levels[] = {
		VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION,
	};
	struct xfer w, r, tx, rx;
	struct ctl_msg m;
	struct pair p;
	unsigned int i, l, round;

	for (l = 0; l < ARRAY_SIZE(levels); l++) {
		env.level = levels[l];
		about("%s", level_name(env.level));
		pair_open(&p, &(struct pair_opt){ .peer_read = true });
		for (round = 0; round < 6; round++) {
			rx = peer_buf(0, 10, 1);
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
			peer_fill(env.p_arena + TARGET, 40000, 0x44);
			for (i = 0; i < 3; i++) {
				w = write_of(i * 40100, i == 1 ? 40000 :
					     1 + round * 700, round * 3 + i);
				pair_post(&p, SENDQ, &w);
			}
			/* All of the last, then what is left of the second. */
			r = w;
			r.addr = our_buf(200000, 1, 1).addr;
			r.control = VIP_CONTROL_OP_RDMAREAD;
			pair_post(&p, SENDQ, &r);
			tx = our_buf(300000, 10, 1);
			pair_post(&p, SENDQ, &tx);
			m = peer_wait(p.pvi, RECVQ, LONG_MS);
			CHECK_RC(m.rc, VIP_SUCCESS);
			CHECK_EQ(peer_wrong(w.raddr, w.len, w.seed), 0);
			for (i = 0; i < 5; i++)
				CHECK_RC(wait_done(p.vi, SENDQ, LONG_MS).rc,
					 VIP_SUCCESS);
			CHECK_EQ(xfer_wrong(&r, r.len), 0);
		}
		pair_close(&p);
	}
}

static const struct group groups[] = {
	{ "order.fifo", "7.1 started and completed in posting order", fifo,
	  G_PEER | G_LEVELS, 0 },
	{ "order.receives", "7.1, 7.3 receives in posting order", receives,
	  G_PEER | G_LEVELS, 0 },
	{ "order.cq_then_done", "9 C10 a notice implies Done", cq_then_done,
	  G_PEER | G_LEVELS, 0 },
	{ "order.last_byte_last", "7.11 over frames and RDMA Writes",
	  last_byte_last, G_PEER | G_LEVELS, 0 },
	{ "order.write_then", "7.11 RDMA Write, then Send or RDMA Read",
	  write_then, G_PEER, 0 },
};

NOUN(order, groups);

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RDMA Write: section 7, rules 6 and 11. */
#include "bad.h"
#include "loss.h"

#define TARGET	300000u		/* offset in the peer's arena */

static struct xfer write_of(uint32_t len, unsigned int nseg)
{
	struct xfer x = our_buf(0, len, nseg);
	static uint32_t count;

	x.seed = env.seed * 31337 + ++count;
	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = env.p_arena + TARGET;
	x.rhandle = env.p_arena_h;
	return x;
}

static void check_written(struct pair *p, const struct xfer *x)
{
	VIP_DESCRIPTOR *d = NULL;
	struct done r;

	d = pair_post(p, SENDQ, x);
	r = wait_done(p->vi, SENDQ, LONG_MS);
	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK(r.d == d);
	CHECK_EQ(r.status & ~VIP_STATUS_IMMEDIATE,
		 VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
	CHECK_EQ(r.length, x->len);
	CHECK(xfer_intact(d, x, XFER_DESC_SIZE));
}

/* Writes, and watches the peer's memory for the last byte. */
static void write_and_watch(struct pair *p, const struct xfer *x)
{
	struct ctl_msg w = { .cmd = P_WATCH, .addr = x->raddr, .len = x->len,
			     .seed = x->seed, .timeout = patience() };
	struct tries t = { .len = x->len };
	struct ctl_msg m;
	uint8_t last;

	pattern(&last, x->seed, x->len - 1, 1);
	do {
		peer_fill(x->raddr - 64, x->len + 128, ~last);
		peer_spawn(w, 2);
		check_written(p, x);
		m = peer_join(2);
	} while (!watched(&m) && once_more(&t));
	if (!t.given_up) {
		CHECK_RC(m.rc, VIP_SUCCESS);
		/* The last byte last: what was there then was all there. */
		CHECK_EQ(m.bad, 0);
	}
	CHECK_EQ(peer_other(x->raddr - 64, 64, ~last), 0);
	CHECK_EQ(peer_other(x->raddr + x->len, 64, ~last), 0);
}

static void plain(void)
{
	uint32_t mtu = env.nic.attr.NativeMTU, max;
	struct xfer rx = peer_buf(0, 100, 1);
	struct xfer x;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	max = p.attr.MaxTransferSize > 262144 ? 262144 :
						p.attr.MaxTransferSize;
	if (mtu > max / 4)
		mtu = max / 4;
	CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	{
		const uint32_t s[] = { 1, 2, 3, 4, 7, 8, 64, 1000, mtu - 1,
				       mtu, mtu + 1, 3 * mtu + 7, 4096, 65536,
				       max };

		for (i = 0; i < ARRAY_SIZE(s); i++) {
			about("%u bytes", s[i]);
			x = write_of(s[i], 1);
			x.raddr += 3 * i;
			write_and_watch(&p, &x);
		}
	}
	/* No receive was consumed by all that. */
	CHECK_RC(peer_wait(p.pvi, RECVQ, 0).rc, VIP_TIMEOUT);
	pair_close(&p);
}

static void gathered(void)
{
	static const uint16_t n[] = { 1, 2, 3, 4, 17, 250, 251 };
	struct xfer x;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(n); i++) {
		about("%u segments", n[i]);
		x = write_of(9000 + n[i], n[i]);
		write_and_watch(&p, &x);
	}
	pair_close(&p);
}

/*
 * Short ones to where a copy that begins at the end would suit, again and again:
 * it takes luck to look while one is under way.
 */
static void watched_often(void)
{
	struct xfer x;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 16; i++) {
		about("write %u", i);
		x = write_of(1200 + i, 1);
		x.raddr += 120;
		write_and_watch(&p, &x);
	}
	pair_close(&p);
}

/* Writes until the receive completes; false if it is given up. */
static bool write_immediate(struct pair *p, const struct xfer *x,
			    const struct xfer *rx, struct ctl_msg *m)
{
	struct tries t = { .len = x->len };

	m->rc = VIP_SUCCESS;
	do {
		if (m->rc != VIP_TIMEOUT)
			CHECK_RC(peer_post(p->pvi, RECVQ, rx), VIP_SUCCESS);
		check_written(p, x);
		*m = peer_wait_verify(p->pvi, RECVQ, patience(), 2);
	} while (lost(m->rc, m->status) && once_more(&t));
	return !t.given_up;
}

static void immediate(void)
{
	static const uint32_t lens[] = { 1, 4, 1000, 5000, 100000 };
	struct xfer x, rx;
	struct ctl_msg m;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		about("%u bytes", lens[i]);
		x = write_of(lens[i], 2);
		x.control |= VIP_CONTROL_IMMEDIATE;
		x.immediate = 0xc0de0000 + i;
		rx = peer_buf(0, 200, 2);
		rx.immediate = 1;
		peer_fill(x.raddr - 64, lens[i] + 128, 0x11);
		if (!write_immediate(&p, &x, &rx, &m)) {
			pair_reset(&p);
			continue;
		}
		CHECK_RC(m.rc, VIP_SUCCESS);
		CHECK_EQ(m.status, VIP_STATUS_DONE | VIP_STATUS_IMMEDIATE |
			 VIP_STATUS_OP_REMOTE_RDMA_WRITE);
		CHECK_EQ(m.immediate, x.immediate);
		CHECK_EQ(m.length, lens[i]);
		CHECK(m.intact);
		/* None of the receive's own buffer was written. */
		CHECK_EQ(m.bad, 0);
		CHECK_EQ(peer_wrong(x.raddr, lens[i], x.seed), 0);
		CHECK_EQ(peer_other(x.raddr - 64, 64, 0x11), 0);
		CHECK_EQ(peer_other(x.raddr + lens[i], 64, 0x11), 0);
	}
	about("into a receive without segments");
	x = write_of(100, 1);
	x.control |= VIP_CONTROL_IMMEDIATE;
	rx = peer_buf(0, 0, 0);
	write_immediate(&p, &x, &rx, &m);
	CHECK_RC(m.rc, VIP_SUCCESS);
	CHECK_EQ(m.length, 100);
	pair_close(&p);
	about("into a receive longer than MaxTransferSize");
	pair_open(&p, &(struct pair_opt){ .mtu = 4096 });
	x = write_of(4096, 1);
	x.control |= VIP_CONTROL_IMMEDIATE;
	rx = peer_buf(0, 100000, 2);
	if (write_immediate(&p, &x, &rx, &m)) {
		CHECK_RC(m.rc, VIP_SUCCESS);
		CHECK_EQ(m.length, 4096);
		CHECK_EQ(m.bad, 0);
	}
	about("a write beyond it");
	x.len = 4097;
	bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
	pair_close(&p);
}

static void zero(void)
{
	struct xfer x, rx = peer_buf(0, 10, 1);
	struct ctl_msg m;
	struct pair p;
	unsigned int segs;

	pair_open(&p, NULL);
	peer_fill(env.p_arena + TARGET - 64, 128, 0x22);
	for (segs = 0; segs < 2; segs++) {
		about("%u segments", segs);
		x = write_of(0, segs);
		check_written(&p, &x);
		x.control |= VIP_CONTROL_IMMEDIATE;
		x.immediate = 5 + segs;
		write_immediate(&p, &x, &rx, &m);
		CHECK_RC(m.rc, VIP_SUCCESS);
		CHECK_EQ(m.length, 0);
		CHECK_EQ(m.immediate, 5 + segs);
	}
	CHECK_EQ(peer_other(env.p_arena + TARGET - 64, 128, 0x22), 0);
	pair_close(&p);
}

/*
 * @n writes and a send in one go; when the send is received those of @must are
 * in place.  At Unreliable a burst may be more than the peer's NIC can take in
 * a row: it is a short one there, and what lost something is sent anew.
 */
static void burst(struct pair *p, const struct xfer *x, unsigned int n,
		  const struct xfer *must, unsigned int nmust)
{
	struct xfer tx = our_buf(300000, 4, 1), rx = peer_buf(0, 4, 1);
	struct ctl_msg m = { .rc = VIP_SUCCESS };
	unsigned int i, wrong;
	struct tries t = { 0 };

	do {
		/* Else the receive of the last time is there yet. */
		if (m.rc == VIP_SUCCESS)
			CHECK_RC(peer_post(p->pvi, RECVQ, &rx), VIP_SUCCESS);
		for (i = 0; i < n; i++)
			pair_post(p, SENDQ, &x[i]);
		pair_post(p, SENDQ, &tx);
		m = peer_wait(p->pvi, RECVQ, patience());
		wrong = 0;
		for (i = 0; m.rc == VIP_SUCCESS && i < nmust; i++)
			wrong += !in_place(&must[i]);
		for (i = 0; i <= n; i++)
			CHECK_RC(wait_done(p->vi, SENDQ, LONG_MS).rc,
				 VIP_SUCCESS);
	} while ((m.rc != VIP_SUCCESS || wrong) && once_more(&t));
	CHECK_RC(m.rc, VIP_SUCCESS);
	CHECK_EQ(wrong, 0);
}

/* 7.11: a send's receive says that the writes before it are in place. */
static void then_send(void)
{
	uint32_t unit = reliable() ? 6000 : 600;
	unsigned int i, round;
	struct xfer x[4];
	struct pair p;

	pair_open(&p, NULL);
	for (round = 0; round < 4; round++) {
		about("round %u", round);
		peer_fill(env.p_arena + TARGET, 4 * 65536, 0x33);
		for (i = 0; i < 4; i++) {
			x[i] = write_of((4 - round) * unit + i, 2);
			x[i].addr += i * 40000;
			x[i].raddr += i * 65536;
		}
		burst(&p, x, 4, x, 4);
	}
	pair_close(&p);
}

/* Successive writes to one place: the last one wins, in order. */
static void overwrite(void)
{
	uint32_t most = reliable() ? 30000 : 3000;
	struct xfer x[8];
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 8; i++) {
		x[i] = write_of(i & 1 ? most : 500, 1);
		x[i].addr += i * 32768;
	}
	burst(&p, x, 8, &x[7], 1);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "rdma.write", "7.6 without immediate, 7.11 the last byte last", plain,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "rdma.gathered", "3 RDMA Write, n local segments", gathered,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "rdma.watched", "7.11 the last byte last", watched_often,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "rdma.immediate", "7.6 with immediate, 14 Length", immediate,
	  G_PEER | G_LEVELS | G_EARLY | G_SUNNY, 0 },
	{ "rdma.zero", "7.4 zero bytes", zero, G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "rdma.then_send", "7.11 RDMA Write, then Send", then_send,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
	{ "rdma.overwrite", "7.1 order of RDMA Writes", overwrite,
	  G_PEER | G_LEVELS | G_SUNNY, 0 },
};

NOUN(rdma, groups);

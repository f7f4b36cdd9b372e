// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reliable Reception: section 6. A send is complete when its data is in the
 * peer's memory, and what the peer could not take is marked at the sender.
 */
#include "bad.h"

#define TARGET	300000u		/* offset in the peer's arena */

static void open_rr(struct pair *p, const struct pair_opt *o)
{
	env.level = VIP_SERVICE_RELIABLE_RECEPTION;
	REQUIRE(env.nic.attr.ReliabilityLevelSupport & env.level);
	pair_open(p, o);
}

static struct xfer write_of(uint32_t len, uint32_t seed)
{
	struct xfer x = our_buf(0, len, 1);

	x.seed = env.seed * 7001 + seed;
	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = env.p_arena + TARGET;
	x.rhandle = env.p_arena_h;
	return x;
}

/* The next send to complete is that one, in error by exactly these bits. */
static void check_send(struct pair *p, const VIP_DESCRIPTOR *d, uint32_t bits)
{
	struct done s = wait_done(p->vi, SENDQ, LONG_MS);

	CHECK_RC(s.rc, bits ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS);
	CHECK(s.d == d);
	CHECK_EQ(s.status & VIP_STATUS_ERROR_MASK, bits);
}

static void check_recv(struct pair *p, uint32_t bits)
{
	struct ctl_msg m = peer_wait(p->pvi, RECVQ, LONG_MS);

	CHECK_RC(m.rc, bits ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS);
	CHECK_EQ(m.status & VIP_STATUS_ERROR_MASK, bits);
}

/* Done at the sender is placed at the target, whatever the number of frames. */
static void placed(void)
{
	static const uint32_t lens[] = { 1, 100, 1500, 5000, 65536, 200000 };
	struct xfer x, rx;
	struct pair p;
	unsigned int i;

	open_rr(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		about("RDMA Write of %u bytes", lens[i]);
		x = write_of(lens[i], i);
		peer_fill(x.raddr - 1, lens[i] + 2, 0x11);
		check_send(&p, pair_post(&p, SENDQ, &x), 0);
		CHECK_EQ(peer_wrong(x.raddr, lens[i], x.seed), 0);
		CHECK_EQ(peer_other(x.raddr - 1, 1, 0x11), 0);
		CHECK_EQ(peer_other(x.raddr + lens[i], 1, 0x11), 0);
		about("send of %u bytes", lens[i]);
		x = our_buf(0, lens[i], 2);
		rx = peer_buf(0, lens[i], 3);
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		check_send(&p, pair_post(&p, SENDQ, &x), 0);
		/* Complete there too: no time to wait for is needed. */
		CHECK_EQ(peer_wait_verify(p.pvi, RECVQ, 0, 1).bad, 0);
	}
	check_alive(&p);
	pair_close(&p);
}

/* One not received, between some that are and some that come too late. */
static void no_receive(void)
{
	VIP_DESCRIPTOR *d[6];
	struct xfer x, rx;
	struct pair p;
	unsigned int i, round;

	open_rr(&p, NULL);
	for (round = 0; round < 3; round++) {
		about("round %u", round);
		for (i = 0; i < 2; i++) {
			rx = peer_buf(i * 8000, 4000, 1);
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		}
		for (i = 0; i < 6; i++) {
			x = our_buf(i * 8000, round ? 3000 : 10, 1);
			/* An RDMA Write with immediate needs one as well. */
			if (i == 2 && round == 2) {
				x.control = VIP_CONTROL_OP_RDMAWRITE |
					    VIP_CONTROL_IMMEDIATE;
				x.raddr = env.p_arena + TARGET;
				x.rhandle = env.p_arena_h;
			}
			d[i] = pair_post(&p, SENDQ, &x);
		}
		for (i = 0; i < 2; i++) {
			check_send(&p, d[i], 0);
			check_recv(&p, 0);
		}
		check_send(&p, d[2], VIP_STATUS_REMOTE_DESC_ERROR);
		for (i = 3; i < 6; i++)
			check_send(&p, d[i], VIP_STATUS_DESC_FLUSHED_ERROR);
		CHECK_ERRORS(p.vi, VIP_ERROR_CONN_LOST, round + 1);
		after_error(&p);
	}
	pair_close(&p);
}

/* A receive that is too short, in its first or in a later frame. */
static void too_long(void)
{
	static const struct { uint32_t len, room; } m[] = {
		{ 11, 10 }, { 1, 0 }, { 5000, 4999 }, { 60000, 100 },
	};
	struct xfer x, rx;
	struct pair p;
	unsigned int i;

	open_rr(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(m); i++) {
		about("%u bytes into %u", m[i].len, m[i].room);
		rx = peer_buf(0, m[i].room, m[i].room ? 1 : 0);
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		x = our_buf(0, m[i].len, 1);
		check_send(&p, pair_post(&p, SENDQ, &x),
			   VIP_STATUS_REMOTE_DESC_ERROR);
		check_recv(&p, VIP_STATUS_LENGTH_ERROR);
		after_error(&p);
	}
	pair_close(&p);
}

/* A receive whose memory went away. */
static void gone(void)
{
	struct peer_region r;
	struct xfer x, rx;
	struct pair p;
	unsigned int i;

	open_rr(&p, NULL);
	for (i = 0; i < 2; i++) {
		about("%s", i ? "many frames" : "one frame");
		r = peer_region(65536, CTL_MAIN_PTAG, false);
		rx = peer_buf(0, i ? 60000 : 60, 1);
		rx.addr = r.addr + 32;
		rx.handle = r.handle;
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		peer_deregister(r.obj);
		x = our_buf(0, i ? 60000 : 60, 1);
		check_send(&p, pair_post(&p, SENDQ, &x),
			   VIP_STATUS_REMOTE_DESC_ERROR);
		check_recv(&p, VIP_STATUS_PROTECTION_ERROR);
		after_error(&p);
	}
	pair_close(&p);
}

/* A refused RDMA Write is marked; what is before it is done, behind flushed. */
static void refused(void)
{
	VIP_DESCRIPTOR *d[4];
	struct xfer x;
	struct pair p;
	unsigned int i, round, before;

	open_rr(&p, NULL);
	for (round = 0; round < 2; round++) {
		about("round %u", round);
		before = peer_errors(p.pvi, VIP_ERROR_RDMAW_PROT, 0);
		for (i = 0; i < 4; i++) {
			x = write_of(round ? 20000 : 8, i);
			x.addr += i * 20032;
			if (i == 2)
				x.rhandle ^= 0x80000000;
			d[i] = pair_post(&p, SENDQ, &x);
		}
		check_send(&p, d[0], 0);
		check_send(&p, d[1], 0);
		check_send(&p, d[2], VIP_STATUS_RDMA_PROT_ERROR);
		check_send(&p, d[3], VIP_STATUS_DESC_FLUSHED_ERROR);
		CHECK_EQ(peer_errors(p.pvi, VIP_ERROR_RDMAW_PROT, before + 1),
			 before + 1);
		x = write_of(round ? 20000 : 8, 1);
		CHECK_EQ(peer_wrong(x.raddr, x.len, x.seed), 0);
		after_error(&p);
	}
	pair_close(&p);
}

/* Both ends must want the same level. */
static void mismatch(void)
{
	static const VIP_RELIABILITY_LEVEL levels[] = {
		VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY,
		VIP_SERVICE_RELIABLE_RECEPTION,
	};
	VIP_VI_ATTRIBUTES ours, theirs;
	struct asker k;
	struct ctl_msg m;
	VIP_VI_HANDLE vi;
	unsigned int i, pvi;

	for (i = 0; i < 4; i++) {
		ours = vi_attributes(&env.nic, levels[i & 1]);
		theirs = vi_attributes(&env.nic, levels[2]);
		about("%s", level_name(levels[i & 1]));
		if (i > 1) {
			ours.ReliabilityLevel = levels[2];
			theirs.ReliabilityLevel = levels[i & 1];
		}
		REQUIRE_RC(VipCreateVi(env.nic.h, &ours, NULL, NULL, &vi),
			   VIP_SUCCESS);
		pvi = peer_vi(&theirs, CTL_MAIN_PTAG);
		m = ask_pending(&k, vi, LONG_MS);
		CHECK_EQ(m.peer_level, ours.ReliabilityLevel);
		CHECK_RC(peer_accept(m.obj, pvi),
			 VIP_INVALID_RELIABILITY_LEVEL);
		CHECK_EQ(peer_state(pvi), VIP_STATE_IDLE);
		CHECK_RC(peer_reject(m.obj), VIP_SUCCESS);
		CHECK_RC(ask_join(&k), VIP_REJECT);
		CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
	}
}

static const struct group groups[] = {
	{ "reception.placed", "6 complete when in the remote memory", placed,
	  G_PEER | G_SUNNY, 0 },
	{ "reception.no_receive", "6 no receive posted: REMOTE_DESC_ERROR",
	  no_receive, G_PEER, 0 },
	{ "reception.too_long", "6, 7.3 a receive too short", too_long,
	  G_PEER, 0 },
	{ "reception.gone", "6, 7.10 a receive without memory", gone,
	  G_PEER, 0 },
	{ "reception.refused", "6 RDMA_PROT_ERROR at the initiator", refused,
	  G_PEER, 0 },
	{ "reception.mismatch", "10.6 both ends at one level", mismatch,
	  G_PEER | G_FULL, 0 },
};

NOUN(reception, groups);

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Remote protection of RDMA Write: section 7, rule 7. */
#include "bad.h"
#include "loss.h"

#define LEN	5000u

static struct xfer write_to(uint64_t addr, uint32_t handle, uint32_t len)
{
	struct xfer x = our_buf(0, len, 1);

	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.raddr = addr;
	x.rhandle = handle;
	return x;
}

/*
 * The target refuses: nothing is written, and it hears of it, in the receive
 * that an immediate value would have consumed or else by RDMAW_PROT.
 */
static void refuse_one(struct pair *p, struct xfer x, bool immediate)
{
	struct xfer rx = peer_buf(0, 10, 1);
	uint32_t bits = VIP_STATUS_RDMA_PROT_ERROR |
			VIP_STATUS_PROTECTION_ERROR;
	unsigned int before, after = 0;
	struct ctl_msg m = { 0 };
	struct tries t = { 0 };
	struct done s;
	bool told;

	before = peer_errors(p->pvi, VIP_ERROR_RDMAW_PROT, 0);
	if (immediate) {
		x.control |= VIP_CONTROL_IMMEDIATE;
		CHECK_RC(peer_post(p->pvi, RECVQ, &rx), VIP_SUCCESS);
	}
	do {
		pair_post(p, SENDQ, &x);
		s = wait_done(p->vi, SENDQ, LONG_MS);
		CHECK(s.d != NULL);
		/* It may be complete already, but at Reliable Reception. */
		if (env.level == VIP_SERVICE_RELIABLE_RECEPTION)
			CHECK(s.status & VIP_STATUS_RDMA_PROT_ERROR);
		if (env.level == VIP_SERVICE_UNRELIABLE)
			CHECK_RC(s.rc, VIP_SUCCESS);
		if (immediate) {
			m = peer_wait_verify(p->pvi, RECVQ, patience(), 2);
			told = m.rc != VIP_TIMEOUT;
		} else {
			after = peer_error_wait(p->pvi, VIP_ERROR_RDMAW_PROT,
						before + 1, patience());
			told = after > before;
		}
	} while (!told && once_more(&t));
	if (immediate) {
		CHECK_RC(m.rc, VIP_DESCRIPTOR_ERROR);
		CHECK(m.status & bits);
		CHECK_EQ(m.status & VIP_STATUS_ERROR_MASK & ~bits, 0);
		CHECK_EQ(m.bad, 0);
	} else {
		CHECK_EQ(after, before + 1);
	}
	after_error(p);
}

/* The target takes it. */
static void take(struct pair *p, const struct xfer *x)
{
	struct tries t = { 0 };
	size_t wrong;

	do {
		pair_post(p, SENDQ, x);
		CHECK_RC(wait_done(p->vi, SENDQ, LONG_MS).rc, VIP_SUCCESS);
		check_alive(p);
		wrong = peer_wrong(x->raddr, x->len, x->seed);
	} while (wrong && once_more(&t));
	CHECK_EQ(wrong, 0);
}

static void refuse(struct pair *p, const struct xfer *x)
{
	refuse_one(p, *x, false);
	refuse_one(p, *x, true);
}

/* It refuses a write of all of a region. */
static void refuse_all(struct pair *p, const struct peer_region *r)
{
	struct xfer x = write_to(r->addr, r->handle, LEN);

	peer_fill(r->addr, LEN, 0x77);
	refuse(p, &x);
	CHECK_EQ(peer_other(r->addr, LEN, 0x77), 0);
}

static void range(void)
{
	static const struct { int off; uint32_t len; } out[] = {
		{ -1, 1 }, { -1, LEN }, { 0, LEN + 1 }, { LEN, 1 },
		{ LEN - 1, 2 }, { 1 << 24, 4 },
	};
	struct ctl_msg m;
	struct xfer x;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	m = peer_do((struct ctl_msg){ .cmd = P_REGION, .len = LEN, .off = 64,
				      .ptag = CTL_MAIN_PTAG, .rdma = 1 });
	REQUIRE_RC(m.rc, VIP_SUCCESS);
	peer_fill(m.addr - 64, LEN + 128, 0x77);
	for (i = 0; i < ARRAY_SIZE(out); i++) {
		about("%u bytes at %d of %u", out[i].len, out[i].off, LEN);
		x = write_to(m.addr + out[i].off, m.handle, out[i].len);
		refuse(&p, &x);
		/* Not even the part that would have been allowed. */
		if (out[i].off > 0 || out[i].len < LEN)
			CHECK_EQ(peer_other(m.addr - 64, LEN + 128, 0x77), 0);
		else
			CHECK_EQ(peer_other(m.addr - 64, 64, 0x77) +
				 peer_other(m.addr + LEN, 64, 0x77), 0);
	}
	about("an address that wraps");
	x = write_to(~0ull - 3, m.handle, 8);
	refuse(&p, &x);
	about("address 0");
	x = write_to(0, m.handle, 8);
	refuse(&p, &x);
	about("all of it");
	x = write_to(m.addr, m.handle, LEN);
	take(&p, &x);
	pair_close(&p);
}

static void handles(void)
{
	struct peer_region gone;
	uint32_t bad[4];
	struct xfer x;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	gone = peer_bad_handles(bad, CTL_WRITE);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		about("handle 0x%x", bad[i]);
		x = write_to(gone.addr, bad[i], 100);
		refuse(&p, &x);
	}
	pair_close(&p);
}

static void region_rights(void)
{
	struct peer_region r;
	struct pair p;

	pair_open(&p, NULL);
	about("the region does not allow it");
	r = peer_region(LEN, CTL_MAIN_PTAG, false);
	refuse_all(&p, &r);
	about("registered with NULL attributes");
	r = peer_region(LEN, CTL_NO_PTAG, true);
	refuse_all(&p, &r);
	pair_close(&p);
}

static void vi_rights(void)
{
	struct peer_region r;
	struct pair p;

	pair_open(&p, &(struct pair_opt){ .peer_no_rdma = true });
	r = peer_region(LEN, CTL_MAIN_PTAG, true);
	refuse_all(&p, &r);
	pair_close(&p);
}

static void ptag(void)
{
	struct peer_region r;
	struct ctl_msg m;
	struct xfer x;
	struct pair p;

	m = peer_do((struct ctl_msg){ .cmd = P_PTAG });
	REQUIRE_RC(m.rc, VIP_SUCCESS);
	r = peer_region(LEN, m.obj, true);
	x = write_to(r.addr, r.handle, LEN);
	pair_open(&p, NULL);
	about("another tag");
	refuse_all(&p, &r);
	pair_close(&p);
	about("a VI with NULL Ptag");
	pair_open(&p, &(struct pair_opt){ .peer_null_ptag = true });
	take(&p, &x);
	pair_close(&p);
}

/* The local side of an RDMA Write is checked as that of a send. */
static void local(void)
{
	struct xfer x = write_to(env.p_arena + 300000, env.p_arena_h, 100);
	struct pair p;

	pair_open(&p, NULL);
	peer_fill(x.raddr, 100, 0x77);
	about("local handle 0");
	x.handle = 0;
	bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
	about("local range");
	x.handle = env.nic.arena_h;
	x.addr = (uintptr_t)env.nic.arena + env.nic.arena_len - 99;
	bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
	CHECK_EQ(peer_other(x.raddr, 100, 0x77), 0);
	pair_close(&p);
}

/* With immediate data and no receive posted: as a send without one. */
static void no_receive(void)
{
	struct xfer x = write_to(env.p_arena + 300000, env.p_arena_h, 100);
	struct pair p;

	pair_open(&p, NULL);
	x.control |= VIP_CONTROL_IMMEDIATE;
	pair_post(&p, SENDQ, &x);
	CHECK(wait_done(p.vi, SENDQ, LONG_MS).d != NULL);
	after_error(&p);
	pair_close(&p);
}

static const struct group groups[] = {
	{ "rdmaprot.range", "7.7 the whole range inside one region", range,
	  G_PEER | G_LEVELS, 0 },
	{ "rdmaprot.handles", "7.7 the region is live", handles,
	  G_PEER | G_LEVELS, 0 },
	{ "rdmaprot.region", "7.7 EnableRdmaWrite on the region",
	  region_rights, G_PEER | G_LEVELS, 0 },
	{ "rdmaprot.vi", "7.7 EnableRdmaWrite on the VI", vi_rights,
	  G_PEER | G_LEVELS, 0 },
	{ "rdmaprot.ptag", "7.7 equal Ptags, 7.10 NULL Ptag", ptag,
	  G_PEER | G_LEVELS, 0 },
	{ "rdmaprot.local", "7.10 local segments", local, G_PEER | G_LEVELS,
	  0 },
	{ "rdmaprot.no_receive", "6, 7.6 immediate without a receive",
	  no_receive, G_PEER | G_LEVELS, 0 },
};

NOUN(rdmaprot, groups);

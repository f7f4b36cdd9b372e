// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Local protection: section 7, rule 10. */
#include "bad.h"
#include "loss.h"

/* A region in the middle of two pages, and its tag. */
struct spot {
	uint8_t *base;		/* 64 bytes into the pages */
	VIP_MEM_HANDLE h;
	VIP_PROTECTION_HANDLE tag;
};

#define SPOT_LEN 5000

static void spot_make(struct spot *s, VIP_PROTECTION_HANDLE tag)
{
	VIP_MEM_ATTRIBUTES a = { tag, VIP_TRUE, VIP_FALSE };

	s->base = (uint8_t *)pages(3 * 4096) + 64;
	s->tag = tag;
	REQUIRE_RC(VipRegisterMem(env.nic.h, s->base, SPOT_LEN, &a, &s->h),
		   VIP_SUCCESS);
}

static struct xfer in_spot(const struct spot *s, long off, uint32_t len)
{
	struct xfer x = our_buf(0, len, 1);

	x.addr = (uintptr_t)s->base + off;
	x.handle = s->h;
	return x;
}

/* The bad segment on either queue. */
static void refuse(struct pair *p, const struct xfer *x)
{
	struct xfer tx = peer_buf(0, x->len, 1);

	bad_send_xfer(p, x, VIP_STATUS_PROTECTION_ERROR);
	bad_recv_xfer(p, x, &tx, VIP_STATUS_PROTECTION_ERROR);
}

static void range(void)
{
	static const struct { long off; uint32_t len; } out[] = {
		{ -1, 1 }, { -1, 2 }, { 0, SPOT_LEN + 1 }, { SPOT_LEN, 1 },
		{ SPOT_LEN - 1, 2 }, { -4096, 100 }, { 1 << 20, 100 },
	};
	struct xfer x, rx;
	struct spot s;
	struct pair p;
	unsigned int i;

	spot_make(&s, env.nic.ptag);
	pair_open(&p, NULL);
	/* All of it is fine. */
	x = in_spot(&s, 0, SPOT_LEN);
	rx = peer_buf(0, SPOT_LEN, 1);
	deliver(&p, &x, &rx);
	for (i = 0; i < ARRAY_SIZE(out); i++) {
		about("%u bytes at %ld of %u", out[i].len, out[i].off,
		      SPOT_LEN);
		x = in_spot(&s, out[i].off, out[i].len);
		refuse(&p, &x);
	}
	about("a range that wraps");
	x = in_spot(&s, 0, 0x20);
	x.addr = ~(uint64_t)0x0f;
	refuse(&p, &x);
	about("a second segment");
	x = in_spot(&s, 0, SPOT_LEN);
	x.nseg = 2;
	x.gap = 1;
	refuse(&p, &x);
	pair_close(&p);
}

static void handles(void)
{
	struct xfer x = our_buf(0, 100, 1);
	VIP_MEM_HANDLE bad[6];
	struct spot s, again;
	struct pair p;
	unsigned int i;

	spot_make(&s, env.nic.ptag);
	CHECK_RC(VipDeregisterMem(env.nic.h, s.base, s.h), VIP_SUCCESS);
	bad[0] = 0;
	bad[1] = s.h;
	bad[2] = ~0u;
	bad[3] = 0x12345678;
	bad[4] = x.handle ^ 0x80000000;
	bad[5] = x.handle ^ 1;
	spot_make(&again, env.nic.ptag);
	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		if (bad[i] == again.h || bad[i] == env.nic.slots_h)
			continue;
		about("handle 0x%x", bad[i]);
		x.handle = bad[i];
		if (i == 1)
			x = in_spot(&s, 0, 100);
		refuse(&p, &x);
		x = our_buf(0, 100, 1);
	}
	pair_close(&p);
}

/* The handle of another NIC handle of this very process. */
static void foreign(void)
{
	struct xfer x = our_buf(0, 100, 1);
	VIP_NIC_HANDLE other;
	VIP_MEM_HANDLE h, last = 0;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipOpenNic(env.device, &other), VIP_SUCCESS);
	/* One that this NIC handle has not got too. */
	for (i = 0; i < 8; i++) {
		REQUIRE_RC(VipRegisterMem(other, env.nic.arena,
					  env.nic.arena_len, NULL, &h),
			   VIP_SUCCESS);
		if (h != env.nic.arena_h && h != env.nic.slots_h)
			last = h;
	}
	REQUIRE(last);
	pair_open(&p, NULL);
	x.handle = last;
	refuse(&p, &x);
	pair_close(&p);
	CHECK_RC(VipCloseNic(other), VIP_SUCCESS);
}

static void ptag(void)
{
	VIP_PROTECTION_HANDLE other;
	struct xfer x, rx, tx;
	struct spot s, unset;
	struct pair p;

	REQUIRE_RC(VipCreatePtag(env.nic.h, &other), VIP_SUCCESS);
	spot_make(&s, other);
	unset.base = s.base;
	REQUIRE_RC(VipRegisterMem(env.nic.h, s.base, SPOT_LEN, NULL,
				  &unset.h), VIP_SUCCESS);
	pair_open(&p, NULL);
	about("another tag");
	x = in_spot(&s, 0, 100);
	refuse(&p, &x);
	about("the default tag");
	x = in_spot(&unset, 0, 100);
	refuse(&p, &x);
	pair_close(&p);
	/* A VI with NULL Ptag takes them all. */
	about("NULL Ptag");
	pair_open(&p, &(struct pair_opt){ .null_ptag = true,
					  .peer_null_ptag = true });
	rx = peer_buf(0, 200, 1);
	x = in_spot(&s, 0, 100);
	deliver(&p, &x, &rx);
	x = in_spot(&unset, 0, 100);
	deliver(&p, &x, &rx);
	tx = peer_buf(0, 100, 1);
	deliver_back(&p, &tx, &x);
	x = in_spot(&s, 0, 100);
	deliver_back(&p, &tx, &x);
	about("NULL Ptag, bad handle");
	x.handle = 0;
	refuse(&p, &x);
	pair_close(&p);
}

/* A region that goes away under a posted receive. */
static void deregistered(void)
{
	struct xfer rx, tx = peer_buf(0, 100, 1);
	struct tries t = { 0 };
	VIP_DESCRIPTOR *d;
	struct done r;
	struct spot s;
	struct pair p;

	spot_make(&s, env.nic.ptag);
	pair_open(&p, NULL);
	rx = in_spot(&s, 0, 100);
	d = pair_post(&p, RECVQ, &rx);
	CHECK_RC(VipDeregisterMem(env.nic.h, s.base, s.h), VIP_SUCCESS);
	CHECK_RC(peer_post(p.pvi, SENDQ, &tx), VIP_SUCCESS);
	do {
		r = wait_done(p.vi, RECVQ, patience());
	} while (r.rc == VIP_TIMEOUT && peer_once_more(&t, &p, &tx));
	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == d);
	CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
		 VIP_STATUS_PROTECTION_ERROR);
	CHECK_EQ(xfer_wrong(&rx, 0), 0);
	peer_wait(p.pvi, SENDQ, LONG_MS);
	after_error(&p);
	pair_close(&p);
}

/* What was posted before and after the bad one; false if some were lost. */
static bool surround(void)
{
	struct xfer tx, rx;
	VIP_DESCRIPTOR *d[5];
	bool whole = true;
	struct ctl_msg m;
	struct done r;
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < 5; i++) {
		rx = peer_buf(i * 200, 100, 1);
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
	}
	for (i = 0; i < 5; i++) {
		tx = our_buf(i * 200, 100, 1);
		if (i == 2)
			tx.handle = 0;
		d[i] = pair_post(&p, SENDQ, &tx);
	}
	for (i = 0; i < 5; i++) {
		about("descriptor %u", i);
		r = wait_done(p.vi, SENDQ, LONG_MS);
		CHECK(r.d == d[i]);
		if (i == 2)
			CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_PROTECTION_ERROR);
		else if (i < 2 || !reliable())
			CHECK_RC(r.rc, VIP_SUCCESS);
		else
			CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK,
				 VIP_STATUS_DESC_FLUSHED_ERROR);
	}
	for (i = 0; i < (reliable() ? 2 : 4) && whole; i++) {
		about("message %u", i);
		m = peer_wait_verify(p.pvi, RECVQ, patience(), 1);
		came_or_lost(m.rc, m.status);
		whole = !lost(m.rc, m.status);
		if (whole)
			CHECK_EQ(m.bad, 0);
	}
	if (reliable()) {
		m = peer_wait(p.pvi, RECVQ, LONG_MS);
		CHECK_RC(m.rc, VIP_DESCRIPTOR_ERROR);
		CHECK(m.status & VIP_STATUS_DESC_FLUSHED_ERROR);
	} else {
		CHECK_RC(peer_wait(p.pvi, RECVQ, 0).rc, VIP_TIMEOUT);
	}
	pair_close(&p);
	return whole;
}

static void neighbours(void)
{
	struct tries t = { 0 };
	bool whole;

	do {
		whole = surround();
	} while (!whole && once_more(&t));
	CHECK(whole);
}

static const struct group groups[] = {
	{ "protection.range", "7.10 the range lies inside the region", range,
	  G_PEER | G_LEVELS, 0 },
	{ "protection.handles", "7.10 a live region, C6", handles,
	  G_PEER | G_LEVELS, 0 },
	{ "protection.foreign", "7.10, 10.3 only in that NIC handle", foreign,
	  G_PEER | G_LEVELS, 0 },
	{ "protection.ptag", "7.10 Ptags, NULL Ptag, C15", ptag,
	  G_PEER | G_LEVELS, 0 },
	{ "protection.deregistered", "10.3 VipDeregisterMem, outstanding",
	  deregistered, G_PEER | G_LEVELS, 0 },
	{ "protection.neighbours", "5, 6 descriptors around an error",
	  neighbours, G_PEER | G_LEVELS, 0 },
};

NOUN(protection, groups);

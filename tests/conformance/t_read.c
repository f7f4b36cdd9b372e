// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* RDMA Read, at both reliable levels: sections 7.8, 7.9, 6. */
#include "bad.h"

#define SOURCE	300000u		/* offset in the peer's arena */

static const VIP_RELIABILITY_LEVEL levels[] = {
	VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION,
};

/* Either end may be read. */
static bool open_level(struct pair *p, unsigned int i)
{
	if (i == ARRAY_SIZE(levels))
		return false;
	env.level = levels[i];
	about("%s", level_name(env.level));
	REQUIRE(env.nic.attr.RDMAReadSupport & env.level);
	pair_open(p, &(struct pair_opt){ .read = true, .peer_read = true });
	return true;
}

/* Each level in turn, with a pair that is closed after it. */
#define for_each_level(p) \
	for (unsigned int l_ = 0; open_level(&(p), l_); pair_close(&(p)), l_++)

/* A read of @len bytes with the pattern of @seed from the peer's arena. */
static struct xfer read_of(uint32_t len, unsigned int nseg, uint32_t seed)
{
	struct xfer x = our_buf(0, len, nseg);

	x.seed = env.seed * 977 + seed;
	x.control = VIP_CONTROL_OP_RDMAREAD;
	x.raddr = env.p_arena + SOURCE;
	x.rhandle = env.p_arena_h;
	return x;
}

/* The same from another region of the peer's. */
static struct xfer read_from(const struct peer_region *r, uint32_t len)
{
	struct xfer x = read_of(len, 1, 1);

	x.raddr = r->addr;
	x.rhandle = r->handle;
	return x;
}

/* Collects a send queue's head, which must be @d and without an error. */
static void check_done(struct pair *p, VIP_DESCRIPTOR *d, const struct xfer *x,
		       uint32_t op)
{
	struct done r = wait_done(p->vi, SENDQ, LONG_MS);

	CHECK_RC(r.rc, VIP_SUCCESS);
	CHECK(r.d == d);
	CHECK_EQ(r.status, VIP_STATUS_DONE | op);
	CHECK_EQ(r.length, x->len);
	CHECK(xfer_intact(d, x, XFER_DESC_SIZE));
}

static void check_read(struct pair *p, VIP_DESCRIPTOR *d, const struct xfer *x)
{
	check_done(p, d, x, VIP_STATUS_OP_RDMA_READ);
	CHECK_EQ(xfer_wrong(x, x->len), 0);
}

static void read_one(struct pair *p, const struct xfer *x)
{
	peer_put(x->raddr, x->len, x->seed);
	check_read(p, pair_post(p, SENDQ, x), x);
}

static void check_error(struct pair *p, VIP_DESCRIPTOR *d, uint32_t bits)
{
	struct done r = wait_done(p->vi, SENDQ, LONG_MS);

	CHECK_RC(r.rc, VIP_DESCRIPTOR_ERROR);
	CHECK(r.d == d);
	CHECK_EQ(r.status, VIP_STATUS_DONE | bits);
}

static void sizes(void)
{
	uint32_t mtu = env.nic.attr.NativeMTU, max;
	struct xfer x, rx = peer_buf(0, 100, 1);
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		max = p.attr.MaxTransferSize > 262144 ? 262144 :
							p.attr.MaxTransferSize;
		if (mtu > max / 4)
			mtu = max / 4;
		CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		const uint32_t s[] = { 1, 2, 3, 7, 8, 64, 1000, mtu - 1, mtu,
				       mtu + 1, 3 * mtu + 7, 65536, max };

		for (i = 0; i < ARRAY_SIZE(s); i++) {
			about("%u bytes, %s", s[i], level_name(env.level));
			x = read_of(s[i], 1, i);
			read_one(&p, &x);
			CHECK_EQ(peer_wrong(x.raddr, s[i], x.seed), 0);
		}
		/* It took no receive. */
		CHECK_RC(peer_wait(p.pvi, RECVQ, 0).rc, VIP_TIMEOUT);
	}
}

static void scattered(void)
{
	static const uint16_t n[] = { 1, 2, 3, 4, 17, 250, 251 };
	struct xfer x;
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		for (i = 0; i < ARRAY_SIZE(n); i++) {
			about("%u segments", n[i]);
			x = read_of(9000 + n[i], n[i], i);
			read_one(&p, &x);
			/* Fewer bytes than segments. */
			x = read_of(n[i] / 2 + 1, n[i], i);
			read_one(&p, &x);
		}
	}
}

static void alignment(void)
{
	struct xfer x;
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		for (i = 0; i < 9; i++) {
			about("from %u, to %u", i, i * 5);
			x = read_of(4097 + i, 1, i);
			x.raddr += i;
			x.addr += i * 5;
			read_one(&p, &x);
		}
		about("up to the last byte of both regions");
		x = read_of(3000, 1, 9);
		x.raddr = env.p_arena + env.p_arena_len - x.len;
		x.addr = (uintptr_t)env.nic.arena + env.nic.arena_len - x.len;
		peer_put(x.raddr, x.len, x.seed);
		/* No room for guards behind it. */
		VIP_DESCRIPTOR *d = NULL;

		CHECK_RC(nic_post_again(&env.nic, p.vi, SENDQ, &x, &d),
			 VIP_SUCCESS);
		check_done(&p, d, &x, VIP_STATUS_OP_RDMA_READ);
		CHECK_EQ(pattern_wrong((void *)(uintptr_t)x.addr, x.seed, 0,
				       x.len), 0);
	}
}

static void zero(void)
{
	struct xfer x;
	struct pair p;
	unsigned int segs;

	for_each_level(p) {
		for (segs = 0; segs < 2; segs++) {
			about("%u segments", segs);
			x = read_of(0, segs, 1);
			check_read(&p, pair_post(&p, SENDQ, &x), &x);
		}
		/* Between others. */
		x = read_of(2000, 1, 2);
		read_one(&p, &x);
	}
}

/* Reads, with sends and RDMA Writes behind them: completed as posted. */
static void fifo(void)
{
	static const uint32_t len[] = { 100000, 10, 5, 30000, 0, 3000 };
	struct xfer x[ARRAY_SIZE(len)], rx = peer_buf(0, 100, 1);
	VIP_DESCRIPTOR *d[ARRAY_SIZE(len)];
	struct pair p;
	unsigned int i, round;

	for_each_level(p) {
		for (round = 0; round < 3; round++) {
			for (i = 0; i < ARRAY_SIZE(len); i++) {
				x[i] = read_of(len[i], 1, i + round);
				x[i].addr += i * 110000;
				x[i].raddr += i * 110000;
				if (i == 1)
					x[i].control = 0;
				else if (i == 2)
					x[i].control =
						VIP_CONTROL_OP_RDMAWRITE;
				else
					peer_put(x[i].raddr, x[i].len,
						 x[i].seed);
			}
			rx.seed = x[1].seed;
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
			for (i = 0; i < ARRAY_SIZE(len); i++)
				d[i] = pair_post(&p, SENDQ, &x[i]);
			for (i = 0; i < ARRAY_SIZE(len); i++) {
				about("round %u, number %u", round, i);
				if (i == 1)
					check_done(&p, d[i], &x[i],
						   VIP_STATUS_OP_SEND);
				else if (i == 2)
					check_done(&p, d[i], &x[i],
						   VIP_STATUS_OP_RDMA_WRITE);
				else
					check_read(&p, d[i], &x[i]);
			}
			CHECK_RC(peer_wait(p.pvi, RECVQ, LONG_MS).rc,
				 VIP_SUCCESS);
			CHECK_EQ(peer_wrong(x[2].raddr, x[2].len, x[2].seed),
				 0);
		}
	}
}

/* 7.9: what is fenced starts when all reads before it are complete. */
static void fence(void)
{
	struct xfer x[6], w, fenced, rx = peer_buf(0, 10, 1);
	VIP_DESCRIPTOR *d[6], *wd, *fd;
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		/* An RDMA Write over what is being read. */
		for (i = 0; i < 6; i++) {
			x[i] = read_of(60000, 1, 1);
			x[i].addr += i * 64000;
		}
		peer_put(x[0].raddr, 60000, x[0].seed);
		w = read_of(60000, 1, 2);
		w.addr += 6 * 64000;
		w.control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_QFENCE;
		fenced = w;
		fenced.addr += 64000;
		fenced.control = VIP_CONTROL_OP_RDMAREAD | VIP_CONTROL_QFENCE;
		for (i = 0; i < 6; i++)
			d[i] = pair_post(&p, SENDQ, &x[i]);
		wd = pair_post(&p, SENDQ, &w);
		fd = pair_post(&p, SENDQ, &fenced);
		for (i = 0; i < 6; i++)
			check_read(&p, d[i], &x[i]);
		check_done(&p, wd, &w, VIP_STATUS_OP_RDMA_WRITE);
		/* Ordered behind the write in any case. */
		check_read(&p, fd, &fenced);
		/* A fence without a read before it, and on an empty queue. */
		for (i = 0; i < 3; i++) {
			about("send with a fence");
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
			w = our_buf(0, 10, 1);
			w.control = VIP_CONTROL_QFENCE;
			check_done(&p, pair_post(&p, SENDQ, &w), &w,
				   VIP_STATUS_OP_SEND);
			CHECK_RC(peer_wait(p.pvi, RECVQ, LONG_MS).rc,
				 VIP_SUCCESS);
		}
	}
}

/* What a send with a fence says is in our memory already: it may be sent. */
static void fence_sends_it(void)
{
	struct xfer x, tx, rx;
	VIP_DESCRIPTOR *d[2];
	struct pair p;
	struct ctl_msg m;
	unsigned int i;

	for_each_level(p) {
		for (i = 0; i < 4; i++) {
			x = read_of(50000, 1, i);
			peer_put(x.raddr, x.len, x.seed);
			rx = peer_buf(0, 50000, 1);
			rx.seed = x.seed;
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
			d[0] = pair_post(&p, SENDQ, &x);
			/* The read's destination is the send's source. */
			tx = x;
			tx.control = VIP_CONTROL_QFENCE;
			CHECK_RC(nic_post_again(&env.nic, p.vi, SENDQ, &tx,
						&d[1]), VIP_SUCCESS);
			m = peer_wait_verify(p.pvi, RECVQ, LONG_MS, 1);
			CHECK_RC(m.rc, VIP_SUCCESS);
			CHECK_EQ(m.bad, 0);
			check_read(&p, d[0], &x);
			check_done(&p, d[1], &tx, VIP_STATUS_OP_SEND);
		}
	}
}

/* Far more than any provider keeps on the wire. */
static void many(void)
{
	static const uint32_t lens[] = { 1, 3000, 100, 1500, 0, 8000 };
	VIP_DESCRIPTOR *d[80];
	struct xfer x[80];
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		peer_put(env.p_arena + SOURCE, 100000, read_of(1, 1, 3).seed);
		for (i = 0; i < ARRAY_SIZE(x); i++) {
			x[i] = read_of(lens[i % ARRAY_SIZE(lens)], 1, 3);
			x[i].addr += i * 8192;
			/* Some with a fence among them. */
			if (i % 11 == 7)
				x[i].control |= VIP_CONTROL_QFENCE;
			d[i] = pair_post(&p, SENDQ, &x[i]);
		}
		for (i = 0; i < ARRAY_SIZE(x); i++) {
			about("read %u", i);
			check_read(&p, d[i], &x[i]);
		}
	}
}

/*
 * Both ends read from one another, and send, with more than fits any window:
 * neither may wait for the other for ever.
 */
static void both_ways(void)
{
	struct xfer x[20], back[20], tx, rx;
	VIP_DESCRIPTOR *d[20];
	struct ctl_msg m;
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		tx = read_of(65000, 1, 5);
		peer_put(tx.raddr, tx.len, tx.seed);
		pattern(env.nic.arena + SOURCE, tx.seed, 0, tx.len);
		rx = peer_buf(0, 65000, 1);
		for (i = 0; i < 10; i++)
			CHECK_RC(peer_post(p.pvi, RECVQ, &rx), VIP_SUCCESS);
		for (i = 0; i < 20; i++) {
			back[i] = peer_buf((i % 4) * 65600, 65000, 1);
			back[i].seed = tx.seed;
			back[i].control = VIP_CONTROL_OP_RDMAREAD;
			back[i].raddr = (uintptr_t)env.nic.arena + SOURCE;
			back[i].rhandle = env.nic.arena_h;
			CHECK_RC(peer_post(p.pvi, SENDQ, &back[i]),
				 VIP_SUCCESS);
			x[i] = tx;
			x[i].addr += (i / 2 % 4) * 65600;
			if (i % 2) {
				x[i].addr = our_buf(400000, 1, 1).addr;
				x[i].control = 0;
			}
			d[i] = pair_post(&p, SENDQ, &x[i]);
		}
		for (i = 0; i < 20; i++) {
			about("number %u", i);
			check_done(&p, d[i], &x[i], i % 2 ?
				   VIP_STATUS_OP_SEND :
				   VIP_STATUS_OP_RDMA_READ);
			m = peer_wait(p.pvi, SENDQ, LONG_MS);
			CHECK_RC(m.rc, VIP_SUCCESS);
			CHECK_EQ(m.status, VIP_STATUS_DONE |
				 VIP_STATUS_OP_RDMA_READ);
		}
		for (i = 0; i < 4; i++) {
			/* The same bytes, whichever wrote last. */
			CHECK_EQ(pattern_wrong(env.nic.arena + 64 + i * 65600,
					       tx.seed, 0, 65000), 0);
			CHECK_EQ(peer_wrong(env.p_arena + 64 + i * 65600,
					    65000, tx.seed), 0);
		}
	}
}

/* The target refuses: no byte comes, both hear of it, the connection ends. */
static void refuse(struct pair *p, const struct xfer *x)
{
	unsigned int before = peer_errors(p->pvi, VIP_ERROR_RDMAR_PROT, 0);

	check_error(p, pair_post(p, SENDQ, x), VIP_STATUS_RDMA_PROT_ERROR |
				   VIP_STATUS_OP_RDMA_READ);
	CHECK_EQ(xfer_wrong(x, 0), 0);
	CHECK_EQ(peer_errors(p->pvi, VIP_ERROR_RDMAR_PROT, before + 1),
		 before + 1);
	after_error(p);
}

static void rights(void)
{
	struct ctl_msg tag = peer_do((struct ctl_msg){ .cmd = P_PTAG });
	struct peer_region r;
	struct xfer x;
	struct pair p;

	REQUIRE_RC(tag.rc, VIP_SUCCESS);
	for_each_level(p) {
		about("the region does not allow it");
		r = peer_region_rights(5000, CTL_MAIN_PTAG, CTL_WRITE);
		x = read_from(&r, 5000);
		refuse(&p, &x);
		x.len = 0;
		refuse(&p, &x);
		about("another tag");
		r = peer_region_rights(5000, tag.obj, CTL_READ);
		x = read_from(&r, 5000);
		refuse(&p, &x);
		about("a region that may only be read is enough");
		r = peer_region_rights(5000, CTL_MAIN_PTAG, CTL_READ);
		x = read_from(&r, 5000);
		read_one(&p, &x);
		pair_close(&p);
		about("the VI does not allow it");
		pair_open(&p, &(struct pair_opt){ .read = true });
		refuse(&p, &x);
		pair_close(&p);
		about("NULL Ptag takes any tag");
		pair_open(&p, &(struct pair_opt){ .peer_read = true,
						  .peer_null_ptag = true });
		r = peer_region_rights(5000, tag.obj, CTL_READ);
		x = read_from(&r, 5000);
		read_one(&p, &x);
	}
}

static void range(void)
{
	static const struct { int off; uint32_t len; } out[] = {
		{ -1, 1 }, { 0, 5001 }, { 5000, 1 }, { 4999, 2 },
		{ 1 << 24, 4 },
	};
	struct peer_region r, gone;
	uint32_t bad[4];
	struct xfer x;
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		r = peer_region_rights(5000, CTL_MAIN_PTAG, CTL_READ);
		for (i = 0; i < ARRAY_SIZE(out); i++) {
			about("%u bytes at %d", out[i].len, out[i].off);
			x = read_from(&r, out[i].len);
			x.raddr += out[i].off;
			refuse(&p, &x);
		}
		about("an address that wraps");
		x = read_from(&r, 8);
		x.raddr = ~0ull - 3;
		refuse(&p, &x);
		gone = peer_bad_handles(bad, CTL_READ);
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			about("handle 0x%x", bad[i]);
			x = read_from(&gone, 100);
			x.rhandle = bad[i];
			refuse(&p, &x);
		}
	}
}

/* Reads before a refused one get their data, what is behind is flushed. */
static void offender(void)
{
	VIP_ERROR_DESCRIPTOR e;
	VIP_DESCRIPTOR *d[6];
	struct xfer x[6];
	struct pair p;
	unsigned int i;

	for_each_level(p) {
		for (i = 0; i < 6; i++) {
			x[i] = read_of(20000, 2, 4);
			x[i].addr += i * 21000;
			if (i == 3)
				x[i].rhandle ^= 0x80000000;
			if (i == 2 || i == 5)
				x[i].control = VIP_CONTROL_OP_RDMAWRITE;
			if (i == 5)
				x[i].raddr += 30000;
		}
		peer_put(x[0].raddr, x[0].len, x[0].seed);
		for (i = 0; i < 6; i++)
			d[i] = pair_post(&p, SENDQ, &x[i]);
		check_read(&p, d[0], &x[0]);
		check_read(&p, d[1], &x[1]);
		check_done(&p, d[2], &x[2], VIP_STATUS_OP_RDMA_WRITE);
		check_error(&p, d[3], VIP_STATUS_RDMA_PROT_ERROR |
				      VIP_STATUS_OP_RDMA_READ);
		check_error(&p, d[4], VIP_STATUS_DESC_FLUSHED_ERROR |
				      VIP_STATUS_OP_RDMA_READ);
		check_error(&p, d[5], VIP_STATUS_DESC_FLUSHED_ERROR |
				      VIP_STATUS_OP_RDMA_WRITE);
		CHECK_EQ(xfer_wrong(&x[3], 0), 0);
		CHECK_EQ(xfer_wrong(&x[4], 0), 0);
		CHECK_EQ(peer_errors(p.pvi, VIP_ERROR_RDMAR_PROT, 1), 1);
		after_error(&p);
		/* At the target the event names VI and operation. */
		about("the event");
		x[0] = peer_buf(0, 10, 1);
		x[0].control = VIP_CONTROL_OP_RDMAREAD;
		x[0].raddr = 4096;
		x[0].rhandle = 0;
		CHECK_RC(peer_post(p.pvi, SENDQ, &x[0]), VIP_SUCCESS);
		CHECK_EQ(nic_error_wait(&env.nic, p.vi, VIP_ERROR_RDMAR_PROT,
					1, LONG_MS, &e), 1);
		CHECK_EQ(e.OpCode, 4);
		CHECK_EQ(e.ResourceCode, VIP_RESOURCE_VI);
		CHECK(e.ViHandle == p.vi && e.NicHandle == env.nic.h);
		CHECK(!e.DescriptorPtr && !e.CQHandle);
		CHECK(peer_wait(p.pvi, SENDQ, LONG_MS).status &
		      VIP_STATUS_RDMA_PROT_ERROR);
		after_error(&p);
	}
}

static void format(void)
{
	VIP_DESCRIPTOR *d;
	struct xfer x;
	struct pair p;

	for_each_level(p) {
		about("IMMEDIATE");
		x = read_of(100, 1, 1);
		x.control |= VIP_CONTROL_IMMEDIATE;
		bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
		about("no address segment");
		x = read_of(0, 0, 1);
		x.seg_delta = -1;
		bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
		about("Length of no segment");
		x = read_of(100, 1, 1);
		x.len_delta = 1;
		bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
		x.len_delta = -1;
		bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
		about("a reserved field");
		d = nic_slot(&env.nic);
		x.len_delta = 0;
		xfer_build(d, &x, XFER_DESC_SIZE);
		d->DS[0].Remote.Reserved = 1;
		bad_send(&p, d, env.nic.slots_h, VIP_STATUS_FORMAT_ERROR);
		pair_close(&p);
		about("over MaxTransferSize");
		pair_open(&p, &(struct pair_opt){ .peer_read = true,
						  .mtu = 5000 });
		x = read_of(5001, 1, 1);
		bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
		x = read_of(5000, 1, 1);
		read_one(&p, &x);
	}
}

/* The local segments are checked as those of a receive. */
static void local(void)
{
	VIP_MEM_ATTRIBUTES none = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	VIP_PROTECTION_HANDLE tag;
	VIP_MEM_HANDLE h, other;
	struct xfer x;
	struct pair p;
	unsigned int i;

	REQUIRE_RC(VipRegisterMem(env.nic.h, env.nic.arena, 100000, &none, &h),
		   VIP_SUCCESS);
	REQUIRE_RC(VipCreatePtag(env.nic.h, &tag), VIP_SUCCESS);
	none.Ptag = tag;
	REQUIRE_RC(VipRegisterMem(env.nic.h, env.nic.arena, 100000, &none,
				  &other), VIP_SUCCESS);
	for_each_level(p) {
		for (i = 0; i < 2; i++) {
			about("%s", i ? "many frames" : "one frame");
			x = read_of(i ? 20000 : 20, 1, 1);
			x.handle = h;
			read_one(&p, &x);
			x.handle = 0;
			bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
			x.handle = other;
			bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
			x.handle = h;
			x.addr = (uintptr_t)env.nic.arena + 100001 - x.len;
			bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
			about("the second of two segments");
			x = read_of(i ? 20000 : 20, 2, 1);
			x.handle = h;
			x.gap = 60000;
			x.addr = (uintptr_t)env.nic.arena + 50000;
			bad_send_xfer(&p, &x, VIP_STATUS_PROTECTION_ERROR);
		}
	}
}

static void unreliable(void)
{
	VIP_VI_ATTRIBUTES a = vi_attributes(&env.nic, VIP_SERVICE_UNRELIABLE);
	VIP_VI_HANDLE vi;
	struct xfer x;
	struct pair p;

	CHECK_EQ(env.nic.attr.RDMAReadSupport, VIP_SERVICE_RELIABLE_DELIVERY |
		 VIP_SERVICE_RELIABLE_RECEPTION);
	env.level = VIP_SERVICE_UNRELIABLE;
	a.EnableRdmaRead = VIP_TRUE;
	CHECK_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi),
		 VIP_INVALID_RDMAREAD);
	pair_open(&p, NULL);
	x = read_of(100, 1, 1);
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	x = read_of(0, 0, 1);
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	pair_close(&p);
}

/* The right is the VI's own, and the other end learns of it. */
static void attributes(void)
{
	VIP_VI_ATTRIBUTES a, theirs;
	VIP_BOOLEAN se, re;
	VIP_VI_STATE state;
	VIP_VI_HANDLE vi;
	struct asker k;
	struct ctl_msg m;
	unsigned int i, pvi;

	for (i = 0; i < 8; i++) {
		about("ours %u, the peer's %u", i & 1, (i >> 1) & 1);
		a = vi_attributes(&env.nic, levels[i >> 2]);
		a.EnableRdmaRead = i & 1;
		theirs = a;
		theirs.EnableRdmaRead = (i >> 1) & 1;
		REQUIRE_RC(VipCreateVi(env.nic.h, &a, NULL, NULL, &vi),
			   VIP_SUCCESS);
		pvi = peer_vi(&theirs, CTL_MAIN_PTAG);
		CHECK_RC(VipQueryVi(vi, &state, &a, &se, &re), VIP_SUCCESS);
		CHECK_EQ(a.EnableRdmaRead, i & 1);
		CHECK_EQ(a.EnableRdmaWrite, VIP_TRUE);
		m = ask_pending(&k, vi, LONG_MS);
		CHECK_EQ(m.peer_rdma, CTL_WRITE | (i & 1 ? CTL_READ : 0));
		CHECK_RC(peer_accept(m.obj, pvi), VIP_SUCCESS);
		CHECK_RC(ask_join(&k), VIP_SUCCESS);
		CHECK_EQ(k.theirs.EnableRdmaRead, (i >> 1) & 1);
		CHECK_RC(VipDisconnect(vi), VIP_SUCCESS);
		CHECK_RC(VipDestroyVi(vi), VIP_SUCCESS);
		peer_disconnect(pvi);
	}
}

/* Collects reads of which each is good, or in error by one of these bits. */
static void good_or(struct pair *p, const struct xfer *x, unsigned int n,
		    uint32_t bits)
{
	bool broken = false;
	struct done r;
	unsigned int i;

	for (i = 0; i < n; i++) {
		r = wait_done(p->vi, SENDQ, LONG_MS);
		CHECK(r.d != NULL);
		CHECK_EQ(r.status & VIP_STATUS_OP_MASK,
			 VIP_STATUS_OP_RDMA_READ);
		if (r.rc == VIP_SUCCESS) {
			CHECK(!broken);
			CHECK_EQ(xfer_wrong(&x[i], x[i].len), 0);
			continue;
		}
		CHECK_EQ(r.status & VIP_STATUS_ERROR_MASK &
			 ~(bits | VIP_STATUS_DESC_FLUSHED_ERROR), 0);
		broken = true;
	}
}

/* A region goes away while it is read, at the target and then here. */
static void deregistered(void)
{
	VIP_MEM_ATTRIBUTES none = { env.nic.ptag, VIP_FALSE, VIP_FALSE };
	struct peer_region r;
	struct xfer x[6];
	VIP_MEM_HANDLE h;
	struct pair p;
	unsigned int i, round;

	for_each_level(p) {
		for (round = 0; round < 4; round++) {
			about("%s, round %u", round & 1 ? "us" : "peer", round);
			r = peer_region_rights(65536, CTL_MAIN_PTAG, CTL_READ);
			REQUIRE_RC(VipRegisterMem(env.nic.h, env.nic.arena,
						  500000, &none, &h),
				   VIP_SUCCESS);
			peer_put(r.addr, 65536, read_of(1, 1, 1).seed);
			for (i = 0; i < 6; i++) {
				x[i] = read_from(&r, 65536);
				x[i].addr += i * 66000;
				x[i].handle = h;
				pair_post(&p, SENDQ, &x[i]);
			}
			if (round & 1)
				CHECK_RC(VipDeregisterMem(env.nic.h,
							  env.nic.arena, h),
					 VIP_SUCCESS);
			peer_deregister(r.obj);
			good_or(&p, x, 6, round & 1 ?
				VIP_STATUS_PROTECTION_ERROR |
				VIP_STATUS_RDMA_PROT_ERROR :
				VIP_STATUS_RDMA_PROT_ERROR);
			if (!(round & 1))
				VipDeregisterMem(env.nic.h, env.nic.arena, h);
			pair_reset(&p);
			check_alive(&p);
		}
	}
}

/* Either end leaves in the middle: flushed as reads, in order. */
static void disconnected(void)
{
	struct xfer x[10];
	struct pair p;
	unsigned int i, round;

	for_each_level(p) {
		x[0] = read_of(65536, 1, 7);
		peer_put(x[0].raddr, x[0].len, x[0].seed);
		for (round = 0; round < 6; round++) {
			about("%s, round %u", round & 1 ? "us" : "peer", round);
			for (i = 0; i < 10; i++) {
				x[i] = read_of(65536, 1, 7);
				x[i].addr += i * 66000;
				pair_post(&p, SENDQ, &x[i]);
			}
			if (round > 3)
				wait_done(p.vi, SENDQ, LONG_MS);
			if (round & 1)
				CHECK_RC(VipDisconnect(p.vi), VIP_SUCCESS);
			else
				peer_disconnect(p.pvi);
			good_or(&p, x + (round > 3), 10 - (round > 3), 0);
			if (round & 1)
				CHECK_EQ(vi_state(p.vi), VIP_STATE_IDLE);
			else
				CHECK_STATE(p.vi, VIP_STATE_ERROR);
			pair_reset(&p);
			check_alive(&p);
		}
	}
}

static const struct group groups[] = {
	{ "read.sizes", "7.8 RDMA Read, 6 both reliable levels", sizes,
	  G_PEER, 0 },
	{ "read.scattered", "3 RDMA Read, n local segments", scattered,
	  G_PEER, 0 },
	{ "read.alignment", "3 any alignment, 7.8 the edges of regions",
	  alignment, G_PEER, 0 },
	{ "read.zero", "7.4 zero bytes", zero, G_PEER, 0 },
	{ "read.fifo", "7.1, 7.9 completed as posted", fifo, G_PEER, 0 },
	{ "read.fence", "7.9 QFENCE", fence, G_PEER, 0 },
	{ "read.fence_sends_it", "7.9 QFENCE, the data is here",
	  fence_sends_it, G_PEER, 0 },
	{ "read.many", "7.8 more than are on the wire at once", many,
	  G_PEER, 0 },
	{ "read.both_ways", "7.1 both ends at once, windows full", both_ways,
	  G_PEER | G_FULL, 0 },
	{ "read.rights", "7.8 EnableRdmaRead of VI and region, Ptag", rights,
	  G_PEER, 0 },
	{ "read.range", "7.8 one live region holds it all", range, G_PEER, 0 },
	{ "read.offender", "6, 8 RDMAR_PROT, descriptors around a refusal",
	  offender, G_PEER, 0 },
	{ "read.format", "7.8 IMMEDIATE, 3 segments, 7.4 length", format,
	  G_PEER, 0 },
	{ "read.local", "7.8, 7.10 local segments, no rights needed", local,
	  G_PEER, 0 },
	{ "read.unreliable", "6 not at Unreliable, 10.2 INVALID_RDMAREAD",
	  unreliable, G_PEER, 0 },
	{ "read.attributes", "10.2, 10.6 EnableRdmaRead of both ends",
	  attributes, G_PEER, 0 },
	{ "read.deregistered", "10.3 VipDeregisterMem in the middle",
	  deregistered, G_PEER | G_FULL, 0 },
	{ "read.disconnected", "5 flushed in the middle", disconnected,
	  G_PEER | G_FULL, 0 },
};

NOUN(read, groups);

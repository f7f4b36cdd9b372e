// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Malformed descriptors and wrong lengths: sections 2, 3 and 7. */
#include "bad.h"

static void control_bits(void)
{
	struct xfer x = our_buf(0, 10, 1);
	struct pair p;
	unsigned int bit;

	pair_open(&p, NULL);
	for (bit = 4; bit < 16; bit++) {
		about("control bit %u", bit);
		x.control = 1u << bit;
		bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	}
	x.control = VIP_CONTROL_OP_RESERVED;
	about("reserved operation");
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	pair_close(&p);
}

static void recv_control(void)
{
	static const uint16_t bad[] = {
		VIP_CONTROL_OP_RDMAWRITE, VIP_CONTROL_OP_RDMAREAD,
		VIP_CONTROL_OP_RESERVED, 0x0010, 0x8000,
	};
	struct xfer rx = our_buf(0, 10, 1), tx = peer_buf(0, 10, 1);
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		about("control 0x%x", bad[i]);
		rx.control = bad[i];
		bad_recv_xfer(&p, &rx, &tx, VIP_STATUS_FORMAT_ERROR);
	}
	pair_close(&p);
}

static void seg_count(void)
{
	struct xfer x = our_buf(0, 252, 252), rx = our_buf(0, 10, 1);
	struct xfer tx = peer_buf(0, 10, 1);
	struct pair p;

	pair_open(&p, NULL);
	about("253 segments");
	x.nseg = 253;
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	about("65535 segments");
	x = our_buf(0, 10, 1);
	x.seg_delta = -2;
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	about("an RDMA Write without an address segment");
	x = our_buf(0, 0, 0);
	x.control = VIP_CONTROL_OP_RDMAWRITE;
	x.seg_delta = -1;
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	about("a receive of 65535 segments");
	rx.seg_delta = -2;
	bad_recv_xfer(&p, &rx, &tx, VIP_STATUS_FORMAT_ERROR);
	pair_close(&p);
}

/* A format error with immediate data, and where there is no RDMA Read. */
static void rdma_read(void)
{
	struct xfer x = our_buf(0, 10, 1);
	struct pair p;

	pair_open(&p, NULL);
	x.control = VIP_CONTROL_OP_RDMAREAD | VIP_CONTROL_IMMEDIATE;
	x.raddr = env.p_arena;
	x.rhandle = env.p_arena_h;
	about("with immediate data");
	bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	if (!(env.nic.attr.RDMAReadSupport & env.level)) {
		about("not supported");
		x.control = VIP_CONTROL_OP_RDMAREAD;
		bad_send_xfer(&p, &x, VIP_STATUS_FORMAT_ERROR);
	}
	pair_close(&p);
}

static void length_field(void)
{
	static const int deltas[] = { 1, -1, 1000, -100 };
	struct xfer x = our_buf(0, 100, 3), tx = peer_buf(0, 50, 1);
	struct pair p;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(deltas); i++) {
		about("Length off by %d", deltas[i]);
		x.len_delta = deltas[i];
		bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
		about("Length of a receive off by %d", deltas[i]);
		bad_recv_xfer(&p, &x, &tx, VIP_STATUS_LENGTH_ERROR);
	}
	about("Length without segments");
	x = our_buf(0, 0, 0);
	x.len_delta = 1;
	bad_send_xfer(&p, &x, VIP_STATUS_LENGTH_ERROR);
	pair_close(&p);
}

/* Segment lengths whose sum wraps round 32 bits to a harmless one. */
static void length_wraps(void)
{
	struct xfer x = our_buf(0, 64, 2);
	VIP_DESCRIPTOR *d = nic_slot(&env.nic);
	struct pair p;

	pair_open(&p, NULL);
	xfer_build(d, &x, XFER_DESC_SIZE);
	d->DS[0].Local.Length = 0x80000010;
	d->DS[1].Local.Length = 0x80000010;
	d->CS.Length = 0x20;
	bad_send(&p, d, env.nic.slots_h, VIP_STATUS_LENGTH_ERROR |
		 VIP_STATUS_PROTECTION_ERROR);
	pair_close(&p);
}

static void too_long(void)
{
	struct pair_opt o = { .mtu = 4096 };
	struct xfer tx, rx;
	struct pair p;

	pair_open(&p, &o);
	tx = our_buf(0, 4096, 2);
	rx = peer_buf(0, 4096, 1);
	deliver(&p, &tx, &rx);
	about("one byte over MaxTransferSize");
	tx = our_buf(0, 4097, 2);
	bad_send_xfer(&p, &tx, VIP_STATUS_LENGTH_ERROR);
	about("far over it");
	tx = our_buf(0, 900000, 1);
	bad_send_xfer(&p, &tx, VIP_STATUS_LENGTH_ERROR);
	pair_close(&p);
}

/* It takes what arrives, however much more it could. */
static void long_receive(void)
{
	static const struct { uint32_t send, recv, segs; } c[] = {
		{ 0, 4097, 1 }, { 1, 100000, 2 }, { 100, 300000, 252 },
		{ 4095, 300000, 1 }, { 4096, 4097, 3 }, { 4096, 900000, 1 },
	};
	struct pair_opt o = { .mtu = 4096 };
	struct xfer tx, rx;
	struct pair p;
	unsigned int i;

	pair_open(&p, &o);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		about("%u bytes into %u", c[i].send, c[i].recv);
		tx = peer_buf(0, c[i].send, 1);
		rx = our_buf(0, c[i].recv, c[i].segs);
		deliver_back(&p, &tx, &rx);
		tx = our_buf(0, c[i].send, 2);
		rx = peer_buf(0, c[i].recv, c[i].segs);
		deliver(&p, &tx, &rx);
	}
	about("Length disagrees with the segments");
	tx = peer_buf(0, 50, 1);
	rx = our_buf(0, 100000, 2);
	rx.len_delta = 1;
	bad_recv_xfer(&p, &rx, &tx, VIP_STATUS_LENGTH_ERROR);
	rx.len_delta = 4096 - 100000;
	bad_recv_xfer(&p, &rx, &tx, VIP_STATUS_LENGTH_ERROR);
	about("what is sent is bound as ever");
	tx = our_buf(0, 4097, 1);
	bad_send_xfer(&p, &tx, VIP_STATUS_LENGTH_ERROR);
	pair_close(&p);
}

/*
 * As long as 32 bits can tell. Only what bytes move into must be registered,
 * and that is the first page.
 */
static void longest_receive(void)
{
	struct xfer rx = our_buf(0, 4096, 2), tx = peer_buf(0, 4096, 1);
	VIP_DESCRIPTOR *d = nic_slot(&env.nic);
	struct pair_opt o = { .mtu = 4096 };
	struct done r;
	struct pair p;

	pair_open(&p, &o);
	xfer_build(d, &rx, XFER_DESC_SIZE);
	d->DS[0].Local.Length = 0xfffffff0;
	d->DS[1].Local.Length = 0xf;
	d->CS.Length = 0xffffffff;
	CHECK_RC(VipPostRecv(p.vi, d, env.nic.slots_h), VIP_SUCCESS);
	r = one_arrives(&p, &tx);
	CHECK(r.d == d);
	CHECK_EQ(r.length, 4096);
	CHECK_EQ(pattern_wrong((void *)(uintptr_t)rx.addr, tx.seed, 0, 4096),
		 0);
	about("one byte more: the sum wraps");
	d->DS[1].Local.Length = 0x10;
	d->CS.Length = 0;
	tx = peer_buf(0, 10, 1);
	bad_recv(&p, d, env.nic.slots_h, &tx, VIP_STATUS_LENGTH_ERROR);
	pair_close(&p);
}

/* 7.3: longer than the receive buffer. */
static void small_buffer(void)
{
	static const struct { uint32_t send, recv; } c[] = {
		{ 1, 0 }, { 11, 10 }, { 4097, 4096 }, { 20000, 100 },
		{ 10000, 9999 },
	};
	struct xfer tx, rx;
	struct pair p;
	VIP_DESCRIPTOR *d;
	unsigned int i;

	pair_open(&p, NULL);
	for (i = 0; i < ARRAY_SIZE(c); i++) {
		about("%u bytes into %u", c[i].send, c[i].recv);
		rx = our_buf(600000, c[i].recv, c[i].recv ? 1 : 0);
		tx = peer_buf(0, c[i].send, 1);
		xfer_guard(&rx);
		d = nic_slot(&env.nic);
		xfer_build(d, &rx, XFER_DESC_SIZE);
		bad_recv(&p, d, env.nic.slots_h, &tx,
			 VIP_STATUS_LENGTH_ERROR);
		/* Not a byte behind the buffer, nor before it. */
		CHECK_EQ(bytes_other((uint8_t *)(uintptr_t)rx.addr - 16,
				     XFER_GUARD, 16), 0);
		CHECK_EQ(bytes_other((uint8_t *)(uintptr_t)rx.addr + rx.len,
				     XFER_GUARD, 16), 0);
	}
	pair_close(&p);
}

static const struct group groups[] = {
	{ "format.control", "2 VIP_CONTROL_RESERVED, FORMAT_ERROR",
	  control_bits, G_PEER | G_LEVELS, 0 },
	{ "format.recv_control", "3 receive: op bits SENDRECV", recv_control,
	  G_PEER | G_LEVELS, 0 },
	{ "format.seg_count", "3 SegCount, 12", seg_count, G_PEER | G_LEVELS,
	  0 },
	{ "format.rdma_read", "7.8", rdma_read, G_PEER | G_LEVELS, 0 },
	{ "format.length", "2 LENGTH_ERROR, Length disagrees", length_field,
	  G_PEER | G_LEVELS, 0 },
	{ "format.length_wraps", "2 LENGTH_ERROR, arithmetic", length_wraps,
	  G_PEER | G_LEVELS, 0 },
	{ "format.too_long", "7.4 MaxTransferSize", too_long,
	  G_PEER | G_LEVELS, 0 },
	{ "format.long_receive", "7.4 MaxTransferSize binds messages",
	  long_receive, G_PEER | G_LEVELS, 0 },
	{ "format.longest_receive", "7.4 MaxTransferSize, arithmetic",
	  longest_receive, G_PEER | G_LEVELS, 0 },
	{ "format.small_buffer", "7.3 LENGTH_ERROR at the receiver",
	  small_buffer, G_PEER | G_LEVELS, 0 },
};

NOUN(format, groups);

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Trains in TCP's shape: what a card splits and a kernel joins is the train that was
 * sent, and what no sender writes is refused.  Headers under test lie in a heap block
 * of exactly their length, so that the sanitizer sees any byte read beyond it.
 */

#include <stdlib.h>
#include <string.h>
#include "shape.h"
#include "unit.h"

#define SEG	1432u
#define FIRST	0xfffffff0u	/* sequence numbers wrap */
#define COOKIE	0x8123456789abcdefull

struct frame {
	struct via_wire w;
	struct via_wire_data d;
} __packed;

/* The first frame of a train at @off of a message of @msg bytes. */
static struct frame make(u8 type, u32 off, u32 seg, u32 msg)
{
	struct frame f = {
		.w.version = VIA_WIRE_VERSION,
		.w.type = type,
		.w.flags = VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW,
		.w.marks = VIA_WIRE_CE,
		.w.dst = cpu_to_be32(5),
		.w.cookie = cpu_to_be64(COOKIE),
		.d.seq = cpu_to_be32(FIRST + off / seg),
		.d.ack = cpu_to_be32(77),
		.d.msg_len = cpu_to_be32(msg),
		.d.offset = cpu_to_be32(off),
		.d.len = cpu_to_be16(seg),
		.d.reads = cpu_to_be16(type == VIA_WIRE_READ_DATA ? 0x1234 :
				       VIA_WIRE_N_SOLICITED),
	};

	return f;
}

static enum via_shape_is parse(const struct via_shape_tcp *t, u32 len, u32 joined,
			       struct via_shape *s)
{
	struct via_shape_tcp *copy = malloc(sizeof(*copy));
	enum via_shape_is is;

	CU_ASSERT_FATAL(copy != NULL);
	memcpy(copy, t, sizeof(*t));
	memset(s, 0xee, sizeof(*s));
	is = via_shape_parse(copy, len, joined, s);
	free(copy);
	return is;
}

/* A card has split it: the packet that begins at @k frames of it. */
static struct via_shape_tcp split(const struct via_shape_tcp *t, u32 k, bool last)
{
	struct via_shape_tcp one = *t;

	one.offset = cpu_to_be32(be32_to_cpu(t->offset) +
				 k * be16_to_cpu(t->seg));
	if (!last)
		one.flags &= ~VIA_SHAPE_PSH;
	/* As a card does, and addresses in between. */
	one.check = rand();
	one.source = rand();
	return one;
}

/* What has been parsed is frames @k to @k + @n of the train. */
static void same(const struct frame *f, const struct via_shape *s, u32 bytes,
		 u32 seg, u32 k, u32 n)
{
	struct via_frame_hdr all, part, want, got;
	u32 len = min(n * seg, bytes - k * seg), i;

	CU_ASSERT_FATAL(!via_wire_parse(f, sizeof(*f) + bytes, &all));
	CU_ASSERT_FATAL(via_wire_join(&all, sizeof(*f) + bytes, seg));
	CU_ASSERT_FATAL(!via_wire_parse(s->head, sizeof(s->head) + len, &part));
	CU_ASSERT_EQUAL_FATAL(s->frames, n);
	CU_ASSERT_EQUAL(s->seg, seg);
	part.frames = 1;
	if (n > 1)
		CU_ASSERT_FATAL(via_wire_join(&part, sizeof(s->head) + len, seg));
	CU_ASSERT_EQUAL(part.len, len);
	for (i = 0; i < n; i++) {
		via_wire_one_of(&all, seg, k + i, &want);
		via_wire_one_of(&part, seg, i, &got);
		CU_ASSERT(got.type == want.type && got.flags == want.flags &&
			  got.marks == want.marks && got.dst == want.dst &&
			  got.cookie == want.cookie && got.seq == want.seq &&
			  got.ack == want.ack && got.msg_len == want.msg_len &&
			  got.offset == want.offset && got.len == want.len &&
			  got.reads == want.reads && !got.immediate);
	}
}

/* Split anywhere, joined anyhow. */
static void is_what_was_sent(void)
{
	u32 seg, n, bytes, off, msg, k, part, round;
	struct via_shape_tcp t, one;
	struct via_shape s;
	struct frame f;

	srand(7);
	for (round = 0; round < 20000; round++) {
		seg = round % 3 ? SEG : 1u + rand() % 65535;
		n = 2 + rand() % (VIA_WIRE_TRAIN - 1);
		off = rand() % 1000 * seg;
		bytes = n * seg;
		msg = off + bytes;
		if (rand() % 2)
			msg += rand() % 100000;
		else
			msg = off + (bytes -= rand() % seg);
		f = make(rand() % 2 ? VIA_WIRE_SEND : VIA_WIRE_READ_DATA, off,
			 seg, msg);
		CU_ASSERT_FATAL(via_shape_fits(off, seg, n));
		memset(&t, 0xaa, sizeof(t));
		via_shape_fold(&t, &f, seg, n);
		t.source = t.dest = 0;
		for (k = 0; k < n; k += part) {
			part = 1 + rand() % (n - k);
			one = split(&t, k, k + part == n);
			CU_ASSERT_EQUAL_FATAL(
				parse(&one, min(part * seg, bytes - k * seg),
				      part > 1 ? seg : 0, &s),
				VIA_SHAPE_IS_TRAIN);
			same(&f, &s, bytes, seg, k, part);
		}
	}
}

static struct via_shape_tcp folded(void)
{
	struct frame f = make(VIA_WIRE_SEND, 2 * SEG, SEG, 10 * SEG + 5);
	struct via_shape_tcp t = { 0 };

	f.w.marks = 0;
	via_shape_fold(&t, &f, SEG, 4);
	return t;
}

static enum via_shape_is is(struct via_shape_tcp t, u32 len, u32 joined)
{
	struct via_shape s;

	return parse(&t, len, joined, &s);
}

/* Any other packet of TCP's is left to TCP. */
static void is_not_ours(void)
{
	struct via_shape_tcp t = folded();

	CU_ASSERT_EQUAL(is(t, SEG, 0), VIA_SHAPE_IS_TRAIN);
	WITH(t.doff, 0xb0, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.doff, 0xc1, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.option, 254, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.option_len, 27, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.urgent, 1, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.flags, VIA_SHAPE_PSH, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.flags, t.flags | 0x04, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
	WITH(t.flags, t.flags | 0x02, is(t, SEG, 0), VIA_SHAPE_IS_NONE);
}

static void refuses_lengths(void)
{
	struct via_shape_tcp t = folded();

	CU_ASSERT_EQUAL(is(t, 0, 0), VIA_SHAPE_IS_EMPTY);
	CU_ASSERT_EQUAL(is(t, 4 * SEG, SEG), VIA_SHAPE_IS_TRAIN);
	/* Beyond the train. */
	CU_ASSERT_EQUAL(is(t, 5 * SEG, SEG), VIA_SHAPE_IS_BAD);
	/* Shorter frames in the middle. */
	CU_ASSERT_EQUAL(is(t, SEG - 1, 0), VIA_SHAPE_IS_BAD);
	CU_ASSERT_EQUAL(is(t, 4 * SEG - 1, SEG), VIA_SHAPE_IS_BAD);
	/* One packet is one frame; joined are those of one length. */
	CU_ASSERT_EQUAL(is(t, 2 * SEG, 0), VIA_SHAPE_IS_BAD);
	CU_ASSERT_EQUAL(is(t, 2 * SEG, SEG - 1), VIA_SHAPE_IS_BAD);
	/* Beyond the message. */
	WITH(t.msg_len, cpu_to_be32(3 * SEG - 1), is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.msg_len, cpu_to_be32(2 * SEG - 1), is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.msg_len, 0, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	t.msg_len = cpu_to_be32(0xffffffff);
	t.offset = cpu_to_be32(0xffffffff / SEG * SEG);
	CU_ASSERT_EQUAL(is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	/* More frames than a train has. */
	t = folded();
	t.seg = cpu_to_be16(1);
	t.last = cpu_to_be16(0xffff);
	CU_ASSERT_EQUAL(is(t, VIA_WIRE_TRAIN, 1), VIA_SHAPE_IS_TRAIN);
	CU_ASSERT_EQUAL(is(t, VIA_WIRE_TRAIN + 1, 1), VIA_SHAPE_IS_BAD);
}

static void refuses_fields(void)
{
	struct via_shape_tcp t = folded();

	WITH(t.seg, 0, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.offset, cpu_to_be32(2 * SEG + 1), is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	/* Its last frame is before it. */
	WITH(t.last, cpu_to_be16(1), is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.type, VIA_WIRE_WRITE, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.type, VIA_WIRE_READ, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.type, VIA_WIRE_SEND | 0x40, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.wire_flags, VIA_WIRE_IMMEDIATE, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.wire_flags, VIA_WIRE_SUM, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	WITH(t.wire_flags, VIA_WIRE_AUTH, is(t, SEG, 0), VIA_SHAPE_IS_BAD);
	/* The number of a frame in its message has 16 bits. */
	CU_ASSERT(via_shape_fits(65534, 1, 2));
	CU_ASSERT(!via_shape_fits(65535, 1, 2));
	CU_ASSERT(!via_shape_fits(SEG + 1, SEG, 2));
}

/* A change of any byte on the way is found, but of those that cards change. */
static void probes(void)
{
	struct via_shape_tcp t = { 0 }, changed;
	bool free_to_change;
	u32 i, bit;

	via_shape_probe(&t, COOKIE, SEG);
	CU_ASSERT_EQUAL(is(t, SEG, 0), VIA_SHAPE_IS_PROBE);
	CU_ASSERT_EQUAL(is(t, SEG - 1, 0), VIA_SHAPE_IS_BAD);
	CU_ASSERT_EQUAL(is(t, 2 * SEG, SEG), VIA_SHAPE_IS_BAD);
	for (i = offsetof(struct via_shape_tcp, offset); i < sizeof(t); i++) {
		for (bit = 1; bit < 256; bit <<= 1) {
			changed = t;
			((u8 *)&changed)[i] ^= bit;
			free_to_change = i / 2 ==
				offsetof(struct via_shape_tcp, check) / 2 ||
				(i == offsetof(struct via_shape_tcp, flags) &&
				 bit == VIA_SHAPE_PSH);
			CU_ASSERT(free_to_change == (is(changed, SEG, 0) ==
						     VIA_SHAPE_IS_PROBE));
		}
	}
	via_shape_probe(&t, 0, SEG);
	CU_ASSERT_EQUAL(is(t, SEG, 0), VIA_SHAPE_IS_BAD);
}

UNIT_MAIN("shape",
	  { "what is split and joined is what was sent", is_what_was_sent },
	  { "other packets are not ours", is_not_ours },
	  { "lengths that no sender writes", refuses_lengths },
	  { "fields that no sender writes", refuses_fields },
	  { "a probe finds what is changed", probes });

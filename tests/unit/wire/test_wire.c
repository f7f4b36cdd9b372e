// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The parser of frames.  Each frame under test lies in a heap block of
 * exactly its length, so that the sanitizer sees any byte read beyond it.
 */

#include <stdlib.h>
#include <string.h>
#include "unit.h"
#include "wire.h"

struct frame {
	struct via_wire w;
	union {
		struct {
			struct via_wire_data d;
			struct via_wire_rdma r;
		} __packed;
		struct {
			struct via_wire_ack a;
			struct via_wire_range range[40];
		} __packed;
		struct {
			struct via_wire_hello h;
			struct via_wire_conn c;
		} __packed;
		struct {
			struct via_wire_acks acks;
			struct via_wire_acks_entry entry[2];
		} __packed;
		struct {
			struct via_wire_list l;
			__be64 cookie[40];
		} __packed;
		struct via_wire_end e;
		struct via_wire_answer q;
		struct via_wire_heartbeat b;
		struct via_wire_name n;
	};
	u8 room[2048];
} __packed;

/* With what each frame of that type must have, and the body all zero. */
static struct frame make(u8 type)
{
	struct frame f = { .w.version = VIA_WIRE_VERSION, .w.type = type };

	if (via_wire_always_sealed(type))
		f.w.flags = VIA_WIRE_SUM;
	if (type && via_wire_has_dst(type))
		f.w.dst = cpu_to_be32(1);
	if (type < VIA_WIRE_NAME_QUERY)
		f.w.cookie = cpu_to_be64(7);
	return f;
}

/* And with a body that is right, where it may not be zero. */
static struct frame make_whole(u8 type)
{
	struct frame f = make(type);

	switch (type) {
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CANCEL:
		f.q.vi = cpu_to_be32(3);
		if (type == VIA_WIRE_REFUSE)
			f.q.reason = cpu_to_be32(VIA_WIRE_R_REJECT);
		break;
	case VIA_WIRE_ACKS:
		f.acks.count = cpu_to_be16(1);
		f.entry[0].dst = cpu_to_be32(4);
		f.entry[0].cookie = cpu_to_be64(5);
		f.entry[0].ack = cpu_to_be32(6);
		f.entry[0].delay = 7;
		break;
	case VIA_WIRE_LIST:
		f.l.low = cpu_to_be64(1);
		f.l.high = cpu_to_be64(100);
		break;
	}
	return f;
}

static struct frame make_conn(void)
{
	struct frame f = make(VIA_WIRE_REQUEST);

	f.h.epoch = cpu_to_be64(9);
	f.h.mtu = cpu_to_be32(1500);
	f.h.frames = cpu_to_be32(64);
	f.c.vi = cpu_to_be32(17);
	f.w.dst = f.c.vi;
	f.c.sender_cookie = cpu_to_be64(7);
	f.c.client.host_len = 6;
	f.c.server.host_len = 6;
	return f;
}

/* What the frame says, by the function of its type. */
static void look_inside(const u8 *p, const struct via_frame_hdr *h)
{
	struct via_acks_at at = { 0 };
	struct via_acks_entry e;
	struct via_conn_hdr c;
	struct via_heartbeat_hdr b;
	struct via_range range[VIA_WIRE_RANGES_MAX];
	struct via_list_hdr l;
	struct via_name_hdr n;
	u32 i;

	switch (h->type) {
	case VIA_WIRE_VERSIONS:
		CU_ASSERT_FATAL(h->quote + VIA_WIRE_QUOTE == p + 16);
		break;
	case VIA_WIRE_ACK:
		via_wire_get_ranges(h->range, h->nranges, range);
		break;
	case VIA_WIRE_CHALLENGE:
		via_wire_parse_hello(p, &c.hello);
		break;
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
		via_wire_parse_heartbeat(p, &b);
		break;
	case VIA_WIRE_ACKS:
		while (via_wire_next_acks(p, &at, &e)) {
			CU_ASSERT_FATAL(e.dst && e.cookie);
			via_wire_get_ranges(e.range, e.nranges, range);
		}
		break;
	case VIA_WIRE_LIST:
		if (via_wire_parse_list(p, &l))
			break;
		for (i = 0; i < l.count; i++)
			CU_ASSERT_FATAL(be64_to_cpu(l.at[i].cookie) >= l.low &&
					be64_to_cpu(l.at[i].cookie) <= l.high);
		break;
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		if (!via_wire_parse_name(p, &n))
			CU_ASSERT_FATAL(strlen(n.name) <= VIA_WIRE_NAME_MAX);
		break;
	default:
		if (via_wire_has_conn(h->type))
			via_wire_parse_conn(p, &c);
	}
}

/* Parse the first @len bytes of @f, copied into a block of that size. */
static enum via_wire_error parse(const void *f, u32 len,
				 struct via_frame_hdr *h)
{
	u8 *p = malloc(len ? len : 1);
	enum via_wire_error err;

	memcpy(p, f, len);
	memset(h, 0xee, sizeof(*h));
	err = via_wire_parse(p, len, h);
	if (!err)
		look_inside(p, h);
	free(p);
	return err;
}

static void reads_a_send(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;

	f.w.flags = VIA_WIRE_PUSH | VIA_WIRE_IMMEDIATE;
	f.w.marks = VIA_WIRE_CE;
	f.w.dst = cpu_to_be32(0x12345678);
	f.w.cookie = cpu_to_be64(0xdeadbeef01020304);
	f.d.len = cpu_to_be16(100);
	f.d.seq = cpu_to_be32(1);
	f.d.ack = cpu_to_be32(0xffffffff);
	f.d.msg_len = cpu_to_be32(300);
	f.d.offset = cpu_to_be32(200);
	f.d.immediate = cpu_to_be32(0x01020304);
	CU_ASSERT_EQUAL(parse(&f, 140, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_SEND);
	CU_ASSERT_EQUAL(h.flags, VIA_WIRE_PUSH | VIA_WIRE_IMMEDIATE);
	CU_ASSERT_EQUAL(h.marks, VIA_WIRE_CE);
	CU_ASSERT_EQUAL(h.dst, 0x12345678);
	CU_ASSERT_EQUAL(h.len, 100);
	CU_ASSERT_EQUAL(h.hdr_len, 40);
	CU_ASSERT_EQUAL(h.cookie, 0xdeadbeef01020304);
	CU_ASSERT_EQUAL(h.seq, 1);
	CU_ASSERT_EQUAL(h.ack, 0xffffffff);
	CU_ASSERT_EQUAL(h.msg_len, 300);
	CU_ASSERT_EQUAL(h.offset, 200);
	CU_ASSERT_EQUAL(h.immediate, 0x01020304);
	/* Padding behind it is not payload. */
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.len, 100);
	/* One byte short. */
	CU_ASSERT_EQUAL(parse(&f, 139, &h), VIA_WIRE_BAD_LENGTH);
	/* What only others have. */
	WITH(f.d.reads, cpu_to_be16(VIA_WIRE_NOTES + 1), parse(&f, 140, &h),
	     VIA_WIRE_BAD_FIELD);
	WITH(f.w.flags, VIA_WIRE_DSACK, parse(&f, 140, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_a_write(void)
{
	struct frame f = make(VIA_WIRE_WRITE);
	struct via_frame_hdr h;

	f.d.len = cpu_to_be16(4);
	f.d.msg_len = cpu_to_be32(4);
	f.r.raddr = cpu_to_be64(0x7f0000001000);
	f.r.rhandle = cpu_to_be32(99);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 56);
	CU_ASSERT_EQUAL(h.raddr, 0x7f0000001000);
	CU_ASSERT_EQUAL(h.rhandle, 99);
	CU_ASSERT_EQUAL(parse(&f, 59, &h), VIA_WIRE_BAD_LENGTH);
	WITH(f.r.zero, 1, parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.d.reads, 1, parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_a_read(void)
{
	struct frame f = make(VIA_WIRE_READ);
	struct via_frame_hdr h;

	f.w.flags = VIA_WIRE_PUSH;
	f.d.msg_len = cpu_to_be32(0xffffffff);
	f.r.raddr = cpu_to_be64(0x7f0000001000);
	f.r.rhandle = cpu_to_be32(99);
	CU_ASSERT_EQUAL(parse(&f, 56, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_READ);
	CU_ASSERT_EQUAL(h.hdr_len, 56);
	CU_ASSERT_EQUAL(h.len, 0);
	CU_ASSERT_EQUAL(h.offset, 0);
	CU_ASSERT_EQUAL(h.immediate, 0);
	CU_ASSERT_EQUAL(h.msg_len, 0xffffffff);
	CU_ASSERT_EQUAL(h.raddr, 0x7f0000001000);
	CU_ASSERT_EQUAL(h.rhandle, 99);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 55, &h), VIA_WIRE_BAD_LENGTH);
	/* Nothing of the kind of a payload, a part or immediate data. */
	WITH(f.d.len, cpu_to_be16(1), parse(&f, 60, &h), VIA_WIRE_BAD_LENGTH);
	WITH(f.d.reads, cpu_to_be16(1), parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.r.zero, cpu_to_be32(1), parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.d.offset, cpu_to_be32(1), parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.d.immediate, cpu_to_be32(1), parse(&f, 60, &h),
	     VIA_WIRE_BAD_FIELD);
	WITH(f.w.flags, VIA_WIRE_IMMEDIATE, parse(&f, 60, &h),
	     VIA_WIRE_BAD_FIELD);
}

static void reads_read_data(void)
{
	struct frame f = make(VIA_WIRE_READ_DATA);
	struct via_frame_hdr h;

	f.d.len = cpu_to_be16(8);
	f.d.msg_len = cpu_to_be32(16);
	f.d.offset = cpu_to_be32(8);
	f.d.reads = cpu_to_be16(4711);
	CU_ASSERT_EQUAL(parse(&f, 48, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_READ_DATA);
	CU_ASSERT_EQUAL(h.hdr_len, 40);
	CU_ASSERT_EQUAL(h.len, 8);
	CU_ASSERT_EQUAL(h.offset, 8);
	CU_ASSERT_EQUAL(h.reads, 4711);
	CU_ASSERT_EQUAL(parse(&f, 47, &h), VIA_WIRE_BAD_LENGTH);
	WITH(f.d.immediate, cpu_to_be32(1), parse(&f, 48, &h),
	     VIA_WIRE_BAD_FIELD);
	WITH(f.d.offset, cpu_to_be32(9), parse(&f, 48, &h), VIA_WIRE_BAD_LENGTH);
	/* Only an answer to an empty read is empty. */
	f.d.len = 0;
	f.d.offset = 0;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_BAD_LENGTH);
	f.d.msg_len = 0;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_OK);
	WITH(f.w.flags, VIA_WIRE_IMMEDIATE, parse(&f, 46, &h),
	     VIA_WIRE_BAD_FIELD);
}

static void lengths_agree(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;

	/* An empty message is one empty frame. */
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.len, 0);
	f.d.msg_len = cpu_to_be32(10);
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_BAD_LENGTH);
	/* Beyond the message, with and without overflow. */
	f.d.len = cpu_to_be16(8);
	f.d.offset = cpu_to_be32(3);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_BAD_LENGTH);
	f.d.offset = cpu_to_be32(0xfffffff8);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_BAD_LENGTH);
	f.d.offset = cpu_to_be32(2);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_OK);
	/* A payload that the frame does not have. */
	f.d.len = cpu_to_be16(0xffff);
	f.d.msg_len = cpu_to_be32(0xffffffff);
	f.d.offset = 0;
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);
}

static void versions_types_flags(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;
	int type, good = 0;
	u32 len;

	WITH(f.w.version, VIA_WIRE_VERSION + 1, parse(&f, 60, &h),
	     VIA_WIRE_BAD_VERSION);
	WITH(f.w.version, 0, parse(&f, 60, &h), VIA_WIRE_BAD_VERSION);
	WITH(f.w.flags, 0x80, parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	for (type = 1; type < 8; type++)
		WITH(f.w.marks, 1 << type, parse(&f, 60, &h),
		     VIA_WIRE_BAD_FIELD);
	for (type = 0; type < 256; type++) {
		f = make_whole(type);
		if (parse(&f, 512, &h) == VIA_WIRE_BAD_TYPE)
			continue;
		good++;
		CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_OK);
		len = h.hdr_len;
		CU_ASSERT_EQUAL(parse(&f, len, &h), VIA_WIRE_OK);
		CU_ASSERT_EQUAL(parse(&f, len - 1, &h), VIA_WIRE_BAD_LENGTH);
		/* Less than the header that all have in common. */
		CU_ASSERT_EQUAL(parse(&f, 15, &h), VIA_WIRE_BAD_LENGTH);
		if (!type)
			continue;
		/* A VI where there is one to be, and nowhere else. */
		f.w.dst = f.w.dst ? 0 : cpu_to_be32(1);
		CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_BAD_FIELD);
	}
	CU_ASSERT_EQUAL(good, 24);
}

/* It is read whatever version it has, and says at least two things. */
static void reads_a_version(void)
{
	struct via_wire_version v = { .version = 9, .lowest = 3, .about = 2 };
	struct via_frame_hdr h;

	memset(v.quote, 0x5a, sizeof(v.quote));
	CU_ASSERT_EQUAL(parse(&v, 16, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_VERSIONS);
	CU_ASSERT_EQUAL(h.highest, 9);
	CU_ASSERT_EQUAL(h.lowest, 3);
	CU_ASSERT_EQUAL(h.about, 2);
	CU_ASSERT_EQUAL(h.flags, 0);
	CU_ASSERT_EQUAL(h.len, 0);
	CU_ASSERT_EQUAL(h.hdr_len, 16);
	CU_ASSERT_EQUAL(parse(&v, 15, &h), VIA_WIRE_BAD_LENGTH);
	v.lowest = 10;
	CU_ASSERT_EQUAL(parse(&v, 16, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_an_ack(void)
{
	struct frame f = make(VIA_WIRE_ACK);
	struct via_frame_hdr h;

	f.w.flags = VIA_WIRE_DSACK | VIA_WIRE_ACK_NOW | VIA_WIRE_PROBE;
	f.a.ack = cpu_to_be32(5);
	f.a.dsack = cpu_to_be32(3);
	f.a.delay = 17;
	f.a.share = cpu_to_be16(300);
	CU_ASSERT_EQUAL(parse(&f, 32, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.ack, 5);
	CU_ASSERT_EQUAL(h.dsack, 3);
	CU_ASSERT_EQUAL(h.delay, 17);
	CU_ASSERT_EQUAL(h.share, 300);
	CU_ASSERT_EQUAL(h.nranges, 0);
	CU_ASSERT_EQUAL(h.len, 0);
	CU_ASSERT_EQUAL(h.hdr_len, 32);
	CU_ASSERT_EQUAL(parse(&f, 31, &h), VIA_WIRE_BAD_LENGTH);
	f.w.flags = VIA_WIRE_DSACK;
	WITH(f.w.flags, 0, parse(&f, 32, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.w.flags, VIA_WIRE_DSACK | VIA_WIRE_PUSH, parse(&f, 32, &h),
	     VIA_WIRE_BAD_FIELD);
	WITH(f.a.zero, 1, parse(&f, 32, &h), VIA_WIRE_BAD_FIELD);
}

static enum via_wire_error ranges(u32 s0, u32 n0, u32 s1, u32 n1)
{
	struct frame f = make(VIA_WIRE_ACK);
	struct via_frame_hdr h;

	f.a.n = 2;
	f.range[0].start = cpu_to_be16(s0);
	f.range[0].count = cpu_to_be16(n0);
	f.range[1].start = cpu_to_be16(s1);
	f.range[1].count = cpu_to_be16(n1);
	CU_ASSERT_EQUAL(parse(&f, 39, &h), VIA_WIRE_BAD_LENGTH);
	return parse(&f, 40, &h);
}

static void reads_ranges(void)
{
	struct frame f = make(VIA_WIRE_ACK);
	struct via_wire_range r[VIA_WIRE_RANGES_MAX];
	struct via_range range[VIA_WIRE_RANGES_MAX];
	struct via_frame_hdr h;
	u32 i;

	CU_ASSERT_EQUAL(ranges(0, 1, 2, 3), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(ranges(0, 1, 1, 3), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(4, 1, 2, 1), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(4, 9, 9, 1), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(4, 0, 9, 1), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(4, 1, 9, 0), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(4, 1, 65535, 1), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(ranges(4, 1, 65535, 2), VIA_WIRE_BAD_FIELD);
	CU_ASSERT_EQUAL(ranges(0, 65535, 65535, 1), VIA_WIRE_BAD_FIELD);
	for (i = 0; i < 40; i++) {
		f.range[i].start = cpu_to_be16(2 * i);
		f.range[i].count = cpu_to_be16(1);
	}
	f.a.n = 32;
	CU_ASSERT_EQUAL(parse(&f, 159, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 160, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 160);
	CU_ASSERT_EQUAL(h.nranges, 32);
	f.a.n = 33;
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);
	f.a.n = 255;
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);

	/* In host order, and back. */
	via_wire_get_ranges(f.range, 32, range);
	CU_ASSERT_EQUAL(range[31].start, 62);
	CU_ASSERT_EQUAL(range[31].count, 1);
	via_wire_put_ranges(r, 32, range);
	CU_ASSERT_EQUAL(memcmp(r, f.range, sizeof(r)), 0);
}

static void reads_an_end(void)
{
	struct frame f = make(VIA_WIRE_DISCONNECT);
	struct via_frame_hdr h;

	f.e.seq = cpu_to_be32(1);
	f.e.ack = cpu_to_be32(2);
	f.e.reason = cpu_to_be32(3);
	f.e.src = cpu_to_be32(4);
	CU_ASSERT_EQUAL(parse(&f, 32, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.seq, 1);
	CU_ASSERT_EQUAL(h.ack, 2);
	CU_ASSERT_EQUAL(h.reason, 3);
	CU_ASSERT_EQUAL(h.src, 4);
	WITH(f.w.cookie, 0, parse(&f, 32, &h), VIA_WIRE_BAD_FIELD);
	f = make(VIA_WIRE_RESET);
	f.e.seq = cpu_to_be32(1);
	f.e.src = cpu_to_be32(4);
	CU_ASSERT_EQUAL(parse(&f, 36, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 35, &h), VIA_WIRE_BAD_LENGTH);
	WITH(f.e.reason, 1, parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.e.ack, 1, parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_an_answer(void)
{
	struct frame f = make_whole(VIA_WIRE_REFUSE);
	struct via_frame_hdr h;
	u32 reason;

	CU_ASSERT_EQUAL(parse(&f, 36, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.vi, 3);
	CU_ASSERT_EQUAL(h.cookie, 7);
	for (reason = 0; reason < 9; reason++)
		WITH(f.q.reason, cpu_to_be32(reason), parse(&f, 36, &h),
		     reason && reason < 6 ? VIA_WIRE_OK : VIA_WIRE_BAD_FIELD);
	f = make_whole(VIA_WIRE_WAIT);
	WITH(f.q.reason, cpu_to_be32(1), parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
	f = make_whole(VIA_WIRE_CONFIRM);
	WITH(f.q.vi, 0, parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
	f = make_whole(VIA_WIRE_CANCEL);
	WITH(f.q.zero[0], 1, parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
	WITH(f.w.cookie, 0, parse(&f, 36, &h), VIA_WIRE_BAD_FIELD);
}

/* In the place of reads, which no other frame but READ_DATA has. */
static void reads_notes(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;
	u32 notes;

	for (notes = 0; notes < 0x10000; notes++) {
		f.d.reads = cpu_to_be16(notes);
		f.w.flags = 0;
		CU_ASSERT_FATAL(parse(&f, 40, &h) ==
				(notes > VIA_WIRE_NOTES ? VIA_WIRE_BAD_FIELD :
							  VIA_WIRE_OK));
		CU_ASSERT_FATAL(notes > VIA_WIRE_NOTES || h.reads == notes);
		/* Its handle is where immediate data would be. */
		f.w.flags = VIA_WIRE_IMMEDIATE;
		CU_ASSERT_FATAL(parse(&f, 40, &h) ==
				(notes > VIA_WIRE_N_SOLICITED ?
				 VIA_WIRE_BAD_FIELD : VIA_WIRE_OK));
	}
	f = make(VIA_WIRE_WRITE);
	WITH(f.d.reads, cpu_to_be16(VIA_WIRE_N_SOLICITED), parse(&f, 56, &h),
	     VIA_WIRE_BAD_FIELD);
	f = make(VIA_WIRE_READ);
	WITH(f.d.reads, cpu_to_be16(VIA_WIRE_N_SOLICITED), parse(&f, 56, &h),
	     VIA_WIRE_BAD_FIELD);
}

/* Behind a REFUSE, as long as it says, the seal behind that. */
static void reads_a_reply(void)
{
	struct frame f = make_whole(VIA_WIRE_REFUSE);
	struct via_frame_hdr h;

	f.q.len = 10;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.reply_len, 10);
	CU_ASSERT_EQUAL(h.hdr_len, 46);
	CU_ASSERT_EQUAL(h.len, 0);
	CU_ASSERT_EQUAL(parse(&f, 45, &h), VIA_WIRE_BAD_LENGTH);
	f.q.len = VIA_WIRE_REPLY_MAX;
	CU_ASSERT_EQUAL(parse(&f, 36 + VIA_WIRE_REPLY_MAX, &h), VIA_WIRE_OK);
	f.q.len++;
	CU_ASSERT_EQUAL(parse(&f, 37 + VIA_WIRE_REPLY_MAX, &h),
			VIA_WIRE_BAD_LENGTH);
	f.q.len = 0;
	CU_ASSERT_EQUAL(parse(&f, 36, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.reply_len, 0);
	/* Nothing else has one. */
	f = make_whole(VIA_WIRE_WAIT);
	WITH(f.q.len, 1, parse(&f, 64, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_acks(void)
{
	struct via_range range[VIA_WIRE_RANGES_MAX];
	struct frame f = make_whole(VIA_WIRE_ACKS);
	struct via_acks_at at = { 0 };
	struct via_acks_entry e;
	struct via_frame_hdr h;
	u32 i;

	CU_ASSERT_EQUAL(parse(&f, 52, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 52);
	CU_ASSERT(via_wire_next_acks(&f, &at, &e));
	CU_ASSERT_EQUAL(e.dst, 4);
	CU_ASSERT_EQUAL(e.cookie, 5);
	CU_ASSERT_EQUAL(e.ack, 6);
	CU_ASSERT_EQUAL(e.delay, 7);
	CU_ASSERT_EQUAL(e.nranges, 0);
	CU_ASSERT(!via_wire_next_acks(&f, &at, &e));
	/* Two, of which the first has a range. */
	f.acks.count = cpu_to_be16(2);
	f.entry[0].n = 1;
	memcpy((u8 *)&f.entry[1] + 4, &f.entry[0], sizeof(f.entry[0]));
	memcpy(&f.entry[1], "\0\3\0\4", 4);
	f.room[0] = 0;
	((u8 *)&f.entry[1])[4 + offsetof(struct via_wire_acks_entry, n)] = 0;
	CU_ASSERT_EQUAL(parse(&f, 79, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 80, &h), VIA_WIRE_OK);
	memset(&at, 0, sizeof(at));
	CU_ASSERT(via_wire_next_acks(&f, &at, &e));
	via_wire_get_ranges(e.range, e.nranges, range);
	CU_ASSERT(e.nranges == 1 && range[0].start == 3 &&
		  range[0].count == 4);
	CU_ASSERT(via_wire_next_acks(&f, &at, &e));
	CU_ASSERT_EQUAL(e.dst, 4);
	CU_ASSERT(!via_wire_next_acks(&f, &at, &e));
	memset(&f.entry[1], 0, 4);
	CU_ASSERT_EQUAL(parse(&f, 80, &h), VIA_WIRE_BAD_FIELD);

	for (i = 0; i < 5; i++) {
		f = make_whole(VIA_WIRE_ACKS);
		*(i == 0 ? (u8 *)&f.acks.count + 1 :
		  i == 1 ? (u8 *)&f.entry[0].dst + 3 :
		  i == 2 ? (u8 *)&f.entry[0].cookie + 7 :
		  i == 3 ? &f.acks.zero[5] : &f.entry[0].zero[5]) = i > 2;
		CU_ASSERT_EQUAL(parse(&f, 52, &h), VIA_WIRE_BAD_FIELD);
	}
	/* All that it may have at most lies in a row. */
	f = make_whole(VIA_WIRE_ACKS);
	f.acks.count = cpu_to_be16(11);
	for (i = 1; i < 11; i++)
		memcpy((u8 *)f.entry + 24 * i, f.entry, 24);
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);
	f.acks.count = cpu_to_be16(10);
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, VIA_WIRE_BODY_MAX + 4);
}

static void reads_a_list(void)
{
	struct frame f = make_whole(VIA_WIRE_LIST);
	struct via_frame_hdr h;
	struct via_list_hdr l;
	u32 i;

	f.l.count = cpu_to_be16(28);
	for (i = 0; i < 28; i++)
		f.cookie[i] = cpu_to_be64(1 + 2 * i);
	CU_ASSERT_EQUAL(parse(&f, 40 + 224 + 4, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 40 + 224 + 3, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(via_wire_parse_list(&f, &l), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(l.low, 1);
	CU_ASSERT_EQUAL(l.high, 100);
	CU_ASSERT_EQUAL(l.count, 28);
	CU_ASSERT_EQUAL(be64_to_cpu(l.at[27].cookie), 55);
	f.l.count = cpu_to_be16(29);
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);
	f.l.count = cpu_to_be16(2);
	f.cookie[1] = f.cookie[0];
	CU_ASSERT_EQUAL(via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
	f.cookie[1] = cpu_to_be64(101);
	CU_ASSERT_EQUAL(via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
	f.l.high = cpu_to_be64(~0ull);
	f.cookie[0] = cpu_to_be64(~0ull);
	CU_ASSERT_EQUAL(via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
	f.l.count = cpu_to_be16(1);
	CU_ASSERT_EQUAL(via_wire_parse_list(&f, &l), VIA_WIRE_OK);
	WITH(f.l.low, 0, via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
	f = make_whole(VIA_WIRE_LIST);
	WITH(f.l.high, 0, via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
	WITH(f.l.zero[5], 1, via_wire_parse_list(&f, &l), VIA_WIRE_BAD_FIELD);
}

static void reads_a_heartbeat(void)
{
	struct frame f = make(VIA_WIRE_HEARTBEAT_ACK);
	struct via_heartbeat_hdr b;

	f.b.epoch = cpu_to_be64(1);
	f.b.token = cpu_to_be64(2);
	f.b.time = cpu_to_be64(3);
	f.b.connections = cpu_to_be32(4);
	f.b.digest = cpu_to_be32(5);
	CU_ASSERT_EQUAL(via_wire_parse_heartbeat(&f, &b), VIA_WIRE_OK);
	CU_ASSERT(b.epoch == 1 && b.token == 2 && b.time == 3 &&
		  b.connections == 4 && b.digest == 5);
	WITH(f.b.epoch, 0, via_wire_parse_heartbeat(&f, &b), VIA_WIRE_BAD_FIELD);
}

static void reads_a_seal(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;
	int type;

	/* It lies before the payload, and is none of it. */
	f.w.flags = VIA_WIRE_SUM | VIA_WIRE_PUSH;
	f.d.len = cpu_to_be16(8);
	f.d.msg_len = cpu_to_be32(8);
	f.r.raddr = cpu_to_be64(0x0102030405060708);
	CU_ASSERT_EQUAL(parse(&f, 52, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 44);
	CU_ASSERT_EQUAL(h.seal, 0x01020304);
	CU_ASSERT_EQUAL(h.len, 8);
	CU_ASSERT_EQUAL(parse(&f, 51, &h), VIA_WIRE_BAD_LENGTH);
	/* Nor an authenticator, which there is not beside it. */
	f.w.flags = VIA_WIRE_AUTH;
	CU_ASSERT_EQUAL(parse(&f, 72, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 64);
	CU_ASSERT_EQUAL(parse(&f, 71, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 39, &h), VIA_WIRE_BAD_LENGTH);
	f.w.flags = VIA_WIRE_AUTH | VIA_WIRE_SUM;
	CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_BAD_FIELD);
	f = make(VIA_WIRE_ACK);
	f.w.flags = VIA_WIRE_SUM;
	CU_ASSERT_EQUAL(parse(&f, 36, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 35, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 20, &h), VIA_WIRE_BAD_LENGTH);
	/* What is not of a connection cannot do without. */
	for (type = VIA_WIRE_DISCONNECT_ACK; type < 256; type++) {
		f = make_whole(type);
		if (parse(&f, 512, &h) == VIA_WIRE_BAD_TYPE)
			continue;
		CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_OK);
		WITH(f.w.flags, VIA_WIRE_AUTH, parse(&f, 512, &h), VIA_WIRE_OK);
		WITH(f.w.flags, 0, parse(&f, 512, &h), VIA_WIRE_BAD_FIELD);
		WITH(f.w.flags, VIA_WIRE_SUM | VIA_WIRE_PUSH,
		     parse(&f, 512, &h), VIA_WIRE_BAD_FIELD);
	}
}

static enum via_wire_error conn(const struct frame *f)
{
	struct via_conn_hdr c;

	return via_wire_parse_conn(f, &c);
}

static void reads_a_request(void)
{
	struct frame f = make_conn();
	struct via_frame_hdr h;
	struct via_conn_hdr c;

	f.c.timeout_ms = cpu_to_be32(VIA_WIRE_FOREVER);
	f.c.client.disc_len = 64;
	f.c.client.disc[63] = 5;
	CU_ASSERT_EQUAL(parse(&f, VIA_WIRE_CONN_LEN + 4, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, VIA_WIRE_CONN_LEN + 3, &h),
			VIA_WIRE_BAD_LENGTH);
	f.c.options = cpu_to_be32(VIA_WIRE_O_SUM);
	CU_ASSERT_EQUAL(via_wire_parse_conn(&f, &c), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(c.vi, 17);
	CU_ASSERT_EQUAL(c.sender_cookie, 7);
	CU_ASSERT_EQUAL(c.timeout_ms, VIA_WIRE_FOREVER);
	CU_ASSERT_EQUAL(c.options, VIA_WIRE_O_SUM);
	CU_ASSERT_EQUAL(c.hello.epoch, 9);
	CU_ASSERT_EQUAL(c.hello.frames, 64);
	CU_ASSERT_EQUAL(c.hello.mtu, 1500);
	CU_ASSERT_EQUAL(c.client_host_len, 6);
	CU_ASSERT_EQUAL(c.client_disc[63], 5);

	WITH(f.c.client.disc_len, 65, conn(&f), VIA_WIRE_BAD_LENGTH);
	f = make_conn();
	WITH(f.c.server.host_len, 17, conn(&f), VIA_WIRE_BAD_LENGTH);
	WITH(f.c.to, cpu_to_be32(1), conn(&f), VIA_WIRE_BAD_FIELD);
	WITH(f.c.client.zero, 1, conn(&f), VIA_WIRE_BAD_FIELD);
	WITH(f.h.nonce, cpu_to_be64(5), conn(&f), VIA_WIRE_OK);
	WITH(f.h.epoch, 0, conn(&f), VIA_WIRE_BAD_FIELD);
	WITH(f.h.frames, 0, conn(&f), VIA_WIRE_BAD_FIELD);
	WITH(f.c.options, cpu_to_be32(VIA_WIRE_OPTIONS + 1), conn(&f),
	     VIA_WIRE_BAD_FIELD);
	WITH(f.h.mtu, cpu_to_be32(319), conn(&f), VIA_WIRE_BAD_FIELD);
	WITH(f.h.mtu, cpu_to_be32(1 << 16), conn(&f), VIA_WIRE_BAD_FIELD);
	/* A request is of the VI that its header names. */
	f.c.vi = cpu_to_be32(18);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f.w.dst = f.c.vi;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_OK);
	f.w.type = VIA_WIRE_PEER_REQUEST;
	WITH(f.c.vi, cpu_to_be32(17), conn(&f), VIA_WIRE_BAD_FIELD);
	f = make_conn();
	f.c.sender_cookie = 0;
	WITH(f.w.cookie, 0, conn(&f), VIA_WIRE_BAD_FIELD);
	/* Another cookie than in the header is for answers, which say to what. */
	f.c.sender_cookie = cpu_to_be64(8);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f.w.type = VIA_WIRE_ACCEPT;
	f.w.dst = 0;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f.c.to = cpu_to_be32(1);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_OK);
	WITH(f.c.vi, 0, conn(&f), VIA_WIRE_BAD_FIELD);
}

static struct frame make_name(const char *name)
{
	struct frame f = make(VIA_WIRE_NAME_QUERY);

	f.n.nonce = cpu_to_be32(0x01020304);
	f.n.name_len = strlen(name);
	memcpy(f.n.name, name, f.n.name_len);
	return f;
}

/* The verdict on the whole of a name frame, which has exactly that length. */
static enum via_wire_error name(const struct frame *f, struct via_name_hdr *n)
{
	struct via_frame_hdr h;
	enum via_wire_error err = parse(f, 92, &h);
	u8 *p;

	if (err)
		return err;
	CU_ASSERT_EQUAL(h.hdr_len, 92);
	p = malloc(92);
	memcpy(p, f, 92);
	memset(n, 0xee, sizeof(*n));
	err = via_wire_parse_name(p, n);
	free(p);
	return err;
}

static void reads_a_name(void)
{
	static const char full[] = "0123456789012345678901234567890123456789"
				   "012345678901234567890123";
	struct frame f = make_name("node2.example.org");
	struct via_frame_hdr h;
	struct via_name_hdr n;
	unsigned int c;

	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(n.nonce, 0x01020304);
	CU_ASSERT_STRING_EQUAL(n.name, "node2.example.org");
	CU_ASSERT_EQUAL(parse(&f, 91, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_OK);
	f = make_name("");
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_OK);
	CU_ASSERT_STRING_EQUAL(n.name, "");
	/* As long as it can be: a zero is put behind it. */
	f = make_name(full);
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_OK);
	CU_ASSERT_STRING_EQUAL(n.name, full);
	WITH(f.n.name_len, 65, name(&f, &n), VIA_WIRE_BAD_LENGTH);
	WITH(f.n.name_len, 255, name(&f, &n), VIA_WIRE_BAD_LENGTH);
	f = make_name("node2");
	WITH(f.w.cookie, cpu_to_be64(1), name(&f, &n), VIA_WIRE_BAD_FIELD);
	WITH(f.n.zero[2], 1, name(&f, &n), VIA_WIRE_BAD_FIELD);
	/* Only what can be printed, and no blank. */
	for (c = 0; c < 256; c++)
		WITH(f.n.name[4], c, name(&f, &n), c > 32 && c < 127 ?
		     VIA_WIRE_OK : VIA_WIRE_BAD_FIELD);
}

/* A train of frames with 100 bytes each, the first of a message. */
static struct frame make_train(u8 type, u32 msg_len)
{
	struct frame f = make(type);

	f.w.flags = VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW | VIA_WIRE_IMMEDIATE;
	f.d.seq = cpu_to_be32(0xfffffffe);
	f.d.msg_len = cpu_to_be32(msg_len);
	f.d.offset = cpu_to_be32(200);
	f.d.len = cpu_to_be16(100);
	return f;
}

static void joins_a_train(void)
{
	const u32 lens[] = { 100, 100, 100, 7 };
	struct frame f = make_train(VIA_WIRE_SEND, 507), cut;
	u32 hdr = VIA_WIRE_SEND_HDR, k, at = 0;
	struct via_frame_hdr h, one;

	CU_ASSERT_FATAL(!via_wire_parse(&f, hdr + 307, &h));
	CU_ASSERT_FATAL(via_wire_join(&h, hdr + 307, 100));
	CU_ASSERT_EQUAL(h.frames, 4);
	CU_ASSERT_EQUAL(h.len, 307);
	CU_ASSERT_EQUAL(h.seq, 0xfffffffe);
	for (k = 0; k < 4; at += lens[k++]) {
		via_wire_one_of(&h, 100, k, &one);
		CU_ASSERT_EQUAL(one.seq, 0xfffffffe + k);
		CU_ASSERT_EQUAL(one.offset, 200 + at);
		CU_ASSERT_EQUAL(one.hdr_len, hdr + at);
		CU_ASSERT_EQUAL(one.len, lens[k]);
		CU_ASSERT_EQUAL(one.frames, 1);
		CU_ASSERT_EQUAL(one.flags, k == 3 ? h.flags :
						    VIA_WIRE_IMMEDIATE);
		cut = f;
		via_wire_cut(&cut, k, 100, lens[k], k == 3);
		CU_ASSERT_EQUAL(be32_to_cpu(cut.d.seq), one.seq);
		CU_ASSERT_EQUAL(be32_to_cpu(cut.d.offset), one.offset);
		CU_ASSERT_EQUAL(be16_to_cpu(cut.d.len), one.len);
		CU_ASSERT_EQUAL(cut.w.flags, one.flags);
	}
}

static void refuses_train(const struct frame *f, u32 len, u32 seg)
{
	struct via_frame_hdr h, before;

	CU_ASSERT_FATAL(!via_wire_parse(f, len, &h));
	before = h;
	CU_ASSERT(!via_wire_join(&h, len, seg));
	CU_ASSERT(!memcmp(&h, &before, sizeof(h)));
}

static void refuses_trains(void)
{
	u32 hdr = VIA_WIRE_SEND_HDR;
	struct frame f = make_train(VIA_WIRE_SEND, 507);

	refuses_train(&f, hdr + 307, 99);	/* not what its header says */
	refuses_train(&f, hdr + 100, 100);	/* one frame */
	refuses_train(&f, hdr + 308, 100);	/* beyond the message */
	f.w.flags = VIA_WIRE_SUM;
	refuses_train(&f, hdr + 300, 100);
	f = make_train(VIA_WIRE_SEND, 100000);
	refuses_train(&f, hdr + VIA_WIRE_TRAIN * 100 + 1, 100);
	f = make(VIA_WIRE_READ);
	f.d.msg_len = cpu_to_be32(5000);
	refuses_train(&f, VIA_WIRE_WRITE_HDR + 300, 0);
	f = make(VIA_WIRE_ACK);
	refuses_train(&f, VIA_WIRE_ACK_LEN + 300, 100);
}

/* Whatever the bytes: nothing outside is read, and what is accepted holds. */
static void survives_noise(void)
{
	struct via_frame_hdr h;
	struct frame f;
	u32 i, k, len, good = 0;

	srand(1);
	for (i = 0; i < 400000; i++) {
		f = i & 1 ? make_whole(rand() % 0x34) : make_conn();
		/* Keep much of the frame, else nothing passes. */
		for (k = rand() % 8; k; k--)
			((u8 *)&f)[rand() % 60] = rand();
		if (i & 2) {
			f.w.flags &= VIA_WIRE_FLAGS;
			f.w.marks = 0;
			f.d.len = cpu_to_be16(rand() % 64);
			f.d.msg_len = cpu_to_be32(rand() % 128);
			f.d.offset = cpu_to_be32(rand() % 64);
		}
		len = rand() % 300;
		if (parse(&f, len, &h))
			continue;
		good++;
		CU_ASSERT_FATAL(h.hdr_len <= len);
		CU_ASSERT_FATAL(h.len <= len - h.hdr_len);
		if (h.type == VIA_WIRE_SEND || h.type == VIA_WIRE_WRITE ||
		    h.type == VIA_WIRE_READ_DATA) {
			CU_ASSERT_FATAL(h.offset <= h.msg_len);
			CU_ASSERT_FATAL(h.len <= h.msg_len - h.offset);
			CU_ASSERT_FATAL(h.len || !h.msg_len);
		}
	}
	CU_ASSERT(good > 10000);
}

UNIT_MAIN("wire",
	  { "reads a send", reads_a_send },
	  { "reads an RDMA Write", reads_a_write },
	  { "reads an RDMA Read", reads_a_read },
	  { "reads the data of one", reads_read_data },
	  { "lengths agree with one another", lengths_agree },
	  { "unknown versions, types, flags", versions_types_flags },
	  { "reads a version", reads_a_version },
	  { "reads an acknowledgement", reads_an_ack },
	  { "reads its ranges", reads_ranges },
	  { "reads an end", reads_an_end },
	  { "reads an answer", reads_an_answer },
	  { "reads a reply", reads_a_reply },
	  { "reads notes", reads_notes },
	  { "reads acknowledgements of several", reads_acks },
	  { "reads a list", reads_a_list },
	  { "reads a beat", reads_a_heartbeat },
	  { "reads a seal", reads_a_seal },
	  { "reads a request", reads_a_request },
	  { "reads a name", reads_a_name },
	  { "joins and cuts a train", joins_a_train },
	  { "refuses what is no train", refuses_trains },
	  { "survives noise", survives_noise });

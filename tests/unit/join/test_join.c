// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames that follow one another are joined to a train.  Each frame under test lies
 * in a heap block of exactly its length, so that the sanitizer sees any byte read
 * beyond it.
 */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "join.h"
#include "unit.h"

#define SEG	100u
#define FIRST	0xfffffffeu	/* sequence numbers wrap */
#define OFFSET	200u

struct frame {
	struct via_wire w;
	struct via_wire_data d;
	struct via_wire_rdma r;
	u8 room[2 * SEG];
} __packed;

static const u8 types[] = { VIA_WIRE_SEND, VIA_WIRE_WRITE, VIA_WIRE_READ_DATA };

static u32 hdr_of(u8 type)
{
	return type == VIA_WIRE_WRITE ? VIA_WIRE_WRITE_HDR : VIA_WIRE_SEND_HDR;
}

/* Frame @k of a message, with @len bytes. */
static struct frame make(u8 type, u32 k, u32 len)
{
	struct frame f = {
		.w.version = VIA_WIRE_VERSION,
		.w.type = type,
		.w.dst = cpu_to_be32(1),
		.w.cookie = cpu_to_be64(7),
		.d.seq = cpu_to_be32(FIRST + k),
		.d.ack = cpu_to_be32(50 + k),
		.d.msg_len = cpu_to_be32(100000),
		.d.offset = cpu_to_be32(OFFSET + k * SEG),
		.d.len = cpu_to_be16(len),
	};

	return f;
}

static void *copy_of(const struct frame *f, u32 len)
{
	void *copy = malloc(len);

	CU_ASSERT_FATAL(copy != NULL);
	return memcpy(copy, f, len);
}

static bool begin(struct via_join *r, const struct frame *f, u32 len)
{
	void *copy = copy_of(f, len);
	bool begun;

	begun = via_join_begin(r, copy, len);
	free(copy);
	return begun;
}

static bool add(struct via_join *r, const struct frame *f, u32 len)
{
	struct via_join was = *r;
	void *copy = copy_of(f, len);
	bool added;

	added = via_join_add(r, copy, len);
	free(copy);
	CU_ASSERT(added || !memcmp(r, &was, sizeof(was)));
	return added;
}

/* A train of @n frames, each of SEG bytes. */
static void make_train(struct via_join *r, u8 type, u32 n)
{
	u32 hdr = hdr_of(type), k;
	struct frame f;

	memset(r, 0, sizeof(*r));
	for (k = 0; k < n; k++) {
		f = make(type, k, SEG);
		CU_ASSERT_FATAL(k ? add(r, &f, hdr + SEG) :
				    begin(r, &f, hdr + SEG));
	}
	CU_ASSERT_EQUAL(r->frames, n);
}

/* What the class is given is the train that the frames were cut from. */
static void is_a_train(void)
{
	struct via_frame_hdr h;
	struct via_join r;
	struct frame f;
	u32 i, hdr;

	for (i = 0; i < sizeof(types); i++) {
		hdr = hdr_of(types[i]);
		make_train(&r, types[i], 3);
		f = make(types[i], 3, 7);
		f.w.flags = VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW;
		CU_ASSERT(add(&r, &f, hdr + 7));
		CU_ASSERT(!r.open);
		CU_ASSERT_EQUAL(r.len, hdr + 3 * SEG + 7);
		CU_ASSERT_FATAL(!via_wire_parse(r.head, r.len, &h));
		CU_ASSERT_FATAL(via_wire_join(&h, r.len, r.seg));
		CU_ASSERT_EQUAL(h.frames, 4);
		CU_ASSERT_EQUAL(h.seq, FIRST);
		CU_ASSERT_EQUAL(h.offset, OFFSET);
		CU_ASSERT_EQUAL(h.len, 3 * SEG + 7);
		CU_ASSERT_EQUAL(h.ack, 53);
		CU_ASSERT_EQUAL(h.flags, VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW);
	}
}

/* Each bit of the headers counts, but for what may differ from frame to frame. */
static void compares_headers(void)
{
	u32 len = VIA_WIRE_WRITE_HDR + SEG, i, bit;
	struct via_join train, r;
	struct frame f;
	bool free;

	make_train(&train, VIA_WIRE_WRITE, 2);
	for (i = 0; i < VIA_WIRE_WRITE_HDR; i++)
		for (bit = 1; bit < 0x100; bit <<= 1) {
			f = make(VIA_WIRE_WRITE, 2, SEG);
			((u8 *)&f)[i] ^= bit;
			free = i >= offsetof(struct frame, d.ack) &&
			       i < offsetof(struct frame, d.msg_len);
			if (i == offsetof(struct frame, w.flags))
				free = bit & (VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW |
					      VIA_WIRE_PROBE);
			r = train;
			CU_ASSERT_EQUAL(add(&r, &f, len), free);
		}
}

/* Not the next one, or not as long. */
static void is_in_order(void)
{
	struct via_join train, r;
	struct frame f;
	u32 k;

	make_train(&train, VIA_WIRE_SEND, 3);
	for (k = 0; k < 6; k++) {
		r = train;
		f = make(VIA_WIRE_SEND, k, SEG);
		CU_ASSERT_EQUAL(add(&r, &f, VIA_WIRE_SEND_HDR + SEG), k == 3);
	}
	f = make(VIA_WIRE_SEND, 3, SEG + 1);
	CU_ASSERT(!add(&train, &f, VIA_WIRE_SEND_HDR + SEG + 1));
	/* Bytes behind the payload, or fewer than the header tells of. */
	f = make(VIA_WIRE_SEND, 3, SEG - 1);
	CU_ASSERT(!add(&train, &f, VIA_WIRE_SEND_HDR + SEG));
	CU_ASSERT(!add(&train, &f, VIA_WIRE_SEND_HDR + SEG - 2));
	for (k = 0; k <= VIA_WIRE_SEND_HDR; k++)
		CU_ASSERT(!add(&train, &f, k));
	f = make(VIA_WIRE_SEND, 3, 0);
	CU_ASSERT(!add(&train, &f, VIA_WIRE_SEND_HDR));
	f = make(VIA_WIRE_SEND, 3, SEG);
	CU_ASSERT(add(&train, &f, VIA_WIRE_SEND_HDR + SEG));
}

/* A shorter frame and one that asks for something are the last ones. */
static void ends(void)
{
	static const u8 asks[] = {
		VIA_WIRE_PUSH, VIA_WIRE_ACK_NOW, VIA_WIRE_PROBE
	};
	u32 len = VIA_WIRE_SEND_HDR + SEG, i;
	struct frame f, next;
	struct via_join r;

	for (i = 0; i < sizeof(asks); i++) {
		make_train(&r, VIA_WIRE_SEND, 1);
		f = make(VIA_WIRE_SEND, 1, SEG);
		f.w.flags = asks[i];
		next = make(VIA_WIRE_SEND, 2, SEG);
		CU_ASSERT(add(&r, &f, len));
		CU_ASSERT(!add(&r, &next, len));
		next.w.flags = asks[i];
		CU_ASSERT(!add(&r, &next, len));

		f = make(VIA_WIRE_SEND, 0, SEG);
		f.w.flags = asks[i];
		CU_ASSERT(begin(&r, &f, len));
		next = make(VIA_WIRE_SEND, 1, SEG);
		CU_ASSERT(!add(&r, &next, len));
	}
	make_train(&r, VIA_WIRE_SEND, 1);
	f = make(VIA_WIRE_SEND, 1, SEG - 1);
	CU_ASSERT(add(&r, &f, len - 1));
	next = make(VIA_WIRE_SEND, 2, SEG - 1);
	next.d.offset = cpu_to_be32(OFFSET + 2 * SEG - 1);
	CU_ASSERT(!add(&r, &next, len - 1));

	make_train(&r, VIA_WIRE_SEND, VIA_WIRE_TRAIN);
	f = make(VIA_WIRE_SEND, VIA_WIRE_TRAIN, SEG);
	CU_ASSERT(!add(&r, &f, len));
}

/* A frame that ends beyond its message leaves those before it alone. */
static void stays_in_its_message(void)
{
	u32 len = VIA_WIRE_SEND_HDR + SEG, more;
	struct via_frame_hdr h;
	struct frame f, next;
	struct via_join r;

	for (more = 0; more < 2; more++) {
		f = make(VIA_WIRE_SEND, 0, SEG);
		next = make(VIA_WIRE_SEND, 1, SEG);
		f.d.msg_len = cpu_to_be32(OFFSET + 2 * SEG - more);
		next.d.msg_len = f.d.msg_len;
		CU_ASSERT_FATAL(begin(&r, &f, len));
		CU_ASSERT_EQUAL(add(&r, &next, len), !more);
		CU_ASSERT(!via_wire_parse(r.head, r.len, &h));
	}
}

static void refuses(const struct frame *f, u32 len)
{
	struct via_join r = { 0 };

	CU_ASSERT(!begin(&r, f, len));
	CU_ASSERT(!r.frames);
}

/* They go alone, and the parser judges them. */
static void refuses_first_frames(void)
{
	u32 len = VIA_WIRE_SEND_HDR + SEG, i;
	struct frame f, good = make(VIA_WIRE_SEND, 0, SEG);
	struct via_join r = { 0 };

	for (i = 1; i <= VIA_WIRE_SEND_HDR; i++)
		refuses(&good, i);
	refuses(&good, len - 1);
	refuses(&good, len + 1);
	CU_ASSERT(begin(&r, &good, len));
	f = good;
	f.w.version++;
	refuses(&f, len);
	for (i = 0; i < 0x100; i++) {
		f = good;
		f.w.type = i;
		if (!via_wire_data_hdr(i))
			refuses(&f, len);
		f = good;
		f.w.flags = i;
		if (i & ~0x27u)
			refuses(&f, len);
	}
	f = good;
	f.d.msg_len = cpu_to_be32(OFFSET + SEG - 1);
	refuses(&f, len);
	f.d.msg_len = cpu_to_be32(OFFSET - 1);
	refuses(&f, len);
	f = make(VIA_WIRE_WRITE, 0, 0);
	f.d.msg_len = 0;
	f.d.offset = 0;
	refuses(&f, VIA_WIRE_WRITE_HDR);
	refuses(&f, VIA_WIRE_WRITE_HDR - 1);
}

/* What the parser says of frame @k of a train it says of the frame itself. */
static void same(const struct via_frame_hdr *all, const struct frame *f, u32 k,
		 u32 len, u32 seg)
{
	struct via_frame_hdr h, one;

	CU_ASSERT_FATAL(!via_wire_parse(f, len, &h));
	via_wire_one_of(all, seg, k, &one);
	CU_ASSERT_EQUAL(h.type, one.type);
	CU_ASSERT_EQUAL(h.flags, one.flags);
	CU_ASSERT_EQUAL(h.marks, one.marks);
	CU_ASSERT_EQUAL(h.dst, one.dst);
	CU_ASSERT_EQUAL(h.cookie, one.cookie);
	CU_ASSERT_EQUAL(h.seq, one.seq);
	CU_ASSERT_EQUAL(h.offset, one.offset);
	CU_ASSERT_EQUAL(h.len, one.len);
	CU_ASSERT_EQUAL(h.msg_len, one.msg_len);
	CU_ASSERT_EQUAL(h.immediate, one.immediate);
	if (h.type == VIA_WIRE_WRITE) {
		CU_ASSERT_EQUAL(h.raddr, one.raddr);
		CU_ASSERT_EQUAL(h.rhandle, one.rhandle);
	} else {
		CU_ASSERT_EQUAL(h.reads, one.reads);
	}
}

/*
 * Whatever the frames: joined they are refused if each of them is, and else are
 * what each of them is.
 */
static void is_checked_as_frames_are(void)
{
	u32 round, n, k, i, len[4], joined = 0, refused = 0;
	struct via_frame_hdr h, one;
	struct frame f[4];
	struct via_join r;

	srand(1);
	for (round = 0; round < 400000; round++) {
		u8 type = types[rand() % sizeof(types)], noise[2][2];

		for (i = 0; i < 2; i++) {
			noise[i][0] = rand() % hdr_of(type);
			noise[i][1] = rand() & 3 ? 0 : 1 << rand() % 8;
		}
		memset(&r, 0, sizeof(r));
		for (n = 0; n < 4; n++) {
			len[n] = n == 3 ? 1 + rand() % SEG : SEG;
			f[n] = make(type, n, len[n]);
			f[n].d.msg_len = cpu_to_be32(OFFSET + 3 * SEG + 50);
			f[n].w.flags = n && !(rand() % 4) ? rand() : 0;
			/* The same in all of them. */
			for (i = 0; i < 2; i++)
				((u8 *)&f[n])[noise[i][0]] ^= noise[i][1];
			len[n] += hdr_of(type);
			if (n ? !add(&r, &f[n], len[n]) :
				!begin(&r, &f[n], len[n]))
				break;
		}
		if (n < 2)
			continue;
		CU_ASSERT_FATAL(r.frames == n);
		if (via_wire_parse(r.head, r.len, &h)) {
			for (k = 0; k < n; k++)
				CU_ASSERT(via_wire_parse(&f[k], len[k], &one));
			refused++;
			continue;
		}
		joined++;
		CU_ASSERT_FATAL(via_wire_join(&h, r.len, r.seg));
		CU_ASSERT_FATAL(h.frames == n);
		for (k = 0; k < n; k++)
			same(&h, &f[k], k, len[k], r.seg);
	}
	CU_ASSERT(joined > 10000 && refused > 1000);
}

UNIT_MAIN("join",
	  { "what is joined is a train", is_a_train },
	  { "headers are compared", compares_headers },
	  { "frames are in order", is_in_order },
	  { "what ends a train", ends },
	  { "a train is of one message", stays_in_its_message },
	  { "frames that begin none", refuses_first_frames },
	  { "joined frames are checked as single ones", is_checked_as_frames_are });

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The parser of frames.  Each frame under test lies in a heap block of
 * exactly its length, so that the sanitizer sees any byte read beyond it.
 */

#include <stdlib.h>
#include "unit.h"
#include "wire.h"

struct frame {
	struct via_wire w;
	union {
		struct {
			struct via_wire_data d;
			struct via_wire_rdma r;
		} __packed;
		struct via_wire_ack a;
		struct via_wire_conn c;
		struct via_wire_name n;
	};
	u8 room[2048];
} __packed;

static struct frame make(u8 type)
{
	struct frame f = { .w.version = VIA_WIRE_VERSION, .w.type = type };

	if (via_wire_always_sealed(type))
		f.w.flags = VIA_WIRE_SEALED;
	return f;
}

static struct frame make_conn(void)
{
	struct frame f = make(VIA_WIRE_REQUEST);

	f.c.mtu = cpu_to_be32(1500);
	f.c.frames = cpu_to_be16(64);
	f.c.sender_cookie = cpu_to_be32(7);
	f.c.client.host_len = 6;
	f.c.server.host_len = 6;
	return f;
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
	if (!err && via_wire_has_conn(h->type)) {
		struct via_conn_hdr c;

		via_wire_parse_conn(p, &c);
	}
	if (!err && (h->type == VIA_WIRE_NAME_QUERY ||
		     h->type == VIA_WIRE_NAME_REPLY)) {
		struct via_name_hdr n;

		if (!via_wire_parse_name(p, &n))
			CU_ASSERT_FATAL(strlen(n.name) <= VIA_WIRE_NAME_MAX);
	}
	free(p);
	return err;
}

static void reads_a_send(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;

	f.w.flags = VIA_WIRE_PUSH | VIA_WIRE_IMMEDIATE;
	f.w.dst = cpu_to_be16(0x1234);
	f.w.len = cpu_to_be16(100);
	f.w.cookie = cpu_to_be32(0xdeadbeef);
	f.w.seq = cpu_to_be32(1);
	f.w.ack = cpu_to_be32(0xffffffff);
	f.d.msg_len = cpu_to_be32(300);
	f.d.offset = cpu_to_be32(200);
	f.d.immediate = cpu_to_be32(0x01020304);
	CU_ASSERT_EQUAL(parse(&f, 132, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_SEND);
	CU_ASSERT_EQUAL(h.flags, VIA_WIRE_PUSH | VIA_WIRE_IMMEDIATE);
	CU_ASSERT_EQUAL(h.dst, 0x1234);
	CU_ASSERT_EQUAL(h.len, 100);
	CU_ASSERT_EQUAL(h.hdr_len, 32);
	CU_ASSERT_EQUAL(h.cookie, 0xdeadbeef);
	CU_ASSERT_EQUAL(h.seq, 1);
	CU_ASSERT_EQUAL(h.ack, 0xffffffff);
	CU_ASSERT_EQUAL(h.msg_len, 300);
	CU_ASSERT_EQUAL(h.offset, 200);
	CU_ASSERT_EQUAL(h.immediate, 0x01020304);
	/* Padding behind it is not payload. */
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.len, 100);
	/* One byte short. */
	CU_ASSERT_EQUAL(parse(&f, 131, &h), VIA_WIRE_BAD_LENGTH);
}

static void reads_a_write(void)
{
	struct frame f = make(VIA_WIRE_WRITE);
	struct via_frame_hdr h;

	f.w.len = cpu_to_be16(4);
	f.d.msg_len = cpu_to_be32(4);
	f.r.raddr = cpu_to_be64(0x7f0000001000);
	f.r.rhandle = cpu_to_be32(99);
	CU_ASSERT_EQUAL(parse(&f, 48, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 44);
	CU_ASSERT_EQUAL(h.raddr, 0x7f0000001000);
	CU_ASSERT_EQUAL(h.rhandle, 99);
	CU_ASSERT_EQUAL(parse(&f, 47, &h), VIA_WIRE_BAD_LENGTH);
}

static void reads_a_read(void)
{
	struct frame f = make(VIA_WIRE_READ);
	struct via_frame_hdr h;

	f.w.flags = VIA_WIRE_PUSH;
	f.d.msg_len = cpu_to_be32(0xffffffff);
	f.r.raddr = cpu_to_be64(0x7f0000001000);
	f.r.rhandle = cpu_to_be32(99);
	CU_ASSERT_EQUAL(parse(&f, 44, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_READ);
	CU_ASSERT_EQUAL(h.hdr_len, 44);
	CU_ASSERT_EQUAL(h.len, 0);
	CU_ASSERT_EQUAL(h.offset, 0);
	CU_ASSERT_EQUAL(h.immediate, 0);
	CU_ASSERT_EQUAL(h.msg_len, 0xffffffff);
	CU_ASSERT_EQUAL(h.raddr, 0x7f0000001000);
	CU_ASSERT_EQUAL(h.rhandle, 99);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 43, &h), VIA_WIRE_BAD_LENGTH);
	/* Nothing of the kind of a payload, a part or immediate data. */
	f.w.len = cpu_to_be16(1);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_LENGTH);
	f.w.len = 0;
	f.d.offset = cpu_to_be32(1);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	f.d.offset = 0;
	f.d.immediate = cpu_to_be32(1);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	f.d.immediate = 0;
	f.w.flags = VIA_WIRE_IMMEDIATE;
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
}

static void reads_read_data(void)
{
	struct frame f = make(VIA_WIRE_READ_DATA);
	struct via_frame_hdr h;

	f.w.len = cpu_to_be16(8);
	f.d.msg_len = cpu_to_be32(16);
	f.d.offset = cpu_to_be32(8);
	f.d.immediate = cpu_to_be32(4711);
	CU_ASSERT_EQUAL(parse(&f, 40, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.type, VIA_WIRE_READ_DATA);
	CU_ASSERT_EQUAL(h.hdr_len, 32);
	CU_ASSERT_EQUAL(h.len, 8);
	CU_ASSERT_EQUAL(h.offset, 8);
	CU_ASSERT_EQUAL(h.immediate, 4711);
	CU_ASSERT_EQUAL(parse(&f, 39, &h), VIA_WIRE_BAD_LENGTH);
	f.d.offset = cpu_to_be32(9);
	CU_ASSERT_EQUAL(parse(&f, 40, &h), VIA_WIRE_BAD_LENGTH);
	/* Only an answer to an empty read is empty. */
	f.w.len = 0;
	f.d.offset = 0;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_BAD_LENGTH);
	f.d.msg_len = 0;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_OK);
	f.w.flags = VIA_WIRE_IMMEDIATE;
	CU_ASSERT_EQUAL(parse(&f, 46, &h), VIA_WIRE_BAD_FIELD);
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
	f.w.len = cpu_to_be16(8);
	f.d.offset = cpu_to_be32(3);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_BAD_LENGTH);
	f.d.offset = cpu_to_be32(0xfffffff8);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_BAD_LENGTH);
	f.d.offset = cpu_to_be32(2);
	CU_ASSERT_EQUAL(parse(&f, 64, &h), VIA_WIRE_OK);
	/* A payload that the frame does not have. */
	f.w.len = cpu_to_be16(0xffff);
	f.d.msg_len = cpu_to_be32(0xffffffff);
	f.d.offset = 0;
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_BAD_LENGTH);
}

static void versions_types_flags(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;
	int type, good = 0;

	f.w.version = VIA_WIRE_VERSION + 1;
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_VERSION);
	f.w.version = 0;
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_VERSION);
	f = make(VIA_WIRE_SEND);
	f.w.flags = 0x80;
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	f = make(VIA_WIRE_SEND);
	f.w.reserved = 1;
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_FIELD);
	for (type = 0; type < 256; type++) {
		f = make(type);
		good += parse(&f, 512, &h) != VIA_WIRE_BAD_TYPE;
	}
	CU_ASSERT_EQUAL(good, 19);
}

static void reads_an_ack(void)
{
	struct frame f = make(VIA_WIRE_ACK);
	struct via_frame_hdr h;

	f.a.reason = cpu_to_be32(3);
	f.a.sack = cpu_to_be64(0x8000000000000001);
	CU_ASSERT_EQUAL(parse(&f, 32, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.reason, 3);
	CU_ASSERT_EQUAL(h.sack, 0x8000000000000001);
	CU_ASSERT_EQUAL(parse(&f, 31, &h), VIA_WIRE_BAD_LENGTH);
	f.w.len = cpu_to_be16(1);
	CU_ASSERT_EQUAL(parse(&f, 60, &h), VIA_WIRE_BAD_LENGTH);
}

static void reads_a_seal(void)
{
	struct frame f = make(VIA_WIRE_SEND);
	struct via_frame_hdr h;
	int type;

	/* It lies before the payload, and is none of it. */
	f.w.flags = VIA_WIRE_SEALED | VIA_WIRE_PUSH;
	f.w.len = cpu_to_be16(8);
	f.d.msg_len = cpu_to_be32(8);
	f.r.raddr = cpu_to_be64(0x0102030405060708);
	CU_ASSERT_EQUAL(parse(&f, 44, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(h.hdr_len, 36);
	CU_ASSERT_EQUAL(h.seal, 0x01020304);
	CU_ASSERT_EQUAL(h.len, 8);
	CU_ASSERT_EQUAL(parse(&f, 43, &h), VIA_WIRE_BAD_LENGTH);
	f = make(VIA_WIRE_ACK);
	f.w.flags = VIA_WIRE_SEALED;
	CU_ASSERT_EQUAL(parse(&f, 36, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, 35, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 20, &h), VIA_WIRE_BAD_LENGTH);
	/* What is not of a connection cannot do without. */
	for (type = VIA_WIRE_RESET; type <= VIA_WIRE_NAME_REPLY; type++) {
		f = make(type);
		if (parse(&f, 512, &h) == VIA_WIRE_BAD_TYPE)
			continue;
		CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_OK);
		f.w.flags = 0;
		CU_ASSERT_EQUAL(parse(&f, 512, &h), VIA_WIRE_BAD_FIELD);
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

	f.c.vi = cpu_to_be16(17);
	f.c.timeout_ms = cpu_to_be32(VIA_WIRE_FOREVER);
	f.c.client.disc_len = 64;
	f.c.client.disc[63] = 5;
	CU_ASSERT_EQUAL(parse(&f, VIA_WIRE_CONN_LEN + 4, &h), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(parse(&f, VIA_WIRE_CONN_LEN + 3, &h),
			VIA_WIRE_BAD_LENGTH);
	f.c.options = cpu_to_be32(VIA_WIRE_O_SEALED);
	CU_ASSERT_EQUAL(via_wire_parse_conn(&f, &c), VIA_WIRE_OK);
	CU_ASSERT_EQUAL(c.vi, 17);
	CU_ASSERT_EQUAL(c.sender_cookie, 7);
	CU_ASSERT_EQUAL(c.timeout_ms, VIA_WIRE_FOREVER);
	CU_ASSERT_EQUAL(c.options, VIA_WIRE_O_SEALED);
	CU_ASSERT_EQUAL(c.client_host_len, 6);
	CU_ASSERT_EQUAL(c.client_disc[63], 5);

	f.c.client.disc_len = 65;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_LENGTH);
	f = make_conn();
	f.c.server.host_len = 9;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_LENGTH);
	f = make_conn();
	f.c.sender_cookie = 0;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f = make_conn();
	f.c.frames = 0;
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f = make_conn();
	f.c.options = cpu_to_be32(2);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f = make_conn();
	f.c.mtu = cpu_to_be32(100);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
	f.c.mtu = cpu_to_be32(1 << 16);
	CU_ASSERT_EQUAL(conn(&f), VIA_WIRE_BAD_FIELD);
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
	enum via_wire_error err = parse(f, 96, &h);
	u8 *p;

	if (err)
		return err;
	CU_ASSERT_EQUAL(h.hdr_len, 96);
	p = malloc(96);
	memcpy(p, f, 96);
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
	CU_ASSERT_EQUAL(parse(&f, 95, &h), VIA_WIRE_BAD_LENGTH);
	CU_ASSERT_EQUAL(parse(&f, 1500, &h), VIA_WIRE_OK);
	f = make_name("");
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_OK);
	CU_ASSERT_STRING_EQUAL(n.name, "");
	/* As long as it can be: a zero is put behind it. */
	f = make_name(full);
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_OK);
	CU_ASSERT_STRING_EQUAL(n.name, full);
	f.n.name_len = 65;
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_BAD_LENGTH);
	f.n.name_len = 255;
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_BAD_LENGTH);
	f = make_name("node2");
	f.w.len = cpu_to_be16(1);
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_BAD_LENGTH);
	f = make_name("node2");
	f.n.reserved[2] = 1;
	CU_ASSERT_EQUAL(name(&f, &n), VIA_WIRE_BAD_FIELD);
	/* Only what can be printed, and no blank. */
	for (c = 0; c < 256; c++) {
		f = make_name("node2");
		f.n.name[4] = c;
		CU_ASSERT_EQUAL(name(&f, &n), c > 32 && c < 127 ?
				VIA_WIRE_OK : VIA_WIRE_BAD_FIELD);
	}
}

/* Whatever the bytes: nothing outside is read, and what is accepted holds. */
static void survives_noise(void)
{
	struct via_frame_hdr h;
	struct frame f;
	u32 i, k, len, good = 0;

	srand(1);
	for (i = 0; i < 400000; i++) {
		f = i & 1 ? make(rand() % 0x24) : make_conn();
		/* Keep much of the frame, else nothing passes. */
		for (k = rand() % 8; k; k--)
			((u8 *)&f)[rand() % 60] = rand();
		if (i & 2) {
			f.w.flags &= VIA_WIRE_FLAGS;
			f.w.reserved = 0;
			f.w.len = cpu_to_be16(rand() % 64);
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
	  { "reads an acknowledgement", reads_an_ack },
	  { "reads a seal", reads_a_seal },
	  { "reads a request", reads_a_request },
	  { "reads a name", reads_a_name },
	  { "survives noise", survives_noise });

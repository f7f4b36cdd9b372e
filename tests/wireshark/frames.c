// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames for a dissector, and what the project's own parser says of them.
 *
 *	frames OUT.pcap SEED COUNT IN.pcap...
 *
 * reads captures of viasim, and writes each of their frames behind Ethernet,
 * in UDP/IPv4 or in UDP/IPv6 by turns, then COUNT frames that are copies of
 * them with bytes changed, cut or added.  On stdout there is a line for each:
 * number, verdict, and field=value as via_wire_parse() and its followers give
 * it.  A frame is cut only where its length is: what is captured is all of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire.h"

#define FRAMES_MAX	400000u
#define FRAME_MAX	9100u
#define ETH_LEN		14u
#define PORT		13879

struct frame {
	u8 eth[ETH_LEN];
	u32 len;			/* behind that */
	u8 *data;
};

static struct frame *frames;
static u32 nframes;
static u64 dice;
static FILE *out;
static u32 written;

static u32 draw(u32 n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (dice >> 11) % n;
}

static void fail(const char *what)
{
	fprintf(stderr, "frames: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void *copy(const void *data, u32 len)
{
	void *p = malloc(len ? len : 1);

	if (!p)
		fail("memory");
	return memcpy(p, data, len);
}

static void read_capture(const char *path)
{
	FILE *in = fopen(path, "r");
	u8 data[FRAME_MAX + ETH_LEN];
	u32 head[6], record[4];
	struct frame *f;

	if (!in || fread(head, sizeof(head), 1, in) != 1)
		fail(path);
	while (nframes < FRAMES_MAX && fread(record, sizeof(record), 1, in)) {
		if (record[2] > sizeof(data) || record[2] < ETH_LEN ||
		    fread(data, record[2], 1, in) != 1)
			fail(path);
		f = &frames[nframes++];
		memcpy(f->eth, data, ETH_LEN);
		f->len = record[2] - ETH_LEN;
		f->data = copy(data + ETH_LEN, f->len);
	}
	fclose(in);
}

/* What is in front of the frame: Ethernet alone, IPv4, IPv6. */

static u32 put_udp(u8 *p, u32 len)
{
	const u16 udp[] = { htons(50000), htons(PORT), htons(len + 8), 0 };

	memcpy(p, udp, sizeof(udp));
	return sizeof(udp);
}

static u32 put_ipv4(u8 *p, const struct frame *f)
{
	const u16 total = htons(28 + f->len);

	memset(p, 0, 20);
	p[0] = 0x45;
	memcpy(p + 2, &total, 2);
	p[6] = 0x40;			/* DF */
	p[8] = 64;
	p[9] = 17;
	memcpy(p + 12, (u8[]){ 192, 0, 2, f->eth[11] }, 4);
	memcpy(p + 16, (u8[]){ 192, 0, 2, f->eth[5] }, 4);
	return 20 + put_udp(p + 20, f->len);
}

static u32 put_ipv6(u8 *p, const struct frame *f)
{
	const u16 len = htons(8 + f->len);

	memset(p, 0, 40);
	p[0] = 0x60;
	memcpy(p + 4, &len, 2);
	p[6] = 17;
	p[7] = 64;
	memcpy(p + 8, (u8[]){ 0x20, 1, 0xd, 0xb8 }, 4);
	p[23] = f->eth[11];
	memcpy(p + 24, (u8[]){ 0x20, 1, 0xd, 0xb8 }, 4);
	p[39] = f->eth[5];
	return 40 + put_udp(p + 40, f->len);
}

static void write_frame(const struct frame *f, u32 around)
{
	static const u16 types[] = { 0x88b5, 0x0800, 0x86dd };
	u8 head[ETH_LEN + 48];
	u32 n = ETH_LEN;
	u32 record[4] = { written / 1000, written % 1000 * 1000 };
	u16 type = htons(types[around]);

	memcpy(head, f->eth, ETH_LEN);
	memcpy(head + 12, &type, 2);
	if (around == 1)
		n += put_ipv4(head + n, f);
	else if (around == 2)
		n += put_ipv6(head + n, f);
	record[2] = n + f->len;
	record[3] = record[2];
	if (fwrite(record, sizeof(record), 1, out) != 1 ||
	    fwrite(head, n, 1, out) != 1 ||
	    (f->len && fwrite(f->data, f->len, 1, out) != 1))
		fail("write");
	written++;
}

/* What the parser says */

static void say(const char *name, u64 value)
{
	printf("\t%s=%" PRIu64, name, value);
}

static void say_bytes(const char *name, const void *data, u32 len)
{
	const u8 *p = data;

	printf("\t%s=", name);
	while (len--)
		printf("%02x", *p++);
}

static void say_ranges(const struct via_wire_range *w, u32 n)
{
	struct via_range range[VIA_WIRE_RANGES_MAX];
	u32 i;

	via_wire_get_ranges(w, n, range);
	for (i = 0; i < n; i++) {
		say("range.start", range[i].start);
		say("range.count", range[i].count);
	}
}

static void say_data(const struct via_frame_hdr *h, const u8 *p)
{
	say("seq", h->seq);
	say("ack", h->ack);
	say("msg_len", h->msg_len);
	say("offset", h->offset);
	say("len", h->len);
	if (h->type == VIA_WIRE_READ_DATA)
		say("reads", h->reads);
	else if (h->flags & VIA_WIRE_IMMEDIATE)
		say("immediate", h->immediate);
	if (h->type == VIA_WIRE_SEND && h->reads) {
		say("notes", h->reads);
		if (h->reads & VIA_WIRE_N_INVALIDATE)
			say("invalidate", h->immediate);
	}
	if (h->type == VIA_WIRE_WRITE || h->type == VIA_WIRE_READ) {
		say("raddr", h->raddr);
		say("rhandle", h->rhandle);
	}
	if (h->len)
		say_bytes("payload", p + h->hdr_len, h->len);
}

static void say_hello(const struct via_hello_hdr *e)
{
	say("epoch", e->epoch);
	say("token", e->token);
	say("frames", e->frames);
	say("mtu", e->mtu);
	say("nonce", e->nonce);
}

static enum via_wire_error say_conn(const u8 *p)
{
	struct via_conn_hdr c;
	enum via_wire_error err = via_wire_parse_conn(p, &c);

	if (err)
		return err;
	say_hello(&c.hello);
	say("vi", c.vi);
	if (c.to)
		say("to", c.to);
	say("sender_cookie", c.sender_cookie);
	say("first_seq", c.first_seq);
	say("reliability", c.reliability);
	say("max_transfer", c.max_transfer);
	say("rights", c.rights);
	say("timeout", c.timeout_ms);
	say("options", c.options);
	say_bytes("client.host", c.client_host, c.client_host_len);
	say_bytes("client.disc", c.client_disc, c.client_disc_len);
	say_bytes("server.host", c.server_host, c.server_host_len);
	say_bytes("server.disc", c.server_disc, c.server_disc_len);
	return VIA_WIRE_OK;
}

static enum via_wire_error say_heartbeat(const u8 *p)
{
	struct via_heartbeat_hdr b;
	enum via_wire_error err = via_wire_parse_heartbeat(p, &b);

	if (err)
		return err;
	say("epoch", b.epoch);
	say("token", b.token);
	say("heartbeat.time", b.time);
	say("heartbeat.connections", b.connections);
	say("heartbeat.digest", b.digest);
	return VIA_WIRE_OK;
}

static enum via_wire_error say_list(const u8 *p)
{
	struct via_list_hdr l;
	enum via_wire_error err = via_wire_parse_list(p, &l);
	u32 i;

	if (err)
		return err;
	say("list", l.count);
	say("list.low", l.low);
	say("list.high", l.high);
	for (i = 0; i < l.count; i++)
		say("list.cookie", be64_to_cpu(l.at[i].cookie));
	return VIA_WIRE_OK;
}

static void say_acks(const u8 *p)
{
	struct via_acks_at at = { 0 };
	struct via_acks_entry e;

	while (via_wire_next_acks(p, &at, &e)) {
		say("dst", e.dst);
		say("ack", e.ack);
		say("cookie", e.cookie);
		say("ranges", e.nranges);
		say("delay", e.delay);
		say_ranges(e.range, e.nranges);
	}
	say("acks", at.entry);
}

static enum via_wire_error say_name(const u8 *p)
{
	struct via_name_hdr n;
	enum via_wire_error err = via_wire_parse_name(p, &n);

	if (err)
		return err;
	say("name.nonce", n.nonce);
	if (n.name[0])
		printf("\tname=%s", n.name);
	return VIA_WIRE_OK;
}

static void say_ack(const struct via_frame_hdr *h)
{
	say("ack", h->ack);
	if (h->flags & VIA_WIRE_DSACK)
		say("dsack", h->dsack);
	say("ranges", h->nranges);
	say("delay", h->delay);
	say("share", h->share);
	say_ranges(h->range, h->nranges);
}

static void say_end(const struct via_frame_hdr *h)
{
	say("seq", h->seq);
	if (h->type == VIA_WIRE_DISCONNECT) {
		say("ack", h->ack);
		say("end.reason", h->reason);
	}
	say("end.src", h->src);
}

static enum via_wire_error say_body(const struct via_frame_hdr *h, const u8 *p)
{
	struct via_hello_hdr hello;
	enum via_wire_error err;

	switch (h->type) {
	case VIA_WIRE_VERSIONS:
		say("version", h->highest);
		say("lowest", h->lowest);
		say("about", h->about);
		say_bytes("quote", h->quote, VIA_WIRE_QUOTE);
		return VIA_WIRE_OK;
	case VIA_WIRE_SEND:
	case VIA_WIRE_WRITE:
	case VIA_WIRE_READ:
	case VIA_WIRE_READ_DATA:
		say_data(h, p);
		return VIA_WIRE_OK;
	case VIA_WIRE_ACK:
		say_ack(h);
		return VIA_WIRE_OK;
	case VIA_WIRE_DISCONNECT:
	case VIA_WIRE_DISCONNECT_ACK:
	case VIA_WIRE_RESET:
		say_end(h);
		return VIA_WIRE_OK;
	case VIA_WIRE_CHALLENGE:
		err = via_wire_parse_hello(p, &hello);
		if (!err)
			say_hello(&hello);
		return err;
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
		return say_heartbeat(p);
	case VIA_WIRE_ACKS:
		say_acks(p);
		return VIA_WIRE_OK;
	case VIA_WIRE_LIST:
		return say_list(p);
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		return say_name(p);
	}
	if (via_wire_has_conn(h->type))
		return say_conn(p);
	say("vi", h->vi);
	say("refuse.reason", h->reason);
	if (h->reply_len)
		say_bytes("reply", h->reply, h->reply_len);
	return VIA_WIRE_OK;
}

static u32 crc32c(u32 crc, const u8 *p, u32 n)
{
	int i;

	while (n--) {
		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

static void say_seal(const struct via_frame_hdr *h, const u8 *p)
{
	const struct via_wire_auth *auth;
	u32 crc;

	if (h->flags & VIA_WIRE_SUM) {
		crc = crc32c(~0u, p, h->hdr_len - VIA_WIRE_SEAL_LEN);
		crc = ~crc32c(crc, p + h->hdr_len, h->len);
		say("checksum", h->seal);
		say("checksum.calculated", crc);
		say("checksum.status", crc == h->seal);
	} else if (h->flags & VIA_WIRE_AUTH) {
		auth = (const void *)(p + h->hdr_len - VIA_WIRE_AUTH_LEN);
		say("auth.counter", be64_to_cpu(auth->counter));
		say_bytes("auth.tag", auth->tag, sizeof(auth->tag));
	}
}

/* Fields come after the verdict on a line, which is last in the next column. */
static void say_frame(const struct frame *f)
{
	static const char *const words[] = { "ok", "version", "type", "length",
					     "field" };
	struct via_frame_hdr h;
	enum via_wire_error err;

	printf("%u", written);
	err = via_wire_parse(f->data, f->len, &h);
	if (!err) {
		say("type", h.type);
		if (h.type) {
			say("version", VIA_WIRE_VERSION);
			say("flags", h.flags);
			say("marks", h.marks);
			if (via_wire_has_dst(h.type))
				say("dst", h.dst);
			say("cookie", h.cookie);
		}
		err = say_body(&h, f->data);
		say_seal(&h, f->data);
	}
	printf("\t%s\n", words[err]);
}

/* Frames that are not as they were sent */

static void change(struct frame *f)
{
	static const u8 likely_bytes[] = { 0, 1, 2, 0x20, 0x40, 0x7f, 0x80,
					   0xff };
	u32 times = 1 + draw(4), at;

	/* Most of what is looked at is in front. */
	while (times-- && f->len) {
		at = draw(draw(2) ? 64 : 300) % f->len;
		f->data[at] = draw(2) ? likely_bytes[draw(8)] : draw(256);
	}
	if (!draw(4) && f->len > 1)
		f->data[1] = (const u8[]){ 1, 2, 3, 4, 8, 9, 10, 11, 0x10, 0x11,
			0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x20, 0x21,
			0x22, 0x23, 0x30, 0x31, 0, 5, 0x40 }[draw(26)];
	if (!draw(4) && f->len > 2)
		f->data[2] ^= 1 << draw(8);
	if (!draw(4))
		f->len = draw(f->len + 1);
}

int main(int argc, char **argv)
{
	const u32 head[] = { 0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1 };
	struct frame f;
	u32 i, n;

	if (argc < 5) {
		fprintf(stderr, "usage: frames OUT.pcap SEED COUNT IN.pcap...\n");
		return 2;
	}
	frames = calloc(FRAMES_MAX, sizeof(*frames));
	if (!frames)
		fail("memory");
	dice = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15ull + 1;
	for (i = 4; i < (u32)argc; i++)
		read_capture(argv[i]);
	out = fopen(argv[1], "w");
	if (!out || fwrite(head, sizeof(head), 1, out) != 1)
		fail(argv[1]);
	for (i = 0; i < nframes; i++) {
		write_frame(&frames[i], i % 3);
		say_frame(&frames[i]);
	}
	for (n = strtoul(argv[3], NULL, 0); n && nframes; n--) {
		f = frames[draw(nframes)];
		f.data = copy(f.data, f.len);
		change(&f);
		/* Ethernet's dissector wants a type, UDP's a payload. */
		if (f.len) {
			write_frame(&f, n % 3);
			say_frame(&f);
		}
		free(f.data);
	}
	if (fclose(out))
		fail(argv[1]);
	for (i = 0; i < nframes; i++)
		free(frames[i].data);
	free(frames);
	return nframes ? 0 : 2;
}

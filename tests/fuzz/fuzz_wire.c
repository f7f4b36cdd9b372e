// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * libFuzzer's target for the parser of frames: what via_wire_parse() and its
 * followers promise holds for any bytes, and nothing outside is read.
 *
 * Two bytes say how much longer than its header the frame is (little-endian);
 * the rest is its beginning.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "shape.h"

#define PROMISE(e)	do { if (!(e)) abort(); } while (0)

/* As a train: its frames are those that its headers, cut, tell of. */
static void check_train(const struct via_frame_hdr *h, const uint8_t *frame,
			uint32_t len, uint32_t seg)
{
	uint8_t head[VIA_WIRE_WRITE_HDR] __attribute__((aligned(8)));
	struct via_frame_hdr all = *h, one, cut;
	uint32_t k, at = 0;

	if (!via_wire_join(&all, len, seg))
		return;
	PROMISE(all.frames > 1 && all.frames <= VIA_WIRE_TRAIN);
	PROMISE(all.len <= all.msg_len - all.offset);
	PROMISE(all.hdr_len + all.len <= len);
	for (k = 0; k < all.frames; k++, at += one.len) {
		via_wire_one_of(&all, seg, k, &one);
		memcpy(head, frame, all.hdr_len);
		via_wire_cut(head, k, seg, one.len, k + 1 == all.frames);
		PROMISE(!via_wire_parse(head, all.hdr_len + one.len, &cut));
		PROMISE(cut.seq == one.seq && cut.offset == one.offset &&
			cut.len == one.len && cut.flags == one.flags &&
			cut.offset == all.offset + at);
		PROMISE(one.hdr_len == all.hdr_len + at && one.len);
	}
	PROMISE(at == all.len);
}

/* The same frames, as they come: they are joined to that train again. */
static void check_again(const struct via_frame_hdr *h, const uint8_t *frame,
		      uint32_t len, uint32_t seg)
{
	struct via_frame_hdr all = *h, one, again;
	struct via_join train = { 0 };
	uint8_t *next;
	uint32_t k;

	if (!via_wire_join(&all, len, seg))
		return;
	for (k = 0; k < all.frames; k++) {
		via_wire_one_of(&all, seg, k, &one);
		next = calloc(1, all.hdr_len + one.len);
		if (!next)
			return;
		memcpy(next, frame, all.hdr_len);
		via_wire_cut(next, k, seg, one.len, k + 1 == all.frames);
		PROMISE(k ? via_join_add(&train, next, all.hdr_len + one.len) :
			    via_join_begin(&train, next, all.hdr_len + one.len));
		free(next);
	}
	PROMISE(train.frames == all.frames && train.len == all.hdr_len + all.len);
	PROMISE(!via_wire_parse(train.head, train.len, &again));
	PROMISE(via_wire_join(&again, train.len, train.seg));
	PROMISE(again.flags == all.flags && again.seq == all.seq &&
		again.len == all.len && again.offset == all.offset);
}

/* Any two frames: joined they are no more than each of them is. */
static void check_pair(const uint8_t *frame, uint32_t len, uint32_t second)
{
	struct via_frame_hdr h, all;
	struct via_join train;
	uint32_t left;

	if (second >= len || !via_join_begin(&train, frame, second))
		return;
	left = len - second;
	if (!via_join_add(&train, frame + second, left))
		return;
	if (via_wire_parse(train.head, train.len, &all)) {
		PROMISE(via_wire_parse(frame, second, &h));
		PROMISE(via_wire_parse(frame + second, left, &h));
		return;
	}
	PROMISE(via_wire_join(&all, train.len, train.seg) && all.frames == 2);
	PROMISE(!via_wire_parse(frame, second, &h) && h.seq == all.seq);
	PROMISE(!via_wire_parse(frame + second, left, &h) &&
		h.seq == all.seq + 1 && h.flags == all.flags);
}

/* TCP's header of a train: what it unfolds to is a train of the message. */
static void check_shape(const uint8_t *frame, uint32_t len, uint32_t payload)
{
	const struct via_shape_tcp *t = (const void *)frame;
	uint32_t joined = 0, off, i;
	struct via_frame_hdr h;
	struct via_shape s;

	if (len < sizeof(*t))
		return;
	off = be32_to_cpu(t->offset);
	for (i = 0; i < 2; i++, joined = be16_to_cpu(t->seg)) {
		if (via_shape_parse(t, payload, joined, &s) != VIA_SHAPE_IS_TRAIN)
			continue;
		PROMISE(s.frames && s.frames <= VIA_WIRE_TRAIN && payload);
		PROMISE(s.frames == (payload + s.seg - 1) / s.seg);
		PROMISE(payload <= be32_to_cpu(t->msg_len) &&
			off <= be32_to_cpu(t->msg_len) - payload);
		/* What is left to the parser of frames. */
		if (via_wire_parse(s.head, sizeof(s.head) + payload, &h))
			continue;
		PROMISE(h.offset == off && !(h.flags & VIA_WIRE_SEALS));
		PROMISE(s.frames == 1 ? h.len == payload :
			via_wire_join(&h, sizeof(s.head) + payload, s.seg) &&
			h.frames == s.frames && h.len == payload);
	}
}

static void check_data(const struct via_frame_hdr *h)
{
	PROMISE(h->offset <= h->msg_len);
	if (h->type == VIA_WIRE_READ) {
		PROMISE(!h->len && !h->offset);
		return;
	}
	PROMISE(h->type != VIA_WIRE_SEND || h->reads <= VIA_WIRE_NOTES);
	PROMISE(h->len <= h->msg_len - h->offset);
	PROMISE(h->len || !h->msg_len);
}

static void check_conn(const uint8_t *frame)
{
	const struct via_wire *w = (const void *)frame;
	struct via_conn_hdr c;

	if (via_wire_parse_conn(frame, &c))
		return;
	if (w->type == VIA_WIRE_REQUEST || w->type == VIA_WIRE_PEER_REQUEST)
		PROMISE(be32_to_cpu(w->dst) == c.vi && c.vi &&
			be64_to_cpu(w->cookie) == c.sender_cookie);
	PROMISE(c.client_host_len <= VIA_WIRE_HOST_MAX);
	PROMISE(c.server_host_len <= VIA_WIRE_HOST_MAX);
	PROMISE(c.client_disc_len <= VIA_WIRE_DISC_MAX);
	PROMISE(c.server_disc_len <= VIA_WIRE_DISC_MAX);
	PROMISE(c.client_disc + VIA_WIRE_DISC_MAX <=
		frame + VIA_WIRE_CONN_LEN);
	PROMISE(c.server_disc + VIA_WIRE_DISC_MAX <=
		frame + VIA_WIRE_CONN_LEN);
	PROMISE(c.hello.mtu >= VIA_WIRE_MTU_MIN &&
		c.hello.mtu <= VIA_WIRE_MTU_MAX);
	PROMISE(c.hello.epoch && c.hello.frames && c.vi && c.sender_cookie);
}

static void check_ranges(const struct via_wire_range *r, uint32_t n,
			 const uint8_t *end)
{
	struct via_wire_range again[VIA_WIRE_RANGES_MAX];
	struct via_range range[VIA_WIRE_RANGES_MAX];
	uint32_t i, least = 0;

	PROMISE(n <= VIA_WIRE_RANGES_MAX && (const uint8_t *)(r + n) <= end);
	for (i = 0; i < n; i++) {
		PROMISE(be16_to_cpu(r[i].start) >= least && r[i].count);
		least = be16_to_cpu(r[i].start) + be16_to_cpu(r[i].count) + 1;
		PROMISE(least <= 0x10001);
	}
	via_wire_get_ranges(r, n, range);
	via_wire_put_ranges(again, n, range);
	PROMISE(!memcmp(r, again, n * sizeof(*r)));
}

static void check_acks(const uint8_t *frame, const uint8_t *end)
{
	struct via_acks_at at = { 0 };
	struct via_acks_entry e;

	while (via_wire_next_acks(frame, &at, &e)) {
		PROMISE(e.dst && e.cookie);
		check_ranges(e.range, e.nranges, end);
	}
	PROMISE(at.entry);
}

static void check_list(const uint8_t *frame, const uint8_t *end)
{
	struct via_list_hdr l;
	uint32_t i;

	if (via_wire_parse_list(frame, &l))
		return;
	PROMISE(l.count <= VIA_WIRE_LIST_MAX && l.low && l.low <= l.high);
	PROMISE((const uint8_t *)(l.at + l.count) <= end);
	for (i = 0; i < l.count; i++) {
		PROMISE(be64_to_cpu(l.at[i].cookie) >= l.low);
		PROMISE(be64_to_cpu(l.at[i].cookie) <= l.high);
		PROMISE(!i || be64_to_cpu(l.at[i - 1].cookie) <
			be64_to_cpu(l.at[i].cookie));
	}
}

static void check_rest(const struct via_frame_hdr *h, const uint8_t *frame)
{
	const uint8_t *end = frame + h->hdr_len;
	struct via_hello_hdr hello;
	struct via_heartbeat_hdr hb;

	switch (h->type) {
	case VIA_WIRE_VERSIONS:
		PROMISE(h->lowest <= h->highest);
		PROMISE(h->quote + VIA_WIRE_QUOTE == end);
		break;
	case VIA_WIRE_ACK:
		check_ranges(h->range, h->nranges, end);
		break;
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CANCEL:
		PROMISE(h->vi && h->cookie);
		PROMISE(h->reply_len <= VIA_WIRE_REPLY_MAX);
		PROMISE(!h->reply_len || h->type == VIA_WIRE_REFUSE);
		PROMISE(h->reply + h->reply_len +
			via_wire_seal_len(h->flags) == end);
		break;
	case VIA_WIRE_CHALLENGE:
		PROMISE(h->dst && h->cookie);
		via_wire_parse_hello(frame, &hello);
		break;
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
		via_wire_parse_heartbeat(frame, &hb);
		break;
	case VIA_WIRE_ACKS:
		check_acks(frame, end);
		break;
	case VIA_WIRE_LIST:
		check_list(frame, end);
		break;
	}
}

static void check_name(const uint8_t *frame)
{
	struct via_name_hdr n;
	size_t len, i;

	if (via_wire_parse_name(frame, &n))
		return;
	len = strnlen(n.name, sizeof(n.name));
	PROMISE(len <= VIA_WIRE_NAME_MAX);
	for (i = 0; i < len; i++)
		PROMISE(n.name[i] > ' ' && n.name[i] <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct via_frame_hdr h;
	uint8_t *frame;
	uint32_t len;

	if (size < 2)
		return 0;
	len = size - 2;
	if (len >= VIA_WIRE_HDR_MAX)
		len = VIA_WIRE_HDR_MAX + (data[0] | data[1] << 8);
	/* As long as promised, not a byte more: ASan watches the end. */
	frame = malloc(len < VIA_WIRE_HDR_MAX ? len : VIA_WIRE_HDR_MAX);
	if (!frame)
		return 0;
	memcpy(frame, data + 2,
	       len < VIA_WIRE_HDR_MAX ? len : VIA_WIRE_HDR_MAX);
	check_shape(frame, len, data[0] | data[1] << 8);
	if (len <= VIA_WIRE_HDR_MAX)
		check_pair(frame, len, data[0]);
	if (!via_wire_parse(frame, len, &h)) {
		PROMISE(h.hdr_len <= len && h.len <= len - h.hdr_len);
		PROMISE(h.hdr_len <= VIA_WIRE_HDR_MAX);
		PROMISE(h.hdr_len >= sizeof(struct via_wire) +
			via_wire_seal_len(h.flags));
		PROMISE((h.flags & VIA_WIRE_SEALS) != VIA_WIRE_SEALS);
		PROMISE(h.flags & VIA_WIRE_SEALS || !h.type ||
			!via_wire_always_sealed(h.type));
		if (h.type && h.type <= VIA_WIRE_READ_DATA) {
			check_data(&h);
			check_train(&h, frame, len, h.len);
			check_train(&h, frame, len, data[0]);
			check_again(&h, frame, len, h.len);
		} else if (via_wire_has_conn(h.type))
			check_conn(frame);
		else if (h.type == VIA_WIRE_NAME_QUERY ||
			 h.type == VIA_WIRE_NAME_REPLY)
			check_name(frame);
		else
			check_rest(&h, frame);
	}
	free(frame);
	return 0;
}

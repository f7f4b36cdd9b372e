/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A train in TCP's shape: one message's frames behind headers that are TCP's, so that
 * cards split it (TSO) and the receiver's kernel joins it (GRO), and what the frames
 * have in common stands once in TCP's options (docs/reference/wire.md).
 *
 * Of TCP's own fields
 *
 *   sequence number	offset of the payload in the message
 *   acknowledgement	@seg and @last: bytes of each frame but the message's last one,
 *			and the number in the message of the train's last frame
 *   window		as @reads of a frame
 *   PSH		the train ends here: the receiver's kernel joins no further
 *
 * What splits and joins changes sequence number and PSH alone, and joins only what is
 * equal in all of the rest.  So each packet has VI and cookie, and what has been joined
 * is of one train.
 *
 * A probe is one packet, as long as the frames of trains, whose numbers are those of
 * its cookie: what changes numbers or takes options out on the way is found by it.
 *
 * Inline: each long message passes through here.
 */
#ifndef _VIA_SHAPE_H
#define _VIA_SHAPE_H

#include "wire.h"

#define VIA_SHAPE_OPTION	253	/* RFC 3692: for experiments */
#define VIA_SHAPE_OPTION_LEN	28
#define VIA_SHAPE_MARK		0x80	/* of @type: VIA_WIRE_CE */
#define VIA_SHAPE_PROBE		0x3f	/* @type of a probe */
#define VIA_SHAPE_WINDOW	0x5649	/* of a probe */

#define VIA_SHAPE_DOFF		0xc0	/* TCP's header in words, and no other bits */
#define VIA_SHAPE_PSH		0x08
#define VIA_SHAPE_ACK		0x10

/* Kept free by VIA_WIRE_SHAPE: what the frame says, in dst. */
#define VIA_SHAPE_ASK		1	/* cookie: does the receiver take trains so? */
#define VIA_SHAPE_YES		2	/* ASK's cookie */
#define VIA_SHAPE_GOT		3	/* a probe's cookie: it has arrived */
#define VIA_SHAPE_STOP		4	/* the last probe's, or ASK's, cookie */

/* TCP's header with the options. */
struct via_shape_tcp {
	__be16	source;
	__be16	dest;
	__be32	offset;
	__be16	seg;
	__be16	last;
	__u8	doff;
	__u8	flags;
	__be16	reads;
	__be16	check;
	__be16	urgent;
	__u8	option;
	__u8	option_len;
	__u8	type;			/* VIA_WIRE_SEND, _READ_DATA, or PROBE */
	__u8	wire_flags;		/* of the train's last frame */
	__be32	dst;
	__be64	cookie;
	__be32	first;			/* seq of the message's first frame */
	__be32	ack;
	__be32	msg_len;		/* of a probe: of its payload */
} __packed;

#define VIA_SHAPE_HDR		48u

static_assert(sizeof(struct via_shape_tcp) == VIA_SHAPE_HDR, "TCP's header");
/* A packet is as long as a datagram with the same payload. */
static_assert(VIA_SHAPE_HDR == 8 + VIA_WIRE_SEND_HDR, "UDP's and VIA's headers");

/**
 * struct via_shape - a train, or a part of one
 * @frames:	how many, 1 to VIA_WIRE_TRAIN
 * @seg:	bytes of payload of each, but the last one may have fewer
 * @head:	a frame's headers, of the first one, with the flags of the last
 */
struct via_shape {
	u32 frames;
	u32 seg;
	u8 head[VIA_WIRE_SEND_HDR] __aligned(8);
};

enum via_shape_is {
	VIA_SHAPE_IS_NONE,		/* nothing of ours */
	VIA_SHAPE_IS_BAD,		/* no sender writes it */
	VIA_SHAPE_IS_EMPTY,		/* without payload: what split it has made it */
	VIA_SHAPE_IS_PROBE,
	VIA_SHAPE_IS_TRAIN,
};

/* Is it of this shape?  @t has VIA_SHAPE_HDR bytes. */
static inline bool via_shape_is_ours(const struct via_shape_tcp *t)
{
	return t->doff == VIA_SHAPE_DOFF && t->option == VIA_SHAPE_OPTION &&
	       t->option_len == VIA_SHAPE_OPTION_LEN &&
	       (t->flags & ~VIA_SHAPE_PSH) == VIA_SHAPE_ACK && !t->urgent;
}

static inline bool via_shape_is_probe(const struct via_shape_tcp *t, u32 len)
{
	u64 cookie = be64_to_cpu(t->cookie);

	return cookie && be32_to_cpu(t->offset) == (u32)cookie &&
	       be16_to_cpu(t->seg) == (u16)(cookie >> 48) &&
	       be16_to_cpu(t->last) == (u16)(cookie >> 32) &&
	       be16_to_cpu(t->reads) == VIA_SHAPE_WINDOW &&
	       be32_to_cpu(t->msg_len) == len && !t->wire_flags && !t->dst &&
	       !t->first && !t->ack;
}

/* The headers of the frame that begins at @k frames in the message. */
static inline void via_shape_unfold(const struct via_shape_tcp *t, u32 k, u32 len,
				    bool last, struct via_shape *s)
{
	struct via_wire *w = (struct via_wire *)s->head;
	struct via_wire_data *d = (struct via_wire_data *)(w + 1);

	w->version = VIA_WIRE_VERSION;
	w->type = t->type & ~VIA_SHAPE_MARK;
	w->flags = last ? t->wire_flags : 0;
	w->marks = t->type & VIA_SHAPE_MARK ? VIA_WIRE_CE : 0;
	w->dst = t->dst;
	w->cookie = t->cookie;
	d->seq = cpu_to_be32(be32_to_cpu(t->first) + k);
	d->ack = t->ack;
	d->msg_len = t->msg_len;
	d->offset = t->offset;
	d->len = cpu_to_be16(len);
	d->reads = t->reads;
	d->immediate = 0;
}

/*
 * Take a packet apart: @t has VIA_SHAPE_HDR bytes, and @len bytes of payload follow
 * somewhere.  @joined: of how many bytes each of its packets was; 0: it is one.
 */
static inline enum via_shape_is
via_shape_parse(const struct via_shape_tcp *t, u32 len, u32 joined,
		struct via_shape *s)
{
	u32 seg = be16_to_cpu(t->seg), last = be16_to_cpu(t->last);
	u32 msg = be32_to_cpu(t->msg_len), off = be32_to_cpu(t->offset), k, n;
	u8 type = t->type & ~VIA_SHAPE_MARK;

	if (!via_shape_is_ours(t))
		return VIA_SHAPE_IS_NONE;
	if (t->type == VIA_SHAPE_PROBE)
		return !joined && via_shape_is_probe(t, len) ?
		       VIA_SHAPE_IS_PROBE : VIA_SHAPE_IS_BAD;
	if ((type != VIA_WIRE_SEND && type != VIA_WIRE_READ_DATA) ||
	    t->wire_flags & ~(VIA_WIRE_PUSH | VIA_WIRE_ACK_NOW | VIA_WIRE_PROBE) ||
	    !seg || (joined && joined != seg))
		return VIA_SHAPE_IS_BAD;
	if (!len)
		return VIA_SHAPE_IS_EMPTY;
	if (off > msg || len > msg - off || len > VIA_WIRE_TRAIN * seg ||
	    (!joined && len > seg))
		return VIA_SHAPE_IS_BAD;
	k = off / seg;
	n = (len + seg - 1) / seg;
	/* A frame is shorter only at the end of the message. */
	if (off % seg || k > last || n - 1 > last - k ||
	    (len % seg && len != msg - off))
		return VIA_SHAPE_IS_BAD;
	s->frames = n;
	s->seg = seg;
	via_shape_unfold(t, k, n > 1 ? seg : len, k + n - 1 == last, s);
	return VIA_SHAPE_IS_TRAIN;
}

/* May a train of @n frames from @off on, of @seg bytes each, have the shape? */
static inline bool via_shape_fits(u32 off, u32 seg, u32 n)
{
	return seg <= 0xffff && !(off % seg) && off / seg + n - 1 <= 0xffff;
}

/* What is before the options of any packet, but for ports and numbers. */
static inline void via_shape_begin(struct via_shape_tcp *t)
{
	t->doff = VIA_SHAPE_DOFF;
	t->flags = VIA_SHAPE_ACK | VIA_SHAPE_PSH;
	t->check = 0;
	t->urgent = 0;
	t->option = VIA_SHAPE_OPTION;
	t->option_len = VIA_SHAPE_OPTION_LEN;
}

/* The headers of a train of @n frames, @wire those of its first with the flags of the last. */
static inline void via_shape_fold(struct via_shape_tcp *t, const void *wire, u32 seg,
				  u32 n)
{
	const struct via_wire *w = wire;
	const struct via_wire_data *d = (const void *)(w + 1);
	u32 k = be32_to_cpu(d->offset) / seg;

	via_shape_begin(t);
	t->offset = d->offset;
	t->seg = cpu_to_be16(seg);
	t->last = cpu_to_be16(k + n - 1);
	t->reads = d->reads;
	t->type = w->type | (w->marks & VIA_WIRE_CE ? VIA_SHAPE_MARK : 0);
	t->wire_flags = w->flags;
	t->dst = w->dst;
	t->cookie = w->cookie;
	t->first = cpu_to_be32(be32_to_cpu(d->seq) - k);
	t->ack = d->ack;
	t->msg_len = d->msg_len;
}

/* The headers of a probe with @len bytes of payload. */
static inline void via_shape_probe(struct via_shape_tcp *t, u64 cookie, u32 len)
{
	via_shape_begin(t);
	t->offset = cpu_to_be32((u32)cookie);
	t->seg = cpu_to_be16((u16)(cookie >> 48));
	t->last = cpu_to_be16((u16)(cookie >> 32));
	t->reads = cpu_to_be16(VIA_SHAPE_WINDOW);
	t->type = VIA_SHAPE_PROBE;
	t->wire_flags = 0;
	t->dst = 0;
	t->cookie = cpu_to_be64(cookie);
	t->first = 0;
	t->ack = 0;
	t->msg_len = cpu_to_be32(len);
}

#endif /* _VIA_SHAPE_H */

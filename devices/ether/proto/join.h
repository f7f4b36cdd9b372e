/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that have come together, and whose headers say that one follows the other in
 * a message, are received as a train (via_wire_join()).  Its headers are made here.
 *
 * 1. A frame joins only if via_wire_parse() would accept or refuse it as the first one,
 *    so the verdict on the train's headers is right for each frame.
 * 2. Sequence number, offset and length differ from frame to frame.  Each is compared
 *    with the value that continues the train.
 * 3. A frame that asks for something is the train's last one.  Flags and
 *    acknowledgement are the last one's: it was sent last.
 *
 * Inline: each long message passes through here.
 */
#ifndef _VIA_JOIN_H
#define _VIA_JOIN_H

#include "wire.h"

/**
 * struct via_join - frames of one message, one behind the other
 * @frames:	how many; 0: there is no train
 * @hdr:	bytes of the headers of each
 * @seg:	of payload of each, but the last one may have fewer
 * @len:	of the headers of one, and of the payload of all
 * @left:	of the message behind them
 * @open:	one more may follow
 * @head:	the train's headers
 */
struct via_join {
	u32 frames;
	u32 hdr;
	u32 seg;
	u32 len;
	u32 left;
	bool open;
	u8 head[VIA_WIRE_WRITE_HDR] __aligned(8);
};

/* A frame with these flags is the last one of its train. */
static inline bool via_join_ends(const struct via_wire *w)
{
	return w->flags & ~VIA_WIRE_IMMEDIATE;
}

/* Flags of a frame of data that a train may have. */
static inline bool via_join_flags_ok(const struct via_wire *w)
{
	return !(w->flags & ~(VIA_WIRE_FLAGS_DATA & ~VIA_WIRE_SEALS));
}

/* The first frame, @len bytes that lie in a row.  False: it goes alone. */
static inline bool via_join_begin(struct via_join *j, const void *frame, u32 len)
{
	const struct via_wire *w = frame;
	const struct via_wire_data *d = (const void *)(w + 1);
	u32 msg, off;

	if (len < VIA_WIRE_SEND_HDR || w->version != VIA_WIRE_VERSION ||
	    !via_join_flags_ok(w))
		return false;
	j->hdr = via_wire_data_hdr(w->type);
	if (!j->hdr || len <= j->hdr)
		return false;
	j->seg = len - j->hdr;
	msg = be32_to_cpu(d->msg_len);
	off = be32_to_cpu(d->offset);
	if (be16_to_cpu(d->len) != j->seg || off > msg || j->seg > msg - off)
		return false;
	memcpy(j->head, frame, VIA_WIRE_SEND_HDR);
	if (j->hdr > VIA_WIRE_SEND_HDR)
		memcpy(j->head + VIA_WIRE_SEND_HDR,
		       (const u8 *)frame + VIA_WIRE_SEND_HDR,
		       sizeof(struct via_wire_rdma));
	j->frames = 1;
	j->len = len;
	j->left = msg - off - j->seg;
	j->open = !via_join_ends(w);
	return true;
}

/* Is @frame, with @more bytes of payload, the next one of the message? */
static inline bool via_join_fits(const struct via_join *j, const void *frame,
				 u32 more)
{
	const struct via_wire *w = frame, *first = (const void *)j->head;
	const struct via_wire_data *d = (const void *)(w + 1);
	const struct via_wire_data *f = (const void *)(first + 1);

	if (w->cookie != first->cookie || w->dst != first->dst ||
	    w->version != first->version || w->type != first->type ||
	    w->marks != first->marks || !via_join_flags_ok(w) ||
	    (w->flags ^ first->flags) & VIA_WIRE_IMMEDIATE)
		return false;
	if (be32_to_cpu(d->seq) - be32_to_cpu(f->seq) != j->frames ||
	    be32_to_cpu(d->offset) - be32_to_cpu(f->offset) !=
	    j->len - j->hdr ||
	    d->msg_len != f->msg_len || be16_to_cpu(d->len) != more ||
	    d->reads != f->reads || d->immediate != f->immediate)
		return false;
	return j->hdr == VIA_WIRE_SEND_HDR ||
	       !memcmp(d + 1, f + 1, sizeof(struct via_wire_rdma));
}

/* One more, @len bytes that lie in a row.  False: it is not of this train. */
static inline bool via_join_add(struct via_join *j, const void *frame, u32 len)
{
	struct via_wire *head = (void *)j->head;
	const struct via_wire *w = frame;
	u32 more = len - j->hdr;

	if (!j->open || j->frames == VIA_WIRE_TRAIN || len <= j->hdr ||
	    more > j->seg || more > j->left || !via_join_fits(j, frame, more))
		return false;
	head->flags = w->flags;
	((struct via_wire_data *)(head + 1))->ack =
		((const struct via_wire_data *)(w + 1))->ack;
	j->frames++;
	j->len += more;
	j->left -= more;
	j->open = more == j->seg && !via_join_ends(w);
	return true;
}

#endif /* _VIA_JOIN_H */

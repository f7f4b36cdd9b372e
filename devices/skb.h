/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an skb to a frame of the class, for NIC modules that get skbs: compiled
 * into each, since a message passes through here.  Softirq, RCU read side.
 */
#ifndef _VIA_SKB_H
#define _VIA_SKB_H

#include <linux/skbuff.h>
#include "ether/via_ether.h"
#include "ether/proto/join.h"

/* Does it begin with a whole header of data, which is all that is parsed then? */
static inline bool via_skb_has_hdr(const struct via_ether_chunk *c)
{
	const struct via_wire *w = c->data;

	return via_wire_data_hdr_in(w, c->len) &&
	       w->version == VIA_WIRE_VERSION && !(w->flags & VIA_WIRE_SEALS);
}

/*
 * @f's bytes are in its chunks, and in @skb from @at on: hand it over with its header in
 * one piece.  False: @skb has fewer bytes.
 */
static inline bool via_skb_rx_chunks(struct via_ether_nic *nic,
				     struct sk_buff *skb,
				     struct via_ether_frame *f, u32 at)
{
	u32 want = min_t(u32, f->len, VIA_WIRE_HDR_MAX);
	u8 hdr[VIA_WIRE_HDR_MAX] __aligned(8) __uninitialized;

	f->hdr = f->chunk[0].data;
	if (unlikely(f->chunk[0].len < want) &&
	    !via_skb_has_hdr(f->chunk)) {
		if (skb_copy_bits(skb, at, hdr, want))
			return false;
		f->hdr = hdr;
	}
	via_ether_rx(nic, f);
	return true;
}

/* A frame in pieces, or one that has to be copied into one piece first. */
static noinline void via_skb_rx_pieces(struct via_ether_nic *nic,
				       struct sk_buff *skb,
				       struct via_ether_frame *f)
{
	struct via_ether_chunk chunk[MAX_SKB_FRAGS + 1];
	struct skb_shared_info *info = skb_shinfo(skb);
	u32 i;

	f->nchunks = 0;
	f->chunk = chunk;
	if (skb_headlen(skb))
		chunk[f->nchunks++] = (struct via_ether_chunk) {
			.data = skb->data,
			.len = skb_headlen(skb),
		};
	for (i = 0; i < info->nr_frags; i++) {
		const skb_frag_t *frag = &info->frags[i];

		chunk[f->nchunks++] = (struct via_ether_chunk) {
			.data = skb_frag_address(frag),
			.len = skb_frag_size(frag),
		};
	}
	via_skb_rx_chunks(nic, skb, f, 0);
}

/*
 * Joined frames (GSO, GRO): all have @each bytes but the last one, which may be
 * shorter, and lie in a row behind the first @at bytes.  Can they be walked where
 * they are?  Plain addresses, and no frame in two buffers of a list: so that the
 * pieces of one are as many as a buffer has.
 */
static inline bool via_skb_walkable(const struct sk_buff *skb, u32 at, u32 each)
{
	const struct sk_buff *part;

	if (IS_ENABLED(CONFIG_HIGHMEM))
		return false;
	if (likely(!skb_has_frag_list(skb)))
		return true;
	if (skb_pagelen(skb) < at || (skb_pagelen(skb) - at) % each)
		return false;
	skb_walk_frags(skb, part)
		if (skb_has_frag_list(part) || (part->next && part->len % each))
			return false;
	return true;
}

/* Frames of a train that are handed over at once: they take room on the stack. */
#define VIA_SKB_TRAIN	32u

/**
 * struct via_skb_train - frames that are received at once, as a train
 * @of:		what their headers say
 * @chunk:	where they are: all of the first one, the payload of the others
 */
struct via_skb_train {
	struct via_join of;
	struct via_ether_chunk chunk[VIA_SKB_TRAIN];
};

/* Hand over what there is. */
static void via_skb_train_end(struct via_ether_nic *nic,
			      struct via_ether_frame *f,
			      struct via_skb_train *train)
{
	u32 n = train->of.frames;

	if (!n)
		return;
	f->hdr = n > 1 ? train->of.head : train->chunk[0].data;
	f->len = train->of.len;
	f->nchunks = n;
	f->chunk = train->chunk;
	f->train = n > 1 ? train->of.seg : 0;
	train->of.frames = 0;
	via_ether_rx(nic, f);
	f->train = 0;
}

/* A frame in one piece: of the train, or of the next one, or alone. */
static void via_skb_train_frame(struct via_ether_nic *nic,
				struct via_ether_frame *f,
				struct via_skb_train *train,
				const struct via_ether_chunk *frame)
{
	u32 n = train->of.frames;

	if (n && n < ARRAY_SIZE(train->chunk) &&
	    via_join_add(&train->of, frame->data, frame->len)) {
		train->chunk[n].data = frame->data + train->of.hdr;
		train->chunk[n].len = frame->len - train->of.hdr;
		return;
	}
	via_skb_train_end(nic, f, train);
	if (via_join_begin(&train->of, frame->data, frame->len)) {
		train->chunk[0] = *frame;
		return;
	}
	f->hdr = frame->data;
	f->len = frame->len;
	f->nchunks = 1;
	f->chunk = frame;
	via_ether_rx(nic, f);
}

/**
 * struct via_skb_walk - how far frames of an skb were read
 * @st:		the kernel's
 * @data:	bytes that lie in a row
 * @have:	how many
 */
struct via_skb_walk {
	struct skb_seq_state st;
	const u8 *data;
	u32 have;
};

/* A frame of @len bytes from @at on that is in several pieces.  False: no more. */
static noinline bool via_skb_rx_parts(struct via_ether_nic *nic,
				      struct sk_buff *skb,
				      struct via_ether_frame *f,
				      struct via_skb_walk *walk, u32 at, u32 len)
{
	struct via_ether_chunk chunk[MAX_SKB_FRAGS + 1] __uninitialized;
	u32 want, n;

	f->len = len;
	f->nchunks = 0;
	f->chunk = chunk;
	for (want = len; want; want -= n) {
		if (!walk->have)
			walk->have = skb_seq_read(at + len - want, &walk->data,
						  &walk->st);
		if (WARN_ON_ONCE(!walk->have ||
				 f->nchunks == ARRAY_SIZE(chunk)))
			return false;
		n = min(walk->have, want);
		chunk[f->nchunks].data = walk->data;
		chunk[f->nchunks++].len = n;
		walk->data += n;
		walk->have -= n;
	}
	return via_skb_rx_chunks(nic, skb, f, at);
}

/*
 * The bytes of @skb are such frames: hand over one after the other, but those that
 * are a train at once.  As via_skb_rx(), whatever the frames do.
 */
static noinline void __maybe_unused via_skb_rx_joined(struct via_ether_nic *nic,
						      struct sk_buff *skb,
						      struct via_ether_frame *f,
						      u32 each)
{
	struct via_skb_train train __uninitialized;
	struct via_skb_walk walk __uninitialized;
	struct via_ether_chunk frame;
	u32 at;

	train.of.frames = 0;
	walk.have = 0;
	skb_prepare_seq_read(skb, 0, skb->len, &walk.st);
	for (at = 0; at < skb->len; at += frame.len) {
		frame.len = min(each, skb->len - at);
		if (unlikely(!walk.have))
			walk.have = skb_seq_read(at, &walk.data, &walk.st);
		if (likely(walk.have >= frame.len)) {
			frame.data = walk.data;
			walk.data += frame.len;
			walk.have -= frame.len;
			via_skb_train_frame(nic, f, &train, &frame);
			continue;
		}
		via_skb_train_end(nic, f, &train);
		if (!via_skb_rx_parts(nic, skb, f, &walk, at, frame.len))
			break;
	}
	via_skb_train_end(nic, f, &train);
	skb_abort_seq_read(&walk.st);
}

/* Is there a piece that has no plain address? */
static inline bool via_skb_awkward(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 i;

	if (skb_has_frag_list(skb))
		return true;
	if (IS_ENABLED(CONFIG_HIGHMEM))
		for (i = 0; i < info->nr_frags; i++)
			if (PageHighMem(skb_frag_page(&info->frags[i])))
				return true;
	return false;
}

static inline void via_skb_rx_linear(struct via_ether_nic *nic,
				     struct sk_buff *skb,
				     struct via_ether_frame *f)
{
	struct via_ether_chunk chunk = { .data = skb->data, .len = skb->len };

	f->hdr = skb->data;
	f->nchunks = 1;
	f->chunk = &chunk;
	via_ether_rx(nic, f);
}

/*
 * The bytes of @skb are a frame; @f has its source, which may lie in @skb: that
 * is not changed.
 */
static __always_inline void via_skb_rx(struct via_ether_nic *nic,
				       struct sk_buff *skb,
				       struct via_ether_frame *f)
{
	struct sk_buff *copy;

	if (likely(!skb_is_nonlinear(skb)))
		return via_skb_rx_linear(nic, skb, f);
	if (likely(!via_skb_awkward(skb)))
		return via_skb_rx_pieces(nic, skb, f);
	/* Others may hold it too: never change it in place. */
	copy = skb_copy(skb, GFP_ATOMIC);
	if (!copy)
		return;
	via_skb_rx_linear(nic, copy, f);
	consume_skb(copy);
}

#endif /* _VIA_SKB_H */

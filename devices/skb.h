/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an skb to a frame of the class, for NIC modules that get skbs: compiled
 * into each, since a message passes through here.  Softirq, RCU read side.
 */
#ifndef _VIA_SKB_H
#define _VIA_SKB_H

#include <linux/skbuff.h>
#include "ether/via_ether.h"
#include "ether/proto/wire.h"

/* A frame in pieces, or one that has to be copied into one piece first. */
static noinline void via_skb_rx_pieces(struct via_ether_nic *nic,
				       struct sk_buff *skb,
				       struct via_ether_frame *f)
{
	struct via_ether_chunk chunk[MAX_SKB_FRAGS + 1];
	struct skb_shared_info *info = skb_shinfo(skb);
	u32 want = min_t(u32, f->len, VIA_WIRE_HDR_MAX), i;
	u8 hdr[VIA_WIRE_HDR_MAX] __aligned(8);

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
	f->hdr = chunk[0].data;
	if (unlikely(chunk[0].len < want)) {
		if (skb_copy_bits(skb, 0, hdr, want))
			return;
		f->hdr = hdr;
	}
	via_ether_rx(nic, f);
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

/*
 * The bytes of @skb are such frames: hand over one after the other.  As
 * via_skb_rx(), whatever the frames do.
 */
static noinline void __maybe_unused via_skb_rx_joined(struct via_ether_nic *nic,
						      struct sk_buff *skb,
						      struct via_ether_frame *f,
						      u32 each)
{
	struct via_ether_chunk chunk[MAX_SKB_FRAGS + 1] __uninitialized;
	u8 hdr[VIA_WIRE_HDR_MAX] __aligned(8) __uninitialized;
	u32 at = 0, have = 0, want, n;
	struct skb_seq_state st;
	const u8 *data = NULL;

	f->chunk = chunk;
	skb_prepare_seq_read(skb, 0, skb->len, &st);
	for (; at < skb->len; at += f->len) {
		f->len = min(each, skb->len - at);
		f->nchunks = 0;
		for (want = f->len; want; want -= n) {
			if (unlikely(!have))
				have = skb_seq_read(at + f->len - want, &data,
						    &st);
			if (WARN_ON_ONCE(!have ||
					 f->nchunks == ARRAY_SIZE(chunk)))
				goto out;
			n = min(have, want);
			chunk[f->nchunks].data = data;
			chunk[f->nchunks++].len = n;
			data += n;
			have -= n;
		}
		f->hdr = chunk[0].data;
		n = min_t(u32, f->len, VIA_WIRE_HDR_MAX);
		if (unlikely(chunk[0].len < n)) {
			if (skb_copy_bits(skb, at, hdr, n))
				break;
			f->hdr = hdr;
		}
		via_ether_rx(nic, f);
	}
out:
	skb_abort_seq_read(&st);
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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames in pieces of pages that are used again when the last frame in them is
 * gone, for NIC modules that send skbs: compiled into each.  Memory of the
 * allocator would be cleared for each frame in kernels that are hardened
 * (init_on_alloc).
 *
 * Bottom halves off; each CPU has pages of its own, so no lock.
 */
#ifndef _VIA_PAGES_H
#define _VIA_PAGES_H

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>

#define VIA_PAGES		16u	/* of a CPU, each of VIA_PAGES_BYTES */
#define VIA_PAGES_ORDER		get_order(32768)
#define VIA_PAGES_BYTES		(PAGE_SIZE << VIA_PAGES_ORDER)
#define VIA_PAGES_LEAST		2048u	/* of one, which are worth a piece */

/**
 * struct via_pages - of one CPU
 * @page:	each with a reference, or NULL
 * @at:		index of the one that pieces are taken from
 * @used:	bytes of it
 */
struct via_pages {
	struct page *page[VIA_PAGES];
	u32 at;
	u32 used;
};

/*
 * The first page whose frames are gone (nothing but this reference), so that as
 * many are in use as there are frames on their way; else one more, or another
 * one in place of the next.
 */
static noinline bool via_pages_next(struct via_pages *p)
{
	u32 i;

	p->used = 0;
	for (i = 0; i < VIA_PAGES && p->page[i]; i++) {
		if (page_ref_count(p->page[i]) == 1) {
			p->at = i;
			return true;
		}
	}
	p->at = i < VIA_PAGES ? i : (p->at + 1) % VIA_PAGES;
	if (p->page[p->at])
		put_page(p->page[p->at]);
	p->page[p->at] = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN |
				     __GFP_NORETRY | __GFP_NOMEMALLOC,
				     VIA_PAGES_ORDER);
	return p->page[p->at];
}

/*
 * Room for @len bytes, not more than a page has, behind the last piece, or NULL.
 * Nothing holds it until it is taken: the next call gives the same room.
 */
static inline void *via_pages_room(struct via_pages *p, u32 len)
{
	if (unlikely(!p->page[p->at] || p->used + len > VIA_PAGES_BYTES) &&
	    !via_pages_next(p))
		return NULL;
	return page_address(p->page[p->at]) + p->used;
}

/* Bytes behind the last piece, in its page. */
static inline u32 via_pages_left(const struct via_pages *p)
{
	return VIA_PAGES_BYTES - p->used;
}

/* A piece with a reference of its own, or NULL. */
static inline void *via_pages_take(struct via_pages *p, u32 size)
{
	void *data;

	p->used = SKB_DATA_ALIGN(p->used);
	data = via_pages_room(p, size);
	if (unlikely(!data))
		return NULL;
	p->used += size;
	get_page(p->page[p->at]);
	return data;
}

/* How many of @want bytes lie in a row: in what the page has left, or in the next. */
static inline u32 via_pages_row(const struct via_pages *p, u32 want)
{
	u32 left = VIA_PAGES_BYTES - p->used;

	if (!p->page[p->at] || left < VIA_PAGES_LEAST)
		left = VIA_PAGES_BYTES;
	return min_t(u32, want, left);
}

/*
 * The room that was given last, @len bytes of it, is the end of @skb, which has a
 * fragment to spare.  Pieces that lie in a row are one fragment.
 */
static inline void via_pages_append(struct via_pages *p, struct sk_buff *skb,
				    u32 len)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	struct page *page = p->page[p->at];
	u32 n = info->nr_frags;

	if (likely(skb_can_coalesce(skb, n, page, p->used))) {
		skb_frag_size_add(&info->frags[n - 1], len);
	} else {
		get_page(page);
		skb_fill_page_desc(skb, n, page, p->used, len);
	}
	p->used += len;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/*
 * A frame with room for @len bytes behind @headroom, its data at their border:
 * in a piece, or as the allocator has it, or NULL.
 */
static inline struct sk_buff *via_pages_frame(struct via_pages __percpu *pages,
					      u32 headroom, u32 len)
{
	u32 size = SKB_DATA_ALIGN(headroom + len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct sk_buff *skb;
	void *data = NULL;

	if (likely(size <= VIA_PAGES_BYTES))
		data = via_pages_take(this_cpu_ptr(pages), size);
	if (unlikely(!data)) {
		skb = alloc_skb(headroom + len, GFP_ATOMIC | __GFP_NOWARN);
	} else {
		skb = napi_build_skb(data, size);
		if (unlikely(!skb))
			skb_free_frag(data);
	}
	if (likely(skb))
		skb_reserve(skb, headroom);
	return skb;
}

/* No frame is taken any more; what is on its way keeps its page. */
static inline void via_pages_end(struct via_pages __percpu *pages)
{
	struct via_pages *p;
	int cpu;
	u32 i;

	for_each_possible_cpu(cpu) {
		p = per_cpu_ptr(pages, cpu);
		for (i = 0; i < VIA_PAGES; i++)
			if (p->page[i])
				put_page(p->page[i]);
	}
}

#endif /* _VIA_PAGES_H */

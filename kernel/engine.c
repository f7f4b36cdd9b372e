// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The software VI engine: snapshot and check a descriptor, gather, scatter,
 * place RDMA, complete.
 *
 *  1. Everything in a slot or behind a descriptor's address is written by the
 *     program while we read it.  So each word is read once, into memory of ours,
 *     and only the copy is checked and used.
 *  2. Segments are checked against the region table whenever bytes move, because
 *     the program may deregister in between.  A check at load time only serves to
 *     find errors before the first frame of a long message leaves.
 *  3. From head to next descriptors are loaded: up to VIA_INFLIGHT of a send queue,
 *     one of a receive queue.  They complete in order, the one at head first.
 *  4. A tail that is out of range posts nothing, and breaks the connection.
 *  5. BUSY is cleared before the last look at the tail: either the poster sees that
 *     it is clear and rings, or we see its descriptor.
 *
 *  a descriptor that is     becomes      by
 *  posted                   loaded       via_send_load(), via_recv_load()
 *  loaded                   in frames    via_gather(), ..._frags(), ..._pages()
 *  loaded                   filled       via_scatter(), via_read_scatter()
 *  loaded                   complete     via_send_complete(), via_recv_complete()
 *  posted, a bad receive    complete     via_recv_scan()
 *  posted or loaded         flushed      via_queue_flush(), queue.c
 *  loaded, of an Idle VI    posted       via_queue_unload(), queue.c
 */

#include <linux/export.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "ends.h"
#include "engine.h"
#include "file.h"
#include "kapi.h"
#include "kmem.h"
#include "memory.h"
#include "queue.h"
#include "via_trace.h"
#include "vi.h"

/*
 * Up to this many bytes a send is one frame on any medium: gathering finds a
 * bad segment before anything has left, so it is not checked at load as well.
 */
#define VIA_CHECK_AT_GATHER 1024u

struct via_seg *via_desc_walk(struct via_desc *d, u32 off, u32 *seg_off)
{
	struct via_seg *segs = via_desc_segs(d);

	if (off < d->cur_off) {
		d->cur_off = 0;
		d->cur_seg = 0;
	}
	while (d->cur_seg < d->nsegs &&
	       off - d->cur_off >= segs[d->cur_seg].len) {
		d->cur_off += segs[d->cur_seg].len;
		d->cur_seg++;
	}
	if (d->cur_seg >= d->nsegs)
		return NULL;
	*seg_off = off - d->cur_off;
	return &segs[d->cur_seg];
}

void *via_vi_memory(struct via_vi *vi, size_t bytes)
{
	struct mem_cgroup *old = set_active_memcg(vi->file->memcg);
	void *p;

	/* Whatever runs here just now. */
	p = kmalloc(bytes, GFP_ATOMIC | __GFP_NOWARN | __GFP_ACCOUNT);
	set_active_memcg(old);
	return p;
}
EXPORT_SYMBOL_GPL(via_vi_memory);

/*
 * Bring in the segments beyond the slot.  The slot's own two count as read;
 * the rest is read now, once, from the descriptor (which has been checked).
 */
static enum via_status via_desc_load_more(struct via_vi *vi, struct via_desc *d)
{
	u32 count = d->seg_count;
	struct via_region *r;
	struct via_seg *segs;
	u32 i;

	segs = via_vi_memory(vi, array_size(count, sizeof(*segs)));
	if (!segs)
		return VIA_ST_TRANSPORT_ERROR;
	r = via_local_region(vi, d->handle, d->addr, via_desc_bytes(count));
	if (!r) {
		kfree(segs);
		return VIA_ST_PROTECTION_ERROR;
	}
	memcpy(segs, d->seg, sizeof(d->seg));
	via_region_copy(r, d->addr + sizeof(struct via_slot),
			segs + VIA_DESC_INLINE,
			(count - VIA_DESC_INLINE) * sizeof(*segs), false);
	/* A 32-bit program leaves the upper half of an address as it was. */
	for (i = VIA_DESC_INLINE; vi->file->compat && i < count; i++)
		segs[i].addr = (u32)segs[i].addr;
	d->more = segs;
	return 0;
}

/* The peer names memory that is in no region. */
static noinline enum via_status via_rdma_other(struct via_vi *vi, u32 handle,
					       u64 addr, u32 len, void *buf,
					       bool store)
{
	struct via_seg seg = { .addr = addr, .handle = handle, .len = len };

	return via_kmem_serve(vi, &seg, buf, store);
}

static bool via_local_ok(struct via_vi *vi, const struct via_seg *seg)
{
	return via_local_region(vi, seg->handle, seg->addr, seg->len) ||
	       !via_kmem_move(vi, seg, 0, seg->len, NULL, false);
}

static enum via_status via_desc_check_segs(struct via_vi *vi,
					   struct via_desc *d)
{
	const struct via_seg *segs = via_desc_segs(d);
	u32 i;

	for (i = 0; i < d->nsegs; i++)
		if (segs[i].len && !via_local_ok(vi, &segs[i]))
			return VIA_ST_PROTECTION_ERROR;
	return 0;
}

enum via_status via_send_check(struct via_vi *vi, struct via_desc *d)
{
	lockdep_assert_held(&vi->sq.lock);
	return via_desc_check_segs(vi, d);
}

/* Anything but a plain send or receive of few segments. */
static noinline enum via_status via_desc_load_slow(struct via_vi *vi,
						   struct via_desc *d,
						   bool recv)
{
	enum via_status st = via_desc_reserved(d);

	if (!st && via_desc_is_rdma(d))
		st = via_desc_rdma(d, recv, vi->nic->limits.rdma_read &
					    vi->attrs.reliability);
	if (!st && d->seg_count > VIA_DESC_INLINE)
		st = via_desc_load_more(vi, d);
	return !st && via_desc_address(d) ? via_desc_check_segs(vi, d) : st;
}

/* Its lengths, and of a long send its segments. */
static void via_desc_check_loaded(struct via_vi *vi, struct via_desc *d,
				  bool recv)
{
	if (likely(!d->status))
		d->status = via_desc_length(d, recv, &vi->attrs);
	if (!d->status && d->length > VIA_CHECK_AT_GATHER && !recv)
		d->status = via_desc_check_segs(vi, d);
}

/* Fill a private descriptor from the slot at an index; sets d->status. */
static void via_desc_load(struct via_vi *vi, struct via_queue *q, u32 index,
			  struct via_desc *d)
{
	if (unlikely(via_queue_is_kernel(q))) {
		via_kernel_load(vi, q, index, d);
		via_desc_check_loaded(vi, d, q->recv);
		return;
	}
	memcpy(d, &q->slots[index & q->mask], sizeof(struct via_slot));
	/* (1): no second look at the slot. */
	barrier();

	d->more = NULL;
	d->cur_off = 0;
	d->cur_seg = 0;
	d->status = via_desc_begin(d);
	if (likely(!d->status)) {
		if (unlikely(!via_local_region(vi, d->handle, d->addr,
					       via_desc_bytes(d->seg_count))))
			d->status = via_desc_foreign(d);
		else if (unlikely(!via_desc_is_plain(d)))
			d->status = via_desc_load_slow(vi, d, q->recv);
		via_desc_check_loaded(vi, d, q->recv);
	}
	if (trace_via_post_enabled())
		trace_via_post(vi, q, via_desc_op(d->control, q->recv) >> 16,
			       d);
	if (unlikely(d->bad_post))
		via_vi_error(vi, VIA_ERR_POST_DESC,
			     via_desc_op(d->control, q->recv) >> 16, d->addr);
}

/*
 * As via_queue_posted(); where nothing is, a consumer in the kernel may find more in
 * memory of its program.
 */
static __always_inline bool via_desc_posted(struct via_vi *vi,
					    struct via_queue *q, u32 *n)
{
	if (unlikely(!via_queue_posted(q, n)))
		return false;
	if (!*n && unlikely(via_queue_is_kernel(q)))
		*n = via_kernel_scan(vi, q);
	return true;
}

struct via_desc *via_send_load(struct via_vi *vi, struct via_work *work)
{
	struct via_queue *q = &vi->sq;
	struct via_desc *d;
	u32 n;

	lockdep_assert_held(&q->lock);
	/* (3) */
	if (via_send_full(vi))
		return NULL;
	/* (4) */
	if (unlikely(!via_desc_posted(vi, q, &n))) {
		via_vi_break_later(vi, VIA_BROKEN_TELL);
		return NULL;
	}
	/* Whether it is good or not: that is known when the work is done. */
	if (!n || unlikely(!via_work_visit(work)))
		return NULL;
	d = via_queue_entry(q, q->next);
	via_desc_load(vi, q, q->next, d);
	q->next++;
	return d;
}
EXPORT_SYMBOL_GPL(via_send_load);

struct via_desc *via_send_entry(struct via_vi *vi, u32 index)
{
	return via_queue_entry(&vi->sq, index);
}
EXPORT_SYMBOL_GPL(via_send_entry);

bool via_send_full(const struct via_vi *vi)
{
	return vi->sq.next - vi->sq.head >= VIA_INFLIGHT;
}
EXPORT_SYMBOL_GPL(via_send_full);

void via_send_complete(struct via_vi *vi, enum via_status status, u32 length)
{
	struct via_desc *d = via_queue_entry(&vi->sq, vi->sq.head);

	if (unlikely(d->control & VIA_CTL_OP_MASK))
		status |= via_desc_op(d->control, false);
	via_queue_complete(vi, &vi->sq, status, length, 0);
}
EXPORT_SYMBOL_GPL(via_send_complete);

bool via_send_sleep(struct via_vi *vi)
{
	struct via_queue *q = &vi->sq;
	u32 n;

	lockdep_assert_held(&q->lock);
	if (!(q->kern->flags & VIA_Q_BUSY))
		return false;
	WRITE_ONCE(q->kern->flags, 0);
	/* (5): pairs with the poster's barrier between tail and flags. */
	smp_mb();
	return via_desc_posted(vi, q, &n) && n;
}
EXPORT_SYMBOL_GPL(via_send_sleep);

void via_send_busy(struct via_vi *vi)
{
	lockdep_assert_held(&vi->sq.lock);
	WRITE_ONCE(vi->sq.kern->flags, VIA_Q_BUSY);
}
EXPORT_SYMBOL_GPL(via_send_busy);

/* Several segments, or the end of the only one. */
static noinline enum via_status via_move_segs(struct via_vi *vi,
					      struct via_desc *d, u32 off,
					      u32 len, void *buf,
					      bool to_region)
{
	struct via_region *r;
	struct via_seg *seg;
	u32 n, seg_off;

	while (len) {
		seg = via_desc_seg(d, off, &seg_off);
		if (unlikely(!seg))
			return VIA_ST_LENGTH_ERROR;
		n = min(len, seg->len - seg_off);
		r = via_local_region(vi, seg->handle, seg->addr + seg_off, n);
		if (likely(r))
			via_region_copy(r, seg->addr + seg_off, buf, n,
					to_region);
		else if (via_kmem_move(vi, seg, seg_off, n, buf, to_region))
			return VIA_ST_PROTECTION_ERROR;
		off += n;
		buf += n;
		len -= n;
	}
	return 0;
}

static __always_inline enum via_status via_move_bytes(struct via_vi *vi,
						      struct via_desc *d,
						      u32 off, u32 len,
						      void *buf, bool to_region)
{
	struct via_seg *seg = &d->seg[0];
	u64 addr = seg->addr + off;
	struct via_region *r;

	if (unlikely(d->nsegs != 1 || off > seg->len || len > seg->len - off))
		return via_move_segs(vi, d, off, len, buf, to_region);
	if (unlikely(!len))
		return 0;
	r = via_local_region(vi, seg->handle, addr, len);
	if (unlikely(!r))
		return via_kmem_move(vi, seg, off, len, buf, to_region);
	via_region_copy(r, addr, buf, len, to_region);
	return 0;
}

enum via_status via_gather(struct via_vi *vi, struct via_desc *d, u32 off,
			   u32 len, void *dst)
{
	lockdep_assert_held(&vi->sq.lock);
	return via_move_bytes(vi, d, off, len, dst, false);
}
EXPORT_SYMBOL_GPL(via_gather);

/* Add what lies at @addr of a region that was checked; false: too many. */
static __always_inline bool via_region_frags(struct via_region *r, u64 addr,
					     u32 len, struct via_frags *frags)
{
	struct via_frag *last = NULL;
	dma_addr_t dma;
	u32 n;

	if (unlikely(!READ_ONCE(r->map.on)))
		return false;
	for (; len; len -= n, addr += n) {
		n = len;
		dma = via_region_dma(r, addr, &n);
		/*
		 * With a table (behind an IOMMU) pages are mapped apart, and a
		 * transfer across two mappings is none that the DMA API allows.
		 */
		if (last && !r->map.dma && last->dma + last->len == dma) {
			last->len += n;
			continue;
		}
		if (unlikely(frags->n == VIA_FRAGS_MAX))
			return false;
		last = &frags->frag[frags->n++];
		*last = (struct via_frag){
			.dma = dma, .len = n, .map = &r->map,
		};
	}
	return true;
}

static noinline bool via_frags_segs(struct via_vi *vi, struct via_desc *d,
				    u32 off, u32 len, struct via_frags *frags)
{
	struct via_region *r;
	struct via_seg *seg;
	u32 n, seg_off;

	for (; len; len -= n, off += n) {
		seg = via_desc_seg(d, off, &seg_off);
		if (unlikely(!seg))
			return false;
		n = min(len, seg->len - seg_off);
		r = via_local_region(vi, seg->handle, seg->addr + seg_off, n);
		if (!r || !via_region_frags(r, seg->addr + seg_off, n, frags))
			return false;
	}
	return true;
}

bool via_gather_frags(struct via_vi *vi, struct via_desc *d, u32 off, u32 len,
		      struct via_frags *frags)
{
	struct via_seg *seg = &d->seg[0];
	u64 addr = seg->addr + off;
	struct via_region *r;

	lockdep_assert_held(&vi->sq.lock);
	frags->n = 0;
	if (unlikely(d->nsegs != 1 || off > seg->len || len > seg->len - off))
		return via_frags_segs(vi, d, off, len, frags);
	r = via_local_region(vi, seg->handle, addr, len);
	return likely(r) && via_region_frags(r, addr, len, frags);
}
EXPORT_SYMBOL_GPL(via_gather_frags);

/* Of a piece of a segment. */
static bool via_seg_pages(struct via_vi *vi, const struct via_seg *seg, u32 off,
			  u32 len, struct via_page_frags *pages)
{
	struct via_region *r = via_local_region(vi, seg->handle,
						seg->addr + off, len);

	return r ? via_region_pages(r, seg->addr + off, len, pages) :
		   via_kmem_pages(vi, seg, off, len, false, pages);
}

bool via_gather_pages(struct via_vi *vi, struct via_desc *d, u32 off, u32 len,
		      struct via_page_frags *pages)
{
	struct via_seg *seg;
	u32 n, seg_off;

	lockdep_assert_held(&vi->sq.lock);
	pages->n = 0;
	for (; len; len -= n, off += n) {
		seg = via_desc_seg(d, off, &seg_off);
		if (unlikely(!seg))
			goto none;
		n = min(len, seg->len - seg_off);
		if (!via_seg_pages(vi, seg, seg_off, n, pages))
			goto none;
	}
	return true;
none:
	via_page_frags_put(pages);
	return false;
}
EXPORT_SYMBOL_GPL(via_gather_pages);

enum via_status via_read_scatter(struct via_vi *vi, struct via_desc *d, u32 off,
				 const void *src, u32 len)
{
	lockdep_assert_held(&vi->sq.lock);
	return via_move_bytes(vi, d, off, len, (void *)src, true);
}
EXPORT_SYMBOL_GPL(via_read_scatter);

enum via_status via_scatter(struct via_vi *vi, struct via_desc *d, u32 off,
			    const void *src, u32 len)
{
	lockdep_assert_held(&vi->rq.lock);
	return via_move_bytes(vi, d, off, len, (void *)src, true);
}
EXPORT_SYMBOL_GPL(via_scatter);

struct via_desc *via_recv_load(struct via_vi *vi)
{
	struct via_queue *q = &vi->rq;
	struct via_desc *d = q->ring;
	u32 n;

	lockdep_assert_held(&q->lock);
	if (q->next != q->head)
		return d;
	if (unlikely(!via_desc_posted(vi, q, &n))) {
		via_vi_break_later(vi, VIA_BROKEN_TELL);
		return NULL;
	}
	if (!n)
		return NULL;
	via_desc_load(vi, q, q->next, d);
	q->next++;
	return d;
}
EXPORT_SYMBOL_GPL(via_recv_load);

/* Behind each message that is received there may be as many as the queue has. */
#define VIA_RECV_SCAN	8u

void via_vi_scan_later(struct via_vi *vi)
{
	lockdep_assert_held(&vi->rq.lock);
	kref_get(&vi->ref);
	/* The caller has another reference, or is an RCU reader. */
	if (!via_scan_queue(&vi->scan))
		via_vi_put(vi);
}

static noinline void via_recv_scan_some(struct via_vi *vi)
{
	struct via_work work = VIA_WORK(VIA_RECV_SCAN);

	if (via_recv_scan(vi, &work))
		via_vi_scan_later(vi);
}

void via_recv_complete(struct via_vi *vi, enum via_status status, u32 length,
		       u32 immediate)
{
	struct via_queue *q = &vi->rq;

	if (!(status & VIA_ST_OP_MASK))
		status |= VIA_ST_OP_RECEIVE;
	via_queue_complete(vi, q, status, length, immediate);
	if (unlikely((s32)(q->check - q->head) > 0))
		via_recv_scan_some(vi);
}
EXPORT_SYMBOL_GPL(via_recv_complete);

bool via_recv_scan(struct via_vi *vi, struct via_work *work)
{
	struct via_queue *q = &vi->rq;
	struct via_desc *d;

	lockdep_assert_held(&q->lock);
	while ((s32)(q->check - q->head) > 0) {
		if (!via_work_visit(work))
			return true;
		d = via_recv_load(vi);
		if (!d || !d->bad_post)
			return false;
		if (vi->state == VIA_STATE_CONNECTED && via_vi_reliable(vi))
			via_vi_break_later(vi, VIA_BROKEN_TELL);
		via_queue_complete(vi, q, d->status | VIA_ST_OP_RECEIVE, 0, 0);
	}
	return false;
}

/* The region, if the peer of this VI may do that with it. */
static __always_inline struct via_region *
via_rdma_region(struct via_vi *vi, u32 right, u32 handle, u64 addr, u64 len)
{
	struct via_region *r;

	if (!(vi->attrs.rights & right))
		return NULL;
	r = via_local_region(vi, handle, addr, len);
	return r && r->rights & right ? r : NULL;
}

enum via_status via_rdma_check(struct via_vi *vi, u32 handle, u64 addr, u64 len)
{
	lockdep_assert_held(&vi->rq.lock);
	return likely(via_rdma_region(vi, VIA_RDMA_WRITE, handle, addr, len)) ?
	       0 : via_rdma_other(vi, handle, addr, len, NULL, true);
}
EXPORT_SYMBOL_GPL(via_rdma_check);

enum via_status via_rdma_place(struct via_vi *vi, u32 handle, u64 addr,
			       const void *src, u32 len)
{
	struct via_region *r;

	lockdep_assert_held(&vi->rq.lock);
	r = via_rdma_region(vi, VIA_RDMA_WRITE, handle, addr, len);
	if (unlikely(!r))
		return via_rdma_other(vi, handle, addr, len, (void *)src, true);
	via_region_copy(r, addr, (void *)src, len, true);
	return 0;
}
EXPORT_SYMBOL_GPL(via_rdma_place);

/* (2): either queue lock keeps a region from going away. */
static void via_assert_either(struct via_vi *vi)
{
	lockdep_assert(lockdep_is_held(&vi->sq.lock) ||
		       lockdep_is_held(&vi->rq.lock));
}

enum via_status via_read_check(struct via_vi *vi, u32 handle, u64 addr, u64 len)
{
	via_assert_either(vi);
	return likely(via_rdma_region(vi, VIA_RDMA_READ, handle, addr, len)) ?
	       0 : via_rdma_other(vi, handle, addr, len, NULL, false);
}
EXPORT_SYMBOL_GPL(via_read_check);

enum via_status via_read_fetch(struct via_vi *vi, u32 handle, u64 addr,
			       void *dst, u32 len)
{
	struct via_region *r;

	via_assert_either(vi);
	r = via_rdma_region(vi, VIA_RDMA_READ, handle, addr, len);
	if (unlikely(!r))
		return via_rdma_other(vi, handle, addr, len, dst, false);
	if (len)
		via_region_copy(r, addr, dst, len, false);
	return 0;
}
EXPORT_SYMBOL_GPL(via_read_fetch);

bool via_read_frags(struct via_vi *vi, u32 handle, u64 addr, u32 len,
		    struct via_frags *frags)
{
	struct via_region *r;

	lockdep_assert_held(&vi->sq.lock);
	frags->n = 0;
	r = via_rdma_region(vi, VIA_RDMA_READ, handle, addr, len);
	return r && via_region_frags(r, addr, len, frags);
}
EXPORT_SYMBOL_GPL(via_read_frags);

bool via_read_pages(struct via_vi *vi, u32 handle, u64 addr, u32 len,
		    struct via_page_frags *pages)
{
	struct via_seg seg = { .addr = addr, .handle = handle, .len = len };
	struct via_region *r;
	bool ok;

	lockdep_assert_held(&vi->sq.lock);
	pages->n = 0;
	r = via_rdma_region(vi, VIA_RDMA_READ, handle, addr, len);
	ok = r ? via_region_pages(r, addr, len, pages) :
		 via_kmem_pages(vi, &seg, 0, len, true, pages);
	if (!ok)
		via_page_frags_put(pages);
	return ok;
}
EXPORT_SYMBOL_GPL(via_read_pages);

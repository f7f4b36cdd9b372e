/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory shared with the program, and the work queues in it.  What functions
 * return: see via_ka.h.
 */
#ifndef _VIA_QUEUE_H
#define _VIA_QUEUE_H

#include "via_ka.h"

/*
 * Accounted, zeroed pages under one kernel mapping, or NULL.  All three may
 * sleep.  free takes NULL as well; pages that the program has mapped stay until
 * it has not.  mmap: mmap_lock held, 0 or -errno.
 */
void *via_shared_alloc(size_t size, struct page ***pages);
void via_shared_free(void *addr, struct page **pages, size_t size);
int via_shared_mmap(struct vm_area_struct *vma, struct page **pages,
		    size_t size);

/*
 * 0 or -ENOMEM.  May sleep.  @kernel: without slots and completion words, of which @sh
 * has none; else with rings of VIA_VI_FEW behind @sh.  free: no reader is left, @q may
 * have failed to be made.
 */
int via_queue_init(struct via_queue *q, struct via_vi_shared *sh, bool recv,
		   bool kernel);
void via_queue_free(struct via_queue *q);

/**
 * struct via_ring - a longer ring for a queue
 * @entries:	slots, a power of two, more than the queue has
 * @slots:	where they are
 * @comp:	and their completion words
 * @loaded:	room for VIA_INFLIGHT loaded descriptors of a send queue; NULL: it has
 *		that already, or receives
 */
struct via_ring {
	u32 entries;
	struct via_slot *slots;
	struct via_completion *comp;
	struct via_desc *loaded;
};

/*
 * From here on the queue has this ring, with what the old one had; @r->loaded is for
 * kfree().  q->lock held, BH off.
 */
void via_queue_lengthen(struct via_queue *q, struct via_ring *r);

/* Forget what was loaded and not completed; q->lock held, nothing in flight. */
void via_queue_unload(struct via_queue *q);
/*
 * Complete the descriptor at the head, loaded or not, and wake those that
 * sleep on it; q->lock held, BH off.  @status without DONE.
 */
void via_queue_complete(struct via_vi *vi, struct via_queue *q,
			enum via_status status, u32 length, u32 immediate);
/*
 * Complete all that is posted as flushed; q->lock held, BH off, the new state
 * is stored.
 */
void via_queue_flush(struct via_vi *vi, struct via_queue *q);

/*
 * Descriptors posted and not loaded, as the program says it; false when its
 * tail is out of range.
 */
static inline bool via_queue_posted(const struct via_queue *q, u32 *n)
{
	u32 tail;

	/* Pairs with the program's store-release: slots below are filled. */
	tail = smp_load_acquire(&q->prog->tail);
	*n = tail - q->next;
	return tail - q->head <= q->entries && *n <= q->entries;
}

/* The in-flight entry of an index; q->lock held. */
static inline struct via_desc *via_queue_entry(struct via_queue *q, u32 index)
{
	return &q->ring[index & q->ring_mask];
}

#endif

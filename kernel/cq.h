/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef _VIA_CQ_H
#define _VIA_CQ_H

#include "file.h"

/**
 * struct via_cq_ring - where the entries of a completion queue lie
 *
 * The first one of a CQ begins with the page that program and kernel share;
 * one that VIA_IOC_CQ_RESIZE made has entries only.
 *
 * @ref:	the CQ, a call that maps it just now
 * @quota:	constant: its pages are charged to; outlives every ring
 * @pages:	constant
 * @mem:	constant: kernel address of all of it
 * @size:	constant: bytes of all of it
 * @slots:	constant: its entries, shared with the program
 * @entries:	constant: a power of two
 */
struct via_cq_ring {
	struct kref ref;
	struct via_quota *quota;
	struct page **pages;
	void *mem;
	size_t size;
	struct via_cq_entry *slots;
	u32 entries;
};

/**
 * struct via_cq - a completion queue
 * @ref:	the file, attached queues, sleepers
 * @id:		constant
 * @nic:	constant: while a reference other than a mapping's is held
 * @queues:	file->mutex: attached work queues
 * @page:	constant: the page of @shared, a reference is held
 * @shared:	constant: its kernel address; it outlives every ring
 * @resize_mutex: one step of a resize at a time
 * @lock:	guards the rest
 * @entries:	of the ring now in use: a power of two
 * @slots:	of the ring now in use
 * @ring:	now in use, a reference is held
 * @spare:	the one to use next, if prepared, a reference is held; resize_mutex
 *		too to write
 * @resizing:	entries are being taken back: none is added meanwhile
 * @tail:	next ring place to write
 * @seq:	next sequence number of a completion
 * @waiting:	queues with completions that are not in the ring, the one whose
 *		notice is due first leftmost
 * @dead:	destroyed; sleepers leave
 * @sleepers:	threads asleep until the queue moves, and @notice
 * @notice:	VIA_OP_NOTIFY_CQ
 */
struct via_cq {
	struct kref ref;
	u32 id;
	struct via_nic *nic;
	u32 queues;
	struct page *page;
	struct via_cq_shared *shared;
	struct mutex resize_mutex;
	spinlock_t lock;
	u32 entries;
	struct via_cq_entry *slots;
	struct via_cq_ring *ring;
	struct via_cq_ring *spare;
	bool resizing;
	u32 tail;
	u32 seq;
	struct rb_root_cached waiting;
	bool dead;
	struct hlist_head sleepers;
	struct via_notice notice;
};

int via_cq_create(struct via_file *f, struct via_cq_create *arg);
int via_cq_destroy(struct via_file *f, u32 id);
void via_cq_destroy_all(struct via_file *f);
struct via_cq *via_cq_get(struct via_file *f, u32 id);
void via_cq_put(struct via_cq *cq);
int via_cq_attach(struct via_file *f, struct via_queue *q, u32 id);
/* Nothing completes on the queue any more: it is dead, or was never found. */
void via_cq_detach(struct via_file *f, struct via_queue *q);
int via_cq_mmap(struct via_file *f, u32 id, bool spare,
		struct vm_area_struct *vma);
/* VIA_IOC_CQ_RESIZE; no lock held. */
int via_cq_resize(struct via_file *f, struct via_cq_resize *arg);

/* Publish the completion word at q->head and its notice; q->lock held. */
void via_cq_publish(struct via_vi *vi, struct via_queue *q);
/* Are there completions without a notice in the ring?  cq->lock held. */
static inline bool via_cq_overflown(const struct via_cq *cq)
{
	return !RB_EMPTY_ROOT(&cq->waiting.rb_root);
}

/* VIA_OP_CQ: 0, VIA_TRAP_MORE or -errno. */
int via_cq_refill(struct via_file *f, u32 id);

#endif

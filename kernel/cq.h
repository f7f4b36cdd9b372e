/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Completion queues.
 *
 * int is a call's result, VIA_R_* or -errno, but for via_cq_mmap() and
 * via_cq_refill(); the other conventions are in via_ka.h.
 */
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
 * @queues:	file->mutex to write: attached work queues
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

/**
 * via_cq_create() - VIA_IOC_CQ_CREATE
 * @f:		its mutex is held; the handle is alive
 * @arg:	entries wanted; gets the id, the entries and bytes to be mapped
 *
 * May sleep.  The reference is the file's until via_cq_destroy().
 *
 * Return: a call's result: 0, VIA_R_INVALID_PARAMETER or VIA_R_ERROR_RESOURCE.
 */
int via_cq_create(struct via_file *f, struct via_cq_create *arg);

/**
 * via_cq_destroy() - VIA_IOC_CQ_DESTROY
 * @f:		its mutex is held
 * @id:		of the CQ
 *
 * Sleepers leave, its notice is cancelled, the file's reference is dropped.
 * May sleep.
 *
 * Return: a call's result: 0, VIA_R_INVALID_PARAMETER (no such CQ), or
 * VIA_R_ERROR_RESOURCE (work queues are attached).
 */
int via_cq_destroy(struct via_file *f, u32 id);

/* All CQs of a handle that ends; its VIs are gone.  file->mutex held. */
void via_cq_destroy_all(struct via_file *f);

/* The file's CQ by id, with a reference, or NULL.  Process context. */
struct via_cq *via_cq_get(struct via_file *f, u32 id);
/* The last reference frees the rings, which may sleep. */
void via_cq_put(struct via_cq *cq);

/**
 * struct via_cq_view - a completion queue as an administrator is told of it
 * @id:		of the CQ
 * @entries:	of its ring
 * @used:	entries not collected, as the program says it
 * @queues:	work queues attached, a moment ago
 */
struct via_cq_view {
	u32 id;
	u32 entries;
	u32 used;
	u32 queues;
};

/*
 * The first CQ with an id of @from or more; false: there is none.  Process
 * context; file->mutex need not be held, and is not waited for.
 */
bool via_cq_next(struct via_file *f, u32 from, struct via_cq_view *view);

/**
 * via_cq_attach() - have a work queue complete into a CQ
 * @f:		its mutex is held
 * @q:		of a VI that is not published yet; @q->cq takes a reference
 * @id:		of the CQ, or 0: none
 *
 * Return: 0, or VIA_R_INVALID_PARAMETER: no such CQ.
 */
enum via_verdict via_cq_attach(struct via_file *f, struct via_queue *q, u32 id);

/**
 * via_cq_detach() - undo it
 * @f:		its mutex is held
 * @q:		dead, or of a VI that was never published: nothing completes on
 *		it any more
 *
 * Takes cq->lock; both queue locks may be held.  Drops the queue's reference,
 * which is not the last one: the file has its own.
 */
void via_cq_detach(struct via_file *f, struct via_queue *q);

/**
 * via_cq_mmap() - map the ring now in use
 * @f:		the handle; its mutex is not held, since mmap_lock is
 * @id:		of the CQ
 * @spare:	map the ring that a resize has prepared instead
 * @vma:	to be filled
 *
 * Return: 0, -EINVAL or what vm_map_pages() says.
 */
int via_cq_mmap(struct via_file *f, u32 id, bool spare,
		struct vm_area_struct *vma);

/**
 * via_cq_resize() - VIA_IOC_CQ_RESIZE, one step
 * @f:		the handle; no lock is held
 * @arg:	the step; PREPARE gets the entries and bytes to be mapped
 *
 * Takes cq->resize_mutex; may sleep.
 *
 * Return: a call's result: 0, VIA_R_INVALID_PARAMETER, VIA_R_ERROR_RESOURCE,
 * -EINVAL, or -EINTR (killed).
 */
int via_cq_resize(struct via_file *f, struct via_cq_resize *arg);

/**
 * via_cq_publish() - complete the descriptor at the head, and notify of it
 * @vi:		of the queue
 * @q:		its lock is held, BH off; @q->cq is not NULL
 *
 * The caller has filled in the completion word at q->head.  Advances q->head,
 * takes cq->lock, wakes those that sleep on the CQ.  Any context but hard
 * interrupts.
 */
void via_cq_publish(struct via_vi *vi, struct via_queue *q);

/* Are there completions without a notice in the ring?  cq->lock held. */
static inline bool via_cq_overflown(const struct via_cq *cq)
{
	return !RB_EMPTY_ROOT(&cq->waiting.rb_root);
}

/**
 * via_cq_refill() - VIA_OP_CQ: bring in completions that found no place
 * @f:		the handle
 * @id:		of the CQ
 *
 * Process context, no lock held; takes cq->lock.  Does not sleep.
 *
 * Return: 0, VIA_TRAP_MORE when work is left, or -EINVAL: no such CQ.
 */
int via_cq_refill(struct via_file *f, u32 id);

#endif

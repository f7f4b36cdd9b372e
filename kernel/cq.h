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
 * @ref:	the CQ, who maps it just now
 * @pages:	constant
 * @mem:	constant: kernel address of all of it
 * @size:	constant: bytes of all of it
 * @slots:	constant: its entries, shared with the program
 * @entries:	constant: a power of two
 */
struct via_cq_ring {
	struct kref ref;
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
 * @nic:	constant: while @ref is held by anyone but a mapping
 * @users:	file->mutex: attached work queues
 * @page:	constant: the page of @shared, a reference is held
 * @shared:	constant: its kernel address; it outlives every ring
 * @lock:	guards the rest
 * @entries:	of the ring now in use: a power of two
 * @slots:	of the ring now in use
 * @ring:	now in use, a reference is held
 * @spare:	the one to use next, if prepared, a reference is held
 * @tail:	next ring place to write
 * @seq:	next sequence number of a completion
 * @waiting:	queues with completions that are not in the ring
 * @dead:	destroyed; sleepers leave
 * @sleepers:	threads asleep until the queue moves, and @notice
 * @notice:	VIA_OP_NOTIFY_CQ
 */
struct via_cq {
	struct kref ref;
	u32 id;
	struct via_nic *nic;
	u32 users;
	struct page *page;
	struct via_cq_shared *shared;
	spinlock_t lock;
	u32 entries;
	struct via_cq_entry *slots;
	struct via_cq_ring *ring;
	struct via_cq_ring *spare;
	u32 tail;
	u32 seq;
	struct list_head waiting;
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
void via_cq_detach(struct via_file *f, struct via_queue *q);
int via_cq_mmap(struct via_file *f, u32 id, bool spare,
		struct vm_area_struct *vma);
/* VIA_IOC_CQ_RESIZE; no lock held. */
int via_cq_resize(struct via_file *f, struct via_cq_resize *arg);

/* Publish the completion word at q->head and its notice; q->lock held. */
void via_cq_publish(struct via_vi *vi, struct via_queue *q);
/* VIA_OP_CQ */
int via_cq_refill(struct via_file *f, u32 id);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef _VIA_CQ_H
#define _VIA_CQ_H

#include "file.h"

/**
 * struct via_cq - a completion queue
 * @ref:	the file, attached queues, sleepers
 * @id:		constant
 * @entries:	constant: a power of two
 * @users:	file->mutex: attached work queues
 * @lock:	guards the rest
 * @tail:	next ring place to write
 * @seq:	next sequence number of a completion
 * @waiting:	queues with completions that are not in the ring
 * @dead:	destroyed; sleepers leave
 * @sleepers:	threads asleep until the queue moves, and @notice
 * @notice:	VIA_OP_NOTIFY_CQ
 * @shared:	constant: the mapped area, kernel address
 * @ring:	constant: its entries
 * @pages:	constant
 */
struct via_cq {
	struct kref ref;
	u32 id;
	u32 entries;
	u32 users;
	spinlock_t lock;
	u32 tail;
	u32 seq;
	struct list_head waiting;
	bool dead;
	struct hlist_head sleepers;
	struct via_notice notice;
	struct via_cq_shared *shared;
	struct via_cq_entry *ring;
	struct page **pages;
};

int via_cq_create(struct via_file *f, struct via_cq_create *arg);
int via_cq_destroy(struct via_file *f, u32 id);
void via_cq_destroy_all(struct via_file *f);
struct via_cq *via_cq_get(struct via_file *f, u32 id);
void via_cq_put(struct via_cq *cq);
int via_cq_attach(struct via_file *f, struct via_queue *q, u32 id);
void via_cq_detach(struct via_file *f, struct via_queue *q);
int via_cq_mmap(struct via_file *f, u32 id, struct vm_area_struct *vma);

/* Publish the completion word at q->head and its notice; q->lock held. */
void via_cq_publish(struct via_vi *vi, struct via_queue *q);
/* VIA_OP_CQ */
int via_cq_refill(struct via_file *f, u32 id);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Consumers in the kernel, see via_kapi.h: what the agent does for them in places that
 * are a program's otherwise.  What functions return: see via_ka.h.
 */
#ifndef _VIA_KAPI_IMPL_H
#define _VIA_KAPI_IMPL_H

#include "file.h"
#include "via_kapi.h"

/**
 * struct via_kernel_vi - of a VI whose owner is a consumer in the kernel
 * @own:	constant
 * @vi:		constant
 * @dry:	sq.lock: a scan has found nothing more, and no doorbell has rung since
 * @settle:	has a reference to the VI while it is queued
 * @takes:	both queue locks: VIA_TAKES_* of the other end
 * @told:	both queue locks: @reply came with the answer to its attempt; else it
 *		goes with the answer that the VI is
 * @reply:	both queue locks
 * @fault:	enum via_kernel_fault: either queue lock, READ_ONCE() without
 */
struct via_kernel_vi {
	struct via_kernel_own own;
	struct via_vi *vi;
	bool dry;
	struct work_struct settle;
	u32 takes;
	bool told;
	struct via_reply reply;
	u32 fault;
};

static_assert(!offsetof(struct via_kernel_vi, own));

int via_kernel_init(void);
void via_kernel_exit(void);

/* For a VI that is being made; NULL: no memory.  kfree() frees it. */
struct via_kernel_vi *via_kernel_vi_alloc(struct via_vi *vi, void *priv);

/* Queues of such a VI have neither slots nor completion words. */
static inline bool via_queue_is_kernel(const struct via_queue *q)
{
	return !q->slots;
}

/* via_desc_load() of such a queue; its lock is held. */
void via_kernel_load(struct via_vi *vi, struct via_queue *q, u32 index,
		     struct via_desc *d);
/* Look for more that is posted; how much.  The queue's lock is held. */
u32 via_kernel_scan(struct via_vi *vi, struct via_queue *q);
/* The descriptor at the head has ended; its queue's lock is held. */
void via_kernel_complete(struct via_vi *vi, struct via_queue *q,
			 enum via_status status, u32 length, u32 immediate);
/* Queue locks are dropped; RCU read side or a reference. */
void via_kernel_settle(struct via_vi *vi);
/*
 * The same, from a work item: a context that has completed descriptors of its peer's on
 * this host has locks of its own, and settling one VI in another one's settling would
 * have no end.  Any context.
 */
void via_kernel_settle_later(struct via_vi *vi);
/* Its attempt begins, as an answer with @reply, if that is not NULL.  Both queue locks. */
void via_kernel_begin(struct via_vi *vi, const struct via_reply *reply);
/* Two VIs of this host are being joined, @server's reply goes along.  All four locks. */
void via_kernel_join(struct via_vi *server, struct via_vi *client);
/* The NIC is being unregistered; nic->mutex held. */
static inline void via_kernel_gone(struct via_file *f)
{
	if (f->kernel)
		f->kernel->gone(f);
}

#endif

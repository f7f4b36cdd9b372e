/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Receive queues. */
#ifndef _VR_RQ_H
#define _VR_RQ_H

#include "sq.h"
#include "srq.h"

/**
 * struct vr_rq - a receive queue
 * @buf:	constant: @ring
 * @ring:	constant: entries; of a program, its memory; with @srq, the one entry that
 *		was taken there
 * @srq:	constant: where receives come from instead, or NULL
 * @ids:	queue lock: of entries that the agent has loaded
 * @mask:	constant: entries - 1
 * @cq:		constant
 * @qp:		constant
 * @dev:	constant
 * @user:	constant: @ring is a program's
 * @put_lock:	consumers in the kernel that post
 * @put:	put_lock: entries written by such
 * @seen:	queue lock: entries that the agent was given
 * @loaded:	queue lock: entries that the agent has loaded
 * @done:	queue lock: entries complete
 * @withheld:	queue lock: the last of them, whose completions are not told yet
 * @work:	see there
 *
 * The queue lock is the agent's, of the VI's receive queue: via_kernel_lock().
 * done <= loaded <= seen <= done + entries or VR_POSTED, counted from 0 and wrapping.
 */
struct vr_rq {
	struct vr_buf buf;
	struct siw_rqe *ring;
	struct vr_srq *srq;
	u64 *ids;
	u32 mask;
	struct vr_cq *cq;
	struct ib_qp *qp;
	struct vr_dev *dev;
	bool user;
	spinlock_t put_lock;
	u32 put;
	u32 seen;
	u32 loaded;
	u32 done;
	u32 withheld;
	struct vr_work work;
};

/* Process context; init sleeps.  0 or -ENOMEM.  With rq->srq no program maps it. */
int vr_rq_init(struct vr_rq *rq, u32 entries, struct ib_udata *udata, u64 *key);
void vr_rq_free(struct vr_rq *rq);

/* A consumer in the kernel posts.  0, -ENOMEM (the ring is full) or -EINVAL. */
int vr_rq_post(struct vr_rq *rq, const struct ib_recv_wr *wr);

/*
 * Hooks; the agent's queue lock is held.  scan: how many more receives there are.
 * complete returns VR_TODO_*.
 */
u32 vr_rq_scan(struct vr_rq *rq);
void vr_rq_load(struct vr_rq *rq, struct via_desc *d);
u32 vr_rq_complete(struct vr_rq *rq, struct via_vi *vi,
		   const struct via_kernel_done *done);
/* It has completed, and its consumer is not told before the queue is flushed. */
void vr_rq_withhold(struct vr_rq *rq);
/* Complete all that the ring holds as flushed, if nothing is with the agent. */
u32 vr_rq_flush(struct vr_rq *rq);

/* Nothing that the agent has loaded is incomplete.  The agent's queue lock is held. */
static inline bool vr_rq_is_idle(const struct vr_rq *rq)
{
	return rq->loaded == rq->done;
}

#endif

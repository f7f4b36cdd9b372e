/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues: receives for several queue pairs. */
#ifndef _VR_SRQ_H
#define _VR_SRQ_H

#include <linux/spinlock.h>
#include "dev.h"
#include "map.h"

/**
 * struct vr_srq - a shared receive queue
 * @ib:		the RDMA core's part
 * @dev:	constant
 * @buf:	constant: @ring
 * @ring:	constant: entries; of a program, its memory
 * @mask:	constant: entries - 1
 * @put_lock:	consumers in the kernel that post
 * @put:	put_lock: entries written by such
 * @lock:	inside of the agent's queue locks
 * @taken:	lock: entries that queue pairs have taken
 * @limit:	lock: fewer receives than that are to be told; 0: nothing is
 * @low:	tells that
 */
struct vr_srq {
	struct ib_srq ib;
	struct vr_dev *dev;
	struct vr_buf buf;
	struct siw_rqe *ring;
	u32 mask;
	spinlock_t put_lock;
	u32 put;
	spinlock_t lock;
	u32 taken;
	u32 limit;
	struct work_struct low;
};

static inline struct vr_srq *vr_srq_of(struct ib_srq *ib)
{
	return container_of(ib, struct vr_srq, ib);
}

/*
 * A consumer in the kernel writes an entry; of any receive queue, whose put_lock is
 * held.  0, -ENOMEM (the entry is in use) or -EINVAL.
 */
int vr_put_receive(struct siw_rqe *r, const struct ib_recv_wr *wr);

/*
 * The oldest entry is copied to *to, and is free; false: there is none.
 * A queue lock of the agent's is held, so bottom halves are off.
 */
bool vr_srq_take(struct vr_srq *srq, struct siw_rqe *to);

int vr_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		  struct ib_udata *udata);
int vr_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);
int vr_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		  enum ib_srq_attr_mask mask, struct ib_udata *udata);
int vr_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr);
int vr_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad);

#endif

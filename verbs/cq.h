/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completion queues. */
#ifndef _VR_CQ_H
#define _VR_CQ_H

#include <linux/spinlock.h>
#include "dev.h"
#include "map.h"

/**
 * struct vr_cq - a completion queue
 * @ib:		the RDMA core's part
 * @buf:	constant: @ring and @ctrl
 * @ring:	constant: entries; VALID is set here and cleared by who polls
 * @ctrl:	constant: is it armed? written by both sides
 * @mask:	constant: entries - 1
 * @lock:	inside of the locks of work queues
 * @put:	lock: entries written
 * @get:	lock: entries polled, of a consumer in the kernel
 * @full:	lock: an entry did not fit
 * @overflow:	reports that
 */
struct vr_cq {
	struct ib_cq ib;
	struct vr_buf buf;
	struct siw_cqe *ring;
	struct siw_cq_ctrl *ctrl;
	u32 mask;
	spinlock_t lock;
	u32 put;
	u32 get;
	bool full;
	struct work_struct overflow;
};

static inline struct vr_cq *vr_cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct vr_cq, ib);
}

/* A new entry but for its flags; @inval_stag if it is not 0. */
struct vr_cqe {
	u64 id;
	struct ib_qp *qp;
	bool user;
	bool solicited;		/* a message whose sender said so, or an error */
	u8 opcode;		/* enum siw_opcode */
	u16 status;		/* enum siw_wc_status */
	u32 bytes;
	u32 inval_stag;
};

enum vr_cq_added {
	VR_CQ_QUIET,
	VR_CQ_ARMED,	/* for it: the caller calls vr_cq_notify() without locks */
	VR_CQ_LOST,	/* the CQ was full, now or before */
};

/* Add an entry.  BH off. */
enum vr_cq_added vr_cq_add(struct vr_cq *cq, const struct vr_cqe *e);
/* Any context without locks. */
void vr_cq_notify(struct vr_cq *cq);

int vr_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		 struct ib_udata *udata);
int vr_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int vr_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc);
int vr_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags what);

#endif

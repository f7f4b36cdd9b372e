/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Send queues. */
#ifndef _VR_SQ_H
#define _VR_SQ_H

#include "cq.h"
#include "mr.h"
#include "stat.h"

/* What the caller does when it has dropped all locks, see qp.h. */
#define VR_TODO_SEND_CQ	0x1u	/* vr_cq_notify() */
#define VR_TODO_RECV_CQ	0x2u
#define VR_TODO_RING	0x4u	/* the send queue was held: ring */
#define VR_TODO_BREAK	0x8u	/* the connection ends */
/* Events of the QP, the most telling one first: see docs/verbs.md. */
#define VR_TODO_ACCESS	0x10u	/* IB_EVENT_QP_ACCESS_ERR */
#define VR_TODO_REQUEST	0x20u	/* IB_EVENT_QP_REQ_ERR */
#define VR_TODO_FATAL	0x40u	/* IB_EVENT_QP_FATAL */
#define VR_TODO_LAST	0x80u	/* IB_EVENT_QP_LAST_WQE_REACHED, not of a fault */
#define VR_TODO_ALONE	0x100u	/* do sends wait, though the peer has left? */
#define VR_TODO_EVENTS	(VR_TODO_ACCESS | VR_TODO_REQUEST | VR_TODO_FATAL)

/**
 * struct vr_wr - a work request that was taken from the ring
 * @sqe:	copy; inline data lies behind its first segment
 * @sges:	NULL, or all segments of an entry of the kernel's that has more than
 *		SIW_MAX_SGE; the queue's, freed with the entry
 * @local:	registration or invalidation: nothing is sent
 * @status:	of a local one, enum siw_wc_status
 */
struct vr_wr {
	struct siw_sqe sqe;
	struct siw_sge *sges;
	bool local;
	u16 status;
};

/**
 * struct vr_sq - a send queue
 * @buf:	constant: @ring
 * @ring:	constant: entries; of a program, its memory
 * @sges:	of the kernel, each with its entry's: segments that @ring has no room
 *		for, see &struct vr_wr; NULL of a program
 * @wrs:	queue lock: copies of the entries that are under way
 * @mask:	constant: entries - 1
 * @copies:	constant: room in @wrs - 1
 * @cq:		constant
 * @qp:		constant
 * @dev:	constant
 * @user:	constant: @ring is a program's
 * @sig_all:	constant: all completions are reported
 * @put_lock:	consumers in the kernel that post
 * @put:	put_lock: entries written by such
 * @taken:	queue lock: entries taken from the ring
 * @loaded:	queue lock: entries up to the last one that the agent has loaded
 * @done:	queue lock: entries complete
 * @held:	queue lock: an entry is valid, but must wait for a completion
 * @work:	see there
 *
 * The queue lock is the agent's, of the VI's send queue: via_kernel_lock().
 * done <= loaded <= taken <= done + room in @wrs, counted from 0 and wrapping.
 */
struct vr_sq {
	struct vr_buf buf;
	struct siw_sqe *ring;
	struct siw_sge **sges;
	struct vr_wr *wrs;
	u32 mask;
	u32 copies;
	struct vr_cq *cq;
	struct ib_qp *qp;
	struct vr_dev *dev;
	bool user;
	bool sig_all;
	spinlock_t put_lock;
	u32 put;
	u32 taken;
	u32 loaded;
	u32 done;
	bool held;
	struct vr_work work;
};

/* Process context; init sleeps.  0 or -ENOMEM. */
int vr_sq_init(struct vr_sq *sq, u32 entries, struct ib_udata *udata, u64 *key);
void vr_sq_free(struct vr_sq *sq);

/* A consumer in the kernel posts.  0, -ENOMEM (also: the ring is full) or -EINVAL. */
int vr_sq_post(struct vr_sq *sq, const struct ib_send_wr *wr);

/*
 * Hooks; the agent's queue lock is held.  scan: how many more sends there are in *n, and
 * whether it left entries that are valid.  They return VR_TODO_*.
 */
u32 vr_sq_scan(struct vr_sq *sq, u32 *n, bool *more);
void vr_sq_load(struct vr_sq *sq, struct via_desc *d);
u32 vr_sq_complete(struct vr_sq *sq, const struct via_kernel_done *done);
/* Complete all that the ring holds as flushed, if nothing is with the agent. */
u32 vr_sq_flush(struct vr_sq *sq);

/* Does the ring hold what was not taken?  The agent's queue lock is held. */
bool vr_sq_waits(const struct vr_sq *sq);

/* enum siw_wc_status of the agent's status, which is an error. */
u16 vr_wc_error_of(enum via_status status);

/* The same of any status. */
static inline u16 vr_wc_status_of(enum via_status status)
{
	return likely(!(status & VIA_ST_ERROR_MASK)) ? SIW_WC_SUCCESS :
						       vr_wc_error_of(status);
}

/* What follows from an entry that was added: VR_TODO_*, @notify of them if it was armed. */
static inline u32 vr_todo_of_cqe(enum vr_cq_added added, u32 notify)
{
	switch (added) {
	case VR_CQ_ARMED:
		return notify;
	case VR_CQ_LOST:
		/* Its consumer would wait for it. */
		return VR_TODO_BREAK | VR_TODO_FATAL;
	default:
		return 0;
	}
}

/*
 * Segments of a work request for the agent; those of a program name no memory by key 0.
 * The caller has bounded n where it is not of a program's ring.
 * An error goes to d->status.
 */
void vr_set_segments(struct via_desc *d, const struct siw_sge *sge, u32 n,
		     bool user);

#endif

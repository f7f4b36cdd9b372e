// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the agent calls, see via_kapi.h: hooks under a queue lock move work requests and
 * note what is to be done; settle() does it.
 */

#include "cm.h"
#include "hook.h"
#include "link.h"
#include "qp.h"
#include "roce.h"

/*
 * One in ERR, whose VI may still be connected for a moment, takes nothing more of a
 * queue that others share: that was told, or will be.
 */
static bool vr_qp_takes(const struct vr_qp *qp)
{
	return likely(!qp->rq.srq) || READ_ONCE(qp->state) != IB_QPS_ERR;
}

static u32 vr_scan(struct via_vi *vi, bool recv)
{
	struct vr_qp *qp = vr_qp_of_vi(vi);
	bool more = false;
	u32 n, todo = 0;

	if (recv)
		n = vr_qp_takes(qp) ? vr_rq_scan(&qp->rq) : 0;
	else
		todo = vr_sq_scan(&qp->sq, &n, &more);
	if (n)
		via_kernel_post(vi, recv, n);
	vr_qp_todo(qp, todo);
	return (todo ? VIA_SCAN_SETTLE : 0) | (more ? VIA_SCAN_MORE : 0);
}

static void vr_load(struct via_vi *vi, bool recv, u32 index, struct via_desc *d)
{
	struct vr_qp *qp = vr_qp_of_vi(vi);

	if (recv)
		vr_rq_load(&qp->rq, d);
	else
		vr_sq_load(&qp->sq, d);
}

static void vr_complete(struct via_vi *vi, bool recv,
			const struct via_kernel_done *done)
{
	struct vr_qp *qp = vr_qp_of_vi(vi);

	if (unlikely(done->status & VIA_ST_DESC_FLUSHED_ERROR) &&
	    qp->dev->roce && vr_roce_flushed(qp, recv)) {
		vr_rq_withhold(&qp->rq);
		return;
	}
	vr_qp_todo(qp, recv ? vr_rq_complete(&qp->rq, vi, done) :
			      vr_sq_complete(&qp->sq, done));
}

/* The event that a fault is. */
static u32 vr_event_of(enum via_kernel_fault fault)
{
	switch (fault) {
	case VIA_KERNEL_FAULT_NONE:
	case VIA_KERNEL_FAULT_PEER_LEFT:
		return 0;
	case VIA_KERNEL_FAULT_LOCAL_ACCESS:
		return VR_TODO_ACCESS;
	case VIA_KERNEL_FAULT_PEER_ACCESS:
	case VIA_KERNEL_FAULT_PEER_READ:
	case VIA_KERNEL_FAULT_PEER_RECEIVE:
		return VR_TODO_REQUEST;
	default:
		return VR_TODO_FATAL;
	}
}

static void vr_moved(struct via_vi *vi, u32 from)
{
	struct vr_qp *qp = vr_qp_of_vi(vi);
	bool err = READ_ONCE(qp->state) == IB_QPS_ERR;

	if (qp->dev->roce && vr_roce_moved(qp, from))
		return;
	if (vi->state == VIA_STATE_CONNECTED) {
		/* Broken while the attempt was under way: it has no consumer. */
		if (err)
			vr_qp_settle_later(qp, VR_TODO_BREAK);
		else
			vr_qp_set_state(qp, IB_QPS_RTS);
	} else if (from == VIA_STATE_CONNECTED) {
		vr_qp_todo(qp, vr_event_of(via_kernel_fault_of(vi)));
		vr_qp_set_state(qp, IB_QPS_ERR);
	}
	spin_lock(&qp->state_lock);
	vr_cm_moved(qp, from);
	spin_unlock(&qp->state_lock);
}

static void vr_gone(struct via_file *f)
{
	vr_link_gone(via_kernel_priv(f));
}

const struct via_kernel_ops vr_hooks = {
	.scan = vr_scan,
	.load = vr_load,
	.complete = vr_complete,
	.settle = vr_qp_settle,
	.moved = vr_moved,
	.gone = vr_gone,
};

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Queue pairs: a VI of the agent each.
 *
 *  1. The state follows the VI's, by the hook moved(); a QP that has left its connection
 *     is in ERR until the consumer resets it.
 *  2. In ERR what is with the agent is flushed by the agent, and after it what stands
 *     in the rings, by the work item.  Each work request so completes once, in order.
 *     A program posts receives without a call, so its rings are looked at for as long as
 *     it has a QP in ERR.
 *  3. A consumer in the kernel is never called within its own ib_post_send(): it may hold
 *     the lock there that its handler takes.  vr_qp_settle() leaves that to the work
 *     item.
 *  4. A fault is told once, by an event, until the QP is reset; the work item sends it, when
 *     the hooks have said all that they know of the fault.  So is the last receive of a
 *     shared queue, when a QP in ERR has completed the one that it had: the state is
 *     stored before the work item takes the lock under which receives are taken.
 *  5. The end: the VI ends first, so no queue lock finds the QP any more; calls of
 *     settle() that still run have a reference to @call, which is waited for.  The work
 *     item may still take the VI's locks then: its memory goes last.
 *  6. Nothing but the consumer's calls and moved() puts a QP into ERR: the QP's end sets
 *     RESET, and a work item that runs late leaves it there, so neither of the two
 *     items queues the other any more.
 *
 *  7. With the addressing of RoCE (roce.c) a QP does not hear that its peer has left,
 *     as with a card: it stays in RTS alone, and its posted receives are withheld until
 *     it is flushed.  The first send that finds it alone puts it into ERR; its completion
 *     says so, and no event.
 *
 *   state   from                          to
 *   RESET   made, or ERR by the consumer  INIT, ERR
 *   INIT    RESET by the consumer         RTS by the connection, ERR, RESET; RTR (roce.c)
 *   RTR     INIT by the consumer          RTS by the consumer, ERR, RESET
 *   RTS     INIT, RTR                     ERR by anything that ends the connection
 *   ERR     any                           RESET
 */

#include <linux/cred.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "qp.h"

#define VR_TODO_LATER	(VR_TODO_BREAK | VR_TODO_EVENTS | VR_TODO_ALONE)
#define VR_ROUNDS	16	/* of settle() in one context; the rest is a work item's */
/* Between looks at the rings of a program's QP in ERR: twice as long each time. */
#define VR_LATE_MS	10
#define VR_LATE_MOST_MS	1000

/* What outlives it ---------------------------------------------------------------- */

static void vr_call_put(struct vr_call *call)
{
	if (refcount_dec_and_test(&call->use))
		complete(&call->idle);
}

static void vr_qp_freed(struct kref *refs)
{
	complete(&container_of(refs, struct vr_qp, refs)->free);
}

void vr_iw_add_ref(struct ib_qp *ib)
{
	kref_get(&vr_qp_of(ib)->refs);
}

void vr_iw_rem_ref(struct ib_qp *ib)
{
	kref_put(&vr_qp_of(ib)->refs, vr_qp_freed);
}

/* iw_cm takes a reference before it drops a spinlock: see vr_qp_hide(). */
struct ib_qp *vr_iw_get_qp(struct ib_device *ib, int number)
{
	struct vr_qp *qp = xa_load(&vr_dev_of(ib)->qps, number);

	return qp ? &qp->ib : NULL;
}

/* What follows from hooks ------------------------------------------------------------ */

void vr_qp_settle_later(struct vr_qp *qp, u32 todo)
{
	vr_qp_todo(qp, todo);
	queue_work(qp->dev->wq, &qp->work);
}

static void vr_qp_notify(struct vr_qp *qp, u32 todo)
{
	if (todo & VR_TODO_RECV_CQ)
		vr_cq_notify(qp->rq.cq);
	if (todo & VR_TODO_SEND_CQ &&
	    !(todo & VR_TODO_RECV_CQ && qp->sq.cq == qp->rq.cq))
		vr_cq_notify(qp->sq.cq);
}

/* A name of this context that no other context has meanwhile. */
static unsigned long vr_context(void)
{
	if (in_task())
		return (unsigned long)current;
	return (unsigned long)raw_smp_processor_id() << 1 | 1;
}

/* Does this context post to the QP, or could it? */
static bool vr_qp_is_poster(struct vr_qp *qp)
{
	int n = atomic_read(&qp->posting);

	return n > 1 || (n == 1 && READ_ONCE(qp->poster) == vr_context());
}

static void vr_qp_serve(struct vr_qp *qp)
{
	u32 todo = atomic_xchg(&qp->call->todo, 0);

	if (unlikely(todo & VR_TODO_LATER))
		vr_qp_settle_later(qp, todo & VR_TODO_LATER);
	if (unlikely(todo & VR_TODO_RING))
		via_kernel_ring(qp->vi, false);
	vr_qp_notify(qp, todo);
}

static void vr_qp_settle_nested(struct vr_qp *qp)
{
	atomic_t *nested = &qp->call->nested;
	int n, rounds = 0;

	if (unlikely(!qp->user && vr_qp_is_poster(qp))) {
		queue_work(qp->dev->wq, &qp->work);
		return;
	}
	/* The context that is there already serves this one, too. */
	if (atomic_inc_return(nested) > 1)
		return;
	do {
		n = atomic_read(nested);
		if (rounds++ < VR_ROUNDS)
			vr_qp_serve(qp);
		else
			queue_work(qp->dev->wq, &qp->work);
	} while (atomic_sub_return(n, nested));
}

void vr_qp_settle(struct via_vi *vi)
{
	struct vr_call *call = via_kernel_vi_priv(vi);

	/* Most completions leave nothing to do: no CQ is armed. */
	if (!atomic_read(&call->todo) || !refcount_inc_not_zero(&call->use))
		return;
	vr_qp_settle_nested(call->qp);
	vr_call_put(call);
}

static void vr_qp_late(struct work_struct *work)
{
	struct vr_qp *qp = container_of(to_delayed_work(work), struct vr_qp,
					late);

	if (READ_ONCE(qp->state) != IB_QPS_ERR)
		return;
	qp->late_ms = min(qp->late_ms * 2, VR_LATE_MOST_MS);
	queue_delayed_work(qp->dev->wq, &qp->late,
			   msecs_to_jiffies(qp->late_ms));
	vr_qp_settle_later(qp, 0);
}

/* What stands in the rings of a QP in ERR; VR_TODO_*. */
static u32 vr_qp_flush(struct vr_qp *qp)
{
	u32 todo;

	via_kernel_lock(qp->vi, false);
	todo = vr_sq_flush(&qp->sq);
	via_kernel_unlock(qp->vi, false);
	via_kernel_lock(qp->vi, true);
	todo |= vr_rq_flush(&qp->rq);
	if (qp->rq.srq && vr_rq_is_idle(&qp->rq))
		todo |= VR_TODO_LAST;
	via_kernel_unlock(qp->vi, true);
	return todo;
}

/* Once until it is reset. */
static void vr_qp_tell(struct vr_qp *qp, enum ib_event_type what, bool *told)
{
	struct ib_event event = {
		.device = qp->ib.device,
		.element.qp = &qp->ib,
		.event = what,
	};

	if (*told)
		return;
	*told = true;
	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

/* What the consumer hears; a fault may have been the cause of others. */
static void vr_qp_tell_all(struct vr_qp *qp, u32 todo)
{
	if (todo & VR_TODO_EVENTS)
		vr_qp_tell(qp, todo & VR_TODO_ACCESS ? IB_EVENT_QP_ACCESS_ERR :
			       todo & VR_TODO_REQUEST ? IB_EVENT_QP_REQ_ERR :
							IB_EVENT_QP_FATAL,
			   &qp->told);
	if (todo & VR_TODO_LAST)
		vr_qp_tell(qp, IB_EVENT_QP_LAST_WQE_REACHED, &qp->told_last);
}

bool vr_qp_sends_wait(struct vr_qp *qp)
{
	bool waits;

	via_kernel_lock(qp->vi, false);
	waits = vr_sq_waits(&qp->sq);
	via_kernel_unlock(qp->vi, false);
	return waits;
}

/* Its peer has left, see 7. above: into ERR, if it has something to send. */
static void vr_qp_cut(struct vr_qp *qp)
{
	if (vr_qp_sends_wait(qp))
		vr_qp_set_state(qp, IB_QPS_ERR);
}

static void vr_qp_work(struct work_struct *work)
{
	struct vr_qp *qp = container_of(work, struct vr_qp, work);
	u32 todo = atomic_xchg(&qp->call->todo, 0);

	/* moved() says ERR, if there is still a connection. */
	if (todo & VR_TODO_BREAK)
		via_kernel_disconnect(qp->vi);
	if (READ_ONCE(qp->state) == IB_QPS_ERR) {
		todo |= vr_qp_flush(qp);
		if (qp->user && queue_delayed_work(qp->dev->wq, &qp->late,
						   msecs_to_jiffies(VR_LATE_MS)))
			qp->late_ms = VR_LATE_MS;
	}
	if (todo & VR_TODO_RING && READ_ONCE(qp->state) == IB_QPS_RTS)
		via_kernel_ring(qp->vi, false);
	if (todo & VR_TODO_ALONE && READ_ONCE(qp->state) == IB_QPS_RTS)
		vr_qp_cut(qp);
	vr_qp_tell_all(qp, todo);
	/* As in a softirq, where handlers are used to be. */
	local_bh_disable();
	vr_qp_notify(qp, todo);
	local_bh_enable();
}

void vr_qp_set_state(struct vr_qp *qp, enum ib_qp_state state)
{
	spin_lock_bh(&qp->state_lock);
	WRITE_ONCE(qp->state, state);
	spin_unlock_bh(&qp->state_lock);
	if (state != IB_QPS_ERR)
		return;
	/* Pairs with the barrier of who posts: it sees ERR, or we its entry. */
	smp_mb();
	vr_qp_settle_later(qp, 0);
}

void vr_qp_break(struct vr_qp *qp)
{
	via_kernel_disconnect(qp->vi);
	vr_qp_set_state(qp, IB_QPS_ERR);
}

void vr_qp_count_end(struct vr_qp *qp)
{
	struct vr_dev *d = qp->dev;

	switch (via_kernel_fault_of(qp->vi)) {
	case VIA_KERNEL_FAULT_NONE:
	case VIA_KERNEL_FAULT_PEER_LEFT:
		return;
	case VIA_KERNEL_FAULT_LOCAL_RECEIVE:
		vr_count(d, VR_NO_RECEIVE);
		pr_info_ratelimited("%s: QP %u: no receive was posted, or one too short; the connection ended\n",
				    dev_name(&d->ib.dev), qp->ib.qp_num);
		break;
	case VIA_KERNEL_FAULT_LOCAL_ACCESS:
		vr_count(d, VR_LOCAL_REFUSALS);
		break;
	case VIA_KERNEL_FAULT_PEER_ACCESS:
	case VIA_KERNEL_FAULT_PEER_READ:
		vr_count(d, VR_REMOTE_REFUSALS);
		break;
	default:
		break;
	}
	vr_count(d, VR_LOST);
}

/* Made and destroyed ------------------------------------------------------------------ */

static int vr_qp_check(const struct ib_pd *pd,
		       const struct ib_qp_init_attr *attr, bool user)
{
	const struct ib_qp_cap *cap = &attr->cap;
	u32 send_sges = user ? SIW_MAX_SGE : VR_KERNEL_SGES;

	if (attr->qp_type != IB_QPT_RC || attr->create_flags)
		return -EOPNOTSUPP;
	/* Memory of a receive is the QP's, so of one domain. */
	if (attr->srq && attr->srq->pd != pd)
		return -EINVAL;
	if (cap->max_send_wr > VR_WRS ||
	    (!attr->srq && cap->max_recv_wr > VR_WRS) ||
	    cap->max_send_sge > send_sges ||
	    cap->max_recv_sge > SIW_MAX_SGE ||
	    cap->max_inline_data > SIW_MAX_INLINE || !attr->send_cq ||
	    !attr->recv_cq)
		return -EINVAL;
	return 0;
}

static void vr_qp_free(struct vr_qp *qp)
{
	vr_sq_free(&qp->sq);
	vr_rq_free(&qp->rq);
	kfree(qp->call);
}

static int vr_qp_init(struct vr_qp *qp, struct ib_qp_init_attr *attr,
		      struct ib_udata *udata, struct siw_uresp_create_qp *resp)
{
	struct ib_qp_cap *cap = &attr->cap;
	int ret;

	kref_init(&qp->refs);
	init_completion(&qp->free);
	spin_lock_init(&qp->state_lock);
	INIT_WORK(&qp->work, vr_qp_work);
	INIT_DELAYED_WORK(&qp->late, vr_qp_late);
	qp->dev = vr_dev_of(qp->ib.device);
	qp->user = udata;
	qp->owner = current_euid();
	qp->state = IB_QPS_RESET;
	qp->sq.cq = vr_cq_of(attr->send_cq);
	qp->rq.cq = vr_cq_of(attr->recv_cq);
	qp->rq.srq = attr->srq ? vr_srq_of(attr->srq) : NULL;
	qp->sq.qp = &qp->ib;
	qp->rq.qp = &qp->ib;
	qp->sq.dev = qp->dev;
	qp->rq.dev = qp->dev;
	qp->sq.user = qp->user;
	qp->rq.user = qp->user;
	qp->stat.dev = qp->dev;
	qp->stat.send = &qp->sq.work;
	qp->stat.recv = &qp->rq.work;
	qp->sq.sig_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	cap->max_send_wr = roundup_pow_of_two(max(1u, cap->max_send_wr));
	cap->max_recv_wr = attr->srq ? 0 :
		roundup_pow_of_two(max(1u, cap->max_recv_wr));
	/* The RDMA core makes lists as long as the QP takes, not as was asked for. */
	cap->max_send_sge = udata ? SIW_MAX_SGE : VR_KERNEL_SGES;
	cap->max_recv_sge = SIW_MAX_SGE;
	cap->max_inline_data = SIW_MAX_INLINE;
	qp->cap = *cap;
	resp->num_sqe = cap->max_send_wr;
	resp->num_rqe = cap->max_recv_wr;
	qp->call = kzalloc(sizeof(*qp->call), GFP_KERNEL);
	if (!qp->call)
		return -ENOMEM;
	refcount_set(&qp->call->use, 1);
	init_completion(&qp->call->idle);
	qp->call->qp = qp;
	ret = vr_sq_init(&qp->sq, resp->num_sqe, udata, &resp->sq_key);
	if (!ret)
		ret = vr_rq_init(&qp->rq, resp->num_rqe, udata, &resp->rq_key);
	if (ret)
		vr_qp_free(qp);
	return ret;
}

/* With a reference besides the agent's own. */
static struct via_vi *vr_qp_make_vi(struct vr_qp *qp)
{
	const struct via_vi_attrs attrs = {
		.reliability = VIA_RELIABLE_DELIVERY,
		.ptag = vr_pd_of(qp->ib.pd)->ptag,
		.max_transfer = VR_MESSAGE,
		.rights = VIA_RDMA_WRITE | VIA_RDMA_READ,
	};
	struct via_vi *vi = via_kernel_vi_make(qp->dev->file, &attrs, qp->call);

	if (!IS_ERR(vi))
		via_kernel_vi_get(vi);
	return vi;
}

/* Nothing calls it any more when this returns. */
static void vr_qp_end_vi(struct vr_qp *qp)
{
	via_kernel_vi_destroy(qp->vi);
	vr_call_put(qp->call);
	wait_for_completion(&qp->call->idle);
	/* Each queues the other while it sees ERR, and one may have seen it just now. */
	vr_qp_set_state(qp, IB_QPS_RESET);
	cancel_work_sync(&qp->work);
	cancel_delayed_work_sync(&qp->late);
	cancel_work_sync(&qp->work);
	via_kernel_vi_put(qp->vi);
	kfree_rcu(qp->call, rcu);
	qp->call = NULL;
}

/* Who has just found it by its number has a reference when this returns. */
static void vr_qp_hide(struct vr_qp *qp)
{
	xa_erase(&qp->dev->qps, qp->ib.qp_num);
	synchronize_rcu_expedited();
}

int vr_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr,
		 struct ib_udata *udata)
{
	struct siw_uresp_create_qp resp = {};
	struct vr_qp *qp = vr_qp_of(ib);
	int ret = vr_qp_check(ib->pd, attr, udata);
	u32 number;

	if (!ret && udata && udata->outlen < sizeof(resp))
		ret = -EINVAL;
	if (!ret && !vr_take(vr_dev_of(ib->device), VR_KIND_QP))
		ret = -ENOMEM;
	if (ret)
		return ret;
	ret = vr_qp_init(qp, attr, udata, &resp);
	if (ret)
		goto err_take;
	qp->vi = vr_qp_make_vi(qp);
	if (IS_ERR(qp->vi)) {
		ret = PTR_ERR(qp->vi);
		goto err;
	}
	ret = xa_alloc_cyclic(&qp->dev->qps, &number, NULL,
			      XA_LIMIT(1, 0xffffff), &qp->dev->next_qp,
			      GFP_KERNEL);
	if (ret < 0)
		goto err_vi;
	ib->qp_num = number;
	resp.qp_id = number;
	ret = udata ? ib_copy_to_udata(udata, &resp, sizeof(resp)) : 0;
	if (!ret) {
		vr_stat_begin(&qp->stat);
		/* Found by others from now on.  The place is there: no memory. */
		xa_store(&qp->dev->qps, number, qp, GFP_KERNEL);
		return 0;
	}
	xa_erase(&qp->dev->qps, number);
err_vi:
	vr_qp_end_vi(qp);
err:
	vr_qp_free(qp);
err_take:
	vr_give(vr_dev_of(ib->device), VR_KIND_QP);
	return ret == -EDQUOT || ret == -ENOSPC ? -ENOMEM : ret;
}

int vr_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct vr_qp *qp = vr_qp_of(ib);

	vr_qp_hide(qp);
	/* Its end of a connection hears of it by moved(). */
	vr_qp_break(qp);
	vr_iw_rem_ref(ib);
	wait_for_completion(&qp->free);
	vr_qp_end_vi(qp);
	vr_stat_end(&qp->stat);
	vr_qp_free(qp);
	vr_give(vr_dev_of(ib->device), VR_KIND_QP);
	return 0;
}

int vr_qp_bind(struct ib_qp *ib, struct rdma_counter *counter)
{
	int ret = vr_stat_bind(&vr_qp_of(ib)->stat, counter);

	if (!ret)
		ib->counter = counter;
	return ret;
}

int vr_qp_unbind(struct ib_qp *ib)
{
	vr_stat_unbind(&vr_qp_of(ib)->stat);
	ib->counter = NULL;
	return 0;
}

/* States ------------------------------------------------------------------------------ */

static int vr_qp_reset(struct vr_qp *qp)
{
	via_kernel_disconnect(qp->vi);
	vr_qp_set_state(qp, IB_QPS_ERR);
	flush_work(&qp->work);
	qp->told = false;
	qp->told_last = false;
	vr_qp_set_state(qp, IB_QPS_RESET);
	return 0;
}

static int vr_qp_go(struct vr_qp *qp, enum ib_qp_state to)
{
	enum ib_qp_state from = READ_ONCE(qp->state);

	switch (to) {
	case IB_QPS_RESET:
		return vr_qp_reset(qp);
	case IB_QPS_INIT:
		if (from != IB_QPS_RESET && from != IB_QPS_INIT)
			return -EINVAL;
		vr_qp_set_state(qp, to);
		return 0;
	case IB_QPS_RTR:
		/* librdmacm says so before it connects: it can receive already. */
		return from == IB_QPS_INIT || from == IB_QPS_RTS ? 0 : -EINVAL;
	case IB_QPS_RTS:
		/* The connection brings it there. */
		return from == IB_QPS_RTS ? 0 : -EINVAL;
	case IB_QPS_SQD:
	case IB_QPS_ERR:
		vr_qp_break(qp);
		return 0;
	default:
		return -EINVAL;
	}
}

int vr_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		 struct ib_udata *udata)
{
	struct vr_qp *qp = vr_qp_of(ib);

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	if (mask & IB_QP_ACCESS_FLAGS)
		WRITE_ONCE(qp->access, attr->qp_access_flags);
	return mask & IB_QP_STATE ? vr_qp_go(qp, attr->qp_state) : 0;
}

int vr_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		struct ib_qp_init_attr *init)
{
	struct vr_qp *qp = vr_qp_of(ib);

	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->qp_access_flags = READ_ONCE(qp->access);
	attr->path_mtu = IB_MTU_1024;
	attr->max_rd_atomic = VR_READS;
	attr->max_dest_rd_atomic = VR_READS;
	attr->port_num = 1;
	attr->cap = qp->cap;
	init->qp_type = IB_QPT_RC;
	init->send_cq = ib->send_cq;
	init->recv_cq = ib->recv_cq;
	init->srq = ib->srq;
	init->sq_sig_type = qp->sq.sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR;
	init->cap = qp->cap;
	return 0;
}

/* Posting ------------------------------------------------------------------------------ */

/* An entry was written; in ERR only the work item flushes it. */
static void vr_qp_posted(struct vr_qp *qp)
{
	/* Pairs with the barrier of vr_qp_set_state(). */
	smp_mb();
	if (unlikely(READ_ONCE(qp->state) == IB_QPS_ERR))
		vr_qp_settle_later(qp, 0);
}

/* A program's handler is the RDMA core's, which posts nothing. */
static void vr_qp_ring_vi(struct vr_qp *qp)
{
	if (qp->user) {
		via_kernel_ring(qp->vi, false);
		return;
	}
	atomic_inc(&qp->posting);
	WRITE_ONCE(qp->poster, vr_context());
	via_kernel_ring(qp->vi, false);
	atomic_dec(&qp->posting);
}

static void vr_qp_ring(struct vr_qp *qp)
{
	if (unlikely(irqs_disabled())) {
		/* The agent wants them on; a consumer need not have them. */
		vr_qp_settle_later(qp, VR_TODO_RING);
	} else if (likely(READ_ONCE(qp->state) == IB_QPS_RTS)) {
		vr_qp_ring_vi(qp);
		/* The ring is a full barrier: as in vr_qp_posted(). */
		if (unlikely(READ_ONCE(qp->state) == IB_QPS_ERR))
			vr_qp_settle_later(qp, 0);
		else if (unlikely(READ_ONCE(qp->roce.alone)))
			vr_qp_settle_later(qp, VR_TODO_ALONE);
	} else {
		vr_qp_posted(qp);
	}
}

int vr_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
		 const struct ib_send_wr **bad)
{
	struct vr_qp *qp = vr_qp_of(ib);
	enum ib_qp_state state = READ_ONCE(qp->state);
	unsigned long flags;
	int ret = 0;

	/* A program's call is the doorbell alone: it has written its ring itself. */
	if (qp->user ? !!wr : state != IB_QPS_RTS && state != IB_QPS_ERR) {
		*bad = wr;
		return -EINVAL;
	}
	if (!qp->user) {
		spin_lock_irqsave(&qp->sq.put_lock, flags);
		for (; wr; wr = wr->next) {
			ret = vr_sq_post(&qp->sq, wr);
			if (ret)
				break;
		}
		spin_unlock_irqrestore(&qp->sq.put_lock, flags);
		if (ret)
			*bad = wr;
	}
	vr_qp_ring(qp);
	return ret;
}

int vr_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
		 const struct ib_recv_wr **bad)
{
	struct vr_qp *qp = vr_qp_of(ib);
	unsigned long flags;
	int ret = 0;

	if (qp->user) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->rq.put_lock, flags);
	for (; wr; wr = wr->next) {
		ret = vr_rq_post(&qp->rq, wr);
		if (ret)
			break;
	}
	spin_unlock_irqrestore(&qp->rq.put_lock, flags);
	if (ret)
		*bad = wr;
	vr_qp_posted(qp);
	return ret;
}

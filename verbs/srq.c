// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Shared receive queues.
 *
 *  1. A queue pair takes an entry when a message has come and needs it, never before.
 *     All other entries stay for the other queue pairs.  A queue pair that ends gives
 *     nothing back: the one entry that it may have completes flushed, in its own queue.
 *  2. An entry is copied once, when it is taken, under the queue's lock; its VALID is
 *     cleared behind that.  The ring may be a program's memory, in which VALID
 *     may change at any time: which entry is taken, and when, is the kernel's decision.
 *  3. Entries are posted in the order of the ring.  So there are as many as the limit
 *     if the one is VALID that lies so far behind the oldest: no count is kept of what
 *     a program posts without a call.
 *  4. The limit is told once, by the work item, and is 0 then.  Who sets one that is
 *     not reached hears of it at once.
 *  5. The RDMA core destroys no queue that a queue pair has.
 */

#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "srq.h"

int vr_put_receive(struct siw_rqe *r, const struct ib_recv_wr *wr)
{
	int i;

	if (READ_ONCE(r->flags) & SIW_WQE_VALID)
		return -ENOMEM;
	if (wr->num_sge > SIW_MAX_SGE)
		return -EINVAL;
	r->id = wr->wr_id;
	r->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		r->sge[i] = (struct siw_sge){
			.laddr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
	/* Pairs with the load-acquire of who takes it. */
	smp_store_release(&r->flags, SIW_WQE_VALID);
	return 0;
}

/* The handler of a program's queue takes locks of its own: not under ours. */
static void vr_srq_low(struct work_struct *work)
{
	struct vr_srq *srq = container_of(work, struct vr_srq, low);
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

/* Are there fewer receives than the limit? */
static void vr_srq_look(struct vr_srq *srq)
{
	u32 last = srq->taken + srq->limit - 1;

	lockdep_assert_held(&srq->lock);
	if (likely(!srq->limit) ||
	    READ_ONCE(srq->ring[last & srq->mask].flags) & SIW_WQE_VALID)
		return;
	srq->limit = 0;
	queue_work(srq->dev->wq, &srq->low);
}

/* No more of it than is used. */
static void vr_srq_copy(struct siw_rqe *to, const struct siw_rqe *r)
{
	memcpy(to, r, offsetof(struct siw_rqe, sge) + sizeof(r->sge[0]));
	/* The copy is what counts: no second look at these. */
	barrier();
	if (to->num_sge > 1)
		memcpy(&to->sge[1], &r->sge[1],
		       sizeof(r->sge) - sizeof(r->sge[0]));
}

bool vr_srq_take(struct vr_srq *srq, struct siw_rqe *to)
{
	struct siw_rqe *r;
	bool there;

	spin_lock(&srq->lock);
	r = &srq->ring[srq->taken & srq->mask];
	/* Pairs with the store-release of who posts. */
	there = smp_load_acquire(&r->flags) & SIW_WQE_VALID;
	if (there) {
		vr_srq_copy(to, r);
		/* Pairs with the look at VALID of who posts: it has been read. */
		smp_store_release(&r->flags, 0);
		srq->taken++;
		vr_srq_look(srq);
	}
	spin_unlock(&srq->lock);
	return there;
}

int vr_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init,
		  struct ib_udata *udata)
{
	struct siw_uresp_create_srq resp = {};
	struct ib_srq_attr *attr = &init->attr;
	struct vr_dev *d = vr_dev_of(ib->device);
	struct vr_srq *srq = vr_srq_of(ib);
	u32 entries;
	int ret;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > VR_SRQ_WRS ||
	    attr->max_sge > SIW_MAX_SGE ||
	    (udata && udata->outlen < sizeof(resp)))
		return -EINVAL;
	if (!vr_take(d, VR_KIND_SRQ))
		return -ENOMEM;
	entries = roundup_pow_of_two(attr->max_wr);
	ret = vr_buf_alloc(&srq->buf, entries * sizeof(*srq->ring), udata,
			   &resp.srq_key);
	if (ret)
		goto err;
	spin_lock_init(&srq->put_lock);
	spin_lock_init(&srq->lock);
	INIT_WORK(&srq->low, vr_srq_low);
	srq->dev = d;
	srq->ring = srq->buf.addr;
	srq->mask = entries - 1;
	attr->max_wr = entries;
	attr->max_sge = SIW_MAX_SGE;
	if (!udata)
		return 0;
	resp.num_rqe = entries;
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!ret)
		return 0;
	vr_buf_free(&srq->buf);
err:
	vr_give(d, VR_KIND_SRQ);
	return ret;
}

int vr_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	struct vr_srq *srq = vr_srq_of(ib);

	/* No QP has it any more. */
	cancel_work_sync(&srq->low);
	vr_buf_free(&srq->buf);
	vr_give(srq->dev, VR_KIND_SRQ);
	return 0;
}

int vr_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr,
		  enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct vr_srq *srq = vr_srq_of(ib);

	/* A ring that a program has mapped keeps its size. */
	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (attr->srq_limit > srq->mask + 1)
		return -EINVAL;
	spin_lock_bh(&srq->lock);
	srq->limit = attr->srq_limit;
	vr_srq_look(srq);
	spin_unlock_bh(&srq->lock);
	return 0;
}

int vr_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	struct vr_srq *srq = vr_srq_of(ib);

	attr->max_wr = srq->mask + 1;
	attr->max_sge = SIW_MAX_SGE;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

int vr_post_srq_recv(struct ib_srq *ib, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad)
{
	struct vr_srq *srq = vr_srq_of(ib);
	unsigned long flags;
	int ret = 0;

	/* A program writes its ring itself. */
	if (ib->uobject) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&srq->put_lock, flags);
	for (; wr; wr = wr->next) {
		ret = vr_put_receive(&srq->ring[srq->put & srq->mask], wr);
		if (ret)
			break;
		srq->put++;
	}
	spin_unlock_irqrestore(&srq->put_lock, flags);
	if (ret)
		*bad = wr;
	return ret;
}

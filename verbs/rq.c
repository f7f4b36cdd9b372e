// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receive queues.
 *
 *  1. A program posts receives without a call: the agent asks for them (scan) when a
 *     message finds none.  What is posted then stands in the ring until it is loaded.
 *  2. An entry is copied once, when it is loaded; its VALID is cleared behind that.
 *  3. With a shared queue the ring has one entry: what scan took there, a copy.  The
 *     agent asks when a message has come, with the last receive complete, and loads
 *     before it drops the queue's lock: no flush finds it VALID.
 */

#include <linux/slab.h>
#include "rq.h"

int vr_rq_init(struct vr_rq *rq, u32 entries, struct ib_udata *udata, u64 *key)
{
	int ret;

	spin_lock_init(&rq->put_lock);
	if (rq->srq) {
		entries = 1;
		udata = NULL;
	}
	rq->mask = entries - 1;
	rq->ids = kvcalloc(entries, sizeof(*rq->ids), GFP_KERNEL);
	if (!rq->ids)
		return -ENOMEM;
	ret = vr_buf_alloc(&rq->buf, entries * sizeof(*rq->ring), udata, key);
	if (ret) {
		kvfree(rq->ids);
		rq->ids = NULL;
		return ret;
	}
	rq->ring = rq->buf.addr;
	return 0;
}

void vr_rq_free(struct vr_rq *rq)
{
	if (!rq->ids)
		return;
	vr_buf_free(&rq->buf);
	kvfree(rq->ids);
	rq->ids = NULL;
}

int vr_rq_post(struct vr_rq *rq, const struct ib_recv_wr *wr)
{
	int ret;

	lockdep_assert_held(&rq->put_lock);
	/* A consumer posts to the shared queue. */
	if (rq->srq)
		return -EINVAL;
	ret = vr_put_receive(&rq->ring[rq->put & rq->mask], wr);
	if (!ret)
		rq->put++;
	return ret;
}

/* One for the message that has come. */
static noinline u32 vr_rq_scan_shared(struct vr_rq *rq)
{
	if (rq->seen != rq->done || !vr_srq_take(rq->srq, rq->ring))
		return 0;
	rq->seen++;
	return 1;
}

u32 vr_rq_scan(struct vr_rq *rq)
{
	u32 n = 0;

	if (rq->srq)
		return vr_rq_scan_shared(rq);
	while (rq->seen - rq->done < min(rq->mask + 1, VR_POSTED)) {
		/* Pairs with the store-release of who posts. */
		if (!(smp_load_acquire(&rq->ring[rq->seen & rq->mask].flags) &
		      SIW_WQE_VALID))
			break;
		rq->seen++;
		n++;
	}
	return n;
}

/* An entry's name, and the entry is free. */
static void vr_rq_take(struct vr_rq *rq, struct siw_rqe *r)
{
	rq->ids[rq->loaded++ & rq->mask] = READ_ONCE(r->id);
	/* Pairs with the look at VALID of who posts: it has been read. */
	smp_store_release(&r->flags, 0);
}

/* None, or several segments. */
static noinline void vr_rq_load_many(struct vr_rq *rq, const struct siw_rqe *r,
				     u32 n, struct via_desc *d)
{
	struct siw_sge sge[SIW_MAX_SGE];

	memcpy(sge, r->sge, sizeof(sge));
	/* The copy is what is checked: no second look. */
	barrier();
	vr_set_segments(d, sge, n, rq->user);
}

void vr_rq_load(struct vr_rq *rq, struct via_desc *d)
{
	struct siw_rqe *r = &rq->ring[rq->loaded & rq->mask];
	u32 n = READ_ONCE(r->num_sge);
	struct siw_sge sge;

	if (likely(n == 1)) {
		sge = r->sge[0];
		/* As in vr_rq_load_many(). */
		barrier();
		vr_set_segments(d, &sge, n, rq->user);
	} else {
		vr_rq_load_many(rq, r, n, d);
	}
	vr_rq_take(rq, r);
}

static u32 vr_rq_report(struct vr_rq *rq, u64 id, u16 status,
			const struct via_kernel_done *done)
{
	struct vr_cqe e = {
		.id = id,
		.qp = rq->qp,
		.user = rq->user,
		.solicited = status || (done && done->solicited),
		.opcode = SIW_OP_RECEIVE,
		.status = status,
		.bytes = done ? done->length : 0,
		.inval_stag = done && done->invalidate ? done->immediate : 0,
	};

	return vr_todo_of_cqe(vr_cq_add(rq->cq, &e), VR_TODO_RECV_CQ);
}

/* SEND_WITH_INV: the peer may end what it was given, and nothing else. */
static u32 vr_rq_invalidate(struct vr_rq *rq, struct via_vi *vi,
			    const struct via_kernel_done *done)
{
	if (likely(via_kernel_mem_invalidate(vi, done->immediate)))
		return 0;
	vr_count(rq->dev, VR_BAD_INVALIDATES);
	return VR_TODO_BREAK | VR_TODO_ACCESS;
}

u32 vr_rq_complete(struct vr_rq *rq, struct via_vi *vi,
		   const struct via_kernel_done *done)
{
	u16 status = vr_wc_status_of(done->status);
	u32 todo = 0;

	if (rq->loaded == rq->done)
		vr_rq_take(rq, &rq->ring[rq->done & rq->mask]);
	if (unlikely(done->invalidate && !status)) {
		todo = vr_rq_invalidate(rq, vi, done);
		if (todo)
			status = SIW_WC_REM_INV_REQ_ERR;
	}
	if (unlikely(status == SIW_WC_LOC_PROT_ERR))
		todo |= VR_TODO_ACCESS;
	vr_work_add(&rq->work, status, done->length);
	todo |= vr_rq_report(rq, rq->ids[rq->done & rq->mask], status, done);
	rq->done++;
	return todo;
}

void vr_rq_withhold(struct vr_rq *rq)
{
	if (rq->loaded == rq->done)
		vr_rq_take(rq, &rq->ring[rq->done & rq->mask]);
	rq->done++;
	rq->withheld++;
}

u32 vr_rq_flush(struct vr_rq *rq)
{
	struct siw_rqe *r;
	u32 n, todo = 0;

	/* Their names are there: nothing was loaded since. */
	for (; rq->withheld; rq->withheld--)
		todo |= vr_rq_report(rq, rq->ids[(rq->done - rq->withheld) &
						 rq->mask],
				     SIW_WC_WR_FLUSH_ERR, NULL);

	/* What is with the agent completes first, and then it is our turn. */
	for (n = 0; n <= rq->mask && rq->done == rq->seen; n++) {
		r = &rq->ring[rq->seen & rq->mask];
		/* Pairs with the store-release of who posts. */
		if (!(smp_load_acquire(&r->flags) & SIW_WQE_VALID))
			break;
		vr_rq_take(rq, r);
		todo |= vr_rq_report(rq, rq->ids[rq->done & rq->mask],
				     SIW_WC_WR_FLUSH_ERR, NULL);
		rq->seen++;
		rq->done++;
	}
	return todo;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues: a ring of siw's entries, which a program maps and polls itself.
 *
 *  1. An entry is written while VALID is clear, and VALID is set last; who polls reads
 *     it after VALID and clears VALID last.
 *  2. Arming and adding cross: who arms stores the flag, then looks at the ring; who
 *     adds sets VALID, then looks at the flag.  A full barrier stands between on both
 *     sides, so that one of the two sees the other.
 *  3. What the program writes into the ring can lose its own completions and nothing
 *     else: place and content are the kernel's.
 */

#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "cq.h"

static const u8 vr_wc_opcode[SIW_NUM_OPCODES] = {
	[SIW_OP_WRITE]		= IB_WC_RDMA_WRITE,
	[SIW_OP_READ]		= IB_WC_RDMA_READ,
	[SIW_OP_READ_LOCAL_INV]	= IB_WC_RDMA_READ,
	[SIW_OP_SEND]		= IB_WC_SEND,
	[SIW_OP_SEND_REMOTE_INV] = IB_WC_SEND,
	[SIW_OP_RECEIVE]	= IB_WC_RECV,
	[SIW_OP_INVAL_STAG]	= IB_WC_LOCAL_INV,
	[SIW_OP_REG_MR]		= IB_WC_REG_MR,
};

static const u8 vr_wc_status[SIW_NUM_WC_STATUS] = {
	[SIW_WC_SUCCESS]	= IB_WC_SUCCESS,
	[SIW_WC_LOC_LEN_ERR]	= IB_WC_LOC_LEN_ERR,
	[SIW_WC_LOC_PROT_ERR]	= IB_WC_LOC_PROT_ERR,
	[SIW_WC_LOC_QP_OP_ERR]	= IB_WC_LOC_QP_OP_ERR,
	[SIW_WC_WR_FLUSH_ERR]	= IB_WC_WR_FLUSH_ERR,
	[SIW_WC_BAD_RESP_ERR]	= IB_WC_BAD_RESP_ERR,
	[SIW_WC_LOC_ACCESS_ERR]	= IB_WC_LOC_ACCESS_ERR,
	[SIW_WC_REM_ACCESS_ERR]	= IB_WC_REM_ACCESS_ERR,
	[SIW_WC_REM_INV_REQ_ERR] = IB_WC_REM_INV_REQ_ERR,
	[SIW_WC_GENERAL_ERR]	= IB_WC_GENERAL_ERR,
};

/* The handler of a program's CQ takes locks of its own: not under ours. */
static void vr_cq_overflow(struct work_struct *work)
{
	struct vr_cq *cq = container_of(work, struct vr_cq, overflow);
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

static bool vr_cq_armed(struct vr_cq *cq, bool solicited)
{
	u32 flags = READ_ONCE(cq->ctrl->flags);

	if (!(flags & SIW_NOTIFY_NEXT_COMPLETION ||
	      (flags & SIW_NOTIFY_SOLICITED && solicited)))
		return false;
	WRITE_ONCE(cq->ctrl->flags, SIW_NOTIFY_NOT);
	return true;
}

enum vr_cq_added vr_cq_add(struct vr_cq *cq, const struct vr_cqe *e)
{
	struct siw_cqe *c;
	bool armed;
	u8 flags = SIW_WQE_VALID;

	spin_lock(&cq->lock);
	c = &cq->ring[cq->put & cq->mask];
	if (unlikely(cq->full || READ_ONCE(c->flags) & SIW_WQE_VALID)) {
		if (!cq->full) {
			cq->full = true;
			vr_count(vr_dev_of(cq->ib.device), VR_CQ_OVERFLOWS);
			queue_work(vr_dev_of(cq->ib.device)->wq, &cq->overflow);
		}
		spin_unlock(&cq->lock);
		return VR_CQ_LOST;
	}
	c->id = e->id;
	c->opcode = e->opcode;
	c->status = e->status;
	c->bytes = e->bytes;
	c->imm_data = 0;
	if (e->user)
		c->qp_id = e->qp->qp_num;
	else
		c->base_qp = e->qp;
	if (e->inval_stag) {
		c->inval_stag = e->inval_stag;
		flags |= SIW_WQE_REM_INVAL;
	}
	/* Pairs with the load-acquire of who polls. */
	smp_store_release(&c->flags, flags);
	cq->put++;
	/* Pairs with the barrier of who arms. */
	smp_mb();
	armed = vr_cq_armed(cq, e->solicited);
	spin_unlock(&cq->lock);
	return armed ? VR_CQ_ARMED : VR_CQ_QUIET;
}

void vr_cq_notify(struct vr_cq *cq)
{
	if (cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

int vr_cq_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		 struct ib_udata *udata)
{
	struct siw_uresp_create_cq resp = {};
	struct vr_cq *cq = vr_cq_of(ib);
	u32 entries;
	int ret;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > VR_CQ_ENTRIES)
		return -EINVAL;
	entries = roundup_pow_of_two(attr->cqe);
	if (udata && udata->outlen < sizeof(resp))
		return -EINVAL;
	if (!vr_take(vr_dev_of(ib->device), VR_KIND_CQ))
		return -ENOMEM;
	ret = vr_buf_alloc(&cq->buf, entries * sizeof(*cq->ring) +
			   sizeof(*cq->ctrl), udata, &resp.cq_key);
	if (ret)
		goto err;
	spin_lock_init(&cq->lock);
	INIT_WORK(&cq->overflow, vr_cq_overflow);
	cq->ring = cq->buf.addr;
	cq->ctrl = (struct siw_cq_ctrl *)&cq->ring[entries];
	cq->mask = entries - 1;
	ib->cqe = entries;
	if (!udata)
		return 0;
	resp.num_cqe = entries;
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (!ret)
		return 0;
	vr_buf_free(&cq->buf);
err:
	vr_give(vr_dev_of(ib->device), VR_KIND_CQ);
	return ret;
}

int vr_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct vr_cq *cq = vr_cq_of(ib);

	/* No QP has it any more. */
	cancel_work_sync(&cq->overflow);
	vr_buf_free(&cq->buf);
	vr_give(vr_dev_of(ib->device), VR_KIND_CQ);
	return 0;
}

static void vr_cq_take(struct siw_cqe *c, struct ib_wc *wc)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = c->id;
	wc->status = vr_wc_status[c->status];
	wc->opcode = vr_wc_opcode[c->opcode];
	wc->byte_len = c->bytes;
	wc->qp = c->base_qp;
	if (c->flags & SIW_WQE_REM_INVAL) {
		wc->ex.invalidate_rkey = c->inval_stag;
		wc->wc_flags = IB_WC_WITH_INVALIDATE;
	}
	/* Pairs with the look at VALID of who adds: the entry has been read. */
	smp_store_release(&c->flags, 0);
}

int vr_poll_cq(struct ib_cq *ib, int n, struct ib_wc *wc)
{
	struct vr_cq *cq = vr_cq_of(ib);
	struct siw_cqe *c;
	unsigned long flags;
	int i;

	/* A program polls the ring itself, whose content is not to be trusted. */
	if (ib->uobject)
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n; i++) {
		c = &cq->ring[cq->get & cq->mask];
		/* Pairs with the store-release of who adds. */
		if (!(smp_load_acquire(&c->flags) & SIW_WQE_VALID))
			break;
		vr_cq_take(c, &wc[i]);
		cq->get++;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

int vr_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags what)
{
	struct vr_cq *cq = vr_cq_of(ib);
	unsigned long flags;
	u32 armed = SIW_NOTIFY_SOLICITED;
	int missed = 0;

	if ((what & IB_CQ_SOLICITED_MASK) == IB_CQ_NEXT_COMP)
		armed |= SIW_NOTIFY_NEXT_COMPLETION;
	WRITE_ONCE(cq->ctrl->flags, armed);
	/* Pairs with the barrier of who adds. */
	smp_mb();
	if (what & IB_CQ_REPORT_MISSED_EVENTS && !ib->uobject) {
		spin_lock_irqsave(&cq->lock, flags);
		missed = !!(READ_ONCE(cq->ring[cq->get & cq->mask].flags) &
			    SIW_WQE_VALID);
		spin_unlock_irqrestore(&cq->lock, flags);
	}
	return missed;
}

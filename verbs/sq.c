// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Send queues.
 *
 *  1. An entry is copied out of the ring once, when it is taken; the copy is what is
 *     checked, executed and completed.  The ring may be a program's memory.
 *  2. Order: entries are taken, executed and completed in the order of the ring.  The
 *     agent asks for more (scan) when it has loaded all that it was given, so what
 *     stands before a local entry has started when that is executed.
 *  3. LOCAL_INV also waits until no request before it names its key in a segment: then
 *     the queue is held, and the completion that frees it rings.
 *  4. At most as many entries are under way as the ring has, so that completions fit
 *     into a CQ made for the queue, and no more than the agent takes.  The agent scans
 *     again when it has loaded the entries of a scan.  If a scan found no room, the
 *     queue is held: each entry under way is local or loaded, and a completion rings.
 *  5. The agent's lock of the queue is the only one: hooks run under it, and a flush
 *     takes it.
 *  6. libsiw rings unless the entry before its own is still VALID.  So VALID is cleared,
 *     and behind a full barrier the next entry is looked at.
 *
 *   entry's state      where                 next
 *   posted             ring, VALID           taken by vr_sq_scan(), or flushed
 *   taken, not loaded  done <= i < taken     loaded by vr_sq_load(), or flushed by the agent
 *   loaded             done <= i < loaded    complete, by vr_sq_complete()
 *   executed (local)   done <= i < taken     reported when all before it are complete
 */

#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "sq.h"

#define VR_NO_OPCODE	SIW_NUM_OPCODES

int vr_sq_init(struct vr_sq *sq, u32 entries, struct ib_udata *udata, u64 *key)
{
	int ret = 0;

	spin_lock_init(&sq->put_lock);
	sq->mask = entries - 1;
	sq->copies = min(entries, VR_POSTED) - 1;
	sq->wrs = kvcalloc(sq->copies + 1, sizeof(*sq->wrs), GFP_KERNEL);
	if (!sq->wrs)
		return -ENOMEM;
	/* A consumer in the kernel may post more segments than the ABI's ring holds. */
	if (!udata) {
		sq->sges = kvcalloc(entries, sizeof(*sq->sges), GFP_KERNEL);
		ret = sq->sges ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = vr_buf_alloc(&sq->buf, entries * sizeof(*sq->ring), udata,
				   key);
	if (ret) {
		kvfree(sq->sges);
		kvfree(sq->wrs);
		sq->wrs = NULL;
		return ret;
	}
	sq->ring = sq->buf.addr;
	return 0;
}

/* The segments of entries that were never taken, or never completed. */
static void vr_sq_free_sges(struct vr_sq *sq)
{
	u32 i;

	for (i = 0; sq->sges && i <= sq->mask; i++)
		kfree(sq->sges[i]);
	for (i = 0; i <= sq->copies; i++)
		kfree(sq->wrs[i].sges);
	kvfree(sq->sges);
}

void vr_sq_free(struct vr_sq *sq)
{
	if (!sq->wrs)
		return;
	vr_sq_free_sges(sq);
	vr_buf_free(&sq->buf);
	kvfree(sq->wrs);
	sq->wrs = NULL;
}

u16 vr_wc_error_of(enum via_status status)
{
	if (status & VIA_ST_DESC_FLUSHED_ERROR)
		return SIW_WC_WR_FLUSH_ERR;
	if (status & VIA_ST_LENGTH_ERROR)
		return SIW_WC_LOC_LEN_ERR;
	if (status & VIA_ST_PROTECTION_ERROR)
		return SIW_WC_LOC_PROT_ERR;
	if (status & VIA_ST_RDMA_PROT_ERROR)
		return SIW_WC_REM_ACCESS_ERR;
	if (status & VIA_ST_FORMAT_ERROR)
		return SIW_WC_LOC_QP_OP_ERR;
	return SIW_WC_GENERAL_ERR;
}

/* None, or several. */
static noinline void vr_set_many(struct via_desc *d, const struct siw_sge *sge,
				 u32 n, bool user)
{
	struct via_seg *to = d->seg;
	u64 length = 0;
	u32 i;

	if (unlikely(user && n > SIW_MAX_SGE)) {
		d->status = VIA_ST_FORMAT_ERROR;
		return;
	}
	if (n > VIA_DESC_INLINE) {
		to = kmalloc_array(n, sizeof(*to), GFP_ATOMIC);
		if (!to) {
			d->status = VIA_ST_TRANSPORT_ERROR;
			return;
		}
		d->more = to;
	}
	for (i = 0; i < n; i++) {
		to[i] = (struct via_seg){
			.addr = sge[i].laddr,
			.handle = sge[i].lkey,
			.len = sge[i].length,
		};
		length += sge[i].length;
		if (unlikely(user && !sge[i].lkey && sge[i].length))
			d->status = VIA_ST_PROTECTION_ERROR;
	}
	d->nsegs = n;
	if (unlikely(length > VR_MESSAGE)) {
		d->status = VIA_ST_LENGTH_ERROR;
		length = 0;
	}
	d->length = length;
}

void vr_set_segments(struct via_desc *d, const struct siw_sge *sge, u32 n,
		     bool user)
{
	if (unlikely(n != 1 || sge->length > VR_MESSAGE || !sge->lkey)) {
		vr_set_many(d, sge, n, user);
		return;
	}
	d->seg[0] = (struct via_seg){
		.addr = sge->laddr,
		.handle = sge->lkey,
		.len = sge->length,
	};
	d->nsegs = 1;
	d->length = sge->length;
}

/* Posting -------------------------------------------------------------------- */

static u8 vr_opcode_of(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_SEND:
		return SIW_OP_SEND;
	case IB_WR_SEND_WITH_INV:
		return SIW_OP_SEND_REMOTE_INV;
	case IB_WR_RDMA_WRITE:
		return SIW_OP_WRITE;
	case IB_WR_RDMA_READ:
		return SIW_OP_READ;
	case IB_WR_RDMA_READ_WITH_INV:
		return SIW_OP_READ_LOCAL_INV;
	case IB_WR_LOCAL_INV:
		return SIW_OP_INVAL_STAG;
	case IB_WR_REG_MR:
		return SIW_OP_REG_MR;
	default:
		return VR_NO_OPCODE;
	}
}

static u16 vr_flags_of(const struct vr_sq *sq, int send_flags)
{
	u16 flags = SIW_WQE_VALID;

	if (send_flags & IB_SEND_SIGNALED || sq->sig_all)
		flags |= SIW_WQE_SIGNALLED;
	if (send_flags & IB_SEND_SOLICITED)
		flags |= SIW_WQE_SOLICITED;
	if (send_flags & IB_SEND_FENCE)
		flags |= SIW_WQE_READ_FENCE;
	if (send_flags & IB_SEND_INLINE)
		flags |= SIW_WQE_INLINE;
	return flags;
}

/* Data that goes in the entry, behind the first segment, which has its length. */
static int vr_put_inline(struct siw_sqe *s, const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)&s->sge[1];
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > SIW_MAX_INLINE - length)
			return -EINVAL;
		memcpy(to + length, (void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	s->sge[0] = (struct siw_sge){ .length = length };
	s->num_sge = 1;
	return 0;
}

/* @sges: where a list goes that the entry has no room for. */
static int vr_put_segments(struct siw_sqe *s, struct siw_sge **sges,
			   const struct ib_send_wr *wr)
{
	struct siw_sge *to = s->sge;
	int i;

	if (wr->num_sge > SIW_MAX_SGE) {
		to = kmalloc_array(wr->num_sge, sizeof(*to), GFP_ATOMIC);
		if (!to)
			return -ENOMEM;
		*sges = to;
	}
	for (i = 0; i < wr->num_sge; i++)
		to[i] = (struct siw_sge){
			.laddr = wr->sg_list[i].addr,
			.length = wr->sg_list[i].length,
			.lkey = wr->sg_list[i].lkey,
		};
	s->num_sge = wr->num_sge;
	return 0;
}

static int vr_put_wr(struct siw_sqe *s, struct siw_sge **sges,
		     const struct ib_send_wr *wr)
{
	s->id = wr->wr_id;
	s->opcode = vr_opcode_of(wr->opcode);
	s->num_sge = 0;
	switch (s->opcode) {
	case SIW_OP_SEND_REMOTE_INV:
	case SIW_OP_INVAL_STAG:
		s->rkey = wr->ex.invalidate_rkey;
		break;
	case SIW_OP_REG_MR:
		s->base_mr = (uintptr_t)reg_wr(wr)->mr;
		s->rkey = reg_wr(wr)->key;
		s->access = reg_wr(wr)->access;
		return 0;
	case SIW_OP_WRITE:
	case SIW_OP_READ:
	case SIW_OP_READ_LOCAL_INV:
		s->raddr = rdma_wr(wr)->remote_addr;
		s->rkey = rdma_wr(wr)->rkey;
		break;
	case VR_NO_OPCODE:
		return -EOPNOTSUPP;
	}
	if (s->opcode == SIW_OP_INVAL_STAG)
		return 0;
	if (wr->send_flags & IB_SEND_INLINE)
		return vr_put_inline(s, wr);
	if (wr->num_sge > VR_KERNEL_SGES)
		return -EINVAL;
	return vr_put_segments(s, sges, wr);
}

int vr_sq_post(struct vr_sq *sq, const struct ib_send_wr *wr)
{
	u32 at = sq->put & sq->mask;
	struct siw_sqe *s = &sq->ring[at];
	int ret;

	lockdep_assert_held(&sq->put_lock);
	if (READ_ONCE(s->flags) & SIW_WQE_VALID)
		return -ENOMEM;
	ret = vr_put_wr(s, &sq->sges[at], wr);
	if (ret)
		return ret;
	/* Pairs with the load-acquire of vr_sq_scan(). */
	smp_store_release(&s->flags, vr_flags_of(sq, wr->send_flags));
	sq->put++;
	return 0;
}

/* Taking ---------------------------------------------------------------------- */

static bool vr_is_local(u8 opcode)
{
	return opcode == SIW_OP_INVAL_STAG || opcode == SIW_OP_REG_MR;
}

static struct siw_sge *vr_sges_of(struct vr_wr *wr)
{
	return unlikely(wr->sges) ? wr->sges : wr->sqe.sge;
}

/* Only consumers in the kernel wait so: num_sge is what vr_put_wr() has bounded. */
static bool vr_wr_uses(struct vr_wr *wr, u32 key)
{
	const struct siw_sge *sges = vr_sges_of(wr);
	u32 i;

	for (i = 0; i < wr->sqe.num_sge; i++)
		if (sges[i].lkey == key)
			return true;
	return false;
}

/* Does a request that is not complete name that key of its own memory? */
static bool vr_sq_uses(const struct vr_sq *sq, u32 key)
{
	u32 i;

	for (i = sq->done; i != sq->taken; i++) {
		struct vr_wr *wr = &sq->wrs[i & sq->copies];

		if (!wr->local && vr_wr_uses(wr, key))
			return true;
	}
	return false;
}

static u16 vr_execute(struct vr_sq *sq, const struct siw_sqe *s)
{
	struct ib_mr *mr = (struct ib_mr *)(uintptr_t)s->base_mr;

	/* What a program's ring holds is no pointer. */
	if (sq->user)
		return SIW_WC_LOC_QP_OP_ERR;
	if (s->opcode == SIW_OP_INVAL_STAG)
		return vr_mr_invalidate(sq->dev, s->rkey) ? SIW_WC_SUCCESS :
							    SIW_WC_LOC_ACCESS_ERR;
	return vr_mr_register(vr_mr_of(mr), s->rkey, s->access) ?
	       SIW_WC_LOC_QP_OP_ERR : SIW_WC_SUCCESS;
}

static u32 vr_sq_report(struct vr_sq *sq, const struct siw_sqe *s, u16 status,
			u32 bytes)
{
	struct vr_cqe e = {
		.id = s->id,
		.qp = sq->qp,
		.user = sq->user,
		.solicited = status,
		.opcode = s->opcode,
		.status = status,
		.bytes = bytes,
	};

	if (likely(!status) && !(s->flags & SIW_WQE_SIGNALLED) && !sq->sig_all)
		return 0;
	/* A program's ring has said so. */
	if (unlikely(e.opcode >= SIW_NUM_OPCODES))
		e.opcode = SIW_OP_SEND;
	return vr_todo_of_cqe(vr_cq_add(sq->cq, &e), VR_TODO_SEND_CQ);
}

/* Local requests whose turn has come; what was completed is loaded, too. */
static u32 vr_sq_catch_up(struct vr_sq *sq)
{
	const struct vr_wr *wr;
	u32 todo = 0;

	while (sq->done != sq->taken) {
		wr = &sq->wrs[sq->done & sq->copies];
		if (!wr->local)
			break;
		todo |= vr_sq_report(sq, &wr->sqe, wr->status, 0);
		sq->done++;
	}
	if ((s32)(sq->loaded - sq->done) < 0)
		sq->loaded = sq->done;
	return todo;
}

/* Segments that the entry had no room for go from the ring to its copy. */
static void vr_sq_move_sges(struct vr_sq *sq, struct vr_wr *wr)
{
	struct siw_sge **from = &sq->sges[sq->taken & sq->mask];

	wr->sges = *from;
	*from = NULL;
}

/* Copy the next entry, no more of it than is used. */
static void vr_sq_copy(struct vr_sq *sq, struct vr_wr *wr,
		       const struct siw_sqe *s)
{
	size_t bytes = offsetof(struct siw_sqe, sge) + sizeof(s->sge[0]);

	memcpy(&wr->sqe, s, bytes);
	/* The copy is what counts: no second look at these. */
	barrier();
	if (wr->sqe.flags & SIW_WQE_INLINE || wr->sqe.num_sge > 1)
		memcpy(&wr->sqe.sge[1], &s->sge[1], sizeof(s->sge) -
		       sizeof(s->sge[0]));
	wr->local = vr_is_local(wr->sqe.opcode);
	wr->status = SIW_WC_SUCCESS;
	if (!sq->user && unlikely(wr->sqe.num_sge > SIW_MAX_SGE))
		vr_sq_move_sges(sq, wr);
}

static void vr_sq_drop_sges(struct vr_wr *wr)
{
	kfree(wr->sges);
	wr->sges = NULL;
}

/* Must a local request wait for a completion? */
static bool vr_sq_must_wait(const struct vr_sq *sq, const struct siw_sqe *s)
{
	return s->opcode == SIW_OP_INVAL_STAG &&
	       (vr_sq_uses(sq, s->rkey) ||
		(s->flags & SIW_WQE_READ_FENCE && sq->done != sq->taken));
}

u32 vr_sq_scan(struct vr_sq *sq, u32 *n, bool *more)
{
	struct siw_sqe *s;
	struct vr_wr *wr;
	u32 todo = 0;

	*n = 0;
	sq->held = false;
	for (;;) {
		s = &sq->ring[sq->taken & sq->mask];
		/* Pairs with the store-release of who posts. */
		*more = smp_load_acquire(&s->flags) & SIW_WQE_VALID;
		if (!*more)
			break;
		/* Ahead of who completes: it holds the lock. */
		if (sq->taken - sq->done > sq->copies) {
			sq->held = !*n;
			break;
		}
		wr = &sq->wrs[sq->taken & sq->copies];
		vr_sq_copy(sq, wr, s);
		if (wr->local) {
			/* What was just found starts first. */
			if (*n)
				break;
			sq->held = !sq->user && vr_sq_must_wait(sq, &wr->sqe);
			if (sq->held)
				break;
			wr->status = vr_execute(sq, &wr->sqe);
			if (wr->status) {
				vr_count(sq->dev, VR_BAD_WRS);
				todo |= VR_TODO_BREAK | VR_TODO_FATAL;
			}
		} else {
			++*n;
		}
		sq->taken++;
		/* Full barrier: see 6. above. */
		smp_store_mb(s->flags, 0);
		if (wr->local)
			todo |= vr_sq_catch_up(sq);
	}
	return todo;
}

/* Loading and completing ------------------------------------------------------- */

static void vr_load_send(struct vr_sq *sq, const struct siw_sqe *s,
			 struct via_desc *d)
{
	if (s->flags & SIW_WQE_SOLICITED)
		d->control |= VIA_CTL_KERNEL_SOLICITED;
	if (s->opcode == SIW_OP_SEND_REMOTE_INV) {
		d->control |= VIA_CTL_KERNEL_INVALIDATE;
		d->immediate = s->rkey;
	}
}

static void vr_load_segments(struct vr_sq *sq, struct vr_wr *wr,
			     struct via_desc *d)
{
	struct siw_sqe *s = &wr->sqe;

	if (likely(!(s->flags & SIW_WQE_INLINE))) {
		vr_set_segments(d, vr_sges_of(wr), s->num_sge, sq->user);
		return;
	}
	if (s->sge[0].length > SIW_MAX_INLINE) {
		d->status = VIA_ST_LENGTH_ERROR;
		return;
	}
	d->length = s->sge[0].length;
	d->nsegs = !!d->length;
	d->seg[0] = (struct via_seg){
		.addr = (uintptr_t)&s->sge[1],
		.handle = VIA_KERNEL_MEM_ALL,
		.len = d->length,
	};
}

static void vr_load_wr(struct vr_sq *sq, struct vr_wr *wr, struct via_desc *d)
{
	const struct siw_sqe *s = &wr->sqe;

	switch (s->opcode) {
	case SIW_OP_SEND:
	case SIW_OP_SEND_REMOTE_INV:
		d->control = VIA_CTL_OP_SENDRECV;
		vr_load_send(sq, s, d);
		break;
	case SIW_OP_WRITE:
		d->control = VIA_CTL_OP_RDMAWRITE;
		break;
	case SIW_OP_READ:
	case SIW_OP_READ_LOCAL_INV:
		/* Nothing inline can be read into. */
		if (s->flags & SIW_WQE_INLINE)
			d->status = VIA_ST_FORMAT_ERROR;
		d->control = VIA_CTL_OP_RDMAREAD;
		break;
	default:
		d->status = VIA_ST_FORMAT_ERROR;
		return;
	}
	d->raddr = s->raddr;
	d->rhandle = s->rkey;
	if (s->flags & SIW_WQE_READ_FENCE)
		d->control |= VIA_CTL_QFENCE;
	vr_load_segments(sq, wr, d);
}

void vr_sq_load(struct vr_sq *sq, struct via_desc *d)
{
	struct vr_wr *wr;

	do
		wr = &sq->wrs[sq->loaded++ & sq->copies];
	while (wr->local);
	vr_load_wr(sq, wr, d);
	if (unlikely(d->status))
		vr_count(sq->dev, VR_BAD_WRS);
}

u32 vr_sq_complete(struct vr_sq *sq, const struct via_kernel_done *done)
{
	u16 status = vr_wc_status_of(done->status);
	struct vr_wr *wr = &sq->wrs[sq->done & sq->copies];
	const struct siw_sqe *s = &wr->sqe;
	u32 todo;

	if (unlikely(s->opcode == SIW_OP_READ_LOCAL_INV && !status))
		vr_mr_invalidate(sq->dev, vr_sges_of(wr)->lkey);
	vr_work_add(&sq->work, status, done->length);
	todo = vr_sq_report(sq, s, status, done->length);
	if (unlikely(wr->sges))
		vr_sq_drop_sges(wr);
	sq->done++;
	if (sq->done != sq->taken || sq->loaded != sq->done)
		todo |= vr_sq_catch_up(sq);
	if (unlikely(sq->held))
		todo |= VR_TODO_RING;
	return todo;
}

bool vr_sq_waits(const struct vr_sq *sq)
{
	/* Pairs with the store-release of who posts. */
	return smp_load_acquire(&sq->ring[sq->taken & sq->mask].flags) &
	       SIW_WQE_VALID;
}

u32 vr_sq_flush(struct vr_sq *sq)
{
	struct siw_sqe *s;
	struct vr_wr *wr;
	u32 n, todo = 0;

	/* What is with the agent completes first, and then it is our turn. */
	for (n = 0; n <= sq->mask && sq->done == sq->taken; n++) {
		s = &sq->ring[sq->taken & sq->mask];
		/* Pairs with the store-release of who posts. */
		if (!(smp_load_acquire(&s->flags) & SIW_WQE_VALID))
			break;
		wr = &sq->wrs[sq->taken & sq->copies];
		vr_sq_copy(sq, wr, s);
		sq->taken++;
		sq->done++;
		sq->loaded = sq->done;
		/* Full barrier: see 6. above. */
		smp_store_mb(s->flags, 0);
		todo |= vr_sq_report(sq, &wr->sqe, SIW_WC_WR_FLUSH_ERR, 0);
		vr_sq_drop_sges(wr);
	}
	sq->held = false;
	return todo;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Virtual interfaces: creation, destruction, the doorbell.  Moves from state to
 * state are in move.c, references in vis.c.
 */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "area.h"
#include "connect.h"
#include "cq.h"
#include "ends.h"
#include "engine.h"
#include "kapi.h"
#include "ledger.h"
#include "loop.h"
#include "nic.h"
#include "p2p.h"
#include "ptag.h"
#include "queue.h"
#include "quota.h"
#include "via_trace.h"
#include "vi.h"
#include "wait.h"

static int via_vi_check_attrs(struct via_file *f, const struct via_vi_attrs *a)
{
	const struct via_limits *lim = &f->nic->limits;
	u32 most = f->kernel ? VIA_KERNEL_TRANSFER : lim->max_transfer;

	if (a->rights & ~(VIA_RDMA_WRITE | VIA_RDMA_READ))
		return -EINVAL;
	if (hweight32(a->reliability) != 1 ||
	    !(a->reliability & lim->reliability))
		return VIA_R_INVALID_RELIABILITY_LEVEL;
	if (!a->max_transfer || a->max_transfer > most)
		return VIA_R_INVALID_MTU;
	if (a->rights & VIA_RDMA_READ && !(lim->rdma_read & a->reliability))
		return VIA_R_INVALID_RDMAREAD;
	return 0;
}

/* The parts that a VI owns alone; undone by via_vi_free_parts(). */
static int via_vi_alloc_parts(struct via_vi *vi, void *kernel_priv)
{
	size_t priv = vi->nic->ops->vi_priv_size;
	bool kernel = vi->file->kernel;

	/* What is shared with no program is words of the agent's own. */
	vi->shared = kernel ? kzalloc(sizeof(*vi->shared), GFP_KERNEL) :
			      via_area_alloc(&vi->area);
	if (!vi->shared)
		return -ENOMEM;
	if (kernel) {
		vi->kernel = via_kernel_vi_alloc(vi, kernel_priv);
		if (!vi->kernel)
			return -ENOMEM;
	}
	vi->shared->send_kern.poll = !!vi->nic->ops->busy_poll;
	vi->shared->recv_kern.poll = !!vi->nic->ops->busy_poll;
	if (via_queue_init(&vi->sq, vi->shared, false, kernel) ||
	    via_queue_init(&vi->rq, vi->shared, true, kernel))
		return -ENOMEM;
	if (priv) {
		vi->priv = kzalloc(priv, GFP_KERNEL_ACCOUNT);
		if (!vi->priv)
			return -ENOMEM;
	}
	return 0;
}

static void via_vi_free_parts(struct via_vi *vi)
{
	via_queue_free(&vi->sq);
	via_queue_free(&vi->rq);
	if (vi->area)
		via_area_free(vi);
	else
		kfree(vi->shared);
	vi->shared = NULL;
}

/* Receives that are looked at under one lock, outside of softirqs. */
#define VIA_RECV_SCANS	64u

static void via_vi_scan(struct work_struct *scan)
{
	struct via_vi *vi = container_of(scan, struct via_vi, scan);
	struct via_work work = VIA_WORK(VIA_RECV_SCANS);
	struct via_queue *q = &vi->rq;

	via_end_begins();
	/* The reference keeps the VI, and the lock what it shares. */
	rcu_read_lock();
	spin_lock_bh(&q->lock);
	if (!q->dead && via_recv_scan(vi, &work))
		via_vi_scan_later(vi);
	spin_unlock_bh(&q->lock);
	via_vi_settle(vi);
	rcu_read_unlock();
	via_vi_put(vi);
	via_end_is_over();
}

static struct via_vi *via_vi_alloc(struct via_file *f,
				   const struct via_vi_attrs *attrs, void *priv)
{
	struct via_vi *vi = kzalloc(sizeof(*vi), GFP_KERNEL_ACCOUNT);

	if (!vi)
		return NULL;
	kref_init(&vi->ref);
	refcount_set(&vi->shared_refs, 1);
	vi->file = f;
	vi->nic = f->nic;
	vi->attrs = *attrs;
	vi->state = VIA_STATE_IDLE;
	vi->verdict = VIA_VERDICT_NONE;
	init_waitqueue_head(&vi->conn_wait);
	mutex_init(&vi->area_mutex);
	INIT_LIST_HEAD(&vi->link);
	via_table_node_init(&vi->p2p_node);
	INIT_WORK(&vi->scan, via_vi_scan);
	atomic_long_inc(&via_made.vis);
	if (via_vi_alloc_parts(vi, priv)) {
		via_vi_free_parts(vi);
		via_vi_put(vi);
		return NULL;
	}
	return vi;
}

static void via_vi_detach_cqs(struct via_file *f, struct via_vi *vi)
{
	via_cq_detach(f, &vi->sq);
	via_cq_detach(f, &vi->rq);
}

static enum via_verdict via_vi_attach_cqs(struct via_file *f, struct via_vi *vi,
					  const struct via_vi_create *arg)
{
	int ret = via_cq_attach(f, &vi->sq, arg->send_cq);

	if (!ret)
		ret = via_cq_attach(f, &vi->rq, arg->recv_cq);
	return ret;
}

/*
 * Have the device prepare it, and publish it: in one read side, so that the
 * end of the NIC comes before both or finds the VI in its table.
 */
static enum via_verdict via_vi_publish(struct via_file *f, struct via_vi *vi)
{
	struct via_nic *nic = f->nic;
	int ret, idx;

	if (!via_nic_enter(nic, &idx))
		return VIA_R_ERROR_RESOURCE;
	ret = nic->ops->vi_create ? nic->ops->vi_create(vi) : 0;
	if (!ret) {
		list_add_tail(&vi->link, &f->vis);
		via_nic_publish_vi(nic, vi);
	}
	via_nic_leave(nic, idx);
	return ret ? VIA_R_ERROR_RESOURCE : 0;
}

/* The longest rings at once: what a library does not know of others wants. */
static int via_vi_grow_whole(struct via_vi *vi)
{
	return via_area_grow(vi, false, VIA_QUEUE_ENTRIES) ?:
	       via_area_grow(vi, true, VIA_QUEUE_ENTRIES);
}

int via_vi_make(struct via_file *f, struct via_vi_create *arg, void *priv)
{
	struct via_vi *vi;
	int ret;

	lockdep_assert_held(&f->mutex);
	ret = via_vi_check_attrs(f, &arg->attrs);
	if (ret)
		return ret;
	if (!via_ptag_use(f, arg->attrs.ptag))
		return VIA_R_INVALID_PTAG;
	ret = -EDQUOT;
	if (!via_quota_charge(f->quota, VIA_QUOTA_VIS, 1))
		goto err_ptag;
	ret = VIA_R_ERROR_RESOURCE;
	vi = via_vi_alloc(f, &arg->attrs, priv);
	if (!vi)
		goto err_quota;
	if (vi->area && arg->entries != VIA_VI_FEW) {
		ret = via_vi_grow_whole(vi);
		if (ret)
			goto err_vi;
	}
	vi->shared->entries = vi->sq.entries;
	ret = via_vi_attach_cqs(f, vi, arg);
	if (ret)
		goto err_vi;
	if (via_nic_add_vi(f->nic, vi)) {
		ret = VIA_R_ERROR_RESOURCE;
		goto err_vi;
	}
	ret = via_vi_publish(f, vi);
	if (ret)
		goto err_index;

	arg->vi = vi->id;
	arg->entries = vi->sq.entries;
	arg->mmap_size = VIA_AREA_SIZE;
	return 0;

err_index:
	via_nic_remove_vi(f->nic, vi);
err_vi:
	via_vi_detach_cqs(f, vi);
	via_vi_free_parts(vi);
	via_vi_put(vi);
err_quota:
	via_quota_uncharge(f->quota, VIA_QUOTA_VIS, 1);
err_ptag:
	via_ptag_unuse(f, arg->attrs.ptag);
	return ret;
}

int via_vi_create(struct via_file *f, struct via_vi_create *arg)
{
	return via_vi_make(f, arg, NULL);
}

/*
 * Off every list that an attempt or a connection may have put it on, whatever
 * the state says.
 */
static void via_vi_forget(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;
	int idx;

	via_p2p_unlist(vi);
	via_loop_leave(vi);
	if (!nic->ops->vi_forget || !via_nic_enter(nic, &idx))
		return;
	via_vi_lock(vi);
	nic->ops->vi_forget(vi);
	via_vi_unlock(vi);
	via_nic_leave(nic, idx);
}

/* The last one frees what the VI shares, and what that was charged to. */
static void via_vi_put_shared(struct via_vi *vi)
{
	struct via_file *f = vi->file;

	if (!refcount_dec_and_test(&vi->shared_refs))
		return;
	via_vi_free_parts(vi);
	via_quota_settle(f->quota, VIA_QUOTA_VIS, 1);
	via_vi_put(vi);
	via_file_put(f);
}

/* A grace period after it was taken out of nic->vis: no reader is left. */
static void via_vi_reap(struct work_struct *work)
{
	via_end_begins();
	via_vi_put_shared(container_of(to_rcu_work(work), struct via_vi,
				       death));
	via_end_is_over();
}

/*
 * All of its end but the memory, which follows after a grace period without
 * the caller: one that waited could have as many grace periods as it likes.
 * The memory stays charged until then.
 */
void via_vi_kill(struct via_file *f, struct via_vi *vi)
{
	lockdep_assert_held(&f->mutex);
	via_vi_disconnect(vi);
	via_vi_forget(vi);
	via_vi_lock(vi);
	vi->sq.dead = true;
	vi->rq.dead = true;
	vi->verdict = VIA_R_INVALID_STATE;
	via_notice_cancel(&vi->sq.notice);
	via_notice_cancel(&vi->rq.notice);
	via_wake(&vi->sq.sleepers);
	via_wake(&vi->rq.sleepers);
	/* Never the last reference: the file has its own of each CQ. */
	via_vi_detach_cqs(f, vi);
	via_vi_unlock(vi);
	via_nic_remove_vi(f->nic, vi);
	wake_up_all(&vi->conn_wait);
	list_del_init(&vi->link);
	via_ptag_unuse(f, vi->attrs.ptag);

	via_quota_expect(f->quota, 1);
	via_file_get(f);
	INIT_RCU_WORK(&vi->death, via_vi_reap);
	via_reap_queue(&vi->death);
}

int via_vi_destroy(struct via_file *f, u32 id)
{
	struct via_vi *vi = via_vi_get(f, id);
	int ret = 0;
	u32 n;

	lockdep_assert_held(&f->mutex);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	via_conn_expire(vi);
	via_vi_lock(vi);
	if (!via_vi_may(vi, VIA_EV_DESTROY))
		ret = VIA_R_INVALID_STATE;
	else if (vi->sq.next != vi->sq.head || vi->rq.next != vi->rq.head ||
		 (via_queue_posted(&vi->sq, &n) && n) ||
		 (via_queue_posted(&vi->rq, &n) && n))
		ret = VIA_R_ERROR_RESOURCE;
	via_vi_unlock(vi);
	if (!ret)
		via_vi_kill(f, vi);
	via_vi_put(vi);
	return ret;
}

void via_vi_destroy_all(struct via_file *f)
{
	struct via_vi *vi, *n;

	lockdep_assert_held(&f->mutex);
	list_for_each_entry_safe(vi, n, &f->vis, link) {
		via_vi_kill(f, vi);
		/* Each may have flushed 2,048 descriptors. */
		cond_resched();
	}
}

int via_vi_query(struct via_file *f, struct via_vi_query *arg)
{
	struct via_vi *vi = via_vi_get(f, arg->vi);

	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	via_vi_settle(vi);
	via_conn_expire(vi);
	arg->state = READ_ONCE(vi->state);
	arg->attrs = vi->attrs;
	arg->send_cq = vi->sq.cq ? vi->sq.cq->id : 0;
	arg->recv_cq = vi->rq.cq ? vi->rq.cq->id : 0;
	via_vi_put(vi);
	return 0;
}

/* Posted and not completed; what the program says counts if it can be so. */
static u32 via_queue_open(const struct via_queue *q)
{
	u32 n;

	return q->next - q->head + (via_queue_posted(q, &n) ? n : 0);
}

void via_vi_look(struct via_vi *vi, struct via_vi_view *view)
{
	memset(view, 0, sizeof(*view));
	view->id = vi->id;
	via_vi_lock(vi);
	view->state = vi->state;
	view->level = vi->attrs.reliability;
	view->ptag = vi->attrs.ptag;
	view->send_cq = vi->sq.cq ? vi->sq.cq->id : 0;
	view->recv_cq = vi->rq.cq ? vi->rq.cq->id : 0;
	view->send_in_flight = vi->sq.next - vi->sq.head;
	view->send_posted = via_queue_open(&vi->sq);
	view->recv_posted = via_queue_open(&vi->rq);
	view->p2p = vi->p2p;
	if (vi->state == VIA_STATE_PENDING ||
	    vi->state == VIA_STATE_CONNECTED) {
		view->local = vi->local;
		view->remote = vi->remote;
	}
	via_vi_unlock(vi);
}

int via_vi_set(struct via_file *f, const struct via_vi_set *arg)
{
	u32 drop = arg->attrs.ptag;
	struct via_vi *vi;
	int ret;

	lockdep_assert_held(&f->mutex);
	if (arg->reserved)
		return -EINVAL;
	vi = via_vi_get(f, arg->vi);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	ret = READ_ONCE(vi->state) == VIA_STATE_IDLE ?
	      via_vi_check_attrs(f, &arg->attrs) : VIA_R_INVALID_STATE;
	if (!ret && !via_ptag_use(f, arg->attrs.ptag))
		ret = VIA_R_INVALID_PTAG;
	if (ret)
		goto out;
	via_vi_lock(vi);
	if (via_vi_move(vi, VIA_EV_CHANGE, NULL)) {
		drop = vi->attrs.ptag;
		vi->attrs = arg->attrs;
		/* What was checked by the old ones is to be checked anew. */
		via_queue_unload(&vi->rq);
	} else {
		ret = VIA_R_INVALID_STATE;
	}
	via_vi_unlock(vi);
	via_ptag_unuse(f, drop);
out:
	via_vi_put(vi);
	return ret;
}

int via_vi_overrun(struct via_file *f, const struct via_overrun *arg)
{
	struct via_vi *vi = via_vi_get(f, arg->vi);

	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	via_vi_error(vi, VIA_ERR_VI_OVERRUN,
		     arg->recv ? VIA_ST_OP_RECEIVE >> 16 : 0, arg->desc);
	via_vi_lock(vi);
	if (vi->state == VIA_STATE_CONNECTED && via_vi_reliable(vi))
		via_vi_break_later(vi, VIA_BROKEN_TELL);
	via_vi_unlock(vi);
	via_vi_settle(vi);
	via_vi_put(vi);
	return 0;
}

/*
 * A VI of the file, whose area stays, or NULL; for via_vi_put_shared(), which
 * is never the last of the file: that is open.
 */
static struct via_vi *via_vi_get_shared(struct via_file *f, u32 index)
{
	struct via_vi *vi;

	rcu_read_lock();
	vi = via_vi_lookup(f->nic, index);
	/* Its pages are freed a grace period after it was unlinked. */
	if (vi && vi->file == f)
		refcount_inc(&vi->shared_refs);
	else
		vi = NULL;
	rcu_read_unlock();
	return vi;
}

int via_vi_mmap(struct via_file *f, u32 index, struct vm_area_struct *vma)
{
	struct via_vi *vi = via_vi_get_shared(f, index);
	int ret;

	if (!vi)
		return -EINVAL;
	ret = via_area_mmap(vi, vma);
	via_vi_put_shared(vi);
	return ret;
}

int via_vi_grow(struct via_file *f, struct via_vi_grow *arg)
{
	struct via_vi *vi;
	int ret;

	if (arg->reserved || arg->recv > 1)
		return -EINVAL;
	if (arg->entries > VIA_QUEUE_ENTRIES)
		return VIA_R_INVALID_PARAMETER;
	vi = via_vi_get_shared(f, arg->vi & 0xffff);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	ret = vi->id == arg->vi ? via_area_grow(vi, arg->recv, arg->entries) :
				  VIA_R_INVALID_PARAMETER;
	if (!ret)
		arg->entries = arg->recv ? READ_ONCE(vi->rq.entries) :
					    READ_ONCE(vi->sq.entries);
	via_vi_put_shared(vi);
	return ret;
}

static __always_inline int via_trap_send(struct via_vi *vi, bool kernel)
{
	int ret = 0;

	spin_lock_bh(&vi->sq.lock);
	/* Under the lock: not before a scan that ends now says that all was found. */
	if (kernel)
		vi->kernel->dry = false;
	vi->traps++;
	trace_via_doorbell(vi, false);
	if (likely(vi->state == VIA_STATE_CONNECTED && !via_vi_is_broken(vi)))
		ret = vi->xport->send(vi);
	else if (!vi->sq.dead && vi->state != VIA_STATE_CONNECTED)
		via_queue_flush(vi, &vi->sq);
	spin_unlock_bh(&vi->sq.lock);
	via_vi_settle(vi);
	return ret;
}

static int via_trap_recv(struct via_vi *vi)
{
	struct via_work work = VIA_WORK(VIA_RECV_SCANS);
	struct via_queue *q = &vi->rq;
	int ret = 0;

	spin_lock_bh(&q->lock);
	trace_via_doorbell(vi, true);
	if (vi->state == VIA_STATE_ERROR) {
		if (!q->dead)
			via_queue_flush(vi, q);
	} else if (!q->dead) {
		/* Pairs with the program's store-release of tail. */
		q->check = smp_load_acquire(&q->prog->tail);
		if (q->check - q->head > q->entries)
			q->check = q->head;
		if (via_recv_scan(vi, &work))
			ret = VIA_TRAP_MORE;
	}
	spin_unlock_bh(&q->lock);
	via_vi_settle(vi);
	return ret;
}

int via_vi_ring(struct via_vi *vi, bool recv)
{
	return recv ? via_trap_recv(vi) : via_trap_send(vi, true);
}

int via_vi_trap(struct via_file *f, u32 op, u32 id)
{
	struct via_vi *vi;
	int ret = -EINVAL;

	/* RCU keeps the VI; its queues live until after a grace period. */
	rcu_read_lock();
	vi = via_vi_lookup(f->nic, id & 0xffff);
	if (likely(vi && vi->id == id && vi->file == f))
		ret = op == VIA_OP_SEND ? via_trap_send(vi, false) :
					  via_trap_recv(vi);
	rcu_read_unlock();
	return ret;
}

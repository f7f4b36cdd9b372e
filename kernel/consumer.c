// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the agent does for a VI of a consumer in the kernel (kapi.c) where a
 * program has slots, completion words and sleepers: its hooks, and what goes
 * with an attempt.
 */

#include <linux/export.h>
#include <linux/slab.h>
#include "kapi.h"
#include "queue.h"
#include "vi.h"

static struct workqueue_struct *via_kernel_wq;

int via_kernel_init(void)
{
	/* A disk may wait for what its consumer does there. */
	via_kernel_wq = alloc_workqueue("via_kernel",
					WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return via_kernel_wq ? 0 : -ENOMEM;
}

void via_kernel_exit(void)
{
	destroy_workqueue(via_kernel_wq);
}

/* Control has more than a program's may have. */
static enum via_status via_kernel_check_notes(struct via_vi *vi,
					      const struct via_queue *q,
					      struct via_desc *d)
{
	const u16 both = VIA_CTL_KERNEL_INVALIDATE | VIA_CTL_IMMEDIATE;

	if (d->control & VIA_CTL_RESERVED & ~VIA_CTL_KERNEL_NOTES || q->recv ||
	    d->control & VIA_CTL_OP_MASK || (d->control & both) == both)
		return VIA_ST_FORMAT_ERROR;
	if (via_conn_notes(vi))
		return 0;
	d->control &= ~VIA_CTL_KERNEL_SOLICITED;
	return d->control & VIA_CTL_KERNEL_INVALIDATE ? VIA_ST_FORMAT_ERROR : 0;
}

void via_kernel_load(struct via_vi *vi, struct via_queue *q, u32 index,
		     struct via_desc *d)
{
	lockdep_assert_held(&q->lock);
	/* But for seg[]: of constant size, so by stores and not by a call. */
	memset(d, 0, offsetof(struct via_desc, seg));
	memset_after(d, 0, seg);
	vi->file->kernel->load(vi, q->recv, index, d);
	if (unlikely(d->control & VIA_CTL_RESERVED))
		d->status |= via_kernel_check_notes(vi, q, d);
}

u32 via_kernel_scan(struct via_vi *vi, struct via_queue *q)
{
	u32 n, what;

	lockdep_assert_held(&q->lock);
	if (!vi->file->kernel->scan)
		return 0;
	what = vi->file->kernel->scan(vi, q->recv);
	if (what & VIA_SCAN_SETTLE)
		atomic_or(VIA_BROKEN_CALL, &vi->broken);
	if (!q->recv)
		vi->kernel->dry = !(what & VIA_SCAN_MORE);
	return via_queue_posted(q, &n) ? n : 0;
}

bool via_kernel_drained(struct via_vi *vi)
{
	/* Who posts after a scan that found nothing more has to ring. */
	lockdep_assert_held(&vi->sq.lock);
	return vi->kernel->dry || !via_kernel_scan(vi, &vi->sq);
}
EXPORT_SYMBOL_GPL(via_kernel_drained);

void via_kernel_complete(struct via_vi *vi, struct via_queue *q,
			 enum via_status status, u32 length, u32 immediate)
{
	struct via_kernel_done done = {
		.index = q->head,
		.status = status & ~VIA_ST_KERNEL_NOTES,
		.length = length,
		.immediate = immediate,
		.solicited = status & VIA_ST_KERNEL_SOLICITED,
		.invalidate = status & VIA_ST_KERNEL_INVALIDATE,
	};

	lockdep_assert_held(&q->lock);
	vi->file->kernel->complete(vi, q->recv, &done);
	atomic_or(VIA_BROKEN_CALL, &vi->broken);
}

void via_kernel_settle(struct via_vi *vi)
{
	if (likely(!(atomic_read(&vi->broken) & VIA_BROKEN_CALL)))
		return;
	rcu_read_lock();
	/* Cleared before: what completes meanwhile is settled once more. */
	if (atomic_fetch_andnot(VIA_BROKEN_CALL, &vi->broken) & VIA_BROKEN_CALL)
		vi->file->kernel->settle(vi);
	rcu_read_unlock();
}

static void via_kernel_settle_work(struct work_struct *work)
{
	struct via_vi *vi = container_of(work, struct via_kernel_vi, settle)->vi;

	via_kernel_settle(vi);
	via_vi_put(vi);
}

struct via_kernel_vi *via_kernel_vi_alloc(struct via_vi *vi, void *priv)
{
	struct via_kernel_vi *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return NULL;
	k->vi = vi;
	k->own.priv = priv;
	INIT_WORK(&k->settle, via_kernel_settle_work);
	return k;
}

void via_kernel_settle_later(struct via_vi *vi)
{
	kref_get(&vi->ref);
	if (!queue_work(via_kernel_wq, &vi->kernel->settle))
		via_vi_put(vi);
}

void via_kernel_begin(struct via_vi *vi, const struct via_reply *reply)
{
	struct via_kernel_vi *k = vi->kernel;

	via_vi_assert_locked(vi);
	k->takes = 0;
	k->told = false;
	WRITE_ONCE(k->fault, VIA_KERNEL_FAULT_NONE);
	k->reply.len = 0;
	if (reply)
		k->reply = *reply;
}

void via_conn_fault(struct via_vi *vi, enum via_kernel_fault fault)
{
	struct via_kernel_vi *k = vi->kernel;

	/* Of two at once, each with one of the locks, either is right. */
	if (k && READ_ONCE(k->fault) == VIA_KERNEL_FAULT_NONE)
		WRITE_ONCE(k->fault, fault);
}
EXPORT_SYMBOL_GPL(via_conn_fault);

void via_conn_takes(struct via_vi *vi, u32 what)
{
	via_vi_assert_locked(vi);
	if (vi->kernel)
		vi->kernel->takes = what;
}
EXPORT_SYMBOL_GPL(via_conn_takes);

bool via_conn_notes(const struct via_vi *vi)
{
	return vi->kernel && vi->kernel->takes & VIA_TAKES_NOTES;
}
EXPORT_SYMBOL_GPL(via_conn_notes);

const struct via_reply *via_conn_reply(const struct via_vi *vi)
{
	const struct via_kernel_vi *k = vi->kernel;

	return k && !k->told && k->takes & VIA_TAKES_REPLY && k->reply.len ?
	       &k->reply : NULL;
}
EXPORT_SYMBOL_GPL(via_conn_reply);

void via_conn_replied(struct via_vi *vi, const struct via_reply *reply)
{
	via_vi_assert_locked(vi);
	if (!vi->kernel)
		return;
	vi->kernel->told = true;
	vi->kernel->reply = *reply;
}
EXPORT_SYMBOL_GPL(via_conn_replied);

void via_kernel_join(struct via_vi *server, struct via_vi *client)
{
	const struct via_reply *reply;

	if (!server->kernel || !client->kernel)
		return;
	via_conn_takes(server, VIA_TAKES_REPLY | VIA_TAKES_NOTES);
	via_conn_takes(client, VIA_TAKES_NOTES);
	reply = via_conn_reply(server);
	if (reply)
		via_conn_replied(client, reply);
}

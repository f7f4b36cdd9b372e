// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Completion queues.
 *
 * The ring is bounded, completions are not lost: each completion word carries
 * its place in the CQ's order, and a queue whose notice found the ring full
 * is in cq->waiting with cq_from at its first unannounced completion.
 * The refill merges those queues by sequence number.  While any queue waits,
 * new notices wait too, or they would overtake.
 *
 * cq->waiting is a tree, sorted by the sequence number that stood in the word
 * of cq_from when the queue was put there (cq_key, the kernel's own), so that
 * one notice costs one visit, however many queues wait.
 *
 * A resize changes the ring under the feet of all of them.  Places are numbered
 * without end, so head and tail stay as they are: entries only move.  Those for
 * which a smaller ring has no place go back to their queues, newest first, as
 * if the ring had been full when they came.
 */

#include <linux/log2.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "cq.h"
#include "ledger.h"
#include "queue.h"
#include "quota.h"
#include "wait.h"

#define VIA_CQ_REFILL_MAX 64	/* queues visited by one trap */
#define VIA_CQ_RETRACT_MAX 1024	/* notices taken back under one lock */

static unsigned long via_cq_ring_pages(const struct via_cq_ring *r)
{
	return PAGE_ALIGN(r->size) >> PAGE_SHIFT;
}

static void via_cq_ring_release(struct kref *ref)
{
	struct via_cq_ring *r = container_of(ref, struct via_cq_ring, ref);

	via_shared_free(r->mem, r->pages, r->size);
	via_quota_uncharge(r->quota, VIA_QUOTA_CQ_PAGES, via_cq_ring_pages(r));
	kfree(r);
	atomic_long_inc(&via_gone.rings);
}

static void via_cq_ring_put(struct via_cq_ring *r)
{
	if (r)
		kref_put(&r->ref, via_cq_ring_release);
}

/* @head: bytes before the entries. */
static struct via_cq_ring *via_cq_ring_alloc(struct via_quota *quota,
					     u32 entries, size_t head)
{
	struct via_cq_ring *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	r->quota = quota;
	r->size = head + entries * sizeof(*r->slots);
	if (!via_quota_charge(quota, VIA_QUOTA_CQ_PAGES, via_cq_ring_pages(r)))
		goto err_free;
	r->mem = via_shared_alloc(r->size, &r->pages);
	if (!r->mem)
		goto err_quota;
	kref_init(&r->ref);
	r->slots = r->mem + head;
	r->entries = entries;
	atomic_long_inc(&via_made.rings);
	return r;

err_quota:
	via_quota_uncharge(quota, VIA_QUOTA_CQ_PAGES, via_cq_ring_pages(r));
err_free:
	kfree(r);
	return NULL;
}

static void via_cq_release(struct kref *ref)
{
	struct via_cq *cq = container_of(ref, struct via_cq, ref);

	via_cq_ring_put(cq->spare);
	via_cq_ring_put(cq->ring);
	put_page(cq->page);
	kfree(cq);
	atomic_long_inc(&via_gone.cqs);
}

void via_cq_put(struct via_cq *cq)
{
	kref_put(&cq->ref, via_cq_release);
}

struct via_cq *via_cq_get(struct via_file *f, u32 id)
{
	struct via_cq *cq;

	xa_lock(&f->cqs);
	cq = xa_load(&f->cqs, id);
	if (cq)
		kref_get(&cq->ref);
	xa_unlock(&f->cqs);
	return cq;
}

static struct via_cq *via_cq_alloc(struct via_quota *quota, u32 entries)
{
	struct via_cq *cq = kzalloc(sizeof(*cq), GFP_KERNEL_ACCOUNT);

	if (!cq)
		return NULL;
	cq->ring = via_cq_ring_alloc(quota, entries, VIA_CQ_HDR_SIZE);
	if (!cq->ring) {
		kfree(cq);
		return NULL;
	}
	/* The first page stays when the ring goes; every page has an address. */
	cq->page = cq->ring->pages[0];
	get_page(cq->page);
	cq->shared = page_address(cq->page);
	cq->slots = cq->ring->slots;
	kref_init(&cq->ref);
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_mutex);
	cq->waiting = RB_ROOT_CACHED;
	INIT_HLIST_HEAD(&cq->sleepers);
	cq->entries = entries;
	cq->shared->entries = entries;
	atomic_long_inc(&via_made.cqs);
	return cq;
}

int via_cq_create(struct via_file *f, struct via_cq_create *arg)
{
	const struct via_limits *lim = &f->nic->limits;
	struct via_cq *cq;
	u32 id;

	lockdep_assert_held(&f->mutex);
	if (!arg->entries)
		return VIA_R_INVALID_PARAMETER;
	if (arg->entries > lim->max_cq_entries || f->cq_count >= lim->max_cq)
		return VIA_R_ERROR_RESOURCE;
	cq = via_cq_alloc(f->quota, roundup_pow_of_two(arg->entries));
	if (!cq)
		return VIA_R_ERROR_RESOURCE;
	if (xa_alloc_cyclic(&f->cqs, &id, NULL, XA_LIMIT(1, 0xfffff),
			    &f->cq_next, GFP_KERNEL_ACCOUNT) < 0) {
		via_cq_put(cq);
		return VIA_R_ERROR_RESOURCE;
	}
	cq->id = id;
	cq->nic = f->nic;
	cq->shared->poll = !!f->nic->ops->busy_poll;
	if (xa_err(xa_store(&f->cqs, id, cq, GFP_KERNEL_ACCOUNT))) {
		xa_erase(&f->cqs, id);
		via_cq_put(cq);
		return VIA_R_ERROR_RESOURCE;
	}
	f->cq_count++;
	arg->cq = id;
	arg->entries = cq->entries;
	arg->mmap_size = PAGE_ALIGN(VIA_CQ_SIZE(cq->entries));
	return 0;
}

static void via_cq_kill(struct via_file *f, struct via_cq *cq)
{
	xa_erase(&f->cqs, cq->id);
	f->cq_count--;
	spin_lock_bh(&cq->lock);
	cq->dead = true;
	via_notice_cancel(&cq->notice);
	via_wake(&cq->sleepers);
	spin_unlock_bh(&cq->lock);
	via_cq_put(cq);
}

int via_cq_destroy(struct via_file *f, u32 id)
{
	struct via_cq *cq;

	lockdep_assert_held(&f->mutex);
	cq = xa_load(&f->cqs, id);
	if (!cq)
		return VIA_R_INVALID_PARAMETER;
	if (cq->queues)
		return VIA_R_ERROR_RESOURCE;
	via_cq_kill(f, cq);
	return 0;
}

/* The VIs are gone, so no queue is attached any more. */
void via_cq_destroy_all(struct via_file *f)
{
	struct via_cq *cq;
	unsigned long id;

	lockdep_assert_held(&f->mutex);
	xa_for_each(&f->cqs, id, cq)
		via_cq_kill(f, cq);
	xa_destroy(&f->cqs);
}

enum via_verdict via_cq_attach(struct via_file *f, struct via_queue *q, u32 id)
{
	lockdep_assert_held(&f->mutex);
	if (!id)
		return 0;
	q->cq = via_cq_get(f, id);
	if (!q->cq)
		return VIA_R_INVALID_PARAMETER;
	WRITE_ONCE(q->cq->queues, q->cq->queues + 1);
	return 0;
}

/* Out of the tree; the last one to go ends the overflow. */
static void via_cq_unwait(struct via_cq *cq, struct via_queue *q)
{
	lockdep_assert_held(&cq->lock);
	rb_erase_cached(&q->cq_node, &cq->waiting);
	RB_CLEAR_NODE(&q->cq_node);
	if (!via_cq_overflown(cq))
		WRITE_ONCE(cq->shared->flags, 0);
}

void via_cq_detach(struct via_file *f, struct via_queue *q)
{
	struct via_cq *cq = q->cq;

	lockdep_assert_held(&f->mutex);
	if (!cq)
		return;
	spin_lock_bh(&cq->lock);
	if (!RB_EMPTY_NODE(&q->cq_node))
		via_cq_unwait(cq, q);
	WRITE_ONCE(q->cq, NULL);
	spin_unlock_bh(&cq->lock);
	WRITE_ONCE(cq->queues, cq->queues - 1);
	via_cq_put(cq);
}

int via_cq_mmap(struct via_file *f, u32 id, bool spare,
		struct vm_area_struct *vma)
{
	struct via_cq *cq = via_cq_get(f, id);
	struct via_cq_ring *r;
	int ret = -EINVAL;

	if (!cq)
		return ret;
	spin_lock_bh(&cq->lock);
	r = spare ? cq->spare : cq->ring;
	if (r)
		kref_get(&r->ref);
	spin_unlock_bh(&cq->lock);
	if (r)
		ret = via_shared_mmap(vma, r->pages, r->size);
	via_cq_ring_put(r);
	via_cq_put(cq);
	return ret;
}

/* Free places, by a head that the program may have made up. */
static u32 via_cq_room(const struct via_cq *cq)
{
	u32 used = cq->tail - READ_ONCE(cq->shared->head);

	return used < cq->entries ? cq->entries - used : 0;
}

bool via_cq_next(struct via_file *f, u32 from, struct via_cq_view *view)
{
	unsigned long id = from;
	struct via_cq *cq;

	xa_lock(&f->cqs);
	cq = xa_find(&f->cqs, &id, ULONG_MAX, XA_PRESENT);
	if (cq)
		kref_get(&cq->ref);
	xa_unlock(&f->cqs);
	if (!cq)
		return false;
	view->id = cq->id;
	spin_lock_bh(&cq->lock);
	view->entries = cq->entries;
	view->used = cq->entries - via_cq_room(cq);
	spin_unlock_bh(&cq->lock);
	view->queues = READ_ONCE(cq->queues);
	via_cq_put(cq);
	return true;
}

static void via_cq_put_entry(struct via_cq *cq, const struct via_vi *vi,
			     const struct via_queue *q)
{
	struct via_cq_entry *e = &cq->slots[cq->tail & (cq->entries - 1)];

	WRITE_ONCE(e->vi, vi->id);
	WRITE_ONCE(e->recv, q->recv);
	/* Pairs with the program's load-acquire of tail. */
	smp_store_release(&cq->shared->tail, ++cq->tail);
}

static bool via_cq_before(struct rb_node *a, const struct rb_node *b)
{
	return (s32)(rb_entry(a, struct via_queue, cq_node)->cq_key -
		     rb_entry(b, struct via_queue, cq_node)->cq_key) < 0;
}

/* Where the next notice of the queue comes in the CQ's order. */
static u32 via_cq_next_seq(const struct via_queue *q)
{
	/* The program can spoil its own order here, nothing else. */
	return READ_ONCE(q->comp[q->cq_from & q->mask].cq_seq);
}

/* Notices of this queue are not in the ring, or no longer, from cq_from on. */
static void via_cq_hold(struct via_cq *cq, struct via_queue *q)
{
	lockdep_assert_held(&cq->lock);
	if (!RB_EMPTY_NODE(&q->cq_node))
		rb_erase_cached(&q->cq_node, &cq->waiting);
	q->cq_key = via_cq_next_seq(q);
	rb_add_cached(&q->cq_node, &cq->waiting, via_cq_before);
	WRITE_ONCE(cq->shared->flags, VIA_CQ_OVERFLOW);
}

void via_cq_publish(struct via_vi *vi, struct via_queue *q)
{
	struct via_cq *cq = q->cq;

	lockdep_assert_held(&q->lock);
	spin_lock(&cq->lock);
	WRITE_ONCE(q->comp[q->head & q->mask].cq_seq, cq->seq++);
	q->head++;
	/* First the completion, then its notice: Done succeeds at once. */
	smp_store_release(&q->kern->done, q->head);
	if (!via_cq_overflown(cq) && !cq->resizing && via_cq_room(cq)) {
		via_cq_put_entry(cq, vi, q);
		q->cq_from = q->head;
	} else if (RB_EMPTY_NODE(&q->cq_node)) {
		via_cq_hold(cq, q);
	}
	via_wake(&cq->sleepers);
	spin_unlock(&cq->lock);
}

/*
 * Drop notices of completions that the program has collected without them,
 * else their slots may have been used again.  A queue's head moves under its
 * own lock, which is outside ours; done in shared memory is our own release
 * of it, but the program can scribble there, so bound what it says.
 */
static bool via_cq_trim(struct via_queue *q)
{
	u32 head = READ_ONCE(q->head);
	u32 collected = READ_ONCE(q->prog->collected);

	if (head - collected <= head - q->cq_from)
		q->cq_from = collected;
	return head != q->cq_from;
}

/*
 * Move the notice that is due next into the ring, or find that its queue has
 * none left, or has another one next: one visit.
 */
static void via_cq_visit(struct via_cq *cq, struct rb_node *first)
{
	struct via_queue *q = rb_entry(first, struct via_queue, cq_node);
	u32 from = q->cq_from;

	/* Before the look: the word of one collected says nothing. */
	if (!via_cq_trim(q)) {
		via_cq_unwait(cq, q);
	} else if (q->cq_from != from) {
		via_cq_hold(cq, q);
	} else {
		via_cq_put_entry(cq, q->recv ?
				 container_of(q, struct via_vi, rq) :
				 container_of(q, struct via_vi, sq), q);
		if (++q->cq_from == READ_ONCE(q->head))
			via_cq_unwait(cq, q);
		else
			via_cq_hold(cq, q);
	}
}

/* The queue whose notice is due first; NULL: there is none, or no place for it. */
static struct rb_node *via_cq_due(const struct via_cq *cq)
{
	return cq->resizing || !via_cq_room(cq) ? NULL :
						  rb_first_cached(&cq->waiting);
}

int via_cq_refill(struct via_file *f, u32 id)
{
	struct via_work work = VIA_WORK(VIA_CQ_REFILL_MAX);
	struct rb_node *first;
	struct via_cq *cq;

	cq = via_cq_get(f, id);
	if (!cq)
		return -EINVAL;
	spin_lock_bh(&cq->lock);
	while ((first = via_cq_due(cq)) && via_work_visit(&work))
		via_cq_visit(cq, first);
	spin_unlock_bh(&cq->lock);
	via_cq_put(cq);
	return first ? VIA_TRAP_MORE : 0;
}

/*
 * Take the newest entry out of the ring again.  The ring is the program's to
 * scribble in: a queue of its own may come out of order by that, no more.
 * An entry of a VI that is gone would have been passed over.
 */
static void via_cq_retract(struct via_cq *cq)
{
	struct via_cq_entry *e = &cq->slots[--cq->tail & (cq->entries - 1)];
	u32 id = READ_ONCE(e->vi);
	struct via_queue *q;
	struct via_vi *vi;

	vi = via_vi_lookup(cq->nic, id & 0xffff);
	if (!vi || vi->id != id)
		return;
	q = READ_ONCE(e->recv) ? &vi->rq : &vi->sq;
	/* It is detached under this lock. */
	if (READ_ONCE(q->cq) != cq)
		return;
	q->cq_from--;
	via_cq_hold(cq, q);
}

/* Unread entries; what the program says may be wrong, then it has none. */
static u32 via_cq_used(const struct via_cq *cq)
{
	u32 used = cq->tail - READ_ONCE(cq->shared->head);

	return used <= cq->entries ? used : 0;
}

/*
 * Take back so many entries, which are those for which the spare ring has no
 * place.  The lock is dropped on the way; @resizing keeps the ring as it is.
 * 0, or -EINTR: killed, what was taken back waits.
 */
static int via_cq_retract_some(struct via_cq *cq, u32 excess)
	__must_hold(&cq->lock)
{
	u32 i, n;

	while (excess && !cq->dead) {
		n = min_t(u32, excess, VIA_CQ_RETRACT_MAX);
		rcu_read_lock();
		for (i = 0; i < n; i++)
			via_cq_retract(cq);
		rcu_read_unlock();
		WRITE_ONCE(cq->shared->tail, cq->tail);
		excess -= n;
		spin_unlock_bh(&cq->lock);
		cond_resched();
		spin_lock_bh(&cq->lock);
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/* Make the spare ring the ring; @used entries move. */
static void via_cq_swap(struct via_cq *cq, u32 used)
{
	struct via_cq_ring *r = cq->spare;
	u32 i;

	lockdep_assert_held(&cq->lock);
	for (i = cq->tail - used; i != cq->tail; i++)
		r->slots[i & (r->entries - 1)] =
			cq->slots[i & (cq->entries - 1)];
	cq->spare = cq->ring;
	cq->ring = r;
	cq->slots = r->slots;
	cq->entries = r->entries;
	WRITE_ONCE(cq->shared->entries, r->entries);
}

static int via_cq_commit(struct via_cq *cq)
{
	struct via_cq_ring *old = NULL;
	int ret = -EINVAL;
	u32 used, most;

	lockdep_assert_held(&cq->resize_mutex);
	spin_lock_bh(&cq->lock);
	if (cq->spare && !cq->dead) {
		/* What the program says counts once: that bounds the work. */
		used = via_cq_used(cq);
		most = min(used, cq->spare->entries);
		cq->resizing = true;
		ret = via_cq_retract_some(cq, used - most);
		if (!ret) {
			via_cq_swap(cq, most);
			swap(old, cq->spare);
		}
		cq->resizing = false;
		/* A program that came for more meanwhile got nothing. */
		via_wake(&cq->sleepers);
	}
	spin_unlock_bh(&cq->lock);
	via_cq_ring_put(old);
	return ret;
}

/* NULL: there is none any more. */
static void via_cq_set_spare(struct via_cq *cq, struct via_cq_ring *r)
{
	spin_lock_bh(&cq->lock);
	swap(cq->spare, r);
	spin_unlock_bh(&cq->lock);
	via_cq_ring_put(r);
}

static int via_cq_prepare(struct via_cq *cq, struct via_quota *quota,
			  struct via_cq_resize *arg)
{
	struct via_cq_ring *r;

	if (!arg->entries)
		return VIA_R_INVALID_PARAMETER;
	if (arg->entries > cq->nic->limits.max_cq_entries)
		return VIA_R_ERROR_RESOURCE;
	r = via_cq_ring_alloc(quota, roundup_pow_of_two(arg->entries), 0);
	if (!r)
		return VIA_R_ERROR_RESOURCE;
	arg->entries = r->entries;
	arg->mmap_size = PAGE_ALIGN(r->size);
	via_cq_set_spare(cq, r);
	return 0;
}

int via_cq_resize(struct via_file *f, struct via_cq_resize *arg)
{
	struct via_cq *cq;
	int ret;

	if (arg->reserved)
		return -EINVAL;
	cq = via_cq_get(f, arg->cq);
	if (!cq)
		return VIA_R_INVALID_PARAMETER;
	if (mutex_lock_killable(&cq->resize_mutex)) {
		via_cq_put(cq);
		return -EINTR;
	}
	switch (arg->step) {
	case VIA_CQ_PREPARE:
		ret = via_cq_prepare(cq, f->quota, arg);
		break;
	case VIA_CQ_COMMIT:
		ret = via_cq_commit(cq);
		break;
	case VIA_CQ_ABANDON:
		via_cq_set_spare(cq, NULL);
		ret = 0;
		break;
	default:
		ret = -EINVAL;
	}
	mutex_unlock(&cq->resize_mutex);
	via_cq_put(cq);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Work queues, in memory shared with the program (shared.c).
 *
 *  1. The queue's lock guards head, next and what is loaded.  The program owns tail:
 *     it is read once, and counts if it is at most the ring's entries beyond head.
 *  2. head <= next: what is loaded lies between.  A descriptor that was not loaded may
 *     complete, and head and next advance together.
 *  3. A completion's words are stored before the index, or the completion queue's
 *     entry, that shows it to the program.
 *  4. The new state is stored before a flush, and a full barrier lies between that
 *     and the look at tail (docs/explain/ordering.md).
 *  5. Slots, completion words and their number change together, under the queue's lock
 *     and that of its CQ, and the agent has its own record of all three.  As many slots
 *     before tail, and words before head, go along as the old ring has: tail may say
 *     anything, they are as many.
 *  6. No more descriptors are loaded than the ring has entries, by (1), nor more than
 *     VIA_INFLIGHT.  The room for them grows with the ring, and all who use a loaded
 *     descriptor find it by its index each time that they have taken the lock.
 *
 *  event                            function
 *  one descriptor has ended         via_queue_complete()
 *  the state ends all that is there via_queue_flush()
 *  attributes change                via_queue_unload()
 *  the ring becomes longer          via_queue_lengthen()
 *  the VI's memory goes             via_queue_free()
 */

#include <linux/slab.h>
#include "cq.h"
#include "kapi.h"
#include "queue.h"
#include "via_trace.h"
#include "wait.h"

static struct lock_class_key via_queue_keys[2];

int via_queue_init(struct via_queue *q, struct via_vi_shared *sh, bool recv,
		   bool kernel)
{
	u32 ring = recv ? 1 : kernel ? VIA_INFLIGHT : VIA_VI_FEW;
	void *base = sh;

	BUILD_BUG_ON(VIA_INFLIGHT & (VIA_INFLIGHT - 1));
	BUILD_BUG_ON(VIA_QUEUE_ENTRIES & (VIA_QUEUE_ENTRIES - 1));
	BUILD_BUG_ON(VIA_VI_FEW & (VIA_VI_FEW - 1));
	BUILD_BUG_ON(VIA_VI_FEW > VIA_INFLIGHT);

	spin_lock_init(&q->lock);
	/* Send before receive, and receive of the peer: two classes. */
	lockdep_set_class_and_name(&q->lock, &via_queue_keys[recv],
				   recv ? "via_rq" : "via_sq");
	INIT_HLIST_HEAD(&q->sleepers);
	RB_CLEAR_NODE(&q->cq_node);
	q->recv = recv;
	q->ring_mask = ring - 1;
	q->kern = recv ? &sh->recv_kern : &sh->send_kern;
	q->prog = recv ? &sh->recv_user : &sh->send_user;
	q->entries = kernel ? VIA_QUEUE_ENTRIES : VIA_VI_FEW;
	q->mask = q->entries - 1;
	if (!kernel) {
		q->slots = base + (recv ? VIA_VI_FEW_RECV_SLOTS :
					  VIA_VI_FEW_SEND_SLOTS);
		q->comp = base + (recv ? VIA_VI_FEW_RECV_COMP :
					 VIA_VI_FEW_SEND_COMP);
	}
	q->ring = kcalloc(ring, sizeof(*q->ring), GFP_KERNEL_ACCOUNT);
	return q->ring ? 0 : -ENOMEM;
}

/*
 * In place where the old ring is the beginning of the new one: an index whose slot is
 * another one then has a slot that the old ring did not have.
 */
static void via_queue_swap(struct via_queue *q, const struct via_ring *r)
{
	u32 tail = READ_ONCE(q->prog->tail), mask = r->entries - 1, i;

	/* (5) */
	for (i = 1; i <= q->entries; i++) {
		r->slots[(tail - i) & mask] = q->slots[(tail - i) & q->mask];
		r->comp[(q->head - i) & mask] =
			q->comp[(q->head - i) & q->mask];
	}
	q->slots = r->slots;
	q->comp = r->comp;
	q->entries = r->entries;
	q->mask = mask;
}

void via_queue_lengthen(struct via_queue *q, struct via_ring *r)
{
	u32 i;

	lockdep_assert_held(&q->lock);
	if (q->cq) {
		spin_lock(&q->cq->lock);
		via_queue_swap(q, r);
		spin_unlock(&q->cq->lock);
	} else {
		via_queue_swap(q, r);
	}
	if (!r->loaded)
		return;
	/* (6) */
	for (i = q->head; i != q->next; i++)
		r->loaded[i & (VIA_INFLIGHT - 1)] = *via_queue_entry(q, i);
	swap(q->ring, r->loaded);
	q->ring_mask = VIA_INFLIGHT - 1;
}

/* What was loaded beyond the slot. */
static void via_desc_drop(struct via_desc *d)
{
	if (unlikely(d->more)) {
		kfree(d->more);
		d->more = NULL;
	}
}

void via_queue_unload(struct via_queue *q)
{
	while (q->next != q->head)
		via_desc_drop(via_queue_entry(q, --q->next));
}

void via_queue_free(struct via_queue *q)
{
	if (!q->ring)
		return;
	via_queue_unload(q);
	kfree(q->ring);
	q->ring = NULL;
}

/* Inline: a call would have the caller save registers for each message. */
static __always_inline void via_queue_count_error(struct via_queue *q,
						  enum via_status status)
{
	if (status & VIA_ST_DESC_FLUSHED_ERROR)
		return;
	q->errors++;
	if (status & (VIA_ST_PROTECTION_ERROR | VIA_ST_RDMA_PROT_ERROR))
		q->prot_errors++;
}

void via_queue_complete(struct via_vi *vi, struct via_queue *q,
			enum via_status status, u32 length, u32 immediate)
{
	struct via_completion *c;

	lockdep_assert_held(&q->lock);
	if (unlikely(via_queue_is_kernel(q))) {
		via_kernel_complete(vi, q, status, length, immediate);
	} else {
		c = &q->comp[q->head & q->mask];
		WRITE_ONCE(c->length, length);
		WRITE_ONCE(c->immediate, immediate);
		WRITE_ONCE(c->status, status | VIA_ST_DONE);
	}
	q->descs++;
	if (likely(!(status & VIA_ST_ERROR_MASK)))
		q->bytes += length;
	else
		via_queue_count_error(q, status);
	/* Here nothing but @vi and @q is needed any more: it costs no register. */
	trace_via_complete(vi, q, status, length);
	/* (2) */
	if (q->next != q->head)
		via_desc_drop(via_queue_entry(q, q->head));
	else
		q->next++;
	if (q->cq) {
		via_cq_publish(vi, q);
	} else {
		q->head++;
		/* (3): pairs with the program's load-acquire of done. */
		smp_store_release(&q->kern->done, q->head);
	}
	via_wake(&q->sleepers);
}

/* What a flushed descriptor was to be, from its slot if not loaded yet. */
static u32 via_flush_op(struct via_queue *q)
{
	u16 control;

	if (q->recv)
		return VIA_ST_OP_RECEIVE;
	/* A consumer in the kernel has its own record of what it was. */
	if (q->next == q->head && via_queue_is_kernel(q))
		return VIA_ST_OP_SEND;
	if (q->next != q->head)
		control = via_queue_entry(q, q->head)->control;
	else
		control = READ_ONCE(q->slots[q->head & q->mask].control);
	return via_desc_op(control, false);
}

/*
 * At once, since the new state and its completions belong together.  What is posted
 * is counted before the loop, and from head to tail there are at most
 * VIA_QUEUE_ENTRIES, 1,024 descriptors.  A move that flushes comes once in a
 * connection; what makes many at once charges them: via_ether_settle().
 */
void via_queue_flush(struct via_vi *vi, struct via_queue *q)
{
	u32 n;

	lockdep_assert_held(&q->lock);
	/*
	 * (4): pairs with the poster's barrier between its store of tail and its
	 * load of state: either it sees the new state and traps, or we see
	 * its tail here.
	 */
	smp_mb();
	/* (1): a tail out of range posts nothing; what was loaded is flushed. */
	if (!via_queue_posted(q, &n))
		n = 0;
	n += q->next - q->head;
	while (n--)
		via_queue_complete(vi, q, via_flush_op(q) |
				   VIA_ST_DESC_FLUSHED_ERROR, 0, 0);
	WRITE_ONCE(q->kern->flags, 0);
}

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_FAST_H
#define ENG_FAST_H

/*
 * The fast path of a short message, for a transport that compiles them into its own
 * (providers/shm/fast.c): no call, no copy of a header, and nothing on the
 * stack.
 *
 * Its functions do what queue.c and peer.c do for such a message, with the same
 * checks; each looks at everything first and changes nothing before it is sure
 * to finish. Where one of them returns 0 the caller takes the general path,
 * from the beginning. The engine lock is held in all of them.
 */
#include "eng.h"

/* 1 to ENG_PLAIN_MAX bytes in a few instructions: two pieces that overlap. */
static ALWAYS_INLINE void eng_copy_few(void *to, const void *from, uint64_t n)
{
	struct { uint64_t word[2]; } a, b;
	const char *f = from;
	char *t = to;

	if (likely(n - 4 <= 4)) {
		memcpy(&a, f, 4);
		memcpy(&b, f + n - 4, 4);
		memcpy(t, &a, 4);
		memcpy(t + n - 4, &b, 4);
	} else if (n >= 16) {
		memcpy(&a, f, 16);
		memcpy(&b, f + n - 16, 16);
		memcpy(t, &a, 16);
		memcpy(t + n - 16, &b, 16);
	} else if (n > 8) {
		memcpy(&a, f, 8);
		memcpy(&b, f + n - 8, 8);
		memcpy(t, &a, 8);
		memcpy(t + n - 8, &b, 8);
	} else {
		/* Three at most: the first, the middle one, the last. */
		t[0] = f[0];
		t[n / 2] = f[n / 2];
		t[n - 1] = f[n - 1];
	}
}

/* Still the VI that the caller means? It was, when libvipl looked. */
static ALWAYS_INLINE int eng_fast_is(const struct eng_vi *v, VIP_VI_HANDLE h)
{
	return atomic_load_explicit(&v->handle, memory_order_relaxed) ==
	       (uintptr_t)h;
}

/* One segment, no control bits: the words of a descriptor from SegCount on. */
static ALWAYS_INLINE int eng_fast_format(const void *desc)
{
	const char *d = desc;
	uint32_t count, reserved;

	memcpy(&count, d + 12, 4);
	memcpy(&reserved, d + 16, 4);
	return count == ENG_ONE_SEG && !reserved;
}

/*
 * Is a descriptor of one segment, and what that is of, where the caches say?
 * len is neither 0 nor long: the second sum does not overflow, as no region
 * has 2^64 bytes less a few.
 */
static ALWAYS_INLINE int eng_fast_regions(const struct eng_queue *q,
					  uint64_t desc, uint32_t mem,
					  uint64_t addr, uint32_t handle,
					  uint64_t len)
{
	const struct eng_region_cache *h = &q->cache[ENG_CACHE_DESC];
	const struct eng_region_cache *d = &q->cache[ENG_CACHE_DATA];

	if (unlikely(h->handle != mem || desc - h->start >= h->descs ||
		     d->handle != handle))
		return 0;
	addr -= d->start;
	return addr < d->len && addr + len <= d->len;
}

/*
 * May a send that is being posted go at once, as number i? Everything before
 * it is complete (v->quick: nothing is under way), and it needs no more than
 * its one segment. The length, or 0; what is used later is read once.
 */
static ALWAYS_INLINE uint64_t eng_fast_sendable(const struct eng_vi *v,
						const struct eng_peer *p,
						uint32_t i,
						const VIP_DESCRIPTOR *desc,
						VIP_MEM_HANDLE mem,
						uint64_t *addr)
{
	const struct eng_queue *q = &v->q[VIPL_SENDQ];
	const VIP_DATA_SEGMENT *seg = &desc->DS[0].Local;
	uint64_t len = *(const volatile VIP_UINT32 *)&desc->CS.Length;

	if (unlikely((uintptr_t)desc % VIA_DESC_ALIGN || !p ||
		     !p->ready || i != q->next ||
		     i == q->limit || !eng_fast_format(desc)))
		return 0;
	*addr = eng_address(*(const volatile VIP_UINT64 *)
			    &seg->Data.AddressBits);
	if (unlikely(seg->Length != len || len - 1 >= v->quick_most ||
		     !eng_fast_regions(q, (uintptr_t)desc, mem, *addr,
				       seg->Handle, len)))
		return 0;
	return len;
}

/* The send has gone: it completes in the place where it was to be posted. */
static ALWAYS_INLINE void eng_fast_sent(struct eng_queue *q,
					VIP_DESCRIPTOR *desc, uint32_t i,
					uint64_t len)
{
	struct eng_slot *s = eng_queue_slot(q, i);

	s->d.addr = (uintptr_t)desc;
	s->d.length = (uint32_t)len;
	s->d.status = VIP_STATUS_OP_SEND | VIP_STATUS_DONE;
	desc->CS.Status = 0;
	i++;
	q->next = i;
	atomic_store_explicit(&q->tail, i, memory_order_relaxed);
	/* Pairs with the collector's acquire: the outcome is there. */
	atomic_store_explicit(&q->done, i, memory_order_release);
}

/* Post a receive that a message finds as it is; 0: not so. */
static ALWAYS_INLINE int eng_fast_post_recv(struct eng_vi *v,
					    VIP_DESCRIPTOR *desc,
					    VIP_MEM_HANDLE mem)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	uint32_t tail = eng_get(&q->tail);
	struct eng_slot *s;

	if (unlikely((uintptr_t)desc % VIA_DESC_ALIGN ||
		     v->state == VIP_STATE_ERROR || tail == q->limit))
		return 0;
	s = eng_queue_slot(q, tail);
	memcpy((char *)s + 16, (const char *)desc + 16, 32);
	memcpy(&s->d.seg_count, (const char *)desc + 12, 4);
	/* Of the copy: each word is read once. Its status follows. */
	if (unlikely(!eng_fast_format(s) || s->d.length != s->d.seg[0].len))
		return 0;
	s->d.seg[0].addr = eng_address(s->d.seg[0].addr);
	s->d.addr = (uintptr_t)desc;
	s->d.handle = mem;
	memcpy(&s->state, ENG_SLOT_PLAIN, 4);
	desc->CS.Status = 0;
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	return 1;
}

/*
 * A plain packet for a VI whose receive queue has nothing to collect, at an
 * address that the peer can write: every word of it is read once. The message
 * is put in place, completes, and is collected, so that its outcome goes
 * straight into the descriptor. 1 when that is done, and q->lock is held; -1:
 * it is held, too, but there was something to collect.
 */
static ALWAYS_INLINE int eng_fast_rx(struct eng_vi *v,
				     const volatile struct eng_plain *h,
				     uint64_t len, VIP_DESCRIPTOR **out)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	uint32_t i = q->next;
	struct eng_slot *s;
	VIP_DESCRIPTOR *done;

	/*
	 * The nonce says for which VI it is; dst is to find one. Nothing of
	 * ours is under way (v->quick), so no acknowledgement can matter. A
	 * slot that is not posted is not ENG_SLOT_PLAIN.
	 */
	s = eng_queue_slot(q, i);
	if (unlikely(h->nonce != v->nonce || h->seq != v->rx_next ||
		     memcmp(&q->recv, ENG_RECV_PLAIN, 4)))
		return 0;
	if (unlikely(memcmp(&s->state, ENG_SLOT_PLAIN, 4) ||
		     len > s->d.length ||
		     !eng_fast_regions(q, s->d.addr, s->d.handle,
				       s->d.seg[0].addr, s->d.seg[0].handle,
				       len) ||
		     eng_lock_missed(&q->lock)))
		return 0;
	/* The engine lock is held, so q->handle is v->handle still. */
	if (unlikely(eng_get(&q->collected) != i))
		return -1;
	eng_copy_few((void *)(uintptr_t)s->d.seg[0].addr,
		     (const char *)(uintptr_t)(h + 1), len);
	v->rx_next++;
	v->rx_done++;
	done = (VIP_DESCRIPTOR *)(uintptr_t)s->d.addr;
	*out = done;
	s->plain = 0;
	i++;
	done->CS.Length = (VIP_UINT32)len;
	done->CS.Status = VIP_STATUS_OP_RECEIVE | VIP_STATUS_DONE;
	q->next = i;
	/* In this order for a look without a lock. */
	atomic_store_explicit(&q->done, i, memory_order_release);
	atomic_store_explicit(&q->collected, i, memory_order_release);
	return 1;
}

/* Nothing to take, as far as a look without a lock tells. */
static ALWAYS_INLINE int eng_fast_nothing(struct eng_queue *q)
{
	return atomic_load_explicit(&q->collected, memory_order_acquire) ==
	       atomic_load_explicit(&q->done, memory_order_acquire);
}

/*
 * Take a completion that has neither an error nor immediate data; 0: there is
 * none such. q->lock is held.
 */
static ALWAYS_INLINE int eng_fast_take(struct eng_queue *q, VIP_VI_HANDLE h,
				       VIP_DESCRIPTOR **out)
{
	uint32_t collected = eng_get(&q->collected), status;
	struct eng_slot *s = eng_queue_slot(q, collected);
	char *d;

	if (unlikely(q->handle != (uintptr_t)h ||
		     atomic_load_explicit(&q->done, memory_order_acquire) ==
		     collected))
		return 0;
	status = s->d.status;
	if (unlikely(status & (VIP_STATUS_ERROR_MASK | VIP_STATUS_IMMEDIATE)))
		return 0;
	d = (char *)(uintptr_t)s->d.addr;
	/* Length and status. */
	memcpy(d + 24, &s->d.length, 8);
	*out = (VIP_DESCRIPTOR *)(void *)d;
	/* Pairs with the poster's acquire: the slot is free. */
	atomic_store_explicit(&q->collected, collected + 1,
			      memory_order_release);
	return 1;
}

#endif /* ENG_FAST_H */

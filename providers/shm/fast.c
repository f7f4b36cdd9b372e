// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Short messages: the engine's fast path (providers/engine/fast.h) and that
 * through the rings, in one function for each call of the program. A packet of one
 * line, in and out; anything else is for the engine, which calls the transport
 * as it does with every other. The compiler makes leaves of them: whatever
 * takes another turn is a call at the end.
 */
#include "fast.h"
#include "shm.h"

static ALWAYS_INLINE struct shm_peer *peer_priv(struct eng_peer *p)
{
	return (struct shm_peer *)(void *)p->priv;
}

static ALWAYS_INLINE struct shm_nic *nic_priv(struct eng_nic *nic)
{
	return (struct shm_nic *)(void *)((char *)nic + ENG_NIC_BYTES);
}

/* Everything is done but that a thread sleeps for the lock. */
static __attribute__((noinline)) VIP_RETURN unlock_slow(struct eng_lock *l)
{
	eng_unlock_slow(l);
	return VIP_SUCCESS;
}

static ALWAYS_INLINE VIP_RETURN drop_lock(struct eng_lock *l)
{
	if (unlikely(atomic_fetch_sub_explicit(&l->word, ENG_LOCK_HELD,
					       memory_order_release) !=
		     ENG_LOCK_HELD))
		return unlock_slow(l);
	return VIP_SUCCESS;
}

/* Sent and complete, and a CQ, a handler or a sleeper is to be told. */
static __attribute__((noinline)) VIP_RETURN sent_watched(struct eng_vi *v,
							 uint32_t i)
{
	struct eng_nic *nic = eng_vi_nic(v);

	eng_tell(nic, v, &v->q[VIPL_SENDQ], i);
	eng_leave(nic);
	return VIP_SUCCESS;
}

/* The peer sleeps, or does not look at its ring. */
static __attribute__((noinline)) VIP_RETURN sent_doorbell(struct eng_vi *v,
							  uint32_t i)
{
	struct eng_nic *nic = eng_vi_nic(v);

	shm_ring_doorbell(peer_priv(v->quick));
	if (v->q[VIPL_SENDQ].watched)
		eng_tell(nic, v, &v->q[VIPL_SENDQ], i);
	eng_leave(nic);
	return VIP_SUCCESS;
}

/* Into one line, which is there: left > 1 is it and the zero behind it. */
static ALWAYS_INLINE void put_line(struct ring_out *o, const struct eng_vi *v,
				   uint32_t i, uint64_t addr, uint64_t len)
{
	struct ring_line *at = o->at;
	struct eng_plain *h = (struct eng_plain *)(void *)at->bytes;

	/* Nonce and dst; what is behind them follows. */
	memcpy(h, &v->plain, 16);
	h->seq = i - v->tx_base;
	h->ack = v->rx_done;
	eng_copy_few(h + 1, (void *)(uintptr_t)addr, len);
	o->tail++;
	o->left--;
	o->at = at + 1;
	atomic_store_explicit(&at[1].word, 0, memory_order_relaxed);
	/*
	 * Also the barrier of shm_ring_doorbell(): on x86 the exchange is one,
	 * elsewhere a fence follows.
	 */
	atomic_exchange_explicit(&at->word, RING_PLAIN_WORD | len,
				 memory_order_seq_cst);
#ifndef __x86_64__
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* All that they need is in the VI: kept in no register on the fast path. */
static __attribute__((noinline)) VIP_RETURN
post_send_held(struct eng_vi *v, VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return eng_post_send_held(v->obj, (VIP_VI_HANDLE)
				  atomic_load_explicit(&v->handle,
						       memory_order_relaxed),
				  desc, mem);
}

static __attribute__((noinline)) VIP_RETURN
post_recv_held(struct eng_vi *v, VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return eng_post_recv_held(v->obj, (VIP_VI_HANDLE)
				  atomic_load_explicit(&v->handle,
						       memory_order_relaxed),
				  desc, mem);
}

VIP_RETURN shm_post_send(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	struct eng_nic *nic = eng_vi_nic(v);
	struct eng_peer *peer;
	struct shm_peer *p;
	uint64_t addr, len;
	uint32_t i;

	if (unlikely(eng_lock_missed(&nic->lock)))
		return eng_post_send(obj, h, desc, mem);
	if (unlikely(!eng_fast_is(v, h)))
		return eng_post_send_held(obj, h, desc, mem);
	peer = v->quick;
	i = eng_get(&q->tail);
	len = eng_fast_sendable(v, peer, i, desc, mem, &addr);
	if (unlikely(!len))
		return post_send_held(v, desc, mem);
	p = peer_priv(peer);
	if (unlikely(p->out.left <= 1))
		return post_send_held(v, desc, mem);
	put_line(&p->out, v, i, addr, len);
	eng_fast_sent(q, desc, i, len);
	if (unlikely(atomic_load_explicit(&p->out.ring->idle,
					  memory_order_relaxed) ||
		     atomic_load_explicit(&p->status->sleeps,
					  memory_order_relaxed) & 1))
		return sent_doorbell(v, i);
	if (unlikely(q->watched))
		return sent_watched(v, i);
	return drop_lock(&eng_vi_nic(v)->lock);
}

VIP_RETURN shm_post_recv(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);

	if (unlikely(eng_lock_missed(&nic->lock)))
		return eng_post_recv(obj, h, desc, mem);
	if (unlikely(!eng_fast_is(v, h)))
		return eng_post_recv_held(obj, h, desc, mem);
	if (unlikely(!eng_fast_post_recv(v, desc, mem)))
		return post_recv_held(v, desc, mem);
	return drop_lock(&nic->lock);
}

VIP_RETURN shm_send_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out)
{
	struct eng_queue *q = &eng_vi_of(obj)->q[VIPL_SENDQ];

	/* Short ones are complete when they are posted: no look before it. */
	if (unlikely(eng_lock_missed(&q->lock)))
		return eng_send_done(obj, h, out);
	if (likely(eng_fast_take(q, h, out)))
		return drop_lock(&q->lock);
	eng_lock_drop(&q->lock);
	return eng_send_done(obj, h, out);
}

/* The message is collected, and a thread sleeps for the queue's lock. */
static __attribute__((noinline)) VIP_RETURN unlocked_both(struct eng_nic *nic,
							  struct eng_lock *l)
{
	eng_unlock_slow(l);
	eng_leave(nic);
	return VIP_SUCCESS;
}

/*
 * The message is collected, and the line behind is on another page: it may be
 * the ring's first, and the sender may wait for those before it.
 */
static __attribute__((noinline)) VIP_RETURN
page_taken(struct eng_nic *nic, struct eng_lock *l, struct ring_in *in)
{
	in->at = ring_at(in->ring, in->head);
	if (in->head - in->published >= RING_HEAD_STEP)
		ring_publish_head(in);
	eng_lock_drop(l);
	return drop_lock(&nic->lock);
}

static __attribute__((noinline)) VIP_RETURN
recv_done_held(struct eng_vi *v, VIP_DESCRIPTOR **out)
{
	return eng_recv_done_held(v->obj, (VIP_VI_HANDLE)
				  atomic_load_explicit(&v->handle,
						       memory_order_relaxed),
				  out);
}

/* The same with the queue's lock held, too. */
static __attribute__((noinline)) VIP_RETURN
recv_done_both(struct eng_vi *v, VIP_DESCRIPTOR **out)
{
	eng_lock_drop(&v->q[VIPL_RECVQ].lock);
	return recv_done_held(v, out);
}

VIP_RETURN shm_recv_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	struct eng_nic *nic = eng_vi_nic(v);
	struct ring_line *at;
	struct shm_peer *p;
	uint64_t word;
	int r;

	if (unlikely(!eng_fast_nothing(q)) ||
	    unlikely(eng_lock_missed(&nic->lock)))
		return eng_recv_done(obj, h, out);
	if (unlikely(!eng_fast_is(v, h)))
		return eng_recv_done_held(obj, h, out);
	if (unlikely(memcmp(&nic->live, ENG_QUIET, 4) ||
		     !--nic_priv(nic)->turn || !v->quick))
		return recv_done_held(v, out);
	/* The ring of its own peer first; the engine looks at all. */
	p = peer_priv(v->quick);
	at = p->in.at;
	word = atomic_load_explicit(&at->word, memory_order_acquire);
	if (word - (RING_PLAIN_WORD + 1) >= ENG_PLAIN_MAX)
		return recv_done_held(v, out);
	r = eng_fast_rx(v, (struct eng_plain *)(void *)at->bytes,
			word & RING_LENGTH, out);
	if (unlikely(r <= 0))
		return r ? recv_done_both(v, out) : recv_done_held(v, out);
	nic->activity++;
	p->in.head++;
	p->in.at = ++at;
	/* The ring's end is the end of a page: the address tells. */
	if (unlikely(!((uintptr_t)at % RING_PAGE)))
		return page_taken(nic, &q->lock, &p->in);
	if (unlikely(atomic_fetch_sub_explicit(&q->lock.word, ENG_LOCK_HELD,
					       memory_order_release) !=
		     ENG_LOCK_HELD))
		return unlocked_both(nic, &q->lock);
	return drop_lock(&nic->lock);
}

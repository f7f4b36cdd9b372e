// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Short messages: the engine's ways (providers/engine/hot.h) and those through
 * the rings, in one function for each call of the program. A packet of one
 * line, in and out; anything else is for the engine, which calls the transport
 * as it does with every other. The compiler makes leaves of them: whatever
 * takes another turn is a call at the end.
 */
#include "hot.h"
#include "shm.h"

static ALWAYS_INLINE struct shm_peer *priv(struct eng_peer *p)
{
	return (struct shm_peer *)(void *)p->priv;
}

static ALWAYS_INLINE struct shm_nic *nic_priv(struct eng_nic *nic)
{
	return (struct shm_nic *)(void *)((char *)nic + ENG_NIC_BYTES);
}

/* Everything is done but that a thread sleeps for the lock. */
static __attribute__((noinline)) VIP_RETURN unlocked(struct eng_lock *l)
{
	eng_unlock_slow(l);
	return VIP_SUCCESS;
}

static ALWAYS_INLINE VIP_RETURN drop(struct eng_lock *l)
{
	if (unlikely(atomic_fetch_sub_explicit(&l->word, ENG_LOCK_HELD,
					       memory_order_release) !=
		     ENG_LOCK_HELD))
		return unlocked(l);
	return VIP_SUCCESS;
}

/* Sent and complete, and a CQ, a handler or a sleeper is to be told. */
static __attribute__((noinline)) VIP_RETURN told(struct eng_nic *nic,
						 struct eng_vi *v, uint32_t i)
{
	eng_tell(nic, v, &v->q[VIPL_SENDQ], i);
	eng_leave(nic);
	return VIP_SUCCESS;
}

/* The peer sleeps, or does not look at its ring. */
static __attribute__((noinline)) VIP_RETURN rung(struct eng_nic *nic,
						 struct eng_vi *v, uint32_t i)
{
	shm_ring_bell(priv(v->quick));
	if (v->q[VIPL_SENDQ].watched)
		eng_tell(nic, v, &v->q[VIPL_SENDQ], i);
	eng_leave(nic);
	return VIP_SUCCESS;
}

/* Into one line, which is there: left > 1 is it and the zero behind it. */
static ALWAYS_INLINE void put(struct ring_out *o, const struct eng_vi *v,
			      const struct eng_seg *seg, uint32_t len)
{
	const struct eng_queue *q = &v->q[VIPL_SENDQ];
	struct ring_line *at = o->at;
	struct eng_plain *h = (struct eng_plain *)(void *)at->bytes;

	h->nonce = v->plain.nonce;
	h->dst = v->plain.dst;
	h->seq = eng_get(&q->tail) - v->tx_base;
	h->ack = v->rx_done;
	eng_copy_few(h + 1, (void *)(uintptr_t)seg->addr, len);
	o->tail++;
	o->left--;
	o->at = at + 1;
	atomic_store_explicit(&at[1].word, 0, memory_order_relaxed);
	/*
	 * Also the barrier of shm_ring_bell(): on x86 the exchange is one,
	 * elsewhere a fence follows.
	 */
	atomic_exchange_explicit(&at->word, RING_PLAIN_WORD | len,
				 memory_order_seq_cst);
#ifndef __x86_64__
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

VIP_RETURN shm_post_send(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);
	struct shm_peer *p;
	struct eng_seg seg;
	uint32_t len, i;

	if (unlikely(eng_lock_missed(&nic->lock)))
		return eng_post_send(obj, h, desc, mem);
	len = eng_hot_sendable(nic, v, h, desc, mem, &seg);
	if (unlikely(!len))
		return eng_post_send_held(obj, h, desc, mem);
	p = priv(v->quick);
	if (unlikely(p->out.left <= 1))
		return eng_post_send_held(obj, h, desc, mem);
	put(&p->out, v, &seg, len);
	i = eng_hot_sent(&v->q[VIPL_SENDQ], desc, len);
	if (unlikely(atomic_load_explicit(&p->out.ring->cold,
					  memory_order_relaxed) ||
		     atomic_load_explicit(&p->door->sleeps,
					  memory_order_relaxed) & 1))
		return rung(nic, v, i);
	if (unlikely(v->q[VIPL_SENDQ].watched))
		return told(nic, v, i);
	return drop(&nic->lock);
}

VIP_RETURN shm_post_recv(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);

	if (unlikely(eng_lock_missed(&nic->lock)))
		return eng_post_recv(obj, h, desc, mem);
	if (unlikely(!eng_hot_post_recv(v, h, desc, mem)))
		return eng_post_recv_held(obj, h, desc, mem);
	return drop(&nic->lock);
}

/* The plain packets of a ring, as far as they go; how many. */
static ALWAYS_INLINE int take_plain(struct eng_nic *nic, struct shm_peer *p)
{
	struct eng_peer *peer = eng_container(p, struct eng_peer, priv);
	struct ring_line *at = p->in.at;
	int n = 0;
	uint64_t len;

	do {
		len = atomic_load_explicit(&at->word, memory_order_acquire) -
		      RING_PLAIN_WORD;
		if (len - 1 >= ENG_PLAIN_MAX ||
		    !eng_hot_rx(nic, peer, (struct eng_plain *)(void *)at->bytes,
				at->bytes + sizeof(struct eng_plain),
				(uint32_t)len))
			break;
		n++;
		at++;
		p->in.at = at;
		/* Once in so many lines; the ring's end is such a place. */
		if (unlikely(!(++p->in.head % RING_TELL))) {
			ring_tell(&p->in);
			at = ring_at(p->in.ring, p->in.head);
			p->in.at = at;
			break;
		}
	} while (n < (int)ENG_BUDGET);
	return n;
}

/*
 * A poll found nothing, and has the engine lock: look at the rings that are
 * hot. 0: there is something else to do, or to look at.
 */
static ALWAYS_INLINE int progress(struct eng_nic *nic)
{
	struct shm_nic *n = nic_priv(nic);
	struct shm_peer *p;
	int did = 0, got;
	uint32_t i;

	if (unlikely(memcmp(&nic->live, ENG_QUIET, 4) || !--n->turn))
		return 0;
	for (i = 0; i < n->hots; i++) {
		p = n->hot[i];
		got = take_plain(nic, p);
		if (got)
			p->idle = 0;
		did += got;
	}
	nic->activity++;
	return did;
}

static ALWAYS_INLINE VIP_RETURN collect(struct eng_vi *v, struct vipl_vi *obj,
					VIP_VI_HANDLE h, VIP_DESCRIPTOR **out,
					int recv)
{
	struct eng_queue *q = &v->q[recv];

	if (likely(!eng_lock_missed(&q->lock))) {
		if (likely(eng_hot_take(q, h, out)))
			return drop(&q->lock);
		eng_lock_drop(&q->lock);
	}
	return recv ? eng_recv_done(obj, h, out) : eng_send_done(obj, h, out);
}

VIP_RETURN shm_send_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out)
{
	struct eng_vi *v = eng_vi_of(obj);

	if (unlikely(eng_hot_nothing(&v->q[VIPL_SENDQ])))
		return eng_send_done(obj, h, out);
	return collect(v, obj, h, out, VIPL_SENDQ);
}

/* There is progress, and a thread sleeps for the engine lock. */
static __attribute__((noinline)) VIP_RETURN
recv_done_after(struct vipl_vi *obj, VIP_VI_HANDLE h, VIP_DESCRIPTOR **out)
{
	eng_unlock_slow(&eng_vi_nic(eng_vi_of(obj))->lock);
	return eng_recv_done(obj, h, out);
}

VIP_RETURN shm_recv_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **out)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic;

	if (likely(eng_hot_nothing(&v->q[VIPL_RECVQ]))) {
		nic = eng_vi_nic(v);
		if (unlikely(eng_lock_busy(&nic->lock) ||
			     eng_lock_missed(&nic->lock)))
			return eng_recv_done(obj, h, out);
		if (!progress(nic))
			return eng_recv_done_held(obj, h, out);
		if (unlikely(atomic_fetch_sub_explicit(&nic->lock.word,
						       ENG_LOCK_HELD,
						       memory_order_release) !=
			     ENG_LOCK_HELD))
			return recv_done_after(obj, h, out);
	}
	return collect(v, obj, h, out, VIPL_RECVQ);
}

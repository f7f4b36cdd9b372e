// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Work queues: posting, completing, collecting. Every function that is inlined
 * here is so once for each queue, so that offsets are constants.
 */
#include <stdlib.h>

#include "eng.h"

static void fill_segment(struct via_seg *seg, const char *from)
{
	memcpy(seg, from, 16);
	seg->addr = eng_address(seg->addr);
}

/*
 * More segments than a slot holds: read them all now, if the descriptor is
 * where it may be. Otherwise the load finds the same and says what is wrong.
 */
static __attribute__((noinline)) void fill_more(struct eng_nic *nic,
						struct eng_vi *v,
						struct eng_slot *s)
{
	uint32_t i, n = s->d.seg_count;

	if (via_desc_place(&s->d) ||
	    !eng_local(nic, v, s->d.handle, s->d.addr, via_desc_bytes(n)))
		return;
	s->d.more = malloc(n * sizeof(*s->d.more));
	for (i = 0; s->d.more && i < n; i++)
		fill_segment(&s->d.more[i],
			     (char *)(uintptr_t)s->d.addr + 32 + 16 * i);
}

/* Copy what a slot has room for, and clear the descriptor's status. */
static ALWAYS_INLINE void fill_slot(struct eng_slot *s, VIP_DESCRIPTOR *desc,
				    VIP_MEM_HANDLE mem)
{
	static const uint32_t zero;
	char *d = (char *)desc;

	s->d.addr = (uintptr_t)desc;
	s->d.handle = mem;
	memcpy(&s->d.seg_count, d + 12, 2);
	memcpy(&s->d.control, d + 14, 2);
	memcpy(&s->d.reserved, d + 16, 4);
	memcpy(&s->d.immediate, d + 20, 4);
	memcpy(&s->d.length, d + 24, 4);
	if (s->d.seg_count) {
		fill_segment(&s->d.seg[0], d + 32);
		if (s->d.seg_count > 1)
			fill_segment(&s->d.seg[1], d + 48);
	}
	memcpy(d + 28, &zero, 4);
	s->d.status = 0;
	s->state = SLOT_POSTED;
	s->plain = 0;
	s->d.more = NULL;
	s->export = NULL;
}

static __attribute__((noinline)) VIP_RETURN
report_overrun(struct eng_nic *nic, struct eng_vi *v, VIP_DESCRIPTOR *desc,
	       int recv)
{
	eng_event(v, VIP_ERROR_VI_OVERRUN,
		  recv ? ENG_OP(VIP_STATUS_OP_RECEIVE) : 0, (uintptr_t)desc, 0);
	if (v->state == VIP_STATE_CONNECTED && eng_reliable(v))
		eng_break(nic, v);
	return VIP_SUCCESS;
}

/* A post that is not plain, or on a VI that is not connected. */
static __attribute__((noinline)) void post_odd(struct eng_nic *nic,
					       struct eng_vi *v,
					       struct eng_queue *q,
					       struct eng_slot *s)
{
	if (s->d.seg_count > VIA_DESC_INLINE)
		fill_more(nic, v, s);
	if (v->state == VIP_STATE_ERROR) {
		/* Else those posted before it come first, and all together. */
		if (!v->disconnecting)
			eng_flush(nic, v, q);
	} else if (q->recv && s->d.addr % VIA_DESC_ALIGN) {
		q->check = eng_get(&q->tail);
		q->scan = 1;
		eng_recv_scan(nic, v);
	}
}

/*
 * The short way of a short message: one segment, no immediate data, nothing
 * before it in the queue or at the peer. Nonzero when it is sent.
 */
static ALWAYS_INLINE int send_plain(struct eng_nic *nic, struct eng_vi *v,
				    struct eng_queue *q, struct eng_slot *s,
				    uint32_t i)
{
	struct iovec iov;

	if (unlikely(q->next != i || !v->peer->ready || s->d.control ||
		     s->d.length > nic->t->eager ||
		     s->d.length > v->attrs.max_transfer ||
		     !eng_is_plain(nic, v, q, s) ||
		     !eng_cached(nic, v, q, ENG_CACHE_DATA,
				 s->d.seg[0].handle,
				 s->d.seg[0].addr, s->d.seg[0].len) ||
		     i - eng_get(&q->done) >= ENG_INFLIGHT))
		return 0;
	v->tx.seq = i - v->tx_base;
	v->tx.ack = v->rx_done;
	v->tx.len = s->d.length;
	iov.iov_base = (void *)(uintptr_t)s->d.seg[0].addr;
	iov.iov_len = s->d.length;
	if (unlikely(eng_peer_xmit(v->peer, &v->tx, &iov, 1)))
		return 0;
	if (v->acks)
		eng_acks_rode(v);
	if (likely(!v->acks && i == eng_get(&q->done))) {
		eng_complete_plain(nic, v, q, s, i, VIP_STATUS_OP_SEND,
				   s->d.length);
		return 1;
	}
	s->state = v->acks ? SLOT_FLYING : SLOT_FINISHED;
	q->next = i + 1;
	v->quick = NULL;
	return 1;
}

static ALWAYS_INLINE VIP_RETURN post_slot(struct eng_nic *nic, struct eng_vi *v,
					  VIP_VI_HANDLE h, VIP_DESCRIPTOR *desc,
					  VIP_MEM_HANDLE mem, int recv)
{
	struct eng_queue *q = &v->q[recv];
	struct eng_slot *s;
	uint32_t tail;

	if (unlikely(atomic_load_explicit(&v->handle, memory_order_relaxed) !=
		     (uintptr_t)h))
		return VIP_INVALID_PARAMETER;
	if (!recv && unlikely(via_state_refuses_sends(v->state)))
		return VIP_INVALID_STATE;
	tail = eng_get(&q->tail);
	/* Pairs with the collector's release: it has left the slot. */
	q->limit = atomic_load_explicit(&q->collected, memory_order_acquire) +
		   ENG_QUEUE;
	if (unlikely(tail == q->limit))
		return report_overrun(nic, v, desc, recv);
	s = eng_queue_slot(q, tail);
	fill_slot(s, desc, mem);
	atomic_store_explicit(&q->tail, tail + 1, memory_order_release);
	if (!recv && likely(v->state == VIP_STATE_CONNECTED)) {
		if (likely(send_plain(nic, v, q, s, tail)))
			return VIP_SUCCESS;
		if (s->d.seg_count > VIA_DESC_INLINE)
			fill_more(nic, v, s);
		eng_run(nic, v);
	} else if (unlikely(s->d.seg_count > VIA_DESC_INLINE ||
			    v->state == VIP_STATE_ERROR ||
			    s->d.addr % VIA_DESC_ALIGN)) {
		post_odd(nic, v, q, s);
	}
	return VIP_SUCCESS;
}

VIP_RETURN eng_post_send(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	eng_enter(eng_vi_nic(eng_vi_of(obj)));
	return eng_post_send_held(obj, h, desc, mem);
}

VIP_RETURN eng_post_recv(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	eng_enter(eng_vi_nic(eng_vi_of(obj)));
	return eng_post_recv_held(obj, h, desc, mem);
}

/* The same with the engine lock held, which they drop. */
static ALWAYS_INLINE VIP_RETURN post_held(struct vipl_vi *obj,
					  VIP_VI_HANDLE h,
					  VIP_DESCRIPTOR *desc,
					  VIP_MEM_HANDLE mem, int recv)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);
	VIP_RETURN r;

	r = post_slot(nic, v, h, desc, mem, recv);
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_post_send_held(struct vipl_vi *obj, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return post_held(obj, h, desc, mem, VIPL_SENDQ);
}

VIP_RETURN eng_post_recv_held(struct vipl_vi *obj, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return post_held(obj, h, desc, mem, VIPL_RECVQ);
}

/* Receives that no message can use complete when they reach the head. */
void eng_recv_scan(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	struct eng_slot *s;
	uint32_t i;

	while ((int32_t)(q->check - (i = eng_get(&q->done))) > 0) {
		s = eng_queue_slot(q, i);
		/* A message has it: it will be looked at after that. */
		if (q->next != i || s->state == SLOT_FLYING)
			return;
		if (s->state == SLOT_POSTED)
			eng_load(nic, v, s, 1);
		if (!s->d.bad_post)
			return;
		eng_complete(nic, v, q, s->d.status | VIP_STATUS_OP_RECEIVE, 0,
			     0);
		if (v->state == VIP_STATE_CONNECTED && eng_reliable(v)) {
			eng_break(nic, v);
			return;
		}
	}
	q->scan = 0;
}

/*
 * Take the completed head off the queue and write its outcome into the
 * descriptor: only now, and only into the control segment. q->lock held.
 */
static ALWAYS_INLINE VIP_RETURN take_head(struct eng_queue *q,
					  uint32_t collected,
					  VIP_DESCRIPTOR **out)
{
	struct eng_slot *s = eng_queue_slot(q, collected);
	char *d = (char *)(uintptr_t)s->d.addr;
	uint32_t status = s->d.status;

	memcpy(d + 24, &s->d.length, 4);
	if (status & VIP_STATUS_IMMEDIATE)
		memcpy(d + 20, &s->d.immediate, 4);
	memcpy(d + 28, &status, 4);
	/* Pairs with the poster's acquire: the slot is free. */
	atomic_store_explicit(&q->collected, collected + 1,
			      memory_order_release);
	*out = (VIP_DESCRIPTOR *)(void *)d;
	return status & VIP_STATUS_ERROR_MASK ? VIP_DESCRIPTOR_ERROR :
						VIP_SUCCESS;
}

/*
 * Whether there is nothing to take, and what to say then. No lock: the words
 * are read in an order in which each is never behind the one before, so equal
 * means that they were equal at one moment.
 */
static ALWAYS_INLINE int queue_is_empty(struct eng_queue *q, VIP_RETURN *r)
{
	uint32_t collected, done;

	collected = atomic_load_explicit(&q->collected, memory_order_acquire);
	done = atomic_load_explicit(&q->done, memory_order_acquire);
	if (done != collected)
		return 0;
	*r = atomic_load_explicit(&q->tail, memory_order_acquire) ==
	     collected ? VIP_DESCRIPTOR_ERROR : VIP_NOT_DONE;
	return 1;
}

static ALWAYS_INLINE VIP_RETURN poll_queue(struct eng_vi *v, VIP_VI_HANDLE h,
					   VIP_DESCRIPTOR **out, int recv)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_queue *q = &v->q[recv];

	*out = NULL;
	if (queue_is_empty(q, &r))
		return r;
	r = VIP_INVALID_PARAMETER;
	eng_lock_take(&q->lock);
	/* Another thread may have been here first. */
	if (likely(q->handle == (uintptr_t)h &&
		   atomic_load_explicit(&q->done, memory_order_acquire) !=
		   eng_get(&q->collected)))
		r = take_head(q, eng_get(&q->collected), out);
	else if (q->handle == (uintptr_t)h)
		queue_is_empty(q, &r);
	eng_lock_drop(&q->lock);
	return r;
}

/* A poll of the receive queue that found nothing has the engine lock. */
VIP_RETURN eng_recv_done_held(struct vipl_vi *obj, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR **out)
{
	struct eng_vi *v = eng_vi_of(obj);

	eng_poll_held(eng_vi_nic(v));
	return poll_queue(v, h, out, VIPL_RECVQ);
}

static ALWAYS_INLINE VIP_RETURN done_queue(struct vipl_vi *obj, VIP_VI_HANDLE h,
					   VIP_DESCRIPTOR **out, int recv)
{
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = poll_queue(v, h, out, recv);

	if (r != VIP_NOT_DONE)
		return r;
	eng_poll(eng_vi_nic(v));
	return poll_queue(v, h, out, recv);
}

VIP_RETURN eng_send_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **desc)
{
	return done_queue(obj, h, desc, VIPL_SENDQ);
}

VIP_RETURN eng_recv_done(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_DESCRIPTOR **desc)
{
	return done_queue(obj, h, desc, VIPL_RECVQ);
}

/* One sleep; nonzero when the time is over. */
static int sleep_once(struct eng_nic *nic, struct eng_vi *v, VIP_VI_HANDLE h,
		      struct eng_queue *q, uint64_t deadline, VIP_RETURN *r)
{
	VIP_RETURN ignored;
	int late = 0;

	eng_enter(nic);
	if (atomic_load(&v->handle) != (uintptr_t)h) {
		*r = VIP_INVALID_PARAMETER;
	} else if (queue_is_empty(q, &ignored)) {
		q->watched = 1;
		late = eng_sleep(nic, &q->sleepers, deadline);
	}
	eng_leave(nic);
	return late;
}

static __attribute__((noinline)) VIP_RETURN
wait_queue(VIP_VI_HANDLE h, VIP_ULONG timeout, VIP_DESCRIPTOR **out, int recv)
{
	struct vipl_vi *obj = eng_host->vi_get(eng_host, h);
	uint64_t deadline, start = eng_now();
	struct eng_queue *q;
	struct eng_nic *nic;
	struct eng_vi *v;
	VIP_RETURN r;
	int late = 0;

	if (!obj)
		return VIP_INVALID_PARAMETER;
	v = eng_vi_of(obj);
	nic = eng_vi_nic(v);
	q = &v->q[recv];
	deadline = eng_deadline(timeout);
	late = eng_spin(nic, &q->done, eng_get(&q->collected), &q->spin_ns,
			start, deadline);
	for (;;) {
		r = poll_queue(v, h, out, recv);
		if (r != VIP_NOT_DONE)
			break;
		if (late) {
			r = VIP_TIMEOUT;
			break;
		}
		late = sleep_once(nic, v, h, q, deadline, &r);
		if (r != VIP_NOT_DONE)
			break;
	}
	eng_learn(&q->spin_ns, eng_now() - start);
	eng_host->vi_put(obj);
	return r;
}

VIP_RETURN eng_send_wait(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_ULONG timeout, VIP_DESCRIPTOR **desc)
{
	VIP_RETURN r = eng_send_done(obj, h, desc);

	if (r != VIP_NOT_DONE)
		return r;
	return timeout ? wait_queue(h, timeout, desc, VIPL_SENDQ) :
			 VIP_TIMEOUT;
}

VIP_RETURN eng_recv_wait(struct vipl_vi *obj, VIP_VI_HANDLE h,
			 VIP_ULONG timeout, VIP_DESCRIPTOR **desc)
{
	VIP_RETURN r = eng_recv_done(obj, h, desc);

	if (r != VIP_NOT_DONE)
		return r;
	return timeout ? wait_queue(h, timeout, desc, VIPL_RECVQ) :
			 VIP_TIMEOUT;
}

VIP_RETURN eng_vi_notify(struct vipl_vi *obj, int queue)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);
	struct eng_queue *q = &v->q[queue];
	VIP_RETURN r;

	eng_enter(nic);
	if (queue_is_empty(q, &r)) {
		q->notify = 1;
		q->watched = 1;
	} else {
		eng_tell_program(nic, v, q);
	}
	eng_leave(nic);
	return VIP_SUCCESS;
}

int eng_queue_empty(struct vipl_vi *obj, int queue)
{
	struct eng_queue *q = &eng_vi_of(obj)->q[queue];
	uint32_t collected;

	collected = atomic_load_explicit(&q->collected, memory_order_acquire);
	return atomic_load_explicit(&q->tail, memory_order_acquire) ==
	       collected;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Posting and collecting: the paths whose instructions are counted. Every
 * function here is written once and inlined for each queue, so that the
 * offsets of its words are constants.
 */
#include <stdalign.h>
#include <string.h>

#include "../../core/state.h"
#include "../../vipl/timeout.h"
#include "ka.h"

#define ALWAYS_INLINE	inline __attribute__((always_inline))

/* Private words that are written under the queue's lock only. */
static ALWAYS_INLINE uint32_t load_own(const _Atomic uint32_t *p)
{
	return atomic_load_explicit(p, memory_order_relaxed);
}

static ALWAYS_INLINE struct via_vi_shared *shared_of(struct ka_queue *q)
{
	return atomic_load_explicit(&q->shared, memory_order_relaxed);
}

static ALWAYS_INLINE struct via_queue_user *user_of(struct via_vi_shared *sh,
						    int recv)
{
	return recv ? &sh->recv_user : &sh->send_user;
}

static ALWAYS_INLINE struct via_queue_kern *kern_of(struct via_vi_shared *sh,
						    int recv)
{
	return recv ? &sh->recv_kern : &sh->send_kern;
}

/* The upper half of an address is a 64-bit program's only: see vipl.h. */
static ALWAYS_INLINE void fill_segment(struct via_seg *seg, const char *from)
{
	memcpy(seg, from, 16);
#ifndef __LP64__
	seg->addr = (uint32_t)seg->addr;
#endif
}

/*
 * Copy a descriptor's first 64 bytes, or as many as it has, and clear its
 * status. It may be misaligned, which the kernel will complain about; memcpy
 * of a constant size is a plain move on it all the same.
 */
static ALWAYS_INLINE void fill_slot(struct via_slot *slot,
				    VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	static const uint32_t zero;
	char *d = (char *)desc;
	uint32_t counts;	/* SegCount and Control */
	uint16_t segs;

	memcpy(&counts, d + 12, sizeof(counts));
	memcpy(&segs, d + 12, sizeof(segs));
	slot->desc = (uintptr_t)desc;
	slot->desc_handle = mem;
	memcpy((char *)slot + 12, &counts, sizeof(counts));
	memcpy((char *)slot + 16, d + 16, 16);
	if (segs) {
		fill_segment(&slot->seg[0], d + 32);
		if (segs > 1)
			fill_segment(&slot->seg[1], d + 48);
	}
	memcpy(d + 28, &zero, sizeof(zero));
}

/* Both queues: what posting leaves to be done outside the lock. */
enum after { POSTED, TRAP, FULL, STATE, STALE };

static ALWAYS_INLINE enum after post_slot(struct ka_queue *q, VIP_VI_HANDLE h,
					  VIP_DESCRIPTOR *desc,
					  VIP_MEM_HANDLE mem, int recv)
{
	uint32_t tail = load_own(&q->tail), state;
	struct via_vi_shared *sh = shared_of(q);
	struct via_slot *slots;

	if (unlikely(q->handle != (uintptr_t)h))
		return STALE;
	if (!recv) {
		state = ka_load(&sh->state);
		if (unlikely(via_state_refuses_sends(state)))
			return STATE;
	}
	if (unlikely(tail - load_own(&q->collected) >= q->limit))
		return FULL;
	slots = q->slots;
	fill_slot(&slots[tail & q->mask], desc, mem);
	tail++;
	atomic_store_explicit(&q->tail, tail, memory_order_relaxed);
	/* Publish, full barrier, then decide: see uapi/via.h. */
	ka_store_mb(&user_of(sh, recv)->tail, tail);
	/*
	 * Before the look at BUSY: a flush clears it after its own look at the
	 * tail.  See docs/explain/ordering.md.
	 */
	state = ka_load_acquire(&sh->state);
	if (recv)
		return unlikely(state == VIA_STATE_ERROR ||
				(uintptr_t)desc & (VIA_DESC_ALIGN - 1)) ?
			TRAP : POSTED;
	/* Another thread may have disconnected meanwhile: the kernel flushes. */
	if (unlikely(state != VIA_STATE_CONNECTED))
		return TRAP;
	return ka_load(&kern_of(sh, recv)->flags) & VIA_Q_BUSY ? POSTED : TRAP;
}

/* The kernel raises the error; the descriptor stays the program's. */
static __attribute__((noinline)) void report_overrun(struct vipl_vi *vi,
						     VIP_DESCRIPTOR *desc,
						     int recv)
{
	struct via_overrun arg = {
		.vi = ka_vi_priv(vi)->q[0].id,
		.recv = recv,
		.desc = (uintptr_t)desc,
	};

	ka_call(ka_nic_of(vi), VIA_IOC_VI_OVERRUN, &arg);
}

/*
 * The trap is made without the lock, so that another thread may collect
 * meanwhile, but with a reference, so that the file descriptor stays ours.
 */
static ALWAYS_INLINE void unlock_and_trap(struct vipl_vi *vi,
					  struct ka_queue *q, int recv)
{
	ka_host->ref(vi);
	vipl_unlock(&q->lock);
	ka_trap_all(q->fd, recv ? VIA_OP_RECV : VIA_OP_SEND, q->id);
	ka_host->vi_put(vi);
}

/*
 * A full queue, the lock held: the ring becomes longer and takes the
 * descriptor, or the queue has as many as the NIC allows.
 */
static VIP_RETURN post_beyond(struct vipl_vi *vi, VIP_VI_HANDLE h,
			      VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem,
			      int recv)
{
	struct ka_queue *q = &ka_vi_priv(vi)->q[recv];
	enum after after = FULL;
	VIP_RETURN r;

	if (q->limit < ka_nic_of(vi)->desc) {
		r = ka_queue_grow(vi, recv, q->limit + 1);
		if (r != VIP_SUCCESS) {
			vipl_unlock(&q->lock);
			return r;
		}
		after = post_slot(q, h, desc, mem, recv);
	}
	if (after == TRAP) {
		unlock_and_trap(vi, q, recv);
	} else if (after == FULL) {
		ka_host->ref(vi);
		vipl_unlock(&q->lock);
		report_overrun(vi, desc, recv);
		ka_host->vi_put(vi);
	} else {
		vipl_unlock(&q->lock);
	}
	return after == STATE ? VIP_INVALID_STATE : VIP_SUCCESS;
}

/* Not posted, the lock held: why not. */
static __attribute__((noinline)) VIP_RETURN
post_otherwise(struct vipl_vi *vi, VIP_VI_HANDLE h, VIP_DESCRIPTOR *desc,
	       VIP_MEM_HANDLE mem, int recv, enum after after)
{
	if (after == FULL)
		return post_beyond(vi, h, desc, mem, recv);
	vipl_unlock(&ka_vi_priv(vi)->q[recv].lock);
	return after == STATE ? VIP_INVALID_STATE : VIP_INVALID_PARAMETER;
}

static ALWAYS_INLINE VIP_RETURN post_desc(struct vipl_vi *vi, VIP_VI_HANDLE h,
					  VIP_DESCRIPTOR *desc,
					  VIP_MEM_HANDLE mem, int recv)
{
	struct ka_queue *q = &ka_vi_priv(vi)->q[recv];
	enum after after;

	vipl_lock(&q->lock);
	after = post_slot(q, h, desc, mem, recv);
	if (after == POSTED) {
		vipl_unlock(&q->lock);
		return VIP_SUCCESS;
	}
	if (unlikely(after != TRAP))
		return post_otherwise(vi, h, desc, mem, recv, after);
	unlock_and_trap(vi, q, recv);
	return VIP_SUCCESS;
}

VIP_RETURN ka_post_send(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return post_desc(vi, h, desc, mem, VIPL_SENDQ);
}

VIP_RETURN ka_post_recv(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem)
{
	return post_desc(vi, h, desc, mem, VIPL_RECVQ);
}

/*
 * Take the completed head off the queue and write its outcome into the
 * descriptor: only now, and only into the control segment.
 */
static ALWAYS_INLINE VIP_RETURN take_head(struct ka_queue *q,
					  uint32_t collected, int recv,
					  VIP_DESCRIPTOR **out)
{
	struct via_completion *comps = q->comps, *c;
	struct via_slot *slots = q->slots;
	uint32_t i = collected & q->mask;
	uint32_t status;
	char *d;

	c = &comps[i];
	d = (char *)(uintptr_t)slots[i].desc;
	status = c->status;
	memcpy(d + 24, &c->length, 4);
	if (recv && (status & VIA_ST_IMMEDIATE))
		memcpy(d + 20, &c->immediate, 4);
	memcpy(d + 28, &status, 4);
	collected++;
	atomic_store_explicit(&q->collected, collected, memory_order_release);
	ka_store_release(&user_of(shared_of(q), recv)->collected, collected);
	*out = (VIP_DESCRIPTOR *)d;
	return status & VIA_ST_ERROR_MASK ? VIP_DESCRIPTOR_ERROR : VIP_SUCCESS;
}

/*
 * Whether there is nothing to take, and what to say then. No lock: the words
 * are read in an order in which each is never behind the one before, so equal
 * means that they were equal at one moment.
 */
static ALWAYS_INLINE int queue_is_empty(struct ka_queue *q, int recv,
					VIP_RETURN *r, uint32_t *seen)
{
	uint32_t collected, done;

	collected = atomic_load_explicit(&q->collected, memory_order_acquire);
	done = ka_peek(&kern_of(shared_of(q), recv)->done);
	*seen = done;
	if (done != collected)
		return 0;
	*r = load_own(&q->tail) == collected ? VIP_DESCRIPTOR_ERROR :
					       VIP_NOT_DONE;
	return 1;
}

static ALWAYS_INLINE VIP_RETURN collect_head(struct vipl_vi *vi,
					     VIP_VI_HANDLE h,
					     VIP_DESCRIPTOR **out, int recv)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct ka_queue *q = &ka_vi_priv(vi)->q[recv];
	uint32_t seen;

	vipl_lock(&q->lock);
	if (unlikely(q->handle != (uintptr_t)h))
		goto out;
	if (!queue_is_empty(q, recv, &r, &seen))
		r = take_head(q, load_own(&q->collected), recv, out);
	else
		*out = NULL;
out:
	vipl_unlock(&q->lock);
	return r;
}

/* Out of line, so that an empty poll saves no registers for them. */
static __attribute__((noinline)) VIP_RETURN
collect_send(struct vipl_vi *vi, VIP_VI_HANDLE h, VIP_DESCRIPTOR **out)
{
	return collect_head(vi, h, out, VIPL_SENDQ);
}

static __attribute__((noinline)) VIP_RETURN
collect_recv(struct vipl_vi *vi, VIP_VI_HANDLE h, VIP_DESCRIPTOR **out)
{
	return collect_head(vi, h, out, VIPL_RECVQ);
}

/* *seen: the kernel's count that a NOT_DONE is based on. */
static ALWAYS_INLINE VIP_RETURN poll_queue(struct vipl_vi *vi, VIP_VI_HANDLE h,
					   VIP_DESCRIPTOR **out,
					   uint32_t *seen, int recv)
{
	VIP_RETURN r;

	if (!queue_is_empty(&ka_vi_priv(vi)->q[recv], recv, &r, seen))
		return recv ? collect_recv(vi, h, out) :
			      collect_send(vi, h, out);
	*out = NULL;
	return r;
}

/*
 * There was nothing, and the program spins: look for frames, and once more. The
 * trap is made with a reference, as in post_desc().
 */
static ALWAYS_INLINE VIP_RETURN look_for_head(struct vipl_vi *vi,
					      VIP_VI_HANDLE h,
					      VIP_DESCRIPTOR **out, int recv)
{
	struct ka_queue *q = &ka_vi_priv(vi)->q[recv];
	uint32_t seen;
	VIP_RETURN r;

	if (!ka_look_due())
		return VIP_NOT_DONE;
	vipl_lock(&q->lock);
	if (unlikely(q->handle != (uintptr_t)h)) {
		vipl_unlock(&q->lock);
		return VIP_INVALID_PARAMETER;
	}
	ka_host->ref(vi);
	vipl_unlock(&q->lock);
	ka_look(ka_nic_of(vi));
	r = poll_queue(vi, h, out, &seen, recv);
	ka_host->vi_put(vi);
	return r;
}

static __attribute__((noinline)) VIP_RETURN
look_send(struct vipl_vi *vi, VIP_VI_HANDLE h, VIP_DESCRIPTOR **out)
{
	return look_for_head(vi, h, out, VIPL_SENDQ);
}

static __attribute__((noinline)) VIP_RETURN
look_recv(struct vipl_vi *vi, VIP_VI_HANDLE h, VIP_DESCRIPTOR **out)
{
	return look_for_head(vi, h, out, VIPL_RECVQ);
}

static ALWAYS_INLINE VIP_RETURN done_queue(struct vipl_vi *vi, VIP_VI_HANDLE h,
					   VIP_DESCRIPTOR **out, int recv)
{
	uint32_t seen;
	VIP_RETURN r;

	if (!queue_is_empty(&ka_vi_priv(vi)->q[recv], recv, &r, &seen))
		return recv ? collect_recv(vi, h, out) :
			      collect_send(vi, h, out);
	*out = NULL;
	/* In the cache line that was just looked at. */
	if (unlikely(ka_peek(&kern_of(shared_of(&ka_vi_priv(vi)->q[recv]),
				      recv)->poll)) &&
	    r == VIP_NOT_DONE)
		return recv ? look_recv(vi, h, out) : look_send(vi, h, out);
	return r;
}

VIP_RETURN ka_send_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR **desc)
{
	return done_queue(vi, h, desc, VIPL_SENDQ);
}

VIP_RETURN ka_recv_done(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_DESCRIPTOR **desc)
{
	return done_queue(vi, h, desc, VIPL_RECVQ);
}

static VIP_RETURN poll_seen(struct vipl_vi *vi, VIP_VI_HANDLE h,
			    VIP_DESCRIPTOR **out, uint32_t *seen, int recv)
{
	if (!vipl_is_live(vi, h))
		return VIP_INVALID_PARAMETER;
	return recv ? poll_queue(vi, h, out, seen, VIPL_RECVQ) :
		      poll_queue(vi, h, out, seen, VIPL_SENDQ);
}

static __attribute__((noinline)) VIP_RETURN
sleep_queue(VIP_VI_HANDLE h, VIP_ULONG timeout, uint32_t seen,
	    VIP_DESCRIPTOR **out, int recv)
{
	struct vipl_vi *vi = ka_host->vi_get(ka_host, h);
	struct ka_sleeper s;
	VIP_RETURN slept, r;

	if (!vi)
		return VIP_INVALID_PARAMETER;
	/* One CPU and no time limit: nothing to work out before the trap. */
	if (!ka_nic_of(vi)->spin && vipl_forever(timeout) &&
	    !ka_trap(ka_nic_of(vi)->fd,
		     recv ? VIA_OP_WAIT_RECV : VIA_OP_WAIT_SEND,
		     ka_vi_priv(vi)->q[recv].id)) {
		r = poll_seen(vi, h, out, &seen, recv);
		if (r != VIP_NOT_DONE)
			goto out;
	}
	s = (struct ka_sleeper){
		.nic = ka_nic_of(vi),
		.kind = recv ? VIA_WAIT_RECV : VIA_WAIT_SEND,
		.id = ka_vi_priv(vi)->q[recv].id,
		.word = &kern_of(shared_of(&ka_vi_priv(vi)->q[recv]),
				 recv)->done,
		.seen = seen,
		.deadline = vipl_deadline(timeout),
		.spin_ns = &ka_vi_priv(vi)->q[recv].spin_ns,
		.poll = ka_load(&kern_of(shared_of(&ka_vi_priv(vi)->q[recv]),
					 recv)->poll),
	};
	do {
		slept = ka_sleep(&s);
		r = poll_seen(vi, h, out, &s.seen, recv);
	} while (r == VIP_NOT_DONE && slept == VIP_SUCCESS);
	if (r == VIP_NOT_DONE)
		r = slept;
out:
	ka_host->vi_put(vi);
	return r;
}

static ALWAYS_INLINE VIP_RETURN wait_queue(struct vipl_vi *vi, VIP_VI_HANDLE h,
					   VIP_ULONG timeout,
					   VIP_DESCRIPTOR **out, int recv)
{
	uint32_t seen;
	VIP_RETURN r;

	r = poll_queue(vi, h, out, &seen, recv);
	if (r != VIP_NOT_DONE)
		return r;
	if (!timeout)
		return VIP_TIMEOUT;
	return sleep_queue(h, timeout, seen, out, recv);
}

VIP_RETURN ka_send_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_ULONG timeout, VIP_DESCRIPTOR **desc)
{
	return wait_queue(vi, h, timeout, desc, VIPL_SENDQ);
}

VIP_RETURN ka_recv_wait(struct vipl_vi *vi, VIP_VI_HANDLE h,
			VIP_ULONG timeout, VIP_DESCRIPTOR **desc)
{
	return wait_queue(vi, h, timeout, desc, VIPL_RECVQ);
}

VIP_RETURN ka_vi_notify(struct vipl_vi *vi, int recv)
{
	uint32_t op = recv ? VIA_OP_NOTIFY_RECV : VIA_OP_NOTIFY_SEND;

	return ka_trap(ka_vi_priv(vi)->q[recv].fd, op,
		       ka_vi_priv(vi)->q[recv].id) ?
		VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

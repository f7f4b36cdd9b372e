// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Completion queues: a ring of notices in the order of the completions.
 *
 * The first of them, as many as the program asked for, are shown: it gets them
 * whatever it does. Those behind them wait until all that are shown have been
 * taken. No notice is lost, and the ring grows where it has to; but one that
 * waits goes when its completion is collected without it. So the ring is
 * bounded by twice what is not collected.
 */
#include <sys/mman.h>

#include "eng.h"

static uint32_t ring_places(VIP_ULONG entries)
{
	uint32_t n = 16;

	while (n < entries)
		n *= 2;
	return n;
}

static struct eng_notice *ring_new(uint32_t n)
{
	void *p = mmap(NULL, n * sizeof(struct eng_notice),
		       PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

static void ring_free(struct eng_notice *ring, uint32_t n)
{
	if (ring)
		munmap(ring, n * sizeof(*ring));
}

static uint32_t round_entries(VIP_ULONG entries)
{
	uint32_t n = 1;

	while (n < entries)
		n *= 2;
	return n;
}

VIP_RETURN eng_cq_create(struct vipl_cq *obj, VIP_ULONG entries)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_cq *cq = eng_cq_of(obj);
	struct eng_notice *ring;
	VIP_RETURN r = VIP_ERROR_RESOURCE;
	uint32_t n = ring_places(entries);

	ring = ring_new(n);
	eng_enter(nic);
	if (ring && nic->live && nic->ncqs < nic->ident.cq) {
		atomic_store(&cq->nic, nic);
		cq->obj = obj;
		vipl_list_init(&cq->sleepers);
		cq->notify = 0;
		cq->queues = 0;
		cq->made = 1;
		nic->ncqs++;
		eng_lock_take(&cq->lock);
		atomic_store(&cq->head, 0);
		atomic_store(&cq->tail, 0);
		cq->shown = 0;
		cq->entries = round_entries(entries);
		cq->ring = ring;
		cq->mask = n - 1;
		eng_lock_drop(&cq->lock);
		atomic_store(&cq->spin_ns, 20000);
		r = VIP_SUCCESS;
	}
	eng_leave(nic);
	if (r != VIP_SUCCESS)
		ring_free(ring, n);
	return r;
}

void eng_cq_live(struct vipl_cq *obj, VIP_CQ_HANDLE h)
{
	struct eng_cq *cq = eng_cq_of(obj);
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));

	eng_enter(nic);
	eng_lock_take(&cq->lock);
	cq->handle = (uintptr_t)h;
	eng_lock_drop(&cq->lock);
	atomic_store(&cq->live, (uintptr_t)h);
	if (!h) {
		cq->notify = 0;
		eng_wake(nic, &cq->sleepers);
	}
	eng_leave(nic);
}

VIP_RETURN eng_cq_destroy(struct vipl_cq *obj)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_cq *cq = eng_cq_of(obj);
	VIP_RETURN r = VIP_ERROR_RESOURCE;

	eng_enter(nic);
	if (!cq->queues) {
		r = VIP_SUCCESS;
		nic->ncqs -= cq->made;
		cq->made = 0;
	}
	eng_leave(nic);
	return r;
}

void eng_cq_release(struct vipl_cq *obj)
{
	struct eng_cq *cq = eng_cq_of(obj);
	struct eng_notice *ring;
	uint32_t n;

	eng_lock_take(&cq->lock);
	ring = cq->ring;
	n = cq->mask + 1;
	cq->ring = NULL;
	cq->mask = 0;
	atomic_store(&cq->head, 0);
	atomic_store(&cq->tail, 0);
	eng_lock_drop(&cq->lock);
	ring_free(ring, n);
}

/* A notice of a completion that waits to be collected? */
static int notice_is_fresh(const struct eng_notice *e)
{
	struct eng_queue *q = &e->vi->q[e->recv];

	return atomic_load_explicit(&e->vi->handle, memory_order_acquire) ==
	       e->handle &&
	       (int32_t)(e->index - eng_get(&q->collected)) >= 0;
}

/* Drop stale notices that are not shown; cq->lock held. */
static void drop_stale_notices(struct eng_cq *cq)
{
	uint32_t tail = eng_get(&cq->tail), i, to;

	for (i = to = cq->shown; i != tail; i++)
		if (notice_is_fresh(&cq->ring[i & cq->mask]))
			cq->ring[to++ & cq->mask] = cq->ring[i & cq->mask];
	atomic_store_explicit(&cq->tail, to, memory_order_release);
}

/* To a ring of n places, which hold what there is; cq->lock held. */
static int move_to_ring(struct eng_cq *cq, uint32_t n)
{
	uint32_t head = eng_get(&cq->head), tail = eng_get(&cq->tail), i;
	struct eng_notice *ring = ring_new(n);

	if (!ring)
		return -1;
	for (i = head; i != tail; i++)
		ring[i & (n - 1)] = cq->ring[i & cq->mask];
	ring_free(cq->ring, cq->mask + 1);
	cq->ring = ring;
	cq->mask = n - 1;
	return 0;
}

static __attribute__((noinline)) int make_room(struct eng_cq *cq)
{
	uint32_t used;

	drop_stale_notices(cq);
	used = eng_get(&cq->tail) - eng_get(&cq->head);
	if (used > cq->mask / 2 && move_to_ring(cq, (cq->mask + 1) * 2))
		return used <= cq->mask ? 0 : -1;
	return 0;
}

/*
 * The engine lock is held, and the completion is published: a Done succeeds at
 * once.
 */
void eng_cq_publish(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q,
		    uint32_t index)
{
	uintptr_t h = atomic_load_explicit(&v->handle, memory_order_relaxed);
	struct eng_cq *cq = q->cq;
	struct eng_notice *e;
	uint32_t tail;

	/* A notice of a VI that has ended would be passed over. */
	if (unlikely(!h))
		return;
	eng_lock_take(&cq->lock);
	if (unlikely(eng_get(&cq->tail) - eng_get(&cq->head) > cq->mask) &&
	    make_room(cq)) {
		/* No memory: the program finds it by polling the VI. */
		eng_lock_drop(&cq->lock);
		return;
	}
	tail = eng_get(&cq->tail);
	e = &cq->ring[tail & cq->mask];
	e->vi = v;
	e->handle = h;
	e->index = index;
	e->recv = q->recv;
	if (likely(cq->shown == tail &&
		   tail - eng_get(&cq->head) < cq->entries))
		cq->shown = tail + 1;
	atomic_store_explicit(&cq->tail, tail + 1, memory_order_release);
	eng_lock_drop(&cq->lock);

	if (unlikely(cq->notify)) {
		struct vipl_event ev = {
			.kind = VIPL_EVENT_CQ,
			.cq = (VIP_CQ_HANDLE)atomic_load(&cq->live),
		};

		cq->notify = 0;
		if (ev.cq)
			eng_host->event(nic->obj, &ev);
	}
	if (!vipl_list_empty(&cq->sleepers))
		eng_wake(nic, &cq->sleepers);
}

VIP_RETURN eng_cq_resize(struct vipl_cq *obj, VIP_ULONG entries)
{
	struct eng_cq *cq = eng_cq_of(obj);
	VIP_RETURN r = VIP_SUCCESS;
	uint32_t n = ring_places(entries);

	eng_lock_take(&cq->lock);
	while (n < eng_get(&cq->tail) - eng_get(&cq->head))
		n *= 2;
	if (move_to_ring(cq, n)) {
		r = VIP_ERROR_RESOURCE;
	} else {
		cq->entries = round_entries(entries);
		/* Notices that are shown no longer wait again. */
		if (cq->shown - eng_get(&cq->head) > cq->entries)
			cq->shown = eng_get(&cq->head) + cq->entries;
	}
	eng_lock_drop(&cq->lock);
	return r;
}

/* No lock is needed: head is read before tail, which is never behind it. */
static inline int cq_is_empty(struct eng_cq *cq)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_acquire);

	return atomic_load_explicit(&cq->tail, memory_order_acquire) == head;
}

/* All that were shown are taken: show more. cq->lock held. */
static __attribute__((noinline)) void show_notices(struct eng_cq *cq)
{
	uint32_t head = eng_get(&cq->head), n;

	drop_stale_notices(cq);
	n = eng_get(&cq->tail) - head;
	cq->shown = head + (n < cq->entries ? n : cq->entries);
}

static VIP_RETURN poll_cq(struct eng_cq *cq, VIP_CQ_HANDLE h,
			  VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_notice *e;
	uint32_t head;

	if (cq_is_empty(cq))
		return VIP_NOT_DONE;
	eng_lock_take(&cq->lock);
	if (cq->handle == (uintptr_t)h)
		r = VIP_NOT_DONE;
	while (r == VIP_NOT_DONE && !cq_is_empty(cq)) {
		head = eng_get(&cq->head);
		if (unlikely(head == cq->shown)) {
			show_notices(cq);
			continue;
		}
		e = &cq->ring[head & cq->mask];
		/* Notices of VIs that are gone are passed over. */
		if (atomic_load_explicit(&e->vi->handle,
					 memory_order_acquire) == e->handle) {
			*vi = (VIP_VI_HANDLE)e->handle;
			*recv = e->recv ? VIP_TRUE : VIP_FALSE;
			r = VIP_SUCCESS;
		}
		atomic_store_explicit(&cq->head, head + 1,
				      memory_order_release);
	}
	eng_lock_drop(&cq->lock);
	return r;
}

VIP_RETURN eng_cq_done(struct vipl_cq *obj, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
		       VIP_BOOLEAN *recv)
{
	struct eng_cq *cq = eng_cq_of(obj);
	VIP_RETURN r = poll_cq(cq, h, vi, recv);

	if (r != VIP_NOT_DONE)
		return r;
	eng_poll(atomic_load_explicit(&cq->nic, memory_order_acquire));
	return poll_cq(cq, h, vi, recv);
}

static VIP_RETURN wait_cq(VIP_CQ_HANDLE h, VIP_ULONG timeout,
			  VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	struct vipl_cq *obj = eng_host->cq_get(eng_host, h);
	uint64_t deadline, start = eng_now();
	struct eng_nic *nic;
	struct eng_cq *cq;
	VIP_RETURN r;
	int late;

	if (!obj)
		return VIP_INVALID_PARAMETER;
	cq = eng_cq_of(obj);
	nic = atomic_load(&cq->nic);
	deadline = eng_deadline(timeout);
	late = eng_spin(nic, &cq->tail, eng_get(&cq->head), &cq->spin_ns,
			start, deadline);
	for (;;) {
		r = poll_cq(cq, h, vi, recv);
		if (r != VIP_NOT_DONE)
			break;
		if (late) {
			r = VIP_TIMEOUT;
			break;
		}
		eng_enter(nic);
		if (atomic_load(&cq->live) != (uintptr_t)h)
			r = VIP_INVALID_PARAMETER;
		else if (cq_is_empty(cq))
			late = eng_sleep(nic, &cq->sleepers, deadline);
		eng_leave(nic);
		if (r != VIP_NOT_DONE)
			break;
	}
	eng_learn(&cq->spin_ns, eng_now() - start);
	eng_host->cq_put(obj);
	return r;
}

VIP_RETURN eng_cq_wait(struct vipl_cq *obj, VIP_CQ_HANDLE h, VIP_ULONG timeout,
		       VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	VIP_RETURN r = eng_cq_done(obj, h, vi, recv);

	if (r != VIP_NOT_DONE)
		return r;
	return timeout ? wait_cq(h, timeout, vi, recv) : VIP_TIMEOUT;
}

VIP_RETURN eng_cq_notify(struct vipl_cq *obj)
{
	struct eng_cq *cq = eng_cq_of(obj);
	struct eng_nic *nic = atomic_load(&cq->nic);
	struct vipl_event ev = { .kind = VIPL_EVENT_CQ };

	eng_enter(nic);
	ev.cq = (VIP_CQ_HANDLE)atomic_load(&cq->live);
	if (cq_is_empty(cq))
		cq->notify = 1;
	else if (ev.cq)
		eng_host->event(nic->obj, &ev);
	eng_leave(nic);
	return VIP_SUCCESS;
}

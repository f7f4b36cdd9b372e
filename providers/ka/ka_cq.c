// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <sys/mman.h>

#include "../../vipl/timeout.h"
#include "ka.h"

#define SPIN_START_NS	20000

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map_cq(struct ka_cq *cq, const struct via_cq_create *arg)
{
	char *p = NULL;

	if (arg->entries && !(arg->entries & (arg->entries - 1)) &&
	    arg->mmap_size >= VIA_CQ_SIZE((uint64_t)arg->entries))
		p = ka_map(cq->nic, &cq->area, arg->mmap_offset,
			   arg->mmap_size);
	if (!p)
		return -1;
	atomic_store_explicit(&cq->head, 0, memory_order_relaxed);
	cq->mask = arg->entries - 1;
	cq->id = arg->cq;
	cq->entries = (void *)(p + VIA_CQ_HDR_SIZE);
	atomic_store_explicit(&cq->shared, (void *)p, memory_order_release);
	atomic_store_explicit(&cq->spin_ns, SPIN_START_NS,
			      memory_order_relaxed);
	return 0;
}

VIP_RETURN ka_cq_create(struct vipl_cq *c, VIP_ULONG entries)
{
	struct via_cq_create arg = { .entries = entries };
	struct ka_cq *cq = ka_cq_priv(c);
	struct via_cq_arg undo;
	VIP_RETURN r;

	cq->nic = ka_nic_of(c);
	r = ka_call(cq->nic, VIA_IOC_CQ_CREATE, &arg);
	if (r != VIP_SUCCESS)
		return r;
	if (!map_cq(cq, &arg))
		return VIP_SUCCESS;
	undo = (struct via_cq_arg){ .cq = arg.cq };
	ka_call(cq->nic, VIA_IOC_CQ_DESTROY, &undo);
	return VIP_ERROR_RESOURCE;
}

void ka_cq_live(struct vipl_cq *c, VIP_CQ_HANDLE h)
{
	struct ka_cq *cq = ka_cq_priv(c);
	int was;

	vipl_lock(&cq->lock);
	vipl_lock(&cq->nic->lock);
	was = cq->handle != 0;
	cq->handle = (uintptr_t)h;
	if (h && !was)
		vipl_list_add(&cq->link, &cq->nic->cqs);
	else if (!h && was)
		vipl_list_del(&cq->link);
	vipl_unlock(&cq->nic->lock);
	vipl_unlock(&cq->lock);
}

/* The handle of the CQ with that id, or NULL when it is gone. */
VIP_CQ_HANDLE ka_cq_by_id(struct ka_nic *nic, uint32_t id)
{
	struct vipl_list *l;
	uintptr_t h = 0;

	vipl_lock(&nic->lock);
	for (l = nic->cqs.next; l != &nic->cqs && !h; l = l->next)
		if (vipl_container(l, struct ka_cq, link)->id == id)
			h = vipl_container(l, struct ka_cq, link)->handle;
	vipl_unlock(&nic->lock);
	return (VIP_CQ_HANDLE)h;
}

VIP_RETURN ka_cq_destroy(struct vipl_cq *cq)
{
	struct via_cq_arg arg = { .cq = ka_cq_priv(cq)->id };

	return ka_call(ka_nic_of(cq), VIA_IOC_CQ_DESTROY, &arg);
}

/*
 * Unmapping takes memory. Where there is none the ring stays, and with it the
 * file of the NIC: the next resize tries again, then the release.
 */
static int unmap_old(struct ka_cq *cq)
{
	if (cq->old && munmap(cq->old, cq->old_size))
		return -1;
	cq->old = NULL;
	return 0;
}

/*
 * To another ring, or to none. Only a holder of cq->lock looks at entries, and
 * none is left that will at those of before.
 */
static void replace_ring(struct ka_cq *cq, void *ring, size_t size)
{
	cq->old = cq->ring;
	cq->old_size = cq->ring_size;
	cq->ring = ring;
	cq->ring_size = size;
	if (!cq->old)
		ka_unmap_from(&cq->area, page_size());
	unmap_old(cq);
}

void ka_cq_release(struct vipl_cq *c)
{
	struct ka_cq *cq = ka_cq_priv(c);

	unmap_old(cq);
	if (cq->ring)
		replace_ring(cq, NULL, 0);
	ka_unmap(&cq->area);
}

/*
 * From here on the entries lie in another ring. The kernel moves what is
 * unread while cq->lock keeps every thread from taking any; an empty poll goes
 * by head and tail, which do not change.
 */
static VIP_RETURN commit_resize(struct ka_cq *cq, void *ring,
				struct via_cq_resize *arg)
{
	VIP_RETURN r;

	arg->step = VIA_CQ_COMMIT;
	vipl_lock(&cq->lock);
	r = ka_call(cq->nic, VIA_IOC_CQ_RESIZE, arg);
	if (r == VIP_SUCCESS) {
		cq->entries = ring;
		cq->mask = arg->entries - 1;
	}
	vipl_unlock(&cq->lock);
	return r;
}

static void *map_ring(const struct ka_nic *nic,
		      const struct via_cq_resize *arg)
{
	void *p;

	if (!arg->entries || (arg->entries & (arg->entries - 1)) ||
	    arg->mmap_size / sizeof(struct via_cq_entry) < arg->entries)
		return NULL;
	p = mmap(NULL, arg->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 nic->fd, (off_t)arg->mmap_offset);
	return p == MAP_FAILED ? NULL : p;
}

/* All that can fail comes before the commit. */
VIP_RETURN ka_cq_resize(struct vipl_cq *c, VIP_ULONG entries)
{
	struct ka_cq *cq = ka_cq_priv(c);
	struct via_cq_resize arg = {
		.cq = cq->id,
		.step = VIA_CQ_PREPARE,
		.entries = entries,
	};
	const struct ka_nic *nic = cq->nic;
	VIP_RETURN r;
	void *ring;

	if (unmap_old(cq))
		return VIP_ERROR_RESOURCE;
	r = ka_call(nic, VIA_IOC_CQ_RESIZE, &arg);
	if (r != VIP_SUCCESS)
		return r;
	ring = map_ring(nic, &arg);
	if (!ring) {
		arg.step = VIA_CQ_ABANDON;
		ka_call(nic, VIA_IOC_CQ_RESIZE, &arg);
		return VIP_ERROR_RESOURCE;
	}
	r = commit_resize(cq, ring, &arg);
	if (r == VIP_SUCCESS) {
		replace_ring(cq, ring, arg.mmap_size);
	} else {
		cq->old = ring;
		cq->old_size = arg.mmap_size;
		unmap_old(cq);
	}
	return r;
}

static inline struct via_cq_shared *cq_shared(struct ka_cq *cq)
{
	return atomic_load_explicit(&cq->shared, memory_order_relaxed);
}

/*
 * Nothing to take? As with the work queues no lock is needed: head is read
 * before tail, which is never behind it.
 */
static inline int cq_is_empty(struct ka_cq *cq, uint32_t *seen)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_acquire);
	struct via_cq_shared *sh = cq_shared(cq);

	*seen = ka_peek(&sh->tail);
	return *seen == head && !(ka_peek(&sh->flags) & VIA_CQ_OVERFLOW);
}

/* One entry off the ring; NOT_DONE when it is empty. cq->lock held. */
static VIP_RETURN pop_entry(struct ka_cq *cq, uint32_t tail, VIP_VI_HANDLE *vi,
			    VIP_BOOLEAN *recv)
{
	uint32_t head = atomic_load_explicit(&cq->head, memory_order_relaxed);
	struct via_cq_entry *entries = cq->entries, *e = NULL;
	VIP_VI_HANDLE h = NULL;

	while (head != tail && !h) {
		e = &entries[head++ & cq->mask];
		/* Entries of VIs that are gone are passed over. */
		h = ka_vi_by_id(cq->nic, e->vi);
	}
	if (h) {
		*vi = h;
		*recv = e->recv ? VIP_TRUE : VIP_FALSE;
	}
	/* The entry is the kernel's again. */
	atomic_store_explicit(&cq->head, head, memory_order_release);
	ka_store_release(&cq_shared(cq)->head, head);
	return h ? VIP_SUCCESS : VIP_NOT_DONE;
}

static __attribute__((noinline)) VIP_RETURN
take_entry(struct ka_cq *cq, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
	   VIP_BOOLEAN *recv, uint32_t *seen)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	vipl_lock(&cq->lock);
	while (cq->handle == (uintptr_t)h) {
		r = VIP_NOT_DONE;
		if (cq_is_empty(cq, seen))
			break;
		r = pop_entry(cq, *seen, vi, recv);
		if (r == VIP_SUCCESS)
			break;
		/* The ring ran full: the kernel has more, in order. */
		if (ka_load(&cq_shared(cq)->flags) & VIA_CQ_OVERFLOW &&
		    ka_trap(cq->nic->fd, VIA_OP_CQ, cq->id) < 0)
			break;
	}
	vipl_unlock(&cq->lock);
	return r;
}

static inline VIP_RETURN poll_cq(struct ka_cq *cq, VIP_CQ_HANDLE h,
				 VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv,
				 uint32_t *seen)
{
	if (cq_is_empty(cq, seen))
		return VIP_NOT_DONE;
	return take_entry(cq, h, vi, recv, seen);
}

/* As with the work queues: see ka_queue.c. */
static __attribute__((noinline)) VIP_RETURN
look_for_entry(struct vipl_cq *c, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
	       VIP_BOOLEAN *recv)
{
	struct ka_cq *cq = ka_cq_priv(c);
	uint32_t seen;
	VIP_RETURN r;

	if (!ka_look_due())
		return VIP_NOT_DONE;
	vipl_lock(&cq->lock);
	if (cq->handle != (uintptr_t)h) {
		vipl_unlock(&cq->lock);
		return VIP_INVALID_PARAMETER;
	}
	ka_host->ref(c);
	vipl_unlock(&cq->lock);
	ka_look(cq->nic);
	r = poll_cq(cq, h, vi, recv, &seen);
	ka_host->cq_put(c);
	return r;
}

VIP_RETURN ka_cq_done(struct vipl_cq *c, VIP_CQ_HANDLE h, VIP_VI_HANDLE *vi,
		      VIP_BOOLEAN *recv)
{
	struct ka_cq *cq = ka_cq_priv(c);
	uint32_t seen;

	if (!cq_is_empty(cq, &seen))
		return take_entry(cq, h, vi, recv, &seen);
	return ka_peek(&cq_shared(cq)->poll) ? look_for_entry(c, h, vi, recv) :
					       VIP_NOT_DONE;
}

static VIP_RETURN sleep_cq(VIP_CQ_HANDLE h, VIP_ULONG timeout, uint32_t seen,
			   VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	struct vipl_cq *c = ka_host->cq_get(ka_host, h);
	VIP_RETURN slept, r;
	struct ka_sleeper s;
	struct ka_cq *cq;

	if (!c)
		return VIP_INVALID_PARAMETER;
	cq = ka_cq_priv(c);
	s = (struct ka_sleeper){
		.nic = cq->nic,
		.kind = VIA_WAIT_CQ,
		.id = cq->id,
		.word = &cq_shared(cq)->tail,
		.seen = seen,
		.deadline = vipl_deadline(timeout),
		.spin_ns = &cq->spin_ns,
		.poll = ka_load(&cq_shared(cq)->poll),
	};
	do {
		slept = ka_sleep(&s);
		r = vipl_is_live(c, h) ?
			poll_cq(cq, h, vi, recv, &s.seen) :
			VIP_INVALID_PARAMETER;
	} while (r == VIP_NOT_DONE && slept == VIP_SUCCESS);
	ka_host->cq_put(c);
	return r == VIP_NOT_DONE ? slept : r;
}

VIP_RETURN ka_cq_wait(struct vipl_cq *c, VIP_CQ_HANDLE h, VIP_ULONG timeout,
		      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	uint32_t seen;
	VIP_RETURN r;

	r = poll_cq(ka_cq_priv(c), h, vi, recv, &seen);
	if (r != VIP_NOT_DONE)
		return r;
	if (!timeout)
		return VIP_TIMEOUT;
	return sleep_cq(h, timeout, seen, vi, recv);
}

VIP_RETURN ka_cq_notify(struct vipl_cq *c)
{
	struct ka_cq *cq = ka_cq_priv(c);

	return ka_trap(cq->nic->fd, VIA_OP_NOTIFY_CQ, cq->id) ?
		VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

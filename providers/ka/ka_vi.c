// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ka.h"

/* How long a first wait spins before it has learned better. */
#define SPIN_START_NS	20000

static void init_queue(struct ka_queue *q, const struct ka_nic *nic,
		       const struct via_vi_create *arg)
{
	atomic_store_explicit(&q->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&q->collected, 0, memory_order_relaxed);
	q->mask = arg->entries - 1;
	q->limit = nic->desc < arg->entries ? nic->desc :
						     arg->entries;
	q->id = arg->vi;
	q->fd = nic->fd;
	atomic_store_explicit(&q->spin_ns, SPIN_START_NS,
			      memory_order_relaxed);
}

/* The rings that the area has from its beginning. */
static void set_first_rings(struct ka_queue *sq, struct ka_queue *rq, char *p)
{
	sq->slots = (void *)(p + VIA_VI_FEW_SEND_SLOTS);
	rq->slots = (void *)(p + VIA_VI_FEW_RECV_SLOTS);
	sq->comps = (void *)(p + VIA_VI_FEW_SEND_COMP);
	rq->comps = (void *)(p + VIA_VI_FEW_RECV_COMP);
}

/* In an area of @n entries a queue. */
static void set_ring(struct ka_queue *q, char *p, int recv, uint32_t n)
{
	q->slots = (void *)(p + (recv ? VIA_VI_RECV_SLOTS(n) :
					VIA_VI_SEND_SLOTS));
	q->comps = (void *)(p + (recv ? VIA_VI_RECV_COMP(n) :
					VIA_VI_SEND_COMP(n)));
}

static int map_queues(struct ka_vi *vi, const struct ka_nic *nic,
		      const struct via_vi_create *arg)
{
	struct ka_queue *sq = &vi->q[VIPL_SENDQ], *rq = &vi->q[VIPL_RECVQ];
	uint32_t most = arg->entries == VIA_VI_FEW ? VIA_VI_MOST :
						     arg->entries;
	char *p;

	if (!arg->entries || (arg->entries & (arg->entries - 1)) ||
	    arg->mmap_size < VIA_VI_SIZE((uint64_t)most))
		return -1;
	p = ka_map(nic, &vi->area, arg->mmap_offset, arg->mmap_size);
	if (!p)
		return -1;
	init_queue(sq, nic, arg);
	init_queue(rq, nic, arg);
	atomic_store_explicit(&sq->shared, (void *)p, memory_order_release);
	atomic_store_explicit(&rq->shared, (void *)p, memory_order_release);
	if (arg->entries == VIA_VI_FEW) {
		set_first_rings(sq, rq, p);
		return 0;
	}
	/* Modules before there was VIA_IOC_VI_GROW. */
	set_ring(sq, p, 0, arg->entries);
	set_ring(rq, p, 1, arg->entries);
	return 0;
}

VIP_RETURN ka_vi_create(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *a,
			uint32_t ptag, struct vipl_cq *scq,
			struct vipl_cq *rcq)
{
	struct ka_nic *nic = ka_nic_of(vi);
	struct via_vi_create arg = {
		.attrs = via_attrs_from_vip(a, ptag),
		.send_cq = scq ? ka_cq_priv(scq)->id : 0,
		.recv_cq = rcq ? ka_cq_priv(rcq)->id : 0,
		.entries = VIA_VI_FEW,
	};
	struct via_vi_arg undo;
	VIP_RETURN r;

	r = ka_call(nic, VIA_IOC_VI_CREATE, &arg);
	if (r != VIP_SUCCESS)
		return r;
	if (!ka_id_room(nic, arg.vi) && !map_queues(ka_vi_priv(vi), nic, &arg))
		return VIP_SUCCESS;
	undo = (struct via_vi_arg){ .vi = arg.vi };
	ka_call(nic, VIA_IOC_VI_DESTROY, &undo);
	return VIP_ERROR_RESOURCE;
}

/* Its lock is held: nothing is posted or taken off meanwhile. */
VIP_RETURN ka_queue_grow(struct vipl_vi *vi, int recv, uint32_t entries)
{
	struct ka_queue *q = &ka_vi_priv(vi)->q[recv];
	struct ka_nic *nic = ka_nic_of(vi);
	struct via_vi_grow arg = {
		.vi = q->id,
		.recv = recv,
		.entries = entries,
	};
	VIP_RETURN r = ka_call(nic, VIA_IOC_VI_GROW, &arg);
	char *p = (char *)atomic_load(&q->shared);

	if (r != VIP_SUCCESS)
		return r;
	set_ring(q, p, recv, VIA_VI_MOST);
	q->mask = arg.entries - 1;
	q->limit = nic->desc < arg.entries ? nic->desc : arg.entries;
	return VIP_SUCCESS;
}

VIP_RETURN ka_vi_reserve(struct vipl_vi *vi, uint32_t sends, uint32_t receives)
{
	uint32_t want[2] = { [VIPL_SENDQ] = sends, [VIPL_RECVQ] = receives };
	VIP_RETURN r = VIP_SUCCESS;
	int i;

	for (i = 0; i < 2 && r == VIP_SUCCESS; i++) {
		struct ka_queue *q = &ka_vi_priv(vi)->q[i];

		vipl_lock(&q->lock);
		if (want[i] > q->limit)
			r = ka_queue_grow(vi, i, want[i]);
		vipl_unlock(&q->lock);
	}
	return r;
}

static void lock_queues(struct ka_vi *vi)
{
	vipl_lock(&vi->q[VIPL_SENDQ].lock);
	vipl_lock(&vi->q[VIPL_RECVQ].lock);
}

static void unlock_queues(struct ka_vi *vi)
{
	vipl_unlock(&vi->q[VIPL_RECVQ].lock);
	vipl_unlock(&vi->q[VIPL_SENDQ].lock);
}

void ka_vi_live(struct vipl_vi *v, VIP_VI_HANDLE h)
{
	struct ka_vi *vi = ka_vi_priv(v);

	lock_queues(vi);
	vi->q[VIPL_SENDQ].handle = (uintptr_t)h;
	vi->q[VIPL_RECVQ].handle = (uintptr_t)h;
	unlock_queues(vi);
	ka_id_set(ka_nic_of(v), vi->q[0].id, (uintptr_t)h);
	if (!h)
		ka_conn_ended(v);
}

static int has_outstanding(struct ka_vi *vi)
{
	struct via_vi_shared *sh = atomic_load(&vi->q[0].shared);

	return ka_load_acquire(&sh->send_kern.done) !=
		atomic_load(&vi->q[VIPL_SENDQ].tail) ||
	       ka_load_acquire(&sh->recv_kern.done) !=
		atomic_load(&vi->q[VIPL_RECVQ].tail);
}

/*
 * Its id still means it: should the VI live on, no notice of it may be passed
 * over meanwhile.
 */
VIP_RETURN ka_vi_retire(struct vipl_vi *v)
{
	struct ka_vi *vi = ka_vi_priv(v);
	int busy;

	lock_queues(vi);
	busy = has_outstanding(vi);
	if (!busy) {
		vi->q[VIPL_SENDQ].handle = 0;
		vi->q[VIPL_RECVQ].handle = 0;
	}
	unlock_queues(vi);
	return busy ? VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

VIP_RETURN ka_vi_destroy(struct vipl_vi *vi)
{
	struct via_vi_arg arg = { .vi = ka_vi_priv(vi)->q[0].id };

	return ka_call(ka_nic_of(vi), VIA_IOC_VI_DESTROY, &arg);
}

void ka_vi_release(struct vipl_vi *vi)
{
	ka_unmap(&ka_vi_priv(vi)->area);
}

int ka_queue_empty(struct vipl_vi *vi, int queue)
{
	struct ka_queue *q = &ka_vi_priv(vi)->q[queue];
	int empty;

	vipl_lock(&q->lock);
	empty = atomic_load(&q->tail) == atomic_load(&q->collected);
	vipl_unlock(&q->lock);
	return empty;
}

VIP_RETURN ka_vi_query(struct vipl_vi *vi, VIP_VI_STATE *state,
		       VIP_VI_ATTRIBUTES *attrs)
{
	struct via_vi_query arg = { .vi = ka_vi_priv(vi)->q[0].id };
	VIP_RETURN r = ka_call(ka_nic_of(vi), VIA_IOC_VI_QUERY, &arg);

	if (r != VIP_SUCCESS)
		return r;
	*state = (VIP_VI_STATE)arg.state;
	*attrs = via_attrs_to_vip(&arg.attrs);
	return VIP_SUCCESS;
}

VIP_RETURN ka_vi_set(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *a,
		     uint32_t ptag)
{
	struct via_vi_set arg = {
		.vi = ka_vi_priv(vi)->q[0].id,
		.attrs = via_attrs_from_vip(a, ptag),
	};

	return ka_call(ka_nic_of(vi), VIA_IOC_VI_SET, &arg);
}

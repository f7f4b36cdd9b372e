// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ka.h"

/* How long a first wait spins before it has learned better. */
#define SPIN_START_NS	20000

static void init_queue(struct vipl_queue *q, const struct vipl_nic *nic,
		       const struct via_vi_create *arg)
{
	atomic_store_explicit(&q->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&q->collected, 0, memory_order_relaxed);
	q->mask = arg->entries - 1;
	q->limit = nic->limits.desc < arg->entries ? nic->limits.desc :
						     arg->entries;
	q->id = arg->vi;
	q->fd = nic->fd;
	atomic_store_explicit(&q->spin_ns, SPIN_START_NS,
			      memory_order_relaxed);
}

static int map_queues(struct vipl_vi *vi, const struct via_vi_create *arg)
{
	struct vipl_queue *sq = &vi->q[VIPL_SENDQ], *rq = &vi->q[VIPL_RECVQ];
	char *p;

	if (!arg->entries || (arg->entries & (arg->entries - 1)) ||
	    arg->mmap_size < VIA_VI_SIZE((uint64_t)arg->entries))
		return -1;
	p = ka_map(vi->obj.nic, &vi->area, arg->mmap_offset, arg->mmap_size);
	if (!p)
		return -1;
	init_queue(sq, vi->obj.nic, arg);
	init_queue(rq, vi->obj.nic, arg);
	atomic_store_explicit(&sq->shared, p, memory_order_release);
	atomic_store_explicit(&rq->shared, p, memory_order_release);
	sq->slots = p + VIA_VI_SEND_SLOTS;
	rq->slots = p + VIA_VI_RECV_SLOTS(arg->entries);
	sq->comps = p + VIA_VI_SEND_COMP(arg->entries);
	rq->comps = p + VIA_VI_RECV_COMP(arg->entries);
	return 0;
}

static struct via_vi_attrs to_attrs(const VIP_VI_ATTRIBUTES *a, uint32_t ptag)
{
	return (struct via_vi_attrs){
		.reliability = a->ReliabilityLevel,
		.ptag = ptag,
		.max_transfer = a->MaxTransferSize,
		.rights = ka_rights(a->EnableRdmaWrite, a->EnableRdmaRead),
	};
}

VIP_RETURN ka_vi_create(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *a,
			uint32_t ptag)
{
	struct vipl_cq *scq = vi->cq[VIPL_SENDQ], *rcq = vi->cq[VIPL_RECVQ];
	struct via_vi_create arg = {
		.attrs = to_attrs(a, ptag),
		.send_cq = scq ? scq->id : 0,
		.recv_cq = rcq ? rcq->id : 0,
	};
	struct via_vi_arg undo;
	VIP_RETURN r;

	r = ka_call(vi->obj.nic, VIA_IOC_VI_CREATE, &arg);
	if (r != VIP_SUCCESS)
		return r;
	if (!map_queues(vi, &arg))
		return VIP_SUCCESS;
	undo = (struct via_vi_arg){ .vi = arg.vi };
	ka_call(vi->obj.nic, VIA_IOC_VI_DESTROY, &undo);
	return VIP_ERROR_RESOURCE;
}

VIP_RETURN ka_vi_destroy(struct vipl_vi *vi)
{
	struct via_vi_arg arg = { .vi = vi->q[0].id };

	return ka_call(vi->obj.nic, VIA_IOC_VI_DESTROY, &arg);
}

void ka_vi_release(struct vipl_vi *vi)
{
	ka_unmap(&vi->area);
}

VIP_RETURN ka_vi_query(struct vipl_vi *vi, VIP_VI_STATE *state,
		       VIP_VI_ATTRIBUTES *attrs)
{
	struct via_vi_query arg = { .vi = vi->q[0].id };
	VIP_RETURN r = ka_call(vi->obj.nic, VIA_IOC_VI_QUERY, &arg);

	if (r != VIP_SUCCESS)
		return r;
	*state = (VIP_VI_STATE)arg.state;
	ka_attrs(&arg.attrs, attrs);
	return VIP_SUCCESS;
}

VIP_RETURN ka_vi_set(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *a,
		     uint32_t ptag)
{
	struct via_vi_set arg = {
		.vi = vi->q[0].id,
		.attrs = to_attrs(a, ptag),
	};

	return ka_call(vi->obj.nic, VIA_IOC_VI_SET, &arg);
}

int ka_vi_outstanding(struct vipl_vi *vi)
{
	struct via_vi_shared *sh = atomic_load(&vi->q[0].shared);

	return ka_load_acquire(&sh->send_kern.done) !=
		atomic_load(&vi->q[VIPL_SENDQ].tail) ||
	       ka_load_acquire(&sh->recv_kern.done) !=
		atomic_load(&vi->q[VIPL_RECVQ].tail);
}

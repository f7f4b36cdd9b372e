// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "notify.h"

struct vipl_vi *vipl_vi_get(VIP_VI_HANDLE h)
{
	struct vipl_vi *vi = vipl_get(h, VIPL_VI);

	if (vi && !vipl_is(&vi->obj, h)) {
		vipl_vi_put(vi);
		return NULL;
	}
	return vi;
}

void vipl_vi_put(struct vipl_vi *vi)
{
	struct vipl_nic *nic;
	int i;

	if (!vipl_unref(&vi->obj))
		return;
	/* Not before: a stale handle may have found it half made. */
	nic = vi->obj.nic;
	vipl_ops(&vi->obj)->vi_release(vi);
	for (i = 0; i < 2; i++) {
		if (vi->cq[i])
			vipl_cq_put(vi->cq[i]);
		vi->cq[i] = NULL;
	}
	vipl_obj_free(&vi->obj, VIPL_VI);
	vipl_nic_put(nic);
}

static void lock_queues(struct vipl_vi *vi)
{
	vipl_lock(&vi->q[VIPL_SENDQ].lock);
	vipl_lock(&vi->q[VIPL_RECVQ].lock);
}

static void unlock_queues(struct vipl_vi *vi)
{
	vipl_unlock(&vi->q[VIPL_RECVQ].lock);
	vipl_unlock(&vi->q[VIPL_SENDQ].lock);
}

static void set_handle(struct vipl_vi *vi, uintptr_t h)
{
	lock_queues(vi);
	vi->q[VIPL_SENDQ].handle = h;
	vi->q[VIPL_RECVQ].handle = h;
	unlock_queues(vi);
}

/*
 * The VI id table: written under nic->lock, read without. The low 16 bits of
 * an id are unique among live VIs, the rest is a generation, so a notice of a
 * VI that is gone finds an entry with another id.
 */
static struct vipl_idmap_entry *id_entry(struct vipl_nic *nic, uint32_t id)
{
	uint32_t i = id & (VIPL_IDMAP_SIZE - 1);
	struct vipl_idmap_entry *chunk;

	chunk = atomic_load_explicit(&nic->vi_ids.chunk[i / VIPL_IDMAP_CHUNK],
				     memory_order_acquire);
	return chunk ? &chunk[i % VIPL_IDMAP_CHUNK] : NULL;
}

static int id_room(struct vipl_nic *nic, uint32_t id)
{
	uint32_t i = id & (VIPL_IDMAP_SIZE - 1);
	void *chunk;

	if (id_entry(nic, id))
		return 0;
	chunk = vipl_wiped_alloc(VIPL_IDMAP_CHUNK *
				 sizeof(struct vipl_idmap_entry));
	if (!chunk)
		return -1;
	atomic_store_explicit(&nic->vi_ids.chunk[i / VIPL_IDMAP_CHUNK], chunk,
			      memory_order_release);
	return 0;
}

static void id_set(struct vipl_nic *nic, uint32_t id, uintptr_t h)
{
	struct vipl_idmap_entry *e = id_entry(nic, id);

	if (!e)
		return;
	/* No reader may see the new handle beside the old id. */
	atomic_store(&e->id, 0);
	atomic_store(&e->handle, h);
	if (h)
		atomic_store(&e->id, id);
}

/* The handle of the VI with the provider's id, or NULL when it is gone. */
VIP_VI_HANDLE vipl_vi_by_id(struct vipl_nic *nic, uint32_t id)
{
	struct vipl_idmap_entry *e = id_entry(nic, id);
	uintptr_t h;

	if (!e || atomic_load(&e->id) != id)
		return NULL;
	h = atomic_load(&e->handle);
	return atomic_load(&e->id) == id ? (VIP_VI_HANDLE)h : NULL;
}

void vipl_vi_set_peer(struct vipl_vi *vi, const uint8_t *host)
{
	struct vipl_nic *nic = vi->obj.nic;

	vipl_lock(&nic->handler_lock);
	memcpy(vi->peer, host, VIPL_ADDR_MAX);
	vipl_unlock(&nic->handler_lock);
}

void vipl_vi_get_peer(struct vipl_vi *vi, uint8_t *host)
{
	struct vipl_nic *nic = vi->obj.nic;

	vipl_lock(&nic->handler_lock);
	memcpy(host, vi->peer, VIPL_ADDR_MAX);
	vipl_unlock(&nic->handler_lock);
}

/* Take it from its users and its handle; nic->lock held. */
void vipl_vi_kill(struct vipl_vi *vi)
{
	vipl_retract(&vi->obj);
	set_handle(vi, 0);
	id_set(vi->obj.nic, vi->q[0].id, 0);
	vipl_notify_cancel(&vi->notify[VIPL_SENDQ]);
	vipl_notify_cancel(&vi->notify[VIPL_RECVQ]);
	vipl_nic_disown(&vi->obj);
	vipl_vi_put(vi);
}

/* What the provider need not be asked. */
static VIP_RETURN check_attrs(const VIP_VI_ATTRIBUTES *a,
			      const struct vipl_limits *l)
{
	VIP_RELIABILITY_LEVEL level = a->ReliabilityLevel;

	if (!level || (level & (level - 1)) || !(level & l->reliability))
		return VIP_INVALID_RELIABILITY_LEVEL;
	if (!a->MaxTransferSize || a->MaxTransferSize > l->transfer)
		return VIP_INVALID_MTU;
	if (a->QoS)
		return VIP_INVALID_QOS;
	if (a->EnableRdmaRead && !(level & l->rdma_read))
		return VIP_INVALID_RDMAREAD;
	return VIP_SUCCESS;
}

static struct vipl_vi *vi_alloc(struct vipl_nic *nic)
{
	struct vipl_vi *vi = vipl_obj_alloc(VIPL_VI);

	if (!vi)
		return NULL;
	vi->cq[0] = NULL;
	vi->cq[1] = NULL;
	vipl_nic_own(nic, &vi->obj, VIPL_VI);
	return vi;
}

static VIP_RETURN create(struct vipl_nic *nic, const VIP_VI_ATTRIBUTES *a,
			 struct vipl_ptag *ptag, struct vipl_cq *const cq[2],
			 VIP_VI_HANDLE *out)
{
	struct vipl_vi *vi;
	VIP_RETURN r;
	uintptr_t h;
	int i;

	vi = vi_alloc(nic);
	if (!vi)
		return VIP_ERROR_RESOURCE;
	for (i = 0; i < 2; i++) {
		vi->cq[i] = cq[i];
		if (cq[i])
			vipl_ref(&cq[i]->obj);
	}
	vi->ptag = a->Ptag;
	memset(vi->peer, 0, sizeof(vi->peer));
	r = vipl_ops(&vi->obj)->vi_create(vi, a, ptag ? ptag->id : 0);
	if (r == VIP_SUCCESS && id_room(nic, vi->q[0].id)) {
		vipl_ops(&vi->obj)->vi_destroy(vi);
		r = VIP_ERROR_RESOURCE;
	}
	if (r != VIP_SUCCESS) {
		vipl_nic_disown(&vi->obj);
		vipl_vi_put(vi);
		return r;
	}
	h = vipl_obj_handle(&vi->obj, VIPL_VI);
	set_handle(vi, h);
	id_set(nic, vi->q[0].id, h);
	vipl_publish(&vi->obj, VIPL_VI);
	*out = (VIP_VI_HANDLE)h;
	return VIP_SUCCESS;
}

/* A CQ argument: NULL is none; any other must be live and of this NIC. */
static int cq_arg(struct vipl_nic *nic, VIP_CQ_HANDLE h, struct vipl_cq **cq)
{
	*cq = NULL;
	if (!h)
		return 0;
	*cq = vipl_cq_get(h);
	if (!*cq)
		return -1;
	return (*cq)->obj.nic == nic ? 0 : -1;
}

static VIP_RETURN create_checked(struct vipl_nic *nic,
				 const VIP_VI_ATTRIBUTES *a,
				 VIP_CQ_HANDLE send_cq, VIP_CQ_HANDLE recv_cq,
				 VIP_VI_HANDLE *out)
{
	struct vipl_cq *cq[2] = { NULL, NULL };
	struct vipl_ptag *ptag = NULL;
	VIP_RETURN r;
	int i;

	r = check_attrs(a, &nic->limits);
	if (r != VIP_SUCCESS)
		return r;
	if (a->Ptag) {
		ptag = vipl_ptag_get(nic, a->Ptag);
		if (!ptag)
			return VIP_INVALID_PTAG;
	}
	r = VIP_INVALID_PARAMETER;
	if (cq_arg(nic, send_cq, &cq[VIPL_SENDQ]) ||
	    cq_arg(nic, recv_cq, &cq[VIPL_RECVQ]) || vipl_nic_lock(nic))
		goto out;
	r = create(nic, a, ptag, cq, out);
	vipl_nic_unlock(nic);
out:
	for (i = 0; i < 2; i++)
		if (cq[i])
			vipl_cq_put(cq[i]);
	if (ptag)
		vipl_ptag_put(ptag);
	return r;
}

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES *ViAttribs,
		       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
		       VIP_VI_HANDLE *ViHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (ViAttribs && ViHandle) {
		r = vipl_service_start(nic, 0) ? VIP_ERROR_RESOURCE :
			create_checked(nic, ViAttribs, SendCQHandle,
				       RecvCQHandle, ViHandle);
	}
	vipl_nic_put(nic);
	return r;
}

/* Is h its handle yet, and its state Idle? nic->lock held. */
static VIP_RETURN must_be_idle(struct vipl_vi *vi, VIP_VI_HANDLE h)
{
	VIP_VI_ATTRIBUTES attrs;
	VIP_VI_STATE state;
	VIP_RETURN r;

	if (!vipl_is(&vi->obj, h))
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&vi->obj)->vi_query(vi, &state, &attrs);
	if (r != VIP_SUCCESS)
		return r;
	return state == VIP_STATE_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE;
}

static VIP_RETURN destroy(struct vipl_vi *vi, VIP_VI_HANDLE h)
{
	const struct vipl_provider_ops *ops = vipl_ops(&vi->obj);
	VIP_RETURN r;
	int busy;

	r = must_be_idle(vi, h);
	if (r != VIP_SUCCESS)
		return r;
	lock_queues(vi);
	busy = ops->vi_outstanding(vi);
	if (!busy) {
		/* No thread posts any more. */
		vi->q[VIPL_SENDQ].handle = 0;
		vi->q[VIPL_RECVQ].handle = 0;
	}
	unlock_queues(vi);
	if (busy)
		return VIP_ERROR_RESOURCE;
	r = ops->vi_destroy(vi);
	if (r != VIP_SUCCESS) {
		/* A connection attempt came between: it lives on. */
		set_handle(vi, (uintptr_t)h);
		return r;
	}
	vipl_vi_kill(vi);
	return VIP_SUCCESS;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	struct vipl_nic *nic;
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!vi)
		return r;
	nic = vi->obj.nic;
	if (!vipl_nic_lock(nic)) {
		r = destroy(vi, ViHandle);
		vipl_nic_unlock(nic);
	}
	if (r == VIP_SUCCESS) {
		vipl_notify_drain(&vi->notify[VIPL_SENDQ]);
		vipl_notify_drain(&vi->notify[VIPL_RECVQ]);
	}
	vipl_vi_put(vi);
	return r;
}

static VIP_BOOLEAN queue_empty(struct vipl_queue *q)
{
	VIP_BOOLEAN empty;

	vipl_lock(&q->lock);
	empty = atomic_load(&q->tail) == atomic_load(&q->collected) ?
		VIP_TRUE : VIP_FALSE;
	vipl_unlock(&q->lock);
	return empty;
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE *State,
		      VIP_VI_ATTRIBUTES *ViAttribs, VIP_BOOLEAN *SendQEmpty,
		      VIP_BOOLEAN *RecvQEmpty)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE state;

	if (!vi)
		return r;
	if (!State || !ViAttribs || !SendQEmpty || !RecvQEmpty)
		goto out;
	/* The lock, so that tag and attributes are of one setting. */
	if (vipl_nic_lock(vi->obj.nic))
		goto out;
	r = vipl_ops(&vi->obj)->vi_query(vi, &state, &a);
	a.Ptag = vi->ptag;
	vipl_nic_unlock(vi->obj.nic);
	if (r != VIP_SUCCESS)
		goto out;
	*State = state;
	*ViAttribs = a;
	*SendQEmpty = queue_empty(&vi->q[VIPL_SENDQ]);
	*RecvQEmpty = queue_empty(&vi->q[VIPL_RECVQ]);
out:
	vipl_vi_put(vi);
	return r;
}

/* nic->lock held. */
static VIP_RETURN set_attrs(struct vipl_vi *vi, VIP_VI_HANDLE h,
			    const VIP_VI_ATTRIBUTES *a)
{
	const struct vipl_provider_ops *ops = vipl_ops(&vi->obj);
	struct vipl_nic *nic = vi->obj.nic;
	struct vipl_ptag *ptag = NULL;
	VIP_RETURN r;

	/* The state comes before all that may be wrong with the attributes. */
	r = must_be_idle(vi, h);
	if (r != VIP_SUCCESS)
		return r;
	r = check_attrs(a, &nic->limits);
	if (r != VIP_SUCCESS)
		return r;
	if (a->Ptag) {
		ptag = vipl_ptag_get(nic, a->Ptag);
		if (!ptag)
			return VIP_INVALID_PTAG;
	}
	r = ops->vi_set(vi, a, ptag ? ptag->id : 0);
	if (r == VIP_SUCCESS)
		vi->ptag = a->Ptag;
	if (ptag)
		vipl_ptag_put(ptag);
	return r;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *ViAttribs)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_nic *nic;

	if (!vi)
		return r;
	nic = vi->obj.nic;
	if (ViAttribs && !vipl_nic_lock(nic)) {
		r = set_attrs(vi, ViHandle, ViAttribs);
		vipl_nic_unlock(nic);
	}
	vipl_vi_put(vi);
	return r;
}

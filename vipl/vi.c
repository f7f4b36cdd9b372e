// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <string.h>

#include "msg.h"
#include "notify.h"
#include "service.h"

struct vipl_vi *vipl_vi_get(VIP_VI_HANDLE h)
{
	struct vipl_vi *vi = vipl_get(h, VIPL_VI);

	if (vi && !vipl_is_live(vi, h)) {
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
	nic = vi->obj.pub.nic;
	vipl_ops(&vi->obj)->vi_release(vi);
	for (i = 0; i < 2; i++) {
		if (vi->cq[i])
			vipl_cq_put(vi->cq[i]);
		vi->cq[i] = NULL;
	}
	vipl_obj_free(&vi->obj, VIPL_VI);
	vipl_nic_put(nic);
}

void vipl_vi_set_peer(struct vipl_vi *vi, const uint8_t *host)
{
	struct vipl_events *e = &vi->obj.pub.nic->events;

	vipl_lock(&e->lock);
	memcpy(vi->peer, host, VIPL_ADDR_MAX);
	vipl_unlock(&e->lock);
}

void vipl_vi_get_peer(struct vipl_vi *vi, uint8_t *host)
{
	struct vipl_events *e = &vi->obj.pub.nic->events;

	vipl_lock(&e->lock);
	memcpy(host, vi->peer, VIPL_ADDR_MAX);
	vipl_unlock(&e->lock);
}

/*
 * Without a reference, since the service thread may have other files than the
 * provider's release of the VI would close: what is live under the lock stays
 * until it is let go.
 */
int vipl_vi_find_peer(struct vipl_nic *nic, VIP_VI_HANDLE h, uint8_t *host)
{
	struct vipl_vi *vi;
	int found;

	vipl_lock(&nic->events.lock);
	vi = vipl_vi_lookup(h);
	found = vi && vi->obj.pub.nic == nic;
	if (found)
		memcpy(host, vi->peer, VIPL_ADDR_MAX);
	vipl_unlock(&nic->events.lock);
	return found ? 0 : -1;
}

/* Take it from its users and its handle; nic->lock held. */
void vipl_vi_kill(struct vipl_vi *vi)
{
	vipl_retract(&vi->obj);
	vipl_ops(&vi->obj)->vi_live(vi, NULL);
	vipl_events_forget(&vi->obj.pub.nic->events, &vi->source);
	vipl_notify_cancel(&vi->notify[VIPL_SENDQ]);
	vipl_notify_cancel(&vi->notify[VIPL_RECVQ]);
	vipl_nic_disown(&vi->obj);
	vipl_vi_put(vi);
}

/* Checks that need no provider. */
static VIP_RETURN check_attrs(const VIP_VI_ATTRIBUTES *a,
			      const struct vipl_identity *l)
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

static VIP_RETURN create_vi_on(struct vipl_nic *nic, const VIP_VI_ATTRIBUTES *a,
			       struct vipl_ptag *ptag,
			       struct vipl_cq *const cq[2], VIP_VI_HANDLE *out)
{
	struct vipl_vi *vi;
	VIP_RETURN r;
	uintptr_t h;
	int i;

	vi = vipl_nic_new(nic, VIPL_VI);
	if (!vi)
		return VIP_ERROR_RESOURCE;
	for (i = 0; i < 2; i++) {
		vi->cq[i] = cq[i];
		if (cq[i])
			vipl_ref(&cq[i]->obj);
	}
	vi->ptag = a->Ptag;
	memset(vi->peer, 0, sizeof(vi->peer));
	r = vipl_ops(&vi->obj)->vi_create(vi, a, ptag ? ptag->id : 0,
					  cq[VIPL_SENDQ], cq[VIPL_RECVQ]);
	if (r != VIP_SUCCESS) {
		vipl_nic_disown(&vi->obj);
		vipl_vi_put(vi);
		return r;
	}
	h = vipl_obj_handle(&vi->obj, VIPL_VI);
	vipl_ops(&vi->obj)->vi_live(vi, (VIP_VI_HANDLE)h);
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
	return (*cq)->obj.pub.nic == nic ? 0 : -1;
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

	r = check_attrs(a, &nic->id);
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
	r = create_vi_on(nic, a, ptag, cq, out);
	vipl_nic_unlock(nic);
out:
	for (i = 0; i < 2; i++)
		if (cq[i])
			vipl_cq_put(cq[i]);
	if (ptag)
		vipl_ptag_put(ptag);
	return r;
}

static VIP_RETURN create_vi(VIP_NIC_HANDLE NicHandle,
			    VIP_VI_ATTRIBUTES *ViAttribs,
			    VIP_CQ_HANDLE SendCQHandle,
			    VIP_CQ_HANDLE RecvCQHandle, VIP_VI_HANDLE *ViHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (ViAttribs && ViHandle) {
		r = vipl_service_start(nic, 0) ? VIP_ERROR_RESOURCE :
			create_checked(nic, ViAttribs, SendCQHandle,
				       RecvCQHandle, ViHandle);
		if (r == VIP_ERROR_RESOURCE)
			vipl_no_resource(nic, "VI");
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES *ViAttribs,
		       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
		       VIP_VI_HANDLE *ViHandle)
{
	return VIPL_CALL(create_vi(NicHandle, ViAttribs, SendCQHandle,
				   RecvCQHandle, ViHandle));
}

/* Is h its handle yet, and its state Idle? nic->lock held. */
static VIP_RETURN must_be_idle(struct vipl_vi *vi, VIP_VI_HANDLE h)
{
	VIP_VI_ATTRIBUTES attrs;
	VIP_VI_STATE state;
	VIP_RETURN r;

	if (!vipl_is_live(vi, h))
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&vi->obj)->vi_query(vi, &state, &attrs);
	if (r != VIP_SUCCESS)
		return r;
	return state == VIP_STATE_IDLE ? VIP_SUCCESS : VIP_INVALID_STATE;
}

static VIP_RETURN destroy_idle_vi(struct vipl_vi *vi, VIP_VI_HANDLE h)
{
	const struct vipl_provider *ops = vipl_ops(&vi->obj);
	VIP_RETURN r;

	r = must_be_idle(vi, h);
	if (r != VIP_SUCCESS)
		return r;
	/* Afterwards no thread posts any more. */
	r = ops->vi_retire(vi);
	if (r != VIP_SUCCESS)
		return r;
	r = ops->vi_destroy(vi);
	if (r != VIP_SUCCESS) {
		/* A connection attempt came between: it lives on. */
		ops->vi_live(vi, h);
		return r;
	}
	vipl_vi_kill(vi);
	return VIP_SUCCESS;
}

static VIP_RETURN destroy_vi(VIP_VI_HANDLE ViHandle)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	struct vipl_nic *nic;
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!vi)
		return r;
	nic = vi->obj.pub.nic;
	if (!vipl_nic_lock(nic)) {
		r = destroy_idle_vi(vi, ViHandle);
		vipl_nic_unlock(nic);
	}
	if (r == VIP_SUCCESS) {
		vipl_notify_drain(&vi->notify[VIPL_SENDQ]);
		vipl_notify_drain(&vi->notify[VIPL_RECVQ]);
	}
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle)
{
	return VIPL_CALL(destroy_vi(ViHandle));
}

static VIP_BOOLEAN queue_empty(struct vipl_vi *vi, int queue)
{
	return vipl_ops(&vi->obj)->queue_empty(vi, queue) ? VIP_TRUE :
							    VIP_FALSE;
}

static VIP_RETURN query_vi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE *State,
			   VIP_VI_ATTRIBUTES *ViAttribs,
			   VIP_BOOLEAN *SendQEmpty, VIP_BOOLEAN *RecvQEmpty)
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
	if (vipl_nic_lock(vi->obj.pub.nic))
		goto out;
	r = vipl_ops(&vi->obj)->vi_query(vi, &state, &a);
	a.Ptag = vi->ptag;
	if (r == VIP_SUCCESS) {
		*State = state;
		*ViAttribs = a;
		*SendQEmpty = queue_empty(vi, VIPL_SENDQ);
		*RecvQEmpty = queue_empty(vi, VIPL_RECVQ);
	}
	vipl_nic_unlock(vi->obj.pub.nic);
out:
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE *State,
		      VIP_VI_ATTRIBUTES *ViAttribs, VIP_BOOLEAN *SendQEmpty,
		      VIP_BOOLEAN *RecvQEmpty)
{
	return VIPL_CALL(query_vi(ViHandle, State, ViAttribs, SendQEmpty,
				  RecvQEmpty));
}

/* nic->lock held. */
static VIP_RETURN set_attrs(struct vipl_vi *vi, VIP_VI_HANDLE h,
			    const VIP_VI_ATTRIBUTES *a)
{
	const struct vipl_provider *ops = vipl_ops(&vi->obj);
	struct vipl_nic *nic = vi->obj.pub.nic;
	struct vipl_ptag *ptag = NULL;
	VIP_RETURN r;

	/* The state comes before all that may be wrong with the attributes. */
	r = must_be_idle(vi, h);
	if (r != VIP_SUCCESS)
		return r;
	r = check_attrs(a, &nic->id);
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

static VIP_RETURN set_vi_attributes(VIP_VI_HANDLE ViHandle,
				    VIP_VI_ATTRIBUTES *ViAttribs)
{
	struct vipl_vi *vi = vipl_vi_get(ViHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_nic *nic;

	if (!vi)
		return r;
	nic = vi->obj.pub.nic;
	if (ViAttribs && !vipl_nic_lock(nic)) {
		r = set_attrs(vi, ViHandle, ViAttribs);
		vipl_nic_unlock(nic);
	}
	vipl_vi_put(vi);
	return r;
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle,
			      VIP_VI_ATTRIBUTES *ViAttribs)
{
	return VIPL_CALL(set_vi_attributes(ViHandle, ViAttribs));
}

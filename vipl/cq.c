// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "ext.h"
#include "msg.h"
#include "notify.h"

struct vipl_cq *vipl_cq_get(VIP_CQ_HANDLE h)
{
	struct vipl_cq *cq = vipl_get(h, VIPL_CQ);

	if (cq && !vipl_is_live(cq, h)) {
		vipl_cq_put(cq);
		return NULL;
	}
	return cq;
}

void vipl_cq_put(struct vipl_cq *cq)
{
	struct vipl_nic *nic;

	if (!vipl_unref(&cq->obj))
		return;
	/* Not before: a stale handle may have found it half made. */
	nic = cq->obj.pub.nic;
	vipl_ops(&cq->obj)->cq_release(cq);
	vipl_fd_close(&cq->fd);
	vipl_obj_free(&cq->obj, VIPL_CQ);
	vipl_nic_put(nic);
}

/* nic->lock held. */
void vipl_cq_kill(struct vipl_cq *cq)
{
	vipl_retract(&cq->obj);
	vipl_ops(&cq->obj)->cq_live(cq, NULL);
	vipl_events_forget(&cq->obj.pub.nic->events, &cq->source);
	vipl_notify_cancel(&cq->notify);
	vipl_nic_disown(&cq->obj);
	vipl_cq_put(cq);
}

static VIP_RETURN create_cq_on(struct vipl_nic *nic, VIP_ULONG entries,
			       VIP_CQ_HANDLE *out)
{
	struct vipl_cq *cq = vipl_nic_new(nic, VIPL_CQ);
	VIP_RETURN r;
	uintptr_t h;

	if (!cq)
		return VIP_ERROR_RESOURCE;
	atomic_store(&cq->fd, -1);
	atomic_store(&cq->fd_armed, 0);
	r = vipl_ops(&cq->obj)->cq_create(cq, entries);
	if (r != VIP_SUCCESS) {
		vipl_nic_disown(&cq->obj);
		vipl_cq_put(cq);
		return r;
	}
	h = vipl_obj_handle(&cq->obj, VIPL_CQ);
	vipl_ops(&cq->obj)->cq_live(cq, (VIP_CQ_HANDLE)h);
	vipl_publish(&cq->obj, VIPL_CQ);
	*out = (VIP_CQ_HANDLE)h;
	return VIP_SUCCESS;
}

static VIP_RETURN create_cq(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount,
			    VIP_CQ_HANDLE *CQHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (!CQHandle || !EntryCount)
		goto out;
	r = VIP_ERROR_RESOURCE;
	if (EntryCount > nic->id.cq_entries)
		goto out;
	r = VIP_INVALID_PARAMETER;
	if (!vipl_nic_lock(nic)) {
		r = create_cq_on(nic, EntryCount, CQHandle);
		vipl_nic_unlock(nic);
	}
out:
	if (r == VIP_ERROR_RESOURCE)
		vipl_no_resource(nic, "CQ");
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount,
		       VIP_CQ_HANDLE *CQHandle)
{
	return VIPL_CALL(create_cq(NicHandle, EntryCount, CQHandle));
}

static VIP_RETURN destroy_cq(VIP_CQ_HANDLE CQHandle)
{
	struct vipl_cq *cq = vipl_cq_get(CQHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_nic *nic;

	if (!cq)
		return r;
	nic = cq->obj.pub.nic;
	if (!vipl_nic_lock(nic)) {
		if (vipl_is_live(cq, CQHandle))
			r = vipl_ops(&cq->obj)->cq_destroy(cq);
		if (r == VIP_SUCCESS)
			vipl_cq_kill(cq);
		vipl_nic_unlock(nic);
	}
	if (r == VIP_SUCCESS)
		vipl_notify_drain(&cq->notify);
	vipl_cq_put(cq);
	return r;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle)
{
	return VIPL_CALL(destroy_cq(CQHandle));
}

/* nic->lock held. */
static VIP_RETURN resize_live_cq(struct vipl_cq *cq, VIP_CQ_HANDLE h,
				 VIP_ULONG entries)
{
	if (!entries || !vipl_is_live(cq, h))
		return VIP_INVALID_PARAMETER;
	if (entries > cq->obj.pub.nic->id.cq_entries)
		return VIP_ERROR_RESOURCE;
	return vipl_ops(&cq->obj)->cq_resize(cq, entries);
}

static VIP_RETURN resize_cq(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount)
{
	struct vipl_cq *cq = vipl_cq_get(CQHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_nic *nic;

	if (!cq)
		return r;
	nic = cq->obj.pub.nic;
	if (!vipl_nic_lock(nic)) {
		r = resize_live_cq(cq, CQHandle, EntryCount);
		vipl_nic_unlock(nic);
	}
	vipl_cq_put(cq);
	return r;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount)
{
	return VIPL_CALL(resize_cq(CQHandle, EntryCount));
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE *ViHandle,
		     VIP_BOOLEAN *RecvQueue)
{
	struct vipl_cq *cq = vipl_cq_lookup(CQHandle);

	if (!cq || !ViHandle || !RecvQueue)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&cq->obj)->cq_done(cq, CQHandle, ViHandle, RecvQueue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout,
		     VIP_VI_HANDLE *ViHandle, VIP_BOOLEAN *RecvQueue)
{
	struct vipl_cq *cq = vipl_cq_lookup(CQHandle);

	if (!cq || !ViHandle || !RecvQueue)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&cq->obj)->cq_wait(cq, CQHandle, Timeout, ViHandle,
					   RecvQueue);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "msg.h"
#include "object.h"

/* A live tag of this NIC handle, referenced, or NULL. */
struct vipl_ptag *vipl_ptag_get(struct vipl_nic *nic, VIP_PROTECTION_HANDLE h)
{
	struct vipl_ptag *ptag = vipl_get(h, VIPL_PTAG);

	if (ptag && (!vipl_is_live(ptag, h) || ptag->obj.pub.nic != nic)) {
		vipl_ptag_put(ptag);
		return NULL;
	}
	return ptag;
}

/* The tag with the provider's id, NULL for the default; nic->lock held. */
VIP_PROTECTION_HANDLE vipl_ptag_by_id(struct vipl_nic *nic, uint32_t id)
{
	struct vipl_ptag *ptag;
	struct vipl_list *l;

	for (l = nic->objs[VIPL_PTAG].next; l != &nic->objs[VIPL_PTAG];
	     l = l->next) {
		ptag = vipl_container(l, struct vipl_ptag, obj.link);
		if (ptag->id == id)
			return (VIP_PROTECTION_HANDLE)
				vipl_obj_handle(&ptag->obj, VIPL_PTAG);
	}
	return NULL;
}

void vipl_ptag_put(struct vipl_ptag *ptag)
{
	struct vipl_nic *nic;

	if (!vipl_unref(&ptag->obj))
		return;
	/* Not before: a stale handle may have found it half made. */
	nic = ptag->obj.pub.nic;
	vipl_obj_free(&ptag->obj, VIPL_PTAG);
	vipl_nic_put(nic);
}

/* nic->lock held. */
void vipl_ptag_kill(struct vipl_ptag *ptag)
{
	vipl_retract(&ptag->obj);
	vipl_nic_disown(&ptag->obj);
	vipl_ptag_put(ptag);
}

static VIP_RETURN create_ptag_on(struct vipl_nic *nic,
				 VIP_PROTECTION_HANDLE *out)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);
	struct vipl_ptag *ptag;
	VIP_RETURN r;
	uint32_t id;

	r = ops->ptag_create(nic, &id);
	if (r != VIP_SUCCESS)
		return r;
	ptag = vipl_nic_new(nic, VIPL_PTAG);
	if (!ptag) {
		ops->ptag_destroy(nic, id);
		return VIP_ERROR_RESOURCE;
	}
	ptag->id = id;
	vipl_publish(&ptag->obj, VIPL_PTAG);
	*out = (VIP_PROTECTION_HANDLE)vipl_obj_handle(&ptag->obj, VIPL_PTAG);
	return VIP_SUCCESS;
}

static VIP_RETURN create_ptag(VIP_NIC_HANDLE NicHandle,
			      VIP_PROTECTION_HANDLE *Ptag)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (Ptag && !vipl_nic_lock(nic)) {
		r = create_ptag_on(nic, Ptag);
		vipl_nic_unlock(nic);
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE *Ptag)
{
	return VIPL_CALL(create_ptag(NicHandle, Ptag));
}

static VIP_RETURN destroy_ptag_on(struct vipl_nic *nic, VIP_PROTECTION_HANDLE h)
{
	struct vipl_ptag *ptag = vipl_ptag_get(nic, h);
	VIP_RETURN r;

	if (!ptag)
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&nic->obj)->ptag_destroy(nic, ptag->id);
	if (r == VIP_SUCCESS)
		vipl_ptag_kill(ptag);
	vipl_ptag_put(ptag);
	return r;
}

static VIP_RETURN destroy_ptag(VIP_NIC_HANDLE NicHandle,
			       VIP_PROTECTION_HANDLE Ptag)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (!vipl_nic_lock(nic)) {
		r = destroy_ptag_on(nic, Ptag);
		vipl_nic_unlock(nic);
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag)
{
	return VIPL_CALL(destroy_ptag(NicHandle, Ptag));
}

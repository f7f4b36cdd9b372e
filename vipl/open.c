// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* NIC handles: opened, closed with all that they own, described. */
#include <string.h>

#include "device.h"
#include "ext.h"
#include "loader.h"
#include "msg.h"
#include "object.h"
#include "service.h"

static void reset_nic(struct vipl_nic *nic)
{
	int i;

	nic->closing = 0;
	nic->identified = 0;
	nic->refused = 0;
	nic->discovered = NULL;
	atomic_store(&nic->fd, -1);
	memset(&nic->id, 0, sizeof(nic->id));
	memset(&nic->handler, 0, sizeof(nic->handler));
	memset(&nic->service, 0, sizeof(nic->service));
	nic->service.serve = vipl_serve;
	vipl_events_init(&nic->events);
	for (i = 0; i < VIPL_KINDS; i++)
		vipl_list_init(&nic->objs[i]);
}

static VIP_RETURN no_memory(void)
{
	vipl_msg(MSG_NO_MEMORY);
	return VIP_ERROR_RESOURCE;
}

static VIP_RETURN open_with(const struct vipl_driver *d, const char *rest,
			    VIP_NIC_HANDLE *out)
{
	struct vipl_nic *nic = vipl_obj_alloc(VIPL_NIC, d);
	VIP_RETURN r;

	if (!nic)
		return no_memory();
	reset_nic(nic);
	r = d->ops.open(nic, rest);
	if (r == VIP_SUCCESS && !nic->identified) {
		if (!nic->refused)
			vipl_msg(MSG_PLUGIN_IDENTITY, d->ops.name);
		r = VIP_ERROR_RESOURCE;
	}
	if (r != VIP_SUCCESS) {
		vipl_nic_put(nic);
		return r;
	}
	vipl_log(VIPL_INFO, "%s is opened by provider %s, release %.32s",
		 nic->id.name, d->ops.name, d->ops.version ? d->ops.version : "unknown");
	vipl_publish(&nic->obj, VIPL_NIC);
	*out = (VIP_NIC_HANDLE)vipl_obj_handle(&nic->obj, VIPL_NIC);
	return VIP_SUCCESS;
}

static VIP_RETURN open_nic(const VIP_CHAR *DeviceName,
			   VIP_NIC_HANDLE *NicHandle)
{
	const struct vipl_driver *d;
	struct vipl_device device;
	VIP_RETURN r;

	if (!DeviceName || !NicHandle)
		return VIP_INVALID_PARAMETER;
	if (vipl_device_resolve(DeviceName, &device))
		return VIP_INVALID_PARAMETER;
	vipl_log(VIPL_DEBUG, "'%.64s' is %s:%.64s", DeviceName, device.provider,
		 device.rest);
	if (vipl_handle_init())
		return no_memory();
	if (vipl_enter(device.provider))
		return VIP_INVALID_PARAMETER;
	d = vipl_load(device.provider);
	r = d ? open_with(d, device.rest, NicHandle) : VIP_INVALID_PARAMETER;
	vipl_leave(device.provider);
	if (r != VIP_SUCCESS)
		vipl_device_blame(&device);
	return r;
}

VIP_RETURN VipOpenNic(const VIP_CHAR *DeviceName, VIP_NIC_HANDLE *NicHandle)
{
	return VIPL_CALL(open_nic(DeviceName, NicHandle));
}

static struct vipl_obj *first_obj(struct vipl_nic *nic, enum vipl_kind kind)
{
	struct vipl_list *l = nic->objs[kind].next;

	if (l == &nic->objs[kind])
		return NULL;
	return vipl_container(l, struct vipl_obj, link);
}

/* Everything the handle still owns; each kill takes it off its list. */
static void kill_objects(struct vipl_nic *nic)
{
	struct vipl_obj *o;

	while ((o = first_obj(nic, VIPL_CONN)))
		vipl_conn_kill(vipl_container(o, struct vipl_conn, obj));
	while ((o = first_obj(nic, VIPL_VI)))
		vipl_vi_kill(vipl_container(o, struct vipl_vi, obj));
	while ((o = first_obj(nic, VIPL_CQ)))
		vipl_cq_kill(vipl_container(o, struct vipl_cq, obj));
	while ((o = first_obj(nic, VIPL_PTAG)))
		vipl_ptag_kill(vipl_container(o, struct vipl_ptag, obj));
}

static VIP_RETURN close_nic(VIP_NIC_HANDLE NicHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);

	if (!nic)
		return VIP_INVALID_PARAMETER;
	if (vipl_nic_lock(nic)) {
		vipl_nic_put(nic);
		return VIP_INVALID_PARAMETER;
	}
	nic->closing = 1;
	vipl_retract(&nic->obj);
	/* Handles go first, so that woken sleepers find them stale. */
	kill_objects(nic);
	vipl_ops(&nic->obj)->shutdown(nic);
	vipl_nic_unlock(nic);

	vipl_service_end(nic);
	vipl_nic_put(nic);	/* ours */
	vipl_nic_put(nic);	/* the handle's own */
	return VIP_SUCCESS;
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle)
{
	return VIPL_CALL(close_nic(NicHandle));
}

static VIP_ULONG to_ulong(uint64_t v)
{
	return v > (VIP_ULONG)-1 ? (VIP_ULONG)-1 : (VIP_ULONG)v;
}

static VIP_RETURN query_nic(VIP_NIC_HANDLE NicHandle,
			    VIP_NIC_ATTRIBUTES *NicAttribs)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	const struct vipl_identity *l;
	VIP_NIC_ATTRIBUTES a;

	if (!nic)
		return VIP_INVALID_PARAMETER;
	if (!NicAttribs) {
		vipl_nic_put(nic);
		return VIP_INVALID_PARAMETER;
	}
	l = &nic->id;
	memset(&a, 0, sizeof(a));
	memcpy(a.Name, nic->id.name, sizeof(a.Name));
	a.HardwareVersion = l->hw_version;
	a.ProviderVersion = l->provider_version;
	a.NicAddressLen = nic->id.addr_len;
	a.LocalNicAddress = nic->id.addr;
	a.ThreadSafe = VIP_TRUE;
	a.MaxDiscriminatorLen = l->disc_len;
	a.MaxRegisterBytes = to_ulong(l->register_bytes);
	a.MaxRegisterRegions = l->regions;
	a.MaxRegisterBlockBytes = to_ulong(l->block_bytes);
	a.MaxVI = l->vi;
	a.MaxDescriptorsPerQueue = l->desc;
	a.MaxSegmentsPerDesc = l->segs;
	a.MaxCQ = l->cq;
	a.MaxCQEntries = l->cq_entries;
	a.MaxTransferSize = l->transfer;
	a.NativeMTU = l->mtu;
	a.MaxPtags = l->ptags;
	a.ReliabilityLevelSupport = l->reliability;
	a.RDMAReadSupport = l->rdma_read;
	*NicAttribs = a;
	vipl_nic_put(nic);
	return VIP_SUCCESS;
}

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle,
		       VIP_NIC_ATTRIBUTES *NicAttribs)
{
	return VIPL_CALL(query_nic(NicHandle, NicAttribs));
}

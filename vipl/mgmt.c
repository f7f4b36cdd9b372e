// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "object.h"

/*
 * One block: the pointers, then the addresses. The next call on the handle
 * frees it, or the end of the handle.
 */
struct discovered {
	VIP_NET_ADDRESS *list[VIPL_NAMED_MAX + 1];
	struct {
		uint16_t lens[2];
		uint8_t host[VIPL_ADDR_MAX];
	} addr[VIPL_NAMED_MAX];
};

static struct discovered *build_found_list(const struct vipl_nic *nic,
					   const struct vipl_named *found,
					   uint32_t n)
{
	struct discovered *d = calloc(1, sizeof(*d));
	uint32_t i;

	if (!d)
		return NULL;
	_Static_assert(sizeof(d->addr[0]) >= sizeof(VIP_NET_ADDRESS) &&
		       sizeof(d->addr[0]) >=
		       offsetof(VIP_NET_ADDRESS, HostAddress) + VIPL_ADDR_MAX,
		       "room for an address without discriminator");
	for (i = 0; i < n; i++) {
		d->addr[i].lens[0] = (uint16_t)nic->id.addr_len;
		memcpy(d->addr[i].host, found[i].host, nic->id.addr_len);
		d->list[i] = (VIP_NET_ADDRESS *)&d->addr[i];
	}
	return d;
}

/*
 * All that answer on the wire, this NIC among them. Everything that a VI can
 * be connected to is one hop away, so NumberOfHops limits nothing.
 */
static VIP_RETURN discover_nics(struct vipl_nic *nic,
				VIP_AUTODISCOVERY_LIST *out)
{
	struct vipl_named found[VIPL_NAMED_MAX];
	uint32_t n = VIPL_NAMED_MAX;
	struct discovered *d;
	VIP_RETURN r;

	r = vipl_ops(&nic->obj)->discover(nic, found, &n);
	if (r != VIP_SUCCESS)
		return r;
	d = build_found_list(nic, found, n);
	if (!d)
		return VIP_ERROR_RESOURCE;
	if (vipl_nic_lock(nic)) {
		free(d);
		return VIP_INVALID_PARAMETER;
	}
	free(nic->discovered);
	nic->discovered = d;
	out->ADAddrArray = d->list;
	out->NumAdAddrs = n;
	vipl_nic_unlock(nic);
	return VIP_SUCCESS;
}

static VIP_RETURN query_system_management_info(VIP_NIC_HANDLE NicHandle,
					       VIP_ULONG InfoType,
					       VIP_PVOID SysManInfo)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (SysManInfo)
		r = InfoType == VIP_SMI_AUTODISCOVERY ?
			discover_nics(nic, SysManInfo) :
			VIP_ERROR_NOT_SUPPORTED;
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle,
					VIP_ULONG InfoType,
					VIP_PVOID SysManInfo)
{
	return VIPL_CALL(query_system_management_info(NicHandle, InfoType,
						      SysManInfo));
}

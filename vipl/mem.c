// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "provider.h"

static VIP_RETURN reg(struct vipl_nic *nic, void *addr, VIP_ULONG len,
		      const VIP_MEM_ATTRIBUTES *attrs, VIP_MEM_HANDLE *out)
{
	static const VIP_MEM_ATTRIBUTES none;
	struct vipl_ptag *ptag = NULL;
	VIP_RETURN r;

	if (!len || len > nic->limits.block_bytes)
		return VIP_INVALID_PARAMETER;
	if (!attrs)
		attrs = &none;
	if (attrs->EnableRdmaRead && !nic->limits.rdma_read)
		return VIP_INVALID_RDMAREAD;
	if (attrs->Ptag) {
		ptag = vipl_ptag_get(nic, attrs->Ptag);
		if (!ptag)
			return VIP_INVALID_PTAG;
	}
	r = vipl_ops(&nic->obj)->mem_register(nic, addr, len,
					      ptag ? ptag->id : 0, attrs, out);
	if (ptag)
		vipl_ptag_put(ptag);
	return r;
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			  VIP_ULONG Length, VIP_MEM_ATTRIBUTES *MemAttribs,
			  VIP_MEM_HANDLE *MemHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (MemHandle)
		r = reg(nic, Address, Length, MemAttribs, MemHandle);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			    VIP_MEM_HANDLE MemHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (MemHandle)
		r = vipl_ops(&nic->obj)->mem_deregister(nic, Address,
							MemHandle);
	vipl_nic_put(nic);
	return r;
}

static VIP_RETURN not_yet(VIP_NIC_HANDLE nic_handle, VIP_MEM_HANDLE mem,
			  const VIP_MEM_ATTRIBUTES *attrs)
{
	struct vipl_nic *nic = vipl_nic_get(nic_handle);

	if (!nic)
		return VIP_INVALID_PARAMETER;
	vipl_nic_put(nic);
	return mem && attrs ? VIP_ERROR_NOT_SUPPORTED : VIP_INVALID_PARAMETER;
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
		       VIP_MEM_HANDLE MemHandle,
		       VIP_MEM_ATTRIBUTES *MemAttribs)
{
	(void)Address;
	return not_yet(NicHandle, MemHandle, MemAttribs);
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			       VIP_MEM_HANDLE MemHandle,
			       VIP_MEM_ATTRIBUTES *MemAttribs)
{
	(void)Address;
	return not_yet(NicHandle, MemHandle, MemAttribs);
}

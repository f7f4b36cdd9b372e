// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "msg.h"
#include "object.h"

/*
 * NULL attributes are the default tag and no rights. *ptag gets a reference,
 * or stays NULL for the default tag.
 */
static VIP_RETURN check_attrs(struct vipl_nic *nic, VIP_MEM_ATTRIBUTES **attrs,
			      struct vipl_ptag **ptag)
{
	static VIP_MEM_ATTRIBUTES none;

	if (!*attrs)
		*attrs = &none;
	if ((*attrs)->EnableRdmaRead && !nic->id.rdma_read)
		return VIP_INVALID_RDMAREAD;
	if (!(*attrs)->Ptag)
		return VIP_SUCCESS;
	*ptag = vipl_ptag_get(nic, (*attrs)->Ptag);
	return *ptag ? VIP_SUCCESS : VIP_INVALID_PTAG;
}

/*
 * Printed once. An old program that calls memalign() without a declaration
 * has the lower half of a pointer, with the sign of an int.
 */
static void blame_address(const struct vipl_nic *nic, const void *addr)
{
	static _Atomic int told;
	int cut = sizeof(void *) > 4 && addr &&
		  (intptr_t)addr == (int32_t)(intptr_t)addr;

	vipl_reason(cut ? MSG_CUT_POINTER : MSG_NOT_WRITABLE, nic->id.name,
		    addr);
	if (!atomic_exchange(&told, 1))
		vipl_note(cut ? MSG_CUT_POINTER : MSG_NOT_WRITABLE,
			  nic->id.name, addr);
}

static VIP_RETURN register_region(struct vipl_nic *nic, void *addr,
				  VIP_ULONG len, VIP_MEM_ATTRIBUTES *attrs,
				  VIP_MEM_HANDLE *out)
{
	struct vipl_ptag *ptag = NULL;
	VIP_RETURN r;

	if (!len || len > nic->id.block_bytes)
		return VIP_INVALID_PARAMETER;
	r = check_attrs(nic, &attrs, &ptag);
	if (r != VIP_SUCCESS)
		return r;
	r = vipl_ops(&nic->obj)->mem_register(nic, addr, len,
					      ptag ? ptag->id : 0, attrs, out);
	if (ptag)
		vipl_ptag_put(ptag);
	if (r == VIP_INVALID_PARAMETER)
		blame_address(nic, addr);
	else if (r == VIP_ERROR_RESOURCE)
		vipl_no_resource(nic, "region");
	return r;
}

static VIP_RETURN register_mem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			       VIP_ULONG Length, VIP_MEM_ATTRIBUTES *MemAttribs,
			       VIP_MEM_HANDLE *MemHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (MemHandle)
		r = register_region(nic, Address, Length, MemAttribs,
				    MemHandle);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			  VIP_ULONG Length, VIP_MEM_ATTRIBUTES *MemAttribs,
			  VIP_MEM_HANDLE *MemHandle)
{
	return VIPL_CALL(register_mem(NicHandle, Address, Length, MemAttribs,
				      MemHandle));
}

static VIP_RETURN deregister_mem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
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

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			    VIP_MEM_HANDLE MemHandle)
{
	return VIPL_CALL(deregister_mem(NicHandle, Address, MemHandle));
}

static VIP_RETURN query_region(struct vipl_nic *nic, void *addr,
			       VIP_MEM_HANDLE mem, VIP_MEM_ATTRIBUTES *out)
{
	VIP_MEM_ATTRIBUTES a = { 0 };
	uint32_t ptag;
	VIP_RETURN r;

	/* The region keeps its tag alive, and the lock its handle the same. */
	if (vipl_nic_lock(nic))
		return VIP_INVALID_PARAMETER;
	r = vipl_ops(&nic->obj)->mem_query(nic, addr, mem, &ptag, &a);
	if (r == VIP_SUCCESS && ptag)
		a.Ptag = vipl_ptag_by_id(nic, ptag);
	vipl_nic_unlock(nic);
	if (r == VIP_SUCCESS)
		*out = a;
	return r;
}

static VIP_RETURN query_mem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			    VIP_MEM_HANDLE MemHandle,
			    VIP_MEM_ATTRIBUTES *MemAttribs)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (MemAttribs)
		r = query_region(nic, Address, MemHandle, MemAttribs);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
		       VIP_MEM_HANDLE MemHandle,
		       VIP_MEM_ATTRIBUTES *MemAttribs)
{
	return VIPL_CALL(query_mem(NicHandle, Address, MemHandle, MemAttribs));
}

static VIP_RETURN set_mem_attributes(VIP_NIC_HANDLE NicHandle,
				     VIP_PVOID Address,
				     VIP_MEM_HANDLE MemHandle,
				     VIP_MEM_ATTRIBUTES *MemAttribs)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	struct vipl_ptag *ptag = NULL;
	VIP_MEM_ATTRIBUTES now;
	VIP_RETURN r;

	if (!nic)
		return VIP_INVALID_PARAMETER;
	/* A region that is not there comes before bad attributes. */
	r = query_region(nic, Address, MemHandle, &now);
	if (r == VIP_SUCCESS)
		r = check_attrs(nic, &MemAttribs, &ptag);
	if (r == VIP_SUCCESS)
		r = vipl_ops(&nic->obj)->mem_set(nic, Address, MemHandle,
						 ptag ? ptag->id : 0,
						 MemAttribs);
	if (ptag)
		vipl_ptag_put(ptag);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
			       VIP_MEM_HANDLE MemHandle,
			       VIP_MEM_ATTRIBUTES *MemAttribs)
{
	return VIPL_CALL(set_mem_attributes(NicHandle, Address, MemHandle,
					    MemAttribs));
}

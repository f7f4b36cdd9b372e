// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "provider.h"

/* Arguments are checked; see not-yet.md. An unknown type is refused for good. */
VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle,
					VIP_ULONG InfoType,
					VIP_PVOID SysManInfo)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);

	(void)InfoType;
	if (!nic)
		return VIP_INVALID_PARAMETER;
	vipl_nic_put(nic);
	return SysManInfo ? VIP_ERROR_NOT_SUPPORTED : VIP_INVALID_PARAMETER;
}

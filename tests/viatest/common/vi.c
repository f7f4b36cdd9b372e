// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "vi.h"
#include "args.h"

VIP_RETURN nic_try(struct nic *n, const char *device)
{
	VIP_RETURN rc;

	n->dev = device;
	rc = VipOpenNic(device, &n->h);
	return rc == VIP_SUCCESS ? VipQueryNic(n->h, &n->attr) : rc;
}

VIP_RETURN vi_make(const struct nic *n, VIP_ULONG bytes, VIP_CQ_HANDLE cq,
		   VIP_VI_HANDLE *vi)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY,
		.MaxTransferSize = bytes,
	};

	return VipCreateVi(n->h, &a, NULL, cq, vi);
}

void peer_address(union net_addr *a, const struct nic *n)
{
	if (args.host)
		net_addr_resolve(a, n, args.host);
	else
		net_addr_local(a, n, "", 0);
}

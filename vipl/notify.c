// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The three Notify calls check their arguments and refuse: see not-yet.md. */
#include "provider.h"

static VIP_RETURN vi_not_yet(VIP_VI_HANDLE h, VIP_VI_CALLBACK handler)
{
	struct vipl_vi *vi = vipl_vi_get(h);

	if (!vi)
		return VIP_INVALID_PARAMETER;
	vipl_vi_put(vi);
	return handler ? VIP_ERROR_NOT_SUPPORTED : VIP_INVALID_PARAMETER;
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler)
{
	(void)Context;
	return vi_not_yet(ViHandle, Handler);
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler)
{
	(void)Context;
	return vi_not_yet(ViHandle, Handler);
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
		       VIP_CQ_CALLBACK Handler)
{
	struct vipl_cq *cq = vipl_cq_get(CQHandle);

	(void)Context;
	if (!cq)
		return VIP_INVALID_PARAMETER;
	vipl_cq_put(cq);
	return Handler ? VIP_ERROR_NOT_SUPPORTED : VIP_INVALID_PARAMETER;
}

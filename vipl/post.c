// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The fast path: find the VI, hand over. No reference is taken; the provider
 * checks the handle again under the queue's lock.
 */
#include "object.h"

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *Descriptor,
		       VIP_MEM_HANDLE MemHandle)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !Descriptor)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->post_send(vi, ViHandle, Descriptor,
					     MemHandle);
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *Descriptor,
		       VIP_MEM_HANDLE MemHandle)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !Descriptor)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->post_recv(vi, ViHandle, Descriptor,
					     MemHandle);
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !DescriptorPtr)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->send_done(vi, ViHandle, DescriptorPtr);
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !DescriptorPtr)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->recv_done(vi, ViHandle, DescriptorPtr);
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout,
		       VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !DescriptorPtr)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->send_wait(vi, ViHandle, Timeout,
					     DescriptorPtr);
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout,
		       VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *vi = vipl_vi_lookup(ViHandle);

	if (!vi || !DescriptorPtr)
		return VIP_INVALID_PARAMETER;
	return vipl_ops(&vi->obj)->recv_wait(vi, ViHandle, Timeout,
					     DescriptorPtr);
}

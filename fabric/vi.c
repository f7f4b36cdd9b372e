// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* VIs of a VI NIC, found by handle; its alarm. */
#include <sys/timerfd.h>
#include <time.h>

#include "fab.h"

uint64_t via_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct via_vi **vi_bucket(struct via_nic *nic, VIP_VI_HANDLE h)
{
	uintptr_t n = (uintptr_t)h;

	n ^= n >> 10;
	return &nic->vis[(n ^ n >> 20) % VIA_VI_HASH];
}

VIP_RETURN via_vi_open(struct via_nic *nic, struct via_vi *vi,
		       VIP_PROTECTION_HANDLE ptag, uint32_t transfer)
{
	VIP_CQ_HANDLE cq = nic->cq[vi->kind == VIA_VI_DATA ? VIA_CQ_DATA :
							     VIA_CQ_CTL];
	VIP_VI_ATTRIBUTES attr = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION,
		.MaxTransferSize = transfer,
		.Ptag = ptag,
		.EnableRdmaWrite = vi->kind == VIA_VI_DATA,
		.EnableRdmaRead = vi->kind == VIA_VI_DATA,
	};
	VIP_RETURN r = VipCreateVi(nic->h, &attr, cq, cq, &vi->h);
	struct via_vi **b;

	if (r != VIP_SUCCESS) {
		vi->h = NULL;
		return r;
	}
	b = vi_bucket(nic, vi->h);
	vi->next = *b;
	*b = vi;
	return r;
}

/* Take its descriptors back: VipDisconnect, and Done until there is none. */
void via_vi_close(struct via_nic *nic, struct via_vi *vi)
{
	struct via_vi **p;

	if (!vi->h)
		return;
	for (p = vi_bucket(nic, vi->h); *p != vi; p = &(*p)->next)
		;
	*p = vi->next;
	if (VipDestroyVi(vi->h) != VIP_SUCCESS)
		via_warn(FI_LOG_EP_CTRL, "a VI could not be destroyed\n");
	vi->h = NULL;
}

/* Threads that wait on an EQ look again at that time, or before. */
void via_nic_alarm(struct via_nic *nic, uint64_t when)
{
	struct itimerspec t = {
		.it_value = {
			.tv_sec = (time_t)(when / 1000000000u),
			.tv_nsec = (long)(when % 1000000000u),
		},
	};

	if (nic->timer_ns && nic->timer_ns <= when)
		return;
	nic->timer_ns = when;
	timerfd_settime(nic->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

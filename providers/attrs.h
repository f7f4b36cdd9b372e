/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Attributes of VIs and rights of peers, from VIPL's form to the kernel's and back. */
#ifndef PROVIDERS_ATTRS_H
#define PROVIDERS_ATTRS_H

#include <stdint.h>
#include <vipl.h>

#include <via.h>

/* VIA_RDMA_* of what a peer may do. */
static inline uint32_t via_rights(VIP_BOOLEAN write, VIP_BOOLEAN read)
{
	return (write ? VIA_RDMA_WRITE : 0) | (read ? VIA_RDMA_READ : 0);
}

static inline struct via_vi_attrs via_attrs_from_vip(const VIP_VI_ATTRIBUTES *a,
						     uint32_t ptag)
{
	return (struct via_vi_attrs){
		.reliability = a->ReliabilityLevel,
		.ptag = ptag,
		.max_transfer = (uint32_t)a->MaxTransferSize,
		.rights = via_rights(a->EnableRdmaWrite, a->EnableRdmaRead),
	};
}

/* Tags mean nothing outside their process: a peer's is shown as NULL. */
static inline VIP_VI_ATTRIBUTES via_attrs_to_vip(const struct via_vi_attrs *a)
{
	return (VIP_VI_ATTRIBUTES){
		.ReliabilityLevel = (VIP_RELIABILITY_LEVEL)a->reliability,
		.MaxTransferSize = a->max_transfer,
		.EnableRdmaWrite = a->rights & VIA_RDMA_WRITE ? VIP_TRUE :
								VIP_FALSE,
		.EnableRdmaRead = a->rights & VIA_RDMA_READ ? VIP_TRUE :
							      VIP_FALSE,
	};
}

#endif

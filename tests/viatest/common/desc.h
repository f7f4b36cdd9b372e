/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TESTS_DESC_H
#define TESTS_DESC_H

#include <stdint.h>
#include <vipl.h>

/* A descriptor of one data segment, or of none when len is 0. */
void desc_data(VIP_DESCRIPTOR *d, void *p, uint32_t len, VIP_MEM_HANDLE h);
/* It becomes VIP_CONTROL_OP_RDMAWRITE or READ, of memory of the peer. */
void desc_rdma(VIP_DESCRIPTOR *d, VIP_UINT16 op, uint64_t addr,
	       VIP_MEM_HANDLE h);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* NICs, VIs and their connections, where an error is the caller's. */
#ifndef TESTS_VI_H
#define TESTS_VI_H

#include "common/conn.h"

/* nic_open() without its thread for errors. */
VIP_RETURN nic_try(struct nic *n, const char *device);
/* With Reliable Delivery, and @cq for its receives or NULL. */
VIP_RETURN vi_make(const struct nic *n, VIP_ULONG bytes, VIP_CQ_HANDLE cq,
		   VIP_VI_HANDLE *vi);
/* Where args.host is; the NIC's own address without one. */
void peer_address(union net_addr *a, const struct nic *n);

#endif

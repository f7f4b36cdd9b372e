/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two VIs of one program on one NIC, connected with each other. */
#ifndef TESTS_TWINS_H
#define TESTS_TWINS_H

#include <stdint.h>
#include <vipl.h>
#include "common/conn.h"

#define TWINS_MS	20000	/* that anything may take */

struct twins {
	/* Set by the caller.  must() ends the program unless all is well. */
	void (*must)(const char *what, VIP_RETURN rc);
	const char *disc;		/* of their addresses, before a number */
	VIP_BOOLEAN rdma;

	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE tag;
	VIP_VI_HANDLE vi[2];
	union net_addr addr[2];
};

void twins_open(struct twins *t, const char *device);
/* A VI like theirs, and memory for them. */
VIP_RETURN twins_vi(const struct twins *t, VIP_VI_HANDLE *vi);
VIP_MEM_HANDLE twins_register(const struct twins *t, void *p, uint64_t len);
VIP_RETURN twins_join(const struct twins *t, VIP_ULONG ms);
void twins_part(const struct twins *t);

/* A descriptor there, of one segment. */
VIP_DESCRIPTOR *twins_describe(void *there, uint64_t addr,
			       VIP_MEM_HANDLE handle, VIP_ULONG len);
/* A message from one to the other: the receive, which is done. */
VIP_DESCRIPTOR *twins_carry(const struct twins *t, unsigned int from,
			    VIP_DESCRIPTOR *tx, VIP_MEM_HANDLE tx_handle,
			    VIP_DESCRIPTOR *rx, VIP_MEM_HANDLE rx_handle);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the examples share: a NIC that is open, addresses, descriptors, and an
 * end with a sentence where a call fails.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stddef.h>
#include <vipl.h>
#include <vipl_ext.h>

struct node {
	VIP_NIC_HANDLE nic;
	VIP_NIC_ATTRIBUTES attr;
};

/* A host address and a discriminator follow the two lengths of a.  */
union address {
	VIP_NET_ADDRESS a;
	VIP_UINT8 room[256];
};

/* Ends the program unless the call succeeds. */
#define must(call)	check((call), #call)
void check(VIP_RETURN r, const char *call);

/* What VipSendWait and their like return: ends the program, with the status
 * of the descriptor where there is one, unless it completed.
 */
VIP_DESCRIPTOR *completed(VIP_RETURN r, VIP_DESCRIPTOR *d, const char *what);

void open_node(struct node *n, const char *device);
void own_address(const struct node *n, union address *to, const char *disc);
void host_address(const struct node *n, union address *to, const char *host,
		  const char *disc);

/* At Reliable Delivery; either CQ may be NULL. The peer may write into regions
 * that allow it.
 */
VIP_VI_HANDLE new_vi(const struct node *n, VIP_ULONG max_transfer,
		     VIP_CQ_HANDLE send_cq, VIP_CQ_HANDLE recv_cq);

/* Both return when the VI is connected; a client asks until a server waits. */
void serve_one(const struct node *n, VIP_VI_HANDLE vi, const char *disc);
void connect_to(const struct node *n, VIP_VI_HANDLE vi, const char *host,
		const char *disc);

/* Zeroed memory, registered. */
void *new_region(const struct node *n, size_t bytes, VIP_BOOLEAN rdma_write,
		 VIP_MEM_HANDLE *handle);

/* A descriptor of one segment, or of none where len is 0. */
void describe(VIP_DESCRIPTOR *d, void *data, VIP_UINT32 len,
	      VIP_MEM_HANDLE handle);

/* The same for an RDMA Write to an address of the peer's. */
void describe_write(VIP_DESCRIPTOR *d, void *data, VIP_UINT32 len,
		    VIP_MEM_HANDLE handle, VIP_UINT64 to,
		    VIP_MEM_HANDLE to_handle);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One open NIC with what every test and the peer need: an arena of registered
 * memory, slots for descriptors, and a log of asynchronous errors.
 */
#ifndef CONFORMANCE_NIC_H
#define CONFORMANCE_NIC_H

#include "ledger.h"
#include "xfer.h"
#include <pthread.h>

#define DESC_SLOTS	96
#define ERROR_LOG	128

struct nic {
	VIP_NIC_HANDLE h;
	VIP_NIC_ATTRIBUTES attr;
	VIP_PROTECTION_HANDLE ptag;	/* of the arena and the slots */

	uint8_t *slots;			/* DESC_SLOTS of XFER_DESC_SIZE */
	VIP_MEM_HANDLE slots_h;
	unsigned int next_slot;
	struct xfer posted[DESC_SLOTS];

	uint8_t *arena;			/* may be target of RDMA */
	size_t arena_len;
	VIP_MEM_HANDLE arena_h;

	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t news;
	unsigned int errors;		/* all that came, logged or not */
	VIP_ERROR_DESCRIPTOR log[ERROR_LOG];
};

/*
 * nic_open() - open, register, listen to errors
 *
 * Moves this process's addresses and handles by @shift, so that two processes
 * forked from one do not find each other's good by accident.
 */
VIP_RETURN nic_open(struct nic *n, const char *device, unsigned int shift);

/* Listens to errors from now on, and forgets those before. */
VIP_RETURN nic_listen(struct nic *n);

/* Page-aligned fresh memory, never given back. */
void *pages(size_t len);
/* How much of it; a test that has used more than that should start anew. */
size_t pages_used(void);
#define PAGES_MAX	(64u << 20)

/* VI attributes as the tests mostly want them. */
VIP_VI_ATTRIBUTES vi_attributes(struct nic *n, VIP_RELIABILITY_LEVEL level);

/* The next descriptor slot; a slot comes round after DESC_SLOTS calls. */
VIP_DESCRIPTOR *nic_slot(struct nic *n);
/* What was posted in the slot of d; NULL when d is no slot. */
const struct xfer *nic_posted(struct nic *n, const VIP_DESCRIPTOR *d);

enum queue { SENDQ, RECVQ };

/*
 * nic_post() - build and post a descriptor
 *
 * Fills the buffers for a send or an RDMA Write, guards them for a receive or
 * an RDMA Read.
 * nic_post_again() leaves the buffers alone, since they are in use.
 */
VIP_RETURN nic_post_again(struct nic *n, VIP_VI_HANDLE vi, enum queue q,
			  const struct xfer *x, VIP_DESCRIPTOR **d);
VIP_RETURN nic_post(struct nic *n, VIP_VI_HANDLE vi, enum queue q,
		    const struct xfer *x, VIP_DESCRIPTOR **d);

/* The outcome of a Done or a Wait. */
struct done {
	VIP_RETURN rc;
	VIP_DESCRIPTOR *d;	/* poisoned before the call */
	uint32_t status;	/* these three are zero without a descriptor */
	uint32_t length;
	uint32_t immediate;
};

#define DONE_POISON	((VIP_DESCRIPTOR *)(uintptr_t)0x40)

struct done poll_done(VIP_VI_HANDLE vi, enum queue q);
struct done wait_done(VIP_VI_HANDLE vi, enum queue q, VIP_ULONG timeout_ms);

/* How many errors of that code were reported for the VI (NULL: any). */
unsigned int nic_errors(struct nic *n, VIP_VI_HANDLE vi, VIP_ERROR_CODE code);
/*
 * nic_error_wait() - wait until the error has been reported @want times
 *
 * @out may be NULL, and gets the last. Returns how many there are.
 */
unsigned int nic_error_wait(struct nic *n, VIP_VI_HANDLE vi,
			    VIP_ERROR_CODE code, unsigned int want,
			    unsigned int timeout_ms,
			    VIP_ERROR_DESCRIPTOR *out);

/* An address with room for all discriminators and a guard behind it. */
struct net_address {
	union {
		VIP_NET_ADDRESS a;
		uint8_t bytes[160];
	};
};

void net_address(struct net_address *a, const void *host, unsigned int host_len,
		 const void *disc, unsigned int disc_len);
/* The NIC's own address with that discriminator. */
void own_address(struct nic *n, struct net_address *a, const void *disc,
		 unsigned int disc_len);

#endif

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_PROVIDER_H
#define VIPL_PROVIDER_H

#include "object.h"

/*
 * What a network brings to the library
 * ------------------------------------
 * The public calls check handles and pointers, keep the objects, and hand the
 * rest to the provider that opened the NIC. A provider states the range of
 * VIPL_PROVIDER_ABI that it was written for; the loader asks each in turn
 * whether a device name is its own.
 *
 * Calls that make, query or end an object get it referenced, under nic->lock
 * where that says so. The post and poll calls are different: they get a VI or
 * CQ that was alive a moment ago, without a reference. They may find it empty
 * without a lock, if they can tell without touching what destruction takes
 * away; before they change anything they must compare queue->handle
 * (cq->handle) with the handle they are given, under the lock there. A
 * mismatch is VIP_INVALID_PARAMETER. Pointers from the program are non-NULL.
 */
#define VIPL_PROVIDER_ABI	1

enum vipl_event_kind {
	VIPL_EVENT_ERROR,
	VIPL_EVENT_SEND,		/* what vi_notify asked for; only vi */
	VIPL_EVENT_RECV,
	VIPL_EVENT_CQ,			/* what cq_notify asked for; only cq */
};

/*
 * An asynchronous error, or the answer to a notify, in the provider's terms;
 * 0 where nothing applies.
 */
struct vipl_event {
	enum vipl_event_kind kind;
	uint32_t vi;
	uint32_t cq;
	uint64_t desc;
	uint32_t opcode;
	uint32_t resource;
	uint32_t code;
	int orderly;			/* CONN_LOST: the peer has left */
};

/* An address taken apart; a VIP_NET_ADDRESS is unaligned and open-ended. */
struct vipl_addr {
	uint16_t host_len;
	uint16_t disc_len;
	uint8_t host[VIPL_ADDR_MAX];
	uint8_t disc[VIPL_DISC_MAX];
};

#define VIPL_NAME_MAX	64	/* bytes of a host's name on the wire */
#define VIPL_NAMED_MAX	64	/* hosts that one question finds */

/* A host that answered on the wire. */
struct vipl_named {
	uint8_t host[VIPL_ADDR_MAX];
	char name[VIPL_NAME_MAX + 1];	/* may be empty */
};

/* A connection request that has arrived. */
struct vipl_request {
	uint32_t id;
	struct vipl_addr remote;
	VIP_VI_ATTRIBUTES attrs;
};

struct vipl_provider_ops {
	const char *name;
	unsigned int abi_min;
	unsigned int abi_max;

	/* Nonzero when node names a device of this provider's kind. */
	int (*match)(const char *node);

	/* Fill in the NIC's identity and limits; explain a failure. */
	VIP_RETURN (*open)(struct vipl_nic *nic, const char *node);
	/* End every object; threads that sleep in the provider return. */
	void (*shutdown)(struct vipl_nic *nic);
	/* The last reference is gone. */
	void (*close)(struct vipl_nic *nic);

	VIP_RETURN (*ptag_create)(struct vipl_nic *nic, uint32_t *id);
	VIP_RETURN (*ptag_destroy)(struct vipl_nic *nic, uint32_t id);

	/* ptag 0: the default tag. */
	VIP_RETURN (*mem_register)(struct vipl_nic *nic, void *addr,
				   VIP_ULONG len, uint32_t ptag,
				   const VIP_MEM_ATTRIBUTES *attrs,
				   VIP_MEM_HANDLE *handle);
	VIP_RETURN (*mem_deregister)(struct vipl_nic *nic, void *addr,
				     VIP_MEM_HANDLE handle);

	/* The region that starts at addr; *ptag is an id, 0 the default. */
	VIP_RETURN (*mem_query)(struct vipl_nic *nic, void *addr,
				VIP_MEM_HANDLE handle, uint32_t *ptag,
				VIP_MEM_ATTRIBUTES *attrs);
	VIP_RETURN (*mem_set)(struct vipl_nic *nic, void *addr,
			      VIP_MEM_HANDLE handle, uint32_t ptag,
			      const VIP_MEM_ATTRIBUTES *attrs);

	/* Under nic->lock; set up the queues, except for their handles. */
	VIP_RETURN (*vi_create)(struct vipl_vi *vi,
				const VIP_VI_ATTRIBUTES *attrs,
				uint32_t ptag);
	VIP_RETURN (*vi_destroy)(struct vipl_vi *vi);
	/* The last reference is gone: unmap. */
	void (*vi_release)(struct vipl_vi *vi);
	/* Everything but the tag and the queues' emptiness. */
	VIP_RETURN (*vi_query)(struct vipl_vi *vi, VIP_VI_STATE *state,
			       VIP_VI_ATTRIBUTES *attrs);
	/* Under nic->lock; INVALID_STATE unless Idle. */
	VIP_RETURN (*vi_set)(struct vipl_vi *vi, const VIP_VI_ATTRIBUTES *attrs,
			     uint32_t ptag);
	/* Descriptors posted and not completed; under both queue locks. */
	int (*vi_outstanding)(struct vipl_vi *vi);

	VIP_RETURN (*cq_create)(struct vipl_cq *cq, VIP_ULONG entries);
	VIP_RETURN (*cq_destroy)(struct vipl_cq *cq);
	/* Under nic->lock; nothing is lost, and a failure changes nothing. */
	VIP_RETURN (*cq_resize)(struct vipl_cq *cq, VIP_ULONG entries);
	void (*cq_release)(struct vipl_cq *cq);

	VIP_RETURN (*post_send)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
	VIP_RETURN (*post_recv)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR *desc, VIP_MEM_HANDLE mem);
	VIP_RETURN (*send_done)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR **desc);
	VIP_RETURN (*recv_done)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_DESCRIPTOR **desc);
	VIP_RETURN (*send_wait)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_ULONG timeout, VIP_DESCRIPTOR **desc);
	VIP_RETURN (*recv_wait)(struct vipl_vi *vi, VIP_VI_HANDLE h,
				VIP_ULONG timeout, VIP_DESCRIPTOR **desc);

	/* Notices of VIs that vipl_vi_by_id does not know are skipped. */
	VIP_RETURN (*cq_done)(struct vipl_cq *cq, VIP_CQ_HANDLE h,
			      VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv);
	VIP_RETURN (*cq_wait)(struct vipl_cq *cq, VIP_CQ_HANDLE h,
			      VIP_ULONG timeout, VIP_VI_HANDLE *vi,
			      VIP_BOOLEAN *recv);

	/*
	 * Ask for one event when the queue (the CQ) has something to take, at
	 * once if it has. Does not sleep. The event is a hint: another thread
	 * may have taken it meanwhile.
	 */
	VIP_RETURN (*vi_notify)(struct vipl_vi *vi, int recv);
	VIP_RETURN (*cq_notify)(struct vipl_cq *cq);

	VIP_RETURN (*conn_wait)(struct vipl_nic *nic,
				const struct vipl_addr *local,
				VIP_ULONG timeout, struct vipl_request *req);
	/* *gone: the request exists no longer, whatever the verdict. */
	VIP_RETURN (*conn_accept)(struct vipl_nic *nic, uint32_t conn,
				  struct vipl_vi *vi, int *gone);
	VIP_RETURN (*conn_reject)(struct vipl_nic *nic, uint32_t conn);
	VIP_RETURN (*conn_request)(struct vipl_vi *vi,
				   const struct vipl_addr *local,
				   const struct vipl_addr *remote,
				   VIP_ULONG timeout,
				   VIP_VI_ATTRIBUTES *attrs);
	VIP_RETURN (*peer_request)(struct vipl_vi *vi,
				   const struct vipl_addr *local,
				   const struct vipl_addr *remote,
				   VIP_ULONG timeout);
	/* The verdict of a peer request, once; NOT_DONE unless wait. */
	VIP_RETURN (*peer_result)(struct vipl_vi *vi, int wait,
				  VIP_VI_ATTRIBUTES *attrs);
	VIP_RETURN (*disconnect)(struct vipl_vi *vi);

	/*
	 * Ask on the wire for those of that name (NULL: any) and that host
	 * address (NULL: any). Blocks for some 200 ms at most. *n: room in
	 * out, then what was found, which may be nothing.
	 */
	VIP_RETURN (*name_query)(struct vipl_nic *nic, const char *name,
				 const uint8_t *host, struct vipl_named *out,
				 uint32_t *n);

	/* Block for an event: 1 got one, 0 woken for nothing, -1 no more. */
	int (*event_wait)(struct vipl_nic *nic, struct vipl_event *ev);
};

extern const struct vipl_provider_ops vipl_ka_ops;

const struct vipl_provider_ops *vipl_provider_find(const char *node);

static inline const struct vipl_provider_ops *vipl_ops(struct vipl_obj *o)
{
	return atomic_load_explicit(&o->ops, memory_order_relaxed);
}

#endif /* VIPL_PROVIDER_H */

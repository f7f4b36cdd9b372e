/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_OBJECT_H
#define VIPL_OBJECT_H

/*
 * Locking
 * -------
 *	nic->lock	creation and destruction of the NIC handle's objects,
 *			nic->objs, nic->closing
 *	service.lock	start and end of the service thread
 *	notify->lock	handlers that wait for a completion
 *	queue->lock	one work queue: private indexes, handle
 *	cq->lock	one completion queue: private head, handle
 *	table lock	handle.c, innermost
 *
 * Order: service, nic, notify, send queue, receive queue, cq, table. None is
 * held over a sleep in the kernel or over a handler of the program; nic->lock
 * is held over ioctls that do not sleep for long.
 *
 * notify->gate is held over a handler of the program, by the service thread
 * alone; a thread that destroys the queue takes it once, holding no other lock.
 */

#include <pthread.h>

#pragma GCC visibility push(default)
#include <vipl.h>
#pragma GCC visibility pop

#include "handle.h"
#include "lock.h"

#define VIPL_SENDQ	0
#define VIPL_RECVQ	1

#define VIPL_ADDR_MAX	8
#define VIPL_DISC_MAX	64

struct vipl_limits {
	uint64_t register_bytes;
	uint64_t block_bytes;
	uint32_t regions;
	uint32_t vi;
	uint32_t desc;
	uint32_t segs;
	uint32_t cq;
	uint32_t cq_entries;
	uint32_t transfer;
	uint32_t mtu;
	uint32_t ptags;
	uint32_t disc_len;
	uint32_t hw_version;
	uint32_t provider_version;
	uint16_t reliability;
	uint16_t rdma_read;
};

/* The thread that calls handlers, see error.c. */
struct vipl_service {
	struct vipl_lock lock;
	pthread_t thread;
	int running;			/* under lock */
	int ended;			/* under lock: the NIC is closed */
	int shared_files;		/* set before the thread starts */
	_Atomic int stop;
	_Atomic int closed_inside;	/* VipCloseNic came from the handler */
};

struct vipl_handler {
	VIP_ERROR_HANDLER fn;
	VIP_PVOID context;
};

/* VI ids of the provider to VI handles, see vi.c. */
#define VIPL_IDMAP_SIZE		65536u
#define VIPL_IDMAP_CHUNK	512u

struct vipl_idmap_entry {
	_Atomic(uintptr_t) handle;
	_Atomic uint32_t id;
};

struct vipl_idmap {
	struct vipl_idmap_entry *_Atomic chunk[VIPL_IDMAP_SIZE /
					       VIPL_IDMAP_CHUNK];
};

struct vipl_nic {
	struct vipl_obj obj;
	struct vipl_lock lock;
	int closing;			/* under lock */
	int spin;			/* more than one CPU: waits may spin */
	int fd;				/* the provider's */
	int wake_fd;			/* ends the service thread */
	void *ctl;			/* the provider's */
	unsigned int ifindex;		/* 0: no network interface */
	char name[64];
	uint8_t addr[VIPL_ADDR_MAX];
	uint32_t addr_len;
	struct vipl_limits limits;
	struct vipl_list objs[VIPL_KINDS];
	void *discovered;		/* under lock, see mgmt.c */
	struct vipl_idmap vi_ids;
	struct vipl_lock handler_lock;	/* and for peers of VIs */
	struct vipl_handler handler;	/* under handler_lock */
	struct vipl_service service;
};

/*
 * One work queue as the library sees it: exactly what a post or a poll needs,
 * in one cache line. The rings are the provider's.
 */
struct vipl_queue {
	struct vipl_lock lock;
	_Atomic uint32_t tail;		/* posted; written under lock */
	_Atomic uint32_t collected;	/* returned; written under lock */
	uint32_t mask;			/* slots - 1 */
	uintptr_t handle;		/* of the VI; 0 when it is gone */
	void *_Atomic shared;		/* what the provider shares of the VI */
	void *slots;
	void *comps;
	uint32_t limit;			/* most that may be outstanding */
	uint32_t id;			/* of the VI, as the provider knows it */
	int fd;
	_Atomic uint32_t spin_ns;	/* how long a wait has paid to spin */
} __attribute__((aligned(64)));

/* The handlers that wait for a completion of one queue or CQ, see notify.c. */
struct vipl_notify {
	struct vipl_lock lock;
	struct vipl_lock gate;		/* a handler of this queue runs */
	int armed;			/* under lock: an event will come */
	struct vipl_pending *first;	/* under lock */
	struct vipl_pending *last;	/* under lock */
};

/*
 * Address space that holds an object's mapped rings. It stays with the object
 * for good: when the rings go, zero pages take their place, so that a poll of
 * an object that is just being destroyed reads something, without a lock.
 */
struct vipl_area {
	void *addr;
	size_t size;
	int mapped;			/* rings are there */
};

struct vipl_cq {
	struct vipl_obj obj;
	struct vipl_lock lock __attribute__((aligned(64)));
	_Atomic uint32_t head;		/* written under lock */
	uint32_t mask;			/* under lock */
	uint32_t id;
	uintptr_t handle;
	void *_Atomic shared;		/* stays when the ring is replaced */
	void *entries;			/* under lock */
	_Atomic uint32_t spin_ns;
	struct vipl_area area;
	struct vipl_notify notify;
	void *ring, *old;		/* entries outside the area, or NULL; */
	size_t ring_size, old_size;	/* bytes; all under nic->lock */
};

struct vipl_vi {
	struct vipl_obj obj;
	struct vipl_queue q[2];
	struct vipl_cq *cq[2];		/* referenced */
	VIP_PROTECTION_HANDLE ptag;	/* as given; under nic->lock */
	uint8_t peer[VIPL_ADDR_MAX];	/* or 0; under nic->handler_lock */
	struct vipl_area area;
	struct vipl_notify notify[2];
};

struct vipl_ptag {
	struct vipl_obj obj;
	uint32_t id;
};

struct vipl_conn {
	struct vipl_obj obj;
	uint32_t id;
	uint8_t client[VIPL_ADDR_MAX];
};

static inline struct vipl_vi *vipl_vi_lookup(VIP_VI_HANDLE h)
{
	return vipl_lookup(h, VIPL_VI, sizeof(struct vipl_vi));
}

static inline struct vipl_cq *vipl_cq_lookup(VIP_CQ_HANDLE h)
{
	return vipl_lookup(h, VIPL_CQ, sizeof(struct vipl_cq));
}

struct vipl_nic *vipl_nic_get(VIP_NIC_HANDLE h);
void vipl_nic_put(struct vipl_nic *nic);
int vipl_nic_lock(struct vipl_nic *nic);
void vipl_nic_unlock(struct vipl_nic *nic);
void vipl_nic_own(struct vipl_nic *nic, struct vipl_obj *o,
		  enum vipl_kind kind);
void vipl_nic_disown(struct vipl_obj *o);

struct vipl_vi *vipl_vi_get(VIP_VI_HANDLE h);
void vipl_vi_put(struct vipl_vi *vi);
void vipl_vi_kill(struct vipl_vi *vi);
/* Where it is, or was last, connected to, for messages; zero: not known. */
void vipl_vi_set_peer(struct vipl_vi *vi, const uint8_t *host);
void vipl_vi_get_peer(struct vipl_vi *vi, uint8_t *host);
VIP_VI_HANDLE vipl_vi_by_id(struct vipl_nic *nic, uint32_t id);

struct vipl_cq *vipl_cq_get(VIP_CQ_HANDLE h);
void vipl_cq_put(struct vipl_cq *cq);
void vipl_cq_kill(struct vipl_cq *cq);
VIP_CQ_HANDLE vipl_cq_by_id(struct vipl_nic *nic, uint32_t id);

struct vipl_ptag *vipl_ptag_get(struct vipl_nic *nic,
				VIP_PROTECTION_HANDLE h);
VIP_PROTECTION_HANDLE vipl_ptag_by_id(struct vipl_nic *nic, uint32_t id);
void vipl_ptag_put(struct vipl_ptag *ptag);
void vipl_ptag_kill(struct vipl_ptag *ptag);

void vipl_conn_put(struct vipl_conn *conn);
void vipl_conn_kill(struct vipl_conn *conn);

int vipl_service_start(struct vipl_nic *nic, int shared_files);
void vipl_service_end(struct vipl_nic *nic);

#endif /* VIPL_OBJECT_H */

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
 *	events.lock	what providers have told, peers of VIs; innermost
 *	table lock	handle.c, innermost
 *
 * Order: service, nic, notify, the provider's own, events or table. None is
 * held over a sleep in the kernel or over a handler of the program; nic->lock
 * is held over operations that do not sleep for long, and notify->lock over
 * looks at the queue.
 *
 * notify->call_guard is held over a handler of the program, by the service
 * thread alone; a thread that destroys the queue takes it once, holding no
 * other lock.
 */

#include <pthread.h>

#include "event.h"
#include "handle.h"
#include "lock.h"

struct vipl_nic;

/* The thread that calls handlers, see service.c. */
struct vipl_service {
	/* The handler of its events; set by VipOpenNic. */
	void (*serve)(struct vipl_nic *nic, const struct vipl_event *ev);
	struct vipl_mutex lock;
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

struct vipl_nic {
	struct vipl_obj obj;
	struct vipl_mutex lock;
	int closing;			/* under lock */
	int identified;			/* set by open, then constant */
	int refused;			/* as identified: said on stderr, why */
	struct vipl_identity id;	/* set by open, then constant */
	struct vipl_list objs[VIPL_KINDS];
	void *discovered;		/* under lock, see mgmt.c */
	struct vipl_mutex handler_lock;	/* of handler */
	struct vipl_handler handler;	/* under handler_lock */
	struct vipl_service service;
	struct vipl_events events;
	_Atomic int fd;			/* VipExtNicGetFd, or -1 */
};

/* The handlers that wait for a completion of one queue or CQ, see notify.c. */
struct vipl_notify {
	struct vipl_mutex lock;
	struct vipl_mutex call_guard;	/* a handler of this queue runs */
	/* An event will come; written under lock, before it is asked for. */
	_Atomic int armed;
	struct vipl_pending *first;	/* under lock */
	struct vipl_pending *last;	/* under lock */
};

struct vipl_cq {
	struct vipl_obj obj;
	_Atomic int fd;			/* VipExtCQGetFd, or -1 */
	_Atomic int fd_armed;		/* an event will come for it */
	struct vipl_notify notify;
	struct vipl_source source;
} __attribute__((aligned(256)));

/* The sizes are powers of 2, so that an index becomes an address by a shift. */
struct vipl_vi {
	struct vipl_obj obj;
	struct vipl_cq *cq[2];		/* referenced */
	VIP_PROTECTION_HANDLE ptag;	/* as given; under nic->lock */
	uint8_t peer[VIPL_ADDR_MAX];	/* or 0; under nic->events.lock */
	struct vipl_notify notify[2];
	struct vipl_source source;
} __attribute__((aligned(256)));

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
/* A new object of its, with one reference more of the NIC; or NULL. */
void *vipl_nic_new(struct vipl_nic *nic, enum vipl_kind kind);
void vipl_nic_disown(struct vipl_obj *o);
/* The reason of a call that has no room for such an object, if it has none. */
void vipl_no_resource(const struct vipl_nic *nic, const char *what);

struct vipl_vi *vipl_vi_get(VIP_VI_HANDLE h);
void vipl_vi_put(struct vipl_vi *vi);
void vipl_vi_kill(struct vipl_vi *vi);
/* Where it is, or was last, connected to, for messages; zero: not known. */
void vipl_vi_set_peer(struct vipl_vi *vi, const uint8_t *host);
void vipl_vi_get_peer(struct vipl_vi *vi, uint8_t *host);
/* The same by its handle; 0, or -1 when that is stale. */
int vipl_vi_find_peer(struct vipl_nic *nic, VIP_VI_HANDLE h, uint8_t *host);

struct vipl_cq *vipl_cq_get(VIP_CQ_HANDLE h);
void vipl_cq_put(struct vipl_cq *cq);
void vipl_cq_kill(struct vipl_cq *cq);

struct vipl_ptag *vipl_ptag_get(struct vipl_nic *nic,
				VIP_PROTECTION_HANDLE h);
VIP_PROTECTION_HANDLE vipl_ptag_by_id(struct vipl_nic *nic, uint32_t id);
void vipl_ptag_put(struct vipl_ptag *ptag);
void vipl_ptag_kill(struct vipl_ptag *ptag);

void vipl_conn_put(struct vipl_conn *conn);
void vipl_conn_kill(struct vipl_conn *conn);

/* The provider's table is one that this library understands, or a message. */
int vipl_event_known(struct vipl_nic *nic, const struct vipl_event *ev);
/* The same, and that its address is as long as VipQueryNic says, at most. */
int vipl_request_fits(struct vipl_nic *nic, const struct vipl_request *req);

/* An address in writing, and the reverse; size is at least VIPL_ADDR_TEXT. */
#define VIPL_ADDR_TEXT	128
int vipl_addr_parse(struct vipl_nic *nic, const char *text, uint8_t *host);
void vipl_addr_format(struct vipl_nic *nic, const uint8_t *host, char *text,
		      size_t size);

#endif /* VIPL_OBJECT_H */

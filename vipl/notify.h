/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_NOTIFY_H
#define VIPL_NOTIFY_H

#include "object.h"

/* A handler that waits for its completion. */
struct vipl_pending {
	struct vipl_pending *next;
	VIP_VI_CALLBACK vi_fn;
	VIP_CQ_CALLBACK cq_fn;
	VIP_PVOID context;
	int taken;			/* those that are come first */
	/* what was taken */
	VIP_VI_HANDLE vi;
	VIP_DESCRIPTOR *desc;
	VIP_BOOLEAN recv;
};

/* Service thread: call the handlers that the event says may have their turn. */
void vipl_notify_serve(struct vipl_nic *nic, const struct vipl_event *ev);

/* The handle is retracted: forget what is pending. */
void vipl_notify_cancel(struct vipl_notify *n);

/* Set in a thread that is calling a handler. */
extern _Thread_local int vipl_inside;

/* After that, without locks: a handler that was running has returned. */
void vipl_notify_drain(struct vipl_notify *n);

#endif /* VIPL_NOTIFY_H */

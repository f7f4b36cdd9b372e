/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a NIC handle: asynchronous errors, and queues that moved.  What
 * functions return: see via_ka.h.
 */
#ifndef _VIA_EVENT_H
#define _VIA_EVENT_H

#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include "../include/uapi/via.h"

#define VIA_EVENTS 256u	/* a power of two */

struct via_notice;

/**
 * struct via_events - what was not read yet
 * @lock:	guards the rest
 * @head:	next to read
 * @tail:	next to write; tail - head <= VIA_EVENTS
 * @lost:	events dropped because the ring was full
 * @closed:	no more will come
 * @notices:	queues that moved: any number, none is lost
 * @noticed:	the last event read was a notice; the next is an error, so
 *		that neither kind keeps the other waiting
 * @wait:	readers
 * @ring:	the records
 */
struct via_events {
	spinlock_t lock;
	u32 head;
	u32 tail;
	u64 lost;
	bool closed;
	bool noticed;
	struct list_head notices;
	wait_queue_head_t wait;
	struct via_event *ring;
};

/* 0 or -ENOMEM; may sleep.  free also what failed to be made. */
int via_events_init(struct via_events *ev);
void via_events_free(struct via_events *ev);
/* No more will come: readers get what is left, then 0.  Process context. */
void via_events_close(struct via_events *ev);
/* Any context but hard interrupts; lost and counted when the ring is full. */
void via_events_post(struct via_events *ev, const struct via_event *rec);
/*
 * Queue it, unless it is; off the list again.  Any context but hard interrupts,
 * the lock of what moved is held.
 */
void via_events_notice(struct via_events *ev, struct via_notice *n);
void via_events_forget(struct via_events *ev, struct via_notice *n);
/* read() of the node: bytes, 0 when closed, or -errno.  May sleep. */
ssize_t via_events_read(struct via_events *ev, char __user *buf, size_t len,
			bool nonblock);
/* poll() of the node: EPOLL*. */
__poll_t via_events_poll(struct via_events *ev, struct file *filp,
			 poll_table *pt);

#endif

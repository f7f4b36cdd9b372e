/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The events of a NIC handle: asynchronous errors, and queues that moved. */
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

int via_events_init(struct via_events *ev);
void via_events_free(struct via_events *ev);
void via_events_close(struct via_events *ev);
void via_events_post(struct via_events *ev, const struct via_event *rec);
/* Queue it, unless it is; any context. */
void via_events_notice(struct via_events *ev, struct via_notice *n);
void via_events_forget(struct via_events *ev, struct via_notice *n);
ssize_t via_events_read(struct via_events *ev, char __user *buf, size_t len,
			bool nonblock);
__poll_t via_events_poll(struct via_events *ev, struct file *filp,
			 poll_table *pt);

#endif

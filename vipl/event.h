/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_EVENT_H
#define VIPL_EVENT_H

#include "handle.h"
#include "lock.h"

/*
 * What providers without event_wait have told of a NIC by host->event and the
 * service thread has not taken. Errors are a list of bounded length; what was
 * asked for by vi_notify and cq_notify are flags of the object: they need no
 * memory and so cannot be lost. What a program waits for with a file of its
 * (vipl_ext.h) does not go by way of the service thread.
 *
 * Objects in the list are not referenced: one leaves it when its handle is
 * retracted. events.lock is innermost, so that a provider may tell under any
 * lock of its own.
 */
struct vipl_told;

struct vipl_events {
	struct vipl_mutex lock;
	_Atomic uint32_t word;		/* a futex: counts what is told */
	_Atomic uint32_t errors;	/* written under lock: their number */
	struct vipl_told *first, *last;	/* under lock */
	struct vipl_list sources;	/* under lock: of struct vipl_source */
};

/* An object's part, zero at first. */
struct vipl_source {
	struct vipl_list link;		/* under events.lock; or NULL */
	uint32_t flags;			/* 1 << kind of an event; as above */
	struct vipl_obj *obj;
};

void vipl_events_init(struct vipl_events *e);
void vipl_events_free(struct vipl_events *e);
/* The object's handle is retracted: nothing is told of it any more. */
void vipl_events_forget(struct vipl_events *e, struct vipl_source *s);

void vipl_event_add(struct vipl_nic *nic, const struct vipl_event *ev);
/* As the operations event_wait and event_wake, for one thread. */
int vipl_event_wait(struct vipl_nic *nic, struct vipl_event *ev);
void vipl_event_wake(struct vipl_nic *nic);

#endif /* VIPL_EVENT_H */

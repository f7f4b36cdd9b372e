/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_NOTIFY_H
#define VIPL_NOTIFY_H

#include "object.h"

/* Service thread: call the handlers that the event says may have their turn. */
void vipl_notify_serve(struct vipl_nic *nic, const struct vipl_event *ev);

/* The handle is retracted: forget what is pending. */
void vipl_notify_cancel(struct vipl_notify *n);

/* After that, without locks: a handler that was running has returned. */
void vipl_notify_drain(struct vipl_notify *n);

#endif /* VIPL_NOTIFY_H */

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Ends of what a VI or a CQ has of Notify calls that wait (notify.c). */
#include <stdlib.h>

#include "notify.h"

_Thread_local int vipl_inside;

void vipl_notify_cancel(struct vipl_notify *n)
{
	struct vipl_pending *p, *rest;

	vipl_lock(&n->lock);
	rest = n->first;
	n->first = NULL;
	n->last = NULL;
	atomic_store(&n->armed, 0);
	vipl_unlock(&n->lock);
	while ((p = rest)) {
		rest = p->next;
		free(p);
	}
}

/*
 * From inside a handler there is no waiting: it may be the one in question,
 * or one whose end that one waits for.
 */
void vipl_notify_drain(struct vipl_notify *n)
{
	if (vipl_inside)
		return;
	vipl_lock(&n->call_guard);
	vipl_unlock(&n->call_guard);
}

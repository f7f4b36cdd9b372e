// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Call guards: a mutex for each NIC handle, held where libfabric is called.
 *
 * exit() closes them and leaves them so: libfabric's destructors then run
 * beside no thread that is inside of it. fork() holds them for the moment, so
 * that the child's copy has no lock of libfabric held by a thread that the
 * child has not: it may open NICs of its own, and its exit() runs the
 * destructors. What its parent has open is nothing to it, and is not closed.
 */
#include <stdlib.h>

#include "ofi.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofi_nic *all;
static _Atomic int closed;		/* for good */

int ofi_exiting(void)
{
	return atomic_load_explicit(&closed, memory_order_relaxed);
}

int ofi_enter(struct ofi_nic *n)
{
	pthread_mutex_lock(&n->guard);
	if (!atomic_load_explicit(&closed, memory_order_relaxed))
		return 1;
	pthread_mutex_unlock(&n->guard);
	return 0;
}

void ofi_leave(struct ofi_nic *n)
{
	pthread_mutex_unlock(&n->guard);
}

static void hold_guards(void)
{
	struct ofi_nic *n;

	pthread_mutex_lock(&list_lock);
	for (n = all; n; n = n->next)
		pthread_mutex_lock(&n->guard);
}

static void release_guards(void)
{
	struct ofi_nic *n;

	for (n = all; n; n = n->next)
		pthread_mutex_unlock(&n->guard);
	pthread_mutex_unlock(&list_lock);
}

/* NICs are zeroes here, their guards with them. */
static void in_child(void)
{
	all = NULL;
	pthread_mutex_init(&list_lock, NULL);
}

static void at_exit(void)
{
	if (ofi_exiting())
		return;
	hold_guards();
	atomic_store(&closed, 1);
	release_guards();
}

int ofi_guard_watch(void)
{
	return atexit(at_exit) ||
	       pthread_atfork(hold_guards, release_guards, in_child);
}

int ofi_guard_open(struct ofi_nic *n)
{
	if (pthread_mutex_init(&n->guard, NULL))
		return -1;
	n->guarded = 1;
	pthread_mutex_lock(&list_lock);
	n->next = all;
	all = n;
	pthread_mutex_unlock(&list_lock);
	return 0;
}

void ofi_guard_close(struct ofi_nic *n)
{
	struct ofi_nic **p;

	if (!n->guarded)
		return;
	pthread_mutex_lock(&list_lock);
	for (p = &all; *p != n; p = &(*p)->next)
		;
	*p = n->next;
	pthread_mutex_unlock(&list_lock);
	pthread_mutex_destroy(&n->guard);
	n->guarded = 0;
}

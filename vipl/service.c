// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The thread that calls all handlers: one for each NIC handle, all signals
 * blocked, which waits for events and calls the handler (serve.c), no lock held.
 *
 * Two threads that share a table of open files make every system call on a
 * file dearer, a doorbell too. So the thread leaves the table at its start
 * and keeps the files that its provider waits on, as long as it has only the
 * built-in handler to call. A handler of the program may use any file the
 * program has open (a pipe to wake its main loop, its log), so registering one
 * replaces the thread by one that shares the table.
 */
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service.h"

/* The largest file of the identity that is at most end, or -1. */
static int last_file(const struct vipl_identity *id, unsigned int end)
{
	int best = -1;
	uint32_t i;

	for (i = 0; i < id->files; i++)
		if (id->file[i] > best && (unsigned int)id->file[i] <= end)
			best = id->file[i];
	return best;
}

/*
 * A table of its own, with nothing in it but what the provider needs. From the
 * end: what the first call closes is not copied.
 */
static void leave_files(const struct vipl_nic *nic)
{
	unsigned int end = ~0u, flags = CLOSE_RANGE_UNSHARE;
	int keep;

	do {
		keep = last_file(&nic->id, end);
		if ((unsigned int)(keep + 1) <= end &&
		    syscall(SYS_close_range, keep + 1, end, flags))
			return;
		flags = 0;
		end = (unsigned int)keep - 1;
	} while (keep > 0);
}

static void *run_service(void *arg)
{
	struct vipl_nic *nic = arg;
	const struct vipl_provider *ops = vipl_ops(&nic->obj);
	struct vipl_event ev;
	int r = 0;

	if (!nic->service.shared_files)
		leave_files(nic);
	while (r >= 0 && !atomic_load(&nic->service.stop)) {
		memset(&ev, 0, sizeof(ev));
		r = ops->event_wait ? ops->event_wait(nic, &ev) :
				      vipl_event_wait(nic, &ev);
		if (r > 0)
			nic->service.serve(nic, &ev);
		/* If the handler forked, the child has no NIC any more. */
		if (!atomic_load(&nic->obj.refs))
			return NULL;
	}
	if (atomic_load(&nic->service.closed_inside))
		vipl_nic_put(nic);
	return NULL;
}

static int spawn_service(struct vipl_nic *nic, int shared_files)
{
	sigset_t all, old;
	int err;

	nic->service.shared_files = shared_files;
	atomic_store(&nic->service.stop, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&nic->service.thread, NULL, run_service, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -1;
	vipl_ref(&nic->obj);
	nic->service.running = 1;
	return 0;
}

static void stop_service(struct vipl_nic *nic, pthread_t thread)
{
	const struct vipl_provider *ops = vipl_ops(&nic->obj);

	atomic_store(&nic->service.stop, 1);
	if (ops->event_wait)
		ops->event_wake(nic);
	else
		vipl_event_wake(nic);
	pthread_join(thread, NULL);
	vipl_nic_put(nic);
}

/*
 * See to it that the thread runs, sharing the program's files if it is to
 * call handlers of the program. A thread that does not share them calls none,
 * so joining it under the lock is safe. Returns 0, or -1.
 */
int vipl_service_start(struct vipl_nic *nic, int shared_files)
{
	struct vipl_service *s = &nic->service;
	int r = 0;

	vipl_lock(&s->lock);
	if (s->ended) {
		r = -1;
	} else if (!s->running || (shared_files && !s->shared_files)) {
		if (s->running)
			stop_service(nic, s->thread);
		s->running = 0;
		r = spawn_service(nic, shared_files);
	}
	vipl_unlock(&s->lock);
	return r;
}

/*
 * The NIC is closed. No handler runs when this returns, unless we are called
 * from within it: then the thread ends by itself once the handler is back.
 */
void vipl_service_end(struct vipl_nic *nic)
{
	struct vipl_service *s = &nic->service;
	int running;

	vipl_lock(&s->lock);
	running = s->running;
	s->running = 0;
	s->ended = 1;
	vipl_unlock(&s->lock);
	if (!running)
		return;
	if (!pthread_equal(s->thread, pthread_self())) {
		stop_service(nic, s->thread);
		return;
	}
	atomic_store(&s->closed_inside, 1);
	atomic_store(&s->stop, 1);
	pthread_detach(s->thread);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Asynchronous errors, and the thread that calls all handlers: one for each
 * NIC handle, all signals blocked, which waits for events and calls the
 * handler with no lock held.
 *
 * Two threads that share a table of open files make every system call on a
 * file dearer, the doorbell too. So the thread leaves the table at its start
 * and keeps the two files it waits on, as long as it has only the built-in
 * handler to call. A handler of the program may use any file the program has
 * open (a pipe to wake its main loop, its log), so registering one replaces
 * the thread by one that shares the table.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "msg.h"
#include "notify.h"

/* " to 52:54:00:00:00:02", or nothing when that is not known. */
static void to_peer(const struct vipl_nic *nic, VIP_VI_HANDLE h,
		    char out[8 + 3 * VIPL_ADDR_MAX])
{
	uint8_t host[VIPL_ADDR_MAX] = { 0 };
	struct vipl_vi *vi = vipl_vi_get(h);
	unsigned int i, any = 0;

	out[0] = '\0';
	if (!vi)
		return;
	vipl_vi_get_peer(vi, host);
	vipl_vi_put(vi);
	for (i = 0; i < VIPL_ADDR_MAX; i++)
		any |= host[i];
	for (i = 0; any && i < nic->addr_len && i < VIPL_ADDR_MAX; i++)
		out += sprintf(out, i ? ":%02x" : " to %02x", host[i]);
}

/* One sentence for a person. */
static void say(int fd, const struct vipl_nic *nic,
		const VIP_ERROR_DESCRIPTOR *e)
{
	void *vi = e->ViHandle, *d = e->DescriptorPtr;
	char peer[8 + 3 * VIPL_ADDR_MAX];
	const char *name = nic->name;

	switch (e->ErrorCode) {
	case VIP_ERROR_POST_DESC:
		vipl_msg_fd(fd, "%s: descriptor %p on VI %p is misaligned, or its memory is not registered",
			    name, d, vi);
		break;
	case VIP_ERROR_CONN_LOST:
		to_peer(nic, vi, peer);
		vipl_msg_fd(fd, "%s: the connection of VI %p%s is lost", name,
			    vi, peer);
		break;
	case VIP_ERROR_RECVQ_EMPTY:
		vipl_msg_fd(fd, "%s: a message to VI %p is dropped, since no receive is posted",
			    name, vi);
		break;
	case VIP_ERROR_VI_OVERRUN:
		vipl_msg_fd(fd, "%s: descriptor %p is one too many for the %s queue of VI %p and is dropped",
			    name, d, e->OpCode == 1 ? "receive" : "send", vi);
		break;
	case VIP_ERROR_RDMAW_PROT:
	case VIP_ERROR_RDMAR_PROT:
		vipl_msg_fd(fd, "%s: VI %p refuses its peer an RDMA %s of memory that is not open to it",
			    name, vi, e->ErrorCode == VIP_ERROR_RDMAW_PROT ?
			    "Write" : "Read");
		break;
	case VIP_ERROR_CATASTROPHIC:
		vipl_msg_fd(fd, "%s: the NIC is gone", name);
		break;
	default:
		vipl_msg_fd(fd, "%s: asynchronous error %d, see VipErrorCallback(3)",
			    name, (int)e->ErrorCode);
	}
}

/*
 * The default handler: log. In a thread of its own file table standard error
 * is borrowed from the program for the length of one line, so that the
 * program's idea of what is open stays the only one.
 */
static void log_error(const struct vipl_nic *nic,
		      const VIP_ERROR_DESCRIPTOR *err)
{
	int fd = STDERR_FILENO, self = -1;

	if (!nic->service.shared_files) {
		self = (int)syscall(SYS_pidfd_open, getpid(), 0);
		fd = (int)syscall(SYS_pidfd_getfd, self, STDERR_FILENO, 0);
	}
	say(fd, nic, err);
	if (nic->service.shared_files)
		return;
	close(fd);
	close(self);
}

/* Returns 0, or -1 when the event speaks of something that is gone. */
static int describe(struct vipl_nic *nic, const struct vipl_event *ev,
		    VIP_ERROR_DESCRIPTOR *err)
{
	*err = (VIP_ERROR_DESCRIPTOR){
		.NicHandle = (VIP_NIC_HANDLE)vipl_obj_handle(&nic->obj,
							     VIPL_NIC),
		.DescriptorPtr = (VIP_DESCRIPTOR *)(uintptr_t)ev->desc,
		.OpCode = ev->opcode,
		.ResourceCode = (VIP_RESOURCE_CODE)ev->resource,
		.ErrorCode = (VIP_ERROR_CODE)ev->code,
	};
	if (ev->vi)
		err->ViHandle = vipl_vi_by_id(nic, ev->vi);
	if (ev->cq && !vipl_nic_lock(nic)) {
		err->CQHandle = vipl_cq_by_id(nic, ev->cq);
		vipl_nic_unlock(nic);
	}
	return (ev->vi && !err->ViHandle) || (ev->cq && !err->CQHandle) ?
		-1 : 0;
}

static void deliver(struct vipl_nic *nic, const struct vipl_event *ev)
{
	VIP_ERROR_DESCRIPTOR err;
	struct vipl_handler h;

	if (describe(nic, ev, &err))
		return;
	vipl_lock(&nic->handler_lock);
	h = nic->handler;
	vipl_unlock(&nic->handler_lock);
	if (h.fn && nic->service.shared_files)
		h.fn(h.context, &err);
	else if (!ev->orderly)
		/* The end of the peer is news, but nothing that went wrong. */
		log_error(nic, &err);
}

/* Own table, with nothing but the NIC and the eventfd in it. */
static void leave_files(const struct vipl_nic *nic)
{
	unsigned int lo = nic->fd, hi = nic->wake_fd;

	if (lo > hi) {
		lo = nic->wake_fd;
		hi = nic->fd;
	}
	if (syscall(SYS_close_range, hi + 1, ~0u, CLOSE_RANGE_UNSHARE))
		return;
	if (lo)
		syscall(SYS_close_range, 0, lo - 1, 0);
	if (hi > lo + 1)
		syscall(SYS_close_range, lo + 1, hi - 1, 0);
}

static void *service(void *arg)
{
	struct vipl_nic *nic = arg;
	struct vipl_event ev;
	int r = 0;

	if (!nic->service.shared_files)
		leave_files(nic);
	while (r >= 0 && !atomic_load(&nic->service.stop)) {
		r = vipl_ops(&nic->obj)->event_wait(nic, &ev);
		if (r > 0 && ev.kind == VIPL_EVENT_ERROR)
			deliver(nic, &ev);
		else if (r > 0)
			vipl_notify_serve(nic, &ev);
		/* If the handler forked, the child has no NIC any more. */
		if (!atomic_load(&nic->obj.refs))
			return NULL;
	}
	if (atomic_load(&nic->service.closed_inside))
		vipl_nic_put(nic);
	return NULL;
}

static int spawn(struct vipl_nic *nic, int shared_files)
{
	sigset_t all, old;
	int err;

	nic->service.shared_files = shared_files;
	atomic_store(&nic->service.stop, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&nic->service.thread, NULL, service, nic);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -1;
	vipl_ref(&nic->obj);
	nic->service.running = 1;
	return 0;
}

static void stop(struct vipl_nic *nic, pthread_t thread)
{
	eventfd_t n;

	atomic_store(&nic->service.stop, 1);
	if (eventfd_write(nic->wake_fd, 1))
		return;
	pthread_join(thread, NULL);
	if (eventfd_read(nic->wake_fd, &n))
		return;
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
			stop(nic, s->thread);
		s->running = 0;
		r = spawn(nic, shared_files);
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
		stop(nic, s->thread);
		return;
	}
	atomic_store(&s->closed_inside, 1);
	atomic_store(&s->stop, 1);
	pthread_detach(s->thread);
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
			    VIP_ERROR_HANDLER Handler)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_SUCCESS;

	if (!nic)
		return VIP_INVALID_PARAMETER;
	vipl_lock(&nic->handler_lock);
	nic->handler.fn = Handler;
	nic->handler.context = Context;
	vipl_unlock(&nic->handler_lock);
	if (vipl_service_start(nic, Handler != NULL))
		r = VIP_ERROR_RESOURCE;
	vipl_nic_put(nic);
	return r;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Asynchronous errors: the program's handler, or a line on standard error. */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "msg.h"
#include "notify.h"
#include "service.h"

#define PEER_LEN	(sizeof(" to ") + 128)

/* " to 52:54:00:00:00:02", or nothing when that is not known. */
static void to_peer(struct vipl_nic *nic, VIP_VI_HANDLE h, char out[PEER_LEN])
{
	uint8_t host[VIPL_ADDR_MAX] = { 0 };
	unsigned int i, any = 0;

	out[0] = '\0';
	if (vipl_vi_find_peer(nic, h, host))
		return;
	for (i = 0; i < VIPL_ADDR_MAX; i++)
		any |= host[i];
	if (!any)
		return;
	strcpy(out, " to ");
	vipl_addr_format(nic, host, out + strlen(out), PEER_LEN - strlen(out));
}

/* One message to read. */
static void print_error(int fd, struct vipl_nic *nic,
			const VIP_ERROR_DESCRIPTOR *e)
{
	void *vi = e->ViHandle, *d = e->DescriptorPtr;
	char peer[PEER_LEN];
	const char *name = nic->id.name;

	switch (e->ErrorCode) {
	case VIP_ERROR_POST_DESC:
		vipl_msg_fd(fd, MSG_POST_DESC, name, d, vi);
		break;
	case VIP_ERROR_CONN_LOST:
		to_peer(nic, vi, peer);
		vipl_msg_fd(fd, MSG_CONN_LOST, name, vi, peer);
		break;
	case VIP_ERROR_RECVQ_EMPTY:
		vipl_msg_fd(fd, MSG_RECVQ_EMPTY, name, vi);
		break;
	case VIP_ERROR_VI_OVERRUN:
		vipl_msg_fd(fd, MSG_VI_OVERRUN, name, vi, d,
			    e->OpCode == 1 ? "receive" : "send");
		break;
	case VIP_ERROR_RDMAW_PROT:
	case VIP_ERROR_RDMAR_PROT:
		vipl_msg_fd(fd, MSG_RDMA_REFUSED, name, vi,
			    e->ErrorCode == VIP_ERROR_RDMAW_PROT ?
			    "Write" : "Read");
		break;
	case VIP_ERROR_CATASTROPHIC:
		vipl_msg_fd(fd, MSG_NIC_GONE, name);
		break;
	default:
		vipl_msg_fd(fd, MSG_ASYNC_ERROR, name, (int)e->ErrorCode);
	}
}

/*
 * The default handler: log. In a thread of its own file table standard error
 * is borrowed from the program for the length of one line, so that the
 * program's idea of what is open stays the only one.
 */
static void log_error(struct vipl_nic *nic, const VIP_ERROR_DESCRIPTOR *err)
{
	int fd = STDERR_FILENO, self = -1;

	if (!nic->service.shared_files) {
		self = (int)syscall(SYS_pidfd_open, getpid(), 0);
		fd = (int)syscall(SYS_pidfd_getfd, self, STDERR_FILENO, 0);
	}
	print_error(fd, nic, err);
	if (nic->service.shared_files)
		return;
	close(fd);
	close(self);
}

/* Returns 0, or -1 when the event speaks of something that is gone. */
static int describe_event(struct vipl_nic *nic, const struct vipl_event *ev,
			  VIP_ERROR_DESCRIPTOR *err)
{
	struct vipl_vi *vi;
	struct vipl_cq *cq;
	int gone;

	*err = (VIP_ERROR_DESCRIPTOR){
		.NicHandle = (VIP_NIC_HANDLE)vipl_obj_handle(&nic->obj,
							     VIPL_NIC),
		.DescriptorPtr = (VIP_DESCRIPTOR *)(uintptr_t)ev->desc,
		.OpCode = ev->opcode,
		.ResourceCode = (VIP_RESOURCE_CODE)ev->resource,
		.ErrorCode = (VIP_ERROR_CODE)ev->code,
	};
	err->ViHandle = ev->vi;
	err->CQHandle = ev->cq;
	/* An object that is live under the lock stays until it is unlocked. */
	vipl_lock(&nic->events.lock);
	vi = vipl_vi_lookup(ev->vi);
	cq = vipl_cq_lookup(ev->cq);
	gone = (ev->vi && (!vi || vi->obj.pub.nic != nic)) ||
	       (ev->cq && (!cq || cq->obj.pub.nic != nic));
	vipl_unlock(&nic->events.lock);
	return gone ? -1 : 0;
}

void vipl_error_deliver(struct vipl_nic *nic, const struct vipl_event *ev)
{
	VIP_ERROR_DESCRIPTOR err;
	struct vipl_handler h;

	if (describe_event(nic, ev, &err))
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

static VIP_RETURN error_callback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
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

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
			    VIP_ERROR_HANDLER Handler)
{
	return VIPL_CALL(error_callback(NicHandle, Context, Handler));
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Files that poll(), select() and epoll tell of events.
 *
 * VipExtCQArm empties the CQ's file, then asks the provider for an event,
 * which comes at once if there is a notice: so what is told after the file was
 * emptied is not missed. The event that a provider raises for it may serve
 * handlers of VipCQNotify too; each side looks for itself whether it is armed.
 */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ext.h"
#include "msg.h"
#include "service.h"
#include "sys.h"

static void empty_fd(_Atomic int *fd)
{
	uint64_t n;

	if (sys_read(atomic_load(fd), &n, sizeof(n)) < 0)
		return;
}

/* Keep off 0, 1 and 2: a program may reopen those behind our back. */
static int new_fd(unsigned int count)
{
	int fd = eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK), high;

	if (fd < 0 || fd > 2)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return high;
}

/* The one file that belongs there; -1: there is none to be had. */
static int get_fd(_Atomic int *fd, unsigned int count)
{
	int have = atomic_load(fd), made;

	if (have >= 0)
		return have;
	made = new_fd(count);
	if (made < 0)
		return -1;
	if (atomic_compare_exchange_strong_explicit(fd, &have, made,
						    memory_order_acq_rel,
						    memory_order_acquire))
		return made;
	/* Another thread was first. */
	close(made);
	return have;
}

/*
 * Where the service thread waits in the provider it has to share our files,
 * to write to the new one.
 */
static int start_service(struct vipl_nic *nic)
{
	return vipl_ops(&nic->obj)->event_wait ? vipl_service_start(nic, 1) : 0;
}

static VIP_RETURN with_fd(struct vipl_nic *nic, uint64_t feature,
			  _Atomic int *fd, unsigned int count, int *out)
{
	int n;

	if (!out)
		return VIP_INVALID_PARAMETER;
	if (!(nic->id.features & feature))
		return VIP_ERROR_NOT_SUPPORTED;
	n = start_service(nic) ? -1 : get_fd(fd, count);
	if (n < 0)
		return VIP_ERROR_RESOURCE;
	*out = n;
	return VIP_SUCCESS;
}

static VIP_RETURN ext_cq_get_fd(VIP_CQ_HANDLE CQHandle, int *Fd)
{
	struct vipl_cq *cq = vipl_cq_get(CQHandle);
	VIP_RETURN r;

	if (!cq)
		return VIP_INVALID_PARAMETER;
	r = with_fd(cq->obj.pub.nic, VIP_FEATURE_CQ_FD, &cq->fd, 0, Fd);
	vipl_cq_put(cq);
	return r;
}

VIP_RETURN VipExtCQGetFd(VIP_CQ_HANDLE CQHandle, int *Fd)
{
	return VIPL_CALL(ext_cq_get_fd(CQHandle, Fd));
}

/* The notify lock is held. */
static VIP_RETURN arm_cq_fd(struct vipl_cq *cq)
{
	VIP_RETURN r;

	empty_fd(&cq->fd);
	atomic_store(&cq->fd_armed, 1);
	r = vipl_ops(&cq->obj)->cq_notify(cq);
	if (r != VIP_SUCCESS)
		atomic_store(&cq->fd_armed, 0);
	return r;
}

static VIP_RETURN ext_cq_arm(VIP_CQ_HANDLE CQHandle)
{
	struct vipl_cq *cq = vipl_cq_get(CQHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!cq)
		return r;
	if (!(cq->obj.pub.nic->id.features & VIP_FEATURE_CQ_FD)) {
		r = VIP_ERROR_NOT_SUPPORTED;
	} else if (atomic_load(&cq->fd) >= 0) {
		vipl_lock(&cq->notify.lock);
		if (vipl_is_live(cq, CQHandle))
			r = arm_cq_fd(cq);
		vipl_unlock(&cq->notify.lock);
	}
	vipl_cq_put(cq);
	return r;
}

VIP_RETURN VipExtCQArm(VIP_CQ_HANDLE CQHandle)
{
	return VIPL_CALL(ext_cq_arm(CQHandle));
}

/*
 * Readable at first: what came before it was made is for the program to look
 * at.
 */
static VIP_RETURN ext_nic_get_fd(VIP_NIC_HANDLE NicHandle, int *Fd)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r;

	if (!nic)
		return VIP_INVALID_PARAMETER;
	r = with_fd(nic, VIP_FEATURE_NIC_FD, &nic->fd, 1, Fd);
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtNicGetFd(VIP_NIC_HANDLE NicHandle, int *Fd)
{
	return VIPL_CALL(ext_nic_get_fd(NicHandle, Fd));
}

static VIP_RETURN ext_nic_clear(VIP_NIC_HANDLE NicHandle)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;

	if (!nic)
		return r;
	if (!(nic->id.features & VIP_FEATURE_NIC_FD)) {
		r = VIP_ERROR_NOT_SUPPORTED;
	} else if (atomic_load(&nic->fd) >= 0) {
		empty_fd(&nic->fd);
		r = VIP_SUCCESS;
	}
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipExtNicClear(VIP_NIC_HANDLE NicHandle)
{
	return VIPL_CALL(ext_nic_clear(NicHandle));
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Calls of the agent, and what they say and map. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../../vipl/messages.h"
#include "../../vipl/sys.h"
#include "ka.h"

const struct vipl_host *ka_host;

/* An ioctl that signals do not end: 0, a verdict, or -1 with errno. */
int ka_ioctl(const struct ka_nic *nic, unsigned long cmd, void *arg)
{
	int ret;

	do {
		ret = ioctl(nic->fd, cmd, arg);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

/* An ioctl's result as the program's return code. */
VIP_RETURN ka_verdict(int ret)
{
	if (ret >= 0)
		return (VIP_RETURN)ret;
	switch (errno) {
	case ENOMEM:
	case ENOBUFS:
	case ENOSPC:
	case EMFILE:
	case ENODEV:
		return VIP_ERROR_RESOURCE;
	case ENOTTY:
		return VIP_ERROR_NOT_SUPPORTED;
	default:
		return VIP_INVALID_PARAMETER;
	}
}

VIP_RETURN ka_call(const struct ka_nic *nic, unsigned long cmd, void *arg)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	int ret = ka_ioctl(nic, cmd, arg);

	if (ret < 0 && errno == ENOTTY && !atomic_flag_test_and_set(&told)) {
		ka_host->msg(MSG_OLD_MODULES, _IOC_NR(cmd));
		errno = ENOTTY;
	}
	return ka_verdict(ret);
}

static int reserve_area(struct ka_area *area, size_t size)
{
	void *p;

	if (area->size >= size)
		return 0;
	/* A smaller one from another NIC stays as it is: it may be read. */
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -1;
	area->addr = p;
	area->size = size;
	return 0;
}

/* Map rings into an object's area. Returns their address, or NULL. */
void *ka_map(const struct ka_nic *nic, struct ka_area *area,
	     uint64_t offset, size_t size)
{
	void *p;

	if (reserve_area(area, size))
		return NULL;
	p = mmap(area->addr, size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, nic->fd, (off_t)offset);
	area->mapped = p != MAP_FAILED;
	return area->mapped ? p : NULL;
}

/* Give back the rings from there on; the rest stays mapped. */
void ka_unmap_from(struct ka_area *area, size_t from)
{
	/* Should it fail, they stay until the object goes. */
	if (area->mapped && from < area->size)
		mmap((char *)area->addr + from, area->size - from, PROT_READ,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

void ka_unmap(struct ka_area *area)
{
	void *p;

	if (!area->mapped)
		return;
	area->mapped = 0;
	p = mmap(area->addr, area->size, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != MAP_FAILED)
		return;
	munmap(area->addr, area->size);
	area->size = 0;
}

void ka_event_wake(struct vipl_nic *nic)
{
	const uint64_t one = 1;

	/* Full, or gone: then it is readable anyway. */
	if (sys_write(ka_nic_priv(nic)->wake_fd, &one, sizeof(one)) < 0)
		return;
}

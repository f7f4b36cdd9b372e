// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "abi.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

int abi_open(struct abi *a, const char *path)
{
	int ret;

	a->hello = (struct via_hello){ .abi = VIA_ABI_VERSION };
	a->fd = open(path, O_RDWR | O_CLOEXEC);
	if (a->fd < 0)
		return -errno;
	ret = abi_call(a->fd, VIA_IOC_HELLO, &a->hello);
	if (!ret) {
		a->ctl = abi_ctl(a->fd);
		if (a->ctl != MAP_FAILED)
			return 0;
		ret = -errno;
	}
	close(a->fd);
	return ret;
}

void abi_close(struct abi *a)
{
	munmap(a->ctl, sizeof(struct via_ctl));
	close(a->fd);
}

int abi_call(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	return ret < 0 ? -errno : ret;
}

int abi_id(int fd, unsigned long request, uint32_t id)
{
	struct via_vi_arg a = { .vi = id };

	return abi_call(fd, request, &a);
}

void *abi_ctl(int fd)
{
	return mmap(NULL, sizeof(struct via_ctl), PROT_READ, MAP_SHARED, fd,
		    VIA_MMAP_CTL);
}

void *abi_map(int fd, uint64_t size, uint64_t offset)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

int abi_vi_create(int fd, uint32_t level, uint32_t bytes, uint32_t *vi)
{
	struct via_vi_create v = { .attrs = { level, 0, bytes, 0 } };
	int ret = abi_call(fd, VIA_IOC_VI_CREATE, &v);

	*vi = v.vi;
	return ret;
}

int abi_register(int fd, const void *p, uint64_t len, uint32_t *handle)
{
	struct via_mem_register m = { .addr = (uintptr_t)p, .len = len };
	int ret = abi_call(fd, VIA_IOC_MEM_REGISTER, &m);

	*handle = m.handle;
	return ret;
}

int abi_deregister(int fd, const void *p, uint32_t handle)
{
	struct via_mem_deregister d = { .addr = (uintptr_t)p,
					.handle = handle };

	return abi_call(fd, VIA_IOC_MEM_DEREGISTER, &d);
}

int abi_result(int fd, uint32_t vi, uint32_t flags)
{
	struct via_conn_result r = { .vi = vi, .flags = flags };

	return abi_call(fd, VIA_IOC_CONN_RESULT, &r);
}

void abi_address(struct via_net_addr *a, const struct via_hello *hello,
		 const uint8_t *host, const char *disc)
{
	memset(a, 0, sizeof(*a));
	a->host_len = hello->addr_len;
	memcpy(a->host, host, sizeof(a->host));
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

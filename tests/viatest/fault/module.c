// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Modules that cannot be loaded, interfaces that cannot be attached. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "fault.h"

#define PARAMETERS "/sys/module/via_netdev/parameters/"

static int loaded(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

unsigned int fault_module(const char *path, const char *parameters)
{
	const char *base = strrchr(path, '/');
	unsigned int n, failed = 0, bad = 0;
	enum fault what = FAULT_MEMORY;
	char name[64];
	int ret, fd;

	snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
	*strchrnul(name, '.') = 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (n = fault_first; what != FAULT_NONE; n += fault_stride) {
		fault_arm(n);
		ret = syscall(SYS_finit_module, fd, parameters, 0);
		if (ret)
			ret = -errno;
		what = fault_disarm();
		failed += !!ret;
		if (ret ? what == FAULT_NONE || loaded(name) : !loaded(name)) {
			printf("viatest fault: %s: allocation %u: %d, and it is %sloaded\n",
			       name, n, ret, loaded(name) ? "" : "not ");
			bad++;
			break;
		}
		if (!ret && syscall(SYS_delete_module, name, O_NONBLOCK)) {
			printf("viatest fault: %s: allocation %u: it stays\n", name,
			       n);
			return bad + 1;
		}
	}
	printf("viatest fault: %s: %u allocations to load it, %u refused\n", name,
	       n - fault_stride, failed);
	close(fd);
	return bad;
}

static int attached(const char *interface)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/class/via/via_%s", interface);
	return !access(path, F_OK);
}

static int write_name(const char *file, const char *name)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);
	int ret = write(fd, name, strlen(name)) < 0 ? -errno : 0;

	close(fd);
	return ret;
}

unsigned int fault_attach(const char *interface)
{
	unsigned int n, failed = 0, bad = 0;
	enum fault what = FAULT_MEMORY;
	int ret;

	if (attached(interface))
		write_name(PARAMETERS "detach", interface);
	for (n = fault_first; what != FAULT_NONE; n += fault_stride) {
		fault_arm(n);
		ret = write_name(PARAMETERS "attach", interface);
		what = fault_disarm();
		failed += !!ret;
		if (ret ? what == FAULT_NONE || attached(interface) :
			  !attached(interface)) {
			printf("viatest fault: %s: allocation %u: %d, and it is %sattached\n",
			       interface, n, ret,
			       attached(interface) ? "" : "not ");
			bad++;
			break;
		}
		if (what != FAULT_NONE && !ret)
			write_name(PARAMETERS "detach", interface);
	}
	printf("viatest fault: %s: %u allocations to attach it, %u refused\n",
	       interface, n - fault_stride, failed);
	return bad;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Modules that cannot be loaded, interfaces that cannot be attached. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/netdev.h"
#include "fault.h"

struct subject {
	const char *name, *verb;
	char path[96];			/* that exists as long as it does */
	int (*make)(const struct subject *s);
	int (*undo)(const struct subject *s);
	bool stays;			/* once no allocation fails */
	int fd;				/* of a module */
	const char *parameters;
};

static bool is_there(const struct subject *s)
{
	return !access(s->path, F_OK);
}

static unsigned int each(const struct subject *s)
{
	unsigned int n, failed = 0, bad = 0;
	enum fault what = FAULT_MEMORY;
	int ret;

	for (n = fault_first; what != FAULT_NONE; n += fault_stride) {
		fault_arm(n);
		ret = s->make(s);
		what = fault_disarm();
		failed += !!ret;
		if (ret ? what == FAULT_NONE || is_there(s) : !is_there(s)) {
			printf("viatest fault: %s: allocation %u: %d, and it is %s%sed\n",
			       s->name, n, ret, is_there(s) ? "" : "not ",
			       s->verb);
			bad++;
			break;
		}
		if (ret || (s->stays && what == FAULT_NONE))
			continue;
		if (s->undo(s)) {
			printf("viatest fault: %s: allocation %u: it stays\n",
			       s->name, n);
			return bad + 1;
		}
	}
	printf("viatest fault: %s: %u allocations to %s it, %u refused\n",
	       s->name, n - fault_stride, s->verb, failed);
	return bad;
}

static int load(const struct subject *s)
{
	return syscall(SYS_finit_module, s->fd, s->parameters, 0) ? -errno : 0;
}

static int unload(const struct subject *s)
{
	return syscall(SYS_delete_module, s->name, O_NONBLOCK);
}

unsigned int fault_module(const char *path, const char *parameters)
{
	const char *base = strrchr(path, '/');
	struct subject s = { .verb = "load", .make = load, .undo = unload,
			     .parameters = parameters };
	unsigned int bad;
	char name[64];

	snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
	*strchrnul(name, '.') = 0;
	snprintf(s.path, sizeof(s.path), "/sys/module/%s", name);
	s.name = name;
	s.fd = open(path, O_RDONLY | O_CLOEXEC);
	bad = each(&s);
	close(s.fd);
	return bad;
}

/* Where there was no memory for the answer, what is there tells. */
static int attach(const struct subject *s)
{
	int ret = netdev_attach(s->name, true);

	return ret == -ENOBUFS && is_there(s) ? 0 : ret;
}

static int detach(const struct subject *s)
{
	return netdev_attach(s->name, false);
}

unsigned int fault_attach(const char *interface)
{
	struct subject s = { .name = interface, .verb = "attach",
			     .make = attach, .undo = detach, .stays = true };

	snprintf(s.path, sizeof(s.path), "/sys/class/via/via_%s", interface);
	if (is_there(&s))
		detach(&s);
	return each(&s);
}

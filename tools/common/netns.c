// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "msg.h"
#include "netns.h"

int netns_enter(const char *name)
{
	char path[256];
	int old, fd;

	if (!name)
		return -1;
	snprintf(path, sizeof(path), "%s%s",
		 strchr(name, '/') ? "" : "/var/run/netns/", name);
	old = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (old < 0 || fd < 0)
		die("no network namespace %s: %s\nip netns lists those that there are", path,
		    strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		die("cannot enter network namespace %s: %s", path,
		    strerror(errno));
	close(fd);
	return old;
}

void netns_leave(int cookie)
{
	if (cookie < 0)
		return;
	if (setns(cookie, CLONE_NEWNET))
		die("cannot return to the first network namespace: %s",
		    strerror(errno));
	close(cookie);
}

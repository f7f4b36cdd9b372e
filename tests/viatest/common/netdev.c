// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "netdev.h"
#include "common/msg.h"
#include "common/proc.h"
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

const char *netdev_of(const char *device)
{
	if (strncmp(device, "via_", 4) || !strcmp(device, "via_lo"))
		die("%s is on no interface", device);
	return device + 4;
}

int netdev_up(const char *name, bool up)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	struct ifreq r = { 0 };

	snprintf(r.ifr_name, IFNAMSIZ, "%s", name);
	rc = ioctl(fd, SIOCGIFFLAGS, &r);
	if (!rc) {
		r.ifr_flags = up ? r.ifr_flags | IFF_UP :
				   r.ifr_flags & ~IFF_UP;
		rc = ioctl(fd, SIOCSIFFLAGS, &r);
	}
	close(fd);
	return rc;
}

int netdev_attach(const char *device, bool on)
{
	return proc_write(on ? NETDEV "attach" : NETDEV "detach",
			  netdev_of(device));
}

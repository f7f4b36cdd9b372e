// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Addresses.  libfabric's are IPv4 addresses and ports; VIPL's are those of
 * NICs, and discriminators.
 *
 * A NIC of the kernel agent has the first IPv4 address of its interface; shm
 * and loopback, which reach this host alone, have any address of the host.
 * The port is the discriminator.  A UDP socket of that number, bound and never
 * read, makes it this process's until it ends.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fab.h"

#define CLASS_DIR	"/sys/class/via"
#define DISC		"via-fi"	/* before the port */

bool via_addr_ok(const void *addr, size_t len)
{
	const struct sockaddr_in *in = addr;

	return in && len >= sizeof(*in) && in->sin_family == AF_INET;
}

static bool is_loopback(struct in_addr ip)
{
	return ntohl(ip.s_addr) >> 24 == 127;
}

bool via_addr_is_local(struct in_addr ip)
{
	struct ifaddrs *all, *i;
	bool found = false;

	if (is_loopback(ip))
		return true;
	if (getifaddrs(&all))
		return false;
	for (i = all; i && !found; i = i->ifa_next)
		found = i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
			((struct sockaddr_in *)(void *)i->ifa_addr)
				->sin_addr.s_addr == ip.s_addr;
	freeifaddrs(all);
	return found;
}

/* The first address of an interface, or of any but loopback's (ifname NULL). */
static bool address_of(const struct ifaddrs *i, const char *ifname,
		       struct via_place *p)
{
	for (; i; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET ||
		    (ifname ? strcmp(i->ifa_name, ifname) :
			      !!(i->ifa_flags & IFF_LOOPBACK)))
			continue;
		p->ip = ((struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr;
		p->mask.s_addr = i->ifa_netmask ?
			((struct sockaddr_in *)(void *)i->ifa_netmask)
				->sin_addr.s_addr : INADDR_NONE;
		return true;
	}
	return false;
}

/* The interface of a node, by the kernel agent: it may be renamed since. */
static bool ifname_by_index(const char *node, char *out)
{
	char path[sizeof(CLASS_DIR "//ifindex") + VIA_NAME_MAX];
	unsigned int index = 0;
	FILE *f;

	snprintf(path, sizeof(path), CLASS_DIR "/%s/ifindex", node);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%u", &index) != 1)
		index = 0;
	fclose(f);
	return index && if_indextoname(index, out);
}

/*
 * "via_eth0", "via_eth0@4026532008": the node of an interface.  Where the agent
 * does not tell which one, as in a container without sysfs, it is that of the
 * node's name.
 */
static void ifname_of(const char *dev, char out[VIA_NAME_MAX])
{
	const char *slash = strrchr(dev, '/');
	size_t n;

	_Static_assert(IF_NAMESIZE <= VIA_NAME_MAX, "the name of an interface");
	dev = slash ? slash + 1 : dev;
	if (ifname_by_index(dev, out))
		return;
	if (!strncmp(dev, "via_", 4))
		dev += 4;
	n = strcspn(dev, "@");
	if (n >= VIA_NAME_MAX)
		n = VIA_NAME_MAX - 1;
	memcpy(out, dev, n);
	out[n] = '\0';
}

static int add_place(struct via_place *p, int n, int max, const char *dev,
		     const struct ifaddrs *all)
{
	char ifname[VIA_NAME_MAX];

	if (n == max || strlen(dev) >= sizeof(p->name))
		return n;
	p += n;
	strcpy(p->name, dev);
	ifname_of(dev, ifname);
	p->remote = !strchr(dev, ':') && strcmp(ifname, "lo");
	if (p->remote && !address_of(all, ifname, p)) {
		via_info(FI_LOG_CORE, "VI NIC %s: %s has no IPv4 address\n",
			 dev, ifname);
		return n;
	}
	if (!p->remote && !address_of(all, NULL, p))
		p->ip.s_addr = htonl(INADDR_LOOPBACK);
	return n + 1;
}

static int is_visible_entry(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int add_listed(struct via_place *p, int max, const struct ifaddrs *all)
{
	char *copy = strdup(via_param.devices), *save = NULL, *name;
	int n = 0;

	for (name = copy ? strtok_r(copy, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save))
		n = add_place(p, n, max, name, all);
	free(copy);
	return n;
}

/* NICs that reach other hosts, then this host's own. */
static int add_found(struct via_place *p, int max, const struct ifaddrs *all)
{
	struct dirent **list = NULL;
	int i, count = scandir(CLASS_DIR, &list, is_visible_entry,
			       versionsort), n = 0;
	bool lo = false;

	for (i = 0; i < count; i++) {
		if (!strcmp(list[i]->d_name, "via_lo"))
			lo = true;
		else
			n = add_place(p, n, max, list[i]->d_name, all);
		free(list[i]);
	}
	free(list);
	n = add_place(p, n, max, "shm:0", all);
	return lo ? add_place(p, n, max, "via_lo", all) : n;
}

int via_places(struct via_place *p, int max)
{
	struct ifaddrs *all = NULL;
	int n;

	if (getifaddrs(&all))
		return 0;
	n = via_param.devices ? add_listed(p, max, all) :
				add_found(p, max, all);
	freeifaddrs(all);
	return n;
}

/* The address of a VI NIC. */
int via_place_ip(const char *name, struct in_addr *ip)
{
	struct via_place p[VIA_PLACES];
	int n = via_places(p, VIA_PLACES);

	while (n && strcmp(p[n - 1].name, name))
		n--;
	if (!n)
		return -FI_ENODATA;
	*ip = p[n - 1].ip;
	return 0;
}

/* The VI NIC of the host that has an address.  May wait for the wire. */
int via_addr_host(struct via_nic *nic, struct in_addr ip, VIP_UINT8 host[32])
{
	char text[INET_ADDRSTRLEN];
	union via_net a = { 0 };
	VIP_RETURN r;

	memset(host, 0, 32);
	if (via_addr_is_local(ip)) {
		memcpy(host, nic->attr.LocalNicAddress,
		       nic->attr.NicAddressLen);
		return 0;
	}
	if (!(nic->features & VIP_FEATURE_REMOTE))
		return -FI_EHOSTUNREACH;
	inet_ntop(AF_INET, &ip, text, sizeof(text));
	r = VipNSInit(nic->h, NULL);
	a.a.HostAddressLen = 32;
	if (r == VIP_SUCCESS)
		r = VipNSGetHostByName(nic->h, text, &a.a, 0);
	if (r != VIP_SUCCESS) {
		via_warn(FI_LOG_EP_CTRL, "%s: no host %s: %s\n", nic->name,
			 text, VipExtReturnText(r));
		return -via_err_of(r);
	}
	memcpy(host, a.a.HostAddress, nic->attr.NicAddressLen);
	return 0;
}

int via_port_take(struct sockaddr_in *addr, int *out)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET,
		.sin_port = addr->sin_port,
	};
	socklen_t len = sizeof(any);
	int fd, least = 0, ret;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Nothing is read from it: nothing need be kept. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    getsockname(fd, (struct sockaddr *)&any, &len)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	addr->sin_port = any.sin_port;
	*out = fd;
	return 0;
}

void via_listen_addr(const struct via_nic *nic, const VIP_UINT8 *host,
		     uint16_t port, VIP_NET_ADDRESS *out)
{
	VIP_UINT8 *p = (VIP_UINT8 *)out + offsetof(VIP_NET_ADDRESS, HostAddress);

	out->HostAddressLen = nic->attr.NicAddressLen;
	out->DiscriminatorLen = sizeof(DISC) - 1 + sizeof(port);
	memcpy(p, host, out->HostAddressLen);
	p += out->HostAddressLen;
	memcpy(p, DISC, sizeof(DISC) - 1);
	memcpy(p + sizeof(DISC) - 1, &port, sizeof(port));
}

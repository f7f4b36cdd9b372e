// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The name service. A name is, in this order: a hardware address in writing,
 * an entry of the hosts file, this host itself, what the system's resolver and
 * neighbour table make of it, or a host on the wire that says that it is
 * called that. The first of these that knows any address has the say about
 * all of them. Files are read at every call: an edit needs no restart, and
 * there is no state to set up or to shut down.
 *
 * The loopback NIC reaches this host alone, at its own address. The hosts file
 * speaks of wires: what it has for a name of this host is an address of an
 * Ethernet interface, and stands for the loopback's own there.
 */
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hosts.h"
#include "neigh.h"
#include "provider.h"

#define NAME_MAX_LEN	256

static int own_name(char *name, size_t size)
{
	if (gethostname(name, size))
		return -1;
	name[size - 1] = '\0';
	return 0;
}

static int is_own_name(const char *name)
{
	char own[NAME_MAX_LEN];

	return !strcasecmp(name, "localhost") ||
	       (!own_name(own, sizeof(own)) && vipl_name_match(name, own));
}

static int same_ip(const struct sockaddr *a, const struct sockaddr *b)
{
	if (!a || a->sa_family != b->sa_family)
		return 0;
	if (a->sa_family == AF_INET)
		return !memcmp(&((const struct sockaddr_in *)a)->sin_addr,
			       &((const struct sockaddr_in *)b)->sin_addr, 4);
	if (a->sa_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       16);
	return 0;
}

static int is_own_ip(const struct sockaddr *ip)
{
	struct ifaddrs *all, *i;
	int own = 0;

	if (getifaddrs(&all))
		return 0;
	for (i = all; i && !own; i = i->ifa_next)
		own = same_ip(i->ifa_addr, ip);
	freeifaddrs(all);
	return own;
}

static int is_own_mac(const uint8_t mac[VIPL_MAC_LEN])
{
	const struct sockaddr_ll *ll;
	struct ifaddrs *all, *i;
	int own = 0;

	if (getifaddrs(&all))
		return 0;
	for (i = all; i && !own; i = i->ifa_next) {
		ll = (const struct sockaddr_ll *)i->ifa_addr;
		own = ll && ll->sll_family == AF_PACKET &&
		      ll->sll_halen == VIPL_MAC_LEN &&
		      !memcmp(ll->sll_addr, mac, VIPL_MAC_LEN);
	}
	freeifaddrs(all);
	return own;
}

/* A name that this host has, or that the hosts file gives to its interfaces. */
static int is_ours(const char *name)
{
	uint8_t mac[VIPL_MAC_LEN];
	unsigned long n;

	if (is_own_name(name))
		return 1;
	for (n = 0; !vipl_hosts_by_name(VIPL_HOSTS, name, n, mac); n++)
		if (is_own_mac(mac))
			return 1;
	return 0;
}

static int from_ip(const struct vipl_nic *nic, const struct addrinfo *ai,
		   uint8_t mac[VIPL_MAC_LEN])
{
	if (is_own_ip(ai->ai_addr)) {
		memcpy(mac, nic->addr, VIPL_MAC_LEN);
		return 0;
	}
	if (!nic->ifindex)
		return -1;
	return vipl_neigh_find(nic->ifindex, ai->ai_addr, ai->ai_addrlen, mac);
}

/*
 * The nth of the resolver's addresses that leads to a hardware address; else
 * minus (1 + the number of those that do).
 */
static int from_resolver(const struct vipl_nic *nic, const char *name,
			 unsigned long n, uint8_t mac[VIPL_MAC_LEN])
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	struct addrinfo *all, *ai;
	int found = 0, r = -1;

	if (getaddrinfo(name, NULL, &hints, &all))
		return -1;
	for (ai = all; ai && r; ai = ai->ai_next) {
		if (from_ip(nic, ai, mac))
			continue;
		if ((unsigned long)found++ == n)
			r = 0;
	}
	freeaddrinfo(all);
	return r ? -1 - found : 0;
}

/* What may be the name of a host, and so is worth a question. */
static int is_host_name(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
	size_t len = strlen(name);

	return len && len <= VIPL_NAME_MAX && strspn(name, good) == len;
}

static int by_host(const void *a, const void *b)
{
	const struct vipl_named *x = a, *y = b;

	return memcmp(x->host, y->host, sizeof(x->host));
}

static int from_wire(struct vipl_nic *nic, const char *name, unsigned long n,
		     uint8_t mac[VIPL_MAC_LEN])
{
	struct vipl_named found[VIPL_NAMED_MAX];
	uint32_t count = VIPL_NAMED_MAX;

	if (!is_host_name(name) ||
	    vipl_ops(&nic->obj)->name_query(nic, name, NULL, found, &count) !=
	    VIP_SUCCESS || n >= count)
		return -1;
	/* Answers come in any order; an index means the same each time. */
	qsort(found, count, sizeof(found[0]), by_host);
	memcpy(mac, found[n].host, VIPL_MAC_LEN);
	return 0;
}

static int by_name(struct vipl_nic *nic, const char *name,
		   unsigned long n, uint8_t mac[VIPL_MAC_LEN])
{
	int r;

	if (!vipl_mac_parse(name, mac))
		return n ? -1 : 0;
	if (!nic->ifindex && is_ours(name)) {
		memcpy(mac, nic->addr, VIPL_MAC_LEN);
		return n ? -1 : 0;
	}
	r = vipl_hosts_by_name(VIPL_HOSTS, name, n, mac);
	if (r != -1)
		return r;
	if (is_own_name(name)) {
		memcpy(mac, nic->addr, VIPL_MAC_LEN);
		return n ? -1 : 0;
	}
	r = from_resolver(nic, name, n, mac);
	return r == -1 ? from_wire(nic, name, n, mac) : r;
}

/* Its name in the system's resolver, by way of the neighbour table. */
static int name_of_neighbour(const struct vipl_nic *nic, const uint8_t *mac,
			     char *name, size_t size)
{
	struct sockaddr_storage ip;
	socklen_t len;

	if (!nic->ifindex || vipl_neigh_reverse(nic->ifindex, mac, &ip, &len))
		return -1;
	return getnameinfo((struct sockaddr *)&ip, len, name, size, NULL, 0,
			   NI_NAMEREQD) ? -1 : 0;
}

static int name_on_wire(struct vipl_nic *nic, const uint8_t *mac, char *name,
			size_t size)
{
	struct vipl_named found;
	uint32_t count = 1;

	if (vipl_ops(&nic->obj)->name_query(nic, NULL, mac, &found, &count) !=
	    VIP_SUCCESS || !count || !found.name[0] ||
	    strlen(found.name) >= size)
		return -1;
	strcpy(name, found.name);
	return 0;
}

static int by_addr(struct vipl_nic *nic, const uint8_t *mac, char *name,
		   size_t size)
{
	if (!vipl_hosts_by_addr(VIPL_HOSTS, mac, name, size))
		return 0;
	if (!memcmp(mac, nic->addr, VIPL_MAC_LEN))
		return own_name(name, size);
	if (!name_of_neighbour(nic, mac, name, size))
		return 0;
	return name_on_wire(nic, mac, name, size);
}

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID NSInitInfo)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);

	(void)NSInitInfo;
	if (!nic)
		return VIP_INVALID_PARAMETER;
	vipl_nic_put(nic);
	return VIP_SUCCESS;
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle)
{
	return VipNSInit(NicHandle, NULL);
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR *Name,
			      VIP_NET_ADDRESS *Address, VIP_ULONG NameIndex)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t mac[VIPL_MAC_LEN];

	if (!nic)
		return r;
	if (!Name || !Address)
		goto out;
	r = VIP_ERROR_NAMESERVICE;
	if (nic->addr_len != VIPL_MAC_LEN || by_name(nic, Name, NameIndex, mac))
		goto out;
	/* HostAddressLen on entry means nothing: old programs leave it 0. */
	Address->HostAddressLen = VIPL_MAC_LEN;
	memcpy((char *)Address + offsetof(VIP_NET_ADDRESS, HostAddress), mac,
	       VIPL_MAC_LEN);
	r = VIP_SUCCESS;
out:
	vipl_nic_put(nic);
	return r;
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle,
			      VIP_NET_ADDRESS *Address, VIP_CHAR *Name,
			      VIP_ULONG *NameLen)
{
	struct vipl_nic *nic = vipl_nic_get(NicHandle);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	uint8_t mac[VIPL_MAC_LEN];
	char name[NAME_MAX_LEN];
	VIP_ULONG need;

	if (!nic)
		return r;
	if (!Address || !Name || !NameLen ||
	    Address->HostAddressLen != nic->addr_len ||
	    nic->addr_len != VIPL_MAC_LEN)
		goto out;
	memcpy(mac, (char *)Address + offsetof(VIP_NET_ADDRESS, HostAddress),
	       VIPL_MAC_LEN);
	r = VIP_ERROR_NAMESERVICE;
	if (by_addr(nic, mac, name, sizeof(name)))
		goto out;
	/* Both ways the length counts the terminating zero. */
	need = strlen(name) + 1;
	r = *NameLen < need ? VIP_INVALID_PARAMETER : VIP_SUCCESS;
	*NameLen = need;
	if (r == VIP_SUCCESS)
		memcpy(Name, name, need);
out:
	vipl_nic_put(nic);
	return r;
}

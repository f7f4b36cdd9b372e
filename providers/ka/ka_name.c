// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Names of hosts. A name is, in this order: an entry of the hosts file, this
 * host itself, what the system's resolver and neighbour table make of it, or a
 * host on the wire that says that it is called that. The first of these that
 * knows any address has the say about all of them.
 *
 * A NIC in UDP/IP has the resolver's own addresses, of its family, and asks no
 * neighbour table and no wire.
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

#include "../../vipl/hosts.h"
#include "ka.h"
#include "ka_neigh.h"

static int is_udp(const struct ka_nic *nic)
{
	return nic->type == VIA_NIC_UDP;
}

static struct vipl_hosts hosts_of(struct vipl_nic *nic)
{
	uint32_t len = ka_nic_priv(nic)->addr_len;

	return (struct vipl_hosts) {
		.file = VIPL_HOSTS,
		.nic = nic,
		.parse = ka_addr_parse,
		.len = len,
		.example = len == KA_IPV4_LEN ? "192.0.2.1" :
			   len == KA_IPV6_LEN ? "2001:db8::1" :
						"52:54:00:00:00:01",
	};
}

/* Hosts on the wire of that name (NULL: any) and that address (NULL: any). */
static VIP_RETURN query_names(const struct ka_nic *nic, const char *name,
			      const uint8_t *host, struct vipl_named *out,
			      uint32_t *n)
{
	struct via_name_answer answers[VIPL_NAMED_MAX];
	struct via_name_query q = {
		.count = *n < VIPL_NAMED_MAX ? *n : VIPL_NAMED_MAX,
		.answers = (uintptr_t)answers,
	};
	VIP_RETURN r;
	uint32_t i;

	_Static_assert(VIPL_NAME_MAX == VIA_NAME_MAX, "name length");
	*n = 0;
	if (name && strlen(name) > VIA_NAME_MAX)
		return VIP_SUCCESS;
	if (name)
		strcpy(q.name, name);
	if (host) {
		memcpy(q.addr, host, nic->addr_len);
		q.addr_len = nic->addr_len;
	}
	r = ka_call(nic, VIA_IOC_NAME_QUERY, &q);
	if (r != VIP_SUCCESS)
		return r;
	for (i = 0; i < q.count; i++) {
		memset(out[i].host, 0, sizeof(out[i].host));
		memcpy(out[i].host, answers[i].addr,
		       sizeof(answers[i].addr));
		memcpy(out[i].name, answers[i].name, VIPL_NAME_MAX);
		out[i].name[VIPL_NAME_MAX] = '\0';
	}
	*n = q.count;
	return r;
}

VIP_RETURN ka_discover(struct vipl_nic *nic, struct vipl_named *out,
		       uint32_t *n)
{
	return query_names(ka_nic_priv(nic), NULL, NULL, out, n);
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

static int is_own_mac(const uint8_t mac[KA_MAC_LEN])
{
	const struct sockaddr_ll *ll;
	struct ifaddrs *all, *i;
	int own = 0;

	if (getifaddrs(&all))
		return 0;
	for (i = all; i && !own; i = i->ifa_next) {
		ll = (const struct sockaddr_ll *)i->ifa_addr;
		own = ll && ll->sll_family == AF_PACKET &&
		      ll->sll_halen == KA_MAC_LEN &&
		      !memcmp(ll->sll_addr, mac, KA_MAC_LEN);
	}
	freeifaddrs(all);
	return own;
}

/* An address of IP as a NIC in IP has it; -1: of another family. */
static int own_form(const struct ka_nic *nic, const struct sockaddr *ip,
		    uint8_t *host)
{
	if (nic->addr_len == KA_IPV4_LEN && ip->sa_family == AF_INET)
		memcpy(host, &((const struct sockaddr_in *)ip)->sin_addr,
		       KA_IPV4_LEN);
	else if (nic->addr_len == KA_IPV6_LEN && ip->sa_family == AF_INET6)
		memcpy(host, &((const struct sockaddr_in6 *)ip)->sin6_addr,
		       KA_IPV6_LEN);
	else
		return -1;
	return 0;
}

/* A name that this host has, or that the hosts file gives to its interfaces. */
static int is_ours(const struct vipl_hosts *hosts, const char *name)
{
	uint8_t mac[VIPL_ADDR_MAX];
	unsigned long n;

	if (vipl_is_own_name(name))
		return 1;
	for (n = 0; !vipl_hosts_by_name(hosts, name, n, mac); n++)
		if (is_own_mac(mac))
			return 1;
	return 0;
}

static int from_ip(const struct ka_nic *nic, const struct addrinfo *ai,
		   uint8_t *mac)
{
	if (is_udp(nic))
		return own_form(nic, ai->ai_addr, mac);
	if (is_own_ip(ai->ai_addr)) {
		memcpy(mac, nic->addr, KA_MAC_LEN);
		return 0;
	}
	if (!nic->ifindex)
		return -1;
	return ka_neigh_find(nic->ifindex, ai->ai_addr, ai->ai_addrlen, mac);
}

/*
 * The nth of the resolver's addresses that leads to a hardware address; else
 * minus (1 + the number of those that do).
 */
static int from_resolver(const struct ka_nic *nic, const char *name,
			 unsigned long n, uint8_t *mac)
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

/* A text that may be the name of a host, and so is worth a query? */
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

static int from_wire(const struct ka_nic *nic, const char *name,
		     unsigned long n, uint8_t *mac)
{
	struct vipl_named found[VIPL_NAMED_MAX];
	uint32_t count = VIPL_NAMED_MAX;

	if (!is_host_name(name) ||
	    query_names(nic, name, NULL, found, &count) !=
	    VIP_SUCCESS || n >= count)
		return -1;
	/* Answers come in any order; an index means the same each time. */
	qsort(found, count, sizeof(found[0]), by_host);
	memcpy(mac, found[n].host, nic->addr_len);
	return 0;
}

static int by_name(struct vipl_nic *handle, const char *name, unsigned long n,
		   uint8_t *mac)
{
	const struct ka_nic *nic = ka_nic_priv(handle);
	const struct vipl_hosts hosts = hosts_of(handle);
	int r;

	if (nic->type == VIA_NIC_LOOPBACK && is_ours(&hosts, name)) {
		memcpy(mac, nic->addr, nic->addr_len);
		return n ? -1 : 0;
	}
	r = vipl_hosts_by_name(&hosts, name, n, mac);
	if (r != -1)
		return r;
	if (vipl_is_own_name(name)) {
		memcpy(mac, nic->addr, nic->addr_len);
		return n ? -1 : 0;
	}
	r = from_resolver(nic, name, n, mac);
	return r == -1 && !is_udp(nic) ? from_wire(nic, name, n, mac) : r;
}

VIP_RETURN ka_resolve(struct vipl_nic *nic, const char *name, VIP_ULONG index,
		      uint8_t *host)
{
	return by_name(nic, name, index, host) ?
		VIP_ERROR_NAMESERVICE : VIP_SUCCESS;
}

/* The host's name in the system's resolver, by way of the neighbour table. */
static int name_of_neighbour(const struct ka_nic *nic, const uint8_t *mac,
			     char *name, size_t size)
{
	struct sockaddr_storage ip;
	socklen_t len;

	if (!nic->ifindex || ka_neigh_reverse(nic->ifindex, mac, &ip, &len))
		return -1;
	return getnameinfo((struct sockaddr *)&ip, len, name, size, NULL, 0,
			   NI_NAMEREQD) ? -1 : 0;
}

/* The resolver's name of an address of IP. */
static int name_of_ip(const struct ka_nic *nic, const uint8_t *host, char *name,
		      size_t size)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	const struct sockaddr *ip = (struct sockaddr *)&v6;
	socklen_t len = sizeof(v6);

	if (nic->addr_len == KA_IPV4_LEN) {
		memcpy(&v4.sin_addr, host, KA_IPV4_LEN);
		ip = (struct sockaddr *)&v4;
		len = sizeof(v4);
	} else {
		memcpy(&v6.sin6_addr, host, KA_IPV6_LEN);
	}
	return getnameinfo(ip, len, name, (socklen_t)size, NULL, 0,
			   NI_NAMEREQD) ? -1 : 0;
}

static int name_on_wire(const struct ka_nic *nic, const uint8_t *mac,
			char *name, size_t size)
{
	struct vipl_named found;
	uint32_t count = 1;

	if (query_names(nic, NULL, mac, &found, &count) !=
	    VIP_SUCCESS || !count || !found.name[0] ||
	    strlen(found.name) >= size)
		return -1;
	strcpy(name, found.name);
	return 0;
}

VIP_RETURN ka_name_of(struct vipl_nic *n, const uint8_t *host, char *name,
		      size_t size)
{
	const struct ka_nic *nic = ka_nic_priv(n);
	const struct vipl_hosts hosts = hosts_of(n);
	int r;

	r = vipl_hosts_by_addr(&hosts, host, name, size);
	if (r && !memcmp(host, nic->addr, nic->addr_len))
		r = vipl_own_name(name, size);
	else if (r && is_udp(nic))
		r = name_of_ip(nic, host, name, size) &&
		    name_on_wire(nic, host, name, size);
	else if (r)
		r = name_of_neighbour(nic, host, name, size) &&
		    name_on_wire(nic, host, name, size);
	return r ? VIP_ERROR_NAMESERVICE : VIP_SUCCESS;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../vipl/sys.h"
#include "addr.h"

_Static_assert(sizeof(struct ofi_host) == OFI_HOST_LEN, "no padding");

static void put_port(struct ofi_host *h, uint16_t port)
{
	h->port[0] = port >> 8;
	h->port[1] = port & 0xff;
}

uint16_t ofi_addr_port(const struct ofi_host *h)
{
	return (uint16_t)(h->port[0] << 8 | h->port[1]);
}

static int set_ipv4(struct ofi_host *h, const void *ip)
{
	h->version = 4;
	memcpy(h->ip, ip, 4);
	return 0;
}

static int set_ipv6(struct ofi_host *h, const struct sockaddr_in6 *in6)
{
	const struct in6_addr *ip = &in6->sin6_addr;
	uint32_t scope = htonl(in6->sin6_scope_id);

	if (IN6_IS_ADDR_V4MAPPED(ip))
		return set_ipv4(h, ip->s6_addr + 12);
	h->version = 6;
	memcpy(h->ip, ip, 16);
	/* An address that is not link-local means the same everywhere. */
	if (IN6_IS_ADDR_LINKLOCAL(ip))
		memcpy(h->scope, &scope, 4);
	return 0;
}

int ofi_addr_set(struct ofi_host *h, const struct sockaddr *sa, uint16_t port)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	memset(h, 0, sizeof(*h));
	put_port(h, port);
	switch (sa->sa_family) {
	case AF_INET:
		memcpy(&in, sa, sizeof(in));
		return set_ipv4(h, &in.sin_addr);
	case AF_INET6:
		memcpy(&in6, sa, sizeof(in6));
		return set_ipv6(h, &in6);
	}
	return -1;
}

static socklen_t get_ipv4(const struct ofi_host *h, struct sockaddr_storage *sa)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	memcpy(&in.sin_port, h->port, 2);
	memcpy(&in.sin_addr, h->ip, 4);
	memcpy(sa, &in, sizeof(in));
	return sizeof(in);
}

static socklen_t get_ipv6(const struct ofi_host *h, struct sockaddr_storage *sa)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	uint32_t scope;

	memcpy(&in6.sin6_port, h->port, 2);
	if (h->version == 4) {
		memset(in6.sin6_addr.s6_addr + 10, 0xff, 2);
		memcpy(in6.sin6_addr.s6_addr + 12, h->ip, 4);
	} else {
		memcpy(&in6.sin6_addr, h->ip, 16);
		memcpy(&scope, h->scope, 4);
		in6.sin6_scope_id = ntohl(scope);
	}
	memcpy(sa, &in6, sizeof(in6));
	return sizeof(in6);
}

socklen_t ofi_addr_get(const struct ofi_host *h, int family,
		       struct sockaddr_storage *sa)
{
	memset(sa, 0, sizeof(*sa));
	if (h->version != 4 && h->version != 6)
		return 0;
	if (family == AF_UNSPEC)
		family = h->version == 4 ? AF_INET : AF_INET6;
	if (family == AF_INET6)
		return get_ipv6(h, sa);
	return h->version == 4 ? get_ipv4(h, sa) : 0;
}

int ofi_addr_same_ip(const struct ofi_host *a, const struct ofi_host *b)
{
	return a->version == b->version &&
	       !memcmp(a->ip, b->ip, sizeof(a->ip)) &&
	       !memcmp(a->scope, b->scope, sizeof(a->scope));
}

int ofi_addr_is_loopback(const struct ofi_host *h)
{
	static const uint8_t one[16] = { [15] = 1 };

	return h->version == 4 ? h->ip[0] == 127 :
				 !memcmp(h->ip, one, sizeof(one));
}

int ofi_addr_is_link_local(const struct ofi_host *h)
{
	return h->version == 6 && h->ip[0] == 0xfe && (h->ip[1] & 0xc0) == 0x80;
}

int ofi_addr_is_any(const struct ofi_host *h)
{
	static const uint8_t zero[16];

	return !memcmp(h->ip, zero, sizeof(zero));
}

/*
 * Take a port off the end: "1.2.3.4:5", "[::1]:5". text is changed, and
 * begins with the address afterwards. -1: not a port.
 */
static int split_port(char **text, uint16_t *port)
{
	char *end, *colon, *stop;
	unsigned long n;

	if (**text == '[') {
		end = strchr(*text, ']');
		if (!end)
			return -1;
		*end = 0;
		(*text)++;
		if (!end[1])
			return 0;
		if (end[1] != ':')
			return -1;
		colon = end + 1;
	} else {
		colon = strchr(*text, ':');
		/* More than one: an address of IPv6 without a port. */
		if (!colon || strchr(colon + 1, ':'))
			return 0;
		*colon = 0;
	}
	if (colon[1] < '0' || colon[1] > '9')
		return -1;
	n = strtoul(colon + 1, &stop, 10);
	if (*stop || !n || n > 65535)
		return -1;
	*port = (uint16_t)n;
	return 0;
}

static int parse_ipv6(struct ofi_host *h, char *text, uint16_t port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	char *scope = strchr(text, '%'), *stop;

	if (scope) {
		*scope++ = 0;
		in6.sin6_scope_id = if_nametoindex(scope);
		if (!in6.sin6_scope_id && *scope >= '0' && *scope <= '9') {
			in6.sin6_scope_id = (uint32_t)strtoul(scope, &stop, 10);
			if (*stop)
				return -1;
		}
		if (!in6.sin6_scope_id)
			return -1;
	}
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
		return -1;
	return ofi_addr_set(h, (struct sockaddr *)&in6, port);
}

int ofi_addr_parse(struct ofi_host *h, const char *text, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	char copy[128], *p = copy;
	int bracket = *text == '[';

	if (strlen(text) >= sizeof(copy))
		return -1;
	strcpy(copy, text);
	if (split_port(&p, &port))
		return -1;
	if (!bracket && inet_pton(AF_INET, p, &in.sin_addr) == 1)
		return ofi_addr_set(h, (struct sockaddr *)&in, port);
	return parse_ipv6(h, p, port);
}

/* The shorter form comes first: text has 64 bytes at least. */
void ofi_addr_format(const struct ofi_host *h, uint16_t port, char *text,
		     size_t size)
{
	char ip[INET6_ADDRSTRLEN], name[IF_NAMESIZE + 1] = "%";
	uint32_t scope;

	memcpy(&scope, h->scope, 4);
	if (!inet_ntop(h->version == 4 ? AF_INET : AF_INET6, h->ip, ip,
		       sizeof(ip)))
		ip[0] = 0;
	if (!scope)
		name[0] = 0;
	else if (!if_indextoname(ntohl(scope), name + 1))
		snprintf(name + 1, sizeof(name) - 1, "%u",
			 (unsigned int)ntohl(scope));
	if (h->version == 4)
		snprintf(text, size, "%s", ip);
	else
		snprintf(text, size, "[%s%s]", ip, name);
	if (ofi_addr_port(h) != port)
		snprintf(text + strlen(text), size - strlen(text), ":%u",
			 ofi_addr_port(h));
}

int ofi_addr_resolve(struct ofi_host *h, const char *name, unsigned long index,
		     int family, uint16_t port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all, *a;
	char copy[NI_MAXHOST], *p = copy;
	int rc = -1;

	if (strlen(name) >= sizeof(copy) || !*name)
		return -1;
	strcpy(copy, name);
	if (split_port(&p, &port))
		return -1;
	hints.ai_family = family;
	if (getaddrinfo(p, NULL, &hints, &all))
		return -1;
	for (a = all; a && rc; a = a->ai_next)
		if (!ofi_addr_set(h, a->ai_addr, port) && !index--)
			rc = 0;
	freeaddrinfo(all);
	return rc;
}

int ofi_addr_name(const struct ofi_host *h, char *name, size_t size)
{
	struct sockaddr_storage sa;
	socklen_t len = ofi_addr_get(h, AF_UNSPEC, &sa);

	if (!len)
		return -1;
	return getnameinfo((struct sockaddr *)&sa, len, name, (socklen_t)size,
			   NULL, 0, NI_NAMEREQD) ? -1 : 0;
}

/* A bridge that has no ports leads to no other host. */
static int is_idle(const struct ifaddrs *i)
{
	char path[64 + IF_NAMESIZE];
	struct dirent *e;
	int ports = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/sys/class/net/%s/brif", i->ifa_name);
	d = opendir(path);
	if (!d)
		return !(i->ifa_flags & IFF_RUNNING);
	while ((e = readdir(d)))
		ports |= e->d_name[0] != '.';
	closedir(d);
	return !ports;
}

/* How well other hosts know an interface's address; 0: not at all. */
static int rank_address(const struct ifaddrs *i)
{
	const struct sockaddr_in6 *in6 = (const void *)i->ifa_addr;

	if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
		return 0;
	switch (i->ifa_addr->sa_family) {
	case AF_INET:
		if (i->ifa_flags & IFF_LOOPBACK)
			return 3;
		return is_idle(i) ? 5 : 7;
	case AF_INET6:
		if (i->ifa_flags & IFF_LOOPBACK)
			return 2;
		if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
			return 1;
		return is_idle(i) ? 4 : 6;
	}
	return 0;
}

/*
 * The address that packets to hosts elsewhere are from: the default route's.
 * None is sent; these are addresses of examples, which no host has.
 */
static int by_route(struct ofi_host *h, const char *elsewhere, uint16_t port)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct ofi_host to;
	int fd, rc = -1;

	if (ofi_addr_parse(&to, elsewhere, 9))
		return -1;
	len = ofi_addr_get(&to, AF_UNSPEC, &sa);
	fd = sys_socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (!syscall(SYS_connect, fd, &sa, len)) {
		len = sizeof(sa);
		if (!getsockname(fd, (struct sockaddr *)&sa, &len))
			rc = ofi_addr_set(&to, (struct sockaddr *)&sa, port);
	}
	close(fd);
	if (rc || ofi_addr_is_loopback(&to) || ofi_addr_is_link_local(&to))
		return -1;
	*h = to;
	return 0;
}

int ofi_addr_own(struct ofi_host *h, const char *interface, uint16_t port)
{
	struct ifaddrs *all, *i;
	int best = 0;

	if (!interface && (!by_route(h, "198.51.100.1", port) ||
			   !by_route(h, "2001:db8::1", port)))
		return 0;
	if (getifaddrs(&all))
		return -1;
	for (i = all; i; i = i->ifa_next) {
		if (interface && strcmp(i->ifa_name, interface))
			continue;
		if (rank_address(i) > best &&
		    !ofi_addr_set(h, i->ifa_addr, port))
			best = rank_address(i);
	}
	freeifaddrs(all);
	return best ? 0 : -1;
}

int ofi_addr_is_own(const struct ofi_host *h)
{
	struct ofi_host any_port = *h;
	struct sockaddr_storage sa;
	socklen_t len;
	int fd, own;

	put_port(&any_port, 0);
	len = ofi_addr_get(&any_port, AF_UNSPEC, &sa);
	if (!len || ofi_addr_is_any(h))
		return 0;
	fd = sys_socket(sa.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	own = !sys_bind(fd, &sa, len);
	close(fd);
	return own;
}

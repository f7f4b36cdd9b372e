/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef OFI_ADDR_H
#define OFI_ADDR_H

/*
 * Host addresses of this provider: an IP address and a port, at which all NIC
 * handles of a user on that host listen.
 *
 * In writing: 192.0.2.1, [2001:db8::1], 2001:db8::1, fe80::1%eth0; with
 * another port than the own one 192.0.2.1:28004, [2001:db8::1]:28004.
 */
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <vipl/provider.h>

#define OFI_HOST_LEN	24		/* bytes of a host address */

/* How it is laid out; network byte order, and zero what does not apply. */
struct ofi_host {
	uint8_t version;		/* 4 or 6 */
	uint8_t zero;
	uint8_t port[2];
	uint8_t ip[16];			/* IPv4: the first four */
	uint8_t scope[4];		/* IPv6, link-local: the interface */
};

/* 0, or -1 for what is no address of IP. IPv4 in IPv6 becomes IPv4. */
int ofi_addr_set(struct ofi_host *h, const struct sockaddr *sa, uint16_t port);
/*
 * The other way, for a socket of a family: AF_INET6 takes IPv4 as well, and
 * AF_UNSPEC gives each its own. The length, or 0 if that cannot be.
 */
socklen_t ofi_addr_get(const struct ofi_host *h, int family,
		       struct sockaddr_storage *sa);
uint16_t ofi_addr_port(const struct ofi_host *h);
int ofi_addr_same_ip(const struct ofi_host *a, const struct ofi_host *b);
int ofi_addr_is_loopback(const struct ofi_host *h);
int ofi_addr_is_link_local(const struct ofi_host *h);
int ofi_addr_is_any(const struct ofi_host *h);

/* port: where none is written. 0 or -1. */
int ofi_addr_parse(struct ofi_host *h, const char *text, uint16_t port);
/* port: the one that need not be written. */
void ofi_addr_format(const struct ofi_host *h, uint16_t port, char *text,
		     size_t size);
/* The index-th address of a name: 0 or -1. */
int ofi_addr_resolve(struct ofi_host *h, const char *name, unsigned long index,
		     int family, uint16_t port);
int ofi_addr_name(const struct ofi_host *h, char *name, size_t size);

/*
 * An address of this host: of that interface, or, if NULL, the one that other
 * hosts know it by: the default route's, an interface's, a bridge's without
 * ports, the loopback's. 0 or -1.
 */
int ofi_addr_own(struct ofi_host *h, const char *interface, uint16_t port);
/* One of this host's addresses? The loopback's are. */
int ofi_addr_is_own(const struct ofi_host *h);

#endif /* OFI_ADDR_H */

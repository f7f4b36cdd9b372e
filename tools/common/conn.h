/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TOOLS_CONN_H
#define TOOLS_CONN_H

#include <stdint.h>
#include <vipl.h>

#include "nic.h"

#define NET_ADDR_HOST	32
#define NET_ADDR_DISC	64

/* A VIP_NET_ADDRESS with room for everything. */
union net_addr {
	VIP_NET_ADDRESS	a;
	unsigned char	room[4 + NET_ADDR_HOST + NET_ADDR_DISC];
};

/* What a server learns of a request. */
struct conn_peer {
	union net_addr		addr;
	VIP_VI_ATTRIBUTES	attr;
	VIP_CONN_HANDLE		conn;
};

void net_addr_set(union net_addr *n, const void *host, unsigned int host_len,
		  const void *disc, unsigned int disc_len);

static inline const unsigned char *net_addr_disc(const union net_addr *n)
{
	return n->a.HostAddress + n->a.HostAddressLen;
}

/* The NIC's own address with a discriminator. */
void net_addr_local(union net_addr *n, const struct nic *nic,
		    const void *disc, unsigned int disc_len);

/* Look a host up: a name or an address. Ends the program if unknown. */
void net_addr_resolve(union net_addr *n, const struct nic *nic,
		      const char *host);

/* Wait for a request to a text discriminator; VIP_TIMEOUT is returned. */
VIP_RETURN conn_wait(const struct nic *nic, const char *disc,
		     uint32_t timeout_ms, struct conn_peer *peer);

/* The same, and accept it with vi: the first return code that is no success. */
VIP_RETURN conn_accept(const struct nic *nic, const char *disc,
		       VIP_VI_HANDLE vi, uint32_t timeout_ms);

/*
 * Connect vi to the text discriminator at host, whose tag is what the server
 * sees of us. While no server waits there yet, try again for some seconds.
 */
VIP_RETURN conn_request(const struct nic *nic, VIP_VI_HANDLE vi,
			const union net_addr *host, const char *disc,
			const void *tag, unsigned int tag_len,
			uint32_t patience_ms);

/* Ends the program: VIP_TIMEOUT or VIP_NOT_REACHABLE has come of a request. */
void conn_unanswered(const struct nic *nic, const char *host, VIP_RETURN rc)
	__attribute__((__noreturn__));

#endif

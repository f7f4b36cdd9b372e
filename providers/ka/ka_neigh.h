/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_KA_NEIGH_H
#define PROVIDERS_KA_NEIGH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "ka.h"

/*
 * The hardware address of an IP address, on one interface: from the kernel's
 * neighbour table, or by provoking the kernel to look for it. Returns 0, or
 * -1 when no answer comes within about a second.
 */
int ka_neigh_find(unsigned int ifindex, const struct sockaddr *ip,
		  socklen_t len, uint8_t mac[KA_MAC_LEN]);

/* The reverse, from the table only. ip has room for any address. */
int ka_neigh_reverse(unsigned int ifindex, const uint8_t mac[KA_MAC_LEN],
		     struct sockaddr_storage *ip, socklen_t *len);

#endif /* PROVIDERS_KA_NEIGH_H */

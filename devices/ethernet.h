/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ethernet below the class of packet networks, for the NIC modules whose frames
 * have its header: via_netdev and the native drivers.
 */
#ifndef _VIA_ETHERNET_H
#define _VIA_ETHERNET_H

#include <linux/etherdevice.h>
#include "ether/via_ether.h"
#include "ether/proto/wire.h"

/* The least bytes of a frame behind the header, nic->frame_min. */
#define VIA_ETHERNET_MIN	(ETH_ZLEN - ETH_HLEN)

static inline bool via_ethernet_valid(const struct via_ether_nic *nic,
				      const u8 *host)
{
	return is_valid_ether_addr(host);
}

/* The header to one host, or to all. */
static inline bool via_ethernet_link(struct via_ether_nic *nic,
				     struct via_ether_link *link,
				     const u8 *host, gfp_t gfp)
{
	struct ethhdr *eth = (struct ethhdr *)link->header;

	BUILD_BUG_ON(sizeof(*eth) > sizeof(link->header));
	if (host)
		memcpy(eth->h_dest, host, ETH_ALEN);
	else
		eth_broadcast_addr(eth->h_dest);
	memcpy(eth->h_source, nic->host.addr, ETH_ALEN);
	eth->h_proto = via_ether_proto();
	return true;
}

/* The NIC's own address, and what else is Ethernet's. */
static inline void via_ethernet_own(struct via_ether_nic *nic, const u8 *mac)
{
	via_host_set(&nic->host, mac, ETH_ALEN);
	nic->frame_min = VIA_ETHERNET_MIN;
}

/* Where a frame begins in room for it, behind its header: a few moves. */
static __always_inline u8 *
via_ethernet_begin(u8 *room, const struct via_ether_link *link, u32 len)
{
	if (len < VIA_ETHERNET_MIN) {
		/* Whatever the length, the padding is in here: two stores. */
		BUILD_BUG_ON(ETH_HLEN + VIA_WIRE_ACK_LEN < ETH_ZLEN - 16);
		memset(room + ETH_ZLEN - 16, 0, 16);
	}
	/* Two bytes more than it has, which the frame overwrites. */
	memcpy(room, link->header, sizeof(link->header));
	return room + ETH_HLEN;
}

#endif /* _VIA_ETHERNET_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What drivers of chips that cut packets share (TCP segmentation). */
#ifndef _VIA_NATIVE_CUT_H
#define _VIA_NATIVE_CUT_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <net/ip6_checksum.h>

/*
 * Of a packet that an e1000 or one after it cuts: every checksum but of what
 * differs between the pieces.
 */
static inline void via_native_cut_headers(const struct sk_buff *skb, u8 *data)
{
	struct iphdr *ip = (void *)data + skb_network_offset(skb);
	struct ipv6hdr *ip6 = (void *)ip;
	struct tcphdr *tcp = (void *)data + skb_transport_offset(skb);

	if (skb_shinfo(skb)->gso_type & SKB_GSO_TCPV4) {
		ip->tot_len = 0;
		ip->check = 0;
		tcp->check = ~csum_tcpudp_magic(ip->saddr, ip->daddr, 0,
						IPPROTO_TCP, 0);
	} else {
		ip6->payload_len = 0;
		tcp->check = ~csum_ipv6_magic(&ip6->saddr, &ip6->daddr, 0,
					      IPPROTO_TCP, 0);
	}
}

#endif /* _VIA_NATIVE_CUT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * IP's header and UDP's in front of a frame that is sent, and its way to IP, for
 * udp_send.c and udp_shape.c: inline, since each message passes through here.
 */
#ifndef _VIA_UDP_HEAD_H
#define _VIA_UDP_HEAD_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include "udp.h"

/* Datagrams that any path takes, bytes with IP's header. */
#define VIA_UDP_SHORT	552

/* Bytes of a train, with IP's header: what IP's own length can tell. */
#define VIA_UDP_TRAIN_BYTES	65535u

/* Does the device segment what is sent there, as @wants, and sum it? */
static __always_inline bool via_udp_segments(const struct dst_entry *dst,
					     netdev_features_t wants,
					     __be16 protocol)
{
	netdev_features_t features = READ_ONCE(dst->dev->features);

	wants |= NETIF_F_GSO | NETIF_F_SG;
	return (features & wants) == wants &&
	       can_checksum_protocol(features, protocol) && !dst_xfrm(dst) &&
	       !dst->lwtstate;
}

/* IP's header.  @whole: it goes in one piece. */
static __always_inline void
via_udp_ip_v4(struct via_udp *u, struct sk_buff *skb,
	      const struct dst_entry *dst, __be32 from, __be32 to, u8 protocol,
	      bool whole)
{
	struct iphdr *iph = __skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = INET_ECN_ECT_0;
	iph->frag_off = whole ? htons(IP_DF) : 0;
	iph->ttl = ip4_dst_hoplimit(dst);
	iph->protocol = protocol;
	iph->saddr = from;
	iph->daddr = to;
	iph->id = 0;
	if (unlikely(!whole))
		__ip_select_ident(u->net, iph, 1);
}

/*
 * UDP's checksum of what lies behind its header, and of that: by the device if
 * it can, else here, at once.
 */
static inline void via_udp_sum_v4(struct sk_buff *skb,
				  const struct dst_entry *dst,
				  __be32 from, __be32 to)
{
	struct udphdr *uh = udp_hdr(skb);
	u32 len = ntohs(uh->len);

	if (likely(dst->dev->features & NETIF_F_CSUM_MASK)) {
		/* As udp_set_csum() does where nothing is segmented yet. */
		skb->ip_summed = CHECKSUM_PARTIAL;
		skb->csum_start = skb_transport_header(skb) - skb->head;
		skb->csum_offset = offsetof(struct udphdr, check);
		uh->check = ~udp_v4_check(len, from, to, 0);
		return;
	}
	uh->check = 0;
	uh->check = udp_v4_check(len, from, to, csum_partial(uh, len, 0)) ?:
		    CSUM_MANGLED_0;
}

static __always_inline void
via_udp_head_v4(struct via_udp *u, struct sk_buff *skb,
		const struct dst_entry *dst, const struct via_ether_link *link,
		bool whole)
{
	__be32 from, to;

	memcpy(&from, u->nic->host.addr, sizeof(from));
	memcpy(&to, link->header, sizeof(to));
	via_udp_sum_v4(skb, dst, from, to);
	via_udp_ip_v4(u, skb, dst, from, to, IPPROTO_UDP, whole);
}

#if IS_ENABLED(CONFIG_IPV6)
static inline void via_udp_sum_v6(struct sk_buff *skb,
				  const struct dst_entry *dst,
				  const struct in6_addr *from,
				  const struct in6_addr *to)
{
	struct udphdr *uh = udp_hdr(skb);
	u32 len = ntohs(uh->len);

	if (likely(dst->dev->features & NETIF_F_CSUM_MASK))
		return udp6_set_csum(false, skb, from, to, len);
	uh->check = 0;
	uh->check = udp_v6_check(len, from, to, csum_partial(uh, len, 0)) ?:
		    CSUM_MANGLED_0;
}

static inline void via_udp_head_v6(struct via_udp *u, struct sk_buff *skb,
				   struct dst_entry *dst,
				   const struct via_ether_link *link)
{
	struct in6_addr from, to;
	struct ipv6hdr *ip6h;

	memcpy(&from, u->nic->host.addr, sizeof(from));
	memcpy(&to, link->header, sizeof(to));
	via_udp_sum_v6(skb, dst, &from, &to);
	ip6h = __skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, INET_ECN_ECT_0, 0);
	ip6h->payload_len = udp_hdr(skb)->len;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = ip6_dst_hoplimit(dst);
	ip6h->saddr = from;
	ip6h->daddr = to;
}
#endif

/* UDP's header and IP's in front of a frame. */
static __always_inline void
via_udp_put_headers(struct via_udp *u, struct sk_buff *skb,
		    struct dst_entry *dst, const struct via_ether_link *link,
		    __be16 port, bool whole)
{
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = port;
	uh->dest = u->port;
	uh->len = htons(skb->len);
	if (!u->v6)
		via_udp_head_v4(u, skb, dst, link, whole);
#if IS_ENABLED(CONFIG_IPV6)
	else
		via_udp_head_v6(u, skb, dst, link);
#endif
}

/* A packet with its IP header and its route is IP's. */
static inline void via_udp_hand_over(struct via_udp *u, struct sk_buff *skb)
{
	struct sock *sk = u->sock->sk;

	skb_set_owner_w(skb, sk);
	if (!u->v6)
		ip_local_out(u->net, sk, skb);
#if IS_ENABLED(CONFIG_IPV6)
	else
		ip6_local_out(u->net, sk, skb);
#endif
}

/* Does a datagram of that length go in one piece?  Few do not. */
static inline bool via_udp_fits_path(struct via_udp *u, struct via_udp_link *kept,
				     const struct dst_entry *dst, u32 len)
{
	u32 mtu;

	/* No path of IP has a smaller one: ip_rt_min_pmtu, RFC 8200. */
	if (len + via_udp_overhead(u) <= VIA_UDP_SHORT)
		return true;
	mtu = dst_mtu(dst);
	if (likely(kept))
		via_udp_compare_mtu(u, kept, mtu);
	return len + via_udp_overhead(u) <= mtu;
}

#endif /* _VIA_UDP_HEAD_H */

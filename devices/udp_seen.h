/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who else would see a packet that is taken before IP's protocols, for udp.c,
 * udp_recv.c and the files of TCP's shape: inline, since each passes through here.
 */
#ifndef _VIA_UDP_SEEN_H
#define _VIA_UDP_SEEN_H

#include <linux/netfilter_bridge.h>
#include <net/raw.h>
#include <net/rawv6.h>
#include <net/xfrm.h>
#include "udp.h"

/* Where the kernel keeps raw sockets that get packets of @protocol; NULL: not known. */
static inline const struct hlist_head *
via_udp_raw_sockets(const struct via_udp *u, u8 protocol)
{
	u32 at = raw_hashfunc(u->net, protocol);

	if (!u->v6)
		return &raw_v4_hashinfo.ht[at];
#if IS_BUILTIN(CONFIG_IPV6)
	return &raw_v6_hashinfo.ht[at];
#else
	return NULL;
#endif
}

/* Neither IPsec would want to see it, nor one of these raw sockets get it. */
static inline bool via_udp_is_unseen(const struct via_udp *u,
				     const struct hlist_head *raw,
				     struct sk_buff *skb)
{
#ifdef CONFIG_XFRM
	if (!__xfrm_check_nopolicy(u->net, skb, XFRM_POLICY_IN))
		return false;
#endif
	return raw && hlist_empty(raw);
}

/* A bridge asks the packet filter, and has hooks of its own behind that. */
static inline bool via_udp_of_bridge(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	return nf_bridge_info_exists(skb);
#else
	return false;
#endif
}

#endif /* _VIA_UDP_SEEN_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The MTU of paths: what routes say of it, and what frames that are lost say. */

#include <linux/skbuff.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include "../kernel/compat.h"
#include "udp.h"

/* The next smaller MTU that paths have; 0: there is none. */
static u32 narrower_mtu(const struct via_udp *u, u32 mtu)
{
	static const u16 usual[] = { 8192, 4352, 1500, IPV6_MIN_MTU, 576 };
	u32 i, most = ARRAY_SIZE(usual) - (u->v6 ? 1 : 0);

	for (i = 0; i < most; i++)
		if (usual[i] < mtu)
			return usual[i];
	return 0;
}

void via_udp_path_black_hole(struct via_ether_nic *nic,
			     const struct via_ether_link *link, u32 len)
{
	struct via_udp_link *kept = link->priv;

	if (kept)
		WRITE_ONCE(kept->black, len);
}

/*
 * A frame as long as those that the path drops: the kernel is told a smaller MTU
 * of the route to that host, as by an ICMP error, and forgets it after as long
 * (ip_rt_mtu_expires, 10 minutes).  This frame goes once more as it is; the next
 * one finds the new route.  @skb has its IP header.
 */
void via_udp_leave_black_hole(struct via_udp *u, struct sk_buff *skb,
			      struct via_udp_link *kept)
{
	struct dst_entry *dst = skb_dst(skb);
	u32 mtu = narrower_mtu(u, min(dst_mtu(dst), skb->len));

	if (skb->len < READ_ONCE(kept->black))
		return;
	WRITE_ONCE(kept->black, 0);
	if (!mtu)
		return;
	u->tx_black_hole++;
	skb->dev = dst->dev;
	skb_dst_update_pmtu_no_confirm(skb, mtu);
}

void via_udp_look_at_path(struct via_udp *u, struct via_udp_link *kept)
{
	struct dst_entry *dst = via_udp_route(u, kept);
	u32 mtu = dst ? dst_mtu(dst) : READ_ONCE(kept->mtu);

	if (mtu == READ_ONCE(kept->mtu))
		return;
	WRITE_ONCE(kept->mtu, mtu);
	via_ether_path(u->nic, kept->host, mtu - min(mtu, via_udp_overhead(u)));
}

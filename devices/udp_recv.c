// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receiving: the socket hands over each datagram, its checksum verified, in a
 * softirq.  A host is its address; from which port it sends is its own affair.
 *
 * IP looks up a route for each datagram, and UDP the socket.  A datagram of a
 * host that has a connection was routed before: a hook behind all others of the
 * packet filter gives it the route and the socket that the last one had, as IP
 * does for connected sockets ("early demux"), where it comes by the same
 * interface with the same mark, and IP says that the route still holds.  What
 * filters do, and when, stays the same.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "skb.h"
#include "udp.h"

#if IS_ENABLED(CONFIG_NETFILTER)
/*
 * Give it the route, if there is one.  Without a reference: RCU holds it until
 * the datagram is delivered.
 */
static void give_route(struct via_udp *u, struct sk_buff *skb, const u8 *host)
{
	struct via_udp_link *kept = via_udp_link_of(u, host);
	struct dst_entry *dst;

	if (!kept)
		return;
	dst = rcu_dereference(kept->in);
	if (unlikely(!dst || kept->in_ifindex != skb->dev->ifindex ||
		     kept->in_mark != skb->mark ||
		     !dst_check(dst, kept->in_cookie))) {
		WRITE_ONCE(u->learn, true);
		return;
	}
	skb_dst_set_noref(skb, dst);
	/* As bpf_sk_assign() does: the socket is freed by RCU. */
	skb->sk = u->sock->sk;
	skb->destructor = sock_pfree;
}

static bool at_our_port(const struct via_udp *u, const struct sk_buff *skb,
			u32 network)
{
	return skb_headlen(skb) >= network + sizeof(struct udphdr) &&
	       udp_hdr(skb)->dest == u->port && !skb_dst(skb) && !skb->sk;
}

static unsigned int known_v4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct via_udp *u = priv;

	if (iph->protocol == IPPROTO_UDP && iph->ihl == sizeof(*iph) / 4 &&
	    !ip_is_fragment(iph) &&
	    via_udp_same_host(u, &iph->daddr, u->nic->host.addr) &&
	    at_our_port(u, skb, sizeof(*iph)))
		give_route(u, skb, (const u8 *)&iph->saddr);
	return NF_ACCEPT;
}

static unsigned int known_v6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct via_udp *u = priv;

	if (ip6h->nexthdr == IPPROTO_UDP &&
	    via_udp_same_host(u, &ip6h->daddr, u->nic->host.addr) &&
	    at_our_port(u, skb, sizeof(*ip6h)))
		give_route(u, skb, (const u8 *)&ip6h->saddr);
	return NF_ACCEPT;
}

/* Without it datagrams are received all the same. */
void via_udp_hook(struct via_udp *u)
{
	u->hook.hook = u->v6 ? known_v6 : known_v4;
	u->hook.priv = u;
	u->hook.pf = u->v6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	u->hook.hooknum = NF_INET_PRE_ROUTING;
	u->hook.priority = INT_MAX;
	u->hooked = !nf_register_net_hook(u->net, &u->hook);
}

void via_udp_unhook(struct via_udp *u)
{
	if (u->hooked)
		nf_unregister_net_hook(u->net, &u->hook);
	u->hooked = false;
}
#else
void via_udp_hook(struct via_udp *u)
{
}

void via_udp_unhook(struct via_udp *u)
{
}
#endif

/* IP has routed it: those that follow from its host go the same way. */
static noinline void learn(struct via_udp *u, struct sk_buff *skb,
			   const u8 *host)
{
	struct dst_entry *dst = skb_dst(skb);
	struct via_udp_link *kept;

	WRITE_ONCE(u->learn, false);
	if (!dst || !skb->dev)
		return;
	spin_lock(&via_udp_links_lock);
	kept = via_udp_link_of(u, host);
	/* Closed ones are off the list, and get nothing any more. */
	if (kept && dst_hold_safe(dst)) {
		kept->in_ifindex = skb->dev->ifindex;
		kept->in_mark = skb->mark;
		via_udp_keep(&kept->in, &kept->in_cookie, dst, u->v6);
	}
	spin_unlock(&via_udp_links_lock);
}

int via_udp_rx(struct sock *sk, struct sk_buff *skb)
{
	struct via_udp *u = rcu_dereference_sk_user_data(sk);
	struct via_ether_frame f = {};
	u32 tos;

	/* Closing: the socket is not the NIC's any more. */
	if (unlikely(!u))
		goto out;
	if (u->v6) {
		f.src = (const u8 *)&ipv6_hdr(skb)->saddr;
		tos = ipv6_get_dsfield(ipv6_hdr(skb));
	} else {
		f.src = (const u8 *)&ip_hdr(skb)->saddr;
		tos = ip_hdr(skb)->tos;
	}
	if (unlikely(READ_ONCE(u->learn)))
		learn(u, skb, f.src);
	f.ce = INET_ECN_is_ce(tos);
	/* UDP has seen its header in a row. */
	__skb_pull(skb, sizeof(struct udphdr));
	f.len = skb->len;
	via_skb_rx(u->nic, skb, &f);
out:
	consume_skb(skb);
	return 0;
}

/*
 * An ICMP error quotes a datagram that was sent to the port of this NIC, from
 * one of its flows.  0: it is one of ours, and the kernel learns the path's MTU
 * from it.  Any host on the path may tell; another one has to know the id and
 * the cookie of a connection to that host, which the quote has.
 */
int via_udp_error(struct sock *sk, struct sk_buff *skb)
{
	struct via_udp *u = rcu_dereference_sk_user_data(sk);
	u32 at = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct via_wire w;
	struct via_udp_link *kept;
	u8 host[VIA_HOST_MAX];

	if (!u || skb_copy_bits(skb, at, &w, sizeof(w)))
		return -EINVAL;
	if (u->v6)
		memcpy(host, &ipv6_hdr(skb)->daddr, sizeof(struct in6_addr));
	else
		memcpy(host, &ip_hdr(skb)->daddr, sizeof(__be32));
	if (!via_ether_quotes(u->nic, host, &w, sizeof(w)))
		return -EINVAL;
	u->rx_quoted++;
	/* After this softirq, when the route has it. */
	kept = via_udp_link_of(u, host);
	if (kept)
		via_udp_look_soon(u, kept);
	return 0;
}

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
 *
 * Where nothing would see it on that way (no tap, no filter, no IPsec: early.h),
 * GRO hands it over before the stack, which costs 1,300 instructions of a short
 * message's 10,800.
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
#include <net/udp.h>
#include <net/xfrm.h>
#include "early.h"
#include "skb.h"
#include "udp.h"

static DEFINE_PER_CPU(struct via_early_order, order);

/*
 * The route of the last datagram of its host, where that came the same way and
 * the route still holds; NULL: IP routes this one, and it is learnt from.
 */
static struct dst_entry *route_of(struct via_udp *u, const struct sk_buff *skb,
				  const u8 *host)
{
	struct via_udp_link *kept = via_udp_link_of(u, host);
	struct dst_entry *dst;

	if (!kept)
		return NULL;
	dst = rcu_dereference(kept->in);
	if (likely(dst && kept->in_ifindex == skb->dev->ifindex &&
		   kept->in_mark == skb->mark &&
		   dst_check(dst, kept->in_cookie)))
		return dst;
	WRITE_ONCE(u->learn, true);
	return NULL;
}

#if IS_ENABLED(CONFIG_NETFILTER)
/*
 * Give it the route, if there is one.  Without a reference: RCU holds it until
 * the datagram is delivered.
 */
static void give_route(struct via_udp *u, struct sk_buff *skb, const u8 *host)
{
	struct dst_entry *dst = route_of(u, skb, host);

	if (!dst)
		return;
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

static void frame_begin(const struct via_udp *u, struct via_ether_frame *f,
			const struct sk_buff *skb)
{
	u32 tos;

	if (u->v6) {
		f->src = (const u8 *)&ipv6_hdr(skb)->saddr;
		tos = ipv6_get_dsfield(ipv6_hdr(skb));
	} else {
		f->src = (const u8 *)&ip_hdr(skb)->saddr;
		tos = ip_hdr(skb)->tos;
	}
	f->ce = INET_ECN_is_ce(tos);
}

int via_udp_rx(struct sock *sk, struct sk_buff *skb)
{
	struct via_udp *u = rcu_dereference_sk_user_data(sk);
	struct via_ether_frame f = {};

	via_early_delivered(&order);
	/* Closing: the socket is not the NIC's any more. */
	if (unlikely(!u))
		goto out;
	frame_begin(u, &f, skb);
	if (unlikely(READ_ONCE(u->learn)))
		learn(u, skb, f.src);
	/* UDP has seen its header in a row. */
	__skb_pull(skb, sizeof(struct udphdr));
	f.len = skb->len;
	via_skb_rx(u->nic, skb, &f);
out:
	consume_skb(skb);
	return 0;
}

/*
 * Before the stack: GRO has found the socket and verified the checksum.
 *
 * Do IP's and UDP's headers say what the kernel would demand?  @at: bytes of both.
 */
static bool early_headers_ok(const struct via_udp *u,
			     struct sk_buff *skb, u32 at)
{
	const struct udphdr *uh;
	u32 len = skb->len, ip;

	/*
	 * No options, no tunnel or tag in front, and all of it in a row: a
	 * driver may have left it in a page.
	 */
	if (at != via_udp_overhead(u) ||
	    (skb_headlen(skb) < at && !skb_gro_header_slow(skb, at, 0)))
		return false;
	ip = at - sizeof(*uh);
	if (u->v6) {
		if (ntohs(ipv6_hdr(skb)->payload_len) != len - ip ||
		    !via_udp_same_host(u, &ipv6_hdr(skb)->daddr,
				       u->nic->host.addr))
			return false;
	} else if (ntohs(ip_hdr(skb)->tot_len) != len ||
		   ip_is_fragment(ip_hdr(skb)) ||
		   !via_udp_same_host(u, &ip_hdr(skb)->daddr,
				      u->nic->host.addr)) {
		return false;
	}
	uh = (const struct udphdr *)(skb->data + ip);
	return ntohs(uh->len) == len - ip && uh->check;
}

#if IS_ENABLED(CONFIG_NETFILTER)
/* No hook of the packet filter is on the way but ours, which find routes. */
static bool early_unfiltered(const struct via_udp *u)
{
	struct nf_hook_entries __rcu * const *hooks = u->net->nf.hooks_ipv4;
	const struct nf_hook_entries *e;
	u32 i;

	if (u->v6)
		hooks = u->net->nf.hooks_ipv6;
	if (rcu_access_pointer(hooks[NF_INET_LOCAL_IN]))
		return false;
	e = rcu_dereference(hooks[NF_INET_PRE_ROUTING]);
	for (i = 0; e && i < e->num_hook_entries; i++)
		if (e->hooks[i].hook != known_v4 &&
		    e->hooks[i].hook != known_v6)
			return false;
	return true;
}
#else
static bool early_unfiltered(const struct via_udp *u)
{
	return true;
}
#endif

/* Would IPsec want to see it? */
static bool early_unsecured(const struct via_udp *u, struct sk_buff *skb)
{
#ifdef CONFIG_XFRM
	return __xfrm_check_nopolicy(u->net, skb, XFRM_POLICY_IN);
#else
	return true;
#endif
}

/* As IP and UDP count it.  @len: bytes with IP's header. */
static void early_count(struct via_udp *u, const struct sk_buff *skb, u32 len)
{
	struct netns_mib *mib = &u->net->mib;

	this_cpu_inc(*u->rx_early);
	if (!u->v6) {
		__IP_UPD_PO_STATS(u->net, IPSTATS_MIB_IN, len);
		__IP_INC_STATS(u->net, IPSTATS_MIB_NOECTPKTS +
			       (ip_hdr(skb)->tos & INET_ECN_MASK));
		__IP_INC_STATS(u->net, IPSTATS_MIB_INDELIVERS);
		__SNMP_INC_STATS(mib->udp_statistics, UDP_MIB_INDATAGRAMS);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *idev = __in6_dev_get(skb->dev);

	__IP6_UPD_PO_STATS(u->net, idev, IPSTATS_MIB_IN, len);
	__IP6_ADD_STATS(u->net, idev, IPSTATS_MIB_NOECTPKTS +
			(ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK), 1);
	__IP6_ADD_STATS(u->net, idev, IPSTATS_MIB_INDELIVERS, 1);
	__SNMP_INC_STATS(mib->udp_stats_in6, UDP_MIB_INDATAGRAMS);
#endif
}

struct sk_buff *via_udp_rx_early(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb)
{
	struct via_udp *u = rcu_dereference_sk_user_data(sk);
	u32 at = skb_gro_offset(skb);
	struct via_ether_frame f = {};

	if (unlikely(!u) || NAPI_GRO_CB(skb)->flush || !via_early_ok(skb) ||
	    via_early_follows(&order) ||
	    !early_headers_ok(u, skb, at) || !early_unfiltered(u) ||
	    !early_unsecured(u, skb))
		goto stack;
	frame_begin(u, &f, skb);
	if (unlikely(!route_of(u, skb, f.src)))
		goto stack;
	early_count(u, skb, skb->len);
	__skb_pull(skb, at);
	f.len = skb->len;
	via_skb_rx(u->nic, skb, &f);
	return via_early_taken(skb);
stack:
	via_early_passed(&order);
	return via_early_left(skb);
}

/*
 * Nothing is joined here.  What GRO has joined for another socket of that port
 * may come out of it when the port is ours: it is dropped.
 */
int via_udp_gro_complete(struct sock *sk, struct sk_buff *skb, int at)
{
	return -EINVAL;
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

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
 *
 * And where nothing would see it behind the hook, the hook hands it over itself.
 * So it does with datagrams that are joined (trains, udp_send.c), which UDP would
 * split: their frames are walked where they lie.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include "early.h"
#include "skb.h"
#include "udp.h"
#include "udp_seen.h"
#include "udp_shape.h"

/* Of what GRO did not take, and of what the hook did not. */
static DEFINE_PER_CPU(struct via_early_order, order);
static DEFINE_PER_CPU(struct via_early_order, hook_order);

/* More of one packet are split by the kernel: UDP_MAX_SEGMENTS, of 7.3. */
#define JOINED_MOST	128u

/*
 * The route of the last datagram of its host, where that came the same way and
 * the route still holds; NULL: IP routes this one, and it is learnt from.
 */
static __always_inline struct dst_entry *route_of(struct via_udp *u,
						  const struct sk_buff *skb,
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

/* IP has routed it: those that follow from its host go the same way. */
static noinline void learn_link(struct via_udp *u, struct sk_buff *skb,
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

	via_early_delivered(&order, 1);
	via_early_delivered(&hook_order, 1);
	/* Closing: the socket is not the NIC's any more. */
	if (unlikely(!u))
		goto out;
	frame_begin(u, &f, skb);
	if (unlikely(READ_ONCE(u->learn)))
		learn_link(u, skb, f.src);
	/* UDP has seen its header in a row. */
	__skb_pull(skb, sizeof(struct udphdr));
	f.len = skb->len;
	via_skb_rx(u->nic, skb, &f);
out:
	consume_skb(skb);
	return 0;
}

/* As IP and UDP count it when they deliver. */
static void count_delivered(struct via_udp *u, const struct sk_buff *skb,
			    u32 frames)
{
	struct netns_mib *mib = &u->net->mib;

	if (!u->v6) {
		__IP_INC_STATS(u->net, IPSTATS_MIB_INDELIVERS);
		__SNMP_ADD_STATS(mib->udp_statistics, UDP_MIB_INDATAGRAMS,
				 frames);
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	__IP6_ADD_STATS(u->net, __in6_dev_get(skb->dev),
			IPSTATS_MIB_INDELIVERS, 1);
	__SNMP_ADD_STATS(mib->udp_stats_in6, UDP_MIB_INDATAGRAMS, frames);
#endif
}

/* How many datagrams UDP will make of it. */
static u32 datagrams_in(const struct sk_buff *skb)
{
	return max_t(u32, skb_shinfo(skb)->gso_segs, 1);
}

#if IS_ENABLED(CONFIG_NETFILTER)
/*
 * Give it the route.  Without a reference: RCU holds it until the datagram is
 * delivered.
 */
static void give_route(struct via_udp *u, struct sk_buff *skb,
		       struct dst_entry *dst)
{
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

static nf_hookfn known_v4, known_v6, shaped_v4;

static bool is_ours(const struct nf_hook_entry *entry)
{
	return entry->hook == known_v4 || entry->hook == known_v6 ||
	       entry->hook == shaped_v4;
}

/* No hook of the packet filter is behind ours. */
static bool has_no_filter(const struct via_udp *u,
			  struct nf_hook_entries __rcu * const *hooks)
{
	const struct nf_hook_entries *e;
	u32 i;

	if (rcu_access_pointer(hooks[NF_INET_LOCAL_IN]))
		return false;
	e = rcu_dereference(hooks[NF_INET_PRE_ROUTING]);
	for (i = e->num_hook_entries; i && is_ours(&e->hooks[i - 1]); i--)
		if (e->hooks[i - 1].priv == u)
			return true;
	return false;
}

/*
 * Is the checksum right?  Verified before, or here, or not yet made since it never
 * left the machine.  @len: bytes from UDP's header on.
 */
static bool is_summed(const struct via_udp *u, const struct sk_buff *skb,
		      u32 len)
{
	__wsum sum;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return skb_checksum_start(skb) == skb_transport_header(skb) &&
		       skb->csum_offset == offsetof(struct udphdr, check);
	if (skb_is_gso(skb))
		return false;
	if (skb->ip_summed != CHECKSUM_NONE)
		return skb->ip_summed == CHECKSUM_UNNECESSARY;
	sum = skb_checksum(skb, skb_transport_offset(skb), len, 0);
	if (!u->v6)
		return !csum_tcpudp_magic(ip_hdr(skb)->saddr,
					  ip_hdr(skb)->daddr, len, IPPROTO_UDP,
					  sum);
	return !csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
				len, IPPROTO_UDP, sum);
}

/*
 * How many frames are in it, of skb_shinfo()->gso_size bytes where there are
 * more; 0: UDP is to judge it.  @at: bytes of headers.
 */
static u32 frames_in(const struct via_udp *u, const struct sk_buff *skb,
		     u32 at)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 len = skb->len - (at - sizeof(struct udphdr)), frames;

	if (ntohs(udp_hdr(skb)->len) != len || !udp_hdr(skb)->check ||
	    !is_summed(u, skb, len))
		return 0;
	if (!skb_is_gso(skb))
		return 1;
	/* Of a guest or a program it is not to be trusted. */
	if ((info->gso_type & ~SKB_GSO_DODGY) != SKB_GSO_UDP_L4 ||
	    !via_skb_walkable(skb, at, info->gso_size))
		return 0;
	frames = DIV_ROUND_UP(skb->len - at, info->gso_size);
	return frames <= JOINED_MOST ? frames : 0;
}

/*
 * Take a datagram of which the route is known, if nothing is behind the hook but
 * IP and UDP.  @at: bytes of headers.
 */
static bool take_datagram(struct via_udp *u, struct sk_buff *skb, u32 at)
{
	struct via_ether_frame f = {};
	u32 frames;

	if (skb->pkt_type != PACKET_HOST || via_udp_of_bridge(skb) ||
	    via_early_follows(&hook_order))
		return false;
	frames = frames_in(u, skb, at);
	if (!frames)
		return false;
	via_early_delivered(&order, frames);
	count_delivered(u, skb, frames);
	frame_begin(u, &f, skb);
	__skb_pull(skb, at);
	f.len = skb->len;
	if (skb_is_gso(skb)) {
		this_cpu_add(u->counts->rx_joined, frames);
		via_skb_rx_joined(u->nic, skb, &f, skb_shinfo(skb)->gso_size);
	} else {
		via_skb_rx(u->nic, skb, &f);
	}
	consume_skb(skb);
	return true;
}

/* A datagram for this NIC, from that host. */
static __always_inline u32 take_known(struct via_udp *u, struct sk_buff *skb,
				      const u8 *host,
				 struct nf_hook_entries __rcu * const *hooks)
{
	struct dst_entry *dst = route_of(u, skb, host);

	if (likely(has_no_filter(u, hooks) &&
		   via_udp_is_unseen(u, u->raw, skb))) {
		if (likely(dst && take_datagram(u, skb, via_udp_overhead(u))))
			return NF_STOLEN;
		/* Those behind it must not overtake it. */
		via_early_passed(&hook_order, datagrams_in(skb));
	}
	if (dst)
		give_route(u, skb, dst);
	return NF_ACCEPT;
}

static unsigned int known_v4(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct via_udp *u = priv;

	if (iph->protocol != IPPROTO_UDP || iph->ihl != sizeof(*iph) / 4 ||
	    ip_is_fragment(iph) ||
	    !via_udp_same_host(u, &iph->daddr, u->nic->host.addr) ||
	    !at_our_port(u, skb, sizeof(*iph)))
		return NF_ACCEPT;
	return take_known(u, skb, (const u8 *)&iph->saddr,
			  u->net->nf.hooks_ipv4);
}

static unsigned int known_v6(void *priv, struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	const struct ipv6hdr *ip6h = ipv6_hdr(skb);
	struct via_udp *u = priv;

	if (ip6h->nexthdr != IPPROTO_UDP ||
	    !via_udp_same_host(u, &ip6h->daddr, u->nic->host.addr) ||
	    !at_our_port(u, skb, sizeof(*ip6h)))
		return NF_ACCEPT;
	return take_known(u, skb, (const u8 *)&ip6h->saddr,
			  u->net->nf.hooks_ipv6);
}

static unsigned int shaped_v4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	const struct iphdr *iph = ip_hdr(skb);
	struct via_udp *u = priv;

	if (iph->protocol != IPPROTO_TCP || iph->ihl != sizeof(*iph) / 4 ||
	    ip_is_fragment(iph) ||
	    !via_udp_same_host(u, &iph->daddr, u->nic->host.addr) ||
	    !pskb_may_pull(skb, sizeof(*iph) + sizeof(struct tcphdr)) ||
	    (tcp_hdr(skb)->dest != u->port && tcp_hdr(skb)->source != u->port))
		return NF_ACCEPT;
	return u->shape->rx(u, skb, has_no_filter(u, u->net->nf.hooks_ipv4),
			    route_of(u, skb, (const u8 *)&ip_hdr(skb)->saddr));
}

static void hook_shape(struct via_udp *u)
{
	struct via_udp_shape *shape = u->shape;

	shape->hook = u->hook;
	shape->hook.hook = shaped_v4;
	shape->hooked = !nf_register_net_hook(u->net, &shape->hook);
}

/* Without it datagrams are received all the same. */
void via_udp_hook(struct via_udp *u)
{
	u->hook.hook = u->v6 ? known_v6 : known_v4;
	u->hook.priv = u;
	u->hook.pf = u->v6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	u->hook.hooknum = NF_INET_PRE_ROUTING;
	u->hook.priority = INT_MAX;
	if (u->shape)
		hook_shape(u);
	u->hooked = !nf_register_net_hook(u->net, &u->hook);
}

void via_udp_unhook(struct via_udp *u)
{
	if (u->hooked)
		nf_unregister_net_hook(u->net, &u->hook);
	u->hooked = false;
	if (u->shape && u->shape->hooked)
		nf_unregister_net_hook(u->net, &u->shape->hook);
}

/* No hook of the packet filter is on the way but ours, which find routes. */
bool via_udp_unfiltered(const struct via_udp *u)
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
		if (!is_ours(&e->hooks[i]))
			return false;
	return true;
}
#else
void via_udp_hook(struct via_udp *u)
{
}

void via_udp_unhook(struct via_udp *u)
{
}

bool via_udp_unfiltered(const struct via_udp *u)
{
	return true;
}
#endif

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

/* As IP and UDP count it.  @len: bytes with IP's header. */
static void early_count(struct via_udp *u, const struct sk_buff *skb, u32 len)
{
	this_cpu_inc(u->counts->rx_early);
	count_delivered(u, skb, 1);
	if (!u->v6) {
		__IP_UPD_PO_STATS(u->net, IPSTATS_MIB_IN, len);
		__IP_INC_STATS(u->net, IPSTATS_MIB_NOECTPKTS +
			       (ip_hdr(skb)->tos & INET_ECN_MASK));
		return;
	}
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *idev = __in6_dev_get(skb->dev);

	__IP6_UPD_PO_STATS(u->net, idev, IPSTATS_MIB_IN, len);
	__IP6_ADD_STATS(u->net, idev, IPSTATS_MIB_NOECTPKTS +
			(ipv6_get_dsfield(ipv6_hdr(skb)) & INET_ECN_MASK), 1);
#endif
}

/*
 * A train in TCP's shape may be in front of it, which GRO hands to the stack with the
 * rest of the driver's poll: where there have been some, there are likely more.
 */
static inline bool follows_shaped(const struct via_udp *u)
{
	return unlikely(u->shape) &&
	       time_before(jiffies, READ_ONCE(u->shape->taken) + HZ / 4);
}

struct sk_buff *via_udp_rx_early(struct sock *sk, struct list_head *head,
				 struct sk_buff *skb)
{
	struct via_udp *u = rcu_dereference_sk_user_data(sk);
	u32 at = skb_gro_offset(skb);
	struct via_ether_frame f = {};

	if (unlikely(!u) || NAPI_GRO_CB(skb)->flush || !via_early_ok(skb) ||
	    via_early_follows(&order) || follows_shaped(u) ||
	    !early_headers_ok(u, skb, at) || !via_udp_unfiltered(u) ||
	    !via_udp_is_unseen(u, u->raw, skb))
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
	via_early_passed(&order, datagrams_in(skb));
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

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receiving trains in TCP's shape (udp_shape.c): the hook behind all others of the packet
 * filter takes them, if nothing is behind it but IP and TCP.
 *
 * What it leaves TCP refuses, since no socket can have the port; and what it refuses of
 * ours it has checked before.
 */

#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/tcp.h>
#include "ether/proto/shape.h"
#include "udp_seen.h"
#include "udp_shape.h"

#define IP_HDR		((u32)sizeof(struct iphdr))

/* A train's headers, and pieces of its payload. */
#define PIECES		(1 + VIA_WIRE_TRAIN)

/**
 * struct pieces - where a packet's payload lies, and the headers in front
 * @n:		how many there are
 * @chunk:	each
 */
struct pieces {
	u32 n;
	struct via_ether_chunk chunk[PIECES];
};

static bool add_piece(struct pieces *p, const void *data, u32 len)
{
	if (!len)
		return true;
	if (p->n == PIECES)
		return false;
	p->chunk[p->n].data = data;
	p->chunk[p->n++].len = len;
	return true;
}

/* What @skb has itself, but for its first @at bytes, which lie in a row. */
static bool add_own(struct pieces *p, const struct sk_buff *skb, u32 at)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 i;

	if (!add_piece(p, skb->data + at, skb_headlen(skb) - at))
		return false;
	for (i = 0; i < info->nr_frags; i++)
		if (!add_piece(p, skb_frag_address(&info->frags[i]),
			       skb_frag_size(&info->frags[i])))
			return false;
	return true;
}

/* False: too many, or without plain addresses. */
static bool find_pieces(struct pieces *p, const struct sk_buff *skb, u32 at)
{
	const struct sk_buff *part;

	if (IS_ENABLED(CONFIG_HIGHMEM) || !add_own(p, skb, at))
		return false;
	skb_walk_frags(skb, part)
		if (skb_has_frag_list(part) || !add_own(p, part, 0))
			return false;
	return true;
}

/* Verified before, or here, or not yet made since it never left the machine. */
static bool is_summed(const struct sk_buff *skb)
{
	u32 len = skb->len - IP_HDR;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		return skb_checksum_start(skb) == skb_transport_header(skb) &&
		       skb->csum_offset == offsetof(struct tcphdr, check);
	if (skb->ip_summed == CHECKSUM_UNNECESSARY)
		return true;
	return !skb_is_gso(skb) &&
	       !csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, len,
				  IPPROTO_TCP,
				  skb_checksum(skb, IP_HDR, len, 0));
}

/* Bytes of each packet that was joined; 0: it is one.  False: it is not ours. */
static bool joined_of(const struct sk_buff *skb, u32 *each)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	u32 plain = SKB_GSO_DODGY | SKB_GSO_TCP_FIXEDID;

	*each = 0;
	if (!skb_is_gso(skb))
		return true;
	*each = info->gso_size;
	return (info->gso_type & ~plain) == SKB_GSO_TCPV4;
}

/* As IP and TCP count it when they deliver. */
static void count_delivered(struct via_udp *u, u32 packets)
{
	__IP_INC_STATS(u->net, IPSTATS_MIB_INDELIVERS);
	__SNMP_ADD_STATS(u->net->mib.tcp_statistics, TCP_MIB_INSEGS, packets);
}

static noinline void take_train(struct via_udp *u, struct sk_buff *skb,
				const struct via_shape *s, u32 at)
{
	struct via_ether_frame f = {};
	struct pieces p __uninitialized;

	p.n = 0;
	add_piece(&p, s->head, sizeof(s->head));
	if (unlikely(!find_pieces(&p, skb, at))) {
		/* No one else holds it. */
		if (skb_linearize(skb))
			return;
		p.n = 1;
		add_piece(&p, skb->data + at, skb->len - at);
	}
	f.src = (const u8 *)&ip_hdr(skb)->saddr;
	f.ce = INET_ECN_is_ce(ip_hdr(skb)->tos);
	f.hdr = s->head;
	f.len = sizeof(s->head) + skb->len - at;
	f.train = s->frames > 1 ? s->seg : 0;
	f.nchunks = p.n;
	f.chunk = p.chunk;
	via_ether_rx(u->nic, &f);
}

/* It is in the shape, of a host that was told that it is taken. */
static unsigned int take_shaped(struct via_udp *u, struct via_udp_link *kept,
				struct sk_buff *skb, bool routed)
{
	const struct via_shape_tcp *t = (const void *)tcp_hdr(skb);
	u32 at = IP_HDR + VIA_SHAPE_HDR, each;
	struct via_shape s __uninitialized;

	if (!joined_of(skb, &each) || !is_summed(skb))
		return NF_ACCEPT;
	/* A datagram shows the route: what is lost is sent again as one. */
	if (!routed)
		goto lost;
	switch (via_shape_parse(t, skb->len - at, each, &s)) {
	case VIA_SHAPE_IS_TRAIN:
		break;
	case VIA_SHAPE_IS_PROBE:
		count_delivered(u, 1);
		via_udp_shape_probed(u, kept, be64_to_cpu(t->cookie));
		goto taken;
	case VIA_SHAPE_IS_EMPTY:
		goto taken;
	default:
		goto lost;
	}
	WRITE_ONCE(u->shape->taken, jiffies);
	count_delivered(u, s.frames);
	this_cpu_add(u->counts->rx_shaped, s.frames);
	take_train(u, skb, &s, at);
taken:
	consume_skb(skb);
	return NF_STOLEN;
lost:
	this_cpu_inc(u->counts->rx_misshaped);
	return NF_DROP;
}

unsigned int via_udp_shape_rx(struct via_udp *u, struct sk_buff *skb, bool open,
			      bool routed)
{
	struct via_udp_link *kept;
	const struct tcphdr *th = tcp_hdr(skb);

	/* TCP itself has no use for them either; one with ACK answers no packet of ours. */
	if (th->rst && !th->ack && th->source == u->port) {
		kept = via_udp_link_of(u, (const u8 *)&ip_hdr(skb)->saddr);
		if (kept)
			via_udp_shape_refused(u, kept, be32_to_cpu(th->seq));
		return NF_ACCEPT;
	}
	if (th->dest != u->port || skb_dst(skb) || skb->sk ||
	    !pskb_may_pull(skb, IP_HDR + VIA_SHAPE_HDR) ||
	    !via_shape_is_ours((const void *)tcp_hdr(skb)))
		return NF_ACCEPT;
	kept = via_udp_link_of(u, (const u8 *)&ip_hdr(skb)->saddr);
	if (!kept || !READ_ONCE(kept->from.granted) ||
	    skb->pkt_type != PACKET_HOST || via_udp_of_bridge(skb))
		return NF_ACCEPT;
	if (unlikely(!open || !via_udp_is_unseen(u, u->shape->raw, skb))) {
		via_udp_shape_stop(u, kept);
		return NF_ACCEPT;
	}
	return take_shaped(u, kept, skb, routed);
}

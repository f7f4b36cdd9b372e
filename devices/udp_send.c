// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sending: a frame is a datagram that takes IP's way, through its routes, its
 * filters and the queueing disciplines.
 *
 * The headers are written here, since the helpers for tunnels look up more than
 * is needed for a packet that may not be fragmented.
 *
 * A frame belongs to the NIC's socket until it leaves the local queues, as TCP's
 * do: with more than VIA_UDP_QUEUED bytes there the NIC is full, and what was
 * sent is not dropped behind the back of the window.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>
#include "../kernel/compat.h"
#include "ether/proto/wire.h"
#include "pages.h"
#include "udp.h"
#include "udp_head.h"

/*
 * In front of a frame: what an Ethernet device wants, and a tunnel to which a
 * discipline's filter sends it, IP's header, UDP's.  IP makes room where a device
 * wants more, but of a train only in front of the first frame.
 */
#define HEADROOM	(144 + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/* Paths looked at in one run of the tasklet: a route is looked up for each. */
#define LOOKS		64u

/* Frames of a train that a device takes whole: as many as of UDP_SEGMENT, 6.1. */
#define WHOLE_FRAMES	64u

/**
 * struct sending - between tx_get() and IP, in the frame
 * @link:	where it goes
 * @tail:	of the first frame of a train: the last one, or NULL: no other
 * @each:	of a train: bytes of UDP's payload that each has but the last one
 * @frames:	likewise: how many there are
 * @open:	likewise: one more may join
 * @whole:	likewise: the device takes it as it is
 * @bytes:	of one that it takes: at most so many, headers not counted
 * @most:	likewise: at most so many frames
 */
struct sending {
	const struct via_ether_link *link;
	struct sk_buff *tail;
	u32 each;
	u32 frames;
	bool open;
	bool whole;
	u32 bytes;
	u32 most;
};

static struct sending *sending_of(struct sk_buff *skb)
{
	return (struct sending *)skb->cb;
}

/* The queues are full: the socket says when they are not. */
static noinline bool is_tx_full(struct via_udp *u)
{
	WRITE_ONCE(u->full, true);
	/* Pairs with the one in via_udp_write_space(). */
	smp_mb();
	return !via_udp_has_room(u);
}

/* As udp_flow_src_port(): switches and cards spread flows by it. */
static __be16 source_port(u32 flow)
{
	return htons(VIA_UDP_FLOWS + (flow * 0x9e3779b1u >> 18));
}

bool via_udp_tx_begin(struct via_ether_nic *nic, struct via_ether_tx *tx,
		      u32 flow)
{
	tx->queue = (void *)(__force unsigned long)source_port(flow);
	tx->last = NULL;
	return true;
}

DEFINE_PER_CPU(struct via_pages, via_udp_pages);

/* No frame is sent any more. */
void via_udp_pages_end(void)
{
	via_pages_end(&via_udp_pages);
}

/*
 * A frame that was sent before its path became narrower is sent again as it
 * was, in fragments: it has its number for good.
 */
static __always_inline void send_frame(struct via_udp *u, struct sk_buff *skb,
				       struct dst_entry *dst, __be16 port)
{
	const struct via_ether_link *link = sending_of(skb)->link;
	struct via_udp_link *kept = link->priv;
	bool whole = via_udp_fits_path(u, kept, dst, skb->len);

	/* All of it is IP's from here on. */
	sending_of(skb)->link = NULL;
	if (likely(kept))
		skb_dst_set_noref(skb, dst);
	else
		skb_dst_set(skb, dst);
	if (unlikely(!whole))
		skb->ignore_df = 1;
	via_udp_put_headers(u, skb, dst, link, port, whole);
	if (via_udp_is_black_hole(kept))
		via_udp_leave_black_hole(u, skb, kept);
	via_udp_hand_over(u, skb);
}

/* Where to it goes.  Without a route it is lost. */
static __always_inline struct dst_entry *route_frame(struct via_udp *u,
						     struct sk_buff *skb)
{
	const struct via_ether_link *link = sending_of(skb)->link;
	struct via_udp_link *kept = link->priv;
	struct dst_entry *dst;

	dst = likely(kept) ? via_udp_route(u, kept) : via_udp_look_up(u, link->header);
	if (unlikely(!dst)) {
		u->tx_lost++;
		kfree_skb(skb);
	}
	return dst;
}

/*
 * Trains.  Frames of a burst that are as long as one another, and a shorter one
 * behind them, pass IP and the queueing discipline as one packet: a list of
 * frames, each complete (SKB_GSO_FRAGLIST, as forwarding makes them of what it
 * has received), which the kernel takes apart in front of the driver.  Nothing
 * is copied, and the driver is told that more frames follow.
 *
 * A rule that writes into headers would change the first frame only, and one at
 * the device may send it elsewhere: with such rules frames go one by one.  So
 * they do where the device could take a train as it is: those are virtual, and
 * what is below may be a tunnel that has no room in front of the frames behind
 * the first, or want checksums.
 *
 * The first frame accounts for the memory of all: the kernel does not give back
 * what the others would own.
 */
#if IS_ENABLED(CONFIG_NETFILTER)
/*
 * May one of them write into headers?  nft's chains and programs may, and of
 * iptables the table mangle; connection tracking and security modules do not,
 * and the kernel gives a translated address to all frames.
 */
static bool writes_datagrams(const struct nf_hook_entries *e)
{
	struct nf_hook_ops **ops;
	u32 i;

	if (!e)
		return false;
	ops = nf_hook_entries_get_hook_ops(e);
	for (i = 0; i < e->num_hook_entries; i++)
		if (ops[i]->hook_ops_type != NF_HOOK_OP_UNDEFINED ||
		    ops[i]->priority == NF_IP_PRI_MANGLE)
			return true;
	return false;
}
#endif

static bool has_rules(const struct via_udp *u, const struct net_device *dev)
{
#if IS_ENABLED(CONFIG_NETFILTER)
	struct nf_hook_entries __rcu * const *hooks = u->net->nf.hooks_ipv4;

	if (u->v6)
		hooks = u->net->nf.hooks_ipv6;
	if (writes_datagrams(rcu_dereference_check(hooks[NF_INET_LOCAL_OUT],
						   rcu_read_lock_bh_held())) ||
	    writes_datagrams(rcu_dereference_check(hooks[NF_INET_POST_ROUTING],
						   rcu_read_lock_bh_held())))
		return true;
#endif
#ifdef CONFIG_NETFILTER_EGRESS
	if (rcu_access_pointer(dev->nf_hooks_egress))
		return true;
#endif
	return via_tc_egress(dev);
}

static bool takes_trains(const struct via_udp *u, const struct dst_entry *dst)
{
	const struct net_device *dev = dst->dev;
	netdev_features_t features = READ_ONCE(dev->features);

	/* An administrator may have turned it off; without SG it always is. */
	if (!(features & NETIF_F_GSO) && features & NETIF_F_SG)
		return false;
	return !(features & NETIF_F_GSO_FRAGLIST) && !dst_xfrm(dst) &&
	       !dst->lwtstate && !has_rules(u, dev) &&
	       LL_RESERVED_SPACE(dev) + sizeof(struct ipv6hdr) +
	       sizeof(struct udphdr) <= HEADROOM;
}

static void depart_train(struct via_udp *u, struct via_ether_tx *tx)
{
	struct skb_shared_info *info;
	struct sk_buff *skb = tx->last;
	struct sending *s = sending_of(skb);

	tx->last = NULL;
	if (likely(s->tail)) {
		info = skb_shinfo(skb);
		info->gso_size = s->each;
		info->gso_segs = s->frames;
		info->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
		udp_hdr(skb)->len = htons(skb->len - skb_transport_offset(skb));
		/* Each has its own sum; there is none of the whole. */
		if (skb->ip_summed == CHECKSUM_NONE)
			skb->ip_summed = CHECKSUM_UNNECESSARY;
	}
	/* IP's. */
	memset(s, 0, sizeof(*s));
	via_udp_hand_over(u, skb);
}

/* The first frame of a train; false: it has to go alone. */
static bool lead_train(struct via_udp *u, struct via_ether_tx *tx,
		       struct sk_buff *skb, struct dst_entry *dst)
{
	const struct via_ether_link *link = sending_of(skb)->link;
	struct sending *s = sending_of(skb);
	u32 len = skb->len;

	if (!link->priv || len + via_udp_overhead(u) <= VIA_UDP_SHORT ||
	    via_udp_is_black_hole(link->priv) || !takes_trains(u, dst) ||
	    !via_udp_fits_path(u, link->priv, dst, len))
		return false;
	skb_dst_set_noref(skb, dst);
	via_udp_put_headers(u, skb, dst, link,
			    (__force __be16)(unsigned long)tx->queue, true);
	s->tail = NULL;
	s->each = len;
	s->frames = 1;
	s->open = true;
	tx->last = skb;
	return true;
}

/*
 * The headers of one more, @hdr bytes in front of it.  What differs from frame to
 * frame in IP's the kernel fills in when it takes the train apart.
 */
static __always_inline void copy_headers(struct via_udp *u, struct sk_buff *skb,
					 const struct sk_buff *first, u32 hdr)
{
	const struct dst_entry *dst = skb_dst(first);
	u32 len = skb->len + sizeof(struct udphdr);
	struct udphdr *uh;

	if (u->v6)
		memcpy(skb->data - 48, skb_network_header(first), 48);
	else
		memcpy(skb->data - 28, skb_network_header(first), 28);
	skb_set_network_header(skb, -(int)hdr);
	skb_set_transport_header(skb, -(int)sizeof(*uh));
	uh = udp_hdr(skb);
	if (first->ip_summed == CHECKSUM_PARTIAL && uh->len == htons(len))
		return;
	uh->len = htons(len);
	if (!u->v6)
		via_udp_sum_v4(skb, dst, ip_hdr(skb)->saddr, ip_hdr(skb)->daddr);
#if IS_ENABLED(CONFIG_IPV6)
	else
		via_udp_sum_v6(skb, dst, &ipv6_hdr(skb)->saddr,
			       &ipv6_hdr(skb)->daddr);
#endif
}

/* One more; false: it is another train's. */
static __always_inline bool join_train(struct via_udp *u, struct sk_buff *first,
				       struct sk_buff *skb)
{
	struct sending *s = sending_of(first);
	u32 len = skb->len;

	if (!s->open || s->link != sending_of(skb)->link || len > s->each ||
	    first->len + len > VIA_UDP_TRAIN_BYTES)
		return false;
	copy_headers(u, skb, first, via_udp_overhead(u));
	first->len += len;
	first->data_len += len;
	first->truesize += skb->truesize;
	skb->truesize = 0;
	if (s->tail)
		s->tail->next = skb;
	else
		skb_shinfo(first)->frag_list = skb;
	s->tail = skb;
	s->frames++;
	s->open = len == s->each;
	return true;
}

/*
 * Whole trains.  Where the device takes a datagram for many (NETIF_F_GSO_UDP_L4:
 * veth, bridge, loopback, tap, and cards that split it), the frames of a burst
 * are one: headers, and behind them the frames in a row, in pieces of pages.  It
 * is what UDP_SEGMENT of a program gives; who takes it splits it, or the kernel
 * in front of who does not.  Rules may write into its headers.
 *
 * Headers come last, since they tell the length.
 */
static bool takes_whole(const struct via_udp *u, const struct dst_entry *dst)
{
	return via_udp_segments(dst, NETIF_F_GSO_UDP_L4,
				htons(u->v6 ? ETH_P_IPV6 : ETH_P_IP));
}

/* What will be the headers of a train; false: the frame goes another way. */
static bool begin_whole(struct via_udp *u, struct via_ether_tx *tx,
			const struct via_ether_link *link, u32 len)
{
	struct via_udp_link *kept = link->priv;
	const struct net_device *dev;
	struct dst_entry *dst;
	struct sk_buff *skb;
	struct sending *s;

	if (!kept || len + via_udp_overhead(u) <= VIA_UDP_SHORT ||
	    len > VIA_PAGES_BYTES || via_udp_is_black_hole(kept))
		return false;
	dst = via_udp_route(u, kept);
	if (!dst || !takes_whole(u, dst) || !via_udp_fits_path(u, kept, dst, len))
		return false;
	skb = via_pages_frame(&via_udp_pages, HEADROOM, 0);
	if (unlikely(!skb))
		return false;
	skb_dst_set_noref(skb, dst);
	dev = dst->dev;
	s = sending_of(skb);
	s->link = link;
	s->each = len;
	s->frames = 0;
	s->open = true;
	s->whole = true;
	/* The device counts headers, its own too. */
	s->bytes = min_t(u32, READ_ONCE(dev->gso_max_size), VIA_UDP_TRAIN_BYTES);
	s->bytes -= min_t(u32, s->bytes, HEADROOM);
	s->most = min_t(u32, READ_ONCE(dev->gso_max_segs), WHOLE_FRAMES);
	tx->last = skb;
	return true;
}

/* One more frame of as many bytes at most: has it a place? */
static bool joins_whole(struct sk_buff *skb, const struct via_ether_link *link,
			u32 len)
{
	const struct sending *s = sending_of(skb);

	return s->open && s->link == link && len <= s->each &&
	       (!s->frames ||
		(skb->len + len <= s->bytes && s->frames < s->most &&
		 skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS));
}

static bool room_whole(struct via_ether_tx *tx, u32 len,
		       struct via_ether_buf *buf)
{
	buf->data = via_pages_room(this_cpu_ptr(&via_udp_pages), len);
	buf->priv = tx->last;
	return buf->data;
}

/* Headers are read and written in words: may one lie behind a frame of @each bytes? */
static bool is_aligned_behind(u32 each)
{
	return IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) ||
	       IS_ALIGNED(each, sizeof(u64));
}

/* @n frames, @len bytes of them, each of @each but the last one. */
static void put_row(struct sk_buff *skb, u32 n, u32 len, u32 each)
{
	struct sending *s = sending_of(skb);

	via_pages_append(this_cpu_ptr(&via_udp_pages), skb, len);
	if (!s->frames)
		s->each = each;
	s->frames += n;
	s->open = len == n * s->each && is_aligned_behind(each);
}

static void depart_whole(struct via_udp *u, struct via_ether_tx *tx)
{
	struct skb_shared_info *info;
	struct sk_buff *skb = tx->last;
	struct sending s = *sending_of(skb);

	tx->last = NULL;
	if (unlikely(!s.frames))
		return kfree_skb(skb);
	/* IP's. */
	memset(sending_of(skb), 0, sizeof(s));
	via_udp_put_headers(u, skb, skb_dst(skb), s.link,
			    (__force __be16)(unsigned long)tx->queue, true);
	if (s.frames > 1) {
		info = skb_shinfo(skb);
		info->gso_size = s.each;
		info->gso_segs = s.frames;
		info->gso_type = SKB_GSO_UDP_L4;
		this_cpu_add(u->counts->tx_joined, s.frames);
	}
	via_udp_hand_over(u, skb);
}

static bool is_whole(struct sk_buff *skb)
{
	return skb && sending_of(skb)->whole;
}

/* Room for a frame that goes alone, or in a train of frames. */
static bool get_frame(const struct via_ether_link *link, u32 len,
		      struct via_ether_buf *buf)
{
	struct sk_buff *skb = via_pages_frame(&via_udp_pages, HEADROOM, len);

	if (unlikely(!skb))
		return false;
	sending_of(skb)->link = link;
	sending_of(skb)->whole = false;
	buf->data = skb->data;
	buf->priv = skb;
	return true;
}

bool via_udp_tx_get(struct via_ether_nic *nic, struct via_ether_tx *tx,
		    const struct via_ether_link *link, u32 len,
		    struct via_ether_buf *buf)
{
	struct via_udp *u = nic->priv;

	if (is_whole(tx->last)) {
		if (likely(joins_whole(tx->last, link, len)))
			return room_whole(tx, len, buf);
		depart_whole(u, tx);
	}
	if (unlikely(!via_udp_has_room(u)) && is_tx_full(u))
		return false;
	if (!tx->last && begin_whole(u, tx, link, len))
		return room_whole(tx, len, buf);
	return get_frame(link, len, buf);
}

/* How many more frames of @each bytes does the train take? */
static u32 room_for(struct sk_buff *skb, u32 each)
{
	const struct sending *s = sending_of(skb);

	return min(s->most - min(s->most, s->frames),
		   (s->bytes - min(s->bytes, skb->len)) / each);
}

/* Two more frames of @each bytes at least: have they a place? */
static bool joins_whole_train(struct sk_buff *skb,
			      const struct via_ether_link *link, u32 each)
{
	return sending_of(skb)->each == each && joins_whole(skb, link, each) &&
	       room_for(skb, each) >= 2;
}

/*
 * A train of the class becomes frames of a whole train.  Those are as long as they
 * are on the wire, so there is room for the headers of each: its pieces lie in a row
 * in one page, with these between them.
 */
static bool get_whole_train(struct via_ether_tx *tx, struct via_ether_train *t,
			    struct via_ether_buf *buf)
{
	u32 each = t->hdr + t->seg, n, left, i;

	if (!room_whole(tx, 2 * each, buf))
		return false;
	n = via_pages_left(this_cpu_ptr(&via_udp_pages)) / each;
	n = min3(n, VIA_ETHER_TRAIN_PIECES, room_for(tx->last, each));
	if (n < 2)
		return false;
	t->bytes = min(t->bytes, n * t->seg);
	for (i = 0, left = t->bytes; left; left -= t->piece[i++].len) {
		t->piece[i].data = buf->data + i * each + t->hdr;
		t->piece[i].len = min(left, t->seg);
	}
	t->pieces = i;
	return true;
}

/*
 * Elsewhere it becomes frames one by one: @buf->priv and those behind it, which are
 * a train of frames, or go alone.
 */
static bool get_frames(const struct via_ether_link *link,
		       struct via_ether_train *t, struct via_ether_buf *buf)
{
	struct sk_buff *first = NULL, **skb = &first;
	u32 left = t->bytes, i, len;
	struct via_ether_buf one;

	for (i = 0; left && i < VIA_ETHER_TRAIN_PIECES; i++, left -= len) {
		len = min(left, t->seg);
		if (unlikely(!get_frame(link, t->hdr + len, &one)))
			break;
		*skb = one.priv;
		skb = &(*skb)->next;
		t->piece[i].data = one.data + t->hdr;
		t->piece[i].len = len;
	}
	if (unlikely(i < 2)) {
		kfree_skb_list(first);
		return false;
	}
	t->bytes -= left;
	t->pieces = i;
	buf->data = first->data;
	buf->priv = first;
	return true;
}

bool via_udp_tx_get_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			  const struct via_ether_link *link,
			  struct via_ether_train *t, struct via_ether_buf *buf)
{
	struct via_udp *u = nic->priv;
	u32 each = t->hdr + t->seg;

	if (2 * each > VIA_PAGES_BYTES)
		return false;
	if (is_whole(tx->last)) {
		if (joins_whole_train(tx->last, link, each))
			return get_whole_train(tx, t, buf);
		depart_whole(u, tx);
	}
	if (unlikely(!via_udp_has_room(u)) && is_tx_full(u))
		return false;
	if (!tx->last && is_aligned_behind(each) &&
	    begin_whole(u, tx, link, each))
		return get_whole_train(tx, t, buf);
	return get_frames(link, t, buf);
}

/* The train's headers to those of one of its frames. */
static __always_inline void put_wire(void *frame, const void *hdr,
				     const struct via_ether_train *t, u32 i)
{
	u32 rest = t->hdr - VIA_WIRE_SEND_HDR;

	memcpy(frame, hdr, VIA_WIRE_SEND_HDR);
	if (unlikely(rest))
		memcpy(frame + VIA_WIRE_SEND_HDR, hdr + VIA_WIRE_SEND_HDR, rest);
	via_ether_cut(frame, i, t->seg, t->piece[i].len, i == t->pieces - 1);
}

static void put_whole_train(const struct via_ether_train *t,
			    struct via_ether_buf *buf)
{
	u32 each = t->hdr + t->seg, i;

	/* The first one's last: the others are made of it. */
	for (i = t->pieces - 1; i; i--)
		put_wire(buf->data + i * each, buf->data, t, i);
	via_ether_cut(buf->data, 0, t->seg, t->seg, false);
	put_row(buf->priv, t->pieces, t->pieces * t->hdr + t->bytes, each);
}

void via_udp_tx_drop(struct via_ether_nic *nic, struct via_ether_tx *tx,
		     struct via_ether_buf *buf)
{
	/* Nothing of a whole train holds it. */
	if (buf->priv != tx->last)
		kfree_skb_list(buf->priv);
}

/* A frame that is a train of frames, joins one, or goes alone. */
static __always_inline void put_frame(struct via_udp *u, struct via_ether_tx *tx,
				      struct sk_buff *skb, u32 len)
{
	struct dst_entry *dst;

	__skb_put(skb, len);
	if (tx->last) {
		if (likely(join_train(u, tx->last, skb)))
			return;
		depart_train(u, tx);
	}
	dst = route_frame(u, skb);
	if (likely(dst) && !lead_train(u, tx, skb, dst))
		send_frame(u, skb, dst,
			   (__force __be16)(unsigned long)tx->queue);
}

bool via_udp_tx_put_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			  const struct via_ether_train *t,
			  struct via_ether_buf *buf)
{
	struct sk_buff *skb = buf->priv, *next;
	u8 hdr[VIA_WIRE_WRITE_HDR] __uninitialized;
	u32 i;

	if (skb == tx->last) {
		put_whole_train(t, buf);
		return true;
	}
	memcpy(hdr, buf->data, t->hdr);
	for (i = 0; skb; i++, skb = next) {
		next = skb->next;
		skb_mark_not_on_list(skb);
		put_wire(skb->data, hdr, t, i);
		put_frame(nic->priv, tx, skb, t->hdr + t->piece[i].len);
	}
	return true;
}

bool via_udp_tx_put(struct via_ether_nic *nic, struct via_ether_tx *tx,
		    u32 len, struct via_ether_buf *buf)
{
	struct sk_buff *skb = buf->priv;

	if (skb == tx->last)
		put_row(skb, 1, len, len);
	else
		put_frame(nic->priv, tx, skb, len);
	return true;
}

void via_udp_tx_end(struct via_ether_nic *nic, struct via_ether_tx *tx)
{
	if (is_whole(tx->last))
		depart_whole(nic->priv, tx);
	else if (tx->last)
		depart_train(nic->priv, tx);
}

bool via_udp_tx_get_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
			const struct via_ether_link *link, u32 flow, u32 len,
			struct via_ether_buf *buf)
{
	struct via_udp *u = nic->priv;

	if (unlikely(!via_udp_has_room(u)) && is_tx_full(u))
		return false;
	return via_udp_tx_begin(nic, tx, flow) && get_frame(link, len, buf);
}

void via_udp_tx_put_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
			u32 len, struct via_ether_buf *buf)
{
	struct via_udp *u = nic->priv;
	struct sk_buff *skb = buf->priv;
	struct dst_entry *dst;

	__skb_put(skb, len);
	dst = route_frame(u, skb);
	if (likely(dst))
		send_frame(u, skb, dst,
			   (__force __be16)(unsigned long)tx->queue);
}

/* Any context, a discipline's lock may be held: what wakes comes later. */
void via_udp_write_space(struct sock *sk)
{
	struct via_udp *u;

	rcu_read_lock();
	u = rcu_dereference_sk_user_data(sk);
	/* Pairs with the one in is_tx_full(). */
	smp_mb();
	if (u && unlikely(READ_ONCE(u->full)) &&
	    refcount_read(&sk->sk_wmem_alloc) < VIA_UDP_QUEUED / 2)
		tasklet_schedule(&u->waker);
	rcu_read_unlock();
}

void via_udp_wake(struct tasklet_struct *t)
{
	struct via_udp *u = from_tasklet(u, t, waker);
	struct via_work work = VIA_WORK(LOOKS);
	struct via_udp_link *kept;

	rcu_read_lock();
	while ((kept = via_udp_next_look(u, &work)))
		via_udp_look_at_path(u, kept);
	if (READ_ONCE(u->full) && via_udp_has_room(u)) {
		WRITE_ONCE(u->full, false);
		via_ether_wake(u->nic);
	}
	rcu_read_unlock();
}

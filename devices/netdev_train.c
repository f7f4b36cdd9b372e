// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Trains over an interface: one skb that the stack takes for one that is to be
 * segmented (GSO).  An interface of this host, such as a veth, hands it over whole;
 * in front of a network card, or where a discipline wants frames, the stack calls
 * via_netdev_segment(), and the wire has the frames that it always has.
 *
 * The GSO type is SCTP's: an interface that is software takes it (it is of
 * NETIF_F_GSO_SOFTWARE), and no card's driver does.  The stack finds the function
 * that segments by the EtherType.  Taps of the interface get each frame: while there
 * are any, no train leaves.  One at the other end of a veth gets the train, as it
 * gets TCP's.
 */

#include <linux/netdevice.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include "../kernel/compat.h"
#ifdef VIA_GSO_H
#include <net/gso.h>
#endif
#include "ethernet.h"
#include "netdev.h"

/*
 * Of pages, each of a fragment: 64 frames of 1,500 bytes are in as many, wherever in a
 * page the first begins.
 */
#define PIECES		4u

bool via_netdev_takes_trains(const struct net_device *dev)
{
	const netdev_features_t want = NETIF_F_SG | NETIF_F_GSO_SCTP |
				       NETIF_F_HW_CSUM;

	return (dev->features & want) == want;
}

/* Is it a veth whose peer has no rx_handler, such as a bridge's? */
static bool ends_at_peer(struct net_device *dev)
{
	struct net_device *peer = NULL;
	bool ends;

	rcu_read_lock();
	if (dev->netdev_ops->ndo_get_peer_dev)
		peer = dev->netdev_ops->ndo_get_peer_dev(dev);
	ends = peer && !rcu_access_pointer(peer->rx_handler);
	rcu_read_unlock();
	return ends;
}

/*
 * What the interface takes.  The limit that the kernel begins with is of IP's length
 * field: where an administrator has set none, it is the driver's.  Interfaces behind
 * a bridge may not have more.
 */
static u32 most_bytes(struct net_device *dev, bool at_peer)
{
	u32 set = READ_ONCE(dev->gso_max_size);

	return set == GSO_LEGACY_MAX_SIZE && at_peer ?
	       READ_ONCE(dev->tso_max_size) : set;
}

/* How many bytes a train may have: whole frames, two at least; 0: none. */
static u32 train_bytes(struct net_device *dev, bool at_peer,
		       const struct via_pages *pages,
		       const struct via_ether_train *t)
{
	/* The first of the program's pages may be the end of one. */
	u32 room = t->shared ? (VIA_PAGE_FRAGS_MAX - 1) * PAGE_SIZE :
		   via_pages_row(pages, VIA_PAGES_BYTES) +
		   (PIECES - 1) * VIA_PAGES_BYTES;
	u32 head = ETH_HLEN + t->hdr, n;
	u32 most = most_bytes(dev, at_peer) - 1;

	if (most < head)
		return 0;
	room = min(most - head, room);
	n = t->bytes <= room ? DIV_ROUND_UP(t->bytes, t->seg) : room / t->seg;
	n = min_t(u32, n, READ_ONCE(dev->gso_max_segs));
	return n < 2 ? 0 : min(t->bytes, n * t->seg);
}

bool via_netdev_train_copies(struct via_pages *pages, struct sk_buff *skb,
			     struct via_ether_train *t)
{
	u32 left = t->bytes, len;
	u8 *data;

	for (t->pieces = 0; left; t->pieces++, left -= len) {
		len = via_pages_row(pages, left);
		data = via_pages_room(pages, len);
		if (!data)
			return false;
		via_pages_append(pages, skb, len);
		t->piece[t->pieces].data = data;
		t->piece[t->pieces].len = len;
	}
	return true;
}

/*
 * Would the stack hand it to the driver as it is?  It has no tag of a VLAN, and what
 * is asked of the interface alone has been asked.
 */
static bool goes_whole(struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	netdev_features_t features;

	if (likely(via_netdev_takes_trains(dev) &&
		   dev->netdev_ops->ndo_features_check ==
		   passthru_features_check))
		return true;
	features = netif_skb_features(skb);
	return features & NETIF_F_SG && !netif_needs_gso(skb, features);
}

struct sk_buff *via_netdev_train(struct via_pages *pages, struct sk_buff *skb,
				 const struct via_ether_link *link,
				 struct via_ether_train *t)
{
	struct net_device *dev = skb->dev;
	struct skb_shared_info *info = skb_shinfo(skb);
	bool at_peer = ends_at_peer(dev);

	/* Packets that wait for a card could be read long after the connection's end. */
	t->shared = t->shared && at_peer;
	t->pieces = 0;
	t->bytes = train_bytes(dev, at_peer, pages, t);
	via_ethernet_begin(skb->data, link, t->hdr + t->bytes);
	__skb_put(skb, ETH_HLEN + t->hdr);
	/* skb_gso_validate_mac_len() adds SCTP's header: it ends where VIA's do. */
	skb_set_transport_header(skb, ETH_HLEN + t->hdr -
				 sizeof(struct sctphdr));
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	info->gso_type = SKB_GSO_SCTP;
	info->gso_size = t->seg;
	info->gso_segs = DIV_ROUND_UP(t->bytes, t->seg);
	/* Asked before it is longer than IP's packets may be. */
	if (!t->bytes || !goes_whole(skb) ||
	    (!t->shared && !via_netdev_train_copies(pages, skb, t))) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

void via_netdev_train_pages(struct sk_buff *skb,
			    const struct via_page_frags *pages)
{
	u32 i;

	for (i = 0; i < pages->n; i++)
		skb_add_rx_frag(skb, i, pages->frag[i].page,
				pages->frag[i].off, pages->frag[i].len,
				pages->frag[i].len);
	/* Who changes bytes of the packet makes a copy first. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
}

struct sk_buff *via_netdev_segment(struct sk_buff *skb,
				   netdev_features_t features)
{
	u32 seg = skb_shinfo(skb)->gso_size, hdr, len, k = 0;
	struct sk_buff *segs, *one;

	/* skb->data is at VIA's header, which nothing has checked yet. */
	if (!(skb_shinfo(skb)->gso_type & SKB_GSO_SCTP) ||
	    !pskb_may_pull(skb, VIA_WIRE_SEND_HDR))
		return ERR_PTR(-EINVAL);
	hdr = via_ether_train_hdr(skb->data, skb->len);
	if (!hdr || !pskb_may_pull(skb, hdr))
		return ERR_PTR(-EINVAL);
	__skb_pull(skb, hdr);
	/* There is no checksum to be computed. */
	segs = skb_segment(skb, (features | NETIF_F_HW_CSUM) &
			   ~NETIF_F_GSO_PARTIAL);
	if (IS_ERR_OR_NULL(segs))
		return segs;
	for (one = segs; one; one = one->next, k++) {
		len = one->len - skb_network_offset(one) - hdr;
		via_ether_cut(skb_network_header(one), k, seg, len, !one->next);
	}
	return segs;
}

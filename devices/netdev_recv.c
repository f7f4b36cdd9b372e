// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Receiving, in a softirq and an RCU read side.
 *
 * Frames come through a packet handler that is bound to the interface.  Where
 * nothing in between would see them (early.h), GRO hands them over before that:
 * the stack's way to the handler costs 560 instructions of a short frame's 6,700.
 */

#include <linux/etherdevice.h>
#include "early.h"
#include "ethernet.h"
#include "netdev.h"
#include "skb.h"

static DEFINE_PER_CPU(struct via_early_order, order);

/* Rare and short: only its headers are looked at. */
static noinline void rx_broadcast(struct via_ether_nic *nic,
				  struct sk_buff *skb,
				  struct via_ether_frame *f)
{
	u8 hdr[VIA_WIRE_HDR_MAX] __aligned(8);
	struct via_ether_chunk chunk = {
		.data = hdr,
		.len = min_t(u32, f->len, sizeof(hdr)),
	};

	if (skb_copy_bits(skb, 0, hdr, chunk.len))
		return;
	f->hdr = hdr;
	f->nchunks = 1;
	f->chunk = &chunk;
	via_ether_rx_broadcast(nic, f);
}

static int rx_packet(struct sk_buff *skb, struct net_device *dev,
		     struct packet_type *pt, struct net_device *orig_dev)
{
	struct via_netdev *vd = container_of(pt, struct via_netdev, pt);
	struct via_ether_frame f = {
		.src = eth_hdr(skb)->h_source,
		.len = skb->len,
		.train = via_netdev_train_of(skb),
	};

	via_early_delivered(&order, 1);
	if (unlikely(skb->pkt_type != PACKET_HOST)) {
		if (skb->pkt_type == PACKET_BROADCAST)
			rx_broadcast(vd->nic, skb, &f);
		goto out;
	}
	via_skb_rx(vd->nic, skb, &f);
out:
	consume_skb(skb);
	return NET_RX_SUCCESS;
}

/* What is attached to the interface, if it is. */
static struct via_netdev *attached_to(const struct net_device *dev)
{
	struct packet_type *pt;

	list_for_each_entry_rcu(pt, &dev->ptype_specific, list)
		if (pt->func == rx_packet)
			return container_of(pt, struct via_netdev, pt);
	return NULL;
}

static struct sk_buff *rx_early(struct list_head *head, struct sk_buff *skb)
{
	struct via_netdev *vd = attached_to(skb->dev);
	struct via_ether_frame f = {};

	/* Behind other headers it is not this interface's. */
	if (unlikely(!vd) || skb_gro_offset(skb))
		return via_early_left(skb);
	if (!via_early_ok(skb) || via_early_follows(&order)) {
		via_early_passed(&order, 1);
		return via_early_left(skb);
	}
	this_cpu_inc(*vd->rx_early);
	f.src = eth_hdr(skb)->h_source;
	f.len = skb->len;
	f.train = via_netdev_train_of(skb);
	via_skb_rx(vd->nic, skb, &f);
	return via_early_taken(skb);
}

static struct packet_offload early = {
	.callbacks = {
		.gro_receive = rx_early,
		.gso_segment = via_netdev_segment,
	},
};

void via_netdev_early_begin(void)
{
	early.type = via_ether_proto();
	dev_add_offload(&early);
}

void via_netdev_early_end(void)
{
	dev_remove_offload(&early);
}

void via_netdev_listen(struct via_netdev *vd)
{
	vd->pt.type = via_ether_proto();
	vd->pt.dev = vd->dev;
	vd->pt.func = rx_packet;
	dev_add_pack(&vd->pt);
}

void via_netdev_deafen(struct via_netdev *vd)
{
	dev_remove_pack(&vd->pt);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is rare for a frame, and what is IP's: the ring without room, packet
 * sockets, skbs.  path.h has the short path.
 */

#include <linux/etherdevice.h>
#include "native.h"

/* Senders that waited for room, or for the wire, go on.  tx lock not held. */
void via_native_wake(struct via_native *n)
{
	struct via_ether_nic *nic;

	netif_tx_wake_queue(via_native_pair_txq(n));
	rcu_read_lock();
	nic = READ_ONCE(n->nic);
	if (nic)
		via_ether_wake(nic);
	rcu_read_unlock();
}

/* Wake the senders that wait if there is room again.  tx lock not held. */
void via_native_room_again(struct via_native *n)
{
	struct netdev_queue *txq = via_native_pair_txq(n);
	bool wake;

	__netif_tx_lock(txq, smp_processor_id());
	n->chip->reap(n);
	wake = n->tx_ok && via_native_tx_busy(n) <= n->tx.slots / 2;
	if (wake)
		WRITE_ONCE(n->waits, false);
	__netif_tx_unlock(txq);
	if (wake)
		via_native_wake(n);
}
EXPORT_SYMBOL_GPL(via_native_room_again);

/*
 * There was no room for a frame of @owner; is there now?  If not, @waits is set
 * and the last frame that asked for an interrupt, one of the last slots / 4
 * put, will bring it: it was put when the ring was more than half full.  Unless
 * it has left by now, but then this look finds its room.  tx lock held.
 */
bool via_native_tx_full(struct via_native *n, enum via_native_owner owner)
{
	n->tx_stats.full++;
	WRITE_ONCE(n->waits, true);
	if (n->chip->tx_wait)
		n->chip->tx_wait(n);
	/* Pairs with the chip: its interrupt comes after its write-back. */
	smp_mb();
	n->chip->reap(n);
	return via_native_room(n, owner);
}
EXPORT_SYMBOL_GPL(via_native_tx_full);

/* @len bytes of an skb without a list of further ones, from @at. */
void via_native_copy_skb(const struct sk_buff *skb, u32 at, u8 *to, u32 len)
{
	u32 head = skb_headlen(skb), size, part, i;
	const skb_frag_t *frag;

	if (IS_ENABLED(CONFIG_HIGHMEM)) {
		skb_copy_bits(skb, at, to, len);
		return;
	}
	if (at < head) {
		part = min(len, head - at);
		via_native_copy(to, skb->data + at, part);
		to += part;
		len -= part;
		at = head;
	}
	at -= head;
	for (i = 0; len; i++) {
		frag = &skb_shinfo(skb)->frags[i];
		size = skb_frag_size(frag);
		if (at >= size) {
			at -= size;
			continue;
		}
		part = min(len, size - at);
		via_native_copy(to, skb_frag_address(frag) + at, part);
		to += part;
		len -= part;
		at = 0;
	}
}
EXPORT_SYMBOL_GPL(via_native_copy_skb);

/* IP's frame into the next slot's buffer; how long it is there. */
u32 via_native_fill_slot(struct via_native *n, struct sk_buff *skb)
{
	u8 *to = n->tx.buf[n->tx.next & (n->tx.slots - 1)].data;
	u32 len = skb->len;

	if (skb->ip_summed == CHECKSUM_PARTIAL)
		skb_copy_and_csum_dev(skb, to);
	else
		via_native_copy_skb(skb, 0, to, len);
	if (len >= ETH_ZLEN)
		return len;
	memset(to + len, 0, ETH_ZLEN - len);
	return ETH_ZLEN;
}
EXPORT_SYMBOL_GPL(via_native_fill_slot);

/*
 * A VI frame for packet sockets.  The stack knows no protocol for it, so that
 * it ends there.
 */
void via_native_tap(struct via_native *n, const void *data, u32 len, bool out)
{
	struct sk_buff *skb;

	if (!dev_nit_active(n->dev))
		return;
	skb = netdev_alloc_skb(n->dev, len);
	if (!skb)
		return;
	via_native_copy(skb_put(skb, len), data, len);
	if (out) {
		skb_reset_mac_header(skb);
		skb_set_network_header(skb, ETH_HLEN);
		skb->protocol = n->proto;
		dev_queue_xmit_nit(skb, n->dev);
		consume_skb(skb);
	} else {
		skb->protocol = eth_type_trans(skb, n->dev);
		netif_receive_skb(skb);
	}
}
EXPORT_SYMBOL_GPL(via_native_tap);

/*
 * A frame from the ring that is not a VI frame to this NIC's address: IP's, or
 * a VI frame to all.  @summed: the chip has verified its checksums.  In NAPI's
 * poll, or as its owner.
 */
void via_native_rx_other(struct via_native *n, struct via_ether_nic *nic,
			 const u8 *data, u32 len, bool summed)
{
	struct sk_buff *skb;

	if (unlikely(((const struct ethhdr *)data)->h_proto == n->proto) &&
	    nic && is_broadcast_ether_addr(data)) {
		via_native_rx_vi(n, nic, data, len, via_ether_rx_broadcast);
		return;
	}
	skb = napi_alloc_skb(&n->napi, len);
	n->rx_stats.taken[VIA_NATIVE_IP].frames++;
	n->rx_stats.taken[VIA_NATIVE_IP].bytes += len;
	if (unlikely(!skb)) {
		n->rx_stats.dropped++;
		return;
	}
	via_native_copy(skb_put(skb, len), data, len);
	skb->protocol = eth_type_trans(skb, n->dev);
	if (summed && n->dev->features & NETIF_F_RXCSUM)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	napi_gro_receive(&n->napi, skb);
}
EXPORT_SYMBOL_GPL(via_native_rx_other);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The short path of native drivers, compiled into each chip's module: its file
 * includes this and defines via_native_fast, a constant that the compiler sees
 * through, so that no call in here is indirect.  What is off the short path is
 * in frame.c.
 */
#ifndef _VIA_NATIVE_PATH_H
#define _VIA_NATIVE_PATH_H

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/netpoll.h>
#include <linux/skbuff.h>
#include "../ethernet.h"
#include "native.h"

/**
 * struct via_native_fast - a chip's part of the short path
 * @tx_fill:	give the chip @len bytes in slot @i's buffer; @irq: interrupt
 *		when they have left.  Orders the bytes before itself.
 * @tx_frags:	give the chip @len bytes in slot @i's buffer and, in the same
 *		frame, what @frags names; in @tx_spread(@frags->n) slots from
 *		@i on.  Orders the bytes before itself, and all else before the
 *		first slot.  Optional: such frames are copied.
 * @tx_spread:	slots of a frame of @n fragments; with @tx_frags
 * @tx_gso:	put @skb, which is GSO, into at most chip->tx_most slots.  With
 *		NETIF_F_TSO and the like.
 * @tx_kick:	there is something in the ring
 * @tx_done:	has the chip done with slot @i?  Counts its errors.
 * @rx_frame:	bytes of the frame in slot @i without its checksum; 0: none
 *		there; negative: there is one, but damaged.  Orders itself
 *		before the look at the bytes.
 * @rx_there:	would @rx_frame find something, at n->rx.next?  Called in any
 *		context while the ring exists: reads only.  Optional.
 * @rx_give:	slot @i is the chip's again
 * @rx_given:	what was given since the last time is to be used
 * @rx_summed:	the chip has found the TCP or UDP checksum of the frame in slot @i
 *		right.  Optional.
 * @ack:	all that was polled for is acknowledged, and what the chip
 *		wrote into memory before it saw that is visible
 */
struct via_native_fast {
	void (*tx_fill)(struct via_native *n, u32 i, u32 len, bool irq);
	void (*tx_frags)(struct via_native *n, u32 i, u32 len,
			 const struct via_frags *frags, bool irq);
	u32 (*tx_spread)(u32 n);
	void (*tx_gso)(struct via_native *n, struct sk_buff *skb);
	void (*tx_kick)(struct via_native *n);
	bool (*tx_done)(struct via_native *n, u32 i);
	int (*rx_frame)(struct via_native *n, u32 i);
	bool (*rx_there)(struct via_native *n);
	void (*rx_give)(struct via_native *n, u32 i);
	void (*rx_given)(struct via_native *n);
	bool (*rx_summed)(struct via_native *n, u32 i);
	void (*ack)(struct via_native *n);
};

/* The chip's file defines it. */
static const struct via_native_fast via_native_fast;

/* Transmit: tx lock held, or about to be. */

/* Look at what the chip has done. */
static void via_native_reap(struct via_native *n)
{
	u32 mask = n->tx.slots - 1;

	while (n->tx_done != n->tx.next &&
	       via_native_fast.tx_done(n, n->tx_done & mask)) {
		n->tx_used[n->tx_owner[n->tx_done & mask]]--;
		n->tx_done++;
	}
}

static __always_inline bool
via_native_tx_room(struct via_native *n, enum via_native_owner owner)
{
	if (likely(via_native_tx_busy(n) < n->tx.slots / 2))
		return true;
	via_native_reap(n);
	return likely(via_native_room(n, owner)) || via_native_tx_full(n, owner);
}

/* The next slot has @len bytes in its buffer, and is the chip's. */
static __always_inline void
via_native_put_slot(struct via_native *n, enum via_native_owner owner, u32 len)
{
	u32 mask = n->tx.slots - 1, i = n->tx.next & mask;
	bool irq = false;

	if (unlikely(n->sync))
		dma_sync_single_for_device(&n->pdev->dev, n->tx.buf[i].dma,
					   len, DMA_TO_DEVICE);
	if (unlikely(via_native_tx_busy(n) >= n->tx.slots / 2))
		irq = !(i & (mask >> 2));
	via_native_take_slot(n, owner);
	n->tx_stats.sent[owner].frames++;
	n->tx_stats.sent[owner].bytes += len;
	via_native_fast.tx_fill(n, i, len, irq);
}

/* What the class calls: see struct via_ether_ops. */

static __always_inline bool via_native_tx_begin(struct via_ether_nic *nic,
						struct via_ether_tx *tx,
						u32 flow)
{
	struct via_native *n = nic->priv;
	struct netdev_queue *txq = via_native_txq(n);

	__netif_tx_lock(txq, smp_processor_id());
	if (unlikely(!n->tx_ok)) {
		__netif_tx_unlock(txq);
		return false;
	}
	__release(&txq->_xmit_lock);	/* for sparse: tx_end() unlocks */
	return true;
}

static __always_inline void via_native_tx_end(struct via_ether_nic *nic,
					      struct via_ether_tx *tx)
{
	struct via_native *n = nic->priv;
	struct netdev_queue *txq = via_native_txq(n);

	via_native_fast.tx_kick(n);
	__acquire(&txq->_xmit_lock);
	__netif_tx_unlock(txq);
}

static __always_inline bool
via_native_tx_get(struct via_ether_nic *nic, struct via_ether_tx *tx,
		  const struct via_ether_link *link, u32 len,
		  struct via_ether_buf *buf)
{
	struct via_native *n = nic->priv;
	u8 *room;

	/* A connection may remember an MTU from before. */
	if (unlikely(len + ETH_HLEN > n->tx_max ||
		     !via_native_tx_room(n, VIA_NATIVE_VI)))
		return false;
	room = n->tx.buf[n->tx.next & (n->tx.slots - 1)].data;
	buf->data = via_ethernet_begin(room, link, len);
	return true;
}

static __always_inline bool
via_native_tx_put(struct via_ether_nic *nic, struct via_ether_tx *tx, u32 len,
		  struct via_ether_buf *buf)
{
	struct via_native *n = nic->priv;

	len = max_t(u32, len + ETH_HLEN, ETH_ZLEN);
	via_native_show(n, buf->data - ETH_HLEN, len, true);
	via_native_put_slot(n, VIA_NATIVE_VI, len);
	return true;
}

/*
 * A frame of which only the headers lie in the slot's buffer.  A packet socket
 * wants whole frames, and a frame that takes more slots than the one that was
 * promised may not find them: then it is copied.
 *
 * @map->last says where the ring was behind the last frame of a region; see
 * via_native_unmap().
 */
static bool via_native_tx_put_frags(struct via_ether_nic *nic,
				    struct via_ether_tx *tx, u32 len,
				    struct via_ether_buf *buf,
				    const struct via_frags *frags)
{
	struct via_native *n = nic->priv;
	u32 mask = n->tx.slots - 1, first = n->tx.next, i = first & mask;
	u32 spread, bytes, k;
	bool irq = false;

	if (!via_native_fast.tx_frags || unlikely(n->dev->flags & IFF_PROMISC))
		return false;
	len += ETH_HLEN;
	bytes = len;
	spread = via_native_fast.tx_spread(frags->n);
	if (unlikely(via_native_tx_busy(n) + spread > n->tx.slots / 2)) {
		if (n->tx_used[VIA_NATIVE_VI] + spread >
		    n->tx.slots - n->tx.slots / 4 ||
		    via_native_tx_busy(n) + spread >= n->tx.slots)
			return false;
		/* As in via_native_put_slot(), for any of its slots. */
		irq = ((first - 1) ^ (first + spread - 1)) & ~(mask >> 2);
	}
	if (unlikely(n->sync))
		dma_sync_single_for_device(&n->pdev->dev, n->tx.buf[i].dma,
					   len, DMA_TO_DEVICE);
	via_native_fast.tx_frags(n, i, len, frags, irq);
	for (k = 0; k < spread; k++)
		n->tx_owner[(first + k) & mask] = VIA_NATIVE_VI;
	n->tx_used[VIA_NATIVE_VI] += spread;
	n->tx.next = first + spread;
	for (k = 0; k < frags->n; k++) {
		bytes += frags->frag[k].len;
		frags->frag[k].map->last = first + spread;
	}
	n->tx_stats.sent[VIA_NATIVE_VI].frames++;
	n->tx_stats.sent[VIA_NATIVE_VI].bytes += bytes;
	return true;
}

/* The room of a frame that is dropped has not been taken yet. */
static void via_native_tx_drop(struct via_ether_nic *nic,
			       struct via_ether_tx *tx,
			       struct via_ether_buf *buf)
{
}

static bool via_native_tx_get_one(struct via_ether_nic *nic,
				  struct via_ether_tx *tx,
				  const struct via_ether_link *link, u32 flow,
				  u32 len, struct via_ether_buf *buf)
{
	if (unlikely(!via_native_tx_begin(nic, tx, flow)))
		return false;
	if (likely(via_native_tx_get(nic, tx, link, len, buf)))
		return true;
	via_native_tx_end(nic, tx);
	return false;
}

static void via_native_tx_put_one(struct via_ether_nic *nic,
				  struct via_ether_tx *tx, u32 len,
				  struct via_ether_buf *buf)
{
	via_native_tx_put(nic, tx, len, buf);
	via_native_tx_end(nic, tx);
}

/* A chip that takes no fragments finds no region mapped. */
static void via_native_mem_map(struct via_ether_nic *nic,
			       struct via_mem_map *map, struct page **pages,
			       u32 npages)
{
	if (via_native_fast.tx_frags)
		via_native_map(nic, map, pages, npages);
}

/* The kernel's, in the ring of the queue it chose: ndo_start_xmit. */
static netdev_tx_t via_native_xmit(struct sk_buff *skb, struct net_device *dev)
{
	bool gso = via_native_fast.tx_gso && skb_is_gso(skb);
	struct via_native *n = via_native_pair(netdev_priv(dev),
					       skb_get_queue_mapping(skb));
	struct netdev_queue *txq = via_native_pair_txq(n);
	u32 len;

	if (unlikely(!n->tx_ok || (!gso && skb->len > n->tx_max))) {
		n->tx_stats.errors++;
		dev_kfree_skb_any(skb);
		goto out;
	}
	if (unlikely(!via_native_tx_room(n, VIA_NATIVE_IP))) {
		/* It was stopped; something else is at work.  Ask again. */
		netif_tx_stop_queue(txq);
		return NETDEV_TX_BUSY;
	}
	if (gso) {
		via_native_fast.tx_gso(n, skb);
	} else {
		len = via_native_fill_slot(n, skb);
		skb_tx_timestamp(skb);
		via_native_put_slot(n, VIA_NATIVE_IP, len);
	}
	dev_consume_skb_any(skb);
	if (unlikely(!via_native_tx_room(n, VIA_NATIVE_IP)))
		netif_tx_stop_queue(txq);
out:
	if (n->tx_ok && (!netdev_xmit_more() || netif_xmit_stopped(txq)))
		via_native_fast.tx_kick(n);
	return NETDEV_TX_OK;
}

/* Receive: NAPI. */

/* In promiscuous mode the chip takes what is for others too. */
static inline bool via_native_is_vi(const struct via_native *n,
				    const struct via_ether_nic *nic,
				    const u8 *data)
{
	return ((const struct ethhdr *)data)->h_proto == n->proto && nic &&
	       ether_addr_equal_64bits(data, n->dev->dev_addr);
}

static inline bool via_native_summed(struct via_native *n, u32 i)
{
	return via_native_fast.rx_summed && via_native_fast.rx_summed(n, i);
}

/* Frames that wait, @budget at most; how many there were. */
static __always_inline int via_native_rx(struct via_native *n, int budget)
{
	struct via_ether_nic *nic = READ_ONCE(n->nic);
	struct device *dma = &n->pdev->dev;
	bool sync = n->sync && !n->chip->rx_head;
	int done = 0;

	while (done < budget) {
		u32 i = n->rx.next & (n->rx.slots - 1);
		const struct via_native_buf *buf = &n->rx.buf[i];
		int len = via_native_fast.rx_frame(n, i);

		if (!len)
			break;
		if (likely(len >= ETH_HLEN)) {
			if (unlikely(sync))
				dma_sync_single_for_cpu(dma, buf->dma, len,
							DMA_FROM_DEVICE);
			if (likely(via_native_is_vi(n, nic, buf->data)))
				via_native_rx_vi(n, nic, buf->data, len,
						 via_ether_rx);
			else
				via_native_rx_other(n, nic, buf->data, len,
						    via_native_summed(n, i));
			if (unlikely(sync))
				dma_sync_single_for_device(dma, buf->dma, len,
							   DMA_FROM_DEVICE);
		} else {
			n->rx_stats.errors++;
		}
		via_native_fast.rx_give(n, i);
		n->rx.next++;
		done++;
	}
	if (done)
		via_native_fast.rx_given(n);
	return done;
}

/*
 * NAPI's poll.  Acknowledged is what was polled for, and then the ring is
 * looked at once more: a frame that came before the acknowledgement is found
 * here, one that came after it interrupts as soon as that is unmasked.
 */
static int via_native_poll(struct napi_struct *napi, int budget)
{
	struct via_native *n = container_of(napi, struct via_native, napi);
	bool polled;
	int done;

	rcu_read_lock();
	done = via_native_rx(n, budget);
	if (likely(done < budget)) {
		via_native_fast.ack(n);
		done += via_native_rx(n, budget - done);
	}
	rcu_read_unlock();
	/* Pairs with smp_mb() in via_native_tx_full(). */
	if (unlikely(READ_ONCE(n->waits)))
		via_native_room_again(n);
	/* Before it is complete: see native.h. */
	polled = READ_ONCE(n->polled);
	if (likely(done < budget) && likely(napi_complete_done(napi, done)) &&
	    likely(!polled))
		n->chip->unmask(n);
	return done;
}

/*
 * A program that spins looks for frames.  It asks for NAPI only when there are
 * some, so that any number of CPUs may spin without writing anything; and not
 * at all when that is owned, since asking makes the owner run once more.
 *
 * Nothing is acknowledged and nothing unmasked: NAPI's poll does both, later.
 * But a full budget may mean that the ring ran full, and a chip that waits for
 * its acknowledgement.
 */
static __always_inline void via_native_take(struct via_ether_nic *nic,
					    bool program)
{
	struct via_native *n = nic->priv;
	struct napi_struct *napi = &n->napi;
	void *have;
	int done;

	/* Under RCU the rings stay: see poll_stop(). */
	if (unlikely(!READ_ONCE(n->poll_ok)))
		return;
	if (via_native_fast.rx_there && !via_native_fast.rx_there(n) &&
	    likely(!READ_ONCE(n->waits)))
		return;
	local_bh_disable();
	if (likely(!(READ_ONCE(napi->state) & NAPIF_STATE_SCHED)) &&
	    likely(napi_schedule_prep(napi))) {
		/* Else a netpoll that comes between would keep it ours. */
		have = netpoll_poll_lock(napi);
		done = via_native_rx(n, NAPI_POLL_WEIGHT);
		if (program)
			n->rx_stats.polled += done;
		if (unlikely(done == NAPI_POLL_WEIGHT))
			via_native_fast.ack(n);
		/* Pairs with smp_mb() in via_native_tx_full(). */
		if (unlikely(READ_ONCE(n->waits)))
			via_native_room_again(n);
		napi_complete_done(napi, done);
		netpoll_poll_unlock(have);
	}
	local_bh_enable();
}

static void via_native_spin(struct via_ether_nic *nic)
{
	via_native_take(nic, true);
}

static void via_native_rx_look(struct via_ether_nic *nic)
{
	via_native_take(nic, false);
}

static struct via_ether_ops via_native_ether = {
	.owner = THIS_MODULE,
	.host_valid = via_ethernet_valid,
	.link_open = via_ethernet_link,
	.tx_begin = via_native_tx_begin,
	.tx_get = via_native_tx_get,
	.tx_put = via_native_tx_put,
	.tx_put_frags = via_native_tx_put_frags,
	.mem_map = via_native_mem_map,
	.mem_unmap = via_native_unmap,
	.tx_drop = via_native_tx_drop,
	.tx_end = via_native_tx_end,
	.tx_get_one = via_native_tx_get_one,
	.tx_put_one = via_native_tx_put_one,
	.busy_poll = via_native_spin,
	.busy_poll_mode = via_native_busy_poll_mode,
	.rx_look = via_native_rx_look,
	.stats = via_native_vi_stats,
};

#endif /* _VIA_NATIVE_PATH_H */

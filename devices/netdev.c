// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A VI NIC over any Linux network interface, whatever its driver.
 *
 * Theory of operation.  Frames go out through the driver's ndo_start_xmit
 * under the transmit lock, past the queueing disciplines, a burst at a time:
 * each frame waits for its successor, so that the driver hears of all but
 * the last that more will follow and rings the doorbell once.  Frames come
 * in before the stack or through it (netdev_recv.c).
 *
 * Where byte queue limits (BQL) have stopped the transmit queue, frames enter
 * its queueing discipline and wait there beside IP's, until the driver's
 * completions start it again.  What follows must not overtake them, so frames
 * take that way until the disciplines of all queues are empty.  They enter the
 * discipline of their own queue (dev_queue_xmit() would choose another one).
 * The discipline owns them from then on; it bounds how many there are, and one
 * that it drops is a loss.  A frame has all of its bytes and no callback, so the
 * interface or this module may go with frames queued.
 *
 * A queue that the driver has stopped takes nothing, and the class asks again.
 * So it is with BQL where there is no queueing discipline.
 *
 * An administrator attaches interfaces and detaches them: via(8).
 *
 * Locking: the list of attached interfaces is guarded by RTNL, under which
 * the notifier runs anyway.
 */

#include <linux/if_arp.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include "early.h"
#include "ethernet.h"
#include "netdev.h"

#define RX_FRAMES	2048	/* unknown: congestion control finds it */

static LIST_HEAD(attached);

/* Sending: BH off. */

/* Up, with a carrier, and there: all of it is in one word. */
static inline bool can_send(const struct net_device *dev)
{
	const unsigned long want = BIT(__LINK_STATE_START) |
				   BIT(__LINK_STATE_PRESENT);

	return (READ_ONCE(dev->state) & (want | BIT(__LINK_STATE_NOCARRIER))) ==
	       want;
}

/* The queue of a flow; false: it cannot be sent to. */
static __always_inline bool pick_queue(const struct net_device *dev, u32 flow,
				       struct netdev_queue **txq)
{
	if (unlikely(!can_send(dev)))
		return false;
	if (dev->real_num_tx_queues > 1)
		flow %= dev->real_num_tx_queues;
	else
		flow = 0;
	*txq = netdev_get_tx_queue(dev, flow);
	/* A device stacked on itself, as the stack checks it too. */
	return likely(READ_ONCE((*txq)->xmit_lock_owner) !=
		      smp_processor_id());
}

/* A burst to the driver itself. */
static __always_inline bool begin_direct(struct net_device *dev,
					 struct netdev_queue *txq,
					 struct via_ether_tx *tx)
{
	HARD_TX_LOCK(dev, txq, smp_processor_id());
	if (unlikely(netif_xmit_frozen_or_stopped(txq))) {
		HARD_TX_UNLOCK(dev, txq);
		return false;
	}
	__release(&txq->_xmit_lock);	/* for sparse: tx_end() unlocks */
	tx->queue = txq;
	tx->last = NULL;
	return true;
}

/* Instead of the last frame: those of the burst enter the discipline. */
#define QUEUED	((void *)1)

static bool has_discipline(struct netdev_queue *txq)
{
	return rcu_dereference_bh(txq->qdisc)->enqueue;
}

/* All that was in the discipline of the queue is with the driver. */
static bool is_queue_drained(struct netdev_queue *txq)
{
	struct Qdisc *q = rcu_dereference_bh(txq->qdisc);

	if (qdisc_qlen_sum(q))
		return false;
	/* What was taken out before is with the driver after that run. */
	smp_rmb();
	return !qdisc_is_running(q);
}

/*
 * May a burst to @txq go past the disciplines?  The frames that it must not
 * overtake are of the same VI, whose lock the caller holds, and so of the same
 * queue.
 */
static bool may_pass(struct via_netdev *vd, struct netdev_queue *txq)
{
	struct net_device *dev = vd->dev;
	bool all = true;
	u32 i;

	if (!is_queue_drained(txq))
		return false;
	spin_lock(&vd->queue_lock);
	for (i = 0; all && i < dev->real_num_tx_queues; i++)
		all = is_queue_drained(netdev_get_tx_queue(dev, i));
	if (all) {
		WRITE_ONCE(vd->queued, false);
		WRITE_ONCE(vd->ready, vd->pools);
	}
	spin_unlock(&vd->queue_lock);
	return true;
}

/* A burst to the discipline of the queue, if it has one. */
static bool begin_queued(struct netdev_queue *txq, struct via_ether_tx *tx)
{
	if (!has_discipline(txq))
		return false;
	tx->queue = txq;
	tx->last = QUEUED;
	return true;
}

static bool tx_begin(struct via_ether_nic *nic, struct via_ether_tx *tx,
		     u32 flow)
{
	struct via_netdev *vd = nic->priv;
	struct netdev_queue *txq;

	if (unlikely(!pick_queue(vd->dev, flow, &txq)))
		return false;
	if (unlikely(READ_ONCE(vd->queued)) && !may_pass(vd, txq))
		return begin_queued(txq, tx);
	if (likely(begin_direct(vd->dev, txq, tx)))
		return true;
	return READ_ONCE(txq->state) & QUEUE_STATE_STACK_XOFF &&
	       begin_queued(txq, tx);
}

static inline void frame_begin(struct sk_buff *skb, struct net_device *dev)
{
	skb->dev = dev;
	skb->protocol = via_ether_proto();
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
}

/* A new frame with room for @len bytes, Ethernet header included. */
static noinline struct sk_buff *frame_alloc(struct net_device *dev, u32 len)
{
	u32 head = LL_RESERVED_SPACE(dev);
	struct sk_buff *skb;

	skb = alloc_skb(head + len + dev->needed_tailroom,
			GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	skb_reserve(skb, head - ETH_HLEN);
	frame_begin(skb, dev);
	return skb;
}

/* Of frames, and of the payload of trains: that is in fewer pieces so. */
static DEFINE_PER_CPU(struct via_pages, pages);
static DEFINE_PER_CPU(struct via_pages, payload_pages);

/* The same for one use. */
static struct sk_buff *frame_paged(struct net_device *dev, u32 len)
{
	struct sk_buff *skb;

	skb = via_pages_frame(&pages, LL_RESERVED_SPACE(dev) - ETH_HLEN,
			      len + dev->needed_tailroom);
	if (likely(skb))
		frame_begin(skb, dev);
	return skb;
}

static inline bool frame_fits(const struct sk_buff *skb, u32 len)
{
	const struct net_device *dev = skb->dev;

	/* The head is where it was made for: drivers may put theirs there. */
	return skb->mac_header + ETH_HLEN == LL_RESERVED_SPACE(dev) &&
	       skb->mac_header + len + dev->needed_tailroom <=
	       skb_end_offset(skb);
}

/* Only we know of it: neither the driver nor a tap. */
static inline bool frame_free(const struct sk_buff *skb)
{
	if (refcount_read(&skb->users) != 1 || skb_cloned(skb))
		return false;
	/* Pairs with the release in refcount_dec_and_test(). */
	smp_acquire__after_ctrl_dep();
	return true;
}

/*
 * The oldest frame of the pool is in use, or does not fit any more: make one,
 * and keep it if there is room.
 */
static noinline struct sk_buff *pool_grow(struct net_device *dev,
					  struct pool *pool, u32 len)
{
	u32 full = dev->mtu + ETH_HLEN, at = pool->n;
	struct sk_buff *skb;

	if (at && frame_free(pool->skb[pool->oldest]))
		at = pool->oldest;
	else if (at >= POOL_MAX || at * full >= POOL_BYTES)
		return frame_alloc(dev, len);
	skb = frame_alloc(dev, max(len, full));
	if (!skb)
		return NULL;
	if (at < pool->n)
		consume_skb(pool->skb[at]);
	else
		pool->n++;
	pool->skb[at] = skb_get(skb);
	return skb;
}

/*
 * @len bytes behind the header.  @one: the burst does not know whether frames
 * are queued.
 */
static __always_inline bool get_frame(struct via_netdev *vd,
				      const struct via_ether_link *link, u32 len,
				struct via_ether_buf *buf, bool one)
{
	struct pool __percpu *pools = READ_ONCE(vd->ready);
	u32 size = max_t(u32, len + ETH_HLEN, ETH_ZLEN);
	struct sk_buff *skb = NULL;
	struct pool *pool;

	if (likely(pools)) {
		pool = this_cpu_ptr(pools);
		if (likely(pool->n))
			skb = pool->skb[pool->oldest];
		if (likely(skb && frame_free(skb) && frame_fits(skb, size))) {
			if (++pool->oldest >= pool->n)
				pool->oldest = 0;
			/* as frame_alloc() left it */
			skb->data = skb->head + skb->mac_header;
			skb_reset_tail_pointer(skb);
			skb->len = 0;
			refcount_set(&skb->users, 2);
		} else {
			skb = pool_grow(vd->dev, pool, size);
		}
	} else if (!one || !READ_ONCE(vd->queued)) {
		skb = frame_paged(vd->dev, size);
	}
	if (unlikely(!skb))
		return false;
	buf->data = via_ethernet_begin(skb->data, link, len);
	buf->priv = skb;
	return true;
}

static bool tx_get(struct via_ether_nic *nic, struct via_ether_tx *tx,
		   const struct via_ether_link *link, u32 len,
		   struct via_ether_buf *buf)
{
	return get_frame(nic->priv, link, len, buf, false);
}

static void tx_drop(struct via_ether_nic *nic, struct via_ether_tx *tx,
		    struct via_ether_buf *buf)
{
	kfree_skb(buf->priv);
}

/* False: the driver took it not, or there is no more room after it. */
static __always_inline bool xmit_skb(struct net_device *dev,
				     struct netdev_queue *txq,
				 struct sk_buff *skb, bool more)
{
	skb_set_queue_mapping(skb, txq - dev->_tx);
	if (unlikely(dev_nit_active(dev)))
		dev_queue_xmit_nit(skb, dev);
	if (unlikely(!dev_xmit_complete(netdev_start_xmit(skb, dev, txq,
							  more)))) {
		/* It was not stopped: a driver's whim, as good as a loss. */
		kfree_skb(skb);
		return false;
	}
	return !netif_xmit_frozen_or_stopped(txq);
}

/* A frame that may enter a discipline: one of the pool is only lent. */
static struct sk_buff *own_skb(struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (!skb_shared(skb))
		return skb;
	copy = skb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);
	kfree_skb(skb);
	return copy;
}

/*
 * To the discipline of the queue: the last that is known of the frame.  What it
 * drops, or there is no memory for, is lost.
 */
static void enqueue_skb(struct via_netdev *vd, struct netdev_queue *txq,
			struct sk_buff *skb)
{
	struct sk_buff *dropped = NULL;
	struct Qdisc *q;

	skb = own_skb(skb);
	if (unlikely(!skb))
		return;
	skb_set_queue_mapping(skb, txq - vd->dev->_tx);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	spin_lock(&vd->queue_lock);
	WRITE_ONCE(vd->queued, true);
	WRITE_ONCE(vd->ready, NULL);
	vd->tx_queued++;
	q = rcu_dereference_bh(txq->qdisc);
	if (unlikely(!q->enqueue)) {
		__qdisc_drop(skb, &dropped);
	} else if (q->flags & TCQ_F_NOLOCK) {
		qdisc_enqueue(skb, q, &dropped);
	} else {
		spin_lock(qdisc_lock(q));
		/* It has been emptied, or will be. */
		if (unlikely(test_bit(__QDISC_STATE_DEACTIVATED, &q->state)))
			__qdisc_drop(skb, &dropped);
		else
			qdisc_enqueue(skb, q, &dropped);
		spin_unlock(qdisc_lock(q));
	}
	spin_unlock(&vd->queue_lock);
	if (unlikely(dropped))
		kfree_skb_list(dropped);
}

/* BQL has stopped the queue in the middle of a burst: the rest is queued. */
static bool turn_aside(struct via_netdev *vd, struct via_ether_tx *tx,
		       struct sk_buff *skb)
{
	struct netdev_queue *txq = tx->queue;

	tx->last = NULL;
	if (!(READ_ONCE(txq->state) & QUEUE_STATE_STACK_XOFF) ||
	    !has_discipline(txq)) {
		kfree_skb(skb);
		return false;
	}
	__acquire(&txq->_xmit_lock);
	HARD_TX_UNLOCK(vd->dev, txq);
	tx->last = QUEUED;
	enqueue_skb(vd, txq, skb);
	return true;
}

/* A frame of a burst waits for the one behind it. */
static __always_inline bool put_frame(struct via_netdev *vd,
				      struct via_ether_tx *tx,
				      struct sk_buff *skb)
{
	struct sk_buff *last = tx->last;

	if (unlikely(last == QUEUED)) {
		enqueue_skb(vd, tx->queue, skb);
		return true;
	}
	if (last && unlikely(!xmit_skb(vd->dev, tx->queue, last, true)))
		return turn_aside(vd, tx, skb);
	tx->last = skb;
	return true;
}

static bool tx_put(struct via_ether_nic *nic, struct via_ether_tx *tx,
		   u32 len, struct via_ether_buf *buf)
{
	struct sk_buff *skb = buf->priv;

	/* tx_get() has made room, and cleared the padding. */
	__skb_put(skb, max_t(u32, len + ETH_HLEN, ETH_ZLEN));
	return put_frame(nic->priv, tx, skb);
}

/* While there are taps they get each frame. */
static bool tx_get_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			 const struct via_ether_link *link,
			 struct via_ether_train *t, struct via_ether_buf *buf)
{
	struct via_netdev *vd = nic->priv;
	struct sk_buff *skb;

	if (dev_nit_active(vd->dev))
		return false;
	skb = frame_paged(vd->dev, ETH_HLEN + t->hdr);
	if (likely(skb))
		skb = via_netdev_train(this_cpu_ptr(&payload_pages), skb,
				       link, t);
	if (unlikely(!skb))
		return false;
	buf->data = skb->data + ETH_HLEN;
	buf->priv = skb;
	return true;
}

static bool tx_copy_train(struct via_ether_nic *nic, struct via_ether_train *t,
			  struct via_ether_buf *buf)
{
	return via_netdev_train_copies(this_cpu_ptr(&payload_pages), buf->priv,
				       t);
}

static bool tx_put_train(struct via_ether_nic *nic, struct via_ether_tx *tx,
			 const struct via_ether_train *t,
			 struct via_ether_buf *buf)
{
	if (t->shared)
		via_netdev_train_pages(buf->priv, &t->pages);
	return put_frame(nic->priv, tx, buf->priv);
}

static void tx_end(struct via_ether_nic *nic, struct via_ether_tx *tx)
{
	struct via_netdev *vd = nic->priv;
	struct netdev_queue *txq = tx->queue;

	if (unlikely(tx->last == QUEUED)) {
		/* Pairs with the one in netdev_tx_completed_queue(). */
		smp_mb();
		netif_schedule_queue(txq);
		return;
	}
	if (tx->last)
		xmit_skb(vd->dev, txq, tx->last, false);
	__acquire(&txq->_xmit_lock);
	HARD_TX_UNLOCK(vd->dev, txq);
}

/* Anything unusual is for a burst. */
static bool tx_get_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
		       const struct via_ether_link *link, u32 flow, u32 len,
		       struct via_ether_buf *buf)
{
	struct via_netdev *vd = nic->priv;
	struct netdev_queue *txq;

	if (unlikely(!pick_queue(vd->dev, flow, &txq) ||
		     !begin_direct(vd->dev, txq, tx)))
		return false;
	if (likely(get_frame(vd, link, len, buf, true)))
		return true;
	tx_end(nic, tx);
	return false;
}

static void tx_put_one(struct via_ether_nic *nic, struct via_ether_tx *tx,
		       u32 len, struct via_ether_buf *buf)
{
	struct via_netdev *vd = nic->priv;
	struct netdev_queue *txq = tx->queue;
	struct sk_buff *skb = buf->priv;

	__skb_put(skb, max_t(u32, len + ETH_HLEN, ETH_ZLEN));
	xmit_skb(vd->dev, txq, skb, false);
	__acquire(&txq->_xmit_lock);
	HARD_TX_UNLOCK(vd->dev, txq);
}

static void fill_stats(struct via_ether_nic *nic, struct via_stats_sink *sink)
{
	struct via_netdev *vd = nic->priv;

	via_stat(sink, "wire_tx_queued", READ_ONCE(vd->tx_queued));
	via_stat(sink, "wire_rx_early", via_early_sum(vd->rx_early));
}

static struct via_ether_ops netdev_ops = {
	.owner = THIS_MODULE,
	.host_valid = via_ethernet_valid,
	.link_open = via_ethernet_link,
	.tx_begin = tx_begin,
	.tx_get = tx_get,
	.tx_put = tx_put,
	.tx_drop = tx_drop,
	.tx_end = tx_end,
	.tx_get_one = tx_get_one,
	.tx_put_one = tx_put_one,
	.tx_get_train = tx_get_train,
	.tx_copy_train = tx_copy_train,
	.tx_put_train = tx_put_train,
	.stats = fill_stats,
};

/* Attaching and detaching: RTNL held. */

static struct via_netdev *find_netdev(const struct net_device *dev)
{
	struct via_netdev *vd;

	ASSERT_RTNL();
	list_for_each_entry(vd, &attached, link)
		if (vd->dev == dev)
			return vd;
	return NULL;
}

static void pools_free(struct via_netdev *vd)
{
	int cpu;
	u32 i;

	if (!vd->pools)
		return;
	for_each_possible_cpu(cpu) {
		struct pool *pool = per_cpu_ptr(vd->pools, cpu);

		/* What the driver still has goes when it drops it. */
		for (i = 0; i < pool->n; i++)
			consume_skb(pool->skb[i]);
	}
	free_percpu(vd->pools);
	vd->pools = NULL;
	vd->ready = NULL;
}

/* Make the VI NIC and start to listen. */
static int nic_up(struct via_netdev *vd)
{
	struct net_device *dev = vd->dev;
	struct via_ether_nic *nic = via_ether_alloc(&netdev_ops);
	struct via_nic *ka;
	int err;

	if (!nic)
		return -ENOMEM;
	nic->priv = vd;
	nic->rx_frames = RX_FRAMES;
	nic->mtu = dev->mtu;
	nic->trains = via_netdev_takes_trains(dev);
	via_ethernet_own(nic, dev->dev_addr);
	ka = nic->ka;
	ka->ifindex = dev->ifindex;
	ka->parent = dev->dev.parent;
	/* It cannot go before the interface does, and then we are told. */
	ka->netns = dev_net(dev);
	ka->netdev = dev;
	snprintf(ka->name, sizeof(ka->name), "via_%s", vd->name);
	err = via_ether_register(nic);
	if (err == -EEXIST) {
		snprintf(ka->name, sizeof(ka->name), "via_%s@%u", vd->name,
			 dev_net(dev)->ns.inum);
		err = via_ether_register(nic);
	}
	if (err) {
		via_ether_free(nic);
		return err;
	}
	/* Without memory for it: frames are made one by one. */
	if (dev->priv_flags & IFF_TX_SKB_SHARING)
		vd->pools = alloc_percpu(struct pool);
	vd->ready = vd->pools;
	vd->queued = false;
	vd->nic = nic;
	via_netdev_listen(vd);
	return 0;
}

static void nic_down(struct via_netdev *vd)
{
	struct via_ether_nic *nic = vd->nic;

	if (!nic)
		return;
	via_netdev_deafen(vd);
	via_ether_unregister(nic);
	vd->nic = NULL;
	via_ether_free(nic);
	pools_free(vd);
}

static void vd_free(struct via_netdev *vd)
{
	free_percpu(vd->rx_early);
	kfree(vd);
}

static int attach_netdev(struct net_device *dev)
{
	struct via_netdev *vd;
	int err;

	if (find_netdev(dev))
		return -EEXIST;
	if (dev->type != ARPHRD_ETHER || dev->addr_len != ETH_ALEN ||
	    dev->flags & IFF_LOOPBACK || !is_valid_ether_addr(dev->dev_addr))
		return -EOPNOTSUPP;
	vd = kzalloc(sizeof(*vd), GFP_KERNEL);
	if (!vd)
		return -ENOMEM;
	vd->dev = dev;
	vd->rx_early = alloc_percpu(u64);
	if (!vd->rx_early) {
		kfree(vd);
		return -ENOMEM;
	}
	spin_lock_init(&vd->queue_lock);
	strscpy(vd->name, dev->name, sizeof(vd->name));
	netdev_hold(dev, &vd->tracker, GFP_KERNEL);
	err = nic_up(vd);
	if (err) {
		netdev_put(dev, &vd->tracker);
		vd_free(vd);
		return err;
	}
	list_add_tail(&vd->link, &attached);
	netdev_info(dev, "VI NIC /dev/%s\n", vd->nic->ka->name);
	return 0;
}

static void detach_netdev(struct via_netdev *vd)
{
	nic_down(vd);
	list_del(&vd->link);
	netdev_put(vd->dev, &vd->tracker);
	vd_free(vd);
}

/* The interface's address is the NIC's: a new one makes a new NIC. */
static void change_address(struct via_netdev *vd)
{
	int err;

	if (vd->nic && via_host_is(&vd->nic->host, vd->dev->dev_addr))
		return;
	nic_down(vd);
	err = nic_up(vd);
	if (err)
		netdev_err(vd->dev, "VI NIC lost, attach it again: error %d\n",
			   err);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct via_netdev *vd = find_netdev(dev);

	if (!vd)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UNREGISTER:
		if (dev->reg_state == NETREG_REGISTERED)
			nic_down(vd);	/* it moves to another namespace */
		else
			detach_netdev(vd);
		break;
	case NETDEV_REGISTER:
		if (!vd->nic)
			change_address(vd);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_DOWN:
		if (vd->nic)
			via_ether_break(vd->nic);
		break;
	case NETDEV_CHANGE:
		if (vd->nic && netif_carrier_ok(dev))
			via_ether_wake(vd->nic);
		break;
	case NETDEV_FEAT_CHANGE:
		if (vd->nic)
			WRITE_ONCE(vd->nic->trains,
				   via_netdev_takes_trains(dev));
		break;
	case NETDEV_CHANGEMTU:
		if (vd->nic)
			via_ether_set_mtu(vd->nic, dev->mtu);
		break;
	case NETDEV_CHANGEADDR:
		change_address(vd);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = netdev_event,
};

/* For the agent, on an administrator's word: RTNL not held. */

static int attach_index(struct net *net, const struct via_attach_to *to,
			enum via_refusal *why)
{
	struct net_device *dev;
	int err = -ENODEV;

	rtnl_lock();
	dev = __dev_get_by_index(net, to->ifindex);
	if (dev)
		err = attach_netdev(dev);
	rtnl_unlock();
	if (err == -EEXIST)
		*why = VIA_REFUSE_ATTACHED;
	else if (err == -EBUSY)
		*why = VIA_REFUSE_OWN_DRIVER;
	else if (err == -EOPNOTSUPP)
		*why = VIA_REFUSE_KIND;
	else if (err == -ENODEV)
		*why = VIA_REFUSE_NO_INTERFACE;
	return err;
}

static int detach_index(struct net *net, const struct via_nic *nic,
			enum via_refusal *why)
{
	struct via_netdev *vd = NULL;
	struct net_device *dev;

	rtnl_lock();
	dev = __dev_get_by_index(net, nic->ifindex);
	if (dev)
		vd = find_netdev(dev);
	if (vd)
		detach_netdev(vd);
	rtnl_unlock();
	if (vd)
		return 0;
	*why = VIA_REFUSE_NO_INTERFACE;
	return -ENODEV;
}

static struct via_attach_ops attach_ops = {
	.owner = THIS_MODULE,
	.attach = attach_index,
	.detach = detach_index,
};

static void detach_all(void)
{
	struct via_netdev *vd, *n;

	rtnl_lock();
	list_for_each_entry_safe(vd, n, &attached, link)
		detach_netdev(vd);
	rtnl_unlock();
}

static int __init via_netdev_init(void)
{
	int err = register_netdevice_notifier(&notifier);

	if (err)
		return err;
	via_netdev_early_begin();
	via_ether_attach_register(&attach_ops);
	return 0;
}

static void __exit via_netdev_exit(void)
{
	via_ether_attach_unregister(&attach_ops);
	unregister_netdevice_notifier(&notifier);
	detach_all();
	via_netdev_early_end();
	via_pages_end(&pages);
	via_pages_end(&payload_pages);
}

module_init(via_netdev_init);
module_exit(via_netdev_exit);

MODULE_DESCRIPTION("VI NIC over any network interface");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside via_netdev. */
#ifndef _VIA_NETDEV_H
#define _VIA_NETDEV_H

#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include "ether/via_ether.h"
#include "pages.h"

#define POOL_MAX	128	/* frames kept for reuse, per CPU */
#define POOL_BYTES	(512 * 1024)	/* and their bytes */

/*
 * Frames used over and over: we hold a reference of our own, so that the
 * driver's freeing only drops its own and costs next to nothing; a frame is
 * free again when ours is the last.  The driver gives frames back about in
 * the order it got them: only the oldest is looked at, and the pool grows
 * when it is still in use.  Frames of interfaces that do not permit it (veth,
 * bridges, bonds) are in pieces of pages.
 */
struct pool {
	u32 n;				/* frames in the pool */
	u32 oldest;			/* index of it */
	struct sk_buff *skb[POOL_MAX];
};

/**
 * struct via_netdev - an attached interface
 * @link:	RTNL: attached
 * @dev:	constant, a reference is held
 * @tracker:	of that reference
 * @name:	constant: the interface's name when it was attached
 * @nic:	RTNL: NULL while the interface moves between namespaces
 * @pt:		the packet handler, registered while nic is set
 * @pools:	per CPU, used with BH off while nic is set; NULL: the driver
 *		wants frames of its own
 * @ready:	@pools, or NULL while @queued (written under @queue_lock, read
 *		without)
 * @queue_lock:	inside the queue locks, the locks of disciplines inside of it
 * @queued:	likewise: frames may be in the queueing disciplines
 * @tx_queued:	queue_lock: frames that were put there
 * @rx_early:	per CPU, of frames that were taken before the stack; BH off
 */
struct via_netdev {
	struct list_head link;
	struct net_device *dev;
	netdevice_tracker tracker;
	char name[IFNAMSIZ];
	struct via_ether_nic *nic;
	struct packet_type pt;
	struct pool __percpu *pools;
	struct pool __percpu *ready;
	spinlock_t queue_lock;		/* guards the two below */
	bool queued;
	u64 tx_queued;
	u64 __percpu *rx_early;
};

/* netdev_recv.c: while @nic is set; RTNL. */
void via_netdev_listen(struct via_netdev *vd);
/* Waits for frames that are being received. */
void via_netdev_deafen(struct via_netdev *vd);
/* Of the module. */
void via_netdev_early_begin(void);
void via_netdev_early_end(void);

/* netdev_train.c: may trains go out by the interface? */
bool via_netdev_takes_trains(const struct net_device *dev);
/*
 * Make @skb, with room for the headers, the train that @t wants, with room for its
 * payload.  NULL: frames one by one; it is free.  BH off.
 */
struct sk_buff *via_netdev_train(struct via_pages *pages, struct sk_buff *skb,
				 const struct via_ether_link *link,
				 struct via_ether_train *t);
/* Room for copies of the payload, @t->bytes.  False: not enough memory.  BH off. */
bool via_netdev_train_copies(struct via_pages *pages, struct sk_buff *skb,
			     struct via_ether_train *t);
/* The payload is these, whose references it takes. */
void via_netdev_train_pages(struct sk_buff *skb,
			    const struct via_page_frags *pages);
/* The frames of a train, for the stack: see skb_segment(). */
struct sk_buff *via_netdev_segment(struct sk_buff *skb,
				   netdev_features_t features);

/* Bytes of payload of each frame, if it is a train; else 0. */
static inline u32 via_netdev_train_of(const struct sk_buff *skb)
{
	const struct skb_shared_info *info = skb_shinfo(skb);

	return unlikely(info->gso_size) && info->gso_type & SKB_GSO_SCTP ?
	       info->gso_size : 0;
}

#endif /* _VIA_NETDEV_H */

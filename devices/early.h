/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that NIC modules take out of GRO, before the stack.
 */
#ifndef _VIA_EARLY_H
#define _VIA_EARLY_H

#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>
#include <net/gro.h>
#include <net/net_namespace.h>
#include "../kernel/compat.h"
#ifdef VIA_RX_QUEUE_H
#include <net/netdev_rx_queue.h>
#endif

/* Another CPU is to receive it (RPS). */
static inline bool via_early_steered(const struct sk_buff *skb)
{
#ifdef CONFIG_RPS
	u32 queue = skb_rx_queue_recorded(skb) ? skb_get_rx_queue(skb) : 0;

	if (queue < skb->dev->real_num_rx_queues)
		return rcu_access_pointer(skb->dev->_rx[queue].rps_map);
#endif
	return false;
}

/*
 * Would nothing on the stack's way look at a frame that has come to this
 * interface?  No tap or packet socket of the namespace, no rule of tc or of the
 * packet filter at the interface, no bridge, bond or other device above it, no
 * VLAN.  With generic XDP there is no GRO.  RCU read side.
 */
static inline bool via_early_ok(const struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;

	if (skb->pkt_type != PACKET_HOST || skb_vlan_tag_present(skb) ||
	    rcu_access_pointer(dev->rx_handler) || via_tc_ingress(dev) ||
	    dev_nit_active(dev) ||
	    !hlist_empty(&dev_net(dev)->packet.sklist))
		return false;
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(dev->nf_hooks_ingress))
		return false;
#endif
	return !via_early_steered(skb);
}

/**
 * struct via_early_order - frames that go to the stack, of one CPU
 * @pending:	that it has not delivered yet
 * @since:	jiffies when the first of these went there
 *
 * The stack delivers at the end of the driver's poll.  What follows must not
 * overtake it, and goes there too.  A frame that the stack drops is no longer
 * waited for after one or two jiffies.  BH off.
 */
struct via_early_order {
	u32 pending;
	unsigned long since;
};

static inline void via_early_passed(struct via_early_order __percpu *order,
				    u32 frames)
{
	struct via_early_order *o = this_cpu_ptr(order);

	if (!o->pending)
		o->since = jiffies;
	o->pending += frames;
}

static inline void via_early_delivered(struct via_early_order __percpu *order,
				       u32 frames)
{
	struct via_early_order *o = this_cpu_ptr(order);

	o->pending -= min(o->pending, frames);
}

static inline bool via_early_follows(struct via_early_order __percpu *order)
{
	struct via_early_order *o = this_cpu_ptr(order);

	if (likely(!o->pending))
		return false;
	if (time_before(jiffies, o->since + 2))
		return true;
	o->pending = 0;
	return false;
}

/* What GRO's callback returns: the frame was taken, or the stack gets it. */
static inline struct sk_buff *via_early_taken(struct sk_buff *skb)
{
	napi_consume_skb(skb, 1);
	return ERR_PTR(-EINPROGRESS);
}

static inline struct sk_buff *via_early_left(struct sk_buff *skb)
{
	NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

/* A counter that each CPU has of its own. */
static inline u64 via_early_sum(const u64 __percpu *counter)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*per_cpu_ptr(counter, cpu));
	return sum;
}

#endif /* _VIA_EARLY_H */

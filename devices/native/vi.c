// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The VI NIC of a native interface, via_<interface>.  It comes and goes with
 * the interface; another name, address or network namespace makes a new one.
 *
 * All of it runs in the notifier, under RTNL, but for the last step of one that
 * goes: programs' memory is unmapped by a work item, which takes as long as there
 * is memory, and the card goes when that is done.
 */

#include <net/net_namespace.h>
#include <linux/rtnetlink.h>
#include "../ethernet.h"
#include "native.h"

static struct via_native *native_of(struct net_device *dev)
{
	return dev->netdev_ops == &via_native_netdev_ops ? netdev_priv(dev) :
							   NULL;
}

/* Without RTNL: see via_ether_free(). */
static void free_later(struct via_native *n, struct via_ether_nic *nic)
{
	llist_add(&nic->gone, &n->gone);
	queue_work(system_dfl_wq, &n->gone_work);
}

static void nic_up(struct via_native *n)
{
	struct net_device *dev = n->dev;
	struct via_ether_nic *nic = via_ether_alloc(n->chip->ether);
	struct via_nic *ka;
	int err = -ENOMEM;

	if (!nic)
		goto err_alloc;
	nic->priv = n;
	nic->rx_frames = n->chip->rx_slots;
	nic->mtu = dev->mtu;
	via_ethernet_own(nic, dev->dev_addr);
	ka = nic->ka;
	ka->ifindex = dev->ifindex;
	ka->parent = dev->dev.parent;
	/* It cannot go before the interface does, and then we are told. */
	ka->netns = dev_net(dev);
	ka->netdev = dev;
	snprintf(ka->name, sizeof(ka->name), "via_%s", dev->name);
	err = via_ether_register(nic);
	if (err == -EEXIST) {
		/* Names of interfaces are unique in a namespace only. */
		snprintf(ka->name, sizeof(ka->name), "via_%s@%u", dev->name,
			 dev_net(dev)->ns.inum);
		err = via_ether_register(nic);
	}
	if (err)
		goto err_register;
	/* Complete: let frames in.  Pairs with READ_ONCE() in the poll. */
	smp_store_release(&n->nic, nic);
	netdev_info(dev, "VI NIC /dev/%s\n", ka->name);
	return;

err_register:
	free_later(n, nic);
err_alloc:
	netdev_err(dev, "no VI NIC: error %d; IP works without it\n", err);
}

static void nic_down(struct via_native *n)
{
	struct via_ether_nic *nic = n->nic;

	if (!nic)
		return;
	WRITE_ONCE(n->nic, NULL);
	synchronize_net();		/* polls that have seen it */
	via_ether_unregister(nic);
	free_later(n, nic);
}

static void free_gone(struct work_struct *work)
{
	struct via_native *n = container_of(work, struct via_native, gone_work);
	struct via_ether_nic *nic, *next;

	llist_for_each_entry_safe(nic, next, llist_del_all(&n->gone), gone)
		via_ether_free(nic);
}

void via_native_gone_init(struct via_native *n)
{
	init_llist_head(&n->gone);
	INIT_WORK(&n->gone_work, free_gone);
}

void via_native_gone_end(struct via_native *n)
{
	/* Behind the last nic_down(): whatever is on the list is queued. */
	flush_work(&n->gone_work);
}

static void nic_renew(struct via_native *n)
{
	nic_down(n);
	nic_up(n);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct via_native *n = native_of(dev);

	if (!n)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
		if (!n->nic)
			nic_up(n);
		break;
	case NETDEV_UNREGISTER:
		nic_down(n);
		break;
	case NETDEV_CHANGENAME:
		nic_renew(n);
		break;
	case NETDEV_CHANGEADDR:
		if (!n->nic || !via_host_is(&n->nic->host, dev->dev_addr))
			nic_renew(n);
		break;
	case NETDEV_GOING_DOWN:
	case NETDEV_DOWN:
		if (n->nic)
			via_ether_break(n->nic);
		break;
	case NETDEV_CHANGE:
		if (n->nic && netif_carrier_ok(dev))
			via_ether_wake(n->nic);
		break;
	case NETDEV_CHANGEMTU:
		if (n->nic)
			via_ether_set_mtu(n->nic, dev->mtu);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = netdev_event,
};

int via_native_vi_init(void)
{
	return register_netdevice_notifier(&notifier);
}

void via_native_vi_exit(void)
{
	unregister_netdevice_notifier(&notifier);
}

void via_native_vi_stats(struct via_ether_nic *nic,
			 struct via_stats_sink *sink)
{
	struct via_native *n = nic->priv;

	via_stat(sink, "wire_tx_full", n->tx_stats.full);
	via_stat(sink, "wire_tx_errors", n->tx_stats.errors);
	via_stat(sink, "wire_rx_errors", n->rx_stats.errors);
	via_stat(sink, "wire_rx_empty", n->rx_stats.empty);
	via_stat(sink, "wire_rx_polled", n->rx_stats.polled);
	via_stat(sink, "wire_resets", n->resets);
}
EXPORT_SYMBOL_GPL(via_native_vi_stats);

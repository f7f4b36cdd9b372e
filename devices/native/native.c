// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Native Ethernet drivers: bringing the device up and down, and its
 * net_device.  native.h has the theory.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include "native.h"

#define LINK_PERIOD	(2 * HZ)
#define TX_TIMEOUT	(5 * HZ)

static bool polling = true;
module_param(polling, bool, 0644);
MODULE_PARM_DESC(polling,
		 "programs that spin look for frames themselves, without interrupts");

/* The chip is stuck or lost: down and up again, from a worker. */
void via_native_fail(struct via_native *n, const char *why, u32 status)
{
	if (net_ratelimit())
		netdev_err(n->dev, "%s (status %#x), starting the chip again\n",
			   why, status);
	schedule_work(&n->reset_work);
}
EXPORT_SYMBOL_GPL(via_native_fail);

/*
 * Serialised by the agent.  The mask of a beginning may come between the last
 * look of NAPI's poll at @polled and its unmasking: then a frame interrupts in
 * busy-polling mode, once.
 */
bool via_native_busy_poll_mode(struct via_ether_nic *nic,
			       enum via_busy_poll_step step)
{
	struct via_native *n = nic->priv;

	if (step == VIA_BUSY_POLL_BEGIN) {
		/* Pairs with poll_stop(): it ends what it does not prevent. */
		if (!READ_ONCE(n->poll_ok) || !READ_ONCE(polling))
			return false;
		WRITE_ONCE(n->polled, true);
		n->chip->mask(n);
		return true;
	}
	if (step == VIA_BUSY_POLL_END)
		WRITE_ONCE(n->polled, false);
	napi_schedule(&n->napi);
	return true;
}
EXPORT_SYMBOL_GPL(via_native_busy_poll_mode);

/* Up and down: RTNL. */

/* Programs look no more, and interrupts bring what they left. */
static void poll_stop(struct via_native *n)
{
	WRITE_ONCE(n->poll_ok, false);
	if (n->nic)
		via_ether_busy_poll_stop(n->nic);
	synchronize_net();
}

static void set_tx_ok(struct via_native *n, bool ok)
{
	struct via_native *pair;
	u32 i;

	for (i = 0; i < n->pairs; i++) {
		pair = via_native_pair(n, i);
		__netif_tx_lock_bh(via_native_pair_txq(pair));
		pair->tx_ok = ok && pair->up;
		__netif_tx_unlock_bh(via_native_pair_txq(pair));
	}
}

static void set_up(struct via_native *n, bool up)
{
	struct via_native *pair;
	u32 i;

	for (i = 0; i < n->pairs; i++) {
		pair = via_native_pair(n, i);
		__netif_tx_lock_bh(via_native_pair_txq(pair));
		pair->up = up;
		pair->tx_ok = false;
		__netif_tx_unlock_bh(via_native_pair_txq(pair));
	}
}

/*
 * The address lists' lock is held.  The work is not queued once up is false:
 * see chip_down().
 */
static void set_filter(struct via_native *n)
{
	__netif_tx_lock(via_native_txq(n), smp_processor_id());
	n->filter_due = n->up && !n->chip->filter(n);
	if (n->filter_due)
		mod_delayed_work(system_percpu_wq, &n->link_work, 1);
	__netif_tx_unlock(via_native_txq(n));
}

static void renew_filter(struct via_native *n)
{
	netif_addr_lock_bh(n->dev);
	set_filter(n);
	netif_addr_unlock_bh(n->dev);
}

static void set_link(struct via_native *n, const struct via_native_link *link)
{
	u32 i;

	if (link->gone && !n->link.gone)
		netdev_err(n->dev, "gone from the bus\n");
	n->link = *link;
	set_tx_ok(n, link->up);
	if (link->up) {
		netif_carrier_on(n->dev);
		for (i = 0; i < n->pairs; i++)
			via_native_wake(via_native_pair(n, i));
		netdev_info(n->dev, "link up, %u Mb/s, %s duplex\n",
			    link->mbps, link->full ? "full" : "half");
	} else {
		netif_carrier_off(n->dev);
		netdev_info(n->dev, "link down\n");
	}
}

/* Pulled out (all ones), or switched off behind our back. */
static bool does_card_answer(struct via_native *n)
{
	u16 command;

	pci_read_config_word(n->pdev, PCI_COMMAND, &command);
	return command != U16_MAX && command & PCI_COMMAND_MEMORY;
}

/* No wire, but no card either: connections end now, not after a patience. */
static void lose_card(struct via_native *n)
{
	struct via_ether_nic *nic;

	rcu_read_lock();
	nic = READ_ONCE(n->nic);
	if (nic)
		via_ether_break_atomic(nic);
	rcu_read_unlock();
}

/* Look at the wire.  Not under RTNL: closing waits for this under it. */
static void link_work(struct work_struct *work)
{
	struct via_native *n = container_of(to_delayed_work(work),
					    struct via_native, link_work);
	struct via_native_link link = {};

	if (READ_ONCE(n->testing))
		return;
	n->chip->link(n, &link);
	if (!link.up && !does_card_answer(n))
		link.gone = true;
	if (link.gone) {
		lose_card(n);
	} else if (n->link.gone) {
		/* Back, and knows nothing of us. */
		n->link.gone = false;
		schedule_work(&n->reset_work);
	}
	if (link.gone != n->link.gone || link.up != netif_carrier_ok(n->dev) ||
	    (link.up && (link.mbps != n->link.mbps ||
			 link.full != n->link.full)))
		set_link(n, &link);
	queue_delayed_work(system_percpu_wq, &n->link_work,
			   round_jiffies_relative(LINK_PERIOD));
	if (READ_ONCE(n->filter_due))
		renew_filter(n);
}

/* The wire may have changed.  Any context, while up. */
void via_native_look(struct via_native *n)
{
	mod_delayed_work(system_percpu_wq, &n->link_work, 0);
}
EXPORT_SYMBOL_GPL(via_native_look);

/* The chip reads nothing: a wait for a frame to leave (map.c) ends. */
static void tx_empty(struct via_native *n)
{
	struct via_native *pair;
	u32 i;

	for (i = 0; i < n->pairs; i++) {
		pair = via_native_pair(n, i);
		__netif_tx_lock_bh(via_native_pair_txq(pair));
		pair->tx.next = 0;
		via_native_tx_forget(pair);
		__netif_tx_unlock_bh(via_native_pair_txq(pair));
	}
}

/* The polls of all pairs, and then their interrupts. */
static void polls_enable(struct via_native *n)
{
	u32 i;

	for (i = 0; i < n->pairs; i++)
		napi_enable(&via_native_pair(n, i)->napi);
	for (i = 0; i < n->pairs; i++)
		n->chip->unmask(via_native_pair(n, i));
}

static void polls_disable(struct via_native *n)
{
	u32 i;

	for (i = 0; i < n->pairs; i++)
		napi_disable(&via_native_pair(n, i)->napi);
	/* No poll after this, and so no unmasking. */
	for (i = 0; i < n->pairs; i++)
		n->chip->mask(via_native_pair(n, i));
	for (i = 0; i < n->pairs; i++)
		synchronize_irq(via_native_pair(n, i)->irqs.irq);
	for (i = 0; i < n->chip->own_irqs; i++)
		synchronize_irq(n->irqs.own[i]);
}

/* From rings to a running chip. */
static int chip_up(struct via_native *n)
{
	u32 i;
	int err;

	tx_empty(n);
	for (i = 0; i < n->pairs; i++) {
		via_native_pair(n, i)->rx.next = 0;
		WRITE_ONCE(via_native_pair(n, i)->waits, false);
	}
	/*
	 * What it did last is not known: it may have the addresses of rings
	 * that are gone.  So it is made quiet before it may reach memory, and
	 * one that does not listen never may.
	 */
	if (!does_card_answer(n))
		return -ENODEV;
	n->chip->stop(n);
	pci_set_master(n->pdev);
	err = n->chip->start(n);
	if (err) {
		pci_clear_master(n->pdev);
		tx_empty(n);
		return err;
	}
	set_up(n, true);
	/* The address lists may have changed while it was not up. */
	renew_filter(n);
	polls_enable(n);
	WRITE_ONCE(n->poll_ok, true);
	netif_tx_start_all_queues(n->dev);
	/* The wire decides when to send. */
	mod_delayed_work(system_percpu_wq, &n->link_work, 0);
	return 0;
}

static void chip_down(struct via_native *n)
{
	poll_stop(n);
	set_up(n, false);
	netif_tx_disable(n->dev);
	polls_disable(n);
	/* And so the work is not queued again. */
	cancel_delayed_work_sync(&n->link_work);
	netif_carrier_off(n->dev);
	n->chip->stop(n);
	/* If it did not hear that. */
	pci_clear_master(n->pdev);
	tx_empty(n);
}

static u32 buf_size(const struct via_native *n, u32 mtu)
{
	return mtu > ETH_DATA_LEN ? n->chip->jumbo_buf : VIA_NATIVE_BUF;
}

/* Memory for all pairs, in use or not yet. */
struct all_rings {
	struct via_native_rings pair[VIA_NATIVE_PAIRS];
};

/* Nothing runs. */
static void swap_rings(struct via_native *n, struct all_rings *r)
{
	struct via_native *pair;
	u32 i;

	for (i = 0; i < n->pairs; i++) {
		pair = via_native_pair(n, i);
		via_native_rings_swap(pair, &r->pair[i]);
		pair->tx_max = VIA_NATIVE_EXTRA +
			       (pair->buf_size > VIA_NATIVE_BUF ?
				n->chip->max_mtu : ETH_DATA_LEN);
	}
}

static void free_memory(struct via_native *n, struct all_rings *r)
{
	u32 i;

	for (i = 0; i < n->pairs; i++)
		via_native_rings_free(via_native_pair(n, i), &r->pair[i]);
}

static int alloc_memory(struct via_native *n, struct all_rings *r, u32 size)
{
	int err = 0;
	u32 i;

	*r = (struct all_rings){};
	for (i = 0; i < n->pairs && !err; i++)
		err = via_native_rings_alloc(via_native_pair(n, i),
					     &r->pair[i], size);
	if (err)
		free_memory(n, r);
	return err;
}

static void free_rings(struct via_native *n)
{
	struct all_rings r = {};

	swap_rings(n, &r);
	free_memory(n, &r);
}

/* Of the first @pairs pairs, and the first @own of the chip's own. */
static void free_irqs(struct via_native *n, u32 pairs, u32 own)
{
	while (own--)
		free_irq(n->irqs.own[own], n);
	while (pairs--)
		free_irq(via_native_pair(n, pairs)->irqs.irq,
			 via_native_pair(n, pairs));
}

static int request_irqs(struct via_native *n)
{
	struct via_native *pair;
	u32 i, own = 0;
	int err;

	for (i = 0; i < n->pairs; i++) {
		pair = via_native_pair(n, i);
		snprintf(pair->irqs.name, sizeof(pair->irqs.name),
			 i ? "%s-ip%u" : "%s", n->dev->name, i);
		err = request_irq(pair->irqs.irq, n->chip->hard_irq,
				  IRQF_SHARED, pair->irqs.name, pair);
		if (err)
			goto err_irq;
	}
	for (; own < n->chip->own_irqs; own++) {
		err = request_irq(n->irqs.own[own], n->chip->own_irq, 0,
				  n->irqs.name, n);
		if (err)
			goto err_irq;
	}
	return 0;

err_irq:
	free_irqs(n, i, own);
	return err;
}

static void free_all_irqs(struct via_native *n)
{
	free_irqs(n, n->pairs, n->chip->own_irqs);
}

static int native_open(struct net_device *dev)
{
	struct via_native *n = netdev_priv(dev);
	struct all_rings r;
	int err;

	netif_carrier_off(dev);
	n->link = (struct via_native_link){};
	err = alloc_memory(n, &r, buf_size(n, dev->mtu));
	if (err)
		return err;
	swap_rings(n, &r);
	err = request_irqs(n);
	if (err)
		goto err_irq;
	err = chip_up(n);
	if (err)
		goto err_chip;
	return 0;

err_chip:
	free_all_irqs(n);
err_irq:
	free_rings(n);
	return err;
}

static int native_stop(struct net_device *dev)
{
	struct via_native *n = netdev_priv(dev);

	/* A chip that could not be started again has been left down. */
	if (n->up)
		chip_down(n);
	free_all_irqs(n);
	free_rings(n);
	return 0;
}

static void restart_chip(struct via_native *n)
{
	int err;

	ASSERT_RTNL();
	if (n->up)
		chip_down(n);
	err = chip_up(n);
	if (err)
		netdev_err(n->dev, "cannot start the chip: error %d; set the interface down and up\n",
			   err);
}

/* What an interface that is not up has not. */
static int test_alloc(struct via_native *n)
{
	struct all_rings r;
	int err = alloc_memory(n, &r, buf_size(n, n->dev->mtu));

	if (err)
		return err;
	swap_rings(n, &r);
	err = request_irqs(n);
	if (err)
		free_rings(n);
	return err;
}

static void test_free(struct via_native *n)
{
	if (n->up)
		chip_down(n);
	WRITE_ONCE(n->testing, false);
	if (netif_running(n->dev)) {
		restart_chip(n);
		return;
	}
	free_all_irqs(n);
	free_rings(n);
}

int via_native_test_begin(struct via_native *n)
{
	int err = 0;

	if (!n->chip->loopback)
		return -EOPNOTSUPP;
	if (!netif_running(n->dev))
		err = test_alloc(n);
	if (err)
		return err;
	WRITE_ONCE(n->testing, true);
	if (n->up)
		chip_down(n);
	err = chip_up(n);
	if (!err) {
		/* The interrupt is what is tested. */
		poll_stop(n);
		cancel_delayed_work_sync(&n->link_work);
		err = n->chip->loopback(n, true);
	}
	if (err)
		test_free(n);
	else
		set_tx_ok(n, true);
	return err;
}

void via_native_test_end(struct via_native *n)
{
	n->chip->loopback(n, false);
	test_free(n);
}

static void reset_work(struct work_struct *work)
{
	struct via_native *n = container_of(work, struct via_native,
					    reset_work);

	rtnl_lock();
	if (netif_running(n->dev) && netif_device_present(n->dev)) {
		n->resets++;
		restart_chip(n);
	}
	rtnl_unlock();
}

/*
 * Other buffers where the new MTU wants them; if there is no memory for them
 * all stays as it is.  Connections that agreed upon longer frames than will
 * pass end.
 */
static int native_change_mtu(struct net_device *dev, int mtu)
{
	struct via_native *n = netdev_priv(dev);
	struct all_rings r;
	int err;

	if (!netif_running(dev) || buf_size(n, mtu) == n->buf_size) {
		/* Of a lower one before it holds, of a higher one behind. */
		if (n->nic && mtu < dev->mtu)
			via_ether_set_mtu(n->nic, mtu);
		WRITE_ONCE(dev->mtu, mtu);
		return 0;
	}
	err = alloc_memory(n, &r, buf_size(n, mtu));
	if (err)
		return err;
	if (n->nic)
		via_ether_set_mtu(n->nic, mtu);
	if (n->up)
		chip_down(n);
	swap_rings(n, &r);
	free_memory(n, &r);
	if (n->nic && mtu < dev->mtu)
		via_ether_break(n->nic);
	WRITE_ONCE(dev->mtu, mtu);
	restart_chip(n);
	return 0;
}

/* The net_device. */

static void add_stats(const struct via_native *pair,
		      struct rtnl_link_stats64 *s)
{
	u32 i;

	for (i = 0; i < VIA_NATIVE_WHO; i++) {
		s->tx_packets += READ_ONCE(pair->tx_stats.sent[i].frames);
		s->tx_bytes += READ_ONCE(pair->tx_stats.sent[i].bytes);
		s->rx_packets += READ_ONCE(pair->rx_stats.taken[i].frames);
		s->rx_bytes += READ_ONCE(pair->rx_stats.taken[i].bytes);
	}
	s->tx_errors += READ_ONCE(pair->tx_stats.errors);
	s->rx_errors += READ_ONCE(pair->rx_stats.errors);
	s->rx_dropped += READ_ONCE(pair->rx_stats.dropped);
	s->rx_missed_errors += READ_ONCE(pair->rx_missed);
}

static void native_get_stats64(struct net_device *dev,
			       struct rtnl_link_stats64 *s)
{
	struct via_native *n = netdev_priv(dev);
	u32 i;

	for (i = 0; i < n->pairs; i++)
		add_stats(via_native_pair(n, i), s);
}

static void native_set_rx_mode(struct net_device *dev)
{
	set_filter(netdev_priv(dev));
}

/* IP has the further pairs, where there are some. */
static u16 native_select_queue(struct net_device *dev, struct sk_buff *skb,
			       struct net_device *sb_dev)
{
	struct via_native *n = netdev_priv(dev);

	switch (n->pairs) {
	case 1:
		return 0;
	case 2:
		return 1;
	default:
		return 1 + reciprocal_scale(skb_get_hash(skb), n->pairs - 1);
	}
}

static void native_tx_timeout(struct net_device *dev, unsigned int queue)
{
	via_native_fail(netdev_priv(dev), "transmitter stuck", 0);
}

/* The chip differs in how frames are sent, not in what that is. */
static netdev_tx_t native_start_xmit(struct sk_buff *skb,
				     struct net_device *dev)
{
	struct via_native *n = netdev_priv(dev);

	return n->chip->xmit(skb, dev);
}

const struct net_device_ops via_native_netdev_ops = {
	.ndo_open = native_open,
	.ndo_stop = native_stop,
	.ndo_start_xmit = native_start_xmit,
	.ndo_select_queue = native_select_queue,
	.ndo_get_stats64 = native_get_stats64,
	.ndo_set_rx_mode = native_set_rx_mode,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_tx_timeout = native_tx_timeout,
	.ndo_change_mtu = native_change_mtu,
};

/* The PCI function. */

/* As many pairs as there are vectors for, two at least. */
static int map_vectors(struct via_native *n)
{
	u32 own = n->chip->own_irqs, i;
	int got;

	got = pci_alloc_irq_vectors(n->pdev, 2 + own, n->pairs + own,
				    PCI_IRQ_MSIX);
	if (got < 0) {
		dev_err(&n->pdev->dev, "%s needs %u interrupts by MSI-X: error %d\n",
			n->pdev->driver->name, 2 + own, got);
		return got;
	}
	n->pairs = got - own;
	n->irqs.irq = pci_irq_vector(n->pdev, 0);
	for (i = 0; i < own; i++)
		n->irqs.own[i] = pci_irq_vector(n->pdev, n->pairs + i);
	return 0;
}

static int map_irqs(struct via_native *n)
{
	if (n->chip->more)
		return map_vectors(n);
	/* Without it the line does. */
	if (n->chip->msi)
		pci_enable_msi(n->pdev);
	n->irqs.irq = n->pdev->irq;
	return 0;
}

static void unmap_irqs(struct via_native *n)
{
	if (n->chip->more)
		pci_free_irq_vectors(n->pdev);
	else if (n->chip->msi)
		pci_disable_msi(n->pdev);
}

static int map_card(struct via_native *n)
{
	struct pci_dev *pdev = n->pdev;
	int err;

	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev,
					DMA_BIT_MASK(n->chip->dma_bits));
	if (err)
		goto err_mask;
	err = pci_request_regions(pdev, pdev->driver->name);
	if (err)
		goto err_mask;
	err = -ENODEV;
	n->regs = pci_iomap(pdev, n->chip->bar, 0);
	if (!n->regs)
		goto err_map;
	err = map_irqs(n);
	if (err)
		goto err_irqs;
	return 0;

err_irqs:
	pci_iounmap(pdev, n->regs);
err_map:
	pci_release_regions(pdev);
err_mask:
	pci_disable_device(pdev);
	return err;
}

static void unmap_card(struct via_native *n)
{
	unmap_irqs(n);
	pci_clear_master(n->pdev);
	pci_iounmap(n->pdev, n->regs);
	pci_release_regions(n->pdev);
	pci_disable_device(n->pdev);
}

static bool ring_fits(struct pci_dev *pdev, const char *which, u32 slots)
{
	if (slots >= VIA_NATIVE_SLOTS_MIN && is_power_of_2(slots))
		return true;
	dev_err(&pdev->dev, "%s: %s ring of %u slots; needs a power of two from %u\n",
		pdev->driver->name, which, slots, VIA_NATIVE_SLOTS_MIN);
	return false;
}

/* What all arithmetic on rings takes for granted. */
static bool rings_fit(struct pci_dev *pdev, const struct via_native_chip *chip)
{
	if (!ring_fits(pdev, "transmit", chip->tx_slots) ||
	    !ring_fits(pdev, "receive", chip->rx_slots))
		return false;
	if (chip->tx_most <= chip->tx_slots / 4)
		return true;
	dev_err(&pdev->dev, "%s: %u slots for a frame; at most a quarter of %u\n",
		pdev->driver->name, chip->tx_most, chip->tx_slots);
	return false;
}

static void drop_pairs(struct via_native *n)
{
	u32 i;

	for (i = 0; i < n->pairs; i++)
		netif_napi_del(&via_native_pair(n, i)->napi);
	for (i = 0; i < VIA_NATIVE_PAIRS - 1; i++)
		kfree(n->more[i]);
}

/* Behind identify(): it may have found another chip. */
static int make_pairs(struct via_native *n)
{
	struct via_native *pair;
	u32 i;

	for (i = 1; i < n->pairs; i++) {
		pair = kzalloc(sizeof(*pair) + n->chip->priv_size, GFP_KERNEL);
		if (!pair)
			goto err_alloc;
		pair->regs = n->regs;
		pair->dev = n->dev;
		pair->pdev = n->pdev;
		pair->chip = n->chip;
		pair->proto = n->proto;
		pair->pair = i;
		pair->irqs.irq = pci_irq_vector(n->pdev, i);
		n->more[i - 1] = pair;
	}
	netif_set_real_num_tx_queues(n->dev, n->pairs);
	netif_set_real_num_rx_queues(n->dev, n->pairs);
	for (i = 0; i < n->pairs; i++)
		netif_napi_add(n->dev, &via_native_pair(n, i)->napi,
			       n->chip->poll);
	return 0;

err_alloc:
	while (--i)
		kfree(n->more[i - 1]);
	return -ENOMEM;
}

int via_native_probe(struct pci_dev *pdev, const struct via_native_chip *chip)
{
	u32 pairs = 1 + min3(chip->more, num_online_cpus(),
			     VIA_NATIVE_PAIRS - 1);
	struct net_device *dev;
	struct via_native *n;
	int err;

	if (!rings_fit(pdev, chip))
		return -EINVAL;
	dev = alloc_etherdev_mq(sizeof(*n) + chip->priv_size, pairs);
	if (!dev)
		return -ENOMEM;
	SET_NETDEV_DEV(dev, &pdev->dev);
	n = netdev_priv(dev);
	n->dev = dev;
	n->pdev = pdev;
	n->chip = chip;
	n->pairs = pairs;
	n->proto = via_ether_proto();
	INIT_DELAYED_WORK(&n->link_work, link_work);
	INIT_WORK(&n->reset_work, reset_work);
	via_native_gone_init(n);
	err = map_card(n);
	if (err)
		goto err_map;
	pci_set_drvdata(pdev, n);
	err = chip->identify(n);
	if (err)
		goto err_chip;
	chip = n->chip;			/* it may have found out more */
	if (!is_valid_ether_addr(dev->dev_addr)) {
		dev_warn(&pdev->dev, "the EEPROM has no valid address, taking a random one\n");
		eth_hw_addr_random(dev);
	}
	dev->netdev_ops = &via_native_netdev_ops;
	dev->ethtool_ops = &via_native_ethtool;
	dev->watchdog_timeo = TX_TIMEOUT;
	dev->max_mtu = chip->max_mtu;
	/* Frames are copied anyway: pieces and checksums cost nothing more. */
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | chip->features;
	dev->features = dev->hw_features | NETIF_F_HIGHDMA;
	dev->vlan_features = dev->features &
			     ~(NETIF_F_RXCSUM | chip->untagged);
	dev->priv_flags |= IFF_UNICAST_FLT;
	err = make_pairs(n);
	if (err)
		goto err_chip;
	netif_carrier_off(dev);
	err = register_netdev(dev);	/* and the VI NIC: vi.c hears of it */
	if (err)
		goto err_register;
	return 0;

err_register:
	via_native_gone_end(n);
	drop_pairs(n);
err_chip:
	unmap_card(n);
err_map:
	free_netdev(dev);
	return err;
}
EXPORT_SYMBOL_GPL(via_native_probe);

void via_native_remove(struct pci_dev *pdev)
{
	struct via_native *n = pci_get_drvdata(pdev);

	unregister_netdev(n->dev);
	via_native_gone_end(n);
	/* Sees under RTNL that the interface does not run any more. */
	cancel_work_sync(&n->reset_work);
	drop_pairs(n);
	unmap_card(n);
	free_netdev(n->dev);
}
EXPORT_SYMBOL_GPL(via_native_remove);

static void go_quiet(struct via_native *n)
{
	rtnl_lock();
	netif_device_detach(n->dev);
	if (n->up)
		chip_down(n);
	rtnl_unlock();
}

/* Another kernel may come: nothing may write into its memory. */
void via_native_shutdown(struct pci_dev *pdev)
{
	go_quiet(pci_get_drvdata(pdev));
	pci_clear_master(pdev);
}
EXPORT_SYMBOL_GPL(via_native_shutdown);

/* VIs stay: they go on if their peers have had the patience. */
static int __maybe_unused native_suspend(struct device *device)
{
	go_quiet(dev_get_drvdata(device));
	return 0;
}

static int __maybe_unused native_resume(struct device *device)
{
	struct via_native *n = dev_get_drvdata(device);

	rtnl_lock();
	if (netif_running(n->dev))
		restart_chip(n);
	netif_device_attach(n->dev);
	rtnl_unlock();
	return 0;
}

const struct dev_pm_ops via_native_pm = {
	SET_SYSTEM_SLEEP_PM_OPS(native_suspend, native_resume)
};
EXPORT_SYMBOL_GPL(via_native_pm);

static int __init via_native_init(void)
{
	return via_native_vi_init();
}

static void __exit via_native_exit(void)
{
	via_native_vi_exit();
}

module_init(via_native_init);
module_exit(via_native_exit);

MODULE_DESCRIPTION("What native VI Ethernet drivers share");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);

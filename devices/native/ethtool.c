// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What ethtool asks of a native interface. */

#include <linux/ethtool.h>
#include "native.h"

struct counter {
	char name[ETH_GSTRING_LEN];
	u32 at;				/* offset of a u64 in via_native */
};

#define COUNTER(n, f)	{ n, offsetof(struct via_native, f) }

static const struct counter counters[] = {
	COUNTER("tx_ip_frames", tx_stats.sent[VIA_NATIVE_IP].frames),
	COUNTER("tx_ip_bytes", tx_stats.sent[VIA_NATIVE_IP].bytes),
	COUNTER("tx_vi_frames", tx_stats.sent[VIA_NATIVE_VI].frames),
	COUNTER("tx_vi_bytes", tx_stats.sent[VIA_NATIVE_VI].bytes),
	COUNTER("tx_full", tx_stats.full),
	COUNTER("tx_errors", tx_stats.errors),
	COUNTER("rx_ip_frames", rx_stats.taken[VIA_NATIVE_IP].frames),
	COUNTER("rx_ip_bytes", rx_stats.taken[VIA_NATIVE_IP].bytes),
	COUNTER("rx_vi_frames", rx_stats.taken[VIA_NATIVE_VI].frames),
	COUNTER("rx_vi_bytes", rx_stats.taken[VIA_NATIVE_VI].bytes),
	COUNTER("rx_errors", rx_stats.errors),
	COUNTER("rx_dropped", rx_stats.dropped),
	COUNTER("rx_empty", rx_stats.empty),
	COUNTER("rx_polled", rx_stats.polled),
	COUNTER("rx_missed", rx_missed),
	COUNTER("resets", resets),
};

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct via_native *n = netdev_priv(dev);

	strscpy(info->driver, n->pdev->driver->name, sizeof(info->driver));
	strscpy(info->version, VIA_RELEASE, sizeof(info->version));
	strscpy(info->fw_version, n->version, sizeof(info->fw_version));
	strscpy(info->bus_info, pci_name(n->pdev), sizeof(info->bus_info));
}

static void get_ringparam(struct net_device *dev,
			  struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel_ring,
			  struct netlink_ext_ack *extack)
{
	struct via_native *n = netdev_priv(dev);

	ring->rx_max_pending = n->chip->rx_slots;
	ring->rx_pending = n->chip->rx_slots;
	ring->tx_max_pending = n->chip->tx_slots;
	ring->tx_pending = n->chip->tx_slots;
}

static int get_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel_c,
			struct netlink_ext_ack *extack)
{
	struct via_native *n = netdev_priv(dev);

	if (!n->chip->max_usecs)
		return -EOPNOTSUPP;
	c->rx_coalesce_usecs = n->usecs;
	return 0;
}

static int set_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel_c,
			struct netlink_ext_ack *extack)
{
	struct via_native *n = netdev_priv(dev);

	if (!n->chip->max_usecs)
		return -EOPNOTSUPP;
	if (c->rx_coalesce_usecs > n->chip->max_usecs)
		return -EINVAL;
	n->usecs = c->rx_coalesce_usecs;
	if (n->up)
		n->chip->coalesce(n);
	return 0;
}

static void get_channels(struct net_device *dev, struct ethtool_channels *c)
{
	struct via_native *n = netdev_priv(dev);

	c->max_combined = n->pairs;
	c->combined_count = n->pairs;
}

/* Frames of both directions, for each of several pairs of rings. */
static u32 pair_counts(const struct via_native *n)
{
	return n->pairs > 1 ? 2 * n->pairs : 0;
}

/* The chip's, then those of the VI NIC: as many without one. */
static int get_sset_count(struct net_device *dev, int set)
{
	struct via_native *n = netdev_priv(dev);

	if (set == ETH_SS_TEST)
		return via_native_test_count(n);
	return set == ETH_SS_STATS ? ARRAY_SIZE(counters) + pair_counts(n) +
				     via_ether_counts() :
				     -EOPNOTSUPP;
}

static void get_strings(struct net_device *dev, u32 set, u8 *data)
{
	struct via_native *n = netdev_priv(dev);
	u32 i;

	if (set == ETH_SS_TEST)
		via_native_test_names(n, data);
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		ethtool_sprintf(&data, "%s", counters[i].name);
	for (i = 0; i < pair_counts(n); i++)
		ethtool_sprintf(&data, "%s_queue_%u_frames",
				i % 2 ? "rx" : "tx", i / 2);
	for (i = 0; i < via_ether_counts(); i++)
		ethtool_sprintf(&data, "via_%s", via_ether_count_name(i));
}

static void get_stats(struct net_device *dev, struct ethtool_stats *stats,
		      u64 *data)
{
	struct via_native *n = netdev_priv(dev), *pair;
	u64 *of_pairs = data + ARRAY_SIZE(counters);
	u32 i, k;

	for (k = 0; k < n->pairs; k++) {
		pair = via_native_pair(n, k);
		for (i = 0; i < ARRAY_SIZE(counters); i++)
			data[i] += READ_ONCE(*(u64 *)((u8 *)pair +
						      counters[i].at));
		if (!pair_counts(n))
			continue;
		for (i = 0; i < VIA_NATIVE_WHO; i++) {
			of_pairs[2 * k] +=
				READ_ONCE(pair->tx_stats.sent[i].frames);
			of_pairs[2 * k + 1] +=
				READ_ONCE(pair->rx_stats.taken[i].frames);
		}
	}
	/* RTNL keeps it.  None, for want of memory: the core gives zeros. */
	if (n->nic)
		via_ether_count_read(n->nic, of_pairs + pair_counts(n));
}

static int get_link_ksettings(struct net_device *dev,
			      struct ethtool_link_ksettings *cmd)
{
	struct via_native *n = netdev_priv(dev);
	bool up = netif_carrier_ok(dev);

	cmd->base.speed = up ? n->link.mbps : SPEED_UNKNOWN;
	cmd->base.duplex = !up ? DUPLEX_UNKNOWN :
			   n->link.full ? DUPLEX_FULL : DUPLEX_HALF;
	cmd->base.autoneg = AUTONEG_ENABLE;
	cmd->base.port = PORT_TP;
	return 0;
}

const struct ethtool_ops via_native_ethtool = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_coalesce = get_coalesce,
	.set_coalesce = set_coalesce,
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_ringparam = get_ringparam,
	.get_channels = get_channels,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_stats,
	.self_test = via_native_self_test,
	.get_link_ksettings = get_link_ksettings,
	.get_ts_info = ethtool_op_get_ts_info,
};

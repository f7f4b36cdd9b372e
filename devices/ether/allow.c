// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The hosts that may talk to this NIC: its attribute "peers", hardware
 * addresses, one in a line.  An empty one allows all.
 *
 * It is asked where connections are made and where strangers are answered;
 * frames of a connection come from the address that it was made with.
 */

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/slab.h>
#include "ether.h"

static DEFINE_MUTEX(allow_mutex);	/* one writer at a time */

/**
 * struct via_ether_allow - what nic->allow points to
 * @count:	constant: addresses
 * @mac:	constant
 */
struct via_ether_allow {
	u32 count;
	u8 mac[][ETH_ALEN];
};

static bool listed(const struct via_ether_allow *a, const u8 *mac)
{
	u32 i;

	for (i = 0; i < a->count; i++)
		if (ether_addr_equal_unaligned(a->mac[i], mac))
			return true;
	return false;
}

bool via_ether_allowed(struct via_ether_nic *nic, const u8 *mac)
{
	const struct via_ether_allow *a;
	bool ok;

	rcu_read_lock();
	a = rcu_dereference(nic->allow);
	ok = !a || listed(a, mac);
	rcu_read_unlock();
	return ok;
}

static struct via_ether_nic *nic_of(struct device *dev)
{
	struct via_nic *ka = dev_get_drvdata(dev);

	return ka->priv;
}

static ssize_t peers_show(struct device *dev, struct device_attribute *attr,
			  char *buf)
{
	const struct via_ether_allow *a;
	int len = 0;
	u32 i;

	rcu_read_lock();
	a = rcu_dereference(nic_of(dev)->allow);
	for (i = 0; a && i < a->count; i++)
		len += sysfs_emit_at(buf, len, "%pM\n", a->mac[i]);
	rcu_read_unlock();
	return len;
}

/* Addresses between white space; NULL: there are none; or an error. */
static struct via_ether_allow *parse_peers(const char *buf, size_t count)
{
	/* One takes 17 characters and one between: no more fit in. */
	u32 most = count / 18 + 1;
	struct via_ether_allow *a;

	a = kzalloc(struct_size(a, mac, most), GFP_KERNEL);
	if (!a)
		return ERR_PTR(-ENOMEM);
	for (buf = skip_spaces(buf); *buf; buf = skip_spaces(buf)) {
		if (a->count == most || !mac_pton(buf, a->mac[a->count]) ||
		    !is_valid_ether_addr(a->mac[a->count]) ||
		    (buf[17] && !isspace(buf[17]))) {
			kfree(a);
			return ERR_PTR(-EINVAL);
		}
		a->count++;
		buf += 17;
	}
	if (a->count)
		return a;
	kfree(a);
	return NULL;
}

/* The whole list is written at once. */
static ssize_t peers_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct via_ether_nic *nic = nic_of(dev);
	struct via_ether_allow *a = parse_peers(buf, count), *old;

	if (IS_ERR(a))
		return PTR_ERR(a);
	mutex_lock(&allow_mutex);
	old = rcu_replace_pointer(nic->allow, a,
				  lockdep_is_held(&allow_mutex));
	mutex_unlock(&allow_mutex);
	/* Readers of the old list are done: it makes no more connections. */
	synchronize_net();
	kfree(old);
	via_ether_break_strangers(nic);
	return count;
}
static DEVICE_ATTR_RW(peers);

static struct attribute *allow_attrs[] = {
	&dev_attr_peers.attr,
	NULL,
};

const struct attribute_group via_ether_group = {
	.attrs = allow_attrs,
};

/* The attribute is gone: no reader and no writer is left. */
void via_ether_allow_free(struct via_ether_nic *nic)
{
	kfree(rcu_dereference_protected(nic->allow, true));
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The hosts that may talk to this NIC: its attribute "peers", hardware
 * addresses, one in a line, each with the key that it has in common with this
 * host, if there is one:
 *
 *	52:54:00:00:00:01
 *	52:54:00:00:00:02 key=<64 hexadecimal digits>
 *
 * An empty one allows all.  It is root's to read and write, and what is read
 * says "key=set" only.  Memory that had a key is wiped before it is given back.
 *
 * It is asked where connections are made and where strangers are answered;
 * frames of a connection come from the address that it was made with.
 */

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "ether.h"

static DEFINE_MUTEX(allow_mutex);	/* one writer at a time */

/* One of them: constant. */
struct via_ether_host {
	u8 mac[ETH_ALEN];
	bool keyed;			/* @key holds */
	struct via_auth_key key;
};

/**
 * struct via_ether_allow - what nic->allow points to
 * @count:	constant: hosts
 * @host:	constant; no address is there twice
 */
struct via_ether_allow {
	u32 count;
	struct via_ether_host host[];
};

static const struct via_ether_host *find(const struct via_ether_allow *a,
					 const u8 *mac)
{
	u32 i;

	for (i = 0; i < a->count; i++)
		if (ether_addr_equal_unaligned(a->host[i].mac, mac))
			return &a->host[i];
	return NULL;
}

bool via_ether_allowed(struct via_ether_nic *nic, const u8 *mac)
{
	const struct via_ether_allow *a;
	bool ok;

	rcu_read_lock();
	a = rcu_dereference(nic->allow);
	ok = !a || find(a, mac);
	rcu_read_unlock();
	return ok;
}

bool via_ether_key_of(struct via_ether_nic *nic, const u8 *mac,
		      struct via_auth_key *key)
{
	const struct via_ether_host *host = NULL;
	const struct via_ether_allow *a;
	bool keyed;

	rcu_read_lock();
	a = rcu_dereference(nic->allow);
	if (a)
		host = find(a, mac);
	keyed = host && host->keyed;
	if (keyed)
		*key = host->key;
	rcu_read_unlock();
	return keyed;
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
		len += sysfs_emit_at(buf, len, "%pM%s\n", a->host[i].mac,
				     a->host[i].keyed ? " key=set" : "");
	rcu_read_unlock();
	return len;
}

static const char *skip_blanks(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

/* Behind a word is white space, or the end. */
static bool ends(char c)
{
	return !c || isspace(c);
}

/* An address, and behind it in the same line its key.  NULL: it is neither. */
static const char *parse_host(const char *buf, struct via_ether_host *host)
{
	const char *key;

	if (!mac_pton(buf, host->mac) || !is_valid_ether_addr(host->mac) ||
	    !ends(buf[17]))
		return NULL;
	buf += 17;
	key = skip_blanks(buf);
	if (strncmp(key, "key=", 4))
		return buf;
	key += 4;
	if (hex2bin(host->key.key, key, VIA_AUTH_KEY_LEN) ||
	    !ends(key[2 * VIA_AUTH_KEY_LEN]))
		return NULL;
	host->keyed = true;
	return key + 2 * VIA_AUTH_KEY_LEN;
}

/* Hosts between white space; NULL: there are none; or an error. */
static struct via_ether_allow *parse_peers(const char *buf, size_t count)
{
	/* One takes 17 characters and one between: no more fit in. */
	u32 most = count / 18 + 1;
	struct via_ether_allow *a;
	struct via_ether_host *host;

	a = kzalloc(struct_size(a, host, most), GFP_KERNEL);
	if (!a)
		return ERR_PTR(-ENOMEM);
	for (buf = skip_spaces(buf); *buf; buf = skip_spaces(buf)) {
		host = &a->host[a->count];
		if (a->count == most)
			goto invalid;
		buf = parse_host(buf, host);
		if (!buf || find(a, host->mac))
			goto invalid;
		a->count++;
	}
	if (a->count)
		return a;
	kfree(a);
	return NULL;
invalid:
	kfree_sensitive(a);
	return ERR_PTR(-EINVAL);
}

/* The whole list is written at once. */
static ssize_t peers_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct via_ether_nic *nic = nic_of(dev);
	struct via_ether_allow *a = parse_peers(buf, count), *old;

	/* The caller's copy of what was written: there may be keys in it. */
	memzero_explicit((char *)buf, count);
	if (IS_ERR(a))
		return PTR_ERR(a);
	mutex_lock(&allow_mutex);
	old = rcu_replace_pointer(nic->allow, a,
				  lockdep_is_held(&allow_mutex));
	mutex_unlock(&allow_mutex);
	/* Readers of the old list are done: it makes no more connections. */
	synchronize_net();
	kfree_sensitive(old);
	via_ether_break_strangers(nic);
	return count;
}
static DEVICE_ATTR_ADMIN_RW(peers);

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
	kfree_sensitive(rcu_dereference_protected(nic->allow, true));
}

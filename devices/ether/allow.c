// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts that may talk to this NIC: its attribute "peers", hardware
 * addresses, one in a line, each with the key that it has in common with this
 * host, if there is one:
 *
 *	52:54:00:00:00:01
 *	52:54:00:00:00:02 key=<64 hexadecimal digits>
 *
 * A host with a key has frames with authenticators, and no others (session.h).
 * Its sessions go on when the list is written again with the same key.  Where
 * the key is another one, or is new, or has gone, its connections end: they are
 * told as long as the old key holds.
 *
 * An empty list allows all.  It is root's to read and write, and what is read
 * says "key=set" only.  Memory that had a key is wiped before it is given back.
 *
 * It is asked where connections are made and where strangers are answered;
 * frames of a connection come from the address that it was made with.
 */

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "ether.h"

static DEFINE_MUTEX(allow_mutex);	/* one writer at a time, of any NIC */
static u32 key_ids;			/* allow_mutex: secrets made so far */

/**
 * struct via_ether_host - one of them
 * @mac:	constant
 * @keyed:	constant: @key and @peer hold
 * @key:	constant
 * @peer:	constant: its peer, with a use of it
 * @secret:	the writer's: what @peer is to have, then what it had; or NULL
 */
struct via_ether_host {
	u8 mac[ETH_ALEN];
	bool keyed;
	struct via_auth_key key;
	struct via_peer *peer;
	struct via_ether_secret *secret;
};

/**
 * struct via_ether_allow - what nic->allow points to
 * @seed:	constant: of the hash
 * @mask:	constant: places of @place, less one; more than half are free
 * @place:	constant: index in @host, plus 1, by hash of the address, or in the
 *		next free one; 0: free
 * @count:	constant: hosts
 * @host:	no address is there twice
 */
struct via_ether_allow {
	u32 seed;
	u32 mask;
	u16 *place;
	u32 count;
	struct via_ether_host host[];
};

/* Where an address is, or is to be. */
static u16 *place_of(const struct via_ether_allow *a, const u8 *mac)
{
	u32 i = jhash(mac, ETH_ALEN, a->seed);

	while (a->place[i & a->mask] &&
	       !ether_addr_equal_unaligned(a->host[a->place[i & a->mask] - 1].mac,
					   mac))
		i++;
	return &a->place[i & a->mask];
}

static void free_list(struct via_ether_allow *a)
{
	if (!a)
		return;
	kfree(a->place);
	kfree_sensitive(a);
}

bool via_ether_allowed(struct via_ether_nic *nic, const u8 *mac)
{
	const struct via_ether_allow *a;
	bool ok;

	rcu_read_lock();
	a = rcu_dereference(nic->allow);
	ok = !a || *place_of(a, mac);
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

static struct via_ether_allow *new_list(u32 most)
{
	u32 places = roundup_pow_of_two(2 * most + 1);
	struct via_ether_allow *a;

	a = kzalloc(struct_size(a, host, most), GFP_KERNEL);
	if (!a)
		return NULL;
	a->seed = get_random_u32();
	a->mask = places - 1;
	a->place = kcalloc(places, sizeof(*a->place), GFP_KERNEL);
	if (a->place)
		return a;
	kfree(a);
	return NULL;
}

/* Hosts between white space; NULL: there are none; or an error. */
static struct via_ether_allow *parse_peers(const char *buf, size_t count)
{
	/* One takes 17 characters and one between: no more fit in. */
	u32 most = count / 18 + 1;
	struct via_ether_allow *a = new_list(most);
	struct via_ether_host *host;
	u16 *place;

	if (!a)
		return ERR_PTR(-ENOMEM);
	for (buf = skip_spaces(buf); *buf; buf = skip_spaces(buf)) {
		host = &a->host[a->count];
		if (a->count == most)
			goto invalid;
		buf = parse_host(buf, host);
		if (!buf)
			goto invalid;
		place = place_of(a, host->mac);
		if (*place)
			goto invalid;
		*place = ++a->count;
	}
	if (a->count)
		return a;
	free_list(a);
	return NULL;
invalid:
	free_list(a);
	return ERR_PTR(-EINVAL);
}

/* The first host with a key behind @i others of a list, which may be NULL. */
static struct via_ether_host *keyed_from(struct via_ether_allow *a, u32 i)
{
	for (; a && i < a->count; i++)
		if (a->host[i].keyed)
			return &a->host[i];
	return NULL;
}

#define for_each_keyed(h, a)						\
	for ((h) = keyed_from(a, 0); (h);				\
	     (h) = keyed_from(a, (h) - (a)->host + 1))

static struct via_ether_secret *secret_of(const struct via_peer *peer)
{
	return rcu_dereference_protected(peer->secret,
					 lockdep_is_held(&allow_mutex));
}

/* Peers and secrets of a list that is to be: 0 or -ENOMEM. */
static int prepare(struct via_ether_nic *nic, struct via_ether_allow *a)
{
	const struct via_ether_secret *old;
	struct via_ether_host *host;

	for_each_keyed(host, a) {
		host->peer = via_peer_get(nic, host->mac, GFP_KERNEL);
		if (!host->peer)
			return -ENOMEM;
		old = secret_of(host->peer);
		if (old && !memcmp(&old->key, &host->key, sizeof(old->key)))
			continue;
		/* 0 is none. */
		if (!++key_ids)
			key_ids++;
		host->secret = via_secret_new(&host->key, key_ids);
		if (!host->secret)
			return -ENOMEM;
	}
	return 0;
}

/* A list that is none, or none any more: no secret of it is in use. */
static void forget(struct via_ether_allow *a)
{
	struct via_ether_host *host;

	local_bh_disable();
	for_each_keyed(host, a) {
		via_secret_free(host->secret);
		host->secret = NULL;
		if (host->peer)
			via_peer_put(host->peer);
	}
	local_bh_enable();
}

/* What the peers are to have, while they have what they had. */
static u32 announce(struct via_ether_allow *old, struct via_ether_allow *a)
{
	struct via_ether_host *host;
	u32 n = 0;

	for_each_keyed(host, old)
		WRITE_ONCE(host->peer->want_key, 0);
	for_each_keyed(host, a) {
		WRITE_ONCE(host->peer->want_key, host->secret ?
			   host->secret->id : secret_of(host->peer)->id);
		n++;
	}
	return n;
}

/* Returns what it had. */
static struct via_ether_secret *give(struct via_peer *peer,
				     struct via_ether_secret *secret)
{
	return rcu_replace_pointer(peer->secret, secret,
				   lockdep_is_held(&allow_mutex));
}

/* Peers get what they are to have; any that had another secret, or none? */
static bool exchange(struct via_ether_allow *old, struct via_ether_allow *a)
{
	struct via_ether_host *host;
	bool any = false;

	for_each_keyed(host, a) {
		if (!host->secret)
			continue;
		host->secret = give(host->peer, host->secret);
		any = true;
	}
	for_each_keyed(host, old) {
		if (host->peer->want_key)
			continue;
		host->secret = give(host->peer, NULL);
		any = true;
	}
	return any;
}

static void free_secrets(struct via_ether_allow *a)
{
	struct via_ether_host *host;

	for_each_keyed(host, a) {
		via_secret_free(host->secret);
		host->secret = NULL;
	}
}

/*
 * Is it to a host that may not talk to the NIC, or with another key?  sq.lock
 * held.
 */
static bool unwanted(const struct via_ether_vi *ev)
{
	return !via_ether_allowed(ev->nic, ev->remote_mac) ||
	       ev->key_id != READ_ONCE(ev->peer->want_key);
}

/*
 * Connections that do not fit the new list end in two steps: those of the old
 * list say so under the old keys; those that were made meanwhile end when these
 * have gone.
 */
static void replace(struct via_ether_nic *nic, struct via_ether_allow *a)
{
	struct via_ether_allow *old;
	u32 n;

	old = rcu_dereference_protected(nic->allow,
					lockdep_is_held(&allow_mutex));
	n = announce(old, a);
	WRITE_ONCE(nic->nkeyed, nic->nkeyed + n);
	rcu_assign_pointer(nic->allow, a);
	/* Readers of the old list are done: it makes no more connections. */
	synchronize_net();
	via_ether_end_some(nic, unwanted, VIA_WIRE_R_TRANSPORT);
	if (exchange(old, a)) {
		synchronize_net();
		free_secrets(old);
		free_secrets(a);
		via_ether_end_some(nic, unwanted, VIA_WIRE_R_TRANSPORT);
	}
	WRITE_ONCE(nic->nkeyed, n);
	forget(old);
	free_list(old);
}

/* The whole list is written at once. */
static ssize_t peers_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t count)
{
	struct via_ether_nic *nic = nic_of(dev);
	struct via_ether_allow *a = parse_peers(buf, count);
	int ret;

	/* The caller's copy of what was written: there may be keys in it. */
	memzero_explicit((char *)buf, count);
	if (IS_ERR(a))
		return PTR_ERR(a);
	mutex_lock(&allow_mutex);
	ret = prepare(nic, a);
	if (!ret) {
		replace(nic, a);
	} else {
		forget(a);
		free_list(a);
	}
	mutex_unlock(&allow_mutex);
	return ret ?: count;
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
void via_ether_allow_end(struct via_ether_nic *nic)
{
	struct via_ether_allow *a = rcu_dereference_protected(nic->allow, true);
	struct via_ether_host *host;

	RCU_INIT_POINTER(nic->allow, NULL);
	WRITE_ONCE(nic->nkeyed, 0);
	for_each_keyed(host, a)
		host->secret = rcu_replace_pointer(host->peer->secret, NULL,
						   true);
	forget(a);
	free_list(a);
}

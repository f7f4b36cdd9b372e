// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts that may talk to this NIC, each with the key that it has in common
 * with this host, if there is one.
 *
 * A host with a key has frames with authenticators, and no others (session.h).
 * Its sessions go on when it is given the same key again.  Where the key is
 * another one, or is new, or has gone, its connections end: they are told as
 * long as the old key holds.
 *
 * Where addresses have prefixes a rule may be for all hosts of one: they have no
 * key.  The list has a hash for each length of prefix that is on it, so that
 * Ethernet, which has none, looks once.
 *
 * Without a list all hosts may; with an empty one none.  A change makes another
 * list out of the one that holds, which takes its place.  Memory that had a key
 * is wiped before it is given back.
 *
 * It is asked where connections are made and where unknown hosts are answered;
 * frames of a connection come from the address that it was made with.
 *
 * Changes are made under nic->ka->admin_mutex, which the agent holds.
 */

#include <linux/jhash.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "allow.h"
#include "end.h"
#include "proto/auth.h"
#include "session.h"
#include "vi.h"

static atomic_t key_ids;		/* secrets made so far */

/**
 * struct via_ether_host - one of them, or those of a prefix
 * @host:	constant: zero behind @bits
 * @bits:	constant: of @host; all but for a prefix
 * @keyed:	constant: @key and @peer hold
 * @key:	constant
 * @peer:	constant: its peer, with a use of it
 * @secret:	the writer's: what @peer is to have, then what it had; or NULL
 */
struct via_ether_host {
	struct via_host host;
	u8 bits;
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
 * @room:	constant: most hosts
 * @count:	constant: hosts
 * @nlens:	constant: how many lengths of rules there are
 * @lens:	constant: the lengths, bits
 * @host:	none is there twice
 */
struct via_ether_allow {
	u32 seed;
	u32 mask;
	u16 *place;
	u32 room;
	u32 count;
	u32 nlens;
	u8 lens[VIA_HOST_MAX * 8 + 1];
	struct via_ether_host host[];
};

/* Where a rule is, or is to be. */
static u16 *place_of(const struct via_ether_allow *a,
		     const struct via_host *host, u32 bits)
{
	u32 i = jhash(host->addr, host->len, a->seed ^ bits);
	const struct via_ether_host *there;

	for (; a->place[i & a->mask]; i++) {
		there = &a->host[a->place[i & a->mask] - 1];
		if (there->bits == bits &&
		    via_host_is(&there->host, host->addr))
			break;
	}
	return &a->place[i & a->mask];
}

/* The first bits of an address. */
static void mask_host(struct via_host *host, u32 bits)
{
	u32 whole = bits / 8;

	if (whole >= host->len)
		return;
	host->addr[whole] &= 0xff00 >> bits % 8;
	memset(host->addr + whole + 1, 0, host->len - whole - 1);
}

static void free_list(struct via_ether_allow *a)
{
	if (!a)
		return;
	kvfree(a->place);
	memzero_explicit(a, struct_size(a, host, a->room));
	kvfree(a);
}

static bool is_listed(const struct via_ether_allow *a, const u8 *addr, u32 len)
{
	struct via_host host;
	u32 i;

	for (i = 0; i < a->nlens; i++) {
		via_host_set(&host, addr, len);
		mask_host(&host, a->lens[i]);
		if (*place_of(a, &host, a->lens[i]))
			return true;
	}
	return false;
}

bool via_ether_allowed(struct via_ether_nic *nic, const u8 *host)
{
	const struct via_ether_allow *a;
	bool ok;

	rcu_read_lock();
	a = rcu_dereference(nic->allow);
	ok = a ? is_listed(a, host, nic->host.len) :
		 !nic->ops->host_near || nic->ops->host_near(nic, host);
	rcu_read_unlock();
	return ok;
}

static struct via_ether_allow *new_list(u32 room)
{
	u32 places = roundup_pow_of_two(2 * room + 1);
	struct via_ether_allow *a;

	a = kvzalloc(struct_size(a, host, room), GFP_KERNEL);
	if (!a)
		return NULL;
	a->seed = get_random_u32();
	a->mask = places - 1;
	a->room = room;
	a->place = kvcalloc(places, sizeof(*a->place), GFP_KERNEL);
	if (a->place)
		return a;
	kvfree(a);
	return NULL;
}

/* The rule for the same as @like, or NULL. */
static struct via_ether_host *rule_of(struct via_ether_allow *a,
				      const struct via_ether_host *like)
{
	u16 place = *place_of(a, &like->host, like->bits);

	return place ? &a->host[place - 1] : NULL;
}

/* One that is not there yet, and for which there is room; without a key. */
static struct via_ether_host *add_rule(struct via_ether_allow *a,
				       const struct via_ether_host *like)
{
	struct via_ether_host *host = &a->host[a->count];

	host->host = like->host;
	host->bits = like->bits;
	*place_of(a, &host->host, host->bits) = ++a->count;
	if (!memchr(a->lens, host->bits, a->nlens))
		a->lens[a->nlens++] = host->bits;
	return host;
}

/* A host with its key, as another list has it. */
static void copy_host(struct via_ether_allow *a,
		      const struct via_ether_host *from)
{
	struct via_ether_host *host = add_rule(a, from);

	host->keyed = from->keyed;
	host->key = from->key;
}

static void set_key(struct via_ether_host *host,
		    const struct via_peer_rule *rule)
{
	if (rule->key_is == VIA_PEER_KEY_KEEP)
		return;
	host->keyed = rule->key_is == VIA_PEER_KEY_SET;
	BUILD_BUG_ON(sizeof(host->key) != sizeof(rule->key));
	memcpy(&host->key, rule->key, sizeof(host->key));
}

/* What a rule of an administrator is for, or why it is none. */
static enum via_refusal read_rule(const struct via_ether_nic *nic,
				  const struct via_peer_rule *rule,
				  struct via_ether_host *host)
{
	u32 len = nic->host.len;

	*host = (struct via_ether_host) { .bits = 8 * len };
	via_host_set(&host->host, rule->addr, len);
	if (!rule->prefix || rule->bits == 8 * len)
		return nic->ops->host_valid(nic, rule->addr) ? VIA_REFUSE_NONE :
							       VIA_REFUSE_ADDR;
	if (!nic->prefixes || rule->bits > 8 * len)
		return VIA_REFUSE_PREFIX;
	host->bits = rule->bits;
	mask_host(&host->host, host->bits);
	if (rule->key_is == VIA_PEER_KEY_SET)
		return VIA_REFUSE_PREFIX_KEY;
	return VIA_REFUSE_NONE;
}

/*
 * The hosts of @edit, each once.  Keys are those of @old where the edit does
 * not say.
 */
static struct via_ether_allow *named_hosts(const struct via_ether_nic *nic,
					   const struct via_peers_edit *edit,
					   struct via_ether_allow *old,
					   enum via_refusal *why)
{
	struct via_ether_allow *a = new_list(edit->n);
	const struct via_ether_host *was;
	struct via_ether_host *host, like;
	u32 i;

	for (i = 0; a && i < edit->n; i++) {
		*why = read_rule(nic, &edit->rule[i], &like);
		if (!*why && rule_of(a, &like))
			*why = VIA_REFUSE_TWICE;
		if (*why) {
			free_list(a);
			return ERR_PTR(-EINVAL);
		}
		host = add_rule(a, &like);
		was = old ? rule_of(old, &like) : NULL;
		if (was) {
			host->keyed = was->keyed;
			host->key = was->key;
		}
		set_key(host, &edit->rule[i]);
	}
	return a ?: ERR_PTR(-ENOMEM);
}

/* The old list without what @named has, and then @and, which may be NULL. */
static struct via_ether_allow *combine_lists(struct via_ether_allow *old,
					     struct via_ether_allow *named,
					     struct via_ether_allow *and)
{
	struct via_ether_allow *a;
	u32 i;

	a = new_list((old ? old->count : 0) + (and ? and->count : 0));
	if (!a)
		return ERR_PTR(-ENOMEM);
	for (i = 0; old && i < old->count; i++)
		if (!rule_of(named, &old->host[i]))
			copy_host(a, &old->host[i]);
	for (i = 0; and && i < and->count; i++)
		copy_host(a, &and->host[i]);
	return a;
}

static int all_listed(struct via_ether_allow *old,
		      const struct via_ether_allow *named,
		      enum via_refusal *why)
{
	u32 i;

	if (!old) {
		*why = VIA_REFUSE_NO_LIST;
		return -ENOENT;
	}
	for (i = 0; i < named->count; i++) {
		if (!rule_of(old, &named->host[i])) {
			*why = VIA_REFUSE_NOT_LISTED;
			return -ENOENT;
		}
	}
	return 0;
}

/* The list after @edit; NULL: none; or ERR_PTR(). */
static struct via_ether_allow *edit_list(const struct via_ether_nic *nic,
					 struct via_ether_allow *old,
					 const struct via_peers_edit *edit,
					 enum via_refusal *why)
{
	struct via_ether_allow *named, *a;
	int ret = 0;

	if (edit->how == VIA_PEERS_ANY)
		return NULL;
	named = named_hosts(nic, edit, old, why);
	if (IS_ERR(named))
		return named;
	if (edit->how == VIA_PEERS_DEL)
		ret = all_listed(old, named, why);
	if (ret)
		a = ERR_PTR(ret);
	else if (edit->how == VIA_PEERS_ONLY)
		a = combine_lists(NULL, named, named);
	else
		a = combine_lists(old, named,
				  edit->how == VIA_PEERS_ADD ? named : NULL);
	if (!IS_ERR(a) && a->count > VIA_NL_PEERS_MAX) {
		free_list(a);
		*why = VIA_REFUSE_MANY;
		a = ERR_PTR(-E2BIG);
	}
	free_list(named);
	return a;
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

static bool list_locked(const struct via_ether_nic *nic)
{
	return lockdep_is_held(&nic->ka->admin_mutex);
}

static struct via_ether_secret *secret_of(const struct via_peer *peer)
{
	return rcu_dereference_protected(peer->secret, list_locked(peer->nic));
}

/* Peers and secrets of a list that is to be: 0 or -ENOMEM. */
static int prepare_secrets(struct via_ether_nic *nic, struct via_ether_allow *a)
{
	const struct via_ether_secret *old;
	struct via_ether_host *host;
	u32 id;

	for_each_keyed(host, a) {
		host->peer = via_peer_get(nic, host->host.addr, GFP_KERNEL);
		if (!host->peer)
			return -ENOMEM;
		old = secret_of(host->peer);
		if (old && !memcmp(&old->key, &host->key, sizeof(old->key)))
			continue;
		/* 0 is none. */
		do {
			id = atomic_inc_return(&key_ids);
		} while (!id);
		host->secret = via_secret_new(&host->key, id);
		if (!host->secret)
			return -ENOMEM;
	}
	return 0;
}

/* A list that is none, or none any more: no secret of it is in use. */
static void forget_secrets(struct via_ether_allow *a)
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

/*
 * What the peers are to have, while they have what they had.  The key of a host
 * that keeps its own is wanted all the time: connections are being made.
 */
static u32 announce_keys(struct via_ether_allow *old, struct via_ether_allow *a)
{
	const struct via_ether_host *now;
	struct via_ether_host *host;
	u32 n = 0;

	for_each_keyed(host, old) {
		now = a ? rule_of(a, host) : NULL;
		if (!now || !now->keyed)
			WRITE_ONCE(host->peer->want_key, 0);
	}
	for_each_keyed(host, a) {
		WRITE_ONCE(host->peer->want_key, host->secret ?
			   host->secret->id : secret_of(host->peer)->id);
		n++;
	}
	return n;
}

/* Returns what it had. */
static struct via_ether_secret *swap_secret(struct via_peer *peer,
					    struct via_ether_secret *secret)
{
	return rcu_replace_pointer(peer->secret, secret,
				   list_locked(peer->nic));
}

/* Peers get what they are to have; any that had another secret, or none? */
static bool swap_secrets(struct via_ether_allow *old, struct via_ether_allow *a)
{
	struct via_ether_host *host;
	bool any = false;

	for_each_keyed(host, a) {
		if (!host->secret)
			continue;
		host->secret = swap_secret(host->peer, host->secret);
		any = true;
	}
	for_each_keyed(host, old) {
		if (host->peer->want_key)
			continue;
		host->secret = swap_secret(host->peer, NULL);
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
static bool is_vi_unwanted(const struct via_ether_vi *ev)
{
	return !via_ether_allowed(ev->nic, ev->conn.remote.addr) ||
	       ev->conn.key_id != READ_ONCE(ev->peer->want_key);
}

/*
 * Connections that do not fit the new list end in two steps: those of the old
 * list say so under the old keys; those that were made meanwhile end when these
 * have gone.
 */
static void replace_list(struct via_ether_nic *nic, struct via_ether_allow *a)
{
	struct via_ether_allow *old;
	u32 n;

	old = rcu_dereference_protected(nic->allow, list_locked(nic));
	n = announce_keys(old, a);
	WRITE_ONCE(nic->nkeyed, nic->nkeyed + n);
	rcu_assign_pointer(nic->allow, a);
	WRITE_ONCE(nic->allow_seq, nic->allow_seq + 1);
	/* Readers of the old list are done: it makes no more connections. */
	synchronize_net();
	via_ether_end_some(nic, is_vi_unwanted, VIA_WIRE_R_TRANSPORT, true);
	if (swap_secrets(old, a)) {
		synchronize_net();
		free_secrets(old);
		free_secrets(a);
		via_ether_end_some(nic, is_vi_unwanted, VIA_WIRE_R_TRANSPORT,
				   true);
	}
	WRITE_ONCE(nic->nkeyed, n);
	forget_secrets(old);
	free_list(old);
}

int via_ether_peers_edit(struct via_nic *ka, const struct via_peers_edit *edit,
			 enum via_refusal *why)
{
	struct via_ether_nic *nic = ka->priv;
	struct via_ether_allow *a;
	int ret;

	a = edit_list(nic,
		      rcu_dereference_protected(nic->allow, list_locked(nic)),
		      edit, why);
	if (IS_ERR(a))
		return PTR_ERR(a);
	ret = prepare_secrets(nic, a);
	if (!ret) {
		replace_list(nic, a);
	} else {
		forget_secrets(a);
		free_list(a);
	}
	return ret;
}

u32 via_ether_peers_read(struct via_nic *ka, u32 from,
			 struct via_peer_rule *rule, u32 n,
			 struct via_peers_state *of)
{
	struct via_ether_nic *nic = ka->priv;
	const struct via_ether_allow *a;
	u32 i = 0;

	rcu_read_lock();
	of->seq = READ_ONCE(nic->allow_seq);
	a = rcu_dereference(nic->allow);
	of->listed = a;
	of->n = a ? a->count : 0;
	for (; i < n && from < of->n; i++, from++) {
		memset(&rule[i], 0, sizeof(rule[i]));
		memcpy(rule[i].addr, a->host[from].host.addr, nic->host.len);
		rule[i].bits = a->host[from].bits;
		rule[i].prefix = rule[i].bits < 8 * nic->host.len;
		rule[i].key_is = a->host[from].keyed ? VIA_PEER_KEY_SET :
						       VIA_PEER_KEY_NONE;
		if (of->keys && a->host[from].keyed)
			memcpy(rule[i].key, &a->host[from].key,
			       sizeof(rule[i].key));
	}
	rcu_read_unlock();
	return i;
}

/* The NIC is unregistered: no reader and no writer is left. */
void via_ether_allow_end(struct via_ether_nic *nic)
{
	struct via_ether_allow *a = rcu_dereference_protected(nic->allow, true);
	struct via_ether_host *host;

	RCU_INIT_POINTER(nic->allow, NULL);
	WRITE_ONCE(nic->nkeyed, 0);
	for_each_keyed(host, a)
		host->secret = rcu_replace_pointer(host->peer->secret, NULL,
						   true);
	forget_secrets(a);
	free_list(a);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The hosts of a NIC and their keys belong to the interface (to the address and
 * port, in UDP/IP) in a network namespace, not to the NIC object.  That one goes
 * and comes with another hardware address, another name or another namespace.
 *
 * A device enforces the list.  After each change the agent keeps a copy here,
 * and a NIC has it before it is published, so there is no moment at which the
 * NIC admits all.  An interface that had a list in another namespace comes with
 * an empty one: the NIC admits no host until an administrator of its namespace
 * has set a list.  An interface that never had a list admits all.
 *
 * What is kept goes with the interface, with the namespace, or when an
 * administrator removes the list.  Lists of addresses without an interface go
 * when there are too many, the oldest that no NIC uses first.  Each copy is
 * constant: a change replaces it.  Its memory is the administrator's
 * (GFP_KERNEL_ACCOUNT), and is wiped before it is given back.
 *
 * A copy is read without the mutex while its NIC is made.  It stays meanwhile:
 * only changes of this NIC replace it, and there are none before it is
 * published; the interface and the namespace stay as long as the device is in
 * via_nic_register(); and a copy in use makes no room for others.
 */

#include <linux/limits.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include "policy.h"

#define VIA_POLICIES_MAX	256	/* lists that one namespace may set */

static DEFINE_MUTEX(via_policies_mutex);
static LIST_HEAD(via_policies);		/* the oldest first */

/**
 * struct via_policy - what is kept
 * @link:	via_policies_mutex
 * @net:	constant: only compared
 * @netdev:	constant: the interface, only compared; or NULL
 * @port:	constant: of UDP; 0: Ethernet, where addresses change
 * @addr_len:	constant: bytes of @addr, with @port
 * @addr:	constant
 * @used:	via_policies_mutex: there is a NIC
 * @listed:	constant: there is a list; false: all may talk to the NIC,
 *		although the interface has a list in another namespace
 * @room:	constant: most hosts
 * @n:		constant: hosts
 * @rule:	constant
 */
struct via_policy {
	struct list_head link;
	const struct net *net;
	const struct net_device *netdev;
	u16 port;
	u32 addr_len;
	u8 addr[VIA_ADDR_MAX];
	bool used;
	bool listed;
	u32 room;
	u32 n;
	struct via_peer_rule rule[];
};

/* False: the device has no hosts, or does not say what they belong to. */
static bool keeps_policy(const struct via_nic *nic)
{
	return nic->ops->peers_edit && (nic->netdev || nic->port);
}

/* Of the NIC, but for the namespace? */
static bool is_of(const struct via_policy *p, const struct via_nic *nic)
{
	return p->netdev == nic->netdev && p->port == nic->port &&
	       (!nic->port || (p->addr_len == nic->addr_len &&
			       !memcmp(p->addr, nic->addr, p->addr_len)));
}

static struct via_policy *find_policy(const struct via_nic *nic)
{
	struct via_policy *p;

	lockdep_assert_held(&via_policies_mutex);
	list_for_each_entry(p, &via_policies, link)
		if (is_of(p, nic) && net_eq(p->net, nic->netns))
			return p;
	return NULL;
}

/* Has the interface a list in another namespace? */
static bool listed_elsewhere(const struct via_nic *nic)
{
	const struct via_policy *p;

	lockdep_assert_held(&via_policies_mutex);
	if (!nic->netdev)
		return false;
	list_for_each_entry(p, &via_policies, link)
		if (is_of(p, nic) && p->listed && !net_eq(p->net, nic->netns))
			return true;
	return false;
}

static struct via_policy *new_policy(const struct via_nic *nic, u32 room)
{
	struct via_policy *p;

	p = kvzalloc(struct_size(p, rule, room), GFP_KERNEL_ACCOUNT);
	if (!p)
		return NULL;
	p->net = nic->netns;
	p->netdev = nic->netdev;
	p->port = nic->port;
	p->addr_len = nic->addr_len;
	memcpy(p->addr, nic->addr, nic->addr_len);
	p->room = room;
	return p;
}

static void free_policy(struct via_policy *p)
{
	if (!p)
		return;
	memzero_explicit(p, struct_size(p, rule, p->room));
	kvfree(p);
}

static void drop_policy(struct via_policy *p)
{
	lockdep_assert_held(&via_policies_mutex);
	list_del(&p->link);
	free_policy(p);
}

int via_policy_apply(struct via_nic *nic)
{
	struct via_peers_edit edit = { .how = VIA_PEERS_ONLY };
	enum via_refusal why = VIA_REFUSE_NONE;
	struct via_policy *p;
	int ret = 0, idx;

	if (!keeps_policy(nic))
		return 0;
	mutex_lock(&via_policies_mutex);
	p = find_policy(nic);
	if (!p && listed_elsewhere(nic)) {
		/* No limit: one for each interface that comes. */
		p = new_policy(nic, 0);
		if (p) {
			p->listed = true;
			list_add_tail(&p->link, &via_policies);
		} else {
			ret = -ENOMEM;
		}
	}
	if (p)
		p->used = true;
	mutex_unlock(&via_policies_mutex);
	if (!p || !p->listed)
		return ret;
	edit.n = p->n;
	edit.rule = p->rule;
	ret = -ENODEV;
	mutex_lock(&nic->admin_mutex);
	if (via_nic_enter(nic, &idx)) {
		ret = nic->ops->peers_edit(nic, &edit, &why);
		via_nic_leave(nic, idx);
	}
	mutex_unlock(&nic->admin_mutex);
	return ret;
}

void via_policy_log(const struct via_nic *nic)
{
	const struct via_policy *p;
	bool listed = false;
	u32 n = 0;

	if (!keeps_policy(nic))
		return;
	mutex_lock(&via_policies_mutex);
	p = find_policy(nic);
	if (p) {
		listed = p->listed;
		n = p->n;
	}
	mutex_unlock(&via_policies_mutex);
	if (listed && n)
		pr_info_ratelimited("via_ka: %s: its list of hosts holds as before, %u of them\n",
				    nic->name, n);
	else if (listed)
		pr_warn_ratelimited("via_ka: %s admits no host; as root: via peer allow\n",
				    nic->name);
}

void via_policy_release(const struct via_nic *nic)
{
	struct via_policy *p;

	if (!keeps_policy(nic))
		return;
	mutex_lock(&via_policies_mutex);
	p = find_policy(nic);
	if (p)
		p->used = false;
	mutex_unlock(&via_policies_mutex);
}

/* Is there room for a list of the NIC? */
static bool make_room(const struct via_nic *nic)
{
	struct via_policy *p, *oldest = NULL;
	u32 n = 0;

	lockdep_assert_held(&via_policies_mutex);
	list_for_each_entry(p, &via_policies, link) {
		if (!net_eq(p->net, nic->netns))
			continue;
		n++;
		if (!oldest && !p->netdev && !p->used)
			oldest = p;
	}
	if (n < VIA_POLICIES_MAX || find_policy(nic))
		return true;
	if (oldest)
		drop_policy(oldest);
	return oldest;
}

/* Room for what the change makes, so that it cannot fail afterwards. */
static struct via_policy *reserve_policy(struct via_nic *nic,
					 const struct via_peers_edit *edit,
					 enum via_refusal *why)
{
	struct via_peers_state of = {};
	bool ok;
	u32 n = 0;

	nic->ops->peers_read(nic, 0, NULL, 0, &of);
	if (edit->how == VIA_PEERS_ADD || edit->how == VIA_PEERS_DEL)
		n = of.n;
	if (edit->how == VIA_PEERS_ADD || edit->how == VIA_PEERS_ONLY)
		n += edit->n;
	if (edit->how != VIA_PEERS_ANY) {
		/* Changes under way may pass it by one each. */
		mutex_lock(&via_policies_mutex);
		ok = make_room(nic);
		mutex_unlock(&via_policies_mutex);
		if (!ok) {
			*why = VIA_REFUSE_LISTS;
			return ERR_PTR(-ENOSPC);
		}
	}
	return new_policy(nic, min_t(u32, n, VIA_NL_PEERS_MAX)) ?:
	       ERR_PTR(-ENOMEM);
}

/* In the place of what was kept. */
static void keep_policy(const struct via_nic *nic, struct via_policy *p)
{
	struct via_policy *old;

	mutex_lock(&via_policies_mutex);
	old = find_policy(nic);
	if (old)
		drop_policy(old);
	p->used = true;
	if (p->listed || listed_elsewhere(nic)) {
		list_add_tail(&p->link, &via_policies);
		p = NULL;
	}
	mutex_unlock(&via_policies_mutex);
	free_policy(p);
}

int via_policy_edit(struct via_nic *nic, const struct via_peers_edit *edit,
		    enum via_refusal *why)
{
	struct via_peers_state of = { .keys = true };
	struct via_policy *p;
	int ret;

	lockdep_assert_held(&nic->admin_mutex);
	if (!keeps_policy(nic))
		return nic->ops->peers_edit(nic, edit, why);
	p = reserve_policy(nic, edit, why);
	if (IS_ERR(p))
		return PTR_ERR(p);
	ret = nic->ops->peers_edit(nic, edit, why);
	if (ret) {
		free_policy(p);
		return ret;
	}
	p->n = nic->ops->peers_read(nic, 0, p->rule, p->room, &of);
	p->listed = of.listed;
	keep_policy(nic, p);
	return 0;
}

/*
 * An interface goes for good.  Behind all notifiers of devices, which have
 * unregistered its NICs: no change of them can be under way.
 */
static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct via_policy *p, *next;

	/* One that is registered moves to another namespace. */
	if (event != NETDEV_UNREGISTER || dev->reg_state == NETREG_REGISTERED)
		return NOTIFY_DONE;
	mutex_lock(&via_policies_mutex);
	list_for_each_entry_safe(p, next, &via_policies, link)
		if (p->netdev == dev)
			drop_policy(p);
	mutex_unlock(&via_policies_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = netdev_event,
	.priority = INT_MIN,
};

/* Its interfaces have gone, or are in the initial namespace. */
static void __net_exit net_exit(struct net *net)
{
	struct via_policy *p, *next;

	mutex_lock(&via_policies_mutex);
	list_for_each_entry_safe(p, next, &via_policies, link)
		if (net_eq(p->net, net))
			drop_policy(p);
	mutex_unlock(&via_policies_mutex);
}

static struct pernet_operations net_ops = {
	.exit = net_exit,
};

int via_policies_init(void)
{
	int ret = register_pernet_subsys(&net_ops);

	if (ret)
		return ret;
	ret = register_netdevice_notifier(&notifier);
	if (ret)
		unregister_pernet_subsys(&net_ops);
	return ret;
}

/* No NIC is left. */
void via_policies_exit(void)
{
	struct via_policy *p, *next;

	unregister_netdevice_notifier(&notifier);
	unregister_pernet_subsys(&net_ops);
	mutex_lock(&via_policies_mutex);
	list_for_each_entry_safe(p, next, &via_policies, link)
		drop_policy(p);
	mutex_unlock(&via_policies_mutex);
}

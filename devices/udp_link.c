// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hosts: which there are, and what is kept for each, a link with the route to
 * it.  A route is looked up again when IP says that it is old.
 */

#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "udp.h"

DEFINE_SPINLOCK(via_udp_links_lock);

bool via_udp_host_valid(const struct via_ether_nic *nic, const u8 *host)
{
	const struct via_udp *u = nic->priv;
	struct in6_addr v6;
	__be32 v4;

	if (u->v6) {
		memcpy(&v6, host, sizeof(v6));
		return !ipv6_addr_any(&v6) && !ipv6_addr_is_multicast(&v6) &&
		       !ipv6_addr_v4mapped(&v6);
	}
	memcpy(&v4, host, sizeof(v4));
	return !ipv4_is_zeronet(v4) && !ipv4_is_multicast(v4) &&
	       !ipv4_is_lbcast(v4);
}

/* A route, with a reference, or NULL. */
static struct dst_entry *look_up_v4(const struct via_udp *u, const u8 *host)
{
	struct flowi4 fl = {
		.flowi4_oif = u->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_dport = u->port,
	};
	struct rtable *rt;

	memcpy(&fl.daddr, host, sizeof(fl.daddr));
	memcpy(&fl.saddr, u->nic->host.addr, sizeof(fl.saddr));
	rt = ip_route_output_flow(u->net, &fl, u->sock->sk);
	if (IS_ERR(rt))
		return NULL;
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return NULL;
	}
	return &rt->dst;
}

static struct dst_entry *look_up_v6(const struct via_udp *u, const u8 *host)
{
	struct flowi6 fl = {
		.flowi6_oif = u->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.fl6_dport = u->port,
	};
	struct dst_entry *dst;

	memcpy(&fl.daddr, host, sizeof(fl.daddr));
	memcpy(&fl.saddr, u->nic->host.addr, sizeof(fl.saddr));
	dst = ip6_dst_lookup_flow(u->net, u->sock->sk, &fl, NULL);
	return IS_ERR(dst) ? NULL : dst;
}

struct dst_entry *via_udp_look_up(const struct via_udp *u, const u8 *host)
{
	return u->v6 ? look_up_v6(u, host) : look_up_v4(u, host);
}

void via_udp_keep(struct dst_entry __rcu **where, u32 *cookie,
		  struct dst_entry *dst, bool v6)
{
	struct dst_entry *old;

	lockdep_assert_held(&via_udp_links_lock);
	old = rcu_dereference_protected(*where, true);
	/* No reader takes the cookie of one for that of the other. */
	rcu_assign_pointer(*where, NULL);
	*cookie = v6 && dst ? rt6_get_cookie((struct rt6_info *)dst) : 0;
	rcu_assign_pointer(*where, dst);
	dst_release(old);
}

struct dst_entry *via_udp_new_route(const struct via_udp *u,
				    struct via_udp_link *kept)
{
	struct dst_entry *dst = via_udp_look_up(u, kept->host);

	spin_lock(&via_udp_links_lock);
	/* After its end it would not be given back. */
	if (dst && hlist_unhashed(&kept->by_host)) {
		dst_release(dst);
		dst = NULL;
	} else {
		via_udp_keep(&kept->out, &kept->out_cookie, dst, u->v6);
	}
	spin_unlock(&via_udp_links_lock);
	return dst;
}

/* A host of a subnet of this one: the route to it has no gateway. */
bool via_udp_host_near(struct via_ether_nic *nic, const u8 *host)
{
	const struct via_udp *u = nic->priv;
	struct dst_entry *dst;
	bool near;

	local_bh_disable();
	dst = via_udp_look_up(u, host);
	if (!dst)
		near = false;
	else if (u->v6)
		near = !(((struct rt6_info *)dst)->rt6i_flags & RTF_GATEWAY);
	else
		near = !((struct rtable *)dst)->rt_gw_family;
	dst_release(dst);
	local_bh_enable();
	return near;
}

void via_udp_look_soon(struct via_udp *u, struct via_udp_link *kept)
{
	spin_lock(&via_udp_links_lock);
	/* A closed one is off the lists. */
	if (!kept->look && !hlist_unhashed(&kept->by_host)) {
		WRITE_ONCE(kept->look, true);
		list_add_tail(&kept->look_link, &u->looks);
	}
	spin_unlock(&via_udp_links_lock);
	tasklet_schedule(&u->waker);
}

struct via_udp_link *via_udp_next_look(struct via_udp *u,
				       struct via_work *work)
{
	struct via_udp_link *kept;

	spin_lock(&via_udp_links_lock);
	kept = list_first_entry_or_null(&u->looks, struct via_udp_link,
					look_link);
	if (kept && !via_work_visit(work)) {
		kept = NULL;
		tasklet_schedule(&u->waker);
	}
	if (kept) {
		list_del_init(&kept->look_link);
		/* What changes from here on is looked at once more. */
		WRITE_ONCE(kept->look, false);
	}
	spin_unlock(&via_udp_links_lock);
	return kept;
}

/* One that is not kept has the address and no route. */
bool via_udp_link_open(struct via_ether_nic *nic, struct via_ether_link *link,
		       const u8 *host, gfp_t gfp)
{
	struct via_udp *u = nic->priv;
	struct via_udp_link *kept;

	BUILD_BUG_ON(sizeof(link->header) < VIA_HOST_MAX);
	/* There is no address of all hosts. */
	if (!host)
		return false;
	memset(link, 0, sizeof(*link));
	memcpy(link->header, host, nic->host.len);
	if (!gfp)
		return true;
	kept = kzalloc(sizeof(*kept), gfp);
	if (!kept)
		return false;
	memcpy(kept->host, host, nic->host.len);
	kept->to.next = jiffies;
	INIT_LIST_HEAD(&kept->look_link);
	spin_lock_bh(&via_udp_links_lock);
	list_add(&kept->link, &u->links);
	hlist_add_head_rcu(&kept->by_host, via_udp_bucket(u, kept->host));
	spin_unlock_bh(&via_udp_links_lock);
	link->priv = kept;
	return true;
}

static void free_link(struct rcu_head *rcu)
{
	struct via_udp_link *kept = container_of(rcu, struct via_udp_link, rcu);

	dst_release(rcu_dereference_protected(kept->in, true));
	dst_release(rcu_dereference_protected(kept->out, true));
	kfree(kept);
}

void via_udp_link_close(struct via_ether_link *link)
{
	struct via_udp_link *kept = link->priv;

	if (!kept)
		return;
	spin_lock_bh(&via_udp_links_lock);
	list_del(&kept->link);
	list_del_init(&kept->look_link);
	hlist_del_init_rcu(&kept->by_host);
	spin_unlock_bh(&via_udp_links_lock);
	/* via_udp_wake() may be at it. */
	call_rcu(&kept->rcu, free_link);
}

/*
 * Routes go before the namespace does.  The links that are still there are given
 * back later, when the class's readers are done: each is on a list of its own
 * then.
 */
void via_udp_links_end(struct via_udp *u)
{
	struct via_udp_link *kept, *next;

	spin_lock_bh(&via_udp_links_lock);
	list_for_each_entry_safe(kept, next, &u->links, link) {
		list_del(&kept->link);
		INIT_LIST_HEAD(&kept->link);
		list_del_init(&kept->look_link);
		hlist_del_init_rcu(&kept->by_host);
		via_udp_keep(&kept->in, &kept->in_cookie, NULL, u->v6);
		via_udp_keep(&kept->out, &kept->out_cookie, NULL, u->v6);
	}
	spin_unlock_bh(&via_udp_links_lock);
}

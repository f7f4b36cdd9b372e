// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Addresses.
 *
 * VIA's frames go one hop, so the peer's host is its MAC address, by the kernel's table of
 * neighbours; in UDP it is the IP address.  Addresses and ports of both ends stand in the
 * discriminators of a request, as its sender gives them: what a host is allowed to do
 * hangs on its MAC address and its key, never on these.
 */

#include <linux/delay.h>
#include <linux/inetdevice.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/ip6_route.h>
#include <net/neighbour.h>
#include <net/route.h>
#include "addr.h"

#define VR_RESOLVE_MS	1000	/* as long as the kernel asks for a neighbour, 3 times a
				 * third of a second
				 */
#define VR_LOOK_MS	10

static void vr_put_ip(const struct sockaddr_storage *ss, __be16 *port, u8 *ip)
{
	const struct sockaddr_in6 *in6 = (const void *)ss;
	const struct sockaddr_in *in = (const void *)ss;
	struct in6_addr addr;

	if (ss->ss_family == AF_INET6) {
		*port = in6->sin6_port;
		addr = in6->sin6_addr;
	} else {
		*port = in->sin_port;
		ipv6_addr_set_v4mapped(in->sin_addr.s_addr, &addr);
	}
	memcpy(ip, &addr, sizeof(addr));
}

static void vr_get_ip(struct sockaddr_storage *ss, const struct vr_dev *d,
		      __be16 port, const u8 *ip)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;
	struct in6_addr addr;

	memset(ss, 0, sizeof(*ss));
	memcpy(&addr, ip, sizeof(addr));
	if (ipv6_addr_v4mapped(&addr)) {
		in->sin_family = AF_INET;
		in->sin_port = port;
		in->sin_addr.s_addr = addr.s6_addr32[3];
		return;
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	in6->sin6_addr = addr;
	if (ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL)
		in6->sin6_scope_id = d->ifindex;
}

void vr_request_pack(const struct vr_request *r, struct via_net_addr *client,
		     struct via_net_addr *server)
{
	struct vr_disc_server *s = (void *)server->disc;
	struct vr_disc_client *c = (void *)client->disc;

	memset(s, 0, sizeof(*s));
	memset(c, 0, sizeof(*c));
	server->disc_len = sizeof(*s);
	client->disc_len = sizeof(*c);
	memcpy(s->magic, VR_MAGIC, sizeof(s->magic));
	vr_put_ip(&r->server, &s->port, s->ip);
	vr_put_ip(&r->client, &c->port, c->ip);
	c->len = r->len;
	c->ird = r->ird;
	c->ord = r->ord;
	memcpy(c->data, r->data, min_t(u32, r->len, sizeof(c->data)));
	if (r->len > sizeof(c->data))
		memcpy(s->data, r->data + sizeof(c->data),
		       r->len - sizeof(c->data));
}

int vr_request_parse(struct vr_request *r, const struct vr_dev *d,
		     const struct via_net_addr *client,
		     const struct via_net_addr *server)
{
	const struct vr_disc_server *s = (const void *)server->disc;
	const struct vr_disc_client *c = (const void *)client->disc;

	if (server->disc_len != sizeof(*s) || client->disc_len != sizeof(*c) ||
	    memcmp(s->magic, VR_MAGIC, sizeof(s->magic)) ||
	    c->len > sizeof(r->data))
		return -EINVAL;
	vr_get_ip(&r->server, d, s->port, s->ip);
	vr_get_ip(&r->client, d, c->port, c->ip);
	r->len = c->len;
	r->ird = clamp_t(u8, c->ird, 1, VR_READS);
	r->ord = clamp_t(u8, c->ord, 1, VR_READS);
	memcpy(r->data, c->data, sizeof(c->data));
	memcpy(r->data + sizeof(c->data), s->data, sizeof(s->data));
	return 0;
}

/* The route's neighbour, as soon as it is there. */
static int vr_wait_neigh(struct neighbour *n, struct via_net_addr *addr)
{
	int ms;

	for (ms = 0; !(READ_ONCE(n->nud_state) & NUD_VALID); ms += VR_LOOK_MS) {
		if (ms >= VR_RESOLVE_MS)
			return -EHOSTUNREACH;
		if (signal_pending(current))
			return -EINTR;
		neigh_event_send(n, NULL);
		msleep(VR_LOOK_MS);
	}
	neigh_ha_snapshot((char *)addr->host, n, n->dev);
	addr->host_len = ETH_ALEN;
	return 0;
}

static int vr_ask_neigh(struct dst_entry *dst, const void *to,
			const struct net_device *ndev,
			struct via_net_addr *addr)
{
	struct neighbour *n;
	int ret = -EHOSTUNREACH;

	if (dst->dev != ndev)
		return ret;
	n = dst_neigh_lookup(dst, to);
	if (n) {
		ret = vr_wait_neigh(n, addr);
		neigh_release(n);
	}
	return ret;
}

/* This host has a VIA address, too. */
static void vr_own_host(const struct vr_dev *d, struct via_net_addr *addr)
{
	const struct via_nic *nic = via_kernel_nic(d->file);

	addr->host_len = nic->addr_len;
	memcpy(addr->host, nic->addr, nic->addr_len);
}

static int vr_resolve4(struct vr_dev *d, struct net_device *ndev,
		       const struct sockaddr_storage *from,
		       const struct sockaddr_storage *to,
		       struct via_net_addr *addr)
{
	__be32 daddr = ((const struct sockaddr_in *)to)->sin_addr.s_addr;
	struct flowi4 fl = {
		.daddr = daddr,
		.saddr = ((const struct sockaddr_in *)from)->sin_addr.s_addr,
		.flowi4_oif = d->ifindex,
	};
	struct rtable *rt = ip_route_output_key(d->net, &fl);
	int ret = -EHOSTUNREACH;

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	if (rt->rt_flags & RTCF_LOCAL) {
		vr_own_host(d, addr);
		ret = 0;
	} else if (!rt->rt_uses_gateway && rt->rt_type == RTN_UNICAST) {
		ret = vr_ask_neigh(&rt->dst, &daddr, ndev, addr);
	}
	ip_rt_put(rt);
	return ret;
}

static int vr_resolve6(struct vr_dev *d, struct net_device *ndev,
		       const struct sockaddr_storage *from,
		       const struct sockaddr_storage *to,
		       struct via_net_addr *addr)
{
	struct in6_addr daddr = ((const struct sockaddr_in6 *)to)->sin6_addr;
	struct flowi6 fl = {
		.daddr = daddr,
		.saddr = ((const struct sockaddr_in6 *)from)->sin6_addr,
		.flowi6_oif = d->ifindex,
	};
	struct dst_entry *dst;
	struct rt6_info *rt;
	int ret = -EHOSTUNREACH;

	if (ipv6_chk_addr(d->net, &daddr, ndev, 1)) {
		vr_own_host(d, addr);
		return 0;
	}
	dst = ip6_dst_lookup_flow(d->net, NULL, &fl, NULL);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	rt = container_of(dst, struct rt6_info, dst);
	if (!(rt->rt6i_flags & RTF_GATEWAY))
		ret = vr_ask_neigh(dst, &daddr, ndev, addr);
	dst_release(dst);
	return ret;
}

/* In UDP the host is the address, and it goes wherever IP goes. */
static int vr_resolve_udp(const struct vr_dev *d,
			  const struct sockaddr_storage *to,
			  struct via_net_addr *addr)
{
	if (to->ss_family == AF_INET) {
		addr->host_len = sizeof(struct in_addr);
		memcpy(addr->host, &((const struct sockaddr_in *)to)->sin_addr,
		       addr->host_len);
	} else {
		addr->host_len = sizeof(struct in6_addr);
		memcpy(addr->host,
		       &((const struct sockaddr_in6 *)to)->sin6_addr,
		       addr->host_len);
	}
	return addr->host_len == via_kernel_nic(d->file)->addr_len ?
	       0 : -EAFNOSUPPORT;
}

int vr_addr_resolve(struct vr_dev *d, const struct sockaddr_storage *from,
		    const struct sockaddr_storage *to,
		    struct via_net_addr *addr)
{
	struct net_device *ndev;
	int ret;

	if ((to->ss_family != AF_INET && to->ss_family != AF_INET6) ||
	    to->ss_family != from->ss_family)
		return -EAFNOSUPPORT;
	if (d->udp)
		return vr_resolve_udp(d, to, addr);
	ndev = vr_dev_netdev(d);
	if (!ndev)
		return -ENODEV;
	if (to->ss_family == AF_INET)
		ret = vr_resolve4(d, ndev, from, to, addr);
	else
		ret = vr_resolve6(d, ndev, from, to, addr);
	dev_put(ndev);
	return ret;
}

bool vr_addr_may(const struct vr_dev *d)
{
	return current->flags & PF_KTHREAD || !current->nsproxy ||
	       net_eq(current->nsproxy->net_ns, d->net);
}

static bool vr_addr_is_any(const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		return !((const struct sockaddr_in *)addr)->sin_addr.s_addr;
	return ipv6_addr_any(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

bool vr_addr_is_own(struct vr_dev *d, const struct sockaddr_storage *addr)
{
	struct net_device *found, *ndev = vr_dev_netdev(d);
	bool own = vr_addr_is_any(addr);

	if (!ndev)
		return false;
	if (!own && addr->ss_family == AF_INET) {
		rcu_read_lock();
		found = __ip_dev_find(d->net, ((const struct sockaddr_in *)
					       addr)->sin_addr.s_addr, false);
		own = found == ndev;
		rcu_read_unlock();
	} else if (!own && addr->ss_family == AF_INET6) {
		own = ipv6_chk_addr(d->net, &((const struct sockaddr_in6 *)
					      addr)->sin6_addr, ndev, 1);
	}
	dev_put(ndev);
	return own;
}

static __be16 vr_port(const struct sockaddr_storage *addr)
{
	/* Both families have it at the same place. */
	return ((const struct sockaddr_in *)addr)->sin_port;
}

static bool vr_ip_same(const struct sockaddr_storage *a,
		       const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr);
}

bool vr_addr_same(const struct sockaddr_storage *a,
		  const struct sockaddr_storage *b)
{
	return vr_port(a) == vr_port(b) && vr_ip_same(a, b);
}

bool vr_addr_match(const struct sockaddr_storage *listener, bool only,
		   const struct sockaddr_storage *wanted)
{
	if (vr_port(listener) != vr_port(wanted))
		return false;
	if (!vr_addr_is_any(listener))
		return vr_ip_same(listener, wanted);
	return listener->ss_family == wanted->ss_family ||
	       (listener->ss_family == AF_INET6 && !only);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * VI NICs in UDP/IP: docs/howto/udp.md.
 *
 * Theory of operation.  A NIC is a local address and a UDP port.  Its socket is
 * one of the kernel's for tunnels: it receives by a call from UDP (udp_recv.c),
 * and is what IP's filters and accounts see of frames that are sent
 * (udp_send.c).  The class of packet networks above knows hosts by their
 * addresses; what a link header is on Ethernet is a route here.
 *
 * An administrator attaches addresses and detaches NICs: via(8).  A NIC goes
 * with its network namespace, or with the interface that it is bound to.  When
 * its address goes, or the interface that has it goes down, connections break;
 * the NIC waits for the address to come back.
 *
 * Locking: udp.h.
 */

#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include "early.h"
#include "udp.h"
#include "udp_seen.h"
#include "udp_shape.h"

#define RX_FRAMES	1024	/* unknown: congestion control finds it */
#define UNITS		256	/* via_udp0 to via_udp255 */

static LIST_HEAD(nics);

static void fill_stats(struct via_ether_nic *nic, struct via_stats_sink *sink)
{
	struct via_udp *u = nic->priv;

	via_stat(sink, "wire_tx_lost", READ_ONCE(u->tx_lost));
	via_stat(sink, "wire_tx_black_hole", READ_ONCE(u->tx_black_hole));
	via_stat(sink, "wire_rx_errors", READ_ONCE(u->rx_quoted));
	via_stat(sink, "wire_rx_early", via_early_sum(&u->counts->rx_early));
	via_stat(sink, "wire_rx_joined", via_early_sum(&u->counts->rx_joined));
	via_stat(sink, "wire_tx_joined", via_early_sum(&u->counts->tx_joined));
	via_stat(sink, "wire_rx_shaped", via_early_sum(&u->counts->rx_shaped));
	via_stat(sink, "wire_rx_misshaped",
		 via_early_sum(&u->counts->rx_misshaped));
	via_stat(sink, "wire_tx_shaped", via_early_sum(&u->counts->tx_shaped));
	via_stat(sink, "wire_shape_ended",
		 u->shape ? READ_ONCE(u->shape->ended) : 0);
}

static struct via_ether_ops udp_ops = {
	.owner = THIS_MODULE,
	.host_valid = via_udp_host_valid,
	.host_near = via_udp_host_near,
	.link_open = via_udp_link_open,
	.link_close = via_udp_link_close,
	.path_black_hole = via_udp_path_black_hole,
	.tx_begin = via_udp_tx_begin,
	.tx_get = via_udp_tx_get,
	.tx_put = via_udp_tx_put,
	.tx_drop = via_udp_tx_drop,
	.tx_end = via_udp_tx_end,
	.tx_get_one = via_udp_tx_get_one,
	.tx_put_one = via_udp_tx_put_one,
	.tx_get_train = via_udp_tx_get_train,
	.tx_put_train = via_udp_tx_put_train,
	.stats = fill_stats,
};

/* The same, with trains in TCP's shape. */
static struct via_ether_ops shape_ops;

/* Before there is a NIC. */
static void __init make_shape_ops(void)
{
	shape_ops = udp_ops;
	shape_ops.tx_get_train = via_udp_shape_get_train;
	shape_ops.tx_put_train = via_udp_shape_put_train;
	shape_ops.resent = via_udp_shape_resent;
	shape_ops.rx_other = via_udp_shape_rx_other;
}

/* The socket, bound to the address: -EADDRNOTAVAIL if this host has it not. */
static int open_socket(struct via_udp *u, const struct via_attach_to *to)
{
	struct udp_port_cfg cfg = {
		.family = u->v6 ? AF_INET6 : AF_INET,
		.local_udp_port = u->port,
		.bind_ifindex = u->ifindex,
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
		.ipv6_v6only = 1,
	};

	if (u->v6)
		memcpy(&cfg.local_ip6, to->addr, sizeof(cfg.local_ip6));
	else
		memcpy(&cfg.local_ip, to->addr, sizeof(cfg.local_ip));
	return udp_sock_create(u->net, &cfg, &u->sock);
}

static void start_listening(struct via_udp *u)
{
	struct udp_tunnel_sock_cfg cfg = {
		.sk_user_data = u,
		.encap_type = 1,
		.encap_rcv = via_udp_rx,
		.encap_err_lookup = via_udp_error,
		.gro_receive = via_udp_rx_early,
		.gro_complete = via_udp_gro_complete,
	};
	struct sock *sk = u->sock->sk;

	u->space = sk->sk_write_space;
	sk->sk_write_space = via_udp_write_space;
	setup_udp_tunnel_sock(u->net, sk, &cfg);
	via_udp_hook(u);
}

/* No datagram is handed over any more, and no one is told of room. */
static void stop_listening(struct via_udp *u)
{
	struct sock *sk = u->sock->sk;

	via_udp_unhook(u);
	rcu_assign_sk_user_data(sk, NULL);
	WRITE_ONCE(sk->sk_write_space, u->space);
	synchronize_net();
}

/* The MTU of the interface that has the address. */
static u32 local_mtu(const struct via_udp *u)
{
	struct net_device *dev = NULL;
	struct in6_addr v6;
	u32 mtu = 1500;
	__be32 v4;

	rcu_read_lock();
	if (u->ifindex) {
		dev = dev_get_by_index_rcu(u->net, u->ifindex);
	} else if (u->v6) {
		memcpy(&v6, u->nic->host.addr, sizeof(v6));
		dev = ipv6_dev_find(u->net, &v6, NULL);
	} else {
		memcpy(&v4, u->nic->host.addr, sizeof(v4));
		dev = __ip_dev_find(u->net, v4, false);
	}
	if (dev)
		mtu = dev->mtu;
	rcu_read_unlock();
	return min(mtu, 65535u) - via_udp_overhead(u);
}

static bool name_free(const char *name)
{
	const struct via_udp *u;

	list_for_each_entry(u, &nics, link)
		if (!strcmp(u->nic->ka->name, name))
			return false;
	return true;
}

/* The first name that is free. */
static int name_nic(struct via_nic *ka)
{
	u32 i;

	for (i = 0; i < UNITS; i++) {
		snprintf(ka->name, sizeof(ka->name), "via_udp%u", i);
		if (name_free(ka->name))
			return 0;
	}
	return -ENOSPC;
}

static int make_nic(struct via_udp *u, const struct via_attach_to *to)
{
	struct via_ether_nic *nic;
	int err;

	nic = via_ether_alloc(u->shape ? &shape_ops : &udp_ops);
	if (!nic)
		return -ENOMEM;
	u->nic = nic;
	nic->priv = u;
	nic->rx_frames = RX_FRAMES;
	nic->prefixes = true;
	via_host_set(&nic->host, to->addr, to->addr_len);
	nic->mtu = local_mtu(u);
	nic->trains = true;
	nic->ka->type = VIA_NIC_UDP;
	nic->ka->netns = u->net;
	if (u->ifindex)
		nic->ka->netdev = __dev_get_by_index(u->net, u->ifindex);
	nic->ka->port = ntohs(u->port);
	nic->ka->bound = u->ifindex;
	nic->ka->shape = u->shape ? VIA_NL_SHAPE_TCP : VIA_NL_SHAPE_UDP;
	err = name_nic(nic->ka);
	if (!err)
		err = via_ether_register(nic);
	if (err) {
		via_ether_free(nic);
		/* Hosts with a key had some. */
		via_udp_links_end(u);
	}
	return err;
}

static void free_nic(struct via_udp *u)
{
	via_udp_shape_close(u);
	via_table_free(&u->by_host);
	free_percpu(u->counts);
	kfree(u);
}

static int attach_address(struct net *net, const struct via_attach_to *to,
			  struct via_udp *u)
{
	int err;

	INIT_LIST_HEAD(&u->links);
	INIT_LIST_HEAD(&u->looks);
	tasklet_setup(&u->waker, via_udp_wake);
	u->net = net;
	u->v6 = to->addr_len == sizeof(struct in6_addr);
	u->port = htons(to->port ?: VIA_UDP_PORT);
	u->ifindex = to->ifindex;
	u->raw = via_udp_raw_sockets(u, IPPROTO_UDP);
	err = open_socket(u, to);
	if (err)
		return err;
	if (to->shape == VIA_NL_SHAPE_TCP)
		err = via_udp_shape_open(u, to->addr);
	if (!err)
		err = make_nic(u, to);
	if (err) {
		udp_tunnel_sock_release(u->sock->sk);
		return err;
	}
	start_listening(u);
	list_add_tail(&u->link, &nics);
	pr_info("%s: VI NIC at UDP port %u of %s\n", u->nic->ka->name,
		ntohs(u->port), to->addr_len == 4 ? "IPv4" : "IPv6");
	return 0;
}

/*
 * RTNL held.  Nothing is received any more; then the class says goodbye, and
 * what it has given back is sent; then routes, and the socket.  Frames in
 * queues keep the socket's memory, and need nothing of this module.
 */
static void detach_udp(struct via_udp *u)
{
	ASSERT_RTNL();
	list_del(&u->link);
	stop_listening(u);
	via_ether_unregister(u->nic);
	tasklet_kill(&u->waker);
	via_udp_links_end(u);
	via_ether_free(u->nic);
	udp_tunnel_sock_release(u->sock->sk);
	free_nic(u);
}

/* For the agent, on an administrator's word: RTNL not held. */

static int attach_udp(struct net *net, const struct via_attach_to *to,
		      enum via_refusal *why)
{
	struct via_udp *u;
	int err;

	if (to->addr_len != sizeof(struct in6_addr) &&
	    to->addr_len != sizeof(struct in_addr)) {
		*why = VIA_REFUSE_NEEDS_ADDR;
		return -EINVAL;
	}
	if (to->shape && to->addr_len != sizeof(struct in_addr)) {
		*why = VIA_REFUSE_SHAPE;
		return -EOPNOTSUPP;
	}
	u = kzalloc(sizeof(*u), GFP_KERNEL);
	if (!u)
		return -ENOMEM;
	u->counts = alloc_percpu(struct via_udp_counts);
	if (!u->counts || via_table_init(&u->by_host, VIA_UDP_LINK_BITS)) {
		free_percpu(u->counts);
		kfree(u);
		return -ENOMEM;
	}
	rtnl_lock();
	err = attach_address(net, to, u);
	rtnl_unlock();
	if (err == -EADDRINUSE)
		*why = VIA_REFUSE_PORT;
	else if (err == -EADDRNOTAVAIL || err == -EINVAL)
		*why = VIA_REFUSE_NOT_OURS;
	else if (err == -ENODEV)
		*why = VIA_REFUSE_NO_INTERFACE;
	if (err)
		free_nic(u);
	return err;
}

static int detach_nic(struct net *net, const struct via_nic *ka,
		      enum via_refusal *why)
{
	struct via_udp *u, *found = NULL;

	rtnl_lock();
	list_for_each_entry(u, &nics, link)
		if (u->nic->ka == ka)
			found = u;
	if (found)
		detach_udp(found);
	rtnl_unlock();
	if (found)
		return 0;
	*why = VIA_REFUSE_NO_INTERFACE;
	return -ENODEV;
}

static struct via_attach_ops attach_ops = {
	.owner = THIS_MODULE,
	.addresses = true,
	.attach = attach_udp,
	.detach = detach_nic,
};

/* Its address, of IPv4, is the interface's. */
static bool has_v4(const struct via_udp *u, struct net_device *dev)
{
	struct in_device *in = __in_dev_get_rtnl(dev);
	const struct in_ifaddr *ifa;
	bool has = false;
	__be32 v4;

	if (!in || u->v6)
		return false;
	memcpy(&v4, u->nic->host.addr, sizeof(v4));
	in_dev_for_each_ifa_rtnl(ifa, in)
		has |= ifa->ifa_local == v4;
	return has;
}

/*
 * A lower MTU is one of the paths by that interface: links find it in their
 * routes, and what is in flight goes in fragments.
 */
static void raise_mtu(struct via_udp *u)
{
	u32 mtu = local_mtu(u);

	if (mtu > READ_ONCE(u->nic->mtu))
		via_ether_set_mtu(u->nic, mtu);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct via_udp *u, *next;
	bool bound;

	list_for_each_entry_safe(u, next, &nics, link) {
		if (!net_eq(u->net, dev_net(dev)))
			continue;
		bound = u->ifindex == dev->ifindex;
		if (event == NETDEV_UNREGISTER && bound)
			detach_udp(u);
		else if ((event == NETDEV_GOING_DOWN || event == NETDEV_DOWN) &&
			 (bound || has_v4(u, dev)))
			via_ether_break(u->nic);
		else if (event == NETDEV_UP || event == NETDEV_CHANGE)
			via_ether_wake(u->nic);
		else if (event == NETDEV_CHANGEMTU)
			raise_mtu(u);
	}
	return NOTIFY_DONE;
}

/* An address has gone.  RTNL held. */
static void address_gone(struct net *net, const void *addr, u32 len,
			 void (*end)(struct via_ether_nic *nic))
{
	struct via_udp *u;

	list_for_each_entry(u, &nics, link)
		if (net_eq(u->net, net) && u->nic->host.len == len &&
		    via_host_is(&u->nic->host, addr))
			end(u->nic);
}

static int inet_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct in_ifaddr *ifa = ptr;

	if (event == NETDEV_DOWN)
		address_gone(dev_net(ifa->ifa_dev->dev), &ifa->ifa_local,
			     sizeof(ifa->ifa_local), via_ether_break);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

static struct notifier_block inet_notifier = {
	.notifier_call = inet_event,
};

#if IS_ENABLED(CONFIG_IPV6)
static int inet6_event(struct notifier_block *nb, unsigned long event,
		       void *ptr)
{
	const struct inet6_ifaddr *ifa = ptr;

	/*
	 * They may come in softirqs, but go under RTNL: ipv6_del_addr().  The
	 * chain is an atomic one all the same.
	 */
	if (event == NETDEV_DOWN)
		address_gone(dev_net(ifa->idev->dev), &ifa->addr,
			     sizeof(ifa->addr), via_ether_break_atomic);
	return NOTIFY_DONE;
}

static struct notifier_block inet6_notifier = {
	.notifier_call = inet6_event,
};
#endif

/* Before the namespace's sockets and routes go. */
static void __net_exit net_pre_exit(struct net *net)
{
	struct via_udp *u, *next;

	rtnl_lock();
	list_for_each_entry_safe(u, next, &nics, link)
		if (net_eq(u->net, net))
			detach_udp(u);
	rtnl_unlock();
}

static struct pernet_operations net_ops = {
	.pre_exit = net_pre_exit,
};

static void forget_addresses(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	unregister_inet6addr_notifier(&inet6_notifier);
#endif
	unregister_inetaddr_notifier(&inet_notifier);
}

static int watch_addresses(void)
{
	int err = register_inetaddr_notifier(&inet_notifier);

#if IS_ENABLED(CONFIG_IPV6)
	if (!err) {
		err = register_inet6addr_notifier(&inet6_notifier);
		if (err)
			unregister_inetaddr_notifier(&inet_notifier);
	}
#endif
	return err;
}

static int __init via_udp_init(void)
{
	int err;

	make_shape_ops();
	err = register_pernet_subsys(&net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		goto err_net;
	err = watch_addresses();
	if (err)
		goto err_netdev;
	via_ether_attach_register(&attach_ops);
	return 0;

err_netdev:
	unregister_netdevice_notifier(&netdev_notifier);
err_net:
	unregister_pernet_subsys(&net_ops);
	return err;
}

static void __exit via_udp_exit(void)
{
	struct via_udp *u, *next;

	via_ether_attach_unregister(&attach_ops);
	forget_addresses();
	unregister_netdevice_notifier(&netdev_notifier);
	rtnl_lock();
	list_for_each_entry_safe(u, next, &nics, link)
		detach_udp(u);
	rtnl_unlock();
	unregister_pernet_subsys(&net_ops);
	/* Links are given back by callbacks, and free by further ones. */
	rcu_barrier();
	rcu_barrier();
	via_udp_pages_end();
}

module_init(via_udp_init);
module_exit(via_udp_exit);

MODULE_DESCRIPTION("VI NICs in UDP/IP");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Devices that come and go.
 *
 *  1. A device has a handle of its NIC from before it is registered until it is
 *     deallocated; no user is left then, and no hook runs after the handle is closed.
 *  2. Who unregisters (`rdma link del', the NIC's end, the module's) has a reference to
 *     the device; the RDMA core lets one of them through.
 *  3. The device borrows siw's number, by which siw and rxe find devices of an interface
 *     and would take ours for their own.  So it never says ib_device_set_netdev(), which
 *     feeds that search, and this file never calls ib_unregister_driver(), which goes by
 *     the number.
 *  4. Locks: vr_links_mutex, then RTNL.  The notifier, under RTNL, takes vr_links_lock
 *     alone.
 */

#include <linux/inetdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_netlink.h>
#include "cm.h"
#include "hook.h"
#include "link.h"
#include "roce.h"
#include "verbs.h"

#define VR_UDP_NICS	64	/* names that are tried, via_udp0 and on */
#define VR_PAGES	BIT_ULL(34)	/* of a device; programs have their own limits */

static DEFINE_MUTEX(vr_links_mutex);	/* devices are made; dev->ndev */
static DEFINE_SPINLOCK(vr_links_lock);	/* of the list */
static LIST_HEAD(vr_links);
static struct workqueue_struct *vr_links_wq;

static void vr_gone_work(struct work_struct *work)
{
	struct vr_dev *d = container_of(work, struct vr_dev, gone);
	struct net_device *ndev;
	bool registered;

	mutex_lock(&vr_links_mutex);
	ndev = rcu_replace_pointer(d->ndev, NULL,
				   lockdep_is_held(&vr_links_mutex));
	spin_lock(&vr_links_lock);
	registered = !list_empty(&d->link);
	spin_unlock(&vr_links_lock);
	mutex_unlock(&vr_links_mutex);
	/* Readers of the old pointer have a reference of their own then. */
	synchronize_rcu();
	dev_put(ndev);
	if (registered)
		ib_unregister_device(&d->ib);
	put_device(&d->ib.dev);
}

void vr_link_gone(struct vr_dev *d)
{
	get_device(&d->ib.dev);
	queue_work(vr_links_wq, &d->gone);
}

void vr_link_dealloc(struct ib_device *ib)
{
	struct vr_dev *d = vr_dev_of(ib);
	struct net_device *ndev;

	spin_lock(&vr_links_lock);
	list_del_init(&d->link);
	spin_unlock(&vr_links_lock);
	if (!IS_ERR_OR_NULL(d->file)) {
		if (d->listener.file)
			via_kernel_unlisten(&d->listener);
		vr_cm_end(d);
		/* Requests that were on their way find no listener. */
		drain_workqueue(d->wq);
		via_kernel_close(d->file);
	}
	if (d->wq)
		destroy_workqueue(d->wq);
	if (d->meet_wq)
		destroy_workqueue(d->meet_wq);
	xa_destroy(&d->qps);
	xa_destroy(&d->tallies);
	mutex_lock(&vr_links_mutex);
	ndev = rcu_replace_pointer(d->ndev, NULL,
				   lockdep_is_held(&vr_links_mutex));
	mutex_unlock(&vr_links_mutex);
	synchronize_rcu();
	dev_put(ndev);
}

/* Is it the NIC of one of the interface's addresses? */
static bool vr_is_address(const struct via_nic *nic, struct net_device *ndev)
{
	struct net *net = dev_net(ndev);
	struct in6_addr addr6;
	__be32 addr;
	bool is;

	if (nic->type != VIA_NIC_UDP)
		return false;
	if (nic->addr_len == sizeof(addr6)) {
		memcpy(&addr6, nic->addr, sizeof(addr6));
		return ipv6_chk_addr(net, &addr6, ndev, 1);
	}
	memcpy(&addr, nic->addr, sizeof(addr));
	rcu_read_lock();
	is = __ip_dev_find(net, addr, false) == ndev;
	rcu_read_unlock();
	return is;
}

static struct via_file *vr_open_udp(struct vr_dev *d, struct net_device *ndev,
				    const struct via_kernel_limits *limits)
{
	struct via_file *f;
	char name[16];
	int i;

	for (i = 0; i < VR_UDP_NICS; i++) {
		snprintf(name, sizeof(name), "via_udp%d", i);
		f = via_kernel_open(d->net, name, 0, &vr_hooks, limits, d);
		if (IS_ERR(f))
			continue;
		if (vr_is_address(via_kernel_nic(f), ndev))
			return f;
		via_kernel_close(f);
	}
	return ERR_PTR(-ENODEV);
}

static int vr_open(struct vr_dev *d, struct net_device *ndev)
{
	const struct via_kernel_limits limits = {
		.vis = VR_QPS,
		.pages = VR_PAGES,
	};

	if (d->udp)
		d->file = vr_open_udp(d, ndev, &limits);
	else
		d->file = via_kernel_open(d->net, NULL, ndev->ifindex,
					  &vr_hooks, &limits, d);
	if (!IS_ERR(d->file))
		return 0;
	if (PTR_ERR(d->file) == -ENODEV)
		pr_warn("no VI NIC %s %s: it is made by `via dev attach %s'\n",
			d->udp ? "in UDP has an address of" : "on", ndev->name,
			d->udp ? "ADDRESS" : ndev->name);
	return PTR_ERR(d->file);
}

static void vr_describe(struct vr_dev *d, struct net_device *ndev)
{
	struct ib_device *ib = &d->ib;
	u8 id[ETH_ALEN] = {};

	memcpy(id, ndev->dev_addr, min_t(u32, ndev->addr_len, sizeof(id)));
	addrconf_addr_eui48((u8 *)&ib->node_guid, (const char *)id);
	ib->node_type = d->roce ? RDMA_NODE_IB_CA : RDMA_NODE_RNIC;
	ib->phys_port_cnt = 1;
	ib->num_comp_vectors = num_possible_cpus();
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND);
	ib_set_device_ops(ib, &vr_verbs);
	if (d->roce) {
		ib_set_device_ops(ib, &vr_roce_ops);
		return;
	}
	strscpy(ib->iw_ifname, ndev->name, sizeof(ib->iw_ifname));
	ib->iw_driver_flags = IW_F_NO_PORT_MAP;
	ib_set_device_ops(ib, &vr_iw_ops);
}

/* What does not need the NIC. */
static struct vr_dev *vr_alloc(struct net_device *ndev, bool udp, bool roce)
{
	struct vr_dev *d = ib_alloc_device(vr_dev, ib);

	if (!d)
		return NULL;
	d->net = dev_net(ndev);
	d->ifindex = ndev->ifindex;
	d->udp = udp;
	d->roce = roce;
	/* A peer that has not heard of a device's end may still look for a number. */
	d->next_qp = roce ? get_random_u32() >> 8 : 0;
	INIT_LIST_HEAD(&d->link);
	vr_cm_init(d);
	xa_init_flags(&d->qps, XA_FLAGS_ALLOC1);
	mutex_init(&d->stat_lock);
	INIT_LIST_HEAD(&d->stat_qps);
	xa_init_flags(&d->tallies, XA_FLAGS_ALLOC1);
	INIT_WORK(&d->gone, vr_gone_work);
	dev_hold(ndev);
	RCU_INIT_POINTER(d->ndev, ndev);
	vr_describe(d, ndev);
	return d;
}

static bool vr_is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

/* The agent has one such listener on a NIC. */
static int vr_listen(struct vr_dev *d)
{
	int ret;

	memcpy(d->listener.disc, VR_MAGIC, sizeof(d->listener.disc));
	d->listener.asked = vr_cm_asked;
	ret = via_kernel_listen(d->file, &d->listener);
	if (ret)
		d->listener.file = NULL;
	return ret == -EADDRINUSE ? -EEXIST : ret;
}

/* Peers know QPs by their numbers: no other device on the NIC has such. */
static int vr_check_alone(const struct vr_dev *d)
{
	const struct vr_dev *other;
	int ret = 0;

	spin_lock(&vr_links_lock);
	list_for_each_entry(other, &vr_links, link)
		if (other->roce && via_kernel_nic(other->file) ==
				   via_kernel_nic(d->file))
			ret = -EEXIST;
	spin_unlock(&vr_links_lock);
	return ret;
}

static int vr_start(struct vr_dev *d, struct net_device *ndev, const char *name)
{
	int ret;

	/* A disk may wait for what is done there. */
	d->wq = alloc_workqueue("via_rdma_%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
				name);
	if (d->roce)
		d->meet_wq = alloc_workqueue("via_roce_%s", WQ_UNBOUND, 0,
					     name);
	if (!d->wq || (d->roce && !d->meet_wq))
		return -ENOMEM;
	ret = vr_open(d, ndev);
	if (ret)
		return ret;
	/* By the first, `via dev show' knows whose device it is. */
	snprintf(d->ib.node_desc, sizeof(d->ib.node_desc),
		 d->roce ? "Virtual Interface Architecture by number, %.20s" :
			   "Virtual Interface Architecture, %.31s",
		 via_kernel_nic(d->file)->name);
	ret = d->roce ? vr_check_alone(d) : vr_listen(d);
	if (ret)
		return ret;
	ret = ib_register_device(&d->ib, name, NULL);
	if (ret)
		return ret;
	spin_lock(&vr_links_lock);
	d->up = vr_is_up(ndev);
	list_add_tail(&d->link, &vr_links);
	spin_unlock(&vr_links_lock);
	return 0;
}

static int vr_newlink(const char *name, struct net_device *ndev, bool udp,
		      bool roce)
{
	struct vr_dev *d = vr_alloc(ndev, udp, roce);
	int ret;

	if (!d)
		return -ENOMEM;
	mutex_lock(&vr_links_mutex);
	ret = vr_start(d, ndev, name);
	mutex_unlock(&vr_links_mutex);
	if (ret)
		ib_dealloc_device(&d->ib);
	return ret;
}

static int vr_newlink_ether(const char *name, struct net_device *ndev)
{
	return vr_newlink(name, ndev, false, false);
}

static int vr_newlink_udp(const char *name, struct net_device *ndev)
{
	return vr_newlink(name, ndev, true, false);
}

static int vr_newlink_roce(const char *name, struct net_device *ndev)
{
	return vr_newlink(name, ndev, false, true);
}

static int vr_newlink_roce_udp(const char *name, struct net_device *ndev)
{
	return vr_newlink(name, ndev, true, true);
}

static struct rdma_link_ops vr_link_types[] = {
	{ .type = "via", .newlink = vr_newlink_ether },
	{ .type = "via_udp", .newlink = vr_newlink_udp },
	{ .type = "via_roce", .newlink = vr_newlink_roce },
	{ .type = "via_roce_udp", .newlink = vr_newlink_roce_udp },
};

/* The port's state is the interface's. */
static int vr_netdev_event(struct notifier_block *nb, unsigned long what,
			   void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct ib_event event = { .element.port_num = 1 };
	struct vr_dev *d;
	bool up;

	if (what != NETDEV_UP && what != NETDEV_DOWN && what != NETDEV_CHANGE)
		return NOTIFY_DONE;
	up = vr_is_up(ndev);
	event.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	spin_lock(&vr_links_lock);
	list_for_each_entry(d, &vr_links, link) {
		if (rcu_access_pointer(d->ndev) != ndev || d->up == up)
			continue;
		d->up = up;
		event.device = &d->ib;
		ib_dispatch_event(&event);
	}
	spin_unlock(&vr_links_lock);
	return NOTIFY_DONE;
}

static struct notifier_block vr_notifier = {
	.notifier_call = vr_netdev_event,
};

static struct vr_dev *vr_first_link(void)
{
	struct vr_dev *d;

	spin_lock(&vr_links_lock);
	d = list_first_entry_or_null(&vr_links, struct vr_dev, link);
	if (d)
		get_device(&d->ib.dev);
	spin_unlock(&vr_links_lock);
	return d;
}

static int __init vr_init(void)
{
	unsigned int i;
	int ret;

	vr_links_wq = alloc_workqueue("via_rdma_links", WQ_UNBOUND, 0);
	if (!vr_links_wq)
		return -ENOMEM;
	ret = register_netdevice_notifier(&vr_notifier);
	if (ret) {
		destroy_workqueue(vr_links_wq);
		return ret;
	}
	for (i = 0; i < ARRAY_SIZE(vr_link_types); i++)
		rdma_link_register(&vr_link_types[i]);
	return 0;
}

static void __exit vr_exit(void)
{
	struct vr_dev *d;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vr_link_types); i++)
		rdma_link_unregister(&vr_link_types[i]);
	unregister_netdevice_notifier(&vr_notifier);
	while ((d = vr_first_link())) {
		ib_unregister_device(&d->ib);
		put_device(&d->ib.dev);
	}
	destroy_workqueue(vr_links_wq);
}

module_init(vr_init);
module_exit(vr_exit);
MODULE_DESCRIPTION("RDMA device on Virtual Interface Architecture");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VIA_RELEASE);
MODULE_ALIAS_RDMA_LINK("via");
MODULE_ALIAS_RDMA_LINK("via_udp");
MODULE_ALIAS_RDMA_LINK("via_roce");
MODULE_ALIAS_RDMA_LINK("via_roce_udp");

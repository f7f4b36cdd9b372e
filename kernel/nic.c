// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The registry of VI NICs: device nodes, minors, removal.
 */

#include <linux/export.h>
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/cdev.h>
#include <net/net_namespace.h>
#include "busy_poll.h"
#include "connect.h"
#include "dma.h"
#include "file.h"
#include "kapi.h"
#include "memory.h"
#include "nic.h"
#include "policy.h"
#include "stats.h"
#include "vi.h"

#define VIA_MINORS 256

static DEFINE_MUTEX(via_nics_mutex);	/* guards the idr and the list */
static DEFINE_IDR(via_minors);
static LIST_HEAD(via_nics);
static dev_t via_devt;
static struct cdev via_cdev;
static struct class *via_class;
/* How a NIC that is there, or has gone, is told: under via_nics_mutex. */
static void (*via_nics_told)(struct via_nic *nic, enum via_nl_cmd cmd);

/*
 * What costs memory, for every NIC alike.  VipQueryNic tells it, the manager of
 * each enforces it.  Set when the module is loaded and then constant: sysfs
 * shows what holds, which is within the bounds of via_bounds[].
 */
static unsigned long max_vi = 4096;
module_param(max_vi, ulong, 0444);
MODULE_PARM_DESC(max_vi, "VIs of one NIC, 10 to 190 KiB each (1..65535, default 4096)");

static unsigned long max_cq = 1024;
module_param(max_cq, ulong, 0444);
MODULE_PARM_DESC(max_cq,
		 "Completion queues of one NIC handle (1..65535, default 1024)");

static unsigned long max_cq_entries = 65536;
module_param(max_cq_entries, ulong, 0444);
MODULE_PARM_DESC(max_cq_entries,
		 "Entries of one completion queue, 8 bytes each (a power of 2, 1..262144, default 65536)");

static unsigned long max_ptags = 4096;
module_param(max_ptags, ulong, 0444);
MODULE_PARM_DESC(max_ptags,
		 "Protection tags of one NIC handle (1..65535, default 4096)");

static unsigned long max_regions = 131072;
module_param(max_regions, ulong, 0444);
MODULE_PARM_DESC(max_regions,
		 "Memory regions of one NIC handle (1..262143, default 131072)");

static unsigned long max_register = 1UL << 40;
module_param(max_register, ulong, 0444);
MODULE_PARM_DESC(max_register,
		 "Registered bytes of one NIC handle (4096..2^47, default 2^40)");

static unsigned long max_block = 1UL << 38;
module_param(max_block, ulong, 0444);
MODULE_PARM_DESC(max_block,
		 "Bytes of one memory region (4096..2^38, default 2^38)");

/* The upper ones are what indexes, ids and one table of pages have room for. */
static const struct via_bound {
	const char *name;
	unsigned long *value;
	unsigned long low, high;
} via_bounds[] = {
	{ "max_vi", &max_vi, 1, 65535 },
	{ "max_cq", &max_cq, 1, 65535 },
	{ "max_cq_entries", &max_cq_entries, 1, 1UL << 18 },
	{ "max_ptags", &max_ptags, 1, 65535 },
	{ "max_regions", &max_regions, 1, VIA_HANDLE_MASK },
	{ "max_register", &max_register, 4096, 1UL << 47 },
	{ "max_block", &max_block, 4096, 1UL << 38 },
};

static void via_limit(const char *name, unsigned long *value,
		      unsigned long allowed)
{
	if (*value == allowed)
		return;
	pr_warn("via_ka: %s=%lu is out of range: %lu is used\n", name, *value,
		allowed);
	*value = allowed;
}

static void via_limits_init(void)
{
	const struct via_bound *b;
	int i;

	for (i = 0; i < ARRAY_SIZE(via_bounds); i++) {
		b = &via_bounds[i];
		via_limit(b->name, b->value,
			  clamp(*b->value, b->low, b->high));
	}
	via_limit("max_cq_entries", &max_cq_entries,
		  rounddown_pow_of_two(max_cq_entries));
	/* One region may take all, but not more. */
	max_block = min(max_block, max_register);
}

static void via_nic_release(struct kref *ref)
{
	struct via_nic *nic = container_of(ref, struct via_nic, ref);

	cleanup_srcu_struct(&nic->srcu);
	via_stats_dir_free(nic);
	via_table_free(&nic->conn.waiting);
	via_table_free(&nic->conn.listening);
	via_table_free(&nic->conn.backlogs);
	via_table_free(&nic->conn.p2p);
	kvfree(nic->vis);
	kvfree(nic->vi_gen);
	kvfree(nic->vi_taken);
	kfree(nic);
}

void via_nic_put(struct via_nic *nic)
{
	kref_put(&nic->ref, via_nic_release);
}
EXPORT_SYMBOL_GPL(via_nic_put);

struct via_nic *via_nic_alloc(const struct via_device_ops *ops)
{
	struct via_nic *nic = kzalloc(sizeof(*nic), GFP_KERNEL);

	if (!nic)
		return NULL;
	if (init_srcu_struct(&nic->srcu)) {
		kfree(nic);
		return NULL;
	}
	kref_init(&nic->ref);
	nic->ops = ops;
	mutex_init(&nic->mutex);
	mutex_init(&nic->admin_mutex);
	nic->denied_at = jiffies - HZ;
	spin_lock_init(&nic->vi_lock);
	spin_lock_init(&nic->conn.lock);
	via_busy_poll_init(nic);
	via_dma_init(nic);
	INIT_LIST_HEAD(&nic->link);
	via_order_init(&nic->files);
	via_order_init(&nic->conn.waiters);
	via_order_init(&nic->conn.conns);
	nic->limits = (struct via_limits){
		.reliability	= VIA_UNRELIABLE | VIA_RELIABLE_DELIVERY |
				  VIA_RELIABLE_RECEPTION,
		.rdma_read	= VIA_RELIABLE_DELIVERY |
				  VIA_RELIABLE_RECEPTION,
		.max_vi		= max_vi,
		.max_cq		= max_cq,
		.max_cq_entries	= max_cq_entries,
		.max_ptags	= max_ptags,
		.max_regions	= max_regions,
		.max_transfer	= 1 << 20,
		.max_register_bytes = max_register,
		.max_block_bytes = max_block,
	};
	nic->vis = kvcalloc(nic->limits.max_vi, sizeof(*nic->vis), GFP_KERNEL);
	nic->vi_gen = kvcalloc(nic->limits.max_vi, sizeof(*nic->vi_gen),
			       GFP_KERNEL);
	nic->vi_taken = kvcalloc(BITS_TO_LONGS(nic->limits.max_vi),
				 sizeof(*nic->vi_taken), GFP_KERNEL);
	if (!nic->vis || !nic->vi_gen || !nic->vi_taken ||
	    via_table_init(&nic->conn.waiting, VIA_WAITING_BITS) ||
	    via_table_init(&nic->conn.listening, VIA_LISTENING_BITS) ||
	    via_table_init(&nic->conn.backlogs, VIA_LISTENING_BITS) ||
	    via_table_init(&nic->conn.p2p, VIA_P2P_BITS)) {
		via_nic_put(nic);
		return NULL;
	}
	return nic;
}
EXPORT_SYMBOL_GPL(via_nic_alloc);

static ssize_t ifindex_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct via_nic *nic = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", nic->ifindex);
}
static DEVICE_ATTR_RO(ifindex);

static ssize_t address_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct via_nic *nic = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%*phC\n", (int)nic->addr_len, nic->addr);
}
static DEVICE_ATTR_RO(address);

static ssize_t type_show(struct device *dev, struct device_attribute *attr,
			 char *buf)
{
	struct via_nic *nic = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%s\n", nic->type == VIA_NIC_LOOPBACK ?
			  "loopback" : nic->type == VIA_NIC_UDP ? "udp" :
			  "ethernet");
}
static DEVICE_ATTR_RO(type);

static struct attribute *via_nic_attrs[] = {
	&dev_attr_ifindex.attr,
	&dev_attr_address.attr,
	&dev_attr_type.attr,
	NULL,
};

static const struct attribute_group via_nic_group = {
	.attrs = via_nic_attrs,
};

static bool via_name_taken(const char *name)
{
	struct via_nic *nic;

	list_for_each_entry(nic, &via_nics, link)
		if (!strcmp(nic->name, name))
			return true;
	return false;
}

/* One wire address, one NIC: two would each take the other's frames. */
static bool via_interface_taken(const struct via_nic *nic)
{
	struct via_nic *other;

	list_for_each_entry(other, &via_nics, link)
		if (nic->ifindex && other->ifindex == nic->ifindex &&
		    net_eq(other->netns, nic->netns))
			return true;
	return false;
}

int via_nic_register(struct via_nic *nic)
{
	int ret;

	ret = via_stats_dir_make(nic);
	if (ret)
		return ret;
	ret = via_policy_apply(nic);
	if (ret)
		goto err_policy;
	mutex_lock(&via_nics_mutex);
	ret = -EEXIST;
	if (via_name_taken(nic->name))
		goto out;
	ret = -EBUSY;
	if (via_interface_taken(nic))
		goto out;
	/* The minor is reserved; the NIC is found only when it is complete. */
	ret = idr_alloc(&via_minors, NULL, 0, VIA_MINORS, GFP_KERNEL);
	if (ret < 0)
		goto out;
	nic->minor = ret;
	nic->groups[0] = &via_nic_group;
	nic->groups[1] = via_stats_group(nic);
	nic->dev = device_create_with_groups(via_class, nic->parent,
					     via_devt + nic->minor, nic,
					     nic->groups, "%s", nic->name);
	if (IS_ERR(nic->dev)) {
		ret = PTR_ERR(nic->dev);
		idr_remove(&via_minors, nic->minor);
		goto out;
	}
	kref_get(&nic->ref);
	list_add_tail(&nic->link, &via_nics);
	idr_replace(&via_minors, nic, nic->minor);
	via_nics_told(nic, VIA_NL_CMD_NIC_NEW);
	ret = 0;
out:
	mutex_unlock(&via_nics_mutex);
	if (ret)
		goto err_policy;
	via_policy_log(nic);
	return 0;

err_policy:
	via_policy_release(nic);
	return ret;
}
EXPORT_SYMBOL_GPL(via_nic_register);

/* Each VI to Error.  Nothing is published any more: nic->dead has been seen. */
static void via_nic_fail_vis(struct via_nic *nic)
{
	struct via_vi *vi;
	u32 i = 0;

	do {
		rcu_read_lock();
		vi = via_vi_next(nic, &i);
		if (vi)
			via_vi_fail(vi);
		rcu_read_unlock();
		i++;
		cond_resched();
	} while (vi);
}

static void via_nic_tell_files(struct via_nic *nic)
{
	struct via_event ev = {
		.resource = VIA_RES_NIC,
		.code	  = VIA_ERR_CATASTROPHIC,
	};
	struct via_order_node *n;
	struct via_file *f;

	mutex_lock(&nic->mutex);
	for (n = via_order_first(&nic->files); n; n = via_order_next(n)) {
		f = container_of(n, struct via_file, by_serial);
		via_events_post(&f->events, &ev);
		via_kernel_gone(f);
	}
	mutex_unlock(&nic->mutex);
}

/* The node goes, then its number and its name, in which order others take them. */
static void via_nic_remove_node(struct via_nic *nic)
{
	mutex_lock(&via_nics_mutex);
	idr_replace(&via_minors, NULL, nic->minor);
	device_destroy(via_class, via_devt + nic->minor);
	idr_remove(&via_minors, nic->minor);
	list_del_init(&nic->link);
	via_nics_told(nic, VIA_NL_CMD_NIC_DEL);
	mutex_unlock(&via_nics_mutex);
}

/*
 * Often under RTNL: it waits for read sides of the kernel, twice for those of
 * SRCU and once for those of RCU whatever there is on the NIC, and for nothing
 * that a program can hold.
 */
void via_nic_unregister(struct via_nic *nic)
{
	via_nic_remove_node(nic);
	mutex_lock(&nic->mutex);
	WRITE_ONCE(nic->dead, true);
	mutex_unlock(&nic->mutex);
	via_dma_close(nic);
	/* Pairs with via_nic_enter(). */
	synchronize_srcu_expedited(&nic->srcu);

	via_nic_fail_vis(nic);
	via_conn_nic_gone(nic);
	via_busy_poll_exit(nic);
	/* No reader is in the device for a VI or a busy poller any more. */
	synchronize_rcu_expedited();
	via_nic_tell_files(nic);
	via_policy_release(nic);
	via_nic_put(nic);
}
EXPORT_SYMBOL_GPL(via_nic_unregister);

void via_nic_drain(struct via_nic *nic)
{
	via_dma_drain(nic);
}
EXPORT_SYMBOL_GPL(via_nic_drain);

struct via_nic *via_nic_open(int minor)
{
	struct via_nic *nic;

	mutex_lock(&via_nics_mutex);
	nic = idr_find(&via_minors, minor);
	if (nic && !try_module_get(nic->ops->owner))
		nic = NULL;
	if (nic)
		kref_get(&nic->ref);
	mutex_unlock(&via_nics_mutex);
	return nic;
}

static bool via_nic_seen(const struct via_nic *nic, const struct net *net)
{
	return !nic->netns || net_eq(nic->netns, net);
}

struct via_nic *via_nic_find(const struct net *net, const char *name,
			     u32 ifindex)
{
	struct via_nic *nic, *found = NULL;

	mutex_lock(&via_nics_mutex);
	list_for_each_entry(nic, &via_nics, link) {
		if (!via_nic_seen(nic, net) ||
		    (name ? strcmp(nic->name, name) :
			    !ifindex || nic->ifindex != ifindex))
			continue;
		kref_get(&nic->ref);
		found = nic;
		break;
	}
	mutex_unlock(&via_nics_mutex);
	return found;
}

struct via_nic *via_nic_from(const struct net *net, int *minor)
{
	struct via_nic *nic, *found = NULL;

	mutex_lock(&via_nics_mutex);
	list_for_each_entry(nic, &via_nics, link)
		if (nic->minor >= *minor && via_nic_seen(nic, net) &&
		    (!found || nic->minor < found->minor))
			found = nic;
	if (found) {
		*minor = found->minor;
		kref_get(&found->ref);
	}
	mutex_unlock(&via_nics_mutex);
	return found;
}

void via_nic_close(struct via_nic *nic)
{
	struct module *owner = nic->ops->owner;

	via_nic_put(nic);
	module_put(owner);
}

int via_nic_add_file(struct via_nic *nic, struct via_file *f)
{
	int ret = -ENXIO;

	mutex_lock(&nic->mutex);
	if (!nic->dead) {
		f->serial = ++nic->file_serial;
		via_order_add(&nic->files, &f->by_serial, f->serial);
		ret = 0;
	}
	mutex_unlock(&nic->mutex);
	return ret;
}

void via_nic_remove_file(struct via_nic *nic, struct via_file *f)
{
	mutex_lock(&nic->mutex);
	via_order_del(&nic->files, &f->by_serial);
	mutex_unlock(&nic->mutex);
}

struct via_file *via_nic_next_file(struct via_nic *nic, u64 serial)
{
	struct via_file *f = NULL;
	struct via_order_node *n;

	mutex_lock(&nic->mutex);
	n = via_order_from(&nic->files, serial + 1);
	if (n) {
		f = container_of(n, struct via_file, by_serial);
		via_file_get(f);
	}
	mutex_unlock(&nic->mutex);
	return f;
}

static char *via_devnode(VIA_DEVNODE_DEV *dev, umode_t *mode)
{
	/* Root and, by the udev rule, group via. */
	if (mode)
		*mode = 0660;
	return NULL;
}

int via_nics_init(const struct file_operations *fops,
		  void (*told)(struct via_nic *nic, enum via_nl_cmd cmd))
{
	int ret;

	via_nics_told = told;
	via_limits_init();
	ret = alloc_chrdev_region(&via_devt, 0, VIA_MINORS, "via");
	if (ret)
		return ret;
	via_class = class_create("via");
	if (IS_ERR(via_class)) {
		ret = PTR_ERR(via_class);
		goto err_region;
	}
	via_class->devnode = via_devnode;
	cdev_init(&via_cdev, fops);
	via_cdev.owner = THIS_MODULE;
	ret = cdev_add(&via_cdev, via_devt, VIA_MINORS);
	if (ret)
		goto err_class;
	return 0;

err_class:
	class_destroy(via_class);
err_region:
	unregister_chrdev_region(via_devt, VIA_MINORS);
	return ret;
}

void via_nics_exit(void)
{
	cdev_del(&via_cdev);
	class_destroy(via_class);
	unregister_chrdev_region(via_devt, VIA_MINORS);
	idr_destroy(&via_minors);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters, for VIA_IOC_STATS and in sysfs. */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <net/net_namespace.h>
#include "nic.h"
#include "stats.h"
#include "vi.h"

#define VIA_STATS_MAX 128

/* Counters as they are told: all of them, or one. */
struct via_stats_sink {
	struct via_stat *stat;
	u32 count;
	u32 room;
	const char *only;		/* this one, into @value; NULL: all */
	u64 value;
};

void via_stat(struct via_stats_sink *sink, const char *name, u64 value)
{
	struct via_stat *s;

	if (sink->only) {
		if (!strcmp(name, sink->only))
			sink->value = value;
		return;
	}
	if (sink->count >= sink->room)
		return;
	s = &sink->stat[sink->count++];
	strscpy_pad(s->name, name, sizeof(s->name));
	s->value = value;
}
EXPORT_SYMBOL_GPL(via_stat);

const char *via_nic_count_name(u32 which)
{
	static const char * const names[VIA_NIC_COUNTS] = {
		"vis", "traps", "send_descs", "recv_descs", "send_bytes",
		"recv_bytes", "connects", "desc_errors", "protection_errors",
	};

	return names[which];
}
EXPORT_SYMBOL_GPL(via_nic_count_name);

void via_nic_counts(struct via_nic *nic, u64 *value)
{
	struct via_totals sum;

	via_nic_totals(nic, &sum);
	value[0] = READ_ONCE(nic->vi_count);
	value[1] = sum.traps;
	value[2] = sum.send_descs;
	value[3] = sum.recv_descs;
	value[4] = sum.send_bytes;
	value[5] = sum.recv_bytes;
	value[6] = sum.connects;
	value[7] = sum.errors;
	value[8] = sum.prot_errors;
}
EXPORT_SYMBOL_GPL(via_nic_counts);

static void via_stats_agent(struct via_nic *nic, struct via_stats_sink *sink)
{
	u64 value[VIA_NIC_COUNTS];
	u32 i;

	via_nic_counts(nic, value);
	for (i = 0; i < VIA_NIC_COUNTS; i++)
		via_stat(sink, via_nic_count_name(i), value[i]);
}

static void via_stats_device(struct via_nic *nic, struct via_stats_sink *sink)
{
	int idx;

	if (nic->ops->stats && via_nic_enter(nic, &idx)) {
		nic->ops->stats(nic, sink);
		via_nic_leave(nic, idx);
	}
}

static void via_stats_nic(struct via_nic *nic, struct via_stats_sink *sink)
{
	via_stats_agent(nic, sink);
	via_stats_device(nic, sink);
}

/* A VI's counters are for its user, and for the administrator. */
static bool via_stats_may(const struct via_vi *vi, bool admin)
{
	return admin || uid_eq(vi->file->uid, current_uid());
}

/* @device: it may be asked, too. */
static void via_stats_one(struct via_vi *vi, struct via_stats_sink *sink,
			  bool device)
{
	via_stat(sink, "vi", vi->id);
	via_stat(sink, "uid", from_kuid_munged(current_user_ns(),
					       vi->file->uid));
	via_stat(sink, "state", READ_ONCE(vi->state));
	via_stat(sink, "level", vi->attrs.reliability);
	via_stat(sink, "traps", vi->traps);
	via_stat(sink, "send_descs", vi->sq.descs);
	via_stat(sink, "recv_descs", vi->rq.descs);
	via_stat(sink, "send_bytes", vi->sq.bytes);
	via_stat(sink, "recv_bytes", vi->rq.bytes);
	via_stat(sink, "connects", vi->connects);
	via_stat(sink, "desc_errors", vi->sq.errors + vi->rq.errors);
	via_stat(sink, "protection_errors",
		 vi->sq.prot_errors + vi->rq.prot_errors);
	via_stat(sink, "send_in_flight", vi->sq.next - vi->sq.head);
	if (device && vi->nic->ops->vi_stats)
		vi->nic->ops->vi_stats(vi, sink);
}

/* The first VI at or after *index that the caller may see. */
static bool via_stats_next(struct via_nic *nic, u32 *index,
			   struct via_stats_sink *sink, bool admin, bool device)
{
	struct via_vi *vi;

	rcu_read_lock();
	while ((vi = via_vi_next(nic, index)) && !via_stats_may(vi, admin))
		++*index;
	if (vi)
		via_stats_one(vi, sink, device);
	rcu_read_unlock();
	return vi;
}

static bool via_stats_vi(struct via_nic *nic, u32 *index,
			 struct via_stats_sink *sink)
{
	/* Asked once: an audited question has no place under RCU. */
	bool admin = ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN);
	bool found;
	int idx;

	if (!via_nic_enter(nic, &idx))
		return via_stats_next(nic, index, sink, admin, false);
	found = via_stats_next(nic, index, sink, admin, true);
	via_nic_leave(nic, idx);
	return found;
}

long via_stats(struct via_file *f, struct via_stats __user *uarg)
{
	struct via_stats_sink sink = {};
	struct via_stats a;
	long ret = 0;

	if (copy_from_user(&a, uarg, sizeof(a)))
		return -EFAULT;
	if (a.reserved || !a.count)
		return -EINVAL;
	sink.room = min_t(u32, a.count, VIA_STATS_MAX);
	sink.stat = kcalloc(sink.room, sizeof(*sink.stat), GFP_KERNEL_ACCOUNT);
	if (!sink.stat)
		return -ENOMEM;
	if (a.kind == VIA_STATS_NIC)
		via_stats_nic(f->nic, &sink);
	else if (a.kind != VIA_STATS_VI)
		ret = -EINVAL;
	else if (!via_stats_vi(f->nic, &a.id, &sink))
		ret = VIA_R_NO_MATCH;
	a.count = sink.count;
	if (ret >= 0 &&
	    (copy_to_user(u64_to_user_ptr(a.stats), sink.stat,
			  sink.count * sizeof(*sink.stat)) ||
	     copy_to_user(uarg, &a, sizeof(a))))
		ret = -EFAULT;
	kfree(sink.stat);
	return ret;
}

/*
 * Files in sysfs.  What a device counts is known when it is asked, so the files
 * are made of its answer to the first question.
 */
struct via_stats_file {
	struct device_attribute attr;
	char name[sizeof_field(struct via_stat, name)];
	bool device;			/* the device's counter */
};

struct via_stats_dir {
	struct attribute_group group;
	struct attribute *attrs[VIA_STATS_MAX + 1];
	struct via_stats_file file[];
};

static ssize_t via_stats_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	struct via_stats_file *file =
		container_of(attr, struct via_stats_file, attr);
	struct via_stats_sink sink = { .only = file->name };
	struct via_nic *nic = dev_get_drvdata(dev);

	/* As its node is opened; sysfs shows the names of all. */
	if (nic->netns && !net_eq(nic->netns, current->nsproxy->net_ns))
		return -ENXIO;
	if (file->device)
		via_stats_device(nic, &sink);
	else
		via_stats_agent(nic, &sink);
	return sysfs_emit(buf, "%llu\n", sink.value);
}

int via_stats_dir_make(struct via_nic *nic)
{
	struct via_stats_sink sink = { .room = VIA_STATS_MAX };
	struct via_stats_dir *dir = NULL;
	struct via_stats_file *file;
	u32 i, own;

	/* A registration that failed has left it. */
	if (nic->stats_dir)
		return 0;
	sink.stat = kcalloc(sink.room, sizeof(*sink.stat), GFP_KERNEL);
	if (!sink.stat)
		return -ENOMEM;
	via_stats_agent(nic, &sink);
	own = sink.count;
	via_stats_device(nic, &sink);
	dir = kzalloc(struct_size(dir, file, sink.count), GFP_KERNEL);
	for (i = 0; dir && i < sink.count; i++) {
		file = &dir->file[i];
		strscpy(file->name, sink.stat[i].name, sizeof(file->name));
		file->device = i >= own;
		sysfs_attr_init(&file->attr.attr);
		file->attr.attr.name = file->name;
		file->attr.attr.mode = 0444;
		file->attr.show = via_stats_show;
		dir->attrs[i] = &file->attr.attr;
	}
	kfree(sink.stat);
	if (!dir)
		return -ENOMEM;
	dir->group.name = "statistics";
	dir->group.attrs = dir->attrs;
	nic->stats_dir = dir;
	return 0;
}

const struct attribute_group *via_stats_group(const struct via_nic *nic)
{
	return &nic->stats_dir->group;
}

void via_stats_dir_free(struct via_nic *nic)
{
	kfree(nic->stats_dir);
}

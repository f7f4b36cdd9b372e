// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters of a device, and of queue pairs that an administrator picks.
 *
 *  1. A queue counts its own work, under its queue lock.  No counter is shared by
 *     queues, so that counting costs two additions.
 *  2. A QP's work belongs to the counter that it is bound to, or to the device.
 *     vr_stat_settle() adds the work since the last time to one of them, so that
 *     binding moves no earlier work.
 *  3. Work of bound QPs is not in the device's values: the RDMA core adds the values
 *     of its counters, also of those that have ended.  It adds them by their place, so
 *     both have the same list of values.
 */

#include <linux/slab.h>
#include "stat.h"

#define VR_VALUES	(VR_COUNTERS + VR_WORKS)

static const struct rdma_stat_desc vr_stats[VR_VALUES] = {
	[VR_CONNECTS].name		= "connects",
	[VR_REQUESTS].name		= "requests",
	[VR_EARLY].name			= "early",
	[VR_ESTABLISHED].name		= "established",
	[VR_REFUSED].name		= "refused",
	[VR_CONNECT_ERRORS].name	= "connect_errors",
	[VR_LOST].name			= "lost",
	[VR_NO_RECEIVE].name		= "no_receive",
	[VR_LOCAL_REFUSALS].name	= "local_refusals",
	[VR_REMOTE_REFUSALS].name	= "remote_refusals",
	[VR_BAD_INVALIDATES].name	= "bad_invalidates",
	[VR_BAD_WRS].name		= "bad_work_requests",
	[VR_FOREIGN_QPS].name		= "foreign_queue_pairs",
	[VR_CQ_OVERFLOWS].name		= "cq_overflows",
	[VR_OVER_LIMIT].name		= "over_limit",
	[VR_COUNTERS + VR_SENDS].name		= "send_wrs",
	[VR_COUNTERS + VR_SEND_BYTES].name	= "send_bytes",
	[VR_COUNTERS + VR_RECVS].name		= "recv_wrs",
	[VR_COUNTERS + VR_RECV_BYTES].name	= "recv_bytes",
};

/**
 * struct vr_tally - what a counter of the RDMA core stands for
 * @work:	stat_lock: of its QPs, up to where each was settled
 */
struct vr_tally {
	u64 work[VR_WORKS];
};

/* Work since the last time, added to @sum. */
static void vr_stat_add(const struct vr_stat *stat, u64 *sum)
{
	const u64 *counted = stat->counted;

	sum[VR_SENDS] += READ_ONCE(stat->send->wrs) - counted[VR_SENDS];
	sum[VR_SEND_BYTES] += READ_ONCE(stat->send->bytes) -
			      counted[VR_SEND_BYTES];
	sum[VR_RECVS] += READ_ONCE(stat->recv->wrs) - counted[VR_RECVS];
	sum[VR_RECV_BYTES] += READ_ONCE(stat->recv->bytes) -
			      counted[VR_RECV_BYTES];
}

static void vr_stat_settle(struct vr_stat *stat)
{
	u64 *sum = stat->tally ? stat->tally->work : stat->dev->work;
	u64 fresh[VR_WORKS] = {};
	int i;

	lockdep_assert_held(&stat->dev->stat_lock);
	vr_stat_add(stat, fresh);
	for (i = 0; i < VR_WORKS; i++) {
		sum[i] += fresh[i];
		stat->counted[i] += fresh[i];
	}
}

/* All work of a counter, or of the device (NULL). */
static void vr_stat_sum(struct vr_dev *d, const struct vr_tally *tally, u64 *sum)
{
	const struct vr_stat *stat;

	mutex_lock(&d->stat_lock);
	memcpy(sum, tally ? tally->work : d->work, sizeof(d->work));
	list_for_each_entry(stat, &d->stat_qps, link)
		if (stat->tally == tally)
			vr_stat_add(stat, sum);
	mutex_unlock(&d->stat_lock);
}

void vr_stat_begin(struct vr_stat *stat)
{
	mutex_lock(&stat->dev->stat_lock);
	list_add(&stat->link, &stat->dev->stat_qps);
	mutex_unlock(&stat->dev->stat_lock);
}

void vr_stat_end(struct vr_stat *stat)
{
	mutex_lock(&stat->dev->stat_lock);
	vr_stat_settle(stat);
	list_del(&stat->link);
	mutex_unlock(&stat->dev->stat_lock);
}

static struct rdma_hw_stats *vr_stats_new(void)
{
	return rdma_alloc_hw_stats_struct(vr_stats, VR_VALUES,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

struct rdma_hw_stats *vr_alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return vr_stats_new();
}

int vr_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
		    int index)
{
	struct vr_dev *d = vr_dev_of(ib);
	int i;

	if (!port || !stats)
		return -EINVAL;
	for (i = 0; i < VR_COUNTERS; i++)
		stats->value[i] = atomic64_read(&d->count[i]);
	vr_stat_sum(d, NULL, &stats->value[VR_COUNTERS]);
	return VR_VALUES;
}

/* Counters of the RDMA core: its lock of a counter is held in all of these. */

static struct vr_tally *vr_tally_of(struct rdma_counter *counter)
{
	return xa_load(&vr_dev_of(counter->device)->tallies, counter->id);
}

static struct vr_tally *vr_tally_new(struct rdma_counter *counter)
{
	struct vr_tally *tally = kzalloc(sizeof(*tally), GFP_KERNEL);
	int ret;

	if (!tally)
		return ERR_PTR(-ENOMEM);
	ret = xa_alloc(&vr_dev_of(counter->device)->tallies, &counter->id, tally,
		       xa_limit_31b, GFP_KERNEL);
	if (!ret)
		return tally;
	kfree(tally);
	return ERR_PTR(ret);
}

static void vr_stat_move(struct vr_stat *stat, struct vr_tally *tally)
{
	mutex_lock(&stat->dev->stat_lock);
	vr_stat_settle(stat);
	stat->tally = tally;
	mutex_unlock(&stat->dev->stat_lock);
}

int vr_stat_bind(struct vr_stat *stat, struct rdma_counter *counter)
{
	struct vr_tally *tally = counter->id ? vr_tally_of(counter) :
					       vr_tally_new(counter);

	if (IS_ERR(tally))
		return PTR_ERR(tally);
	vr_stat_move(stat, tally);
	return 0;
}

void vr_stat_unbind(struct vr_stat *stat)
{
	vr_stat_move(stat, NULL);
}

int vr_counter_dealloc(struct rdma_counter *counter)
{
	kfree(xa_erase(&vr_dev_of(counter->device)->tallies, counter->id));
	return 0;
}

struct rdma_hw_stats *vr_counter_alloc_stats(struct rdma_counter *counter)
{
	return vr_stats_new();
}

int vr_counter_update_stats(struct rdma_counter *counter)
{
	vr_stat_sum(vr_dev_of(counter->device), vr_tally_of(counter),
		    &counter->stats->value[VR_COUNTERS]);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of a device, and of queue pairs that an administrator picks. */
#ifndef _VR_STAT_H
#define _VR_STAT_H

#include "dev.h"

struct vr_tally;

/**
 * struct vr_stat - what of a QP's work is counted where
 * @link:	stat_lock: in the device's stat_qps
 * @dev:	constant
 * @send:	constant: of its send queue
 * @recv:	constant: of its receive queue
 * @tally:	stat_lock: of the counter that it is bound to, or NULL
 * @counted:	stat_lock: work up to where it was settled, by enum vr_works
 */
struct vr_stat {
	struct list_head link;
	struct vr_dev *dev;
	const struct vr_work *send;
	const struct vr_work *recv;
	struct vr_tally *tally;
	u64 counted[VR_WORKS];
};

/* A work request is complete.  The queue lock is held. */
static inline void vr_work_add(struct vr_work *work, u16 status, u32 bytes)
{
	if (unlikely(status))
		return;
	WRITE_ONCE(work->wrs, work->wrs + 1);
	WRITE_ONCE(work->bytes, work->bytes + bytes);
}

/*
 * All that follows: process context; sleeps.  begin: its constants are set; work is
 * counted from now on.  end: it does no more, and is bound no more.
 */
void vr_stat_begin(struct vr_stat *stat);
void vr_stat_end(struct vr_stat *stat);
/* Its work counts there from now on.  0 or -ENOMEM: of a counter's first QP alone. */
int vr_stat_bind(struct vr_stat *stat, struct rdma_counter *counter);
void vr_stat_unbind(struct vr_stat *stat);

/* For the table of functions of the RDMA core, which says how they are called. */
struct rdma_hw_stats *vr_alloc_hw_port_stats(struct ib_device *ib, u32 port);
int vr_get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
		    int index);
int vr_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *vr_counter_alloc_stats(struct rdma_counter *counter);
int vr_counter_update_stats(struct rdma_counter *counter);

#endif

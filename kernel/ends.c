// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The queues of work items, on which handles and VIs end, and what lockdep is told. */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include "ends.h"

/*
 * Ends of handles have a queue of their own: VIs that are reaped make room for
 * others, and that waits for no end of a handle, however many there are.
 */
static struct workqueue_struct *via_end_wq;
static struct workqueue_struct *via_reap_wq;
static struct workqueue_struct *via_scan_wq;

static struct lock_class_key via_ends_key, via_waits_key;
struct lockdep_map via_ends, via_waits;

bool via_end_queue(struct work_struct *end)
{
	return queue_work(via_end_wq, end);
}

void via_reap_queue(struct rcu_work *work)
{
	queue_rcu_work(via_reap_wq, work);
}

bool via_scan_queue(struct work_struct *scan)
{
	return queue_work(via_scan_wq, scan);
}

void via_end_awaited(void)
{
	might_sleep();
	lock_map_acquire(&via_waits);
	lock_map_acquire(&via_ends);
	lock_map_release(&via_ends);
	lock_map_release(&via_waits);
}

void via_ends_teach(struct mutex *file_mutex)
{
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return;
	lock_map_acquire(&via_waits);
	mutex_lock(file_mutex);
	lock_map_acquire(&via_ends);
	lock_map_release(&via_ends);
	mutex_unlock(file_mutex);
	lock_map_release(&via_waits);
	/* A thread of the kernel has none. */
	if (!current->mm)
		return;
	mmap_read_lock(current->mm);
	lock_map_acquire(&via_ends);
	lock_map_release(&via_ends);
	mmap_read_unlock(current->mm);
}

int via_ends_init(void)
{
	lockdep_init_map(&via_ends, "via_ends", &via_ends_key, 0);
	lockdep_init_map(&via_waits, "via_waits", &via_waits_key, 0);
	if (IS_ENABLED(CONFIG_PROVE_LOCKING)) {
		lock_map_acquire(&via_waits);
		rtnl_lock();
		rtnl_unlock();
		lock_map_release(&via_waits);
	}
	via_end_wq = alloc_workqueue("via_end", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!via_end_wq)
		return -ENOMEM;
	via_reap_wq = alloc_workqueue("via_reap", WQ_UNBOUND | WQ_MEM_RECLAIM,
				      0);
	if (!via_reap_wq)
		goto err_end;
	via_scan_wq = alloc_workqueue("via_scan", WQ_UNBOUND, 0);
	if (via_scan_wq)
		return 0;
	destroy_workqueue(via_reap_wq);
err_end:
	destroy_workqueue(via_end_wq);
	return -ENOMEM;
}

void via_ends_exit(void)
{
	destroy_workqueue(via_scan_wq);
	/* Ends of handles queue VIs to be reaped. */
	destroy_workqueue(via_end_wq);
	/* VIs end by RCU, then by work. */
	rcu_barrier();
	destroy_workqueue(via_reap_wq);
}

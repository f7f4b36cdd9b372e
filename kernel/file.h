/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open device node: one NIC handle of one process.  What functions return:
 * see via_ka.h.
 */
#ifndef _VIA_FILE_H
#define _VIA_FILE_H

#include <linux/fs.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "event.h"
#include "via_ka.h"
#include "via_kapi.h"

/*
 * A memory handle is an index below a generation.  Indexes are given out
 * cyclically, so a handle comes back only after both have wrapped.
 */
#define VIA_HANDLE_BITS		18
#define VIA_HANDLE_MASK		((1u << VIA_HANDLE_BITS) - 1)
#define VIA_REGION_CHUNK	512u	/* regions behind one pointer */
#define VIA_REGION_CHUNKS	((1u << VIA_HANDLE_BITS) / VIA_REGION_CHUNK)

struct mem_cgroup;
struct pid;
struct via_region;
struct via_quota;

/**
 * struct via_file_memory - registered memory: mutex of the file
 * @regions:	by index: gives out indexes
 * @dir:	the same regions for the data path, two plain loads instead
 *		of a tree walk; read under any queue lock of a VI of this file
 * @next:	cyclic index, so that a handle is not reused soon
 * @gen:	generation, counts turns of @next
 * @count:	how many
 * @bytes:	in all regions
 */
struct via_file_memory {
	struct xarray regions;
	struct via_region **dir[VIA_REGION_CHUNKS];
	u32 next;
	u32 gen;
	u32 count;
	u64 bytes;
};

/**
 * struct via_file - a NIC handle and everything made through it
 * @ref:	the open file, a scheduled teardown
 * @nic:	constant, a reference is held
 * @mm:		constant: the owner; mmgrab, never mmget
 * @uid:	constant: the user that opened it
 * @pid:	constant: the process that opened it, a reference is held
 * @serial:	nic->mutex to write: 0, then constant: counts the NIC's files
 * @quota:	constant: pays; NULL while it is being opened
 * @charged:	constant: a handle of @quota is charged
 * @memcg:	constant: is charged for what is allocated in its name, a
 *		reference is held; NULL: none
 * @compat:	constant: a 32-bit program
 * @mutex:	guards creation and destruction of the objects below
 * @by_serial:	nic->mutex: in nic->files
 * @ending:	the holder of @mutex is to end it when it lets go
 * @dead:	mutex to write: nothing can be made or used any more
 * @ctl:	constant: the control page
 * @ctl_maps:	mappings of the control page
 * @ctl_mapped:	mutex: it was mapped once
 * @teardown:	ends all objects when the control page is unmapped
 * @kill:	constant: how they end, from via_file_new()
 * @memory:	registered memory
 * @ptags:	live tags; mutex to write
 * @ptag_next:	mutex: cyclic
 * @ptag_count:	mutex
 * @cqs:	completion queues by id; mutex
 * @cq_next:	mutex: cyclic
 * @cq_count:	mutex
 * @vis:	mutex: VIs
 * @waiters:	nic->conn.lock: connection waiters, backlogs
 * @conns:	nic->conn.lock: requests that are not answered
 * @places:	nic->conn.lock: waiters, backlogs and unanswered requests
 * @events:	asynchronous errors
 * @busy_poll_link: nic->polls.lock: on nic->polls.pollers while ctl->poll is
 *		set
 * @kernel:	constant: hooks of a consumer in the kernel; NULL: a program
 * @kernel_priv: constant: its own
 * @kernel_most: constant: its limits
 * @kernel_vis:	mutex: its VIs
 * @kernel_pages: mutex: pages that its memory has room for
 * @kmem:	constant: lists of its memory; NULL: no consumer's
 */
struct via_file {
	struct kref ref;
	struct via_nic *nic;
	struct mm_struct *mm;
	kuid_t uid;
	struct pid *pid;
	u64 serial;
	struct via_quota *quota;
	struct mem_cgroup *memcg;
	bool charged;
	bool compat;
	struct mutex mutex;
	struct via_order_node by_serial;
	bool ending;
	bool dead;
	struct via_ctl *ctl;
	atomic_t ctl_maps;
	bool ctl_mapped;
	struct work_struct teardown;
	void (*kill)(struct via_file *f);
	struct via_file_memory memory;
	struct xarray ptags;
	u32 ptag_next;
	u32 ptag_count;
	struct xarray cqs;
	u32 cq_next;
	u32 cq_count;
	struct list_head vis;
	struct list_head waiters;
	struct list_head conns;
	u32 places;
	struct via_events events;
	struct list_head busy_poll_link;
	const struct via_kernel_ops *kernel;
	void *kernel_priv;
	struct via_kernel_limits kernel_most;
	u32 kernel_vis;
	u64 kernel_pages;
	struct hlist_head *kmem;
};

extern const struct file_operations via_fops;

/*
 * A handle without an owner and a quota; NULL: no memory.  Takes no reference to
 * @nic.  @kill ends every object, once: file->mutex held; may sleep.  May sleep.
 */
struct via_file *via_file_new(struct via_nic *nic,
			      void (*kill)(struct via_file *f));
/* Ends every object, once.  file->mutex held; may sleep. */
void via_file_kill(struct via_file *f);
/* Any context; the caller has a reference. */
void via_file_get(struct via_file *f);
/* May sleep. */
void via_file_put(struct via_file *f);
/*
 * file->mutex, for a call that makes objects: 0 with it held; else it is not,
 * and this is the call's result: VIA_R_ERROR_RESOURCE (the NIC is gone),
 * -ESHUTDOWN or -ENXIO.  Sleeps.
 */
int via_file_lock(struct via_file *f);
/* The same; @ends: the call only ends or tells, so that the NIC may be gone. */
int via_file_lock_for(struct via_file *f, bool ends);
/* Every holder but an end lets go by this: it ends a handle that is to end. */
void via_file_unlock(struct via_file *f);

#endif

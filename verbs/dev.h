/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RDMA device on a VI NIC.  Names of this module begin with vr_, VIA's RDMA.
 *
 * Files, lowest first; a file calls only those before it:
 *
 *   dev     the device's own state and counters
 *   stat    counters of a device, and of queue pairs that an administrator picks
 *   map     memory that a program maps
 *   cq      completion queues
 *   mr      memory regions
 *   sq, rq  work queues: rings of work requests and what becomes of them
 *   srq     receives that several queue pairs share, below rq
 *   qp      queue pairs
 *   addr    IP addresses, VIA's addresses, and what discriminators hold
 *   roce    addresses and connections of a device without connection manager
 *   cm      connections, for the kernel's iw_cm
 *   hook    what the agent calls
 *   verbs   the table of functions for the RDMA core
 *   link    devices that come and go
 */
#ifndef _VR_DEV_H
#define _VR_DEV_H

#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>
#include "../kernel/via_kapi.h"

#define VR_QPS		4096u	/* of a device; each is a VI */
#define VR_CQS		(2 * VR_QPS)
#define VR_CQ_ENTRIES	65536u
#define VR_MRS		BIT(22)	/* of 24 bits of a stag, a quarter */
#define VR_PDS		4096u
#define VR_SRQS		VR_QPS
#define VR_SRQ_WRS	16384u
#define VR_WRS		8192u	/* of a queue */
#define VR_POSTED	VIA_QUEUE_ENTRIES	/* of them, with the agent at a time */
#define VR_READS	16u	/* under way in each direction, VIA's window of them */
#define VR_KERNEL_SGES	32u	/* of a send of the kernel's: 128 KiB by pages */
#define VR_FRWR_PAGES	256u	/* of a region that work requests register */
#define VR_MESSAGE	VIA_KERNEL_TRANSFER	/* bytes */

/* Objects of a device whose number has a limit, see vr_take(). */
enum vr_kind {
	VR_KIND_PD,
	VR_KIND_CQ,
	VR_KIND_MR,
	VR_KIND_QP,
	VR_KIND_SRQ,
	VR_KINDS
};

/* Counters of a device, `rdma statistic'. */
enum vr_counter {
	VR_CONNECTS,		/* requests sent */
	VR_REQUESTS,		/* requests that came */
	VR_EARLY,		/* of them: waited for a listener */
	VR_ESTABLISHED,
	VR_REFUSED,		/* requests without a listener, or rejected */
	VR_CONNECT_ERRORS,	/* own requests that failed */
	VR_LOST,		/* connections that ended by a fault */
	VR_NO_RECEIVE,		/* of them: own receive queue was empty */
	VR_LOCAL_REFUSALS,	/* of them: peer named memory it may not use */
	VR_REMOTE_REFUSALS,	/* of them: peer has refused so */
	VR_BAD_INVALIDATES,	/* peer invalidated what it may not: we disconnect */
	VR_BAD_WRS,		/* work requests that could not be executed */
	VR_FOREIGN_QPS,		/* programs that named the QP of another user */
	VR_CQ_OVERFLOWS,
	VR_OVER_LIMIT,		/* objects refused: the device has as many as it may */
	VR_COUNTERS
};

/* What queue pairs have done: work requests that succeeded, and their bytes. */
enum vr_works {
	VR_SENDS,		/* RDMA's, too */
	VR_SEND_BYTES,
	VR_RECVS,
	VR_RECV_BYTES,
	VR_WORKS
};

/**
 * struct vr_work - what a queue has done, see stat.c
 * @wrs:	queue lock to write: work requests that succeeded
 * @bytes:	queue lock to write: of these
 */
struct vr_work {
	u64 wrs;
	u64 bytes;
};

/**
 * struct vr_dev - a device
 * @ib:		the RDMA core's part
 * @file:	constant: handle of the NIC
 * @net:	constant: namespace of @ndev
 * @ifindex:	constant: of @ndev
 * @udp:	constant: the NIC is via_udp's
 * @roce:	constant: addressed like RoCE, see roce.c; else like iWARP
 * @ndev:	vr_links_mutex to write, RCU to read: a reference; NULL once the NIC
 *		goes
 * @qps:	by number
 * @next_qp:	@qps' lock: where the next number is looked for
 * @wq:		constant: events, in order; its items take no lock of a program's
 * @meet_wq:	constant, with @roce: items that take a QP's roce.lock
 * @listener:	of the agent, for all requests
 * @listen_lock: of the next four
 * @listeners:	struct vr_ep
 * @early:	struct vr_ep: requests without a listener, the oldest first
 * @earlies:	in @early, at most VR_EARLY_MAX
 * @ending:	no request waits any more
 * @early_work:	takes up the oldest of @early when its time is over; queued under
 *		@listen_lock
 * @link:	vr_links_mutex: all devices
 * @up:		vr_links_lock: the interface, as the last event said
 * @gone:	unregisters; a reference to @ib.dev while queued
 * @objects:	that there are
 * @count:	see enum vr_counter
 * @stat_lock:	innermost: of the next two, of what struct vr_stat says and of what
 *		struct vr_tally has
 * @stat_qps:	struct vr_stat of all QPs
 * @work:	of QPs that are bound to no counter, up to where each was settled
 * @tallies:	struct vr_tally by the number of the RDMA core's counter
 */
struct vr_dev {
	struct ib_device ib;
	struct via_file *file;
	struct net *net;
	int ifindex;
	bool udp;
	bool roce;
	struct net_device __rcu *ndev;
	struct xarray qps;
	u32 next_qp;
	struct workqueue_struct *wq;
	struct workqueue_struct *meet_wq;
	struct via_listener listener;
	spinlock_t listen_lock;
	struct list_head listeners;
	struct list_head early;
	u32 earlies;
	bool ending;
	struct delayed_work early_work;
	struct list_head link;
	bool up;
	struct work_struct gone;
	atomic_t objects[VR_KINDS];
	atomic64_t count[VR_COUNTERS];
	struct mutex stat_lock;
	struct list_head stat_qps;
	u64 work[VR_WORKS];
	struct xarray tallies;
};

static inline struct vr_dev *vr_dev_of(struct ib_device *ib)
{
	return container_of(ib, struct vr_dev, ib);
}

static inline void vr_count(struct vr_dev *d, enum vr_counter which)
{
	atomic64_inc(&d->count[which]);
}

/* An object more; false: there are as many as query_device() tells.  Any context. */
static inline bool vr_take(struct vr_dev *d, enum vr_kind kind)
{
	static const int most[VR_KINDS] = {
		[VR_KIND_PD] = VR_PDS,
		[VR_KIND_CQ] = VR_CQS,
		[VR_KIND_MR] = VR_MRS,
		[VR_KIND_QP] = VR_QPS,
		[VR_KIND_SRQ] = VR_SRQS,
	};

	if (atomic_add_unless(&d->objects[kind], 1, most[kind]))
		return true;
	vr_count(d, VR_OVER_LIMIT);
	return false;
}

static inline void vr_give(struct vr_dev *d, enum vr_kind kind)
{
	atomic_dec(&d->objects[kind]);
}

/* The interface with a reference, or NULL.  Any context. */
static inline struct net_device *vr_dev_netdev(struct vr_dev *d)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(d->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

#endif

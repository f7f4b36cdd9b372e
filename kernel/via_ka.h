/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a VI device module sees of the VI Kernel Agent.
 *
 * A device registers a struct via_nic with a table of operations.  The agent
 * owns everything that is independent of the network: the device node, the
 * mapped work queues, protection tags, registered memory, completion queues,
 * the VI state machine, matching of connection requests.  The device owns the
 * wire.  Between them stands the software VI engine (engine.c): it turns
 * posted descriptors into checked, private struct via_desc, copies bytes out
 * of and into registered memory, and completes.
 *
 * Locking
 * -------
 * In order, outermost first:
 *
 *   nic->admin_mutex    changes by an administrator, one at a time: tried, never
 *                       waited for (process context)
 *   via_nics_mutex      the registry of NICs (process context)
 *   via_policies_mutex  lists of hosts that are kept (process context; nothing
 *                       is taken inside it)
 *   nic->mutex          the list of a NIC's files (process context; held for
 *                       a few instructions, nothing is taken inside it but
 *                       file->event_lock)
 *   file->mutex         objects of a file (process context).  A program can
 *                       make its holder wait for memory, so it is never taken
 *                       under RTNL, nor by what unregisters a NIC, nor by a
 *                       work item, and no end is waited for under it: ends.h
 *   cq->resize_mutex    steps of a resize (process context)
 *   vi->area_mutex      growth of its rings (process context)
 *   xa_lock of file->memory.regions, file->cqs
 *                       what is in them, for those without file->mutex (process
 *                       context; nothing is taken inside it)
 *   nic->conn.lock      waiters and pending requests; never held together
 *                       with a queue lock (any context, BH off)
 *   nic->dma.lock       the list of regions mapped for DMA (process context)
 *   vi->sq.lock         one send queue (any context, BH off)
 *   vi->rq.lock         one receive queue (any context, BH off)
 *   device locks        the class's own
 *   cq->lock            one completion queue (any context, BH off)
 *   file->event_lock    the error queue (any context, BH off)
 *   nic->polls.lock busy pollers of the NIC (any context, BH off); under it
 *                       nothing but the device's busy_poll_mode()
 *
 * No two send-queue locks and no two receive-queue locks are ever held at
 * once, but for via_vi_lock_two(); a send-queue lock of one VI may be held
 * while taking the receive-queue lock of another, never the reverse.
 * vi->state and the connection are written with both locks of the VI held, so
 * either lock makes them stable; the state by via_vi_move() alone.
 *
 * What functions return
 * ---------------------
 * Here, and in every header of kernel/ and devices/ether/:
 *
 *   int                0 or -errno, unless the prototype says otherwise
 *   int, long that are "a call's result"
 *                      what the program's ioctl returns: 0, -errno, or VIA_R_*
 *                      (positive) for what the VIPL call is to return
 *   enum via_verdict   VIA_R_*, 0 is VIA_R_SUCCESS; no errno
 *   enum via_status    VIA_ST_*, 0 is good; no errno
 *   bool               whether it is so, or was done; the prototype says what
 *                      false means where it has to be acted upon
 *   pointer            NULL, or what was asked for; ERR_PTR() where the
 *                      prototype says so
 *
 * Lifetime of a VI: it is published in nic->vis when complete; a reader in
 * softirq or in the trap finds it under rcu_read_lock().  Destroying it ends
 * its connection, takes it off every list, sets @dead of both queues, all
 * under its queue locks, and takes it out of nic->vis.  Its shared pages go
 * one RCU grace period later, the structure with the last reference.  So a
 * reference alone keeps the structure; what it shares is there inside an RCU
 * read side that found the VI in nic->vis, and under a queue lock while @dead
 * is not set.
 *
 * Calls into the device
 * ---------------------
 * A NIC may be unregistered at any moment, and its device's memory is gone
 * when via_nic_unregister() returns.  One rule guards every call:
 *
 *   the transport's operations, vi_forget, busy_poll
 *	are called by RCU readers: under a queue lock of a VI that is Pending
 *	or Connected (vi_forget: that is in nic->vis), or for a handle that is
 *	a busy poller, looked at under rcu_read_lock()
 *   busy_poll_mode
 *	is called under nic->polls.lock while there are busy pollers
 *   mem_map, mem_unmap
 *	take as long as a program's regions are large: they are called until
 *	via_nic_drain() returns, which waits for them, and never under RTNL
 *   every other operation
 *	is called between via_nic_enter() and via_nic_leave(), an SRCU read
 *	side; via_nic_enter() fails once the NIC is dead
 *
 * Unregistering sets nic->dead and waits for SRCU: all that the third kind
 * has made is in its table by then, and nothing is added.  Then it moves each
 * VI to Error, dismisses the busy pollers, and waits for RCU.  It waits for
 * nothing else, since it runs under RTNL: not for file->mutex, not for a fault.
 * What runs in such a read side ends by itself: it takes no lock that is held
 * over an access to the program's memory, and its work does not grow with what a
 * program has.
 *
 * What makes interfaces VI NICs (struct via_attach_ops) belongs to a module, not
 * to a NIC: a reference to the module guards calls of it.
 */
#ifndef _VIA_KA_H
#define _VIA_KA_H

#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "../core/conn.h"
#include "../core/desc.h"
#include "order.h"
#include "table.h"
#include "via_admin.h"
#include "via_work.h"

/*
 * The time of connection deadlines: the clock, in jiffies.  The counter itself
 * is late where a virtual CPU was not run, leaps when it is, and what is
 * counted in it ends too soon.
 */
static inline unsigned long via_now(void)
{
	return nsecs_to_jiffies64(ktime_get_ns());
}

struct net;
struct net_device;
struct page;
struct via_area;
struct via_conn;
struct via_cq;
struct via_events;
struct via_names;
struct via_file;
struct via_kernel_ops;
struct via_kernel_vi;
struct via_nic;
struct via_vi;

#define VIA_QUEUE_ENTRIES	VIA_VI_MOST	/* slots of a work queue, at most */
#define VIA_INFLIGHT		64u	/* sends started and not complete */
#define VIA_WAITING_BITS	9	/* lists of waiters, 4 KiB */
#define VIA_LISTENING_BITS	6	/* of listeners in the kernel; of programs */
#define VIA_P2P_BITS		9	/* of VIs that look for a peer, 4 KiB */

/*
 * Control of a SEND of a consumer in the kernel, of bits that a program may not set; and
 * what they are in the status of the peer's receive.  See via_kapi.h.
 */
#define VIA_CTL_KERNEL_SOLICITED	0x0100
#define VIA_CTL_KERNEL_INVALIDATE	0x0200
#define VIA_CTL_KERNEL_NOTES		0x0300
#define VIA_ST_KERNEL_SOLICITED		0x01000000
#define VIA_ST_KERNEL_INVALIDATE	0x02000000
#define VIA_ST_KERNEL_NOTES		0x03000000

/*
 * An entry of a queue's list of sleepers, told when the queue moves: a thread,
 * on its own stack, or (without a task) a struct via_notice.  The lock is the
 * queue's or the CQ's; @told is written under it, last of all, and read
 * without it.  @rest: others, for the thread to wake.
 */
struct via_sleeper {
	struct hlist_node link;
	struct task_struct *task;
	struct hlist_head rest;
	bool told;
};

/**
 * struct via_notice - tells the program once, by an event, that a queue moved
 * @sleeper:	queue's or CQ's lock: on its sleepers while armed
 * @link:	events->lock: on events->notices while queued
 * @queued:	events->lock: the event waits to be read
 * @events:	of the owner's handle; set when first armed
 * @id:		of the VI or CQ; likewise
 * @code:	VIA_EVENT_*; likewise
 *
 * It lies in what it speaks of, so that at most one event of each queue is on
 * its way and none needs memory; via_notice_cancel() takes it off both lists
 * before that goes.
 */
struct via_notice {
	struct via_sleeper sleeper;
	struct list_head link;
	bool queued;
	struct via_events *events;
	u32 id;
	u32 code;
};

/**
 * struct via_queue - one work queue
 * @lock:	guards all fields below but the constants
 * @head:	next descriptor to complete; kern->done follows it
 * @next:	next descriptor to load; head <= next <= tail
 * @mask:	@entries - 1; cq->lock too to write
 * @cq_from:	first completion whose notice is not in the CQ ring yet
 * @dead:	no more completions: the VI is being destroyed; written with
 *		both queue locks held
 * @recv:	constant: this is a receive queue
 * @entries:	slots of the ring, a power of two; they only become more (area.c).
 *		Of a consumer in the kernel: VIA_QUEUE_ENTRIES
 * @kern:	constant: kernel-written shared part
 * @prog:	constant: program-written shared part, untrusted
 * @slots:	shared slots, untrusted; NULL, for good: the owner is a consumer in
 *		the kernel, which keeps its own (via_kapi.h)
 * @comp:	shared completion words, never read back for trust; cq->lock too
 *		to write; NULL likewise
 * @cq:		attached CQ or NULL, a reference is held; NULL again once the
 *		queue is dead (cq->lock too to write)
 * @cq_node:	cq->lock: in the CQ's tree of queues with notices left over
 * @cq_key:	cq->lock: its place there, the sequence number of @cq_from
 * @sleepers:	threads asleep until the queue moves, and @notice
 * @ring:	loaded descriptors: 1 of a receive queue; of a send queue VIA_INFLIGHT,
 *		or @entries where these are fewer; entry of index i is
 *		ring[i & ring_mask]
 * @ring_mask:	grows with @entries
 * @check:	descriptors before this index are to be checked early
 * @map:	area_mutex: what of the agent's memory @slots and @comp lie in; NULL:
 *		the first page of the area
 * @descs:	descriptors completed, for statistics
 * @bytes:	bytes of successful completions, for statistics
 * @errors:	descriptors that ended in error and were not flushed, likewise
 * @prot_errors: of them, by protection, likewise
 * @notice:	VIA_OP_NOTIFY_*
 */
struct via_queue {
	spinlock_t lock;
	u32 head;
	u32 next;
	u32 mask;
	u32 cq_from;
	bool dead;
	bool recv;
	u32 ring_mask;
	u32 entries;
	struct via_queue_kern *kern;
	struct via_queue_user *prog;
	struct via_slot *slots;
	struct via_completion *comp;
	struct via_desc *ring;
	struct via_cq *cq;
	struct rb_node cq_node;
	u32 cq_key;
	struct hlist_head sleepers;
	u32 check;
	void *map;
	u64 descs;
	u64 bytes;
	u64 errors;
	u64 prot_errors;
	struct via_notice notice;
};

/**
 * struct via_transport_ops - how a connected VI moves data
 *
 * The Ethernet class has one; the agent has one for VIs of one host.
 */
struct via_transport_ops {
	/**
	 * @send: start posted sends.  Called with vi->sq.lock held, state
	 * Connected.  Does a bounded amount of work (64 descriptors or
	 * frames), whatever is posted meanwhile.  Returns 0,
	 * or VIA_TRAP_MORE when the caller must call again for the rest.  An
	 * error that breaks the connection is left in vi->broken (see
	 * via_vi_break_later()).
	 */
	int (*send)(struct via_vi *vi);

	/**
	 * @disconnect: the VI leaves Connected (or Pending).  Called with both
	 * queue locks held; the state is still the old one.  Forget all
	 * transport state, and with @tell send the peer a last frame.
	 */
	void (*disconnect)(struct via_vi *vi, bool tell);

	/**
	 * @disconnected: the same moment, after the locks are dropped.
	 * Optional.
	 */
	void (*disconnected)(struct via_vi *vi);
};

/**
 * struct via_vi - a virtual interface
 * @ref:	the table, the peer on this host, connection requests
 * @rcu:	frees the memory
 * @id:		constant: index in the low 16 bits, generation above; never 0
 * @file:	constant: the owner; there as long as @shared
 * @nic:	constant
 * @xport:	both queue locks: how it moves data; NULL when unconnected
 * @state:	both queue locks: VIA_STATE_*
 * @broken:	VIA_BROKEN_*: set by via_vi_break_later() under either queue
 *		lock, so atomic; cleared with both held
 * @sq:		send queue
 * @rq:		receive queue
 * @attrs:	file->mutex and both queue locks to write, and only in Idle: so
 *		any of the three makes it stable, and so does another state
 * @shared:	constant: the first page of the mapped area, kernel address
 * @remote_vi:	both queue locks: the other end on this host, reference held
 * @left_vi:	both queue locks: the peer that is to be told that we left
 * @left_how:	both queue locks: and how it is told, VIA_BROKEN_*
 * @conn:	both queue locks: own request to this host, reference held
 * @left_conn:	both queue locks: request to be cancelled
 * @local:	both queue locks: own address while connected or pending
 * @remote:	both queue locks: the peer's address while connected or pending
 * @remote_attrs: both queue locks: the peer's, valid with verdict 0
 * @verdict:	both queue locks: VIA_R_* of the last attempt, or
 *		VIA_VERDICT_NONE (no attempt), VIA_R_NOT_DONE (under way)
 * @deadline:	both queue locks: via_now() at which the attempt times out
 * @forever:	both queue locks: no deadline
 * @p2p:	both queue locks: the attempt is peer to peer
 * @attempt:	both queue locks: counts attempts
 * @p2p_node:	nic->conn.lock: in nic->conn.p2p while it looks for its peer;
 *		what finders read of the attempt does not change meanwhile
 * @p2p_claim:	nic->conn.lock: the device's name of the peer that has found
 *		the VI, or 0
 * @conn_wait:	sleepers in VIA_IOC_CONN_RESULT
 * @traps:	sq.lock: doorbells, for statistics
 * @connects:	both queue locks: connections that stood, for statistics
 * @priv:	constant: the device's part, ops->vi_priv_size bytes, zeroed
 * @kernel:	constant: what a consumer in the kernel has besides; NULL: the owner is
 *		a program
 *
 * The rest is the agent's.
 */
struct via_vi {
	struct kref ref;
	struct rcu_head rcu;
	u32 id;
	struct via_file *file;
	struct via_nic *nic;
	const struct via_transport_ops *xport;
	u32 state;
	atomic_t broken;
	struct via_queue sq;
	struct via_queue rq;
	struct via_vi_attrs attrs;
	struct via_vi_shared *shared;
	struct via_vi *remote_vi;
	struct via_vi *left_vi;
	u32 left_how;
	struct via_conn *conn;
	struct via_conn *left_conn;
	struct via_net_addr local;
	struct via_net_addr remote;
	struct via_vi_attrs remote_attrs;
	enum via_verdict verdict;
	u32 attempt;
	unsigned long deadline;
	bool forever;
	bool p2p;
	struct via_table_node p2p_node;
	u64 p2p_claim;
	wait_queue_head_t conn_wait;
	u64 traps;
	u64 connects;
	void *priv;
	struct via_kernel_vi *kernel;

	struct list_head link;		/* file->mutex: file->vis */
	struct via_area *area;		/* constant: pages of @shared: area.c */
	struct mutex area_mutex;	/* growth of the rings in it */
	refcount_t shared_refs;		/* its owner, its calls: keep it */
	u32 index;			/* constant: place in nic->vis */
	struct rcu_work death;		/* frees what it shares */
	struct work_struct scan;	/* more receives to be checked early */
};

/* vi->broken: what to do once the queue locks are dropped. */
#define VIA_BROKEN_LOST		0x1	/* to Error, CONN_LOST event */
#define VIA_BROKEN_TELL		0x2	/* tell the peer */
#define VIA_BROKEN_LEFT		0x4	/* not broken: the peer has left */
#define VIA_BROKEN_CALL		0x8	/* not broken: a consumer is to be called */

/**
 * struct via_limits - what VipQueryNic tells, and what is enforced
 */
struct via_limits {
	u32 reliability;	/* mask of VIA_UNRELIABLE ... */
	u32 rdma_read;		/* mask of levels with RDMA Read */
	u32 max_vi;		/* <= 65535 */
	u32 max_cq;		/* per NIC handle */
	u32 max_cq_entries;	/* a power of two */
	u32 max_ptags;		/* per NIC handle */
	u32 max_regions;	/* per NIC handle */
	u32 max_transfer;	/* bytes of one message */
	u32 native_mtu;		/* payload bytes of one frame */
	u64 max_register_bytes;	/* per NIC handle */
	u64 max_block_bytes;	/* per region */
};

/* Emits one counter. */
struct via_stats_sink;
void via_stat(struct via_stats_sink *sink, const char *name, u64 value);

/*
 * What the agent counts of a NIC, VIA_NIC_COUNTS values, and what each is called.
 * Process context.
 */
#define VIA_NIC_COUNTS	9u
const char *via_nic_count_name(u32 which);
void via_nic_counts(struct via_nic *nic, u64 *value);

/* What becomes of busy-polling mode. */
enum via_busy_poll_step {
	VIA_BUSY_POLL_BEGIN,
	VIA_BUSY_POLL_KEEP,
	VIA_BUSY_POLL_END
};

/**
 * struct via_mem_map - a registered region as the DMA of its NIC finds it
 * @dma:	constant while @on: bus address of each page; NULL: they are the
 *		physical addresses and @bias
 * @bias:	constant while @on
 * @last:	the device's: names the last frame that it was part of
 * @on:		mapped; a queue lock to read; else its bytes are copied.  Set
 *		before the region is published, cleared when no queue uses it
 *
 * The device fills it in and empties it, the engine computes with it.
 */
struct via_mem_map {
	dma_addr_t *dma;
	u64 bias;
	u32 last;
	bool on;
};

/* Bytes in a row, for DMA out of registered memory. */
struct via_frag {
	dma_addr_t dma;
	u32 len;
	struct via_mem_map *map;	/* of their region */
};

#define VIA_FRAGS_MAX		4

/* What of a message goes into one frame; none: it is to be copied. */
struct via_frags {
	u32 n;
	struct via_frag frag[VIA_FRAGS_MAX];
};

/* Of an skb, which takes no more. */
#define VIA_PAGE_FRAGS_MAX	17

/**
 * struct via_page_frags - what of a message goes into frames as the pages it lies in
 * @n:		how many of @frag
 * @frag:	each with a reference to its page: via_page_frags_put()
 */
struct via_page_frags {
	u32 n;
	struct {
		struct page *page;
		u32 off;
		u32 len;
	} frag[VIA_PAGE_FRAGS_MAX];
};

/**
 * struct via_device_ops - a VI device
 *
 * "Calls into the device" above says what keeps the device while it is called.
 */
struct via_device_ops {
	struct module *owner;
	/** @vi_priv_size: bytes of vi->priv */
	size_t vi_priv_size;
	/** @vi_create: prepare vi->priv; may sleep.  0 or -errno.  Optional. */
	int (*vi_create)(struct via_vi *vi);
	/**
	 * @vi_forget: the VI is being destroyed, or its NIC goes: take it off
	 * every list, whatever its state.  Both queue locks held; an RCU grace
	 * period follows before vi->priv goes.  Optional.
	 */
	void (*vi_forget)(struct via_vi *vi);
	/**
	 * @connect: start a request from @vi (Pending) to vi->remote; the
	 * answer comes by via_conn_established() or via_conn_failed().  May
	 * sleep, no lock but file->mutex held.
	 * NULL: nothing but this host can be reached.
	 */
	enum via_verdict (*connect)(struct via_vi *vi);
	/**
	 * @accept: answer @conn with @vi (Pending, attributes compared); then
	 * via_conn_established() or via_conn_failed().
	 */
	enum via_verdict (*accept)(struct via_conn *conn, struct via_vi *vi);
	/**
	 * @p2p_connect: start a p2p request from @vi (Pending) to
	 * vi->remote, likewise.  The other side's requests may find the VI
	 * already.
	 */
	enum via_verdict (*p2p_connect)(struct via_vi *vi);
	/** @reject: the program refused @conn, or died before it answered. */
	void (*reject)(struct via_conn *conn);
	/**
	 * @resolve: put the question to the wire, via_names_add() what comes.
	 * Sleeps for a bounded time.  Returns 0, -EINTR (killed) or -errno.
	 * NULL: no other host can be reached.
	 */
	int (*resolve)(struct via_nic *nic, struct via_names *q);
	/**
	 * @peers_edit: change which hosts may talk to the NIC, all of it or
	 * nothing.  nic->admin_mutex held, and RTNL only within
	 * via_nic_register(), which gives the NIC the list that is kept for it;
	 * may sleep, for a bounded time.  Returns 0, or -errno with @why.  With
	 * @peers_read.  NULL: no other host can be reached.
	 */
	int (*peers_edit)(struct via_nic *nic, const struct via_peers_edit *edit,
			  enum via_refusal *why);
	/**
	 * @peers_read: up to @n hosts of the list from number @from; returns
	 * how many.  @of tells about the whole list.
	 */
	u32 (*peers_read)(struct via_nic *nic, u32 from,
			  struct via_peer_rule *rule, u32 n,
			  struct via_peers_state *of);
	/**
	 * @busy_poll: take frames, a bounded number, and do what is due, in the
	 * caller's context, which is a program that spins: no lock held, RCU
	 * read side.  Only in busy-polling mode, but that may end meanwhile.
	 * NULL: the device cannot, and @busy_poll_mode is not called.
	 */
	void (*busy_poll)(struct via_nic *nic);
	/**
	 * @busy_poll_tick: where there is @busy_poll: how often the agent asks
	 * whether programs still look, ns.  What the device leaves to them waits
	 * for two ticks at most.
	 */
	u32 busy_poll_tick;
	/**
	 * @busy_poll_mode: busy polling begins (false: not now), goes on (at each
	 * tick: see to what it leaves undone), ends: interrupts bring frames
	 * again, those that are there included.  BH off, one at a time; may not
	 * sleep, take frames or call the agent.
	 */
	bool (*busy_poll_mode)(struct via_nic *nic,
			       enum via_busy_poll_step step);
	/**
	 * @mem_map: a region of the NIC is being registered: map its pages
	 * for DMA towards the device, or leave @map as it is (zeroed) and its
	 * bytes are copied.  May sleep.  Optional, but with @mem_unmap.
	 */
	void (*mem_map)(struct via_nic *nic, struct via_mem_map *map,
			struct page **pages, u32 npages);
	/**
	 * @mem_unmap: undo it, and what remains of it.  No frame with its
	 * bytes is given to the device any more; when this returns the
	 * hardware has none either, so it waits, for a bounded time, and stops
	 * the hardware if that does not help.  May sleep.  As @mem_map it is
	 * called beside via_nic_unregister(), and until via_nic_drain() returns.
	 */
	void (*mem_unmap)(struct via_nic *nic, struct via_mem_map *map,
			  struct page **pages, u32 npages);
	/** @transport: of VIs connected through this device. */
	const struct via_transport_ops *transport;
	/** @stats: counters of the NIC.  Process context.  Optional. */
	void (*stats)(struct via_nic *nic, struct via_stats_sink *sink);
	/** @vi_stats: counters of a VI.  RCU read side.  Optional. */
	void (*vi_stats)(struct via_vi *vi, struct via_stats_sink *sink);
};

/* Counters of VIs, added up. */
struct via_totals {
	u64 traps;
	u64 send_descs;
	u64 recv_descs;
	u64 send_bytes;
	u64 recv_bytes;
	u64 connects;
	u64 errors;
	u64 prot_errors;
};

/* Waiters, listeners and requests for connections: @lock. */
struct via_nic_conns {
	spinlock_t lock;
	struct via_table waiting;	/* waiters by address */
	struct via_table listening;	/* listeners by discriminator */
	u32 listeners;			/* how many */
	struct via_table backlogs;	/* programs that listen, by address */
	struct via_order waiters;	/* and backlogs, by id */
	struct via_order conns;		/* by id */
	u32 places;			/* of both, in use */
	struct via_table p2p;		/* VIs that look for a peer */
	u32 id;				/* last one given */
	u32 waiter_id;			/* last one given */
};

/* Regions that are mapped for the device's DMA: @lock. */
struct via_nic_maps {
	spinlock_t lock;
	struct list_head maps;
	u32 mappers;			/* in mem_map(), mem_unmap() */
	bool closed;			/* nothing is mapped any more */
	wait_queue_head_t unmapped;	/* via_nic_drain(): mappers is 0 */
};

/* Programs that busy-poll: @lock. */
struct via_nic_polls {
	spinlock_t lock;
	struct list_head pollers;	/* handles */
	struct hrtimer timer;		/* runs while there are such */
	u64 asked;			/* last request, ns */
	u32 polls;			/* traps in this tick, few are exact; no lock */
	u32 few;			/* constant: fewer end busy polling */
};

/**
 * struct via_nic - a VI NIC
 * @ops:	constant
 * @name:	constant: node name without "/dev/"
 * @addr:	constant: host address
 * @addr_len:	constant: bytes
 * @type:	constant: VIA_NIC_*
 * @ifindex:	constant: interface, or 0
 * @parent:	constant: parent device or NULL
 * @limits:	constant but native_mtu
 * @netns:	constant: network namespace whose processes may open it, held
 *		by the device until it unregisters; NULL: any
 * @netdev:	constant: the interface that its hosts and keys belong to, only
 *		compared; NULL: none
 * @port:	constant: they belong to @addr and this UDP port; 0: to @netdev
 * @bound:	constant: index of the interface that @port is bound to, or 0
 * @shape:	constant: VIA_NL_SHAPE_*
 * @priv:	constant: the device's
 *
 * The device fills the fields above before via_nic_register(); the rest is
 * the agent's.
 */
struct via_nic {
	const struct via_device_ops *ops;
	char name[64];
	u8 addr[VIA_ADDR_MAX];
	u32 addr_len;
	u32 type;
	u32 ifindex;
	struct device *parent;
	struct via_limits limits;
	const struct net *netns;
	const struct net_device *netdev;
	u16 port;
	u32 bound;
	u32 shape;
	void *priv;

	struct kref ref;		/* the registry, open files */
	struct list_head link;		/* via_nics_mutex */
	struct device *dev;		/* constant: the node */
	const struct attribute_group *groups[3]; /* constant: of the node */
	struct via_stats_dir *stats_dir; /* constant: files of counters */
	struct mutex admin_mutex;	/* ops->peers_edit() */
	unsigned long denied_at;	/* jiffies of the last such event; racy */
	int minor;			/* constant */
	struct mutex mutex;		/* files */
	struct via_order files;		/* mutex: by their serials */
	u64 file_serial;		/* mutex: of the last one */
	bool dead;			/* mutex to write: it is unregistered */
	struct srcu_struct srcu;	/* read: see via_nic_enter() */
	struct via_vi __rcu **vis;	/* vi_lock to write, RCU to read */
	unsigned long *vi_taken;	/* vi_lock to write: bit of each index */
	u32 *vi_gen;			/* vi_lock: generation of each index */
	u32 vi_hint;			/* vi_lock: where to look for a place */
	u32 vi_count;			/* vi_lock */
	struct via_totals gone;		/* vi_lock: of VIs destroyed */
	spinlock_t vi_lock;
	struct via_nic_conns conn;
	atomic_t askers;		/* threads that ask for a name */
	struct via_nic_maps dma;
	struct via_nic_polls polls;
};

/*
 * Registry.  via_nic_alloc() gives a zeroed NIC with default limits; register
 * makes the node (-EEXIST when the name is taken, -EBUSY when the interface
 * is a NIC already); unregister moves every VI to Error, completes everything
 * flushed, tells the programs, and returns when the agent will not call the
 * device again, but for mem_map and mem_unmap: drain waits for these, unmaps what
 * is left, and is not called under RTNL by a device that has them.  Without them
 * it does nothing.  put drops the caller's reference.  All may sleep.
 */
struct via_nic *via_nic_alloc(const struct via_device_ops *ops);
int via_nic_register(struct via_nic *nic);
void via_nic_unregister(struct via_nic *nic);
void via_nic_drain(struct via_nic *nic);
void via_nic_put(struct via_nic *nic);
/*
 * The device cannot be polled, for now or for good: busy-polling mode ends, and
 * the device refuses to begin it again.  A trap that is under way ends its RCU
 * read side.
 */
void via_nic_busy_poll_stop(struct via_nic *nic);

/*
 * A read side of nic->srcu, in which the device may be called; false, and no
 * read side, once the NIC is unregistered.  May sleep; never nested.
 */
static inline bool via_nic_enter(struct via_nic *nic, int *idx)
{
	*idx = srcu_read_lock(&nic->srcu);
	/* Pairs with synchronize_srcu() after dead is set. */
	if (likely(!READ_ONCE(nic->dead)))
		return true;
	srcu_read_unlock(&nic->srcu, *idx);
	return false;
}

static inline void via_nic_leave(struct via_nic *nic, int idx)
{
	srcu_read_unlock(&nic->srcu, idx);
}

/* The VI at an index of a NIC, or NULL.  RCU read side; id is not compared. */
struct via_vi *via_vi_lookup(struct via_nic *nic, u32 index);
/*
 * The first VI at or after an index, which is then its own; NULL: none.  Costs by
 * the VIs that are there.  One that was published before the caller's RCU read
 * side began, and is not destroyed meanwhile, is met.
 */
struct via_vi *via_vi_next(struct via_nic *nic, u32 *index);

/*
 * Memory that is charged to the group of the VI's program, for kfree(); NULL:
 * there is none.  Any context, while the VI has its program.
 */
void *via_vi_memory(struct via_vi *vi, size_t bytes);

/*
 * Send side, vi->sq.lock held.
 *
 * via_send_load() loads the next posted descriptor into the in-flight ring:
 * NULL when none is posted, when VIA_INFLIGHT are in flight (via_send_full()), or
 * when @work is used up.  A descriptor with status != 0 must not be sent; it
 * is completed in its turn.  via_send_entry() finds a loaded one by index
 * (sq.head <= index < sq.next).  via_send_complete() completes the oldest.
 * via_send_drained() says whether nothing more is posted: a hint, since the
 * program may post at any moment.
 *
 * via_send_sleep() is called when there is nothing left to load: it clears
 * BUSY and looks once more; true means that something was posted meanwhile.
 * via_send_busy() sets BUSY: the transport promises to come back by itself
 * and to load until via_send_sleep() returns false.
 */
struct via_desc *via_send_load(struct via_vi *vi, struct via_work *work);
/* Of a consumer in the kernel: looks for more.  sq.lock held. */
bool via_kernel_drained(struct via_vi *vi);
struct via_desc *via_send_entry(struct via_vi *vi, u32 index);
bool via_send_full(const struct via_vi *vi);
void via_send_complete(struct via_vi *vi, enum via_status status, u32 length);
bool via_send_sleep(struct via_vi *vi);
void via_send_busy(struct via_vi *vi);
static inline bool via_send_drained(struct via_vi *vi)
{
	return READ_ONCE(vi->sq.prog->tail) == vi->sq.next &&
	       (likely(!vi->kernel) || via_kernel_drained(vi));
}

/*
 * Copy @len bytes at @off of the local segments of a send into @dst.  Each
 * segment is checked against the region table at each call.  Returns 0 or
 * VIA_ST_PROTECTION_ERROR.  Any context, sq.lock held.
 */
enum via_status via_gather(struct via_vi *vi, struct via_desc *d, u32 off,
			   u32 len, void *dst);

/*
 * The same bytes where they lie, for the NIC's DMA, after the same checks at
 * each call; VIA_FRAGS_MAX pieces at most.  False: copy, and see what the copy
 * says: not mapped, in too many pieces, or not to be read at all.
 *
 * A piece is valid until sq.lock is dropped; what is in the hardware by then,
 * mem_unmap() waits for.  The bytes are the program's and it may change them
 * meanwhile, which is between it and its peer: nothing here looks at them, and
 * the checksum on the wire is the NIC's.  Completing a send promises
 * that no later frame with its bytes is taken: its sequence number has been
 * acknowledged.
 */
bool via_gather_frags(struct via_vi *vi, struct via_desc *d, u32 off, u32 len,
		      struct via_frags *frags);

/*
 * The same bytes as references to their pages, for frames that stay in this host and
 * are read soon: a region may be deregistered while they are on their way, and its
 * pages be the program's again, as with sendfile().  False: copy.  It goes for memory
 * of the kernel, too, but for what the slab allocator has: that could be anybody's by
 * then.
 */
bool via_gather_pages(struct via_vi *vi, struct via_desc *d, u32 off, u32 len,
		      struct via_page_frags *pages);
/* Give the references back.  Any context. */
void via_page_frags_put(struct via_page_frags *pages);

/*
 * Receive side, vi->rq.lock held.
 *
 * via_recv_load() gives the receive descriptor at the head, loading it at the
 * first call; NULL when none is posted.  A descriptor with status != 0 takes
 * no data: complete it with that status.  via_scatter() copies into its
 * segments; via_recv_complete() completes it (@status without OP and DONE
 * bits means OP_RECEIVE; give VIA_ST_OP_REMOTE_RDMA_WRITE for the other).
 * The caller has made sure that off + len <= d->length.
 */
struct via_desc *via_recv_load(struct via_vi *vi);
enum via_status via_scatter(struct via_vi *vi, struct via_desc *d, u32 off,
			    const void *src, u32 len);
void via_recv_complete(struct via_vi *vi, enum via_status status, u32 length,
		       u32 immediate);

/*
 * Place bytes of an incoming RDMA Write: @addr..@addr+@len must lie in the
 * region @handle of the VI's owner with the right to be written.  Returns 0
 * or VIA_ST_RDMA_PROT_ERROR.  rq.lock held.  via_rdma_check() only checks.
 */
enum via_status via_rdma_place(struct via_vi *vi, u32 handle, u64 addr,
			       const void *src, u32 len);
enum via_status via_rdma_check(struct via_vi *vi, u32 handle, u64 addr,
			       u64 len);

/*
 * RDMA Read.  The target: via_read_fetch() copies @len bytes at @addr of the
 * region @handle, which must grant the right to be read, as must the VI;
 * via_read_check() only checks.  Either queue lock held.  Returns 0 or
 * VIA_ST_RDMA_PROT_ERROR.  The initiator: via_read_scatter() copies what came
 * to offset @off of the segments of a loaded send; sq.lock held, and
 * off + len <= d->length.
 */
enum via_status via_read_check(struct via_vi *vi, u32 handle, u64 addr,
			       u64 len);
enum via_status via_read_fetch(struct via_vi *vi, u32 handle, u64 addr,
			       void *dst, u32 len);
/* To via_read_fetch() as via_gather_frags() to via_gather(). */
bool via_read_frags(struct via_vi *vi, u32 handle, u64 addr, u32 len,
		    struct via_frags *frags);
/* As via_gather_pages(). */
bool via_read_pages(struct via_vi *vi, u32 handle, u64 addr, u32 len,
		    struct via_page_frags *pages);
enum via_status via_read_scatter(struct via_vi *vi, struct via_desc *d, u32 off,
				 const void *src, u32 len);

/*
 * Errors.  via_vi_error() reports an asynchronous error (any context).
 * via_vi_break_later() notes, under either queue lock, that the connection is
 * to break; the context that drops the last queue lock then calls
 * via_vi_settle(), which does it: state Error, all flushed, CONN_LOST reported,
 * the peer told when VIA_BROKEN_TELL was given.  VIA_BROKEN_LEFT, without that,
 * says that the peer has left in good order, and so does the report.
 */
void via_vi_error(struct via_vi *vi, u32 code, u32 opcode, u64 desc);
static inline void via_vi_break_later(struct via_vi *vi, u32 how)
{
	atomic_or(VIA_BROKEN_LOST | how, &vi->broken);
}

/* Was via_vi_break_later() called, and not settled?  A queue lock held. */
static inline bool via_vi_is_broken(const struct via_vi *vi)
{
	return atomic_read(&vi->broken) & ~VIA_BROKEN_CALL;
}

void __via_vi_settle(struct via_vi *vi);
static inline void via_vi_settle(struct via_vi *vi)
{
	if (unlikely(atomic_read(&vi->broken)))
		__via_vi_settle(vi);
}

/**
 * struct via_names - a question for names or addresses, and its answers
 * @name:	wanted, or empty: all
 * @addr:	wanted
 * @addr_len:	bytes of it, or 0: all
 * @count:	answers; the device serialises via_names_add()
 * @room:	most that there may be
 * @answer:	the answers
 */
struct via_names {
	char name[VIA_NAME_MAX + 1];
	u8 addr[VIA_ADDR_MAX];
	u32 addr_len;
	u32 count;
	u32 room;
	struct via_name_answer *answer;
};

/* Note an answer, unless it is known or fits the question not.  Any context. */
void via_names_add(struct via_names *q, const u8 *addr, u32 addr_len,
		   const char *name);
/* This host's name, of VIA_NAME_MAX + 1 bytes; empty: none.  Any context. */
void via_name_own(char *name);
/* Whether a name that is looked for means this one; either may be qualified. */
bool via_name_match(const char *want, const char *have);

#endif /* _VIA_KA_H */

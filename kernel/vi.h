/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Virtual interfaces.
 *
 * int is a call's result, VIA_R_* or -errno, but for via_vi_mmap() and
 * via_vi_trap(); the other conventions are in via_ka.h.
 */
#ifndef _VIA_VI_H
#define _VIA_VI_H

#include "file.h"
#include "../core/state.h"

/**
 * via_vi_create() - VIA_IOC_VI_CREATE
 * @f:		its mutex is held; the handle is alive
 * @arg:	attributes and CQs; gets the id, the entries, the bytes to be
 *		mapped
 *
 * May sleep.  The VI is published last; the table's reference is dropped when
 * it ends.
 *
 * Return: a call's result: 0, VIA_R_* for what the attributes or the limits do
 * not allow, or -EINVAL (a right that does not exist); or -EDQUOT: the user's
 * quota is used up, perhaps by VIs whose memory is on its way.
 */
int via_vi_create(struct via_file *f, struct via_vi_create *arg);
/* The same for a consumer in the kernel, with what is its own. */
int via_vi_make(struct via_file *f, struct via_vi_create *arg, void *priv);
/*
 * All of its end but the memory, in any state, once.  file->mutex held; may sleep.
 */
void via_vi_kill(struct via_file *f, struct via_vi *vi);

/**
 * via_vi_destroy() - VIA_IOC_VI_DESTROY
 * @f:		its mutex is held
 * @id:		of the VI
 *
 * May sleep.  Shared pages and structure go after a grace period.
 *
 * Return: a call's result: 0, VIA_R_INVALID_PARAMETER (no such VI),
 * VIA_R_INVALID_STATE (connected or pending), or VIA_R_ERROR_RESOURCE
 * (descriptors are posted).
 */
int via_vi_destroy(struct via_file *f, u32 id);

/* All VIs of a handle that ends, in any state.  file->mutex held; may sleep. */
void via_vi_destroy_all(struct via_file *f);

/*
 * VIA_IOC_VI_GROW.  No lock held; may sleep.  A call's result: 0, VIA_R_* or -errno, as
 * via_area_grow() has it.
 */
int via_vi_grow(struct via_file *f, struct via_vi_grow *arg);

/*
 * VIA_IOC_VI_QUERY, _SET, _OVERRUN.  file->mutex held, no queue lock.  A call's
 * result: 0 or VIA_R_INVALID_PARAMETER (no such VI); via_vi_set() also -EINVAL
 * and VIA_R_* for what the state or the attributes do not allow.
 */
int via_vi_query(struct via_file *f, struct via_vi_query *arg);
int via_vi_set(struct via_file *f, const struct via_vi_set *arg);
int via_vi_overrun(struct via_file *f, const struct via_overrun *arg);

/**
 * struct via_vi_view - a VI as an administrator is told of it
 * @id:		of the VI
 * @state:	VIA_STATE_*
 * @level:	VIA_UNRELIABLE ...
 * @ptag:	its tag
 * @send_cq:	id, or 0
 * @recv_cq:	id, or 0
 * @send_posted: descriptors, as the program says it
 * @send_in_flight: of them, loaded
 * @recv_posted: descriptors, as the program says it
 * @p2p:	the attempt is, or was, peer to peer
 * @local:	own address, of a VI that is Pending or Connected
 * @remote:	the peer's address, likewise
 */
struct via_vi_view {
	u32 id;
	u32 state;
	u32 level;
	u32 ptag;
	u32 send_cq;
	u32 recv_cq;
	u32 send_posted;
	u32 send_in_flight;
	u32 recv_posted;
	bool p2p;
	struct via_net_addr local;
	struct via_net_addr remote;
};

/* RCU read side that found the VI in nic->vis; no queue lock held. */
void via_vi_look(struct via_vi *vi, struct via_vi_view *view);

/*
 * Map the shared pages of the VI at an index.  mmap_lock is held, so
 * file->mutex is not.  0 or -errno.
 */
int via_vi_mmap(struct via_file *f, u32 index, struct vm_area_struct *vma);

/*
 * The file's VI by id, with a reference, or NULL.  Any context but hard
 * interrupts, any lock.
 */
struct via_vi *via_vi_get(struct via_file *f, u32 id);
/* The same in the caller's RCU read side. */
struct via_vi *via_vi_get_rcu(struct via_file *f, u32 id);
/* Any context: the structure goes by RCU. */
void via_vi_put(struct via_vi *vi);

/*
 * Leave any state for Idle, flush; the peer is told.  file->mutex held, no
 * queue lock.
 */
void via_vi_disconnect(struct via_vi *vi);
/*
 * Any state to Error, flush, for a NIC that went away.  RCU read side, no queue
 * lock held, BH on; RTNL may be held.
 */
void via_vi_fail(struct via_vi *vi);

/* Bad receives that are left, by a work item.  rq.lock held, not dead. */
void via_vi_scan_later(struct via_vi *vi);

/**
 * via_vi_trap() - the doorbell
 * @f:		the handle
 * @op:		VIA_OP_SEND or VIA_OP_RECV
 * @id:		of the VI
 *
 * Process context, no lock held.  Does not sleep; its work is bounded (via_work.h).
 *
 * Return: 0, VIA_TRAP_MORE (work is left), or -EINVAL: no such VI.
 */
int via_vi_trap(struct via_file *f, u32 op, u32 id);
/* The same for a VI that is known.  RCU read side; 0 or VIA_TRAP_MORE. */
int via_vi_ring(struct via_vi *vi, bool recv);

/* Both queue locks of a VI, from a context with BH on or off. */
static inline void via_vi_lock(struct via_vi *vi)
	__acquires(&vi->sq.lock) __acquires(&vi->rq.lock)
{
	spin_lock_bh(&vi->sq.lock);
	spin_lock(&vi->rq.lock);
}

static inline void via_vi_unlock(struct via_vi *vi)
	__releases(&vi->sq.lock) __releases(&vi->rq.lock)
{
	spin_unlock(&vi->rq.lock);
	spin_unlock_bh(&vi->sq.lock);
}

static inline void via_vi_assert_locked(struct via_vi *vi)
{
	lockdep_assert_held(&vi->sq.lock);
	lockdep_assert_held(&vi->rq.lock);
}

/*
 * Both ends of a connection on this host at once, so that either both become
 * Connected or none.  It is safe against deadlock because every other path
 * takes send-queue locks before receive-queue locks and at most one of each,
 * and of two of a kind the lower address comes first.  Nowhere else are two
 * of a kind held.
 */
void via_vi_lock_two(struct via_vi *a, struct via_vi *b);
void via_vi_unlock_two(struct via_vi *a, struct via_vi *b);

/*
 * The only way from one state to another, see core/state.h.  Both queue locks
 * held; false when the table refuses the event or the VI is dead, and nothing
 * has changed.  Where *@left is set, via_vi_left() is owed once the locks are
 * dropped; @left may be NULL for an event that detaches nothing.
 */
bool via_vi_move(struct via_vi *vi, enum via_vi_event event,
		 const struct via_transport_ops **left);
/*
 * What follows a move: the transport's disconnected(), off the list of those
 * that look for a peer, sleepers woken.  @left may be NULL.  No queue lock
 * held; the caller has a reference or is in an RCU read side.
 */
void via_vi_left(struct via_vi *vi, const struct via_transport_ops *left);

/* The attempt that is under way has its verdict.  Both queue locks held. */
void via_vi_judge(struct via_vi *vi, enum via_verdict verdict);

/* Would the table allow it?  Both queue locks held. */
static inline bool via_vi_may(struct via_vi *vi, enum via_vi_event event)
{
	via_vi_assert_locked(vi);
	return via_state_may(vi->state, event);
}

/* A queue lock held, or a VI that is not Idle. */
static inline bool via_vi_reliable(const struct via_vi *vi)
{
	return vi->attrs.reliability != VIA_UNRELIABLE;
}

#endif

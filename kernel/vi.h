/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Virtual interfaces. */
#ifndef _VIA_VI_H
#define _VIA_VI_H

#include "file.h"
#include "state.h"

int via_vi_create(struct via_file *f, struct via_vi_create *arg);
int via_vi_destroy(struct via_file *f, u32 id);
void via_vi_destroy_all(struct via_file *f);
int via_vi_query(struct via_file *f, struct via_vi_query *arg);
int via_vi_set(struct via_file *f, const struct via_vi_set *arg);
int via_vi_overrun(struct via_file *f, const struct via_overrun *arg);
int via_vi_mmap(struct via_file *f, u32 index, struct vm_area_struct *vma);

/* The file's VI by id, with a reference, or NULL. */
struct via_vi *via_vi_get(struct via_file *f, u32 id);
/* The same in the caller's RCU read side. */
struct via_vi *via_vi_get_rcu(struct via_file *f, u32 id);
void via_vi_put(struct via_vi *vi);

/* Leave any state for Idle, flush; the peer is told.  file->mutex held. */
void via_vi_disconnect(struct via_vi *vi);
/* Any state to Error, flush; for a NIC that went away. */
void via_vi_fail(struct via_vi *vi);
/* The doorbell. */
int via_vi_trap(struct via_file *f, u32 op, u32 id);

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
 * The only way from one state to another, see state.h.  Both queue locks
 * held; false when the table refuses the event, and nothing has changed.
 * Where *@left is set, via_vi_left() is owed once the locks are dropped.
 */
bool via_vi_move(struct via_vi *vi, enum via_vi_event event,
		 const struct via_transport_ops **left);
void via_vi_left(struct via_vi *vi, const struct via_transport_ops *left);

/* Would the table allow it?  Both queue locks held. */
static inline bool via_vi_may(struct via_vi *vi, enum via_vi_event event)
{
	via_vi_assert_locked(vi);
	return via_state_move(vi->state, event).to != VIA_STATE_REFUSED;
}

static inline bool via_vi_reliable(const struct via_vi *vi)
{
	return vi->attrs.reliability != VIA_UNRELIABLE;
}

#endif

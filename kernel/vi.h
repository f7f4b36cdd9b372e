/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Virtual interfaces. */
#ifndef _VIA_VI_H
#define _VIA_VI_H

#include "file.h"

int via_vi_create(struct via_file *f, struct via_vi_create *arg);
int via_vi_destroy(struct via_file *f, u32 id);
void via_vi_destroy_all(struct via_file *f);
int via_vi_query(struct via_file *f, struct via_vi_query *arg);
int via_vi_overrun(struct via_file *f, const struct via_overrun *arg);
int via_vi_mmap(struct via_file *f, u32 index, struct vm_area_struct *vma);

/* The file's VI by id, with a reference, or NULL. */
struct via_vi *via_vi_get(struct via_file *f, u32 id);
void via_vi_put(struct via_vi *vi);

/* Leave any state for Idle, flush; the peer is told. */
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

/* Both queue locks held. */
static inline void via_vi_set_state(struct via_vi *vi, u32 state)
{
	via_vi_assert_locked(vi);
	vi->state = state;
	WRITE_ONCE(vi->shared->state, state);
}

static inline bool via_vi_reliable(const struct via_vi *vi)
{
	return vi->attrs.reliability != VIA_UNRELIABLE;
}

#endif

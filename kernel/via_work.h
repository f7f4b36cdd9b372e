/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work with bottom halves off, and how much of it is done at once.
 *
 * Programs and other hosts make queues long, and may add to one while it is
 * served.  So a loop over what they make many takes a struct via_work, and what
 * gives the loop its next object charges one for each visit, before it looks at
 * the object: what is charged is the work, and not its success.  When all of it
 * is used the loop ends, what remains stays where it is, and a later softirq,
 * tick or trap goes on with it.  A visit itself costs a bounded time: a
 * descriptor with its segments, a frame, a VI, a peer.
 *
 *   via_send_load()		descriptors of a send queue
 *   via_recv_scan()		receives that are checked early
 *   via_cq_refill()		notices of a CQ
 *   send_frame() and others	frames of a message behind the first one
 *   via_wake_some()		threads that sleep on a queue
 *   next_*() of the class	VIs, peers, connections that end
 *   via_pool_serve()		VIs that wait for a peer's window
 *   via_ether_next_vi()	all VIs of a NIC
 *
 * What else loops has a bound of its own: a queue that is flushed has
 * VIA_QUEUE_ENTRIES descriptors, a ring that becomes longer is copied, half as many slots
 * at most, a CQ that is resized gives VIA_CQ_RETRACT_MAX notices back under one lock.
 *
 * tests/sim counts visits, however they are charged, and steps, from one moment with
 * bottom halves on to the next, and from frame to frame that is received; and visits
 * while one lock is held.
 */
#ifndef _VIA_WORK_H
#define _VIA_WORK_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/**
 * struct via_work - work that may still be done at once
 * @left: visits
 */
struct via_work {
	u32 left;
};

#define VIA_WORK(n)	((struct via_work){ .left = (n) })

/* The simulator has one that counts. */
#ifndef via_work_seen
#define via_work_seen()	do { } while (0)
#endif

/* One more visit; false: not now. */
static __always_inline bool via_work_visit(struct via_work *w)
{
	via_work_seen();
	if (unlikely(!w->left))
		return false;
	w->left--;
	return true;
}

/* A visit has taken as long as @n more of them. */
static inline void via_work_charge(struct via_work *w, u32 n)
{
	w->left -= min(w->left, n);
}

/* Is all of it used? */
static inline bool via_work_over(const struct via_work *w)
{
	return !w->left;
}

#endif /* _VIA_WORK_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timers of a NIC (timer.c). */
#ifndef _VIA_ETHER_TIMER_H
#define _VIA_ETHER_TIMER_H

#include "../../kernel/via_ka.h"
#include "proto/sample.h"
#include "vi.h"

/**
 * struct via_tick_job - what the coarse timer does at a tick
 * @wanted:	is there anything to do?  @at is when, jiffies: the next round of
 *		all jobs, or an own time that @wanted puts there.  nic->lock held
 * @run:	do what is due.  True: there is more, for the next tick.  BH off,
 *		RCU read side
 * @every_tick:	run at each tick, and not at each round: has times of its own
 */
struct via_tick_job {
	bool (*wanted)(const struct via_ether_nic *nic, unsigned long *at);
	bool (*run)(struct via_ether_nic *nic);
	bool every_tick;
};

/* @jobs: in this order, until one without @run. */
void via_ether_timer_init(struct via_ether_nic *nic,
			  const struct via_tick_job *jobs);
void via_ether_timer_stop(struct via_ether_nic *nic);
void via_ether_arm(struct via_ether_nic *nic);
/* The coarse timer is to look at peers at its next tick. */
void via_ether_hurry(struct via_ether_nic *nic);

/* timer.c, the alarm: times are ns of ktime_get_ns() */
#define VIA_ETHER_GAP_NS	VIA_SAMPLE_GAP_NS		/* between two alarms */
#define VIA_ETHER_LATE_NS	(100 * NSEC_PER_USEC)	/* one that is late */

/* Before it is set.  @urgent, @fire, @rests: see struct via_alarm. */
void via_alarm_init(struct via_alarm *a, bool urgent,
		    void (*fire)(struct via_alarm *a, u64 now,
				 struct via_work *work),
		    bool (*rests)(const struct via_alarm *a));
/*
 * It is due at @when, earlier or later than before; U64_MAX: not at all.  @now: a
 * sample of a VI, which may wait for the next one; 0: something else.  nic->lock
 * held.
 */
void via_alarm_set(struct via_ether_nic *nic, struct via_alarm *a, u64 when,
		   u64 now);
/* A program that busy-polls looks.  RCU read side, BH on. */
void via_ether_alarm_poll(struct via_ether_nic *nic);
/* Busy polling begins, goes on or ends.  Takes nic->lock. */
void via_ether_alarm_mode(struct via_ether_nic *nic,
			  enum via_busy_poll_step step);
/*
 * The half is to be visited then; @now, if it looks at itself.  Its queue lock
 * held, phase not NONE.
 */
void via_ether_visit_at(struct via_ether_vi *ev, enum via_ether_half half,
			u64 when, u64 now);
/* It was, and each half is to be again, U64_MAX: not.  Both queue locks. */
void via_ether_visited(struct via_ether_vi *ev, u64 tx, u64 rx);
/* Of neither half: nic->lock held. */
void via_ether_unwatch(struct via_ether_vi *ev);

#endif /* _VIA_ETHER_TIMER_H */

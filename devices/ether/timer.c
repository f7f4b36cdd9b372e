// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What VIs wait for, and the coarse timer of a NIC.
 *
 * Acknowledgements owed, timeouts of frames in flight and transmitters that
 * were full are what a program may be waiting for: the alarm serves them
 * (alarm.c).  The coarse timer, in jiffies, serves attempts, the expiry of
 * requests, and peers (beat.c).
 *
 * A message does not arm the alarm, and reads no clock.  A VI that begins to
 * wait for something is watched: it is put on nic->due, and the alarm is armed
 * if that is the earliest.  A half of it that goes on working looks at itself
 * each so many frames (@delack.pace, @rto.pace), as many as it had lately in 15/16 of
 * the time until the alarm.  At a look it reads the clock, and what has moved
 * since the last look puts the alarm off.  So the alarm does not go off while
 * frames come as they did; it is an interrupt, and costs five times what a look
 * does.  When it visits a VI, what has not moved is due, what has moved is
 * visited again, and a half that waits for nothing is not watched any more.  An
 * idle VI costs nothing.
 *
 * The price: the time of an event in a VI that is watched already is known to
 * one look only.  An acknowledgement that is the only one owed is in time to a
 * microsecond by the CPU's cycle counter; others are sent early, after a part
 * of a bet.  A timeout comes after one to two times its value.
 */

#include "ether.h"

/*
 * For the job that is due first.  While a tick runs this does nothing: its end
 * arms the timer.  nic->lock held.
 */
static void arm(struct via_ether_nic *nic)
{
	const struct via_tick_job *job;
	unsigned long at, when = 0;
	bool wanted = false;

	lockdep_assert_held(&nic->lock);
	if (nic->stopping)
		return;
	for (job = nic->jobs; job->run; job++) {
		at = nic->next_live;
		if (!job->wanted(nic, &at))
			continue;
		if (!wanted || time_before(at, when))
			when = at;
		wanted = true;
	}
	if (!wanted || (nic->ticking && time_before_eq(nic->tick_at, when)))
		return;
	nic->ticking = true;
	nic->tick_at = when;
	mod_timer(&nic->timer, when);
}

void via_ether_arm(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	arm(nic);
	spin_unlock(&nic->lock);
}

void via_ether_hurry(struct via_ether_nic *nic)
{
	spin_lock(&nic->lock);
	nic->next_live = jiffies;
	/* Those that a round has come to are looked at again, too. */
	nic->beats_left = nic->peers->non;
	arm(nic);
	spin_unlock(&nic->lock);
}

/* Is it time for a round of the jobs without times of their own? */
static bool round_begins(struct via_ether_nic *nic)
{
	bool begins;

	spin_lock(&nic->lock);
	begins = time_after_eq(jiffies, nic->next_live);
	if (begins)
		nic->next_live = jiffies + via_ether_heartbeat() / 4 + 1;
	spin_unlock(&nic->lock);
	return begins;
}

static void tick(struct timer_list *t)
{
	struct via_ether_nic *nic = timer_container_of(nic, t, timer);
	const struct via_tick_job *job;
	/* Before the jobs: via_ether_hurry() requests another round after them. */
	bool round = round_begins(nic), more = false;

	rcu_read_lock();
	for (job = nic->jobs; job->run; job++)
		if (round || job->every_tick)
			more |= job->run(nic);
	rcu_read_unlock();

	spin_lock(&nic->lock);
	if (more && time_after(nic->next_live, jiffies + 1))
		nic->next_live = jiffies + 1;
	nic->ticking = false;
	arm(nic);
	spin_unlock(&nic->lock);
}

void via_ether_timer_init(struct via_ether_nic *nic,
			  const struct via_tick_job *jobs)
{
	nic->jobs = jobs;
	timer_setup(&nic->timer, tick, 0);
	nic->next_live = jiffies;
	via_ether_alarm_init(nic);
}

/* For good.  May sleep. */
void via_ether_timer_stop(struct via_ether_nic *nic)
{
	spin_lock_bh(&nic->lock);
	nic->stopping = true;
	spin_unlock_bh(&nic->lock);
	timer_delete_sync(&nic->timer);
	hrtimer_cancel(&nic->alarm);
}

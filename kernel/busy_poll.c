// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Busy polling: a program that spins takes a NIC's frames in its own context,
 * and the NIC does not interrupt meanwhile.  A NIC that has no ring of its own
 * lets programs look at its clock, and starts fewer timers meanwhile.
 *
 * A handle whose program spins is a busy poller: ctl->poll says so, and each
 * empty look of the library is a trap.  The NIC is in busy-polling mode while
 * it has busy pollers.  A handle becomes one by asking twice in a short time,
 * which takes many empty looks (the library asks once for so many), and is
 * none any more
 *
 *  - when it sleeps until a queue moves, or ends (via_busy_poll_end());
 *  - when too few traps came in a tick, all busy pollers together: the timer;
 *  - when the NIC says so, because it goes down (via_nic_busy_poll_stop()).
 *
 * Without busy pollers the NIC interrupts again.  So a frame that none of them
 * looks for waits for two ticks at most.
 *
 * Locking: nic->polls.lock, innermost but for what the device takes in
 * busy_poll_mode(), guards the list of busy pollers, the flags and the mode.
 * The trap itself takes no lock and writes nothing that others read, but for
 * the first traps of a tick: many CPUs may spin on one NIC.  RCU keeps the
 * device until the trap is out of it.
 */

#include <linux/export.h>
#include <linux/ktime.h>
#include "busy_poll.h"

/* Between two traps, on average: a program that does not spin. */
#define VIA_BUSY_POLL_FAR	(125 * NSEC_PER_USEC)
/* Between two requests. */
#define VIA_BUSY_POLL_CLOSE	(200 * NSEC_PER_USEC)

static void via_busy_poll_drop(struct via_file *f)
{
	list_del_init(&f->busy_poll_link);
	WRITE_ONCE(f->ctl->poll, 0);
}

static void via_busy_poll_stop(struct via_nic *nic)
{
	struct via_file *f, *n;

	lockdep_assert_held(&nic->polls.lock);
	if (list_empty(&nic->polls.pollers))
		return;
	list_for_each_entry_safe(f, n, &nic->polls.pollers, busy_poll_link)
		via_busy_poll_drop(f);
	nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_END);
}

void via_nic_busy_poll_stop(struct via_nic *nic)
{
	spin_lock_bh(&nic->polls.lock);
	via_busy_poll_stop(nic);
	spin_unlock_bh(&nic->polls.lock);
}
EXPORT_SYMBOL_GPL(via_nic_busy_poll_stop);

static void via_busy_poll_arm(struct via_nic *nic)
{
	WRITE_ONCE(nic->polls.polls, 0);
	hrtimer_start(&nic->polls.timer,
		      ns_to_ktime(nic->ops->busy_poll_tick),
		      HRTIMER_MODE_REL_SOFT);
}

/*
 * If the tick of the last busy polling is still armed, less than a whole one is
 * left of it, and the number of traps in it says nothing.  A wait that spins and
 * then sleeps comes here each time, and to start a timer again costs more than
 * the spin.
 */
static void via_busy_poll_begin(struct via_nic *nic)
{
	if (hrtimer_is_queued(&nic->polls.timer))
		WRITE_ONCE(nic->polls.polls, nic->polls.few);
	else
		via_busy_poll_arm(nic);
}

static enum hrtimer_restart via_busy_poll_tick(struct hrtimer *timer)
{
	struct via_nic *nic = container_of(timer, struct via_nic,
					   polls.timer);

	spin_lock_bh(&nic->polls.lock);
	if (READ_ONCE(nic->polls.polls) < nic->polls.few) {
		via_busy_poll_stop(nic);
	} else if (!list_empty(&nic->polls.pollers)) {
		nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_KEEP);
		via_busy_poll_arm(nic);
	}
	spin_unlock_bh(&nic->polls.lock);
	return HRTIMER_NORESTART;
}

/* Does the program spin?  Then its handle is a busy poller from here on. */
static noinline void via_busy_poll_ask(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	u64 now = ktime_get_ns();

	spin_lock_bh(&nic->polls.lock);
	/* The end of a file or a NIC sets dead before it takes the lock. */
	if (now - nic->polls.asked > VIA_BUSY_POLL_CLOSE ||
	    READ_ONCE(f->dead) || READ_ONCE(nic->dead) ||
	    !list_empty(&f->busy_poll_link))
		goto out;
	if (list_empty(&nic->polls.pollers)) {
		if (!nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_BEGIN))
			goto out;
		via_busy_poll_begin(nic);
	}
	list_add(&f->busy_poll_link, &nic->polls.pollers);
	WRITE_ONCE(f->ctl->poll, 1);
out:
	nic->polls.asked = now;
	spin_unlock_bh(&nic->polls.lock);
}

long via_busy_poll_trap(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	u32 polls;

	/*
	 * Pairs with via_nic_unregister(), which waits after
	 * via_busy_poll_exit().
	 */
	rcu_read_lock();
	if (likely(READ_ONCE(f->ctl->poll))) {
		/* Some may be lost: it tells few from many. */
		polls = READ_ONCE(nic->polls.polls);
		if (polls < nic->polls.few)
			WRITE_ONCE(nic->polls.polls, polls + 1);
		nic->ops->busy_poll(nic);
		rcu_read_unlock();
		return 0;
	}
	rcu_read_unlock();
	if (nic->ops->busy_poll)
		via_busy_poll_ask(f);
	return 0;
}

void __via_busy_poll_end(struct via_file *f)
{
	struct via_nic *nic = f->nic;

	spin_lock_bh(&nic->polls.lock);
	if (!list_empty(&f->busy_poll_link)) {
		via_busy_poll_drop(f);
		if (list_empty(&nic->polls.pollers))
			nic->ops->busy_poll_mode(nic, VIA_BUSY_POLL_END);
	}
	spin_unlock_bh(&nic->polls.lock);
}

void via_busy_poll_init(struct via_nic *nic)
{
	spin_lock_init(&nic->polls.lock);
	INIT_LIST_HEAD(&nic->polls.pollers);
	hrtimer_setup(&nic->polls.timer, via_busy_poll_tick,
		      CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	nic->polls.few = nic->ops->busy_poll_tick / VIA_BUSY_POLL_FAR;
}

void via_busy_poll_exit(struct via_nic *nic)
{
	if (!nic->ops->busy_poll)
		return;
	via_nic_busy_poll_stop(nic);
	/* No busy poller, and no new one: it is not armed again. */
	hrtimer_cancel(&nic->polls.timer);
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Programs that spin look for a NIC's frames themselves, and the NIC does not
 * interrupt meanwhile.
 *
 * A handle whose program spins is a poller: ctl->poll says so, and each empty
 * look of the library is a trap.  The NIC is in polling mode while it has
 * pollers.  One becomes a poller by asking twice in a short time, which takes
 * many empty looks (the library asks once for so many), and is none any more
 *
 *  - when it sleeps until a queue moves, or ends (via_poll_rest());
 *  - when too few traps came in a tick, all pollers together: the timer;
 *  - when the NIC says so, because it goes down (via_nic_poll_stop()).
 *
 * Without pollers the NIC interrupts again.  So a frame that no poller looks
 * for waits for two ticks at most, 1 ms.
 *
 * Locking: nic->poll_lock, innermost but for what the device takes in
 * poll_mode(), guards the list of pollers, the flags and the mode.  The trap
 * itself takes no lock and writes nothing that others read, but for the first
 * traps of a tick: many CPUs may spin on one NIC.  RCU keeps the device until
 * the trap is out of it.
 */

#include <linux/export.h>
#include <linux/ktime.h>
#include "poll.h"

#define VIA_POLL_TICK	(500 * NSEC_PER_USEC)
#define VIA_POLL_FEW	4u			/* traps of a tick */
#define VIA_POLL_CLOSE	(200 * NSEC_PER_USEC)	/* between two requests */

static void via_poll_drop(struct via_file *f)
{
	list_del_init(&f->poll_link);
	WRITE_ONCE(f->ctl->poll, 0);
}

static void via_poll_stop(struct via_nic *nic)
{
	struct via_file *f, *n;

	lockdep_assert_held(&nic->poll_lock);
	if (list_empty(&nic->pollers))
		return;
	list_for_each_entry_safe(f, n, &nic->pollers, poll_link)
		via_poll_drop(f);
	nic->ops->poll_mode(nic, VIA_POLL_END);
}

void via_nic_poll_stop(struct via_nic *nic)
{
	spin_lock_bh(&nic->poll_lock);
	via_poll_stop(nic);
	spin_unlock_bh(&nic->poll_lock);
}
EXPORT_SYMBOL_GPL(via_nic_poll_stop);

static void via_poll_arm(struct via_nic *nic)
{
	WRITE_ONCE(nic->polls, 0);
	hrtimer_start(&nic->poll_timer, ns_to_ktime(VIA_POLL_TICK),
		      HRTIMER_MODE_REL_SOFT);
}

static enum hrtimer_restart via_poll_tick(struct hrtimer *timer)
{
	struct via_nic *nic = container_of(timer, struct via_nic, poll_timer);

	spin_lock_bh(&nic->poll_lock);
	if (READ_ONCE(nic->polls) < VIA_POLL_FEW) {
		via_poll_stop(nic);
	} else if (!list_empty(&nic->pollers)) {
		nic->ops->poll_mode(nic, VIA_POLL_KEEP);
		via_poll_arm(nic);
	}
	spin_unlock_bh(&nic->poll_lock);
	return HRTIMER_NORESTART;
}

/* Does the program spin?  Then it polls from here on. */
static noinline void via_poll_ask(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	u64 now = ktime_get_ns();

	spin_lock_bh(&nic->poll_lock);
	/* The end of a file or a NIC sets dead before it takes the lock. */
	if (now - nic->poll_asked > VIA_POLL_CLOSE || READ_ONCE(f->dead) ||
	    READ_ONCE(nic->dead) || !list_empty(&f->poll_link))
		goto out;
	if (list_empty(&nic->pollers)) {
		if (!nic->ops->poll_mode(nic, VIA_POLL_BEGIN))
			goto out;
		via_poll_arm(nic);
	}
	list_add(&f->poll_link, &nic->pollers);
	WRITE_ONCE(f->ctl->poll, 1);
out:
	nic->poll_asked = now;
	spin_unlock_bh(&nic->poll_lock);
}

long via_poll_trap(struct via_file *f)
{
	struct via_nic *nic = f->nic;
	u32 polls;

	/* Pairs with via_nic_unregister(), which waits after via_poll_exit(). */
	rcu_read_lock();
	if (likely(READ_ONCE(f->ctl->poll))) {
		/* Some may be lost: it tells few from many. */
		polls = READ_ONCE(nic->polls);
		if (polls < VIA_POLL_FEW)
			WRITE_ONCE(nic->polls, polls + 1);
		nic->ops->poll(nic);
		rcu_read_unlock();
		return 0;
	}
	rcu_read_unlock();
	if (nic->ops->poll)
		via_poll_ask(f);
	return 0;
}

void __via_poll_rest(struct via_file *f)
{
	struct via_nic *nic = f->nic;

	spin_lock_bh(&nic->poll_lock);
	if (!list_empty(&f->poll_link)) {
		via_poll_drop(f);
		if (list_empty(&nic->pollers))
			nic->ops->poll_mode(nic, VIA_POLL_END);
	}
	spin_unlock_bh(&nic->poll_lock);
}

void via_poll_init(struct via_nic *nic)
{
	spin_lock_init(&nic->poll_lock);
	INIT_LIST_HEAD(&nic->pollers);
	hrtimer_init(&nic->poll_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	nic->poll_timer.function = via_poll_tick;
}

void via_poll_exit(struct via_nic *nic)
{
	if (!nic->ops->poll)
		return;
	via_nic_poll_stop(nic);
	/* No poller, and no new one: it is not armed again. */
	hrtimer_cancel(&nic->poll_timer);
}

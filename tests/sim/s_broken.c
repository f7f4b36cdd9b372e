// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two reasons break a VI at once, each under another of its queue locks, as
 * kernel/via_ka.h allows: both are noted.
 */
#include "../../kernel/via_ka.h"
#include "host.h"

static struct via_vi vi;
static u32 running;

static void sender(void *arg)
{
	spin_lock_bh(&vi.sq.lock);
	via_vi_break_later(&vi, VIA_BROKEN_TELL);
	spin_unlock_bh(&vi.sq.lock);
	running--;
}

static void receiver(void *arg)
{
	spin_lock_bh(&vi.rq.lock);
	via_vi_break_later(&vi, VIA_BROKEN_LEFT);
	spin_unlock_bh(&vi.rq.lock);
	running--;
}

static void broken(void)
{
	const u32 all = VIA_BROKEN_LOST | VIA_BROKEN_TELL | VIA_BROKEN_LEFT;

	memset(&vi, 0, sizeof(vi));
	spin_lock_init(&vi.sq.lock);
	spin_lock_init(&vi.rq.lock);
	running = 2;
	sim_kthread("sender", sender, NULL);
	sim_kthread("receiver", receiver, NULL);
	sim_await(!running, 100);
	sim_expect(atomic_read(&vi.broken) == all, "%#x",
		   atomic_read(&vi.broken));
}

SIM_SCENARIO(.name = "broken", .run = broken, .runs = 1000, .max_vi = 4,
	     .what = "two reasons that break a VI are both noted")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Many VIs of a NIC have something to be done at one moment: their transmitter is
 * full, their host is gone or opens its window, the interface goes down, its MTU
 * changes.  It is done in portions (SIM_VISITS, SIM_LOCK_VISITS, SIM_HELD_STEPS),
 * and all of it is done.
 */
#include "../../devices/ether/vi.h"
#include "../../devices/ether/share.h"
#include "prog.h"

#define VIS		48
#define PLACES		1200		/* of VIs on a NIC, which it walks over */
#define POSTED		1024		/* receives of each, never used */
#define REFUSED		48		/* one VI at each retry in 100 ms: 36; each: 66 */

#define SERVED		40		/* under one lock; it is 32, and a send's own */

enum how { SILENT, DOWN, MTU, FULL, POOL, HOWS };

static struct {
	enum how how;
	bool ready, over;
} w;

static void receiver(void *arg)
{
	struct prog_vi v[VIS];
	struct prog_nic n;
	u32 i;

	sim_ok(prog_open(&n, "via_b", 64 << 10));
	for (i = 0; i < VIS; i++) {
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		if (w.how >= FULL)
			prog_post_recv(&v[i], n.mem, 64);
		prog_connect(&v[i], NULL, "portions", 60 * SEC);
	}
	WRITE_ONCE(w.ready, true);
	sim_await(READ_ONCE(w.over), 10 * MS);
	prog_close(&n);
}

/* Each end flushes all receives. */
static void expect_ends(struct prog_vi *v)
{
	u32 i;

	for (i = 0; i < VIS; i++)
		smp_store_release(&v[i].q[1].prog->tail, POSTED);
	/* The walk lets others run after each few of them. */
	sim_config.kept_visits = VIS / 2;
	if (w.how == SILENT)
		sim_nic_cut(host_nic(1), true);
	sim_enter();
	if (w.how == DOWN)
		sim_nic_break(host_nic(0));
	sim_leave();
	for (i = 0; i < VIS; i++) {
		sim_await(prog_state(&v[i]) == VIA_STATE_ERROR &&
			  READ_ONCE(v[i].q[1].kern->done) == POSTED, 10 * MS);
	}
}

static void expect_done(struct prog_vi *v)
{
	u32 i;

	for (i = 0; i < VIS; i++)
		prog_good(&v[i], false, SEC);
}

/*
 * None has room: one is tried for all of them that have credit, and all send in the
 * end.
 */
static void expect_sent(struct prog_nic *n, struct prog_vi *v)
{
	u32 i, refused;

	sim_nic_stop(host_nic(0), true);
	for (i = 0; i < VIS; i++)
		prog_post_send(&v[i], n->mem, 64);
	sim_sleep(100 * MS);
	refused = sim_nic_refused(host_nic(0));
	sim_expect(refused <= REFUSED, "VIs are refused %u times", refused);
	sim_enter();
	sim_nic_stop(host_nic(0), false);
	sim_leave();
	expect_done(v);
}

/* The window is shut, or open, and large enough for all. */
static void set_window(bool shut)
{
	struct via_peer *peer;

	sim_enter();
	local_bh_disable();
	rcu_read_lock();
	peer = via_peer_find(sim_nic_ether(host_nic(0)), host_mac(1));
	spin_lock(&peer->pool_lock);
	peer->pool.shut = true;
	peer->pool.cong.most = VIA_WIN_MAX;
	peer->pool.cong.cwnd = VIA_WIN_MAX;
	spin_unlock(&peer->pool_lock);
	if (!shut)
		via_ether_open_at(peer, ktime_get_ns());
	rcu_read_unlock();
	local_bh_enable();
	sim_leave();
}

/* All wait for credit, which there is for all at one moment. */
static void expect_served(struct prog_nic *n, struct prog_vi *v)
{
	u32 i;

	set_window(true);
	for (i = 0; i < VIS; i++)
		prog_post_send(&v[i], n->mem, 64);
	sim_config.lock_visits = SERVED;
	set_window(false);
	expect_done(v);
}

/* Shorter frames from now on: none is in flight that is too long. */
static void expect_stand(struct prog_vi *v)
{
	u32 i;

	sim_enter();
	sim_nic_mtu(host_nic(0), 600);
	sim_leave();
	for (i = 0; i < VIS; i++)
		sim_expect(prog_state(&v[i]) == VIA_STATE_CONNECTED, "VI %u", i);
}

static void sender(void *arg)
{
	struct prog_vi v[VIS];
	struct prog_nic n;
	u32 i;

	sim_ok(prog_open(&n, "via_a", 64 << 10));
	for (i = 0; i < VIS; i++) {
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		prog_connect(&v[i], host_mac(1), "portions", SEC);
	}
	sim_await(READ_ONCE(w.ready), MS);
	if (w.how == FULL)
		expect_sent(&n, v);
	else if (w.how == POOL)
		expect_served(&n, v);
	else if (w.how == MTU)
		expect_stand(v);
	else
		expect_ends(v);
	prog_close(&n);
	WRITE_ONCE(w.over, true);
}

static void portions(void)
{
	w.how = sim_dice(HOWS);
	hosts_up(2);
	host_run(0, "sender", sender, NULL);
	host_run(1, "receiver", receiver, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "portions", .run = portions, .runs = 25, .max_vi = PLACES,
	     .seconds = 60, SIM_STATE(w),
	     .what = "many VIs have something to be done at one moment")

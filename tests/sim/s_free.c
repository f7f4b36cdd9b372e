// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI that looks for a peer finds a free one: none whose time is over, though
 * it was not asked about since, and another one while the first is bound to a
 * host that has asked for it and says no more (docs/reference/wire.md, "Peer to peer").
 */
#include "s_forge.h"


static struct {
	u32 looking;
	bool asked, over;
	__be64 cookie;			/* of the ghost */
} w;

/* Both on one host. */
static void overdue(void *arg)
{
	u64 timeout = 1 + sim_dice(20 * MS);
	struct prog_nic n;
	struct prog_vi v[2];
	int ret;

	sim_ok(prog_open(&n, "via_lo", 4096));
	prog_vis(v, 2, &n, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_request_start(&v[0], host_mac(0), "free", timeout, true));
	/* Its own time is rounded up to ticks. */
	sim_sleep(timeout + 20 * MS);
	ret = prog_p2p(&v[1], host_mac(0), "free", 10 * MS);
	sim_expect(ret == VIA_R_TIMEOUT, "one whose time is over: %d", ret);
	ret = prog_result(&v[0], VIA_CONN_PEER | VIA_CONN_NOWAIT);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	prog_close(&n);
}

/* What is for the ghost gets lost. */
static bool lose(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	if (h->cookie != w.cookie)
		return true;
	w.asked = true;
	return false;
}

/* A VI of the first host looks, one that there is not. */
static void ghost(void)
{
	struct forged f;

	forge_conn(&f, host_mac(0), host_mac(1), VIA_WIRE_PEER_REQUEST, "free",
		   3, be64_to_cpu(w.cookie));
	forged_conn(f.data)->timeout_ms = cpu_to_be32(VIA_WIRE_FOREVER);
	forge_throw(&f, host_nic(1));
}

/* Two look, of which one is chosen for the ghost. */
static void two(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[2];
	u32 i;

	sim_ok(prog_open(&n, "via_b", 4096));
	prog_vis(v, 2, &n, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < 2; i++)
		sim_ok(prog_request_start(&v[i], host_mac(0), "free",
					  VIA_FOREVER, true));
	w.looking = 2;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void one(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, "via_a", 4096, VIA_RELIABLE_DELIVERY);
	if (sim_dice(2))
		sim_sleep(sim_dice(100 * MS));
	sim_ok(prog_p2p(&v, host_mac(1), "free", 4 * SEC));
	w.over = true;
	prog_close(&n);
}

static void bound(void)
{
	hosts_up(2);
	w.cookie = sim_dice64() | 1;
	sim_wire.meddle = lose;
	host_run(1, "two", two, NULL);
	sim_await(w.looking >= 2, MS);
	ghost();
	sim_await(w.asked, MS);
	host_run(0, "one", one, NULL);
}

static void free_peers(void)
{
	if (sim_dice(2))
		bound();
	else
		host_run(0, "overdue", overdue, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "free-peers", .run = free_peers, .runs = 100, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a VI that looks for a peer finds a free one")

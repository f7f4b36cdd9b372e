// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A NIC goes beside one kind of call into it, again and again. */
#include "prog.h"

#define CALLS	4			/* in a row */

enum call { NIC_STATS, VI_STATS, REQUEST, PEER, ACCEPT, REJECT, CREATE,
	    REGISTER, NAMES, NCALLS };

static struct {
	enum call call;
	bool ready, down;
	u32 conn;
} w;

static void call(struct prog_nic *n, struct prog_vi *v, u32 i)
{
	struct prog_vi other;
	u32 handle;

	switch (w.call) {
	case NIC_STATS:
		prog_stats(n, VIA_STATS_NIC);
		break;
	case VI_STATS:
		prog_stats(n, VIA_STATS_VI);
		break;
	case REQUEST:
	case PEER:
		prog_request_start(v, host_mac(1), "gone", 10 * SEC,
				   w.call == PEER);
		prog_disconnect(v);
		break;
	case ACCEPT:
		if (!i)
			prog_accept_start(v, w.conn);
		break;
	case REJECT:
		if (!i)
			prog_reject(n, w.conn);
		break;
	case CREATE:
		if (!prog_vi(&other, n, VIA_RELIABLE_DELIVERY, 0, 0))
			prog_vi_destroy(&other);
		break;
	case REGISTER:
		if (!prog_register(n, n->mem, 64, 0, &handle))
			prog_deregister(n, n->mem, handle);
		break;
	case NAMES:
		prog_names(n);
		break;
	case NCALLS:
		break;
	}
}

static void calls(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 i;

	if (prog_open(&n, "via_a", 16 << 10))
		return;
	if (prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		goto out;
	if ((w.call == ACCEPT || w.call == REJECT) &&
	    prog_conn_wait(&n, "gone", 5 * SEC, &w.conn))
		goto out;
	WRITE_ONCE(w.ready, true);
	for (i = 0; i < CALLS; i++)
		call(&n, &v, i);
	/* And once more, when it is gone. */
	if (sim_dice(2)) {
		sim_await(w.down, 10000);
		call(&n, &v, i);
	}
out:
	WRITE_ONCE(w.ready, true);
	prog_close(&n);
}

/* The other host asks, so that there is what can be accepted. */
static void asks(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	if (prog_open(&n, "via_b", 16 << 10))
		return;
	if (!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		prog_request(&v, host_mac(0), "gone", 3 * SEC);
	prog_close(&n);
}

static void gone(void)
{
	w.call = sim_dice(NCALLS);
	if (w.call == REGISTER)
		sim_nics_dma();
	hosts_up(2);
	host_run_as(0, 0, "calls", calls, NULL);
	if (w.call == ACCEPT || w.call == REJECT)
		host_run_as(1, 0, "asks", asks, NULL);
	sim_await(READ_ONCE(w.ready), 10000);
	host_down(0);
	w.down = true;
	hosts_down();
}

SIM_SCENARIO(.name = "gone", .run = gone, .runs = 3000, SIM_STATE(w),
	     .what = "a NIC goes beside each kind of call into it")

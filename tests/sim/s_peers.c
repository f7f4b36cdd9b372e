// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIs of two processes that look for each other by one address, withdraw, are
 * asked for by clients and look again, several threads at each.  At the end
 * each looks once more, and each finds another.
 */
#include "s_ends.h"

#define THREADS	2			/* at each VI */

static struct {
	struct prog_nic handle[2];
	u32 each;			/* VIs of a process */
	u32 turns;
	u32 running, ready, last;
	bool failed;			/* for want of memory */
} w;

static void turn(struct end *e)
{
	u64 timeout = 1 + sim_dice(15) * MS;
	u32 flags = sim_dice(3) ? 0 : sim_dice(2) ? VIA_CONN_NOWAIT : NO_RESULT;

	switch (sim_dice(10)) {
	case 0: case 1: case 2: case 3:
		end_p2p(e, timeout, flags);
		break;
	case 4:
		end_request(e, "server", timeout, flags);
		break;
	case 5:
		end_accept(e, "server", timeout / 4, flags);
		break;
	case 6:
		end_disconnect(e);
		break;
	case 7:
		end_result(e, VIA_CONN_PEER | VIA_CONN_NOWAIT);
		break;
	case 8:
		/* The timer ends what is overdue, and no call sees it. */
		sim_sleep(sim_dice(25 * MS));
		break;
	case 9:
		end_set(e, sim_dice(2) ? VIA_RELIABLE_DELIVERY :
			   VIA_RELIABLE_RECEPTION);
		break;
	}
	if (sim_dice(3) && end_state(e) == VIA_STATE_ERROR)
		end_disconnect(e);
}

static void turns(void *arg)
{
	struct end *e = arg;
	u32 i;

	if (sim_dice(2))
		sim_sleep(sim_dice(2 * MS));
	for (i = 0; i < w.turns; i++)
		turn(e);
	w.running--;
}

/* Until all threads that finish are here. */
static void meet(u32 n, struct end *e)
{
	w.last++;
	while (w.last < n * ends.n) {
		if (e)
			end_collect(e);
		sim_sleep(MS);
	}
}

/* Its last attempt, for which there is another one. */
static void find(struct end *e)
{
	u64 until = sim_now() + 60 * SEC;
	int ret;

	end_settle(e);
	meet(1, NULL);
	e->settled = false;
	meet(2, NULL);
	do {
		end_disconnect(e);
		end_set(e, ends.level);
		end_collect(e);
		while (e->vi.q[1].tail - e->vi.q[1].collected < 4)
			end_recv(e);
		ret = end_p2p(e, 10 * SEC, 0);
		sim_expect(!ret || ret == VIA_R_TIMEOUT ||
			   sim_config.fail_alloc, "end %u: %d", e->n, ret);
	} while (ret && sim_now() < until);
	sim_expect(!ret, "end %u finds no peer", e->n);
	end_settle(e);
	sim_expect(end_state(e) == VIA_STATE_CONNECTED,
		   "end %u is in state %u", e->n, end_state(e));
	meet(3, e);
	end_close(e);
	w.running--;
}

static void finder(void *arg)
{
	find(arg);
}

static void process(void *arg)
{
	u32 me = (uintptr_t)arg, i, k;
	struct end *e;

	if (prog_open(&w.handle[me], host_node(me), 32 << 10)) {
		sim_expect(sim_config.fail_alloc, "");
		w.failed = true;
	}
	for (i = 0; i < w.each && !w.failed; i++) {
		e = &ends.end[me * w.each + i];
		e->proc = current->proc;
		if (!end_open(e, &w.handle[me], host_mac(!me))) {
			w.failed = true;
			break;
		}
		while (e->vi.q[1].tail < 4)
			end_recv(e);
	}
	w.ready++;
	sim_await(w.ready >= 2, 100000);
	if (w.failed) {
		prog_close(&w.handle[me]);
		return;
	}
	for (i = 0; i < w.each; i++)
		for (k = 0; k < THREADS; k++) {
			w.running++;
			sim_thread(current->proc, "turns", turns,
				   &ends.end[me * w.each + i]);
		}
	w.ready++;
	sim_await(!w.running && w.ready >= 4, MS);
	/* Both have seen that all are over. */
	w.ready++;
	sim_await(w.ready >= 6, MS);
	ends.over = true;
	w.running++;
	for (i = 1; i < w.each; i++) {
		w.running++;
		sim_thread(current->proc, "finder", finder,
			   &ends.end[me * w.each + i]);
	}
	find(&ends.end[me * w.each]);
	sim_await(!w.running, MS);
	prog_close(&w.handle[me]);
}

static void peers(void)
{
	u32 where = sim_dice(4);

	ends_begin(prog_reliable());
	w.each = 1 + sim_dice(2);
	w.turns = 1 + sim_dice(6);
	if (where == 3)
		sim_wire.loss = 300 << sim_dice(3);
	if (hosts_up(where ? 2 : 0)) {
		host_run(0, "first", process, (void *)0);
		host_run(1, "second", process, (void *)1);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "races-peers", .run = peers, .runs = 500, .max_vi = 8,
	     .seconds = 300, SIM_STATE(w),
	     .what = "VIs that look for each other and withdraw, threads at each")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A VI breaks by a bad send, and is joined to a third one at once: what its
 * peer of before still sends neither comes to it nor ends that.
 */
#include "prog.h"

#define SENDS	40

static struct {
	struct prog_nic n;
	struct prog_vi a, b, c;
} w;

static void join(struct prog_vi *x, struct prog_vi *y, const char *name)
{
	sim_ok(prog_meet(x, y, name));
}

static void breaks(void *arg)
{
	/* No such memory. */
	prog_post(&w.b, false, 0, w.n.mem, 8, w.n.handle + 77, 0, 0);
}

static void turns(void *arg)
{
	struct prog_done d;

	sim_await(prog_state(&w.b) == VIA_STATE_ERROR, 200);
	prog_disconnect(&w.b);
	sim_ok(prog_p2p(&w.b, w.n.hello.addr, "second", SEC));
	prog_post_recv(&w.b, w.n.mem + 64, 64);
	/* Those of before were flushed. */
	while (!prog_wait(&w.b, true, 50000, &d))
		sim_expect(w.b.q[1].collected <= SENDS,
			   "the peer of before is heard, status %#x",
			   d.status);
}

static void sends(void *arg)
{
	u32 i;

	for (i = 0; i < SENDS && prog_state(&w.a) == VIA_STATE_CONNECTED; i++)
		prog_post_send(&w.a, w.n.mem, 8);
}

static void process(void *arg)
{
	u32 i;

	prog_open_vi(&w.n, &w.a, "via_lo", 4096, VIA_RELIABLE_DELIVERY);
	prog_vis(&w.b, 1, &w.n, VIA_RELIABLE_DELIVERY);
	prog_vis(&w.c, 1, &w.n, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < SENDS; i++)
		prog_post_recv(&w.b, w.n.mem + 64, 64);
	join(&w.a, &w.b, "first");
	sim_ok(prog_request_start(&w.c, w.n.hello.addr, "second", 10 * SEC,
				  true));
	sim_thread(current->proc, "turns", turns, NULL);
	sim_thread(current->proc, "sends", sends, NULL);
	sim_thread(current->proc, "breaks", breaks, NULL);
	sim_threads_wait(5000);
	prog_close(&w.n);
}

static void turncoat(void)
{
	host_run(0, "turncoat", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "turncoat", .run = turncoat, .runs = 500, .max_vi = 4,
	     .seconds = 20, SIM_STATE(w),
	     .what = "a VI that breaks is joined to another beside its peer")

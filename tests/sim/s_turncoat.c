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
	u32 threads;
} w;

static void join(struct prog_vi *x, struct prog_vi *y, const char *name)
{
	const u8 *host = w.n.hello.addr;

	sim_expect(!prog_request_start(x, host, name, SEC, true) &&
		   !prog_p2p(y, host, name, SEC), "");
}

static void breaks(void *arg)
{
	/* No such memory. */
	prog_post(&w.b, false, 0, w.n.mem, 8, w.n.handle + 77, 0, 0);
	w.threads--;
}

static void turns(void *arg)
{
	struct prog_done d;

	while (prog_state(&w.b) != VIA_STATE_ERROR)
		sim_sleep(200);
	prog_disconnect(&w.b);
	sim_expect(!prog_p2p(&w.b, w.n.hello.addr, "second", SEC), "");
	prog_post_recv(&w.b, w.n.mem + 64, 64);
	/* Those of before were flushed. */
	while (!prog_wait(&w.b, true, 50000, &d))
		sim_expect(w.b.q[1].collected <= SENDS,
			   "the peer of before is heard, status %#x",
			   d.status);
	w.threads--;
}

static void sends(void *arg)
{
	u32 i;

	for (i = 0; i < SENDS && prog_state(&w.a) == VIA_STATE_CONNECTED; i++)
		prog_post_send(&w.a, w.n.mem, 8);
	w.threads--;
}

static void process(void *arg)
{
	u32 i;

	sim_expect(!prog_open(&w.n, "via_lo", 4096) &&
		   !prog_vi(&w.a, &w.n, VIA_RELIABLE_DELIVERY, 0, 0) &&
		   !prog_vi(&w.b, &w.n, VIA_RELIABLE_DELIVERY, 0, 0) &&
		   !prog_vi(&w.c, &w.n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	for (i = 0; i < SENDS; i++)
		prog_post_recv(&w.b, w.n.mem + 64, 64);
	join(&w.a, &w.b, "first");
	sim_expect(!prog_request_start(&w.c, w.n.hello.addr, "second", 10 * SEC,
				       true), "");
	w.threads = 3;
	sim_thread(current->proc, "turns", turns, NULL);
	sim_thread(current->proc, "sends", sends, NULL);
	sim_thread(current->proc, "breaks", breaks, NULL);
	while (w.threads)
		sim_sleep(5000);
	prog_close(&w.n);
}

static void turncoat(void)
{
	struct sim_proc *p = sim_proc_new("turncoat", 1000);

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 20 * SEC;
	sim_thread(p, "main", process, NULL);
	sim_proc_wait(p);
}

SIM_SCENARIO(.name = "turncoat", .run = turncoat, .runs = 500,
	     .max_vi = 4,
	     .what = "a VI that breaks is joined to another beside its peer")

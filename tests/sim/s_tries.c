// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A tick visits what is due: not the attempts that wait for their next try, and
 * not the requests that a program has not answered.
 */
#include "../../devices/ether/via_ether.h"
#include "s_forge.h"

#define MANY		400u
#define REQUESTS	600u
#define QUIET		(300 * MS)	/* a look at peers and requests is in it */
#define SPARE		1500u		/* steps: of each tick itself */

static struct {
	struct prog_nic prog;
	struct prog_vi vi[MANY];
	u32 n, sent, ended;
	u64 sent_at;
	bool ready, over;
} w;

static bool look(void *arg, u8 *frame, u32 *len)
{
	if (forged_wire(frame)->type == VIA_WIRE_PEER_REQUEST) {
		w.sent++;
		w.sent_at = sim_clock;
	}
	return true;
}

/* Steps of all that runs meanwhile; no frame is sent. */
static u64 quiet(void)
{
	u64 from = sim_steps;
	u32 sent = w.sent;

	sim_pause(QUIET);
	sim_expect(w.sent == sent, "%u frames", w.sent - sent);
	return sim_steps - from;
}

static void asks(void *arg)
{
	u8 host[ETH_ALEN];
	u32 i;

	forge_host(host, 1);
	sim_ok(prog_open(&w.prog, "via_a", 4096));
	for (i = 0; i < w.n; i++)
		sim_expect(!prog_vi(&w.vi[i], &w.prog, VIA_RELIABLE_DELIVERY,
				    0, 0), "(%u)", i);
	for (i = 0; i < w.n; i++)
		sim_expect(!prog_request_start(&w.vi[i], host, "none", 5 * SEC,
					       true), "(%u)", i);
	WRITE_ONCE(w.ready, true);
	for (i = 0; i < w.n; i++)
		w.ended += prog_result(&w.vi[i], VIA_CONN_PEER) ==
			   VIA_R_TIMEOUT;
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&w.prog);
}

static u64 attempts(u32 n)
{
	u64 steps, end;

	memset(&w, 0, sizeof(w));
	w.n = n;
	sim_wire.meddle = look;
	hosts_up(1);
	host_run(0, "asks", asks, NULL);
	sim_await(READ_ONCE(w.ready), MS);
	end = sim_clock + 7 * SEC;
	/* The tries are half a second apart by now, and all at the same time. */
	sim_pause(2 * SEC);
	sim_await(sim_clock - w.sent_at >= 50 * MS &&
		  sim_clock - w.sent_at <= 100 * MS, 10 * MS);
	steps = quiet();
	sim_await(w.ended >= n || sim_clock >= end, 100 * MS);
	sim_expect(w.ended == n, "%u of %u ended", w.ended, n);
	w.over = true;
	hosts_down();
	return steps;
}

static void waits(void *arg)
{
	u32 i;

	sim_ok(prog_open(&w.prog, "via_a", 0));
	for (i = 0; i < w.n; i++)
		prog_leave_waiter(&w.prog, "many");
	WRITE_ONCE(w.ready, true);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&w.prog);
}

static u32 unanswered(void)
{
	return READ_ONCE(sim_nic_ether(host_nic(0))->nreqs);
}

static u64 requests(u32 n)
{
	u8 host[ETH_ALEN];
	struct forged f;
	u64 steps;
	u32 i;

	memset(&w, 0, sizeof(w));
	w.n = n;
	hosts_up(1);
	host_run(0, "waits", waits, NULL);
	sim_await(READ_ONCE(w.ready), MS);
	for (i = 0; i < n; i++) {
		forge_host(host, 1 + i % 10);
		forge_conn(&f, host, host_mac(0), VIA_WIRE_REQUEST,
			   "many", 5, 77 + i);
		forged_conn(f.data)->timeout_ms = cpu_to_be32(3000);
		forge_throw(&f, host_nic(0));
	}
	sim_pause(SEC);
	sim_expect(unanswered() == n, "%u of %u", unanswered(), n);
	steps = quiet();
	/* All end in their time, some of them at each tick. */
	sim_pause(3 * SEC);
	sim_expect(!unanswered(), "%u of %u are left", unanswered(), n);
	w.over = true;
	hosts_down();
	return steps;
}

static void tries(void)
{
	u64 few = attempts(1), many = attempts(MANY);

	sim_expect(many < few + SPARE, "%llu steps of 1 attempt, %llu of %u",
		   few, many, MANY);
}

static void unasked(void)
{
	u64 few = requests(1), many = requests(REQUESTS);

	sim_expect(many < few + SPARE, "%llu steps of 1 request, %llu of %u",
		   few, many, REQUESTS);
}

SIM_SCENARIO(.name = "tries", .run = tries, .runs = 5, .max_vi = MANY + 8,
	     .seconds = 60, .coarse = true,
	     .what = "ticks while hundreds of attempts wait for their next try")
SIM_SCENARIO(.name = "requests-wait", .run = unasked, .runs = 5, .seconds = 60,
	     .coarse = true,
	     .what = "ticks while hundreds of requests wait for a program")

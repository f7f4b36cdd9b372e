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
	struct sim_nic *nic;
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
	sim_expect(!prog_open(&w.prog, "via_a", 4096), "");
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
	while (!READ_ONCE(w.over))
		sim_sleep(MS);
	prog_close(&w.prog);
}

static u64 attempts(u32 n)
{
	struct sim_proc *p;
	u64 steps, end;

	memset(&w, 0, sizeof(w));
	w.n = n;
	sim_config.max_time = sim_clock + 60 * SEC;
	sim_wire.meddle = look;
	w.nic = sim_nic_up("a", 1);
	p = sim_proc_new("asks", 1000);
	sim_thread(p, "asks", asks, NULL);
	while (!READ_ONCE(w.ready))
		sim_pause(MS);
	end = sim_clock + 7 * SEC;
	/* The tries are half a second apart by now, and all at the same time. */
	sim_pause(2 * SEC);
	while (sim_clock - w.sent_at < 50 * MS || sim_clock - w.sent_at > 100 * MS)
		sim_pause(10 * MS);
	steps = quiet();
	while (w.ended < n && sim_clock < end)
		sim_pause(100 * MS);
	sim_expect(w.ended == n, "%u of %u ended", w.ended, n);
	w.over = true;
	sim_proc_wait(p);
	sim_nic_down(w.nic);
	return steps;
}

static void leave_waiter(void)
{
	struct via_conn_wait a = { .timeout = 100 * SEC };
	int ret;

	prog_addr(&a.local, NULL, "many");
	current->pending = true;
	ret = sim_ioctl(w.prog.file, VIA_IOC_CONN_WAIT, &a);
	sim_expect(ret == -EINTR && a.waiter, "(%d)", ret);
	current->pending = false;
}

static void waits(void *arg)
{
	u32 i;

	sim_expect(!prog_open(&w.prog, "via_a", 0), "");
	for (i = 0; i < w.n; i++)
		leave_waiter();
	WRITE_ONCE(w.ready, true);
	while (!READ_ONCE(w.over))
		sim_sleep(MS);
	prog_close(&w.prog);
}

static u32 unanswered(void)
{
	return READ_ONCE(sim_nic_ether(w.nic)->nreqs);
}

static u64 requests(u32 n)
{
	struct sim_proc *p;
	u8 host[ETH_ALEN];
	struct forged f;
	u64 steps;
	u32 i;

	memset(&w, 0, sizeof(w));
	w.n = n;
	sim_config.max_time = sim_clock + 60 * SEC;
	w.nic = sim_nic_up("a", 1);
	p = sim_proc_new("waits", 1000);
	sim_thread(p, "waits", waits, NULL);
	while (!READ_ONCE(w.ready))
		sim_pause(MS);
	for (i = 0; i < n; i++) {
		forge_host(host, 1 + i % 10);
		forge_conn(&f, host, sim_nic_mac(w.nic), VIA_WIRE_REQUEST,
			   "many", 5, 77 + i);
		forged_conn(f.data)->timeout_ms = cpu_to_be32(3000);
		forge_throw(&f, w.nic);
	}
	sim_pause(SEC);
	sim_expect(unanswered() == n, "%u of %u", unanswered(), n);
	steps = quiet();
	/* All end in their time, some of them at each tick. */
	sim_pause(3 * SEC);
	sim_expect(!unanswered(), "%u of %u are left", unanswered(), n);
	w.over = true;
	sim_proc_wait(p);
	sim_nic_down(w.nic);
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
	     .coarse = true,
	     .what = "ticks while hundreds of attempts wait for their next try")
SIM_SCENARIO(.name = "requests-wait", .run = unasked, .runs = 5,
	     .coarse = true,
	     .what = "ticks while hundreds of requests wait for a program")

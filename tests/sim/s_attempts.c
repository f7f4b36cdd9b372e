// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Attempts to connect at the edge of their time, and attempts that follow one
 * another: none ends before its time, a server that was late rejects nothing,
 * and a verdict is given to those that wait for its own attempt.
 */
#include "prog.h"

static struct {
	bool wire;
	u64 timeout, hold;
	bool looks_late;		/* the client, for its verdict */
	bool keeps;			/* the server leaves the request lying */
	bool over;
	struct prog_nic n;
	struct prog_vi v;
	struct sim_ctx *first;
	bool known;
} w;

static void run(void (*one)(void *arg), void (*other)(void *arg))
{
	w.wire = !w.keeps && sim_dice(2);
	hosts_up(w.wire ? 2 : 0);
	host_run(0, "one", one, NULL);
	host_run(1, "other", other, NULL);
	hosts_down();
}

static void opens(struct prog_nic *n, struct prog_vi *v, u32 i)
{
	prog_open_vi(n, v, host_node(i), 4096, VIA_RELIABLE_DELIVERY);
}

/* Late */

static void client(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u64 begin;
	int ret;

	opens(&n, &v, 0);
	do {
		sim_sleep(MS);
		begin = sim_now();
		sim_ok(prog_request_start(&v, host_mac(1), "late", w.timeout,
					  false));
		if (w.looks_late)
			sim_sleep(w.timeout + sim_dice(20 * MS));
		ret = prog_result(&v, 0);
	} while (ret == VIA_R_NO_MATCH);
	sim_log("client: %d", ret);
	/* The server never rejects. */
	sim_expect(!ret || ret == VIA_R_TIMEOUT, "(%d)", ret);
	sim_expect(!ret || sim_now() >= begin + w.timeout,
		   "%llu ns too early", begin + w.timeout - sim_now());
	WRITE_ONCE(w.over, true);
	if (sim_dice(2))
		prog_disconnect(&v);
	/* The server's is over, too, before anything ends by force. */
	sim_sleep(SEC);
	prog_close(&n);
}

/* Its pick does not fit; that is told of a request that is still there. */
static void misfit(struct prog_nic *n, u32 conn)
{
	bool over = READ_ONCE(w.over);
	struct prog_vi v;
	int ret;

	if (prog_vi(&v, n, VIA_UNRELIABLE, 0, 0))
		return;
	ret = prog_accept_start(&v, conn);
	sim_log("misfit: %d", ret);
	/* A client that knows its verdict has left nothing here. */
	sim_expect(!over || ret == VIA_R_TIMEOUT ||
		   ret == VIA_R_INVALID_PARAMETER, "(%d)", ret);
	prog_vi_destroy(&v);
}

/*
 * A user's places are of requests that are not answered (docs/explain/security.md):
 * that of a client that has its verdict takes none.
 */
static void place(struct prog_nic *n)
{
	u32 conn;
	int ret;

	sim_await(READ_ONCE(w.over), MS);
	ret = prog_conn_wait(n, "none", MS, &conn);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
}

static void server(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 conn;
	int ret;

	opens(&n, &v, 1);
	sim_ok(prog_conn_wait(&n, "late", 10 * SEC, &conn));
	sim_sleep(w.hold);
	if (w.keeps)
		place(&n);
	if (!w.wire && sim_dice(2))
		misfit(&n, conn);
	ret = prog_accept_start(&v, conn);
	if (!ret)
		ret = prog_result(&v, 0);
	sim_log("server: %d", ret);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&n);
}

static void late(void)
{
	w.timeout = 1 + sim_dice(30 * MS);
	w.looks_late = sim_dice(2);
	w.keeps = !sim_dice(3);
	if (w.keeps)
		sim_limit("waiters", 1);
	switch (sim_dice(3)) {
	case 0:
		w.hold = w.timeout + sim_dice(40 * MS);
		break;
	case 1:
		w.hold = sim_dice(w.timeout);
		break;
	default:
		/* At the deadline, or a tick or two from it. */
		w.hold = w.timeout + sim_dice(10 * MS);
		w.hold -= min(w.hold, 2 * MS);
	}
	run(client, server);
}

SIM_SCENARIO(.name = "late", .run = late, .runs = 100, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "attempts that are accepted at the edge of their time")

/* One after the other */

static void waits_for_first(void *arg)
{
	int ret = prog_result(&w.v, VIA_CONN_PEER);

	sim_log("the first: %d", ret);
	sim_expect(ret, "the verdict of the next attempt");
	WRITE_ONCE(w.known, true);
}

static void subject(void *arg)
{
	opens(&w.n, &w.v, 0);
	sim_ok(prog_request_start(&w.v, host_mac(1), "first", VIA_FOREVER,
				  true));
	w.first = sim_thread(current->proc, "first", waits_for_first, NULL);
	/* It does no other call, so it waits when it is blocked. */
	do
		sim_sleep(MS);
	while (w.first->state != SIM_BLOCKED);
	prog_disconnect(&w.v);
	sim_ok(prog_request_start(&w.v, host_mac(1), "second", 20 * SEC, true));
	sim_ok(prog_result(&w.v, VIA_CONN_PEER));
	sim_await(READ_ONCE(w.known), MS);
	WRITE_ONCE(w.over, true);
	prog_close(&w.n);
}

static void partner(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	opens(&n, &v, 1);
	sim_ok(prog_p2p(&v, host_mac(0), "second", 20 * SEC));
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&n);
}

static void next(void)
{
	run(subject, partner);
}

SIM_SCENARIO(.name = "attempts", .run = next, .runs = 100, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "an attempt is given up, another begins; both waited for")

/* Attempts that nothing asks about */

static void looks(void *arg)
{
	u32 i, n = 1 + sim_dice(4);

	opens(&w.n, &w.v, 0);
	for (i = 0; i < n; i++) {
		/* Its verdict is the program's to ask for or not. */
		sim_ok(prog_request_start(&w.v, host_mac(1), sim_dice(2) ?
					  "some" : "others",
					  1 + sim_dice(2 * MS), sim_dice(4)));
		sim_sleep(20 * MS);
	}
	sim_ok(prog_p2p(&w.v, host_mac(1), "again", 20 * SEC));
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&w.n);
}

static void looked_for(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	opens(&n, &v, 1);
	sim_ok(prog_p2p(&v, host_mac(0), "again", 20 * SEC));
	WRITE_ONCE(w.over, true);
	sim_sleep(SEC);
	prog_close(&n);
}

static void again(void)
{
	run(looks, looked_for);
}

SIM_SCENARIO(.name = "again", .run = again, .runs = 100, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "attempts in a row, none of which is asked about")

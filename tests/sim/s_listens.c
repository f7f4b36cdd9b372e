// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program listens: requests that come are kept for it, as many as it has said, in
 * their order, until it takes them or the client leaves; and each kept one is told to
 * it.  What is not kept gets its verdict.
 */
#include "prog.h"

#define BACKLOG	3
#define CLIENTS	(BACKLOG + 1)
#define LIMIT	3u			/* of the user, in one of the runs */
#define LONG	(600 * SEC)

enum what { FULL, CANCELLED, EXPIRED, ENDED, SHRUNK, QUOTA, OTHERS, SLEEPER, ACCEPTED,
	    NWHAT };

static struct {
	enum what what;
	struct prog_nic n, other;
	struct prog_vi v[CLIENTS], server;
	bool slept, ready;
	bool dies;
	u32 ended;
} w;

static void ask(u32 i, u64 limit)
{
	int ret = prog_request_start(&w.v[i], w.n.hello.addr, "listen", limit,
				     false);

	sim_expect(!ret, "client %u: %d", i, ret);
}

static void expect_verdict(u32 i, int want)
{
	int ret = prog_result(&w.v[i], 0);

	sim_expect(ret == want, "client %u: %d, not %d", i, ret, want);
}

static void expect_under_way(u32 i)
{
	int ret = prog_result(&w.v[i], VIA_CONN_NOWAIT);

	sim_expect(ret == VIA_R_NOT_DONE, "client %u: %d", i, ret);
}

static void listen(u32 backlog)
{
	int ret = prog_listen(&w.n, "listen", backlog);

	sim_expect(!ret, "(%d)", ret);
}

/* The oldest one is client @i's: it alone hears of the rejection. */
static void take(u32 i)
{
	u32 conn;
	int ret = prog_conn_wait(&w.n, "listen", 0, &conn);

	sim_expect(!ret, "client %u's is not kept: %d", i, ret);
	sim_ok(prog_reject(&w.n, conn));
	expect_verdict(i, VIA_R_REJECT);
}

static void none_kept(void)
{
	u32 conn;
	int ret = prog_conn_wait(&w.n, "listen", 0, &conn);

	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
}

static void told(bool is)
{
	struct via_event ev;
	int ret = prog_event(&w.n, &ev);

	sim_expect(is ? !ret && ev.code == VIA_EVENT_CONN && !ev.vi && !ev.cq :
			ret == -EAGAIN, "(%d)", ret);
}

static void fill(void)
{
	u32 i;

	for (i = 0; i < BACKLOG; i++) {
		ask(i, LONG);
		expect_under_way(i);
	}
}

static void full(void)
{
	u32 i;

	told(false);
	fill();
	told(true);
	told(false);
	ask(BACKLOG, LONG);
	expect_verdict(BACKLOG, VIA_R_NO_MATCH);
	told(false);
	take(0);
	/* There is room for one. */
	ask(BACKLOG, LONG);
	told(true);
	for (i = 1; i < CLIENTS; i++)
		take(i);
	none_kept();
}

static void cancelled(void)
{
	fill();
	prog_disconnect(&w.v[1]);
	ask(BACKLOG, LONG);
	take(0);
	take(2);
	take(BACKLOG);
	none_kept();
}

static void expired(void)
{
	u64 from = sim_now();

	ask(0, 20 * MS);
	ask(1, LONG);
	expect_verdict(0, VIA_R_TIMEOUT);
	sim_expect(sim_now() >= from + 20 * MS, "too soon");
	take(1);
	none_kept();
}

static void ended(void)
{
	u32 i;

	fill();
	listen(0);
	for (i = 0; i < BACKLOG; i++)
		expect_verdict(i, VIA_R_REJECT);
	none_kept();
	told(false);
	ask(0, LONG);
	expect_verdict(0, VIA_R_NO_MATCH);
	listen(0);
	listen(1);
	ask(0, LONG);
	take(0);
}

static void shrunk(void)
{
	fill();
	listen(1);
	expect_verdict(1, VIA_R_REJECT);
	expect_verdict(2, VIA_R_REJECT);
	ask(1, LONG);
	expect_verdict(1, VIA_R_NO_MATCH);
	listen(~0u);
	ask(1, LONG);
	take(0);
	take(1);
}

/* The user's limit counts the listener, what is kept, and what is not answered. */
static void quota(void)
{
	u32 conn;

	ask(0, LONG);
	ask(1, LONG);
	ask(2, LONG);
	expect_verdict(2, VIA_R_NO_MATCH);
	sim_ok(prog_conn_wait(&w.n, "listen", 0, &conn));
	ask(2, LONG);
	expect_verdict(2, VIA_R_NO_MATCH);
	sim_ok(prog_reject(&w.n, conn));
	expect_verdict(0, VIA_R_REJECT);
	ask(2, LONG);
	take(1);
	take(2);
	sim_expect(prog_listen(&w.n, "another", 1) == 0 &&
		   prog_listen(&w.n, "a third", 1) == 0 &&
		   prog_listen(&w.n, "a fourth", 1) == VIA_R_ERROR_RESOURCE, "");
	sim_expect(prog_listen(&w.n, "a third", 0) == 0 &&
		   prog_listen(&w.n, "a fourth", 1) == 0, "");
}

static void others(void)
{
	struct via_conn_listen a = { .backlog = 1, .reserved = 1 };
	u32 conn;
	int ret;

	sim_ok(prog_open(&w.other, "via_lo", 4096));
	ret = prog_listen(&w.other, "listen", 1);
	sim_expect(ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
	ask(0, LONG);
	ret = prog_conn_wait(&w.other, "listen", 0, &conn);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	/* Nor does it end that of another handle. */
	sim_ok(prog_listen(&w.other, "listen", 0));
	expect_under_way(0);
	take(0);
	listen(0);
	sim_ok(prog_listen(&w.other, "listen", 1));
	prog_addr(&a.local, NULL, "listen");
	ret = sim_ioctl(w.n.file, VIA_IOC_CONN_LISTEN, &a);
	sim_expect(ret == -EINVAL, "(%d)", ret);
	a.reserved = 0;
	a.local.host_len = 6;
	a.local.host[0] = 0x55;
	ret = sim_ioctl(w.n.file, VIA_IOC_CONN_LISTEN, &a);
	sim_expect(ret == VIA_R_INVALID_PARAMETER, "(%d)", ret);
	prog_close(&w.other);
}

static void sleeps(void *arg)
{
	u32 conn;
	int ret;

	ret = prog_conn_wait(&w.n, "listen", LONG, &conn);
	sim_expect(!ret && !prog_reject(&w.n, conn), "(%d)", ret);
	WRITE_ONCE(w.slept, true);
}

/* A thread that waits is given a request, before or after it has come. */
static void sleep_once(void)
{
	bool first = sim_dice(4);

	w.slept = false;
	if (!first)
		ask(0, LONG);
	sim_thread(current->proc, "sleeper", sleeps, NULL);
	if (first) {
		/* At once, as the thread begins, or when it sleeps. */
		if (sim_dice(3))
			sim_sleep(1 + sim_dice(sim_dice(2) ? 50000 : 2000));
		ask(0, LONG);
	}
	expect_verdict(0, VIA_R_REJECT);
	sim_await(READ_ONCE(w.slept), 10000);
	none_kept();
}

static void sleeper(void)
{
	u32 i;

	for (i = 0; i < 8; i++)
		sleep_once();
}

static void accepted(void)
{
	u32 conn;

	fill();
	sim_ok(prog_conn_wait(&w.n, "listen", 0, &conn));
	sim_ok(prog_accept_start(&w.server, conn));
	sim_ok(prog_result(&w.server, 0));
	expect_verdict(0, 0);
	take(1);
	expect_under_way(2);
}

static void (*const runs[NWHAT])(void) = {
	full, cancelled, expired, ended, shrunk, quota, others, sleeper, accepted,
};

static void program(void *arg)
{
	prog_open_vi(&w.n, &w.server, "via_lo", 4096, VIA_RELIABLE_DELIVERY);
	prog_vis(w.v, CLIENTS, &w.n, VIA_RELIABLE_DELIVERY);
	listen(BACKLOG);
	runs[w.what]();
	prog_close(&w.n);
}

static void listens(void)
{
	w.what = sim_dice(NWHAT);
	if (w.what == QUOTA)
		sim_limit("waiters", LIMIT);
	host_run(0, "program", program, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "listens", .run = listens, .runs = 300, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "requests are kept for a program that listens")

/* Two hosts: a server that looks at its events, ends or dies; clients of the other. */

static void serve(void *arg)
{
	u32 conn, left = CLIENTS;
	struct via_event ev;
	int ret;

	prog_open_vi(&w.n, &w.server, "via_b", 4096, VIA_RELIABLE_DELIVERY);
	listen(BACKLOG);
	WRITE_ONCE(w.ready, true);
	while (left && READ_ONCE(w.ended) < CLIENTS) {
		if (prog_event(&w.n, &ev)) {
			sim_sleep(50000);
			continue;
		}
		if (w.dies)
			break;
		while (!prog_conn_wait(&w.n, "listen", 0, &conn)) {
			ret = prog_accept_start(&w.server, conn);
			if (!ret)
				ret = prog_result(&w.server, 0);
			sim_expect(!ret || ret == VIA_R_TIMEOUT ||
				   ret == VIA_R_INVALID_PARAMETER, "(%d)", ret);
			prog_disconnect(&w.server);
			left--;
		}
	}
	if (sim_dice(2))
		prog_close(&w.n);
}

static void call(void *arg)
{
	u32 i = (struct prog_vi *)arg - w.v, tries = 0;
	struct prog_nic n;
	int ret;

	prog_open_vi(&n, &w.v[i], "via_a", 4096, VIA_RELIABLE_DELIVERY);
	do {
		if (tries)
			sim_sleep(MS);
		ret = prog_request(&w.v[i], host_mac(1), "listen", 20 * SEC);
	} while (ret == VIA_R_NO_MATCH && !w.dies && ++tries < 10000);
	/* None waits for a server that is no more. */
	sim_expect(!ret || (w.dies && (ret == VIA_R_REJECT ||
				       ret == VIA_R_NO_MATCH)),
		   "client %u: %d", i, ret);
	w.ended++;
	prog_close(&n);
}

static void afar(void)
{
	u32 i;

	hosts_up(2);
	w.dies = !sim_dice(3);
	host_run(1, "server", serve, NULL);
	sim_await(READ_ONCE(w.ready), 10000);
	for (i = 0; i < CLIENTS; i++)
		host_run(0, "client", call, &w.v[i]);
	hosts_down();
}

SIM_SCENARIO(.name = "listens-afar", .run = afar, .runs = 200, .max_vi = 8,
	     .seconds = 120, SIM_STATE(w),
	     .what = "a server is told of requests of another host, or it dies")

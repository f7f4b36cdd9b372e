// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests on one host and the server that waits for them: it is interrupted,
 * it has some kept for it, it answers with a VI that does not fit, it ends; clients
 * give up meanwhile.
 *
 * What a client is told is true, none waits on, a request whose client has left
 * cannot be accepted any more, and no request stays behind.
 */
#include "prog.h"

#define CLIENTS	3

static struct {
	struct sim_proc *server;
	struct prog_nic n;		/* the server's */
	struct prog_vi vi[2];		/* one fits no client */
	bool ready, ended;
	bool signalled;
	u32 waiters;
	u64 limit[CLIENTS];		/* of the clients, ns */
	u32 clients;
	struct sim_proc *client[CLIENTS];
} w;

/* The server */

static bool over(long ret)
{
	return READ_ONCE(w.ended) && (ret == -ESHUTDOWN || ret == -EBADF ||
				      ret == VIA_R_INVALID_PARAMETER);
}

/* As prog_conn_wait(), but it may stop where a signal has interrupted it. */
static int wait_for_one(u64 ns, u32 *conn)
{
	struct via_conn_wait a = { .timeout = ns };
	int ret;

	prog_addr(&a.local, NULL, "waiters");
	do {
		ret = sim_ioctl(w.n.file, VIA_IOC_CONN_WAIT, &a);
		sim_expect(ret != -EINTR || a.waiter, "");
		/* Its place is kept, so that it can be called again. */
	} while (ret == -EINTR && sim_dice(3));
	*conn = a.conn;
	return ret;
}

static void answer(u32 conn)
{
	int ret;

	/* With one that does not fit; the request is still there, or gone. */
	while (sim_dice(2)) {
		ret = prog_accept_start(&w.vi[0], conn);
		sim_expect(over(ret) || ret == VIA_R_TIMEOUT ||
			   ret == VIA_R_INVALID_PARAMETER ||
			   ret == VIA_R_INVALID_RELIABILITY_LEVEL, "(%d)",
			   ret);
		if (ret != VIA_R_INVALID_RELIABILITY_LEVEL)
			return;
	}
	switch (sim_dice(4)) {
	case 0:
		prog_reject(&w.n, conn);
		break;
	case 1:
		break;
	default:
		ret = prog_accept_start(&w.vi[1], conn);
		sim_expect(over(ret) || !ret || ret == VIA_R_TIMEOUT ||
			   ret == VIA_R_INVALID_STATE ||
			   ret == VIA_R_INVALID_PARAMETER, "(%d)", ret);
		if (!ret)
			prog_result(&w.vi[1], 0);
		prog_disconnect(&w.vi[1]);
	}
}

static bool clients_ended(void)
{
	u32 i;

	for (i = 0; i < w.clients; i++)
		if (!w.client[i] || !sim_proc_ended(w.client[i]))
			return false;
	return true;
}

/* All clients have left: what is not answered names nothing. */
static void stale(u32 conn)
{
	u32 tries = 0;
	int ret;

	while (!clients_ended()) {
		/* One waits for this server's end. */
		if (++tries > 100)
			return;
		sim_sleep(200000);
	}
	ret = prog_accept_start(&w.vi[0], conn);
	sim_expect(over(ret) || ret == VIA_R_TIMEOUT ||
		   ret == VIA_R_INVALID_PARAMETER,
		   "the request of a client that has left: %d", ret);
}

static void waiter(void *arg)
{
	u32 conn, i;
	int ret;

	for (i = 0; i < 3 && !READ_ONCE(w.ended); i++) {
		if (!sim_dice(3)) {
			ret = prog_listen(&w.n, "waiters", sim_dice(3));
			sim_expect(over(ret) || !ret, "listen: %d", ret);
		}
		ret = wait_for_one(sim_dice(2) ? sim_dice(30000) : 3 * MS,
				   &conn);
		sim_expect(over(ret) || !ret || ret == VIA_R_TIMEOUT ||
			   (ret == -EINTR && w.signalled), "(%d)", ret);
		if (ret)
			continue;
		answer(conn);
		if (!sim_dice(3))
			stale(conn);
	}
	w.waiters--;
}

static void server(void *arg)
{
	u32 i, n = 1 + sim_dice(2);

	sim_ok(prog_open(&w.n, host_node(0), 4096));
	sim_ok(prog_vi(&w.vi[0], &w.n, VIA_UNRELIABLE, 0, 0));
	sim_ok(prog_vi(&w.vi[1], &w.n, VIA_RELIABLE_DELIVERY, 0, 0));
	for (i = 0; i < n; i++) {
		w.waiters++;
		sim_thread(w.server, "waiter", waiter, NULL);
	}
	w.ready = true;
	smp_mb();
	if (sim_dice(2)) {
		/* Beside what the waiters and the clients do. */
		sim_sleep(sim_dice(60000));
		w.ended = true;
		smp_mb();
		if (sim_dice(2))
			sim_ioctl(w.n.file, VIA_IOC_SHUTDOWN, NULL);
		else
			prog_close(&w.n);
	}
	sim_await(!READ_ONCE(w.waiters), 10000);
	if (sim_dice(2))
		prog_close(&w.n);
}

/* Clients */

static int ask(struct prog_vi *v, u64 limit)
{
	u32 tries = 0;
	int ret;

	do {
		sim_ok(prog_request_start(v, v->nic->hello.addr, "waiters",
					  limit, false));
		if (!sim_dice(3))
			sim_sleep(sim_dice(20000));
		/* It goes before there is a verdict. */
		if (!sim_dice(3))
			return VIA_R_NOT_DONE;
		ret = prog_result(v, 0);
		if (ret == VIA_R_NO_MATCH)
			sim_sleep(sim_dice(20000));
	} while (ret == VIA_R_NO_MATCH && ++tries < 10);
	return ret;
}

static void client(void *arg)
{
	u64 limit = *(u64 *)arg, from;
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	prog_open_vi(&n, &v, host_node(0), 4096, VIA_RELIABLE_DELIVERY);
	from = sim_now();
	ret = ask(&v, limit);
	sim_expect(!ret || ret == VIA_R_NOT_DONE || ret == VIA_R_TIMEOUT ||
		   ret == VIA_R_REJECT || ret == VIA_R_NO_MATCH, "(%d)", ret);
	/* One whose server has gone is rejected, it does not wait. */
	sim_expect(ret != VIA_R_TIMEOUT || sim_now() >= from + limit,
		   "a limit of %llu ns is over before it is",
		   (unsigned long long)limit);
	if (sim_dice(2))
		prog_disconnect(&v);
	prog_close(&n);
}

static void waiters(void)
{
	u32 i;

	hosts_up(sim_dice(4) ? 0 : 1);
	w.clients = 1 + sim_dice(CLIENTS);
	w.server = host_run(0, "server", server, NULL);
	sim_await(READ_ONCE(w.ready), 10000);
	for (i = 0; i < w.clients; i++) {
		/* None outlives its server for long, unless it is rejected. */
		w.limit[i] = sim_dice(2) ? 1 + sim_dice(10 * MS) : 600 * SEC;
		w.client[i] = host_run(1, "client", client, &w.limit[i]);
	}
	while (sim_dice(4)) {
		sim_pause(sim_dice(30000));
		w.signalled = true;
		smp_mb();
		if (!sim_proc_ended(w.server))
			sim_signal(w.server);
	}
	/* It looks at its clients. */
	program_wait(w.server);
	hosts_down();
}

SIM_SCENARIO(.name = "waiters", .run = waiters, .runs = 1000, .max_vi = 8,
	     .seconds = 30, SIM_STATE(w),
	     .what = "requests, servers that are interrupted, answer and end")

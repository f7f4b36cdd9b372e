// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A user at a limit: it has so many of a thing at once, and not one more,
 * whatever has become of those it had before (docs/explain/security.md).
 */
#include "prog.h"

#define LIMIT	3
#define MORE	(LIMIT + 2)		/* threads that try at once */

enum what { WAITS, BROKEN_WAITS, PUT_BACK, QUESTIONS, VIS, NWHAT };

static const char *const limits[NWHAT] = {
	"waiters", "waiters", "waiters", "queries", "vi",
};

static struct {
	enum what what;
	struct sim_proc *proc;
	struct prog_nic nic;
	u32 allowed, refused;
	bool breaking;
} w;

/* One of many at once, each of which takes its time. */
static void try(void *arg)
{
	struct via_name_answer some[4];
	struct via_name_query q = {
		.count = ARRAY_SIZE(some), .answers = (uintptr_t)some,
	};
	u32 conn;
	int ret;

	if (w.what == QUESTIONS) {
		ret = sim_ioctl(w.nic.file, VIA_IOC_NAME_QUERY, &q);
	} else {
		ret = prog_conn_wait(&w.nic, "nothing", 50 * MS, &conn);
		if (ret == VIA_R_TIMEOUT)
			ret = 0;
	}
	sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
	w.allowed += !ret;
	w.refused += !!ret;
}

/* All that is allowed is there, and no more. */
static void all_at_once(void)
{
	u32 i;

	w.allowed = w.refused = 0;
	for (i = 0; i < MORE; i++)
		sim_thread(w.proc, "try", try, NULL);
	sim_threads_wait(MS);
	sim_expect(w.allowed == LIMIT, "%u at once", w.allowed);
	sim_expect(w.refused == MORE - LIMIT, "%u are refused", w.refused);
}

static int wait_once(u32 *waiter, u64 ns)
{
	struct via_conn_wait a = { .timeout = ns, .waiter = *waiter };
	int ret;

	prog_addr(&a.local, NULL, "nothing");
	ret = sim_ioctl(w.nic.file, VIA_IOC_CONN_WAIT, &a);
	*waiter = a.waiter;
	return ret;
}

/* A signal leaves a wait behind, to be gone on with: it is one of them. */
static void broken_waits(void)
{
	u32 waiter[LIMIT] = { }, more = 0, i;
	int ret;

	WRITE_ONCE(w.breaking, true);
	for (i = 0; i < LIMIT; i++) {
		ret = wait_once(&waiter[i], VIA_FOREVER);
		sim_expect(ret == -EINTR, "(%d)", ret);
	}
	WRITE_ONCE(w.breaking, false);
	ret = wait_once(&more, MS);
	sim_expect(ret == VIA_R_ERROR_RESOURCE, "one more: %d", ret);
	for (i = 0; i < LIMIT; i++)
		do {
			ret = wait_once(&waiter[i], MS);
		} while (ret == -EINTR);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
}

/* A request that was not accepted by one VI is there for another one. */
static void put_back(void)
{
	struct prog_vi client, server;
	u32 conn, waiter = 0, turns = 1 + sim_dice(LIMIT + 1);
	struct via_conn_wait a = { .timeout = 0 };
	int ret;

	sim_ok(prog_vi(&client, &w.nic, VIA_RELIABLE_DELIVERY, 0, 0));
	sim_ok(prog_vi(&server, &w.nic, VIA_RELIABLE_RECEPTION, 0, 0));
	/* A wait that is there before the request, in this thread as well. */
	prog_addr(&a.local, NULL, "mismatch");
	a.timeout = VIA_FOREVER;
	WRITE_ONCE(w.breaking, true);
	ret = sim_ioctl(w.nic.file, VIA_IOC_CONN_WAIT, &a);
	WRITE_ONCE(w.breaking, false);
	sim_expect(ret == -EINTR, "(%d)", ret);
	waiter = a.waiter;
	sim_ok(prog_request_start(&client, w.nic.hello.addr, "mismatch",
				  10 * SEC, false));
	do {
		a.waiter = waiter;
		ret = sim_ioctl(w.nic.file, VIA_IOC_CONN_WAIT, &a);
	} while (ret == -EINTR);
	sim_expect(!ret, "(%d)", ret);
	conn = a.conn;
	while (turns--) {
		ret = prog_accept_start(&server, conn);
		sim_expect(ret == VIA_R_INVALID_RELIABILITY_LEVEL, "(%d)", ret);
	}
	sim_ok(prog_reject(&w.nic, conn));
}

/* What is destroyed makes room at once, for its user. */
static void make_room(void)
{
	struct prog_vi v[LIMIT + 1];
	u32 i;
	int ret;

	for (i = 0; i <= LIMIT; i++) {
		ret = prog_vi(&v[i], &w.nic, VIA_RELIABLE_DELIVERY, 0, 0);
		sim_expect(ret == (i < LIMIT ? 0 : VIA_R_ERROR_RESOURCE),
			   "VI %u: %d", i, ret);
	}
	for (i = 0; i < LIMIT; i++) {
		sim_ok(prog_vi_destroy(&v[i]));
		sim_ok(prog_vi(&v[i], &w.nic, VIA_RELIABLE_DELIVERY, 0, 0));
	}
}

static void user(void *arg)
{
	int ret = prog_open(&w.nic, w.what == QUESTIONS ? "via_a" : "via_lo",
			    0);

	sim_expect(!ret, "(%d)", ret);
	if (w.what == VIS) {
		make_room();
	} else {
		if (w.what == BROKEN_WAITS)
			broken_waits();
		else if (w.what == PUT_BACK)
			put_back();
		all_at_once();
	}
	prog_close(&w.nic);
}

static void run(void)
{
	w.what = sim_dice(NWHAT);
	sim_limit(limits[w.what], LIMIT);
	hosts_up(2);
	w.proc = host_run(0, "user", user, NULL);
	while (!sim_proc_ended(w.proc)) {
		msleep(1);
		if (READ_ONCE(w.breaking) && !sim_proc_ended(w.proc))
			sim_signal(w.proc);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "user-limits", .run = run, .runs = 200, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a user has what its limits say at once, and no more")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The next attempt of a VI begins beside the end of the one before: the peer
 * does not fit, its time is over, its NIC goes.  And a request that is over
 * before it is offered is not offered.
 */
#include "prog.h"

#define TURNS	12
#define SLOW_TURNS	12

enum kind { MISFIT, EXPIRED, NIC_GOES, NOT_OFFERED, NKINDS };

static struct {
	enum kind kind;
	struct prog_nic nic[2];
	struct prog_vi vi, other;
	u32 ready;
	u32 asks, verdicts, waited;	/* turns */
	struct list_head turning;
	u64 deadline;
	bool over;
} w;

static int start(struct prog_vi *v, u64 ns, bool peer)
{
	return prog_request_start(v, v->nic->hello.addr, "again", ns, peer);
}

static void legal(int ret)
{
	sim_expect(!ret || ret == VIA_R_INVALID_STATE, "(%d)", ret);
}

static void open_one(u32 i, struct prog_vi *v, u32 level)
{
	prog_open_vi(&w.nic[i], v, w.kind == NIC_GOES ? "via_a" : "via_lo", 0,
		     level);
}

static void meet(void)
{
	w.ready++;
	sim_await(w.ready >= 2, 1000);
}

/* MISFIT: the peer that looks for it has another level: both attempts end. */
static void misfit(void *arg)
{
	u32 i;

	open_one(1, &w.other, VIA_RELIABLE_RECEPTION);
	meet();
	for (i = 0; i < TURNS; i++) {
		legal(start(&w.other, 10 * SEC, true));
		if (sim_dice(2))
			legal(prog_disconnect(&w.other));
	}
}

static void looks(void)
{
	u32 i;

	for (i = 0; i < 2 * TURNS; i++) {
		legal(start(&w.vi, 10 * SEC, true));
		if (!sim_dice(6))
			legal(prog_disconnect(&w.vi));
	}
}

/* EXPIRED: a thread sees it first and tells the server, others go on. */
static void sees(void *arg)
{
	while (!READ_ONCE(w.over))
		if (prog_result(&w.vi, 0) != VIA_R_TIMEOUT)
			sim_sleep(MS);
}

static void serves(void *arg)
{
	struct prog_nic n;
	u32 conn, last = 0;

	sim_ok(prog_open(&n, "via_lo", 0));
	w.ready++;
	while (!READ_ONCE(w.over))
		if (!prog_conn_wait(&n, "again", 5 * MS, &conn)) {
			/* Not at once: its time is to be over first. */
			if (last && sim_dice(2))
				prog_reject(&n, last);
			last = conn;
		}
	prog_close(&n);
}

static void expires(void)
{
	u64 over;
	u32 i;

	for (i = 0; i < TURNS; i++) {
		/* Two ticks, and then as long as it takes to see it. */
		over = (sim_now() / TICK_NSEC + 2) * TICK_NSEC +
		       sim_dice(1500);
		legal(start(&w.vi, 1, false));
		if (sim_dice(4) && sim_now() < over)
			sim_sleep(over - sim_now());
		else
			prog_result(&w.vi, 0);
		legal(start(&w.vi, SEC, false));
		legal(prog_disconnect(&w.vi));
	}
	WRITE_ONCE(w.over, true);
}

/* NIC_GOES: each attempt has its verdict. */
static void beside_end(void)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 9 };
	u32 i, last = 2;
	int ret;

	for (i = 0; i < 40 && last; i++) {
		ret = prog_request_start(&w.vi, host, "again", VIA_FOREVER,
					 i & 1);
		sim_expect(!ret || ret == VIA_R_INVALID_STATE ||
			   ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
		if (prog_state(&w.vi) == VIA_STATE_ERROR && !ret) {
			ret = prog_result(&w.vi, i & 1 ? VIA_CONN_PEER : 0);
			sim_expect(ret == VIA_R_NOT_REACHABLE, "(%d)", ret);
			last--;
		}
		ret = prog_disconnect(&w.vi);
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
	}
}

/*
 * NOT_OFFERED: the thread that asks is slow, another one has the verdict, and
 * then a server begins to wait.
 */
static void until(const u32 *count, u32 n)
{
	/* No marked access: between looking and waiting others had a turn. */
	while (*count < n)
		sim_block(&w.turning);
}

static void reached(u32 *count)
{
	++*count;
	sim_wake_list(&w.turning);
}

static void has_verdict(void *arg)
{
	u32 late, i;
	int ret;

	for (i = 0; i < SLOW_TURNS; i++) {
		until(&w.asks, i + 1);
		/* As its time is over; or as it begins, to wait for that. */
		late = sim_dice(4);
		if (late && sim_now() < w.deadline)
			sim_sleep(w.deadline - sim_now());
		do {
			if (!late)
				sim_sleep(10 * sim_config.step_ns);
			ret = prog_result(&w.vi, late ? VIA_CONN_NOWAIT : 0);
			sim_expect((late && ret == VIA_R_NOT_DONE) ||
				   ret == VIA_R_TIMEOUT ||
				   ret == VIA_R_INVALID_STATE ||
				   ret == VIA_R_NO_MATCH, "(%d)", ret);
			late = 0;
		} while (ret == VIA_R_INVALID_STATE || ret == VIA_R_NOT_DONE);
		reached(&w.verdicts);
		until(&w.waited, i + 1);
	}
}

static void waits_late(void *arg)
{
	struct prog_nic n;
	u32 conn, i;
	int ret;

	sim_ok(prog_open(&n, "via_lo", 0));
	w.ready++;
	for (i = 0; i < SLOW_TURNS; i++) {
		until(&w.verdicts, i + 1);
		ret = prog_conn_wait(&n, "again", 100 * MS, &conn);
		sim_expect(ret == VIA_R_TIMEOUT,
			   "(%d) a request that was over before the wait", ret);
		reached(&w.waited);
	}
	prog_close(&n);
}

static void asks_slowly(void)
{
	u32 i;

	/* Two ticks are up to 200 steps. */
	sim_config.step_ns = 2 * TICK_NSEC / (10 + sim_dice(190));
	sim_thread(current->proc, "has verdict", has_verdict, NULL);
	for (i = 0; i < SLOW_TURNS; i++) {
		w.deadline = (sim_now() / TICK_NSEC + 2) * TICK_NSEC;
		reached(&w.asks);
		sim_expect(!start(&w.vi, 1, false), "");
		until(&w.waited, i + 1);
	}
}

static void subject(void *arg)
{
	open_one(0, &w.vi, VIA_RELIABLE_DELIVERY);
	switch (w.kind) {
	case MISFIT:
		meet();
		looks();
		break;
	case EXPIRED:
		sim_thread(current->proc, "sees", sees, NULL);
		meet();
		expires();
		break;
	case NIC_GOES:
		w.ready++;
		beside_end();
		break;
	default:
		meet();
		asks_slowly();
		break;
	}
}

static void run(u32 kind)
{
	static void (*const others[NKINDS])(void *arg) = {
		misfit, serves, NULL, waits_late,
	};
	struct sim_proc *other;

	INIT_LIST_HEAD(&w.turning);
	w.kind = kind;
	hosts_up(1);
	host_run_as(0, 0, "subject", subject, NULL);
	if (others[w.kind]) {
		other = host_run_as(0, 0, "other", others[w.kind], NULL);
		if (w.kind == EXPIRED)
			sim_thread(other, "other", serves, NULL);
	} else {
		sim_await(READ_ONCE(w.ready), 10000);
		sim_pause(sim_dice(20000));
	}
	if (w.kind == NIC_GOES)
		host_down(0);
	hosts_down();
}

static void again(void)
{
	run(sim_dice(2) ? MISFIT : NIC_GOES);
}

SIM_SCENARIO(.name = "again-beside", .run = again, .runs = 500, .max_vi = 8,
	     .seconds = 300, SIM_STATE(w),
	     .what = "the next attempt beside the end of the one before")

SIM_SCENARIO(.name = "again-late", .run_as = run, .as = EXPIRED, .runs = 500,
	     .max_vi = 8, .seconds = 300, SIM_STATE(w),
	     .what = "the next attempt as the one before expires")

SIM_SCENARIO(.name = "not-offered", .run_as = run, .as = NOT_OFFERED,
	     .runs = 500, .max_vi = 8, .seconds = 300, SIM_STATE(w),
	     .what = "a request that is over before it is offered")

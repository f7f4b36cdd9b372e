// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Users with small limits, several processes of one user: what is made beyond
 * them is refused, and what has ended is there again for the next one.
 */
#include "prog.h"

#define PROCS	3
#define LIMIT	3

static struct {
	u32 what;
	u32 turns;
	bool kept, over;
} w;

static const char *const limits[] = {
	"handles", "vi", "pages", "cq_pages", "waiters", "vi_pages",
};

/* Two pages for the first growth of a queue: its slots, its completions. */
static void grown(struct prog_vi *v, u32 n)
{
	u32 i, got = 0;
	long ret;

	for (i = 0; i < n; i++) {
		ret = prog_grow(&v[i], sim_dice(2), 1 + sim_dice(64));
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE ||
			   sim_config.fail_alloc, "(%ld)", ret);
		got += v[i].q[0].mask >= 63 || v[i].q[1].mask >= 63;
	}
	sim_expect(2 * got <= LIMIT || w.what != 5, "more than allowed");
}

static void vis(struct prog_nic *n)
{
	struct prog_vi v[LIMIT + 1];
	u32 i, made = 0;
	int ret;

	for (i = 0; i <= LIMIT; i++) {
		ret = prog_vi_few(&v[made], n, VIA_RELIABLE_DELIVERY, 0, 0);
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE ||
			   sim_config.fail_alloc, "(%d)", ret);
		sim_expect(ret || made < LIMIT || w.what != 1,
			   "more than allowed");
		made += !ret;
	}
	grown(v, made);
	while (made && sim_dice(8))
		sim_ok(prog_vi_destroy(&v[--made]));
}

static void pages(struct prog_nic *n)
{
	char *p = sim_memory(LIMIT * PAGE_SIZE);
	u32 h[LIMIT], made = 0, i;
	int ret;

	for (i = 0; i < LIMIT; i++) {
		ret = prog_register(n, p, (1 + sim_dice(LIMIT)) * PAGE_SIZE, 0,
				    &h[made]);
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE ||
			   sim_config.fail_alloc, "(%d)", ret);
		made += !ret;
	}
	while (made && sim_dice(8))
		sim_ok(prog_deregister(n, p, h[--made]));
}

static void cqs(struct prog_nic *n)
{
	struct prog_cq c[LIMIT];
	u32 made = 0, i;
	int ret;

	for (i = 0; i < LIMIT; i++) {
		ret = prog_cq(&c[made], n, 1 + sim_dice(600));
		sim_expect(!ret || ret == VIA_R_ERROR_RESOURCE ||
			   sim_config.fail_alloc, "(%d)", ret);
		made += !ret;
	}
	while (made && sim_dice(8))
		sim_ok(prog_cq_destroy(&c[--made]));
}

static void waits(struct prog_nic *n)
{
	u32 conn;
	int ret = prog_conn_wait(n, "nothing", sim_dice(3 * MS), &conn);

	sim_expect(ret == VIA_R_TIMEOUT || ret == VIA_R_ERROR_RESOURCE ||
		   sim_config.fail_alloc, "(%d)", ret);
}

static void process(void *arg)
{
	struct prog_nic n;
	u32 i;
	int ret;

	for (i = 0; i < w.turns; i++) {
		ret = prog_open(&n, "via_lo", 0);
		if (ret) {
			sim_expect(ret == -EMFILE || sim_config.fail_alloc,
				   "(%d)", ret);
			sim_sleep(sim_dice(100000));
			continue;
		}
		vis(&n);
		pages(&n);
		cqs(&n);
		waits(&n);
		prog_close(&n);
	}
}

/* A handle that stays, and with it what the user was charged. */
static void keeper(void *arg)
{
	struct prog_nic n;
	int ret = prog_open(&n, "via_lo", 0);

	sim_expect(!ret || sim_config.fail_alloc, "(%d)", ret);
	WRITE_ONCE(w.kept, true);
	sim_await(READ_ONCE(w.over), 10 * MS);
	if (!ret)
		prog_close(&n);
}

/* All of it is there: nothing of the others is charged any more. */
static void again(void *arg)
{
	struct prog_vi v[LIMIT];
	struct prog_nic n;
	u32 i;
	int ret;

	ret = prog_open(&n, "via_lo", LIMIT * PAGE_SIZE);
	if (ret && sim_config.fail_alloc)
		return;
	sim_expect(!ret, "(%d)", ret);
	for (i = 0; i < LIMIT; i++) {
		ret = prog_vi_few(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0);
		sim_expect(!ret || sim_config.fail_alloc, "VI %u: %d", i, ret);
	}
	ret = prog_grow(&v[0], true, 64);
	sim_expect(!ret || sim_config.fail_alloc, "a ring: %d", ret);
	prog_close(&n);
}

static void quotas(void)
{
	u32 n = 1 + sim_dice(PROCS), i;
	struct sim_proc *proc[PROCS];

	w.what = sim_dice(ARRAY_SIZE(limits));
	w.turns = 1 + sim_dice(3);
	host_run(0, "keeper", keeper, NULL);
	sim_await(READ_ONCE(w.kept), MS);
	sim_limit(limits[w.what], LIMIT + !w.what);
	for (i = 0; i < n; i++)
		proc[i] = host_run(0, "user", process, NULL);
	for (i = 0; i < n; i++) {
		if (!sim_dice(4)) {
			msleep(sim_dice(3));
			sim_kill(proc[i]);
		}
		program_wait(proc[i]);
	}
	/* What failed was of the others: now all that may be had is there. */
	sim_config.fail_alloc = 0;
	program_wait(host_run(0, "again", again, NULL));
	WRITE_ONCE(w.over, true);
	hosts_down();
}

SIM_SCENARIO(.name = "quotas", .run = quotas, .runs = 200, .max_vi = 16,
	     .seconds = 60, SIM_STATE(w),
	     .what = "users at their limits, all of it is given back")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The patterns of make bench between two hosts: the program itself is tested,
 * and --verbose shows what a round takes, in virtual time.  A run is one
 * pattern at one level, the seed says which.
 */
#include "vipl/posix.h"
#include "hosts.h"
#include "kernel/model.h"
#include "vipl/programs.h"
#include "../bench/pattern.h"

#define LEVELS	3

static const struct {
	const char *name;
	u32 pattern, conns, think, think_server;
	bool lossy;		/* the last frame is lost */
} cases[] = {
	{ "request", P_REQUEST, 1, 0, 0, false },
	{ "request, client 50 us", P_REQUEST, 1, 50, 0, false },
	{ "request, server 50 us", P_REQUEST, 1, 0, 50, false },
	{ "request, client 500 us", P_REQUEST, 1, 500, 0, false },
	{ "request, server 500 us", P_REQUEST, 1, 0, 500, false },
	{ "request, client 5000 us", P_REQUEST, 1, 5000, 0, false },
	{ "request, server 5000 us", P_REQUEST, 1, 0, 5000, false },
	{ "idle", P_IDLE, 1, 1000000, 0, false },
	{ "turn, 1", P_TURN, 1, 0, 0, false },
	{ "turn, 2", P_TURN, 2, 0, 0, false },
	{ "turn, 8", P_TURN, 8, 0, 0, false },
	{ "write", P_WRITE, 1, 0, 0, false },
	{ "write-send", P_WRITE_SEND, 1, 0, 0, false },
	{ "burst", P_BURST, 1, 20000, 0, false },
	{ "tail", P_TAIL, 1, 20000, 0, false },
	{ "tail, lost", P_TAIL, 1, 20000, 0, true },
	{ "both", P_BOTH, 1, 0, 0, false },
	{ "fanout", P_FANOUT, 8, 0, 0, false },
};

#define CASES	(sizeof(cases) / sizeof(cases[0]))

static u32 tails;
static char where[2][PATTERNS_WHERE];

/* Nothing else is as long as what is left of a message: lost once. */
static bool lose(void *arg, u8 *frame, u32 *len)
{
	static const u32 least = 300, most = 900;

	return *len < least || *len > most || ++tails % 2 == 0;
}

static void run_case(u32 i, u32 level)
{
	u32 met = 0, lost = 0;
	bool ended = false;
	double p50 = 0, max = 0, mean = 0;
	struct patterns s = {
		.device = "via_b", .pattern = cases[i].pattern,
		.level = level, .conns = cases[i].conns,
		.think = cases[i].think,
		.think_server = cases[i].think_server,
		.where = { where[0], where[1] }, .met = &met,
		.ended = &ended, .p50 = &p50, .max = &max, .mean = &mean,
		.lost = &lost,
	};
	struct patterns c = s;
	struct sim_proc *p[2] = { NULL, NULL };
	int status[2] = { 0, 0 };

	c.device = "via_a";
	c.client = true;
	if (cases[i].pattern == P_BOTH)
		c.peer = s.device;
	if (cases[i].lossy)
		sim_wire.meddle = lose;
	px_begin();
	if (!c.peer)
		p[0] = px_start(0, "server", 0, patterns_main, &s,
				&status[0]);
	p[1] = px_start(1, "client", 1000, b_patterns_main, &c, &status[1]);
	if (p[0])
		sim_proc_wait(p[0]);
	sim_proc_wait(p[1]);
	sim_expect(!status[0] && !status[1], "(%d, %d)", status[0],
		   status[1]);
	sim_expect(p50 > 0 && max >= p50, "");
	sim_expect(!lost || cases[i].lossy, "%u messages on a wire that loses none", lost);
	sim_log("%s, level %u: p50 %.1f us, mean %.1f us, max %.1f us",
		cases[i].name, level, p50, mean, max);
}

static void run(void)
{
	u32 n = sim_config.seed % (CASES * LEVELS);
	u32 i = n / LEVELS, level = 1u << n % LEVELS;
	u32 pattern = cases[i].pattern;

	/* Completed says nothing there, and what is lost is lost. */
	if (level == VIA_UNRELIABLE && (pattern == P_WRITE ||
					pattern == P_WRITE_SEND ||
					cases[i].lossy))
		level = VIA_RELIABLE_DELIVERY;
	if (hosts_up(2))
		run_case(i, level);
	hosts_down();
}

SIM_SCENARIO(.name = "patterns", .run = run, .runs = 54, .max_vi = 1024,
	     .what = "the patterns of make bench, one at a level a run")

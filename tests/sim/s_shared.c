// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* libviadsm: two nodes with random programs, beside the model of tests/dsm. */
#include <stdio.h>
#include "vipl/posix.h"
#include "kernel/model.h"
#include "vipl/programs.h"
#include "../dsm/model.h"

static struct model model;
static struct shared node[SHARED_NODES];
static unsigned int begun, ended, came, reads;
static uint64_t longest;
static char host[SHARED_NODES][24];
static struct sim_proc *proc[SHARED_NODES];
static struct sim_nic *nic[SHARED_NODES];
static int status[SHARED_NODES];

/* Each of them as chance has it: one program, two nodes that fetch alike. */
static void draw_program(struct shared *s)
{
	u32 i;

	memset(s, 0, sizeof(*s));
	memset(&model, 0, sizeof(model));
	s->model = &model;
	s->by_read = sim_dice(2);
	s->spin = (int[]){ -1, 0, 50 }[sim_dice(3)];
	s->threads = 1 + sim_dice(2);
	s->phases = 2 + sim_dice(5);
	s->acts = 10 + sim_dice(60);
	s->locked = sim_dice(2);
	s->begun = &begun;
	s->ended = &ended;
	s->came = &came;
	s->reads = &reads;
	s->longest = &longest;
	for (i = 0; i < MODEL_PLACES; i++)
		s->place[i] = i * (SHARED_PAGES * 4096 / MODEL_PLACES) +
			      sim_dice(SHARED_PAGES * 4096 / MODEL_PLACES);
}

static void begin(void)
{
	static const char *const devices[] = { "via_a", "via_b" };
	const u8 *mac;
	u32 i, k;

	begun = 0;
	ended = 0;
	came = 0;
	reads = 0;
	longest = 0;
	for (i = 0; i < SHARED_NODES; i++) {
		nic[i] = sim_nic_up(devices[i] + 4, 1 + i);
		mac = sim_nic_mac(nic[i]);
		snprintf(host[i], sizeof(host[i]),
			 "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			 mac[2], mac[3], mac[4], mac[5]);
	}
	draw_program(&node[0]);
	px_begin();
	for (i = 0; i < SHARED_NODES; i++) {
		node[i] = node[0];
		node[i].rank = i;
		node[i].device = devices[i];
		for (k = 0; k < SHARED_NODES; k++)
			node[i].host[k] = host[k];
		for (k = 0; k < node[i].threads; k++)
			node[i].random[k] = sim_dice64() | 1;
		proc[i] = px_start(i, devices[i], 1000 + i,
				   i ? b_shared_main : shared_main, &node[i],
				   &status[i]);
	}
}

static void end(void)
{
	u32 i;

	for (i = 0; i < SHARED_NODES; i++)
		sim_proc_wait(proc[i]);
	for (i = 0; i < SHARED_NODES; i++)
		sim_nic_down(nic[i]);
}

static void all_end(void)
{
	begin();
	end();
	sim_expect(ended == SHARED_NODES, "(%u; %d, %d)", ended, status[0],
		   status[1]);
	sim_log("%u reads, the longest call %llu us", reads, longest / 1000);
}

/* A thread that nobody wakes looks again after 20 ms, TURN_MS of dsm/run.c. */
static void programs(void)
{
	all_end();
	sim_expect(longest < 15000000, "(%llu ns)", longest);
}

static void lossy(void)
{
	sim_wire.loss = 200;
	all_end();
}

/* Once they have met: the other node ends within ten seconds, with a message. */
static void killed(void)
{
	u64 at;

	begin();
	while (begun < SHARED_NODES)
		sim_pause(100000);
	sim_pause(sim_dice(3000000));
	sim_kill(proc[1]);
	at = sim_clock;
	end();
	sim_expect(sim_clock - at < 10ull * NSEC_PER_SEC, "(%llu)", sim_clock - at);
	sim_expect(ended || status[0] == 2, "(%d)", status[0]);
}

SIM_SCENARIO(shared, .name = "shared", .run = programs, .runs = 100,
	     .what = "libviadsm: random programs of two nodes, and the model")
SIM_SCENARIO(shared_loss, .name = "shared-loss", .run = lossy, .runs = 50,
	     .what = "libviadsm: the same on a wire that loses 2 %")
SIM_SCENARIO(shared_killed, .name = "shared-killed", .run = killed, .runs = 50,
	     .what = "libviadsm: a node is killed, the other ends within ten seconds")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* libviadsm: two nodes with random programs, beside the model of tests/dsm. */
#include <stdio.h>
#include "vipl/posix.h"
#include "kernel/model.h"
#include "vipl/programs.h"
#include "hosts.h"
#include "../dsm/model.h"

static struct {
	struct model model;
	struct shared node[SHARED_NODES];
	struct sim_proc *proc[SHARED_NODES];
	int status[SHARED_NODES];
	char host[SHARED_NODES][24];
	unsigned int begun, ended, came, reads;
	uint64_t longest;
} w;

/* Each of them as chance has it: one program, two nodes that fetch alike. */
static void draw_program(struct shared *s)
{
	u32 i;

	s->model = &w.model;
	s->by_read = sim_dice(2);
	s->spin = (int[]){ -1, 0, 50 }[sim_dice(3)];
	s->threads = 1 + sim_dice(2);
	s->phases = 2 + sim_dice(5);
	s->acts = 10 + sim_dice(60);
	s->locked = sim_dice(2);
	s->begun = &w.begun;
	s->ended = &w.ended;
	s->came = &w.came;
	s->reads = &w.reads;
	s->longest = &w.longest;
	for (i = 0; i < MODEL_PLACES; i++)
		s->place[i] = i * (SHARED_PAGES * 4096 / MODEL_PLACES) +
			      sim_dice(SHARED_PAGES * 4096 / MODEL_PLACES);
}

static void begin(void)
{
	const u8 *mac;
	u32 i, k;

	hosts_up(SHARED_NODES);
	for (i = 0; i < SHARED_NODES; i++) {
		mac = host_mac(i);
		snprintf(w.host[i], sizeof(w.host[i]),
			 "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			 mac[2], mac[3], mac[4], mac[5]);
	}
	draw_program(&w.node[0]);
	px_begin();
	for (i = 0; i < SHARED_NODES; i++) {
		w.node[i] = w.node[0];
		w.node[i].rank = i;
		w.node[i].device = host_node(i);
		for (k = 0; k < SHARED_NODES; k++)
			w.node[i].host[k] = w.host[k];
		for (k = 0; k < w.node[i].threads; k++)
			w.node[i].random[k] = sim_dice64() | 1;
		w.proc[i] = px_start(i, host_node(i), 1000 + i,
				     i ? b_shared_main : shared_main,
				     &w.node[i], &w.status[i]);
	}
}

static void end(void)
{
	u32 i;

	for (i = 0; i < SHARED_NODES; i++)
		sim_proc_wait(w.proc[i]);
	hosts_down();
}

static void all_end(void)
{
	begin();
	end();
	sim_expect(w.ended == SHARED_NODES, "(%u; %d, %d)", w.ended, w.status[0],
		   w.status[1]);
	sim_log("%u reads, the longest call %llu us", w.reads, (u64)w.longest / 1000);
}

/* A lost wake-up delays a call by 20 ms, TURN_MS of dsm/run.c. */
static void programs(void)
{
	all_end();
	sim_expect(w.longest < 15000000, "(%llu ns)", (u64)w.longest);
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
	sim_await(w.begun == SHARED_NODES, 100000);
	sim_pause(sim_dice(3000000));
	sim_kill(w.proc[1]);
	at = sim_clock;
	end();
	sim_expect(sim_clock - at < 10ull * NSEC_PER_SEC, "(%llu)", sim_clock - at);
	sim_expect(w.ended || w.status[0] == 2, "(%d)", w.status[0]);
}

SIM_SCENARIO(.name = "shared", .run = programs, .runs = 100, SIM_STATE(w),
	     .what = "libviadsm: random programs of two nodes, and the model")
SIM_SCENARIO(.name = "shared-loss", .run = lossy, .runs = 50, SIM_STATE(w),
	     .what = "libviadsm: the same on a wire that loses 2 %")
SIM_SCENARIO(.name = "shared-killed", .run = killed, .runs = 50, SIM_STATE(w),
	     .what = "libviadsm: a node is killed, the other ends within ten seconds")

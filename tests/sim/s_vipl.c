// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Two programs that know of nothing but VIPL, several threads each. */
#include "vipl/posix.h"
#include "hosts.h"
#include "kernel/model.h"
#include "vipl/programs.h"

#define MESSAGES	8
#define LANES		4

static u32 posters;

static void both(u32 level)
{
	bool may_fail = sim_config.fail_alloc;
	unsigned int closed = 0;
	struct talk s = {
		.device = host_node(1), .host = host_mac(1), .level = level,
		.messages = MESSAGES, .posters = posters,
		.lanes = posters ? 1 : 1 + sim_dice(LANES),
		.abrupt = !posters && !sim_dice(3), .may_fail = may_fail,
		.closed = &closed,
	};
	struct talk c = s;
	struct sim_proc *p[2];

	c.device = host_node(0);
	c.client = true;
	c.abrupt = !posters && !sim_dice(3);
	px_begin();
	p[0] = px_start(0, "server", 0, talk_main, &s, NULL);
	p[1] = px_start(1, "client", 1000, b_talk_main, &c, NULL);
	/* A wait for one that could not begin has no end. */
	if (may_fail) {
		msleep(60000);
		sim_kill(p[0]);
		sim_kill(p[1]);
	}
	sim_proc_wait(p[0]);
	sim_proc_wait(p[1]);
	sim_expect(closed == 2 || may_fail, "(%u)", closed);
}

static void wire(u32 level)
{
	if (hosts_up(2))
		both(level);
	hosts_down();
}

static void post(void)
{
	posters = 2 + sim_dice(2);
	/* On a wire what is acknowledged makes up for a doorbell. */
	if (sim_dice(4))
		both(VIA_RELIABLE_DELIVERY);
	else
		wire(VIA_RELIABLE_DELIVERY);
	posters = 0;
}

SIM_SCENARIO(.name = "vipl-lo", .run_as = both, .as = VIA_RELIABLE_DELIVERY,
	     .runs = 50,
	     .what = "libvipl: threads, CQs, handlers on the loopback")
SIM_SCENARIO(.name = "vipl-rd", .run_as = wire, .as = VIA_RELIABLE_DELIVERY,
	     .runs = 50,
	     .what = "libvipl: the same over a wire, Reliable Delivery")
SIM_SCENARIO(.name = "vipl-rr", .run_as = wire, .as = VIA_RELIABLE_RECEPTION,
	     .runs = 50,
	     .what = "libvipl: the same over a wire, Reliable Reception")
SIM_SCENARIO(.name = "vipl-ud", .run_as = wire, .as = VIA_UNRELIABLE,
	     .runs = 50, .what = "libvipl: the same over a wire, Unreliable")
SIM_SCENARIO(.name = "vipl-post", .run = post, .runs = 200,
	     .what = "libvipl: threads that post sends to one VI")

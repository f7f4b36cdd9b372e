// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sequence numbers and the clock's ticks beyond their last value. */
#include "stream.h"

#define CONTEXTS	64

/* Of each context: the class draws a cookie and a first number in a row. */
static u8 drawn[CONTEXTS];

static u32 near_the_end(void)
{
	u32 id = sim_self->id % CONTEXTS;

	if (drawn[id]++ % 2)
		return -1 - sim_dice(80);
	return sim_dice64() | 1;
}

static void streams(struct stream_plan *p)
{
	struct stream *s[2];
	u32 i;

	hosts_up(2);
	sim_wire.loss = sim_dice(500);
	sim_wire.dup = sim_dice(500);
	sim_wire.reorder = sim_dice(500);
	for (i = 0; i < 2; i++)
		s[i] = stream_begin(p, i, 0, 1);
	for (i = 0; i < 2; i++)
		stream_end(s[i]);
	hosts_down();
}

static void numbers(void)
{
	struct stream_plan p;

	memset(drawn, 0, sizeof(drawn));
	sim_random = near_the_end;
	stream_draw(&p, 0);
	p.sessions = 3;
	p.messages[0] += 20;
	p.messages[1] += 20;
	streams(&p);
}

/*
 * The ticks of 64 bits wrap in connects, streams, silence; or those of 32, as
 * they do five minutes after a kernel has started.
 */
static void ticks(void)
{
	struct stream_plan p;

	if (sim_dice(4))
		sim_jiffies_start = -(HZ + 1 + sim_dice(10 * HZ));
	else
		sim_jiffies_start = (u32)-(HZ + 1 + sim_dice(10 * HZ));
	sim_ok(sim_load());
	stream_draw(&p, 0);
	p.sessions = 2;
	p.messages[0] += 20;
	p.pace_ns = 10000000 + sim_dice(300000000);
	if (sim_dice(2))
		p.idle_ns = 1000000000 + sim_dice(2000000000);
	streams(&p);
	sim_unload();
}

SIM_SCENARIO(.name = "wrap-numbers", .run = numbers, .runs = 50,
	     .what = "sequence numbers begin shortly before they wrap")
SIM_SCENARIO(.name = "wrap-ticks", .run = ticks, .runs = 50, .unloaded = true,
	     .what = "jiffies wrap during streams")

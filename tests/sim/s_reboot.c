// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A host is gone without a word, and comes back with the same address: in the
 * middle of connects and of streams, with frames of its old life on the wire.
 */
#include "stream.h"

#define STREAMS_MAX	3
#define LIVES_MAX	4

static struct stream *s[LIVES_MAX][STREAMS_MAX];
static u32 n[LIVES_MAX], discs[STREAMS_MAX];

/* The end on the host that stays was connected. */
static bool was_up(const struct stream *s)
{
	return s->end[s->end[0].host != 0].conns;
}

static void begin(u32 life, const struct stream_plan *p)
{
	u32 i, disc;

	n[life] = 1 + sim_dice(STREAMS_MAX);
	for (i = 0; i < n[life]; i++) {
		disc = 10 * life + i;
		/* That of the last life, unless an end of it still asks. */
		if (life && i < n[life - 1] && was_up(s[life - 1][i]))
			disc = discs[i];
		discs[i] = disc;
		s[life][i] = stream_between(p, disc);
	}
}

static void reboot(u32 life)
{
	u32 i;

	sim_nic_cut(host_nic(1), true);
	for (i = 0; i < n[life]; i++)
		stream_kill(s[life][i], 1);
	host_down(1);
	if (sim_dice(2))
		msleep(sim_dice(12000));
	host_up(1);
}

static void reboots(void)
{
	u32 lives = 2 + sim_dice(LIVES_MAX - 1), life, i;
	struct stream_plan p;

	hosts_up(2);
	stream_draw(&p, sim_dice(4) ? VIA_RELIABLE_DELIVERY : 0);
	p.sessions = 1;
	p.pace_ns = sim_dice(2) ? 0 : sim_dice(5000000);
	sim_wire.lasting = true;
	if (sim_dice(2)) {
		sim_wire.reorder = 200;
		sim_wire.jitter_ns = sim_dice(2) ? 30000000 : 2000000000;
	}
	sim_wire.dup = sim_dice(2) ? 0 : 500;
	for (life = 0; life < lives; life++) {
		if (life)
			reboot(life - 1);
		begin(life, &p);
		if (life + 1 < lives) {
			/* Steps of a connect, or well into the stream. */
			if (sim_dice(2))
				msleep(sim_dice(100));
			else
				sim_pause(sim_dice(1000000));
		}
	}
	for (life = 0; life < lives; life++)
		for (i = 0; i < n[life]; i++)
			stream_end(s[life][i]);
	hosts_down();
}

SIM_SCENARIO(.name = "reboots", .run = reboots, .runs = 50, .seconds = 1000,
	     .what = "a host dies without a word, and comes back")

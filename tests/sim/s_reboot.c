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
	return s->end[strcmp(s->end[0].node, "via_a") != 0].conns;
}

static void begin(u32 life, const struct stream_plan *p,
		  struct sim_nic *a, struct sim_nic *b)
{
	u32 i, disc;

	n[life] = 1 + sim_dice(STREAMS_MAX);
	for (i = 0; i < n[life]; i++) {
		disc = 10 * life + i;
		/* That of the last life, unless an end of it still asks. */
		if (life && i < n[life - 1] && was_up(s[life - 1][i]))
			disc = discs[i];
		discs[i] = disc;
		s[life][i] = sim_dice(2) ?
			stream_begin(p, disc, "via_a", "via_b",
				     sim_nic_mac(b)) :
			stream_begin(p, disc, "via_b", "via_a",
				     sim_nic_mac(a));
	}
}

static struct sim_nic *reboot(struct sim_nic *b, u32 life)
{
	u32 i;

	sim_nic_cut(b, true);
	for (i = 0; i < n[life]; i++)
		stream_kill(s[life][i], "via_b");
	sim_nic_down(b);
	if (sim_dice(2))
		msleep(sim_dice(12000));
	return sim_nic_up("b", 2);
}

static void reboots(void)
{
	struct sim_nic *a = sim_nic_up("a", 1), *b = sim_nic_up("b", 2);
	u32 lives = 2 + sim_dice(LIVES_MAX - 1), life, i;
	struct stream_plan p;

	stream_draw(&p, sim_dice(4) ? VIA_RELIABLE_DELIVERY : 0);
	p.sessions = 1;
	p.pace_ns = sim_dice(2) ? 0 : sim_dice(5000000);
	sim_config.max_time = sim_clock + 1000 * SEC;
	sim_wire.lasting = true;
	if (sim_dice(2)) {
		sim_wire.reorder = 200;
		sim_wire.jitter_ns = sim_dice(2) ? 30000000 : 2000000000;
	}
	sim_wire.dup = sim_dice(2) ? 0 : 500;
	for (life = 0; life < lives; life++) {
		if (life)
			b = reboot(b, life - 1);
		begin(life, &p, a, b);
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
	sim_nic_down(a);
	sim_nic_down(b);
}

SIM_SCENARIO(.name = "reboots", .run = reboots, .runs = 50,
	     .what = "a host dies without a word, and comes back")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * More sends are posted at once than may be in flight, each of another length:
 * all come in their order, and each completes with what it has sent.
 */
#include "prog.h"

#define MOST	200
#define SHORT	320			/* bytes of a message, at most */
#define LONG	4500			/* in several frames */

static struct {
	u32 n, level, seed, bytes;
	bool over;
} w;

static u32 bytes_of(u32 i)
{
	return 1 + (i * 37 + w.seed) % w.bytes;
}

static void sender(void *arg)
{
	struct prog_nic n;
	struct prog_done d;
	struct prog_vi v;
	char *out;
	u32 i;

	prog_open_vi(&n, &v, host_node(0), 4096 + MOST * LONG, w.level);
	prog_buffer(&n, 4096);
	out = prog_buffer(&n, w.n * w.bytes);
	prog_connect(&v, host_mac(1), "burst", 5 * SEC);
	v.halves = sim_dice(2);
	for (i = 0; i < w.n; i++) {
		prog_fill(out + i * w.bytes, bytes_of(i), w.seed, i);
		prog_put(&v, false, VIA_CTL_OP_SENDRECV, out + i * w.bytes,
			 bytes_of(i), n.handle, 0, 0);
	}
	prog_ring(&v, false);
	for (i = 0; i < w.n; i++) {
		d = prog_good(&v, false, 60 * SEC);
		sim_expect(d.length == bytes_of(i), "send %u of %u bytes: %u",
			   i, bytes_of(i), d.length);
	}
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&n);
}

static void receiver(void *arg)
{
	struct prog_nic n;
	struct prog_done d;
	struct prog_vi v;
	char *in;
	u32 i;

	prog_open_vi(&n, &v, host_node(1), 4096 + MOST * LONG, w.level);
	prog_buffer(&n, 4096);
	in = prog_buffer(&n, w.n * w.bytes);
	for (i = 0; i < w.n; i++)
		prog_post_recv(&v, in + i * w.bytes, w.bytes);
	prog_connect(&v, NULL, "burst", 10 * SEC);
	for (i = 0; i < w.n; i++) {
		d = prog_good(&v, true, 60 * SEC);
		sim_expect(d.length == bytes_of(i) &&
			   prog_filled(in + i * w.bytes, d.length, w.seed, i),
			   "message %u of %u bytes, not %u", i, d.length,
			   bytes_of(i));
	}
	WRITE_ONCE(w.over, true);
	sim_sleep(SEC);
	prog_close(&n);
}

static void burst(void)
{
	static const u32 losses[] = { 0, 50, 300 };

	w.n = 1 + sim_dice(MOST);
	w.bytes = sim_dice(2) ? SHORT : LONG;
	w.seed = sim_dice(w.bytes);
	w.level = prog_reliable();
	sim_wire.loss = losses[sim_dice(3)];
	hosts_up(sim_dice(4) ? 2 : 0);
	host_run(0, "sender", sender, NULL);
	host_run(1, "receiver", receiver, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "burst", .run = burst, .runs = 40, .max_vi = 4,
	     .seconds = 200, SIM_STATE(w),
	     .what = "more sends at once than may be in flight")

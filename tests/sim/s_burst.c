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
	struct prog_pair pair;
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
	int ret;

	sim_expect(!prog_open(&n, w.pair.node[0], 4096 + MOST * LONG),
		   "no NIC");
	prog_buffer(&n, 4096);
	out = prog_buffer(&n, w.n * w.bytes);
	sim_expect(!prog_vi(&v, &n, w.level, 0, 0), "no VI");
	do {
		sim_sleep(MS);
		ret = prog_request(&v, w.pair.peer, "burst", 5 * SEC);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	v.halves = sim_dice(2);
	for (i = 0; i < w.n; i++) {
		prog_fill(out + i * w.bytes, bytes_of(i), w.seed, i);
		prog_put(&v, false, VIA_CTL_OP_SENDRECV, out + i * w.bytes,
			 bytes_of(i), n.handle, 0, 0);
	}
	prog_ring(&v, false);
	for (i = 0; i < w.n; i++) {
		ret = prog_wait(&v, false, 60 * SEC, &d);
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "send %u: %d, status %#x", i, ret, d.status);
		sim_expect(d.length == bytes_of(i), "send %u of %u bytes: %u",
			   i, bytes_of(i), d.length);
	}
	while (!READ_ONCE(w.over))
		sim_sleep(MS);
	prog_close(&n);
}

static void receiver(void *arg)
{
	struct prog_nic n;
	struct prog_done d;
	struct prog_vi v;
	char *in;
	u32 i;
	int ret;

	sim_expect(!prog_open(&n, w.pair.node[1], 4096 + MOST * LONG),
		   "no NIC");
	prog_buffer(&n, 4096);
	in = prog_buffer(&n, w.n * w.bytes);
	sim_expect(!prog_vi(&v, &n, w.level, 0, 0), "no VI");
	for (i = 0; i < w.n; i++)
		prog_post_recv(&v, in + i * w.bytes, w.bytes);
	ret = prog_accept(&v, "burst", 10 * SEC);
	sim_expect(!ret, "(%d)", ret);
	for (i = 0; i < w.n; i++) {
		ret = prog_wait(&v, true, 60 * SEC, &d);
		sim_expect(!ret && !(d.status & VIA_ST_ERROR_MASK),
			   "receive %u: %d, status %#x", i, ret, d.status);
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
	bool wire = sim_dice(4);

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 200 * SEC;
	w.n = 1 + sim_dice(MOST);
	w.bytes = sim_dice(2) ? SHORT : LONG;
	w.seed = sim_dice(w.bytes);
	w.level = sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION;
	sim_wire.loss = losses[sim_dice(3)];
	prog_pair_run(&w.pair, wire, sender, receiver);
}

SIM_SCENARIO(.name = "burst", .run = burst, .runs = 40, .max_vi = 4,
	     .what = "more sends at once than may be in flight")

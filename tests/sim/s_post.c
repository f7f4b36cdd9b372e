// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads post one send each to one VI, at about the same time, and then
 * nothing: all of them are sent.  A thread that sees BUSY rings no doorbell, so
 * the one that is in the kernel, or its acknowledgements, must look again.
 */
#include "prog.h"

#define THREADS	4
#define ROUNDS	20
#define BYTES	64
#define LOOKS	800			/* the time of an acknowledgement */
#define PATIENCE	(5 * SEC)

static struct {
	struct prog_nic n;
	struct prog_vi v;
	char *out;
	u32 threads, rounds, round, posted, ended;
	u64 spread;
	bool locked, over;
	u32 level;
} w;

static bool is_done(u32 number)
{
	return (s32)(READ_ONCE(w.v.q[0].kern->done) - number) > 0;
}

static void one(void)
{
	u64 until = sim_now() + PATIENCE;
	u32 number, after, looks;

	if (!sim_dice(3)) {
		sim_sleep(sim_dice(w.spread));
	} else {
		/* As soon as some of this round are done. */
		after = w.round * w.threads + sim_dice(w.threads) - 1;
		for (looks = 0; looks < LOOKS && !is_done(after); looks++)
			;
	}
	sim_await(!w.locked, 100);
	w.locked = true;
	number = w.v.q[0].tail;
	prog_put(&w.v, false, VIA_CTL_OP_SENDRECV, w.out, BYTES, w.n.handle, 0,
		 0);
	w.locked = false;
	prog_ring(&w.v, false);
	while (!is_done(number)) {
		sim_expect(sim_now() < until, "send %u stays", number);
		sim_sleep(2000);
	}
}

static void posts(void *arg)
{
	struct prog_done d;
	u32 i;

	for (i = 0; i < w.rounds; i++) {
		sim_await(READ_ONCE(w.round) == i, 1000);
		one();
		if (++w.posted < w.threads)
			continue;
		while (prog_done(&w.v, false, &d))
			sim_expect(!(d.status & VIA_ST_ERROR_MASK),
				   "status %#x", d.status);
		w.posted = 0;
		WRITE_ONCE(w.round, i + 1);
	}
	if (++w.ended == w.threads)
		WRITE_ONCE(w.over, true);
}

static void sender(void *arg)
{
	u32 i;

	prog_open_vi(&w.n, &w.v, host_node(0), 16 << 10, w.level);
	prog_buffer(&w.n, 4096);
	w.out = prog_buffer(&w.n, BYTES);
	prog_connect(&w.v, host_mac(1), "post", 5 * SEC);
	for (i = 0; i < w.threads; i++)
		sim_thread(current->proc, "posts", posts, NULL);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&w.n);
}

static void receiver(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 i;

	prog_open_vi(&n, &v, host_node(1), 16 << 10, w.level);
	prog_buffer(&n, 4096);
	arg = prog_buffer(&n, BYTES);
	for (i = 0; i < w.threads * w.rounds; i++)
		prog_post_recv(&v, arg, BYTES);
	prog_connect(&v, NULL, "post", 10 * SEC);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&n);
}

static void post(void)
{
	static const u32 spreads[] = { 500, 2000, 5000, 60000 };

	w.threads = 2 + sim_dice(THREADS - 1);
	w.rounds = 1 + sim_dice(ROUNDS);
	w.level = prog_level();
	w.spread = spreads[sim_dice(4)];
	/* Sends wait for acknowledgements, and these for a moment. */
	if (sim_dice(4))
		sim_param_set("window", 1 + sim_dice(3));
	if (sim_dice(4))
		sim_wire.delay_ns = 100 + sim_dice(1000);
	hosts_up(sim_dice(8) ? 2 : 0);
	host_run(0, "sender", sender, NULL);
	host_run(1, "receiver", receiver, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "post", .run = post, .runs = 200, .max_vi = 4,
	     .seconds = 100, SIM_STATE(w),
	     .what = "threads post a send each to one VI, then nothing")

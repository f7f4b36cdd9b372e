// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Programs that spin look for frames themselves, sleep, stop looking without a
 * word, or are killed, and NICs go: what came is taken within 2 ms all the
 * same.  Or the NIC has no ring, and they look at the time.
 */
#include "prog.h"

#define MESSAGES	12
#define BYTES		32

static bool ended;			/* something did: no promise holds */

/* Looks so many times; 1: there is one. */
static int spin(struct prog_vi *v, struct prog_done *d, u32 looks)
{
	u32 i;

	for (i = 0; i < looks; i++) {
		if (prog_look(v, true, i, d))
			return 1;
		if (!sim_dice(8))
			sim_sleep(sim_dice(20000));
	}
	return 0;
}

static int next(struct prog_vi *v, struct prog_done *d)
{
	u64 until = sim_now() + 20 * SEC;

	while (!spin(v, d, 20 + sim_dice(200))) {
		if (prog_state(v) != VIA_STATE_CONNECTED)
			return prog_done(v, true, d);
		sim_expect(sim_now() < until, "no message");
		switch (sim_dice(3)) {
		case 0:
			if (!prog_wait(v, true, VIA_FOREVER, d))
				return 1;
			return 0;
		case 1:
			/* Without a word: the tick ends it. */
			sim_sleep(sim_dice(4 * MS));
			break;
		}
	}
	return 1;
}

static void spinner(void *arg)
{
	u32 me = (uintptr_t)arg, i;
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	char *in, *out;
	int ret;

	if (prog_open(&n, host_node(me), 16 << 10))
		return;
	prog_buffer(&n, 4096);
	in = prog_buffer(&n, BYTES);
	out = prog_buffer(&n, BYTES);
	if (prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		goto out;
	for (i = 0; i < MESSAGES; i++)
		prog_post_recv(&v, in, BYTES);
	ret = prog_p2p(&v, host_mac(!me), "spinners", 2 * SEC);
	if (ret) {
		sim_expect(ended || sim_config.fail_alloc, "(%d)", ret);
		goto out;
	}
	for (i = 0; i < MESSAGES; i++) {
		if (!me || i) {
			prog_fill(out, BYTES, me, i);
			prog_post_send(&v, out, BYTES);
		}
		ret = me || i + 1 < MESSAGES ? next(&v, &d) : 1;
		if (!ret || (me || i + 1 < MESSAGES ?
			     d.status & VIA_ST_ERROR_MASK : 0)) {
			sim_expect(ended || sim_config.fail_alloc,
				   "message %u: %d, status %#x", i, ret,
				   d.status);
			break;
		}
	}
	/* The last of ours is to arrive before we leave. */
	sim_sleep(50 * MS);
out:
	if (sim_dice(2))
		prog_close(&n);
}

/* On another handle of the process, which spins for nothing. */
static void idler(void *arg)
{
	struct prog_nic n;
	u32 i, k;

	if (prog_open(&n, arg, 0))
		return;
	for (i = 0; i < 6; i++) {
		for (k = 1 + sim_dice(6); k--;)
			sim_trap(n.file, VIA_OP_POLL, 0);
		if (!sim_dice(3))
			sim_sleep(sim_dice(2 * MS));
		if (!sim_dice(6))
			sim_ioctl(n.file, VIA_IOC_SHUTDOWN, NULL);
	}
	prog_close(&n);
}

static void polls(void)
{
	u32 i, how = sim_dice(4), victim = sim_dice(2);
	struct sim_proc *proc[2];

	ended = false;
	if (sim_dice(3))
		sim_nics_polled();
	hosts_up(2);
	for (i = 0; i < 2; i++) {
		proc[i] = host_run(i, "spinner", spinner, (void *)(uintptr_t)i);
		if (sim_dice(2))
			sim_thread(proc[i], "idler", idler,
				   (void *)host_node(i));
	}
	if (how < 2)
		schedule_hrtimeout_range(&(ktime_t){ sim_dice(3 * MS) }, 0,
					 HRTIMER_MODE_REL);
	if (how == 0) {
		ended = true;
		sim_kill(proc[victim]);
	}
	if (how == 1) {
		ended = true;
		host_down(victim);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "poll", .run = polls, .runs = 300, .max_vi = 4,
	     .seconds = 60,
	     .what = "programs that spin, sleep, stop, or end; NICs that go")

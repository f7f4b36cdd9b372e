// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Streams of small messages, each to be acknowledged soon, while the VIs of
 * one end go, or its process, or a NIC: mostly as a tick of the class's timer
 * comes, and with tasklets that wait for a processor.
 */
#include "prog.h"

#define VIS	3
#define DEPTH	8

enum end { LEAVE, DESTROY, KILL, DOWN_HERE, DOWN_THERE, ENDS };

static struct {
	enum end end;
	u32 ready;
	bool going, over;
} w;

static void post(struct prog_vi *v, struct prog_nic *n, bool recv)
{
	struct prog_queue *q = &v->q[recv];

	while (q->tail - q->collected < DEPTH)
		if (recv)
			prog_post_recv(v, n->mem, 64);
		else
			prog_post_send(v, n->mem + 64, 64);
}

static void collect(struct prog_vi *v, bool recv)
{
	struct prog_done d;

	while (prog_done(v, recv, &d))
		;
}

static void open_vis(struct prog_nic *n, struct prog_vi *v, const char *node)
{
	u32 i;

	sim_ok(prog_open(n, node, 4096));
	prog_vis(v, VIS, n, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < VIS; i++)
		post(&v[i], n, true);
}

static void sends(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i;

	open_vis(&n, v, "via_a");
	for (i = 0; i < VIS; i++)
		prog_connect(&v[i], host_mac(1), "busy", SEC);
	w.ready++;
	while (!w.over) {
		for (i = 0; i < VIS; i++) {
			collect(&v[i], false);
			if (prog_state(&v[i]) == VIA_STATE_CONNECTED)
				post(&v[i], &n, false);
		}
		sim_sleep(sim_dice(150000));
	}
	prog_close(&n);
}

static void go(struct prog_vi *v)
{
	u32 i;

	for (i = 0; i < VIS; i++) {
		prog_disconnect(&v[i]);
		collect(&v[i], true);
		collect(&v[i], false);
		if (w.end == DESTROY)
			prog_vi_destroy(&v[i]);
	}
}

static void takes(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	bool gone = false;
	u32 i;

	open_vis(&n, v, "via_b");
	for (i = 0; i < VIS; i++)
		prog_connect(&v[i], NULL, "busy", SEC);
	w.ready++;
	while (!w.over) {
		if (w.going && !gone && (w.end == LEAVE || w.end == DESTROY)) {
			go(v);
			gone = true;
		}
		for (i = 0; i < VIS && !gone; i++) {
			collect(&v[i], true);
			if (prog_state(&v[i]) == VIA_STATE_CONNECTED)
				post(&v[i], &n, true);
		}
		sim_sleep(sim_dice(150000));
	}
	prog_close(&n);
}

/* Any moment, or just before the coarse timer's next tick. */
static void await(bool tick_only)
{
	u64 tick = 4 * MS, left, before;

	sim_pause(sim_dice(2 * MS));
	if (!tick_only && !sim_dice(3))
		return;
	left = tick - sim_now() % tick;
	/* So long a NIC's end takes until it stops its timer. */
	before = sim_dice(2) ? 2500 + sim_dice(2000) : sim_dice(30000);
	sim_pause(max(left, 30001ull) - before);
}

static void busy(void)
{
	struct sim_proc *takes_it;

	sim_tasklets_late = sim_dice(2);
	w.end = sim_dice(ENDS);
	hosts_up(2);
	host_run(0, "sends", sends, NULL);
	takes_it = host_run(1, "takes", takes, NULL);
	sim_await(w.ready >= 2, 100000);
	await(false);
	w.going = true;
	if (w.end == KILL)
		sim_kill(takes_it);
	else if (w.end == DOWN_HERE || w.end == DOWN_THERE)
		host_down(w.end == DOWN_HERE);
	msleep(sim_dice(3));
	w.over = true;
	hosts_down();
}

/* An attempt keeps the timer going. */
static void attempts(void *arg)
{
	static const u8 nowhere[] = { 0x52, 0x54, 0, 0, 1, 0x77 };
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, "via_a", 0, VIA_RELIABLE_DELIVERY);
	prog_request_start(&v, nowhere, "busy", SEC, sim_dice(2));
	w.ready++;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void ticks(void)
{
	u32 turns;

	for (turns = 5; turns; turns--) {
		memset(&w, 0, sizeof(w));
		hosts_up(1);
		host_run(0, "attempts", attempts, NULL);
		sim_await(w.ready, 100000);
		await(true);
		host_down(0);
		w.over = true;
		hosts_down();
	}
}

SIM_SCENARIO(.name = "ticks", .run = ticks, .runs = 100,
	     .what = "a NIC goes as the tick of its timer comes")
SIM_SCENARIO(.name = "busy", .run = busy, .runs = 60, .seconds = 60,
	     SIM_STATE(w),
	     .what = "VIs, processes and NICs go while frames come for them")

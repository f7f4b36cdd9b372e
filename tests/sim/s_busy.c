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
	struct sim_nic *nic[2];
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

static bool open_vis(struct prog_nic *n, struct prog_vi *v, const char *node)
{
	u32 i;

	sim_expect(!prog_open(n, node, 4096), "");
	for (i = 0; i < VIS; i++) {
		sim_expect(!prog_vi(&v[i], n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
		post(&v[i], n, true);
	}
	return true;
}

static void sends(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i;
	int ret;

	open_vis(&n, v, "via_a");
	for (i = 0; i < VIS; i++) {
		do {
			sim_sleep(MS);
			ret = prog_request(&v[i], sim_nic_mac(w.nic[1]),
					   "busy", SEC);
		} while (ret == VIA_R_NO_MATCH);
		sim_expect(!ret, "(%d)", ret);
	}
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
	int ret;

	open_vis(&n, v, "via_b");
	for (i = 0; i < VIS; i++) {
		ret = prog_accept(&v[i], "busy", SEC);
		sim_expect(!ret, "(%d)", ret);
	}
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

static void down(u32 i)
{
	sim_nic_down(w.nic[i]);
	w.nic[i] = NULL;
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
	struct sim_proc *p[2];
	u32 i;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	sim_tasklets_late = sim_dice(2);
	w.end = sim_dice(ENDS);
	for (i = 0; i < 2; i++) {
		w.nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
		p[i] = sim_proc_new(i ? "takes" : "sends", 1000 + i);
	}
	sim_thread(p[0], "sends", sends, NULL);
	sim_thread(p[1], "takes", takes, NULL);
	while (w.ready < 2)
		sim_pause(100000);
	await(false);
	w.going = true;
	if (w.end == KILL)
		sim_kill(p[1]);
	else if (w.end == DOWN_HERE || w.end == DOWN_THERE)
		down(w.end == DOWN_HERE);
	msleep(sim_dice(3));
	w.over = true;
	for (i = 0; i < 2; i++)
		sim_proc_wait(p[i]);
	for (i = 0; i < 2; i++)
		if (w.nic[i])
			down(i);
}

/* An attempt keeps the timer going. */
static void attempts(void *arg)
{
	static const u8 nowhere[] = { 0x52, 0x54, 0, 0, 1, 0x77 };
	struct prog_nic n;
	struct prog_vi v;

	sim_expect(!prog_open(&n, "via_a", 0) &&
		   !prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	prog_request_start(&v, nowhere, "busy", SEC, sim_dice(2));
	w.ready++;
	while (!w.over)
		sim_sleep(MS);
	prog_close(&n);
}

static void ticks(void)
{
	struct sim_proc *p;
	u32 turns;

	for (turns = 5; turns; turns--) {
		memset(&w, 0, sizeof(w));
		w.nic[0] = sim_nic_up("a", 1);
		p = sim_proc_new("attempts", 1000);
		sim_thread(p, "attempts", attempts, NULL);
		while (!w.ready)
			sim_pause(100000);
		await(true);
		down(0);
		w.over = true;
		sim_proc_wait(p);
	}
}

SIM_SCENARIO(.name = "ticks", .run = ticks, .runs = 100,
	     .what = "a NIC goes as the tick of its timer comes")
SIM_SCENARIO(.name = "busy", .run = busy, .runs = 60,
	     .what = "VIs, processes and NICs go while frames come for them")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The transmitter of a NIC stands still while VIs want to send: then they,
 * their handle, their process or the NIC end, before it goes on or not at all.  Or
 * they wait for credit of a small window.
 */
#include "prog.h"

#define VIS	3

enum end { LEAVE, DESTROY, CLOSE, KILL, DOWN, ENDS };

static struct {
	enum end end;
	u32 msgs;			/* each VI sends */
	u32 ready, posted;
	bool over;
} w;

static void sends(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i, k;

	sim_ok(prog_open(&n, "via_a", 4096));
	for (i = 0; i < VIS; i++) {
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		prog_connect(&v[i], host_mac(1), "full", SEC);
	}
	w.ready++;
	sim_await(w.ready >= 3, 100000);
	for (i = 0; i < VIS; i++)
		for (k = 0; k < w.msgs; k++)
			prog_post_send(&v[i], n.mem, 64);
	w.posted++;
	sim_sleep(sim_dice(100000));
	for (i = 0; i < VIS && (w.end == LEAVE || w.end == DESTROY); i++) {
		prog_disconnect(&v[i]);
		while (prog_done(&v[i], false, &(struct prog_done){ 0 }))
			;
		if (w.end == DESTROY)
			prog_vi_destroy(&v[i]);
	}
	if (w.end == CLOSE)
		prog_close(&n);
	w.posted++;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void takes(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i, k;

	sim_ok(prog_open(&n, "via_b", 4096));
	for (i = 0; i < VIS; i++) {
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		for (k = 0; k < 2 * w.msgs; k++)
			prog_post_recv(&v[i], n.mem, 64);
		prog_connect(&v[i], NULL, "full", SEC);
	}
	w.ready++;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void ends(u32 msgs, bool stands)
{
	struct sim_proc *sender;

	w.msgs = msgs;
	w.end = sim_dice(ENDS);
	hosts_up(2);
	sender = host_run(0, "sends", sends, NULL);
	host_run(1, "takes", takes, NULL);
	sim_await(w.ready >= 2, 100000);
	sim_nic_stop(host_nic(0), stands);
	w.ready++;
	sim_await(w.posted >= 1, 10000);
	sim_pause(sim_dice(200000));
	if (w.end == KILL)
		sim_kill(sender);
	if (w.end == DOWN)
		host_down(0);
	sim_pause(sim_dice(2) ? sim_dice(100000) : sim_dice(10 * MS));
	if (host_nic(0))
		sim_nic_stop(host_nic(0), false);
	msleep(sim_dice(20));
	w.over = true;
	hosts_down();
}

static void full(void)
{
	ends(4, true);
}

/* One VI's acknowledgement gives credit to the next one, which ends. */
static void narrow(void)
{
	sim_param_set("window", 2);
	sim_tasklets_late = true;
	ends(40, false);
}

SIM_SCENARIO(.name = "full", .run = full, .runs = 100, .seconds = 60,
	     SIM_STATE(w),
	     .what = "ends of VIs and NICs while a transmitter stands still")

SIM_SCENARIO(.name = "full-credit", .run = narrow, .runs = 300, .seconds = 60,
	     SIM_STATE(w),
	     .what = "ends of VIs and NICs while VIs wait for credit")

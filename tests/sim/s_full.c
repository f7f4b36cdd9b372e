// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The transmitter of a NIC stands still while VIs want to send: then they,
 * their handle, their process or the NIC end, before it goes on or not at all.
 */
#include "prog.h"

#define VIS	3

enum end { LEAVE, DESTROY, CLOSE, KILL, DOWN, ENDS };

static struct {
	enum end end;
	struct sim_nic *nic[2];
	u32 ready, posted;
	bool over;
} w;

static void sends(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i, k;
	int ret;

	sim_expect(!prog_open(&n, "via_a", 4096), "");
	for (i = 0; i < VIS; i++) {
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
		do {
			sim_sleep(MS);
			ret = prog_request(&v[i], sim_nic_mac(w.nic[1]),
					   "full", SEC);
		} while (ret == VIA_R_NO_MATCH);
		sim_expect(!ret, "(%d)", ret);
	}
	w.ready++;
	while (w.ready < 3)
		sim_sleep(100000);
	for (i = 0; i < VIS; i++)
		for (k = 0; k < 4; k++)
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
	while (!w.over)
		sim_sleep(MS);
	prog_close(&n);
}

static void takes(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[VIS];
	u32 i, k;
	int ret;

	sim_expect(!prog_open(&n, "via_b", 4096), "");
	for (i = 0; i < VIS; i++) {
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
		for (k = 0; k < 8; k++)
			prog_post_recv(&v[i], n.mem, 64);
		ret = prog_accept(&v[i], "full", SEC);
		sim_expect(!ret, "(%d)", ret);
	}
	w.ready++;
	while (!w.over)
		sim_sleep(MS);
	prog_close(&n);
}

static void full(void)
{
	struct sim_proc *p[2];
	u32 i;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	w.end = sim_dice(ENDS);
	for (i = 0; i < 2; i++) {
		w.nic[i] = sim_nic_up(i ? "b" : "a", 1 + i);
		p[i] = sim_proc_new(i ? "takes" : "sends", 1000 + i);
	}
	sim_thread(p[0], "sends", sends, NULL);
	sim_thread(p[1], "takes", takes, NULL);
	while (w.ready < 2)
		sim_pause(100000);
	sim_nic_stop(w.nic[0], true);
	w.ready++;
	while (w.posted < 1)
		sim_pause(10000);
	sim_pause(sim_dice(200000));
	if (w.end == KILL)
		sim_kill(p[0]);
	if (w.end == DOWN) {
		sim_nic_down(w.nic[0]);
		w.nic[0] = NULL;
	}
	sim_pause(sim_dice(2) ? sim_dice(100000) : sim_dice(10 * MS));
	if (w.nic[0])
		sim_nic_stop(w.nic[0], false);
	msleep(sim_dice(20));
	w.over = true;
	for (i = 0; i < 2; i++)
		sim_proc_wait(p[i]);
	for (i = 0; i < 2; i++)
		if (w.nic[i])
			sim_nic_down(w.nic[i]);
}

SIM_SCENARIO(.name = "full", .run = full, .runs = 100,
	     .what = "ends of VIs and NICs while a transmitter stands still")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIs of many hosts that owe acknowledgements at the same time: each host gets its
 * own, and none waits for the others' without end.
 */
#include <stdio.h>
#include "prog.h"
#include "../../devices/ether/owed.h"
#include "../../devices/ether/vi.h"

#define HOSTS		40		/* more than lists */
#define ROUNDS		12
#define MSG		32
#define US		1000ull

static struct {
	struct sim_nic *sink, *nic[HOSTS];
	struct prog_nic at, prog[HOSTS];
	struct prog_vi in[HOSTS], out[HOSTS];
	u32 up, waiting, over, round;
} w;

static void sink(void *arg)
{
	struct prog_done d;
	u32 i, r;

	sim_expect(!prog_open(&w.at, "via_sink", HOSTS * MSG), "");
	for (i = 0; i < HOSTS; i++) {
		sim_expect(!prog_vi(&w.in[i], &w.at, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
		for (r = 0; r < ROUNDS; r++)
			prog_post_recv(&w.in[i], w.at.mem + i * MSG, MSG);
		while (prog_accept(&w.in[i], "owed", SEC))
			sim_sleep(100 * US);
	}
	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < HOSTS; i++)
			sim_expect(!prog_wait(&w.in[i], true, 10 * SEC, &d), "");
	while (w.over < HOSTS)
		sim_sleep(MS);
	prog_close(&w.at);
}

static void host(void *arg)
{
	u32 i = (struct sim_nic **)arg - w.nic, r;
	struct prog_nic *n = &w.prog[i];
	struct prog_done d;
	char name[16];

	snprintf(name, sizeof(name), "via_h%u", i);
	sim_expect(!prog_open(n, name, MSG), "");
	sim_expect(!prog_vi(&w.out[i], n, VIA_RELIABLE_DELIVERY, 0, 0), "");
	while (prog_request(&w.out[i], sim_nic_mac(w.sink), "owed", SEC))
		sim_sleep(100 * US);
	w.up++;
	for (r = 0; r < ROUNDS; r++) {
		w.waiting++;
		while (w.waiting < (r + 1) * HOSTS)
			sim_sleep(10 * US);
		prog_post_send(&w.out[i], n->mem, MSG);
		sim_expect(!prog_wait(&w.out[i], false, 10 * SEC, &d), "");
	}
	sim_expect(!prog_counter(n, "timeouts"), "%llu timeouts of host %u",
		   prog_counter(n, "timeouts"), i);
	w.over++;
	prog_close(n);
}

static void owed(void)
{
	static char name[HOSTS][16];
	struct sim_proc *p[HOSTS + 1];
	u32 i;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 100 * SEC;
	sim_config.max_steps = 0;
	/* An acknowledgement for the wrong host is none. */
	sim_param_set("rto_min_us", 500000);
	w.sink = sim_nic_up("sink", 1);
	p[HOSTS] = sim_proc_new("sink", 2000);
	sim_thread(p[HOSTS], "sink", sink, NULL);
	for (i = 0; i < HOSTS; i++) {
		snprintf(name[i], sizeof(name[i]), "h%u", i);
		w.nic[i] = sim_nic_up(name[i], 2 + i);
		p[i] = sim_proc_new(name[i], 1000 + i);
		sim_thread(p[i], name[i], host, &w.nic[i]);
	}
	for (i = 0; i <= HOSTS; i++)
		sim_proc_wait(p[i]);
	for (i = 0; i < HOSTS; i++)
		sim_nic_down(w.nic[i]);
	sim_nic_down(w.sink);
}

SIM_SCENARIO(.name = "acks-hosts", .run = owed, .runs = 10,
	     .max_vi = HOSTS + 1, .coarse = true,
	     .what = "what one CPU owes many hosts reaches each of them")

/* The lists themselves: one that is filled again and again is not all there is. */
static void turns(void)
{
	struct via_ether_vi *ev[3];
	struct via_peer *peer[3];
	struct via_ether_nic *nic;
	struct via_owed *o;
	u32 i, n, seen = 0;
	bool behind, last;

	w.sink = sim_nic_up("a", 1);
	nic = sim_nic_ether(w.sink);
	for (i = 0; i < 3; i++) {
		peer[i] = kzalloc(sizeof(*peer[i]), GFP_KERNEL);
		ev[i] = kzalloc(sizeof(*ev[i]), GFP_KERNEL);
		if (!peer[i] || !ev[i])
			goto out;
		ev[i]->nic = nic;
		ev[i]->peer = peer[i];
		peer[i]->hash = i * 5;
	}
	local_bh_disable();
	o = via_owed_here(nic);
	for (i = 0; i < 3; i++)
		sim_expect(via_owed_add(ev[i], i == 1) &&
			   !via_owed_add(ev[i], false), "%u", i);
	while ((n = via_owed_turn(o)) < VIA_OWED_LISTS && seen != 7) {
		struct via_work work = VIA_WORK(1);
		struct via_ether_vi *got;

		got = via_owed_next(o, n, &behind, &last, &work);
		i = n / 5;
		sim_expect(n % 5 == 0 && got == ev[i] && last &&
			   behind == (i == 1 && !(seen & 2)), "list %u", n);
		sim_expect(!(seen & BIT(i)), "list %u comes twice", n);
		seen |= BIT(i);
		via_owed_add(got, false);
	}
	for (i = 0; i < 3; i++)
		via_owed_del(ev[i]);
	sim_expect(via_owed_turn(o) == VIA_OWED_LISTS, "");
	local_bh_enable();
out:
	for (i = 0; i < 3; i++) {
		kfree(peer[i]);
		kfree(ev[i]);
	}
	sim_nic_down(w.sink);
}

SIM_SCENARIO(.name = "acks-turns", .run = turns, .runs = 5,
	     .what = "lists of owed acknowledgements take turns")

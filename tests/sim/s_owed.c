// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIs of many hosts that owe acknowledgements at the same time: each host gets its
 * own, and none waits for the others' without end.
 */
#include "prog.h"
#include "../../devices/ether/owed.h"
#include "../../devices/ether/vi.h"

#define HOSTS		40		/* more than lists */
#define ROUNDS		12
#define MSG		32
#define US		1000ull

static struct {
	struct prog_nic at, prog[HOSTS];
	struct prog_vi in[HOSTS], out[HOSTS];
	u32 up, waiting, over, round;
} w;

static void sink(void *arg)
{
	struct prog_done d;
	u32 i, r;

	sim_ok(prog_open(&w.at, host_node(0), HOSTS * MSG));
	for (i = 0; i < HOSTS; i++) {
		sim_ok(prog_vi(&w.in[i], &w.at, VIA_RELIABLE_DELIVERY, 0, 0));
		for (r = 0; r < ROUNDS; r++)
			prog_post_recv(&w.in[i], w.at.mem + i * MSG, MSG);
		sim_await(!prog_accept(&w.in[i], "owed", SEC), 100 * US);
	}
	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < HOSTS; i++)
			sim_ok(prog_wait(&w.in[i], true, 10 * SEC, &d));
	sim_await(w.over >= HOSTS, MS);
	prog_close(&w.at);
}

static void host(void *arg)
{
	u32 i = (uintptr_t)arg, r;
	struct prog_nic *n = &w.prog[i];
	struct prog_done d;

	prog_open_vi(n, &w.out[i], host_node(1 + i), MSG,
		     VIA_RELIABLE_DELIVERY);
	sim_await(!prog_request(&w.out[i], host_mac(0), "owed", SEC), 100 * US);
	w.up++;
	for (r = 0; r < ROUNDS; r++) {
		w.waiting++;
		sim_await(w.waiting >= (r + 1) * HOSTS, 10 * US);
		prog_post_send(&w.out[i], n->mem, MSG);
		sim_ok(prog_wait(&w.out[i], false, 10 * SEC, &d));
	}
	sim_expect(!prog_counter(n, "timeouts"), "%llu timeouts of host %u",
		   prog_counter(n, "timeouts"), i);
	w.over++;
	prog_close(n);
}

static void owed(void)
{
	uintptr_t i;

	sim_config.max_steps = 0;
	/* An acknowledgement for the wrong host is none. */
	sim_param_set("rto_min_us", 500000);
	hosts_up(1 + HOSTS);
	host_run(0, "sink", sink, NULL);
	for (i = 0; i < HOSTS; i++)
		host_run(1 + i, "host", host, (void *)i);
	hosts_down();
}

SIM_SCENARIO(.name = "acks-hosts", .run = owed, .runs = 10, .max_vi = HOSTS + 1,
	     .seconds = 100, SIM_STATE(w), .coarse = true,
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

	hosts_up(1);
	nic = sim_nic_ether(host_nic(0));
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
	hosts_down();
}

SIM_SCENARIO(.name = "acks-turns", .run = turns, .runs = 5,
	     .what = "lists of owed acknowledgements take turns")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * VIs of many hosts that owe acknowledgements at the same time: each host gets its
 * own, and none waits for the others' without end.  And the lists of a CPU by
 * themselves.
 */
#include "prog.h"
#include "../../devices/ether/owed.h"
#include "../../devices/ether/ready.h"
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

#define ENDS		3

static struct {
	struct via_ether_vi *ev[ENDS];
	struct via_peer *peer[ENDS];
	struct via_vi *vi[ENDS];
} alone;

/* VIs that are nothing but entries of lists. */
static bool ends_up(void)
{
	u32 i;

	hosts_up(1);
	for (i = 0; i < ENDS; i++) {
		alone.peer[i] = kzalloc(sizeof(*alone.peer[i]), GFP_KERNEL);
		alone.ev[i] = kzalloc(sizeof(*alone.ev[i]), GFP_KERNEL);
		alone.vi[i] = kzalloc(sizeof(*alone.vi[i]), GFP_KERNEL);
		if (!alone.peer[i] || !alone.ev[i] || !alone.vi[i])
			return false;
		spin_lock_init(&alone.vi[i]->sq.lock);
		spin_lock_init(&alone.vi[i]->rq.lock);
		alone.ev[i]->vi = alone.vi[i];
		alone.ev[i]->nic = sim_nic_ether(host_nic(0));
		alone.ev[i]->peer = alone.peer[i];
		alone.ev[i]->snd.cpu = VIA_CPU_NONE;
		alone.ev[i]->delack.push = 1;
	}
	return true;
}

static void ends_down(void)
{
	u32 i;

	for (i = 0; i < ENDS; i++) {
		kfree(alone.peer[i]);
		kfree(alone.ev[i]);
		kfree(alone.vi[i]);
	}
	hosts_down();
}

/* The lists themselves: one that is filled again and again is not all there is. */
static void turns(void)
{
	struct via_ether_vi **ev = alone.ev;
	struct via_owed *o;
	u32 i, n, seen = 0;
	bool behind, last;

	if (!ends_up())
		goto out;
	for (i = 0; i < ENDS; i++)
		alone.peer[i]->hash = i * 5;
	local_bh_disable();
	o = via_owed_here(ev[0]->nic);
	for (i = 0; i < ENDS; i++)
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
	for (i = 0; i < ENDS; i++)
		via_owed_del(ev[i]);
	sim_expect(via_owed_turn(o) == VIA_OWED_LISTS, "");
	local_bh_enable();
out:
	ends_down();
}

SIM_SCENARIO(.name = "acks-turns", .run = turns, .runs = 5, SIM_STATE(alone),
	     .what = "lists of owed acknowledgements take turns")

static void delay(u32 i)
{
	spin_lock(&alone.vi[i]->rq.lock);
	via_owed_delay(alone.ev[i]);
	spin_unlock(&alone.vi[i]->rq.lock);
}

/* Data of that VI goes; true: another one is acknowledged behind it. */
static bool data(u32 i)
{
	bool behind = false;

	spin_lock(&alone.vi[i]->sq.lock);
	WRITE_ONCE(alone.ev[i]->snd.cpu, smp_processor_id());
	if (via_owed_is_delayed(alone.ev[i]))
		behind = via_owed_behind(alone.ev[i]);
	spin_unlock(&alone.vi[i]->sq.lock);
	return behind;
}

/* VIs 0 and 1 are one host's, 2 is another's that has the same slot. */
static void slots(void)
{
	int here, there;

	if (!ends_up())
		goto out;
	alone.peer[2]->hash = VIA_OWED_SLOTS;
	alone.ev[1]->peer = alone.peer[0];
	local_bh_disable();
	here = smp_processor_id();
	there = !here;
	delay(0);
	sim_expect(!data(0), "its own data carries it");
	delay(0);
	sim_expect(!data(2), "data goes to another host");
	delay(0);
	sim_expect(data(1) && alone.ev[0]->on.behind, "");
	sim_expect(!data(1), "it is acknowledged twice");
	via_owed_del(alone.ev[0]);
	/* Its program is on another CPU, and comes here. */
	alone.ev[0]->snd.cpu = there;
	delay(0);
	sim_expect(!data(1), "the slot of this CPU");
	alone.ev[0]->snd.cpu = here;
	delay(0);
	sim_expect(!per_cpu_ptr(alone.ev[0]->nic->owed, there)->delayed[0],
		   "it is in the slot of the CPU that it has left");
	sim_expect(data(1), "");
	via_owed_del(alone.ev[0]);
	delay(0);
	via_owed_del(alone.ev[0]);
	sim_expect(!data(1), "it has ended");
	local_bh_enable();
out:
	ends_down();
}

SIM_SCENARIO(.name = "acks-slots", .run = slots, .runs = 5, SIM_STATE(alone),
	     .what = "data carries what other VIs of its host have delayed, where it is sent")

static struct {
	struct via_ether_nic nic;
	u32 resumed, runs;
	bool held, stopped;
} lists;

/* One a run. */
static void resume(struct tasklet_struct *t)
{
	struct via_ready *r = from_tasklet(r, t, tasklet);
	struct via_work work = VIA_WORK(1);

	sim_expect(!lists.stopped, "it runs after it was stopped");
	if (lists.held)
		return;
	lists.runs++;
	rcu_read_lock();
	while (via_ready_next(r, &work))
		lists.resumed++;
	rcu_read_unlock();
}

static void add_all(void)
{
	u32 i;

	local_bh_disable();
	for (i = 0; i < ENDS; i++)
		via_ready_add(alone.ev[i]);
	via_ready_add(alone.ev[0]);
	local_bh_enable();
}

/* Each is resumed once, some runs later, but for the one that has ended. */
static void ready(void)
{
	u32 i;

	if (!ends_up() || via_ready_init(&lists.nic, resume))
		goto out;
	for (i = 0; i < ENDS; i++)
		alone.ev[i]->nic = &lists.nic;
	local_bh_disable();
	lists.held = true;
	add_all();
	spin_lock(&alone.vi[1]->sq.lock);
	via_ready_del(alone.ev[1]);
	spin_unlock(&alone.vi[1]->sq.lock);
	lists.held = false;
	tasklet_schedule(&this_cpu_ptr(lists.nic.runs.ready)->tasklet);
	local_bh_enable();
	sim_await(READ_ONCE(lists.resumed) == ENDS - 1, 10 * US);
	sim_sleep(SEC);
	sim_expect(lists.resumed == ENDS - 1 && lists.runs >= ENDS - 1,
		   "%u, in %u runs", lists.resumed, lists.runs);
	add_all();
	via_ready_stop(&lists.nic);
	lists.stopped = true;
	sim_sleep(SEC);
	via_ready_free(&lists.nic);
out:
	ends_down();
}

SIM_SCENARIO(.name = "ready-lists", .run = ready, .runs = 20, SIM_STATE(lists),
	     .what = "a CPU resumes each VI that has credit once, in turns")

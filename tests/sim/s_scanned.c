// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A receive queue in which each message is followed by bad receives, as many as
 * it has, and another thread that posts them again at once.  What a send has
 * looked at is bounded (SIM_VISITS, SIM_HELD_STEPS), and all receives that the
 * kernel was asked to check complete without another message.
 */
#include "prog.h"

#define ROUNDS	3

static struct {
	struct prog_nic n[2];
	struct prog_vi v[2];		/* the sender's, the receiver's */
	bool ready, over;
} w;

/* One good receive of a round of the ring, or none. */
static void fill_slots(struct prog_vi *v)
{
	struct via_slot *slots = v->q[1].slots;
	u32 i;

	for (i = 0; i < v->shared->entries; i++)
		slots[i] = (struct via_slot){
			.desc = (uintptr_t)v->nic->mem + !!i,
			.desc_handle = v->nic->handle,
			.control = VIA_CTL_OP_SENDRECV,
		};
}

static u32 done(const struct prog_vi *v)
{
	return READ_ONCE(v->q[1].kern->done);
}

static void post_all(struct prog_vi *v)
{
	smp_store_release(&v->q[1].prog->tail, done(v) + v->shared->entries);
	while (sim_trap(v->nic->file, VIA_OP_RECV, v->id) == VIA_TRAP_MORE)
		;
}

static void receiver(void *arg)
{
	struct prog_vi *v = &w.v[1];
	u32 entries, i;

	prog_open_vi(&w.n[1], v, host_node(1), 4096, VIA_UNRELIABLE);
	entries = v->shared->entries;
	fill_slots(v);
	post_all(v);
	prog_connect(v, NULL, "scanned", 60 * SEC);
	WRITE_ONCE(w.ready, true);
	while (!READ_ONCE(w.over))
		post_all(v);
	/* Those behind a good one, by one message; it is lost if there is none. */
	sim_sleep(MS);
	post_all(v);
	WRITE_ONCE(w.ready, false);
	sim_await(!READ_ONCE(w.over), MS);
	for (i = 0; i < 100 && done(v) != READ_ONCE(v->q[1].prog->tail); i++)
		sim_sleep(MS);
	sim_expect(done(v) == READ_ONCE(v->q[1].prog->tail),
		   "%u of %u are not looked at",
		   READ_ONCE(v->q[1].prog->tail) - done(v), entries);
	prog_close(&w.n[1]);
}

/* A burst, by one trap. */
static void send(u32 messages)
{
	struct prog_vi *v = &w.v[0];
	struct prog_done d;
	u32 i;

	v->hold = true;
	for (i = 0; i < messages; i++)
		prog_post_send(v, w.n[0].mem, 0);
	v->hold = false;
	prog_ring(v, false);
	for (i = 0; i < messages; i++)
		sim_ok(prog_wait(v, false, SEC, &d));
}

static void sender(void *arg)
{
	struct prog_vi *v = &w.v[0];
	u32 i;

	prog_open_vi(&w.n[0], v, host_node(0), 4096, VIA_UNRELIABLE);
	prog_connect(v, host_mac(1), "scanned", SEC);
	sim_await(READ_ONCE(w.ready), MS);
	for (i = 0; i < ROUNDS; i++)
		send(PROG_DESCS);
	WRITE_ONCE(w.over, true);
	sim_await(!READ_ONCE(w.ready), MS);
	send(1);
	WRITE_ONCE(w.over, false);
	sim_await(prog_state(v) && prog_state(v) != VIA_STATE_CONNECTED, MS);
	prog_close(&w.n[0]);
}

static void scanned(void)
{
	hosts_up(sim_dice(4) ? 0 : 2);
	host_run(0, "sends", sender, NULL);
	host_run(1, "scanned", receiver, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "scanned", .run = scanned, .runs = 20, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "bad receives behind each message, posted again at once")

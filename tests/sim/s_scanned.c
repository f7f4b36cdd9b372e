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
	bool wire, ready, over;
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

	sim_expect(!prog_open(&w.n[1], w.wire ? "via_b" : "via_lo", 4096), "");
	sim_expect(!prog_vi(v, &w.n[1], VIA_UNRELIABLE, 0, 0), "");
	entries = v->shared->entries;
	fill_slots(v);
	post_all(v);
	sim_expect(!prog_accept(v, "scanned", 60 * SEC), "");
	WRITE_ONCE(w.ready, true);
	while (!READ_ONCE(w.over))
		post_all(v);
	/* Those behind a good one, by one message; it is lost if there is none. */
	sim_sleep(MS);
	post_all(v);
	WRITE_ONCE(w.ready, false);
	while (READ_ONCE(w.over))
		sim_sleep(MS);
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
		sim_expect(!prog_wait(v, false, SEC, &d), "");
}

static void sender(void *arg)
{
	static const u8 mac[] = { 0x52, 0x54, 0, 0, 1, 2 };
	static const u8 own[] = { 0x02, 0, 0, 0, 0, 0x01 };
	struct prog_vi *v = &w.v[0];
	u32 i;
	int ret;

	sim_expect(!prog_open(&w.n[0], w.wire ? "via_a" : "via_lo", 4096), "");
	sim_expect(!prog_vi(v, &w.n[0], VIA_UNRELIABLE, 0, 0), "");
	do {
		ret = prog_request(v, w.wire ? mac : own, "scanned", SEC);
		if (ret == VIA_R_NO_MATCH)
			sim_sleep(MS);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	while (!READ_ONCE(w.ready))
		sim_sleep(MS);
	for (i = 0; i < ROUNDS; i++)
		send(PROG_DESCS);
	WRITE_ONCE(w.over, true);
	while (READ_ONCE(w.ready))
		sim_sleep(MS);
	send(1);
	WRITE_ONCE(w.over, false);
	while (!prog_state(v) || prog_state(v) == VIA_STATE_CONNECTED)
		sim_sleep(MS);
	prog_close(&w.n[0]);
}

static void scanned(void)
{
	struct sim_proc *s = sim_proc_new("sends", 1000);
	struct sim_proc *r = sim_proc_new("scanned", 1001);
	struct sim_nic *nic[2];

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	w.wire = !sim_dice(4);
	if (w.wire) {
		nic[0] = sim_nic_up("a", 1);
		nic[1] = sim_nic_up("b", 2);
	}
	sim_thread(s, "sends", sender, NULL);
	sim_thread(r, "scanned", receiver, NULL);
	sim_proc_wait(s);
	sim_proc_wait(r);
	if (w.wire) {
		sim_nic_down(nic[0]);
		sim_nic_down(nic[1]);
	}
}

SIM_SCENARIO(.name = "scanned", .run = scanned, .runs = 20,
	     .max_vi = 4,
	     .what = "bad receives behind each message, posted again at once")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A program that posts whenever the kernel looks at its send queue: what one
 * trap, and one softirq, takes of it is bounded (SIM_VISITS, SIM_HELD_STEPS),
 * whatever is posted.
 */
#include "../../kernel/file.h"
#include "prog.h"

#define TRAPS	20
#define AHEAD	300			/* sends posted at a look */
#define LOOKS	60000			/* then it has posted enough */
#define POSTED	4			/* before the first trap */

/* What the sends are. */
enum kind {
	GOOD,				/* of no bytes */
	BAD_POST,			/* the descriptor is nowhere */
	BAD_FORMAT,
	BAD_SEGMENT,			/* found when it is gathered */
	BAD_LONG,			/* found before */
	KINDS
};

static struct {
	struct prog_nic n;
	struct prog_vi v;
	struct via_vi *vi;		/* the kernel's */
	enum kind kind;
	u32 level;
	u32 pattern, looks;		/* bit of a look: something is posted */
	bool stops, busy, over;
} w;

void sim_look(void)
{
	struct via_queue *q = &w.vi->sq;
	u32 ahead = w.pattern >> w.looks++ % 4 & 1 ? AHEAD : 0;

	if (sim_self->in_user)
		return;
	if (w.looks > LOOKS)
		ahead = 0;
	*(volatile u32 *)&q->prog->tail = q->next + ahead;
	if (w.busy)
		*(volatile u32 *)&q->kern->flags = VIA_Q_BUSY;
}

static void fill_slots(void)
{
	struct prog_queue *q = w.v.q;
	struct via_slot s = {
		.desc = (uintptr_t)w.n.mem,
		.desc_handle = w.n.handle,
		.control = VIA_CTL_OP_SENDRECV,
	};
	u32 i;

	if (w.kind == BAD_POST)
		s.desc++;
	if (w.kind == BAD_FORMAT)
		s.reserved = 1;
	if (w.kind == BAD_SEGMENT || w.kind == BAD_LONG) {
		s.length = w.kind == BAD_LONG ? 2000 : 8;
		s.seg_count = 1;
		s.seg[0] = (struct via_seg){
			.addr = (uintptr_t)w.n.mem, .handle = 0x77777777,
			.len = s.length,
		};
	}
	for (i = 0; i < w.v.shared->entries; i++)
		q->slots[i] = s;
	/* One that a transmitter which has stopped does not take. */
	s = (struct via_slot){
		.desc = (uintptr_t)w.n.mem,
		.desc_handle = w.n.handle,
		.control = VIA_CTL_OP_SENDRECV,
	};
	if (w.stops)
		q->slots[0] = s;
}

static long ring(void)
{
	return sim_trap(w.n.file, VIA_OP_SEND, w.v.id);
}

static void refill(void)
{
	struct via_file *f = w.n.file->private_data;
	u32 i;

	w.vi = rcu_dereference_protected(f->nic->vis, true)[w.v.id & 0xffff];
	fill_slots();
	smp_store_release(&w.v.q[0].prog->tail, POSTED);
	if (w.stops) {
		sim_nic_stop(host_nic(0), true);
		sim_expect(!ring(), "");
	}
	sim_looked_at = &w.vi->sq.prog->tail;
	if (w.stops) {
		sim_enter();
		sim_nic_stop(host_nic(0), false);
		sim_leave();
		sim_sleep(sim_dice(3 * MS));
	}
	for (i = 0; i < TRAPS && ring() == VIA_TRAP_MORE; i++)
		;
	sim_sleep(sim_dice(3 * MS));
	sim_looked_at = NULL;
	/* Nothing more is posted. */
	sim_enter();
	spin_lock_bh(&w.vi->sq.lock);
	w.vi->sq.prog->tail = w.vi->sq.next;
	spin_unlock_bh(&w.vi->sq.lock);
	sim_leave();
}

static void sender(void *arg)
{
	prog_open_vi(&w.n, &w.v, host_node(0), 16 << 10, w.level);
	prog_connect(&w.v, host_mac(1), "refilled", SEC);
	refill();
	prog_close(&w.n);
	w.over = true;
}

static void receiver(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, host_node(1), 16 << 10, w.level);
	prog_connect(&v, NULL, "refilled", 60 * SEC);
	sim_await(READ_ONCE(w.over), MS);
	prog_close(&n);
}

static void refilling(void)
{
	u32 wire = sim_dice(8);

	w.kind = sim_dice(KINDS);
	w.level = prog_level();
	if (w.kind != GOOD && sim_dice(4))
		w.level = VIA_UNRELIABLE;
	w.pattern = sim_dice(2) ? 0xf : 1 + sim_dice(15);
	w.busy = sim_dice(2);
	w.stops = wire && !sim_dice(3);
	hosts_up(wire ? 2 : 0);
	host_run(0, "refills", sender, NULL);
	host_run(1, "refilled", receiver, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "refilling", .run = refilling, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a program that posts at each look of the kernel's")

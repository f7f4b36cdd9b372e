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
	struct sim_nic *nic;
	struct prog_nic n;
	struct prog_vi v;
	struct via_vi *vi;		/* the kernel's */
	enum kind kind;
	u32 level;
	u32 pattern, looks;		/* bit of a look: something is posted */
	bool wire, stops, busy, over;
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
		sim_nic_stop(w.nic, true);
		sim_expect(!ring(), "");
	}
	sim_looked_at = &w.vi->sq.prog->tail;
	if (w.stops) {
		sim_enter();
		sim_nic_stop(w.nic, false);
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
	static const u8 mac[] = { 0x52, 0x54, 0, 0, 1, 2 };
	static const u8 own[] = { 0x02, 0, 0, 0, 0, 0x01 };
	int ret;

	sim_expect(!prog_open(&w.n, w.wire ? "via_a" : "via_lo", 16 << 10), "");
	sim_expect(!prog_vi(&w.v, &w.n, w.level, 0, 0), "");
	do {
		ret = prog_request(&w.v, w.wire ? mac : own, "refilled", SEC);
		if (ret == VIA_R_NO_MATCH)
			sim_sleep(MS);
	} while (ret == VIA_R_NO_MATCH);
	sim_expect(!ret, "(%d)", ret);
	refill();
	prog_close(&w.n);
	w.over = true;
}

static void receiver(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	sim_expect(!prog_open(&n, w.wire ? "via_b" : "via_lo", 16 << 10), "");
	sim_expect(!prog_vi(&v, &n, w.level, 0, 0), "");
	sim_expect(!prog_accept(&v, "refilled", 60 * SEC), "");
	while (!READ_ONCE(w.over))
		sim_sleep(MS);
	prog_close(&n);
}

static void refilling(void)
{
	struct sim_proc *s = sim_proc_new("refills", 1000);
	struct sim_proc *r = sim_proc_new("refilled", 1001);
	struct sim_nic *b = NULL;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	w.wire = sim_dice(8);
	w.kind = sim_dice(KINDS);
	w.level = 1u << sim_dice(3);
	if (w.kind != GOOD && sim_dice(4))
		w.level = VIA_UNRELIABLE;
	w.pattern = sim_dice(2) ? 0xf : 1 + sim_dice(15);
	w.busy = sim_dice(2);
	w.stops = w.wire && !sim_dice(3);
	if (w.wire) {
		w.nic = sim_nic_up("a", 1);
		b = sim_nic_up("b", 2);
	}
	sim_thread(s, "refills", sender, NULL);
	sim_thread(r, "refilled", receiver, NULL);
	sim_proc_wait(s);
	sim_proc_wait(r);
	if (w.wire) {
		sim_nic_down(w.nic);
		sim_nic_down(b);
	}
}

SIM_SCENARIO(.name = "refilling", .run = refilling, .runs = 200,
	     .max_vi = 4,
	     .what = "a program that posts at each look of the kernel's")

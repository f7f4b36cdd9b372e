// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Rings of completion queues: what a COMMIT takes back is bounded whatever the
 * program writes, and ends with the process; a trap refills 64 notices at most
 * (include/uapi/via.h, "Completion queues"); all rings of a user together have
 * a quota, and what is given back is there again.
 */
#include "prog.h"

#define ENTRIES	8192			/* of the ring that is made small */
#define ONCE	1024			/* taken back in one go */
#define QUEUED	300			/* receives that are flushed */
#define RING	128
#define REFILL	64
#define CQS	6
#define QUOTA	12			/* pages */

static struct {
	struct prog_nic nic;
	struct prog_cq cq;
	bool scribbles, commits, over, killed;
	u32 at_kill;
} w;

static u32 tail(void)
{
	return READ_ONCE(w.cq.shared->tail);
}

/* Nothing was taken off: so much more than the ring has may not go. */
static void check_tail(void)
{
	sim_expect(-tail() <= ENTRIES, "%u entries are taken back of %u",
		   -tail(), ENTRIES);
}

/* The ring is full again, whenever the kernel looks. */
static void scribble(void *arg)
{
	u32 t;

	while (!READ_ONCE(w.over)) {
		t = tail();
		check_tail();
		WRITE_ONCE(w.cq.shared->head, t - ENTRIES - (t ? ONCE : 0));
		sim_sleep(1 + sim_dice(1000));
	}
}

static void commit(void *arg)
{
	struct via_cq_resize a = { .step = VIA_CQ_PREPARE, .entries = 1 };

	sim_ok(prog_open(&w.nic, "via_lo", 0));
	sim_ok(prog_cq(&w.cq, &w.nic, ENTRIES));
	a.cq = w.cq.id;
	sim_ok(sim_ioctl(w.nic.file, VIA_IOC_CQ_RESIZE, &a));
	/* All of it is unread, the program says. */
	WRITE_ONCE(w.cq.shared->head, -ENTRIES);
	if (w.scribbles)
		sim_thread(current->proc, "scribbles", scribble, NULL);
	a.step = VIA_CQ_COMMIT;
	w.commits = true;
	sim_ok(sim_ioctl(w.nic.file, VIA_IOC_CQ_RESIZE, &a));
	check_tail();
	WRITE_ONCE(w.over, true);
}

/* What it shares with the kernel is still mapped. */
static void at_exit(void *arg)
{
	if (w.killed)
		sim_expect(w.at_kill - tail() <= 2 * ONCE,
			   "a process that is killed takes %u entries back",
			   w.at_kill - tail());
}

static void commits(void)
{
	struct sim_proc *p;

	w.scribbles = sim_dice(2);
	p = host_run(0, "commits", commit, NULL);
	sim_proc_at_exit(p, at_exit, NULL);
	if (!w.scribbles) {
		sim_await(READ_ONCE(w.commits), 1000);
		sim_pause(1 + sim_dice(200000));
		/* No turn from this look to the kill. */
		if (!sim_proc_ended(p) && !w.over) {
			w.killed = true;
			w.at_kill = w.cq.shared->tail;
			sim_kill(p);
		}
	}
	hosts_down();
}

/* Refills */

static void refills(void *arg)
{
	struct prog_vi v[2];
	u32 i, was, id, taken = 0;
	bool recv;
	long ret;

	sim_ok(prog_open(&w.nic, "via_lo", 16 << 10));
	prog_buffer(&w.nic, 4096);
	sim_ok(prog_cq(&w.cq, &w.nic, RING));
	for (i = 0; i < 2; i++)
		sim_ok(prog_vi(&v[i], &w.nic, VIA_RELIABLE_DELIVERY, 0,
			       w.cq.id));
	for (i = 0; i < QUEUED; i++)
		prog_post_recv(&v[sim_dice(2)], w.nic.mem, 64);
	sim_ok(prog_meet(&v[0], &v[1], "rings"));
	prog_disconnect(&v[0]);
	prog_disconnect(&v[1]);
	for (; taken < RING; taken++)
		sim_expect(prog_cq_done(&w.cq, &id, &recv), "notice %u", taken);
	do {
		was = tail();
		ret = sim_trap(w.nic.file, VIA_OP_CQ, w.cq.id);
		sim_expect(tail() - was <= REFILL, "a trap adds %u notices",
			   tail() - was);
		sim_expect(!ret || ret == VIA_TRAP_MORE, "(%ld)", ret);
	} while (ret);
	for (; taken < QUEUED; taken++)
		sim_expect(prog_cq_done(&w.cq, &id, &recv), "notice %u", taken);
	sim_expect(!prog_cq_done(&w.cq, &id, &recv), "one more notice");
	prog_close(&w.nic);
}

/* Quotas */

static struct ring {
	u32 cq;
	u32 pages, spare;		/* charged */
} ring[CQS];

static u32 charged(void)
{
	u32 i, n = 0;

	for (i = 0; i < CQS; i++)
		n += ring[i].pages + ring[i].spare;
	return n;
}

static u32 pages_of(u32 entries)
{
	u32 n = 1;

	while (n < entries)
		n *= 2;
	return PAGE_ALIGN(n * sizeof(struct via_cq_entry)) / PAGE_SIZE;
}

static void expect_charge(long ret, u32 pages)
{
	bool fits = charged() + pages <= QUOTA;

	sim_expect(ret == (fits ? 0 : VIA_R_ERROR_RESOURCE),
		   "(%ld): %u pages beside %u of %u", ret, pages, charged(),
		   QUOTA);
}

static void make(struct ring *r, u32 entries)
{
	struct via_cq_create a = { .entries = entries };
	u32 pages = 1 + pages_of(entries);
	long ret = sim_ioctl(w.nic.file, VIA_IOC_CQ_CREATE, &a);

	expect_charge(ret, pages);
	if (ret)
		return;
	r->cq = a.cq;
	r->pages = pages;
}

static void destroy(struct ring *r)
{
	struct via_cq_arg a = { .cq = r->cq };

	sim_ok(sim_ioctl(w.nic.file, VIA_IOC_CQ_DESTROY, &a));
	memset(r, 0, sizeof(*r));
}

static void step(struct ring *r, u32 step, u32 entries)
{
	struct via_cq_resize a = { .cq = r->cq, .step = step,
				   .entries = entries };
	long ret = sim_ioctl(w.nic.file, VIA_IOC_CQ_RESIZE, &a);

	if (step == VIA_CQ_PREPARE) {
		expect_charge(ret, pages_of(entries));
		r->spare = ret ? r->spare : pages_of(entries);
		return;
	}
	sim_expect(!ret || (ret == -EINVAL && !r->spare), "(%ld)", ret);
	if (step == VIA_CQ_COMMIT && r->spare)
		r->pages = r->spare;
	r->spare = 0;
}

static void quota(void *arg)
{
	struct ring *r;
	u32 i, entries;

	memset(ring, 0, sizeof(ring));
	sim_ok(prog_open(&w.nic, "via_lo", 0));
	for (i = 0; i < 60; i++) {
		r = &ring[sim_dice(CQS)];
		entries = 1 + sim_dice(3000);
		if (!r->cq)
			make(r, entries);
		else if (!sim_dice(4))
			destroy(r);
		else
			step(r, sim_dice(3), entries);
	}
	prog_close(&w.nic);
}

static void rings(void)
{
	bool quotas = sim_dice(2);

	if (quotas)
		sim_limit("cq_pages", QUOTA);
	host_run(0, "rings", quotas ? quota : refills, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "commits", .run = commits, .runs = 100, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a ring is made small, beside what is written to it")
SIM_SCENARIO(.name = "refills", .run = rings, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "refills of a ring, and the quota of all rings")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What fails half-way, and what has ended, takes no place: far more of each is
 * made than there may be at once.  Attributes that change hold for what was
 * posted before.
 */
#include "prog.h"

#define LIMIT	4			/* of regions; of waiters */
#define TIMES	(3 * LIMIT)
#define PAGES	520u			/* more than are pinned in one go */

static struct {
	struct prog_nic n;
	bool stop;
} w;

static long create(struct via_vi_create *a)
{
	a->attrs.reliability = VIA_RELIABLE_DELIVERY;
	a->attrs.max_transfer = 32768;
	return sim_ioctl(w.n.file, VIA_IOC_VI_CREATE, a);
}

static u32 new_tag(void)
{
	struct via_ptag_arg a = { };

	sim_expect(!sim_ioctl(w.n.file, VIA_IOC_PTAG_CREATE, &a), "");
	return a.ptag;
}

static long end_tag(u32 ptag)
{
	struct via_ptag_arg a = { .ptag = ptag };

	return sim_ioctl(w.n.file, VIA_IOC_PTAG_DESTROY, &a);
}

/* The second queue's CQ is none. */
static void vis(void)
{
	struct via_vi_create a = { };
	struct prog_cq cq;
	struct prog_vi v;
	u32 i;

	sim_expect(!prog_cq(&cq, &w.n, 4), "");
	for (i = 0; i < TIMES; i++) {
		a = (struct via_vi_create){ .send_cq = cq.id,
					    .recv_cq = cq.id + 1 };
		a.attrs.ptag = new_tag();
		sim_expect(create(&a) == VIA_R_INVALID_PARAMETER, "");
		sim_expect(!end_tag(a.attrs.ptag),
			   "a VI that was not made has a tag");
	}
	sim_expect(!prog_cq_destroy(&cq), "a VI that was not made has a CQ");
	for (i = 0; i < TIMES; i++) {
		sim_expect(!prog_vi(&v, &w.n, VIA_UNRELIABLE, 0, 0), "%u", i);
		sim_expect(!prog_vi_destroy(&v), "");
	}
	sim_expect(!prog_vi(&v, &w.n, VIA_UNRELIABLE, 0, 0), "");
	prog_post_recv(&v, w.n.mem, 64);
	sim_expect(prog_vi_destroy(&v) == VIA_R_ERROR_RESOURCE,
		   "a VI goes that has a receive");
}

/* The last page of all is none: those before it were pinned already. */
static void regions(void)
{
	char *p = sim_memory((PAGES + 1) * PAGE_SIZE);
	u32 i, handle, pages = sim_dice(2) ? 2 : PAGES;

	sim_no_memory(p + PAGES * PAGE_SIZE, PAGE_SIZE);
	for (i = 0; i < TIMES; i++)
		sim_expect(prog_register(&w.n, p + (PAGES + 1 - pages) *
					 PAGE_SIZE, pages * PAGE_SIZE, 0,
					 &handle) == VIA_R_INVALID_PARAMETER,
			   "");
	for (i = 0; i < TIMES; i++) {
		sim_expect(!prog_register(&w.n, p, PAGES * PAGE_SIZE, 0,
					  &handle), "%u", i);
		sim_expect(!prog_deregister(&w.n, p, handle), "");
	}
}

static void client(void *arg)
{
	struct prog_vi *v = arg;

	while (!READ_ONCE(w.stop)) {
		if (prog_request(v, w.n.hello.addr, "back", SEC))
			sim_sleep(20000);
		else
			prog_disconnect(v);
	}
	w.stop = false;
}

static void requests(void)
{
	struct prog_vi v[2];
	u32 i, conn;

	for (i = 0; i < 2; i++)
		sim_expect(!prog_vi(&v[i], &w.n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
	sim_thread(current->proc, "client", client, &v[0]);
	for (i = 0; i < TIMES; i++) {
		sim_expect(!prog_conn_wait(&w.n, "back", SEC, &conn), "%u", i);
		if (sim_dice(2)) {
			sim_expect(!prog_reject(&w.n, conn), "");
			continue;
		}
		if (!prog_accept_start(&v[1], conn))
			prog_result(&v[1], 0);
		prog_disconnect(&v[1]);
	}
	w.stop = true;
	while (READ_ONCE(w.stop))
		sim_sleep(10000);
}

/* A receive was good by the attributes that its VI had, and is not now. */
static void attributes(void)
{
	struct via_vi_set set = {
		.attrs = { VIA_RELIABLE_DELIVERY, 0, 32768, 0 },
	};
	struct prog_done d;
	struct prog_vi v[2];
	u32 i, tag = new_tag();

	for (i = 0; i < 2; i++)
		sim_expect(!prog_vi(&v[i], &w.n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
	prog_post_recv(&v[1], w.n.mem, 64);
	/* Early checks are the kernel's to make. */
	sim_trap(w.n.file, VIA_OP_RECV, v[1].id);
	set.vi = v[1].id;
	set.attrs.ptag = tag;
	sim_expect(!sim_ioctl(w.n.file, VIA_IOC_VI_SET, &set), "");
	sim_expect(end_tag(tag) == VIA_R_ERROR_RESOURCE, "");
	sim_expect(!prog_request_start(&v[0], w.n.hello.addr, "set", SEC,
				       true) &&
		   !prog_peer(&v[1], w.n.hello.addr, "set", SEC), "");
	prog_post_send(&v[0], w.n.mem + 64, 64);
	sim_expect(!prog_wait(&v[1], true, SEC, &d), "");
	sim_expect(d.status & VIA_ST_PROTECTION_ERROR, "status %#x", d.status);
	prog_disconnect(&v[1]);
	set.attrs.ptag = 0;
	sim_expect(!sim_ioctl(w.n.file, VIA_IOC_VI_SET, &set), "");
	sim_expect(!end_tag(tag), "a tag is in use that was given up");
}

/* Regions begin and end anywhere, and all of each is there. */
static void edges(void)
{
	char *p = sim_memory(8 * PAGE_SIZE), *from, *to;
	u32 i, len = 1 + sim_dice(2 * PAGE_SIZE), handle[2];
	struct prog_done d;
	struct prog_vi v[2];

	from = p + sim_dice(PAGE_SIZE);
	to = p + 4 * PAGE_SIZE + sim_dice(PAGE_SIZE);
	sim_expect(!prog_register(&w.n, from, len, 0, &handle[0]) &&
		   !prog_register(&w.n, to, len, 0, &handle[1]), "");
	for (i = 0; i < 2; i++)
		sim_expect(!prog_vi(&v[i], &w.n, VIA_RELIABLE_DELIVERY, 0, 0),
			   "");
	sim_expect(!prog_request_start(&v[0], w.n.hello.addr, "edges", SEC,
				       true) &&
		   !prog_peer(&v[1], w.n.hello.addr, "edges", SEC), "");
	prog_fill(from, len, 1, len);
	prog_post(&v[1], true, 0, to, len, handle[1], 0, 0);
	prog_post(&v[0], false, 0, from, len, handle[0], 0, 0);
	sim_expect(!prog_wait(&v[1], true, SEC, &d), "");
	sim_expect(!(d.status & VIA_ST_ERROR_MASK) && d.length == len &&
		   prog_filled(to, len, 1, len), "status %#x", d.status);
	for (i = 0; i < 2; i++) {
		prog_disconnect(&v[i]);
		while (prog_done(&v[i], false, &d))
			;
		sim_expect(!prog_vi_destroy(&v[i]), "");
	}
}

static void process(void *arg)
{
	current->mm->locked_max = 2 * PAGES;
	sim_expect(!prog_open(&w.n, "via_a", 4096), "");
	edges();
	vis();
	regions();
	requests();
	attributes();
	prog_close(&w.n);
}

static void back(void)
{
	struct sim_nic *nic;
	struct sim_proc *p;

	memset(&w, 0, sizeof(w));
	sim_config.max_time = sim_clock + 60 * SEC;
	/* Read when a NIC comes, and when something is charged. */
	sim_param_set("max_regions", LIMIT);
	sim_param_set("max_user_pages", 2 * PAGES);
	sim_param_set("max_user_waiters", LIMIT);
	nic = sim_nic_up("a", 1);
	p = sim_proc_new("user", 1000);
	sim_thread(p, "user", process, NULL);
	sim_proc_wait(p);
	sim_nic_down(nic);
	sim_param_set("max_regions", 131072);
	sim_param_set("max_user_pages", 1 << 19);
	sim_param_set("max_user_waiters", 2048);
}

SIM_SCENARIO(back, .name = "back", .run = back, .runs = 20, .max_vi = 8,
	     .what = "what fails or has ended takes no place")

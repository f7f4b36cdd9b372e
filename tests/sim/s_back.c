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

static void join(struct prog_vi *v, const char *name)
{
	sim_ok(prog_meet(&v[0], &v[1], name));
}

/* Two VIs that are connected. */
static void pair(struct prog_vi *v, const char *name)
{
	prog_vis(v, 2, &w.n, VIA_RELIABLE_DELIVERY);
	join(v, name);
}

static void end_pair(struct prog_vi *v)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		prog_disconnect(&v[i]);
		sim_ok(prog_vi_destroy(&v[i]));
	}
}

static u32 new_tag(void)
{
	struct via_ptag_arg a = { };

	sim_ok(sim_ioctl(w.n.file, VIA_IOC_PTAG_CREATE, &a));
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

	sim_ok(prog_cq(&cq, &w.n, 4));
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
		sim_ok(prog_vi_destroy(&v));
	}
	sim_ok(prog_vi(&v, &w.n, VIA_UNRELIABLE, 0, 0));
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
		sim_ok(prog_deregister(&w.n, p, handle));
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

	prog_vis(v, 2, &w.n, VIA_RELIABLE_DELIVERY);
	sim_thread(current->proc, "client", client, &v[0]);
	for (i = 0; i < TIMES; i++) {
		sim_expect(!prog_conn_wait(&w.n, "back", SEC, &conn), "%u", i);
		if (sim_dice(2)) {
			sim_ok(prog_reject(&w.n, conn));
			continue;
		}
		if (!prog_accept_start(&v[1], conn))
			prog_result(&v[1], 0);
		prog_disconnect(&v[1]);
	}
	w.stop = true;
	sim_await(!READ_ONCE(w.stop), 10000);
}

static void set_tag(struct prog_vi *v, u32 ptag)
{
	struct via_vi_set set = {
		.vi = v->id,
		.attrs = { VIA_RELIABLE_DELIVERY, ptag, 32768, 0 },
	};

	sim_ok(sim_ioctl(w.n.file, VIA_IOC_VI_SET, &set));
}

/* Receives posted in Idle are judged by what the VI connects with. */
static void attributes(void)
{
	u32 tag = new_tag(), bad = sim_dice(2), st;
	struct via_mem_register r = {
		.addr = (uintptr_t)w.n.mem, .len = w.n.bytes, .ptag = tag,
	};
	struct prog_done d;
	struct prog_vi v[2];

	pair(v, "set");
	prog_disconnect(&v[0]);
	prog_disconnect(&v[1]);
	/* The data is the VI's with either tag, the descriptor is not. */
	sim_ok(sim_ioctl(w.n.file, VIA_IOC_MEM_REGISTER, &r));
	prog_post(&v[1], true, 0, w.n.mem, 64, r.handle, 0, 0);
	/* The kernel may look at it now. */
	sim_trap(w.n.file, VIA_OP_RECV, v[1].id);
	set_tag(&v[1], bad ? tag : 0);
	join(v, "set");
	prog_post_send(&v[0], w.n.mem + 64, 64);
	sim_ok(prog_wait(&v[1], true, SEC, &d));
	st = d.status & VIA_ST_ERROR_MASK;
	sim_expect(st == (bad ? VIA_ST_PROTECTION_ERROR : 0), "status %#x", st);
	prog_disconnect(&v[1]);
	set_tag(&v[1], 0);
	sim_ok(prog_deregister(&w.n, w.n.mem, r.handle));
	sim_expect(!end_tag(tag), "a tag is in use that was given up");
	end_pair(v);
}

/* More than one doorbell's share. */
static void burst(void)
{
	u32 i, n = 1 + sim_dice(300);
	struct prog_vi v[2];

	pair(v, "burst");
	for (i = 0; i < n; i++)
		prog_post_recv(&v[1], w.n.mem, 8);
	for (i = 0; i < n; i++) {
		v[0].hold = i + 1 < n;
		prog_post_send(&v[0], w.n.mem + 64, 8);
	}
	for (i = 0; i < n; i++)
		prog_good(&v[0], false, SEC);
	end_pair(v);
}

static void counters(u64 *value, u32 n)
{
	struct via_stat some[64];
	struct via_stats a = {
		.kind = VIA_STATS_NIC, .count = ARRAY_SIZE(some),
		.stats = (uintptr_t)some,
	};
	u32 i;

	sim_ok(sim_ioctl(w.n.file, VIA_IOC_STATS, &a));
	/* The first one is how many VIs there are. */
	for (i = 0; i < n && i + 1 < a.count; i++)
		value[i] = some[i + 1].value;
}

/* What a VI was counted for stays counted when it goes. */
static void totals(struct prog_vi *v)
{
	u64 before[5] = { }, after[5] = { };
	u32 i;

	counters(before, 5);
	end_pair(v);
	counters(after, 5);
	for (i = 0; i < 5; i++)
		sim_expect(after[i] >= before[i], "counter %u goes back", i);
}

/* Regions begin and end anywhere, and all of each is there. */
static void edges(void)
{
	char *p = sim_memory(8 * PAGE_SIZE), *from, *to;
	u32 len = 1 + sim_dice(2 * PAGE_SIZE), handle[2];
	struct prog_done d;
	struct prog_vi v[2];

	from = p + sim_dice(PAGE_SIZE);
	to = p + 4 * PAGE_SIZE + sim_dice(PAGE_SIZE);
	sim_ok(prog_register(&w.n, from, len, 0, &handle[0]));
	sim_ok(prog_register(&w.n, to, len, 0, &handle[1]));
	pair(v, "edges");
	prog_fill(from, len, 1, len);
	prog_post(&v[1], true, 0, to, len, handle[1], 0, 0);
	prog_post(&v[0], false, 0, from, len, handle[0], 0, 0);
	sim_ok(prog_wait(&v[1], true, SEC, &d));
	sim_expect(!(d.status & VIA_ST_ERROR_MASK) && d.length == len &&
		   prog_filled(to, len, 1, len), "status %#x", d.status);
	totals(v);
}

static void process(void *arg)
{
	current->mm->locked_max = 2 * PAGES;
	sim_ok(prog_open(&w.n, "via_a", 4096));
	edges();
	vis();
	regions();
	requests();
	attributes();
	burst();
	prog_close(&w.n);
}

static void back(void)
{
	/* Read when a NIC comes, and when something is charged. */
	sim_param_set("max_regions", LIMIT);
	sim_limit("pages", 2 * PAGES);
	sim_limit("waiters", LIMIT);
	hosts_up(1);
	host_run(0, "user", process, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "back", .run = back, .runs = 20, .max_vi = 8,
	     .seconds = 60, SIM_STATE(w),
	     .what = "what fails or has ended takes no place")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Charges (docs/explain/security.md): pages are charged to the uid of a process and to
 * the owners of its user namespaces, memory of the kernel to its memory control
 * group; the default of the pages is half of the machine's.
 */
#include "prog.h"
#include "kernel/model.h"

#define QUOTA	6			/* pages */
#define REGIONS	4
#define TURNS	60
#define VIS	8
#define SEGS	200

/* Users: 1000 has made a namespace, a subordinate uid another one in it. */
static struct user_namespace outer = {
	.level = 1, .parent = &init_user_ns, .owner = { 1000 },
};
static struct user_namespace inner = {
	.level = 2, .parent = &outer, .owner = { 100001 },
};

static struct user {
	u32 uid;
	struct user_namespace *ns;
	struct prog_nic nic;
	char *mem;
	u32 handle[REGIONS], pages[REGIONS];
} users[] = {
	{ .uid = 1000, .ns = &init_user_ns },
	{ .uid = 1001, .ns = &init_user_ns },
	{ .uid = 100000, .ns = &outer },
	{ .uid = 100001, .ns = &outer },
	{ .uid = 100002, .ns = &inner },
};

#define USERS	ARRAY_SIZE(users)

static struct {
	u32 turn, turns;
} w;

static bool pays(const struct user *u, u32 uid)
{
	const struct user_namespace *ns;

	for (ns = u->ns; ns->parent; ns = ns->parent)
		if (ns->owner.val == uid)
			return true;
	return u->uid == uid;
}

static u32 charged_to(u32 uid)
{
	u32 i, k, n = 0;

	for (i = 0; i < USERS; i++)
		for (k = 0; k < REGIONS; k++)
			n += pays(&users[i], uid) ? users[i].pages[k] : 0;
	return n;
}

static void turn(struct user *u)
{
	u32 i, k = sim_dice(REGIONS), pages = 1 + sim_dice(3);
	bool fits = true;
	int ret;

	if (u->pages[k]) {
		sim_ok(prog_deregister(&u->nic, u->mem, u->handle[k]));
		u->pages[k] = 0;
		return;
	}
	for (i = 0; i < USERS; i++)
		if (pays(u, users[i].uid) &&
		    charged_to(users[i].uid) + pages > QUOTA)
			fits = false;
	ret = prog_register(&u->nic, u->mem, pages * PAGE_SIZE, 0,
			    &u->handle[k]);
	sim_expect(ret == (fits ? 0 : VIA_R_ERROR_RESOURCE),
		   "user %u, %u pages: %d", u->uid, pages, ret);
	u->pages[k] = ret ? 0 : pages;
}

static void user(void *arg)
{
	struct user *u = arg;
	u32 k;

	sim_ok(prog_open(&u->nic, "via_lo", 0));
	u->mem = sim_memory(3 * PAGE_SIZE);
	while (w.turns < TURNS) {
		if (w.turn == u - users) {
			turn(u);
			w.turn = sim_dice(USERS);
			w.turns++;
		}
		sim_sleep(1000);
	}
	/* The end of one is the end of what it pays. */
	for (k = 0; k < REGIONS; k++)
		u->pages[k] = 0;
	prog_close(&u->nic);
}

static void pay(void)
{
	struct sim_proc *p;
	u32 i;

	sim_limit("pages", QUOTA);
	for (i = 0; i < USERS; i++) {
		memset(users[i].pages, 0, sizeof(users[i].pages));
		p = host_run_as(0, users[i].uid, "user", user, &users[i]);
		if (users[i].ns != &init_user_ns)
			sim_proc_in(p, users[i].ns);
	}
	hosts_down();
}

/* A small machine, and no word of the administrator's. */
static void half(void *arg)
{
	u32 most = sim_ram / 2, h;
	struct prog_nic n;
	char *p;
	int ret;

	sim_ok(prog_open(&n, "via_lo", 0));
	p = sim_memory(most * PAGE_SIZE);
	sim_ok(prog_register(&n, p, most * PAGE_SIZE, 0, &h));
	ret = prog_register(&n, p, 1, 0, &h);
	sim_expect(ret == VIA_R_ERROR_RESOURCE, "more than half of it: %d",
		   ret);
	prog_close(&n);
}

static void halves(void)
{
	sim_ram = 2 + sim_dice(300);
	sim_ok(sim_load());
	host_run(0, "half", half, NULL);
	programs_wait();
	sim_unload();
}

/* A receive of many segments, which the kernel is to look at now. */
static void post_long(struct prog_vi *v)
{
	struct prog_queue *q = &v->q[1];
	struct via_slot *s = &q->slots[q->tail & (v->shared->entries - 1)];
	struct via_seg *seg;
	u32 i;

	memset(s, 0, sizeof(*s));
	s->desc = (uintptr_t)v->nic->mem;
	s->desc_handle = v->nic->handle;
	s->seg_count = SEGS;
	s->length = SEGS;
	for (i = 0; i < SEGS; i++) {
		seg = i < 2 ? &s->seg[i] :
			      (void *)(v->nic->mem + 32 + i * sizeof(*seg));
		seg->addr = (uintptr_t)v->nic->mem + 2 * PAGE_SIZE + i;
		seg->handle = v->nic->handle;
		seg->len = 1;
	}
	smp_store_release(&q->prog->tail, ++q->tail);
	sim_trap(v->nic->file, VIA_OP_RECV, v->id);
}

static void charged(void *arg)
{
	size_t charged, uncharged;
	struct prog_vi v[VIS];
	struct prog_done d;
	struct prog_nic n;
	u32 i;

	sim_ok(prog_open(&n, "via_lo", 4 * PAGE_SIZE));
	prog_vis(v, VIS, &n, VIA_RELIABLE_DELIVERY);
	charged = sim_charged;
	uncharged = sim_uncharged;
	for (i = 0; i < VIS; i++)
		post_long(&v[i]);
	for (i = 0; i < VIS; i++)
		sim_expect(!prog_done(&v[i], true, &d), "status %#x", d.status);
	sim_expect(sim_uncharged == uncharged,
		   "%zu bytes for the program are charged to none",
		   sim_uncharged - uncharged);
	sim_expect(sim_charged >= charged + VIS * SEGS * sizeof(struct via_seg),
		   "%zu bytes", sim_charged - charged);
	prog_close(&n);
}

static void memory_charged(void)
{
	host_run(0, "charged", charged, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "users", .run = pay, .runs = 200, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "owners of user namespaces pay for their subordinates")
SIM_SCENARIO(.name = "users-default", .run = halves, .runs = 20, .max_vi = 4,
	     .unloaded = true,
	     .what = "a user may pin half of the machine's pages")
SIM_SCENARIO(.name = "users-memory", .run = memory_charged, .runs = 20,
	     .max_vi = 16, .what = "the kernel's memory is charged to its user")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters: those of a VI are for its user and for the administrator, and no
 * more are written than there is room for.  Those of a NIC are in sysfs, too.
 */
#include "prog.h"

#define USERS	3
#define VIS	3
#define ROOM	40
#define ALL	128

static struct {
	u32 uid[USERS];
	u32 vis[USERS];
	u32 level;
	u32 ready;
	u32 done;
	bool compared;
} w;

static long stats(struct prog_nic *n, u32 kind, u32 room, struct via_stats *a,
		  struct via_stat *s)
{
	long ret;

	memset(s, 0xaa, (ROOM + 1) * sizeof(*s));
	a->kind = kind;
	a->count = room;
	a->stats = (uintptr_t)s;
	ret = sim_ioctl(n->file, VIA_IOC_STATS, a);
	sim_expect(!ret || ret == VIA_R_NO_MATCH || ret == -ENOMEM, "(%ld)",
		   ret);
	sim_expect(a->count <= room, "(%u)", a->count);
	sim_expect((u8)s[room].name[0] == 0xaa,
		   "what is behind the room is written");
	return ret;
}

/* How many VIs a user sees. */
static u32 look(struct prog_nic *n, u32 uid)
{
	struct via_stat s[ROOM + 1];
	struct via_stats a = {};
	u32 seen = 0, i, room;
	bool told;

	for (;; a.id++) {
		room = 1 + sim_dice(ROOM);
		if (stats(n, VIA_STATS_VI, room, &a, s))
			return seen;
		seen++;
		told = false;
		for (i = 0; i < a.count; i++) {
			if (strcmp(s[i].name, "uid"))
				continue;
			told = true;
			sim_expect(!uid || s[i].value == uid,
				   "user %u sees a VI of user %llu", uid,
				   s[i].value);
		}
		sim_expect(told || a.count == room, "no counter uid");
	}
}

/* Nothing moves: each counter is what its file says. */
static void compare(struct prog_nic *n)
{
	static struct via_stat s[ALL];
	static char text[4096];
	struct via_stats a = { .kind = VIA_STATS_NIC, .count = ALL,
			       .stats = (uintptr_t)s };
	char said[32];
	u32 i;

	sim_await(!sim_ioctl(n->file, VIA_IOC_STATS, &a), 1000);
	sim_expect(a.count > 5 && a.count < ALL, "(%u)", a.count);
	for (i = 0; i < a.count; i++) {
		memset(text, 0, sizeof(text));
		sim_expect(sim_attr_show(host_node(0), s[i].name, text) > 0,
			   "there is no file %s", s[i].name);
		scnprintf(said, sizeof(said), "%llu\n",
			  (unsigned long long)s[i].value);
		sim_expect(!strcmp(text, said), "%s is %s in its file, not %s",
			   s[i].name, text, said);
	}
}

static void user(void *arg)
{
	struct via_stat s[ROOM + 1];
	u32 me = (uintptr_t)arg, i, all = 0, seen;
	struct via_stats a = {};
	struct prog_vi v[VIS];
	struct prog_nic n;

	sim_ok(prog_open(&n, host_node(0), 0));
	prog_vis(v, w.vis[me], &n, w.level);
	w.ready++;
	sim_await(w.ready >= USERS, 1000);
	for (i = 0; i < USERS; i++)
		if (!w.uid[me] || w.uid[i] == w.uid[me])
			all += w.vis[i];
	for (i = 0; i < 3; i++) {
		seen = look(&n, w.uid[me]);
		sim_expect(seen == all, "user %u sees %u VIs of %u", w.uid[me],
			   seen, all);
		stats(&n, VIA_STATS_NIC, 1 + sim_dice(ROOM), &a, s);
	}
	w.done++;
	sim_await(w.done >= USERS, 1000);
	if (!me)
		compare(&n);
	w.compared |= !me;
	sim_await(w.compared, 1000);
	prog_close(&n);
}

static void counters(void)
{
	u32 i;

	hosts_up(sim_dice(2));
	w.level = sim_dice(2) ? VIA_UNRELIABLE : VIA_RELIABLE_DELIVERY;
	for (i = 0; i < USERS; i++) {
		w.uid[i] = sim_dice(3) ? 1000 + sim_dice(2) : 0;
		w.vis[i] = sim_dice(VIS + 1);
	}
	for (i = 0; i < USERS; i++)
		host_run_as(0, w.uid[i], "user", user, (void *)(uintptr_t)i);
	hosts_down();
}

SIM_SCENARIO(.name = "counters", .run = counters, .runs = 200, .max_vi = 16,
	     .seconds = 60, SIM_STATE(w),
	     .what = "counters of VIs, of other users, in little room")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Counters of VIs are for their user and for the administrator.  And the lists
 * of VIs that look for their peers are not filled by chosen addresses.
 */
#include "prog.h"

#define USERS	3
#define VIS	2			/* of each */
#define LOOKERS	8

static struct {
	struct prog_nic nic;
	u32 uid, has;
} u[USERS];

static u32 ready;

static u64 value(const struct via_stat *s, u32 n, const char *name)
{
	while (n--)
		if (!strcmp(s[n].name, name))
			return s[n].value;
	sim_fail("no counter %s", name);
}

static void look(void *arg)
{
	u32 me = (uintptr_t)arg, i, seen = 0, all = 0, index = 0;
	struct prog_vi v[VIS];
	struct via_stat some[64];

	sim_expect(!prog_open(&u[me].nic, "via_a", 0), "");
	for (i = 0; i < u[me].has; i++)
		sim_expect(!prog_vi(&v[i], &u[me].nic, VIA_RELIABLE_DELIVERY,
				    0, 0), "");
	ready++;
	while (ready < USERS)
		sim_sleep(10000);
	for (i = 0; i < USERS; i++)
		all += u[i].has;
	for (;;) {
		struct via_stats a = {
			.kind = VIA_STATS_VI, .id = index,
			.count = ARRAY_SIZE(some), .stats = (uintptr_t)some,
		};
		int ret = sim_ioctl(u[me].nic.file, VIA_IOC_STATS, &a);

		if (ret) {
			sim_expect(ret == VIA_R_NO_MATCH, "(%d)", ret);
			break;
		}
		sim_expect(!u[me].uid ||
			   value(some, a.count, "uid") == u[me].uid,
			   "user %u sees those of another", u[me].uid);
		seen++;
		index = a.id + 1;
	}
	sim_expect(seen == (u[me].uid ? u[me].has : all), "user %u sees %u",
		   u[me].uid, seen);
	/* All are there until all have looked. */
	ready++;
	while (ready < 2 * USERS)
		sim_sleep(10000);
	prog_close(&u[me].nic);
}

static void counters(void)
{
	struct sim_nic *nic = sim_nic_up("a", 1);
	struct sim_proc *p[USERS];
	u32 i;

	memset(u, 0, sizeof(u));
	ready = 0;
	sim_config.max_time = sim_clock + 60 * SEC;
	for (i = 0; i < USERS; i++) {
		u[i].uid = i ? 1000 + i : 0;
		u[i].has = sim_dice(VIS + 1);
		p[i] = sim_proc_new("user", u[i].uid);
		sim_thread(p[i], "user", look, (void *)(uintptr_t)i);
	}
	for (i = 0; i < USERS; i++)
		sim_proc_wait(p[i]);
	sim_nic_down(nic);
}

SIM_SCENARIO(counters, .name = "stats-users", .run = counters, .runs = 200,
	     .max_vi = 8, .what = "counters of VIs are for their users")

/* Discriminators that a hash without a secret has in one list. */
static void stranger(void *arg)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 9 };
	struct prog_vi v[LOOKERS];
	struct prog_nic n;
	u32 i, k = 0, h;
	char disc[12];

	sim_expect(!prog_open(&n, "via_a", 0), "");
	for (i = 0; i < LOOKERS; i++) {
		do {
			scnprintf(disc, sizeof(disc), "%u", ++k);
			h = jhash(disc, strlen(disc), 0);
			h = jhash(disc, strlen(disc), h);
		} while (h & 63);
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0) &&
			   !prog_request_start(&v[i], host, disc, SEC, true),
			   "");
	}
	sim_expect(sim_nic_peer_lists(arg) > 1, "all look in one list");
	prog_close(&n);
}

static void crowd(void)
{
	struct sim_nic *nic = sim_nic_up("a", 1);
	struct sim_proc *p = sim_proc_new("stranger", 1000);

	sim_config.max_time = sim_clock + 60 * SEC;
	sim_thread(p, "stranger", stranger, nic);
	sim_proc_wait(p);
	sim_nic_down(nic);
}

SIM_SCENARIO(crowd, .name = "crowd", .run = crowd, .runs = 20, .max_vi = 16,
	     .what = "chosen addresses do not fill one list of peers")

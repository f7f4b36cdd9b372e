// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Questions for names, beside NICs that go and programs that are killed. */
#include "prog.h"

#define ASKERS	3

static u32 calm;			/* nothing ends: every answer must come */

static void ask(void *arg)
{
	struct via_name_answer a[8];
	struct via_name_query q = { .count = ARRAY_SIZE(a),
				    .answers = (uintptr_t)a };
	u64 from = sim_now();
	struct prog_nic n;
	u32 kind = sim_dice(4), i;
	int ret;

	if (prog_open(&n, arg, 0))
		return;
	if (kind & 1)
		strcpy(q.name, sim_dice(3) ? "host" : "stranger");
	if (kind & 2) {
		q.addr_len = ETH_ALEN;
		memcpy(q.addr, sim_dice(2) ? n.hello.addr :
		       (const u8 *)"\x52\x54\0\0\1\2", ETH_ALEN);
	}
	ret = sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q);
	sim_expect(!ret || ret == -ESHUTDOWN || ret == -EINTR ||
		   ret == VIA_R_ERROR_RESOURCE, "(%d)", ret);
	sim_expect(sim_now() < from + 400 * MS, "it takes too long");
	for (i = 0; !ret && i < q.count; i++)
		sim_expect(!strcmp(a[i].name, "host"), "%s", a[i].name);
	if (!ret && calm && !kind && !sim_config.fail_alloc)
		sim_expect(q.count == 3, "%u answers", q.count);
	if (sim_dice(2))
		prog_close(&n);
}

static void names(void)
{
	u32 i, k, victim = sim_dice(2);
	struct sim_proc *proc[2];

	calm = !sim_dice(3);
	hosts_up(3);
	if (!calm && !sim_dice(3))
		sim_wire.loss = 3000;
	for (i = 0; i < 2; i++) {
		proc[i] = host_run(i, "asker", ask, (void *)host_node(i));
		for (k = sim_dice(ASKERS); k--;)
			sim_thread(proc[i], "asker", ask, (void *)host_node(i));
	}
	if (!calm) {
		msleep(sim_dice(80));
		if (sim_dice(2))
			host_down(victim);
		else
			sim_kill(proc[victim]);
	}
	hosts_down();
}

SIM_SCENARIO(.name = "names", .run = names, .runs = 200, .max_vi = 4,
	     .seconds = 60,
	     .what = "questions for names beside NICs that go")

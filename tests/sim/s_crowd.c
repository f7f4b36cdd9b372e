// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The lists of VIs that look for their peers are not filled by chosen
 * addresses.
 */
#include "prog.h"
#include "../../kernel/via_ka.h"

#define LOOKERS	8

/* Discriminators that a hash without a secret has in one list. */
static void stranger(void *arg)
{
	static const u8 host[] = { 0x52, 0x54, 0, 0, 1, 9 };
	struct prog_vi v[LOOKERS];
	struct prog_nic n;
	u32 i, k = 0, h;
	u64 claim = 0;
	char disc[12];

	sim_expect(!prog_open(&n, "via_a", 0), "");
	for (i = 0; i < LOOKERS; i++) {
		do {
			scnprintf(disc, sizeof(disc), "%u", ++k);
			h = jhash(disc, strlen(disc), 0);
			h = jhash(disc, strlen(disc), h);
			h = jhash(host, sizeof(host), h);
			h = jhash(&claim, sizeof(claim), h);
		} while (h >> (32 - VIA_P2P_BITS));
		sim_expect(!prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0) &&
			   !prog_request_start(&v[i], host, disc, SEC, true),
			   "");
	}
	sim_expect(sim_nic_p2p_lists(arg) > 1, "all look in one list");
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

SIM_SCENARIO(.name = "crowd", .run = crowd, .runs = 20, .max_vi = 16,
	     .what = "chosen addresses do not fill one list of peers")

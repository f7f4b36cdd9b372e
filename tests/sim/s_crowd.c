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

	sim_ok(prog_open(&n, "via_a", 0));
	for (i = 0; i < LOOKERS; i++) {
		do {
			scnprintf(disc, sizeof(disc), "%u", ++k);
			h = jhash(disc, strlen(disc), 0);
			h = jhash(disc, strlen(disc), h);
			h = jhash(host, sizeof(host), h);
			h = jhash(&claim, sizeof(claim), h);
		} while (h >> (32 - VIA_P2P_BITS));
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		sim_ok(prog_request_start(&v[i], host, disc, SEC, true));
	}
	sim_expect(sim_nic_p2p_lists(host_nic(0)) > 1, "all look in one list");
	prog_close(&n);
}

static void crowd(void)
{
	hosts_up(1);
	host_run(0, "stranger", stranger, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "crowd", .run = crowd, .runs = 20, .max_vi = 16,
	     .seconds = 60,
	     .what = "chosen addresses do not fill one list of peers")

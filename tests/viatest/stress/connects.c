// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How long it takes to connect, and to hear that the peer is gone. */
#include "stress.h"
#include <stdio.h>

#define TRY_MS		120000u

int stress_connects(void)
{
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = stress_args.level,
		.MaxTransferSize = SMALL,
	};
	uint64_t start, took, most = 0, sum = 0;
	uint32_t i, failed = 0;
	struct client c;
	VIP_RETURN rc;

	stress_args.max_size = SMALL;
	if (client_prepare(&c))
		return 1;
	VipDestroyVi(c.vi);
	for (i = 0; i < stress_args.connects; i++) {
		rc = VipCreateVi(c.nic.h, &a, NULL, NULL, &c.vi);
		if (rc != VIP_SUCCESS)
			break;
		start = now_ms();
		rc = client_connect(&c, TRY_MS);
		took = now_ms() - start;
		if (rc != VIP_SUCCESS) {
			warn_msg("connect %u: %s after %llu ms", i, vip_str(rc),
				 (unsigned long long)took);
			failed++;
		}
		/* Where to look for it in a recording of the wire. */
		if (took >= 2000)
			printf("viatest stress: connect %u took %llu ms, and ended at %llu\n",
			       i, (unsigned long long)took,
			       (unsigned long long)now_ms());
		sum += took;
		if (took > most)
			most = took;
		VipDisconnect(c.vi);
		VipDestroyVi(c.vi);
	}
	client_close(&c);
	printf("viatest stress: mean %llu ms, most %llu ms\n",
	       (unsigned long long)(sum / stress_args.connects),
	       (unsigned long long)most);
	failed += stress_args.connects - i;
	printf("%u passed, %u failed\n", stress_args.connects - failed, failed);
	return failed != 0;
}

/* Nothing is sent: only heartbeats can tell that the peer is gone. */
int run_idle(void)
{
	VIP_DESCRIPTOR *d = NULL;
	struct client c;
	uint64_t start;
	VIP_RETURN rc;

	if (client_open(&c))
		return 1;
	printf("viatest stress: connected\n");
	start = now_ms();
	rc = VipRecvWait(c.vi, stress_args.idle * 1000, &d);
	printf("viatest stress: idle for %llu ms, then %s\n",
	       (unsigned long long)(now_ms() - start), vip_str(rc));
	client_close(&c);
	return rc == VIP_TIMEOUT || rc == VIP_SUCCESS;
}

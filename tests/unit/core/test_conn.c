// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Connecting: attributes that must be equal, and the tie-break of peer-to-peer. */

#include "unit.h"
#include "core.h"
#include "conn.h"

#define DELIVERY	VIA_RELIABLE_DELIVERY
#define RECEPTION	VIA_RELIABLE_RECEPTION

static const struct {
	struct via_vi_attrs a, b;
	u32 verdict;
} pairs[] = {
	/* reliability, tag, MaxTransferSize, rights */
	{ { DELIVERY, 1, 4096, 0 }, { DELIVERY, 1, 4096, 0 }, VIA_R_SUCCESS },
	{ { DELIVERY, 1, 4096, 0 }, { DELIVERY, 2, 4096, VIA_RDMA_READ },
	  VIA_R_SUCCESS },
	{ { VIA_UNRELIABLE, 1, 4096, 0 }, { DELIVERY, 1, 4096, 0 },
	  VIA_R_INVALID_RELIABILITY_LEVEL },
	{ { DELIVERY, 1, 4096, 0 }, { RECEPTION, 1, 4096, 0 },
	  VIA_R_INVALID_RELIABILITY_LEVEL },
	{ { DELIVERY, 1, 4096, 0 }, { DELIVERY, 1, 4097, 0 },
	  VIA_R_INVALID_MTU },
	/* The level is told first. */
	{ { DELIVERY, 1, 4096, 0 }, { RECEPTION, 1, 1, 0 },
	  VIA_R_INVALID_RELIABILITY_LEVEL },
};

void attributes(void)
{
	u32 i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		CU_ASSERT_EQUAL(via_attrs_compare(&pairs[i].a, &pairs[i].b),
				pairs[i].verdict);
		CU_ASSERT_EQUAL(via_attrs_compare(&pairs[i].b, &pairs[i].a),
				pairs[i].verdict);
	}
}

/* Of two names one asks, whatever they are; numbers are compared as such. */
void who_asks(void)
{
	const u64 numbers[] = { 1, 2, 0xff, 0x100, 1ull << 63, ~0ull };
	u64 own, other;
	u32 i, j;

	for (i = 0; i < 6; i++)
		for (j = 0; j < 6; j++) {
			own = cpu_to_be64(numbers[i]);
			other = cpu_to_be64(numbers[j]);
			CU_ASSERT_EQUAL(via_asks_first(&own, &other, 8), i < j);
		}
	/* Bytes behind the name do not count. */
	CU_ASSERT(via_asks_first("ab9", "ac1", 2));
	CU_ASSERT_FALSE(via_asks_first("ac1", "ab9", 2));
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "plan.h"
#include "common/dice.h"

struct plan plan_of(uint64_t seed, uint32_t n, uint32_t max, int lossy)
{
	uint64_t r = mix(mix(seed) + n);
	struct plan p = { .key = mix(r) };
	uint32_t bound;

	/* Mostly small; the full range now and then. */
	switch (r % 64) {
	case 0:
		bound = max;
		break;
	case 1 ... 5:
		bound = 8192;
		break;
	case 6 ... 20:
		bound = 1500;
		break;
	default:
		bound = 64;
	}
	if (bound > max)
		bound = max;
	p.len = (r >> 8) % (bound + 1);
	p.kind = (r >> 48) % K_KINDS;
	if (lossy)
		p.kind = p.kind & 1 ? K_SEND_IMM : K_WRITE_IMM;
	return p;
}

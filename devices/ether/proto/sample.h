/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sampling interval of a half of a VI, in frames: rto.[ch] and delack.[ch]. */
#ifndef _VIA_SAMPLE_H
#define _VIA_SAMPLE_H

#include "../../../core/portable.h"

#define VIA_SAMPLE_MAX	0x100000u	/* frames from sample to sample */
#define VIA_SAMPLE_GAP_NS	10000u		/* the alarm fires so early */
#define VIA_SAMPLE_LAZY_NS	1000000u	/* until Unreliable is acknowledged */

/*
 * How many frames there are until the next sample, if they go on as @frames did in
 * @took ns: it is to be shortly before the end of @period, when the alarm fires.
 */
static inline u32 via_sample_interval(u32 frames, u64 took, u64 period)
{
	u64 want = min(frames, VIA_SAMPLE_MAX) * (period - period / 16);

	want = div64_u64(want, took + 1);
	return min_t(u64, max_t(u64, want, 1), VIA_SAMPLE_MAX);
}

#endif /* _VIA_SAMPLE_H */

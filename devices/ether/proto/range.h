/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A run of frames that have arrived beyond a hole, in host order. */
#ifndef _VIA_RANGE_H
#define _VIA_RANGE_H

#include "../../../core/portable.h"

/**
 * struct via_range - frames @start to @start + @count - 1
 * @start:	relative to the frame behind the oldest one that is missing
 * @count:	at least 1
 */
struct via_range {
	u16 start;
	u16 count;
};

#endif /* _VIA_RANGE_H */

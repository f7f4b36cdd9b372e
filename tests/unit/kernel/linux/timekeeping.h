/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests: they set the time. */
#ifndef UNIT_TIMEKEEPING_H
#define UNIT_TIMEKEEPING_H

#include <stdint.h>

extern int64_t unit_seconds;
#define ktime_get_seconds()	unit_seconds

#endif

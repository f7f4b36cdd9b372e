/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests: they set the time. */
#ifndef UNIT_JIFFIES_H
#define UNIT_JIFFIES_H

#include <stdint.h>

#define HZ			250
extern uint64_t unit_jiffies;
#define get_jiffies_64()	unit_jiffies

#endif

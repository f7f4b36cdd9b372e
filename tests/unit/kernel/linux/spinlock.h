/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests of one thread: locks are counted. */
#ifndef UNIT_SPINLOCK_H
#define UNIT_SPINLOCK_H

#include <assert.h>

typedef struct {
	int held;
} spinlock_t;

#define spin_lock_init(l)	((l)->held = 0)
#define spin_lock(l)		assert(!(l)->held++)
#define spin_unlock(l)		assert(!--(l)->held)
#define lockdep_assert_held(l)	assert((l)->held)

#endif

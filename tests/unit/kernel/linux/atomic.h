/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* In place of the kernel's, for unit tests of one thread. */
#ifndef UNIT_ATOMIC_H
#define UNIT_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
	int64_t counter;
} atomic64_t;

#define atomic64_read(v)	((v)->counter)
#define atomic64_set(v, n)	((v)->counter = (n))
#define atomic64_inc_return(v)	(++(v)->counter)

static inline bool atomic64_try_cmpxchg(atomic64_t *v, int64_t *old, int64_t n)
{
	bool same = v->counter == *old;

	*old = v->counter;
	if (same)
		v->counter = n;
	return same;
}

#endif

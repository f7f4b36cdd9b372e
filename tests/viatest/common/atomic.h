/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Variables that threads or processes share. */
#ifndef TESTS_ATOMIC_H
#define TESTS_ATOMIC_H

#define load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define fetch_add(p, n)		__atomic_fetch_add(p, n, __ATOMIC_ACQ_REL)

#endif

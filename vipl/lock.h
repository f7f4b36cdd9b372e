/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_LOCK_H
#define VIPL_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * A lock of four bytes whose uncontended path is one atomic instruction each
 * way, inline: a pthread mutex costs several times as much, and every post and
 * every poll takes one. All zeroes is unlocked, so zero-filled memory (a fresh
 * object, or any object in a forked child) holds a valid lock.
 *
 * 0 free, 1 held, 2 held and a thread may sleep.
 */
struct vipl_mutex {
	_Atomic uint32_t word;
};

void vipl_lock_slow(struct vipl_mutex *l);
void vipl_unlock_slow(struct vipl_mutex *l);

static inline void vipl_lock(struct vipl_mutex *l)
{
	uint32_t free = 0;
	int taken = atomic_compare_exchange_strong_explicit(&l->word, &free, 1,
							    memory_order_acquire,
							    memory_order_relaxed);

	if (__builtin_expect(!taken, 0))
		vipl_lock_slow(l);
}

static inline void vipl_unlock(struct vipl_mutex *l)
{
	if (__builtin_expect(atomic_exchange_explicit(&l->word, 0,
						      memory_order_release) == 2, 0))
		vipl_unlock_slow(l);
}

static inline void vipl_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif /* VIPL_LOCK_H */

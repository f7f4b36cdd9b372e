/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_LOCK_H
#define ENG_LOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * A lock of four bytes, one atomic instruction and one branch each way while
 * nothing contends (lock bts, lock dec). All zeroes is unlocked.
 *
 * Bit 0: held. Bit 1: a thread may sleep; it stays while other threads come
 * first, and is taken off by the unlock that wakes.
 */
#define ENG_LOCK_HELD	1u
#define ENG_LOCK_SLEPT	2u

struct eng_lock {
	_Atomic uint32_t word;
};

void eng_lock_slow(struct eng_lock *l);
void eng_unlock_slow(struct eng_lock *l);

/* Takes it if it is free; whether it was not. The form that becomes lock bts. */
static inline _Bool eng_lock_missed(struct eng_lock *l)
{
	return (atomic_fetch_or_explicit(&l->word, ENG_LOCK_HELD,
					 memory_order_acquire) &
		ENG_LOCK_HELD) != 0;
}

static inline int eng_lock_try(struct eng_lock *l)
{
	return !eng_lock_missed(l);
}

static inline void eng_lock_take(struct eng_lock *l)
{
	if (__builtin_expect(eng_lock_missed(l), 0))
		eng_lock_slow(l);
}

/* Held, or slept for? A hint: spinning threads let others go first. */
static inline int eng_lock_busy(struct eng_lock *l)
{
	return atomic_load_explicit(&l->word, memory_order_relaxed) != 0;
}

static inline void eng_lock_drop(struct eng_lock *l)
{
	if (__builtin_expect(atomic_fetch_sub_explicit(&l->word, ENG_LOCK_HELD,
						       memory_order_release) != ENG_LOCK_HELD, 0))
		eng_unlock_slow(l);
}

static inline void eng_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#define ENG_FOREVER	UINT64_MAX

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t eng_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* When a call's milliseconds are over; both spellings of infinity. */
uint64_t eng_deadline(unsigned long ms);
/* Sleep while *word is seen, for at most ns. */
void eng_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
void eng_futex_wake(_Atomic uint32_t *word);

#endif /* ENG_LOCK_H */

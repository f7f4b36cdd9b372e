/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef ENG_LOCK_H
#define ENG_LOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * A lock of four bytes, one atomic instruction each way while nothing
 * contends. All zeroes is unlocked.
 *
 * 0 free, 1 held, 2 held and a thread may sleep.
 */
struct eng_lock {
	_Atomic uint32_t word;
};

void eng_lock_slow(struct eng_lock *l);
void eng_unlock_slow(struct eng_lock *l);

static inline int eng_lock_try(struct eng_lock *l)
{
	uint32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&l->word, &free, 1,
						       memory_order_acquire,
						       memory_order_relaxed);
}

static inline void eng_lock_take(struct eng_lock *l)
{
	if (__builtin_expect(!eng_lock_try(l), 0))
		eng_lock_slow(l);
}

/* Does a thread sleep for it? A hint: spinning threads let it go first. */
static inline int eng_lock_wanted(struct eng_lock *l)
{
	return atomic_load_explicit(&l->word, memory_order_relaxed) == 2;
}

static inline void eng_lock_drop(struct eng_lock *l)
{
	if (__builtin_expect(atomic_exchange_explicit(&l->word, 0,
					memory_order_release) == 2, 0))
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

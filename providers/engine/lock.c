// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

/* Critical sections are short, but for those that move many bytes. */
#define SPINS	100

void eng_lock_slow(struct eng_lock *l)
{
	const uint32_t both = ENG_LOCK_HELD | ENG_LOCK_SLEPT;
	uint32_t seen;
	int i;

	for (i = 0; i < SPINS; i++) {
		seen = atomic_load_explicit(&l->word, memory_order_relaxed);
		if (!(seen & ENG_LOCK_HELD) && eng_lock_try(l))
			return;
		if (seen & ENG_LOCK_SLEPT)
			break;
		eng_pause();
	}
	/*
	 * From here on unlock must wake. That this thread's own unlock wakes
	 * for nothing, where it was the last to sleep, is cheaper than to know.
	 */
	while (atomic_exchange_explicit(&l->word, both,
					memory_order_acquire) & ENG_LOCK_HELD)
		eng_futex_wait(&l->word, both, ENG_FOREVER);
}

/* The lock is free, and slept for. If another one has it, its unlock wakes. */
void eng_unlock_slow(struct eng_lock *l)
{
	uint32_t seen = ENG_LOCK_SLEPT;

	if (atomic_compare_exchange_strong_explicit(&l->word, &seen, 0,
						    memory_order_relaxed,
						    memory_order_relaxed))
		eng_futex_wake(&l->word);
}

uint64_t eng_deadline(unsigned long ms)
{
	uint64_t now;

	if (ms == ~0UL || ms == 0xffffffffUL)
		return ENG_FOREVER;
	now = eng_now();
	if (ms > (ENG_FOREVER - 1 - now) / 1000000u)
		return ENG_FOREVER - 1;
	return now + ms * (uint64_t)1000000u;
}

void eng_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};

	/* More than a year is without limit: the kernel's own would overflow. */
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen,
		ns / 1000000000u > 31536000u ? NULL : &ts, NULL, 0);
}

void eng_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

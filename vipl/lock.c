// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

/* Critical sections are tens of instructions: a short spin mostly suffices. */
#define SPINS	64

void vipl_lock_slow(struct vipl_mutex *l)
{
	uint32_t seen;
	int i;

	for (i = 0; i < SPINS; i++) {
		seen = 0;
		if (atomic_compare_exchange_weak_explicit(&l->word, &seen, 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return;
		if (seen == 2)
			break;
		vipl_pause();
	}
	/* From here on unlock must wake: a thread that takes it leaves a 2. */
	while (atomic_exchange_explicit(&l->word, 2, memory_order_acquire))
		syscall(SYS_futex, &l->word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL,
			0);
}

void vipl_unlock_slow(struct vipl_mutex *l)
{
	syscall(SYS_futex, &l->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

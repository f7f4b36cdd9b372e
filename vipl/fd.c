// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Files that poll(), select() and epoll tell of events: told, closed. */
#include <unistd.h>

#include "ext.h"
#include "sys.h"

void vipl_fd_close(_Atomic int *fd)
{
	int was = atomic_exchange_explicit(fd, -1, memory_order_relaxed);

	if (was >= 0)
		close(was);
}

void vipl_fd_tell(_Atomic int *fd)
{
	const uint64_t one = 1;
	int to = atomic_load_explicit(fd, memory_order_acquire);

	/* Full is readable, too. */
	if (to >= 0 && sys_write(to, &one, sizeof(one)) < 0)
		return;
}

void vipl_cq_tell(struct vipl_cq *cq)
{
	if (atomic_exchange_explicit(&cq->fd_armed, 0, memory_order_acq_rel))
		vipl_fd_tell(&cq->fd);
}

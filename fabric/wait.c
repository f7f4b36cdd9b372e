// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Wait objects of CQs and EQs: a descriptor that epoll takes, which is an epoll
 * itself, of an eventfd for what is the object's own and of what else is watched.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fab.h"

int via_wait_watch(struct via_wait *w, int fd)
{
	struct epoll_event e = { .events = EPOLLIN };

	return epoll_ctl(w->epfd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int via_wait_open(struct via_wait *w, enum fi_wait_obj obj)
{
	int ret = 0;

	w->on = obj != FI_WAIT_NONE;
	w->fd = w->epfd = -1;
	if (obj != FI_WAIT_NONE && obj != FI_WAIT_UNSPEC && obj != FI_WAIT_FD)
		return -FI_ENOSYS;
	if (!w->on)
		return 0;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd >= 0)
		w->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (w->epfd < 0)
		ret = -errno;
	if (!ret)
		ret = via_wait_watch(w, w->fd);
	if (ret)
		via_wait_close(w);
	return ret;
}

void via_wait_close(struct via_wait *w)
{
	if (w->epfd >= 0)
		close(w->epfd);
	if (w->fd >= 0)
		close(w->fd);
	w->fd = w->epfd = -1;
}

void via_wait_tell(struct via_wait *w)
{
	const uint64_t one = 1;

	if (w->on && write(w->fd, &one, sizeof(one)) < 0)
		errno = 0;	/* full is readable, too */
}

void via_wait_clear(struct via_wait *w)
{
	uint64_t n;

	if (w->on && read(w->fd, &n, sizeof(n)) < 0)
		errno = 0;	/* it was empty */
}

int via_wait_control(const struct via_wait *w, int command, void *arg)
{
	switch (command) {
	case FI_GETWAIT:
		if (!w->on)
			return -FI_ENODATA;
		*(int *)arg = w->epfd;
		return 0;
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *)arg = w->on ? FI_WAIT_FD : FI_WAIT_NONE;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

uint64_t via_wait_end(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX :
		via_now() + (uint64_t)timeout_ms * 1000000u;
}

bool via_wait_for(const struct via_wait *w, uint64_t end)
{
	uint64_t now = via_now();
	struct epoll_event e;

	if (end == UINT64_MAX) {
		epoll_wait(w->epfd, &e, 1, -1);
		return true;
	}
	return now < end && epoll_wait(w->epfd, &e, 1,
				       (int)((end - now + 999999) / 1000000));
}

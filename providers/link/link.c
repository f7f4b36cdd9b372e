// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A link as a whole: its files, its progress, its timer. */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENTS		32	/* at a time */
#define ROUNDS		16	/* of epoll in one link_progress */
#define FRAMES		64	/* of one connection, at a time */

/* of: what its events are about; none of link's own things: it is watched. */
int link_add_file(struct link *l, int fd, void *of)
{
	struct epoll_event e = { .events = EPOLLIN };

	e.data.u64 = (uintptr_t)of;
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int open_files(struct link *l)
{
	l->epoll = sock_keep(epoll_create1(EPOLL_CLOEXEC));
	if (l->epoll < 0)
		return l->epoll;
	l->event = sock_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (l->event < 0)
		return l->event;
	return link_add_file(l, l->event, &l->event);
}

/* The thread that is in link_wait() has read it before, or is woken. */
void link_set_timer(struct link *l)
{
	uint64_t at = link_least(l->port_again, handshake_next(l));

	at = link_least(at, link_least(l->resume, l->stale));
	if (l->strangers)
		at = link_least(at, l->stranger[0]->since +
				    (uint64_t)STRANGER_MS * MS);
	if (at < atomic_exchange(&l->timer_at, at) && atomic_load(&l->sleeps))
		link_wake(l);
}

struct link *link_open(const struct link_conf *conf, int *err)
{
	struct link *l = calloc(1, sizeof(*l));

	*err = -ENOMEM;
	if (!l)
		return NULL;
	l->conf = *conf;
	l->id = sock_random();
	l->uid = geteuid();
	l->epoll = l->event = -1;
	l->resume = l->port_again = l->stale = NEVER;
	atomic_init(&l->timer_at, NEVER);
	l->wait2 = 1;
	limit_init(l);
	*err = open_files(l);
	if (*err) {
		link_close(l);
		return NULL;
	}
	if (l->conf.family == LINK_TCP)
		port_open(l);
	link_set_timer(l);
	return l;
}

void link_close(struct link *l)
{
	handshake_close(l);
	name_expire(l, NEVER);
	while (l->conns)
		conn_free(l, l->conns);
	conn_reap(l);
	link_file_close(l->event);
	link_file_close(l->epoll);
	free(l);
}

uint64_t link_id(const struct link *l)
{
	return l->id;
}

int link_watch(struct link *l, int fd)
{
	return link_add_file(l, fd, NULL);
}

void link_unwatch(struct link *l, int fd)
{
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
}

void link_wake(struct link *l)
{
	uint64_t one = 1;

	syscall(SYS_write, l->event, &one, sizeof(one));
}

void link_wait(struct link *l, uint64_t ns)
{
	struct pollfd p = { .fd = l->epoll, .events = POLLIN };
	struct timespec t, *limit = NULL;
	struct epoll_event e;
	uint64_t at, now;
	int n = -1;

	atomic_store(&l->sleeps, 1);
	at = atomic_load(&l->timer_at);
	if (at != NEVER) {
		now = sock_now();
		ns = link_least(ns, at > now ? at - now : 0);
	}
	if (ns != UINT64_MAX) {
		t = sock_span(ns);
		limit = &t;
	}

#ifdef SYS_epoll_pwait2
	if (l->wait2) {
		n = (int)syscall(SYS_epoll_pwait2, l->epoll, &e, 1, limit,
				 NULL, 0);
		l->wait2 = n >= 0 || errno != ENOSYS;
	}
#endif
	if (!l->wait2) {
		syscall(SYS_ppoll, &p, 1, limit, NULL, 0);
		n = epoll_wait(l->epoll, &e, 1, 0);
	}
	atomic_store(&l->sleeps, 0);
	/*
	 * Here alone: a thread that makes progress meanwhile would take the
	 * wake-up from the one that is still to come here.
	 */
	if (n == 1 && e.data.u64 == (uintptr_t)&l->event)
		syscall(SYS_read, l->event, &now, sizeof(now));
}

static void conn_lost(struct link *l, struct conn *c, int err)
{
	if (err == -EMFILE)
		link_tell(l, MSG_LINK_FILES, err);
	if (c->of)
		handshake_lost(c, err);
	else
		conn_free(l, c);
}

static void take_frames(struct link *l, struct conn *c)
{
	/* UNIX: seldom is there more than one. */
	int i, n, most = c->stream ? FRAMES : 1;

	for (i = 0; i < most && c->kind != CONN_FREE; i++) {
		n = conn_next(c);
		if (n < 0)
			conn_lost(l, c, n);
		if (n <= 0)
			return;
		handshake_frame(l, c, &c->in);
	}
}

static void take_event(struct link *l, struct conn *c, uint32_t events)
{
	int err;

	if (c->kind == CONN_LISTEN) {
		conn_accept(l, c);
		return;
	}
	if (c->connecting && (events & ~(uint32_t)EPOLLIN)) {
		err = conn_connected(l, c);
		if (err)
			conn_lost(l, c, err);
		else
			handshake_connected(c);
	}
	if (events & ~(uint32_t)EPOLLOUT)
		take_frames(l, c);
}

static void run_timers(struct link *l, uint64_t now)
{
	struct conn *c;

	while (l->strangers &&
	       now - l->stranger[0]->since >= (uint64_t)STRANGER_MS * MS)
		conn_free(l, l->stranger[0]);
	if (l->resume <= now) {
		l->resume = NEVER;
		for (c = l->conns; c; c = c->next)
			conn_pause(l, c, PAUSE_ROOM, 0);
	}
	if (l->stale <= now)
		name_expire(l, now);
	if (l->port_again <= now)
		port_open(l);
	handshake_timers(l, now);
}

/* The frames of a process come before its end; DISCONNECT may be among them. */
static void take_death(struct link *l, struct conn *c)
{
	while (c->kind != CONN_FREE && sock_readable(c->fd))
		take_frames(l, c);
	if (c->kind != CONN_FREE)
		conn_lost(l, c, -ECONNRESET);
}

static int take_events(struct link *l, const struct epoll_event *e, int n)
{
	uintptr_t at;
	struct conn *c;
	int i, did = 0;

	for (i = 0; i < n; i++) {
		at = (uintptr_t)e[i].data.u64;
		if (!at || at == (uintptr_t)&l->event)
			continue;
		did++;
		c = (struct conn *)(at & ~(uintptr_t)CONN_DEATH);
		if (c->kind == CONN_FREE)
			continue;
		if (at & CONN_DEATH)
			take_death(l, c);
		else
			take_event(l, c, e[i].events);
	}
	return did;
}

int link_progress(struct link *l)
{
	struct epoll_event e[EVENTS];
	int round, n, some, did = 0;
	uint64_t now = 0;

	for (round = 0; round < ROUNDS; round++) {
		n = epoll_wait(l->epoll, e, EVENTS, 0);
		if (n <= 0)
			break;
		some = take_events(l, e, n);
		did += some;
		if (!some || n < EVENTS)
			break;
	}
	/* The clock costs as much as the rest, and seldom is there a timer. */
	if (did || atomic_load(&l->timer_at) != NEVER)
		now = sock_now();
	if (did || atomic_load(&l->timer_at) <= now) {
		run_timers(l, now);
		link_set_timer(l);
		did++;
	}
	conn_reap(l);
	return did;
}

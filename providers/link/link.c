// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* A link as a whole: its files, its progress, its timer. */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS		32	/* at a time */
#define FRAMES		64	/* of one connection, at a time */

/* Events that are about no connection. */
#define KEY_WAKE	UINT64_MAX
#define KEY_TIMER	(UINT64_MAX - 1)
#define KEY_WATCHED	(UINT64_MAX - 2)

/* The endpoint address of TCP, as frames have it. */
struct tcp_endpoint {
	uint16_t port;		/* network order */
	uint16_t family;
	uint32_t scope;		/* of IPv6 */
	uint8_t addr[16];
};

void link_frame(struct frame *f, enum frame_type type)
{
	memset(f, 0, sizeof(*f));
	f->type = type;
}

size_t link_endpoint_put(const struct sock_addr *a, uint8_t *endpoint)
{
	const struct sockaddr_in6 *in6 = (const void *)&a->any;
	const struct sockaddr_in *in = (const void *)&a->any;
	size_t n = a->len - offsetof(struct sockaddr_un, sun_path) - 1;
	struct tcp_endpoint w = { .family = a->sa.sa_family };

	if (a->sa.sa_family == AF_UNIX) {
		memcpy(endpoint, a->un.sun_path + 1, n);
		return n;
	}
	if (a->sa.sa_family == AF_INET6) {
		w.port = in6->sin6_port;
		w.scope = in6->sin6_scope_id;
		memcpy(w.addr, &in6->sin6_addr, 16);
	} else {
		w.port = in->sin_port;
		memcpy(w.addr, &in->sin_addr, 4);
	}
	memcpy(endpoint, &w, sizeof(w));
	return sizeof(w);
}

int link_endpoint_get(const uint8_t *endpoint, size_t len,
		      const struct sock_addr *dir, struct sock_addr *a)
{
	char name[FRAME_ENDPOINT + 1];
	struct tcp_endpoint w;

	if (!dir) {
		if (!len || memchr(endpoint, 0, len))
			return -EPROTO;
		memcpy(name, endpoint, len);
		name[len] = 0;
		return sock_abstract(a, name) ? -EPROTO : 0;
	}
	if (len != sizeof(w))
		return -EPROTO;
	memcpy(&w, endpoint, sizeof(w));
	*a = *dir;
	if (a->sa.sa_family == AF_INET6)
		((struct sockaddr_in6 *)&a->any)->sin6_port = w.port;
	else
		((struct sockaddr_in *)&a->any)->sin_port = w.port;
	return 0;
}

int link_endpoint_ip(const uint8_t *endpoint, size_t len,
		     const struct link_conf *conf, struct sock_addr *a)
{
	struct sockaddr_in6 *in6 = (void *)&a->any;
	struct sockaddr_in *in = (void *)&a->any;
	struct tcp_endpoint w;

	memset(a, 0, sizeof(*a));
	if (len != sizeof(w))
		return -EPROTO;
	memcpy(&w, endpoint, sizeof(w));
	a->sa.sa_family = w.family;
	if (w.family == AF_INET6) {
		a->len = sizeof(*in6);
		in6->sin6_scope_id = w.scope;
		memcpy(&in6->sin6_addr, w.addr, 16);
	} else if (w.family == AF_INET) {
		a->len = sizeof(*in);
		memcpy(&in->sin_addr, w.addr, 4);
	} else {
		return -EPROTO;
	}
	/* Both have the port at the same place. */
	in->sin_port = ((const struct sockaddr_in *)&conf->addr)->sin_port;
	return 0;
}

static int add_file(struct link *l, int fd, uint64_t key)
{
	struct epoll_event e = { .events = EPOLLIN };

	e.data.u64 = key;
	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int open_files(struct link *l)
{
	int err;

	l->epoll = sock_keep(epoll_create1(EPOLL_CLOEXEC));
	if (l->epoll < 0)
		return l->epoll;
	l->event = sock_keep(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (l->event < 0)
		return l->event;
	l->timer = sock_keep(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC |
					    TFD_NONBLOCK));
	if (l->timer < 0)
		return l->timer;
	err = add_file(l, l->event, KEY_WAKE);
	return err ? err : add_file(l, l->timer, KEY_TIMER);
}

/* Listen at an address; for TCP the port is the system's choice. */
static int listen_at(struct link *l, struct sock_addr *a, enum conn_kind kind,
		     struct conn **out)
{
	int tcp = a->sa.sa_family != AF_UNIX, fd, err;
	socklen_t len = sizeof(a->any);

	fd = sock_open(a->sa.sa_family, tcp ? SOCK_STREAM : SOCK_SEQPACKET);
	if (fd < 0)
		return fd;
	err = sock_bind_listen(fd, a);
	if (!err && tcp) {
		err = getsockname(fd, &a->sa, &len) ? -errno : 0;
		a->len = len;
	}
	if (!err) {
		*out = conn_new(l, fd, kind, tcp, 0);
		if (*out)
			return 0;
		err = -ENOMEM;
	}
	sock_close(fd);
	return err;
}

static int open_listener(struct link *l)
{
	struct sock_addr a;
	struct conn *presence;
	char id[17];
	int err;

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)l->id);
	err = dir_name(&l->conf, l->uid, id, &a);
	if (err)
		return err;
	if (l->conf.family == LINK_UNIX) {
		l->endpoint = a;
		return listen_at(l, &l->endpoint, CONN_LISTEN, &l->listener);
	}
	memcpy(&l->endpoint.any, &l->conf.addr, sizeof(l->conf.addr));
	l->endpoint.len = l->conf.addr_len;
	if (l->endpoint.sa.sa_family == AF_INET6)
		((struct sockaddr_in6 *)&l->endpoint.any)->sin6_port = 0;
	else
		((struct sockaddr_in *)&l->endpoint.any)->sin_port = 0;
	err = listen_at(l, &a, CONN_PRESENCE, &presence);
	return err ? err : listen_at(l, &l->endpoint, CONN_LISTEN,
				     &l->listener);
}

static void set_timer(struct link *l)
{
	struct itimerspec t = { { 0, 0 }, { 0, 0 } };
	uint64_t at = link_least(dir_next(l), handshake_next(l));

	at = link_least(at, leader_next(l));
	at = link_least(at, l->resume);
	if (l->oldest)
		at = link_least(at, l->oldest->since +
				    STRANGER_MS * 1000000ull);
	if (at == l->timer_at)
		return;
	l->timer_at = at;
	if (at != NEVER) {
		at = at ? at : 1;
		t.it_value.tv_sec = (time_t)(at / 1000000000u);
		t.it_value.tv_nsec = (long)(at % 1000000000u);
	}
	timerfd_settime(l->timer, TFD_TIMER_ABSTIME, &t, NULL);
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
	l->epoll = l->event = l->timer = -1;
	l->timer_at = l->dir_again = l->resume = NEVER;
	l->wait2 = 1;
	limit_init(l);
	*err = open_files(l);
	if (!*err)
		*err = open_listener(l);
	if (*err) {
		link_close(l);
		return NULL;
	}
	dir_start(l);
	set_timer(l);
	return l;
}

void link_close(struct link *l)
{
	struct wait_entry *w;
	uint32_t i;

	handshake_close(l);
	leader_stop(l);
	for (i = 0; i < l->conns; i++) {
		if (l->conn[i] && l->conn[i]->kind != CONN_FREE)
			conn_free(l, l->conn[i]);
		free(l->conn[i]);
	}
	free(l->conn);
	while ((w = l->waits)) {
		l->waits = w->next;
		free(w);
	}
	sock_close(l->timer);
	sock_close(l->event);
	sock_close(l->epoll);
	free(l);
}

uint64_t link_id(const struct link *l)
{
	return l->id;
}

int link_watch(struct link *l, int fd)
{
	return add_file(l, fd, KEY_WATCHED);
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

static void drain_event(int fd)
{
	uint64_t count;

	syscall(SYS_read, fd, &count, sizeof(count));
}

void link_wait(struct link *l, uint64_t ns)
{
	struct timespec t = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	}, *limit = ns == UINT64_MAX ? NULL : &t;
	struct pollfd p = { .fd = l->epoll, .events = POLLIN };
	struct epoll_event e;
	int n = -1;

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
	/*
	 * Here alone: a thread that makes progress meanwhile would take the
	 * wake-up from the one that is still to come here.
	 */
	if (n == 1 && e.data.u64 == KEY_WAKE)
		drain_event(l->event);
}

static void conn_lost(struct link *l, struct conn *c, int err)
{
	if (err == -EMFILE)
		link_tell(l, MSG_LINK_FILES, err);
	switch (c->kind) {
	case CONN_LEADER:
		dir_lost(l);
		break;
	case CONN_REG:
	case CONN_ASKING:
		leader_lost(l, c);
		break;
	case CONN_QUERY:
		query_lost(l, c);
		break;
	case CONN_LOOKUP:
	case CONN_HANDSHAKE:
	case CONN_PAIR:
		handshake_lost(l, c, err);
		break;
	default:
		conn_free(l, c);
	}
}

static void take_frame(struct link *l, struct conn *c, const struct frame *f)
{
	switch (c->kind) {
	case CONN_LEADER:
		dir_frame(l, c, f);
		break;
	case CONN_REG:
	case CONN_ASKING:
		leader_frame(l, c, f);
		break;
	default:
		handshake_frame(l, c, f);
	}
}

static void take_frames(struct link *l, struct conn *c, uint64_t key)
{
	/* A peer that is up sends wake-ups: seldom more than one. */
	int i, n, most = c->kind == CONN_PAIR && !c->stream ? 1 : FRAMES;
	uint8_t buf[FRAME_MAX];
	struct frame f;

	for (i = 0; i < most; i++) {
		n = conn_next(c, buf, &f);
		if (n < 0)
			conn_lost(l, c, n);
		if (n <= 0)
			return;
		take_frame(l, c, &f);
		if (conn_find(l, key) != c)
			return;
	}
}

static void take_event(struct link *l, struct conn *c, uint64_t key,
		       uint32_t events)
{
	int err = 0;

	if (c->kind == CONN_LISTEN || c->kind == CONN_DIR_LISTEN ||
	    c->kind == CONN_DIR_PORT) {
		conn_accept(l, c);
		return;
	}
	if (c->connecting && (events & ~(uint32_t)EPOLLIN)) {
		err = sock_error(c->fd);
		c->connecting = 0;
		c->writing = 1;		/* flushing takes EPOLLOUT away */
		if (!err && c->kind == CONN_HANDSHAKE) {
			handshake_connected(l, c);
			if (conn_find(l, key) != c)
				return;
		}
	}
	if (!err && c->writing && (events & EPOLLOUT))
		err = conn_flush(l, c);
	if (err)
		conn_lost(l, c, err);
	else if (events & ~(uint32_t)EPOLLOUT)
		take_frames(l, c, key);
}

static void run_timers(struct link *l)
{
	uint64_t now = sock_now();
	uint32_t i;

	while (l->oldest && now - l->oldest->since >= STRANGER_MS * 1000000ull)
		conn_lost(l, l->oldest, -ETIMEDOUT);
	if (l->resume <= now) {
		l->resume = NEVER;
		for (i = 0; i < l->conns; i++)
			if (l->conn[i] && l->conn[i]->kind != CONN_FREE)
				conn_pause(l, l->conn[i], 0);
	}
	dir_timers(l, now);
	leader_timers(l, now);
	handshake_timers(l, now);
}

/* The frames of a process come before its end; DISCONNECT may be among them. */
static void take_death(struct link *l, uint64_t key)
{
	struct conn *c = conn_find(l, key);

	while (c && sock_readable(c->fd)) {
		take_frames(l, c, key);
		c = conn_find(l, key);
	}
	if (c)
		conn_lost(l, c, -ECONNRESET);
}

static int take_events(struct link *l, const struct epoll_event *e, int n)
{
	int i, did = 0;

	for (i = 0; i < n; i++) {
		struct conn *c;

		if (e[i].data.u64 == KEY_WATCHED ||
		    e[i].data.u64 == KEY_WAKE)
			continue;
		did++;
		if (e[i].data.u64 == KEY_TIMER) {
			drain_event(l->timer);
			l->timer_at = NEVER;
		} else if (e[i].data.u64 & KEY_DEATH) {
			take_death(l, e[i].data.u64 & ~KEY_DEATH);
		} else {
			c = conn_find(l, e[i].data.u64);
			if (c)
				take_event(l, c, e[i].data.u64, e[i].events);
		}
	}
	return did;
}

int link_progress(struct link *l)
{
	struct epoll_event e[EVENTS];
	int round, n, now, did = 0;

	for (round = 0; round < ROUNDS; round++) {
		n = epoll_wait(l->epoll, e, EVENTS, 0);
		if (n <= 0)
			break;
		now = take_events(l, e, n);
		did += now;
		if (!now || (n < EVENTS && !leader_unsettled(l)))
			break;
	}
	if (leader_unsettled(l)) {
		leader_settle(l, sock_now());
		did++;
	}
	if (l->dirty) {
		l->dirty = 0;
		did++;
	}
	if (did) {
		run_timers(l);
		set_timer(l);
	}
	return did;
}

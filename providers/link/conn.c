// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The sockets of a link: slots, frames in and out, strangers. */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define ACCEPTS		64	/* at a time; the rest is another round's */

static int watch_conn(struct link *l, struct conn *c, int op)
{
	struct epoll_event e = { .events = EPOLLIN };

	if (c->connecting || c->writing)
		e.events |= EPOLLOUT;
	if (c->paused)
		e.events = 0;
	e.data.u64 = (uint64_t)c->gen << 32 | c->slot;
	return epoll_ctl(l->epoll, op, c->fd, &e);
}

/* The index of a slot that is free, or -1. */
static int64_t free_slot(struct link *l)
{
	struct conn **more;
	uint32_t i, n = l->conns;

	for (i = l->free_hint; i < n; i++)
		if (!l->conn[i] || l->conn[i]->kind == CONN_FREE)
			return i;
	more = realloc(l->conn, (n ? n * 2 : 16) * sizeof(*more));
	if (!more)
		return -1;
	memset(more + n, 0, ((n ? n * 2 : 16) - n) * sizeof(*more));
	l->conn = more;
	l->conns = n ? n * 2 : 16;
	return n;
}

struct conn *conn_new(struct link *l, int fd, enum conn_kind kind, int stream,
		      int connecting)
{
	int64_t i = free_slot(l);
	struct conn *c;
	uint32_t gen;

	if (i < 0)
		return NULL;
	c = l->conn[i];
	if (!c)
		c = l->conn[i] = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	gen = c->gen + 1;
	memset(c, 0, sizeof(*c));
	c->gen = gen & 0x7fffffff;
	c->slot = (uint32_t)i;
	c->fd = fd;
	c->stream = (uint8_t)stream;
	c->connecting = (uint8_t)connecting;
	if (stream && kind > CONN_PRESENCE) {
		c->in = malloc(FRAME_MAX);
		if (!c->in)
			return NULL;
	}
	if (watch_conn(l, c, EPOLL_CTL_ADD)) {
		free(c->in);
		c->in = NULL;
		return NULL;
	}
	c->kind = kind;
	l->free_hint = (uint32_t)i + 1;
	return c;
}

/* The connection of an event, unless it is gone since. */
struct conn *conn_find(struct link *l, uint64_t key)
{
	uint32_t i = (uint32_t)key;
	struct conn *c = i < l->conns ? l->conn[i] : NULL;

	return c && c->kind != CONN_FREE && c->gen == key >> 32 ? c : NULL;
}

static void strangers_remove(struct link *l, struct conn *c)
{
	*(c->older ? &c->older->newer : &l->oldest) = c->newer;
	*(c->newer ? &c->newer->older : &l->newest) = c->older;
	c->older = c->newer = NULL;
	l->strangers--;
}

static int is_stranger(const struct conn *c)
{
	return c->kind == CONN_STRANGER || c->kind == CONN_ASKING;
}

void conn_known(struct link *l, struct conn *c, enum conn_kind kind)
{
	if (is_stranger(c))
		strangers_remove(l, c);
	c->kind = kind;
}

void conn_drop_files(struct conn *c)
{
	while (c->files)
		sock_close(c->file[--c->files]);
}

void conn_free(struct link *l, struct conn *c)
{
	if (is_stranger(c))
		strangers_remove(l, c);
	conn_drop_files(c);
	free(c->in);
	free(c->out);
	c->in = c->out = NULL;
	c->of = NULL;
	c->kind = CONN_FREE;
	if (c->slot < l->free_hint)
		l->free_hint = c->slot;
	/* Not by close alone: a child of fork() may have the file as well. */
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	sock_close(c->fd);
}

static int set_writing(struct link *l, struct conn *c, int writing)
{
	if (c->writing == writing)
		return 0;
	c->writing = (uint8_t)writing;
	return watch_conn(l, c, EPOLL_CTL_MOD) ? -errno : 0;
}

static int queue_bytes(struct link *l, struct conn *c, const uint8_t *buf,
		       size_t len)
{
	size_t have = c->out_len - c->out_at, size;
	uint8_t *out;

	/* Frames to the leader are not bounded by a slow reader. */
	if (have + len > QUEUE_MAX && c->kind != CONN_LEADER)
		return -ENOBUFS;
	if (c->out_at) {
		memmove(c->out, c->out + c->out_at, have);
		c->out_at = 0;
		c->out_len = have;
	}
	if (have + len > c->out_size) {
		size = (have + len) * 2;
		out = realloc(c->out, size);
		if (!out)
			return -ENOMEM;
		c->out = out;
		c->out_size = size;
	}
	memcpy(c->out + have, buf, len);
	c->out_len = have + len;
	return set_writing(l, c, 1);
}

int conn_send(struct link *l, struct conn *c, const struct frame *f,
	      const int *files, unsigned int n)
{
	uint8_t buf[FRAME_MAX];
	size_t len = frame_build(f, buf);
	ssize_t did = -EAGAIN;

	if (c->out_at == c->out_len && !c->connecting)
		did = sock_send(c->fd, buf, len, files, n);
	if (did == (ssize_t)len)
		return 0;
	if (n)
		return did < 0 && did != -EAGAIN ? (int)did : -ENOBUFS;
	if (did == -EAGAIN)
		did = 0;
	if (did < 0)
		return (int)did;
	return queue_bytes(l, c, buf + did, len - (size_t)did);
}

int conn_flush(struct link *l, struct conn *c)
{
	struct frame f;
	size_t have;
	ssize_t did;
	int n;

	while (c->out_at < c->out_len) {
		have = c->out_len - c->out_at;
		if (!c->stream) {
			n = frame_parse(c->out + c->out_at, have, &f);
			if (n <= 0)
				return -EPROTO;
			have = (size_t)n;
		}
		did = sock_send(c->fd, c->out + c->out_at, have, NULL, 0);
		if (did == -EAGAIN)
			return 0;
		if (did < 0)
			return (int)did;
		c->out_at += (size_t)did;
	}
	c->out_at = c->out_len = 0;
	return set_writing(l, c, 0);
}

static int take_files(struct conn *c, const int *file, unsigned int n)
{
	unsigned int i;

	if (c->files + n > LINK_FILES) {
		while (n)
			sock_close(file[--n]);
		return -EMSGSIZE;
	}
	for (i = 0; i < n; i++)
		c->file[c->files++] = file[i];
	return 0;
}

static int next_of_stream(struct conn *c, uint8_t *buf, struct frame *f)
{
	unsigned int none = 0;
	ssize_t did;
	int n;

	for (;;) {
		n = frame_parse(c->in, c->in_len, f);
		if (n < 0)
			return n;
		if (n)
			break;
		if (c->in_len == FRAME_MAX)
			return -EPROTO;
		did = sock_recv(c->fd, c->in + c->in_len,
				FRAME_MAX - c->in_len, NULL, &none);
		if (did <= 0)
			return !did ? -ECONNRESET :
			       did == -EAGAIN ? 0 : (int)did;
		c->in_len += (size_t)did;
	}
	memcpy(buf, c->in, (size_t)n);
	frame_parse(buf, (size_t)n, f);
	c->in_len -= (size_t)n;
	memmove(c->in, c->in + n, c->in_len);
	return 1;
}

int conn_next(struct conn *c, uint8_t *buf, struct frame *f)
{
	unsigned int n = LINK_FILES;
	int file[LINK_FILES], err;
	ssize_t did;

	if (c->stream)
		return next_of_stream(c, buf, f);
	did = sock_recv(c->fd, buf, FRAME_MAX, file, &n);
	if (did <= 0)
		return !did ? -ECONNRESET : did == -EAGAIN ? 0 : (int)did;
	err = take_files(c, file, n);
	if (err)
		return err;
	err = frame_parse(buf, (size_t)did, f);
	if (err < 0)
		return err;
	return err == did ? 1 : -EPROTO;
}

void conn_pause(struct link *l, struct conn *c, int pause)
{
	if (c->paused == pause)
		return;
	c->paused = (uint8_t)pause;
	watch_conn(l, c, EPOLL_CTL_MOD);
}

static void welcome_conn(struct link *l, int fd, enum conn_kind kind,
			 int stream)
{
	struct conn *c;
	uid_t uid;

	if (stream) {
		sock_tune_tcp(fd);
	} else if (sock_cred(fd, &uid, NULL) || uid != l->uid) {
		sock_close(fd);
		return;
	}
	c = conn_new(l, fd, kind, stream, 0);
	if (!c) {
		sock_close(fd);
		return;
	}
	c->since = sock_now();
	if (stream)
		limit_source_of(&c->from, fd);
	c->older = l->newest;
	*(l->newest ? &l->newest->newer : &l->oldest) = c;
	l->newest = c;
	l->strangers++;
}

/*
 * May another stranger come? The oldest one of the source that has most makes
 * room, unless it is as new as those of a burst: then the listener waits.
 */
static int room_for_stranger(struct link *l)
{
	struct conn *victim;

	if (l->strangers < STRANGERS_MAX)
		return 1;
	victim = limit_victim(l);
	if (sock_now() - victim->since < STRANGER_MIN_MS * 1000000ull)
		return 0;
	conn_free(l, victim);
	return 1;
}

void conn_accept(struct link *l, struct conn *listener)
{
	enum conn_kind kind = listener->kind == CONN_LISTEN ?
			      CONN_STRANGER : CONN_ASKING;
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = -ENOBUFS;
		if (room_for_stranger(l))
			fd = sock_accept(listener->fd);
		if (fd >= 0) {
			welcome_conn(l, fd, kind, listener->stream);
			continue;
		}
		/* No room, no files, no memory: go on in a while. */
		if (fd == -ENOBUFS || fd == -EMFILE || fd == -ENFILE ||
		    fd == -ENOMEM) {
			if (fd != -ENOBUFS)
				link_tell(l, MSG_LINK_WAIT, fd);
			conn_pause(l, listener, 1);
			l->resume = sock_now() + 10000000;
		}
		return;
	}
}

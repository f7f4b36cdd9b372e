// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* The sockets of a link: frames in and out, strangers. */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define ACCEPTS		4	/* at a time: one of them may be all it wants */
#define RESUME_MS	10	/* a listener that has no room rests so long */

static int watch_conn(struct link *l, struct conn *c, int op)
{
	struct epoll_event e = { .events = c->paused ? 0 : EPOLLIN };

	if (c->connecting)
		e.events |= EPOLLOUT;
	e.data.u64 = (uintptr_t)c;
	return epoll_ctl(l->epoll, op, c->fd, &e) ? -errno : 0;
}

struct conn *conn_new(struct link *l, int fd, enum conn_kind kind, int stream,
		      int connecting)
{
	struct conn *c = calloc(1, sizeof(*c));

	if (c) {
		c->kind = kind;
		c->fd = fd;
		c->stream = (uint8_t)stream;
		c->connecting = (uint8_t)connecting;
	}
	if (!c || watch_conn(l, c, EPOLL_CTL_ADD)) {
		free(c);
		link_file_close(fd);
		return NULL;
	}
	c->next = l->conns;
	c->prev = &l->conns;
	if (c->next)
		c->next->prev = &c->next;
	l->conns = c;
	return c;
}

void conn_known(struct link *l, struct conn *c, enum conn_kind kind)
{
	unsigned int i = 0;

	if (c->kind == CONN_STRANGER) {
		while (l->stranger[i] != c)
			i++;
		memmove(&l->stranger[i], &l->stranger[i + 1],
			(--l->strangers - i) * sizeof(c));
	}
	c->kind = kind;
}

static void conn_drop_files(struct conn *c)
{
	while (c->files)
		link_file_close(c->file[--c->files]);
}

void conn_free(struct link *l, struct conn *c)
{
	conn_known(l, c, CONN_FREE);
	conn_drop_files(c);
	c->of = NULL;
	/* Not by close alone: a child of fork() may have the file as well. */
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	link_file_close(c->fd);
	if (c->next)
		c->next->prev = c->prev;
	*c->prev = c->next;
	c->next = l->dead;
	l->dead = c;
}

void conn_reap(struct link *l)
{
	struct conn *c;

	while ((c = l->dead)) {
		l->dead = c->next;
		free(c);
	}
}

int conn_connected(struct link *l, struct conn *c)
{
	int err = sock_error(c->fd);

	c->connecting = 0;
	return err ? err : watch_conn(l, c, EPOLL_CTL_MOD);
}

/* The first frames of a connection fit, and a reader that is slow has enough. */
int conn_send(struct conn *c, struct frame *f, const int *files,
	      unsigned int n)
{
	size_t len = FRAME_HEAD + f->len;
	ssize_t did;

	f->magic = FRAME_MAGIC;
	did = sock_send(c->fd, f, len, files, n);
	return did == (ssize_t)len ? 0 : did < 0 ? (int)did : -ENOBUFS;
}

/* The head of c->in, from any sender. */
static int check_head(const struct frame *f)
{
	if (f->magic != FRAME_MAGIC)
		return (f->magic ^ FRAME_MAGIC) < 0x100 ||
		       f->magic == __builtin_bswap32(FRAME_MAGIC) ?
		       -EPROTONOSUPPORT : -EPROTO;
	if (!f->type || f->type >= FRAME_TYPES || f->len > sizeof(f->data))
		return -EPROTO;
	return 0;
}

int conn_next(struct conn *c)
{
	size_t want = c->stream ? FRAME_HEAD : sizeof(c->in);
	ssize_t did;
	int err;

	if (c->whole)
		c->have = c->whole = 0;
	conn_drop_files(c);
	for (;;) {
		if (c->have >= FRAME_HEAD) {
			err = check_head(&c->in);
			want = FRAME_HEAD + c->in.len;
			if (err)
				return err;
		}
		if (c->have == want)
			break;
		if (c->have && !c->stream)
			return -EPROTO;
		c->files = c->stream ? 0 : LINK_FILES;
		did = sock_recv(c->fd, (uint8_t *)&c->in + c->have,
				want - c->have, c->file, &c->files);
		if (did <= 0)
			return !did ? -ECONNRESET :
			       did == -EAGAIN ? 0 : (int)did;
		c->have += (size_t)did;
	}
	c->whole = 1;
	return 1;
}

void conn_pause(struct link *l, struct conn *c, uint8_t why, int pause)
{
	uint8_t was = c->paused;

	c->paused = pause ? was | why : was & ~why;
	if (!was != !c->paused)
		watch_conn(l, c, EPOLL_CTL_MOD);
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
	if (sock_now() - victim->since < (uint64_t)STRANGER_MIN_MS * MS)
		return 0;
	conn_free(l, victim);
	return 1;
}

/* A socket that was accepted, here or for this link. */
struct conn *conn_welcome(struct link *l, int fd, int stream)
{
	struct conn *c;

	if ((!stream && !name_is_own(l, fd)) || !room_for_stranger(l)) {
		link_file_close(fd);
		return NULL;
	}
	c = conn_new(l, fd, CONN_STRANGER, stream, 0);
	if (!c)
		return NULL;
	if (stream) {
		sock_tune_tcp(fd);
		limit_source_of(&c->from, fd);
	}
	c->since = sock_now();
	l->stranger[l->strangers++] = c;
	return c;
}

/* What is refused counts as well. */
void conn_accept(struct link *l, struct conn *listener)
{
	int i, fd;

	for (i = 0; i < ACCEPTS; i++) {
		fd = -ENOBUFS;
		if (room_for_stranger(l))
			fd = sock_accept(listener->fd);
		if (fd >= 0) {
			conn_welcome(l, fd, listener->stream);
			continue;
		}
		/* No room, no files, no memory: go on in a while. */
		if (fd == -ENOBUFS || fd == -EMFILE || fd == -ENFILE ||
		    fd == -ENOMEM) {
			if (fd != -ENOBUFS)
				link_tell(l, MSG_LINK_WAIT, fd);
			conn_pause(l, listener, PAUSE_ROOM, 1);
			l->resume = sock_now() + RESUME_MS * MS;
		}
		return;
	}
}

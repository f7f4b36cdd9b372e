// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A link and its directory: bind its name and be the leader, or register with
 * the process that was first, again and again as leaders die.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FOREIGN_NS	50000000u	/* another user has the name */
#define FOREIGN_TRIES	100		/* it has it, and does not listen */
#define FILES_NS	100000000u	/* there are no files left */

int dir_name(const struct link_conf *conf, uid_t uid, const char *what,
	     struct sock_addr *a)
{
	char name[96];
	int n = snprintf(name, sizeof(name), "vipl/%s/%u/%s/%s",
			 conf->provider, (unsigned int)uid, conf->space, what);

	if (n < 0 || (size_t)n >= sizeof(name))
		return -ENAMETOOLONG;
	return sock_abstract(a, name);
}

static int send_waiting(struct link *l, const struct wait_entry *w, int now)
{
	struct frame f;

	link_frame(&f, FRAME_WAITING);
	f.b.code = now;
	f.b.text_len = (uint16_t)w->len;
	f.text = w->disc;
	return conn_send(l, l->dir, &f, NULL, 0);
}

static int introduce_link(struct link *l)
{
	uint8_t endpoint[FRAME_ENDPOINT];
	const struct wait_entry *w;
	struct frame f;
	int err;

	link_frame(&f, FRAME_REGISTER);
	f.b.id = l->id;
	f.endpoint = endpoint;
	f.b.endpoint_len = (uint16_t)link_endpoint_put(&l->endpoint, endpoint);
	f.text = (const uint8_t *)l->conf.name;
	f.b.text_len = (uint16_t)strnlen(l->conf.name, VIPL_NAME_MAX);
	err = conn_send(l, l->dir, &f, NULL, 0);
	for (w = l->waits; w && !err; w = w->next)
		err = send_waiting(l, w, 1);
	link_frame(&f, FRAME_READY);
	return err ? err : conn_send(l, l->dir, &f, NULL, 0);
}

/* Another user has bound a name that has our uid in it. */
static void report_foreign(struct link *l)
{
	if (!l->dir_reported)
		l->conf.msg(l->conf.family == LINK_UNIX ?
			    MSG_LINK_FOREIGN_UNIX : MSG_LINK_FOREIGN_TCP,
			    l->conf.provider, (unsigned int)l->uid);
	l->dir_reported = 1;
	l->dir_taken = 1;
	l->dir_again = sock_now() + FOREIGN_NS;
	handshake_asks(l);
}

static int join_leader(struct link *l, const struct sock_addr *a)
{
	int fd = sock_open(AF_UNIX, SOCK_SEQPACKET), err;
	uid_t uid;

	if (fd < 0)
		return fd;
	err = sock_connect(fd, a);
	if (!err && (sock_cred(fd, &uid, NULL) || uid != l->uid))
		err = -EACCES;
	if (!err) {
		l->dir = conn_new(l, fd, CONN_LEADER, 0, 0);
		if (!l->dir)
			err = -ENOMEM;
	}
	if (err) {
		sock_close(fd);
		return err;
	}
	err = introduce_link(l);
	if (err) {
		conn_free(l, l->dir);
		l->dir = NULL;
	}
	return err;
}

static int try_dir(struct link *l)
{
	struct sock_addr a;
	int fd, err;

	err = dir_name(&l->conf, l->uid, "dir", &a);
	if (err)
		return err;
	fd = sock_open(AF_UNIX, SOCK_SEQPACKET);
	if (fd < 0)
		return fd;
	err = sock_bind_listen(fd, &a);
	if (!err)
		return leader_start(l, fd);
	sock_close(fd);
	return err == -EADDRINUSE ? join_leader(l, &a) : err;
}

void dir_start(struct link *l)
{
	int err = try_dir(l);

	l->dir_again = NEVER;
	if (err != -ECONNREFUSED && err != -EAGAIN)
		l->dir_tries = 0;
	if (!err) {
		l->dir_taken = 0;
		handshake_asks(l);
	} else if (err == -EACCES) {
		report_foreign(l);
	} else if (err == -ECONNREFUSED || err == -EAGAIN || err == -EPIPE ||
		   err == -ECONNRESET) {
		l->dir_again = sock_now() + RETRY_NS;
		if (l->dir_taken || ++l->dir_tries > FOREIGN_TRIES)
			report_foreign(l);
	} else {
		link_tell(l, MSG_LINK_DIRECTORY, err);
		l->dir_again = sock_now() + FILES_NS;
	}
}

uint64_t dir_next(const struct link *l)
{
	return l->dir_again;
}

void dir_timers(struct link *l, uint64_t now)
{
	if (l->dir_again <= now)
		dir_start(l);
}

void dir_lost(struct link *l)
{
	struct link_peer *lp;

	conn_free(l, l->dir);
	l->dir = NULL;
	for (lp = l->handshakes; lp; lp = lp->next)
		lp->asked = 0;
	dir_start(l);
}

void dir_ask(struct link *l, struct link_peer *lp)
{
	struct frame f;

	if (l->leader) {
		leader_ask(l, lp);
		lp->asked = 1;
		return;
	}
	/* Without a leader, handshake_asks does it once there is one. */
	if (!l->dir && l->dir_taken && !lp->querying)
		query_begin(lp);
	if (!l->dir)
		return;
	link_frame(&f, FRAME_ASK);
	f.b.token = lp->token;
	f.text = lp->disc;
	f.b.text_len = (uint16_t)lp->disc_len;
	lp->asked = !conn_send(l, l->dir, &f, NULL, 0);
	lp->again = sock_now() + ANSWER_NS;
}

void dir_frame(struct link *l, struct conn *c, const struct frame *f)
{
	if (f->type == FRAME_ANSWER && f->b.endpoint_len <= FRAME_ENDPOINT)
		handshake_answer(l, f->b.token, f->b.code, f->b.id, f->endpoint,
				 f->b.endpoint_len);
	else if (c == l->dir)
		dir_lost(l);
}

static struct wait_entry **find_wait(struct link *l, const uint8_t *disc,
				     uint32_t len)
{
	struct wait_entry **p = &l->waits;

	while (*p && ((*p)->len != len || memcmp((*p)->disc, disc, len)))
		p = &(*p)->next;
	return p;
}

int dir_waits(struct link *l, const uint8_t *disc, uint32_t len)
{
	return *find_wait(l, disc, len) != NULL;
}

int link_waiting(struct link *l, const uint8_t *disc, uint32_t len, int now)
{
	struct wait_entry **p, *w;

	if (len > VIPL_DISC_MAX)
		return -EINVAL;
	p = find_wait(l, disc, len);
	w = *p;
	if (!w == !now)
		return 0;
	if (now) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return -ENOMEM;
		w->len = len;
		memcpy(w->disc, disc, len);
		w->next = l->waits;
		l->waits = w;
	} else {
		*p = w->next;
	}
	if (l->leader)
		leader_waiting(l, disc, len, now);
	else if (l->dir)
		send_waiting(l, w, now);
	if (!now)
		free(w);
	return 0;
}

static int names_take(const struct frame *f, char (*names)[VIPL_NAME_MAX + 1],
		      unsigned int n)
{
	unsigned int i;

	for (i = 0; i < f->b.text_len; i++)
		if (f->text[i] < ' ' || f->text[i] > '~')
			return 0;
	memcpy(names[n], f->text, f->b.text_len);
	names[n][f->b.text_len] = 0;
	for (i = 0; i < n; i++)
		if (!strcmp(names[i], names[n]))
			return 0;
	return 1;
}

/* Wait until the socket can be read (written): 0 or -ETIMEDOUT. */
static int wait_for(int fd, short events, uint64_t end)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t now = sock_now(), ns = now < end ? end - now : 0;
	struct timespec t = { (time_t)(ns / 1000000000u),
			      (long)(ns % 1000000000u) };

	return syscall(SYS_ppoll, &p, 1, &t, NULL, 0) > 0 ? 0 : -ETIMEDOUT;
}

static int names_ask(int fd, const struct sock_addr *a, uint64_t end)
{
	uint8_t buf[FRAME_MAX];
	struct frame f;
	ssize_t did;
	int err = sock_connect(fd, a);

	if (err == -EINPROGRESS) {
		err = wait_for(fd, POLLOUT, end);
		err = err ? err : sock_error(fd);
	}
	if (err)
		return err;
	link_frame(&f, FRAME_LIST);
	did = sock_send(fd, buf, frame_build(&f, buf), NULL, 0);
	return did < 0 ? (int)did : 0;
}

int link_names(const struct link_conf *conf, const struct sockaddr *dir,
	       socklen_t dir_len, unsigned int ms,
	       char (*names)[VIPL_NAME_MAX + 1], unsigned int max)
{
	uint64_t end = sock_now() + ms * (uint64_t)1000000;
	uint8_t in[FRAME_MAX], buf[FRAME_MAX];
	struct conn c = { .in = in };
	struct sock_addr a = { .len = 0 };
	unsigned int count = 0;
	struct frame f;
	int err = 0;

	if (conf->family == LINK_UNIX) {
		err = dir_name(conf, geteuid(), "dir", &a);
	} else if (dir_len <= sizeof(a.any)) {
		memcpy(&a.any, dir, dir_len);
		a.len = dir_len;
		c.stream = 1;
	}
	c.fd = err ? err : sock_open(a.sa.sa_family, c.stream ? SOCK_STREAM :
							   SOCK_SEQPACKET);
	if (c.fd < 0)
		return c.fd;
	err = names_ask(c.fd, &a, end);
	while (!err) {
		err = conn_next(&c, buf, &f);
		if (!err)
			err = wait_for(c.fd, POLLIN, end);
		if (err <= 0)
			continue;
		if (f.type != FRAME_NAME || count == max)
			break;
		count += (unsigned int)names_take(&f, names, count);
		err = 0;
	}
	conn_drop_files(&c);
	sock_close(c.fd);
	return count ? (int)count : err < 0 ? err : 0;
}

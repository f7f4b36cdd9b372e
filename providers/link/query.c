// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A broadcast query of all links, without the directory: the kernel knows the
 * names of their listeners. A leader that is stopped answers no question; then
 * each listener is asked whether its own link waits.
 */
#include "private.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ACCEPTS		0x10000		/* __SO_ACCEPTCON */

/* The id of a listener with our prefix, in a line of /proc/net/unix. */
static int line_id(const char *line, const char *prefix, uint64_t *id)
{
	unsigned long flags;
	const char *at;
	char *end;

	if (sscanf(line, "%*s %*s %*s %lx", &flags) != 1 || !(flags & ACCEPTS))
		return 0;
	at = strchr(line, '@');
	if (!at || strncmp(at + 1, prefix, strlen(prefix)))
		return 0;
	at += 1 + strlen(prefix);
	*id = strtoull(at, &end, 16);
	return end == at + 16 && !*end;
}

static int each_line(int fd, const char *prefix,
		     void (*each)(void *arg, uint64_t id), uint64_t own,
		     void *arg)
{
	char buf[8192], *line, *end;
	size_t have = 0;
	uint64_t id;
	ssize_t n;

	while ((n = syscall(SYS_read, fd, buf + have,
			    sizeof(buf) - 1 - have)) > 0) {
		have += (size_t)n;
		buf[have] = 0;
		for (line = buf; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			if (line_id(line, prefix, &id) && id != own)
				each(arg, id);
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			break;
	}
	return n == 0;
}

int query_each(struct link *l, void (*each)(void *arg, uint64_t id), void *arg)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/net/unix",
			      O_RDONLY | O_CLOEXEC);
	struct sock_addr a;
	int all = 0;

	if (fd < 0)
		return 0;
	if (!dir_name(&l->conf, l->uid, "", &a)) {
		a.un.sun_path[a.len - offsetof(struct sockaddr_un,
					       sun_path)] = 0;
		all = each_line(fd, a.un.sun_path + 1, each, l->id, arg);
	}
	close(fd);
	return all;
}

static int under_way(const struct link_peer *lp)
{
	const struct link *l = lp->l;
	uint32_t i;

	for (i = 0; i < l->conns; i++)
		if (l->conn[i] && l->conn[i]->kind == CONN_QUERY &&
		    l->conn[i]->of == lp)
			return 1;
	return 0;
}

/*
 * All have answered, and none waits: where there is no directory, that is the
 * answer, unless the own link does.
 */
void query_settle(struct link_peer *lp)
{
	struct link *l = lp->l;
	uint8_t endpoint[FRAME_ENDPOINT];

	if (!l->dir_taken || under_way(lp))
		return;
	lp->querying = 0;
	if (dir_waits(l, lp->disc, lp->disc_len))
		handshake_answer(l, lp->token, 0, l->id, endpoint,
				 link_endpoint_put(&l->endpoint, endpoint));
	else
		handshake_answer(l, lp->token, -ENOENT, 0, NULL, 0);
}

static void ask_one(void *arg, uint64_t id)
{
	struct link_peer *lp = arg;
	struct link *l = lp->l;
	struct sock_addr a;
	struct conn *c = NULL;
	struct frame f;
	char name[17];
	uid_t uid;
	int fd;

	snprintf(name, sizeof(name), "%016llx", (unsigned long long)id);
	if (dir_name(&l->conf, l->uid, name, &a))
		return;
	fd = sock_open(AF_UNIX, SOCK_SEQPACKET);
	if (fd < 0)
		return;
	if (!sock_connect(fd, &a) && !sock_cred(fd, &uid, NULL) &&
	    uid == l->uid)
		c = conn_new(l, fd, CONN_QUERY, 0, 0);
	if (!c) {
		sock_close(fd);
		return;
	}
	c->of = lp;
	link_frame(&f, FRAME_ASK);
	f.b.token = lp->token;
	f.text = lp->disc;
	f.b.text_len = (uint16_t)lp->disc_len;
	if (conn_send(l, c, &f, NULL, 0))
		conn_free(l, c);
}

void query_begin(struct link_peer *lp)
{
	lp->querying = 1;
	query_each(lp->l, ask_one, lp);
	/* Later: what settles this answers it, too. */
	if (lp->l->dir_taken && !under_way(lp))
		lp->again = sock_now();
}

void query_end(struct link_peer *lp)
{
	struct link *l = lp->l;
	uint32_t i;

	if (!lp->querying)
		return;
	lp->querying = 0;
	for (i = 0; i < l->conns; i++)
		if (l->conn[i] && l->conn[i]->kind == CONN_QUERY &&
		    l->conn[i]->of == lp)
			conn_free(l, l->conn[i]);
}

/* A listener's answer: what it does not know, another one may. */
void query_frame(struct link *l, struct conn *c, const struct frame *f)
{
	struct link_peer *lp = c->of;

	if (f->type == FRAME_ANSWER && !f->b.code && f->b.token == lp->token)
		handshake_answer(l, lp->token, 0, f->b.id, f->endpoint,
				 f->b.endpoint_len);
	else
		query_lost(l, c);
}

void query_lost(struct link *l, struct conn *c)
{
	struct link_peer *lp = c->of;

	conn_free(l, c);
	query_settle(lp);
}

/* Asked by one that the directory does not answer. */
void query_asked(struct link *l, struct conn *c, const struct frame *f)
{
	uint8_t endpoint[FRAME_ENDPOINT];
	struct frame out;

	link_frame(&out, FRAME_ANSWER);
	out.b.token = f->b.token;
	out.b.code = -ENOENT;
	if (dir_waits(l, f->text, f->b.text_len)) {
		out.b.code = 0;
		out.b.id = l->id;
		out.endpoint = endpoint;
		out.b.endpoint_len = (uint16_t)link_endpoint_put(&l->endpoint,
								 endpoint);
	}
	conn_send(l, c, &out, NULL, 0);
	conn_free(l, c);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * TCP: the port that other hosts know.
 *
 * Each link of a user listens at it (SO_REUSEPORT), and the kernel gives a
 * connection to one of them. What that one does not wait for it passes on,
 * connection and all, to the link whose name the kernel has. It keeps nothing
 * of it: when it dies, the others have the port, and what was in its queue is
 * asked again.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

#define PORT_RETRY_MS	500	/* another user has it */

void port_open(struct link *l)
{
	struct sock_addr a = { .len = l->conf.addr_len };
	int fd, err, one = 1;

	memcpy(&a.any, &l->conf.addr, sizeof(a.any));
	l->port_again = NEVER;
	fd = sock_open(a.sa.sa_family, SOCK_STREAM);
	err = fd;
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
		err = sock_bind_listen(fd, &a);
		if (err)
			link_file_close(fd);
		else if (!conn_new(l, fd, CONN_LISTEN, 1, 0))
			err = -ENOMEM;
	}
	if (!err)
		return;
	if (!l->port_told)
		l->conf.msg(MSG_LINK_PORT, l->conf.provider, strerror(-err));
	l->port_told = 1;
	l->port_again = sock_now() + (uint64_t)PORT_RETRY_MS * MS;
}

/* The address as IPv6: an IPv4 one comes as such to a socket of both. */
struct in6_addr port_ip(const struct sock_addr *a)
{
	struct in6_addr ip = IN6ADDR_ANY_INIT;
	const struct sockaddr_in6 *in6 = (const void *)&a->any;
	const struct sockaddr_in *in = (const void *)&a->any;

	if (a->sa.sa_family == AF_INET6)
		return in6->sin6_addr;
	if (in->sin_addr.s_addr != INADDR_ANY) {
		memset(ip.s6_addr + 10, 0xff, 2);
		memcpy(ip.s6_addr + 12, &in->sin_addr, 4);
	}
	return ip;
}

/* 0 or -EINPROGRESS: *fd is the socket. */
int port_connect(const struct link *l, const struct sock_addr *to, int *fd)
{
	struct sock_addr own = { .len = l->conf.addr_len };
	int err;

	*fd = sock_open(to->sa.sa_family, SOCK_STREAM);
	if (*fd < 0)
		return *fd;
	sock_tune_tcp(*fd);
	/* A link at one address is known by that one. */
	memcpy(&own.any, &l->conf.addr, sizeof(own.any));
	err = sock_bind_source(*fd, &own);
	if (!err)
		err = sock_connect(*fd, to);
	if (err && err != -EINPROGRESS)
		link_file_close(*fd);
	return err;
}

static int pass_to(struct link *l, struct conn *c, const struct frame *f,
		   const struct in6_addr *ip)
{
	struct conn to = { .kind = CONN_FREE };
	struct name_cursor at;
	struct frame pass = *f;
	int err;

	pass.type = FRAME_PASS;
	pass.files = 1;
	name_start(l, &at, ip, f->data, f->len);
	do {
		to.fd = name_next(l, &at);
		if (to.fd < 0)
			return to.fd;
		err = conn_send(&to, &pass, &c->fd, 1);
		link_file_close(to.fd);
	} while (err);
	return 0;
}

/* To one that waits at the address that was asked, or at all of them. */
int port_pass(struct link *l, struct conn *c, const struct frame *f)
{
	struct in6_addr any = IN6ADDR_ANY_INIT, at;
	struct sock_addr a = { .len = sizeof(a.any) };
	int err = -ENOENT;

	if (getsockname(c->fd, &a.sa, &a.len))
		return -ENOENT;
	at = port_ip(&a);
	err = pass_to(l, c, f, &at);
	return err ? pass_to(l, c, f, &any) : 0;
}

/* 0, or a negative errno, -ETIMEDOUT when the time is over. */
static int wait_for(int fd, short events, uint64_t end)
{
	int n = sock_poll(fd, events, end);

	return n > 0 ? 0 : n < 0 ? n : -ETIMEDOUT;
}

static int take_name(const struct frame *f, char *name)
{
	unsigned int i;

	if (f->type != FRAME_NAME || f->len > VIPL_NAME_MAX)
		return -EPROTO;
	for (i = 0; i < f->len; i++)
		if (f->data[i] < ' ' || f->data[i] > '~')
			return -EPROTO;
	memcpy(name, f->data, f->len);
	name[f->len] = 0;
	return f->len ? 0 : -ENOENT;
}

int link_name(const struct link_conf *conf, const struct sockaddr *host,
	      socklen_t len, unsigned int ms, char *name)
{
	uint64_t end = sock_now() + ms * (uint64_t)MS;
	struct link l = { .conf = *conf };
	struct frame f = { .type = FRAME_ASK_NAME };
	struct conn c = { .stream = 1 };
	struct sock_addr a = { .len = len };
	int err;

	if (len > sizeof(a.any))
		return -EINVAL;
	memcpy(&a.any, host, len);
	err = port_connect(&l, &a, &c.fd);
	if (err && err != -EINPROGRESS)
		return err;
	err = wait_for(c.fd, POLLOUT, end);
	if (!err)
		err = sock_error(c.fd);
	if (!err)
		err = conn_send(&c, &f, NULL, 0);
	while (!err) {
		err = conn_next(&c);
		if (!err)
			err = wait_for(c.fd, POLLIN, end);
	}
	link_file_close(c.fd);
	return err < 0 ? err : take_name(&c.in, name);
}

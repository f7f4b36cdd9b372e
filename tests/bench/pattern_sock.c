// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* UDP and TCP (no delay). A send completes when the call returns. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/msg.h"
#include "pattern.h"

#define ROOM	(2 * 65536)

/* What has come of a stream, or one datagram. */
struct conn {
	int		fd;
	uint32_t	at, have;	/* bytes of in[] */
	unsigned char	in[ROOM];
};

struct socks {
	int		listener;	/* TCP, at the server */
	int		next;		/* where to look first */
	struct conn	conns[MAX_CONNS];
	unsigned char	out[MAX_SIZE];
};

static bool is_udp(const struct set *s)
{
	return s->ask.proto == PAT_UDP;
}

static struct sockaddr_in addr_of(const char *host, uint16_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};

	if (host && inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die("'%s' is not an IPv4 address", host);
	return a;
}

static int bound(int type, uint16_t *port)
{
	struct sockaddr_in a = addr_of(NULL, 0);
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	check(fd < 0, "socket");
	check(bind(fd, (struct sockaddr *)&a, sizeof(a)), "bind");
	check(getsockname(fd, (struct sockaddr *)&a, &len), "getsockname");
	*port = ntohs(a.sin_port);
	return fd;
}

static void sock_open(struct set *s, struct where *here)
{
	struct socks *o = xcalloc(1, sizeof(*o));

	s->own = o;
	s->lossy = is_udp(s);
	o->listener = -1;
	for (int i = 0; i < s->ask.conns; i++) {
		if (is_udp(s)) {
			o->conns[i].fd = bound(SOCK_DGRAM, &here[i].port);
		} else if (!s->host) {
			/* One listener for all connections. */
			if (i)
				here[i].port = here[0].port;
			else
				o->listener = bound(SOCK_STREAM,
						    &here[i].port);
		}
	}
	if (o->listener >= 0)
		check(listen(o->listener, MAX_CONNS), "listen");
}

static int stream_to(const char *host, uint16_t port)
{
	struct sockaddr_in a = addr_of(host, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(fd < 0, "socket");
	check(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect TCP");
	return fd;
}

/* At the server the peer is whoever holds the control connection. */
static void datagrams_to(const struct set *s, int fd, uint16_t port)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	if (s->host)
		a = addr_of(s->host, port);
	else
		check(getpeername(s->ctl, (struct sockaddr *)&a, &len),
		      "getpeername");
	a.sin_port = htons(port);
	check(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect UDP");
}

static void sock_join(struct set *s, const struct where *there)
{
	struct socks *o = s->own;
	int one = 1;

	for (int i = 0; i < s->ask.conns; i++) {
		struct conn *c = &o->conns[i];

		if (is_udp(s)) {
			datagrams_to(s, c->fd, there[i].port);
			continue;
		}
		c->fd = s->host ? stream_to(s->host, there[i].port) :
				  accept4(o->listener, NULL, NULL,
					  SOCK_CLOEXEC);
		check(c->fd < 0, "accept");
		check(setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one,
				 sizeof(one)), "TCP_NODELAY");
	}
}

static void sock_close(struct set *s)
{
	struct socks *o = s->own;

	for (int i = 0; i < s->ask.conns; i++)
		close(o->conns[i].fd);
	if (o->listener >= 0)
		close(o->listener);
	free(o);
}

static void sock_send(struct set *s, int i, uint32_t msg, uint32_t len)
{
	struct socks *o = s->own;
	const unsigned char *p = o->out;

	memcpy(o->out, &msg, sizeof(msg));
	while (len) {
		ssize_t k = send(o->conns[i].fd, p, len, MSG_NOSIGNAL);

		/* Unsent datagrams are lost ones. */
		if (k < 0 && is_udp(s) &&
		    (errno == ECONNREFUSED || errno == ENOBUFS))
			return;
		check(k < 0, "send");
		p += k;
		len -= k;
	}
}

/* A whole message of what has come, if there is one. */
static bool take_parsed(struct conn *c, uint32_t *msg)
{
	uint32_t have = c->have - c->at, len;

	if (have < sizeof(*msg))
		return false;
	memcpy(msg, c->in + c->at, sizeof(*msg));
	len = *msg & M_LEN_MASK;
	if (len < sizeof(*msg) || len > MAX_SIZE)
		die("a message that says it has %u bytes", len);
	if (have < len)
		return false;
	c->at += len;
	if (c->at == c->have)
		c->at = c->have = 0;
	return true;
}

/* Receive once; false where nothing came. */
static bool fill(struct set *s, struct conn *c, int flags)
{
	ssize_t k;

	if (c->at) {
		c->have -= c->at;
		memmove(c->in, c->in + c->at, c->have);
		c->at = 0;
	}
	k = recv(c->fd, c->in + c->have, ROOM - c->have, flags);
	if (k < 0 && (errno == EAGAIN || (is_udp(s) && errno == ECONNREFUSED)))
		return false;
	check(k < 0, "recv");
	if (!k && !is_udp(s))
		die("the other end has closed the connection");
	c->have += k;
	return true;
}

static int sock_look(struct set *s, uint32_t *msg)
{
	struct socks *o = s->own;
	int n = s->ask.conns;

	for (int k = 0; k < n; k++) {
		int i = (o->next + k) % n;
		struct conn *c = &o->conns[i];

		if (take_parsed(c, msg) || (fill(s, c, MSG_DONTWAIT) &&
					    take_parsed(c, msg))) {
			o->next = (i + 1) % n;
			return i;
		}
	}
	return -1;
}

static void set_limit(struct conn *c, int ms)
{
	struct timeval tv = { .tv_sec = ms / 1000,
			      .tv_usec = ms % 1000 * 1000 };

	check(setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)),
	      "SO_RCVTIMEO");
}

static int wait_one(struct set *s, uint32_t *msg, int ms)
{
	struct socks *o = s->own;
	struct conn *c = o->conns;

	/* The limit is the same in all of a run: set once. */
	if (ms >= 0 && !o->next) {
		set_limit(c, ms);
		o->next = 1;
	}
	while (!take_parsed(c, msg))
		if (!fill(s, c, 0) && ms >= 0)
			return -1;
	return 0;
}

/* Sleep until one of several has something, and receive from that. */
static int sock_wait(struct set *s, uint32_t *msg, int ms)
{
	struct pollfd p[MAX_CONNS];
	struct socks *o = s->own;
	int i, n = s->ask.conns;

	if (n == 1)
		return wait_one(s, msg, ms);
	for (i = 0; i < n; i++) {
		if (take_parsed(&o->conns[i], msg))
			return i;
		p[i] = (struct pollfd){ .fd = o->conns[i].fd,
					.events = POLLIN };
	}
	for (;;) {
		int ready = poll(p, n, ms);

		check(ready < 0, "poll");
		if (!ready)
			return -1;
		for (int k = 0; k < n; k++) {
			i = (o->next + k) % n;
			if (p[i].revents && fill(s, &o->conns[i],
						 MSG_DONTWAIT) &&
			    take_parsed(&o->conns[i], msg)) {
				o->next = (i + 1) % n;
				return i;
			}
		}
	}
}

static bool sock_sent(struct set *s, int i)
{
	(void)s;
	(void)i;
	return true;
}

static void sock_wait_sent(struct set *s, int i)
{
	(void)s;
	(void)i;
}

#define SOCK_OPS {							\
	.open = sock_open, .join = sock_join, .close = sock_close,	\
	.send = sock_send, .look = sock_look, .wait = sock_wait,	\
	.sent = sock_sent, .wait_sent = sock_wait_sent,			\
}

const struct set_ops udp_ops = SOCK_OPS;
const struct set_ops tcp_ops = SOCK_OPS;

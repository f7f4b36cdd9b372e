// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What sockets and pipes do with the work that vipl_lat and vipl_bw measure:
 * ping-pong and bandwidth over UDP, TCP (no delay), a UNIX-domain socket pair
 * and a pair of pipes, with the same command line, columns and exact mode.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/netns.h"
#include "common/opts.h"
#include "common/report.h"

#define UDP_MAX		65000u
#define ALL_MAX		65536u
#define FIN_BYTES	1u	/* a message shorter than any measured one */
#define LOST_MS		200
#define PIPE_BYTES	(1 << 20)	/* what any user may have */
#define EXACT_BATCH	16	/* rounds: reading the clock counts too */

/* What the client asks of the server, over TCP, before anything is timed. */
struct ask {
	uint32_t	proto, bw, size, iters;
	uint16_t	port;		/* of the client's UDP socket */
	uint16_t	reserved;
};

/* One end. Sockets have one file for both ways, and all but UDP one in all. */
struct link {
	int	ctl_in, ctl_out;
	int	in, out;
};

static bool pipes;	/* read() and write(), not recv() and send() */

static void check(int failed, const char *what)
{
	if (failed)
		die("%s: %s", what, strerror(errno));
}

static void set_int(int fd, int level, int opt, int v)
{
	check(setsockopt(fd, level, opt, &v, sizeof(v)), "setsockopt");
}

static struct link link_of(int fd)
{
	return (struct link){ fd, fd, fd, fd };
}

/* A file that does not block is asked again and again: that is polling. */
static void send_all(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t k = pipes ? write(fd, p, n) :
				    send(fd, p, n, MSG_NOSIGNAL);

		check(k < 0 && errno != EAGAIN, "send");
		k = k < 0 ? 0 : k;
		p = (const char *)p + k;
		n -= k;
	}
}

/* False at the end of the stream. */
static bool recv_if_any(int fd, void *p, size_t n)
{
	while (n) {
		ssize_t k = pipes ? read(fd, p, n) : recv(fd, p, n, 0);

		check(k < 0 && errno != EAGAIN, "recv");
		if (!k)
			return false;
		k = k < 0 ? 0 : k;
		p = (char *)p + k;
		n -= k;
	}
	return true;
}

static void recv_all(int fd, void *p, size_t n)
{
	if (!recv_if_any(fd, p, n))
		die("the other end has closed the connection");
}

static void no_blocking(int fd)
{
	check(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), "fcntl");
}

static struct sockaddr_in inet_addr_of(const char *host, uint16_t port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};

	if (host && inet_pton(AF_INET, host, &a.sin_addr) != 1)
		die_usage("'%s' is not an IPv4 address", host);
	return a;
}

static int udp_socket(uint16_t port)
{
	struct sockaddr_in a = inet_addr_of(NULL, port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	check(fd < 0, "socket");
	check(bind(fd, (struct sockaddr *)&a, sizeof(a)), "bind UDP");
	return fd;
}

static int tcp_listener(uint16_t port)
{
	struct sockaddr_in a = inet_addr_of(NULL, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	check(fd < 0, "socket");
	set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	check(bind(fd, (struct sockaddr *)&a, sizeof(a)), "bind TCP");
	check(listen(fd, 8), "listen");
	return fd;
}

static int tcp_connect(const char *host, uint16_t port)
{
	struct sockaddr_in a = inet_addr_of(host, port);
	uint64_t end = now_ns() + 10000000000ull;

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		check(fd < 0, "socket");
		if (!connect(fd, (struct sockaddr *)&a, sizeof(a))) {
			set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
			return fd;
		}
		if (errno != ECONNREFUSED || now_ns() > end)
			die("no sock_lat server at %s port %u: %s", host, port,
			    strerror(errno));
		close(fd);
		sleep_ns(20000000);
	}
}

static uint16_t local_port(int fd)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	check(getsockname(fd, (struct sockaddr *)&a, &len), "getsockname");
	return ntohs(a.sin_port);
}

static void udp_connect(int fd, const struct sockaddr_in *peer, uint16_t port)
{
	struct sockaddr_in a = *peer;

	a.sin_port = htons(port);
	check(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect UDP");
}

/* One message of a stream or datagram socket; false after a lost datagram. */
static bool recv_msg(int fd, bool datagrams, void *buf, uint32_t size)
{
	ssize_t k;

	if (!datagrams) {
		recv_all(fd, buf, size);
		return true;
	}
	k = recv(fd, buf, UDP_MAX, 0);
	if (k < 0 && (errno == EAGAIN || errno == ECONNREFUSED))
		return false;
	check(k < 0, "recv");
	return (uint32_t)k == size;
}

static void set_timeout(int fd)
{
	struct timeval tv = { .tv_usec = LOST_MS * 1000 };

	check(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)),
	      "SO_RCVTIMEO");
}

static void client_lat(const struct opts *o, const struct link *l,
		       uint32_t size, unsigned char *buf)
{
	bool dgram = o->proto == PROTO_UDP;
	uint32_t warm = o->iters / 10 < 100 ? o->iters / 10 + 1 : 100;
	uint32_t batch = o->exact && o->iters >= EXACT_BATCH ? EXACT_BATCH : 1;
	struct samples s = { 0 };
	uint64_t start = 0, last = 0, now;
	unsigned int lost = 0;

	samples_reserve(&s, o->iters);
	if (dgram)
		set_timeout(l->in);
	for (uint32_t i = 0; i < warm + o->iters; i++) {
		if (i == warm)
			start = last = now_ns();
		do {
			send_all(l->out, buf, size);
		} while (!recv_msg(l->in, dgram, buf, size) &&
			 ++lost < 100);
		if (i < warm || (i - warm + 1) % batch)
			continue;
		now = now_ns();
		samples_add(&s, (now - last) / batch);
		last = now;
	}
	if (lost)
		report_note("%u datagrams were lost and sent again", lost);
	report_lat(size, &s, (last - start) / batch, NULL);
	samples_free(&s);
}

/* Until the client closes the round on the control connection. */
static void server_lat(const struct ask *a, const struct link *l,
		       unsigned char *buf)
{
	bool dgram = a->proto == PROTO_UDP;
	uint32_t warm = a->iters / 10 < 100 ? a->iters / 10 + 1 : 100;

	if (dgram) {
		ssize_t k;

		while ((k = recv(l->in, buf, UDP_MAX, 0)) != FIN_BYTES) {
			check(k < 0, "recv");
			send_all(l->out, buf, k);
		}
		return;
	}
	for (uint32_t i = 0; i < warm + a->iters; i++) {
		recv_all(l->in, buf, a->size);
		send_all(l->out, buf, a->size);
	}
}

static void client_bw(const struct opts *o, const struct link *l,
		      uint32_t size, unsigned char *buf)
{
	struct bw_summary b = { 0 };
	uint64_t start = now_ns(), got;

	for (uint32_t i = 0; i < o->iters; i++)
		send_all(l->out, buf, size);
	if (o->proto == PROTO_UDP)
		send_all(l->ctl_out, &(char){ 0 }, 1);
	recv_all(l->ctl_in, &got, sizeof(got));
	b.ns = now_ns() - start;
	b.messages = got;
	b.lost = o->iters - got;
	b.bytes = got * size;
	report_bw(size, &b, NULL);
}

static uint64_t drain_udp(const struct link *l, uint32_t iters,
			  unsigned char *buf)
{
	struct pollfd p[2] = {
		{ .fd = l->in, .events = POLLIN },
		{ .fd = l->ctl_in, .events = POLLIN },
	};
	uint64_t n = 0;
	char c;

	while (n < iters) {
		/* Datagrams first; the last word counts once they are out. */
		if (recv(l->in, buf, UDP_MAX, MSG_DONTWAIT) >= 0) {
			n++;
			continue;
		}
		check(poll(p, 2, -1) < 0, "poll");
		if (!(p[0].revents & POLLIN) && (p[1].revents & POLLIN))
			break;
	}
	recv_all(l->ctl_in, &c, 1);
	return n;
}

static void server_bw(const struct ask *a, const struct link *l,
		      unsigned char *buf)
{
	uint64_t n;

	if (a->proto == PROTO_UDP) {
		n = drain_udp(l, a->iters, buf);
	} else {
		for (n = 0; n < a->iters; n++)
			recv_all(l->in, buf, a->size);
	}
	send_all(l->ctl_out, &n, sizeof(n));
}

static uint32_t max_size(const struct opts *o)
{
	return o->proto == PROTO_UDP ? UDP_MAX : ALL_MAX;
}

static void client_run(const struct opts *o, struct link *l)
{
	unsigned char *buf = xcalloc(1, 1u << 20);
	uint32_t size = opts_first_size(o), room = max_size(o);

	if (size < 2 || size > (o->proto == PROTO_UDP ? UDP_MAX : 1u << 20))
		die_usage("-s: from 2 to %u bytes", o->proto == PROTO_UDP ?
		    UDP_MAX : 1u << 20);
	for (; size; size = opts_next_size(o, size, room)) {
		struct ask a = {
			.proto = o->proto, .bw = o->bw, .size = size,
			.iters = o->iters,
		};
		char ready;

		if (o->proto == PROTO_UDP)
			a.port = local_port(l->in);
		send_all(l->ctl_out, &a, sizeof(a));
		recv_all(l->ctl_in, &ready, 1);
		if (o->bw)
			client_bw(o, l, size, buf);
		else
			client_lat(o, l, size, buf);
		if (!o->bw && o->proto == PROTO_UDP) {
			/* The end of a round, until it is heard. */
			struct pollfd p = {
				.fd = l->ctl_in, .events = POLLIN,
			};

			do
				send_all(l->out, buf, FIN_BYTES);
			while (!poll(&p, 1, LOST_MS));
			recv_all(l->ctl_in, &ready, 1);
		}
	}
	free(buf);
}

static void server_run(const struct link *l, const struct sockaddr_in *peer)
{
	unsigned char *buf = xcalloc(1, 1u << 20);
	struct link run;
	struct ask a;

	while (recv_if_any(l->ctl_in, &a, sizeof(a))) {
		run = *l;
		if (a.size > 1u << 20)
			die("the client asks for %u bytes", a.size);
		if (a.proto == PROTO_UDP)
			udp_connect(l->in, peer, a.port);
		else
			run = (struct link){ l->ctl_in, l->ctl_out, l->ctl_in,
					     l->ctl_out };
		send_all(l->ctl_out, "r", 1);
		if (a.bw)
			server_bw(&a, &run, buf);
		else
			server_lat(&a, &run, buf);
		if (!a.bw && a.proto == PROTO_UDP)
			send_all(l->ctl_out, "e", 1);
	}
	free(buf);
}

static void client(const struct opts *o)
{
	struct link l = link_of(tcp_connect(o->host, o->port));
	struct sockaddr_in peer = inet_addr_of(o->host, o->port);

	if (o->proto == PROTO_UDP) {
		l.in = l.out = udp_socket(0);
		udp_connect(l.in, &peer, o->port);
	}
	if (o->poll)
		no_blocking(l.in);
	client_run(o, &l);
	/* That is how the server learns that it was the last round. */
	close(l.ctl_in);
	if (l.in != l.ctl_in)
		close(l.in);
}

/* announce: tells another process that clients may come; -1: none. */
static void server(const struct opts *o, int announce)
{
	int lfd = tcp_listener(o->port);

	if (announce >= 0) {
		check(write(announce, "s", 1) != 1, "write");
		close(announce);
	}
	do {
		struct sockaddr_in peer;
		socklen_t len = sizeof(peer);
		int udp = udp_socket(o->port), fd;
		struct link l;

		fd = accept(lfd, (struct sockaddr *)&peer, &len);
		check(fd < 0, "accept");
		set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
		if (o->poll)
			no_blocking(fd);
		l = (struct link){ fd, fd, udp, udp };
		server_run(&l, &peer);
		close(fd);
		close(udp);
	} while (o->persist);
	close(lfd);
}

/* Both ends of a socket pair or of two pipes. */
static void local_links(const struct opts *o, struct link *l)
{
	int sv[2], to[2], from[2];

	if (o->proto == PROTO_UNIX) {
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), "socketpair");
		l[0] = link_of(sv[0]);
		l[1] = link_of(sv[1]);
	} else {
		check(pipe(to) || pipe(from), "pipe");
		check(fcntl(to[1], F_SETPIPE_SZ, PIPE_BYTES) < 0 ||
		      fcntl(from[1], F_SETPIPE_SZ, PIPE_BYTES) < 0, "pipe");
		l[0] = (struct link){ from[0], to[1], from[0], to[1] };
		l[1] = (struct link){ to[0], from[1], to[0], from[1] };
	}
	for (int i = 0; i < 2 && o->poll; i++) {
		no_blocking(l[i].in);
		no_blocking(l[i].out);
	}
}

static void close_link(const struct link *l)
{
	close(l->in);
	if (l->out != l->in)
		close(l->out);
}

static void pair_child(const struct opts *o, struct link *l, int announce)
{
	use_cpu(o->cpu[1]);
	if (opts_local(o)) {
		close_link(&l[0]);
		close(announce);
		server_run(&l[1], NULL);
	} else {
		netns_enter(o->peer_netns);
		server(o, announce);
	}
	exit(0);
}

/* Two processes on this machine. */
static int run_pair(const struct opts *o)
{
	int fds[2], status;
	struct link l[2];
	pid_t pid;
	char c;

	if (opts_local(o))
		local_links(o, l);
	check(pipe(fds), "pipe");
	fflush(NULL);
	pid = fork();
	check(pid < 0, "fork");
	if (!pid)
		pair_child(o, l, fds[1]);
	close(fds[1]);
	use_cpu(o->cpu[0]);
	if (opts_local(o)) {
		close_link(&l[1]);
		client_run(o, &l[0]);
		close_link(&l[0]);
	} else {
		if (read(fds[0], &c, 1) != 1)
			die("the other end did not start");
		client(o);
	}
	check(waitpid(pid, &status, 0) < 0, "waitpid");
	return status != 0;
}

static void spin_recv(int fd, unsigned char *buf, uint32_t size)
{
	uint32_t got = 0;

	while (got < size) {
		ssize_t k = recv(fd, buf, size - got, MSG_DONTWAIT);

		if (k > 0)
			got += k;
		else
			check(!k || errno != EAGAIN, "recv");
	}
}

/* Both sockets of a pair; for UDP each lives in its own namespace. */
static void spin_sockets(const struct opts *o, int *fd)
{
	struct sockaddr_in a, b;
	int cookie;

	if (o->proto == PROTO_UNIX) {
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), "socketpair");
		return;
	}
	if (o->proto != PROTO_UDP)
		die_usage("--spin is for udp and unix");
	fd[0] = udp_socket(o->port);
	cookie = netns_enter(o->peer_netns);
	fd[1] = udp_socket(o->port);
	netns_leave(cookie);
	b = inet_addr_of(o->host, o->port);
	udp_connect(fd[0], &b, o->port);
	/* Connecting has chosen our address; the other end wants it. */
	check(getsockname(fd[0], (struct sockaddr *)&a,
			  &(socklen_t){ sizeof(a) }), "getsockname");
	udp_connect(fd[1], &a, o->port);
}

static void spin_bw(const struct opts *o, const int *fd, unsigned char *buf)
{
	struct bw_summary b = { 0 };
	uint64_t start = now_ns(), out = 0, in = 0;
	uint64_t all = (uint64_t)o->iters * o->size;

	while (in < all) {
		uint64_t want = all - out < o->size ? all - out : o->size;
		ssize_t k = want ? send(fd[0], buf, want, MSG_DONTWAIT |
					MSG_NOSIGNAL) : 0;

		out += k > 0 ? k : 0;
		k = recv(fd[1], buf, o->size, MSG_DONTWAIT);
		in += k > 0 ? k : 0;
	}
	b.ns = now_ns() - start;
	b.messages = o->iters;
	b.bytes = all;
	report_bw(o->size, &b, NULL);
}

static void spin_round(const int *fd, unsigned char *buf, uint32_t size)
{
	for (int e = 0; e < 2; e++) {
		send_all(fd[e], buf, size);
		spin_recv(fd[1 - e], buf, size);
	}
}

static int run_spin(const struct opts *o)
{
	unsigned char *buf = xcalloc(1, o->size + UDP_MAX);
	struct samples s = { 0 };
	uint64_t start, last, now;
	int fd[2];

	if (!o->size)
		die_usage("-s: at least one byte");
	spin_sockets(o, fd);
	if (o->bw) {
		if (o->proto != PROTO_UNIX)
			die_usage("--spin --bw is for unix");
		spin_bw(o, fd, buf);
		return 0;
	}
	samples_reserve(&s, o->iters);
	for (uint32_t i = 0; i < 100; i++)
		spin_round(fd, buf, o->size);
	start = last = now_ns();
	for (uint32_t i = 0; i < o->iters; i += EXACT_BATCH) {
		for (int j = 0; j < EXACT_BATCH; j++)
			spin_round(fd, buf, o->size);
		now = now_ns();
		samples_add(&s, (now - last) / EXACT_BATCH);
		last = now;
	}
	report_lat(o->size, &s, (last - start) / EXACT_BATCH, NULL);
	samples_free(&s);
	free(buf);
	return 0;
}

int main(int argc, char **argv)
{
	struct opts o = {
		.prog = OPT_SOCK, .name = "sock_lat", .size = 4, .iters = 1000,
		.tx = 1, .port = 18517, .events = true, .cpu = { -1, -1 },
	};
	int ret = 0;

	opts_parse(&o, argc, argv);
	o.events = !o.spin && !o.poll;
	pipes = o.proto == PROTO_PIPE;
	report_begin(&o, proto_str(o.proto), "-");
	if (o.exact && !o.host && !opts_local(&o))
		die_usage("--exact: give the other end's IPv4 address");
	if (o.exact)
		ret = o.spin ? run_spin(&o) : run_pair(&o);
	else if (o.host)
		client(&o);
	else
		server(&o, -1);
	report_end();
	return ret;
}

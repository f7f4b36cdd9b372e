// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sockets of a link: see sock.h. */
#include "link.h"
#include "sock.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP_IDLE_S	3
#define KEEP_INTERVAL_S	1
#define KEEP_PROBES	5
#define SILENT_MS	8000
#define BACKLOG		4096

int sock_abstract(struct sock_addr *a, const char *name)
{
	size_t n = strlen(name);

	memset(a, 0, sizeof(*a));
	if (n > sizeof(a->un.sun_path) - 1)
		return -ENAMETOOLONG;
	a->un.sun_family = AF_UNIX;
	memcpy(a->un.sun_path + 1, name, n);
	a->len = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	return 0;
}

int sock_keep(int fd)
{
	int high, err;

	if (fd < 0)
		return -errno;
	if (fd < 3) {
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		err = errno;
		close(fd);
		if (high < 0)
			return -err;
		fd = high;
	}
	err = link_file_keep(fd);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int sock_open(int family, int type)
{
	return sock_keep((int)syscall(SYS_socket, family, type | SOCK_NONBLOCK |
				      SOCK_CLOEXEC, 0));
}

int sock_bind_listen(int fd, const struct sock_addr *a)
{
	if (syscall(SYS_bind, fd, &a->sa, a->len) ||
	    syscall(SYS_listen, fd, BACKLOG))
		return -errno;
	return 0;
}

int sock_connect(int fd, const struct sock_addr *a)
{
	if (syscall(SYS_connect, fd, &a->sa, a->len) && errno != EISCONN)
		return -errno;
	return 0;
}

int sock_accept(int fd)
{
	return sock_keep((int)syscall(SYS_accept4, fd, NULL, NULL,
				      SOCK_NONBLOCK | SOCK_CLOEXEC));
}

int sock_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

int sock_poll(int fd, short events, uint64_t end)
{
	struct pollfd p = { .fd = fd, .events = events };
	struct timespec t;
	uint64_t now;
	long n;

	do {
		now = sock_now();
		t = sock_span(now < end ? end - now : 0);
		n = syscall(SYS_ppoll, &p, 1, &t, NULL, 0);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n > 0;
}

int sock_ended(int fd)
{
	return sock_poll(fd, POLLRDHUP, 0) > 0;
}

int sock_readable(int fd)
{
	return sock_poll(fd, POLLIN, 0) > 0;
}

int sock_cred(int fd, uid_t *uid, pid_t *pid)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len))
		return -1;
	*uid = c.uid;
	if (pid)
		*pid = c.pid;
	return 0;
}

static void set_option(int fd, int level, int option, int value)
{
	setsockopt(fd, level, option, &value, sizeof(value));
}

int sock_bind_source(int fd, const struct sock_addr *a)
{
	struct sock_addr from = *a;
	struct sockaddr_in6 *in6 = (void *)&from.any;
	struct sockaddr_in *in = (void *)&from.any;

	if (from.sa.sa_family == AF_INET6 ?
	    IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr) : !in->sin_addr.s_addr)
		return 0;
	/* Both families have the port at the same place. */
	in->sin_port = 0;
	set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	return syscall(SYS_bind, fd, &from.sa, from.len) ? -errno : 0;
}

void sock_tune_tcp(int fd)
{
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_PROBES);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, SILENT_MS);
}

ssize_t sock_send(int fd, const void *buf, size_t len, const int *files,
		  unsigned int n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(LINK_FILES * sizeof(int))];
	} c;
	struct iovec v = { (void *)buf, len };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t did;

	if (n) {
		memset(&c, 0, sizeof(c));
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c.align.cmsg_level = SOL_SOCKET;
		c.align.cmsg_type = SCM_RIGHTS;
		c.align.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&c.align), files, n * sizeof(int));
	}
	do {
		did = syscall(SYS_sendmsg, fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (did < 0 && errno == EINTR);
	return did < 0 ? -errno : did;
}

/* Take the files of a message: those that there is no room for are closed. */
static int take_files(struct msghdr *m, int *files, unsigned int *n)
{
	unsigned int room = *n, i, count;
	struct cmsghdr *c;
	int fd, lost = 0;

	*n = 0;
	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
			if (*n == room) {
				close(fd);
				lost = 1;
				continue;
			}
			fd = sock_keep(fd);
			if (fd < 0)
				lost = 1;
			else
				files[(*n)++] = fd;
		}
	}
	return lost;
}

static int no_room(int fd)
{
	int more = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (more >= 0)
		close(more);
	return more < 0 && errno == EMFILE;
}

ssize_t sock_recv(int fd, void *buf, size_t len, int *files, unsigned int *n)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(LINK_FILES * sizeof(int))];
	} c;
	struct iovec v = { buf, len };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	ssize_t did;
	int lost;

	m.msg_control = &c;
	m.msg_controllen = sizeof(c);
	do {
		did = syscall(SYS_recvmsg, fd, &m,
			      MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (did < 0 && errno == EINTR);
	if (did < 0) {
		*n = 0;
		return -errno;
	}
	lost = take_files(&m, files, n);
	if (lost || (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
		/* With those that did come open still: is there no more room? */
		did = no_room(fd) ? -EMFILE : -EMSGSIZE;
		while (*n)
			link_file_close(files[--*n]);
		return did;
	}
	return did;
}

uint64_t sock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct timespec sock_span(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000u),
				  (long)(ns % 1000000000u) };
}

uint64_t sock_random(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = sock_now() * 0x9e3779b97f4a7c15u ^
		    (uint64_t)getpid() << 40 ^ (uintptr_t)&v;
	return v ? v : 1;
}

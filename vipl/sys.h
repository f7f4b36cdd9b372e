/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef VIPL_SYS_H
#define VIPL_SYS_H

/*
 * System calls whose names a program may well have given to functions of its
 * own: poll(), send(), recv()... The dynamic linker would hand us those
 * instead of the C library's. ISO C reserves no such name, and message passing
 * programs like them. tests/unit/exports keeps the list of what is not to be
 * imported.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Without a limit when ms is negative. */
static inline int sys_poll(struct pollfd *p, unsigned int n, int ms)
{
#ifdef SYS_poll
	return (int)syscall(SYS_poll, p, n, ms);
#else
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	return (int)syscall(SYS_ppoll, p, n, ms < 0 ? NULL : &t, NULL, 0);
#endif
}

static inline ssize_t sys_read(int fd, void *buf, size_t len)
{
	return syscall(SYS_read, fd, buf, len);
}

static inline ssize_t sys_write(int fd, const void *buf, size_t len)
{
	return syscall(SYS_write, fd, buf, len);
}

static inline int sys_exists(const char *path)
{
	return !syscall(SYS_faccessat, AT_FDCWD, path, F_OK);
}

static inline int sys_socket(int family, int type, int protocol)
{
	return (int)syscall(SYS_socket, family, type, protocol);
}

static inline int sys_bind(int fd, const void *addr, socklen_t len)
{
	return (int)syscall(SYS_bind, fd, addr, len);
}

static inline int sys_setsockopt(int fd, int level, int name,
				 const void *value, socklen_t len)
{
	return (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

static inline ssize_t sys_send(int fd, const void *buf, size_t len, int flags,
			       const void *to, socklen_t to_len)
{
	return syscall(SYS_sendto, fd, buf, len, flags, to, to_len);
}

static inline ssize_t sys_recv(int fd, void *buf, size_t len)
{
	return syscall(SYS_recvfrom, fd, buf, len, 0, NULL, NULL);
}

#endif /* VIPL_SYS_H */

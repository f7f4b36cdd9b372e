/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef LINK_SOCK_H
#define LINK_SOCK_H

/*
 * Sockets of a link: non-blocking, close-on-exec, numbers from 3, kept for
 * link_fork_child. By system call, not by name: see vipl/sys.h.
 */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>

/* An address of either family. */
struct sock_addr {
	union {
		struct sockaddr sa;
		struct sockaddr_un un;
		struct sockaddr_storage any;
	};
	socklen_t len;
};

/* An abstract name; 0 or -ENAMETOOLONG. */
int sock_abstract(struct sock_addr *a, const char *name);

/* A new socket, or a negative errno. */
int sock_open(int family, int type);
/*
 * Register any new file: its number is made 3 or more, errors close it. It ends
 * by link_file_close().
 */
int sock_keep(int fd);

int sock_bind_listen(int fd, const struct sock_addr *a);
/* 0, -EINPROGRESS, or another negative errno. */
int sock_connect(int fd, const struct sock_addr *a);
/* A connection, or a negative errno. */
int sock_accept(int fd);
/* The outcome of a connect that was in progress: 0 or a negative errno. */
int sock_error(int fd);
/*
 * Wait for one of the events, whatever signals come, until `end` (ns, as
 * sock_now(); 0: not at all). 1, 0: the time is over, or a negative errno.
 */
int sock_poll(int fd, short events, uint64_t end);
/* Has the other end closed it? Is there something to read, or its end? */
int sock_ended(int fd);
int sock_readable(int fd);
/* The process at the other end, as it was; 0 or -1. */
int sock_cred(int fd, uid_t *uid, pid_t *pid);
/* Connect from that address, unless it is all of them; 0 or a negative errno. */
int sock_bind_source(int fd, const struct sock_addr *a);
/* Small frames at once, and a silent peer is noticed within 8 s. */
void sock_tune_tcp(int fd);

/* One message with up to n files; bytes, or a negative errno. */
ssize_t sock_send(int fd, const void *buf, size_t len, const int *files,
		  unsigned int n);
/*
 * One message (or some bytes of a stream). Files that came are stored, *n of
 * at most *n; more than that, or a message cut short, is -EMSGSIZE.
 */
ssize_t sock_recv(int fd, void *buf, size_t len, int *files, unsigned int *n);

uint64_t sock_now(void);	/* ns */
struct timespec sock_span(uint64_t ns);
uint64_t sock_random(void);	/* not 0 */

#endif /* LINK_SOCK_H */

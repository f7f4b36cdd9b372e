/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_LINK_H
#define PROVIDERS_LINK_H

/*
 * link - how NIC handles of user-level providers find each other
 *
 * A link is the control plane of one NIC handle. It has an id, 64 random bits.
 *
 * Names. A link that waits for a discriminator listens at an abstract UNIX name
 * which the provider, the uid, the space and the discriminator make: a look-up
 * is connect(). Nothing is left of a process that ends. See name.c. For TCP each
 * link of a user listens at the same port, too, and passes what it does not wait
 * for to the link that does (port.c).
 *
 * Pairs. Two links that have shaken hands have one control socket. It carries
 * the hellos and wake-ups; its end is the end of the peer, and so is that of
 * the process (UNIX): a child by a raw clone() may have the socket still. Where
 * two links begin a handshake at the same time, the attempt of the smaller id
 * goes on, and the other one becomes its acceptor. A link may shake hands with
 * itself.
 *
 * Trust. UNIX: processes of another uid are refused, on both sides. TCP:
 * anybody may ask and say hello. Connections that have not said hello yet are
 * bounded in number and time.
 *
 * Locks. Everything is called under the engine's lock, except link_open,
 * link_close, link_name, link_wait, link_wake and the functions of files. No
 * thread of its own: link_progress must be called when link_wait returns, and
 * now and then by threads that spin. Callbacks come from link_progress alone;
 * they may call anything here but link_progress and link_close; hello, answered
 * and came do not drop the peer that they are about.
 */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <vipl/engine.h>

struct link;
struct link_peer;

enum link_family {
	LINK_UNIX,
	LINK_TCP,
};

#define LINK_FILES	4	/* files with a hello, LINK_UNIX only */

struct link_ops {
	/*
	 * The hello that begins a handshake, as `peer` of link_handshake says
	 * it. Files stay the transport's, until answered, came, same or down at
	 * least. A handshake that has to begin again asks again.
	 */
	void (*hello)(void *nic, void *peer, struct eng_hello *mine);
	/*
	 * A hello came, mine is the answer. Files that came are the
	 * transport's; link_file_close() ends them. peer is NULL, or that of
	 * a link_handshake which this hello has overtaken; it goes on as
	 * acceptor. Returns what later callbacks get as peer, or NULL to
	 * refuse. When it has returned the peer is up: say so then.
	 */
	void *(*came)(void *nic, void *peer, struct link_peer *lp,
		      const struct eng_hello *theirs, struct eng_hello *mine);
	/* The answer came: the peer is up. A negative errno ends it: down. */
	int (*answered)(void *nic, void *peer, const struct eng_hello *theirs);
	/*
	 * link_handshake's peer is the link of the peer `as`, which is up or
	 * whose handshake began before. The link_peer is gone.
	 */
	void (*same)(void *nic, void *peer, void *as);
	/*
	 * The handshake failed or the peer is lost; the link_peer is gone.
	 * -ENOENT: nothing waits for the discriminator; -ESHUTDOWN: it has
	 * closed in order; -ECONNRESET: it died; -EPROTONOSUPPORT: another
	 * version or byte order; -EHOSTUNREACH, -ETIMEDOUT...
	 */
	void (*down)(void *nic, void *peer, int err);
	/* The peer has called link_wake_peer. May be NULL. */
	void (*woken)(void *nic, void *peer);
};

struct link_conf {
	enum link_family family;
	const char *provider;		/* "shm"; at most 15 characters */
	const char *space;		/* who meets; at most 31 characters */
	const char *name;		/* of this host, for link_name */
	uint32_t version;		/* of the hello's data: both agree */
	/* TCP: own address, and the port that all links of the user have. */
	struct sockaddr_storage addr;
	socklen_t addr_len;
	const struct link_ops *ops;
	void *nic;			/* first argument of callbacks */
	void (*msg)(const char *fmt, ...)
		__attribute__((format(printf, 1, 2)));
};

/* NULL: *err is a negative errno. What conf points at must stay. */
struct link *link_open(const struct link_conf *conf, int *err);
/* Peers see an orderly end. No callbacks; every link_peer is gone. */
void link_close(struct link *l);
uint64_t link_id(const struct link *l);

/* Take what came in; returns how many things it did. One system call when
 * there is nothing.
 */
int link_progress(struct link *l);
/*
 * Sleep until a socket, a watched file or link_wake has something, or the time
 * (ns, UINT64_MAX: no limit) is over. One thread at a time, no lock.
 */
void link_wait(struct link *l, uint64_t ns);
/* From any thread: link_wait returns, now or the next time. */
void link_wake(struct link *l);
/* A file of the transport's that ends link_wait while it is readable. */
int link_watch(struct link *l, int fd);
void link_unwatch(struct link *l, int fd);

/*
 * A discriminator waits, which takes a file, or no longer. 0, or a negative
 * errno, and a line that says why: -EADDRINUSE: too many links wait for it.
 */
int link_waiting(struct link *l, const uint8_t *disc, uint32_t len, int now);

/*
 * Begin a handshake with the link that waits for disc. host is its address, TCP
 * only; its port is set here. NULL: *err, and no callback follows. Otherwise
 * answered, came, same or down follows, after it has returned.
 */
struct link_peer *link_handshake(struct link *l, const struct sockaddr *host,
				 socklen_t host_len, const uint8_t *disc,
				 uint32_t disc_len, void *peer, int *err);
/* End a pair or a handshake; no callback follows. */
void link_drop(struct link_peer *lp);
/* The peer's link_wait returns and it gets woken(); does not block. */
void link_wake_peer(struct link_peer *lp);

/* Of a peer that is up: its control socket, its process (UNIX; 0: not
 * visible here), its address (TCP).
 */
int link_peer_fd(const struct link_peer *lp);
int link_peer_pidfd(const struct link_peer *lp);	/* or -1 */
pid_t link_peer_pid(const struct link_peer *lp);
const struct sockaddr *link_peer_addr(const struct link_peer *lp,
				      socklen_t *len);

/*
 * TCP: the name that a host gives itself, of VIPL_NAME_MAX + 1 bytes; blocks for
 * ms at most. 0, or a negative errno.
 */
int link_name(const struct link_conf *conf, const struct sockaddr *host,
	      socklen_t len, unsigned int ms, char *name);

/* The reason of an errno, with the limit of the process that is reached. */
void link_why(int err, char *text, size_t size);
/* "shm: WHAT: the reason", a line in a minute at most. */
void link_tell(struct link *l, const char *what, int err);

/*
 * Files that a child of fork() must not keep, since they would hide the end of
 * its parent: link's own, and others that are kept here until they are closed.
 * keep returns -ENOMEM, or 0.
 */
int link_file_keep(int fd);
void link_file_close(int fd);
/* For the provider's fork_child: async-signal-safe. */
void link_fork_child(void);

#endif /* PROVIDERS_LINK_H */

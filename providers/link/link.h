/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef PROVIDERS_LINK_H
#define PROVIDERS_LINK_H

/*
 * link - how NIC handles of user-level providers find each other
 *
 * A link is the control plane of one NIC handle. It has an id, 64 random bits,
 * and a listener of its own: an abstract UNIX socket, or a TCP port.
 *
 * Directory. One name that all know (an abstract UNIX socket that has the uid
 * and the space in it, and for TCP a port as well) answers look-ups: which
 * listener waits for this discriminator? The link that bound it first holds it:
 * the directory's leader. The others register with the leader over the UNIX
 * socket and say which discriminators wait. When the leader dies they see EOF,
 * one of them binds the name, the others register with that one: there is no
 * state to hand over. A new leader answers "none" only once every listener that
 * /proc/net/unix shows has registered, and after LINK_GRACE_MS at the latest.
 * Another user can bind the name. Then there is no directory, and each listener
 * that the kernel shows is asked by itself, a broadcast query (query.c).
 *
 * Pairs. Two links that have shaken hands have one control socket. It carries
 * the hellos and wake-ups; its end is the end of the peer, and so is that of
 * the process (UNIX): a child by a raw clone() may have the socket still. Where
 * two links begin a handshake at the same time, the attempt of the smaller id
 * goes on, and the other one becomes its acceptor. A link may shake hands with
 * itself.
 *
 * Trust. UNIX: processes of another uid are refused. TCP: anybody may look up
 * and say hello; only processes of the own uid register. Connections that have
 * not said what they are yet are bounded in number and time.
 *
 * Locks. Everything is called under the engine's lock, except link_open,
 * link_close, link_names, link_wait, link_wake and the functions of files. No
 * thread of its own: link_progress must be called when link_wait returns, and
 * now and then by threads that spin. Callbacks come from link_progress alone;
 * they may call anything here but link_progress and link_close, and answered
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

#define LINK_GRACE_MS	100	/* how long a new leader may defer "none" */
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
	const char *space;		/* which directory; 31 characters */
	const char *name;		/* of this host, for link_names */
	uint32_t version;		/* of the hello's data: both agree */
	/* TCP: own address (the listener's), and its port the directory's. */
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

/* A discriminator waits, or no longer. 0, or a negative errno. */
int link_waiting(struct link *l, const uint8_t *disc, uint32_t len, int now);

/*
 * Begin a handshake with the link that waits for disc. dir is the host's
 * address, TCP only; its port is set here. NULL: *err, and no callback follows.
 * Otherwise answered, came, same or down follows, after it has returned.
 */
struct link_peer *link_handshake(struct link *l, const struct sockaddr *dir,
				 socklen_t dir_len, const uint8_t *disc,
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
uint64_t link_peer_id(const struct link_peer *lp);
const struct sockaddr *link_peer_addr(const struct link_peer *lp,
				      socklen_t *len);

/*
 * The host names that a directory's links gave, each once; blocks for ms at
 * most. dir: as link_handshake. Returns how many, or a negative errno.
 */
int link_names(const struct link_conf *conf, const struct sockaddr *dir,
	       socklen_t dir_len, unsigned int ms,
	       char (*names)[VIPL_NAME_MAX + 1], unsigned int max);

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

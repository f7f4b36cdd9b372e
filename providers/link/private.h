/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef LINK_PRIVATE_H
#define LINK_PRIVATE_H

/*
 * Types and functions that the files of a link share. All of it is guarded by
 * the engine's lock, except the files themselves (epoll, wake), which are as
 * long as the link.
 */
#include "link.h"
#include "sock.h"
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <vipl/engine.h>

#define STRANGERS_MAX	64		/* connections that said nothing yet */
#define STRANGER_MS	2000		/* how long they may */
#define STRANGER_MIN_MS	100		/* how long each may, at least */
#define HANDSHAKE_MS	10000		/* from link_handshake to up */
#define MS		1000000u	/* ns */
#define NEVER		UINT64_MAX

/*
 * Control sockets carry frames of one form, in the byte order of the sender:
 * the members before data, and len bytes of it. On UNIX sockets a message is a
 * frame, on TCP frames follow each other.
 */
#define FRAME_MAGIC	0x4c495602u	/* changes with the format */
#define FRAME_HEAD	offsetof(struct frame, data)

enum frame_type {
	FRAME_ASK = 1,		/* id; data: a discriminator. Is it waited for? */
	FRAME_PASS,		/* the same, with the connection that asked */
	FRAME_ANSWER,		/* id: the link that says so does */
	FRAME_ASK_NAME,
	FRAME_NAME,		/* data: the host's name */
	FRAME_HELLO,		/* id, other, version, data, files */
	FRAME_HELLO_ACK,	/* the same, in answer */
	FRAME_REFUSE,		/* code: errno */
	FRAME_WAKE,
	FRAME_DISCONNECT,	/* orderly end */
	FRAME_TYPES
};

struct frame {
	uint32_t magic;
	uint16_t type;
	uint16_t len;		/* bytes of data */
	uint64_t id;		/* of the sender */
	uint64_t other;		/* of the receiver */
	int32_t code;
	uint32_t version;	/* of the data */
	uint32_t files;		/* that come with it */
	uint32_t zero;
	uint8_t data[sizeof(((struct eng_hello *)0)->data)];
};

enum conn_kind {
	CONN_FREE,
	CONN_LISTEN,		/* a discriminator waits here, or the TCP port */
	CONN_STRANGER,		/* accepted: it has not said hello yet */
	CONN_ASKER,		/* the same, UNIX, when it has been answered */
	CONN_ASKED,		/* to one that may wait: see handshake.c */
	CONN_HANDSHAKE,		/* hello was said on it */
	CONN_PAIR,		/* a peer that is up */
};

#define PAUSE_ROOM	1	/* there is no room for what comes */
#define PAUSE_STALE	2	/* its discriminator does not wait now */

/* Where a connection is from: see limit.c. */
struct limit_source {
	uint8_t ip[16];		/* IPv4: the last four */
	uint8_t six;
};

/* One socket. Freed ones stay until events that name them are taken. */
struct conn {
	struct conn *next, **prev;	/* link.conns, or next of link.dead */
	enum conn_kind kind;
	int fd;
	uint8_t stream;		/* TCP: frames may come in parts */
	uint8_t connecting;	/* connect() is in progress */
	uint8_t disconnected;	/* the orderly end was announced */
	uint8_t paused;		/* a listener that is not polled: PAUSE_... */
	uint8_t whole;		/* in is a frame that has been taken */
	uint64_t since;		/* ns; strangers: when it came */
	struct limit_source from;	/* strangers */
	struct link_peer *of;	/* or NULL */
	int file[LINK_FILES];	/* that came and were not taken yet */
	unsigned int files;
	size_t have;		/* bytes of in */
	struct frame in;
};

/* Which of a discriminator's names is next: see name.c. */
struct name_cursor {
	uint64_t hash[2];
	unsigned int at;	/* the last one */
	unsigned int left;	/* how many are still to be tried */
	int err;		/* of one that may wait and cannot be asked */
	uint8_t foreign;	/* another user has one */
};

enum handshake_state {
	SHAKE_ASK,		/* FRAME_ASK is to be sent, or answered */
	SHAKE_HELLO,		/* hello sent */
	SHAKE_YIELD,		/* refused: the other's attempt goes on */
	SHAKE_UP,
};

struct link_peer {
	struct link *l;
	struct link_peer *next, **prev;	/* link.peers or link.handshakes */
	enum handshake_state state;
	void *peer;		/* the transport's */
	struct conn *conn;	/* or NULL */
	int pidfd;		/* of its process, or -1; once it is up */
	uint64_t id;		/* of the other link; 0 unknown */
	struct limit_source from;	/* of a pair */
	uint8_t began;		/* its handshake began here */
	uint8_t unanswered;	/* up, and HELLO_ACK is not sent yet */
	uint8_t silent;		/* one was given up that may answer yet */
	unsigned int patience;	/* ms, for the next answer */
	uint8_t tries;		/* how often it began again */
	uint16_t full;		/* how often a queue was full */
	uint64_t again;		/* ns; when to go on, or NEVER */
	uint64_t deadline;	/* ns; NEVER when up */
	struct sock_addr to;	/* TCP: the host's port */
	struct name_cursor name;	/* UNIX */
	uint8_t disc[VIPL_DISC_MAX];
	uint32_t disc_len;	/* bytes */
};

/* A discriminator that waits here, or did a moment ago. */
struct wait_entry {
	struct wait_entry *next;
	struct conn *listener;
	unsigned int at;	/* which of its names */
	uint64_t until;		/* ns; stale since it waits no more, or NEVER */
	uint32_t len;		/* bytes */
	uint8_t disc[VIPL_DISC_MAX];
};

struct link {
	struct link_conf conf;
	uint64_t id;
	uid_t uid;
	int epoll, event;	/* files */
	_Atomic uint64_t timer_at;	/* ns; when to make progress, or NEVER */
	_Atomic int sleeps;	/* a thread is in link_wait() */
	int wait2;		/* the kernel has epoll_pwait2 */

	struct conn *conns, *dead;
	struct conn *stranger[STRANGERS_MAX];	/* the oldest first */
	unsigned int strangers;
	uint32_t most;		/* peers, TCP */
	uint64_t tell_again;	/* ns; when it is worth another line */
	uint64_t why_again;	/* ns; the same, of link_tell() */
	uint64_t resume;	/* ns; when paused listeners go on, or NEVER */
	uint64_t stale;		/* ns; when a name's time is over, or NEVER */
	uint64_t port_again;	/* ns; when to try the TCP port, or NEVER */
	uint8_t port_told;	/* a person has been told what is wrong */

	struct wait_entry *waits;
	struct link_peer *peers;	/* that are up */
	struct link_peer *handshakes;	/* that are not */
};

/* In an event, added to the address of a CONN_PAIR: its process has ended. */
#define CONN_DEATH	1u

/* conn.c; fd is closed where there is no connection. */
struct conn *conn_new(struct link *l, int fd, enum conn_kind kind, int stream,
		      int connecting);
void conn_free(struct link *l, struct conn *c);
void conn_reap(struct link *l);
int conn_connected(struct link *l, struct conn *c);
/* The connection is a stranger no more. */
void conn_known(struct link *l, struct conn *c, enum conn_kind kind);
/* 0, or a negative errno: the connection is of no use any more. */
int conn_send(struct conn *c, struct frame *f, const int *files,
	      unsigned int n);
/* The next frame is in c->in: 1, 0 none now, or -errno (-ECONNRESET: the end).
 */
int conn_next(struct conn *c);
void conn_accept(struct link *l, struct conn *listener);
struct conn *conn_welcome(struct link *l, int fd, int stream);
void conn_pause(struct link *l, struct conn *c, uint8_t why, int pause);

/* limit.c */
void limit_init(struct link *l);
void limit_source_of(struct limit_source *s, int fd);
int limit_takes(struct link *l, const struct conn *c);
struct conn *limit_victim(const struct link *l);

/* name.c */
/* Is that connection's other end of this user? Has its process ended? */
int name_is_own(const struct link *l, int fd);
int name_is_gone(int fd);
int name_waits(const struct link *l, const uint8_t *disc, uint32_t len);
/* ip: where it waits, TCP; NULL: UNIX. */
void name_start(const struct link *l, struct name_cursor *c,
		const struct in6_addr *ip, const uint8_t *disc, uint32_t len);
/* A connection to the next one, or -ENOENT, -EAGAIN: try anew, -errno. */
int name_next(struct link *l, struct name_cursor *c);

/* Stale names are given up, at that time; at NEVER all of them. */
void name_expire(struct link *l, uint64_t now);

/* port.c: TCP */
void port_open(struct link *l);
struct in6_addr port_ip(const struct sock_addr *a);
int port_connect(const struct link *l, const struct sock_addr *to, int *fd);
/* Give the connection that asks to a link that waits: 0 or -ENOENT. */
int port_pass(struct link *l, struct conn *c, const struct frame *f);

/* handshake.c */
void handshake_connected(struct conn *c);
void handshake_frame(struct link *l, struct conn *c, const struct frame *f);
void handshake_lost(struct conn *c, int err);
void handshake_timers(struct link *l, uint64_t now);
uint64_t handshake_next(const struct link *l);
void handshake_close(struct link *l);

/* why.c: a line may be said; the next one at *again (ns). */
int link_may_tell(uint64_t *again);

/* link.c */
void link_set_timer(struct link *l);
int link_add_file(struct link *l, int fd, void *of);

static inline uint64_t link_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif /* LINK_PRIVATE_H */

/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef LINK_PRIVATE_H
#define LINK_PRIVATE_H

/*
 * Types and functions that the files of a link share. All of it is guarded by
 * the engine's lock, except the files themselves (epoll, wake), which are as
 * long as the link.
 */
#include "frame.h"
#include "link.h"
#include "sock.h"

#define STRANGERS_MAX	64		/* connections that said nothing yet */
#define STRANGER_MS	2000		/* how long they may */
#define STRANGER_MIN_MS	100		/* how long each may, at least */
#define HANDSHAKE_MS	10000		/* from link_handshake to up */
#define ANSWER_NS	200000000u	/* the directory should have answered */
#define RETRY_NS	1000000u	/* the directory is between leaders */
#define PORT_SOON_NS	20000000u	/* or a leader's that has just gone */
#define PORT_RETRY_NS	500000000u	/* the TCP port is another's */
#define QUEUE_MAX	(256u << 10)	/* bytes that a client does not read */
#define ROUNDS		16		/* of epoll in one link_progress */
#define NEVER		UINT64_MAX

enum conn_kind {
	CONN_FREE,
	CONN_LISTEN,		/* the link's own listener */
	CONN_DIR_LISTEN,	/* the directory's, held by this link */
	CONN_DIR_PORT,		/* the same, TCP */
	CONN_PRESENCE,		/* TCP: presence in /proc/net/unix */
	CONN_STRANGER,		/* accepted by the listener */
	CONN_ASKING,		/* accepted by the directory, for 2 s at most */
	CONN_REG,		/* a registered link */
	CONN_LEADER,		/* to the directory's leader: registration */
	CONN_LOOKUP,		/* to another host's directory */
	CONN_HANDSHAKE,		/* to a listener: a handshake begun here */
	CONN_QUERY,		/* to a listener: a question, see query.c */
	CONN_PAIR,		/* a peer that is up */
};

/* Where a connection is from: see limit.c. */
struct limit_source {
	uint8_t ip[16];		/* IPv4: the last four */
	uint8_t six;
};

/* One socket. Slots of link.conn, found by index and generation. */
struct conn {
	enum conn_kind kind;
	int fd;
	uint32_t slot;
	uint32_t gen;		/* how often the slot was used */
	uint8_t stream;		/* TCP: frames may come in parts */
	uint8_t connecting;	/* connect() is in progress */
	uint8_t writing;	/* EPOLLOUT is asked for */
	uint8_t disconnected;	/* the orderly end was announced */
	uint8_t paused;		/* a listener that is not polled */
	uint64_t since;		/* ns; strangers: when it came */
	struct conn *older, *newer;	/* strangers, by age */
	struct limit_source from;	/* strangers */
	void *of;		/* struct link_peer or struct reg, or NULL */
	uint8_t *in;		/* FRAME_MAX bytes, streams only */
	size_t in_len;		/* bytes */
	uint8_t *out;		/* frames that did not fit yet */
	size_t out_at, out_len, out_size;	/* bytes */
	int file[LINK_FILES];	/* that came and were not taken yet */
	unsigned int files;
};

enum handshake_state {
	SHAKE_ASK,		/* the directory is to be asked, or was */
	SHAKE_CONNECT,		/* to its listener */
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
	uint32_t token;		/* of its question */
	uint8_t began;		/* its handshake began here */
	uint8_t unanswered;	/* up, and HELLO_ACK is not sent yet */
	uint8_t asked;		/* the question is on its way */
	uint8_t querying;	/* listeners are asked, too */
	uint8_t tries;		/* how often its listener was not there */
	uint64_t again;		/* ns; when to go on, or NEVER */
	uint64_t deadline;	/* ns; NEVER when up */
	struct sock_addr dir;	/* TCP: whose directory */
	struct sock_addr to;	/* the listener */
	uint8_t disc[VIPL_DISC_MAX];
	uint32_t disc_len;	/* bytes */
};

/* A discriminator that waits here. */
struct wait_entry {
	struct wait_entry *next;
	uint32_t len;		/* bytes */
	uint8_t disc[VIPL_DISC_MAX];
};

struct leader;

struct link {
	struct link_conf conf;
	uint64_t id;
	uid_t uid;
	int epoll, event, timer;	/* files */
	uint64_t timer_at;	/* ns; what the timer is set to, or NEVER */
	int dirty;		/* the timer is to be set */
	int wait2;		/* the kernel has epoll_pwait2 */

	struct conn **conn;	/* slots */
	uint32_t conns;		/* how many slots */
	uint32_t free_hint;
	struct conn *oldest, *newest;	/* strangers */
	unsigned int strangers;
	uint32_t most;		/* peers, TCP */
	uint64_t tell_again;	/* ns; when it is worth another line */
	uint64_t why_again;	/* ns; the same, of link_tell() */
	uint64_t resume;	/* ns; when paused listeners go on, or NEVER */

	struct sock_addr endpoint;	/* of the own listener */
	struct conn *listener;
	struct conn *dir;	/* CONN_LEADER, or NULL */
	uint64_t dir_again;	/* ns; when to try the directory, or NEVER */
	uint8_t dir_reported;	/* a person has been told what is wrong */
	uint8_t dir_taken;	/* its name is another user's: ask all links */
	uint32_t dir_tries;	/* in a row, for one that does not listen */
	struct leader *leader;	/* this link holds the directory, or NULL */
	struct wait_entry *waits;

	struct link_peer *peers;	/* that are up */
	struct link_peer *handshakes;	/* that are not */
	uint32_t token;		/* of the last question */
};

/* conn.c */
struct conn *conn_new(struct link *l, int fd, enum conn_kind kind, int stream,
		      int connecting);
struct conn *conn_find(struct link *l, uint64_t key);
void conn_free(struct link *l, struct conn *c);
/* The connection is a stranger no more. */
void conn_known(struct link *l, struct conn *c, enum conn_kind kind);
/* 0, or a negative errno: the connection is of no use any more. */
int conn_send(struct link *l, struct conn *c, const struct frame *f,
	      const int *files, unsigned int n);
int conn_flush(struct link *l, struct conn *c);
/*
 * The next frame: 1, 0 none now, or a negative errno (-ECONNRESET: the end).
 * buf has FRAME_MAX bytes and must stay while f is used.
 */
int conn_next(struct conn *c, uint8_t *buf, struct frame *f);
void conn_accept(struct link *l, struct conn *listener);
void conn_pause(struct link *l, struct conn *c, int pause);
void conn_drop_files(struct conn *c);

/* Of epoll: the process of a CONN_PAIR has ended. */
#define KEY_DEATH	((uint64_t)1 << 63)

/* dir.c: this link and the directory's leader */
void dir_start(struct link *l);
void dir_ask(struct link *l, struct link_peer *lp);
void dir_frame(struct link *l, struct conn *c, const struct frame *f);
void dir_lost(struct link *l);
uint64_t dir_next(const struct link *l);
void dir_timers(struct link *l, uint64_t now);
int dir_name(const struct link_conf *conf, uid_t uid, const char *what,
	     struct sock_addr *a);

int dir_waits(struct link *l, const uint8_t *disc, uint32_t len);

/* limit.c */
void limit_init(struct link *l);
void limit_source_of(struct limit_source *s, int fd);
int limit_takes(struct link *l, const struct conn *c);
struct conn *limit_victim(const struct link *l);

/* query.c: the links of this directory, without the directory */
/* Returns whether the kernel told all of them; the own one is left out. */
int query_each(struct link *l, void (*each)(void *arg, uint64_t id),
	       void *arg);
void query_begin(struct link_peer *lp);
void query_settle(struct link_peer *lp);
void query_end(struct link_peer *lp);
void query_frame(struct link *l, struct conn *c, const struct frame *f);
void query_lost(struct link *l, struct conn *c);
void query_asked(struct link *l, struct conn *c, const struct frame *f);

/* Of a discriminator; the seed is secret. */
uint64_t leader_hash(uint64_t seed, const uint8_t *disc, uint32_t len);

/* leader.c: the directory, where this link holds it */
int leader_start(struct link *l, int fd);
void leader_stop(struct link *l);
void leader_frame(struct link *l, struct conn *c, const struct frame *f);
void leader_lost(struct link *l, struct conn *c);
void leader_waiting(struct link *l, const uint8_t *disc, uint32_t len,
		    int now);
/* A question of this link's own; the answer goes to handshake_answer. */
void leader_ask(struct link *l, const struct link_peer *lp);
/* Everything that had come has been taken: what is unknown now is unknown. */
void leader_settle(struct link *l, uint64_t now);
void leader_timers(struct link *l, uint64_t now);
uint64_t leader_next(const struct link *l);
int leader_unsettled(const struct link *l);

/* handshake.c */
void handshake_answer(struct link *l, uint32_t token, int code, uint64_t id,
		      const uint8_t *endpoint, size_t endpoint_len);
void handshake_asks(struct link *l);	/* ask again what was not answered */
void handshake_connected(struct link *l, struct conn *c);
void handshake_frame(struct link *l, struct conn *c, const struct frame *f);
void handshake_lost(struct link *l, struct conn *c, int err);
void handshake_timers(struct link *l, uint64_t now);
uint64_t handshake_next(const struct link *l);
void handshake_close(struct link *l);

/* link.c */
void link_frame(struct frame *f, enum frame_type type);
/* The endpoint address of a listener, as frames have it. */
size_t link_endpoint_put(const struct sock_addr *a, uint8_t *endpoint);
/* TCP: the listener's host, with the directory's port. 0 or -EPROTO. */
int link_endpoint_ip(const uint8_t *endpoint, size_t len,
		     const struct link_conf *conf, struct sock_addr *a);
/* dir: whose directory said it; its host is the listener's. 0 or -EPROTO. */
int link_endpoint_get(const uint8_t *endpoint, size_t len,
		      const struct sock_addr *dir, struct sock_addr *a);

static inline uint64_t link_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

#endif /* LINK_PRIVATE_H */

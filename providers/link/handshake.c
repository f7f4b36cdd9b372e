// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Handshakes and pairs.
 *
 * The link that begins asks the directory, connects to the listener that it is
 * told, and says HELLO; the other answers HELLO_ACK. Both then have a peer.
 * Where two links begin at once, each finds the other's HELLO while its own is
 * under way: the link of the smaller id refuses it (EALREADY), the other one
 * takes it for its own handshake.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

#define TRIES		3		/* a listener that is not there */
#define TRY_NS		10000000u
#define LOOKUP_TRIES	40		/* a directory between two leaders */
#define LOOKUP_NS	5000000u
#define YIELD_NS	2000000000u	/* the other's hello should come */

static void list_add(struct link_peer **head, struct link_peer *lp)
{
	lp->next = *head;
	lp->prev = head;
	if (lp->next)
		lp->next->prev = &lp->next;
	*head = lp;
}

static void list_del(struct link_peer *lp)
{
	if (lp->next)
		lp->next->prev = lp->prev;
	*lp->prev = lp->next;
}

static void unlink_peer(struct link_peer *lp)
{
	list_del(lp);
	query_end(lp);
	if (lp->pidfd >= 0) {
		epoll_ctl(lp->l->epoll, EPOLL_CTL_DEL, lp->pidfd, NULL);
		sock_close(lp->pidfd);
	}
	lp->pidfd = -1;
	if (lp->conn)
		conn_free(lp->l, lp->conn);
	lp->conn = NULL;
}

static void end_peer(struct link_peer *lp, int err)
{
	struct link *l = lp->l;
	void *peer = lp->peer;

	unlink_peer(lp);
	l->conf.ops->down(l->conf.nic, peer, err);
	free(lp);
}

static struct link_peer *by_id(struct link *l, uint64_t id)
{
	struct link_peer *lp;

	for (lp = l->peers; lp; lp = lp->next)
		if (lp->id == id && (id != l->id || lp->began))
			return lp;
	for (lp = l->handshakes; lp; lp = lp->next)
		if (lp->id == id && (id != l->id || lp->began))
			return lp;
	return NULL;
}

/* Without it, or a file for it, the socket's end has to do. */
static void watch_process(struct link_peer *lp)
{
	struct epoll_event e = { .events = EPOLLIN };
	const struct conn *c = lp->conn;
	socklen_t len = sizeof(int);
	pid_t pid = link_peer_pid(lp);
	int fd = -1;

	if (pid <= 0)
		return;
	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	lp->pidfd = sock_keep(fd);
	e.data.u64 = KEY_DEATH | (uint64_t)c->gen << 32 | c->slot;
	if (lp->pidfd >= 0)
		epoll_ctl(lp->l->epoll, EPOLL_CTL_ADD, lp->pidfd, &e);
}

static void set_up(struct link_peer *lp)
{
	list_del(lp);
	list_add(&lp->l->peers, lp);
	lp->state = SHAKE_UP;
	lp->deadline = lp->again = NEVER;
	if (lp->l->conf.family == LINK_TCP)
		limit_source_of(&lp->from, lp->conn->fd);
	else
		watch_process(lp);
	conn_known(lp->l, lp->conn, CONN_PAIR);
}

/* A link at one address is known by that one, wherever the way goes. */
static int bind_source(const struct link *l, int fd)
{
	struct sock_addr a = { .len = l->conf.addr_len };

	if (l->conf.family != LINK_TCP)
		return 0;
	memcpy(&a.any, &l->conf.addr, sizeof(a.any));
	return sock_bind_source(fd, &a);
}

/* Ask the directory of another host; returns an error of this one. */
static int look_up(struct link *l, struct link_peer *lp)
{
	struct frame f;
	int fd, err;

	fd = sock_open(lp->dir.sa.sa_family, SOCK_STREAM);
	if (fd < 0) {
		link_tell(l, MSG_LINK_SOCKET, fd);
		return fd;
	}
	sock_tune_tcp(fd);
	err = bind_source(l, fd);
	if (!err)
		err = sock_connect(fd, &lp->dir);
	if (err && err != -EINPROGRESS) {
		sock_close(fd);
		return err;
	}
	lp->conn = conn_new(l, fd, CONN_LOOKUP, 1, err != 0);
	if (!lp->conn) {
		sock_close(fd);
		return -ENOMEM;
	}
	lp->conn->of = lp;
	lp->asked = 1;
	link_frame(&f, FRAME_ASK);
	f.b.token = lp->token;
	f.text = lp->disc;
	f.b.text_len = (uint16_t)lp->disc_len;
	return conn_send(l, lp->conn, &f, NULL, 0);
}

/* From the start, at a later time. */
static void try_again(struct link_peer *lp, int err)
{
	int lookup = lp->state == SHAKE_ASK;

	if (lp->conn)
		conn_free(lp->l, lp->conn);
	lp->conn = NULL;
	if (lp->tries++ >= (lookup ? LOOKUP_TRIES : TRIES)) {
		end_peer(lp, err == -ECONNREFUSED ? -ENOENT : err);
		return;
	}
	lp->state = SHAKE_ASK;
	lp->id = 0;
	lp->asked = 0;
	lp->again = sock_now() + (lookup ? LOOKUP_NS : TRY_NS);
}

/* HELLO or HELLO_ACK, with what the transport says of itself.  0 or -errno. */
static int send_hello(struct link *l, struct link_peer *lp, struct conn *c,
		      enum frame_type type, const struct eng_hello *mine)
{
	struct frame f;

	link_frame(&f, type);
	f.b.id = l->id;
	f.b.other = lp->id;
	f.b.version = l->conf.version;
	f.b.data_len = (uint16_t)mine->len;
	f.b.files = (uint16_t)mine->files;
	f.data = mine->data;
	return conn_send(l, c, &f, mine->file, mine->files);
}

static void say_hello(struct link *l, struct link_peer *lp)
{
	struct eng_hello mine = { .len = 0 };
	int err;

	l->conf.ops->hello(l->conf.nic, lp->peer, &mine);
	lp->state = SHAKE_HELLO;
	err = send_hello(l, lp, lp->conn, FRAME_HELLO, &mine);
	if (err)
		end_peer(lp, err);
}

static int is_foreign(struct link *l, int fd)
{
	uid_t uid;

	return l->conf.family == LINK_UNIX &&
	       (sock_cred(fd, &uid, NULL) || uid != l->uid);
}

static void connect_to(struct link *l, struct link_peer *lp)
{
	int fd, err;

	lp->again = NEVER;
	fd = sock_open(lp->to.sa.sa_family, l->conf.family == LINK_TCP ?
		       SOCK_STREAM : SOCK_SEQPACKET);
	if (fd < 0) {
		link_tell(l, MSG_LINK_SOCKET, fd);
		end_peer(lp, fd);
		return;
	}
	err = bind_source(l, fd);
	if (!err)
		err = sock_connect(fd, &lp->to);
	if (!err && is_foreign(l, fd))
		err = -EACCES;
	if (err && err != -EINPROGRESS) {
		sock_close(fd);
		if (err == -EAGAIN)	/* its listener's queue is full */
			lp->again = sock_now() + RETRY_NS;
		else if (err == -ECONNREFUSED)
			try_again(lp, err);
		else
			end_peer(lp, err);
		return;
	}
	if (l->conf.family == LINK_TCP)
		sock_tune_tcp(fd);
	lp->conn = conn_new(l, fd, CONN_HANDSHAKE, l->conf.family == LINK_TCP,
			    err != 0);
	if (!lp->conn) {
		sock_close(fd);
		end_peer(lp, -ENOMEM);
		return;
	}
	lp->conn->of = lp;
	if (!err)
		say_hello(l, lp);
}

void handshake_connected(struct link *l, struct conn *c)
{
	say_hello(l, c->of);
}

void handshake_answer(struct link *l, uint32_t token, int code, uint64_t id,
		      const uint8_t *endpoint, size_t endpoint_len)
{
	struct link_peer *lp = l->handshakes, *known;
	void *peer;

	while (lp && (lp->token != token || lp->state != SHAKE_ASK))
		lp = lp->next;
	if (!lp)
		return;
	query_end(lp);
	if (code || !id) {
		end_peer(lp, -ENOENT);
		return;
	}
	known = by_id(l, id);
	if (known) {
		peer = lp->peer;
		unlink_peer(lp);
		free(lp);
		l->conf.ops->same(l->conf.nic, peer, known->peer);
		return;
	}
	if (lp->conn)
		conn_free(l, lp->conn);
	lp->conn = NULL;
	lp->id = id;
	if (link_endpoint_get(endpoint, endpoint_len,
			      l->conf.family == LINK_TCP ?
			      &lp->dir : NULL, &lp->to)) {
		end_peer(lp, -EPROTO);
		return;
	}
	lp->state = SHAKE_CONNECT;
	connect_to(l, lp);
}

void handshake_asks(struct link *l)
{
	struct link_peer *lp;

	if (l->conf.family == LINK_TCP)
		return;
	for (lp = l->handshakes; lp; lp = lp->next)
		if (lp->state == SHAKE_ASK && !lp->asked)
			dir_ask(l, lp);
}

static void refuse_conn(struct link *l, struct conn *c, int code)
{
	struct frame f;

	link_frame(&f, FRAME_REFUSE);
	f.b.code = code;
	conn_send(l, c, &f, NULL, 0);
	conn_free(l, c);
}

/*
 * The handshake that the hello of that id is about, a new one where there is
 * none; NULL: it has been refused.
 */
static struct link_peer *find_greeted(struct link *l, struct conn *c,
				      uint64_t id)
{
	struct link_peer *lp = id == l->id ? NULL : by_id(l, id);

	if (lp && lp->state == SHAKE_UP && sock_ended(lp->conn->fd)) {
		/* The other link has let go of that pair, and begins anew. */
		end_peer(lp, -ECONNRESET);
		lp = NULL;
	}
	/* An attempt that is under way, or was overtaken by the pair. */
	if (lp && (lp->state == SHAKE_UP ||
		   (l->id < id && lp->state != SHAKE_YIELD))) {
		refuse_conn(l, c, -EALREADY);
		return NULL;
	}
	if (lp) {
		if (lp->conn)
			conn_free(l, lp->conn);
	} else if (!limit_takes(l, c)) {
		refuse_conn(l, c, -ENOBUFS);
		return NULL;
	} else {
		lp = calloc(1, sizeof(*lp));
		if (!lp) {
			refuse_conn(l, c, -ENOMEM);
			return NULL;
		}
		lp->l = l;
		lp->pidfd = -1;
		lp->id = id;
		list_add(&l->handshakes, lp);
	}
	lp->conn = c;
	c->of = lp;
	return lp;
}

static void copy_hello(struct eng_hello *h, struct conn *c,
		       const struct frame *f)
{
	memset(h, 0, sizeof(*h));
	h->len = f->b.data_len;
	memcpy(h->data, f->data, f->b.data_len);
	h->files = c->files;
	memcpy(h->file, c->file, c->files * sizeof(int));
	c->files = 0;
}

static void take_hello(struct link *l, struct conn *c, const struct frame *f)
{
	struct eng_hello theirs, mine = { .len = 0 };
	struct link_peer *lp;
	void *peer;
	int err;

	if (f->type != FRAME_HELLO || c->files != f->b.files || !f->b.id) {
		conn_free(l, c);
		return;
	}
	if (f->b.other != l->id || f->b.version != l->conf.version) {
		refuse_conn(l, c,
			    f->b.other != l->id ? -ENOENT : -EPROTONOSUPPORT);
		return;
	}
	lp = find_greeted(l, c, f->b.id);
	if (!lp)
		return;
	copy_hello(&theirs, c, f);
	set_up(lp);
	lp->unanswered = 1;
	peer = l->conf.ops->came(l->conf.nic, lp->peer, lp, &theirs, &mine);
	if (!peer) {
		lp->conn = NULL;
		unlink_peer(lp);
		refuse_conn(l, c, -ECONNREFUSED);
		if (lp->peer)
			l->conf.ops->down(l->conf.nic, lp->peer, -ECONNREFUSED);
		free(lp);
		return;
	}
	lp->peer = peer;
	err = send_hello(l, lp, c, FRAME_HELLO_ACK, &mine);
	lp->unanswered = 0;
	if (err)
		end_peer(lp, err);
}

static void take_hello_ack(struct link *l, struct conn *c,
			   const struct frame *f)
{
	struct link_peer *lp = c->of;
	struct eng_hello theirs;
	int err;

	if (c->files != f->b.files || f->b.id != lp->id ||
	    f->b.version != l->conf.version) {
		end_peer(lp, -EPROTO);
		return;
	}
	copy_hello(&theirs, c, f);
	set_up(lp);
	err = l->conf.ops->answered(l->conf.nic, lp->peer, &theirs);
	if (err)
		end_peer(lp, err);
}

static void take_refusal(struct link *l, struct conn *c, const struct frame *f)
{
	struct link_peer *lp = c->of;

	if (f->b.code == -EALREADY) {
		conn_free(l, c);
		lp->conn = NULL;
		lp->state = SHAKE_YIELD;
		lp->again = sock_now() + YIELD_NS;
	} else if (f->b.code == -ENOENT) {
		try_again(lp, -ENOENT);
	} else {
		if (f->b.code == -ENOBUFS)
			l->conf.msg(MSG_LINK_REFUSED, l->conf.provider);
		end_peer(lp, f->b.code == -EPROTONOSUPPORT ? -EPROTONOSUPPORT :
							     -ECONNREFUSED);
	}
}

void handshake_frame(struct link *l, struct conn *c, const struct frame *f)
{
	struct link_peer *lp = c->of;

	if (c->kind == CONN_STRANGER && f->type == FRAME_ASK)
		query_asked(l, c, f);
	else if (c->kind == CONN_STRANGER)
		take_hello(l, c, f);
	else if (c->kind == CONN_QUERY)
		query_frame(l, c, f);
	else if (c->kind == CONN_LOOKUP && f->type == FRAME_ANSWER &&
		 f->b.token == lp->token)
		handshake_answer(l, lp->token, f->b.code, f->b.id, f->endpoint,
				 f->b.endpoint_len);
	else if (c->kind == CONN_HANDSHAKE && f->type == FRAME_HELLO_ACK)
		take_hello_ack(l, c, f);
	else if (c->kind == CONN_HANDSHAKE && f->type == FRAME_REFUSE)
		take_refusal(l, c, f);
	else if (c->kind == CONN_PAIR && f->type == FRAME_DISCONNECT)
		c->disconnected = 1;
	else if (c->kind != CONN_PAIR || f->type != FRAME_WAKE)
		handshake_lost(l, c, -EPROTO);
	else if (l->conf.ops->woken)
		l->conf.ops->woken(l->conf.nic, lp->peer);
}

void handshake_lost(struct link *l, struct conn *c, int err)
{
	struct link_peer *lp = c->of;

	(void)l;
	if (c->kind == CONN_PAIR)
		end_peer(lp, c->disconnected ? -ESHUTDOWN : -ECONNRESET);
	else if (err == -ECONNREFUSED || err == -ECONNRESET || err == -EPIPE)
		try_again(lp, err);
	else
		end_peer(lp, err);
}

static void on_time(struct link *l, struct link_peer *lp, uint64_t now)
{
	int err;

	if (lp->deadline <= now) {
		end_peer(lp, -ETIMEDOUT);
		return;
	}
	if (lp->again > now)
		return;
	lp->again = NEVER;
	if (lp->state == SHAKE_CONNECT) {
		connect_to(l, lp);
	} else if (lp->state == SHAKE_YIELD) {
		try_again(lp, -ECONNRESET);
	} else if (lp->state == SHAKE_ASK && l->conf.family == LINK_UNIX) {
		if (lp->querying && l->dir_taken)
			query_settle(lp);
		else if (lp->asked)
			query_begin(lp);
		else
			dir_ask(l, lp);
	} else if (lp->state == SHAKE_ASK) {
		err = look_up(l, lp);
		if (err == -ECONNREFUSED)
			try_again(lp, err);
		else if (err)
			end_peer(lp, err);
	}
}

void handshake_timers(struct link *l, uint64_t now)
{
	struct link_peer *lp, *next;

	for (lp = l->handshakes; lp; lp = next) {
		next = lp->next;
		on_time(l, lp, now);
	}
}

uint64_t handshake_next(const struct link *l)
{
	const struct link_peer *lp;
	uint64_t at = NEVER;

	for (lp = l->handshakes; lp; lp = lp->next)
		at = link_least(at, link_least(lp->again, lp->deadline));
	return at;
}

struct link_peer *link_handshake(struct link *l, const struct sockaddr *dir,
				 socklen_t dir_len, const uint8_t *disc,
				 uint32_t disc_len, void *peer, int *err)
{
	struct link_peer *lp;

	*err = -EINVAL;
	if (disc_len > VIPL_DISC_MAX || dir_len > sizeof(lp->dir.any))
		return NULL;
	lp = calloc(1, sizeof(*lp));
	*err = -ENOMEM;
	if (!lp)
		return NULL;
	lp->l = l;
	lp->pidfd = -1;
	lp->peer = peer;
	lp->began = 1;
	lp->token = ++l->token;
	lp->again = NEVER;
	lp->deadline = sock_now() + HANDSHAKE_MS * 1000000ull;
	lp->disc_len = disc_len;
	memcpy(lp->disc, disc, disc_len);
	list_add(&l->handshakes, lp);
	*err = 0;
	if (l->conf.family == LINK_UNIX) {
		dir_ask(l, lp);
	} else {
		memcpy(&lp->dir.any, dir, dir_len);
		lp->dir.len = dir_len;
		/* Both families have the port at the same place. */
		((struct sockaddr_in *)&lp->dir.any)->sin_port =
			((const struct sockaddr_in *)&l->conf.addr)->sin_port;
		*err = look_up(l, lp);
	}
	if (*err) {
		unlink_peer(lp);
		free(lp);
		return NULL;
	}
	/* The thread that sleeps sets the timer, and settles an own question. */
	l->dirty = 1;
	link_wake(l);
	return lp;
}

void link_drop(struct link_peer *lp)
{
	struct frame f;

	if (lp->state == SHAKE_UP) {
		link_frame(&f, FRAME_DISCONNECT);
		conn_send(lp->l, lp->conn, &f, NULL, 0);
	}
	unlink_peer(lp);
	free(lp);
}

void handshake_close(struct link *l)
{
	while (l->peers)
		link_drop(l->peers);
	while (l->handshakes)
		link_drop(l->handshakes);
}

void link_wake_peer(struct link_peer *lp)
{
	struct frame_head h;
	struct frame f;

	/* A HELLO_ACK that is still to come is a wake-up as well. */
	if (lp->state != SHAKE_UP || lp->unanswered)
		return;
	/* Where it does not fit there are many, and one is enough. */
	link_frame(&f, FRAME_WAKE);
	frame_build(&f, (uint8_t *)&h);
	if (lp->conn->out_at == lp->conn->out_len)
		sock_send(lp->conn->fd, &h, sizeof(h), NULL, 0);
}

int link_peer_fd(const struct link_peer *lp)
{
	return lp->conn ? lp->conn->fd : -1;
}

int link_peer_pidfd(const struct link_peer *lp)
{
	return lp->pidfd;
}

pid_t link_peer_pid(const struct link_peer *lp)
{
	pid_t pid;
	uid_t uid;

	if (!lp->conn || lp->l->conf.family != LINK_UNIX ||
	    sock_cred(lp->conn->fd, &uid, &pid))
		return 0;
	return pid;
}

uint64_t link_peer_id(const struct link_peer *lp)
{
	return lp->id;
}

const struct sockaddr *link_peer_addr(const struct link_peer *lp,
				      socklen_t *len)
{
	struct link_peer *w = (struct link_peer *)lp;

	*len = 0;
	if (!lp->conn || lp->l->conf.family != LINK_TCP)
		return NULL;
	w->to.len = sizeof(w->to.any);
	if (getpeername(lp->conn->fd, &w->to.sa, &w->to.len))
		return NULL;
	*len = w->to.len;
	return &w->to.sa;
}

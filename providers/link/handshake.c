// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Handshakes and pairs.
 *
 * 1. The link that begins connects to a name, or to a host's port, and asks
 *    (ASK). The link that waits says its id (ANSWER). Is there a pair with that
 *    one, or a handshake, the connection ends (same); else HELLO follows, and
 *    HELLO_ACK. Then both have a peer, and the connection is its control socket.
 * 2. Nothing is decided by who answers first: one that is refused, or has gone,
 *    is followed by the next name; one that is silent (it is stopped) by another
 *    name, if there is another, and is asked again after those.
 * 3. Where two links begin at once, each finds the other's HELLO while its own
 *    is under way: the link of the smaller id refuses it (EALREADY), the other
 *    one takes it for its own handshake.
 * 4. A handshake is on one list, handshakes or peers, until its end; `again` or
 *    `deadline` or its connection makes it go on, and HANDSHAKE_MS bounds it.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

#define TRIES		40	/* from the beginning, where the other end went */
#define TRY_MS		5
#define FULL_MS		1	/* the queue of one that waits is full */
#define FULL_TRIES	500	/* so often: it does not accept at all */
#define ANSWER_MS	2	/* another one may answer sooner, UNIX */
#define FAR_MS		1000	/* the same, TCP; each doubles every time */
#define PATIENCE_MS	2000
#define YIELD_MS	2000	/* the other's hello should come */

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

static struct link_peer *peer_new(struct link *l, void *peer)
{
	struct link_peer *lp = calloc(1, sizeof(*lp));

	if (!lp)
		return NULL;
	lp->l = l;
	lp->pidfd = -1;
	lp->peer = peer;
	lp->again = NEVER;
	lp->deadline = sock_now() + (uint64_t)HANDSHAKE_MS * MS;
	lp->patience = l->conf.family == LINK_TCP ? FAR_MS : ANSWER_MS;
	list_add(&l->handshakes, lp);
	return lp;
}

static void set_conn(struct link_peer *lp, struct conn *c)
{
	if (lp->conn)
		conn_free(lp->l, lp->conn);
	lp->conn = c;
	if (c)
		c->of = lp;
}

static void unlink_peer(struct link_peer *lp)
{
	list_del(lp);
	if (lp->pidfd >= 0) {
		epoll_ctl(lp->l->epoll, EPOLL_CTL_DEL, lp->pidfd, NULL);
		link_file_close(lp->pidfd);
	}
	set_conn(lp, NULL);
}

static void free_peer(struct link_peer *lp)
{
	unlink_peer(lp);
	free(lp);
}

static void end_peer(struct link_peer *lp, int err)
{
	unlink_peer(lp);
	lp->l->conf.ops->down(lp->l->conf.nic, lp->peer, err);
	free(lp);
}

static struct link_peer *find_id(struct link_peer *lp, uint64_t id)
{
	while (lp && (lp->id != id || (id == lp->l->id && !lp->began)))
		lp = lp->next;
	return lp;
}

static struct link_peer *by_id(struct link *l, uint64_t id)
{
	struct link_peer *lp = find_id(l->peers, id);

	return lp ? lp : find_id(l->handshakes, id);
}

/* Without it, or a file for it, the socket's end has to do. */
static void watch_process(struct link_peer *lp)
{
	socklen_t len = sizeof(int);
	pid_t pid = link_peer_pid(lp);
	int fd = -1;

	if (pid <= 0)
		return;
	if (getsockopt(lp->conn->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
	lp->pidfd = sock_keep(fd);
	if (lp->pidfd >= 0)
		link_add_file(lp->l, lp->pidfd, (char *)lp->conn + CONN_DEATH);
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

static void try_later(struct link_peer *lp, uint64_t ms)
{
	lp->again = sock_now() + ms * MS;
}

static int send_ask(const struct link_peer *lp, struct conn *c)
{
	struct frame f = {
		.type = FRAME_ASK, .id = lp->l->id,
		.len = (uint16_t)lp->disc_len,
	};

	memcpy(f.data, lp->disc, lp->disc_len);
	return conn_send(c, &f, NULL, 0);
}

/* Ask on a socket, in place of the one that was asked before. */
static int ask_on(struct link_peer *lp, int fd, int stream, int connecting)
{
	struct conn *c = conn_new(lp->l, fd, CONN_ASKED, stream, connecting);
	int err;

	if (!c)
		return -ENOMEM;
	err = connecting ? 0 : send_ask(lp, c);
	if (err) {
		conn_free(lp->l, c);
		return err;
	}
	set_conn(lp, c);
	try_later(lp, lp->patience);
	return 0;
}

static int ask_host(struct link_peer *lp)
{
	int fd, err = port_connect(lp->l, &lp->to, &fd);

	if (err && err != -EINPROGRESS)
		return err == -ECONNREFUSED ? -ENOENT : err;
	return ask_on(lp, fd, 1, err != 0);
}

static int ask_name(struct link_peer *lp)
{
	int fd, err;

	do {
		fd = name_next(lp->l, &lp->name);
		if (fd < 0)
			return fd;
		err = ask_on(lp, fd, 0, 0);
	} while (err && err != -ENOMEM);
	return err;
}

static void start_names(struct link_peer *lp)
{
	name_start(lp->l, &lp->name, NULL, lp->disc, lp->disc_len);
}

/* Ask the next one; an error is the end. */
static int ask(struct link_peer *lp)
{
	int err;

	if (lp->l->conf.family == LINK_TCP)
		err = ask_host(lp);
	else
		err = ask_name(lp);
	if (err == -EAGAIN && ++lp->full > FULL_TRIES) {
		link_tell(lp->l, MSG_LINK_FULL, err);
		return -ENOENT;
	}
	if (err == -EAGAIN || (err == -ENOENT && lp->silent)) {
		lp->silent = 0;
		start_names(lp);
		try_later(lp, FULL_MS);
		return 0;
	}
	if (err == -EMFILE || err == -ENFILE)
		link_tell(lp->l, MSG_LINK_SOCKET, err);
	return err;
}

static void go_on(struct link_peer *lp)
{
	int err;

	set_conn(lp, NULL);
	err = ask(lp);
	if (err)
		end_peer(lp, err);
}

/* There is no answer: another one may give it, or this one in the end. */
static void ask_another(struct link_peer *lp)
{
	unsigned int at = lp->name.at;
	int err = -ENOENT;

	if (!lp->conn->stream && name_is_gone(lp->conn->fd)) {
		go_on(lp);
		return;
	}
	if (lp->patience < PATIENCE_MS)
		lp->patience *= 2;
	if (lp->l->conf.family == LINK_TCP && !lp->conn->connecting) {
		err = ask_host(lp);
	} else if (lp->l->conf.family == LINK_UNIX) {
		start_names(lp);
		lp->name.at = at;
		lp->name.left--;
		err = ask_name(lp);
		lp->silent |= !err;
	}
	if (err) {
		lp->name.at = at;
		try_later(lp, lp->patience);
	}
}

/* From the start, at a later time. */
static void try_again(struct link_peer *lp, int err)
{
	set_conn(lp, NULL);
	if (lp->tries++ >= TRIES) {
		end_peer(lp, err);
		return;
	}
	lp->state = SHAKE_ASK;
	lp->id = 0;
	start_names(lp);
	try_later(lp, TRY_MS);
}

/* HELLO or HELLO_ACK, with what the transport says of itself.  0 or -errno. */
static int send_hello(struct link_peer *lp, enum frame_type type,
		      const struct eng_hello *mine)
{
	struct frame f = {
		.type = type, .id = lp->l->id, .other = lp->id,
		.version = lp->l->conf.version, .len = (uint16_t)mine->len,
		.files = mine->files,
	};

	memcpy(f.data, mine->data, mine->len);
	return conn_send(lp->conn, &f, mine->file, mine->files);
}

void handshake_connected(struct conn *c)
{
	int err = send_ask(c->of, c);

	if (err)
		handshake_lost(c, err);
}

static void take_answer(struct link *l, struct conn *c, const struct frame *f)
{
	struct link_peer *lp = c->of, *known = by_id(l, f->id);
	struct eng_hello mine = { .len = 0 };
	void *peer = lp->peer;
	int err;

	if (!f->id) {
		end_peer(lp, -EPROTO);
		return;
	}
	if (known) {
		free_peer(lp);
		l->conf.ops->same(l->conf.nic, peer, known->peer);
		return;
	}
	lp->id = f->id;
	lp->again = NEVER;
	lp->state = SHAKE_HELLO;
	c->kind = CONN_HANDSHAKE;
	l->conf.ops->hello(l->conf.nic, peer, &mine);
	err = send_hello(lp, FRAME_HELLO, &mine);
	if (err)
		end_peer(lp, err);
}

static void refuse_conn(struct link *l, struct conn *c, int code)
{
	struct frame f = { .type = FRAME_REFUSE, .code = code };

	conn_send(c, &f, NULL, 0);
	conn_free(l, c);
}

/* One that is up needs no more than the answer. */
static int is_peer(struct link *l, uint64_t id)
{
	const struct link_peer *lp = id == l->id ? NULL : by_id(l, id);

	return lp && lp->state == SHAKE_UP && !sock_ended(lp->conn->fd);
}

/* A stranger asks: this link answers, or another one that it is passed to. */
static void take_ask(struct link *l, struct conn *c, const struct frame *f)
{
	int waits = f->len <= VIPL_DISC_MAX && name_waits(l, f->data, f->len);
	int pass = c->stream && f->type == FRAME_ASK && f->len <= VIPL_DISC_MAX;
	struct frame answer = { .type = FRAME_ANSWER, .id = l->id };

	/* Where the one that asks waits as well, it is another one. */
	if (pass && (!waits || f->id == l->id) && !port_pass(l, c, f))
		conn_free(l, c);
	else if (!waits)
		refuse_conn(l, c, -ENOENT);
	else if (conn_send(c, &answer, NULL, 0) || is_peer(l, f->id))
		conn_free(l, c);
	else if (!c->stream)
		conn_known(l, c, CONN_ASKER);
}

static void take_passed(struct link *l, struct conn *c, const struct frame *f)
{
	int fd = c->files == 1 && !c->stream ? c->file[0] : -1;

	if (fd >= 0)
		c->files = 0;
	conn_free(l, c);
	c = fd < 0 ? NULL : conn_welcome(l, fd, 1);
	if (c)
		take_ask(l, c, f);
}

static void send_name(struct link *l, struct conn *c)
{
	struct frame f = { .type = FRAME_NAME };

	f.len = (uint16_t)strnlen(l->conf.name, VIPL_NAME_MAX);
	memcpy(f.data, l->conf.name, f.len);
	if (conn_send(c, &f, NULL, 0))
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
	int err = 0;

	if (lp && lp->state == SHAKE_UP && sock_ended(lp->conn->fd)) {
		/* The other link has let go of that pair, and begins anew. */
		end_peer(lp, -ECONNRESET);
		lp = NULL;
	}
	/* An attempt that is under way, or was overtaken by the pair. */
	if (lp && (lp->state == SHAKE_UP ||
		   (l->id < id && lp->state != SHAKE_YIELD)))
		err = -EALREADY;
	else if (!lp && !limit_takes(l, c))
		err = -ENOBUFS;
	else if (!lp)
		lp = peer_new(l, NULL);
	if (err || !lp) {
		refuse_conn(l, c, err ? err : -ENOMEM);
		return NULL;
	}
	lp->id = id;
	set_conn(lp, c);
	return lp;
}

static void copy_hello(struct eng_hello *h, struct conn *c,
		       const struct frame *f)
{
	memset(h, 0, sizeof(*h));
	h->len = f->len;
	memcpy(h->data, f->data, f->len);
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

	if (c->files != f->files || !f->id) {
		conn_free(l, c);
		return;
	}
	if (f->other != l->id || f->version != l->conf.version) {
		refuse_conn(l, c,
			    f->other != l->id ? -ENOENT : -EPROTONOSUPPORT);
		return;
	}
	lp = find_greeted(l, c, f->id);
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
	err = send_hello(lp, FRAME_HELLO_ACK, &mine);
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

	if (c->files != f->files || f->id != lp->id ||
	    f->version != l->conf.version) {
		end_peer(lp, -EPROTO);
		return;
	}
	copy_hello(&theirs, c, f);
	set_up(lp);
	err = l->conf.ops->answered(l->conf.nic, lp->peer, &theirs);
	if (err)
		end_peer(lp, err);
}

static void take_refusal(struct link *l, struct conn *c, int code)
{
	struct link_peer *lp = c->of;

	if (c->kind == CONN_ASKED && l->conf.family == LINK_UNIX) {
		go_on(lp);
	} else if (c->kind == CONN_ASKED) {
		end_peer(lp, -ENOENT);
	} else if (code == -EALREADY) {
		set_conn(lp, NULL);
		lp->state = SHAKE_YIELD;
		try_later(lp, YIELD_MS);
	} else if (code == -ENOENT) {
		try_again(lp, -ENOENT);
	} else {
		if (code == -ENOBUFS)
			l->conf.msg(MSG_LINK_REFUSED, l->conf.provider);
		end_peer(lp, code == -EPROTONOSUPPORT ? -EPROTONOSUPPORT :
							-ECONNREFUSED);
	}
}

static void take_from_stranger(struct link *l, struct conn *c,
			       const struct frame *f)
{
	if (f->type == FRAME_ASK)
		take_ask(l, c, f);
	else if (f->type == FRAME_PASS)
		take_passed(l, c, f);
	else if (f->type == FRAME_ASK_NAME)
		send_name(l, c);
	else if (f->type == FRAME_HELLO)
		take_hello(l, c, f);
	else
		conn_free(l, c);
}

void handshake_frame(struct link *l, struct conn *c, const struct frame *f)
{
	if (c->kind == CONN_STRANGER || c->kind == CONN_ASKER)
		take_from_stranger(l, c, f);
	else if (c->kind == CONN_ASKED && f->type == FRAME_ANSWER)
		take_answer(l, c, f);
	else if (c->kind == CONN_HANDSHAKE && f->type == FRAME_HELLO_ACK)
		take_hello_ack(l, c, f);
	else if (c->kind != CONN_PAIR && f->type == FRAME_REFUSE)
		take_refusal(l, c, f->code);
	else if (c->kind == CONN_PAIR && f->type == FRAME_DISCONNECT)
		c->disconnected = 1;
	else if (c->kind != CONN_PAIR || f->type != FRAME_WAKE)
		handshake_lost(c, -EPROTO);
	else if (l->conf.ops->woken)
		l->conf.ops->woken(l->conf.nic, c->of->peer);
}

void handshake_lost(struct conn *c, int err)
{
	struct link_peer *lp = c->of;
	int gone = err == -ECONNRESET || err == -EPIPE;

	if (c->kind == CONN_PAIR)
		end_peer(lp, c->disconnected ? -ESHUTDOWN : -ECONNRESET);
	else if (c->kind == CONN_ASKED && !c->stream && gone)
		go_on(lp);
	else if (gone)
		try_again(lp, err);
	else
		end_peer(lp, err == -ECONNREFUSED ? -ENOENT : err);
}

static void on_time(struct link_peer *lp, uint64_t now)
{
	if (lp->deadline <= now) {
		end_peer(lp, -ETIMEDOUT);
		return;
	}
	lp->again = NEVER;
	if (lp->state == SHAKE_YIELD)
		try_again(lp, -ECONNRESET);
	else if (lp->state == SHAKE_ASK && lp->conn)
		ask_another(lp);
	else if (lp->state == SHAKE_ASK)
		go_on(lp);
}

static struct link_peer *due(const struct link *l, uint64_t now)
{
	struct link_peer *lp = l->handshakes;

	while (lp && link_least(lp->again, lp->deadline) > now)
		lp = lp->next;
	return lp;
}

/* From the first one each time: a callback may drop any of them. None is due
 * when it has had its turn.
 */
void handshake_timers(struct link *l, uint64_t now)
{
	struct link_peer *lp;

	while ((lp = due(l, now)))
		on_time(lp, now);
}

uint64_t handshake_next(const struct link *l)
{
	const struct link_peer *lp;
	uint64_t at = NEVER;

	for (lp = l->handshakes; lp; lp = lp->next)
		at = link_least(at, link_least(lp->again, lp->deadline));
	return at;
}

struct link_peer *link_handshake(struct link *l, const struct sockaddr *host,
				 socklen_t host_len, const uint8_t *disc,
				 uint32_t disc_len, void *peer, int *err)
{
	struct link_peer *lp;

	*err = -EINVAL;
	if (disc_len > VIPL_DISC_MAX || host_len > sizeof(lp->to.any))
		return NULL;
	lp = peer_new(l, peer);
	*err = -ENOMEM;
	if (!lp)
		return NULL;
	lp->began = 1;
	lp->disc_len = disc_len;
	memcpy(lp->disc, disc, disc_len);
	if (l->conf.family == LINK_TCP) {
		memcpy(&lp->to.any, host, host_len);
		lp->to.len = host_len;
		/* Both families have the port at the same place. */
		((struct sockaddr_in *)&lp->to.any)->sin_port =
			((const struct sockaddr_in *)&l->conf.addr)->sin_port;
	}
	start_names(lp);
	*err = ask(lp);
	if (*err) {
		free_peer(lp);
		return NULL;
	}
	link_set_timer(l);
	return lp;
}

void link_drop(struct link_peer *lp)
{
	struct frame f = { .type = FRAME_DISCONNECT };

	if (lp->state == SHAKE_UP)
		conn_send(lp->conn, &f, NULL, 0);
	free_peer(lp);
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
	struct frame f = { .type = FRAME_WAKE };

	/*
	 * A HELLO_ACK that is still to come is a wake-up as well. Where it does
	 * not fit there are many, and one is enough.
	 */
	if (lp->state == SHAKE_UP && !lp->unanswered)
		conn_send(lp->conn, &f, NULL, 0);
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

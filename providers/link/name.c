// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Names: the kernel is the directory.
 *
 * 1. A link that waits for a discriminator listens at an abstract UNIX name,
 *    vipl/PROVIDER/UID/SPACE/HASH.N. It binds the first N of NAMES that is
 *    free. The name goes with the socket, however the process ends.
 * 2. A look-up tries each N. A name has no owner: a process of another user may
 *    listen at it, and is stepped over. The frame FRAME_ASK has the whole
 *    discriminator, so that the hash proves nothing.
 * 3. The hash is one that does not show the discriminator to other users. They
 *    may test whether a guess is right.
 * 4. A server waits, takes a request, and waits again. Its name stays for
 *    STALE_MS meanwhile, and look-ups wait in its queue. Then the queue goes,
 *    and each of them tries the next name.
 * 5. A round of NAMES calls is bounded, and none of them waits.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES		16u	/* links that can wait for one discriminator */
#define STALE_MS	20	/* a server that waits again has its name still */

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = turn(v[1], 13) ^ v[0];
		v[3] = turn(v[3], 16) ^ v[2];
		v[0] = turn(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = turn(v[3], 21) ^ v[0];
		v[1] = turn(v[1], 17) ^ v[2];
		v[2] = turn(v[2], 32);
	}
}

/* SipHash-2-4 with 128 bits of a number of words; the last has the length. */
static void sip_hash(const uint64_t *word, size_t words, uint64_t out[2])
{
	uint64_t v[4] = { 0x736f6d6570736575u, 0x646f72616e646f6du ^ 0xee,
			  0x6c7967656e657261u, 0x7465646279746573u };

	while (words--) {
		v[3] ^= *word;
		sip_rounds(v, 2);
		v[0] ^= *word++;
	}
	v[2] ^= 0xee;
	sip_rounds(v, 4);
	out[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
	v[1] ^= 0xdd;
	sip_rounds(v, 4);
	out[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

static int name_address(const struct link *l, const struct name_cursor *c,
			struct sock_addr *a)
{
	char name[sizeof(a->un.sun_path)];
	int n = snprintf(name, sizeof(name), "vipl/%s/%u/%s/%016llx%016llx.%u",
			 l->conf.provider, (unsigned int)l->uid, l->conf.space,
			 (unsigned long long)c->hash[0],
			 (unsigned long long)c->hash[1], c->at);

	return n < 0 || (size_t)n >= sizeof(name) ? -ENAMETOOLONG :
						    sock_abstract(a, name);
}

static struct wait_entry **find_wait(const struct link *l, const uint8_t *disc,
				     uint32_t len)
{
	struct wait_entry **p = (struct wait_entry **)&l->waits;

	while (*p && ((*p)->len != len || memcmp((*p)->disc, disc, len)))
		p = &(*p)->next;
	return p;
}

int name_waits(const struct link *l, const uint8_t *disc, uint32_t len)
{
	const struct wait_entry *w = *find_wait(l, disc, len);

	return w && w->until == NEVER;
}

/* The own one, if there is one, comes last. */
void name_start(const struct link *l, struct name_cursor *c,
		const struct in6_addr *ip, const uint8_t *disc, uint32_t len)
{
	uint64_t word[2 + VIPL_DISC_MAX / 8 + 1] = { 0 };
	const struct wait_entry *own = *find_wait(l, disc, len);

	if (ip)
		memcpy(word, ip, sizeof(*ip));
	memcpy(word + 2, disc, len);
	word[2 + VIPL_DISC_MAX / 8] = len;
	sip_hash(word, sizeof(word) / sizeof(*word), c->hash);
	c->at = own ? own->at : NAMES - 1;
	c->left = NAMES;
	c->err = -ENOENT;
	c->foreign = 0;
}

int name_is_own(const struct link *l, int fd)
{
	uid_t uid;

	return !sock_cred(fd, &uid, NULL) && uid == l->uid;
}

/* A child by a raw clone() may hold the listener of one that has ended. */
int name_is_gone(int fd)
{
	uid_t uid;
	pid_t pid;

	return !sock_cred(fd, &uid, &pid) && pid > 0 &&
	       syscall(SYS_kill, pid, 0) && errno == ESRCH;
}

int name_next(struct link *l, struct name_cursor *c)
{
	struct sock_addr a;
	int fd = -1, err;

	while (c->left) {
		if (fd < 0)
			fd = sock_open(AF_UNIX, SOCK_SEQPACKET);
		if (fd < 0)
			return fd;
		c->at = (c->at + 1) % NAMES;
		c->left--;
		err = name_address(l, c, &a);
		if (!err)
			err = sock_connect(fd, &a);
		if (!err && name_is_own(l, fd))
			return fd;
		if (!err) {
			c->foreign = 1;
			link_file_close(fd);
			fd = -1;
		} else if (err == -EAGAIN || err == -ENOBUFS ||
			   err == -ENOMEM) {
			c->err = -EAGAIN;	/* its queue is full */
		} else if (err != -ECONNREFUSED && err != -EPROTOTYPE &&
			   c->err == -ENOENT) {
			c->err = err;
		}
	}
	if (fd >= 0)
		link_file_close(fd);
	if (c->foreign && c->err == -ENOENT)
		link_tell(l, MSG_LINK_FOREIGN, -EACCES);
	return c->err;
}

/* Listen at the first name that is free. */
static int listen_at(struct link *l, struct wait_entry *w)
{
	const struct sock_addr *own = (const void *)&l->conf.addr;
	struct in6_addr ip = port_ip(own);
	int fd = sock_open(AF_UNIX, SOCK_SEQPACKET), err;
	struct name_cursor c;
	struct sock_addr a;

	if (fd == -EMFILE) {
		name_expire(l, NEVER - 1);
		fd = sock_open(AF_UNIX, SOCK_SEQPACKET);
	}
	if (fd < 0)
		return fd;
	name_start(l, &c, l->conf.family == LINK_TCP ? &ip : NULL, w->disc,
		   w->len);
	do {
		c.at = (c.at + 1) % NAMES;
		err = name_address(l, &c, &a);
		if (!err)
			err = sock_bind_listen(fd, &a);
	} while (err == -EADDRINUSE && --c.left);
	if (err) {
		link_file_close(fd);
		return err;
	}
	w->at = c.at;
	w->listener = conn_new(l, fd, CONN_LISTEN, 0, 0);
	return w->listener ? 0 : -ENOMEM;
}

void name_expire(struct link *l, uint64_t now)
{
	struct wait_entry **p = &l->waits, *w;

	l->stale = NEVER;
	while ((w = *p)) {
		if (w->until > now) {
			l->stale = link_least(l->stale, w->until);
			p = &w->next;
			continue;
		}
		*p = w->next;
		conn_free(l, w->listener);
		free(w);
	}
}

static int begin_waiting(struct link *l, const uint8_t *disc, uint32_t len)
{
	struct wait_entry *w = calloc(1, sizeof(*w));
	int err = -ENOMEM;

	if (w) {
		w->len = len;
		memcpy(w->disc, disc, len);
		err = listen_at(l, w);
	}
	if (err) {
		link_tell(l, MSG_LINK_NAME, err);
		free(w);
		return err;
	}
	w->until = NEVER;
	w->next = l->waits;
	l->waits = w;
	return 0;
}

int link_waiting(struct link *l, const uint8_t *disc, uint32_t len, int now)
{
	struct wait_entry *w;

	if (len > VIPL_DISC_MAX)
		return -EINVAL;
	w = *find_wait(l, disc, len);
	if (!w)
		return now ? begin_waiting(l, disc, len) : 0;
	w->until = now ? NEVER : sock_now() + STALE_MS * MS;
	conn_pause(l, w->listener, PAUSE_STALE, !now);
	if (!now) {
		l->stale = link_least(l->stale, w->until);
		link_set_timer(l);
	}
	return 0;
}

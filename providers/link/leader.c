// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The directory, in the link that holds it (its leader): which link waits for
 * what.
 *
 * A link tells it that a discriminator waits before another one can know and
 * ask. So a question without an answer is put off until all that has
 * come is taken; a new leader also waits for the links that it can see in
 * /proc/net/unix, LINK_GRACE_MS at most.
 */
#include "../messages.h"
#include "private.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS		256u
#define EXPECTED_MAX	4096
#define QUESTIONS_MAX	16384
#define WAITERS_MAX	65536	/* of one link */
#define PORTS_MAX	16	/* addresses of this host, TCP */
#define OWN		UINT64_MAX	/* a question of this link's */

/* A link that is registered. */
struct reg {
	struct reg *next;
	struct conn *conn;	/* NULL: this link */
	uint64_t id;
	uint8_t endpoint[FRAME_ENDPOINT];
	uint32_t endpoint_len;	/* bytes */
	struct sock_addr ip;	/* TCP: of its listener; the directory's port */
	char name[VIPL_NAME_MAX + 1];
	struct waiter *waiters;
	uint32_t waiting;	/* how many */
};

/* A discriminator of a registered link; the oldest of equals answers. */
struct waiter {
	struct waiter *next, **prev;	/* bucket */
	struct waiter *reg_next;
	struct reg *reg;
	uint32_t len;		/* bytes */
	uint8_t disc[VIPL_DISC_MAX];
};

struct question {
	struct question *next;
	uint64_t key;		/* of its connection, or OWN */
	uint32_t token;
	uint32_t len;		/* bytes */
	uint8_t disc[VIPL_DISC_MAX];
};

struct leader {
	struct conn *listener;
	struct conn *port[PORTS_MAX];
	struct sock_addr at[PORTS_MAX];	/* of port[], which may be NULL */
	unsigned int ports;
	uint64_t port_again;	/* ns; when to bind the missing, or NEVER */
	unsigned int port_tries;	/* that have failed */
	struct reg *regs;
	uint64_t seed;			/* of disc_hash(), random */
	struct waiter *bucket[BUCKETS];
	struct waiter **tail[BUCKETS];
	struct question *first, **last;
	uint32_t questions;
	int fresh;		/* something came that may be an answer */
	uint64_t grace;		/* ns; "none" may be said from then on */
	int counted;		/* expected[] is complete */
	uint64_t *expected;	/* ids of links that will register */
	uint32_t expects;
};

/*
 * Each step multiplies by a secret odd number and folds the high half, which
 * depends on all bits: a host that chooses discriminators cannot know which ones
 * share a bucket.
 */
uint64_t leader_hash(uint64_t seed, const uint8_t *disc, uint32_t len)
{
	uint64_t key = (seed ^ seed >> 29) * 0x9e3779b97f4a7c15u | 1;
	uint64_t h = seed ^ len, word;
	uint32_t i, n;

	for (i = 0; i < len; i += n) {
		n = len - i < sizeof(word) ? len - i : sizeof(word);
		word = 0;
		memcpy(&word, disc + i, n);
		h = (h ^ word) * key;
		h = (h ^ h >> 32) * key;
	}
	return h ^ h >> 32;
}

static uint32_t disc_hash(const struct leader *h, const uint8_t *disc,
			  uint32_t len)
{
	return (uint32_t)(leader_hash(h->seed, disc, len) % BUCKETS);
}

static void expect_link(void *arg, uint64_t id)
{
	struct leader *h = arg;

	if (h->expects < EXPECTED_MAX)
		h->expected[h->expects++] = id;
}

static void unexpect_link(struct leader *h, uint64_t id)
{
	uint32_t i;

	for (i = 0; i < h->expects; i++)
		if (h->expected[i] == id)
			h->expected[i--] = h->expected[--h->expects];
	if (!h->expects && h->counted)
		h->grace = 0;
}

/* Answer questions from that address too; TCP. */
static void open_port(struct link *l, struct leader *h, unsigned int i)
{
	struct sock_addr *a = &h->at[i];
	int fd = sock_open(a->sa.sa_family, SOCK_STREAM), one = 1, err;

	err = fd;
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		err = sock_bind_listen(fd, a);
		if (!err) {
			h->port[i] = conn_new(l, fd, CONN_DIR_PORT, 1, 0);
			err = -ENOMEM;
		}
		if (!h->port[i])
			sock_close(fd);
	}
	if (h->port[i])
		return;
	/* At first it may be the last leader's, which is about to go. */
	if (++h->port_tries == 2)
		l->conf.msg(MSG_LINK_PORT, l->conf.provider, strerror(-err));
	h->port_again = sock_now() + (h->port_tries == 1 ? PORT_SOON_NS :
							   PORT_RETRY_NS);
}

/* The address as IPv6: an IPv4 one comes as such to a socket of both. */
static struct in6_addr as_ip6(const struct sock_addr *a)
{
	struct in6_addr ip = IN6ADDR_ANY_INIT;
	const struct sockaddr_in *in = (const void *)&a->any;
	const struct sockaddr_in6 *in6 = (const void *)&a->any;

	if (a->sa.sa_family == AF_INET6)
		return in6->sin6_addr;
	if (in->sin_addr.s_addr != INADDR_ANY) {
		memset(ip.s6_addr + 10, 0xff, 2);
		memcpy(ip.s6_addr + 12, &in->sin_addr, 4);
	}
	return ip;
}

static int is_any(const struct sock_addr *a)
{
	struct in6_addr ip = as_ip6(a);

	return IN6_IS_ADDR_UNSPECIFIED(&ip);
}

static int same_ip(const struct sock_addr *a, const struct sock_addr *b)
{
	struct in6_addr x = as_ip6(a), y = as_ip6(b);

	return !memcmp(&x, &y, sizeof(x));
}

/* One socket for all addresses takes the place of those for one each. */
static void close_ports(struct link *l, struct leader *h)
{
	while (h->ports) {
		h->ports--;
		if (h->port[h->ports])
			conn_free(l, h->port[h->ports]);
		h->port[h->ports] = NULL;
	}
}

static void add_port(struct link *l, struct leader *h,
		     const struct sock_addr *a)
{
	unsigned int i;

	for (i = 0; i < h->ports; i++)
		if (same_ip(a, &h->at[i]) || is_any(&h->at[i]))
			return;
	if (is_any(a))
		close_ports(l, h);
	i = h->ports;
	if (i == PORTS_MAX)
		return;
	h->at[i] = *a;
	h->ports++;
	open_port(l, h, i);
}

static struct waiter *find_waiter(struct leader *h, const struct reg *reg,
				  const uint8_t *disc, uint32_t len)
{
	struct waiter *w = h->bucket[disc_hash(h, disc, len)];

	while (w && (w->reg != reg || w->len != len ||
		     memcmp(w->disc, disc, len)))
		w = w->next;
	return w;
}

static void waiter_add(struct leader *h, struct reg *reg, const uint8_t *disc,
		       uint32_t len)
{
	uint32_t b = disc_hash(h, disc, len);
	struct waiter *w;

	if (reg->waiting >= WAITERS_MAX || find_waiter(h, reg, disc, len))
		return;
	w = calloc(1, sizeof(*w));
	if (!w)
		return;
	w->reg = reg;
	w->len = len;
	memcpy(w->disc, disc, len);
	w->prev = h->tail[b];
	*w->prev = w;
	h->tail[b] = &w->next;
	w->reg_next = reg->waiters;
	reg->waiters = w;
	reg->waiting++;
	h->fresh = 1;
}

static void waiter_unlink(struct leader *h, struct waiter *w)
{
	if (w->next)
		w->next->prev = w->prev;
	else
		h->tail[disc_hash(h, w->disc, w->len)] = w->prev;
	*w->prev = w->next;
}

static void waiter_remove(struct leader *h, struct reg *reg,
			  const uint8_t *disc, uint32_t len)
{
	struct waiter *w = find_waiter(h, reg, disc, len), **p;

	if (!w)
		return;
	for (p = &reg->waiters; *p != w; p = &(*p)->reg_next)
		;
	*p = w->reg_next;
	reg->waiting--;
	waiter_unlink(h, w);
	free(w);
}

static struct reg *reg_new(struct link *l, struct conn *c, uint64_t id,
			   const char *name, size_t name_len)
{
	struct reg *reg = calloc(1, sizeof(*reg)), **p;

	if (!reg)
		return NULL;
	reg->conn = c;
	reg->id = id;
	memcpy(reg->name, name, name_len);
	for (p = &l->leader->regs; *p; p = &(*p)->next)
		;
	*p = reg;
	return reg;
}

/* The directory is also at the address of that link. */
static int reg_ip(struct link *l, struct reg *reg)
{
	if (l->conf.family == LINK_UNIX)
		return 0;
	if (link_endpoint_ip(reg->endpoint, reg->endpoint_len, &l->conf,
			     &reg->ip))
		return -EPROTO;
	add_port(l, l->leader, &reg->ip);
	return 0;
}

static void reg_free(struct leader *h, struct reg *reg)
{
	struct reg **p = &h->regs;
	struct waiter *w;

	while (*p != reg)
		p = &(*p)->next;
	*p = reg->next;
	while ((w = reg->waiters)) {
		reg->waiters = w->reg_next;
		waiter_unlink(h, w);
		free(w);
	}
	free(reg);
}

/* A socket that is bound and listens; taken over, whatever happens. */
int leader_start(struct link *l, int fd)
{
	struct leader *h = calloc(1, sizeof(*h));
	const struct wait_entry *w;
	struct reg *own;
	uint32_t i;

	if (h)
		h->expected = calloc(EXPECTED_MAX, sizeof(*h->expected));
	if (!h || !h->expected) {
		free(h);
		sock_close(fd);
		return -ENOMEM;
	}
	for (i = 0; i < BUCKETS; i++)
		h->tail[i] = &h->bucket[i];
	h->seed = sock_random();
	h->last = &h->first;
	h->port_again = NEVER;
	l->leader = h;
	h->listener = conn_new(l, fd, CONN_DIR_LISTEN, 0, 0);
	if (!h->listener)
		sock_close(fd);
	own = reg_new(l, NULL, l->id, l->conf.name,
		      strnlen(l->conf.name, VIPL_NAME_MAX));
	if (!own || !h->listener) {
		leader_stop(l);
		return -ENOMEM;
	}
	own->endpoint_len = (uint32_t)link_endpoint_put(&l->endpoint,
							own->endpoint);
	reg_ip(l, own);
	for (w = l->waits; w; w = w->next)
		waiter_add(h, own, w->disc, w->len);
	h->grace = sock_now() + LINK_GRACE_MS * 1000000ull;
	h->counted = query_each(l, expect_link, h);
	if (h->counted && !h->expects)
		h->grace = 0;
	return 0;
}

static void listener_free(struct link *l, struct conn *c)
{
	if (c)
		conn_free(l, c);
}

void leader_stop(struct link *l)
{
	struct leader *h = l->leader;
	struct question *q;
	unsigned int i;

	if (!h)
		return;
	while (h->regs) {
		struct conn *c = h->regs->conn;

		reg_free(h, h->regs);
		listener_free(l, c);
	}
	while ((q = h->first)) {
		h->first = q->next;
		free(q);
	}
	/* The name that others wait for goes last. */
	for (i = 0; i < h->ports; i++)
		listener_free(l, h->port[i]);
	listener_free(l, h->listener);
	free(h->expected);
	free(h);
	l->leader = NULL;
}

static int ask_question(struct leader *h, uint64_t key, uint32_t token,
			const uint8_t *disc, uint32_t len)
{
	struct question *q;

	if (len > VIPL_DISC_MAX || h->questions == QUESTIONS_MAX)
		return -EPROTO;
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->key = key;
	q->token = token;
	q->len = len;
	memcpy(q->disc, disc, len);
	*h->last = q;
	h->last = &q->next;
	h->questions++;
	h->fresh = 1;
	return 0;
}

void leader_ask(struct link *l, const struct link_peer *lp)
{
	ask_question(l->leader, OWN, lp->token, lp->disc, lp->disc_len);
	l->dirty = 1;
}

void leader_waiting(struct link *l, const uint8_t *disc, uint32_t len,
		    int now)
{
	if (now)
		waiter_add(l->leader, l->leader->regs, disc, len);
	else
		waiter_remove(l->leader, l->leader->regs, disc, len);
}

/* The answer to a question; reg is NULL when nothing waits. */
static void answer_question(struct link *l, const struct question *q,
			    const struct reg *reg)
{
	struct conn *c;
	struct frame f;

	link_frame(&f, FRAME_ANSWER);
	f.b.token = q->token;
	f.b.code = -ENOENT;
	if (reg) {
		f.b.code = 0;
		f.b.id = reg->id;
		f.endpoint = reg->endpoint;
		f.b.endpoint_len = (uint16_t)reg->endpoint_len;
	}
	if (q->key == OWN) {
		handshake_answer(l, q->token, f.b.code, f.b.id, f.endpoint,
				 f.b.endpoint_len);
		return;
	}
	c = conn_find(l, q->key);
	if (c && conn_send(l, c, &f, NULL, 0))
		leader_lost(l, c);
}

/* The link that waits for it, at the address that was asked. */
static struct reg *find_for(struct link *l, const struct question *q)
{
	const struct leader *h = l->leader;
	struct waiter *w = h->bucket[disc_hash(h, q->disc, q->len)];
	struct conn *c = conn_find(l, q->key);
	struct sock_addr a = { .len = sizeof(a.any) };

	if (c && c->stream && getsockname(c->fd, &a.sa, &a.len))
		return NULL;
	for (; w; w = w->next)
		if (w->len == q->len && !memcmp(w->disc, q->disc, q->len) &&
		    (!c || !c->stream || is_any(&w->reg->ip) ||
		     same_ip(&a, &w->reg->ip)))
			return w->reg;
	return NULL;
}

void leader_settle(struct link *l, uint64_t now)
{
	struct leader *h = l->leader;
	struct question **p = &h->first, *q;
	struct reg *reg;
	uint32_t n = h->questions;

	h->fresh = 0;
	while (n-- && (q = *p)) {
		reg = find_for(l, q);
		if (!reg && now < h->grace) {
			p = &q->next;
			continue;
		}
		*p = q->next;
		if (!q->next)
			h->last = p;
		h->questions--;
		answer_question(l, q, reg);
		free(q);
	}
}

int leader_unsettled(const struct link *l)
{
	return l->leader && l->leader->fresh && l->leader->first;
}

uint64_t leader_next(const struct link *l)
{
	const struct leader *h = l->leader;

	if (!h)
		return NEVER;
	return h->first && h->grace ? link_least(h->grace, h->port_again) :
				      h->port_again;
}

void leader_timers(struct link *l, uint64_t now)
{
	struct leader *h = l->leader;
	unsigned int i;

	if (!h)
		return;
	if (h->port_again <= now) {
		h->port_again = NEVER;
		for (i = 0; i < h->ports; i++)
			if (!h->port[i])
				open_port(l, h, i);
	}
	if (h->grace && h->grace <= now) {
		h->grace = 0;
		leader_settle(l, now);
	}
}

static void register_reg(struct link *l, struct conn *c, const struct frame *f)
{
	struct reg *reg = NULL;

	if (!c->stream && f->b.endpoint_len)
		reg = reg_new(l, c, f->b.id, (const char *)f->text,
			      f->b.text_len);
	if (!reg) {
		leader_lost(l, c);
		return;
	}
	memcpy(reg->endpoint, f->endpoint, f->b.endpoint_len);
	reg->endpoint_len = f->b.endpoint_len;
	c->of = reg;
	conn_known(l, c, CONN_REG);
	if (reg_ip(l, reg))
		leader_lost(l, c);
}

static void list_regs(struct link *l, struct conn *c)
{
	const struct reg *reg, *same;
	struct frame f;
	int err = 0;

	for (reg = l->leader->regs; reg && !err; reg = reg->next) {
		for (same = l->leader->regs; same != reg; same = same->next)
			if (!strcmp(same->name, reg->name))
				break;
		if (same != reg || !reg->name[0])
			continue;
		link_frame(&f, FRAME_NAME);
		f.text = (const uint8_t *)reg->name;
		f.b.text_len = (uint16_t)strlen(reg->name);
		err = conn_send(l, c, &f, NULL, 0);
	}
	link_frame(&f, FRAME_END);
	if (err || conn_send(l, c, &f, NULL, 0))
		leader_lost(l, c);
}

void leader_frame(struct link *l, struct conn *c, const struct frame *f)
{
	uint64_t key = (uint64_t)c->gen << 32 | c->slot;
	struct leader *h = l->leader;
	struct reg *reg = c->of;
	int err = 0;

	if (f->type == FRAME_REGISTER && !reg)
		register_reg(l, c, f);
	else if (f->type == FRAME_ASK)
		err = ask_question(h, key, f->b.token, f->text, f->b.text_len);
	else if (f->type == FRAME_LIST)
		list_regs(l, c);
	else if (f->type == FRAME_WAITING && reg && f->b.code)
		waiter_add(h, reg, f->text, f->b.text_len);
	else if (f->type == FRAME_WAITING && reg)
		waiter_remove(h, reg, f->text, f->b.text_len);
	else if (f->type == FRAME_READY && reg)
		unexpect_link(h, reg->id);
	else
		err = -EPROTO;
	h->fresh = 1;
	if (err)
		leader_lost(l, c);
}

/* The questions of the connection stay, and nobody gets their answers. */
void leader_lost(struct link *l, struct conn *c)
{
	if (c->of)
		reg_free(l->leader, c->of);
	conn_free(l, c);
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * skeleton - the example of a transport: NIC handles of one process
 *
 * Everything that a transport has to do is here in its simplest form, so that
 * a new one can begin as a copy. Every handle that opens "skeleton:" has the
 * same host address; the discriminator selects the one that waits. Each has an
 * inbox, a list of letters: packets, and what the transport's ends say to each
 * other. A pull is a memcpy.
 *
 * `lock` guards all of it. It is taken under engine locks and nothing is taken
 * under it; what it protects may belong to another NIC, whose engine lock is
 * not held.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>
#include <vipl/engine.h>

#define EAGER		8192
#define WINDOW		256	/* packets to a peer that it has not taken */
#define SECOND		1000000000ull	/* in ns */

static const uint8_t address[6] = { 's', 'k', 'e', 'l', 'e', 't' };

/* Something for a NIC. */
struct letter {
	TAILQ_ENTRY(letter) link;	/* nic->inbox */
	enum { HELLO, WELCOME, PACKET, ROOM, PARTED } kind;
	struct peer *from;		/* NULL: released since */
	struct peer *to;		/* NULL for HELLO */
	struct eng_header header;
	size_t len;			/* bytes of data[] */
	char data[];
};

/* A discriminator that a NIC waits for. */
struct disc {
	LIST_ENTRY(disc) link;		/* nic->discs */
	uint32_t len;			/* bytes */
	uint8_t bytes[VIPL_DISC_MAX];
};

/* eng_nic_priv */
struct nic {
	TAILQ_ENTRY(nic) link;		/* nics */
	TAILQ_HEAD(, letter) inbox;
	LIST_HEAD(, disc) discs;
	LIST_HEAD(, peer) peers;
	int event;			/* eventfd: of a letter, or to wake */
};

/* eng_peer_priv: one end of a pair */
struct peer {
	LIST_ENTRY(peer) link;		/* nic->peers */
	struct eng_peer *eng;
	struct nic *nic;		/* its own; NULL: not in use */
	struct peer *other;		/* NULL: not yet, or gone */
	unsigned int sent;		/* packets in the other's inbox */
	int blocked;			/* xmit said -EAGAIN */
	int parted;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, nic) nics = TAILQ_HEAD_INITIALIZER(nics);
static const struct vipl_host *host;

/* Fails only where it has been told already, as often as can be counted. */
static void tell_nic(struct nic *nic)
{
	const uint64_t one = 1;

	if (write(nic->event, &one, sizeof(one)) < 0)
		return;
}

/* Lock held. NULL: no memory. */
static struct letter *post_letter(struct nic *nic, int kind, struct peer *from,
				  struct peer *to, size_t len)
{
	struct letter *l = malloc(sizeof(*l) + len);

	if (!l)
		return NULL;
	l->kind = kind;
	l->from = from;
	l->to = to;
	l->len = len;
	TAILQ_INSERT_TAIL(&nic->inbox, l, link);
	tell_nic(nic);
	return l;
}

static VIP_RETURN nic_open(struct eng_nic *eng, const char *rest,
			   struct vipl_identity *id)
{
	struct nic *nic = eng_nic_priv(eng);

	nic->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	TAILQ_INIT(&nic->inbox);
	pthread_mutex_lock(&lock);
	TAILQ_INSERT_TAIL(&nics, nic, link);
	pthread_mutex_unlock(&lock);
	if (nic->event < 0)
		return VIP_ERROR_RESOURCE;
	if (*rest) {
		host->msg("skeleton:%s: there is only skeleton:", rest);
		return VIP_INVALID_PARAMETER;
	}
	strcpy(id->name, "skeleton:");
	memcpy(id->addr, address, sizeof(address));
	id->addr_len = sizeof(address);
	return VIP_SUCCESS;
}

static void nic_close(struct eng_nic *eng)
{
	struct nic *nic = eng_nic_priv(eng);
	struct letter *l;
	struct disc *d;

	pthread_mutex_lock(&lock);
	TAILQ_REMOVE(&nics, nic, link);
	while ((d = LIST_FIRST(&nic->discs))) {
		LIST_REMOVE(d, link);
		free(d);
	}
	while ((l = TAILQ_FIRST(&nic->inbox))) {
		TAILQ_REMOVE(&nic->inbox, l, link);
		free(l);
	}
	pthread_mutex_unlock(&lock);
	if (nic->event >= 0)
		close(nic->event);
}

static struct disc *find_disc(struct nic *nic, const uint8_t *bytes,
			      uint32_t len)
{
	struct disc *d;

	LIST_FOREACH(d, &nic->discs, link)
		if (d->len == len && !memcmp(d->bytes, bytes, len))
			break;
	return d;
}

static int set_waiting(struct eng_nic *eng, const uint8_t *bytes, uint32_t len,
		       int now)
{
	struct nic *nic = eng_nic_priv(eng);
	struct disc *d;
	int err = 0;

	pthread_mutex_lock(&lock);
	d = now ? malloc(sizeof(*d)) : find_disc(nic, bytes, len);
	if (d && now) {
		d->len = len;
		memcpy(d->bytes, bytes, len);
		LIST_INSERT_HEAD(&nic->discs, d, link);
	} else if (d) {
		LIST_REMOVE(d, link);
		free(d);
	} else if (now) {
		err = -ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* The NIC that waits for it; self only when there is no other. Lock held. */
static struct nic *find_waiting(const struct vipl_addr *a, struct nic *self)
{
	struct nic *n;

	TAILQ_FOREACH(n, &nics, link)
		if (n != self && find_disc(n, a->disc, a->disc_len))
			return n;
	return find_disc(self, a->disc, a->disc_len) ? self : NULL;
}

/* The engine's object and ours know each other. Lock held. */
static struct peer *join_peer(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng);

	p->eng = eng;
	p->nic = eng_nic_priv(eng_peer_nic(eng));
	LIST_INSERT_HEAD(&p->nic->peers, p, link);
	return p;
}

static int begin_handshake(struct eng_peer *eng, const struct vipl_addr *remote)
{
	struct nic *nic = eng_nic_priv(eng_peer_nic(eng)), *to;
	struct peer *p = NULL;
	int err = 0;

	if (memcmp(remote->host, address, sizeof(address)))
		return -EHOSTUNREACH;
	pthread_mutex_lock(&lock);
	to = find_waiting(remote, nic);
	if (to)
		LIST_FOREACH(p, &nic->peers, link)
			if (p->other && p->other->nic == to && !p->parted)
				break;
	if (!to)
		err = -ENOENT;
	else if (p)
		eng_peer_same(eng, p->eng);
	else if (!post_letter(to, HELLO, join_peer(eng), NULL, 0))
		err = -ENOMEM;
	pthread_mutex_unlock(&lock);
	return err;
}

static void part_peer(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng);

	pthread_mutex_lock(&lock);
	if (p->other)
		post_letter(p->other->nic, PARTED, p, p->other, 0);
	p->parted = 1;
	pthread_mutex_unlock(&lock);
}

/* Letters of the peer are still to be delivered, letters to it are not. */
static void peer_release(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng);
	struct letter *l, *next;
	struct nic *n;

	if (!p->nic)
		return;		/* it has failed, or was another's */
	pthread_mutex_lock(&lock);
	LIST_REMOVE(p, link);
	TAILQ_FOREACH(n, &nics, link) {
		for (l = TAILQ_FIRST(&n->inbox); l; l = next) {
			next = TAILQ_NEXT(l, link);
			if (l->from == p)
				l->from = NULL;
			if (l->to != p)
				continue;
			TAILQ_REMOVE(&n->inbox, l, link);
			free(l);
		}
	}
	if (p->other)
		p->other->other = NULL;
	pthread_mutex_unlock(&lock);
}

static int xmit_packet(struct eng_peer *eng, const struct eng_header *h,
		       const struct iovec *payload, unsigned int n)
{
	struct peer *p = eng_peer_priv(eng);
	struct letter *l = NULL;
	size_t len = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < n; i++)
		len += payload[i].iov_len;
	pthread_mutex_lock(&lock);
	if (!p->other) {
		/* The peer's farewell is in our inbox, or was. */
		err = -EPIPE;
	} else if (p->sent >= WINDOW) {
		p->blocked = 1;
		err = -EAGAIN;
	} else {
		l = post_letter(p->other->nic, PACKET, p, p->other, len);
		err = l ? 0 : -ENOMEM;
	}
	if (l) {
		p->sent++;
		l->header = *h;
		for (i = 0, len = 0; i < n; len += payload[i++].iov_len)
			memcpy(l->data + len, payload[i].iov_base,
			       payload[i].iov_len);
	}
	pthread_mutex_unlock(&lock);
	if (err && err != -EAGAIN)
		eng_peer_down(eng, err == -EPIPE ? 0 : err);
	return err;
}

/* Memory of the process is there for all. */
static int export_mem(struct eng_peer *eng, void *region, const void *addr,
		      size_t len, struct eng_src *src)
{
	(void)eng;
	(void)region;
	*src = (struct eng_src){ .base = (uintptr_t)addr, .len = len };
	return 0;
}

static void unexport_mem(struct eng_peer *eng, const struct eng_src *src)
{
	(void)eng;
	(void)src;
}

static int copy_pull(struct eng_peer *eng, struct eng_pull *p)
{
	const struct eng_src *src = p->src;
	const struct iovec *dst = p->dst;
	uint64_t left, s = 0, d = 0, n;

	for (left = p->len; left; left -= n) {
		n = src->len - s;
		if (n > dst->iov_len - d)
			n = dst->iov_len - d;
		memcpy((char *)dst->iov_base + d,
		       (char *)(uintptr_t)src->base + s, n);
		s += n;
		d += n;
		if (s == src->len) {
			src++;
			s = 0;
		}
		if (d == dst->iov_len) {
			dst++;
			d = 0;
		}
	}
	eng_pulled(eng, p, 0);
	return 0;
}

/* A NIC wants to be our peer. Lock held. */
static void take_hello(struct eng_nic *eng, struct peer *from)
{
	struct eng_peer *new = NULL;
	struct peer *p;

	if (from && !from->parted)
		new = eng_peer_new(eng, address);
	if (!new)
		return;
	p = join_peer(new);
	p->other = from;
	from->other = p;
	eng_peer_up(new);
	post_letter(from->nic, WELCOME, p, from, 0);
}

/* Lock held, and dropped for a packet, which takes longer. */
static void deliver_letter(struct eng_nic *eng, struct letter *l)
{
	struct peer *from = l->from, *to = l->to;

	switch (l->kind) {
	case HELLO:
		take_hello(eng, from);
		break;
	case WELCOME:
		eng_peer_up(to->eng);
		break;
	case ROOM:
		eng_room(to->eng);
		break;
	case PARTED:
		eng_peer_down(to->eng, 0);
		break;
	case PACKET:
		if (from && from->sent-- <= WINDOW / 2 && from->blocked) {
			from->blocked = 0;
			post_letter(from->nic, ROOM, to, from, 0);
		}
		pthread_mutex_unlock(&lock);
		eng_rx(to->eng, &l->header, l->data, l->len);
		pthread_mutex_lock(&lock);
	}
}

static int make_progress(struct eng_nic *eng, unsigned int budget)
{
	struct nic *nic = eng_nic_priv(eng);
	struct letter *l;
	int did = 0;

	pthread_mutex_lock(&lock);
	while (budget-- && (l = TAILQ_FIRST(&nic->inbox))) {
		TAILQ_REMOVE(&nic->inbox, l, link);
		deliver_letter(eng, l);
		free(l);
		did++;
	}
	pthread_mutex_unlock(&lock);
	return did;
}

/* Letters that came before it are in the inbox, or were. */
static int arm_nic(struct eng_nic *eng)
{
	struct nic *nic = eng_nic_priv(eng);
	uint64_t count;
	int full;

	/* Of all that was told so far; where there was nothing it fails. */
	if (read(nic->event, &count, sizeof(count)) < 0)
		count = 0;
	pthread_mutex_lock(&lock);
	full = !TAILQ_EMPTY(&nic->inbox);
	pthread_mutex_unlock(&lock);
	return full;
}

static void disarm_nic(struct eng_nic *eng)
{
	(void)eng;
}

/* The wait may return early, and does for a signal. */
static void sleep_until(struct eng_nic *eng, uint64_t ns)
{
	struct nic *nic = eng_nic_priv(eng);
	struct pollfd p = { .fd = nic->event, .events = POLLIN };
	struct timespec t;

	if (ns > 1000000 * SECOND)
		ns = 1000000 * SECOND;
	t.tv_sec = (time_t)(ns / SECOND);
	t.tv_nsec = (long)(ns % SECOND);
	ppoll(&p, 1, &t, NULL);
}

/* Without the lock: the engine may call it from inside eng_rx() and so on. */
static void wake_nic(struct eng_nic *eng)
{
	tell_nic(eng_nic_priv(eng));
}

static const struct eng_transport transport = {
	.name		= "skeleton",
	.nic_size	= sizeof(struct nic),
	.peer_size	= sizeof(struct peer),
	.eager		= EAGER,
	.flags		= ENG_ARRIVED | ENG_LAST_APART,
	.open		= nic_open,
	.close		= nic_close,
	.handshake	= begin_handshake,
	.waiting	= set_waiting,
	.part		= part_peer,
	.peer_release	= peer_release,
	.xmit		= xmit_packet,
	.export_mem	= export_mem,
	.unexport_mem	= unexport_mem,
	.pull		= copy_pull,
	.progress	= make_progress,
	.arm		= arm_nic,
	.disarm		= disarm_nic,
	.wait		= sleep_until,
	.wake		= wake_nic,
};

static void list_devices(void (*each)(void *arg, const char *device,
				      const char *what), void *arg)
{
	each(arg, "skeleton:", "NIC handles of one process, the example of a provider");
}

/* The library writes the same form, where a provider has none of its own. */
static int addr_parse(struct vipl_nic *nic, const char *text, uint8_t *a)
{
	char end;

	(void)nic;
	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &a[0],
		      &a[1], &a[2], &a[3], &a[4], &a[5], &end) == 6 ? 0 : -1;
}

static VIP_RETURN discover_hosts(struct vipl_nic *nic, struct vipl_named *out,
				 uint32_t *n)
{
	(void)nic;
	if (*n) {
		*n = 1;
		memset(out, 0, sizeof(*out));
		memcpy(out->host, address, sizeof(address));
		gethostname(out->name, VIPL_NAME_MAX);
	}
	return VIP_SUCCESS;
}

/* All NICs belong to the parent, and one of its threads has the lock. */
static void fork_child(void)
{
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	TAILQ_INIT(&nics);
}

const struct vipl_provider *vipl_provider_init(uint32_t abi,
					       const struct vipl_host *h,
					       const char **why)
{
	static struct vipl_provider p = {
		.name		= "skeleton",
		.version	= "1.0",
		.devices	= list_devices,
		.addr_parse	= addr_parse,
		.discover	= discover_hosts,
		.fork_child	= fork_child,
	};

	if (abi != VIPL_PROVIDER_ABI) {
		*why = "it is for another version of libvipl";
		return NULL;
	}
	host = h;
	eng_provider(&p, &transport, h);
	return &p;
}

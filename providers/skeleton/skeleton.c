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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <vipl/engine.h>

#define EAGER		8192
#define WINDOW		256	/* packets to a peer that it has not taken */

static const uint8_t address[6] = { 's', 'k', 'e', 'l', 'e', 't' };

enum kind { HELLO, WELCOME, PACKET, ROOM, PARTED };

struct nic;
struct peer;

/* Something for a NIC. */
struct letter {
	struct letter *next;
	enum kind kind;
	struct peer *from;		/* NULL: it is gone */
	struct peer *to;		/* NULL for HELLO */
	struct eng_header header;
	size_t len;
	char data[];
};

struct disc {
	struct disc *next;
	struct nic *nic;
	uint32_t len;
	uint8_t bytes[VIPL_DISC_MAX];
};

/* eng_nic_priv */
struct nic {
	struct letter *first, **last;	/* the inbox */
	pthread_cond_t cond;
	int woken;
	struct peer *peers;
};

/* eng_peer_priv: one end of a pair */
struct peer {
	struct eng_peer *eng;
	struct nic *nic;		/* its own */
	struct peer *other;		/* NULL: not yet, or gone */
	struct peer *next;		/* nic->peers */
	unsigned int sent;		/* packets in the other's inbox */
	int blocked;			/* xmit said -EAGAIN */
	int parted;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct disc *discs;
static const struct vipl_host *host;

/* Lock held. */
static void post(struct nic *nic, struct letter *l)
{
	l->next = NULL;
	*nic->last = l;
	nic->last = &l->next;
	pthread_cond_signal(&nic->cond);
}

static struct letter *letter(enum kind kind, struct peer *from,
			     struct peer *to, size_t len)
{
	struct letter *l = malloc(sizeof(*l) + len);

	if (!l)
		return NULL;
	l->kind = kind;
	l->from = from;
	l->to = to;
	l->len = len;
	return l;
}

/* A letter without content, to the other end. Lock held. */
static int tell(enum kind kind, struct peer *from)
{
	struct letter *l = letter(kind, from, from->other, 0);

	if (!l)
		return -ENOMEM;
	post(from->other->nic, l);
	return 0;
}

static VIP_RETURN nic_open(struct eng_nic *eng, const char *rest,
			   struct vipl_identity *id)
{
	struct nic *nic = eng_nic_priv(eng);
	pthread_condattr_t attr;

	nic->last = &nic->first;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&nic->cond, &attr);
	pthread_condattr_destroy(&attr);
	if (*rest) {
		host->msg("skeleton:%s: there is only skeleton:", rest);
		return VIP_INVALID_PARAMETER;
	}
	strcpy(id->name, "skeleton");
	memcpy(id->addr, address, sizeof(address));
	id->addr_len = sizeof(address);
	return VIP_SUCCESS;
}

static void nic_close(struct eng_nic *eng)
{
	struct nic *nic = eng_nic_priv(eng);
	struct letter *l;
	struct disc **d, *gone;

	pthread_mutex_lock(&lock);
	for (d = &discs; (gone = *d);) {
		if (gone->nic != nic) {
			d = &gone->next;
			continue;
		}
		*d = gone->next;
		free(gone);
	}
	while ((l = nic->first)) {
		nic->first = l->next;
		free(l);
	}
	pthread_mutex_unlock(&lock);
	pthread_cond_destroy(&nic->cond);
}

static void waiting(struct eng_nic *eng, const uint8_t *bytes, uint32_t len,
		    int now)
{
	struct nic *nic = eng_nic_priv(eng);
	struct disc **d, *new = NULL;

	if (now) {
		new = malloc(sizeof(*new));
		if (!new)
			return;
		new->nic = nic;
		new->len = len;
		memcpy(new->bytes, bytes, len);
	}
	pthread_mutex_lock(&lock);
	/* Behind those that wait already: first come, first served. */
	for (d = &discs; *d; d = &(*d)->next)
		if (!now && (*d)->nic == nic && (*d)->len == len &&
		    !memcmp((*d)->bytes, bytes, len))
			break;
	if (now) {
		new->next = NULL;
		*d = new;
	} else if (*d) {
		new = *d;
		*d = new->next;
		free(new);
	}
	pthread_mutex_unlock(&lock);
}

/* The NIC that waits for it; self only when there is no other. Lock held. */
static struct nic *waits(const struct vipl_addr *a, struct nic *self)
{
	struct nic *found = NULL;
	struct disc *d;

	for (d = discs; d && (!found || found == self); d = d->next)
		if (d->len == a->disc_len && !memcmp(d->bytes, a->disc, d->len))
			found = d->nic;
	return found;
}

/* The engine's object and ours know each other. Lock held. */
static struct peer *join(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng);

	p->eng = eng;
	p->nic = eng_nic_priv(eng_peer_nic(eng));
	p->next = p->nic->peers;
	p->nic->peers = p;
	return p;
}

static int meet(struct eng_peer *eng, const struct vipl_addr *remote)
{
	struct nic *nic = eng_nic_priv(eng_peer_nic(eng)), *to;
	struct peer *p;
	struct letter *l;
	int err = 0;

	if (memcmp(remote->host, address, sizeof(address)))
		return -EHOSTUNREACH;
	pthread_mutex_lock(&lock);
	to = waits(remote, nic);
	for (p = nic->peers; to && p; p = p->next)
		if (p->other && p->other->nic == to && !p->parted)
			break;
	if (!to) {
		err = -ENOENT;
	} else if (p) {
		eng_peer_same(eng, p->eng);
	} else {
		l = letter(HELLO, join(eng), NULL, 0);
		if (l)
			post(to, l);
		else
			err = -ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

static void part(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng);

	pthread_mutex_lock(&lock);
	if (p->other)
		tell(PARTED, p);
	p->parted = 1;
	pthread_mutex_unlock(&lock);
}

/* What it sent is still to be delivered, what was sent to it is not. */
static void peer_release(struct eng_peer *eng)
{
	struct peer *p = eng_peer_priv(eng), **pp;
	struct letter **l, *gone;

	pthread_mutex_lock(&lock);
	if (!p->nic)
		goto out;	/* meet has failed, or it was another's */
	for (pp = &p->nic->peers; *pp != p; pp = &(*pp)->next)
		;
	*pp = p->next;
	for (l = &p->nic->first; (gone = *l);) {
		if (gone->to != p) {
			l = &gone->next;
			continue;
		}
		*l = gone->next;
		free(gone);
	}
	p->nic->last = l;
	if (p->other) {
		for (gone = p->other->nic->first; gone; gone = gone->next)
			if (gone->from == p)
				gone->from = NULL;
		p->other->other = NULL;
	}
out:
	pthread_mutex_unlock(&lock);
}

static int xmit(struct eng_peer *eng, const struct eng_header *h,
		const struct iovec *payload, unsigned int n)
{
	struct peer *p = eng_peer_priv(eng);
	struct letter *l;
	size_t len = 0;
	unsigned int i;
	int err = 0;

	for (i = 0; i < n; i++)
		len += payload[i].iov_len;
	l = letter(PACKET, p, NULL, len);
	if (!l)
		return -ENOMEM;
	l->header = *h;
	for (i = 0, len = 0; i < n; len += payload[i++].iov_len)
		memcpy(l->data + len, payload[i].iov_base,
		       payload[i].iov_len);
	pthread_mutex_lock(&lock);
	l->to = p->other;
	if (!p->other) {
		/* Its farewell is in our inbox, or was. */
		eng_peer_down(eng, 0);
		err = -EPIPE;
	} else if (p->sent >= WINDOW) {
		p->blocked = 1;
		err = -EAGAIN;
	} else {
		p->sent++;
		post(p->other->nic, l);
	}
	pthread_mutex_unlock(&lock);
	if (err)
		free(l);
	return err;
}

/* Memory of the process is there for all. */
static int expose(struct eng_peer *eng, void *region, const void *addr,
		  size_t len, struct eng_src *src)
{
	(void)eng;
	(void)region;
	src->base = (uintptr_t)addr;
	src->key = 0;
	src->len = len;
	return 0;
}

static void unexpose(struct eng_peer *eng, const struct eng_src *src)
{
	(void)eng;
	(void)src;
}

static int pull(struct eng_peer *eng, struct eng_pull *p)
{
	uint64_t left = p->len, s = 0, d = 0, n;
	uint32_t i = 0, k = 0;

	while (left) {
		n = p->src[i].len - s;
		if (n > p->dst[k].iov_len - d)
			n = p->dst[k].iov_len - d;
		memcpy((char *)p->dst[k].iov_base + d,
		       (char *)(uintptr_t)p->src[i].base + s, n);
		left -= n;
		s += n;
		d += n;
		if (s == p->src[i].len) {
			i++;
			s = 0;
		}
		if (d == p->dst[k].iov_len) {
			k++;
			d = 0;
		}
	}
	eng_pulled(eng, p, 0);
	return 0;
}

/* A NIC wants to be our peer. Lock held, and dropped for the engine. */
static void hello(struct eng_nic *eng, struct peer *from)
{
	struct eng_peer *new = NULL;
	struct peer *p;

	if (from)
		new = eng_peer_new(eng, address);
	if (!new)
		return;
	p = join(new);
	p->other = from;
	from->other = p;
	eng_peer_up(new);
	tell(WELCOME, p);
}

/* Lock held. */
static void deliver(struct eng_nic *eng, struct letter *l)
{
	struct peer *from = l->from, *to = l->to;

	switch (l->kind) {
	case HELLO:
		hello(eng, from);
		return;
	case WELCOME:
		eng_peer_up(to->eng);
		return;
	case ROOM:
		eng_room(to->eng);
		return;
	case PARTED:
		eng_peer_down(to->eng, 0);
		return;
	case PACKET:
		break;
	}
	if (from && from->sent-- <= WINDOW / 2 && from->blocked) {
		from->blocked = 0;
		tell(ROOM, to);
	}
	pthread_mutex_unlock(&lock);
	eng_rx(to->eng, &l->header, l->data, l->len);
	pthread_mutex_lock(&lock);
}

static int progress(struct eng_nic *eng, unsigned int budget)
{
	struct nic *nic = eng_nic_priv(eng);
	struct letter *l;
	int did = 0;

	pthread_mutex_lock(&lock);
	while (budget-- && (l = nic->first)) {
		nic->first = l->next;
		if (!nic->first)
			nic->last = &nic->first;
		deliver(eng, l);
		free(l);
		did++;
	}
	pthread_mutex_unlock(&lock);
	return did;
}

static int arm(struct eng_nic *eng)
{
	struct nic *nic = eng_nic_priv(eng);
	int full;

	pthread_mutex_lock(&lock);
	full = !!nic->first;
	pthread_mutex_unlock(&lock);
	return full;
}

static void disarm(struct eng_nic *eng)
{
	(void)eng;
}

static void sleep_until(struct eng_nic *eng, uint64_t ns)
{
	struct nic *nic = eng_nic_priv(eng);
	struct timespec t;
	int late = 0;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (ns < (uint64_t)1000000000 * 1000000) {
		t.tv_sec += (time_t)(ns / 1000000000);
		t.tv_nsec += (long)(ns % 1000000000);
	} else {
		t.tv_sec += 1000000;
	}
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&lock);
	while (!nic->first && !nic->woken && !late)
		late = pthread_cond_timedwait(&nic->cond, &lock, &t);
	nic->woken = 0;
	pthread_mutex_unlock(&lock);
}

static void wake(struct eng_nic *eng)
{
	struct nic *nic = eng_nic_priv(eng);

	pthread_mutex_lock(&lock);
	nic->woken = 1;
	pthread_cond_signal(&nic->cond);
	pthread_mutex_unlock(&lock);
}

static const struct eng_transport transport = {
	.name		= "skeleton",
	.nic_size	= sizeof(struct nic),
	.peer_size	= sizeof(struct peer),
	.eager		= EAGER,
	.flags		= ENG_ARRIVED,
	.open		= nic_open,
	.close		= nic_close,
	.meet		= meet,
	.waiting	= waiting,
	.part		= part,
	.peer_release	= peer_release,
	.xmit		= xmit,
	.expose		= expose,
	.unexpose	= unexpose,
	.pull		= pull,
	.progress	= progress,
	.arm		= arm,
	.disarm		= disarm,
	.wait		= sleep_until,
	.wake		= wake,
};

static void devices(void (*each)(void *arg, const char *device,
				 const char *what), void *arg)
{
	each(arg, "skeleton:", "NIC handles of one process, the example of a provider");
}

static int explain(const char *rest, char *line, size_t size)
{
	static const char why[] = "there is only skeleton:";

	if (!*rest || size < sizeof(why))
		return -1;
	memcpy(line, why, sizeof(why));
	return 0;
}

static int addr_parse(struct vipl_nic *nic, const char *text, uint8_t *out)
{
	unsigned int i, a[6];
	char end;

	(void)nic;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%c", &a[0], &a[1], &a[2],
		   &a[3], &a[4], &a[5], &end) != 6)
		return -1;
	for (i = 0; i < 6; i++)
		out[i] = (uint8_t)a[i];
	return 0;
}

static void addr_format(struct vipl_nic *nic, const uint8_t *a, char *text,
			size_t size)
{
	(void)nic;
	snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2],
		 a[3], a[4], a[5]);
}

static VIP_RETURN discover(struct vipl_nic *nic, struct vipl_named *out,
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

const struct vipl_provider *vipl_provider_init(uint32_t abi,
					       const struct vipl_host *h,
					       const char **why)
{
	static struct vipl_provider p = {
		.name		= "skeleton",
		.version	= "1.0",
		.devices	= devices,
		.explain	= explain,
		.addr_parse	= addr_parse,
		.addr_format	= addr_format,
		.discover	= discover,
	};

	if (abi != VIPL_PROVIDER_ABI) {
		*why = "it is for another version of libvipl";
		return NULL;
	}
	host = h;
	eng_provider(&p, &transport, h);
	return &p;
}

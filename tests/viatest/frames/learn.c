// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What the interface has seen: frames of each type, and connections. */
#include "frames.h"
#include <arpa/inet.h>
#include <string.h>

#define TYPES		0x32u
#define KEPT		64u	/* frames of each type and direction */
#define KEPT_LEN	2048u
#define SPARES		512u	/* frames of connections that may break */
#define COOKIES		65536u	/* a power of two, much more than are in it */
#define VIS		256u

struct kept {
	uint32_t len;
	uint8_t b[KEPT_LEN];
};

static struct kept store[2][TYPES][KEPT], spares[SPARES];
static uint32_t count[2][TYPES];
static uint32_t nspares;
static uint8_t types[2][TYPES];
static uint32_t ntypes[2];

enum { UNKNOWN, PROTECTED, SPARE };

static struct {
	uint64_t cookie;
	uint8_t kind;
} cookies[COOKIES];

static struct {
	uint32_t dst;
	uint64_t cookie;
} vis[VIS];
static uint32_t nvis;

struct learnt learnt;

static uint32_t slot_of(uint64_t cookie)
{
	uint32_t i = cookie * 0x9e3779b97f4a7c15u >> 48;

	while (cookies[i].kind && cookies[i].cookie != cookie)
		i = (i + 1) % COOKIES;
	return i;
}

static void remember(uint64_t cookie, int kind)
{
	uint32_t i = slot_of(cookie);

	if (cookies[i].kind || !cookie ||
	    learnt.spare + learnt.protected > COOKIES / 4)
		return;
	cookies[i].cookie = cookie;
	cookies[i].kind = kind;
}

int is_protected(uint64_t cookie)
{
	return cookies[slot_of(cookie)].kind == PROTECTED;
}

/* An ACCEPT names both ends, and what the connection is for. */
static void learn_conn(const struct via_wire *w, const struct via_wire_conn *c,
		       int outgoing)
{
	const struct via_wire_hello *h = (const void *)(w + 1);
	uint64_t cookie = be64_to_cpu(w->cookie);
	uint64_t peer = be64_to_cpu(c->sender_cookie);
	uint32_t n = strlen(field.spare);
	int kind = c->server.disc_len == n &&
		   !memcmp(c->server.disc, field.spare, n) ? SPARE : PROTECTED;

	/* REQUEST: its sender alone. */
	if (w->type == VIA_WIRE_REQUEST || w->type == VIA_WIRE_PEER_REQUEST) {
		remember(peer, kind);
		if (outgoing && h->token) {
			learnt.epoch = h->epoch;
			learnt.token = h->token;
		}
		return;
	}
	if (cookies[slot_of(cookie)].kind && cookies[slot_of(peer)].kind)
		return;
	remember(cookie, kind);
	remember(peer, kind);
	if (kind == SPARE)
		learnt.spare++;
	else
		learnt.protected++;
	/* Ours tells of our end; the target's own end is in the other half. */
	vis[nvis % VIS].dst = ntohl(outgoing ? c->to : c->vi);
	vis[nvis % VIS].cookie = outgoing ? cookie : peer;
	nvis++;
}

/* Places are taken over at random, so that old ones stay for long. */
static uint32_t place(uint32_t n, uint32_t places)
{
	return n < places ? n : (n * 2654435761u >> 16) % places;
}

static void keep(struct kept *k, const uint8_t *p, uint32_t len)
{
	k->len = len;
	memcpy(k->b, p, len);
}

void learn(const uint8_t *p, uint32_t len, int outgoing)
{
	const struct via_wire *w = (const void *)(p + ETH);
	uint32_t type, n;

	if (len < ETH + VIA_WIRE_ACK_LEN || len > KEPT_LEN)
		return;
	type = w->type;
	if (type >= TYPES || w->version != VIA_WIRE_VERSION)
		return;
	learnt.frames++;
	if (via_wire_has_conn(type) && len >= ETH + VIA_WIRE_CONN_LEN)
		learn_conn(w, conn_of(w), outgoing);
	if (type == VIA_WIRE_ACCEPT && !outgoing &&
	    len >= sizeof(learnt.accept)) {
		memcpy(learnt.accept, p, sizeof(learnt.accept));
		learnt.accepts++;
	}
	n = count[outgoing][type]++;
	if (!n)
		types[outgoing][ntypes[outgoing]++] = type;
	keep(&store[outgoing][type][place(n, KEPT)], p, len);
	if (outgoing && cookies[slot_of(be64_to_cpu(w->cookie))].kind == SPARE)
		keep(&spares[place(nspares++, SPARES)], p, len);
}

static int copy(struct frame *f, const struct kept *k)
{
	f->len = k->len;
	memcpy(f->b, k->b, k->len);
	return 1;
}

int recall(struct frame *f, struct rng *d, int outgoing)
{
	uint32_t type, n;

	if (!ntypes[outgoing])
		return 0;
	type = types[outgoing][rng_below(d, ntypes[outgoing])];
	n = count[outgoing][type];
	return copy(f, &store[outgoing][type][rng_below(d, n < KEPT ? n : KEPT)]);
}

int recall_spare(struct frame *f, struct rng *d)
{
	if (!nspares)
		return 0;
	return copy(f, &spares[rng_below(d, nspares < SPARES ? nspares : SPARES)]);
}

void recall_vi(struct rng *d, uint32_t *dst, uint64_t *cookie)
{
	uint32_t i;

	*dst = rng_below(d, 16);
	*cookie = rng_next(d);
	if (!nvis)
		return;
	i = rng_below(d, nvis < VIS ? nvis : VIS);
	*dst = vis[i].dst;
	*cookie = vis[i].cookie;
}

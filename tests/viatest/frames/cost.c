// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * viatest frames --cost: what a hostile frame costs its receiver, by kind.
 *
 * Both ends are in one guest in exact mode, where a nanosecond is an
 * instruction, with VIs connected between the two.  Frames of a kind are thrown
 * at the target, and the same frames with an EtherType that has no receiver: the
 * difference is what the class and its NIC module add to the driver and to the
 * kernel's way of a frame.  What is answered at a limited rate is thrown until
 * the limit is reached, and a little longer, before it is counted.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/json.h"
#include "common/netns.h"
#include "cost.h"
#include "frames.h"
#include "scale/scale.h"

#define N	256u			/* frames of one look */
#define WARM	1280u			/* more than any bucket holds */
#define NO_ONE	0x88b6			/* IEEE local experimental 2 */

static struct frame *batch;
static struct rng d = { .s = 0x2545f4914f6cdd1dull };

/* An end of a connection here, and one at the target. */
static struct named {
	uint32_t id;
	uint64_t cookie;
} ours, theirs;

static void from_stranger(struct frame *f)
{
	uint64_t r = rng_next(&d);

	memcpy(f->b + 6, &r, 6);
	f->b[6] = (f->b[6] & ~1) | 2;
}

static void of_type(struct frame *f, uint8_t type)
{
	do {
		well_formed(f, type, &d);
	} while (!(wire_of(f)->flags & VIA_WIRE_SUM) !=
		 !via_wire_always_sealed(type));
	wire_of(f)->flags &= ~VIA_WIRE_ACK_NOW;
}

static void version(struct frame *f)
{
	of_type(f, VIA_WIRE_SEND);
	wire_of(f)->version = 3;
}

static void type(struct frame *f)
{
	of_type(f, VIA_WIRE_SEND);
	wire_of(f)->type = 0x3f;
}

static void cut(struct frame *f)
{
	of_type(f, VIA_WIRE_SEND);
	((struct via_wire_data *)(wire_of(f) + 1))->len = htons(1400);
}

static void checksum(struct frame *f)
{
	of_type(f, VIA_WIRE_RESET);
	seal(f);
	f->b[ETH + VIA_WIRE_END_LEN] ^= 1;
}

static void no_vi(struct frame *f)
{
	of_type(f, VIA_WIRE_SEND);
	wire_of(f)->dst = htonl(0x10000 + rng_below(&d, 1000));
	memcpy(f->b + 6, "\2\1\2\3\4\7", 6);
}

static void cookie(struct frame *f)
{
	of_type(f, VIA_WIRE_SEND);
	wire_of(f)->dst = htonl(theirs.id);
}

/* The right id and cookie, from a host of another address. */
static void source(struct frame *f)
{
	cookie(f);
	wire_of(f)->cookie = htobe64(theirs.cookie);
	memcpy(f->b + 6, "\2\1\2\3\4\10", 6);
}

static void reset_stranger(struct frame *f)
{
	of_type(f, VIA_WIRE_RESET);
	from_stranger(f);
}

static void reset_cookie(struct frame *f)
{
	of_type(f, VIA_WIRE_RESET);
}

static void reset_window(struct frame *f)
{
	struct via_wire_end *e = (void *)(wire_of(f) + 1);

	of_type(f, VIA_WIRE_RESET);
	wire_of(f)->cookie = htobe64(ours.cookie);
	e->src = htonl(ours.id);
}

static void disconnect_cookie(struct frame *f)
{
	of_type(f, VIA_WIRE_DISCONNECT);
	wire_of(f)->dst = htonl(theirs.id);
}

static void disconnect_window(struct frame *f)
{
	disconnect_cookie(f);
	wire_of(f)->cookie = htobe64(theirs.cookie);
}

static void disconnect_ack(struct frame *f)
{
	of_type(f, VIA_WIRE_DISCONNECT_ACK);
}

/* With a token that does not hold, all from one made-up host. */
static void asks(struct frame *f, uint8_t type)
{
	struct via_wire_hello *h = (void *)(wire_of(f) + 1);

	of_type(f, type);
	h->epoch = htobe64(7);
	h->token = rng_next(&d);
	h->nonce = rng_next(&d) | 1;
}

static void request(struct frame *f)
{
	asks(f, VIA_WIRE_REQUEST);
	memcpy(f->b + 6, "\2\1\2\3\4\5", 6);
}

static void request_peer(struct frame *f)
{
	struct via_wire_conn *c = conn_of(wire_of(f));

	asks(f, VIA_WIRE_PEER_REQUEST);
	memcpy(f->b + 6, "\2\1\2\3\4\6", 6);
	memcpy(c->client.host, f->b + 6, 6);
}

static void challenge(struct frame *f)
{
	of_type(f, VIA_WIRE_CHALLENGE);
	wire_of(f)->dst = htonl(theirs.id);
}

static void verdict(struct frame *f)
{
	struct via_wire_answer *a = (void *)(wire_of(f) + 1);

	of_type(f, VIA_WIRE_REFUSE);
	a->vi = htonl(theirs.id);
}

static void cancel(struct frame *f)
{
	of_type(f, VIA_WIRE_CANCEL);
}

static void accept_(struct frame *f)
{
	of_type(f, VIA_WIRE_ACCEPT);
	conn_of(wire_of(f))->to = htonl(theirs.id);
}

static void name_query(struct frame *f)
{
	of_type(f, VIA_WIRE_NAME_QUERY);
}

static void name_reply(struct frame *f)
{
	of_type(f, VIA_WIRE_NAME_REPLY);
}

static void heartbeat(struct frame *f)
{
	of_type(f, VIA_WIRE_HEARTBEAT);
}

static void list(struct frame *f)
{
	of_type(f, VIA_WIRE_LIST);
}

/* A random authenticator in place of the checksum. */
static void auth(struct frame *f)
{
	struct via_wire *w = wire_of(f);
	uint32_t sum = w->flags & VIA_WIRE_SUM ? VIA_WIRE_SEAL_LEN : 0;
	uint32_t i, at = f->len - sum;

	w->flags = (w->flags & ~VIA_WIRE_SUM) | VIA_WIRE_AUTH;
	f->len = at + VIA_WIRE_AUTH_LEN;
	for (i = at; i < f->len; i++)
		f->b[i] = rng_next(&d);
	/* A number that can come. */
	memset(f->b + at, 0, 4);
}

static void auth_stranger(struct frame *f)
{
	verdict(f);
	auth(f);
	from_stranger(f);
}

static void auth_none(struct frame *f)
{
	verdict(f);
}

static void auth_cookie(struct frame *f)
{
	of_type(f, VIA_WIRE_ACK);
	wire_of(f)->dst = htonl(theirs.id);
	auth(f);
}

static void auth_verdict(struct frame *f)
{
	verdict(f);
	auth(f);
}

/* One that has seen the wire: 1, and 23 blocks of the hash. */
static void auth_seen(struct frame *f)
{
	verdict(f);
	wire_of(f)->cookie = htobe64(theirs.cookie);
	auth(f);
}

static void auth_seen_long(struct frame *f)
{
	struct via_wire_data *data = (void *)(wire_of(f) + 1);

	cookie(f);
	wire_of(f)->cookie = htobe64(theirs.cookie);
	f->len = ETH + VIA_WIRE_SEND_HDR;
	auth(f);
	data->offset = 0;
	data->len = htons(1436);
	data->msg_len = htonl(1436);
	f->len += 1436;
}

static void auth_request(struct frame *f)
{
	asks(f, VIA_WIRE_REQUEST);
	auth(f);
}

static void auth_replay(struct frame *f)
{
	uint32_t at;

	auth_seen(f);
	at = f->len - VIA_WIRE_AUTH_LEN;
	memset(f->b + at, 0, 8);
	f->b[at + 7] = 1;
}

/* Sets that need another list of peers at the target are thrown by --set. */
static const struct {
	const char *set, *name;
	void (*make)(struct frame *f);
} kinds[] = {
	{ "open", "version", version },
	{ "open", "type", type },
	{ "open", "length", cut },
	{ "open", "checksum", checksum },
	{ "open", "no VI", no_vi },
	{ "open", "cookie", cookie },
	{ "open", "source", source },
	{ "open", "RESET, unknown host", reset_stranger },
	{ "open", "RESET, cookie", reset_cookie },
	{ "open", "RESET, numbers", reset_window },
	{ "open", "DISCONNECT, cookie", disconnect_cookie },
	{ "open", "DISCONNECT, numbers", disconnect_window },
	{ "open", "DISCONNECT_ACK", disconnect_ack },
	{ "open", "REQUEST, no token", request },
	{ "open", "PEER_REQUEST, no token", request_peer },
	{ "open", "CHALLENGE", challenge },
	{ "open", "REFUSE", verdict },
	{ "open", "CANCEL", cancel },
	{ "open", "ACCEPT", accept_ },
	{ "open", "NAME_QUERY", name_query },
	{ "open", "NAME_REPLY", name_reply },
	{ "open", "HEARTBEAT", heartbeat },
	{ "open", "LIST", list },
	{ "open", "AUTH, no key", auth_verdict },
	{ "list", "stranger, SEND", no_vi },
	{ "list", "stranger, REQUEST", request },
	{ "list", "stranger, AUTH", auth_stranger },
	{ "key", "key, no AUTH", auth_none },
	{ "key", "key, cookie", auth_cookie },
	{ "key", "key, other cookie", auth_verdict },
	{ "key", "seen: tag", auth_seen },
	{ "key", "seen: tag, long", auth_seen_long },
	{ "key", "key, REQUEST", auth_request },
	{ "key", "key, replay", auth_replay },
};

/* Frames that the target's driver has taken, whatever they were. */
static uint64_t taken(const char *file)
{
	unsigned long long n = 0;
	FILE *f = fopen(file, "r");

	if (!f || fscanf(f, "%llu", &n) != 1)
		die("%s cannot be read", file);
	fclose(f);
	return n;
}

static uint64_t thrown(const struct cost *c, int fd, unsigned int proto)
{
	uint64_t start, end, before = taken(c->count);
	uint32_t i;

	for (i = 0; i < N; i++) {
		batch[i].b[12] = proto >> 8;
		batch[i].b[13] = proto & 255;
	}
	start = now_ns();
	for (i = 0; i < N; i++)
		if (send(fd, batch[i].b, batch[i].len, 0) < 0)
			die("a frame of %u bytes is not sent", batch[i].len);
	/* The last ones are taken before this one goes on. */
	for (i = 0; i < 4; i++)
		sched_yield();
	end = now_ns();
	if (taken(c->count) != before + N)
		return 0;
	return (end - start) / N;
}

/* The least of a few: a timer of the kernel's may come between. */
static uint64_t least(const struct cost *c, int fd, unsigned int proto)
{
	uint64_t ns, best = 0;
	uint32_t i;

	for (i = 0; i < 5; i++) {
		ns = thrown(c, fd, proto);
		if (ns && (!best || ns < best))
			best = ns;
	}
	return best;
}

static int look(const struct cost *c, int fd, uint32_t kind)
{
	struct json j = { .file = stdout };
	uint64_t with, without;
	uint32_t i;

	for (i = 0; i < N; i++) {
		kinds[kind].make(&batch[i]);
		if (strcmp(kinds[kind].name, "checksum"))
			seal(&batch[i]);
		if (batch[i].len < ETH + 46) {
			memset(batch[i].b + batch[i].len, 0,
			       ETH + 46 - batch[i].len);
			batch[i].len = ETH + 46;
		}
	}
	for (i = 0; i < WARM / N; i++)
		thrown(c, fd, VIA_WIRE_ETHERTYPE);
	with = least(c, fd, VIA_WIRE_ETHERTYPE);
	without = least(c, fd, NO_ONE);
	if (!with || !without) {
		warn_msg("%s: frames were lost", kinds[kind].name);
		return 1;
	}
	json_object(&j);
	json_str(&j, "bench", "hostile");
	json_str(&j, "path", kinds[kind].name);
	json_str(&j, "level", "-");
	json_str(&j, "wait", "-");
	json_num(&j, "size", c->vis);
	json_str(&j, "unit", "ns");
	json_int(&j, "value", (int64_t)(with - without));
	json_object_end(&j);
	return 0;
}

/* The ends of the last connection, as its ACCEPT names them. */
static void name_ends(int fd)
{
	const struct via_wire_conn *c = conn_of((void *)(learnt.accept + ETH));
	const struct via_wire *w = (const void *)(learnt.accept + ETH);

	listen_to(fd);
	if (!learnt.accepts)
		die("no connection is seen on the wire");
	theirs = (struct named){ ntohl(c->vi), be64toh(c->sender_cookie) };
	ours = (struct named){ ntohl(c->to), be64toh(w->cookie) };
}

static void connect_all(const struct cost *c, int fd)
{
	struct nic *nic = xcalloc(2, sizeof(*nic));
	struct end e[2];
	char disc[32];
	uint32_t i, k;
	int ns;

	if (nic_try(&nic[1], c->device))
		die("cannot open %s", c->device);
	ns = netns_enter(c->netns);
	if (nic_try(&nic[0], c->peer))
		die("cannot open %s", c->peer);
	netns_leave(ns);
	for (i = 0; i < c->vis; i++) {
		for (k = 0; k < 2; k++) {
			e[k] = (struct end){ .nic = &nic[k] };
			if (vi_make(&nic[k], 1024, NULL, &e[k].vi))
				die("cannot make %u VIs", i);
		}
		snprintf(disc, sizeof(disc), "cost-%u", i);
		if (end_join(&e[0], &e[1], disc, 30000) != VIP_SUCCESS)
			die("cannot connect %u VIs", i);
		listen_to(fd);
	}
}

int cost_main(const struct cost *c, int fd)
{
	uint32_t i;
	int bad = 0;

	batch = xcalloc(N, sizeof(*batch));
	connect_all(c, fd);
	name_ends(fd);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].set, c->set))
			bad |= look(c, fd, i);
	return bad;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* How a frame of each class is made. */
#include "frames.h"
#include <arpa/inet.h>
#include <string.h>

#define BODY	(VIA_WIRE_CONN_LEN + 64)	/* of what is made, mostly */

const char *const class_names[CLASSES] = {
	[VERSION] = "version", [TYPE] = "type", [CUT] = "cut",
	[LENGTHS] = "lengths", [FIELDS] = "fields", [LONG] = "long",
	[EDGES] = "edges", [NO_VI] = "no_vi", [COOKIE] = "cookie",
	[REPLAY] = "replay", [REFLECT] = "reflect", [MUTATE] = "mutate",
	[FORGE] = "forge", [REQUESTS] = "requests", [PEERS] = "peers",
	[NAMES] = "names", [RESETS] = "resets", [ACCEPTS] = "accepts",
	[VERDICTS] = "verdicts", [GROUP] = "group",
};

static const uint8_t types[] = {
	VIA_WIRE_SEND, VIA_WIRE_WRITE, VIA_WIRE_READ, VIA_WIRE_READ_DATA,
	VIA_WIRE_ACK, VIA_WIRE_DISCONNECT, VIA_WIRE_DISCONNECT_ACK,
	VIA_WIRE_RESET, VIA_WIRE_REQUEST, VIA_WIRE_CHALLENGE, VIA_WIRE_ACCEPT,
	VIA_WIRE_WAIT, VIA_WIRE_REFUSE, VIA_WIRE_CONFIRM, VIA_WIRE_CANCEL,
	VIA_WIRE_PEER_REQUEST, VIA_WIRE_PEER_ACCEPT, VIA_WIRE_HEARTBEAT,
	VIA_WIRE_HEARTBEAT_ACK, VIA_WIRE_ACKS, VIA_WIRE_LIST, VIA_WIRE_NAME_QUERY,
	VIA_WIRE_NAME_REPLY,
};

#define NTYPES	(sizeof(types))
#define OF_A_VI	6u		/* the first ones name one */

static const uint32_t edges[] = {
	0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 15, 16, 31, 32, 33, 39, 40, 56, 63,
	64, 65, 127, 128, 255, 256, 257, 1023, 1024, 1456, 1468, 1480, 1500,
	4095, 4096, 4097, 32767, 32768, 65535, 65536, 0x00ffffff, 0x7ffffffe,
	0x7fffffff, 0x80000000, 0x80000001, 0xfffffff0, 0xfffffffe, 0xffffffff,
};

static uint32_t edge(struct rng *d)
{
	return rng_below(d, 4) ? edges[rng_below(d, sizeof(edges) / sizeof(*edges))] :
			     rng_next(d);
}

static void stranger(uint8_t *mac, struct rng *d)
{
	uint64_t r = rng_next(d);

	memcpy(mac, &r, 6);
	mac[0] = (mac[0] & ~1) | 2;
	/* Few of them stay few: a table of the target may fill up, too. */
	if (r >> 63)
		memset(mac + 1, 0x77, 4);
	/* No host has such an address: an answer would be a broadcast. */
	if (r >> 59 == 5)
		memset(mac, 0xff, 6);
}

static void head(struct frame *f, uint8_t type, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	uint32_t i;

	for (i = ETH; i < ETH + BODY; i += 8) {
		uint64_t r = rng_next(d);

		memcpy(f->b + i, &r, 8);
	}
	memcpy(f->b, field.target, 6);
	memcpy(f->b + 6, field.own, 6);
	f->b[12] = VIA_WIRE_ETHERTYPE >> 8;
	f->b[13] = VIA_WIRE_ETHERTYPE & 255;
	w->version = VIA_WIRE_VERSION;
	w->type = type;
	w->flags = type < VIA_WIRE_ACK ? rng_below(d, 8) : 0;
	if (type == VIA_WIRE_READ || type == VIA_WIRE_READ_DATA)
		w->flags &= ~VIA_WIRE_IMMEDIATE;
	w->marks = rng_below(d, 2);
	w->dst = via_wire_has_dst(type) ? htonl(1 + rng_below(d, 16)) : 0;
}

/* Bytes behind the Ethernet header, without payload. */
static uint32_t header_of(const struct via_wire *w)
{
	const struct via_wire_ack *a = (const void *)(w + 1);
	const struct via_wire_acks_entry *e = (const void *)(w + 1) +
					       sizeof(struct via_wire_acks);
	const struct via_wire_list *l = (const void *)(w + 1);
	uint8_t type = w->type;

	if (type == VIA_WIRE_SEND || type == VIA_WIRE_READ_DATA)
		return VIA_WIRE_SEND_HDR;
	if (type == VIA_WIRE_WRITE || type == VIA_WIRE_READ)
		return VIA_WIRE_WRITE_HDR;
	if (via_wire_has_conn(type))
		return VIA_WIRE_CONN_LEN;
	if (type == VIA_WIRE_NAME_QUERY || type == VIA_WIRE_NAME_REPLY)
		return VIA_WIRE_NAME_LEN;
	if (type == VIA_WIRE_CHALLENGE || type == VIA_WIRE_HEARTBEAT ||
	    type == VIA_WIRE_HEARTBEAT_ACK)
		return VIA_WIRE_HEARTBEAT_LEN;
	/* Of whatever is made here there is one entry. */
	if (type == VIA_WIRE_ACKS)
		return VIA_WIRE_ACKS_LEN + sizeof(*e) + 4 * (e->n & 31);
	if (type == VIA_WIRE_LIST)
		return VIA_WIRE_LIST_LEN + 8 * (ntohs(l->count) & 15);
	if (type == VIA_WIRE_ACK)
		return VIA_WIRE_ACK_LEN + 4 * (a->n & 31);
	/* An end, an answer. */
	return VIA_WIRE_ACK_LEN;
}

static void put_ranges(struct via_wire_range *r, uint32_t n, struct rng *d)
{
	uint32_t i, at = rng_below(d, 9);

	for (i = 0; i < n; i++) {
		r[i].start = htons(at);
		r[i].count = htons(1 + rng_below(d, 9));
		at += ntohs(r[i].count) + 1 + rng_below(d, 9);
	}
}

static void put_ack(struct via_wire *w, struct rng *d)
{
	struct via_wire_ack *a = (void *)(w + 1);

	a->n = rng_below(d, 9);
	a->zero = 0;
	if (rng_below(d, 2))
		w->flags |= VIA_WIRE_DSACK;
	else
		a->dsack = 0;
	if (!rng_below(d, 4))
		w->flags |= VIA_WIRE_ACK_NOW;
	put_ranges((void *)(a + 1), a->n, d);
}

static void put_acks(struct via_wire *w, struct rng *d)
{
	struct via_wire_acks *a = (void *)(w + 1);
	struct via_wire_acks_entry *e = (void *)(a + 1);

	memset(a, 0, sizeof(*a));
	a->count = htons(1);
	e->dst |= htonl(1);
	e->cookie |= 1;
	e->n = rng_below(d, 9);
	memset(e->zero, 0, sizeof(e->zero));
	put_ranges((void *)(e + 1), e->n, d);
}

static void put_end(struct via_wire *w, struct rng *d)
{
	struct via_wire_end *e = (void *)(w + 1);

	w->cookie |= 1;
	e->reason = 0;
	if (w->type == VIA_WIRE_DISCONNECT)
		e->reason = htonl(rng_below(d, 9));
	else
		e->ack = 0;
}

static void put_answer(struct via_wire *w, struct rng *d)
{
	struct via_wire_answer *a = (void *)(w + 1);

	w->cookie |= 1;
	a->vi = htonl(1 + rng_below(d, 16));
	a->reason = w->type != VIA_WIRE_REFUSE ? 0 :
		    htonl(1 + rng_below(d, VIA_WIRE_R_REFUSE_MAX));
	a->len = 0;
	memset(a->zero, 0, sizeof(a->zero));
}

static void put_hello(struct via_wire *w, struct rng *d)
{
	struct via_wire_hello *h = (void *)(w + 1);

	w->cookie |= 1;
	h->epoch |= 1;
	h->frames = htonl(1 + rng_below(d, 256));
	h->mtu = htonl(VIA_WIRE_MTU_MIN + rng_below(d, 9000));
	h->nonce = rng_below(d, 2) ? 0 : rng_next(d);
}

static void put_list(struct via_wire *w, struct rng *d)
{
	struct via_wire_list *l = (void *)(w + 1);
	uint64_t *cookie = (void *)(l + 1), at = rng_next(d) >> 1;
	uint32_t i, n = rng_below(d, 9);

	memset(l, 0, sizeof(*l));
	l->count = htons(n);
	l->low = cpu_to_be64(at | 1);
	l->high = ~0ull;
	for (i = 0; i < n; i++) {
		at += 1 + rng_below(d, 1u << 20);
		cookie[i] = cpu_to_be64(at | 1);
		at |= 1;
	}
}

static void put_addr(struct via_wire_addr *a, const uint8_t *mac,
		     const char *disc)
{
	memset(a, 0, sizeof(*a));
	a->host_len = 6;
	memcpy(a->host, mac, 6);
	a->disc_len = strlen(disc);
	memcpy(a->disc, disc, a->disc_len);
}

static void put_conn(struct frame *f, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_hello *h = (void *)(w + 1);
	struct via_wire_conn *c = conn_of(w);

	put_hello(w, d);
	c->vi = htonl(1 + rng_below(d, 4096));
	c->to = htonl(1 + rng_below(d, 16));
	c->sender_cookie |= 1;
	if (w->type == VIA_WIRE_REQUEST || w->type == VIA_WIRE_PEER_REQUEST) {
		c->to = 0;
		w->dst = c->vi;
		w->cookie = c->sender_cookie;
		/* Without a token a request goes no further than that. */
		if (learnt.token && rng_below(d, 4)) {
			h->epoch = learnt.epoch;
			h->token = learnt.token;
		}
	}
	c->reliability = htonl(1u << rng_below(d, 3));
	c->max_transfer = htonl(rng_below(d, 2) ? 65536 : edge(d));
	c->rights = htonl(rng_below(d, 4));
	c->timeout_ms = htonl(rng_below(d, 50));
	c->options = htonl(rng_below(d, 2) ? VIA_WIRE_O_SUM : 0);
	put_addr(&c->client, f->b + 6, "nobody");
	put_addr(&c->server, field.target,
		 rng_below(d, 64) ? "nobody" : field.spare);
}

static void put_name(struct frame *f, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_name *n = (void *)(w + 1);
	uint32_t i;

	w->cookie = 0;
	memset(n->zero, 0, sizeof(n->zero));
	n->name_len = rng_below(d, VIA_WIRE_NAME_MAX + 1);
	for (i = 0; i < VIA_WIRE_NAME_MAX; i++)
		n->name[i] = i < n->name_len ? 'a' + n->name[i] % 26 : 0;
}

void well_formed(struct frame *f, uint8_t type, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_data *data = (void *)(w + 1);
	uint32_t len = 0;

	head(f, type, d);
	if (type < VIA_WIRE_ACK) {
		data->len = 0;
		if (type != VIA_WIRE_READ_DATA)
			data->reads = 0;
		if (type == VIA_WIRE_READ || type == VIA_WIRE_READ_DATA)
			data->immediate = 0;
		if (type == VIA_WIRE_READ || type == VIA_WIRE_WRITE)
			((struct via_wire_rdma *)(data + 1))->zero = 0;
	}
	if (type == VIA_WIRE_READ) {
		data->offset = 0;
	} else if (type < VIA_WIRE_ACK) {
		len = rng_below(d, 64);
		data->len = htons(len);
		data->msg_len = htonl(len ? len + edge(d) % 65536 : 0);
		data->offset = htonl(rng_below(d, ntohl(data->msg_len) - len + 1));
	} else if (via_wire_has_conn(type)) {
		put_conn(f, d);
	} else if (type >= VIA_WIRE_NAME_QUERY) {
		put_name(f, d);
	} else if (type == VIA_WIRE_ACK) {
		put_ack(w, d);
	} else if (type == VIA_WIRE_ACKS) {
		put_acks(w, d);
	} else if (type == VIA_WIRE_LIST) {
		put_list(w, d);
	} else if (type <= VIA_WIRE_RESET) {
		put_end(w, d);
	} else if (type == VIA_WIRE_CHALLENGE) {
		put_hello(w, d);
	} else if (type < VIA_WIRE_PEER_REQUEST) {
		put_answer(w, d);
	}
	if (via_wire_always_sealed(type) || rng_one_in(d, 8)) {
		w->flags |= VIA_WIRE_SUM;
		len += VIA_WIRE_SEAL_LEN;
	}
	f->len = ETH + header_of(w) + len;
}

static uint8_t any_type(struct rng *d)
{
	return types[rng_below(d, NTYPES)];
}

static uint8_t data_type(struct rng *d)
{
	return types[rng_below(d, 4)];
}

/* Lengths that disagree with one another or with the frame. */
static void bad_lengths(struct frame *f, struct rng *d)
{
	uint8_t type = data_type(d);
	struct via_wire_data *data = (void *)(wire_of(f) + 1);
	uint32_t len;

	well_formed(f, type, d);
	len = ntohs(data->len);
	switch (rng_below(d, 4)) {
	case 0:
		data->len = htons(len + 47 + rng_below(d, 65536 - 47 - len));
		break;
	case 1:
		data->offset = htonl(ntohl(data->msg_len) + 1 + rng_below(d, 9));
		break;
	case 2:
		data->msg_len = htonl(edge(d));
		data->offset = htonl(edge(d));
		data->len = htons(edge(d));
		break;
	case 3:
		data->len = 0;
		data->msg_len |= htonl(1);
	}
	if (type == VIA_WIRE_READ)
		data->len |= htons(1);
}

/* Values that no sender writes. */
static void bad_fields(struct frame *f, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_hello *h = (void *)(w + 1);
	struct via_wire_conn *c = conn_of(w);
	struct via_wire_name *n = (void *)(w + 1);

	switch (rng_below(d, 5)) {
	case 0:
		well_formed(f, any_type(d), d);
		w->marks |= 2u << rng_below(d, 7);
		break;
	case 1:
		well_formed(f, any_type(d), d);
		if (via_wire_always_sealed(w->type) && rng_below(d, 2))
			w->flags &= ~VIA_WIRE_SUM;
		else
			w->flags |= w->type == VIA_WIRE_ACK ||
				    rng_below(d, 2) ? 0x80 : VIA_WIRE_DSACK;
		break;
	case 2:
		well_formed(f, rng_below(d, 2) ? VIA_WIRE_REQUEST :
			    VIA_WIRE_PEER_REQUEST, d);
		if (rng_below(d, 2))
			c->sender_cookie = 0;
		else if (rng_below(d, 2))
			h->frames = 0;
		else if (rng_below(d, 2))
			c->options = htonl(VIA_WIRE_OPTIONS + 1 +
					   rng_below(d, 1u << 30));
		else
			h->mtu = htonl(rng_below(d, 2) ? rng_below(d, VIA_WIRE_MTU_MIN) :
				       65536 + rng_below(d, 1u << 30));
		break;
	case 3:
		well_formed(f, VIA_WIRE_REQUEST, d);
		(&c->client.host_len)[rng_below(d, 2)] = 65 + rng_below(d, 190);
		(&c->server.host_len)[rng_below(d, 2)] = 65 + rng_below(d, 190);
		break;
	case 4:
		well_formed(f, VIA_WIRE_NAME_QUERY + rng_below(d, 2), d);
		if (rng_below(d, 2))
			n->name_len = 65 + rng_below(d, 191);
		else
			n->zero[rng_below(d, 3)] = 1;
	}
}

/* Words there are at their edges. */
static void edges_at(struct frame *f, uint32_t offset, uint32_t words,
		     struct rng *d)
{
	uint32_t v;

	for (; words--; offset += sizeof(v)) {
		v = htonl(edge(d));
		memcpy(f->b + ETH + offset, &v, sizeof(v));
	}
}

/* Well-formed as to lengths, each field of the rest at its edges. */
static void edgy(struct frame *f, struct rng *d)
{
	uint8_t type = any_type(d);
	struct via_wire *w = wire_of(f);
	struct via_wire_conn *c = conn_of(w);

	well_formed(f, type, d);
	if (type <= VIA_WIRE_DISCONNECT)
		w->dst = htonl(edge(d));
	/* seq, ack; raddr, rhandle; vi to rights, but for to; all of others */
	if (type < VIA_WIRE_ACK) {
		edges_at(f, sizeof(*w), 2, d);
		if (type == VIA_WIRE_WRITE || type == VIA_WIRE_READ)
			edges_at(f, VIA_WIRE_SEND_HDR, 3, d);
	} else if (via_wire_has_conn(type)) {
		c->vi = htonl(edge(d));
		edges_at(f, VIA_WIRE_HELLO_LEN +
			 offsetof(struct via_wire_conn, sender_cookie), 6, d);
		if (!c->to) {
			w->dst = c->vi;
			w->cookie = c->sender_cookie;
		}
		return;
	} else if (type <= VIA_WIRE_RESET) {
		edges_at(f, sizeof(*w), 1, d);
	} else if (type == VIA_WIRE_HEARTBEAT || type == VIA_WIRE_HEARTBEAT_ACK) {
		edges_at(f, sizeof(*w), 8, d);
	}
	edges_at(f, offsetof(struct via_wire, cookie), 2, d);
}

/* Another value for one field, or a bit anywhere. */
static void change(struct frame *f, struct rng *d)
{
	static const uint8_t at[] = {	/* offset << 4 | bytes */
		0x01, 0x11, 0x21, 0x31, 0x44, 0x84, 0xc4,
	};
	uint8_t *b = f->b + ETH;
	uint32_t v, i, off, body = f->len - ETH;

	if (rng_below(d, 2)) {
		v = htonl(edge(d));
		i = at[rng_below(d, sizeof(at))];
		off = i >> 4;
		/* Or one behind the header: they all are four bytes there. */
		if (rng_below(d, 2)) {
			off = 16 + 4 * rng_below(d, 8);
			i = 4;
		}
		if (off + (i & 15) <= body)
			memcpy(b + off, (uint8_t *)&v + 4 - (i & 15), i & 15);
	} else {
		i = rng_below(d, 3) ? rng_below(d, body < 48 ? body : 48) :
				  rng_below(d, body);
		b[i] ^= 1u << rng_below(d, 8);
	}
	if (rng_one_in(d, 32))
		f->len = ETH + rng_below(d, body);
}

/*
 * Half of them of another version; the others tell of versions, and quote what
 * the target has sent, or not.
 */
static void versions(struct frame *f, struct rng *d)
{
	struct via_wire_version *v = (void *)wire_of(f);
	uint8_t quote[VIA_WIRE_QUOTE], other;

	do {
		other = rng_below(d, 2) ? rng_below(d, 256) :
					  1u << rng_below(d, 8);
	} while (other == VIA_WIRE_VERSION);
	well_formed(f, any_type(d), d);
	v->version = other;
	if (rng_below(d, 2))
		return;
	memcpy(quote, v, sizeof(quote));
	if (recall(f, d, 0))
		memcpy(quote, v, sizeof(quote));
	head(f, VIA_WIRE_VERSIONS, d);
	v->version = rng_below(d, 4) ? other : rng_below(d, 4);
	v->lowest = rng_below(d, 4) ? other : rng_below(d, 4);
	v->about = rng_below(d, 4) ? VIA_WIRE_VERSION : rng_below(d, 256);
	memcpy(v->quote, quote, sizeof(quote));
	if (rng_below(d, 2))
		stranger(f->b + 6, d);
	f->len = ETH + VIA_WIRE_VERSION_LEN;
}

static int learnt_frame(struct frame *f, enum class class, struct rng *d)
{
	int outgoing = class != REFLECT;

	if (class == FORGE ? !recall_spare(f, d) : !recall(f, d, outgoing))
		return 0;
	memcpy(f->b, field.target, 6);
	memcpy(f->b + 6, field.own, 6);
	if (class == MUTATE || (class == FORGE && rng_below(d, 8)))
		change(f, d);
	/* Who sees a HEARTBEAT can answer it, and say that its host is new. */
	if (class != FORGE &&
	    (rng_below(d, 3) || wire_of(f)->type == VIA_WIRE_HEARTBEAT_ACK))
		stranger(f->b + 6, d);
	return 1;
}

/* To unknown VIs, from anywhere, at full rate. */
static void flood(struct frame *f, enum class class, struct rng *d)
{
	static const struct {
		uint8_t n, type[5];
	} floods[CLASSES] = {
		[REQUESTS] = { 1, { VIA_WIRE_REQUEST } },
		[PEERS] = { 1, { VIA_WIRE_PEER_REQUEST } },
		[NAMES] = { 4, { VIA_WIRE_NAME_QUERY, VIA_WIRE_NAME_QUERY,
				 VIA_WIRE_NAME_QUERY, VIA_WIRE_NAME_REPLY } },
		[RESETS] = { 1, { VIA_WIRE_RESET } },
		[ACCEPTS] = { 2, { VIA_WIRE_ACCEPT, VIA_WIRE_PEER_ACCEPT } },
		[VERDICTS] = { 4, { VIA_WIRE_WAIT, VIA_WIRE_REFUSE,
				    VIA_WIRE_CONFIRM, VIA_WIRE_CANCEL } },
	};

	well_formed(f, floods[class].type[rng_below(d, floods[class].n)], d);
	if (rng_below(d, 2))
		stranger(f->b + 6, d);
	if (class == PEERS)
		memcpy(conn_of(wire_of(f))->client.host, f->b + 6, 6);
	if (class == NAMES && rng_below(d, 2))
		memset(f->b, 0xff, 6);
}

static void grow(struct frame *f, struct rng *d)
{
	uint32_t len = f->len + rng_below(d, ETH + field.mtu - f->len + 1);

	memset(f->b + f->len, rng_below(d, 256), len - f->len);
	f->len = len;
}

static void known_vi(struct frame *f, enum class class, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	uint64_t cookie;
	uint32_t dst;

	well_formed(f, types[rng_below(d, OF_A_VI)], d);
	recall_vi(d, &dst, &cookie);
	if (class == NO_VI) {
		w->dst = htonl(4097 + rng_below(d, 1u << 31));
		w->cookie = cpu_to_be64(rng_below(d, 2) ? cookie :
					rng_next(d));
		return;
	}
	w->dst = htonl(dst);
	/* Close to the right one, too. */
	cookie ^= 1ull << rng_below(d, 64);
	w->cookie = cpu_to_be64(rng_below(d, 2) ? cookie : rng_next(d));
}

/* Broadcast, or to a group. */
static void group(struct frame *f, struct rng *d)
{
	if (rng_below(d, 2) || !recall(f, d, 1))
		well_formed(f, any_type(d), d);
	memset(f->b, 0xff, 6);
	if (rng_below(d, 2))
		memcpy(f->b, "\x01\x00\x5e\x00\x00\x01", 6);
	if (rng_below(d, 2))
		stranger(f->b + 6, d);
}

/*
 * What protected connections rely on: no other host speaks for their ends.  And
 * a program that accepts is not kept waiting for long by one that is not there.
 */
static void guard(struct frame *f, struct rng *d)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_conn *c = conn_of(w);
	int conn;

	/* The wire pads with zeros what is shorter. */
	if (f->len < ETH + VIA_WIRE_ACK_LEN)
		memset(f->b + f->len, 0, ETH + VIA_WIRE_ACK_LEN - f->len);
	conn = via_wire_has_conn(w->type) && f->len >= ETH + VIA_WIRE_CONN_LEN;
	if (conn && ntohl(c->timeout_ms) > 50)
		c->timeout_ms = htonl(50);
	if (memcmp(f->b + 6, field.own, 6))
		return;
	if (is_protected(be64_to_cpu(w->cookie)) ||
	    (conn && is_protected(be64_to_cpu(c->sender_cookie))))
		stranger(f->b + 6, d);
}

static uint32_t crc32c(uint32_t crc, const uint8_t *p, uint32_t len)
{
	static uint32_t table[256];
	uint32_t i, k;

	for (i = 0; !table[255] && i < 256; i++) {
		uint32_t t = i;

		for (k = 0; k < 8; k++)
			t = t >> 1 ^ (t & 1 ? 0x82f63b78u : 0);
		table[i] = t;
	}
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *p++) & 255];
	return crc;
}

/* The right checksum, where there is one: else nothing gets any further. */
void seal(struct frame *f)
{
	struct via_wire *w = wire_of(f);
	struct via_wire_data *data = (void *)(w + 1);
	uint32_t size = header_of(w), len = 0, crc;

	if (w->type < VIA_WIRE_ACK)
		len = ntohs(data->len);
	if (!(w->flags & VIA_WIRE_SUM) ||
	    f->len < ETH + size + VIA_WIRE_SEAL_LEN + len)
		return;
	crc = crc32c(~0u, f->b + ETH, size);
	crc = ~crc32c(crc, f->b + ETH + size + VIA_WIRE_SEAL_LEN, len);
	crc = htonl(crc);
	memcpy(f->b + ETH + size, &crc, sizeof(crc));
}

int make(struct frame *f, enum class class, struct rng *d)
{
	struct via_wire *w = wire_of(f);

	if (class == TYPE || class == CUT || class == LONG)
		well_formed(f, any_type(d), d);
	switch (class) {
	case VERSION:
		versions(f, d);
		break;
	case TYPE:
		w->type = rng_below(d, 2) ? 0x32 + rng_below(d, 256 - 0x32) :
			  0x0c + rng_below(d, 4);
		break;
	case CUT:
		f->len = ETH + rng_below(d, f->len - ETH);
		break;
	case LENGTHS:
		bad_lengths(f, d);
		break;
	case FIELDS:
		bad_fields(f, d);
		break;
	case LONG:
		grow(f, d);
		break;
	case EDGES:
		edgy(f, d);
		break;
	case NO_VI:
	case COOKIE:
		known_vi(f, class, d);
		break;
	case REPLAY:
	case REFLECT:
	case MUTATE:
	case FORGE:
		if (!learnt_frame(f, class, d))
			return 0;
		break;
	case GROUP:
		group(f, d);
		break;
	default:
		flood(f, class, d);
	}
	guard(f, d);
	if (rng_below(d, 32))
		seal(f);
	return 1;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames of hosts that are not there, one at a time: which of them is answered,
 * with what, and to where (docs/reference/wire.md).  A frame whose source is no host's
 * address is never answered.
 */
#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define FRAMES	40
#define NOTHING	0xff


static const struct kind {
	u8 type, answer;
	u32 len;			/* of the header */
} kinds[] = {
	{ VIA_WIRE_SEND, VIA_WIRE_RESET, VIA_WIRE_SEND_HDR },
	{ VIA_WIRE_ACK, VIA_WIRE_RESET, VIA_WIRE_ACK_LEN },
	{ VIA_WIRE_DISCONNECT, VIA_WIRE_DISCONNECT_ACK, VIA_WIRE_END_LEN },
	{ VIA_WIRE_DISCONNECT_ACK, NOTHING, VIA_WIRE_END_LEN },
	{ VIA_WIRE_RESET, NOTHING, VIA_WIRE_END_LEN },
	{ VIA_WIRE_HEARTBEAT, VIA_WIRE_HEARTBEAT_ACK, VIA_WIRE_HEARTBEAT_LEN },
	{ VIA_WIRE_HEARTBEAT_ACK, NOTHING, VIA_WIRE_HEARTBEAT_LEN },
	{ VIA_WIRE_CHALLENGE, NOTHING, VIA_WIRE_HELLO_LEN },
	{ VIA_WIRE_REQUEST, VIA_WIRE_REFUSE, VIA_WIRE_CONN_LEN },
	{ VIA_WIRE_ACCEPT, VIA_WIRE_RESET, VIA_WIRE_CONN_LEN },
	{ VIA_WIRE_WAIT, NOTHING, VIA_WIRE_ANSWER_LEN },
	{ VIA_WIRE_REFUSE, NOTHING, VIA_WIRE_ANSWER_LEN },
	{ VIA_WIRE_CONFIRM, NOTHING, VIA_WIRE_ANSWER_LEN },
	{ VIA_WIRE_CANCEL, NOTHING, VIA_WIRE_ANSWER_LEN },
	{ VIA_WIRE_PEER_REQUEST, NOTHING, VIA_WIRE_CONN_LEN },
	{ VIA_WIRE_PEER_ACCEPT, VIA_WIRE_RESET, VIA_WIRE_CONN_LEN },
	{ VIA_WIRE_NAME_QUERY, VIA_WIRE_NAME_REPLY, VIA_WIRE_NAME_LEN },
	{ VIA_WIRE_NAME_REPLY, NOTHING, VIA_WIRE_NAME_LEN },
};

struct thrown {
	struct ethhdr eth;
	struct via_wire w;
	union {
		struct {
			struct via_wire_hello hello;
			struct via_wire_conn conn;
		} __packed;
		struct via_wire_heartbeat hb;
		struct via_wire_name name;
		struct via_wire_data data;
		struct via_wire_ack ack;
		struct via_wire_end end;
		struct via_wire_answer answer;
		u8 all[VIA_WIRE_CONN_LEN - sizeof(struct via_wire)];
	};
	u8 seal[VIA_WIRE_SEAL_LEN];
} __packed;

static struct {
	struct thrown f;		/* the last one */
	const struct kind *kind;
	u8 answer;			/* to that */
	bool host;			/* a host may have its source address */
	u32 answers;
	bool ready, over;
} w;

/* The answer names the end that the frame named, and the frame. */
static bool names_end(const struct thrown *a, const struct thrown *q)
{
	if (q->w.type == VIA_WIRE_SEND)
		return a->end.src == q->w.dst && a->end.seq == q->data.seq;
	if (q->w.type == VIA_WIRE_DISCONNECT)
		return a->end.src == q->w.dst && a->end.seq == q->end.seq;
	if (q->w.type == VIA_WIRE_ACK)
		return a->end.src == q->w.dst && a->end.seq == q->ack.ack;
	return a->end.src == q->conn.to && a->end.seq == q->conn.first_seq;
}

/* What leaves is the answer to the last one. */
static bool leaves(void *arg, u8 *frame, u32 *len)
{
	const struct thrown *a = (const void *)frame, *q = &w.f;
	bool request = q->w.type == VIA_WIRE_REQUEST;
	bool name = q->w.type == VIA_WIRE_NAME_QUERY;

	sim_expect(w.host && w.answer != NOTHING,
		   "type %#x is answered by %#x", q->w.type, a->w.type);
	sim_expect(a->w.type == w.answer, "type %#x for %#x", a->w.type,
		   q->w.type);
	sim_expect(!memcmp(a->eth.h_dest, q->eth.h_source, ETH_ALEN),
		   "type %#x goes to another host", a->w.type);
	if (name)
		sim_expect(a->name.nonce == q->name.nonce, "");
	else if (w.answer == VIA_WIRE_HEARTBEAT_ACK)
		sim_expect(a->w.cookie == q->hb.epoch &&
			   a->hb.time == q->hb.time && a->hb.epoch &&
			   a->hb.token && !a->hb.connections &&
			   !a->hb.digest, "");
	else if (w.answer == VIA_WIRE_CHALLENGE)
		sim_expect(a->w.dst == q->w.dst &&
			   a->w.cookie == q->w.cookie && a->hello.token, "");
	else
		sim_expect(!a->w.dst && a->w.cookie == q->w.cookie &&
			   (request ? a->answer.vi == q->conn.vi :
				      names_end(a, q)),
			   "type %#x for %#x names another end", a->w.type,
			   q->w.type);
	w.answers++;
	return true;
}

static void fill_conn(struct thrown *f, const u8 *from)
{
	bool asks = f->w.type == VIA_WIRE_REQUEST ||
		    f->w.type == VIA_WIRE_PEER_REQUEST;
	struct via_wire_conn *c = &f->conn;

	f->hello.epoch = sim_dice64() | 1;
	f->hello.frames = cpu_to_be32(1 + sim_dice(64));
	f->hello.mtu = cpu_to_be32(320 + sim_dice(9000));
	c->vi = cpu_to_be32(1 + sim_dice(65536));
	c->to = asks ? 0 : cpu_to_be32(1 + sim_dice(8));
	c->sender_cookie = sim_dice64() | 1;
	c->first_seq = sim_dice64();
	c->reliability = cpu_to_be32(1u << sim_dice(3));
	c->max_transfer = cpu_to_be32(32768);
	c->timeout_ms = cpu_to_be32(VIA_WIRE_FOREVER);
	c->client.host_len = c->server.host_len = ETH_ALEN;
	memcpy(c->client.host, from, ETH_ALEN);
	memcpy(c->server.host, host_mac(0), ETH_ALEN);
	c->client.disc_len = c->server.disc_len = 4;
	memcpy(c->client.disc, "mine", 4);
	memcpy(c->server.disc, "none", 4);
}

static void fill(const struct kind *k)
{
	struct thrown *f = &w.f;
	u32 i;

	memset(f, 0, sizeof(*f));
	memcpy(f->eth.h_dest, host_mac(0), ETH_ALEN);
	for (i = 1; i < ETH_ALEN; i++)
		f->eth.h_source[i] = sim_dice(256);
	f->eth.h_source[0] = w.host ? 2 : 3;
	if (!w.host && !sim_dice(4))
		memset(f->eth.h_source, sim_dice(2) ? 0 : 0xff, ETH_ALEN);
	f->eth.h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	f->w.version = VIA_WIRE_VERSION;
	f->w.type = k->type;
	if (k->len == VIA_WIRE_CONN_LEN)
		fill_conn(f, f->eth.h_source);
	if (k->len == VIA_WIRE_NAME_LEN)
		f->name.nonce = sim_dice64();
	else
		f->w.cookie = sim_dice64() | 1;
	if (via_wire_has_dst(k->type))
		f->w.dst = cpu_to_be32(1 + sim_dice(8));
	if (k->type == VIA_WIRE_REQUEST || k->type == VIA_WIRE_PEER_REQUEST) {
		f->w.dst = f->conn.vi;
		f->w.cookie = f->conn.sender_cookie;
	}
	if (k->len == VIA_WIRE_HELLO_LEN || k->len == VIA_WIRE_HEARTBEAT_LEN)
		f->hello.epoch = 1;
	if (k->len == VIA_WIRE_HEARTBEAT_LEN)
		f->hb.time = sim_dice64();
	if (k->type == VIA_WIRE_SEND)
		f->data.seq = sim_dice64();
	if (k->type == VIA_WIRE_ACK)
		f->ack.ack = sim_dice64();
	if (k->len == VIA_WIRE_ANSWER_LEN && via_wire_always_sealed(k->type)) {
		f->answer.vi = cpu_to_be32(1 + sim_dice(8));
		f->answer.reason = k->type != VIA_WIRE_REFUSE ? 0 :
				   cpu_to_be32(1 + sim_dice(5));
	}
}

static void throw(void)
{
	const struct kind *k = &kinds[sim_dice(ARRAY_SIZE(kinds))];
	u32 size = ETH_HLEN + k->len;

	w.kind = k;
	w.answer = k->answer;
	w.host = sim_dice(3);
	w.answers = 0;
	fill(k);
	if (sim_dice(2))
		sim_nic_prove(host_nic(0), (u8 *)&w.f);
	else if (k->type == VIA_WIRE_REQUEST ||
		 k->type == VIA_WIRE_PEER_REQUEST)
		w.answer = VIA_WIRE_CHALLENGE;
	/* Frames of a connection have no seal, for there is none. */
	if (via_wire_always_sealed(k->type)) {
		sim_seal(&w.f, size + VIA_WIRE_SEAL_LEN, 0);
		size += VIA_WIRE_SEAL_LEN;
	}
	sim_nic_inject(host_nic(0), &w.f, size);
	sim_pause(5 * MS);
	sim_expect(w.answers == (w.host && w.answer != NOTHING),
		   "type %#x is answered %u times", k->type, w.answers);
}

/* VIs that are there, and not for those. */
static void bystander(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	prog_open_vi(&n, &v, "via_a", 4096, VIA_RELIABLE_DELIVERY);
	w.ready = true;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void answers(void)
{
	u32 i;

	sim_wire.meddle = leaves;
	hosts_up(1);
	host_run(0, "bystander", bystander, NULL);
	sim_await(w.ready, MS);
	for (i = 0; i < FRAMES; i++)
		throw();
	w.over = true;
	hosts_down();
}

/* A client that asks once, has all the time there is, and says no more. */
static void server(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u64 from;
	u32 conn;
	int ret;

	prog_open_vi(&n, &v, "via_a", 4096, VIA_RELIABLE_DELIVERY);
	w.ready = true;
	sim_ok(prog_conn_wait(&n, "none", 10 * SEC, &conn));
	from = sim_now();
	if (sim_dice(2))
		sim_sleep(sim_dice(200 * MS));
	ret = prog_accept_start(&v, conn);
	if (!ret)
		ret = prog_result(&v, 0);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	/* 8 s of silence, and what it takes to see them. */
	sim_expect(sim_now() < from + 12 * SEC, "after %llu ms",
		   (unsigned long long)((sim_now() - from) / MS));
	prog_close(&n);
}

static void unheard(void)
{
	static const struct kind request = {
		VIA_WIRE_REQUEST, NOTHING, VIA_WIRE_CONN_LEN,
	};
	u32 size = ETH_HLEN + VIA_WIRE_CONN_LEN + VIA_WIRE_SEAL_LEN;

	hosts_up(1);
	host_run(0, "server", server, NULL);
	sim_await(w.ready, MS);
	sim_pause(10 * MS);
	w.host = true;
	fill(&request);
	w.f.conn.reliability = cpu_to_be32(VIA_RELIABLE_DELIVERY);
	sim_nic_prove(host_nic(0), (u8 *)&w.f);
	sim_seal(&w.f, size, 0);
	sim_nic_inject(host_nic(0), &w.f, size);
	hosts_down();
}

SIM_SCENARIO(.name = "answers", .run = answers, .runs = 100, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "which frames of strangers are answered, and how")
SIM_SCENARIO(.name = "unheard", .run = unheard, .runs = 50, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a client that asks and is never heard of again")

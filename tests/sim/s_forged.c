// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Single frames that a host must not believe, each at the moment at which
 * believing it would show: docs/reference/wire.md says what a frame must have,
 * docs/explain/security.md what a host that can send any frame cannot do.
 */
#include "s_forge.h"

enum lie {
	ACCEPT_OF_OTHER,		/* than the host that was asked */
	RESET_OF_OLD,			/* with another cookie */
	END_OF_NOW,			/* the right cookies, other numbers */
	VERSION_OF_NOW,			/* of a peer that speaks ours */
	VERSION_OF_OTHER,		/* about another frame, or host */
	PEER_OF_OTHER,			/* called the one looked for */
	PEERS_OF_OLD,			/* whose attempts are over */
	REPLY_TO_NONE,			/* another nonce */
	BAD_REQUEST,			/* one field is wrong */
	LIES
};

static struct {
	enum lie lie;
	struct sim_nic *nic[3];
	u32 vi;				/* of the last one that asked, */
	u64 cookie;			/* from its REQUEST */
	u32 first_seq;
	u8 request[VIA_WIRE_QUOTE];	/* its first bytes */
	u32 server_vi;			/* from the ACCEPT */
	u64 server_cookie;
	u32 server_seq;
	u32 told;			/* ACKs of the server's */
	u32 requests, peer_accepts;
	bool drop_requests;
	bool up[2], over, go;
	int ret[2];
} w;

static const u8 *mac(u32 i)
{
	return sim_nic_mac(w.nic[i]);
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);

	if (h->type == VIA_WIRE_REQUEST) {
		w.vi = be32_to_cpu(forged_conn(frame)->vi);
		w.cookie = be64_to_cpu(forged_conn(frame)->sender_cookie);
		w.first_seq = be32_to_cpu(forged_conn(frame)->first_seq);
		memcpy(w.request, h, sizeof(w.request));
		w.requests++;
		return !w.drop_requests;
	}
	if (h->type == VIA_WIRE_ACCEPT) {
		w.server_vi = be32_to_cpu(forged_conn(frame)->vi);
		w.server_cookie = be64_to_cpu(forged_conn(frame)->sender_cookie);
		w.server_seq = be32_to_cpu(forged_conn(frame)->first_seq);
	}
	w.told += h->type == VIA_WIRE_ACK &&
		  !memcmp(((struct ethhdr *)frame)->h_source, mac(1), ETH_ALEN);
	w.peer_accepts += h->type == VIA_WIRE_PEER_ACCEPT;
	return true;
}

/* Programs */

static void open_vi(struct prog_nic *n, struct prog_vi *v, const char *node)
{
	prog_open_vi(n, v, node, 4096, VIA_RELIABLE_DELIVERY);
}

static void stay(u32 i, struct prog_vi *v)
{
	w.up[i] = !w.ret[i];
	while (w.up[i] && !w.over) {
		sim_sleep(MS);
		sim_expect(w.over || prog_state(v) == VIA_STATE_CONNECTED,
			   "(%u)", prog_state(v));
	}
}

static void asks(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, "via_a");
	w.ret[0] = prog_request_served(&v, mac(1), "forged", 200 * MS);
	stay(0, &v);
	w.over = true;
	prog_close(&n);
}

static void serves(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, "via_b");
	w.ret[1] = prog_accept(&v, "forged", 200 * MS);
	stay(1, &v);
	prog_close(&n);
}

static void looks(void *arg)
{
	u32 i = (uintptr_t)arg;
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, i ? "via_b" : "via_a");
	w.up[i] = true;
	while (!w.go)
		sim_sleep(sim_dice(1000));
	w.ret[i] = prog_p2p(&v, mac(!i), "forged",
			    w.lie == PEERS_OF_OLD ? 2 * SEC : 100 * MS);
	w.over = true;
	prog_close(&n);
}

static void names(void *arg)
{
	struct via_name_answer a[8];
	struct via_name_query q = { .count = ARRAY_SIZE(a),
				    .answers = (uintptr_t)a };
	struct prog_nic n;
	u32 i;

	sim_ok(prog_open(&n, "via_a", 0));
	if (sim_dice(2))
		strcpy(q.name, "liar");
	sim_ok(sim_ioctl(n.file, VIA_IOC_NAME_QUERY, &q));
	for (i = 0; i < q.count; i++)
		sim_expect(strcmp(a[i].name, "liar"), "an answer to nothing");
	w.over = true;
	prog_close(&n);
}

/* What is wrong was not handed out, what is right is. */
static void waits(void *arg)
{
	struct prog_nic n;
	u32 conn;
	int ret;

	sim_ok(prog_open(&n, "via_a", 0));
	w.up[0] = true;
	ret = prog_conn_wait(&n, "forged", 20 * MS, &conn);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	w.up[1] = true;
	sim_ok(prog_conn_wait(&n, "forged", 200 * MS, &conn));
	w.over = true;
	prog_close(&n);
}

static void start(u32 i, void (*fn)(void *arg))
{
	host_run(i, i ? "second" : "first", fn, (void *)(uintptr_t)i);
}

/* Lies */

static void accept_of_other(void)
{
	struct forged f;

	w.drop_requests = true;
	start(0, asks);
	while (!w.over) {
		sim_pause(500000);
		sim_expect(!w.up[0], "another host is not the one asked");
		if (!w.requests)
			continue;
		forge_conn(&f, mac(2), mac(0), VIA_WIRE_ACCEPT, "forged", 3,
			   77);
		forged_conn(f.data)->to = cpu_to_be32(w.vi);
		forged_wire(f.data)->cookie = cpu_to_be64(w.cookie);
		forge_throw(&f, w.nic[0]);
	}
	sim_expect(w.ret[0] == VIA_R_TIMEOUT, "(%d)", w.ret[0]);
}

/* To the server: its client is not there. */
static void forge_reset(struct forged *f, u64 cookie, u32 seq)
{
	forge(f, mac(0), mac(1), VIA_WIRE_RESET);
	forged_wire(f->data)->cookie = cpu_to_be64(cookie);
	forged_end(f->data)->src = cpu_to_be32(w.vi);
	forged_end(f->data)->seq = cpu_to_be32(seq);
}

static void connect_both(void)
{
	start(0, asks);
	start(1, serves);
	sim_await(w.over || (w.up[0] && w.up[1]), 100000);
}

/* A number that is not in the window, which has one place. */
static u32 elsewhere(u32 at)
{
	return sim_dice(2) ? at + 65 + sim_dice(1u << 30) :
			     at - 1 - sim_dice(1u << 30);
}

/*
 * The server is told that its client has left, by one that has seen all but
 * the numbers of the moment.  DISCONNECT is answered with these, not each time.
 */
static void end_of_now(void)
{
	struct forged f;
	u64 from;
	u32 i;

	connect_both();
	w.told = 0;
	from = sim_clock;
	for (i = 0; i < 40 && !w.over; i++) {
		u32 seq = w.first_seq, ack = w.server_seq;

		switch (sim_dice(3)) {
		case 0:
			forge_answer(&f, mac(0), mac(1), VIA_WIRE_CANCEL, w.vi,
				     w.cookie);
			break;
		case 1:
			forge_reset(&f, w.cookie, elsewhere(ack));
			break;
		default:
			forge(&f, mac(0), mac(1), VIA_WIRE_DISCONNECT);
			forged_wire(f.data)->dst = cpu_to_be32(w.server_vi);
			forged_wire(f.data)->cookie =
				cpu_to_be64(w.server_cookie);
			if (sim_dice(2))
				seq = elsewhere(seq);
			else
				ack = elsewhere(ack);
			forged_end(f.data)->seq = cpu_to_be32(seq);
			forged_end(f.data)->ack = cpu_to_be32(ack);
		}
		forge_throw(&f, w.nic[1]);
		sim_pause(500000);
	}
	/* One in 8 ms, of which a part may have begun. */
	sim_expect(w.over || (w.told &&
			      w.told <= 2 + (sim_clock - from) / (8 * MS)),
		   "%u acknowledgements in %llu us", w.told,
		   (sim_clock - from) / 1000);
	w.over = true;
}

/* Its sender speaks 3 to 4, it says. */
static void forge_version(struct forged *f, const u8 *from, u8 about)
{
	struct via_wire_version *v = (void *)forged_wire(f->data);

	forge(f, from, mac(0), VIA_WIRE_VERSIONS);
	f->len = ETH_HLEN + VIA_WIRE_VERSION_LEN;
	v->version = 4;
	v->lowest = 3;
	v->about = about;
	memcpy(v->quote, w.request, sizeof(v->quote));
}

static void version_of_now(void)
{
	struct forged f;
	u32 i;

	connect_both();
	for (i = 0; i < 20 && !w.over; i++) {
		forge_version(&f, mac(1), VIA_WIRE_VERSION);
		forge_throw(&f, w.nic[0]);
		sim_pause(500000);
	}
	/* One that has forgotten it says so when it is asked. */
	if (!w.over)
		msleep(2500);
	w.over = true;
}

static void version_of_other(void)
{
	struct via_wire_version *v;
	struct forged f;

	w.drop_requests = true;
	start(0, asks);
	/* The other host is one that is known. */
	forge_conn(&f, mac(2), mac(0), VIA_WIRE_REQUEST, "none", 1, 1);
	forge_throw(&f, w.nic[0]);
	while (!w.over) {
		sim_pause(500000);
		if (!w.requests)
			continue;
		forge_version(&f, mac(1), VIA_WIRE_VERSION);
		v = (void *)forged_wire(f.data);
		switch (sim_dice(4)) {
		case 0:
			memcpy(((struct ethhdr *)f.data)->h_source, mac(2),
			       ETH_ALEN);
			break;
		case 1:
			v->about++;
			break;
		case 2:
			v->lowest = VIA_WIRE_VERSION;
			break;
		default:
			v->quote[sim_dice(VIA_WIRE_QUOTE)] ^= 1 << sim_dice(8);
		}
		forge_throw(&f, w.nic[0]);
	}
	sim_expect(w.ret[0] == VIA_R_TIMEOUT, "(%d)", w.ret[0]);
}

/* The server is told that its client is not there, by another cookie. */
static void reset_of_old(void)
{
	struct forged f;
	u32 i;

	connect_both();
	for (i = 0; i < 20 && !w.over; i++) {
		u64 other = w.cookie + 1 + sim_dice(1000);

		if (sim_dice(2))
			forge_answer(&f, mac(0), mac(1), VIA_WIRE_CANCEL, w.vi,
				     other);
		else
			forge_reset(&f, other, w.server_seq);
		forge_throw(&f, w.nic[1]);
		sim_pause(500000);
	}
	w.over = true;
}

static void peer_of_other(void)
{
	struct forged f;

	start(0, looks);
	w.go = true;
	sim_await(w.up[0], 100000);
	while (!w.over) {
		forge_conn(&f, mac(2), mac(0), VIA_WIRE_PEER_REQUEST, "forged",
			   3, 77);
		memcpy(forged_conn(f.data)->client.host, mac(1), ETH_ALEN);
		forge_throw(&f, w.nic[0]);
		sim_pause(MS);
	}
	sim_expect(!w.peer_accepts, "it answers one that is not looked for");
	sim_expect(w.ret[0] == VIA_R_TIMEOUT, "(%d)", w.ret[0]);
}

/*
 * Late duplicates, as the first one begins to look: each costs a round trip,
 * and then it finds the one that is there.
 */
static void peers_of_old(void)
{
	u32 i, n = 1 + sim_dice(30);
	struct forged f;

	start(0, looks);
	sim_await(w.up[0], 100000);
	w.go = true;
	for (i = 0; i < n; i++) {
		forge_conn(&f, mac(1), mac(0), VIA_WIRE_PEER_REQUEST, "forged",
			   3 + i, 77 + i);
		forge_throw(&f, w.nic[0]);
		sim_pause(sim_dice(1500));
	}
	msleep(sim_dice(50));
	start(1, looks);
	programs_wait();
	sim_expect(!w.ret[0] && !w.ret[1], "(%d, %d)", w.ret[0], w.ret[1]);
}

static void reply_to_none(void)
{
	struct via_wire_name *n;
	struct forged f;

	start(0, names);
	while (!w.over) {
		forge(&f, mac(2), mac(0), VIA_WIRE_NAME_REPLY);
		n = (void *)(forged_wire(f.data) + 1);
		/* One of 2^32 would be right. */
		n->nonce = sim_dice64();
		n->name_len = 4;
		memcpy(n->name, "liar", 4);
		forge_throw(&f, w.nic[0]);
		sim_pause(200000);
	}
}

/* A value that no sender writes; those of the body are sealed. */
static void spoil(struct forged *f)
{
	struct via_wire_hello *h = forged_hello(f->data);
	struct via_wire_conn *c = forged_conn(f->data);
	u8 *lens[] = { &c->client.host_len, &c->server.host_len,
		       &c->client.disc_len, &c->server.disc_len };
	u32 i = sim_dice(9);

	switch (i) {
	case 0:
		h->mtu = cpu_to_be32(sim_dice(2) ? sim_dice(320) : 65536);
		break;
	case 1:
		c->sender_cookie = 0;
		break;
	case 2:
		h->frames = 0;
		break;
	case 3:
		c->options = cpu_to_be32((VIA_WIRE_OPTIONS + 1) <<
					 sim_dice(29));
		break;
	case 4:
		((struct ethhdr *)f->data)->h_source[0] |= 1;
		break;
	default:
		*lens[i - 5] = (i < 7 ? VIA_WIRE_HOST_MAX : VIA_WIRE_DISC_MAX) +
			       1 + sim_dice(100);
	}
}

static void bad_request(void)
{
	u8 host[ETH_ALEN];
	struct forged f;
	u32 i = 0;

	start(0, waits);
	sim_await(w.up[0], 100000);
	while (!w.over) {
		forge_host(host, ++i);
		forge_conn(&f, host, mac(0), VIA_WIRE_REQUEST, "forged", 3,
			   77 + i);
		if (!w.up[1])
			spoil(&f);
		forge_throw(&f, w.nic[0]);
		sim_pause(MS);
	}
}

static void forged(void)
{
	static void (*const lies[LIES])(void) = {
		accept_of_other, reset_of_old, end_of_now, version_of_now,
		version_of_other, peer_of_other, peers_of_old, reply_to_none,
		bad_request,
	};
	/* Of two peers the one with the higher address answers. */
	static const u8 last[] = { 3, 2, 1 };
	static const char *const names[] = { "a", "b", "c" };
	u32 i;

	for (i = 0; i < 3; i++)
		w.nic[i] = sim_nic_up(names[i], last[i]);
	sim_wire.meddle = look;
	w.lie = sim_dice(LIES);
	lies[w.lie]();
	programs_wait();
	for (i = 0; i < 3; i++)
		sim_nic_down(w.nic[i]);
}

SIM_SCENARIO(.name = "forged", .run = forged, .runs = 200, .seconds = 60,
	     SIM_STATE(w),
	     .what = "single frames that must not be believed")

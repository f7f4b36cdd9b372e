// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Frames that no host has sent, beside streams: made up, changed, replayed.
 * A host that does not know a connection's cookie does it no harm
 * (docs/explain/security.md); one that does can end it or spoil bytes, but nothing
 * leaks, crashes or hangs.
 */
#include "../../devices/ether/via_ether.h"
#include "s_forge.h"
#include "stream.h"

#define CAUGHT		256
#define FRAME_MAX	1600
#define STREAMS_MAX	3


static struct caught {
	u32 len;
	u8 data[FRAME_MAX];
} caught[CAUGHT];
static u32 ncaught;

static bool catch(void *arg, u8 *frame, u32 *len)
{
	struct caught *c;

	/* The latest, and some of old. */
	if (*len > FRAME_MAX || (ncaught >= CAUGHT && sim_dice(8)))
		return true;
	c = &caught[ncaught < CAUGHT ? ncaught : sim_dice(CAUGHT)];
	ncaught++;
	c->len = *len;
	memcpy(c->data, frame, *len);
	return true;
}

static struct via_wire *wire_of(u8 *f)
{
	return (struct via_wire *)(f + ETH_HLEN);
}

static void noise(u8 *p, u32 n)
{
	while (n--)
		*p++ = sim_dice(256);
}

static u8 some_type(void)
{
	static const u8 types[] = {
		VIA_WIRE_SEND, VIA_WIRE_WRITE, VIA_WIRE_READ,
		VIA_WIRE_READ_DATA, VIA_WIRE_ACK, VIA_WIRE_DISCONNECT,
		VIA_WIRE_DISCONNECT_ACK, VIA_WIRE_RESET, VIA_WIRE_REQUEST,
		VIA_WIRE_CHALLENGE, VIA_WIRE_ACCEPT, VIA_WIRE_WAIT,
		VIA_WIRE_REFUSE, VIA_WIRE_CONFIRM, VIA_WIRE_CANCEL,
		VIA_WIRE_PEER_REQUEST, VIA_WIRE_PEER_ACCEPT,
		VIA_WIRE_HEARTBEAT, VIA_WIRE_HEARTBEAT_ACK, VIA_WIRE_ACKS,
		VIA_WIRE_LIST, VIA_WIRE_NAME_QUERY, VIA_WIRE_NAME_REPLY,
		VIA_WIRE_VERSIONS,
	};

	return types[sim_dice(ARRAY_SIZE(types))];
}

/* A seal that is right, where the frame may have one. */
static void reseal(u8 *f, u32 len)
{
	struct via_wire *w = wire_of(f);
	u32 size;

	if (via_wire_has_conn(w->type))
		size = VIA_WIRE_CONN_LEN;
	else if (w->type == VIA_WIRE_CHALLENGE)
		size = VIA_WIRE_HELLO_LEN;
	else if (w->type == VIA_WIRE_NAME_QUERY ||
		 w->type == VIA_WIRE_NAME_REPLY)
		size = VIA_WIRE_NAME_LEN;
	else if (w->type == VIA_WIRE_HEARTBEAT || w->type == VIA_WIRE_HEARTBEAT_ACK)
		size = VIA_WIRE_HEARTBEAT_LEN;
	else if (w->type >= VIA_WIRE_ACK && w->type < VIA_WIRE_ACKS)
		size = VIA_WIRE_ACK_LEN;
	else
		return;
	if (ETH_HLEN + size + VIA_WIRE_SEAL_LEN <= len)
		sim_seal(f, ETH_HLEN + size + VIA_WIRE_SEAL_LEN, 0);
}

/* A frame of ours, or one that is only of our EtherType. */
static u32 begin(u8 *f, u32 to)
{
	const struct caught *c = &caught[sim_dice(min(ncaught, CAUGHT))];
	struct ethhdr *eth = (void *)f;
	u32 len = c->len;

	memset(f, 0, FRAME_MAX);
	if (ncaught && sim_dice(4)) {
		memcpy(f, c->data, len);
		return len;
	}
	len = ETH_HLEN + (sim_dice(4) ? sim_dice(300) : sim_dice(1500));
	noise(f, len);
	memcpy(eth->h_source, host_mac(!to), ETH_ALEN);
	memcpy(eth->h_dest, host_mac(to), ETH_ALEN);
	eth->h_proto = cpu_to_be16(VIA_WIRE_ETHERTYPE);
	wire_of(f)->version = VIA_WIRE_VERSION;
	wire_of(f)->type = some_type();
	wire_of(f)->flags &= VIA_WIRE_FLAGS;
	if (wire_of(f)->type >= VIA_WIRE_ACK && sim_dice(8))
		wire_of(f)->flags &= VIA_WIRE_FLAGS_OTHER;
	wire_of(f)->marks &= VIA_WIRE_MARKS;
	wire_of(f)->dst = !via_wire_has_dst(wire_of(f)->type) ? 0 :
			  cpu_to_be32(1 + sim_dice(8));
	return len;
}

/* Of data, and what lies there in ends and acknowledgements. */
static u32 nudged(__be32 number)
{
	return cpu_to_be32(sim_dice(200) - 100 + be32_to_cpu(number));
}

static void change(u8 *f, u32 *len)
{
	struct via_wire_data *d = (void *)(wire_of(f) + 1);
	u32 i;

	for (i = 1 + sim_dice(4); i; i--)
		switch (sim_dice(6)) {
		case 0:
			f[ETH_HLEN + sim_dice(*len - ETH_HLEN)] ^=
				1 << sim_dice(8);
			break;
		case 1:
			noise(f + ETH_HLEN + sim_dice(*len - ETH_HLEN), 1);
			break;
		case 2:
			*len = max(ETH_HLEN + 1 + sim_dice(*len - ETH_HLEN),
				   20u);
			break;
		case 3:
			wire_of(f)->type = some_type();
			break;
		case 4:
			/* Numbers about those that count. */
			d->seq = nudged(d->seq);
			break;
		default:
			d->ack = nudged(d->ack);
		}
	if (sim_dice(2))
		reseal(f, *len);
}

/* What names a connection is guessed. */
static void forget_cookies(u8 *f, u32 len)
{
	struct via_wire_hello *h = (void *)(wire_of(f) + 1);
	struct via_wire_conn *c = (void *)(h + 1);
	struct via_wire_heartbeat *b = (void *)(wire_of(f) + 1);

	wire_of(f)->cookie = sim_dice64();
	/* The answer to a HEARTBEAT has its number. */
	if (wire_of(f)->type == VIA_WIRE_HEARTBEAT_ACK)
		noise((u8 *)&b->time, sizeof(b->time));
	/* Nor does a connection frame carry what would fit. */
	if (len >= ETH_HLEN + VIA_WIRE_CONN_LEN) {
		c->sender_cookie = wire_of(f)->cookie;
		noise(c->server.disc, sizeof(c->server.disc));
	}
	reseal(f, len);
}

/* A stack may say that it is a train, and some fit. */
static u32 some_train(u8 *f, u32 len)
{
	struct via_wire_data *d = (void *)(wire_of(f) + 1);
	u32 hdr = via_ether_train_hdr(f + ETH_HLEN, len - ETH_HLEN);

	if (sim_dice(4))
		return 0;
	if (hdr && len > ETH_HLEN + hdr + 2 && sim_dice(4)) {
		d->len = cpu_to_be16(1 + sim_dice(len - ETH_HLEN - hdr - 1));
		return be16_to_cpu(d->len);
	}
	return sim_dice(len);
}

static void throw(bool blind)
{
	bool changed = sim_dice(2) || !ncaught;
	u32 to = sim_dice(2), len, train = 0;
	u8 f[FRAME_MAX];

	len = begin(f, to);
	if (changed) {
		change(f, &len);
		if (blind)
			forget_cookies(f, len);
	} /* else it is one that was sent before, as it was */
	len = max_t(u32, len, ETH_HLEN + 1);
	/* With its cookie in it, to say more of it is to know the cookie. */
	if (changed || !blind)
		train = some_train(f, len);
	sim_nic_inject_train(host_nic(to), f, len, train);
	/* To a group: a question, or nothing. */
	if (!sim_dice(50)) {
		memset(f, 0xff, ETH_ALEN);
		sim_nic_inject(host_nic(to), f, len);
	}
}

static void run(u32 blind)
{
	struct stream *s[STREAMS_MAX];
	u32 n = 1 + sim_dice(STREAMS_MAX), i, left, batch;
	struct stream_plan p;

	hosts_up(2);
	stream_draw(&p, 0);
	p.sessions = 1 + sim_dice(4);
	p.pace_ns = sim_dice(2) ? 0 : sim_dice(1000000);
	p.may_lie = !blind;
	p.patience = blind ? 45 * SEC : 15 * SEC;
	if (!blind)
		p.sessions = 1;
	ncaught = 0;
	sim_wire.meddle = catch;
	if (sim_dice(2))
		sim_param_set("checksum", 1);
	for (i = 0; i < n; i++)
		s[i] = stream_begin(&p, i, 0, 1);
	do {
		for (batch = sim_dice(30); batch; batch--)
			throw(blind);
		sim_pause(1000 + sim_dice(1000000));
		/* So long as it matters; then those that wait come to an end. */
		if (sim_clock > 5 * SEC)
			msleep(100);
		for (i = 0, left = 0; i < n; i++)
			left += !stream_done(s[i]);
	} while (left);
	for (i = 0; i < n; i++)
		stream_end(s[i]);
	hosts_down();
}

static void blind(void)
{
	run(true);
}

/* Requests of hosts that are not there, some for a server that waits. */
static void request(bool fits, bool proven)
{
	struct via_wire_conn *c;
	u8 host[ETH_ALEN] = { 2 };
	struct forged f;

	noise(host + 1, 5);
	forge_conn(&f, host, host_mac(1), VIA_WIRE_REQUEST,
		   fits ? "stream0" : "nothing", 1 + sim_dice(65536),
		   sim_dice64() | 1);
	forged_hello(f.data)->frames = cpu_to_be32(1 + sim_dice(64));
	forged_hello(f.data)->mtu = cpu_to_be32(320 + sim_dice(9000));
	c = forged_conn(f.data);
	c->first_seq = sim_dice64();
	c->reliability = cpu_to_be32(1u << sim_dice(3));
	c->rights = cpu_to_be32(sim_dice(4));
	c->timeout_ms = cpu_to_be32(sim_dice(2) ? VIA_WIRE_FOREVER :
						  sim_dice(10000));
	f.unproven = !proven;
	forge_throw(&f, host_nic(1));
}

static void flood(void)
{
	u32 fitting = 1 + sim_dice(4), all = 500 + sim_dice(2500), i;
	bool proven = sim_dice(2), fits;
	struct stream_plan p;
	struct stream *s;

	hosts_up(2);
	stream_draw(&p, 0);
	/* What is not proven takes no waiter and gets no longer answer. */
	p.ghosts = proven;
	sim_wire.weigh = !proven;
	s = stream_begin(&p, 0, 0, 1);
	for (i = 0; i < all && !stream_done(s); i++) {
		fits = !proven ? sim_dice(2) : fitting && !sim_dice(300);
		fitting -= proven && fits;
		request(fits, proven);
		if (!sim_dice(20))
			sim_pause(sim_dice(100000));
	}
	sim_wire.weigh = false;
	stream_end(s);
	hosts_down();
}

SIM_SCENARIO(.name = "hostile-blind", .run = blind, .runs = 50,
	     .what = "replays and forged frames without the cookies")
SIM_SCENARIO(.name = "hostile-knowing", .run_as = run, .as = false, .runs = 50,
	     .what = "forged frames with the cookies")
SIM_SCENARIO(.name = "hostile-flood", .run = flood, .runs = 30,
	     .what = "floods of requests")

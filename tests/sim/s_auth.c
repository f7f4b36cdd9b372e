// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Hosts with a key in common (docs/reference/wire.md, "Authenticator"): between them no
 * frame but REQUEST and CHALLENGE goes without an authenticator, and none that
 * one without the key sends, or sends again, has an effect.
 */
#include <stdio.h>
#include "s_forge.h"
#include "stream.h"
#include "../../devices/ether/stats.h"
#include "../../devices/ether/vi.h"

#define STREAMS	3
#define KEPT	256u
#define ROOM	1600u

struct kept {
	u32 len;
	u8 data[ROOM];
};

static struct {
	struct stream *stream[STREAMS];
	u32 nstreams;
	struct kept kept[KEPT];
	u32 n;				/* frames seen */
	struct kept type[2][256];	/* the last one of each, by sender */
	u32 every;			/* a frame in so many is attacked, 0: none */
	u32 copies;			/* of frames with authenticators, thrown */
	u32 lose;			/* of 1,000 */
	bool over;			/* nothing but what is thrown is answered */
	u32 told;			/* CHALLENGEs since then */
	u32 server;			/* differ: its host may send no more */
	bool differ;
} w;

static u64 count(u32 i, enum via_ether_count c)
{
	const struct via_ether_nic *nic = sim_nic_ether(host_nic(i));
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(nic->counters, cpu)->c[c];
	return sum;
}

/* @digit: 64 of it are the key that NIC @i has for the other one; 0: none. */
static void set_key(u32 i, char digit)
{
	char text[120], key[65] = "";

	memset(key, digit, 64);
	sprintf(text, "52:54:00:00:01:77\n52:54:00:00:01:%02x%s%s\n", 2 - i,
		digit ? " key=" : " key=none", key);
	/* A host on the old list would keep its key. */
	sim_ok(sim_peers(i ? "via_b" : "via_a", VIA_PEERS_ONLY, text));
}

static void set_list(u32 i, const char *text)
{
	int ret = sim_peers(i ? "via_b" : "via_a",
			    strspn(text, "\n") == strlen(text) ?
			    VIA_PEERS_ANY : VIA_PEERS_ONLY, text);

	sim_expect(!ret, "(%d)", ret);
}

/* A REQUEST, or what answers it, may go before there is a session. */
static bool may_lack(u8 type)
{
	return type == VIA_WIRE_REQUEST || type == VIA_WIRE_PEER_REQUEST ||
	       type == VIA_WIRE_CHALLENGE;
}

static u32 sender_of(const u8 *frame)
{
	return !!memcmp(frame + ETH_ALEN, host_mac(0), ETH_ALEN);
}

static void throw(const struct kept *k, u32 to)
{
	sim_nic_inject(host_nic(to), k->data, k->len);
}

/* Without its authenticator, and with the checksum that a frame may have. */
static void strip(struct kept *k)
{
	struct via_wire *h = forged_wire(k->data);
	struct via_frame_hdr p;
	u32 size, sum;

	if (!(h->flags & VIA_WIRE_AUTH) ||
	    via_wire_parse(h, k->len - ETH_HLEN, &p))
		return;
	sum = via_wire_always_sealed(h->type) || sim_dice(2) ?
	      VIA_WIRE_SEAL_LEN : 0;
	size = ETH_HLEN + p.hdr_len - VIA_WIRE_AUTH_LEN + sum;
	memmove(k->data + size, k->data + ETH_HLEN + p.hdr_len, p.len);
	h->flags &= ~VIA_WIRE_AUTH;
	if (sum)
		sim_seal(k->data, size, p.len);
	k->len = max_t(u32, size + p.len, ETH_ZLEN);
}

/* Another number, so that the frame is new. */
static void renumber(struct kept *k)
{
	struct via_wire *h = forged_wire(k->data);
	struct via_frame_hdr p;
	u8 *at;

	if (!(h->flags & VIA_WIRE_AUTH) ||
	    via_wire_parse(h, k->len - ETH_HLEN, &p))
		return;
	at = (u8 *)h + p.hdr_len - VIA_WIRE_AUTH_LEN;
	at[sim_dice(8)] = sim_dice(256);
}

/* What one that sees the wire can do without the key. */
static void attack(void)
{
	struct kept k = w.kept[sim_dice(min(w.n, KEPT))];
	u32 to = !sender_of(k.data), i;
	u8 mac[ETH_ALEN];

	switch (sim_dice(6)) {
	case 0:
	case 1:
		w.copies += !!(forged_wire(k.data)->flags & VIA_WIRE_AUTH) &&
			    !via_wire_asks(forged_wire(k.data)->type);
		break;
	case 2:
		memcpy(mac, k.data, ETH_ALEN);
		memcpy(k.data, k.data + ETH_ALEN, ETH_ALEN);
		memcpy(k.data + ETH_ALEN, mac, ETH_ALEN);
		to = !to;
		break;
	case 3:
		for (i = 1 + sim_dice(3); i; i--)
			k.data[ETH_HLEN + sim_dice(k.len - ETH_HLEN)] ^=
				1 << sim_dice(8);
		break;
	case 4:
		strip(&k);
		break;
	default:
		renumber(&k);
	}
	throw(&k, to);
}

static void quiet(const u8 *frame)
{
	u8 type = forged_wire((u8 *)frame)->type;

	sim_expect(type == VIA_WIRE_CHALLENGE, "a frame of type %#x", type);
	w.told++;
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);
	u32 from = sender_of(frame);
	struct kept *k;

	/* VERSION has none. */
	if (h->type && !may_lack(h->type))
		sim_expect(h->flags & VIA_WIRE_AUTH, "type %#x", h->type);
	sim_expect(h->type != VIA_WIRE_CHALLENGE ||
		   !(h->flags & VIA_WIRE_AUTH), "");
	if (w.differ && from == w.server)
		sim_expect(may_lack(h->type), "type %#x", h->type);
	if (w.over)
		quiet(frame);
	sim_expect(*len <= ETH_HLEN + 1500, "(%u)", *len);
	k = &w.kept[w.n++ % KEPT];
	k->len = *len;
	memcpy(k->data, frame, *len);
	w.type[from][h->type] = *k;
	if (w.every && !sim_dice(w.every))
		attack();
	return sim_dice(1000) >= w.lose;
}

static void begin(void)
{
	if (!sim_dice(4))
		sim_nics_dma();
	hosts_up(2);
}

static void end(void)
{
	sim_wire.meddle = NULL;
	hosts_down();
}

static void streams(void)
{
	struct stream_plan p;
	u32 i;

	stream_draw(&p, 0);
	p.messages[0] = min(p.messages[0], 60u);
	p.messages[1] = min(p.messages[1], 60u);
	w.nstreams = 1 + sim_dice(STREAMS);
	for (i = 0; i < w.nstreams; i++)
		w.stream[i] = stream_between(&p, i);
	for (i = 0; i < w.nstreams; i++)
		stream_end(w.stream[i]);
}

/* Streams over a bad wire: sessions begin once, nothing is taken for forged. */
static void keyed(void)
{
	u32 i;

	begin();
	set_key(0, '5');
	set_key(1, '5');
	sim_wire.meddle = look;
	w.lose = sim_dice(2) ? 0 : sim_dice(30);
	sim_wire.dup = sim_dice(2) ? 0 : 500;
	if (sim_dice(2)) {
		sim_wire.reorder = 200;
		sim_wire.jitter_ns = 2000000;
	}
	streams();
	for (i = 0; i < 2; i++) {
		sim_expect(count(i, VIA_C_SESSIONS) == 1, "(%llu)",
			   count(i, VIA_C_SESSIONS));
		sim_expect(!count(i, VIA_C_BAD_AUTH), "(%llu)",
			   count(i, VIA_C_BAD_AUTH));
		sim_expect(!sim_wire.dup || w.n < 200 ||
			   count(0, VIA_C_REPLAYED) +
			   count(1, VIA_C_REPLAYED), "no copy is counted");
	}
	end();
}

/* The last frame of each type once more, from either host. */
static void throw_kept(void)
{
	u32 i, t;

	for (i = 0; i < 2; i++)
		for (t = 0; t < 256; t++)
			if (w.type[i][t].len) {
				throw(&w.type[i][t], !i);
				sim_pause(MS);
			}
}

/*
 * The same beside an attacker, who does no harm; and when all is over, each
 * frame that there was comes once more, to hosts that know it and to one that
 * was started again.
 */
static void attacked(void)
{
	u64 dropped;
	u32 i, t, asked = 0;

	begin();
	set_key(0, 'c');
	set_key(1, 'c');
	sim_wire.meddle = look;
	w.every = 1 + sim_dice(6);
	streams();
	w.every = 0;
	msleep(1000);
	dropped = count(0, VIA_C_BAD_AUTH) + count(1, VIA_C_BAD_AUTH) +
		  count(0, VIA_C_REPLAYED) + count(1, VIA_C_REPLAYED);
	sim_expect(dropped >= w.copies, "%llu of %u copies are dropped",
		   dropped, w.copies);
	/* What is sent again without an answer has been sent. */
	msleep(30000);
	/*
	 * Beside a flood, tags of frames whose connection has ended are not
	 * looked at: such a frame is as good as lost, and the first copy of it
	 * is taken.
	 */
	if (count(0, VIA_C_UNANSWERED) + count(1, VIA_C_UNANSWERED))
		throw_kept();
	sim_pause(20 * MS);
	if (sim_dice(2)) {
		host_down(1);
		host_up(1);
		set_key(1, 'c');
	}
	w.over = true;
	for (i = 0; i < 2; i++)
		for (t = 0; t < 256; t++) {
			if (!w.type[i][t].len)
				continue;
			asked += 2 * via_wire_asks(t);
			throw(&w.type[i][t], !i);
			sim_pause(MS);
			strip(&w.type[i][t]);
			throw(&w.type[i][t], !i);
			sim_pause(MS);
		}
	sim_pause(20 * MS);
	sim_expect(w.told <= asked, "(%u, %u)", w.told, asked);
	end();
}

/* Programs at the ends of a connection. */
static struct {
	char disc[8];
	u32 level;
	bool peers;			/* peer to peer */
	int wants;			/* of the client's request */
	bool lost[2], up[2], leave;
	u64 at[2];			/* when it was lost */
} e;

static void wait_lost(struct prog_vi *v, u32 i)
{
	e.up[i] = true;
	while (!e.leave) {
		sim_sleep(MS);
		if (prog_state(v) == VIA_STATE_CONNECTED)
			continue;
		e.lost[i] = true;
		e.at[i] = sim_now();
		break;
	}
	sim_await(e.leave, MS);
	prog_disconnect(v);
}

static void asks(void *arg)
{
	u64 limit = e.wants ? 300 * MS : 20 * SEC;
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	prog_open_vi(&n, &v, "via_a", 4096, e.level);
	ret = e.peers ? prog_p2p(&v, host_mac(1), e.disc, limit) :
			prog_request_served(&v, host_mac(1), e.disc, limit);
	sim_expect(ret == e.wants, "(%d)", ret);
	if (!ret)
		wait_lost(&v, 0);
	prog_close(&n);
}

static void answers(void *arg)
{
	u64 limit = e.wants ? 300 * MS : 20 * SEC;
	struct prog_nic n;
	struct prog_vi v;
	u32 conn;
	int ret;

	prog_open_vi(&n, &v, "via_b", 4096, e.level);
	if (e.peers)
		ret = prog_p2p(&v, host_mac(0), e.disc, limit);
	else if (e.wants)
		ret = prog_conn_wait(&n, e.disc, limit, &conn);
	else
		ret = prog_accept(&v, e.disc, limit);
	sim_expect(ret == e.wants, "(%d)", ret);
	if (!ret)
		wait_lost(&v, 1);
	prog_close(&n);
}

static struct kept before[2][256];	/* of a life before */

static void connect(const char *disc, int wants)
{
	memset(&e, 0, sizeof(e));
	strcpy(e.disc, disc);
	e.level = sim_dice(2) ? VIA_RELIABLE_DELIVERY : VIA_UNRELIABLE;
	e.peers = sim_dice(2);
	e.wants = wants;
	host_run(0, "asks", asks, NULL);
	host_run(1, "answers", answers, NULL);
	sim_await(wants || (e.up[0] && e.up[1]), 100000);
}

static void leave(void)
{
	e.leave = true;
	programs_wait();
}

/* Two keys, or one: nothing but CHALLENGE is to be had of the host asked. */
static void differ(void)
{
	u32 keyed;

	begin();
	if (!sim_dice(3)) {
		set_key(0, '1');
		set_key(1, '2');
		w.differ = true;
		w.server = 1;
		sim_wire.meddle = look;
	} else {
		keyed = sim_dice(2);
		set_key(keyed, '1');
		if (sim_dice(2))
			set_key(!keyed, 0);
	}
	connect("differ", VIA_R_TIMEOUT);
	leave();
	/* What was sent is on the wire. */
	sim_pause(MS);
	sim_wire.meddle = NULL;
	w.differ = false;
	set_key(0, '3');
	set_key(1, '3');
	sim_wire.meddle = look;
	connect("same", 0);
	sim_expect(!e.lost[0] && !e.lost[1], "");
	leave();
	end();
}

/* Root changes a key while a connection stands. */
static void change(void)
{
	bool before = sim_dice(4), stays = false;
	u32 at = sim_dice(2);
	u64 from;

	begin();
	set_key(0, before ? '7' : 0);
	set_key(1, before ? '7' : 0);
	connect("old", 0);
	sim_pause(20 * MS);
	from = sim_now();
	if (!before) {
		set_key(at, '8');
	} else {
		switch (sim_dice(4)) {
		case 0:
			stays = true;
			set_list(at, at ? "52:54:00:00:01:01 key=77777777777777777777777777777777"
				 "77777777777777777777777777777777 52:54:00:00:01:55\n" :
				 "52:54:00:00:01:55 52:54:00:00:01:02 key=77777777777777777777777777777777"
				 "77777777777777777777777777777777\n");
			break;
		case 1:
			set_key(at, '8');
			break;
		case 2:
			set_key(at, 0);
			break;
		default:
			set_list(at, "\n");
		}
	}
	sim_pause(stays ? 12 * SEC : 50 * MS);
	sim_expect(e.lost[0] == !stays && e.lost[1] == !stays,
		   "(%d, %d: stays %d)", e.lost[0], e.lost[1], stays);
	sim_expect(stays || (e.at[0] < from + 50 * MS &&
			     e.at[1] < from + 50 * MS), "");
	leave();
	if (!before) {
		/* It was told a token when it had no key, and uses none. */
		connect("half", VIA_R_TIMEOUT);
		leave();
	}
	/* What was sent is on the wire. */
	sim_pause(MS);
	set_key(0, '9');
	set_key(1, '9');
	sim_wire.meddle = look;
	connect("new", 0);
	leave();
	end();
}

/*
 * A host is gone without a word and comes back: the other one learns it with the
 * first connection between the two, and not by silence.
 */
static void anew(void)
{
	u32 i, gone = sim_dice(2);

	begin();
	set_key(0, 'a');
	set_key(1, 'a');
	sim_wire.meddle = look;
	connect("old", 0);
	sim_pause(sim_dice(100) * MS);
	memcpy(before, w.type, sizeof(before));
	host_dies(gone);
	host_up(gone);
	set_key(gone, 'a');
	sim_expect(!e.lost[!gone], "");
	/* What stays is of the first pair: its program looks at e.leave. */
	memset(e.up, 0, sizeof(e.up));
	e.lost[!gone] = false;
	strcpy(e.disc, "new");
	host_run(0, "asks again", asks, NULL);
	host_run(1, "answers again", answers, NULL);
	sim_await(e.up[0] && e.up[1], 100000);
	sim_pause(10 * MS);
	sim_expect(e.lost[!gone], "the old connection stands");
	for (i = 0; i < 256; i++) {
		if (before[gone][i].len)
			throw(&before[gone][i], !gone);
		if (before[!gone][i].len)
			throw(&before[!gone][i], gone);
		sim_pause(20000);
	}
	sim_pause(100 * MS);
	sim_expect(!e.lost[gone] && count(0, VIA_C_SESSIONS) +
		   count(1, VIA_C_SESSIONS) == 3, "the new one does not");
	leave();
	end();
}

SIM_SCENARIO(.name = "keyed", .run = keyed, .runs = 60, .seconds = 300,
	     SIM_STATE(w),
	     .what = "streams between hosts with a key, on bad wires")
SIM_SCENARIO(.name = "keyed-attacked", .run = attacked, .runs = 60,
	     .seconds = 300, SIM_STATE(w),
	     .what = "streams with a key beside an attacker without")
SIM_SCENARIO(.name = "keys-differ", .run = differ, .runs = 60, .seconds = 300,
	     SIM_STATE(w),
	     .what = "another key, or a key on one side only")
SIM_SCENARIO(.name = "keys-change", .run = change, .runs = 60, .seconds = 300,
	     SIM_STATE(w),
	     .what = "keys set, changed, removed while a connection stands")
SIM_SCENARIO(.name = "keyed-anew", .run = anew, .runs = 60, .seconds = 300,
	     SIM_STATE(w),
	     .what = "a host with a key is started anew")

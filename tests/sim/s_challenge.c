// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A host that asks for the first time proves its address (docs/reference/wire.md,
 * "Connections"): its first request is answered by CHALLENGE and by nothing
 * else, the second one comes at once and has the token; and ACCEPT tells what
 * the next connection needs.  A token of another host, of another start or of
 * long ago is none.  CHALLENGEs of another host, or about another attempt, have
 * no effect.
 */
#include "s_forge.h"
#include "../../devices/ether/proto/token.h"

static struct {
	struct forged asked;		/* the request that was proven */
	u32 requests, challenges, others;	/* seen, to a stranger too */
	u64 first, second;		/* when, ns */
	u64 told, before;		/* tokens in CHALLENGE, and in ACCEPT */
	bool late;			/* each step is a period of tokens later */
	bool done;
} w;

/* To the VI that has asked: of another host, or with another cookie. */
static void mislead(u8 *request)
{
	static const u8 other[ETH_ALEN] = { 0x52, 0x54, 0, 0, 1, 7 };
	bool host = sim_dice(2);
	struct forged f;

	forge(&f, host ? other : host_mac(1), host_mac(0),
	      VIA_WIRE_CHALLENGE);
	f.len = ETH_HLEN + VIA_WIRE_HELLO_LEN;
	forged_wire(f.data)->dst = forged_wire(request)->dst;
	forged_wire(f.data)->cookie = forged_wire(request)->cookie;
	if (!host)
		forged_wire(f.data)->cookie ^= 1ull << sim_dice(64);
	forged_hello(f.data)->epoch = 1;
	forged_hello(f.data)->token = 2;
	forged_hello(f.data)->frames = cpu_to_be32(64);
	forged_hello(f.data)->mtu = cpu_to_be32(1500);
	forge_throw(&f, host_nic(0));
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	struct via_wire *h = forged_wire(frame);
	u64 token = be64_to_cpu(forged_hello(frame)->token);

	if (h->type == VIA_WIRE_REQUEST &&
	    memcmp(frame, host_mac(1), ETH_ALEN)) {
		sim_expect(!token, "another host is told a token");
	} else if (h->type == VIA_WIRE_REQUEST) {
		w.requests++;
		if (!w.first) {
			w.first = sim_now();
			sim_expect(!token, "");
			mislead(frame);
			return true;
		}
		/* ACCEPT may be under way. */
		sim_expect(token == w.told || (token && token == w.before), "");
		w.second = w.second ?: sim_now();
		w.asked.len = min(*len, (u32)FORGED_MAX);
		memcpy(w.asked.data, frame, w.asked.len);
	} else if (h->type == VIA_WIRE_ACCEPT ||
		   (h->type == VIA_WIRE_HEARTBEAT_ACK &&
		    !memcmp(frame, host_mac(0), ETH_ALEN))) {
		sim_expect(token, "");
		if (token != w.told)
			w.before = w.told;
		w.told = token;
	} else if (h->type == VIA_WIRE_CHALLENGE) {
		sim_expect(token, "");
		w.told = w.challenges++ ? w.told : token;
	} else {
		w.others++;
	}
	return true;
}

static void server(void *arg)
{
	struct prog_nic n;
	struct prog_vi v[2];
	u32 i, conn;

	sim_ok(prog_open(&n, "via_b", 4096));
	for (i = 0; i < 2; i++) {
		sim_ok(prog_vi(&v[i], &n, VIA_RELIABLE_DELIVERY, 0, 0));
		sim_ok(prog_conn_wait(&n, "proven", 200 * SEC, &conn));
		/* What ACCEPT tells is not what the request had. */
		if (w.late && !i)
			sim_sleep(VIA_TOKEN_SECONDS * (u64)SEC);
		sim_ok(prog_accept_start(&v[i], conn));
		sim_ok(prog_result(&v[i], 0));
	}
	sim_await(w.done, MS);
	prog_close(&n);
}

static void client(void *arg)
{
	static const u8 other[ETH_ALEN] = { 0x52, 0x54, 0, 0, 1, 9 };
	struct prog_nic n;
	struct prog_vi v;

	/* The server waits by then. */
	sim_sleep(10 * MS);
	prog_open_vi(&n, &v, "via_a", 4096, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_request(&v, host_mac(1), "proven", 200 * SEC));
	sim_expect((w.late || w.requests == 2) && w.challenges == 1, "(%u, %u)",
		   w.requests, w.challenges);
	/* A round trip behind the first one, not a repetition's time. */
	sim_expect(w.second - w.first < 5 * MS, "(%llu)",
		   (unsigned long long)(w.second - w.first));
	/* By then HEARTBEAT_ACK has told another one, or what ACCEPT told counts. */
	sim_sleep(w.late && sim_dice(2) ? VIA_TOKEN_SECONDS * (u64)SEC :
		  50 * MS);
	prog_disconnect(&v);
	w.requests = 0;
	sim_ok(prog_request(&v, host_mac(1), "proven", SEC));
	sim_expect(w.requests == 1 && w.challenges == 1, "(%u, %u)",
		   w.requests, w.challenges);
	w.done = true;
	prog_disconnect(&v);
	prog_request(&v, other, "proven", 5 * MS);
	prog_close(&n);
}

/* The request again, as another host or one of another start says it. */
static void stolen(void)
{
	struct forged f = w.asked;
	struct ethhdr *eth = (void *)f.data;
	u32 how = sim_dice(4);

	f.unproven = true;
	f.len = ETH_HLEN + VIA_WIRE_CONN_LEN;
	switch (how) {
	case 0:
		eth->h_source[5] ^= 0x40;
		break;
	case 1:
		forged_hello(f.data)->epoch ^= 1;
		break;
	case 2:
		forged_hello(f.data)->token ^= 1ull << sim_dice(64);
		break;
	default:
		sim_pause(240 * SEC);
	}
	w.others = w.challenges = 0;
	forge_throw(&f, host_nic(1));
	sim_pause(20 * MS);
	sim_expect(w.challenges == 1 && !w.others, "(%u: %u, %u)", how,
		   w.challenges, w.others);
}

static void challenge(void)
{
	w.late = !sim_dice(4);
	hosts_up(2);
	sim_wire.meddle = look;
	host_run(1, "server", server, NULL);
	host_run(0, "client", client, NULL);
	programs_wait();
	msleep(50);
	stolen();
	hosts_down();
}

SIM_SCENARIO(.name = "challenge", .run = challenge, .runs = 50, .seconds = 900,
	     SIM_STATE(w),
	     .what = "the first request of a host, and stolen tokens")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Floods of frames that would each be answered, and requests one after the
 * other for as long as a table has room: answers are bounded (docs/reference/wire.md),
 * what was answered makes room again, and what comes later is served.
 */
#include "s_forge.h"
#include "../../kernel/via_ka.h"

#define FLOOD		1000		/* frames within a tick */
#define ANSWERS		64u		/* of them at once, one host's or all */
#define REQUESTS	1024u		/* that a NIC keeps unanswered */

static struct {
	u8 type;			/* of the answers */
	u32 answers, told;
	u32 asked, done;
	bool over;
} w;

static bool count(void *arg, u8 *frame, u32 *len)
{
	w.answers += forged_wire(frame)->type == w.type;
	w.told += forged_wire(frame)->type == VIA_WIRE_NAME_REPLY;
	return true;
}

static void stray(u8 type, bool one)
{
	u8 host[ETH_ALEN];
	struct forged f;

	w.asked++;
	forge_host(host, one ? 1 : w.asked);
	forge(&f, host, host_mac(0), type);
	if (type != VIA_WIRE_NAME_QUERY) {
		forged_wire(f.data)->dst = cpu_to_be32(1);
		forged_wire(f.data)->cookie = cpu_to_be64(w.asked);
	}
	forge_throw(&f, host_nic(0));
}

/* Beside the flood a host's name is told. */
static void find(void)
{
	u32 i;

	w.told = 0;
	/* Some ask in a bucket with one of the flood. */
	for (i = 0; i < 8; i++)
		stray(VIA_WIRE_NAME_QUERY, false);
	msleep(5);
	sim_expect(w.told, "the host is not found");
}

static void floods(void)
{
	static const u8 kinds[][2] = {
		{ VIA_WIRE_NAME_QUERY, VIA_WIRE_NAME_REPLY },
		{ VIA_WIRE_ACK, VIA_WIRE_RESET },
		{ VIA_WIRE_DISCONNECT, VIA_WIRE_DISCONNECT_ACK },
	};
	u32 kind = sim_dice(ARRAY_SIZE(kinds)), turn, i, most;
	bool one = sim_dice(2);

	hosts_up(1);
	w.type = kinds[kind][1];
	sim_wire.meddle = count;
	sim_wire.weigh = true;
	for (turn = 0; turn < 3; turn++) {
		w.answers = 0;
		for (i = 0; i < FLOOD; i++)
			stray(kinds[kind][0], one);
		if (kind)
			find();
		msleep(20);
		/* What pauses have brought is all that there is at once, or a sixth. */
		most = one && turn ? ANSWERS / 6 + 2 : ANSWERS + 24;
		if (!kind && !one)
			most = FLOOD; /* a host is to be found all the same */
		sim_expect(w.answers && w.answers <= most,
			   "%u answers to %u frames", w.answers, FLOOD);
		msleep(130);
	}
	hosts_down();
}

/* Requests in the name of a host with a key cost it one CHALLENGE each. */
static void keyed(void)
{
	char text[120], key[65] = "";
	u8 host[ETH_ALEN];
	struct forged f;
	u32 i;

	hosts_up(1);
	w.type = VIA_WIRE_CHALLENGE;
	sim_wire.meddle = count;
	sim_wire.weigh = true;
	forge_host(host, 1);
	memset(key, '5', 64);
	scnprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x key=%s\n",
		  host[0], host[1], host[2], host[3], host[4], host[5], key);
	sim_ok(sim_peers("via_a", VIA_PEERS_ONLY, text));
	for (i = 0; i < FLOOD; i++) {
		forge_conn(&f, host, host_mac(0), VIA_WIRE_REQUEST,
			   "many", 5, 77);
		forged_wire(f.data)->flags |= VIA_WIRE_AUTH;
		forged_hello(f.data)->nonce = cpu_to_be64(1 + i);
		f.len += VIA_WIRE_AUTH_LEN;
		sim_nic_inject(host_nic(0), f.data, f.len);
	}
	msleep(5);
	sim_expect(w.answers >= ANSWERS && w.answers < ANSWERS + 3,
		   "%u CHALLENGEs to %u requests", w.answers, FLOOD);
	hosts_down();
}

/* Each is refused, or withdrawn by its client, before the next one comes. */
static void refuses(void *arg)
{
	u32 answers = sim_dice(3);	/* of 2 */
	struct prog_nic n;
	u32 conn;
	int ret;

	sim_ok(prog_open(&n, "via_a", 0));
	while (!w.over) {
		ret = prog_conn_wait(&n, "many", 20 * MS, &conn);
		sim_expect(!ret || ret == VIA_R_TIMEOUT, "(%d)", ret);
		if (ret)
			continue;
		w.done++;
		if (sim_dice(2) < answers)
			prog_reject(&n, conn);
	}
	prog_close(&n);
}

static void request(bool cancel)
{
	u8 host[ETH_ALEN];
	struct forged f;

	forge_host(host, w.asked);
	forge_conn(&f, host, host_mac(0), VIA_WIRE_REQUEST, "many",
		   5, 77 + w.asked);
	if (cancel)
		forge_answer(&f, host, host_mac(0), VIA_WIRE_CANCEL,
			     5, 77 + w.asked);
	forge_throw(&f, host_nic(0));
}

static void many(void)
{
	u32 last;

	hosts_up(1);
	host_run(0, "refuses", refuses, NULL);
	for (w.asked = 1; w.asked < REQUESTS + 50; w.asked++) {
		request(false);
		sim_pause(50000);
		request(true);
	}
	last = w.done;
	msleep(20);
	for (; w.asked < REQUESTS + 80 && w.done == last; w.asked++) {
		request(false);
		msleep(5);
		request(true);
	}
	sim_expect(w.done > last, "after %u requests none is served", w.asked);
	w.over = true;
	hosts_down();
}

/* Its time is over as it comes, and a tick, which ends it, comes as well. */
static void hurry(u32 i)
{
	u64 tick = 4 * MS, left;
	u8 host[ETH_ALEN];
	struct forged f;

	/* Long enough for the next tick to look at requests. */
	msleep(300);
	left = tick - sim_now() % tick;
	sim_pause(left + tick - sim_dice(4000));
	forge_host(host, i);
	forge_conn(&f, host, host_mac(0), VIA_WIRE_REQUEST, "many",
		   5, 77 + i);
	forged_conn(f.data)->timeout_ms = cpu_to_be32(sim_dice(2));
	forge_throw(&f, host_nic(0));
	sim_pause(sim_dice(2) ? 0 : sim_dice(10000));
}

static void late(void)
{
	u32 i;

	hosts_up(1);
	host_run(0, "refuses", refuses, NULL);
	for (i = 1; i <= 10; i++)
		hurry(i);
	w.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "requests-late", .run = late, .runs = 100, .seconds = 60,
	     SIM_STATE(w),
	     .what = "requests whose time is over as they come")
SIM_SCENARIO(.name = "bounds", .run = floods, .runs = 50, SIM_STATE(w),
	     .what = "floods of frames to unknown VIs, and of questions")
SIM_SCENARIO(.name = "requests-many", .run = many, .runs = 10, .seconds = 600,
	     SIM_STATE(w), .coarse = true,
	     .what = "more requests than a NIC keeps, each refused in time")
SIM_SCENARIO(.name = "bounds-keyed", .run = keyed, .runs = 20, SIM_STATE(w),
	     .what = "requests with forged authenticators take one token each")

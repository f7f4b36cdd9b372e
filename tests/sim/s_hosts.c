// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What belongs to a pair of hosts (devices/ether/peer.h): many connections of
 * one pair cost what one does, the end of each is noticed; many hosts, of which
 * none takes another's place.
 */
#include <stdio.h>
#include "s_forge.h"
#include "raw.h"

#define MANY		1000		/* connections of one pair */
#define SOME		20
#define LIMIT		(9 * SEC + 500 * MS) /* 8 s, a heartbeat, a visit */
#define CROWD		200		/* hosts that are refused */
#define FLOOD		1100		/* more than a NIC remembers */
#define REMEMBERED	1024
#define OF_ONE		256		/* requests of one host */

static struct {
	u32 n;				/* connections */
	struct prog_nic prog[2];
	struct prog_vi vi[2][MANY];
	u32 connected[2];
	bool over[2];
	u32 leaves[2];			/* connections that it ends, first ones */
	u64 heartbeats, others, disconnects;
	u64 asked;			/* ACKs with ACK_NOW */
	u32 drop;			/* DISCONNECTs that are lost, next */
	bool deaf;			/* and all answers to them */
	u8 goodbye[FORGED_MAX];		/* the last one */
	u8 victim[ETH_ALEN];
	u32 answers[32];		/* to the victim, by type */
} w;

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (const void *)frame;
	const struct via_wire *wire = forged_wire(frame);
	u8 type = wire->type;

	w.heartbeats += type == VIA_WIRE_HEARTBEAT;
	w.others += type != VIA_WIRE_HEARTBEAT && type != VIA_WIRE_HEARTBEAT_ACK;
	w.disconnects += type == VIA_WIRE_DISCONNECT;
	w.asked += type == VIA_WIRE_ACK &&
		   forged_wire(frame)->flags & VIA_WIRE_ACK_NOW;
	if (!memcmp(eth->h_dest, w.victim, ETH_ALEN))
		w.answers[type % ARRAY_SIZE(w.answers)]++;
	if (type == VIA_WIRE_DISCONNECT_ACK)
		return !w.deaf;
	if (type == VIA_WIRE_DISCONNECT)
		memcpy(w.goodbye, frame, min_t(u32, *len, FORGED_MAX));
	if (type == VIA_WIRE_DISCONNECT && w.drop) {
		w.drop--;
		return false;
	}
	return true;
}

/* A pair of hosts with connections between them */

static void programs(void *arg)
{
	u32 i, side = !!arg;
	struct prog_nic *n = &w.prog[side];
	struct prog_vi *v;

	sim_ok(prog_open(n, host_node(side), 4096));
	for (i = 0; i < w.n; i++) {
		v = &w.vi[side][i];
		sim_ok(prog_vi(v, n, i % 3 ? VIA_RELIABLE_DELIVERY :
			       VIA_UNRELIABLE, 0, 0));
		prog_connect(v, side ? NULL : host_mac(1), "hosts", 10 * SEC);
		w.connected[side]++;
	}
	for (i = 0; !w.over[side]; sim_sleep(MS))
		while (i < w.leaves[side])
			prog_disconnect(&w.vi[side][i++]);
	prog_close(n);
}

static void begin(u32 n)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	w.n = n;
	sim_wire.meddle = look;
	hosts_up(2);
	for (i = 0; i < 2; i++)
		host_run(i, "programs", programs, i ? &w : NULL);
	sim_await(w.connected[0] >= n && w.connected[1] >= n, MS);
	/* The timer has forgotten their beginning. */
	msleep(2500);
}

static void stop(void)
{
	w.over[0] = true;
	w.over[1] = true;
	hosts_down();
}

/* RESET or CANCEL of what these name. */
static void forge_end(struct forged *f, const u8 *from, u8 type, u32 vi,
		      u64 cookie)
{
	if (type == VIA_WIRE_CANCEL) {
		forge_answer(f, from, host_mac(0), type, vi, cookie);
		return;
	}
	forge(f, from, host_mac(0), type);
	forged_wire(f->data)->cookie = cpu_to_be64(cookie);
	forged_end(f->data)->src = cpu_to_be32(vi);
}

/* Steps that a frame for a connection that is not there takes. */
static u64 cost(u8 type, const u8 *from)
{
	u64 least = -1, at;
	struct forged f;
	u32 i;

	for (i = 0; i < 20; i++) {
		forge_end(&f, from, type, 1 + sim_dice(MANY),
			  sim_dice64() | 1);
		at = sim_steps;
		forge_throw(&f, host_nic(0));
		sim_pause(20000);
		least = min_t(u64, least, sim_steps - at);
	}
	return least;
}

struct figures {
	u64 heartbeats, steps;
	u64 cost[2][2];			/* RESET, CANCEL; unknown, known host */
};

static void measure(u32 n, struct figures *f)
{
	static const u8 types[] = { VIA_WIRE_RESET, VIA_WIRE_CANCEL };
	u8 host[ETH_ALEN];
	u32 i;

	begin(n);
	w.heartbeats = w.others = 0;
	f->steps = sim_steps;
	msleep(20000);
	f->steps = sim_steps - f->steps;
	f->heartbeats = w.heartbeats;
	sim_expect(!w.others, "(%llu)", w.others);
	forge_host(host, 5);
	for (i = 0; i < 2; i++) {
		f->cost[i][0] = cost(types[i], host);
		f->cost[i][1] = cost(types[i], host_mac(1));
	}
	for (i = 0; i < n; i++)
		sim_expect(prog_state(&w.vi[i % 2][i]) == VIA_STATE_CONNECTED,
			   "");
	sim_expect(sim_nic_peers(host_nic(0)) == 1, "");
	stop();
}

static void idle(void)
{
	struct figures one, many;
	u32 i, k;

	measure(1, &one);
	measure(MANY, &many);
	sim_log("heartbeats %llu %llu, steps %llu %llu, costs %llu %llu, %llu %llu",
		one.heartbeats, many.heartbeats, one.steps, many.steps,
		one.cost[0][0], many.cost[0][0], one.cost[0][1],
		many.cost[0][1]);
	/* In 20 s, of both hosts together. */
	sim_expect(one.heartbeats >= 10 && one.heartbeats <= 21, "(%llu)",
		   one.heartbeats);
	sim_expect(many.heartbeats <= one.heartbeats + 1, "(%llu, %llu)",
		   many.heartbeats, one.heartbeats);
	sim_expect(many.steps <= one.steps + one.steps / 20, "(%llu, %llu)",
		   many.steps, one.steps);
	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++)
			sim_expect(many.cost[i][k] <= one.cost[i][k] + 5,
				   "(%u, %u: %llu, %llu)", i, k,
				   many.cost[i][k], one.cost[i][k]);
}

SIM_SCENARIO(.name = "hosts-idle", .run = idle, .runs = 1, .max_vi = MANY + 8,
	     .seconds = 300, .coarse = true,
	     .what = "idle connections of a pair of hosts, 1 and 1,000")

/* The end of each connection is noticed, whatever is lost. */

/* Connections of @side that stand. */
static u32 stand(u32 side)
{
	u32 i, n = 0;

	for (i = 0; i < w.n; i++)
		n += prog_state(&w.vi[side][i]) == VIA_STATE_CONNECTED;
	return n;
}

/* Until @n of @side stand, and the others have an event each. */
static void noticed(u32 side, u32 n)
{
	u64 from = sim_now();

	sim_await(stand(side) <= n || sim_now() >= from + LIMIT, 10 * MS);
	sim_expect(stand(side) == n, "(%u of %u stand, of %u)", stand(side), n,
		   w.n);
	msleep(2000);
	sim_expect(stand(side) == n, "(%u of %u stand, of %u)", stand(side), n,
		   w.n);
}

/* DISCONNECT_ACKs that are about another end than the last one, almost. */
static void misjudge(u32 side)
{
	const struct ethhdr *eth = (const void *)w.goodbye;
	struct forged f;
	u8 host[ETH_ALEN];
	u32 i;

	for (i = 0; i < 4; i++) {
		memcpy(host, eth->h_dest, ETH_ALEN);
		host[5] ^= i == 3 ? 0x40 : 0;
		forge(&f, host, eth->h_source, VIA_WIRE_DISCONNECT_ACK);
		forged_wire(f.data)->cookie = forged_wire(w.goodbye)->cookie;
		*forged_end(f.data) = (struct via_wire_end) {
			.seq = forged_end(w.goodbye)->seq,
			.src = forged_wire(w.goodbye)->dst,
		};
		if (i == 0)
			forged_wire(f.data)->cookie ^= 1;
		else if (i == 1)
			forged_end(f.data)->seq ^= 1;
		else if (i == 2)
			forged_end(f.data)->src ^= 1;
		forge_throw(&f, host_nic(side));
	}
}

/* DISCONNECTs are lost, of some connections or of a process that ends. */
static void lost(void)
{
	u32 side = sim_dice(2), n, drop, sent;

	begin(1 + sim_dice(SOME));
	/* With more of them the first one that is found tells of the others. */
	n = 1 + sim_dice(sim_dice(2) ? w.n : 1);
	drop = sim_dice(4) * n;
	w.drop = drop;
	w.deaf = !sim_dice(3);
	w.disconnects = 0;
	w.asked = 0;
	if (n == w.n && sim_dice(2))
		w.over[side] = true;
	else
		w.leaves[side] = n;
	msleep(100);
	if (w.deaf)
		misjudge(side);
	noticed(!side, w.n - n);
	/*
	 * They are not sent for ever, nor once they were heard.  One more answers an end
	 * that LIST lacks, and that asks.
	 */
	msleep(8000);
	sent = w.deaf ? 5 * n : n + drop;
	sim_expect(w.disconnects >= sent &&
		   w.disconnects <= sent + w.asked,
		   "(%llu for %u, of %u and %llu)", w.disconnects, n, sent,
		   w.asked);
	n = w.disconnects;
	msleep(3000);
	sim_expect(w.disconnects == n, "");
	stop();
}

/* One more connection of the pair: its host is heard. */
static void anew(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	sim_ok(prog_open(&n, host_node(!!arg), 0));
	sim_ok(prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0));
	prog_connect(&v, arg ? NULL : host_mac(1), "anew", 10 * SEC);
	/* The other end leaves when it is over. */
	for (; !w.over[0]; sim_sleep(MS))
		sim_expect(prog_state(&v) == VIA_STATE_CONNECTED, "");
	prog_close(&n);
}

/* A host is gone, and comes back without its connections, or does not. */
static void dead(void)
{
	bool back = sim_dice(2);
	u32 i;

	sim_wire.lasting = true;
	begin(2 + sim_dice(SOME));
	w.heartbeats = 0;
	host_dies(1);
	if (back) {
		msleep(sim_dice(3000));
		host_up(1);
		for (i = 0; i < 2; i++)
			host_run(i, "anew", anew, i ? &w : NULL);
	}
	noticed(0, 0);
	if (back)
		sim_expect(w.heartbeats <= 2 * w.n + 20, "(%llu)", w.heartbeats);
	else
		sim_expect(w.heartbeats <= 10, "(%llu)", w.heartbeats);
	stop();
}

/* Many hosts. */

static void ask(const u8 *host, const char *disc, u32 vi, u64 cookie)
{
	struct forged f;

	forge_conn(&f, host, host_mac(0), VIA_WIRE_REQUEST, disc,
		   vi, cookie);
	forge_throw(&f, host_nic(0));
	sim_pause(50000);
}

/* Nothing is offered to it. */
static void waits(void *arg)
{
	struct prog_nic n;
	u32 conn;

	sim_ok(prog_open(&n, "via_a", 0));
	sim_expect(prog_conn_wait(&n, "none", 500 * MS, &conn) ==
		   VIA_R_TIMEOUT, "a refused request is offered");
	prog_close(&n);
}

/* The answer to one host is kept, whatever others are answered. */
static void refused(void)
{
	u8 host[ETH_ALEN];
	u32 i;

	memset(&w, 0, sizeof(w));
	sim_wire.meddle = look;
	forge_host(w.victim, 1);
	hosts_up(1);
	ask(w.victim, "none", 3, 7);
	sim_expect(w.answers[VIA_WIRE_REFUSE] == 1, "");
	for (i = 2; i < CROWD; i++) {
		forge_host(host, i);
		ask(host, "none", 1 + sim_dice(8), 1 + sim_dice(8));
	}
	sim_expect(sim_nic_peers(host_nic(0)) == CROWD - 1, "");
	host_run(0, "waits", waits, NULL);
	msleep(50);
	ask(w.victim, "none", 3, 7);
	sim_expect(w.answers[VIA_WIRE_REFUSE] == 2, "");
	hosts_down();
}

/* A copy of a request that was accepted long ago. */
static void accepts(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 conn;

	prog_open_vi(&n, &v, "via_a", 0, VIA_RELIABLE_DELIVERY);
	prog_connect(&v, NULL, "copy", 10 * SEC);
	w.connected[0]++;
	sim_expect(prog_conn_wait(&n, "copy", 500 * MS, &conn) ==
		   VIA_R_TIMEOUT, "an accepted request is offered again");
	prog_close(&n);
}

static void copy(void)
{
	struct raw_host r;
	u32 i;

	memset(&w, 0, sizeof(w));
	hosts_up(1);
	raw_begin(&r, host_nic(0), 1);
	r.level = VIA_RELIABLE_DELIVERY;
	host_run(0, "accepts", accepts, NULL);
	sim_expect(raw_connect(&r, "copy", true), "");
	sim_await(w.connected[0], MS);
	msleep(20);
	for (i = 0; i < 20; i++)
		ask(r.mac, "none", r.vi, r.cookie + 100 + i);
	ask(r.mac, "copy", r.vi, r.cookie);
	programs_wait();
	raw_end(&r);
	hosts_down();
}

/* One host asks for more than it may, none is answered: others are heard. */
static void keeps(void *arg)
{
	struct prog_nic n;
	u32 conn;

	sim_ok(prog_open(&n, "via_a", 0));
	while (!w.over[0])
		prog_conn_wait(&n, "full", 20 * MS, &conn);
	prog_close(&n);
}

static void full(void)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	sim_wire.meddle = look;
	hosts_up(1);
	host_run(0, "keeps", keeps, NULL);
	forge_host(w.victim, 1);
	for (i = 1; i < 2 * OF_ONE; i++)
		ask(w.victim, "full", 1, i);
	sim_expect(w.answers[VIA_WIRE_WAIT] == OF_ONE, "(%u)",
		   w.answers[VIA_WIRE_WAIT]);
	forge_host(w.victim, 2);
	w.answers[VIA_WIRE_WAIT] = 0;
	for (i = 0; i < 5; i++)
		ask(w.victim, "full", 1, 1);
	sim_expect(w.answers[VIA_WIRE_WAIT], "");
	w.over[0] = true;
	hosts_down();
}

/* More hosts than a NIC remembers, beside connections, and its end. */
static void flood(void)
{
	u32 i, to = FLOOD - 100 + sim_dice(150);
	u8 host[ETH_ALEN];
	struct forged f;
	bool half = sim_dice(2);

	begin(3);
	for (i = 1; i < to; i++) {
		forge_host(host, i);
		ask(host, "none", 1, i);
		if (sim_dice(4))
			continue;
		forge_host(host, sim_dice(2 * i));
		forge_end(&f, host, sim_dice(2) ? VIA_WIRE_RESET :
			  VIA_WIRE_CANCEL, 1, i);
		forge_throw(&f, host_nic(0));
	}
	sim_expect(sim_nic_peers(host_nic(0)) <= REMEMBERED + 1, "(%u)",
		   sim_nic_peers(host_nic(0)));
	sim_expect(sim_nic_peers(host_nic(0)) >= min_t(u32, to, REMEMBERED), "(%u)",
		   sim_nic_peers(host_nic(0)));
	sim_expect(stand(0) == 3 && stand(1) == 3, "");
	if (half) {
		msleep(16000);
		sim_expect(sim_nic_peers(host_nic(0)) == 1, "(%u)",
			   sim_nic_peers(host_nic(0)));
	}
	stop();
}

/* Hosts come and go beside frames of theirs, and the NIC goes. */
static void knocks(void *arg)
{
	static const u8 types[] = { VIA_WIRE_REQUEST, VIA_WIRE_CANCEL,
				    VIA_WIRE_RESET, VIA_WIRE_ACCEPT,
				    VIA_WIRE_REQUEST, VIA_WIRE_PEER_REQUEST };
	u8 host[ETH_ALEN], type;
	struct forged f;

	while (!w.over[0]) {
		type = types[sim_dice(ARRAY_SIZE(types))];
		forge_host(host, sim_dice(4));
		if (via_wire_has_conn(type)) {
			forge_conn(&f, host, host_mac(0), type,
				   "none", 1 + sim_dice(3), 1 + sim_dice(3));
			if (type == VIA_WIRE_ACCEPT) {
				forged_conn(f.data)->to =
					cpu_to_be32(1 + sim_dice(3));
				forged_wire(f.data)->cookie =
					cpu_to_be64(1 + sim_dice(3));
			}
		} else {
			forge_end(&f, host, type, 1 + sim_dice(3),
				  1 + sim_dice(3));
		}
		forge_throw(&f, host_nic(0));
		sim_pause(sim_dice(20000));
	}
	w.over[1] = true;
}

static void calls(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u8 host[ETH_ALEN];
	u32 i, conn;

	if (prog_open(&n, "via_a", 0))
		return;
	if (!prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0))
		for (i = 0; i < 10; i++) {
			forge_host(host, sim_dice(4));
			if (sim_dice(3))
				prog_request(&v, host, "none",
					     sim_dice(2) * MS + 10000);
			else if (!prog_conn_wait(&n, "none", MS, &conn) &&
				 !prog_accept_start(&v, conn) && sim_dice(2))
				prog_result(&v, VIA_CONN_NOWAIT);
			prog_disconnect(&v);
		}
	prog_close(&n);
}

static void come_and_go(void)
{
	struct sim_proc *p;

	memset(&w, 0, sizeof(w));
	hosts_up(1);
	p = host_run(0, "calls", calls, NULL);
	sim_kthread("knocks", knocks, NULL);
	if (sim_dice(2))
		sim_await(sim_proc_ended(p), MS);
	else
		sim_pause(sim_dice(3000000));
	w.over[0] = true;
	sim_await(w.over[1], 10000);
	host_down(0);
	hosts_down();
}

SIM_SCENARIO(.name = "hosts-lost", .run = lost, .runs = 40, .max_vi = SOME + 8,
	     .seconds = 300,
	     .what = "DISCONNECTs of some of many connections are lost")
SIM_SCENARIO(.name = "hosts-dead", .run = dead, .runs = 40, .max_vi = SOME + 8,
	     .seconds = 300,
	     .what = "a host with many connections is gone, or started again")
SIM_SCENARIO(.name = "hosts-refused", .run = refused, .runs = 20,
	     .what = "no host takes the answers of another")
SIM_SCENARIO(.name = "hosts-copy", .run = copy, .runs = 40,
	     .what = "a late copy of a request whose connection stands")
SIM_SCENARIO(.name = "hosts-full", .run = full, .runs = 10, .coarse = true,
	     .what = "one host does not take all places for requests")
SIM_SCENARIO(.name = "hosts-flood", .run = flood, .runs = 10, .seconds = 300,
	     .coarse = true,
	     .what = "more hosts ask than a NIC remembers")
SIM_SCENARIO(.name = "hosts-go", .run = come_and_go, .runs = 300, .seconds = 60,
	     .what = "hosts come and go beside their frames, and the NIC goes")

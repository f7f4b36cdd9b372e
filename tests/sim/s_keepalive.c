// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two hosts have the same connections (devices/ether/keepalive.c): what one of them
 * has lost or ended ends at the other one in 8 s, whatever else is lost, and
 * nothing else does; what a host says that is not there has no effect.
 */
#include "s_forge.h"
#include "prog.h"

#define SOME		40
#define MANY		1000
#define LIMIT		(8 * SEC)
#define MSG		64
#define BUFS		4
#define CHURNS		4

static struct {
	struct sim_proc *proc[2];
	struct prog_nic prog[2];
	struct prog_vi vi[2][MANY];
	bool leaves[2][MANY];
	u32 n;
	u32 connected[2];
	bool go, over, talk;
	bool deaf;			/* no DISCONNECT, no answer to one */
	u32 sent[64];			/* frames, by type */
	u32 questions;
	u64 epoch[2];			/* by host, of its frames */
	u32 asker;			/* the side whose programs ask */
	bool again;			/* this is the second life of a host */
	u8 request[ETH_HLEN + VIA_WIRE_CONN_LEN + VIA_WIRE_SEAL_LEN];
	u32 counts[2][5];		/* ends: told, RESET, LIST, restarted, own */
	bool count[2], counted[2];
	u32 made, stay;			/* churn */
} w;

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (void *)frame;
	const struct via_wire *h = forged_wire(frame);
	u32 from = eth->h_source[5] != 1;

	w.sent[h->type % ARRAY_SIZE(w.sent)]++;
	w.questions += h->type == VIA_WIRE_ACK && h->flags & VIA_WIRE_ACK_NOW;
	if (via_wire_has_conn(h->type))
		w.epoch[from] = be64_to_cpu(forged_hello(frame)->epoch);
	if (h->type == VIA_WIRE_REQUEST && from && !w.again)
		memcpy(w.request, frame, min_t(u32, *len, sizeof(w.request)));
	return !w.deaf || (h->type != VIA_WIRE_DISCONNECT &&
			   h->type != VIA_WIRE_DISCONNECT_ACK);
}

/* Programs */

static void count_ends(u32 side)
{
	static const char *const names[] = {
		"told_closed", "ends_reset", "ends_list", "ends_restarted",
		"ends_closed",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		w.counts[side][i] = prog_counter(&w.prog[side], names[i]);
	w.counted[side] = true;
}

/* Connection 0 is never idle. */
static void chat(struct prog_vi *v, char *out, char *in)
{
	struct prog_done d;

	while (prog_done(v, true, &d))
		prog_post_recv(v, in, MSG);
	while (prog_done(v, false, &d))
		;
	if (v->q[0].tail - v->q[0].collected < BUFS)
		prog_post_send(v, out, MSG);
}

static void programs(void *arg)
{
	u32 i, side = !!arg;
	struct prog_nic *n = &w.prog[side];
	char *out, *in;
	struct prog_vi *v;
	bool left = false;
	int ret;

	sim_ok(prog_open(n, host_node(side), 4096));
	out = prog_buffer(n, MSG);
	in = prog_buffer(n, MSG);
	for (i = 0; i < w.n; i++) {
		v = &w.vi[side][i];
		sim_ok(prog_vi(v, n, i % 3 ? VIA_UNRELIABLE :
			       VIA_RELIABLE_DELIVERY, 0, 0));
		for (ret = 0; !i && ret < BUFS; ret++)
			prog_post_recv(v, in, MSG);
		prog_connect(v, side != w.asker ? NULL : host_mac(!side),
			     "beats", 10 * SEC);
		w.connected[side]++;
	}
	for (; !w.over; sim_sleep(50 * MS)) {
		if (w.talk && prog_state(&w.vi[side][0]) ==
			      VIA_STATE_CONNECTED)
			chat(&w.vi[side][0], out, in);
		if (w.count[side] && !w.counted[side])
			count_ends(side);
		if (!w.go || left)
			continue;
		left = true;
		for (i = 0; i < w.n; i++)
			if (w.leaves[side][i])
				prog_disconnect(&w.vi[side][i]);
	}
	prog_close(n);
}

static void begin(u32 n)
{
	u32 i;

	w.n = n;
	w.asker = sim_dice(2);
	sim_wire.meddle = look;
	hosts_up(2);
	for (i = 0; i < 2; i++)
		w.proc[i] = host_run(i, "programs", programs, i ? &w : NULL);
	sim_await(w.connected[0] >= n && w.connected[1] >= n, MS);
}

static void stop(void)
{
	w.over = true;
	hosts_down();
}

static bool stands(u32 side, u32 i)
{
	return prog_state(&w.vi[side][i]) == VIA_STATE_CONNECTED;
}

/* Those that neither side has left stand; of the others none does. */
static bool settled(void)
{
	bool all = true, stays;
	u32 i, side;

	for (i = 0; i < w.n; i++) {
		stays = !w.leaves[0][i] && !w.leaves[1][i];
		for (side = 0; side < 2; side++) {
			sim_expect(!stays || stands(side, i),
				   "connection %u has ended at %u", i, side);
			all &= stays || !stands(side, i);
		}
	}
	return all;
}

static void throw_list(u32 to, bool known);

static void leave_and_notice(bool forge)
{
	u64 from = sim_now();

	w.go = true;
	while (!settled() && sim_now() < from + LIMIT) {
		sim_pause(20 * MS);
		/* LISTs that lack what stands, while others are believed. */
		if (forge && !sim_dice(8))
			throw_list(sim_dice(2), true);
	}
	sim_expect(settled(), "an end is not noticed");
	sim_log("noticed after %llu ms", (sim_now() - from) / MS);
}

static void ask_counts(void)
{
	w.count[0] = w.count[1] = true;
	sim_await(w.counted[0] && w.counted[1], 10 * MS);
}

/* No DISCONNECT arrives, ever. */
static void lost(void)
{
	u32 i, ends[2] = { 0 };

	begin(2 + sim_dice(SOME));
	msleep(sim_dice(3000));
	w.talk = sim_dice(2);
	w.deaf = true;
	if (sim_dice(3) == 0)
		sim_wire.loss = 300;
	for (i = w.talk; i < w.n; i++)
		if (sim_dice(2)) {
			w.leaves[sim_dice(2)][i] = true;
			ends[w.leaves[0][i]]++;
		}
	/* A question that is lost is one that was not answered. */
	leave_and_notice(!sim_wire.loss && sim_dice(2));
	/* And they are of one mind: nothing is asked any more. */
	sim_wire.loss = 0;
	msleep(3000);
	w.questions = w.sent[VIA_WIRE_LIST] = 0;
	msleep(5000);
	sim_expect(!w.questions && !w.sent[VIA_WIRE_LIST], "(%u, %u)",
		   w.questions, w.sent[VIA_WIRE_LIST]);
	sim_expect(settled(), "");
	ask_counts();
	for (i = 0; i < 2; i++)
		sim_expect(w.counts[i][1] + w.counts[i][2] >= ends[i] &&
			   !w.counts[i][0] && !w.counts[i][3],
			   "(%u, %u, %u of %u)", w.counts[i][0],
			   w.counts[i][1], w.counts[i][2], ends[i]);
	stop();
}

SIM_SCENARIO(.name = "keepalive-lost", .run = lost, .runs = 60,
	     .max_vi = SOME + 4, .seconds = 300, SIM_STATE(w),
	     .what = "connections whose ends are never told end in 8 s")

/* Each DISCONNECT arrives, and both sides count why. */
static void told(void)
{
	u32 i, side, ends[2] = { 0 };

	begin(2 + sim_dice(SOME));
	for (i = 0; i < w.n; i++) {
		side = sim_dice(2);
		w.leaves[side][i] = sim_dice(2);
		ends[side] += w.leaves[side][i];
	}
	leave_and_notice(false);
	ask_counts();
	for (i = 0; i < 2; i++) {
		sim_expect(w.counts[i][0] == ends[!i], "(%u of %u)",
			   w.counts[i][0], ends[!i]);
		sim_expect(w.counts[i][4] == ends[i], "(%u of %u)",
			   w.counts[i][4], ends[i]);
		sim_expect(!w.counts[i][1] && !w.counts[i][2] &&
			   !w.counts[i][3], "(%u, %u, %u)", w.counts[i][1],
			   w.counts[i][2], w.counts[i][3]);
	}
	stop();
}

SIM_SCENARIO(.name = "keepalive-told", .run = told, .runs = 60,
	     .max_vi = SOME + 4, .seconds = 300, SIM_STATE(w),
	     .what = "reasons of connections that end, counted on both sides")

/* Many: LIST in pages, and no more RESETs than strangers get. */
static void many(u32 n, u32 stay)
{
	u32 i, side = sim_dice(2);

	begin(n);
	w.deaf = true;
	for (i = stay; i < n; i++)
		w.leaves[stay && !sim_dice(50) ? !side : side][i] = true;
	leave_and_notice(false);
	sim_expect(w.sent[VIA_WIRE_LIST] > n / 50, "(%u)",
		   w.sent[VIA_WIRE_LIST]);
	stop();
}

static void pages(void)
{
	many(MANY, 4);
}

/* The host that has ended them knows no connection any more. */
static void none(void)
{
	many(MANY / 2, 0);
}

SIM_SCENARIO(.name = "keepalive-none", .run = none, .runs = 1,
	     .max_vi = MANY + 8, .seconds = 300, SIM_STATE(w), .coarse = true,
	     .what = "connections with a host that has ended all")

SIM_SCENARIO(.name = "keepalive-pages", .run = pages, .runs = 1,
	     .max_vi = MANY + 8, .seconds = 300, SIM_STATE(w), .coarse = true,
	     .what = "a thousand connections whose ends are never told")

/* There was no memory for what a host would remember of those it has ended. */
static void forgotten(void)
{
	u32 i, side = sim_dice(2);

	begin(2 + sim_dice(SOME));
	w.deaf = true;
	for (i = 0; i < w.n; i++)
		w.leaves[side][i] = true;
	sim_config.no_atomic = true;
	w.go = true;
	for (i = 0; i < w.n; i++)
		sim_await(!stands(side, i), MS);
	sim_config.no_atomic = false;
	leave_and_notice(false);
	stop();
}

SIM_SCENARIO(.name = "keepalive-forgotten", .run = forgotten, .runs = 60,
	     .max_vi = SOME + 4, .seconds = 300, SIM_STATE(w),
	     .what = "a host that knows nothing of connections it had")

/* Connections begin and end all the time, beside HEARTBEAT_ACKs at each moment. */

static void churn_side(void *arg)
{
	u32 me = (uintptr_t)arg, side = me & 1, i = me >> 1;
	struct prog_nic *n = &w.prog[side];
	struct prog_vi v;
	char disc[8];
	u64 until;
	int ret;

	sim_await(n->mem, 10000);
	scnprintf(disc, sizeof(disc), "c%u", i);
	sim_ok(prog_vi(&v, n, 1 << (i % 3), 0, 0));
	while (!w.go) {
		if (side)
			ret = prog_accept(&v, disc, 20 * MS);
		else
			ret = prog_request(&v, host_mac(1), disc, SEC);
		if (ret) {
			sim_sleep(sim_dice(MS));
			continue;
		}
		w.made++;
		until = sim_now() + sim_dice(sim_dice(2) ? 5 * MS : 60 * MS);
		/* The client alone ends it. */
		while (prog_state(&v) == VIA_STATE_CONNECTED &&
		       (side || sim_now() < until))
			sim_sleep(sim_dice(200000));
		sim_expect(side || prog_state(&v) == VIA_STATE_CONNECTED,
			   "a connection that both have has ended");
		prog_disconnect(&v);
	}
	w.stay++;
	sim_await(w.over, MS);
}

static void beside(void)
{
	u32 i;

	sim_param_set("heartbeat_ms", 8);
	sim_param_set("dead_ms", 2000);
	begin(2);
	sim_wire.loss = sim_dice(2) ? 0 : 200;
	if (sim_dice(2)) {
		sim_wire.reorder = 500;
		sim_wire.jitter_ns = sim_dice(2) ? 2 * MS : 30 * MS;
	}
	for (i = 0; i < 2 * CHURNS; i++)
		sim_thread(w.proc[i & 1], "churn", churn_side,
			   (void *)(uintptr_t)i);
	msleep(300 + sim_dice(400));
	w.go = true;
	sim_await(w.stay >= 2 * CHURNS, MS);
	sim_log("%u connections, %u HEARTBEATs, %u LISTs, %u questions",
		w.made, w.sent[VIA_WIRE_HEARTBEAT], w.sent[VIA_WIRE_LIST],
		w.questions);
	sim_expect(w.made, "");
	sim_expect(settled(), "");
	stop();
}

SIM_SCENARIO(.name = "keepalive-beside", .run = beside, .runs = 200,
	     .max_vi = 2 * CHURNS + 4, .seconds = 300, SIM_STATE(w),
	     .what = "HEARTBEAT_ACKs beside connections that begin and end")

/*
 * Another host knows the epochs of both, which all hosts are told, and neither
 * a cookie nor a nonce.
 */
static void fill(struct forged *f, u32 to, u8 type, u64 cookie)
{
	forge(f, host_mac(!to), host_mac(to), type);
	forged_wire(f->data)->cookie = cpu_to_be64(cookie);
}

static void throw_heartbeat(u32 to, u8 type, u64 epoch, bool known)
{
	struct via_wire_heartbeat *b;
	struct forged f;

	fill(&f, to, type, known ? w.epoch[to] : sim_dice64());
	b = (void *)(forged_wire(f.data) + 1);
	b->epoch = cpu_to_be64(epoch);
	b->token = sim_dice64();
	b->time = sim_dice64();
	b->connections = cpu_to_be32(sim_dice(3));
	b->digest = sim_dice64();
	f.len = ETH_HLEN + VIA_WIRE_HEARTBEAT_LEN;
	forge_throw(&f, host_nic(to));
}

static void throw_list(u32 to, bool known)
{
	struct via_wire_list *l;
	struct forged f;
	struct via_wire_cookie *at;
	u64 low = sim_dice(2) ? 1 : sim_dice64() | 1;
	u32 n = sim_dice(3), i;

	fill(&f, to, VIA_WIRE_LIST, known ? w.epoch[to] : sim_dice64());
	l = (void *)(forged_wire(f.data) + 1);
	at = (void *)(l + 1);
	l->low = cpu_to_be64(low);
	l->high = cpu_to_be64(U64_MAX);
	l->count = cpu_to_be16(n);
	for (i = 0; i < n; i++)
		at[i].cookie = cpu_to_be64(U64_MAX - n + i);
	f.len = ETH_HLEN + VIA_WIRE_LIST_LEN + n * sizeof(*at);
	forge_throw(&f, host_nic(to));
}

static void throw_acks(u32 to, bool known)
{
	struct via_wire_acks_entry *e;
	u32 n = 1 + sim_dice(10), i;
	struct forged f;

	e = forge_acks(&f, host_mac(!to), host_mac(to),
		       known ? w.epoch[to] : sim_dice64(), n);
	for (i = 0; i < n; i++) {
		e[i].dst = cpu_to_be32(1 + sim_dice(w.n + 2));
		e[i].cookie = cpu_to_be64(sim_dice64() | 1);
		e[i].ack = sim_dice64();
	}
	forge_throw(&f, host_nic(to));
}

static void hostile(void)
{
	u32 to, thrown = 0;
	u64 until;

	begin(2 + sim_dice(SOME));
	/* Both have been told of them. */
	msleep(2500);
	memset(w.sent, 0, sizeof(w.sent));
	w.questions = 0;
	for (until = sim_now() + 4 * SEC; sim_now() < until; thrown++) {
		to = sim_dice(2);
		switch (sim_dice(5)) {
		case 0:
			throw_heartbeat(to, VIA_WIRE_HEARTBEAT, w.epoch[!to], true);
			break;
		case 1:
			throw_heartbeat(to, VIA_WIRE_HEARTBEAT,
					sim_dice64() | 1, sim_dice(2));
			break;
		case 2:
			throw_heartbeat(to, VIA_WIRE_HEARTBEAT_ACK,
					sim_dice(2) ? w.epoch[!to] :
						      sim_dice64() | 1, true);
			break;
		case 3:
			throw_list(to, sim_dice(4));
			break;
		default:
			throw_acks(to, sim_dice(4));
		}
		sim_pause(sim_dice(10 * MS));
	}
	sim_expect(settled(), "");
	sim_expect(!w.questions && !w.sent[VIA_WIRE_LIST] &&
		   !w.sent[VIA_WIRE_RESET], "(%u, %u, %u)", w.questions,
		   w.sent[VIA_WIRE_LIST], w.sent[VIA_WIRE_RESET]);
	/* One a second of each host, however often it is made to doubt. */
	sim_expect(w.sent[VIA_WIRE_HEARTBEAT] <= 2 * 5, "(%u)",
		   w.sent[VIA_WIRE_HEARTBEAT]);
	/* None is answered by more than one. */
	sim_expect(w.sent[VIA_WIRE_HEARTBEAT_ACK] <= thrown, "");
	stop();
}

SIM_SCENARIO(.name = "keepalive-hostile", .run = hostile, .runs = 40,
	     .max_vi = SOME + 4, .seconds = 300, SIM_STATE(w),
	     .what = "HEARTBEAT, HEARTBEAT_ACK, LIST and ACKS of a host that knows epochs")

/* One host was started again, and the other one hears of it at once. */

static void asks_anew(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	sim_ok(prog_open(&n, host_node(!!arg), 0));
	sim_ok(prog_vi(&v, &n, VIA_RELIABLE_DELIVERY, 0, 0));
	prog_connect(&v, arg ? host_mac(0) : NULL, "anew", 10 * SEC);
	w.made++;
	for (; !w.over; sim_sleep(MS))
		sim_expect(w.over || prog_state(&v) == VIA_STATE_CONNECTED,
			   "a connection of the new life ends");
	prog_close(&n);
}

static void ask_one_count(u32 side)
{
	w.count[side] = true;
	sim_await(w.counted[side], 10 * MS);
}

static bool all_ended(u32 side)
{
	u32 i;

	for (i = 0; i < w.n; i++)
		if (stands(side, i))
			return false;
	return true;
}

static void restart_of(u32 n)
{
	bool asks = sim_dice(2);
	u64 from;
	u32 i;

	sim_wire.lasting = true;
	begin(n);
	msleep(sim_dice(2500));
	host_dies(1);
	host_up(1);
	w.again = true;
	from = sim_now();
	for (i = 0; i < 2 && asks; i++)
		host_run(i, "anew", asks_anew, i ? &w : NULL);
	sim_await(all_ended(0) || sim_now() >= from + 4 * SEC, MS);
	sim_expect(all_ended(0), "");
	if (asks) {
		sim_await(w.made >= 2, MS);
		/* As soon as it is heard that there is a new life. */
		sim_expect(sim_now() < from + SEC, "after %llu ms",
			   (sim_now() - from) / MS);
		/* A frame of the life before comes late. */
		if (w.asker == 1)
			sim_nic_inject(host_nic(0), w.request, sizeof(w.request));
	}
	msleep(3000);
	ask_one_count(0);
	sim_expect(w.counts[0][3] == w.n, "(%u of %u)", w.counts[0][3], w.n);
	stop();
}

static void restart(void)
{
	restart_of(2 + sim_dice(SOME));
}

SIM_SCENARIO(.name = "keepalive-restart", .run = restart, .runs = 60,
	     .max_vi = SOME + 8, .seconds = 300, SIM_STATE(w),
	     .what = "a host that was started again, with its address")

/*
 * What hears the frames sent to an address asks in its name, once, as another
 * life of it.  The host that has the address is shut out, but not for good.
 */
static void usurped(void)
{
	struct forged f;
	u64 from;
	u32 i;

	begin(2);
	forge_conn(&f, host_mac(1), host_mac(0), VIA_WIRE_REQUEST, "none", 7, 7);
	f.unproven = true;
	sim_nic_prove_epoch(host_nic(0), f.data);
	forge_throw(&f, host_nic(0));
	from = sim_now();
	for (i = 0; i < 2; i++)
		host_run(i, "anew", asks_anew, i ? &w : NULL);
	sim_await(w.made >= 2, MS);
	sim_expect(sim_now() > from + 7 * SEC && sim_now() < from + 10 * SEC,
		   "after %llu ms", (sim_now() - from) / MS);
	sim_expect(all_ended(0), "");
	stop();
}

SIM_SCENARIO(.name = "keepalive-usurped", .run = usurped, .runs = 20,
	     .max_vi = SOME + 8, .seconds = 300, SIM_STATE(w),
	     .what = "a request of another life in the name of a host")

/* More than end in one visit. */
SIM_SCENARIO(.name = "keepalive-restart-many", .run_as = restart_of,
	     .as = MANY / 3, .runs = 1, .max_vi = MANY + 8, .seconds = 300,
	     SIM_STATE(w), .coarse = true,
	     .what = "the same with some hundred connections")

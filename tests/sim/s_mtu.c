// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The MTU of an interface is changed while connections stand: no frame is
 * longer than it at any moment (nic.c sees to that), and each is as long as it
 * may be; one below 320 ends them.
 */
#include "../../devices/ether/vi.h"
#include "s_forge.h"
#include "stream.h"

#define BYTES	4000
#define AGREED	1500

static struct {
	struct prog_nic prog[2];
	struct prog_vi vi[2];
	char *buf[2];
	u32 level;
	bool up[2], over;
	u32 longest;			/* data frame since it was cleared */
	u32 reason;			/* of the last DISCONNECT */
	u64 sent, got;
	u32 send;			/* messages to be sent, in all */
	int ret;
	u64 ends[2];			/* ended and told, for the MTU */
	bool count, tried, wide;
} w;

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);

	if (h->type == VIA_WIRE_SEND || h->type == VIA_WIRE_WRITE ||
	    h->type == VIA_WIRE_READ_DATA)
		w.longest = max(w.longest, *len - ETH_HLEN);
	if (h->type == VIA_WIRE_DISCONNECT)
		w.reason = be32_to_cpu(forged_end(frame)->reason);
	return true;
}

static void open_one(u32 i, const char *node)
{
	prog_open_vi(&w.prog[i], &w.vi[i], node, 2 * BYTES, w.level);
	w.buf[i] = prog_buffer(&w.prog[i], BYTES);
}

static void server(void *arg)
{
	struct prog_done d;

	open_one(1, "via_b");
	prog_post_recv(&w.vi[1], w.buf[1], BYTES);
	while (!w.over && prog_accept(&w.vi[1], "mtu", 50 * MS))
		;
	w.up[1] = true;
	while (!w.over) {
		sim_sleep(100000);
		while (prog_done(&w.vi[1], true, &d)) {
			if (d.status != (VIA_ST_DONE | VIA_ST_OP_RECEIVE))
				continue;
			sim_expect(prog_filled(w.buf[1], d.length, 1, w.got),
				   "");
			w.got++;
			prog_post_recv(&w.vi[1], w.buf[1], BYTES);
		}
	}
	if (w.count)
		w.ends[1] = prog_counter(&w.prog[1], "told_mtu");
	prog_close(&w.prog[1]);
}

static void client(void *arg)
{
	struct prog_done d;

	open_one(0, "via_a");
	prog_connect(&w.vi[0], host_mac(1), "mtu", SEC);
	w.up[0] = true;
	while (!w.over) {
		sim_sleep(100000);
		if (w.sent == w.send ||
		    prog_state(&w.vi[0]) != VIA_STATE_CONNECTED)
			continue;
		prog_fill(w.buf[0], BYTES, 1, w.sent);
		prog_post_send(&w.vi[0], w.buf[0], BYTES);
		sim_expect(!prog_wait(&w.vi[0], false, 10 * SEC, &d) &&
			   d.status == VIA_ST_DONE, "(%#x)", d.status);
		w.sent++;
		/* There is one receive; at Unreliable none waits for it. */
		sim_await(w.got >= w.sent || w.over ||
			  prog_state(&w.vi[0]) != VIA_STATE_CONNECTED, 100000);
	}
	if (!w.count)
		goto out;
	w.ends[0] = prog_counter(&w.prog[0], "ends_mtu");
	/* Nothing is reached, until there is room for a frame again. */
	prog_disconnect(&w.vi[0]);
	w.ret = prog_request(&w.vi[0], host_mac(1), "none", SEC);
	sim_expect(w.ret == VIA_R_NOT_REACHABLE, "(%d)", w.ret);
	w.tried = true;
	sim_await(w.wide, MS);
	w.ret = prog_request(&w.vi[0], host_mac(1), "none", SEC);
	sim_expect(w.ret == VIA_R_NO_MATCH, "(%d)", w.ret);
out:
	prog_close(&w.prog[0]);
}

/* Messages pass, in frames as long as @mtu lets them be. */
static void pass(u32 mtu)
{
	u32 to = w.send + 3;

	w.longest = 0;
	w.send = to;
	sim_await(w.got >= to, 100000);
	sim_expect(w.longest == min(mtu, (u32)AGREED), "(%u, %u)", w.longest,
		   mtu);
	/* And all is acknowledged. */
	sim_pause(5 * MS);
}

/* A connection, over which messages pass. */
static void begin(u32 level)
{
	w.level = level;
	hosts_up(2);
	host_run(1, "server", server, NULL);
	host_run(0, "client", client, NULL);
	sim_await(w.up[0] && w.up[1], MS);
	pass(AGREED);
}

static void changes(void)
{
	u32 i, mtu;

	sim_wire.meddle = look;
	begin(prog_level());
	for (i = 0; i < 6; i++) {
		mtu = 320 + sim_dice(3) * sim_dice(1500);
		sim_nic_mtu(host_nic(0), mtu);
		pass(mtu);
	}
	if (sim_dice(2)) {
		w.count = true;
		sim_nic_mtu(host_nic(0), 100 + sim_dice(220));
		msleep(50);
		for (i = 0; i < 2; i++)
			sim_expect(prog_state(&w.vi[i]) == VIA_STATE_ERROR,
				   "(%u)", i);
		sim_expect(w.reason == VIA_WIRE_R_MTU_REDUCED, "(%u)", w.reason);
	}
	w.over = true;
	sim_await(!w.count || w.tried, MS);
	if (w.count)
		sim_nic_mtu(host_nic(0), AGREED);
	w.wide = true;
	programs_wait();
	for (i = 0; i < 2 && w.count; i++)
		sim_expect(w.ends[i] == 1, "(%u: %llu)", i, w.ends[i]);
	hosts_down();
}

SIM_SCENARIO(.name = "mtu-changes", .run = changes, .runs = 60, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "the MTU of an interface is another one, between messages")

/*
 * A path drops long frames from some moment on and says nothing.  The class
 * finds it out in time, for as long as the peer is heard; frames that have their
 * number already come in fragments then.
 */
#define HOLE		700

static struct {
	bool on, known;
} hole;

static bool drop_long(void *arg, u8 *frame, u32 *len)
{
	look(arg, frame, len);
	return !hole.on || hole.known || *len - ETH_HLEN <= HOLE;
}

/* The NIC module's part, as via_udp does it. */
static void lower_path(void)
{
	struct via_ether_nic *nic = sim_nic_ether(host_nic(0));

	local_bh_disable();
	rcu_read_lock();
	hole.known = true;
	via_ether_path(nic, host_mac(1), HOLE);
	rcu_read_unlock();
	local_bh_enable();
}

static void black(void)
{
	u32 len = 0, silence = sim_dice(2);
	u64 start;

	memset(&hole, 0, sizeof(hole));
	sim_wire.meddle = drop_long;
	begin(VIA_RELIABLE_DELIVERY);
	if (silence) {
		/* A wire that is cut is no such path. */
		w.send++;
		sim_nic_cut(host_nic(1), true);
		msleep(2000);
		sim_nic_cut(host_nic(1), false);
		sim_await(w.got >= w.send, MS);
		sim_expect(!sim_nic_black_hole(host_nic(0)), "");
	}
	hole.on = true;
	start = sim_clock;
	w.send++;
	while (!len) {
		sim_pause(10 * MS);
		len = sim_nic_black_hole(host_nic(0));
	}
	sim_expect(len > HOLE && sim_clock - start < 4 * SEC, "(%u, %llu ms)",
		   len, (sim_clock - start) / MS);
	lower_path();
	sim_await(w.got >= w.send, MS);
	/* It may have been told once more meanwhile. */
	sim_nic_black_hole(host_nic(0));
	pass(HOLE);
	sim_expect(!sim_nic_black_hole(host_nic(0)), "");
	w.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "mtu-black", .run = black, .runs = 60, .max_vi = 4,
	     .seconds = 60, SIM_STATE(w),
	     .what = "a path drops long frames and says nothing")

/*
 * A host with many connections is told of a path at once, however many these are;
 * each knows it a few ticks later, and so does one that stands only then.
 */
#define PAIRS		300u
#define SPARE		500u		/* steps of one that is told */

static struct {
	struct prog_nic prog[2];
	struct prog_vi vi[2][PAIRS];
	u32 made;
	bool unconfirmed, accepts, over;
	int last;			/* the last one's verdict */
} pairs;

static bool hold_confirm(void *arg, u8 *frame, u32 *len)
{
	return !READ_ONCE(pairs.unconfirmed) ||
	       forged_wire(frame)->type != VIA_WIRE_CONFIRM;
}

static void asks(void *arg)
{
	u32 i;

	sim_ok(prog_open(&pairs.prog[0], "via_a", 4096));
	for (i = 0; i < PAIRS; i++) {
		sim_ok(prog_vi(&pairs.vi[0][i], &pairs.prog[0],
			       VIA_RELIABLE_DELIVERY, 0, 0));
		prog_connect(&pairs.vi[0][i], host_mac(1), "path", 10 * SEC);
	}
	sim_await(READ_ONCE(pairs.over), MS);
	prog_close(&pairs.prog[0]);
}

static void accepts(void *arg)
{
	struct prog_vi *v = pairs.vi[1];
	u32 conn;

	sim_ok(prog_open(&pairs.prog[1], "via_b", 4096));
	for (; pairs.made < PAIRS - 1; pairs.made++, v++) {
		sim_ok(prog_vi(v, &pairs.prog[1], VIA_RELIABLE_DELIVERY, 0, 0));
		prog_connect(v, NULL, "path", 10 * SEC);
	}
	sim_ok(prog_vi(v, &pairs.prog[1], VIA_RELIABLE_DELIVERY, 0, 0));
	sim_ok(prog_conn_wait(&pairs.prog[1], "path", 10 * SEC, &conn));
	WRITE_ONCE(pairs.unconfirmed, true);
	sim_ok(prog_accept_start(v, conn));
	WRITE_ONCE(pairs.accepts, true);
	pairs.last = prog_result(v, 0);
	WRITE_ONCE(pairs.made, PAIRS);
	sim_await(READ_ONCE(pairs.over), MS);
	prog_close(&pairs.prog[1]);
}

/* VIs of @nic whose frames are longer than that. */
static u32 too_long(struct via_ether_nic *nic, u32 mtu)
{
	struct via_ether_vi *ev;
	struct via_vi *vi;
	u32 i, n = 0;

	rcu_read_lock();
	for (i = 0; (vi = via_vi_next(nic->ka, &i)); i++) {
		ev = vi->priv;
		n += ev->conn.phase == VIA_PHASE_CONNECTED &&
		     ev->conn.seg_send + ev->conn.seal_len + VIA_WIRE_SEND_HDR >
			     mtu;
	}
	rcu_read_unlock();
	return n;
}

/* Steps of the NIC module's call. */
static u64 tell_path(struct via_ether_nic *nic, u32 mtu)
{
	u64 from = sim_steps;

	local_bh_disable();
	rcu_read_lock();
	via_ether_path(nic, host_mac(0), mtu);
	rcu_read_unlock();
	from = sim_steps - from;
	local_bh_enable();
	return from;
}

static void path_many(void)
{
	struct via_ether_nic *nic;
	u64 steps;

	memset(&pairs, 0, sizeof(pairs));
	sim_wire.meddle = hold_confirm;
	hosts_up(2);
	nic = sim_nic_ether(host_nic(1));
	host_run(1, "accepts", accepts, NULL);
	host_run(0, "asks", asks, NULL);
	sim_await(READ_ONCE(pairs.accepts), MS);
	sim_expect(too_long(nic, HOLE) == PAIRS - 1, "%u", too_long(nic, HOLE));
	steps = tell_path(nic, HOLE);
	sim_expect(steps < SPARE, "%llu steps with %u connections", steps,
		   PAIRS);
	sim_pause(50 * MS);
	WRITE_ONCE(pairs.unconfirmed, false);
	sim_await(READ_ONCE(pairs.made) >= PAIRS, MS);
	sim_expect(!pairs.last, "(%d)", pairs.last);
	sim_expect(!too_long(nic, HOLE), "%u", too_long(nic, HOLE));
	/* And back. */
	tell_path(nic, AGREED);
	sim_pause(50 * MS);
	sim_expect(too_long(nic, HOLE) == PAIRS, "%u", too_long(nic, HOLE));
	pairs.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "mtu-path", .run = path_many, .runs = 5,
	     .max_vi = PAIRS + 8, .seconds = 60, SIM_STATE(w), .coarse = true,
	     .what = "the path to a host of many connections is another one")

/*
 * In the middle of streams.  What is in flight and lost cannot be sent again:
 * such a connection ends, and both ends know.
 */
static void streams(void)
{
	struct stream *s[3];
	struct stream_plan p;
	u32 i, n = 1 + sim_dice(3), mtu;

	sim_wire.meddle = look;
	sim_wire.loss = sim_dice(2) ? 0 : 100;
	hosts_up(2);
	stream_draw(&p, 0);
	p.sessions = 1;
	p.big = true;
	p.may_break = true;
	for (i = 0; i < n; i++)
		s[i] = stream_begin(&p, i, 0, 1);
	for (i = 0; i < 10; i++) {
		sim_pause(sim_dice(4 * MS));
		mtu = sim_dice(20) ? 320 + sim_dice(1180) : 200;
		sim_nic_mtu(host_nic(sim_dice(2)), mtu);
		/* Others have no connection below that. */
		if (mtu == 200)
			break;
	}
	for (i = 0; i < 2; i++)
		if (mtu == 200)
			sim_nic_mtu(host_nic(i), AGREED);
	for (i = 0; i < n; i++)
		stream_end(s[i]);
	hosts_down();
}

SIM_SCENARIO(.name = "mtu-streams", .run = streams, .runs = 100, .max_vi = 8,
	     SIM_STATE(w),
	     .what = "the MTU of an interface is another one, amid streams")

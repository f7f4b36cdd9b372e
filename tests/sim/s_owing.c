// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Acknowledgements that no data has carried go when the alarm does: those of
 * many connections with one host in as few frames as hold them, each with the
 * time that it has waited.
 */
#include "s_forge.h"
#include "prog.h"
#include "../../devices/ether/vi.h"

#define MANY		1000
#define SOME		60
#define MSG		32
#define WARM		8		/* rounds that are answered */
#define US		1000ull
/* What ACKS holds of entries without ranges. */
/* VIs of one alarm: each portion may begin a frame of its own. */
#define PORTION		128
#define ENTRIES		10u

static struct {
	struct prog_nic prog[2];
	struct prog_vi vi[2][MANY];
	u32 n, up[2];
	bool warm, go, taken, over;
	u64 begun, settled;		/* ns: the last round; all were taken */
	bool count;			/* acknowledgements of the last round */
	u32 asked;			/* for at once: the window was closed */
	u32 early, frames, entries;
	u32 waited;			/* entries with a time */
} w;

/* A time that is told is that since the frame came, to some units of 16 us. */
static void judge(u8 delay)
{
	u64 ns = delay * VIA_WIRE_DELAY_US * US;

	if (!w.settled) {
		w.early++;
		return;
	}
	w.entries++;
	if (delay == VIA_WIRE_DELAY_MAX)
		return;
	w.waited++;
	sim_expect(ns + 4 * VIA_WIRE_DELAY_US * US >= sim_clock - w.settled &&
		   ns <= sim_clock - w.begun - sim_wire.delay_ns,
		   "%llu us, of %llu to %llu", ns / US,
		   (sim_clock - w.settled) / US,
		   (sim_clock - w.begun - sim_wire.delay_ns) / US);
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);
	struct via_acks_at at = {};
	struct via_acks_entry e;

	if (!w.count)
		return true;
	w.asked += h->type == VIA_WIRE_SEND && h->flags & VIA_WIRE_ACK_NOW;
	if (h->type != VIA_WIRE_ACK && h->type != VIA_WIRE_ACKS)
		return true;
	w.frames += !!w.settled;
	if (h->type == VIA_WIRE_ACK)
		judge(((const struct via_wire_ack *)(h + 1))->delay);
	while (h->type == VIA_WIRE_ACKS && via_wire_next_acks(h, &at, &e))
		judge(e.delay);
	return true;
}

static void connect_all(u32 side)
{
	struct prog_vi *v;
	u32 i;

	sim_ok(prog_open(&w.prog[side], side ? "via_b" : "via_a",
			 (MANY + 1) * MSG));
	for (i = 0; i < w.n; i++) {
		v = &w.vi[side][i];
		sim_ok(prog_vi(v, &w.prog[side], i & 1 ?
			       VIA_RELIABLE_RECEPTION : VIA_RELIABLE_DELIVERY,
			       0, 0));
		prog_post_recv(v, w.prog[side].mem + i * MSG, MSG);
		prog_connect(v, side ? NULL : host_mac(1), "owing", 10 * SEC);
		w.up[side]++;
	}
}

static void done(u32 side, u32 i, bool recv)
{
	prog_good(&w.vi[side][i], recv, 10 * SEC);
	if (recv)
		prog_post_recv(&w.vi[side][i], w.prog[side].mem + i * MSG,
			       MSG);
}

static void send_all(u32 side)
{
	u32 i;

	for (i = 0; i < w.n; i++)
		prog_post_send(&w.vi[side][i], w.prog[side].mem + MANY * MSG,
			       MSG);
}

static void answers(void *arg)
{
	u32 r, i;

	connect_all(1);
	for (r = 0; r < WARM; r++) {
		for (i = 0; i < w.n; i++)
			done(1, i, true);
		send_all(1);
	}
	for (i = 0; i < w.n * WARM; i++)
		done(1, i % w.n, false);
	for (i = 0; i < w.n; i++)
		done(1, i, true);
	w.taken = true;
	sim_await(w.over, MS);
	prog_close(&w.prog[1]);
}

static void asks(void *arg)
{
	u32 r, i;

	connect_all(0);
	sim_await(w.up[1] >= w.n, MS);
	for (r = 0; r < WARM; r++) {
		send_all(0);
		for (i = 0; i < w.n; i++)
			done(0, i, true);
		for (i = 0; i < w.n; i++)
			done(0, i, false);
	}
	w.warm = true;
	sim_await(w.go, 100000);
	send_all(0);
	for (i = 0; i < w.n; i++)
		done(0, i, false);
	w.over = true;
	prog_close(&w.prog[0]);
}

static struct via_peer *peer_of(u32 side)
{
	return via_peer_find(sim_nic_ether(host_nic(side)),
			     host_mac(!side));
}

/* How long the end that is asked waits for data, ns. */
static u64 bet(void)
{
	u64 rtt;

	rcu_read_lock();
	rtt = peer_of(1)->timing.net * US;
	rcu_read_unlock();
	return 2 * rtt - rtt / 4;
}

static void owing(void)
{
	unsigned long from, known;
	u32 n;

	w.n = sim_dice(12) ? 1 + sim_dice(SOME) : MANY;
	sim_config.step_ns = 2;
	sim_wire.delay_ns = w.n == MANY ? 5 * MS : MS;
	sim_wire.credit = 2048;
	sim_param_set("window", 2048);
	/* No frame comes twice because of the pause. */
	sim_param_set("rto_min_us", 500000);
	sim_wire.meddle = look;
	hosts_up(2);
	host_run(1, "answers", answers, NULL);
	host_run(0, "asks", asks, NULL);
	sim_await(w.warm, MS);
	/* What is owed of it is told. */
	sim_pause(100 * MS);
	w.count = true;
	w.begun = sim_now();
	from = jiffies;
	w.go = true;
	sim_await(w.taken, 20 * US);
	/* No CPU runs until all wait long enough: it is one alarm. */
	w.settled = sim_now();
	sim_clock += bet() + 20 * US;
	sim_await(w.over, MS);
	n = w.n - w.early;
	sim_log("%u VIs, and %u: %u frames, %u entries, %u with a time", n,
		w.early, w.frames, w.entries, w.waited);
	sim_expect(w.frames - DIV_ROUND_UP(n, ENTRIES) <= n / PORTION,
		   "%u frames for %u", w.frames, n);
	sim_expect(w.entries == n, "%u of %u", w.entries, n);
	/* One whose last answer came before its number was known does not bet. */
	sim_expect(w.early <= w.asked + 1 + w.n / 4, "%u early, %u asked",
		   w.early, w.asked);
	rcu_read_lock();
	known = peer_of(0)->timing.known_at;
	rcu_read_unlock();
	sim_expect(!w.waited || time_after_eq(known, from),
		   "the times are not heard");
	hosts_down();
}

SIM_SCENARIO(.name = "acks-alarm", .run = owing, .runs = 40, .max_vi = MANY + 2,
	     .seconds = 100, SIM_STATE(w), .coarse = true,
	     .what = "acknowledgements of one alarm go in few frames")

/* Few messages at Unreliable, each answered, and then none. */

static void rides(void *arg)
{
	u32 side = !!arg, r;
	struct prog_vi *v = &w.vi[side][0];
	struct prog_nic *n = &w.prog[side];

	prog_open_vi(n, v, side ? "via_b" : "via_a", (MANY + 1) * MSG,
		     VIA_UNRELIABLE);
	prog_post_recv(v, n->mem, MSG);
	prog_connect(v, side ? NULL : host_mac(1), "rides", 10 * SEC);
	for (r = 0; r < w.n; r++) {
		if (!side)
			prog_post_send(v, n->mem + MANY * MSG, MSG);
		done(side, 0, true);
		if (side)
			prog_post_send(v, n->mem + MANY * MSG, MSG);
		done(side, 0, false);
	}
	sim_sleep(100 * MS);
	sim_expect(!prog_counter(n, "timeouts"), "%llu timeouts",
		   prog_counter(n, "timeouts"));
	prog_close(n);
}

static void riding(void)
{
	u32 i;

	w.n = 1 + sim_dice(2 * VIA_ETHER_LAZY);
	sim_wire.delay_ns = sim_dice(100) * US;
	hosts_up(2);
	for (i = 0; i < 2; i++)
		host_run(i, "rides", rides, i ? &w : NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "acks-ride", .run = riding, .runs = 60, .max_vi = 4,
	     .seconds = 100, SIM_STATE(w),
	     .what = "what data has acknowledged is not waited for")

/*
 * Round trips between machines whose CPUs are shared: few find both machines
 * running, and take a tenth of the others.  A bet outlasts most of them, and
 * follows when the way has become shorter.
 */
static void mean(void)
{
	struct via_peer *peer;
	u32 i, usual = 300 + sim_dice(600);
	u8 mac[ETH_ALEN];

	hosts_up(1);
	memcpy(mac, host_mac(0), sizeof(mac));
	mac[ETH_ALEN - 1]++;
	peer = via_peer_get(sim_nic_ether(host_nic(0)), mac, GFP_KERNEL);
	if (!peer)
		goto out;
	local_bh_disable();
	for (i = 0; i < 400; i++) {
		via_peer_timed(peer, sim_dice(16) ? usual - sim_dice(100) :
						   usual / 10, i & 1, i & 1);
		/* Others, not so often, are of messages that wait. */
		if (i < 40)
			continue;
		sim_expect(peer->timing.net > usual / 3 &&
			   peer->timing.net <= usual,
			   "%u of %u us", peer->timing.net, usual);
	}
	for (i = 0; i < 16; i++)
		via_peer_timed(peer, usual / 10, true, true);
	sim_expect(peer->timing.net < usual / 4, "%u us after %u of %u",
		   peer->timing.net, i, usual / 10);
	via_peer_put(peer);
	local_bh_enable();
out:
	hosts_down();
}

SIM_SCENARIO(.name = "acks-mean", .run = mean, .runs = 20,
	     .what = "few short round trips do not make bets short")

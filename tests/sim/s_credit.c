// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * All VIs to one peer share one window: the credit that they hold is what the
 * window says, at any moment, and none is left when they have ended; those that
 * do nothing do not keep others from sending; all have an equal share.
 */
#include "stream.h"
#include "../../devices/ether/vi.h"

#define STREAMS		64
#define NS_PER_BYTE	8		/* a wire of 1 Gb/s */
#define US		1000ull

static struct stream *s[STREAMS];
static bool over, hold;

/* What one end knows of the other. */
static void look(u32 from)
{
	struct via_ether_nic *nic = sim_nic_ether(host_nic(from));
	struct via_credit *c;
	struct via_ether_vi *ev;
	struct via_peer *peer;
	struct via_pool *p;
	u32 sum = 0, n = 0;

	rcu_read_lock();
	local_bh_disable();
	peer = via_peer_find(nic, host_mac(!from));
	if (!peer)
		goto out;
	spin_lock(&peer->pool_lock);
	p = &peer->pool;
	list_for_each_entry(c, &p->holders, hold) {
		ev = container_of(c, struct via_ether_vi, snd.credit);
		sum += c->mine + c->given;
		sim_expect(ev->peer == peer, "credit of no connection");
		sim_expect(ev->snd.win.credit == c->mine, "");
		n++;
	}
	sim_expect(sum == p->granted && n == p->nholders,
		   "%u frames held, %u granted", sum, p->granted);
	sim_expect(list_empty(&p->waiters) || !via_pool_free(p),
		   "VIs wait, and %u frames are free", via_pool_free(p));
	sim_expect(p->want || (list_empty(&p->waiters) && !via_pool_over(p)),
		   "");
	spin_unlock(&peer->pool_lock);
out:
	local_bh_enable();
	rcu_read_unlock();
}

static void watch(void *arg)
{
	while (!READ_ONCE(over)) {
		look(0);
		look(1);
		sim_pause(1 + sim_dice(50000));
	}
}

/* Nothing is held where nothing has been sent for a while. */
static void expect_none(u32 from)
{
	struct via_peer *peer;
	u32 granted = 0;

	rcu_read_lock();
	peer = via_peer_find(sim_nic_ether(host_nic(from)), host_mac(!from));
	if (peer)
		granted = READ_ONCE(peer->pool.granted);
	rcu_read_unlock();
	sim_expect(!granted, "%u frames held by idle VIs", granted);
}

/* Streams from the first host to the second, connected. */
static void all_begin(struct stream_plan *p, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		s[i] = stream_begin(p, i, 0, 1);
	for (i = 0; i < n; i++)
		sim_await(s[i]->end[0].conns && s[i]->end[1].conns, MS);
}

static void all_end(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		sim_await(stream_done(s[i]), MS);
		stream_end(s[i]);
	}
}

static void credit(void)
{
	static const u32 losses[] = { 0, 100, 1000 };
	u32 n = 2 + sim_dice(5), i;
	struct stream_plan p;

	sim_wire.loss = losses[sim_dice(3)];
	sim_wire.reorder = sim_dice(2) * 500;
	sim_wire.dup = sim_dice(2) * 300;
	sim_wire.mark_frames = sim_dice(2) * 8;
	sim_wire.ns_per_byte_x1000 = sim_dice(2) * NS_PER_BYTE * 1000;
	over = false;
	hosts_up(2);
	sim_kthread("watch", watch, NULL);
	for (i = 0; i < n; i++) {
		stream_draw(&p, 0);
		p.sessions = 1 + sim_dice(3);
		s[i] = stream_begin(&p, i, 0, 1);
	}
	all_end(n);
	over = true;
	msleep(1);
	expect_none(0);
	expect_none(1);
	hosts_down();
}

SIM_SCENARIO(.name = "credit", .run = credit, .runs = 40, .max_vi = 16,
	     .seconds = 200,
	     .what = "credit of a peer's window: none is lost, none is made")

/* Many VIs that send at once, over a slow wire. */

static struct {
	u64 first;			/* when the first frame left */
	u32 early;			/* frames before an answer can be back */
} w;

static bool count(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	if (h->type != VIA_WIRE_SEND)
		return true;
	if (!w.first)
		w.first = sim_clock;
	w.early += sim_clock < w.first + 2 * sim_wire.delay_ns;
	return true;
}

static void shares(u32 n)
{
	u32 messages = n < STREAMS ? 400 : 40;
	struct stream_plan p = stream_bulk(messages, 8192);
	u64 least = ~0ull, most = 0, all = 0, start, had;
	u32 i, left = n;

	p.hold = &hold;
	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.port_frames = 64;
	sim_wire.delay_ns = 50 * US;
	sim_wire.credit = 1024;
	sim_wire.meddle = count;
	hold = true;
	hosts_up(2);
	all_begin(&p, n);
	hold = false;
	start = sim_clock;
	while (left == n) {
		msleep(1);
		for (i = 0, left = 0; i < n; i++)
			left += s[i]->end[0].sent < messages;
	}
	for (i = 0; i < n; i++) {
		had = s[i]->end[1].all_bytes;
		all += had;
		least = min(least, had);
		most = max(most, had);
	}
	had = all * NS_PER_BYTE * 100 / (sim_clock - start);
	stream_figure("%u VIs to one peer: %llu %% of the wire, shares %llu to %llu %% of the mean, %u frames at first, %llu lost",
		      n, had, least * 100 * n / all, most * 100 * n / all,
		      w.early, sim_wire.lost);
	sim_expect(w.early <= VIA_CONG_INIT, "%u frames at once", w.early);
	sim_expect(most <= 2 * least, "shares %llu to %llu", least, most);
	sim_expect(had >= 85, "(%llu %% of the wire)", had);
	all_end(n);
	hosts_down();
}

SIM_SCENARIO(.name = "shares-4", .run_as = shares, .as = 4, .runs = 1,
	     .max_vi = 128, SIM_STATE(w), .coarse = true,
	     .what = "four VIs to one peer have equal shares")
SIM_SCENARIO(.name = "shares-64", .run_as = shares, .as = 64, .runs = 1,
	     .max_vi = 128, SIM_STATE(w), .coarse = true,
	     .what = "64 VIs to one peer have equal shares")

/* While the NIC takes nothing, credit stays where it is. */

#define STOPPED_MS	4
/* Six VIs that post, and the retries of the NIC, take 5,200 in that time. */
#define STOPPED_STEPS	50000ull

static void stopped(void)
{
	struct stream_plan p = stream_bulk(100, 32768);
	u32 n = 3 + sim_dice(4), rounds;
	u64 steps, most = 0;

	p.hold = &hold;
	sim_wire.credit = 1024;
	hold = true;
	hosts_up(2);
	all_begin(&p, n);
	hold = false;
	for (rounds = 0; rounds < 8; rounds++) {
		sim_pause(sim_dice(MS / 4));
		sim_nic_stop(host_nic(0), true);
		/* The programs post what their queues hold. */
		msleep(STOPPED_MS);
		steps = sim_steps;
		msleep(STOPPED_MS);
		most = max(most, sim_steps - steps);
		sim_nic_stop(host_nic(0), false);
	}
	stream_figure("%u VIs, a NIC that takes nothing for %u ms: %llu steps",
		      n, STOPPED_MS, most);
	sim_expect(most <= STOPPED_STEPS, "%llu steps while nothing can be sent",
		   most);
	all_end(n);
	hosts_down();
}

SIM_SCENARIO(.name = "credit-stopped", .run = stopped, .runs = 10, .max_vi = 16,
	     .what = "VIs that a full NIC stalls do not take credit from each other")

/* A wire that marks frames before it has to drop any. */
static void marks(void)
{
	struct stream_plan p = stream_bulk(600, 8192);
	struct stream_end *e;
	u64 had;

	if (!sim_dice(4))
		p.level = VIA_UNRELIABLE;
	p.no_loss = true;
	p.slots = 32;
	sim_config.max_steps = 0;
	sim_wire.ns_per_byte_x1000 = NS_PER_BYTE * 1000;
	sim_wire.delay_ns = 100 * US;
	sim_wire.port_frames = 64;
	sim_wire.mark_frames = 24;
	sim_wire.credit = 1024;
	hosts_up(2);
	s[0] = stream_begin(&p, 0, 0, 1);
	sim_await(stream_done(s[0]), MS);
	e = s[0]->end;
	had = e[1].all_bytes * NS_PER_BYTE * 100 / (e[0].end - e[0].begin);
	stream_figure("a wire that marks: level %u, %llu %% of it, %llu lost",
		      p.level, had, sim_wire.lost);
	sim_expect(e[1].all_got == 600, "");
	/* But for what a round trip of the first growth sends. */
	sim_expect(sim_wire.lost <= 8, "%llu frames lost", sim_wire.lost);
	sim_expect(had >= 80, "(%llu %% of the wire)", had);
	stream_end(s[0]);
	hosts_down();
}

SIM_SCENARIO(.name = "marks", .run = marks, .runs = 8, .max_vi = 8,
	     .coarse = true,
	     .what = "a wire that marks frames is not filled until it drops")

/* Each of many VIs sends one message and then nothing, in turn. */

#define TURNS	24u

static struct {
	struct prog_nic n[2];
	struct prog_vi v[2][TURNS];
} t;

static void turns_end(void *arg)
{
	bool client = arg;
	struct prog_nic *n = &t.n[client];
	struct prog_vi *v = t.v[client];
	u32 i;
	u64 at;

	sim_ok(prog_open(n, host_node(!client), 8192));
	prog_vis(v, TURNS, n, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < 3 * TURNS; i++)
		prog_post_recv(&v[i % TURNS], n->mem, 16);
	for (i = 0; i < TURNS; i++)
		prog_connect(&v[i], client ? host_mac(1) : NULL, "turns",
			     10 * SEC);
	for (i = 0; client && i < 3 * TURNS; i++) {
		at = sim_clock;
		prog_post_send(&v[i % TURNS], n->mem, 16);
		prog_good(&v[i % TURNS], false, SEC);
		/* What idle VIs hold comes back at once, not by a timeout. */
		sim_expect(sim_clock - at < 2 * MS, "%llu us for a message",
			   (sim_clock - at) / US);
	}
	sim_sleep(SEC);
	prog_close(n);
}

static void turns(void)
{
	hosts_up(2);
	host_run_as(1, 0, "server", turns_end, (void *)false);
	host_run_as(0, 0, "client", turns_end, (void *)true);
	hosts_down();
}

SIM_SCENARIO(.name = "credit-turns", .run = turns, .runs = 10, .max_vi = 32,
	     .seconds = 100, SIM_STATE(t),
	     .what = "idle VIs do not keep others from sending")

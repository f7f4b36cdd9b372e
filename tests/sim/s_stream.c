// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Streams over wires that are bad in one way each, or in all. */
#include "stream.h"
#include "../../devices/ether/proto/wire.h"

#define STREAMS_MAX	3

/* Of the frames by way of sim_wire.meddle. */
static struct {
	u32 burst_at, burst;		/* of 10,000; frames of one burst */
	u32 left;			/* of the present one */
	u8 kind;			/* frames of this type are dropped: */
	u32 first, every;		/* the first ones, each n-th */
	u32 count;
	const u8 *mute;			/* what comes from it */
	u32 mtu;			/* no frame may be longer; 0: any */
	bool unseal;			/* some have no flag for their seal */
	u32 dropped;
} bad;

static bool meddle(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (const void *)frame;
	struct via_wire *w = (void *)(frame + ETH_HLEN);
	bool drop = false;

	sim_expect(!bad.mtu || *len <= ETH_HLEN + bad.mtu, "(%u, MTU %u)",
		   *len, bad.mtu);
	/* As if that bit had flipped, and Ethernet not seen it. */
	if (bad.unseal && !sim_dice(50))
		w->flags &= ~VIA_WIRE_SUM;
	if (bad.burst_at && !bad.left && sim_dice(10000) < bad.burst_at)
		bad.left = bad.burst;
	if (bad.left) {
		bad.left--;
		drop = true;
	}
	if (bad.kind && w->type == bad.kind) {
		bad.count++;
		drop |= bad.count <= bad.first ||
			(bad.every && bad.count % bad.every == 0);
	}
	if (bad.mute && !memcmp(eth->h_source, bad.mute, ETH_ALEN))
		drop = true;
	bad.dropped += drop;
	return !drop;
}

/* What a scenario makes of a plan, and does beside the streams until they have ended. */
typedef void change(struct stream_plan *p);
typedef void beside(struct stream_plan *p);

static struct stream *streams[STREAMS_MAX];
static u32 nstreams;

static bool done(void)
{
	u32 i;

	for (i = 0; i < nstreams; i++)
		if (!stream_done(streams[i]))
			return false;
	return true;
}

static void pause_ms(u32 ms)
{
	for (; ms && !done(); ms--)
		msleep(1);
}

static void run(u32 level, change *set, beside *act)
{
	struct stream_plan p;
	u32 i;

	stream_draw(&p, level);
	set(&p);
	sim_wire.credit = 16 << 2 * sim_dice(4);
	hosts_up(2);
	/* In some runs the wire is slow, in most it is quick. */
	if (!sim_wire.ns_per_byte_x1000 && !sim_dice(4))
		sim_wire.ns_per_byte_x1000 = 8000 + sim_dice(72000);
	sim_wire.meddle = meddle;
	sim_wire.meddle_trains = !bad.mtu;
	if (bad.mtu) {
		i = sim_dice(2);
		sim_nic_mtu(host_nic(i), bad.mtu);
		sim_nic_mtu(host_nic(!i), bad.mtu + sim_dice(1500));
	}
	nstreams = 1 + sim_dice(STREAMS_MAX);
	for (i = 0; i < nstreams; i++)
		streams[i] = stream_between(&p, i);
	if (act)
		act(&p);
	for (i = 0; i < nstreams; i++)
		stream_end(streams[i]);
	sim_log("%llu frames, %llu lost, %u dropped", sim_wire.frames,
		sim_wire.lost, bad.dropped);
	hosts_down();
}

static void clean(struct stream_plan *p)
{
	p->no_loss = true;
}

static void loss(struct stream_plan *p)
{
	static const u32 amounts[] = { 10, 100, 500, 1000, 3000 };

	sim_wire.loss = amounts[sim_dice(5)];
	p->may_break = sim_wire.loss == 3000;
}

static void burst(struct stream_plan *p)
{
	static const u32 at[] = { 100, 50, 10 }, of[] = { 2, 10, 50 };
	u32 i = sim_dice(3);

	bad.burst_at = at[i];
	bad.burst = of[i];
	p->may_break = of[i] == 50;
}

static void dup(struct stream_plan *p)
{
	sim_wire.dup = 100 + sim_dice(5000);
}

static void reorder(struct stream_plan *p)
{
	static const u32 ns[] = { 60000, 2000000, 50000000, 500000000 };

	sim_wire.reorder = 50 + sim_dice(1000);
	sim_wire.jitter_ns = ns[sim_dice(4)];
	if (!sim_dice(4))
		sim_wire.dup = sim_dice(2000);
}

static void delay(struct stream_plan *p)
{
	sim_wire.delay_ns = 20000 + sim_dice(20000000);
	sim_wire.reorder = sim_dice(2) ? 10000 : 0;
	sim_wire.jitter_ns = 1000 + sim_dice(20000000);
}

static void two_queues(struct stream_plan *p)
{
	sim_nic_queues(host_nic(0));
	sim_nic_queues(host_nic(1));
}

/* As they are drawn. */
static void queues(struct stream_plan *p)
{
}

/* Queues of ports that are soon full: what congestion is. */
static void rate(struct stream_plan *p)
{
	sim_wire.ns_per_byte_x1000 = 80000 + sim_dice(400000);
	sim_wire.port_frames = 4 + sim_dice(60);
}

static void everything(struct stream_plan *p)
{
	sim_wire.loss = 200;
	bad.burst_at = 20;
	bad.burst = 3;
	sim_wire.dup = 500;
	sim_wire.reorder = 500;
	sim_wire.jitter_ns = 20000000;
	sim_wire.delay_ns = 1000000;
	if (sim_dice(2)) {
		sim_param_set("checksum", 1);
		sim_wire.corrupt = 100;
	}
	p->may_break = true;
}

/* Bits that flip past Ethernet's check: with seals as good as lost. */
static void seal(struct stream_plan *p)
{
	sim_param_set("checksum", 1);
	sim_wire.corrupt = 10 + sim_dice(500);
	bad.unseal = sim_dice(2);
}

/* Without seals: nothing is promised but that it ends, and harms nothing. */
static void corrupt(struct stream_plan *p)
{
	sim_wire.corrupt = 10 + sim_dice(1000);
	p->may_lie = true;
	p->plain = sim_dice(2);
	p->sessions = 1;
	p->patience = 15 * SEC;
}

/* Longer than dead_ms, or not. */
static void long_gap(struct stream_plan *p)
{
	p->pace_ns = 1000000 + sim_dice(20000000);
	p->may_break = sim_dice(2);
}

static u32 gap_ms(const struct stream_plan *p)
{
	/*
	 * A heartbeat and a time-out come up to a second after the gap: 8 s of
	 * silence are over then.
	 */
	return p->may_break ? 5000 + sim_dice(10000) : sim_dice(6500);
}

static void cuts(struct stream_plan *p)
{
	struct sim_nic *n;

	while (!done()) {
		n = host_nic(sim_dice(2));
		pause_ms(1 + sim_dice(600));
		sim_nic_cut(n, true);
		pause_ms(gap_ms(p));
		sim_nic_cut(n, false);
		pause_ms(p->may_break ? 0 : 3000);
	}
}

static void mutes(struct stream_plan *p)
{
	while (!done()) {
		pause_ms(1 + sim_dice(600));
		bad.mute = sim_nic_mac(host_nic(sim_dice(2)));
		pause_ms(gap_ms(p));
		bad.mute = NULL;
		pause_ms(p->may_break ? 0 : 3000);
	}
}

static void stops(struct stream_plan *p)
{
	struct sim_nic *n;

	while (!done()) {
		n = host_nic(sim_dice(2));
		pause_ms(sim_dice(20));
		sim_nic_stop(n, true);
		pause_ms(sim_dice(4) ? sim_dice(10) : gap_ms(p));
		sim_nic_stop(n, false);
		pause_ms(p->may_break ? 0 : 1000);
	}
}

static void stop(struct stream_plan *p)
{
	long_gap(p);
	p->pace_ns = sim_dice(2) ? 0 : sim_dice(5000000);
}

/*
 * No CPU of either host runs for longer than dead_ms: a machine whose host is
 * busy, or that sleeps.  Neither has ignored the other.
 */
static void jumps(struct stream_plan *p)
{
	while (!done()) {
		pause_ms(1 + sim_dice(1500));
		sim_clock += (9 + sim_dice(30)) * (u64)SEC;
		pause_ms(3000);
	}
}

static void jump(struct stream_plan *p)
{
	p->pace_ns = 1000000 + sim_dice(20000000);
	p->idle_ns = sim_dice(2) * 3 * (u64)SEC;
	p->patience = 90 * (u64)SEC;
	if (sim_dice(2))
		sim_wire.loss = sim_dice(500);
}

static void mtus(struct stream_plan *p)
{
	while (!done()) {
		pause_ms(sim_dice(50));
		sim_nic_mtu(host_nic(sim_dice(2)), VIA_WIRE_MTU_MIN + sim_dice(1200));
	}
}

static void mtu(struct stream_plan *p)
{
	p->sessions = 1 + sim_dice(5);
	p->pace_ns = sim_dice(1000000);
	p->no_loss = true;
}

/* The smaller one is that of the connection, for its life. */
static void mtus_differ(struct stream_plan *p)
{
	bad.mtu = VIA_WIRE_MTU_MIN + sim_dice(1000);
	p->no_loss = true;
}

/* NICs that send by DMA, and give frames that came in pieces. */
static void frags(struct stream_plan *p)
{
	sim_nics_dma();
	sim_param_set("checksum", sim_dice(2));
	if (sim_dice(2))
		sim_wire.loss = sim_dice(500);
	else
		p->no_loss = true;
	sim_wire.pieces = sim_dice(10000);
}

static void downs(struct stream_plan *p)
{
	pause_ms(sim_dice(100));
	if (!done())
		sim_nic_break(host_nic(sim_dice(2)));
}

static void down(struct stream_plan *p)
{
	p->pace_ns = sim_dice(10000000);
	p->may_break = true;
}

/* Frames of one kind: the first ones, and each n-th from then on. */
static void kinds(struct stream_plan *p)
{
	static const u8 types[] = {
		VIA_WIRE_SEND, VIA_WIRE_WRITE, VIA_WIRE_READ,
		VIA_WIRE_READ_DATA, VIA_WIRE_ACK,
		VIA_WIRE_DISCONNECT, VIA_WIRE_RESET, VIA_WIRE_REQUEST,
		VIA_WIRE_ACCEPT, VIA_WIRE_WAIT, VIA_WIRE_REFUSE,
		VIA_WIRE_CONFIRM, VIA_WIRE_CANCEL,
	};

	bad.kind = types[sim_dice(ARRAY_SIZE(types))];
	bad.first = sim_dice(6);
	bad.every = sim_dice(2) ? 2 + sim_dice(8) : 0;
	p->sessions = 3;
	p->pace_ns = sim_dice(2) ? 0 : sim_dice(2000000);
}

#define STREAM(fn, ...)	STREAM_AT(__COUNTER__, fn, __VA_ARGS__)
#define STREAM_AT(n, ...)	STREAM_N(n, __VA_ARGS__)
#define STREAM_N(n, fn, level, act, called, words)			\
	static void run_##n(void)					\
	{								\
		run(level, fn, act);					\
	}								\
	SIM_SCENARIO(.name = called, .what = words, .run = run_##n,	\
		     .runs = 30, .seconds = 2000, SIM_STATE(bad))

STREAM(clean, 0, NULL, "stream-clean", "streams of messages on a good wire")
STREAM(loss, 0, NULL, "stream-loss",
       "streams while 0.1 to 30 % of the frames are lost")
STREAM(burst, 0, NULL, "stream-burst",
       "streams while bursts of 2 to 50 frames are lost")
STREAM(dup, 0, NULL, "stream-dup", "streams while frames are doubled")
STREAM(reorder, 0, NULL, "stream-reorder",
       "streams while frames overtake each other")
STREAM(delay, 0, NULL, "stream-delay",
       "streams over a wire with delay and jitter")
STREAM(queues, 0, two_queues, "stream-queues",
       "streams of frames that come on two processors at once")
STREAM(rate, 0, NULL, "stream-rate", "streams through ports with small queues")
STREAM(everything, 0, NULL, "stream-all",
       "streams over a wire that is bad in all ways")
STREAM(seal, 0, NULL, "stream-seal", "streams with checksums while bits flip")
STREAM(corrupt, 0, NULL, "stream-corrupt",
       "streams without checksums while bits flip")
STREAM(long_gap, 0, cuts, "stream-cut",
       "streams while a host is cut off for a time")
STREAM(long_gap, 0, mutes, "stream-mute",
       "streams while one direction is cut off for a time")
STREAM(stop, 0, stops, "stream-stop",
       "streams while a transmitter stops for a time")
STREAM(jump, prog_reliable(), jumps, "stream-jump",
       "streams while no CPU runs for longer than silence may last")
STREAM(mtu, 0, mtus, "stream-mtu", "streams while MTUs change")
STREAM(mtus_differ, 0, NULL, "stream-mtus",
       "streams between NICs with different MTUs")
STREAM(frags, 0, NULL, "stream-frags",
       "streams by DMA, frames received in pieces")
STREAM(down, 0, downs, "stream-down", "streams until an interface goes down")
STREAM(kinds, prog_reliable(), NULL, "stream-kinds",
       "streams while frames of one kind are lost")

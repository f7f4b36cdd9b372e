// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * How late is a completion?  The wire notes when a frame of data is delivered
 * and when the acknowledgement for it leaves: between the two lie 100 us or two
 * round trips at most, whichever end is to speak next, and whatever it waits
 * for.  Times are virtual, the wire loses nothing but what a scenario takes.
 */
#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define CLIENTS		8
#define SERVER		1		/* its NIC's number */
#define BYTES		16
#define BURST		48
#define PENDING		1024
#define US		1000ull
/* Softirqs and threads have turns of their own, and batches are taken. */
#define SLACK		(40 * US)
/* Until it is noticed that programs do not look any more, with a ring or not. */
#define TICKS		(1000 * US)
#define LONG_TICK	(4000 * US)

enum pattern {
	THINKS,				/* one of the two, between messages */
	IN_TURN,			/* the server waits for its completions */
	WRITES,
	WRITE_AND_SEND,
	BURSTS,
	RESTS,				/* a message after a second */
	LOSES,				/* the last frame of a burst */
	BESIDE,				/* some are not answered, of one VI of two */
};

#define MUTE	8			/* BESIDE: of so many messages, the last */

static struct {
	enum pattern pattern;
	u32 clients, rounds;
	bool one;			/* thread has all clients */
	bool spin[2];			/* the client's, the server's program */
	bool ring;			/* and looks for frames, too */
	u32 burst, bytes;		/* messages of one, and of a message */
	u64 think[2];			/* ns, the client's, the server's */
	u32 stops;			/* the server thinks each n-th round */
	u64 limit;			/* ns */
	u64 more;			/* ns, for what the server sends */
	struct prog_nic server, client;
	bool ready[CLIENTS], over[CLIENTS];
	u32 left;			/* clients */

	/* Frames whose acknowledgement has not left. */
	struct {
		u8 from, to;
		u32 seq;
		u64 delivered;
	} pending[PENDING];
	u32 npending;
	u64 worst;
	u32 waited;			/* for a bet, or nearly */
	u32 frames;			/* of data */
	u32 moves;			/* a question from another CPU than the last */
	int cpu;
	u32 alone;			/* acknowledgements without */
	u32 prompt;			/* those that have not waited */
	u32 asks;			/* those that ask for one */
	u32 probes;			/* tails sent again */
	u32 drop;			/* of the next frames of data */
	bool outages;			/* before each loss */
	u64 took[64];			/* ns to recover */
	u32 ntook;
	u32 slow;
} w;

static bool has_data(const struct via_wire *h)
{
	return h->type == VIA_WIRE_SEND || h->type == VIA_WIRE_WRITE ||
	       h->type == VIA_WIRE_READ || h->type == VIA_WIRE_READ_DATA;
}

/* Frames of data to @from, up to @ack, are acknowledged. */
static void acknowledged(u8 from, u8 to, u32 ack)
{
	u64 late;
	u32 i;

	for (i = 0; i < w.npending; i++) {
		if (w.pending[i].from != to || w.pending[i].to != from ||
		    ack - w.pending[i].seq - 1 >= PENDING)
			continue;
		late = sim_clock - min(sim_clock, w.pending[i].delivered);
		w.worst = max(w.worst, late);
		w.waited += late >= w.limit - SLACK - 20 * US;
		sim_expect(w.pattern == LOSES ||
			   late <= w.limit + (to == SERVER ? w.more : 0),
			   "acknowledged after %llu us", late / US);
		w.pending[i--] = w.pending[--w.npending];
	}
}

static void note_alone(u8 from, u8 to, const struct via_wire *h)
{
	const struct via_wire_ack *a = (const void *)(h + 1);
	struct via_acks_at at = {};
	struct via_acks_entry e;

	w.alone++;
	if (h->type == VIA_WIRE_ACK) {
		w.prompt += a->delay < 4;
		w.asks += !!(h->flags & VIA_WIRE_ACK_NOW);
		acknowledged(from, to, be32_to_cpu(a->ack));
		return;
	}
	while (via_wire_next_acks(h, &at, &e)) {
		w.prompt += e.delay < 4;
		acknowledged(from, to, e.ack);
	}
}

static bool note(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (const void *)frame;
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);
	const struct via_wire_data *data = (const void *)(h + 1);
	u8 from = eth->h_source[ETH_ALEN - 1], to = eth->h_dest[ETH_ALEN - 1];

	if (h->type == VIA_WIRE_ACK || h->type == VIA_WIRE_ACKS)
		note_alone(from, to, h);
	if (!has_data(h))
		return true;
	acknowledged(from, to, be32_to_cpu(data->ack));
	w.frames++;
	if (to == SERVER && sim_cpu() != w.cpu) {
		w.moves++;
		w.cpu = sim_cpu();
	}
	w.probes += !!(h->flags & VIA_WIRE_PROBE);
	if (w.drop) {
		w.drop--;
		return false;
	}
	sim_expect(w.npending < PENDING, "");
	w.pending[w.npending].from = from;
	w.pending[w.npending].to = to;
	w.pending[w.npending].seq = be32_to_cpu(data->seq);
	w.pending[w.npending++].delivered = sim_clock + sim_wire.delay_ns;
	return true;
}

static void think(u64 ns)
{
	if (ns)
		sim_sleep(ns);
}

/* Looks until there is something. */
static void spin(struct prog_vi *v, bool recv, struct prog_done *d)
{
	u64 until = sim_now() + 10 * SEC;
	u32 i;

	for (i = 0; !prog_look(v, recv, i, d); i++) {
		sim_expect(sim_now() < until, "");
		sim_sleep(US / 2);
	}
}

static void done(struct prog_vi *v, bool recv)
{
	struct prog_done d;

	if (w.spin[v->nic == &w.server])
		spin(v, recv, &d);
	else
		d = prog_good(v, recv, 10 * SEC);
}

static void serve(void *arg)
{
	struct prog_vi v[CLIENTS];
	char name[] = "p0";
	u32 i, r, n;

	sim_ok(prog_open(&w.server, host_node(0), 64 << 10));
	for (i = 0; i < w.clients; i++) {
		name[1] = '0' + i;
		sim_ok(prog_vi(&v[i], &w.server, VIA_RELIABLE_DELIVERY, 0, 0));
		for (n = 0; n < w.burst + 2; n++)
			prog_post_recv(&v[i], w.server.mem, w.bytes);
		WRITE_ONCE(w.ready[i], true);
		prog_connect(&v[i], NULL, name, 10 * SEC);
	}
	for (r = 0; r < w.rounds && w.pattern <= IN_TURN; r++) {
		for (i = 0; i < w.clients; i++) {
			done(&v[i], true);
			prog_post_recv(&v[i], w.server.mem, BYTES);
			if (!w.stops || r % w.stops == w.stops - 1)
				think(w.think[1]);
			prog_post_send(&v[i], w.server.mem, BYTES);
			if (w.pattern == IN_TURN || r % 8 == 7)
				done(&v[i], false);
			while (w.pattern != IN_TURN && r % 8 == 7 &&
			       v[i].q[0].collected != v[i].q[0].tail)
				done(&v[i], false);
		}
	}
	n = 0;
	while (READ_ONCE(w.left)) {
		for (i = 0; i < w.clients && w.pattern > IN_TURN; i++) {
			struct prog_done d;

			while (prog_done(&v[i], true, &d)) {
				prog_post_recv(&v[i], w.server.mem, w.bytes);
				if (w.pattern != BESIDE)
					continue;
				if (!i || ++n % MUTE)
					prog_post_send(&v[i], w.server.mem,
						       BYTES);
				/* Its client may have the next one there. */
				break;
			}
			while (w.pattern == BESIDE &&
			       prog_done(&v[i], false, &d))
				;
		}
		sim_sleep(w.pattern == BESIDE ? US : 20 * US);
	}
	prog_close(&w.server);
}

/* The last of a few, and how long until it has arrived all the same. */
static void lose_last(struct prog_vi *v)
{
	u32 n = sim_dice(4), i;
	u64 from;

	for (i = 0; i < n; i++)
		prog_post_send(v, w.client.mem, BYTES);
	for (i = 0; i < n; i++)
		done(v, false);
	if (w.outages) {
		/* What was learned of that one is no matter of the next. */
		w.drop = 7;
		prog_post_send(v, w.client.mem, BYTES);
		done(v, false);
	}
	w.drop = 1;
	from = sim_now();
	prog_post_send(v, w.client.mem, BYTES);
	done(v, false);
	sim_expect(!w.drop, "");
	w.took[w.ntook++] = sim_now() - from;
}

static void round_of(struct prog_vi *v, bool answered)
{
	u32 i;

	switch (w.pattern) {
	case WRITES:
	case WRITE_AND_SEND:
		prog_post_write(v, w.client.mem, BYTES,
				(uintptr_t)w.server.mem + 4096,
				w.server.handle);
		if (w.pattern == WRITE_AND_SEND) {
			prog_post_send(v, w.client.mem, 4);
			done(v, false);
		}
		done(v, false);
		break;
	case BURSTS:
		for (i = 0; i < w.burst; i++)
			prog_post_send(v, w.client.mem, w.bytes);
		for (i = 0; i < w.burst; i++)
			done(v, false);
		break;
	case LOSES:
		lose_last(v);
		break;
	default:
		prog_post_send(v, w.client.mem, BYTES);
		if (w.pattern != RESTS && answered) {
			done(v, true);
			prog_post_recv(v, w.client.mem, BYTES);
		}
		done(v, false);
	}
}

static void call(struct prog_vi *v, u32 i)
{
	char name[] = "p0";

	name[1] += i;
	sim_ok(prog_vi(v, &w.client, VIA_RELIABLE_DELIVERY, 0, 0));
	prog_post_recv(v, w.client.mem, BYTES);
	sim_await(READ_ONCE(w.ready[i]), MS);
	prog_connect(v, host_mac(0), name, 10 * SEC);
}

/* One thread asks on all connections in turn. */
static void ask_in_turn(void *arg)
{
	struct prog_vi v[CLIENTS];
	u32 i, r;

	for (i = 0; i < w.clients; i++)
		call(&v[i], i);
	for (r = 0; r < w.rounds; r++) {
		for (i = 0; i < w.clients; i++) {
			prog_post_send(&v[i], w.client.mem, BYTES);
			done(&v[i], true);
			prog_post_recv(&v[i], w.client.mem, BYTES);
			done(&v[i], false);
		}
	}
	sim_sleep(2 * w.limit);
	for (i = 0; i < w.clients; i++)
		WRITE_ONCE(w.over[i], true);
}

static void ask(void *arg)
{
	u32 i = (uintptr_t)arg, r, most;
	struct prog_vi v;

	call(&v, i);
	most = w.pattern == BESIDE && !i ? 20 * w.rounds : w.rounds;
	for (r = 0; r < most && (r < w.rounds || !READ_ONCE(w.over[1]));
	     r++) {
		think(w.think[0]);
		round_of(&v, w.pattern != BESIDE || !i || (r + 1) % MUTE);
	}
	/* What is owed at the end is no later than the rest. */
	sim_sleep(2 * w.limit + w.more);
	WRITE_ONCE(w.over[i], true);
}

static void clients(void *arg)
{
	struct sim_proc *p = current->proc;
	u32 i;

	sim_ok(prog_open(&w.client, host_node(1), 64 << 10));
	if (w.one)
		sim_thread(p, "client", ask_in_turn, NULL);
	for (i = 0; i < w.clients && !w.one; i++)
		sim_thread(p, "client", ask, (void *)(uintptr_t)i);
	for (i = 0; i < w.clients; i++)
		sim_await(READ_ONCE(w.over[i]), 100 * US);
	sim_expect(w.pattern == LOSES || !w.npending,
		   "%u frames are not acknowledged", w.npending);
	WRITE_ONCE(w.left, 0);
	prog_close(&w.client);
}

static void begin(enum pattern pattern, u32 rounds)
{
	static const u64 delays[] = { 0, 5 * US, 50 * US, 400 * US };

	memset(&w, 0, sizeof(w));
	w.pattern = pattern;
	w.clients = 1;
	w.rounds = rounds;
	w.burst = BURST;
	w.bytes = BYTES;
	w.left = 1;
	sim_wire.delay_ns = delays[sim_dice(4)];
	sim_wire.meddle = note;
	/* Hosts that are quick: it is their waiting that counts. */
	sim_config.step_ns = 2;
	sim_config.max_time = sim_clock + 60 * SEC;
}

static void run(void)
{
	hosts_up(2);
	w.limit = max(100 * US, 4 * sim_wire.delay_ns) + SLACK;
	if (w.ring)
		w.limit += TICKS;
	else if (w.spin[1])
		w.more = LONG_TICK;
	host_run_as(0, 0, "server", serve, NULL);
	host_run_as(1, 0, "clients", clients, NULL);
	hosts_down();
	sim_log("delay %llu us: at most %llu us late",
		sim_wire.delay_ns / US, w.worst / US);
}

static void thinks(void)
{
	static const u64 times[] = { 0, 20 * US, 70 * US, 130 * US, 300 * US,
				     3 * MS };

	begin(THINKS, 60);
	w.think[0] = times[sim_dice(6)];
	w.think[1] = times[sim_dice(6)];
	run();
}

/* Traps are the alarm's clock, and the tick, while programs do something else. */
static void spin_with(bool client, bool ring)
{
	static const u64 times[] = { 0, 20 * US, 300 * US, 3 * MS };

	if (ring)
		sim_nics_polled();
	begin(THINKS, 60);
	w.spin[0] = client;
	w.spin[1] = true;
	w.ring = ring;
	w.think[1] = times[sim_dice(4)];
	w.stops = 15;
	run();
}

static void spinners(void)
{
	spin_with(true, true);
}

/*
 * A program that answers late, at times or always: once is no rule, and the next
 * push waits for data as before.
 */
static void late(void)
{
	bool often = sim_dice(2);

	begin(THINKS, 100);
	sim_wire.delay_ns = 50 * US;
	w.spin[0] = true;
	w.spin[1] = true;
	w.think[1] = MS;
	w.stops = often ? 0 : 15;
	run();
	sim_log("%u questions, %u acknowledgements alone", w.asks, w.alone);
	if (often)
		sim_expect(w.asks <= 20, "%u questions", w.asks);
	else
		sim_expect(w.alone <= 60,
			   "%u acknowledgements alone", w.alone);
}

/*
 * The client looks at the time until all that it sent is acknowledged: it asks
 * in time while the server thinks.  Or it sleeps, and promises nothing: then
 * the server's timer is started.  The server does not look while it thinks, and
 * asks late.
 */
static void promises(void)
{
	spin_with(sim_dice(2), false);
}

/* Answers take longer than 100 us, and less than two round trips. */
static void slowly(void)
{
	begin(THINKS, 100);
	sim_wire.delay_ns = 400 * US;
	w.think[1] = 300 * US + sim_dice(600) * US;
	run();
	sim_log("%u acknowledgements alone", w.alone);
	sim_expect(w.alone <= 20, "%u acknowledgements alone", w.alone);
	/* The first ones have not, or a round trip cannot be seen to rise. */
	sim_expect(w.prompt, "none tells that it has not waited");
}

/* It is the answers that are acknowledged late, and the next one is not. */
static void seldom(void)
{
	begin(THINKS, 40);
	w.think[0] = 40 * MS;
	run();
	sim_log("%u acknowledgements alone, %u at once", w.alone, w.prompt);
	sim_expect(w.prompt <= 20, "%u acknowledgements at once", w.prompt);
}

/* While messages come as they did, the alarm is put off. */
static void alarms(void)
{
	u64 from = sim_clock;
	u32 before = sim_alarms;

	begin(THINKS, 2000);
	sim_wire.delay_ns = sim_dice(2) * 5 * US;
	run();
	sim_log("%u alarms in %llu us, %u acknowledgements alone",
		sim_alarms - before, (sim_clock - from) / US, w.alone);
	/*
	 * Two NICs, each of which would have one in 100 us.  An answer that is
	 * posted before the number of what it answers is known, a few steps
	 * behind its completion, acknowledges less: there bets are lost.
	 */
	sim_expect(sim_alarms - before < 20 + w.alone / 8 +
		   (sim_clock - from) / (200 * US),
		   "%u alarms in %llu us", sim_alarms - before,
		   (sim_clock - from) / US);
}

/* When it does not, its peer has been visited at any time before. */
static void stops(void)
{
	begin(THINKS, 100);
	w.think[1] = MS;
	w.stops = 8 + sim_dice(40);
	run();
}

static void in_turn(void)
{
	static const u32 counts[] = { 1, 2, 8 };

	begin(IN_TURN, 30);
	w.clients = counts[sim_dice(3)];
	run();
}

/*
 * An acknowledgement goes behind the next question, which another connection
 * has: none but the last ones waits for data of its own.
 */
static void in_one_turn(void)
{
	begin(IN_TURN, 60);
	w.one = true;
	w.clients = 2 + sim_dice(CLIENTS - 1);
	run();
	sim_log("%u clients, %u waited, %u moves", w.clients, w.waited,
		w.moves);
	/* Each move of the thread leaves one behind, on the CPU of before. */
	sim_expect(w.waited <= w.clients + 1 + w.moves,
		   "%u of %u waited, %u moves", w.waited, w.frames, w.moves);
}

/* One VI is at work all the time, and puts its own visits off. */
static void beside(void)
{
	begin(BESIDE, 80);
	sim_wire.delay_ns = sim_dice(2) * 5 * US;
	w.clients = 2;
	/* What one has promised is not put off by the other. */
	w.spin[0] = sim_dice(2);
	run();
}

static void writes(void)
{
	begin(sim_dice(2) ? WRITES : WRITE_AND_SEND, 40);
	w.think[0] = sim_dice(2) * sim_dice(500000);
	run();
}

static void bursts(void)
{
	begin(BURSTS, 6);
	/* The server takes some time to post as many receives again. */
	w.think[0] = 200 * US + sim_dice(2000000);
	run();
}

/* More than the window takes: each acknowledgement lets some frames go. */
static void bulk(void)
{
	begin(BURSTS, 10);
	w.burst = 24;
	w.bytes = 30 << 10;
	w.think[0] = 200 * US + sim_dice(2000000);
	run();
	sim_log("%u acknowledgements of %u frames", w.alone, w.frames);
	sim_expect(w.alone <= w.frames / 10, "%u acknowledgements of %u frames",
		   w.alone, w.frames);
}

static void rests(void)
{
	begin(RESTS, 4);
	w.think[0] = SEC;
	run();
}

static int by_time(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* At a round trip of 100 us. */
static void loses(void)
{
	begin(LOSES, 32);
	sim_wire.delay_ns = 50 * US;
	w.think[0] = sim_dice(2) * sim_dice(5000000);
	w.outages = sim_dice(2);
	run();
	sim_expect(w.probes >= w.ntook, "%u probes", w.probes);
	qsort(w.took, w.ntook, sizeof(*w.took), by_time);
	sim_log("median %llu us", w.took[w.ntook / 2] / US);
	sim_expect(w.took[w.ntook / 2] <= MS, "median %llu us",
		   w.took[w.ntook / 2] / US);
}

/*
 * One thread with both ends: what it waits for is the acknowledgement of the
 * message that only it could answer.
 */
#define BOTH_ROUNDS	220

static void one_way(struct prog_vi *from, struct prog_vi *to)
{
	u64 begin = sim_now();

	prog_post_send(from, from->nic->mem, BYTES);
	done(from, false);
	done(to, true);
	prog_post_recv(to, to->nic->mem, BYTES);
	w.slow += sim_now() - begin > 2 * sim_wire.delay_ns + SLACK;
}

static void both_ends(void *arg)
{
	struct prog_vi a, b;
	u64 from;
	u32 r;

	prog_open_vi(&w.server, &b, host_node(0), 8192, VIA_RELIABLE_DELIVERY);
	prog_open_vi(&w.client, &a, host_node(1), 8192, VIA_RELIABLE_DELIVERY);
	prog_post_recv(&a, w.client.mem, BYTES);
	prog_post_recv(&b, w.server.mem, BYTES);
	sim_ok(prog_request_start(&a, w.server.hello.addr, "both", 10 * SEC,
				  true));
	sim_ok(prog_request_start(&b, w.client.hello.addr, "both", 10 * SEC,
				  true));
	sim_ok(prog_result(&b, VIA_CONN_PEER));
	sim_ok(prog_result(&a, VIA_CONN_PEER));
	from = sim_now();
	for (r = 0; r < BOTH_ROUNDS; r++) {
		one_way(&a, &b);
		one_way(&b, &a);
	}
	sim_log("%llu ns a round, %u of %u messages late",
		(sim_now() - from) / BOTH_ROUNDS, w.slow, 2 * BOTH_ROUNDS);
	/* Each end bets at its 4th push, 19, 35, 67 and 131 pushes later. */
	sim_expect(w.slow <= 2 * 4 + 2, "%u messages were late", w.slow);
	prog_close(&w.server);
	prog_close(&w.client);
}

static void one_thread(void)
{
	hosts_up(2);
	begin(THINKS, 0);
	sim_wire.delay_ns = sim_dice(2) * 5 * US;
	w.limit = 100 * US + SLACK;
	host_run_as(0, 0, "both", both_ends, NULL);
	hosts_down();
}

#define LATE(id, called, words, fn)					\
	SIM_SCENARIO(.name = called, .what = words,		\
		     .run = fn, .runs = 60)

LATE(thinks, "completion-think",
     "acknowledgements in time while one end or both think", thinks)
LATE(spinners, "completion-spin",
     "acknowledgements in time of programs that take frames themselves",
     spinners)
LATE(promises, "completion-promise",
     "acknowledgements in time of programs that look at the time themselves",
     promises)
LATE(late, "completion-question",
     "what a question says of a program that answers late", late)
LATE(slowly, "completion-slow",
     "answers within two round trips carry the acknowledgements", slowly)
LATE(seldom, "completion-seldom",
     "acknowledgements of messages that come seldom wait for data", seldom)
LATE(alarms, "completion-alarm", "no alarm goes off beside a ping-pong",
     alarms)
LATE(stops, "completion-stop",
     "a server that answers at once, and then does not", stops)
LATE(in_turn, "completion-turns",
     "a server waits for the completion of each answer", in_turn)
LATE(in_one_turn, "completion-one-turn",
     "one thread asks a server on many connections in turn", in_one_turn)
SIM_SCENARIO(.name = "completion-beside", .run = beside, .runs = 60,
	     .prompt = true,
	     .what = "messages that are not answered beside a ping-pong of another VI")
LATE(writes, "completion-write",
     "RDMA Writes, alone or with a send behind them", writes)
LATE(bursts, "completion-burst", "bursts of messages, then silence", bursts)
LATE(bulk, "completion-bulk", "bursts that close the window", bulk)
LATE(rests, "completion-rest", "a message after a second of silence", rests)
LATE(loses, "completion-lost", "the last frame of a burst is lost", loses)
LATE(one_thread, "completion-both",
     "one thread has both ends and waits for each completion", one_thread)

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What many connections owe one host at a moment leaves in few frames, and
 * each of them is told all the same, whatever is lost or stopped.
 */
#include "s_forge.h"
#include "prog.h"
#include "../../devices/ether/proto/congestion.h"

#define VIS		24
#define MSG		64
#define ROUNDS		12
#define LATE		(2 * SEC)

static struct {
	struct prog_nic prog[2];
	struct prog_vi vi[2][VIS];
	u32 n, up[2], acks, batches;
	bool over, rough;
	char *out, *in;
	bool deaf;			/* no data arrives */
	u32 seq, done;			/* of the last data; sends completed */
	u32 end;			/* of REQUEST: its VI, with @cookie */
	u64 cookie, epoch;
} w;

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = forged_wire(frame);

	sim_log("%llu us: type %#x, dst %u, seq %u, ack %u", sim_now() / 1000,
		h->type, be32_to_cpu(h->dst),
		be32_to_cpu(forged_data(frame)->seq),
		be32_to_cpu(forged_data(frame)->ack));
	w.acks += h->type == VIA_WIRE_ACK;
	w.batches += h->type == VIA_WIRE_ACKS;
	if (h->type == VIA_WIRE_REQUEST) {
		w.end = be32_to_cpu(forged_conn(frame)->vi);
		w.cookie = be64_to_cpu(forged_conn(frame)->sender_cookie);
		w.epoch = be64_to_cpu(forged_hello(frame)->epoch);
	}
	if (h->type != VIA_WIRE_SEND)
		return true;
	w.seq = be32_to_cpu(forged_data(frame)->seq);
	return !w.deaf;
}

static void connect_all(u32 side, const char *node)
{
	struct prog_vi *v;
	u32 i;

	sim_ok(prog_open(&w.prog[side], node, (VIS + 1) * MSG));
	if (side)
		w.in = prog_buffer(&w.prog[side], VIS * MSG);
	for (i = 0; i < w.n; i++) {
		v = &w.vi[side][i];
		sim_ok(prog_vi(v, &w.prog[side], i & 1 ?
			       VIA_RELIABLE_RECEPTION : VIA_RELIABLE_DELIVERY,
			       0, 0));
		if (side)
			prog_post_recv(v, w.in + i * MSG, MSG);
		prog_connect(v, side ? NULL : host_mac(1), "acks", 10 * SEC);
		w.up[side]++;
	}
}

static void receiver(void *arg)
{
	struct prog_done d;
	u32 i;

	connect_all(1, "via_b");
	for (; !w.over; sim_sleep(100000))
		for (i = 0; i < w.n; i++)
			while (prog_done(&w.vi[1][i], true, &d))
				prog_post_recv(&w.vi[1][i], w.in + i * MSG,
					       MSG);
	prog_close(&w.prog[1]);
}

static void sender(void *arg)
{
	struct prog_done d;
	u32 i, round;
	u64 from;

	connect_all(0, "via_a");
	w.out = prog_buffer(&w.prog[0], MSG);
	sim_await(w.up[1] >= w.n, MS);
	sim_sleep(10 * MS);
	w.acks = w.batches = 0;
	for (round = 0; round < ROUNDS; round++) {
		from = sim_now();
		for (i = 0; i < w.n; i++)
			prog_post_send(&w.vi[0][i], w.out, MSG);
		for (i = 0; i < w.n; i++) {
			sim_expect(!prog_wait(&w.vi[0][i], false, LATE, &d) &&
				   d.status == VIA_ST_DONE, "(%u, %#x)", i,
				   d.status);
			/*
			 * The rule, and what frames wait for others; those
			 * beyond the first window of a peer wait for it.
			 */
			sim_expect(w.rough || sim_now() < from +
				   (w.n > VIA_CONG_INIT ? 12 : 8) * MS,
				   "after %llu us", (sim_now() - from) / 1000);
		}
		/* The receives are posted again. */
		sim_sleep(300000 + sim_dice(500000));
	}
	w.over = true;
	prog_close(&w.prog[0]);
}

static void run(u32 rough)
{
	w.n = 2 + sim_dice(VIS - 1);
	w.rough = rough;
	sim_wire.meddle = look;
	sim_wire.coalesce_ns = rough ? 200000 : 2 * MS;
	hosts_up(2);
	host_run(1, "receiver", receiver, NULL);
	host_run(0, "sender", sender, NULL);
	sim_await(w.up[0] >= w.n, MS);
	if (rough) {
		sim_wire.loss = sim_dice(500);
		sim_wire.reorder = sim_dice(2) ? 0 : 1000;
		sim_wire.jitter_ns = 2 * MS;
	}
	while (rough && !w.over) {
		sim_pause(sim_dice(2 * MS));
		sim_nic_stop(host_nic(1), true);
		sim_pause(sim_dice(2 * MS));
		sim_nic_stop(host_nic(1), false);
	}
	programs_wait();
	sim_log("%u VIs: %u ACK, %u ACKS", w.n, w.acks, w.batches);
	/* Alone each would send one a round. */
	if (!rough && w.n >= 10)
		sim_expect(w.acks + w.batches <= w.n * ROUNDS / 2,
			   "(%u, %u, %u)", w.n, w.acks, w.batches);
	hosts_down();
}

SIM_SCENARIO(.name = "acks-many", .run_as = run, .as = false, .runs = 60,
	     .max_vi = VIS + 2, .seconds = 100, SIM_STATE(w), .coarse = true,
	     .what = "acknowledgements of many connections in few frames")
SIM_SCENARIO(.name = "acks-rough", .run_as = run, .as = true, .runs = 60,
	     .max_vi = VIS + 2, .seconds = 100, SIM_STATE(w),
	     .what = "the same where frames are lost and transmitters stop")

/* ACKS acknowledges for the host, the cookie and the life that it is of. */

static void posts_one(void *arg)
{
	struct prog_done d;

	connect_all(0, "via_a");
	w.out = prog_buffer(&w.prog[0], MSG);
	sim_await(w.up[1] >= w.n, MS);
	w.deaf = true;
	prog_post_send(&w.vi[0][0], w.out, MSG);
	for (; !w.over; sim_sleep(100000))
		w.done += prog_done(&w.vi[0][0], false, &d);
	prog_close(&w.prog[0]);
}

/* One entry, of what was sent last. */
static void throw(const u8 *from, u64 epoch, u64 cookie)
{
	struct via_wire_acks_entry *e;
	struct forged f;

	e = forge_acks(&f, from, host_mac(0), epoch, 1);
	e->dst = cpu_to_be32(w.end);
	e->cookie = cpu_to_be64(cookie);
	e->ack = cpu_to_be32(w.seq + 1);
	forge_throw(&f, host_nic(0));
}

static void forged(void)
{
	const u8 *peer;
	u8 other[ETH_ALEN];
	u32 i;

	w.n = 1;
	sim_wire.meddle = look;
	hosts_up(2);
	peer = host_mac(1);
	host_run(1, "receiver", receiver, NULL);
	host_run(0, "sender", posts_one, NULL);
	sim_await(w.deaf && w.seq, MS);
	forge_host(other, 7);
	for (i = 0; i < 30; i++) {
		switch (sim_dice(3)) {
		case 0:
			throw(other, w.epoch, w.cookie);
			break;
		case 1:
			throw(peer, w.epoch, w.cookie ^ 1ull << sim_dice(64));
			break;
		default:
			throw(peer, w.epoch ^ 1ull << sim_dice(64), w.cookie);
		}
		sim_pause(sim_dice(5 * MS));
		sim_expect(!w.done, "");
	}
	/* That of the peer is taken, whether it knows the epoch or not. */
	throw(peer, sim_dice(2) ? w.epoch : 0, w.cookie);
	msleep(100);
	sim_expect(w.done == 1, "(%u)", w.done);
	w.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "acks-forged", .run = forged, .runs = 60, .max_vi = 4,
	     .seconds = 100, SIM_STATE(w),
	     .what = "ACKS of another host, connection or life")

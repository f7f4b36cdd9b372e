// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * One frame, or the first few of a kind, are lost, and nothing else is wrong:
 * what docs/reference/wire.md says of just that frame.  What makes a connection comes
 * again, answers as well, and a request that was answered starts nothing; of
 * the data nothing is sent twice but what was lost, and the probe that finds
 * it out.
 */
#include "s_forge.h"

#define BURST	40			/* messages of one frame each */

enum what { REJECTED, PEERS_DIFFER, OLD_REQUEST, GIVEN_UP, HANDSHAKE,
	    ONE_OF_MANY, TURNS, SILENT, WHATS };

static struct {
	enum what what;
	u8 drop;			/* frames of this type are, */
	u32 first;			/* the first ones */
	u32 seen;			/* of them */
	u32 at;				/* data frame to lose; 0: none */
	u32 data;			/* data frames of the client */
	u32 first_seq;
	u8 count[4 * BURST];		/* how often each came by */
	u32 again;			/* that came by again */
	struct forged request;		/* the last one */
	u32 asked;			/* requests that the server was given */
	int ret[2];
	bool up[2], done[2], over;
} w;

static void look_at_data(u32 seq)
{
	u32 i;

	if (!w.data)
		w.first_seq = seq;
	w.data++;
	i = seq - w.first_seq;
	if (i < ARRAY_SIZE(w.count) && w.count[i]++)
		w.again++;
}

static bool look(void *arg, u8 *frame, u32 *len)
{
	const struct ethhdr *eth = (void *)frame;
	const struct via_wire *h = forged_wire(frame);
	u32 seq = be32_to_cpu(forged_data(frame)->seq);
	u32 ack = be32_to_cpu(forged_data(frame)->ack);

	sim_log("%llu us: type %#x, seq %u, ack %u", sim_now() / 1000, h->type,
		seq, ack);
	if (h->type == VIA_WIRE_REQUEST) {
		w.request.len = *len;
		memcpy(w.request.data, frame, *len);
	}
	if (h->type == w.drop && w.seen++ < w.first)
		return false;
	if (h->type != VIA_WIRE_SEND ||
	    memcmp(eth->h_source, host_mac(0), ETH_ALEN))
		return true;
	look_at_data(seq);
	return w.data != w.at;
}

static void open_vi(struct prog_nic *n, struct prog_vi *v, u32 i, u32 level)
{
	prog_open_vi(n, v, i ? "via_b" : "via_a", 16384, level);
}

/* The client, when the server waits. */
static void asks(struct prog_vi *v, u64 timeout)
{
	do {
		sim_sleep(MS);
		w.ret[0] = prog_request(v, host_mac(1), "lost", timeout);
	} while (w.ret[0] == VIA_R_NO_MATCH && !w.asked);
	w.up[0] = !w.ret[0];
}

static void refused(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, 0, VIA_RELIABLE_DELIVERY);
	asks(&v, 5 * SEC);
	sim_expect(w.ret[0] == VIA_R_REJECT, "(%d)", w.ret[0]);
	w.over = true;
	prog_close(&n);
}

static void refuses(void *arg)
{
	bool again = sim_dice(2);
	struct prog_nic n;
	u32 conn;

	sim_ok(prog_open(&n, "via_b", 0));
	while (!w.over) {
		if ((w.asked && !again) ||
		    prog_conn_wait(&n, "lost", 20 * MS, &conn)) {
			sim_sleep(MS);
			continue;
		}
		w.asked++;
		prog_reject(&n, conn);
	}
	sim_expect(w.asked == 1, "it was asked %u times", w.asked);
	prog_close(&n);
}

/* Both have the same verdict, though one of them is told again only. */
static void differs(void *arg)
{
	u32 i = (uintptr_t)arg;
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, i, i ? VIA_RELIABLE_DELIVERY : VIA_RELIABLE_RECEPTION);
	w.ret[i] = prog_p2p(&v, host_mac(!i), "lost", 5 * SEC);
	sim_expect(w.ret[i] == VIA_R_INVALID_RELIABILITY_LEVEL, "(%d)",
		   w.ret[i]);
	prog_close(&n);
}

static void leaves(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, 0, VIA_RELIABLE_DELIVERY);
	asks(&v, SEC);
	sim_expect(!w.ret[0], "(%d)", w.ret[0]);
	sim_sleep(sim_dice(5 * MS));
	if (sim_dice(2))
		prog_disconnect(&v);
	w.done[0] = true;
	sim_await(w.over, MS);
	prog_close(&n);
}

static void accepts_once(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;
	u32 conn;
	int ret;

	open_vi(&n, &v, 1, VIA_RELIABLE_DELIVERY);
	prog_connect(&v, NULL, "lost", SEC);
	ret = prog_conn_wait(&n, "lost", 200 * MS, &conn);
	sim_expect(ret == VIA_R_TIMEOUT, "(%d)", ret);
	w.over = true;
	prog_close(&n);
}

/* The first attempt is given up, and the CANCEL of it is lost. */
static void asks_twice(void *arg)
{
	struct prog_nic n;
	struct prog_vi v;

	open_vi(&n, &v, 0, VIA_RELIABLE_DELIVERY);
	asks(&v, 50 * MS);
	sim_expect(w.ret[0] == VIA_R_TIMEOUT, "(%d)", w.ret[0]);
	w.ret[0] = prog_request(&v, host_mac(1), "lost", SEC);
	sim_expect(!w.ret[0], "(%d)", w.ret[0]);
	w.done[0] = true;
	sim_await(w.done[1], MS);
	prog_close(&n);
}

static void accepts_second(void *arg)
{
	u32 first, conn;
	struct prog_nic n;
	struct prog_vi v;
	int ret;

	open_vi(&n, &v, 1, VIA_RELIABLE_DELIVERY);
	sim_ok(prog_conn_wait(&n, "lost", SEC, &first));
	w.asked++;
	sim_ok(prog_conn_wait(&n, "lost", SEC, &conn));
	ret = prog_accept_start(&v, conn);
	ret = ret ? ret : prog_result(&v, 0);
	sim_expect(!ret, "(%d)", ret);
	sim_await(w.done[0], MS);
	w.done[1] = true;
	prog_close(&n);
}

/* Data */

static void sends(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	u32 i, all = w.what == ONE_OF_MANY ? BURST : 1;
	u64 from;
	int ret;

	open_vi(&n, &v, 0, VIA_RELIABLE_DELIVERY);
	asks(&v, SEC);
	sim_expect(!w.ret[0], "(%d)", w.ret[0]);
	for (i = 0; w.what == TURNS && i < 8; i++) {
		prog_post_recv(&v, n.mem, 64);
		prog_post_send(&v, n.mem + 4096, 64);
		d = prog_good(&v, true, SEC);
		d = prog_good(&v, false, SEC);
	}
	/* Its data would show as well that it knows of the connection. */
	if (w.what == HANDSHAKE)
		sim_sleep(400 * MS);
	sim_sleep(sim_dice(20 * MS));
	/* What is on its way as a tick comes may be late by one more. */
	if (sim_now() % (4 * MS) > 3500000)
		sim_sleep(MS);
	from = sim_now();
	if (w.what == SILENT)
		sim_nic_cut(host_nic(0), true);
	for (i = 0; i < all; i++)
		prog_post_send(&v, n.mem + 4096, 64);
	for (i = 0; i < all; i++) {
		ret = prog_wait(&v, false, 60 * SEC, &d);
		sim_expect(!ret && (d.status & VIA_ST_ERROR_MASK) ==
			   (w.what == SILENT ? VIA_ST_TRANSPORT_ERROR : 0),
			   "(%d, %#x)", ret, d.status);
	}
	/* Two ticks of the timer, of 4 ms, and what the way there takes. */
	if (w.what == TURNS)
		sim_expect(sim_now() < from + 15 * MS, "(%llu us)",
			   (sim_now() - from) / 1000);
	w.done[0] = true;
	sim_await(w.done[1], MS);
	prog_close(&n);
}

static void takes(void *arg)
{
	struct prog_done d;
	struct prog_nic n;
	struct prog_vi v;
	u32 i;

	open_vi(&n, &v, 1, VIA_RELIABLE_DELIVERY);
	for (i = 0; i < BURST + 10; i++)
		prog_post_recv(&v, n.mem, 64);
	w.ret[1] = prog_accept(&v, "lost", SEC);
	sim_expect(!w.ret[1], "(%d)", w.ret[1]);
	for (i = 0; w.what == TURNS && i < 8; i++) {
		sim_ok(prog_wait(&v, true, SEC, &d));
		prog_post_send(&v, n.mem + 4096, 64);
		sim_ok(prog_wait(&v, false, SEC, &d));
	}
	sim_await(w.done[0], MS);
	w.done[1] = true;
	prog_close(&n);
}

static void draw(void (**one)(void *arg), void (**other)(void *arg))
{
	static const u8 handshake[] = { VIA_WIRE_REQUEST, VIA_WIRE_WAIT,
					VIA_WIRE_ACCEPT, VIA_WIRE_CONFIRM };

	switch (w.what) {
	case REJECTED:
		*one = refused;
		*other = refuses;
		w.drop = VIA_WIRE_REFUSE;
		w.first = 1 + sim_dice(3);
		break;
	case PEERS_DIFFER:
		*one = *other = differs;
		w.drop = VIA_WIRE_REFUSE;
		w.first = 1 + sim_dice(3);
		break;
	case OLD_REQUEST:
		*one = leaves;
		*other = accepts_once;
		break;
	case GIVEN_UP:
		*one = asks_twice;
		*other = accepts_second;
		w.drop = VIA_WIRE_CANCEL;
		w.first = 1;
		break;
	default:
		*one = sends;
		*other = takes;
		/* Enough must come behind it, or it is a timeout's to find. */
		if (w.what == HANDSHAKE) {
			w.drop = handshake[sim_dice(4)];
			w.first = 1 + sim_dice(3);
		}
		if (w.what == ONE_OF_MANY)
			w.at = 1 + sim_dice(BURST / 2);
	}
}

static void lost(void)
{
	void (*one)(void *arg), (*other)(void *arg);

	hosts_up(2);
	sim_wire.meddle = look;
	w.what = sim_dice(WHATS);
	draw(&one, &other);
	host_run(0, "one", one, (void *)0);
	host_run(1, "other", other, (void *)1);
	while (w.what == OLD_REQUEST && !w.over) {
		sim_pause(5 * MS);
		if (w.done[0])
			sim_nic_inject(host_nic(1), w.request.data,
				       w.request.len);
	}
	programs_wait();
	if (w.what == TURNS || w.what == ONE_OF_MANY)
		sim_expect(w.again <= 2 * (w.at != 0),
			   "%u of %u frames are sent again, %u lost",
			   w.again, w.data, w.at != 0);
	hosts_down();
}

SIM_SCENARIO(.name = "lost", .run = lost, .runs = 200, .seconds = 120,
	     SIM_STATE(w),
	     .what = "one frame is lost, and nothing else is sent again")

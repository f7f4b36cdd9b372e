// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Attempts whose time is over while they are made or accepted: on slow
 * processors, so that a deadline falls into any step of the two calls, and
 * another thread has the verdict before the call returns.
 *
 * Two ends on one host are connected both, or none is.  An attempt that has its
 * verdict sends no more frames.
 */
#include "prog.h"
#include "../../devices/ether/proto/wire.h"

#define ROUNDS	4
#define TICK	(1000 * MS / 250)

struct side {
	struct prog_nic n;
	struct prog_vi v;
	bool tried;			/* in this round */
	bool told;			/* has its verdict */
	bool polled;			/* none is to come any more */
};

static struct {
	struct side client, server;
	u32 round;			/* that runs; 0: none */
	bool over;
	u64 timeout, deadline;
	u32 ready;
	u32 type;			/* of a frame that should not be */
} w;

static bool watch(void *arg, u8 *frame, u32 *len)
{
	const struct via_wire *h = (const void *)(frame + ETH_HLEN);

	if ((h->type == VIA_WIRE_REQUEST && w.client.told) ||
	    (h->type == VIA_WIRE_ACCEPT && w.server.told))
		w.type = h->type;
	/* Without it the server has nothing but its own clock. */
	return h->type != VIA_WIRE_CANCEL || sim_dice(4) == 0;
}

static u32 wait_round(u32 last)
{
	sim_await(w.round != last || w.over, 5 * TICK);
	return w.over ? 0 : w.round;
}

/* The verdict, as soon as there is one. */
static void polls(void *arg)
{
	struct side *s = arg;
	u32 round = 0, ret, n = 0;
	bool tried;

	while ((round = wait_round(round))) {
		do {
			/* Now and then so long that all others get on. */
			sim_sleep(1 + sim_dice(++n % 16 ? TICK / 2 :
						 50 * TICK));
			tried = s->tried;
			ret = prog_result(&s->v, VIA_CONN_NOWAIT);
			if (ret != VIA_R_NOT_DONE && ret != VIA_R_INVALID_STATE)
				s->told = true;
		} while (!tried || ret == VIA_R_NOT_DONE);
		s->polled = true;
	}
}

static void opens(struct side *s, u32 host)
{
	prog_open_vi(&s->n, &s->v, host_node(host), 4096,
		     VIA_RELIABLE_DELIVERY);
	w.ready++;
	sim_thread(current->proc, "polls", polls, s);
}

static void asks(void *arg)
{
	struct side *s = &w.client;
	u32 round = 0;

	opens(s, 0);
	while ((round = wait_round(round))) {
		prog_disconnect(&s->v);
		w.deadline = sim_now() + w.timeout;
		sim_ok(prog_request_start(&s->v, host_mac(1), "overtaken",
					  w.timeout, false));
		s->tried = true;
	}
	sim_await(w.server.polled, MS);
	prog_close(&s->n);
}

static void accepts(void *arg)
{
	struct side *s = &w.server;
	u32 round = 0, conn;
	u64 at;

	opens(s, 1);
	while ((round = wait_round(round))) {
		prog_disconnect(&s->v);
		if (!prog_conn_wait(&s->n, "overtaken", 500 * MS, &conn)) {
			at = w.deadline + 2 * TICK - sim_dice(4 * TICK);
			if (at > sim_now())
				sim_sleep(at - sim_now());
			prog_accept_start(&s->v, conn);
		}
		s->tried = true;
	}
	prog_close(&s->n);
}

static bool rests(const struct side *s)
{
	return s->polled && READ_ONCE(s->v.shared->state) != VIA_STATE_PENDING;
}

static void check(bool lo)
{
	bool a = prog_state(&w.client.v) == VIA_STATE_CONNECTED;
	bool b = prog_state(&w.server.v) == VIA_STATE_CONNECTED;

	sim_expect(!lo || a == b, "the client is %sconnected, the server is %s",
		   a ? "" : "not ", b ? "" : "not");
	sim_expect(!w.type, "a frame %#x of an attempt that is over", w.type);
}

static void begin(struct side *s)
{
	s->tried = s->told = s->polled = false;
}

static void rounds(bool lo)
{
	/* So slow that a tick's work takes a part of a tick. */
	static const u32 slow[] = { 3000, 10000, 20000, 30000 };
	u32 i;

	for (i = 1; i <= ROUNDS; i++) {
		begin(&w.client);
		begin(&w.server);
		w.timeout = 1 + sim_dice(sim_dice(2) ? 4 * TICK : 20 * TICK);
		sim_config.step_ns = slow[sim_dice(ARRAY_SIZE(slow))];
		w.round = i;
		sim_await(rests(&w.client) && rests(&w.server), 10 * TICK);
		sim_config.step_ns = 10;
		sim_pause(50 * MS);
		check(lo);
	}
}

static void overtaken(void)
{
	bool lo = sim_dice(2);

	hosts_up(lo ? 0 : 2);
	sim_wire.meddle = watch;
	host_run(0, "asks", asks, NULL);
	host_run(1, "accepts", accepts, NULL);
	sim_await(w.ready >= 2, MS);
	rounds(lo);
	w.over = true;
	hosts_down();
}

SIM_SCENARIO(.name = "overtaken", .run = overtaken, .runs = 500, .max_vi = 4,
	     .seconds = 1000, SIM_STATE(w),
	     .what = "attempts that are over while they are made or accepted")

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Events that are read late: the first 256 asynchronous errors are there, in
 * their order, further ones are lost; an event that was asked for is never
 * lost, nor waits for all of them (include/uapi/via.h).
 */
#include "prog.h"

#define KEPT	256
#define MOST	320
#define PAIRS	2

static void errors(void *arg)
{
	struct prog_vi a[PAIRS], b[PAIRS];
	u32 said[MOST], n, i, k, got = 0;
	u32 asks = sim_dice(2) ? 1 + sim_dice(20) : 0;
	bool notice = false, asked = asks, polled;
	struct via_event ev;
	struct prog_done d;
	struct prog_nic nic;

	sim_ok(prog_open(&nic, "via_lo", 64 << 10));
	prog_vis(a, PAIRS, &nic, VIA_UNRELIABLE);
	prog_vis(b, PAIRS, &nic, VIA_UNRELIABLE);
	for (k = 0; k < PAIRS; k++)
		sim_ok(prog_meet(&a[k], &b[k], "events"));
	n = sim_dice(4) ? KEPT + sim_dice(MOST - KEPT) : sim_dice(KEPT + 2);
	for (i = 0; i < n; i++) {
		/* No receive is posted: an error of the other end. */
		k = i == KEPT ? 1 : i < KEPT ? sim_dice(PAIRS) : 1;
		if (!i)
			k = 0;
		said[i] = b[k].id;
		prog_post_send(&a[k], nic.mem, 8);
		sim_expect(!prog_wait(&a[k], false, SEC, &d), "no end");
	}
	if (asks) {
		prog_post_send(&a[0], nic.mem, 8);
		/* Asking again changes nothing. */
		for (i = 1 + sim_dice(3); i--;)
			sim_expect(!sim_trap(nic.file, VIA_OP_NOTIFY_SEND,
					     a[0].id), "not asked");
		if (n < KEPT)
			said[n++] = b[0].id;
	}
	for (i = 0;; i++) {
		polled = sim_poll(nic.file) & EPOLLIN;
		if (prog_event(&nic, &ev))
			break;
		sim_expect(polled, "poll() does not tell of an event");
		if (asked && ev.code == VIA_EVENT_SEND) {
			/* Neither kind keeps the other waiting. */
			sim_expect(asked, "an event that was not asked for");
			sim_expect(!notice || got == min(n, KEPT),
				   "errors wait for all that is asked for");
			notice = true;
			asked = --asks;
			if (asked)
				sim_trap(nic.file, VIA_OP_NOTIFY_SEND, a[0].id);
			continue;
		}
		sim_expect(!asked || notice || !i,
			   "what is asked for waits for errors");
		notice = false;
		sim_expect(got < min(n, KEPT), "%u errors of %u", got, n);
		sim_expect(ev.code == VIA_ERR_RECVQ_EMPTY &&
			   ev.vi == said[got],
			   "error %u: %u of VI %#x, not %#x", got, ev.code,
			   ev.vi, said[got]);
		got++;
	}
	sim_expect(!polled, "poll() tells of an event, and there is none");
	sim_expect(got == min(n, KEPT), "%u errors of %u", got, n);
	sim_expect(!asked, "an event that was asked for is lost");
	prog_close(&nic);
}

static void events(void)
{
	host_run(0, "errors", errors, NULL);
	hosts_down();
}

SIM_SCENARIO(.name = "events", .run = events, .runs = 20, .max_vi = 8,
	     .what = "more events than are kept, and one that was asked for")

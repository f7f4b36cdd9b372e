// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Sequence and window arithmetic, alone and over a wire that loses. */

#include <stdlib.h>
#include "unit.h"
#include "window.h"

static void push(struct via_win_tx *w, u32 n)
{
	while (n--)
		via_win_push(w, 0, 0, 1, true);
}

static void sequence_wraps(void)
{
	CU_ASSERT(via_seq_before(0xffffffff, 0));
	CU_ASSERT(!via_seq_before(0, 0xffffffff));
	CU_ASSERT(!via_seq_before(5, 5));
	CU_ASSERT_EQUAL(via_bits(0), 0);
	CU_ASSERT_EQUAL(via_bits(64), ~(u64)0);
	CU_ASSERT_EQUAL(via_shift_out(~(u64)0, 64), 0);
	CU_ASSERT_EQUAL(via_shift_out(4, 2), 1);
}

static void limits_hold(void)
{
	struct via_win_tx w;

	via_win_init(&w, 0xfffffff0, 1000);
	CU_ASSERT_EQUAL(w.limit, VIA_WIN_MAX);
	CU_ASSERT_EQUAL(via_win_room_new(&w), VIA_WIN_CWND_INIT);
	push(&w, VIA_WIN_CWND_INIT);
	CU_ASSERT_EQUAL(via_win_room_new(&w), 0);
	CU_ASSERT_EQUAL(w.nxt, 0);
	via_win_init(&w, 5, 0);
	CU_ASSERT_EQUAL(w.limit, 1);
	CU_ASSERT_EQUAL(via_win_room_new(&w), 1);
}

static void acks_in_order(void)
{
	struct via_win_tx w;

	via_win_init(&w, 0xfffffffe, 64);
	push(&w, 4);
	CU_ASSERT_EQUAL(via_win_ack(&w, 0xfffffffe, 0), 0);
	CU_ASSERT_EQUAL(via_win_ack(&w, 1, 0), 3);
	/* Old and impossible ones change nothing. */
	CU_ASSERT_EQUAL(via_win_ack(&w, 0xffffffff, 0), 0);
	CU_ASSERT_EQUAL(via_win_ack(&w, 3, 0), 0);
	CU_ASSERT_EQUAL(via_win_ack(&w, 3, ~(u64)0), 0);
	CU_ASSERT_EQUAL(w.una, 1);
	CU_ASSERT_EQUAL(via_win_ack(&w, 2, 0), 1);
	CU_ASSERT_EQUAL(via_win_flight(&w), 0);
}

static void three_later_prove_a_loss(void)
{
	struct via_win_tx w;
	u32 seq;

	via_win_init(&w, 100, 64);
	push(&w, 10);
	/* 100 is missing; 101 and 102 have come: reordering, perhaps. */
	via_win_ack(&w, 100, 0x3);
	CU_ASSERT(!via_win_lost(&w, &seq));
	via_win_ack(&w, 100, 0x7);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 100);
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_INIT / 2);
	via_win_resent(&w, 100);
	CU_ASSERT(!via_win_lost(&w, &seq));
	/* More news of the same round does not halve again. */
	via_win_ack(&w, 100, 0xf);
	CU_ASSERT(!via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_INIT / 2);
	/* The retransmission is lost as well: three sent after it came. */
	push(&w, 3);
	via_win_ack(&w, 100, 0xfff);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 100);
	via_win_resent(&w, 100);
	CU_ASSERT_EQUAL(via_win_ack(&w, 113, 0), 13);
	CU_ASSERT_EQUAL(via_win_flight(&w), 0);
	CU_ASSERT(!w.lossy);
}

static void timeout_loses_all(void)
{
	struct via_win_tx w;
	u32 seq;

	via_win_init(&w, 0, 64);
	push(&w, 8);
	via_win_ack(&w, 0, 0x2);	/* 2 has come */
	via_win_timeout(&w);
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_MIN);
	CU_ASSERT_EQUAL(w.lost, 0xfb);
	for (seq = 0; via_win_lost(&w, &seq);)
		via_win_resent(&w, seq);
	CU_ASSERT_EQUAL(w.lost, 0);
	CU_ASSERT_EQUAL(via_win_ack(&w, 8, 0), 8);
	CU_ASSERT(!w.lossy);
}

static void a_probe_tells(void)
{
	struct via_win_tx w;
	u32 seq;

	/* Nothing was lost: an answer that was late costs nothing. */
	via_win_init(&w, 0, 64);
	push(&w, 8);
	via_win_probe(&w);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 7);
	via_win_resent(&w, 7);
	CU_ASSERT_EQUAL(via_win_ack(&w, 3, 0), 3);
	CU_ASSERT(!via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(via_win_ack(&w, 8, 0), 5);
	CU_ASSERT(w.cwnd >= VIA_WIN_CWND_INIT);
	CU_ASSERT(!w.lossy);
	/* The last three are lost, too few to be found by those behind. */
	push(&w, 6);
	CU_ASSERT_EQUAL(via_win_ack(&w, 11, 0), 3);
	via_win_probe(&w);
	via_win_resent(&w, 13);
	via_win_ack(&w, 11, 0x2);
	CU_ASSERT_EQUAL(w.lost, 0x3);
	CU_ASSERT(w.cwnd < VIA_WIN_CWND_INIT);
	via_win_resent(&w, 11);
	via_win_resent(&w, 12);
	CU_ASSERT_EQUAL(via_win_ack(&w, 14, 0), 3);
	CU_ASSERT(!w.lossy);
	/* Nothing in flight: nothing to probe. */
	via_win_probe(&w);
	CU_ASSERT(!via_win_lost(&w, &seq));
}

static void receiver_sorts(void)
{
	struct via_win_rx w = { .next = 0xffffffff };

	CU_ASSERT_EQUAL(via_win_place(&w, 0xffffffff), VIA_WIN_NEXT);
	CU_ASSERT_EQUAL(via_win_place(&w, 0xfffffffe), VIA_WIN_DUP);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3f), VIA_WIN_BEYOND);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3e), VIA_WIN_HOLD);
	via_win_hold(&w, 0x3e);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3e), VIA_WIN_DUP);
	via_win_hold(&w, 0);
	CU_ASSERT(via_win_taken(&w));
	CU_ASSERT_EQUAL(w.next, 0);
	CU_ASSERT(!via_win_taken(&w));
	CU_ASSERT_EQUAL(w.next, 1);
	CU_ASSERT_EQUAL(w.held, (u64)1 << 60);
}

static void window_grows_and_shrinks(void)
{
	struct via_win_tx w;
	u32 i;

	via_win_init(&w, 0, 64);
	for (i = 0; i < 200; i++) {
		push(&w, via_win_room_new(&w));
		via_win_ack(&w, w.nxt, 0);
	}
	CU_ASSERT_EQUAL(w.cwnd, 64);
	push(&w, 64);
	via_win_ack(&w, w.una, 0x7);
	CU_ASSERT_EQUAL(w.cwnd, 32);
	via_win_resent(&w, w.una);
	via_win_ack(&w, w.nxt, 0);
	/* Now one frame a round. */
	for (i = 0; i < 4; i++) {
		push(&w, via_win_room_new(&w));
		via_win_ack(&w, w.nxt, 0);
	}
	CU_ASSERT(w.cwnd >= 33 && w.cwnd <= 38);
}

static void what_comes_twice_was_not_lost(void)
{
	struct via_win_tx w;
	u32 seq;

	/* 0 is overtaken by three, sent again, and arrives both times. */
	via_win_init(&w, 0, 64);
	push(&w, 16);
	via_win_ack(&w, 0, 0x7);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT(w.cut);
	CU_ASSERT_EQUAL(w.cwnd, 8);
	via_win_resent(&w, 0);
	via_win_ack(&w, w.nxt, 0);
	/* Not one of those that were thought lost; not one of ours. */
	via_win_twice(&w, 2);
	via_win_twice(&w, 99);
	CU_ASSERT_EQUAL(w.cwnd, 9);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
	via_win_twice(&w, 0);
	CU_ASSERT_EQUAL(w.cwnd, 16);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER);
	/* It is believed once. */
	via_win_twice(&w, 0);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER);
	/* Five are no proof any more, six are. */
	push(&w, 16);
	via_win_ack(&w, w.una, 0x1f);
	CU_ASSERT(!via_win_lost(&w, &seq));
	via_win_ack(&w, w.una, 0x3f);
	CU_ASSERT(via_win_lost(&w, &seq));
	/* A loss this time, and the one after it: back to fewer. */
	via_win_resent(&w, seq);
	via_win_ack(&w, w.nxt, 0);
	push(&w, 16);
	via_win_ack(&w, w.una, 0x3f);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER - 1);
	/* The bound is half of what may be in flight. */
	via_win_init(&w, 0, 8);
	for (seq = 0; seq < 400; seq += 8) {
		push(&w, 8);
		via_win_ack(&w, seq, 0x7f);
		via_win_resent(&w, seq);
		via_win_ack(&w, w.nxt, 0);
		via_win_twice(&w, seq);
		CU_ASSERT(w.reorder <= 4);
	}
	/* A probe that was not needed says nothing of the order. */
	via_win_init(&w, 0, 64);
	push(&w, 4);
	via_win_probe(&w);
	via_win_resent(&w, 3);
	via_win_ack(&w, 4, 0);
	via_win_twice(&w, 3);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
}

static void only_all_of_them_restore(void)
{
	struct via_win_tx w;

	/* 0 and 2 are missing; 0 comes twice, 2 was lost. */
	via_win_init(&w, 0, 64);
	push(&w, 16);
	via_win_ack(&w, 0, 0x1d);
	CU_ASSERT_EQUAL(w.lost, 0x5);
	via_win_resent(&w, 0);
	via_win_resent(&w, 2);
	via_win_twice(&w, 0);
	CU_ASSERT_EQUAL(w.cwnd, 8);
	via_win_twice(&w, 2);
	CU_ASSERT_EQUAL(w.cwnd, 16);
}

static void slow_peers_cost_no_window(void)
{
	struct via_win_tx w;
	u32 seq;

	/* Two timeouts, four frames again: all arrive, late, and twice. */
	via_win_init(&w, 0, 64);
	push(&w, 16);
	via_win_probe(&w);
	via_win_resent(&w, 15);
	via_win_timeout(&w);
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_MIN);
	while (via_win_room(&w) && via_win_lost(&w, &seq))
		via_win_resent(&w, seq);
	CU_ASSERT_EQUAL(seq, 3);
	via_win_ack(&w, 16, 0);
	for (seq = 0; seq < 3; seq++)
		via_win_twice(&w, seq);
	via_win_twice(&w, 15);
	CU_ASSERT_EQUAL(w.ssthresh, 8);
	via_win_twice(&w, 3);
	CU_ASSERT_EQUAL(w.ssthresh, 16);
	CU_ASSERT(w.cwnd >= 16);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
	/* One silence halves once, and what came twice then proves nothing. */
	w.cwnd = 16;
	push(&w, 16);
	via_win_timeout(&w);
	for (seq = 16; seq < 20; seq++)
		via_win_resent(&w, seq);
	via_win_timeout(&w);
	CU_ASSERT_EQUAL(w.ssthresh, 8);
	for (seq = 16; seq < 20; seq++)
		via_win_resent(&w, seq);
	via_win_ack(&w, 32, 0);
	for (seq = 16; seq < 20; seq++)
		via_win_twice(&w, seq);
	CU_ASSERT_EQUAL(w.ssthresh, 8);
	/* That silence is over: the next one is another. */
	w.cwnd = 32;
	push(&w, 16);
	via_win_timeout(&w);
	CU_ASSERT_EQUAL(w.ssthresh, 16);
}

static u32 rounds_to_grow(u32 share)
{
	struct via_win_tx w;
	u32 i;

	via_win_init(&w, 0, 64);
	w.cwnd = w.ssthresh = 10;
	w.share = share;
	for (i = 0; w.cwnd == 10 && i < 1000; i++) {
		push(&w, via_win_room_new(&w));
		via_win_ack(&w, w.nxt, 0);
	}
	return i;
}

static void a_way_is_shared(void)
{
	struct via_win_tx w;

	CU_ASSERT_EQUAL(rounds_to_grow(1), 1);
	CU_ASSERT_EQUAL(rounds_to_grow(4), 8);
	/* What befell another one: half, once a round, and not to be told. */
	via_win_init(&w, 0, 64);
	push(&w, 16);
	via_win_back_off(&w);
	via_win_back_off(&w);
	CU_ASSERT_EQUAL(w.cwnd, 8);
	CU_ASSERT(!w.cut);
	via_win_ack(&w, 0, 0x7);
	CU_ASSERT_EQUAL(w.cwnd, 8);
	/* Not taken back. */
	via_win_twice(&w, 0);
	CU_ASSERT_EQUAL(w.cwnd, 8);
	via_win_ack(&w, w.nxt, 0);
	/* The least is less where there are several. */
	for (u32 i = 0; i < 5; i++) {
		push(&w, 1);
		via_win_back_off(&w);
		via_win_ack(&w, w.nxt, 0);
	}
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_MIN);
	w.share = 2;
	push(&w, 1);
	via_win_back_off(&w);
	CU_ASSERT_EQUAL(w.cwnd, VIA_WIN_CWND_SHARED);
}

static void asked_at_half_the_window(void)
{
	struct via_win_tx w;

	via_win_init(&w, 0, 64);
	CU_ASSERT_EQUAL(via_win_half(&w), VIA_WIN_CWND_INIT / 2 + 1);
	w.cwnd = 4;
	CU_ASSERT_EQUAL(via_win_half(&w), 3);
	w.cwnd = 2 * VIA_WIN_HALF;
	CU_ASSERT_EQUAL(via_win_half(&w), 0);
}

static void rtt_follows(void)
{
	struct via_rtt r;
	int i;

	via_rtt_init(&r, 20000);
	CU_ASSERT_EQUAL(r.rto, 20000);
	for (i = 0; i < 100; i++)
		via_rtt_sample(&r, 100, 2000, 1000000);
	CU_ASSERT_EQUAL(r.rto, 2000);
	CU_ASSERT(r.srtt / 8 >= 90 && r.srtt / 8 <= 110);
	for (i = 0; i < 100; i++)
		via_rtt_sample(&r, 50000, 2000, 1000000);
	CU_ASSERT(r.rto >= 50000 && r.rto < 100000);
	for (i = 0; i < 100; i++)
		via_rtt_sample(&r, 0xffffffff, 2000, 1000000);
	CU_ASSERT_EQUAL(r.rto, 1000000);
	via_rtt_init(&r, 20000);
	via_rtt_sample(&r, 0, 2000, 1000000);
	CU_ASSERT_EQUAL(r.rto, 2000);
}

/*
 * Both halves over a wire of two queues that loses, duplicates and reorders.
 * Every frame is delivered once and in order, and all of them in the end.
 */
#define FRAMES	20000u
#define WIRE	256u

struct packet {
	u32 seq, ack;
	u64 sack;
};

struct queue {
	struct packet p[WIRE];
	u32 n;
};

static void wire_put(struct queue *q, struct packet p, int loss)
{
	if (rand() % 1000 < loss || q->n == WIRE)
		return;
	q->p[q->n++] = p;
	if (rand() % 1000 < loss && q->n < WIRE)
		q->p[q->n++] = p;
}

static bool wire_get(struct queue *q, struct packet *p, int loss)
{
	u32 i = 0;

	if (!q->n)
		return false;
	if (rand() % 1000 < loss)
		i = rand() % q->n;
	*p = q->p[i];
	q->n--;
	memmove(&q->p[i], &q->p[i + 1], (q->n - i) * sizeof(*p));
	return true;
}

static void run_wire(u32 first, int loss)
{
	struct queue there = { .n = 0 }, back = { .n = 0 };
	struct via_win_rx rx = { .next = first };
	struct via_win_tx tx;
	struct packet p;
	u32 got = 0, twice = 0, seq, i, steps = 0, timeouts = 0;
	u32 sent = 0;

	via_win_init(&tx, first, 64);
	while (tx.una - first < FRAMES) {
		CU_ASSERT_FATAL(++steps < 100 * FRAMES);
		while (via_win_lost(&tx, &seq) && via_win_room(&tx)) {
			via_win_resent(&tx, seq);
			wire_put(&there, (struct packet){ .seq = seq }, loss);
		}
		while (sent < FRAMES && via_win_room_new(&tx)) {
			seq = via_win_push(&tx, sent, 0, 1, true);
			CU_ASSERT_FATAL(seq == first + sent);
			sent++;
			wire_put(&there, (struct packet){ .seq = seq }, loss);
		}
		if (!there.n && !back.n) {
			CU_ASSERT_FATAL(via_win_flight(&tx) > 0);
			timeouts++;
			if (rand() % 3 == 0)
				via_win_back_off(&tx);
			if (rand() & 1)
				via_win_probe(&tx);
			else
				via_win_timeout(&tx);
			continue;
		}
		for (i = rand() % 8; i && wire_get(&there, &p, loss); i--) {
			switch (via_win_place(&rx, p.seq)) {
			case VIA_WIN_NEXT:
				do {
					got++;
				} while (via_win_taken(&rx));
				break;
			case VIA_WIN_HOLD:
				via_win_hold(&rx, p.seq);
				break;
			case VIA_WIN_DUP:
				twice = p.seq;
				break;
			case VIA_WIN_BEYOND:
				CU_FAIL_FATAL("frame beyond the window");
			}
			CU_ASSERT_FATAL(rx.next - first == got);
			wire_put(&back, (struct packet){ .ack = rx.next,
				 .sack = rx.held, .seq = twice }, loss);
			twice = 0;
		}
		for (i = rand() % 8; i && wire_get(&back, &p, loss); i--) {
			u32 una = tx.una;
			u32 n;

			if (p.seq)
				via_win_twice(&tx, p.seq);
			n = via_win_ack(&tx, p.ack, p.sack);

			CU_ASSERT_FATAL(tx.una - una == n);
			CU_ASSERT_FATAL(via_win_flight(&tx) <= tx.limit);
			CU_ASSERT_FATAL(!via_seq_before(rx.next, tx.una));
			CU_ASSERT_FATAL(!(tx.sacked & tx.lost));
			CU_ASSERT_FATAL(tx.cwnd <= tx.limit);
			CU_ASSERT_FATAL(tx.reorder >= VIA_WIN_REORDER &&
					tx.reorder <= VIA_WIN_REORDER_MAX);
		}
	}
	CU_ASSERT_EQUAL(got, FRAMES);
	if (!loss)
		CU_ASSERT_EQUAL(timeouts, 0);
}

static void survives_the_wire(void)
{
	static const int loss[] = { 0, 10, 100, 300 };
	u32 i;

	srand(1);
	for (i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
		run_wire(0, loss[i]);
		run_wire(0xffffff00, loss[i]);
	}
}

UNIT_MAIN("window",
	  { "sequence numbers wrap", sequence_wraps },
	  { "limits hold", limits_hold },
	  { "acknowledgements in order", acks_in_order },
	  { "three later frames prove a loss", three_later_prove_a_loss },
	  { "a timeout loses all", timeout_loses_all },
	  { "a probe tells what is lost", a_probe_tells },
	  { "the receiver sorts", receiver_sorts },
	  { "the window grows and shrinks", window_grows_and_shrinks },
	  { "what comes twice was not lost", what_comes_twice_was_not_lost },
	  { "all must come twice", only_all_of_them_restore },
	  { "a slow peer costs no window", slow_peers_cost_no_window },
	  { "a way is shared", a_way_is_shared },
	  { "asked at half the window", asked_at_half_the_window },
	  { "round-trip time is followed", rtt_follows },
	  { "every frame once, in order, over a bad wire", survives_the_wire });

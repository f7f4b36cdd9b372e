// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Numbers, acknowledgements, losses: alone and over a wire that loses. */

#include <stdlib.h>
#include "unit.h"
#include "window.h"

#define CREDIT	16u

static void push(struct via_win_tx *w, u32 n)
{
	while (n--)
		via_win_push(w, 0, 0, 1, true);
}

/* A larger ring, of exactly as many bytes as it is said to take. */
static void lengthen(struct via_win_tx *w, u32 frames)
{
	void *ring = malloc(via_win_ring_bytes(frames));

	CU_ASSERT_FATAL(ring != NULL);
	free(via_win_use(w, ring, frames));
}

/* A window with all the memory that it may want; drop() follows. */
static void init(struct via_win_tx *w, u32 first, u32 limit)
{
	via_win_init(w, first, limit);
	while (w->limit < w->most)
		lengthen(w, via_win_wants(w));
	w->credit = min(w->limit, CREDIT);
}

static void drop(struct via_win_tx *w)
{
	free(via_win_end(w));
}

/* An acknowledgement of @ack, and of the frames ack + 1 + i with bit i. */
static u32 acked(struct via_win_tx *w, u32 ack, u64 sack)
{
	struct via_range r[VIA_WIN_RANGES];
	u32 n = 0, i;

	for (i = 0; i < 64; i++) {
		if (!(sack >> i & 1))
			continue;
		if (!i || !(sack >> (i - 1) & 1))
			r[n++] = (struct via_range){ .start = i };
		r[n - 1].count++;
	}
	return via_win_ack(w, ack, r, n);
}

/* Which of the first 64 frames from una on are lost. */
static u64 lost(const struct via_win_tx *w)
{
	u64 bits = 0;
	u32 i, at;

	for (i = 0; i < 64 && i < via_win_flight(w); i++) {
		at = (w->una + i) & w->mask;
		bits |= (w->bits[at / 64].lost >> at % 64 & 1) << i;
	}
	return bits;
}

/* The receiver with a ring as small as it can be. */
static void hold(struct via_win_rx *w, u32 seq)
{
	u32 size = via_win_rx_wants(w, seq);
	u64 *old = w->bits;

	if (size != w->size) {
		via_win_rx_use(w, calloc(VIA_WIN_WORDS(size), sizeof(*old)),
			       size);
		free(old);
	}
	via_win_hold(w, seq);
}

static void sequence_wraps(void)
{
	CU_ASSERT(via_seq_before(0xffffffff, 0));
	CU_ASSERT(!via_seq_before(0, 0xffffffff));
	CU_ASSERT(!via_seq_before(5, 5));
	CU_ASSERT_EQUAL(via_bits(0), 0);
	CU_ASSERT_EQUAL(via_bits(64), ~(u64)0);
}

static void limits_hold(void)
{
	struct via_win_tx w;

	init(&w, 0xfffffff0, 100000);
	CU_ASSERT_EQUAL(w.limit, VIA_WIN_MAX);
	CU_ASSERT_EQUAL(via_win_room_new(&w), CREDIT);
	push(&w, CREDIT);
	CU_ASSERT_EQUAL(via_win_room_new(&w), 0);
	CU_ASSERT_EQUAL(w.nxt, 0);
	drop(&w);
	init(&w, 5, 0);
	CU_ASSERT_EQUAL(w.limit, 1);
	CU_ASSERT_EQUAL(via_win_room_new(&w), 1);
	drop(&w);
}

static void acks_in_order(void)
{
	struct via_win_tx w;

	init(&w, 0xfffffffe, 64);
	push(&w, 4);
	CU_ASSERT_EQUAL(acked(&w, 0xfffffffe, 0), 0);
	CU_ASSERT_EQUAL(acked(&w, 1, 0), 3);
	/* Old and impossible ones change nothing. */
	CU_ASSERT_EQUAL(acked(&w, 0xffffffff, 0), 0);
	CU_ASSERT_EQUAL(acked(&w, 3, 0), 0);
	CU_ASSERT_EQUAL(acked(&w, 3, ~(u64)0), 0);
	CU_ASSERT_EQUAL(w.una, 1);
	CU_ASSERT_EQUAL(acked(&w, 2, 0), 1);
	CU_ASSERT_EQUAL(via_win_flight(&w), 0);
	drop(&w);
}

static void three_later_prove_a_loss(void)
{
	struct via_win_tx w;
	u32 seq;

	init(&w, 100, 64);
	push(&w, 10);
	/* 100 is missing; 101 and 102 have come: reordering, perhaps. */
	acked(&w, 100, 0x3);
	CU_ASSERT(!via_win_lost(&w, &seq));
	acked(&w, 100, 0x7);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 100);
	CU_ASSERT(w.cwr);
	CU_ASSERT(via_win_recovers(&w));
	w.cwr = false;
	via_win_resent(&w, 100);
	CU_ASSERT(!via_win_lost(&w, &seq));
	/* More losses of the same round are not told again. */
	acked(&w, 100, 0xef);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 105);
	CU_ASSERT(!w.cwr);
	via_win_resent(&w, 105);
	/* The retransmission is lost as well: three sent after it came. */
	push(&w, 3);
	acked(&w, 100, 0xfff);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 100);
	via_win_resent(&w, 100);
	CU_ASSERT_EQUAL(acked(&w, 113, 0), 13);
	CU_ASSERT_EQUAL(via_win_flight(&w), 0);
	CU_ASSERT(!w.lossy);
	CU_ASSERT(!via_win_recovers(&w));
	/* The next round, however late. */
	w.cwr = false;
	w.recover = w.una - 0x80000001;
	push(&w, 10);
	acked(&w, w.una, 0x7);
	CU_ASSERT(w.cwr);
	drop(&w);
}

static void timeout_loses_all(void)
{
	struct via_win_tx w;
	u32 seq;

	init(&w, 0, 64);
	push(&w, 8);
	acked(&w, 0, 0x2);	/* 2 has come */
	CU_ASSERT(!via_win_timeout(&w));
	CU_ASSERT_EQUAL(lost(&w), 0xfb);
	CU_ASSERT_EQUAL(via_win_pipe(&w), 0);
	CU_ASSERT(via_win_timeout(&w));
	for (seq = 0; via_win_lost(&w, &seq);)
		via_win_resent(&w, seq);
	CU_ASSERT_EQUAL(w.lost, 0);
	CU_ASSERT_EQUAL(acked(&w, 8, 0), 8);
	CU_ASSERT(!w.lossy);
	drop(&w);
}

static void a_probe_tells(void)
{
	struct via_win_tx w;
	u32 seq;

	/* Nothing was lost: an answer that was late costs nothing. */
	init(&w, 0, 64);
	push(&w, 8);
	via_win_probe(&w);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 7);
	via_win_resent(&w, 7);
	CU_ASSERT_EQUAL(acked(&w, 3, 0), 3);
	CU_ASSERT(!via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(acked(&w, 8, 0), 5);
	CU_ASSERT(!w.cwr);
	CU_ASSERT(!w.lossy);
	/* The last three are lost, too few to be found by those behind. */
	push(&w, 6);
	CU_ASSERT_EQUAL(acked(&w, 11, 0), 3);
	via_win_probe(&w);
	via_win_resent(&w, 13);
	acked(&w, 11, 0x2);
	CU_ASSERT_EQUAL(lost(&w), 0x3);
	CU_ASSERT(w.cwr);
	via_win_resent(&w, 11);
	via_win_resent(&w, 12);
	CU_ASSERT_EQUAL(acked(&w, 14, 0), 3);
	CU_ASSERT(!w.lossy);
	/* Nothing in flight: nothing to probe. */
	via_win_probe(&w);
	CU_ASSERT(!via_win_lost(&w, &seq));
	drop(&w);
}

static void receiver_sorts(void)
{
	struct via_win_rx w;
	u32 seq = 0;

	via_win_rx_init(&w, 0xffffffff, 64);
	CU_ASSERT_EQUAL(via_win_place(&w, 0xffffffff), VIA_WIN_NEXT);
	CU_ASSERT_EQUAL(via_win_place(&w, 0xfffffffe), VIA_WIN_DUP);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3f), VIA_WIN_BEYOND);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3e), VIA_WIN_HOLD);
	CU_ASSERT(!via_win_held(&w, &seq));
	hold(&w, 0x3e);
	CU_ASSERT_EQUAL(via_win_place(&w, 0x3e), VIA_WIN_DUP);
	hold(&w, 0);
	CU_ASSERT(via_win_taken(&w));
	CU_ASSERT_EQUAL(w.next, 0);
	CU_ASSERT(!via_win_taken(&w));
	CU_ASSERT_EQUAL(w.next, 1);
	CU_ASSERT_EQUAL(w.held, 1);
	CU_ASSERT(via_win_held(&w, &seq));
	CU_ASSERT_EQUAL(seq, 0x3e);
	free(w.bits);
	via_win_rx_init(&w, 0, 0);
	CU_ASSERT_EQUAL(w.limit, 1);
	via_win_rx_init(&w, 0, 100000);
	CU_ASSERT_EQUAL(w.limit, VIA_WIN_MAX);
}

static void what_comes_twice_was_not_lost(void)
{
	struct via_win_tx w;
	u32 seq;

	/* 0 is overtaken by three, sent again, and arrives both times. */
	init(&w, 0, 64);
	push(&w, 16);
	acked(&w, 0, 0x7);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT(w.cwr);
	via_win_resent(&w, 0);
	acked(&w, w.nxt, 0);
	/* Not one of those that were thought lost; not one of ours. */
	via_win_dsack(&w, 2);
	via_win_dsack(&w, 99);
	CU_ASSERT(!w.undo);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
	via_win_dsack(&w, 0);
	CU_ASSERT(w.undo);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER);
	/* It is believed once. */
	w.undo = false;
	via_win_dsack(&w, 0);
	CU_ASSERT(!w.undo);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER);
	/* Five are no token any more, six are. */
	push(&w, 16);
	acked(&w, w.una, 0x1f);
	CU_ASSERT(!via_win_lost(&w, &seq));
	acked(&w, w.una, 0x3f);
	CU_ASSERT(via_win_lost(&w, &seq));
	/* A loss this time, and the one after it: back to fewer. */
	via_win_resent(&w, seq);
	acked(&w, w.nxt, 0);
	push(&w, 16);
	acked(&w, w.una, 0x3f);
	CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER - 1);
	/* The bound is half of what may be in flight. */
	drop(&w);
	init(&w, 0, 8);
	for (seq = 0; seq < 400; seq += 8) {
		push(&w, 8);
		acked(&w, seq, 0x7f);
		via_win_resent(&w, seq);
		acked(&w, w.nxt, 0);
		via_win_dsack(&w, seq);
		CU_ASSERT(w.reorder <= 4);
	}
	/* A probe that was not needed says nothing of the order. */
	drop(&w);
	init(&w, 0, 64);
	push(&w, 4);
	via_win_probe(&w);
	via_win_resent(&w, 3);
	acked(&w, 4, 0);
	via_win_dsack(&w, 3);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
	drop(&w);
}

static void only_all_of_them_restore(void)
{
	struct via_win_tx w;

	/* 0 and 2 are missing; 0 comes twice, 2 was lost. */
	init(&w, 0, 64);
	push(&w, 16);
	acked(&w, 0, 0x1d);
	CU_ASSERT_EQUAL(lost(&w), 0x5);
	via_win_resent(&w, 0);
	via_win_resent(&w, 2);
	via_win_dsack(&w, 0);
	CU_ASSERT(!w.undo);
	via_win_dsack(&w, 2);
	CU_ASSERT(w.undo);
	drop(&w);
}

static void slow_peers_cost_no_window(void)
{
	struct via_win_tx w;
	u32 seq;

	/* Two timeouts, four frames again: all arrive, late, and twice. */
	init(&w, 0, 64);
	push(&w, 16);
	via_win_probe(&w);
	via_win_resent(&w, 15);
	CU_ASSERT(!via_win_timeout(&w));
	w.credit = 4;
	while (via_win_room(&w) && via_win_lost(&w, &seq))
		via_win_resent(&w, seq);
	CU_ASSERT_EQUAL(seq, 3);
	acked(&w, 16, 0);
	for (seq = 0; seq < 3; seq++)
		via_win_dsack(&w, seq);
	via_win_dsack(&w, 15);
	CU_ASSERT(!w.undo);
	via_win_dsack(&w, 3);
	CU_ASSERT(w.undo);
	CU_ASSERT_EQUAL(w.reorder, VIA_WIN_REORDER);
	/* What comes twice after two timeouts proves nothing. */
	w.undo = false;
	push(&w, 16);
	CU_ASSERT(!via_win_timeout(&w));
	for (seq = 16; seq < 20; seq++)
		via_win_resent(&w, seq);
	CU_ASSERT(via_win_timeout(&w));
	for (seq = 16; seq < 20; seq++)
		via_win_resent(&w, seq);
	acked(&w, 32, 0);
	for (seq = 16; seq < 20; seq++)
		via_win_dsack(&w, seq);
	CU_ASSERT(!w.undo);
	/* That silence is over: the next one is another. */
	push(&w, 16);
	CU_ASSERT(!via_win_timeout(&w));
	drop(&w);
}

static void undo_after_a_timeout(void)
{
	struct via_win_tx w;
	u32 seq, i;

	/*
	 * A frame that was overtaken, and then timed out, counts among those
	 * that must come twice, and once.
	 */
	init(&w, 0, 64);
	push(&w, 16);
	acked(&w, 0, 0x7);
	CU_ASSERT(via_win_lost(&w, &seq));
	via_win_resent(&w, 0);
	via_win_timeout(&w);
	for (i = 0; i < 4 && via_win_lost(&w, &seq); i++)
		via_win_resent(&w, seq);
	CU_ASSERT_EQUAL(w.undo_retrans, 4);
	via_win_dsack(&w, 0);
	via_win_dsack(&w, 4);
	via_win_dsack(&w, 5);
	CU_ASSERT(!w.undo);
	/* A frame that is awaited although it had arrived is not sent again. */
	acked(&w, 2, 0);
	CU_ASSERT_EQUAL(w.undo_retrans, 1);
	via_win_dsack(&w, 6);
	CU_ASSERT(w.undo);
	drop(&w);
}

static void asked_at_half_the_window(void)
{
	struct via_win_tx w;

	init(&w, 0, 64);
	CU_ASSERT_EQUAL(via_win_half(&w), CREDIT / 2 + 1);
	w.credit = 4;
	CU_ASSERT_EQUAL(via_win_half(&w), 3);
	w.credit = 2 * VIA_WIN_HALF;
	CU_ASSERT_EQUAL(via_win_half(&w), 0);
	drop(&w);
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

/* A ring that grows while frames are in flight, lost, sent again, told of. */
static void the_ring_grows(void)
{
	struct via_win_tx w;
	u32 first, seq;

	for (first = 0; first < 40; first++) {
		via_win_init(&w, first - 20, 1000);
		CU_ASSERT_EQUAL(w.limit, VIA_WIN_OWN);
		CU_ASSERT_EQUAL(via_win_room_new(&w), 0);
		CU_ASSERT(!via_win_is_short(&w));
		w.credit = VIA_WIN_OWN;
		CU_ASSERT(via_win_is_short(&w));
		CU_ASSERT_EQUAL(via_win_wants(&w), 4 * VIA_WIN_OWN);
		push(&w, 16);
		/* 0 and 1 are lost, 0 is sent again, 2 to 9 have come. */
		acked(&w, w.una, 0x1fe);
		CU_ASSERT_EQUAL(lost(&w), 0x3);
		via_win_resent(&w, w.una);
		lengthen(&w, 64);
		CU_ASSERT_EQUAL(w.limit, 64);
		CU_ASSERT(!via_win_is_short(&w));
		CU_ASSERT_EQUAL(lost(&w), 0x2);
		CU_ASSERT(via_win_arrived(&w, w.una + 2));
		CU_ASSERT(!via_win_arrived(&w, w.una + 10));
		CU_ASSERT(via_win_lost(&w, &seq));
		CU_ASSERT_EQUAL(seq, w.una + 1);
		/* What was sent again is lost again, three later ones say. */
		w.credit = w.limit;
		push(&w, 10);
		lengthen(&w, 1024);
		CU_ASSERT_EQUAL(w.limit, 1000);
		acked(&w, w.una, 0x3ffffffe);
		CU_ASSERT_EQUAL(lost(&w) & 0x3, 0x3);
		via_win_resent(&w, w.una);
		via_win_resent(&w, w.una + 1);
		CU_ASSERT_EQUAL(acked(&w, w.nxt, 0), 26);
		CU_ASSERT(!w.lossy);
		/* They have left the window; their records are still known. */
		w.reorder = VIA_WIN_REORDER;
		via_win_dsack(&w, first - 20);
		CU_ASSERT_EQUAL(w.reorder, 2 * VIA_WIN_REORDER);
		drop(&w);
		CU_ASSERT_EQUAL(via_win_end(&w), NULL);
	}
	via_win_init(&w, 0, 3);
	CU_ASSERT(!via_win_is_short(&w));
	via_win_init(&w, 0, 17);
	CU_ASSERT_EQUAL(via_win_wants(&w), 32);
}

/* The orders of a long life lie far apart: what was seen once is no guide. */
static void a_long_life_without_loss(void)
{
	struct via_win_tx w;
	u32 seq;

	init(&w, 0, 64);
	push(&w, 16);
	w.order = 0x80000100;
	for (seq = 0; seq < 16; seq++)
		via_win_rec(&w, seq)->order = w.order - 15 + seq;
	via_win_probe(&w);
	CU_ASSERT_EQUAL(lost(&w), 0x8000);
	via_win_resent(&w, 15);
	acked(&w, 1, 0);
	CU_ASSERT_EQUAL(lost(&w), 0);
	acked(&w, 1, 0x2000);
	CU_ASSERT_EQUAL(lost(&w), 0x3fff);
	drop(&w);
}

/* The receiver takes held frames one by one, and tells while it does. */
static void between_two_frames(void)
{
	struct via_win_tx w;
	u32 seq;

	init(&w, 0, 64);
	push(&w, 10);
	acked(&w, 0, 0x2);
	acked(&w, 2, 0);
	CU_ASSERT(!via_win_lost(&w, &seq));
	CU_ASSERT(!w.cwr);
	/* If it is lost after all, that is found. */
	push(&w, 6);
	acked(&w, 2, 0x1fff);
	CU_ASSERT(via_win_lost(&w, &seq));
	CU_ASSERT_EQUAL(seq, 2);
	drop(&w);
}

static void a_range_beyond(void)
{
	static const struct via_range r[] = {
		{ 0, 2 }, { 5, 0xffff }, { 9, 3 }, { 0xffff, 0xffff },
	};
	struct via_win_tx w;

	init(&w, 0xfffffffa, 64);
	push(&w, 10);
	CU_ASSERT_EQUAL(via_win_ack(&w, 0xfffffffa, r, 4), 0);
	CU_ASSERT_EQUAL(w.sacked, 6);
	CU_ASSERT_EQUAL(w.lost, 4);
	drop(&w);
}

/* What the receiver tells, as the sender would note it. */
static void tell(struct via_win_rx *rx, bool *known, u32 max)
{
	struct via_range r[VIA_WIN_RANGES];
	u32 n = via_win_ranges(rx, r), i, j, end = 0;

	CU_ASSERT_FATAL(n <= VIA_WIN_RANGES);
	for (i = 0; i < n; i++) {
		CU_ASSERT_FATAL(r[i].count && (!i || r[i].start > end));
		end = r[i].start + r[i].count;
		CU_ASSERT_FATAL(end < max);
		for (j = r[i].start; j < end; j++) {
			CU_ASSERT_FATAL(via_win_place(rx, rx->next + 1 + j) ==
					VIA_WIN_DUP);
			known[j] = true;
		}
	}
}

static void all_ranges_are_told(void)
{
	struct via_win_rx rx;
	bool known[VIA_WIN_MAX];
	u32 i, k, acks, gap;

	/* Each second, third ... frame is held: up to 1,023 ranges. */
	for (gap = 2; gap < 200; gap = gap * 3 / 2) {
		via_win_rx_init(&rx, 0xfffffff0, VIA_WIN_MAX);
		for (i = gap; i < VIA_WIN_MAX; i += gap)
			hold(&rx, rx.next + i);
		memset(known, 0, sizeof(known));
		acks = (VIA_WIN_MAX / gap + VIA_WIN_RANGES - 1) /
		       VIA_WIN_RANGES;
		while (acks--)
			tell(&rx, known, VIA_WIN_MAX);
		for (i = gap; i < VIA_WIN_MAX; i += gap)
			CU_ASSERT_FATAL(known[i - 1]);
		free(rx.bits);
	}
	/* And while more come in between, at random. */
	srand(3);
	for (k = 0; k < 50; k++) {
		via_win_rx_init(&rx, 0xffffffc0 + k, 1024);
		for (i = 0; i < 300; i++) {
			u32 seq = rx.next + 1 + rand() % 1023;

			if (via_win_place(&rx, seq) == VIA_WIN_HOLD)
				hold(&rx, seq);
			tell(&rx, known, 1024);
		}
		memset(known, 0, sizeof(known));
		for (acks = 0; acks < 1024 / 2 / VIA_WIN_RANGES; acks++)
			tell(&rx, known, 1024);
		for (i = 1; i < 1024; i++)
			CU_ASSERT_FATAL((via_win_place(&rx, rx.next + i) ==
					 VIA_WIN_DUP) == known[i - 1]);
		free(rx.bits);
	}
}

/*
 * The same sender, slow and obvious: a plain array of all frames, looked at
 * from end to end each time.
 */
#define LIFE	6000u

struct model {
	struct {
		u32 order;
		bool sacked, lost;
		u8 lost_by;
	} f[LIFE];
	u32 una, nxt, limit, order, seen, recover;
	u32 undo_retrans, reorder;
	bool lossy, timed, undo_marker;
};

static void model_cwr(struct model *m)
{
	if (m->una < m->recover)
		return;
	if (m->undo_marker && m->reorder > VIA_WIN_REORDER)
		m->reorder--;
	m->undo_marker = true;
	m->undo_retrans = 0;
	m->timed = false;
	m->recover = m->nxt;
}

static void model_look(struct model *m)
{
	if (!m->lossy && m->nxt != m->una)
		m->seen = m->f[m->una].order - 1;
	m->lossy = true;
}

static void model_ack(struct model *m, u32 ack, const struct via_range *r,
		      u32 n)
{
	u32 reorder = m->reorder, i, j;
	bool open = false;

	if (ack < m->una || ack > m->nxt)
		return;
	model_look(m);
	for (i = m->una; i < ack; i++) {
		m->seen = max(m->seen, m->f[i].order);
		m->f[i].sacked = m->f[i].lost = false;
	}
	m->una = ack;
	for (i = 0; i < n; i++) {
		for (j = ack + 1 + r[i].start;
		     j < ack + 1 + r[i].start + r[i].count && j < m->nxt; j++) {
			m->seen = max(m->seen, m->f[j].order);
			m->f[j].sacked = true;
			m->f[j].lost = false;
		}
	}
	if (ack < m->nxt && m->f[ack].sacked) {
		m->f[ack].sacked = false;
		m->f[ack].order = ++m->order;
	}
	for (i = m->una; i < m->nxt; i++) {
		if (m->f[i].sacked || m->f[i].lost ||
		    m->seen < m->f[i].order + reorder)
			continue;
		model_cwr(m);
		m->f[i].lost = true;
		m->f[i].lost_by = VIA_LOST_OVERTAKEN;
		m->undo_retrans++;
	}
	for (i = m->una; i < m->nxt; i++)
		open |= m->f[i].sacked || m->f[i].lost ||
			(i && m->f[i].order < m->f[i - 1].order) ||
			(i + 1 < m->nxt && m->f[i].order > m->f[i + 1].order);
	m->lossy = open || m->una < m->recover;
	m->timed &= m->una < m->recover;
}

static void model_probe(struct model *m)
{
	u32 i = m->nxt;

	while (i > m->una && m->f[i - 1].sacked)
		i--;
	if (i == m->una)
		return;
	model_look(m);
	m->f[i - 1].lost = true;
	m->order += m->reorder;
}

static void model_timeout(struct model *m)
{
	u32 i;

	model_look(m);
	for (i = m->una; i < m->nxt; i++)
		m->f[i].lost = !m->f[i].sacked;
	m->lossy = m->una != m->nxt;
	m->recover = m->nxt;
	m->undo_marker = !m->timed;
	m->timed = m->lossy;
	m->undo_retrans = 0;
	m->reorder = VIA_WIN_REORDER;
}

static void model_timed(struct model *m, u32 seq)
{
	if (!m->timed || m->f[seq].lost_by == VIA_LOST_TIMED)
		return;
	m->f[seq].lost_by = VIA_LOST_TIMED;
	m->undo_retrans++;
}

static void model_dsack(struct model *m, u32 seq, u32 size)
{
	if (seq >= m->nxt || m->nxt - 1 - seq >= size || !m->f[seq].lost_by)
		return;
	if (m->f[seq].lost_by == VIA_LOST_OVERTAKEN)
		m->reorder = min(m->reorder * 2,
				 min(max(m->limit / 2, VIA_WIN_REORDER),
				     VIA_WIN_REORDER_MAX));
	m->f[seq].lost_by = 0;
	if (m->undo_marker && m->undo_retrans && !--m->undo_retrans)
		m->undo_marker = false;
}

static void same(struct via_win_tx *w, const struct model *m, u32 first)
{
	u32 i, nlost = 0, sacked = 0, seq;
	bool bit;

	CU_ASSERT_FATAL(w->una == first + m->una && w->nxt == first + m->nxt);
	for (i = m->una; i < m->nxt; i++) {
		bit = w->bits[((first + i) & w->mask) / 64].lost >>
		      ((first + i) & w->mask) % 64 & 1;
		CU_ASSERT_FATAL(bit == m->f[i].lost);
		CU_ASSERT_FATAL(via_win_arrived(w, first + i) ==
				m->f[i].sacked);
		if (m->f[i].lost && !nlost++) {
			CU_ASSERT_FATAL(via_win_lost(w, &seq));
			CU_ASSERT_FATAL(seq == first + i);
		}
		sacked += m->f[i].sacked;
	}
	CU_ASSERT_FATAL(w->lost == nlost && w->sacked == sacked);
	CU_ASSERT_FATAL(!(nlost || sacked) || w->lossy);
	CU_ASSERT_FATAL(w->reorder == m->reorder);
	CU_ASSERT_FATAL(w->timed == m->timed);
	CU_ASSERT_FATAL(w->undo_marker == m->undo_marker);
	CU_ASSERT_FATAL(w->undo_retrans == m->undo_retrans || !w->undo_marker);
	CU_ASSERT_FATAL(via_win_pipe(w) == m->nxt - m->una - nlost - sacked);
}

/* Any order of calls, and what a peer may make up: window.c and the model. */
static void run_model(u32 first, u32 limit)
{
	static struct model m;
	struct via_range r[VIA_WIN_RANGES];
	u32 steps, seq, n, i, at, ack;
	struct via_win_tx w;

	memset(&m, 0, sizeof(m));
	m.limit = limit;
	m.reorder = VIA_WIN_REORDER;
	init(&w, first, limit);
	for (steps = 0; steps < 600; steps++) {
		switch (rand() % 10) {
		case 0: case 1: case 2:
			/* The network takes all that has a number. */
			n = rand() % (w.limit - via_win_flight(&w) + 1);
			for (i = 0; i < n && m.nxt < LIFE; i++) {
				via_win_push(&w, 0, 0, 1, 1);
				m.f[m.nxt++].order = ++m.order;
			}
			break;
		case 3: case 4:
			for (n = rand() % 20; n && via_win_lost(&w, &seq); n--) {
				via_win_resent(&w, seq);
				m.f[seq - first].lost = false;
				m.f[seq - first].order = ++m.order;
				m.lossy = true;
				model_timed(&m, seq - first);
			}
			break;
		case 5:
			if (rand() % 8)
				break;
			via_win_probe(&w);
			model_probe(&m);
			break;
		case 6:
			if (rand() % 16)
				break;
			via_win_timeout(&w);
			model_timeout(&m);
			break;
		case 7:
			seq = m.una - min(m.una, 100u) + rand() % 200;
			via_win_dsack(&w, first + seq);
			model_dsack(&m, seq, w.mask + 1);
			break;
		default:
			ack = m.una + (rand() % 3 ? rand() % (1 + rand() % 30) :
				       0);
			n = rand() % 4 ? rand() % 6 : rand() % 33;
			at = rand() % 5;
			for (i = 0; i < n; i++) {
				r[i].start = at;
				r[i].count = 1 + rand() % 9;
				at += r[i].count + 1 + rand() % 6;
			}
			via_win_ack(&w, ack + first, r, n);
			model_ack(&m, ack, r, n);
			break;
		}
		same(&w, &m, first);
		/* Each frame that waits for its fate has its place. */
		CU_ASSERT_FATAL(w.order == m.order);
	}
	drop(&w);
}

static void like_the_model(void)
{
	u32 limit;

	srand(7);
	for (limit = 1; limit <= VIA_WIN_MAX;
	     limit += limit < 140 ? 1 : limit / 7) {
		run_model(0, limit);
		run_model(0xfffffe00 + limit, limit);
	}
}

/*
 * Both halves over a wire of two queues that loses, duplicates and reorders.
 * Every frame is delivered once and in order, and all of them in the end.
 */
#define WIRE	4096u

struct packet {
	u32 seq, ack, n;
	struct via_range r[VIA_WIN_RANGES];
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

static void run_wire(u32 first, u32 limit, u32 frames, int loss)
{
	static struct queue there, back;
	struct via_win_rx rx;
	struct via_win_tx tx;
	struct packet p;
	u32 got = 0, twice = 0, seq, i, steps = 0, timeouts = 0;
	u32 sent = 0, credit = CREDIT;

	there.n = 0;
	back.n = 0;
	via_win_init(&tx, first, limit);
	via_win_rx_init(&rx, first, limit);
	while (tx.una - first < frames) {
		CU_ASSERT_FATAL(++steps < 100 * frames);
		/* The caller's window, as good as any. */
		if (tx.cwr) {
			credit = max(credit / 2, 4u);
			tx.cwr = false;
		}
		tx.credit = min(credit, tx.limit);
		while (via_win_lost(&tx, &seq) && via_win_room(&tx)) {
			via_win_resent(&tx, seq);
			wire_put(&there, (struct packet){ .seq = seq }, loss);
		}
		while (sent < frames && via_win_room_new(&tx)) {
			seq = via_win_push(&tx, sent, 0, 1, true);
			CU_ASSERT_FATAL(seq == first + sent);
			sent++;
			wire_put(&there, (struct packet){ .seq = seq }, loss);
		}
		/* The ring grows at any moment. */
		if (via_win_is_short(&tx) && !(rand() % 4))
			lengthen(&tx, via_win_wants(&tx));
		if (!there.n && !back.n) {
			CU_ASSERT_FATAL(via_win_flight(&tx) > 0);
			timeouts++;
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
				hold(&rx, p.seq);
				break;
			case VIA_WIN_DUP:
				twice = p.seq;
				break;
			case VIA_WIN_BEYOND:
				CU_FAIL_FATAL("frame beyond the window");
			}
			CU_ASSERT_FATAL(rx.next - first == got);
			p = (struct packet){ .ack = rx.next, .seq = twice };
			p.n = via_win_ranges(&rx, p.r);
			wire_put(&back, p, loss);
			twice = 0;
		}
		for (i = rand() % 8; i && wire_get(&back, &p, loss); i--) {
			u32 una = tx.una;
			u32 n;

			if (p.seq)
				via_win_dsack(&tx, p.seq);
			n = via_win_ack(&tx, p.ack, p.r, p.n);

			CU_ASSERT_FATAL(tx.una - una == n);
			CU_ASSERT_FATAL(via_win_flight(&tx) <= tx.limit);
			CU_ASSERT_FATAL(!via_seq_before(rx.next, tx.una));
			CU_ASSERT_FATAL(tx.sacked + tx.lost <=
					via_win_flight(&tx));
			credit += n / 4;
			CU_ASSERT_FATAL(tx.reorder >= VIA_WIN_REORDER &&
					tx.reorder <= VIA_WIN_REORDER_MAX);
		}
	}
	CU_ASSERT_EQUAL(got, frames);
	free(via_win_end(&tx));
	free(rx.bits);
	if (!loss)
		CU_ASSERT_EQUAL(timeouts, 0);
}

static void survives_the_wire(void)
{
	static const int loss[] = { 0, 10, 100, 300 };
	static const u32 limits[] = { 64, 1024 };
	u32 i, k;

	srand(1);
	for (k = 0; k < 2; k++) {
		for (i = 0; i < sizeof(loss) / sizeof(loss[0]); i++) {
			run_wire(0, limits[k], 20000, loss[i]);
			run_wire(0xffffff00, limits[k], 20000, loss[i]);
		}
	}
}

/* Each size there is: rings of all sizes, full and not. */
static void any_size(void)
{
	u32 limit;

	srand(2);
	for (limit = 1; limit <= 1024; limit++)
		run_wire(0 - limit, limit, 300 + limit, limit % 5 * 20);
	run_wire(0 - VIA_WIN_MAX, VIA_WIN_MAX, 9000, 10);
}

UNIT_MAIN("window",
	  { "sequence numbers wrap", sequence_wraps },
	  { "limits hold", limits_hold },
	  { "acknowledgements in order", acks_in_order },
	  { "three later frames prove a loss", three_later_prove_a_loss },
	  { "a timeout loses all", timeout_loses_all },
	  { "a probe tells what is lost", a_probe_tells },
	  { "the receiver sorts", receiver_sorts },
	  { "what comes twice was not lost", what_comes_twice_was_not_lost },
	  { "all must come twice", only_all_of_them_restore },
	  { "a slow peer costs no window", slow_peers_cost_no_window },
	  { "losses by time may be undone", undo_after_a_timeout },
	  { "asked at half the window", asked_at_half_the_window },
	  { "round-trip time is followed", rtt_follows },
	  { "the ring grows under way", the_ring_grows },
	  { "a long life without loss", a_long_life_without_loss },
	  { "an acknowledgement between two frames", between_two_frames },
	  { "ranges beyond what is in flight", a_range_beyond },
	  { "all ranges are told in the end", all_ranges_are_told },
	  { "the same as a slow model", like_the_model },
	  { "every frame once, in order, over a bad wire", survives_the_wire },
	  { "windows of any size", any_size });

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Window arithmetic: what happens when frames were lost, and the estimators. */

#include "window.h"

void via_win_init(struct via_win_tx *w, u32 first_seq, u32 limit)
{
	w->una = first_seq;
	w->nxt = first_seq;
	w->limit = max(min(limit, VIA_WIN_MAX), 1u);
	w->cwnd = min(w->limit, VIA_WIN_CWND_INIT);
	w->grown = 0;
	w->share = 1;
	w->prior = 0;
	w->doubted = 0;
	w->reorder = VIA_WIN_REORDER;
	w->cut = false;
	w->news = false;
	w->timed = false;
	w->ssthresh = w->limit;
	w->order = 0;
	w->seen = 0;
	w->recover = first_seq;
	w->lossy = false;
	w->sacked = 0;
	w->lost = 0;
}

/* What was lost or has arrived is not in the network any more. */
u32 __via_win_room(const struct via_win_tx *w)
{
	u32 pipe = via_win_flight(w) - hweight64(w->sacked | w->lost);

	return pipe < w->cwnd ? w->cwnd - pipe : 0;
}

void via_win_resent(struct via_win_tx *w, u32 seq)
{
	struct via_win_rec *r = via_win_rec(w, seq);

	w->lost &= ~((u64)1 << (seq - w->una));
	r->order = ++w->order;
	if (w->timed && !r->doubt) {
		r->doubt = VIA_DOUBT_TIMED;
		w->doubted++;
	}
}

static u32 half(const struct via_win_tx *w)
{
	u32 least = w->share > 1 ? VIA_WIN_CWND_SHARED : VIA_WIN_CWND_MIN;

	return min(max(w->cwnd / 2, least), w->limit);
}

/* Half the window, once for all losses of one round. */
static void back_off(struct via_win_tx *w)
{
	if (via_seq_before(w->una, w->recover))
		return;
	/* The last reduction stood, so it was a loss that caused it. */
	if (w->prior && w->reorder > VIA_WIN_REORDER)
		w->reorder--;
	w->prior = w->cwnd;
	w->doubted = 0;
	w->timed = false;
	w->cut = true;
	w->recover = w->nxt;
	w->cwnd = half(w);
	w->ssthresh = w->cwnd;
	w->grown = 0;
}

void via_win_back_off(struct via_win_tx *w)
{
	bool cut = w->cut;

	back_off(w);
	/* Not ours to take back, nor to be told to others once more. */
	w->prior = 0;
	w->cut = cut;
}

void via_win_twice(struct via_win_tx *w, u32 seq)
{
	struct via_win_rec *r = via_win_rec(w, seq);

	if (w->nxt - 1 - seq >= VIA_WIN_MAX || !r->doubt)
		return;
	/* A peer that is slow does not reorder. */
	if (r->doubt == VIA_DOUBT_OVERTAKEN)
		w->reorder = min(w->reorder * 2,
				 min(max(w->limit / 2, VIA_WIN_REORDER),
				     VIA_WIN_REORDER_MAX));
	r->doubt = 0;
	if (!w->prior || !w->doubted || --w->doubted)
		return;
	w->cwnd = max(w->cwnd, w->prior);
	w->ssthresh = max(w->ssthresh, w->prior);
	w->prior = 0;
}

void via_win_probe(struct via_win_tx *w)
{
	u64 open = via_bits(via_win_flight(w)) & ~w->sacked;

	if (!open)
		return;
	w->lost |= (u64)1 << (fls64(open) - 1);
	w->lossy = true;
	/* So much later than all the others that it proves them lost. */
	w->order += w->reorder;
}

void via_win_timeout(struct via_win_tx *w)
{
	w->lost = via_bits(via_win_flight(w)) & ~w->sacked;
	w->lossy = w->lost;
	w->recover = w->nxt;
	/*
	 * Once for one silence.  After the second time that a frame comes twice
	 * may be due to the first one, and proves nothing.
	 */
	if (!w->timed)
		w->ssthresh = half(w);
	w->prior = w->timed ? 0 : w->cwnd;
	w->doubted = 0;
	w->timed = w->lossy;
	w->reorder = VIA_WIN_REORDER;
	w->cwnd = min(VIA_WIN_CWND_MIN, w->limit);
	w->grown = 0;
}

void via_win_grow(struct via_win_tx *w, u32 acked)
{
	if (w->cwnd < w->ssthresh) {
		w->cwnd = min(w->cwnd + acked, w->limit);
		return;
	}
	/*
	 * One of n grows by half of its part: the others hear of a loss a tick
	 * late, and each had four frames before the first one, so that n with
	 * a whole part take more than one alone, as measured beside TCP.
	 */
	w->grown += acked;
	if (w->grown >= w->cwnd * (w->share > 1 ? 2 * w->share : 1)) {
		w->grown = 0;
		w->cwnd = min(w->cwnd + 1, w->limit);
	}
}

static void saw(struct via_win_tx *w, u32 seq)
{
	u32 order = via_win_rec(w, seq)->order;

	if (via_seq_before(w->seen, order))
		w->seen = order;
}

/* Mark what enough later transmissions have overtaken. */
static void find_lost(struct via_win_tx *w)
{
	u64 open = via_bits(via_win_flight(w)) & ~w->sacked & ~w->lost;

	while (open) {
		u32 i = __ffs64(open);
		struct via_win_rec *r = via_win_rec(w, w->una + i);

		if (!via_seq_before(w->seen, r->order + w->reorder)) {
			w->lost |= (u64)1 << i;
			back_off(w);
			r->doubt = VIA_DOUBT_OVERTAKEN;
			w->doubted++;
		}
		open &= open - 1;
	}
}

u32 __via_win_ack(struct via_win_tx *w, u32 ack, u64 sack)
{
	u32 n = ack - w->una;
	u64 fresh;
	u32 i;

	w->news = false;
	if (n > via_win_flight(w))
		return 0;
	/* While nothing was lost, order rose with the sequence number. */
	if (!w->lossy && via_win_flight(w))
		w->seen = via_win_rec(w, w->una)->order - 1;
	for (i = 0; i < n; i++)
		saw(w, w->una + i);
	w->una = ack;
	w->sacked = via_shift_out(w->sacked, n);
	w->lost = via_shift_out(w->lost, n);

	fresh = (sack << 1) & ~w->sacked & via_bits(via_win_flight(w));
	w->news = fresh;
	w->sacked |= fresh;
	w->lost &= ~fresh;
	while (fresh) {
		saw(w, w->una + __ffs64(fresh));
		fresh &= fresh - 1;
	}
	/*
	 * An acknowledgement that was overtaken may show less than is known;
	 * bit 0 set would say that una both is and is not awaited.
	 */
	w->sacked &= ~(u64)1;
	find_lost(w);
	if (!via_seq_before(w->una, w->recover)) {
		via_win_grow(w, n);
		w->lossy = w->sacked | w->lost;
		w->timed = false;
	} else {
		w->lossy = true;
	}
	return n;
}

enum via_win_place __via_win_place(const struct via_win_rx *w, u32 seq)
{
	u32 d = seq - w->next;

	if (!d)
		return VIA_WIN_NEXT;
	if ((s32)d < 0)
		return VIA_WIN_DUP;
	if (d >= VIA_WIN_MAX)
		return VIA_WIN_BEYOND;
	return (w->held >> (d - 1)) & 1 ? VIA_WIN_DUP : VIA_WIN_HOLD;
}

void via_rtt_init(struct via_rtt *r, u32 rto)
{
	r->srtt = 0;
	r->rttvar = 0;
	r->rto = rto;
}

/* Van Jacobson's: gains of 1/8 and 1/4, rto = srtt + 4 * rttvar. */
void via_rtt_sample(struct via_rtt *r, u32 us, u32 rto_min, u32 rto_max)
{
	s32 err;

	us = min(us, rto_max);
	if (!r->srtt) {
		r->srtt = us * 8;
		r->rttvar = us * 2;
	} else {
		err = (s32)us - (s32)(r->srtt / 8);
		r->srtt += err;
		r->rttvar += (err < 0 ? -err : err) - (s32)(r->rttvar / 4);
	}
	if (!r->srtt)
		r->srtt = 1;
	r->rto = min(max(r->srtt / 8 + r->rttvar, rto_min), rto_max);
}

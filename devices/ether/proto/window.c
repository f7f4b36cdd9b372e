// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What happens when frames were lost, and the estimators. */

#include "window.h"

/* A piece of a row of frames that lies within one word of bits. */
struct piece {
	u32 word;
	u32 shift;
	u32 n;			/* frames */
};

static inline struct piece piece_of(u32 mask, u32 seq, u32 n)
{
	u32 at = seq & mask, shift = at % 64;

	return (struct piece){
		.word = at / 64,
		.shift = shift,
		.n = min(min(n, 64 - shift), mask + 1 - at),
	};
}

/* The word of bits that has a frame's, and its bit in there. */
static inline struct via_win_bits *bits_of(const struct via_win_tx *w, u32 seq)
{
	return &w->bits[(seq & w->mask) / 64];
}

static inline u64 bit_of(const struct via_win_tx *w, u32 seq)
{
	return (u64)1 << ((seq & w->mask) % 64);
}

/* A frame was sent again: the latest transmission of them. */
static void link_in(struct via_win_tx *w, u32 seq)
{
	u32 at = seq & w->mask;

	bits_of(w, seq)->again |= bit_of(w, seq);
	w->link[at].prev = w->last;
	w->link[at].next = VIA_WIN_NONE;
	if (w->last == VIA_WIN_NONE)
		w->first = at;
	else
		w->link[w->last].next = at;
	w->last = at;
}

static void link_out(struct via_win_tx *w, u32 seq)
{
	struct via_win_link l = w->link[seq & w->mask];

	bits_of(w, seq)->again &= ~bit_of(w, seq);
	if (l.prev == VIA_WIN_NONE)
		w->first = l.next;
	else
		w->link[l.prev].next = l.next;
	if (l.next == VIA_WIN_NONE)
		w->last = l.prev;
	else
		w->link[l.next].prev = l.prev;
}

static void use_own(struct via_win_tx *w)
{
	w->ring = NULL;
	w->bits = w->own.bits;
	w->rec = w->own.rec;
	w->link = w->own.link;
	w->mask = VIA_WIN_OWN - 1;
}

void via_win_init(struct via_win_tx *w, u32 first_seq, u32 limit)
{
	memset(w, 0, sizeof(*w));
	use_own(w);
	w->una = first_seq;
	w->nxt = first_seq;
	w->recover = first_seq;
	w->most = max(min(limit, VIA_WIN_MAX), 1u);
	w->limit = min(w->most, VIA_WIN_OWN);
	w->reorder = VIA_WIN_REORDER;
	w->first = VIA_WIN_NONE;
	w->last = VIA_WIN_NONE;
}

u32 via_win_wants(const struct via_win_tx *w)
{
	u32 frames = w->mask + 1, i;

	/* Twice doubled: few moves, and not much more than is needed. */
	for (i = 0; i < 2 && frames < w->most; i++)
		frames *= 2;
	return frames;
}

u32 via_win_ring_bytes(u32 frames)
{
	return VIA_WIN_WORDS(frames) * sizeof(struct via_win_bits) +
	       frames * (sizeof(struct via_win_record) +
			 sizeof(struct via_win_link));
}

void *via_win_use(struct via_win_tx *w, void *ring, u32 frames)
{
	const struct via_win_bits *bits = w->bits;
	const struct via_win_record *rec = w->rec;
	const struct via_win_link *link = w->link;
	u32 mask = w->mask, at = w->first, seq, i;
	void *old = w->ring;

	memset(ring, 0, via_win_ring_bytes(frames));
	w->ring = ring;
	w->bits = ring;
	w->rec = (void *)(w->bits + VIA_WIN_WORDS(frames));
	w->link = (void *)(w->rec + frames);
	w->mask = frames - 1;
	w->limit = min(w->most, frames);
	/* Those that have left the window may be told of as well. */
	for (seq = w->nxt - mask - 1; seq != w->nxt; seq++) {
		i = seq & mask;
		*via_win_rec(w, seq) = rec[i];
		if (bits[i / 64].sacked >> (i % 64) & 1)
			bits_of(w, seq)->sacked |= bit_of(w, seq);
		if (bits[i / 64].lost >> (i % 64) & 1)
			bits_of(w, seq)->lost |= bit_of(w, seq);
	}
	w->first = VIA_WIN_NONE;
	w->last = VIA_WIN_NONE;
	for (; at != VIA_WIN_NONE; at = link[at].next)
		link_in(w, w->una + ((at - w->una) & mask));
	return old;
}

void *via_win_end(struct via_win_tx *w)
{
	void *ring = w->ring;

	use_own(w);
	return ring;
}

u32 __via_win_room_new(const struct via_win_tx *w)
{
	return min(via_win_room(w), w->limit - via_win_flight(w));
}

u32 __via_win_lost(struct via_win_tx *w)
{
	u32 seq = via_seq_before(w->lost_from, w->una) ? w->una : w->lost_from;
	struct piece p;
	u64 lost;

	for (; seq != w->nxt; seq += p.n) {
		p = piece_of(w->mask, seq, w->nxt - seq);
		lost = w->bits[p.word].lost >> p.shift & via_bits(p.n);
		if (lost) {
			seq += __ffs64(lost);
			break;
		}
	}
	w->lost_from = seq;
	return seq;
}

bool via_win_arrived(const struct via_win_tx *w, u32 seq)
{
	return bits_of(w, seq)->sacked & bit_of(w, seq) &&
	       seq - w->una < via_win_flight(w);
}

/* From here on losses are looked for, until @lossy is false again. */
static void look_for_losses(struct via_win_tx *w)
{
	if (w->lossy)
		return;
	w->lossy = true;
	w->judged = w->una;
	w->seen = via_win_rec(w, w->una)->order - 1;
}

static void mark_lost(struct via_win_tx *w, u32 seq)
{
	bits_of(w, seq)->lost |= bit_of(w, seq);
	if (!w->lost++ || via_seq_before(seq, w->lost_from))
		w->lost_from = seq;
}

/* A frame has no bits any more: it was sent again, or has arrived. */
static void forget_bits(struct via_win_tx *w, u32 seq)
{
	struct via_win_bits *b;
	u64 bit;

	b = bits_of(w, seq);
	bit = bit_of(w, seq);
	if (b->sacked & bit) {
		b->sacked &= ~bit;
		w->sacked--;
	} else if (b->lost & bit) {
		b->lost &= ~bit;
		w->lost--;
	} else if (b->again & bit) {
		link_out(w, seq);
	}
}

static void note_transmitted(struct via_win_tx *w, u32 seq)
{
	look_for_losses(w);
	forget_bits(w, seq);
	via_win_rec(w, seq)->order = ++w->order;
	link_in(w, seq);
}

void via_win_resent(struct via_win_tx *w, u32 seq)
{
	struct via_win_record *r = via_win_rec(w, seq);

	note_transmitted(w, seq);
	if (w->timed && r->lost_by != VIA_LOST_TIMED) {
		r->lost_by = VIA_LOST_TIMED;
		w->undo_retrans++;
	}
}

/* Frames in flight belong to the last round of losses; @recover may be old. */
static bool is_recovering(const struct via_win_tx *w)
{
	u32 left = w->recover - w->una;

	return left && left <= via_win_flight(w);
}

/* Once for all losses of one round. */
static void enter_cwr(struct via_win_tx *w)
{
	if (is_recovering(w))
		return;
	/* Those of the last round were losses. */
	if (w->undo_marker && w->reorder > VIA_WIN_REORDER)
		w->reorder--;
	w->undo_marker = true;
	w->undo_retrans = 0;
	w->timed = false;
	w->recover = w->nxt;
	w->cwr = true;
}

void via_win_dsack(struct via_win_tx *w, u32 seq)
{
	struct via_win_record *r = via_win_rec(w, seq);

	if (w->nxt - 1 - seq > w->mask || !r->lost_by)
		return;
	/* A peer that is slow does not reorder. */
	if (r->lost_by == VIA_LOST_OVERTAKEN)
		w->reorder = min(w->reorder * 2,
				 min(max(w->limit / 2, VIA_WIN_REORDER),
				     VIA_WIN_REORDER_MAX));
	r->lost_by = 0;
	if (!w->undo_marker || !w->undo_retrans || --w->undo_retrans)
		return;
	w->undo_marker = false;
	w->undo = true;
}

void via_win_probe(struct via_win_tx *w)
{
	struct via_win_bits *b;
	u32 seq = w->nxt;
	u64 bit;

	do {
		if (seq == w->una)
			return;
		b = bits_of(w, --seq);
		bit = bit_of(w, seq);
	} while (b->sacked & bit);
	look_for_losses(w);
	if (!(b->lost & bit)) {
		forget_bits(w, seq);
		mark_lost(w, seq);
	}
	/* So much later than all the others that it proves them lost. */
	w->order += w->reorder;
}

bool via_win_timeout(struct via_win_tx *w)
{
	bool again = w->timed;
	struct via_win_bits *b;
	u32 seq;
	u64 bit;

	look_for_losses(w);
	for (seq = w->una; seq != w->nxt; seq++) {
		b = bits_of(w, seq);
		bit = bit_of(w, seq);
		if ((b->sacked | b->lost) & bit)
			continue;
		forget_bits(w, seq);
		mark_lost(w, seq);
	}
	w->lossy = w->lost;
	w->recover = w->nxt;
	/*
	 * After the second time that a frame comes twice may be due to the
	 * first one, and proves nothing.
	 */
	w->undo_marker = !again;
	w->undo_retrans = 0;
	w->timed = w->lossy;
	w->reorder = VIA_WIN_REORDER;
	return again;
}

static void note_order(struct via_win_tx *w, u32 seq)
{
	u32 order = via_win_rec(w, seq)->order;

	if (via_seq_before(w->seen, order))
		w->seen = order;
}

/* Are there not enough later transmissions that have arrived? */
static bool may_still_come(const struct via_win_tx *w,
			   const struct via_win_record *r, u32 reorder)
{
	return via_seq_before(w->seen, r->order + reorder);
}

static void overtake_frame(struct via_win_tx *w, u32 seq)
{
	mark_lost(w, seq);
	enter_cwr(w);
	via_win_rec(w, seq)->lost_by = VIA_LOST_OVERTAKEN;
	w->undo_retrans++;
}

/*
 * Mark what enough later transmissions have overtaken.  Of either kind the
 * first one that was not tells of all behind it.
 */
static void find_lost(struct via_win_tx *w)
{
	u32 reorder = w->reorder, seq;
	const struct via_win_bits *b;
	u64 bit;

	for (; w->judged != w->nxt; w->judged++) {
		b = bits_of(w, w->judged);
		bit = bit_of(w, w->judged);
		if ((b->sacked | b->lost | b->again) & bit)
			continue;
		if (may_still_come(w, via_win_rec(w, w->judged), reorder))
			break;
		overtake_frame(w, w->judged);
	}
	while (w->first != VIA_WIN_NONE &&
	       !may_still_come(w, &w->rec[w->first], reorder)) {
		seq = w->una + ((w->first - w->una) & w->mask);
		link_out(w, seq);
		overtake_frame(w, seq);
	}
}

static void note_arrived(struct via_win_tx *w, u32 seq)
{
	note_order(w, seq);
	forget_bits(w, seq);
	bits_of(w, seq)->sacked |= bit_of(w, seq);
	w->sacked++;
	w->news = true;
}

/* Of @n frames from @seq on the ones that were not known to have arrived. */
static void take_range(struct via_win_tx *w, u32 seq, u32 n)
{
	struct piece p;
	u64 fresh;

	for (; n; n -= p.n, seq += p.n) {
		p = piece_of(w->mask, seq, n);
		fresh = via_bits(p.n) & ~(w->bits[p.word].sacked >> p.shift);
		for (; fresh; fresh &= fresh - 1)
			note_arrived(w, seq + __ffs64(fresh));
	}
}

u32 __via_win_ack(struct via_win_tx *w, u32 ack, const struct via_range *range,
		  u32 ranges)
{
	u32 n = ack - w->una, flight, from, count, i;

	w->news = false;
	if (n > via_win_flight(w))
		return 0;
	look_for_losses(w);
	for (i = 0; i < n; i++) {
		note_order(w, w->una + i);
		forget_bits(w, w->una + i);
	}
	w->una = ack;
	if (via_seq_before(w->judged, ack))
		w->judged = ack;
	flight = via_win_flight(w);
	for (i = 0; i < ranges; i++) {
		from = range[i].start + 1;
		count = range[i].count;
		if (from < flight)
			take_range(w, ack + from, min(count, flight - from));
	}
	/*
	 * The receiver is about to take the frames behind a hole, or forgot
	 * them: una is awaited.  As if it were sent at this moment.
	 */
	if (via_win_arrived(w, ack))
		note_transmitted(w, ack);
	find_lost(w);
	if (!is_recovering(w)) {
		w->timed = false;
		w->lossy = w->sacked || w->lost || w->first != VIA_WIN_NONE;
	}
	return n;
}

void via_win_rx_init(struct via_win_rx *w, u32 next, u32 limit)
{
	memset(w, 0, sizeof(*w));
	w->next = next;
	w->limit = max(min(limit, VIA_WIN_MAX), 1u);
}

/* Is a frame of the ring's held? */
static inline bool holds_frame(const struct via_win_rx *w, u32 seq)
{
	u32 at = seq & (w->size - 1);

	return w->bits[at / 64] >> (at % 64) & 1;
}

enum via_win_verdict __via_win_place(const struct via_win_rx *w, u32 seq)
{
	u32 d = seq - w->next;

	if (!d)
		return VIA_WIN_NEXT;
	if ((s32)d < 0)
		return VIA_WIN_DUP;
	if (d >= w->limit)
		return VIA_WIN_BEYOND;
	return d < w->size && holds_frame(w, seq) ? VIA_WIN_DUP : VIA_WIN_HOLD;
}

u32 via_win_rx_wants(const struct via_win_rx *w, u32 seq)
{
	u32 size = max(w->size, 64u);

	while (seq - w->next >= size)
		size *= 2;
	return size;
}

void via_win_rx_use(struct via_win_rx *w, u64 *bits, u32 size)
{
	struct via_win_rx old = *w;
	u32 seq = w->next;

	w->bits = bits;
	w->size = size;
	w->held = 0;
	for (; via_win_held(&old, &seq); seq++)
		via_win_hold(w, seq);
}

void via_win_hold(struct via_win_rx *w, u32 seq)
{
	u32 at = seq & (w->size - 1);

	w->bits[at / 64] |= (u64)1 << (at % 64);
	if (!w->held++ || !via_seq_before(seq, w->end))
		w->end = seq + 1;
}

bool __via_win_taken(struct via_win_rx *w)
{
	u32 at = w->next & (w->size - 1);

	if (!holds_frame(w, w->next))
		return false;
	w->bits[at / 64] &= ~((u64)1 << (at % 64));
	w->held--;
	return true;
}

/* The first frame in seq..@end - 1 that is held, or is not; @end: none. */
static u32 find_held(const struct via_win_rx *w, u32 seq, u32 end, bool held)
{
	struct piece p;
	u64 bits;

	for (; seq != end; seq += p.n) {
		p = piece_of(w->size - 1, seq, end - seq);
		bits = w->bits[p.word] >> p.shift;
		if (!held)
			bits = ~bits;
		bits &= via_bits(p.n);
		if (bits)
			return seq + __ffs64(bits);
	}
	return end;
}

bool via_win_held(const struct via_win_rx *w, u32 *seq)
{
	if (!w->held || !via_seq_before(*seq, w->end))
		return false;
	*seq = find_held(w, *seq, w->end, true);
	return *seq != w->end;
}

/* The ranges between two frames, @max at most; *seq: where it goes on. */
static u32 some_ranges(const struct via_win_rx *w, u32 *seq, u32 end,
		       struct via_range *range, u32 max)
{
	u32 n, from;

	for (n = 0; n < max; n++) {
		from = find_held(w, *seq, end, true);
		*seq = from;
		if (from == end)
			break;
		*seq = find_held(w, from, end, false);
		range[n].start = from - w->next - 1;
		range[n].count = *seq - from;
	}
	return n;
}

u32 via_win_ranges(struct via_win_rx *w, struct via_range *range)
{
	struct via_range late[VIA_WIN_RANGES] __uninitialized;
	u32 first = w->next + 1, seq = first, n, k, to;

	if (likely(!w->held))
		return 0;
	n = some_ranges(w, &seq, w->end, range, VIA_WIN_RANGES);
	if (find_held(w, seq, w->end, true) == w->end)
		return n;
	if (w->told - first < w->end - first) {
		/* Those from there on; what room is left is for the first. */
		to = w->told - first;
		seq = w->told;
		k = some_ranges(w, &seq, w->end, late, VIA_WIN_RANGES);
		for (n = 0; n < VIA_WIN_RANGES - k; n++) {
			if (range[n].start + range[n].count > to)
				break;
		}
		memcpy(range + n, late, k * sizeof(*late));
		if (n)
			seq = first + range[n - 1].start + range[n - 1].count;
		n += k;
	}
	w->told = seq;
	return n;
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

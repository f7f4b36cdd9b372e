/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sequence numbers, acknowledgements and losses of a connection, without locks
 * or clocks: the caller serialises the calls for one window and provides
 * memory.  Nothing fails; bool is whether it is so, u32 a count or a sequence
 * number.  How many frames may be in the network is said by the caller
 * (@credit), which is told of losses.
 *
 * The sender keeps one record per frame in flight, in a ring of a power of two
 * of records; the first ring is part of the window, a larger one comes from
 * the caller when the window grows.  A frame counts as lost when three frames
 * that were sent after it (by order of transmission, not by sequence number)
 * have arrived; that finds a lost retransmission as well, and needs no timer
 * but for the tail.  The receiver tells when a frame came twice: if that one
 * was thought lost, the wire reorders, more arrivals are wanted as evidence
 * from then on, and the caller is told when no loss of the round was one.
 *
 * Cost: an acknowledgement in order, without losses, is a handful of
 * instructions, whatever the window.  Any other one costs a step for each
 * frame of which it has news, for each of its ranges and for each 64 frames
 * in flight.  A frame is looked at once to find whether its transmission is
 * lost: those sent once are in order of their numbers (@judged), those sent
 * again are on a list, in order of transmission.
 */
#ifndef _VIA_WINDOW_H
#define _VIA_WINDOW_H

#include "range.h"

#define VIA_WIN_MAX		2048u	/* frames in flight */
#define VIA_WIN_OWN		16u	/* without memory of the caller */
#define VIA_WIN_HALF		16u	/* a receiver answers so many unasked */
#define VIA_WIN_REORDER		3u	/* arrivals that prove a loss: at first */
#define VIA_WIN_REORDER_MAX	32u	/* and at most */
#define VIA_WIN_RANGES		32u	/* of one acknowledgement, at most */

/* Sequence numbers are 32 bits and wrap. */
static inline bool via_seq_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Bits 0..n-1; n <= 64. */
static inline u64 via_bits(u32 n)
{
	return n < 64 ? ((u64)1 << n) - 1 : ~(u64)0;
}

/* The bitmap words of a ring of so many frames, a power of two. */
#define VIA_WIN_WORDS(frames)	((frames) < 64 ? 1 : (frames) / 64)

/* One frame in flight. */
struct via_win_record {
	u32 index;		/* descriptor, or answer to a read */
	u32 offset;		/* in its data */
	u32 order;		/* place in the order of transmission */
	u16 len;		/* payload bytes */
	u8 kind;		/* VIA_REC_* */
	u8 lost_by;		/* VIA_LOST_*: was taken for lost */
};

#define VIA_LOST_OVERTAKEN	1u	/* by frames sent after it */
#define VIA_LOST_TIMED		2u	/* since nothing has arrived: sent again */

#define VIA_REC_LAST	0x1	/* the message ends with it */
#define VIA_REC_ANSWER	0x2	/* index: not a descriptor, an answer */

/* Neighbours of a frame that was sent again: places in the ring. */
struct via_win_link {
	u16 prev;
	u16 next;
};

#define VIA_WIN_NONE	0xffffu

/*
 * What is known of the frames of a ring, a bit for each place.  A frame has at
 * most one of the three, and one that is not in flight has none.
 */
struct via_win_bits {
	u64 sacked;		/* arrived out of order */
	u64 lost;		/* to be sent again */
	u64 again;		/* sent again: on the list */
};

/* The ring that each window has. */
struct via_win_own {
	struct via_win_bits bits[VIA_WIN_WORDS(VIA_WIN_OWN)];
	struct via_win_record rec[VIA_WIN_OWN];
	struct via_win_link link[VIA_WIN_OWN];
};

/**
 * struct via_win_tx - the sender's window
 * @una:	oldest frame not acknowledged
 * @nxt:	next new frame; una <= nxt <= una + limit
 * @limit:	most frames in flight for now: of @most, what the ring takes
 * @credit:	frames allowed in the network, <= limit; the caller's
 * @rec:	frame seq is rec[seq & mask]
 * @mask:	places of the ring - 1
 * @order:	transmissions so far
 * @lost:	frames to be sent again
 * @sacked:	frames that arrived out of order
 * @lossy:	something is or was lost, or was sent again and may arrive: look
 *		for more at each ack.  While it is false no frame in flight has
 *		a bit, and their orders rise with their numbers
 * @timed:	what is lost is so since a timeout, not since it was overtaken;
 *		with @lossy only
 * @news:	the last acknowledgement that went the long way told of an
 *		arrival out of order
 * @cwr:	a round of losses has begun; the caller clears it
 * @undo:	what was taken for lost since has come twice, all of it; likewise
 * @undo_marker:	it has not
 * @first, @last: of the frames sent again, by order of transmission: places
 * @judged:	of the frames before it none is in flight that was sent once
 *		and may be lost; with @lossy only
 * @lost_from:	no frame before it is @lost
 * @seen:	highest order known to have arrived; with @lossy only
 * @recover:	losses before this frame belong to one round
 * @most:	frames in flight that the two ends have agreed on
 * @undo_retrans:	frames taken for lost in this round that have not come twice
 * @reorder:	arrivals that prove a loss
 * @bits:	of the frames in the ring
 * @link:	of the frames in the ring that have their bit again
 * @ring:	memory of the caller with @bits, @rec and @link; NULL: @own
 * @own:	the ring without such
 */
struct via_win_tx {
	u32 una;
	u32 nxt;
	u32 limit;
	u32 credit;
	struct via_win_record *rec;
	u32 mask;
	u32 order;
	u32 lost;
	u32 sacked;
	bool lossy;
	bool timed;
	bool news;
	bool cwr;
	bool undo;
	bool undo_marker;
	u16 first;
	u16 last;
	u32 judged;
	u32 lost_from;
	u32 seen;
	u32 recover;
	u32 most;
	u32 undo_retrans;
	u32 reorder;
	struct via_win_bits *bits;
	struct via_win_link *link;
	void *ring;
	struct via_win_own own;
};

static inline u32 via_win_flight(const struct via_win_tx *w)
{
	return w->nxt - w->una;
}

static inline struct via_win_record *via_win_rec(struct via_win_tx *w, u32 seq)
{
	return &w->rec[seq & w->mask];
}

/* Frames in the network: what was lost or has arrived is not there any more. */
static inline u32 via_win_pipe(const struct via_win_tx *w)
{
	return via_win_flight(w) - w->sacked - w->lost;
}

/* How many frames the network takes now, new or again. */
static inline u32 via_win_room(const struct via_win_tx *w)
{
	u32 pipe = via_win_pipe(w);

	return pipe < w->credit ? w->credit - pipe : 0;
}

u32 __via_win_room_new(const struct via_win_tx *w);

/* How many new frames may be sent now: their numbers must fit as well. */
static inline u32 via_win_room_new(const struct via_win_tx *w)
{
	u32 flight = via_win_flight(w);

	if (unlikely(w->lossy))
		return __via_win_room_new(w);
	return flight < w->credit ? w->credit - flight : 0;
}

/* Frames in flight are of a round of losses. */
static inline bool via_win_recovers(const struct via_win_tx *w)
{
	return w->lossy && via_seq_before(w->una, w->recover);
}

/* Enter a new frame; returns its sequence number. */
static inline u32 via_win_push(struct via_win_tx *w, u32 index, u32 offset,
			       u32 len, u8 kind)
{
	struct via_win_record *r = via_win_rec(w, w->nxt);

	r->index = index;
	r->offset = offset;
	r->order = ++w->order;
	r->len = len;
	r->kind = kind;
	r->lost_by = 0;
	return w->nxt++;
}

/* Enter @n frames, each with the next @len bytes of the same data. */
static inline void via_win_push_run(struct via_win_tx *w, u32 n, u32 index,
				    u32 offset, u32 len, u8 kind)
{
	struct via_win_record r = {
		.index = index,
		.offset = offset,
		.order = w->order,
		.len = len,
		.kind = kind,
	}, *rec = w->rec;
	u32 mask = w->mask, seq = w->nxt, end = seq + n;

	for (; seq != end; seq++, r.offset += len) {
		r.order++;
		rec[seq & mask] = r;
	}
	w->order = r.order;
	w->nxt = end;
}

u32 __via_win_lost(struct via_win_tx *w);

/* The oldest lost frame, if any; sent again with via_win_resent(). */
static inline bool via_win_lost(struct via_win_tx *w, u32 *seq)
{
	if (likely(!w->lost))
		return false;
	*seq = __via_win_lost(w);
	return true;
}

/*
 * With less than 2 * VIA_WIN_HALF frames a sender asks for an acknowledgement
 * in the middle of its window, too: the room left, of a window that is empty,
 * at the frame that carries the request; 0: none does.  Else it would send a
 * window, and then nothing until all of it had gone through.
 */
static inline u32 via_win_half(const struct via_win_tx *w)
{
	return w->credit < 2 * VIA_WIN_HALF ? w->credit / 2 + 1 : 0;
}

/*
 * A window of at most @limit frames, 1 to VIA_WIN_MAX; it begins with
 * VIA_WIN_OWN, and no credit.  A ring of the caller's was taken back before.
 */
void via_win_init(struct via_win_tx *w, u32 first_seq, u32 limit);

/* Is the ring, not the network, what bounds the window? */
static inline bool via_win_is_short(const struct via_win_tx *w)
{
	return w->credit >= w->limit && w->limit < w->most;
}

/* The ring that a short window should have next: frames, a power of two. */
u32 via_win_wants(const struct via_win_tx *w);
u32 via_win_ring_bytes(u32 frames);
/*
 * Use @ring, of via_win_ring_bytes(@frames) bytes, larger than the one before
 * it.  Returns that one, to be freed, or NULL.
 */
void *via_win_use(struct via_win_tx *w, void *ring, u32 frames);
/* The window is over: its ring, to be freed, or NULL.  Then via_win_init(). */
void *via_win_end(struct via_win_tx *w);

void via_win_resent(struct via_win_tx *w, u32 seq);
/*
 * The retransmission timer went off.  First the newest frame is sent again,
 * as a probe: its arrival, by either copy, tells what is lost and what is only
 * late, and a peer that was merely slow costs no window.  When that has no
 * answer, all in flight is lost; should each one that was sent again come twice,
 * the peer was slow (@undo).  Returns whether there was a timeout before, of
 * the same silence.
 */
void via_win_probe(struct via_win_tx *w);
bool via_win_timeout(struct via_win_tx *w);

/* Frame @seq came twice, the receiver says: was it sent again for nothing? */
void via_win_dsack(struct via_win_tx *w, u32 seq);

/* Is frame @seq in flight, and known to have arrived? */
bool via_win_arrived(const struct via_win_tx *w, u32 seq);

/*
 * An acknowledgement: frames before @ack have arrived, and of those behind
 * it the ones in @n ranges.  Returns how many frames left the window at its
 * old end; their records stay readable.  An acknowledgement that is old or
 * impossible changes nothing; what a range says of frames that are not in
 * flight is not believed.
 */
u32 __via_win_ack(struct via_win_tx *w, u32 ack, const struct via_range *range,
		  u32 n);

static inline u32 via_win_ack(struct via_win_tx *w, u32 ack,
			      const struct via_range *range, u32 ranges)
{
	u32 n = ack - w->una;

	if (unlikely(ranges || w->lossy))
		return __via_win_ack(w, ack, range, ranges);
	if (n > via_win_flight(w))
		return 0;
	w->una = ack;
	return n;
}

/**
 * struct via_win_rx - the receiver's window
 * @next:	next sequence number expected
 * @held:	frames held beyond it
 * @limit:	frames that the sender may have in flight
 * @size:	places of the ring of the caller's, where frame seq is held at
 *		seq % size; 0, or a power of two from 64 on
 * @end:	behind the last frame held; with @held only
 * @told:	of more ranges than fit, the next ones begin here
 * @bits:	of the ring, a bit for each frame held
 */
struct via_win_rx {
	u32 next;
	u32 held;
	u32 limit;
	u32 size;
	u32 end;
	u32 told;
	u64 *bits;
};

enum via_win_verdict {
	VIA_WIN_NEXT,		/* in order: take it */
	VIA_WIN_HOLD,		/* beyond a hole, not held yet */
	VIA_WIN_DUP,		/* taken or held already */
	VIA_WIN_BEYOND,		/* no honest sender would */
};

void via_win_rx_init(struct via_win_rx *w, u32 next, u32 limit);

enum via_win_verdict __via_win_place(const struct via_win_rx *w, u32 seq);

static inline enum via_win_verdict via_win_place(const struct via_win_rx *w,
						 u32 seq)
{
	return likely(seq == w->next) ? VIA_WIN_NEXT : __via_win_place(w, seq);
}

/* The ring that holding @seq takes: its size as it is, or a larger one. */
u32 via_win_rx_wants(const struct via_win_rx *w, u32 seq);
/* It is there, with @bits for it, all zero: enter what is held. */
void via_win_rx_use(struct via_win_rx *w, u64 *bits, u32 size);
/* Frame @seq, found to be VIA_WIN_HOLD and in the ring, is held from now on. */
void via_win_hold(struct via_win_rx *w, u32 seq);

bool __via_win_taken(struct via_win_rx *w);

/* The frame at next was taken; true when the one behind it is held. */
static inline bool via_win_taken(struct via_win_rx *w)
{
	w->next++;
	return unlikely(w->held) && __via_win_taken(w);
}

/* The same for @n frames in a row; nothing is held, or @n is 1. */
static inline bool via_win_taken_run(struct via_win_rx *w, u32 n)
{
	w->next += n - 1;
	return via_win_taken(w);
}

/* The first frame held from @seq on; false: there is none. */
bool via_win_held(const struct via_win_rx *w, u32 *seq);

/*
 * What is held, for an acknowledgement of @next: up to VIA_WIN_RANGES ranges.
 * When there are more, each call goes on where the last one has ended, so a
 * sender that gets one acknowledgement for each frame hears of all of them.
 * Returns how many ranges.
 */
u32 via_win_ranges(struct via_win_rx *w, struct via_range *range);

/**
 * struct via_rtt - round-trip time, in microseconds
 * @srtt:	smoothed, times 8; 0: no sample yet
 * @rttvar:	mean deviation, times 4
 * @rto:	what follows from them, within min and max
 */
struct via_rtt {
	u32 srtt;
	u32 rttvar;
	u32 rto;
};

void via_rtt_init(struct via_rtt *r, u32 rto);
void via_rtt_sample(struct via_rtt *r, u32 us, u32 rto_min, u32 rto_max);

#endif /* _VIA_WINDOW_H */

/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sequence and window arithmetic of a reliable connection, without locks,
 * clocks or memory of its own: the caller serialises the calls for one window.
 * Nothing fails; bool is whether it is so, u32 a count or a sequence number.
 *
 * The sender keeps one record per frame in flight.  Bitmaps are relative to
 * una: bit i stands for frame una + i.  A frame counts as lost when three
 * frames that were sent after it (by order of transmission, not by sequence
 * number) have arrived; that finds a lost retransmission as well, and needs
 * no timer but for the tail.  The receiver tells when a frame came twice: if
 * that one was thought lost, the wire reorders, more arrivals are wanted as a
 * proof from then on, and a window reduced for nothing is restored.
 */
#ifndef _VIA_WINDOW_H
#define _VIA_WINDOW_H

#include "portable.h"

#define VIA_WIN_MAX		64u	/* frames in flight, bits of a bitmap */
#define VIA_WIN_CWND_INIT	16u
#define VIA_WIN_CWND_MIN	4u
#define VIA_WIN_CWND_SHARED	2u	/* least, with others on the same way */
#define VIA_WIN_HALF		16u	/* a receiver answers so many unasked */
#define VIA_WIN_REORDER		3u	/* arrivals that prove a loss: at first */
#define VIA_WIN_REORDER_MAX	32u	/* and at most */

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

static inline u64 via_shift_out(u64 bits, u32 n)
{
	return n < 64 ? bits >> n : 0;
}

/* One frame in flight. */
struct via_win_rec {
	u32 index;		/* descriptor, or answer to a read */
	u32 offset;		/* in its data */
	u32 order;		/* place in the order of transmission */
	u16 len;		/* payload bytes */
	u8 kind;		/* VIA_REC_* */
	u8 doubt;		/* VIA_DOUBT_*: was taken for lost */
};

#define VIA_DOUBT_OVERTAKEN	1u	/* by frames sent after it */
#define VIA_DOUBT_TIMED		2u	/* since nothing has arrived: sent again */

#define VIA_REC_LAST	0x1	/* the message ends with it */
#define VIA_REC_ANSWER	0x2	/* index: not a descriptor, an answer */

/**
 * struct via_win_tx - the sender's window
 * @una:	oldest frame not acknowledged
 * @nxt:	next new frame; una <= nxt <= una + limit
 * @limit:	most frames in flight, <= VIA_WIN_MAX
 * @cwnd:	frames allowed in the network, <= limit
 * @grown:	acknowledged frames counted towards the next frame of cwnd
 * @ssthresh:	below it cwnd doubles each round
 * @share:	senders that share the way to the peer, this one included
 * @prior:	cwnd before it was reduced last; 0: not to be restored
 * @doubted:	frames taken for lost since, of which none came twice yet
 * @reorder:	arrivals that prove a loss
 * @order:	transmissions so far
 * @seen:	highest order known to have arrived
 * @recover:	losses before this frame belong to one round
 * @lossy:	something is or was lost: look for more at each ack
 * @timed:	what is lost is so since a timeout, not since it was overtaken
 * @news:	the last acknowledgement that went the long way told of an
 *		arrival out of order
 * @cut:	a loss has reduced cwnd; cleared when the others are told
 * @sacked:	frames that arrived out of order
 * @lost:	frames to be sent again
 * @rec:	frame seq is rec[seq % VIA_WIN_MAX]
 */
struct via_win_tx {
	u32 una;
	u32 nxt;
	u32 limit;
	u32 cwnd;
	u32 grown;
	u32 ssthresh;
	u32 share;
	u32 prior;
	u32 doubted;
	u32 reorder;
	u32 order;
	u32 seen;
	u32 recover;
	bool lossy;
	bool timed;
	bool news;
	bool cut;
	u64 sacked;
	u64 lost;
	struct via_win_rec rec[VIA_WIN_MAX];
};

static inline u32 via_win_flight(const struct via_win_tx *w)
{
	return w->nxt - w->una;
}

static inline struct via_win_rec *via_win_rec(struct via_win_tx *w, u32 seq)
{
	return &w->rec[seq % VIA_WIN_MAX];
}

u32 __via_win_room(const struct via_win_tx *w);

/* How many frames the network takes now, new or again. */
static inline u32 via_win_room(const struct via_win_tx *w)
{
	u32 pipe = via_win_flight(w);

	if (unlikely(w->lossy))
		return __via_win_room(w);
	return pipe < w->cwnd ? w->cwnd - pipe : 0;
}

/* How many new frames may be sent now: their numbers must fit as well. */
static inline u32 via_win_room_new(const struct via_win_tx *w)
{
	return min(via_win_room(w), w->limit - via_win_flight(w));
}

/* Enter a new frame; returns its sequence number. */
static inline u32 via_win_push(struct via_win_tx *w, u32 index, u32 offset,
			       u32 len, u8 kind)
{
	struct via_win_rec *r = via_win_rec(w, w->nxt);

	r->index = index;
	r->offset = offset;
	r->order = ++w->order;
	r->len = len;
	r->kind = kind;
	r->doubt = 0;
	return w->nxt++;
}

/* The next lost frame, if any: its number; sent again with via_win_resent. */
static inline bool via_win_lost(const struct via_win_tx *w, u32 *seq)
{
	if (likely(!w->lost))
		return false;
	*seq = w->una + __ffs64(w->lost);
	return true;
}

/*
 * With less than 2 * VIA_WIN_HALF frames a sender asks for an acknowledgement
 * in the middle of its window, too: the room left, of a window that is empty,
 * at the frame that carries the question; 0: none does.  Else it would send a
 * window, and then nothing until all of it had gone through.
 */
static inline u32 via_win_half(const struct via_win_tx *w)
{
	return w->cwnd < 2 * VIA_WIN_HALF ? w->cwnd / 2 + 1 : 0;
}

void via_win_init(struct via_win_tx *w, u32 first_seq, u32 limit);
void via_win_resent(struct via_win_tx *w, u32 seq);
/*
 * The retransmission timer went off.  First the newest frame is sent again,
 * as a probe: its arrival, by either copy, tells what is lost and what is only
 * late, and a peer that was merely slow costs no window.  When that has no
 * answer, all in flight is lost; should each one that was sent again come twice,
 * the peer was slow, and the window is what it was.
 */
void via_win_probe(struct via_win_tx *w);
/* A loss in this round, or one that befell a sender on the same way. */
void via_win_back_off(struct via_win_tx *w);
void via_win_timeout(struct via_win_tx *w);

/* Frame @seq came twice, the receiver says: was it sent again for nothing? */
void via_win_twice(struct via_win_tx *w, u32 seq);

/*
 * An acknowledgement: frames before @ack have arrived, and of those behind
 * it the ones in @sack (bit i: ack + 1 + i).  Returns how many frames left
 * the window at its old end; their records stay readable.  An acknowledgement
 * that is old or impossible changes nothing.
 */
u32 __via_win_ack(struct via_win_tx *w, u32 ack, u64 sack);

void via_win_grow(struct via_win_tx *w, u32 acked);

static inline u32 via_win_ack(struct via_win_tx *w, u32 ack, u64 sack)
{
	u32 n = ack - w->una;

	if (unlikely(sack || w->lossy))
		return __via_win_ack(w, ack, sack);
	if (n > via_win_flight(w))
		return 0;
	w->una = ack;
	if (w->cwnd < w->limit)
		via_win_grow(w, n);
	return n;
}

/**
 * struct via_win_rx - the receiver's window
 * @next:	next sequence number expected
 * @held:	bit i: frame next + 1 + i is held
 */
struct via_win_rx {
	u32 next;
	u64 held;
};

enum via_win_place {
	VIA_WIN_NEXT,		/* in order: take it */
	VIA_WIN_HOLD,		/* beyond a hole, not held yet */
	VIA_WIN_DUP,		/* taken or held already */
	VIA_WIN_BEYOND,		/* no honest sender would */
};

enum via_win_place __via_win_place(const struct via_win_rx *w, u32 seq);

static inline enum via_win_place via_win_place(const struct via_win_rx *w,
					       u32 seq)
{
	return likely(seq == w->next) ? VIA_WIN_NEXT : __via_win_place(w, seq);
}

/* Frame @seq, found to be VIA_WIN_HOLD, is held from now on. */
static inline void via_win_hold(struct via_win_rx *w, u32 seq)
{
	w->held |= (u64)1 << (seq - w->next - 1);
}

/* The frame at next was taken; true when the one behind it is held. */
static inline bool via_win_taken(struct via_win_rx *w)
{
	bool more = w->held & 1;

	w->next++;
	w->held >>= 1;
	return more;
}

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

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The retransmission timeout of a VI: when a frame in flight counts as late,
 * what is to be done then, and which frame is timed.
 *
 * It takes events, with the time as a parameter, and returns what is to be
 * done.  It has no lock, no clock and no timer: retransmit.c has those.
 *
 * Invariants, with una and nxt of the window:
 *
 *   (1) @interval is 0 if and only if nothing waits for @due.
 *   (2) A timeout is counted only if una has not moved since the last sample,
 *       and the alarm was not late, or was late once before in a row.
 *   (3) A frame that was sent twice is not timed (Karn's rule).
 *   (4) @retries is 0 after each progress; @backoff lasts until a frame that
 *       was sent once is timed.
 */
#ifndef _VIA_RTO_H
#define _VIA_RTO_H

#include "../../../core/portable.h"

#define VIA_RTO_BACKOFF	10u		/* doublings of a timeout that stay */
/*
 * Timeouts of equal length after the first, with a probe each, until a round trip
 * is known: where many hosts begin at once, one that doubled from the first on
 * had a quarter of the others' bytes after 200 ms.
 */
#define VIA_RTO_LINEAR	2u
#define VIA_RTO_LATE_NS	100000u		/* an alarm that is late, at least */

/* What the expiry of @due means. */
enum via_rto_act {
	VIA_RTO_NOTHING,	/* no timeout */
	VIA_RTO_PROBE,		/* one of the first: send the last frame again */
	VIA_RTO_AGAIN,		/* a later one: send all of them again */
	VIA_RTO_FORGET,		/* Unreliable: the frames are not in flight any more */
	VIA_RTO_GIVE_UP,	/* the peer does not answer: the connection ends */
};

/**
 * struct via_rto - the sender's half of a VI
 * @retries:	timeouts since the last progress
 * @backoff:	doublings of the timeout that last until a frame is timed
 * @spent:	@retries until the peer answered
 * @again:	nxt at the last timeout: frames before it were sent again
 * @probing:	the last of @retries was a probe; false with @retries 0
 * @spurious:	one of them came twice, while the peer had not answered
 * @news:	a frame has arrived beyond a hole since the last sample
 * @excused:	the alarm was late and waits once more
 * @black_hole:	since @stuck a timeout came after the peer was heard
 * @stuck:	tick of the first of @retries
 * @interval:	new frames from one sample to the next; 0: nothing waits
 * @seen, @acked: nxt and una at the last sample
 * @at:		when that was, ns
 * @due:	when the alarm looks, ns
 * @timing:	frame @timed, sent at @sent_ns, is being timed
 * @timed_tick:	tick when the last one began to be: one per tick is enough
 * @asked:	number of the last frame that was timed and had ACK_NOW for it
 */
struct via_rto {
	u32 retries;
	u32 backoff;
	u32 spent;
	u32 again;
	bool probing;
	bool spurious;
	bool news;
	bool excused;
	bool black_hole;
	bool timing;
	u32 interval;
	u32 seen;
	u32 acked;
	unsigned long stuck;
	u64 at;
	u64 due;
	u32 timed;
	u32 asked;
	u64 sent_ns;
	unsigned long timed_tick;
};

/**
 * struct via_rto_path - what is known of the way to the peer, us
 * @srtt:	smoothed round trip; 0: not known yet
 * @net:	the mean of those without the peer's waits; 0: none
 * @rto:	the peer's retransmission timeout
 * @least, @most: bounds of a timeout
 * @delay:	how long an acknowledgement may wait
 * @reliable:	the level is not Unreliable
 */
struct via_rto_path {
	u32 srtt;
	u32 net;
	u32 rto;
	u32 least;
	u32 most;
	u32 delay;
	bool reliable;
};

/**
 * struct via_rto_now - where the window and the clocks are
 * @una, @nxt:	of the window; nxt is not una
 * @starved:	no frame is in the network: the VI waits for credit
 * @ns, @tick:	the time
 * @tries:	retries after which a peer may be given up, and
 * @dead:	ticks
 */
struct via_rto_now {
	u32 una;
	u32 nxt;
	bool starved;
	u64 ns;
	unsigned long tick;
	u32 tries;
	unsigned long dead;
};

/* A connection begins with frame @seq. */
void via_rto_init(struct via_rto *r, u32 seq, unsigned long tick);
/* It is over: nothing waits, nothing is timed. */
void via_rto_end(struct via_rto *r);

/* From the last progress to a probe, or to the next timeout, ns. */
u64 via_rto_ns(const struct via_rto *r, const struct via_rto_path *path);

/* All of the timeout counts from here: @due is set. */
void via_rto_start(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout);
/* A sample.  True: there was progress since the last one, and @due is a later one. */
bool via_rto_sample(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout);
/* @due has come: what is to be done.  All but VIA_RTO_NOTHING are timeouts. */
enum via_rto_act via_rto_expired(struct via_rto *r,
				 const struct via_rto_now *now,
				 const struct via_rto_path *path);
/* It has been done, @timeout is of now. */
void via_rto_rearm(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout);

/* The peer answers again, after timeouts. */
void via_rto_recovered(struct via_rto *r);
/* Frame @seq of the last @window ones came twice. */
void via_rto_dsack(struct via_rto *r, u32 seq, u32 nxt, u32 window);
/*
 * May the path drop long frames, and say nothing?  @heard: tick when the peer was
 * heard last; @after: how long it takes at least, ticks.
 */
bool via_rto_is_black_hole(struct via_rto *r, unsigned long heard,
			   unsigned long after);

/* Frame @nxt, the next one, is timed, and has ACK_NOW for it. */
void via_rto_ask(struct via_rto *r, u32 nxt, unsigned long tick);
/*
 * The frame that is timed has arrived, and the peer waited @delay us of that, if
 * that is @known.  Returns the round trip, us.
 */
u32 via_rto_timed(struct via_rto *r, u64 now, u32 delay, bool known, u32 most);

/* May a frame be timed?  One in a tick may. */
static inline bool via_rto_may_time(const struct via_rto *r, unsigned long tick)
{
	return !r->timing && tick - r->timed_tick;
}

/* Frame @seq is timed. */
static inline void via_rto_time(struct via_rto *r, u32 seq, unsigned long tick,
				u64 now)
{
	r->timing = true;
	r->timed_tick = tick;
	r->timed = seq;
	r->sent_ns = now;
}

/* Frame @seq was sent again: which of the two is answered cannot be told (3). */
static inline void via_rto_resent(struct via_rto *r, u32 seq)
{
	if (seq == r->timed)
		r->timing = false;
}

/* Was the newest frame the last one until the next sample? */
static inline bool via_rto_samples(const struct via_rto *r, u32 nxt)
{
	return nxt - r->seen >= r->interval;
}

#endif /* _VIA_RTO_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many frames the way to a peer takes: AIMD, with CUBIC's growth from a
 * window of VIA_CONG_CUBIC frames on.  Arithmetic without locks or clocks: the
 * caller serialises the calls for one window and tells the time.
 *
 * There is one window for each peer, whatever the number of flows (VIs) to it.
 * It is reduced once for all losses of one round trip.  A flow knows which of
 * its frames were sent before a reduction that it has heard of; of one that it
 * has not heard of it takes a round-trip time for the round.
 */
#ifndef _VIA_CONGESTION_H
#define _VIA_CONGESTION_H

#include "window.h"

#define VIA_CONG_INIT		16u
#define VIA_CONG_MIN		4u
#define VIA_CONG_MIN_MANY	8u	/* with several flows, two for each */
#define VIA_CONG_CUBIC		64u	/* from here on growth is CUBIC's */
#define VIA_CONG_PARTS		16u	/* of a frame, in what a receiver tells */

/**
 * struct via_cong - the window of a peer
 * @cwnd:	frames allowed in the network, <= most
 * @least:	it is not reduced below; VIA_CONG_MIN to VIA_CONG_MIN_MANY
 * @most:	frames that the two hosts have agreed on
 * @ssthresh:	below it cwnd doubles each round
 * @grown:	acknowledged frames counted towards the next frame of cwnd
 * @prior:	cwnd before it was reduced last; 0: not to be restored
 * @cuts:	reductions so far; wraps
 * @cut_at:	us of the caller's clock, of the last one
 * @undo_flows:	flows with losses in that round, of which some frame has not
 *		come twice yet
 * @used_at:	ms of the caller's clock, wraps: when much of it was used last
 * @epoch:	likewise: when growth after the last reduction began
 * @growing:	it has begun: @epoch and @k hold
 * @wmax:	cwnd at which growth is slowest: where the last loss was
 * @k:		milliseconds from @epoch until then
 */
struct via_cong {
	u32 cwnd;
	u32 least;
	u32 most;
	u32 ssthresh;
	u32 grown;
	u32 prior;
	u32 cuts;
	u64 cut_at;
	u32 undo_flows;
	u32 used_at;
	u32 epoch;
	bool growing;
	u32 wmax;
	u32 k;
};

/**
 * struct via_cong_flow - what a flow knows of the window's reductions
 * @cuts:	the last one that it has heard of
 * @round:	frames before this number belong to it
 * @undo_pending:	it is one of the window's doubters, while @cuts is the last one
 */
struct via_cong_flow {
	u32 cuts;
	u32 round;
	bool undo_pending;
};

/* The moment of a loss: us of the caller's clock, and a round-trip time, us. */
struct via_cong_now {
	u64 us;
	u32 rtt;
};

void via_cong_init(struct via_cong *c, u32 now_ms);
/* At most so many frames, 1 to VIA_WIN_MAX. */
void via_cong_bound(struct via_cong *c, u32 most);
/* A flow begins, with frame @seq. */
void via_cong_begin(const struct via_cong *c, struct via_cong_flow *f, u32 seq);

/* @acked frames were acknowledged, and more are to be sent than it takes. */
void via_cong_grow(struct via_cong *c, u32 acked, u32 now_ms);

/*
 * A frame of the flow was overtaken, or one was marked (@mark: Congestion
 * Experienced).  Its frames from @una to @nxt - 1 are in flight.
 */
void via_cong_loss(struct via_cong *c, struct via_cong_flow *f, u32 una,
		   u32 nxt, struct via_cong_now now);
void via_cong_mark(struct via_cong *c, struct via_cong_flow *f, u32 una,
		   u32 nxt, struct via_cong_now now);
/*
 * Nothing of the flow has arrived for long; other flows have @others frames.
 * @again: it is not the first time in one silence.
 */
void via_cong_timeout(struct via_cong *c, struct via_cong_flow *f, u32 nxt,
		      u32 others, bool again, struct via_cong_now now);
/* What the flow took for lost has come twice, all of it. */
void via_cong_undo(struct via_cong *c, struct via_cong_flow *f);
/* The flow hears of a reduction, if there was one. */
void via_cong_hear(const struct via_cong *c, struct via_cong_flow *f, u32 nxt,
		   struct via_cong_now now);

/* Little of it was used for some seconds: what was known of the way is old. */
void via_cong_rest(struct via_cong *c, u32 now_ms);

#endif /* _VIA_CONGESTION_H */

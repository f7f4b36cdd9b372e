/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may send how many frames of a peer's window: the pool of a peer, and the
 * credit of each flow (VI) to it.  No locks, no clocks: the caller serialises
 * the calls for one pool, and those for one flow.
 *
 * A flow sends within its credit and touches nothing of the pool.  An
 * acknowledgement makes room in the credit of the flow that it is for.  A flow
 * without room takes a portion of what is free.  Where none is free it waits,
 * and the pool tells all flows that credit is wanted (@want); from then on
 * what is acknowledged to a flow goes to the pool, and flows that wait are
 * served in turn, VIA_CREDIT_TURN frames each (deficit round robin).  Of a window
 * that is larger than all turns a flow that waits keeps an equal part.  What a
 * flow held before, and does not use, is collected by a visit to each flow that
 * holds some, once for each time that @want rises.
 *
 * For a second after a flow found that others held all, while hardly a portion is
 * free, a flow gives a first portion back as soon as nothing of it is in the
 * network: where many flows send in turn, none waits for a visit.
 *
 * The sum of what all flows hold is @granted.  It exceeds the window after a
 * reduction only; then no flow is given anything, and what is acknowledged goes
 * back.
 */
#ifndef _VIA_CREDIT_H
#define _VIA_CREDIT_H

#include <linux/list.h>
#include "../../../kernel/via_work.h"
#include "congestion.h"

#define VIA_CREDIT_FIRST	4u	/* frames of a first portion */
#define VIA_CREDIT_MORE		16u	/* of another one */
#define VIA_CREDIT_TURN		8u	/* of a turn */
#define VIA_CREDIT_KEPT		2u	/* kept where flows want more, not some */
#define VIA_CREDIT_SPARE	16u	/* free for those that begin, if it is much */

/* Why a flow gives back what it does not use. */
enum via_credit_want {
	VIA_WANT_NONE,
	VIA_WANT_IDLE,		/* none waits, but little is free */
	VIA_WANT_MORE,		/* flows wait, or too much is granted */
	VIA_WANT_SOME,		/* a flow that waits has no credit at all */
};

/**
 * struct via_credit - of a flow
 * @mine:	frames that it may have in the network
 * @given:	more, that it was served while it waited and has not seen yet
 * @most:	that it can use
 * @turn:	frames left of its turn, while it waits
 * @wait:	on the pool's list of flows that wait
 * @hold:	on the pool's list of those with credit
 * @flow:	what it knows of the window
 */
struct via_credit {
	u32 mine;
	u32 given;
	u32 most;
	u32 turn;
	struct list_head wait;
	struct list_head hold;
	struct via_cong_flow flow;
};

/**
 * struct via_pool - of a peer
 * @cong:	how many frames there are
 * @granted:	frames held by flows
 * @waiters:	flows that wait, the one to be served next first
 * @starving:	how many of them hold nothing
 * @holders, @nholders: flows that hold some, the one to be visited next first
 * @to_visit:	how many of them are to be visited
 * @want:	enum via_credit_want; read by flows at any time
 * @share:	what the peer lets this host have in the network, VIA_CONG_PARTS;
 *		0: no bound; also read without the lock
 * @bound:	the same in frames, of which some are one more than others
 * @part:	of a frame that @bound has left out
 * @told_at:	ms of the caller's clock: when it was told
 * @shut:	nothing is given: the share is less than a frame
 * @starved:	a flow found nothing lately, since others held all
 * @starved_at:	ms of the caller's clock: when one did
 */
struct via_pool {
	struct via_cong cong;
	u32 granted;
	u32 starving;
	u32 nholders;
	u32 to_visit;
	u8 want;
	bool shut;
	bool starved;
	u16 share;
	u32 bound;
	u32 part;
	u32 told_at;
	u32 starved_at;
	struct list_head waiters;
	struct list_head holders;
};

void via_pool_init(struct via_pool *p, u32 now_ms);
void via_credit_init(struct via_credit *c);

/* Frames that all flows may have. */
static inline u32 via_pool_size(const struct via_pool *p)
{
	return min(p->cong.cwnd, p->bound);
}

static inline u32 via_pool_free(const struct via_pool *p)
{
	u32 size = p->shut ? 0 : via_pool_size(p);

	return size > p->granted ? size - p->granted : 0;
}

/* Frames that are granted beyond the window. */
static inline u32 via_pool_over(const struct via_pool *p)
{
	u32 size = via_pool_size(p);

	return p->granted > size ? p->granted - size : 0;
}

static inline bool via_credit_waits(const struct via_credit *c)
{
	return !list_empty(&c->wait);
}

/*
 * The flow wants more, up to @most in all; it has no room.  True: it has got
 * some.  False: it waits, or has its most.  @hurry: it goes before others.
 */
bool via_credit_take(struct via_pool *p, struct via_credit *c, u32 most,
		     bool hurry, u32 now_ms);
/* So much more than the window has: for a frame that has to go. */
void via_credit_force(struct via_pool *p, struct via_credit *c, u32 n);
/* It sees what it was given meanwhile. */
void via_credit_see(struct via_credit *c);
/* It wants nothing more. */
void via_credit_sated(struct via_pool *p, struct via_credit *c);
/* What it does not need for @pipe frames in the network, as far as wanted. */
void via_credit_give(struct via_pool *p, struct via_credit *c, u32 pipe);
/* The same, wanted or not, but for @keep frames. */
void via_credit_trim(struct via_pool *p, struct via_credit *c, u32 pipe,
		     u32 keep);
/* Nothing of it is in the network, or to be sent: its first portion, if wanted. */
void via_credit_idle(struct via_pool *p, struct via_credit *c);
/* It ends, and has nothing in the network any more. */
void via_credit_end(struct via_pool *p, struct via_credit *c);

/* The peer tells the share of this host, of what its port takes. */
void via_pool_told(struct via_pool *p, u32 share, u32 now_ms);
/*
 * A frame was acknowledged: for how long nothing is to be given, in
 * VIA_CONG_PARTS of a round trip, so that less than a frame is in the network on
 * average.  The caller sets @shut, and clears it then.
 */
u32 via_pool_pause(const struct via_pool *p);

/*
 * Gives some of what is free to a flow that waits, and returns it; NULL: there
 * is none, nothing is free, or it is enough for now.  To be called until then
 * after each of the calls above, and after a change of the window; and once more,
 * later, where flows are left to serve.
 */
struct via_credit *via_pool_serve(struct via_pool *p, struct via_work *work);
/* A flow waits, and some is free. */
static inline bool via_pool_is_owed(const struct via_pool *p)
{
	return !list_empty(&p->waiters) && via_pool_free(p);
}

/* The flow to be visited next, with via_credit_give(); NULL: none is left. */
struct via_credit *via_pool_visit(struct via_pool *p);

#endif /* _VIA_CREDIT_H */

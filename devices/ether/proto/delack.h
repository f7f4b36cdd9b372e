/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The delayed acknowledgement of a VI: when an acknowledgement leaves.
 *
 * It takes events, with the time as a parameter, and returns what is to be
 * done.  It has no lock, no clock and no timer: acks.c has those.
 *
 * A PUSH ends a message, and its sender may wait.  In ping-pong mode, which
 * begins when our data has answered VIA_DELACK_PINGPONG PUSHes in a row, its
 * acknowledgement is delayed, since data is expected to carry it.  A delayed
 * acknowledgement that times out ends the mode for @quick PUSHes.
 *
 *   transition				function
 *   a PUSH came			via_delack_push(), via_delack_seldom()
 *   our data leaves, and answers it	via_delack_data(), via_delack_answered()
 *   data of another VI shows it	via_delack_redeem()
 *   so many frames are not answered	via_delack_unasked()
 *   the sender had to wait for us	via_delack_often()
 *   the sender asks			via_delack_asked()
 *   @due has come			via_delack_expired()
 *
 * Invariants, with next of the receiver's window, and acked, which the last
 * acknowledgement had:
 *
 *   (1) @interval is 0 if and only if nothing waits for @due.
 *   (2) What was owed at the last sample is acknowledged at @due, at the latest;
 *       what has come since has the time from when it came.
 *   (3) @pingpong is below 0 for as many PUSHes that data answers as the last
 *       timeout took off the mode.
 *   (4) @least <= @every <= @most.
 */
#ifndef _VIA_DELACK_H
#define _VIA_DELACK_H

#include "sample.h"

#define VIA_DELACK_PINGPONG	3	/* PUSHes answered: ping-pong mode */
#define VIA_DELACK_WON		0x100000u	/* delayed ones, as far as they are counted */
#define VIA_DELACK_QUICK	16u	/* PUSHes acknowledged at once, after a timeout */
#define VIA_DELACK_QUICK_MAX	1024u
#define VIA_DELACK_PATIENCE	8u	/* acknowledgements until fewer are tried */
#define VIA_DELACK_PATIENCE_MAX	512u
#define VIA_DELACK_SELDOM_NS	4000000u	/* a delay of 100 us is a fortieth */
#define VIA_DELACK_NEAR		2u	/* frames between two requests */

/**
 * struct via_delack - the receiver's half of a VI
 * @push:	a PUSH came that our data has not answered yet (a hint: written
 *		under either lock)
 * @pingpong:	PUSHes answered by our data in a row (a hint, likewise); (3)
 * @quick:	PUSHes that are acknowledged at once after the next timeout
 * @pushed_ns:	when the last PUSH came that was not delayed, or the delay of one
 *		timed out
 * @pushed_sent: nxt of the sender's half when the last one came that was not
 * @pushed_cycles: when the last one came that is delayed, CPU cycles
 * @asked_seq:	next when the sender asked last while @push was set
 * @every:	frames taken until an acknowledgement; (4)
 * @least, @most: constant while the connection stands
 * @unasked:	acknowledgements after @every frames since @every changed
 * @patience:	as many of them until @every is doubled
 * @interval:	frames from one sample to the next; (1)
 * @seen:	next at the last sample
 * @at, @at_cycles: when that was, ns and CPU cycles
 * @due:	when the alarm looks, ns
 * @late, @late_by: next when the alarm had it acknowledged last, and how long the
 *		newest frame had waited, in units of the field delay
 */
struct via_delack {
	bool push;
	u8 late_by;
	s32 pingpong;
	u32 quick;
	u32 every;
	u32 least;
	u32 most;
	u32 unasked;
	u32 patience;
	u32 interval;
	u32 seen;
	u32 late;
	u32 pushed_sent;
	u32 asked_seq;
	u64 pushed_ns;
	u64 pushed_cycles;
	u64 at;
	u64 at_cycles;
	u64 due;
};

/**
 * struct via_delack_now - where the window and the clocks are
 * @acked, @next: of the receiver's half
 * @ns, @cycles: the time
 * @delay:	via_delack_ns()
 */
struct via_delack_now {
	u32 acked;
	u32 next;
	u64 ns;
	u64 cycles;
	u64 delay;
};

/* A connection begins: its frames, and ours, have these numbers. */
void via_delack_init(struct via_delack *d, u32 next, u32 nxt, u64 now);

/*
 * How long an acknowledgement waits for data, ns.  @rtt: the mean round trip
 * without the waits of the peer, us; @delay: the least, us.
 */
u64 via_delack_ns(u32 rtt, u32 delay, bool reliable);

/* A frame waits for its acknowledgement: @due is set. */
void via_delack_watch(struct via_delack *d, const struct via_delack_now *now);
/*
 * The acknowledgement could not be sent, and nothing waits for @due.  @full: how
 * long to wait where the alarm has tried it.
 */
void via_delack_again(struct via_delack *d, const struct via_delack_now *now,
		      u64 full);
/*
 * @due may have come.  True: the acknowledgement leaves, and the newest frame has
 * waited for @age ns; U64_MAX: not known.
 */
bool via_delack_expired(struct via_delack *d, const struct via_delack_now *now,
			u64 *age);

/* Data of ours answers a PUSH that was not delayed. */
void via_delack_answered(struct via_delack *d);
/* Data of another VI shows that the program continues: false: no PUSH waits. */
bool via_delack_redeem(struct via_delack *d);
/* After @every frames an acknowledgement leaves that is not asked for. */
void via_delack_unasked(struct via_delack *d);
/* The sender waited for one, or the network loses frames: they are for fewer. */
void via_delack_often(struct via_delack *d);
/* The sender asks: the delay was too long, or this host was late as a whole. */
void via_delack_asked(struct via_delack *d, u32 next, u64 now);
/*
 * A PUSH outside of ping-pong mode.  True: it is delayed all the same, since
 * PUSHes come so seldom that it costs nothing.  @nxt: of the sender's half.
 */
bool via_delack_seldom(struct via_delack *d, u32 nxt, u64 now);

/* A PUSH came.  False: ping-pong mode, its acknowledgement is delayed. */
static inline bool via_delack_push(struct via_delack *d)
{
	/* The last one was not answered by data of ours. */
	if (d->push && d->pingpong > 0)
		d->pingpong = 0;
	WRITE_ONCE(d->push, true);
	return d->pingpong < VIA_DELACK_PINGPONG;
}

/*
 * Data of ours leaves, and @push is set.  False: the PUSH was not delayed, and is
 * acknowledged already: via_delack_answered().
 */
static inline bool via_delack_data(struct via_delack *d)
{
	WRITE_ONCE(d->push, false);
	if (unlikely((u32)(d->pingpong - VIA_DELACK_PINGPONG) >= VIA_DELACK_WON))
		return false;
	WRITE_ONCE(d->pingpong, d->pingpong + 1);
	return true;
}

/* Was the newest frame the last one until the next sample? */
static inline bool via_delack_samples(const struct via_delack *d, u32 next)
{
	return next - d->seen >= d->interval;
}

/* The alarm has frame @next - 1 acknowledged, which has waited for @by. */
static inline void via_delack_late(struct via_delack *d, u32 next, u8 by)
{
	d->late = next;
	d->late_by = by;
}

/* How long it has waited.  One that came after the alarm has looked has not. */
static inline u8 via_delack_waited(const struct via_delack *d, u32 next)
{
	return d->late == next ? d->late_by : 0;
}

#endif /* _VIA_DELACK_H */

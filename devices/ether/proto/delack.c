// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The delayed acknowledgement of a VI: delack.h. */

#include "delack.h"

#define NS_PER_US	1000u
#define NS_PER_S	1000000000u
#define NEVER		(~0ull)
#define LAZY_NS		VIA_SAMPLE_LAZY_NS
/* No request of the sender is near the first one. */
#define FAR		0x10000u

void via_delack_init(struct via_delack *d, u32 next, u32 nxt, u64 now)
{
	d->late = next;
	d->late_by = 0;
	d->every = d->least;
	d->unasked = 0;
	d->patience = VIA_DELACK_PATIENCE;
	d->pingpong = 0;
	d->quick = VIA_DELACK_QUICK;
	d->pushed_ns = now;
	d->pushed_sent = nxt;
	d->asked_seq = next - FAR;
	d->push = false;
}

/*
 * The rule is the larger of 100 us and two round trips; an eighth is for the time
 * that this host takes.  Round trips are without the waits of the peer: those are
 * told in acknowledgements, or each end would lengthen the other's without bound.
 */
u64 via_delack_ns(u32 rtt, u32 delay, bool reliable)
{
	if (unlikely(!reliable))
		return LAZY_NS;
	return max(2 * rtt - rtt / 4, delay) * (u64)NS_PER_US;
}

static void note_rx_sample(struct via_delack *d,
			   const struct via_delack_now *now)
{
	d->interval = d->interval ? via_sample_interval(now->next - d->seen, now->ns - d->at,
				     now->delay) : 1;
	d->seen = now->next;
	d->at = now->ns;
	d->at_cycles = now->cycles;
}

/* Did the oldest frame that is not acknowledged come before the last sample? */
static bool owed_before(const struct via_delack *d, u32 acked)
{
	return (s32)(acked - d->seen) < 0;
}

void via_delack_watch(struct via_delack *d, const struct via_delack_now *now)
{
	u64 due = d->due;

	if (!d->interval || now->acked + 1 == now->next)
		due = now->ns + now->delay;	/* what has just come */
	else if (!owed_before(d, now->acked))
		due = d->at + now->delay;
	note_rx_sample(d, now);
	d->due = due;
}

void via_delack_again(struct via_delack *d, const struct via_delack_now *now,
		      u64 full)
{
	note_rx_sample(d, now);
	/* A transmitter that is full is not asked after each delay. */
	d->due = now->ns + (d->late == now->next ? full : now->delay);
}

/*
 * The delay timed out: leave ping-pong mode, and acknowledge the next @quick PUSHes
 * at once.  @quick is doubled each time, unless the mode had lasted for as many
 * PUSHes: then it begins again, since the program has changed its mind.
 */
static void timed_out(struct via_delack *d, u64 now)
{
	s32 won = d->pingpong - VIA_DELACK_PINGPONG;

	if (d->push && won >= 0) {
		if (won >= (s32)d->quick)
			d->quick = VIA_DELACK_QUICK;
		d->pingpong = -(s32)d->quick;
		d->quick = min(2 * d->quick, VIA_DELACK_QUICK_MAX);
	}
	d->push = false;
	d->pushed_ns = now;
}

/*
 * How long the newest frame has waited, if it is the only one that does, ns.
 * The counter of cycles has no unit: what it made of the time since the last
 * sample tells its pace.  One that stands still tells nothing; where each CPU has
 * one of its own, the frame may wait for two delays.
 */
static u64 frame_waited(const struct via_delack *d,
			const struct via_delack_now *now)
{
	u64 took = now->ns - d->at, all = now->cycles - d->at_cycles;
	u64 own = now->cycles - d->pushed_cycles;

	if (!d->push || now->acked + 1 != now->next || !all)
		return NEVER;
	/* A PUSH that a sample has seen came just before it. */
	if (own >= all)
		return took;
	return took > NS_PER_S ? NEVER : div64_u64(took * own, all);
}

bool via_delack_expired(struct via_delack *d, const struct via_delack_now *now,
			u64 *age)
{
	if (!d->interval)
		return false;
	if (now->next == now->acked) {
		d->interval = 0;
		return false;
	}
	if (now->ns + VIA_SAMPLE_GAP_NS < d->due)
		return false;
	*age = frame_waited(d, now);
	if (!owed_before(d, now->acked)) {
		d->due = now->ns + now->delay - min(*age, now->ns - d->at);
		if (d->due > now->ns + VIA_SAMPLE_GAP_NS) {
			note_rx_sample(d, now);
			return false;
		}
	}
	timed_out(d, now->ns);
	d->interval = 0;
	return true;
}

void via_delack_answered(struct via_delack *d)
{
	if (d->pingpong < VIA_DELACK_PINGPONG)
		WRITE_ONCE(d->pingpong, d->pingpong + 1);
}

bool via_delack_redeem(struct via_delack *d)
{
	if (!d->push)
		return false;
	WRITE_ONCE(d->push, false);
	if (d->pingpong < VIA_DELACK_PINGPONG + (s32)VIA_DELACK_WON)
		WRITE_ONCE(d->pingpong, d->pingpong + 1);
	return true;
}

/*
 * To take an acknowledgement costs the sender as much as to send many frames, so
 * they become rarer while it does not wait for them: that its window is large
 * enough is not known before it was tried.
 */
void via_delack_unasked(struct via_delack *d)
{
	if (++d->unasked < d->patience)
		return;
	d->unasked = 0;
	if (d->every < d->most)
		d->every = min(2 * d->every, d->most);
	else
		d->patience = max(d->patience / 2, VIA_DELACK_PATIENCE);
}

void via_delack_often(struct via_delack *d)
{
	d->every = max(d->every / 2, d->least);
	d->patience = min(2 * d->patience, VIA_DELACK_PATIENCE_MAX);
	d->unasked = 0;
}

/* The next request tells whether the program or this host was late. */
void via_delack_asked(struct via_delack *d, u32 next, u64 now)
{
	if (!d->push)
		return;
	if (next - d->asked_seq <= VIA_DELACK_NEAR)
		timed_out(d, now);
	d->asked_seq = next;
}

/*
 * The delay timed out lately, or there was none yet, but data answered the last
 * PUSH, however late.  An acknowledgement at once would be sent before the program
 * is woken.
 */
bool via_delack_seldom(struct via_delack *d, u32 nxt, u64 now)
{
	u32 sent = d->pushed_sent;
	u64 last = d->pushed_ns;

	d->pushed_ns = now;
	d->pushed_sent = nxt;
	return nxt != sent && now - last > VIA_DELACK_SELDOM_NS;
}

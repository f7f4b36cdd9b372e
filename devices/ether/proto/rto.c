// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The retransmission timeout of a VI: rto.h. */

#include "sample.h"
#include "rto.h"

#define NS_PER_US	1000u
#define BLACK_HOLE_RETRIES	4u		/* timeouts until a path may be black */

void via_rto_init(struct via_rto *r, u32 seq, unsigned long tick)
{
	r->timed_tick = tick - 1;
	r->retries = 0;
	r->backoff = 0;
	r->spent = 0;
	r->probing = false;
	r->again = seq;
	r->spurious = false;
}

void via_rto_end(struct via_rto *r)
{
	r->timing = false;
	r->news = false;
	r->interval = 0;
}

/*
 * A round trip, and what the peer may wait for data.  If it has become slow it
 * knows that before this host does.
 */
u64 via_rto_ns(const struct via_rto *r, const struct via_rto_path *path)
{
	u32 rtt = max(path->srtt, path->net);
	u64 us = path->srtt + path->delay + max(2 * rtt, path->delay);
	u32 doublings = r->retries;

	us = max_t(u64, us, path->rto);
	/* Not known yet: the first one costs one frame, and comes early. */
	if (unlikely(!path->srtt)) {
		us = max_t(u64, us / (r->retries ? 2 : 4), path->least);
		doublings -= min(doublings, VIA_RTO_LINEAR);
	}
	if (unlikely(!path->reliable))
		us += 2 * VIA_SAMPLE_LAZY_NS / NS_PER_US;
	us <<= min(doublings + r->backoff, 20u);
	return min_t(u64, us, path->most) * NS_PER_US;
}

/* From here on: what is as it is at the next sample has not moved. */
static void note_tx_sample(struct via_rto *r, u32 una, u32 nxt, u64 now,
			   u64 timeout)
{
	r->interval = via_sample_interval(nxt - r->seen, now - r->at, timeout);
	r->seen = nxt;
	r->acked = una;
	r->news = false;
	r->at = now;
}

/* Has a frame arrived since the last sample, or was there none in flight? */
static bool has_flight_moved(const struct via_rto *r, u32 una)
{
	return una != r->acked || r->acked == r->seen || r->news;
}

void via_rto_start(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout)
{
	note_tx_sample(r, una, nxt, now, timeout);
	r->interval = 1;
	r->excused = false;
	r->due = now + timeout;
}

bool via_rto_sample(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout)
{
	bool later = has_flight_moved(r, una);

	if (later) {
		r->excused = false;
		r->due = now + timeout;
	}
	note_tx_sample(r, una, nxt, now, timeout);
	return later;
}

/*
 * The retries prove that this host has asked, and not only waited for its own
 * CPU; the time, that the peer had one to answer: on a short way the retries
 * take half of it.
 */
static bool is_peer_unanswering(const struct via_rto *r,
				const struct via_rto_now *now)
{
	return r->retries >= now->tries &&
	       (long)(now->tick - r->stuck) >= (long)now->dead;
}

static enum via_rto_act timed_out(struct via_rto *r,
				  const struct via_rto_now *now,
				  const struct via_rto_path *path)
{
	/* Unknown as it is, the round trip may be longer than all of these. */
	u32 probes = path->srtt ? 1 : 1 + VIA_RTO_LINEAR;

	if (!r->retries) {
		r->stuck = now->tick;
		r->black_hole = false;
	}
	if (path->reliable && is_peer_unanswering(r, now))
		return VIA_RTO_GIVE_UP;
	r->retries++;
	r->again = now->nxt;
	if (unlikely(!path->reliable)) {
		r->retries = min(r->retries, VIA_RTO_BACKOFF);
		return VIA_RTO_FORGET;
	}
	r->probing = r->retries <= probes;
	if (r->probing)
		return VIA_RTO_PROBE;
	r->timing = false;
	return VIA_RTO_AGAIN;
}

/*
 * An alarm that fires late proves that this CPU did not run, and the peer's may
 * not have run either: it waits once more before it judges, but not twice in a
 * row (2).
 */
enum via_rto_act via_rto_expired(struct via_rto *r,
				 const struct via_rto_now *now,
				 const struct via_rto_path *path)
{
	u64 late = max_t(u64, via_rto_ns(r, path) / 4, VIA_RTO_LATE_NS);

	if (has_flight_moved(r, now->una) || now->starved) {
		r->excused = false;
		return VIA_RTO_NOTHING;
	}
	if (!r->excused && now->ns > r->due + late) {
		r->excused = true;
		r->timing = false;
		return VIA_RTO_NOTHING;
	}
	r->excused = false;
	return timed_out(r, now, path);
}

void via_rto_rearm(struct via_rto *r, u32 una, u32 nxt, u64 now, u64 timeout)
{
	note_tx_sample(r, una, nxt, now, timeout);
	r->due = now + timeout;
}

static void slow_peer(struct via_rto *r)
{
	r->backoff = min(r->backoff + r->spent, VIA_RTO_BACKOFF);
	r->spent = 0;
}

/*
 * When one of the frames that were sent again came twice, the peer was slow; the
 * timeout stays doubled until a frame that was sent once is timed (4), since a
 * peer that has become slow would be sent each frame twice, and never be timed.
 */
void via_rto_recovered(struct via_rto *r)
{
	r->spent = r->retries;
	r->retries = 0;
	r->probing = false;
	if (r->spurious)
		slow_peer(r);
	r->spurious = false;
}

void via_rto_dsack(struct via_rto *r, u32 seq, u32 nxt, u32 window)
{
	if (nxt - 1 - seq >= window || (s32)(seq - r->again) >= 0)
		return;
	if (r->retries)
		r->spurious = true;
	else
		slow_peer(r);
}

/*
 * RFC 8899 calls that a black hole.  Its sign: the oldest frame is lost again and
 * again, and some time after the first timeout the peer is heard all the same.
 * What was sent before the peer was heard may be lost with its silence, so the
 * second sign counts.
 */
bool via_rto_is_black_hole(struct via_rto *r, unsigned long heard,
			   unsigned long after)
{
	bool before = r->black_hole;

	if (r->retries < BLACK_HOLE_RETRIES ||
	    (long)(heard - r->stuck) <= (long)after)
		return false;
	r->black_hole = true;
	return before;
}

void via_rto_ask(struct via_rto *r, u32 nxt, unsigned long tick)
{
	r->timed_tick = tick - 1;
	r->asked = nxt;
}

u32 via_rto_timed(struct via_rto *r, u64 now, u32 delay, bool known, u32 most)
{
	u64 us = div64_u64(now - r->sent_ns, NS_PER_US);

	us = min_t(u64, us, most);
	r->timing = false;
	r->backoff = 0;
	if (known)
		us -= min_t(u64, us, delay);
	return us;
}

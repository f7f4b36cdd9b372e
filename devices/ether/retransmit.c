// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames that are not acknowledged in time: proto/rto.[ch] with the VI's lock,
 * the clock and the alarm; and a VI's entry of the alarm.
 */

#include "acks.h"
#include "burst.h"
#include "end.h"
#include "param.h"
#include "retransmit.h"
#include "send.h"
#include "share.h"
#include "stats.h"
#include "timer.h"
#include "vi.h"

#define BLACK_HOLE_MS	500		/* since the first timeout: is the path black? */

/*
 * A path may drop long frames and say nothing.  At Unreliable nothing is known of
 * a frame that was sent: it may have been as long as any.
 */
static void check_path(struct via_ether_vi *ev)
{
	const struct via_ether_ops *ops = ev->nic->ops;
	u32 len = VIA_WIRE_SEND_HDR;

	if (likely(!ops->path_black_hole) ||
	    !via_rto_is_black_hole(&ev->rto, READ_ONCE(ev->peer->last_rx),
			      via_ether_scaled(BLACK_HOLE_MS)))
		return;
	len += ev->conn.reliable ? via_win_rec(&ev->snd.win, ev->snd.win.una)->len :
				   READ_ONCE(ev->conn.seg_send);
	ops->path_black_hole(ev->nic, &ev->peer->link, len);
}

/*
 * What it held when it was at work and does not use: others may.  One that is
 * to send more than it may has nothing to spare.
 */
static void check_credit(struct via_ether_vi *ev)
{
	if (!ev->snd.busy &&
	    ev->snd.win.credit > via_win_pipe(&ev->snd.win) + VIA_CREDIT_FIRST)
		via_ether_share_trim(ev, VIA_CREDIT_FIRST);
}

/*
 * None of its frames is in the network, since it waits for credit to send them
 * again: that is not the peer's silence.
 */
static bool is_tx_starved(const struct via_ether_vi *ev)
{
	return ev->snd.odd & VIA_ODD_WAITS && !via_win_pipe(&ev->snd.win);
}

static enum via_rto_act expire_rto(struct via_ether_vi *ev, u64 now)
{
	struct via_rto_path path = via_ether_rto_path(ev);
	struct via_rto_now at = {
		.una = ev->snd.win.una,
		.nxt = ev->snd.win.nxt,
		.starved = is_tx_starved(ev),
		.ns = now,
		.tick = jiffies,
		.tries = via_ether_retries,
		.dead = via_ether_dead(),
	};

	return via_rto_expired(&ev->rto, &at, &path);
}

static void retransmit_late(struct via_ether_vi *ev, enum via_rto_act act,
			    struct via_work *work)
{
	bool send = true;

	if (act == VIA_RTO_NOTHING)
		return;
	ev->snd.timeouts++;
	via_ether_count(ev->nic, TIMEOUTS);
	switch (act) {
	case VIA_RTO_PROBE:
		via_win_probe(&ev->snd.win);
		via_ether_share_probe(ev);
		break;
	case VIA_RTO_AGAIN:
		via_ether_share_timeout(ev, via_win_timeout(&ev->snd.win));
		check_path(ev);
		break;
	case VIA_RTO_FORGET:
		ev->snd.win.una = ev->snd.win.nxt;
		check_path(ev);
		via_ether_share_timeout(ev, ev->rto.retries > 1);
		send = ev->snd.busy;
		break;
	default:
		via_ether_give_up(ev, VIA_END_UNACKED, VIA_WIRE_R_TRANSPORT);
		send = false;
	}
	if (send)
		via_ether_resume(ev->vi, work);
}

static void check_tx(struct via_ether_vi *ev, u64 now, struct via_work *work)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	if (!ev->rto.interval)
		return;
	via_ether_catch_up(ev);
	if (!via_win_flight(&ev->snd.win)) {
		ev->rto.interval = 0;
		via_ether_share_trim(ev, 0);
		return;
	}
	if (now + VIA_ETHER_GAP_NS < ev->rto.due)
		return;
	check_credit(ev);
	retransmit_late(ev, expire_rto(ev, now), work);
	via_rto_rearm(&ev->rto, ev->snd.win.una, ev->snd.win.nxt, now,
		      via_ether_timeout_ns(ev));
}

/* The alarm: both halves. */
static void visit_vi(struct via_alarm *a, u64 now, struct via_work *work)
{
	struct via_ether_vi *ev = container_of(a, struct via_ether_vi, on.due);
	struct via_vi *vi = ev->vi;

	spin_lock(&vi->sq.lock);
	if (ev->conn.phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi))
		check_tx(ev, now, work);
	spin_lock(&vi->rq.lock);
	if (ev->conn.phase != VIA_PHASE_CONNECTED || via_vi_is_broken(vi)) {
		ev->rto.interval = 0;
		ev->delack.interval = 0;
		goto unlock;
	}
	via_ether_check_rx(ev, now);
	via_ether_visited(ev, ev->rto.interval ? ev->rto.due : U64_MAX,
			  ev->delack.interval ? ev->delack.due : U64_MAX);
unlock:
	spin_unlock(&vi->rq.lock);
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

/*
 * Nothing is in flight and nothing owed: all that is left to do at the visit is
 * not to be visited any more.  A hint, as the locks are not held.
 */
static bool is_vi_at_rest(const struct via_alarm *a)
{
	const struct via_ether_vi *ev = container_of(a, struct via_ether_vi, on.due);

	return READ_ONCE(ev->snd.win.una) == READ_ONCE(ev->snd.win.nxt) &&
	       READ_ONCE(ev->rcv.win.next) == READ_ONCE(ev->snd.acked);
}

void via_ether_visit_init(struct via_ether_vi *ev)
{
	ev->on.want[VIA_ETHER_TX] = U64_MAX;
	ev->on.want[VIA_ETHER_RX] = U64_MAX;
	via_alarm_init(&ev->on.due, false, visit_vi, is_vi_at_rest);
}

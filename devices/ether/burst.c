// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a data frame that has left waits for: its timeout by proto/rto.[ch], with
 * the VI's lock, the clock and the alarm.
 */

#include "burst.h"
#include "param.h"
#include "share.h"
#include "timer.h"
#include "vi.h"

struct via_rto_path via_ether_rto_path(const struct via_ether_vi *ev)
{
	return (struct via_rto_path) {
		.srtt = via_ether_srtt(ev),
		.net = via_ether_rtt_net(ev),
		.rto = via_peer_rto(ev->peer),
		.least = via_ether_rto_min(),
		.most = via_ether_rto_max(),
		.delay = via_ether_ack_delay(),
		.reliable = ev->conn.reliable,
	};
}

u64 via_ether_timeout_ns(const struct via_ether_vi *ev)
{
	struct via_rto_path path = via_ether_rto_path(ev);

	return via_rto_ns(&ev->rto, &path);
}

static void via_ether_watch_tx(struct via_ether_vi *ev)
{
	u64 now = ktime_get_ns();

	lockdep_assert_held(&ev->vi->sq.lock);
	via_rto_start(&ev->rto, ev->snd.win.una, ev->snd.win.nxt, now,
		      via_ether_timeout_ns(ev));
	via_ether_visit_at(ev, VIA_ETHER_TX, ev->rto.due, now);
}

void via_ether_sample_tx(struct via_ether_vi *ev)
{
	u64 now;

	if (!ev->rto.interval) {
		via_ether_watch_tx(ev);
		return;
	}
	lockdep_assert_held(&ev->vi->sq.lock);
	now = ktime_get_ns();
	/* All acknowledgements may have had data to ride on. */
	if (ev->conn.reliable &&
	    time_after(jiffies, READ_ONCE(ev->peer->timing.known_at) + HZ))
		ev->snd.odd |= VIA_ODD_ASK;
	if (via_rto_sample(&ev->rto, ev->snd.win.una, ev->snd.win.nxt, now,
			   via_ether_timeout_ns(ev)))
		via_ether_visit_at(ev, VIA_ETHER_TX, ev->rto.due, now);
}

void via_ether_recovered(struct via_ether_vi *ev)
{
	via_rto_recovered(&ev->rto);
	via_ether_watch_tx(ev);
}

void via_ether_catch_up(struct via_ether_vi *ev)
{
	struct via_win_tx *tx = &ev->snd.win;
	u32 ack = READ_ONCE(ev->rcv.heard_ack), n = ack - tx->una;

	lockdep_assert_held(&ev->vi->sq.lock);
	if (ev->conn.reliable || !n || n > tx->nxt - tx->una)
		return;
	tx->una = ack;
	/* When it came is not known. */
	if (ev->rto.timing && via_seq_before(ev->rto.timed, ack))
		ev->rto.timing = false;
	if (ev->rto.retries)
		via_ether_recovered(ev);
	if (READ_ONCE(ev->peer->pool.want))
		via_ether_share_acked(ev, n, false);
}

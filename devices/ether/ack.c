// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An acknowledgement came, with data, in an ACK or in an entry of ACKS: the
 * descriptors that it finishes complete, in order; losses, marks and the peer's
 * room go to the window.
 *
 * A descriptor that is acknowledged while a read before it wants data waits
 * in acked_late: completion is in order whatever overtakes inside.
 */

#include "ack.h"
#include "burst.h"
#include "conn.h"
#include "keepalive.h"
#include "param.h"
#include "send.h"
#include "share.h"
#include "stats.h"
#include "vi.h"

/*
 * The frame that is timed has arrived.  How long the peer waited before it said
 * so is no part of the round trip.
 */
static void sample_rtt(struct via_ether_vi *ev, u32 delay)
{
	bool known = delay < VIA_WIRE_DELAY_MAX;
	u32 us = via_rto_timed(&ev->rto, ktime_get_ns(),
			       delay * VIA_WIRE_DELAY_US, known,
			       via_ether_rto_max());

	via_peer_timed(ev->peer, us, known, ev->rto.timed == ev->rto.asked);
}

/* Frame @seq came twice.  sq.lock held. */
static void via_ether_dsack(struct via_ether_vi *ev, u32 seq)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	via_win_dsack(&ev->snd.win, seq);
	if (ev->snd.win.undo)
		via_ether_share_undo(ev);
	via_rto_dsack(&ev->rto, seq, ev->snd.win.nxt, ev->snd.win.mask + 1);
}

/*
 * Frames have arrived beyond a hole.  The peer is there and something gets
 * through, so the timer has nothing to do: what is missing is found by what
 * comes after it.  And the one that is timed was under way as long as until
 * now, not until the hole is filled: else one loss would raise the timeout.
 */
static noinline void ack_beyond_hole(struct via_ether_vi *ev)
{
	if (!ev->snd.win.news)
		return;
	ev->rto.news = true;
	if (ev->rto.retries)
		via_ether_recovered(ev);
	if (ev->rto.timing && via_win_arrived(&ev->snd.win, ev->rto.timed))
		sample_rtt(ev, VIA_WIRE_DELAY_MAX);
}

static inline void complete_oldest(struct via_vi *vi)
{
	struct via_desc *d = via_send_entry(vi, vi->sq.head);

	via_send_complete(vi, 0, d->length);
}

static inline u64 late_bit(u32 index)
{
	BUILD_BUG_ON(VIA_INFLIGHT > 64);
	return (u64)1 << (index % 64);
}

/* Complete the descriptors that are finished, in order. */
static void complete_late(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	struct via_queue *q = &vi->sq;

	while (q->head != q->next && ev->reads.acked_late & late_bit(q->head)) {
		ev->reads.acked_late &= ~late_bit(q->head);
		via_send_complete(vi, 0, via_send_entry(vi, q->head)->length);
	}
}

void via_ether_read_done(struct via_ether_vi *ev, u32 index)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	ev->reads.head++;
	WRITE_ONCE(ev->reads.pending, ev->reads.pending - 1);
	ev->reads.acked_late |= late_bit(index);
	complete_late(ev);
}

/* The n frames before ack have left the window.  sq.lock held. */
static void reads_ack(struct via_ether_vi *ev, u32 ack, u32 n)
{
	struct via_win_record *rec;
	u32 seq;

	lockdep_assert_held(&ev->vi->sq.lock);
	for (seq = ack - n; seq != ack; seq++) {
		rec = via_win_rec(&ev->snd.win, seq);
		if (!(rec->kind & VIA_REC_LAST))
			continue;
		if (rec->kind & VIA_REC_ANSWER) {
			WRITE_ONCE(ev->answers.head, ev->answers.head + 1);
			WRITE_ONCE(ev->reads.pending, ev->reads.pending - 1);
		} else {
			ev->reads.acked_late |= late_bit(rec->index);
		}
	}
	complete_late(ev);
}

void via_ether_offender(struct via_vi *vi, u32 index, enum via_status status)
{
	lockdep_assert_held(&vi->sq.lock);
	if (index - vi->sq.head >= vi->sq.next - vi->sq.head)
		return;
	while (vi->sq.head != index)
		via_send_complete(vi, VIA_ST_DESC_FLUSHED_ERROR, 0);
	via_send_complete(vi, status, 0);
}

/*
 * The n frames before ack have left the window, and no read is out: the newest
 * descriptor that ends among them is finished, and with it all before.
 */
static __always_inline void complete_acked(struct via_vi *vi, u32 ack, u32 n)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_win_record *rec;

	if (likely(n == 1)) {
		if (via_win_rec(&ev->snd.win, ack - 1)->kind)
			complete_oldest(vi);
		return;
	}
	do {
		rec = via_win_rec(&ev->snd.win, --ack);
		if (!rec->kind)
			continue;
		do
			complete_oldest(vi);
		while (via_seq_before(vi->sq.head, rec->index + 1));
		return;
	} while (--n);
}

/* Inlined twice, so that data of the other end costs one call. */
static __always_inline void ack_frames(struct via_vi *vi, u32 ack,
				       const struct via_range *range,
				       u32 ranges, u32 delay)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_win_tx *tx = &ev->snd.win;
	u32 n = via_win_ack(tx, ack, range, ranges);
	struct via_work work;

	lockdep_assert_held(&vi->sq.lock);
	if (n) {
		if (unlikely(ev->reads.pending))
			reads_ack(ev, ack, n);
		else
			complete_acked(vi, ack, n);
		if (unlikely(ev->rto.retries))
			via_ether_recovered(ev);
		/* @delay is the newest frame's. */
		if (ev->rto.timing && via_seq_before(ev->rto.timed, ack))
			sample_rtt(ev, ev->rto.timed + 1 == ack ? delay :
						     VIA_WIRE_DELAY_MAX);
	}
	if (unlikely(ranges))
		ack_beyond_hole(ev);
	if (unlikely(READ_ONCE(ev->peer->pool.want)))
		via_ether_share_acked(ev, n, true);
	if (ev->snd.busy || unlikely(tx->lost)) {
		work = VIA_WORK(VIA_ETHER_BUDGET);
		via_ether_resume(vi, &work);
	}
}

void via_ether_ack(struct via_vi *vi, u32 ack, const struct via_range *range,
		   u32 ranges, u32 delay)
{
	ack_frames(vi, ack, range, ranges, delay);
}

void via_ether_rx_ack(struct via_vi *vi, const struct via_frame_hdr *h,
		      const struct via_range *range, u32 ranges, u32 delay)
{
	struct via_ether_vi *ev = vi->priv;

	spin_lock(&vi->sq.lock);
	/* The connection may be another one by now. */
	if (likely(ev->conn.cookie == h->cookie &&
		   ev->conn.phase == VIA_PHASE_CONNECTED &&
		   !via_vi_is_broken(vi)))
		ack_frames(vi, h->ack, range, ranges, delay);
	spin_unlock(&vi->sq.lock);
}

void via_ether_rx_dsack(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;

	spin_lock(&vi->sq.lock);
	if (ev->conn.cookie == h->cookie && ev->conn.reliable &&
	    ev->conn.phase == VIA_PHASE_CONNECTED)
		via_ether_dsack(ev, h->dsack);
	spin_unlock(&vi->sq.lock);
}

void via_ether_rx_mark(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;

	via_ether_count(ev->nic, MARKS_IN);
	spin_lock(&vi->sq.lock);
	if (ev->conn.cookie == h->cookie &&
	    ev->conn.phase == VIA_PHASE_CONNECTED)
		via_ether_share_marked(ev);
	spin_unlock(&vi->sq.lock);
}

void via_ether_rx_share(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;

	spin_lock(&vi->sq.lock);
	if (ev->conn.cookie == h->cookie &&
	    ev->conn.phase == VIA_PHASE_CONNECTED)
		via_ether_share_told(ev, h->share);
	spin_unlock(&vi->sq.lock);
}

/* The connection of an entry, if it is there and of that host. */
static struct via_vi *find_acked_vi(struct via_ether_nic *nic,
				    const struct via_ether_frame *f,
				    const struct via_acks_entry *e)
{
	struct via_vi *vi = via_ether_find(nic, e->dst);
	struct via_ether_vi *ev;
	bool ours;

	if (!vi) {
		via_ether_count(nic, NO_VI);
		return NULL;
	}
	ev = vi->priv;
	spin_lock(&vi->rq.lock);
	ours = ev->conn.cookie == e->cookie &&
	       via_host_is(&ev->conn.remote, f->src);
	if (ours)
		via_ether_heard(ev);
	spin_unlock(&vi->rq.lock);
	if (!ours)
		via_ether_count(nic, COOKIE);
	return ours ? vi : NULL;
}

/*
 * An entry is as good as an ACK.  One for an end that is not there is not
 * answered: there would be ten answers to one frame.
 */
static void take_acks_entry(struct via_ether_nic *nic,
			    const struct via_ether_frame *f,
			    const struct via_acks_entry *e)
{
	struct via_range range[VIA_WIRE_RANGES_MAX] __uninitialized;
	struct via_vi *vi = find_acked_vi(nic, f, e);
	struct via_ether_vi *ev;

	if (!vi)
		return;
	ev = vi->priv;
	if (READ_ONCE(ev->conn.phase) == VIA_PHASE_ACCEPT &&
	    !via_ether_confirmed(ev))
		return;
	via_wire_get_ranges(e->range, e->nranges, range);
	spin_lock(&vi->sq.lock);
	if (ev->conn.cookie == e->cookie &&
	    ev->conn.phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi))
		via_ether_ack(vi, e->ack, range, e->nranges, e->delay);
	spin_unlock(&vi->sq.lock);
	via_vi_settle(vi);
}

void via_ether_acks_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_acks_at at = {};
	struct via_acks_entry e;

	/* Of an epoch of this host that is over. */
	if (h->cookie && h->cookie != nic->epoch) {
		via_ether_count(nic, COOKIE);
		return;
	}
	via_ether_count(nic, BATCHES_IN);
	while (via_wire_next_acks(f->hdr, &at, &e)) {
		via_ether_count(nic, ACKS_IN);
		take_acks_entry(nic, f, &e);
	}
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames without data, as they come: each to what handles it. */

#include "../../kernel/via_conn.h"
#include "ack.h"
#include "acks.h"
#include "admit.h"
#include "allow.h"
#include "conn.h"
#include "control.h"
#include "end.h"
#include "handshake.h"
#include "keepalive.h"
#include "name.h"
#include "request.h"
#include "seal.h"
#include "send_read.h"
#include "stats.h"
#include "timewait.h"
#include "trace.h"
#include "vi.h"

#define CHALLENGE_EVERY_MS	8

/*
 * A DISCONNECT whose numbers are not of this moment may be forged: an
 * acknowledgement tells the peer the right ones, and if it is gone, it says so
 * in answer to that.
 */
static void challenge_end(struct via_vi *vi, u64 cookie)
{
	struct via_ether_vi *ev = vi->priv;

	via_ether_count(ev->nic, BAD_END);
	spin_lock(&vi->rq.lock);
	if (ev->conn.cookie == cookie &&
	    ev->conn.phase == VIA_PHASE_CONNECTED &&
	    time_after_eq(jiffies, ev->rcv.next_challenge)) {
		ev->rcv.next_challenge = jiffies +
					 msecs_to_jiffies(CHALLENGE_EVERY_MS);
		if (via_ether_send_ack(ev, VIA_WIRE_DELAY_MAX))
			via_ether_count(ev->nic, CHALLENGES_OUT);
	}
	spin_unlock(&vi->rq.lock);
}

/* Is DISCONNECT of this moment?  Both queue locks held. */
static bool end_fits(const struct via_ether_vi *ev,
		     const struct via_frame_hdr *h)
{
	u32 ahead = ev->conn.reliable ? VIA_WIN_MAX : VIA_ETHER_LOST_MAX;

	return via_ether_sent(ev, h->ack) && h->seq - ev->rcv.win.next <= ahead;
}

/* Is the oldest frame in flight one of an answer whose memory had gone? */
static bool answer_had_gone(struct via_ether_vi *ev)
{
	const struct via_win_record *rec;

	if (!via_win_flight(&ev->snd.win))
		return false;
	rec = via_win_rec(&ev->snd.win, ev->snd.win.una);
	return rec->kind & VIA_REC_ANSWER &&
	       via_ether_answer_of(ev, rec->index)->gone;
}

/* The peer ends the connection for what this end has refused. */
static void refused_again(struct via_ether_vi *ev)
{
	via_ether_read_error(ev);
	via_conn_fault(ev->vi, VIA_KERNEL_FAULT_LOCAL_ACCESS);
}

/*
 * The peer says that it has left; what it got before is complete.  False: it
 * may be another that says so.
 */
static bool rx_disconnect(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_ether_vi *ev = vi->priv;
	bool fits = true;
	u32 st = 0, una;

	via_ether_lock(vi);
	if (ev->conn.cookie == h->cookie &&
	    ev->conn.phase == VIA_PHASE_CONNECTED && !via_vi_is_broken(vi)) {
		fits = end_fits(ev, h);
		if (!fits)
			goto out;
		if (ev->conn.reliable)
			via_ether_ack(vi, h->ack, NULL, 0, VIA_WIRE_DELAY_MAX);
		if (h->reason == VIA_WIRE_R_NO_RECEIVE ||
		    h->reason == VIA_WIRE_R_RECEIVE)
			st = VIA_ST_REMOTE_DESC_ERROR;
		else if (h->reason == VIA_WIRE_R_RDMA)
			st = VIA_ST_RDMA_PROT_ERROR;
		/*
		 * The offender is the oldest one that was not taken, or the
		 * oldest read that wants data.
		 */
		una = ev->snd.win.una;
		if (h->reason == VIA_WIRE_R_READ && answer_had_gone(ev))
			refused_again(ev);
		else if (st && ev->conn.reliable &&
			 via_win_flight(&ev->snd.win) &&
			 !(via_win_rec(&ev->snd.win, una)->kind & VIA_REC_ANSWER))
			via_ether_offender(vi, via_win_rec(&ev->snd.win, una)->index,
					   st);
		else if (h->reason == VIA_WIRE_R_READ &&
			 ev->reads.head != ev->reads.tail)
			via_ether_offender(vi, ev->reads.read[ev->reads.head %
							      VIA_ETHER_READS].index,
					   VIA_ST_RDMA_PROT_ERROR);
		via_ether_end_told(ev, h->reason);
	}
out:
	via_ether_unlock(vi);
	return fits;
}

/* What an ACK says. */
static void rx_ack_frame(struct via_vi *vi, const struct via_frame_hdr *h)
{
	struct via_range range[VIA_WIRE_RANGES_MAX] __uninitialized;
	struct via_ether_vi *ev = vi->priv;
	struct via_peer *peer = READ_ONCE(ev->peer);

	via_ether_count(ev->nic, ACKS_IN);
	if (unlikely(h->share || (peer && READ_ONCE(peer->pool.share))))
		via_ether_rx_share(vi, h);
	if (unlikely(h->flags & (VIA_WIRE_ACK_NOW | VIA_WIRE_PROBE)))
		via_ether_rx_ack_request(vi, h->cookie);
	if (unlikely(h->marks))
		via_ether_rx_mark(vi, h);
	if (unlikely(h->flags & VIA_WIRE_DSACK))
		via_ether_rx_dsack(vi, h);
	via_wire_get_ranges(h->range, h->nranges, range);
	via_ether_rx_ack(vi, h, range, h->nranges, h->delay);
}

/* A DISCONNECT of a connection that has gone here, too: a copy, most often. */
static void left_before(struct via_ether_nic *nic,
			const struct via_frame_hdr *h,
			const struct via_ether_frame *f)
{
	if (h->dst && !via_ether_lacks_auth(nic, f, h) &&
	    via_ether_allowed(nic, f->src))
		via_ether_send_disconnect_ack(nic, f->src, h, f->len,
					      false);
}

void via_ether_rx_on_conn(struct via_ether_nic *nic,
			  const struct via_frame_hdr *h,
			  const struct via_ether_frame *f)
{
	struct via_vi *vi = via_ether_find(nic, h->dst);
	struct via_ether_vi *ev;
	enum via_ether_phase phase = VIA_PHASE_NONE;
	bool known, fits;

	if (vi) {
		ev = vi->priv;
		spin_lock(&vi->rq.lock);
		known = via_ether_ours(ev, h, f->src);
		phase = ev->conn.phase;
		fits = via_ether_seal_fits(ev, h);
		if (known && fits)
			via_ether_heard(ev);
		spin_unlock(&vi->rq.lock);
	} else {
		known = false;
	}
	if (!known) {
		if (h->type == VIA_WIRE_DISCONNECT)
			left_before(nic, h, f);
		else
			via_ether_reset_unknown(nic, h, f, !vi);
		return;
	}
	if (unlikely(!fits)) {
		via_ether_seal_wrong(ev);
		return;
	}
	if (phase == VIA_PHASE_ACCEPT && !via_ether_confirmed(ev))
		return;
	if (h->type == VIA_WIRE_ACK)
		rx_ack_frame(vi, h);
	else if (!rx_disconnect(vi, h))
		challenge_end(vi, h->cookie);
	else if (phase >= VIA_PHASE_ACCEPT)
		via_ether_send_disconnect_ack(nic, f->src, h, f->len,
					      true);
	/* Before, an ACCEPT may yet come: the next copy is for it. */
	via_vi_settle(vi);
}

void via_ether_control_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h)
{
	/* No host has such an address, and an answer would be a broadcast. */
	if (unlikely(!nic->ops->host_valid(nic, f->src))) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (unlikely(!via_ether_allowed(nic, f->src))) {
		via_ether_not_allowed(nic, f->src);
		return;
	}
	switch (h->type) {
	case VIA_WIRE_REQUEST:
		return via_ether_request_rx(nic, f, h);
	case VIA_WIRE_PEER_REQUEST:
		return via_ether_p2p_request(nic, f, h);
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_ACCEPT:
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
	case VIA_WIRE_CHALLENGE:
	case VIA_WIRE_VERSIONS:
		return via_ether_attempt_rx(nic, f, h);
	case VIA_WIRE_CANCEL:
		return via_ether_rx_cancel(nic, f, h);
	case VIA_WIRE_DISCONNECT_ACK:
		return via_timewait_acked(nic, f->src, h);
	case VIA_WIRE_RESET:
		via_ether_count(nic, RESETS_IN);
		return via_ether_no_such_end(nic, f->src, h->src, h->cookie,
					     &h->seq);
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		return via_ether_name_rx(nic, f, h);
	case VIA_WIRE_ACKS:
		return via_ether_acks_rx(nic, f, h);
	case VIA_WIRE_HEARTBEAT:
	case VIA_WIRE_HEARTBEAT_ACK:
	case VIA_WIRE_LIST:
		return via_keepalive_rx(nic, f, h);
	default:
		/* What this version of the class does not do. */
		via_ether_count(nic, BAD_TYPE);
	}
}

/* One is a query for a name; all others are dropped. */
void via_ether_rx_broadcast(struct via_ether_nic *nic,
			    const struct via_ether_frame *f)
{
	struct via_frame_hdr h;

	via_ether_count(nic, RX_FRAMES);
	via_ether_count_add(nic, RX_BYTES, f->len);
	via_trace_received(nic, f);
	if (via_wire_parse(f->hdr, f->len, &h) ||
	    h.type != VIA_WIRE_NAME_QUERY)
		via_ether_count(nic, BAD_TYPE);
	else if (!via_ether_open(nic, f, &h))
		return;
	else if (via_ether_allowed(nic, f->src))
		via_ether_name_rx(nic, f, &h);
	else
		via_ether_not_allowed(nic, f->src);
}
EXPORT_SYMBOL_GPL(via_ether_rx_broadcast);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames that are about connections, not on one, as they come: each to what
 * handles it.
 */

#include "admit.h"
#include "conn.h"
#include "handshake.h"

/* The server's client is gone: its attempt ends.  BH off, no lock held. */
static void accept_lost(struct via_ether_vi *ev, u64 cookie)
{
	via_ether_lock(ev->vi);
	if (ev->conn.phase == VIA_PHASE_ACCEPT && !ev->vi->p2p &&
	    ev->conn.remote_cookie == cookie)
		via_ether_conn_end(ev, VIA_R_TIMEOUT);
	via_ether_unlock(ev->vi);
	via_ether_p2p_lost(ev, cookie);
}

/*
 * Is RESET about a frame that was sent, and may be under way: data, ACCEPT or
 * an ACK?  sq.lock held.
 */
static bool reset_fits(const struct via_ether_vi *ev, u32 seq)
{
	return via_ether_sent(ev, seq) || seq == READ_ONCE(ev->snd.acked);
}

/*
 * The peer has no such end of a connection as @id and @cookie say.  What
 * stands ends by RESET only, which tells in @seq what it answers.  BH off, RCU
 * read side, no queue lock held.
 */
void via_ether_no_such_end(struct via_ether_nic *nic, const u8 *host, u32 id,
			   u64 cookie, const u32 *seq)
{
	struct via_peer *peer = via_peer_find(nic, host);
	enum via_ether_phase phase;
	struct via_ether_vi *ev;
	bool doubtful, stood;

	if (!peer)
		return;
	spin_lock(&nic->lock);
	ev = via_peer_end(peer, id, cookie);
	spin_unlock(&nic->lock);
	if (!ev)
		return;
	/*
	 * It had a phase, so its memory is there for this read side, and the
	 * peer's is: an address that is the same is the same peer.
	 */
	spin_lock(&ev->vi->sq.lock);
	phase = ev->conn.phase;
	if (phase < VIA_PHASE_ACCEPT || ev->conn.remote_id != id ||
	    ev->conn.remote_cookie != cookie || ev->peer != peer)
		phase = VIA_PHASE_NONE;
	doubtful = phase && seq && !reset_fits(ev, *seq);
	stood = phase == VIA_PHASE_CONNECTED && seq && !doubtful;
	if (stood)
		via_ether_end(ev, VIA_END_RESET, 0);
	spin_unlock(&ev->vi->sq.lock);
	if (doubtful)
		via_ether_count(nic, BAD_END);
	else if (stood)
		via_keepalive_check(peer);
	else if (phase == VIA_PHASE_ACCEPT)
		accept_lost(ev, cookie);
	via_vi_settle(ev->vi);
}

void via_ether_rx_cancel(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
			 const struct via_frame_hdr *h)
{
	struct via_ether_req req;

	if (!via_ether_take_req(nic, f->src, h->vi, h->cookie, &req))
		return via_ether_no_such_end(nic, f->src, h->vi, h->cookie,
					     NULL);
	if (req.conn)
		via_conn_cancel(req.conn);
	via_ether_drop_req(&req);
}

/* Frames that are about connections, not on one.  BH off, RCU read side. */
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

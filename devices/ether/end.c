// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Ends of connections that other hosts do not have. */

#include "ether.h"

/* The server's client is gone: its attempt ends.  BH off, no lock held. */
static void accept_lost(struct via_ether_vi *ev, u64 cookie)
{
	via_ether_lock(ev->vi);
	if (ev->phase == VIA_PHASE_ACCEPT && !ev->vi->p2p &&
	    ev->remote_cookie == cookie)
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
	return via_ether_sent(ev, seq) || seq == READ_ONCE(ev->acked);
}

void via_ether_no_such_end(struct via_ether_nic *nic, const u8 *mac, u32 id,
			   u64 cookie, const u32 *seq)
{
	struct via_peer *peer = via_peer_find(nic, mac);
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
	phase = ev->phase;
	if (phase < VIA_PHASE_ACCEPT || ev->remote_id != id ||
	    ev->remote_cookie != cookie || ev->peer != peer)
		phase = VIA_PHASE_NONE;
	doubtful = phase && seq && !reset_fits(ev, *seq);
	stood = phase == VIA_PHASE_CONNECTED && seq && !doubtful;
	if (stood)
		via_vi_break_later(ev->vi, 0);
	spin_unlock(&ev->vi->sq.lock);
	if (doubtful)
		via_ether_count(nic, BAD_END);
	else if (stood)
		via_ether_doubt(peer);
	else if (phase == VIA_PHASE_ACCEPT)
		accept_lost(ev, cookie);
	via_vi_settle(ev->vi);
}

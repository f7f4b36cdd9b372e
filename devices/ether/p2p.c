// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peer-to-peer connections over the wire.
 *
 *   lower address: asks                        higher address: chooses
 *     |<------------ PEER_REQUEST --------------| "I am here"
 *     |------------- PEER_REQUEST ------------->| first come, first chosen
 *     |<------------ PEER_ACCEPT ---------------| repeated until
 *     |------------- CONFIRM ------------------>| this, or data, arrives
 *
 * Both send requests, since either may come too early or get lost; but which
 * of the two answers is settled by the addresses, which both know.  Were both
 * to answer, several VIs with the same addresses could choose each other in
 * a circle (A1 takes B2, B2 takes A2, A2 takes B1, B1 takes A1) in which
 * no VI is chosen by the one it has chosen, and one of them would have to break
 * what already stood.  With one side that chooses, each VI of either side is
 * in one pair at most, and the rest of the handshake is that of client and
 * server, with its repairs.
 *
 * The side that chooses is bound to the one it has chosen, by cookie, until
 * that one says, by CANCEL or RESET, that it is not there: then it looks
 * again.  So an old duplicate of a request costs a round trip and nothing
 * else.  Whether the attributes agree is decided by the side that asks, which
 * is certain by then that both attempts are alive.
 */

#include "admit.h"
#include "conn.h"
#include "handshake.h"

/* Our side of an attempt: does it ask?  Two hosts never have the same address. */
static bool asks(const struct via_ether_nic *nic, const u8 *other)
{
	return memcmp(nic->host.addr, other, nic->host.len) < 0;
}

/*
 * We choose: the first free VI that looks for the sender, or the one that it
 * has already.  Both queue locks held; true: answer.
 */
static bool choose(struct via_ether_vi *ev, const struct via_conn_hdr *c)
{
	if (ev->conn.phase == VIA_PHASE_ACCEPT)
		return ev->conn.remote_id == c->vi &&
		       ev->conn.remote_cookie == c->sender_cookie;
	if (ev->conn.phase != VIA_PHASE_P2P)
		return false;
	via_ether_set_remote(ev, c, ev->conn.want_seal ||
			     c->options & VIA_WIRE_O_SUM);
	ev->attempt.attrs = (struct via_vi_attrs) {
		.reliability = c->reliability,
		.max_transfer = c->max_transfer,
		.rights = c->rights,
	};
	ev->conn.phase = VIA_PHASE_ACCEPT;
	ev->attempt.tries = 0;
	return true;
}

/*
 * A PEER_REQUEST: a VI elsewhere looks for one here.  Where there is none,
 * nothing is remembered and nothing answered: it asks again, and the program
 * here may call later.
 */
void via_ether_p2p_request(struct via_ether_nic *nic,
			   const struct via_ether_frame *f,
			   const struct via_frame_hdr *h)
{
	struct via_net_addr local = {}, remote = {};
	struct via_ether_vi *ev;
	struct via_conn_hdr c;
	struct via_vi *vi;
	bool ok = false;
	u64 claim = 0;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	via_ether_count(nic, REQUESTS_IN);
	if (c.client_host_len != nic->host.len ||
	    memcmp(c.client_host, f->src, nic->host.len) ||
	    via_host_is(&nic->host, f->src) ||
	    !via_ether_validated(nic, f, h, &c))
		return;
	via_ether_conn_addr(&local, c.server_host, c.server_host_len,
			    c.server_disc, c.server_disc_len);
	via_ether_conn_addr(&remote, c.client_host, c.client_host_len,
			    c.client_disc, c.client_disc_len);
	/* What the agent knows the other side's attempt by; not 0. */
	if (!asks(nic, f->src))
		claim = c.sender_cookie;
	vi = via_p2p_find(nic->ka, &local, &remote, claim);
	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	/* It may be at another attempt by now; or this be a late one. */
	if (via_p2p_looks(vi, &local, &remote) && ev->peer &&
	    via_peer_saw_epoch(ev->peer, c.hello.epoch))
		ok = claim ? choose(ev, &c) : ev->conn.phase == VIA_PHASE_P2P;
	if (ok)
		ev->attempt.next = jiffies;
	via_ether_unlock(vi);
	if (ok)
		via_ether_conn_tick(ev);
	else if (claim)
		via_p2p_release(vi, claim);
}

static const struct {
	u32 verdict;
	u8 reason;
} reasons[] = {
	{ VIA_R_INVALID_RELIABILITY_LEVEL, VIA_WIRE_R_LEVEL },
	{ VIA_R_INVALID_MTU, VIA_WIRE_R_MTU },
	{ VIA_R_INVALID_QOS, VIA_WIRE_R_QOS },
};

enum via_verdict via_ether_p2p_verdict(u32 reason)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].reason == reason)
			return reasons[i].verdict;
	return VIA_R_NO_MATCH;
}

/*
 * We asked and were chosen: do the two agree?  If not it ends here for us,
 * and the other side is told now and whenever it repeats its PEER_ACCEPT.
 * Both queue locks held.
 */
bool via_ether_p2p_fits(struct via_ether_vi *ev,
			const struct via_vi_attrs *theirs,
			const struct via_ether_client *c)
{
	u32 verdict = via_attrs_compare(&ev->vi->attrs, theirs);
	u8 reason = VIA_WIRE_R_NO_MATCH;
	u32 i;

	if (!verdict)
		return true;
	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].verdict == verdict)
			reason = reasons[i].reason;
	via_ether_cache_reply(ev->peer, c, VIA_WIRE_REFUSE, reason, NULL);
	via_ether_answer(ev->nic, ev->vi->index, VIA_WIRE_REFUSE, reason, c);
	via_ether_conn_end(ev, verdict);
	return false;
}

/*
 * The one we chose, by that cookie, is not there: look again, under a new
 * name, so that what it may still have in flight means nothing.  BH off, no
 * lock held.
 */
void via_ether_p2p_lost(struct via_ether_vi *ev, u64 cookie)
{
	struct via_vi *vi = ev->vi;
	u64 claim = 0;

	via_ether_lock(vi);
	if (ev->conn.phase == VIA_PHASE_ACCEPT && vi->p2p &&
	    ev->conn.remote_cookie == cookie) {
		claim = cookie;
		spin_lock(&ev->nic->lock);
		via_peer_del_end(ev);
		spin_unlock(&ev->nic->lock);
		via_ether_start(ev, VIA_PHASE_P2P);
	}
	via_ether_unlock(vi);
	if (claim)
		via_p2p_release(vi, claim);
}

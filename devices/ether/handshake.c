// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Frames about connections, as they come: what answers an attempt, what says that
 * an end is not there, and requests between peers.  conn.c does what follows.
 *
 * Peer-to-peer connections over the wire:
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

#include "../../kernel/via_conn.h"
#include "admit.h"
#include "conn.h"
#include "end.h"
#include "handshake.h"
#include "keepalive.h"
#include "reply_cache.h"
#include "request.h"
#include "session.h"
#include "stats.h"
#include "vi.h"
#include "xmit.h"

/*
 * We choose: the first free VI that looks for the sender, or the one that it
 * has already.  Both queue locks held; true: answer.
 */
static bool choose_vi(struct via_ether_vi *ev, const struct via_conn_hdr *c)
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
	if (!via_asks_first(nic->host.addr, f->src, nic->host.len))
		claim = c.sender_cookie;
	vi = via_p2p_find(nic->ka, &local, &remote, claim);
	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	/* It may be at another attempt by now; or this be a late one. */
	if (via_p2p_looks(vi, &local, &remote) && ev->peer &&
	    via_peer_saw_epoch(ev->peer, c.hello.epoch))
		ok = claim ? choose_vi(ev, &c) :
			     ev->conn.phase == VIA_PHASE_P2P;
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

static enum via_verdict p2p_verdict(u32 reason)
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
static bool p2p_fits(struct via_ether_vi *ev, const struct via_vi_attrs *theirs,
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
 * An ACCEPT that no VI here waits for: one may have refused it before.  Else
 * its sender is answered with the end that it names, as any unknown host is.
 */
static void rx_accept_late(struct via_ether_nic *nic,
			   const struct via_ether_frame *f,
			   const struct via_conn_hdr *accept, u64 cookie,
			   const struct via_ether_client *c)
{
	struct via_peer *peer = via_peer_find(nic, c->host.addr);
	struct via_reply reply;
	u8 type = 0, reason;

	if (peer) {
		spin_lock(&nic->lock);
		type = via_ether_cached_reply(peer, c, &reason, &reply);
		spin_unlock(&nic->lock);
	}
	if (type == VIA_WIRE_REFUSE) {
		via_ether_answer(nic, 0, type, reason, c);
		return;
	}
	via_ether_count(nic, NO_VI);
	via_ether_send_reset(nic, f->src, accept->to, cookie,
			     accept->first_seq, f->len);
}

/* What a consumer in the kernel says, in the place of addresses.  Both queue locks. */
static void take_reply(struct via_ether_vi *ev, const struct via_conn_hdr *c)
{
	struct via_reply reply = {
		.len = c->client_disc_len + c->server_disc_len,
	};

	memcpy(reply.data, c->client_disc, c->client_disc_len);
	memcpy(reply.data + c->client_disc_len, c->server_disc,
	       c->server_disc_len);
	via_conn_replied(ev->vi, &reply);
}

/*
 * ACCEPT or PEER_ACCEPT at the client.  False: no attempt here waits for
 * it.  Both queue locks held.
 */
static bool take_accept(struct via_ether_vi *ev, const struct via_conn_hdr *c,
			const struct via_ether_client *from, bool p2p)
{
	struct via_vi_attrs attrs = {
		.reliability = c->reliability,
		.max_transfer = c->max_transfer,
		.rights = c->rights,
	};
	bool sum = c->options & VIA_WIRE_O_SUM;

	via_ether_heard(ev);
	if (ev->conn.phase == (p2p ? VIA_PHASE_P2P : VIA_PHASE_REQUEST)) {
		if (p2p && !p2p_fits(ev, &attrs, from))
			return true;
		/* The server grants it, or has more than that. */
		if (ev->conn.want_seal && !sum &&
		    !READ_ONCE(ev->peer->want_key))
			return false;
		via_ether_set_remote(ev, c, sum);
		if (unlikely(c->options & VIA_WIRE_O_REPLY))
			take_reply(ev, c);
		if (!via_conn_established(ev->vi, &attrs))
			return false;
		via_ether_stands(ev);
	} else if (ev->conn.phase != VIA_PHASE_CONNECTED ||
		   ev->conn.remote_cookie != c->sender_cookie) {
		return false;
	}
	/* Repeated: the one before was lost. */
	via_ether_answer(ev->nic, ev->vi->index, VIA_WIRE_CONFIRM, 0, from);
	return true;
}

static void rx_accept(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h)
{
	struct via_ether_client from;
	struct via_ether_vi *ev;
	struct via_conn_hdr c;
	struct via_vi *vi;
	bool known = false;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	from = (struct via_ether_client) {
		.vi = c.vi,
		.cookie = c.sender_cookie,
	};
	via_host_set(&from.host, f->src, nic->host.len);
	vi = via_ether_find(nic, c.to);
	if (vi) {
		ev = vi->priv;
		via_ether_lock(vi);
		if (ev->conn.cookie && ev->conn.cookie == h->cookie &&
		    via_host_is(&ev->conn.remote, f->src)) {
			/* A late one, of a host that has lost it since. */
			known = !via_peer_saw_epoch(ev->peer, c.hello.epoch);
			/* Before the attempt may end, and with it its peer. */
			if (!known && c.hello.token)
				via_peer_keep_token(ev->peer, c.hello.token);
			if (!known)
				known = take_accept(ev, &c, &from, h->type ==
						    VIA_WIRE_PEER_ACCEPT);
		}
		via_ether_unlock(vi);
	}
	if (!known)
		rx_accept_late(nic, f, &c, h->cookie, &from);
}

/* Both queue locks held. */
static void take_refusal(struct via_ether_vi *ev, const struct via_frame_hdr *h)
{
	struct via_reply reply = { .len = h->reply_len };

	if (!reply.len)
		return;
	memcpy(reply.data, h->reply, reply.len);
	via_conn_replied(ev->vi, &reply);
}

/* The end that an answer is for, still at it.  Both queue locks held. */
static void take_verdict(struct via_ether_vi *ev, const struct via_frame_hdr *h)
{
	via_ether_heard(ev);
	if (ev->conn.phase == VIA_PHASE_ACCEPT) {
		if (h->type == VIA_WIRE_REFUSE && ev->vi->p2p)
			via_ether_conn_end(ev,
					   p2p_verdict(h->reason));
		return;
	}
	if (ev->conn.phase != VIA_PHASE_REQUEST)
		return;
	if (h->type == VIA_WIRE_WAIT) {
		via_ether_server_waits(ev);
	} else if (h->type == VIA_WIRE_REFUSE) {
		take_refusal(ev, h);
		via_ether_conn_end(ev, h->reason == VIA_WIRE_R_NO_MATCH ?
				   VIA_R_NO_MATCH : VIA_R_REJECT);
	}
}

/* WAIT, REFUSE at the client; CONFIRM, REFUSE at the server. */
static void rx_verdict(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_vi *vi = via_ether_find(nic, h->vi);
	struct via_ether_vi *ev;
	bool ours;

	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	ours = ev->conn.cookie && ev->conn.cookie == h->cookie &&
	       via_host_is(&ev->conn.remote, f->src);
	if (ours)
		take_verdict(ev, h);
	via_ether_unlock(vi);
	if (ours && h->type == VIA_WIRE_CONFIRM)
		via_ether_confirmed(ev);
}

/* Is it an attempt to reach that host, not answered?  Both queue locks held. */
static bool asks_host(const struct via_ether_vi *ev, const u8 *host)
{
	return (ev->conn.phase == VIA_PHASE_REQUEST ||
		ev->conn.phase == VIA_PHASE_P2P) &&
	       via_host_is(&ev->conn.remote, host);
}

/* Do the bytes begin the request that is being sent?  Both queue locks held. */
static bool quotes_request(const struct via_ether_vi *ev, const u8 *quote)
{
	struct via_wire w = {
		.version = VIA_WIRE_VERSION,
		.type = ev->conn.phase == VIA_PHASE_P2P ? VIA_WIRE_PEER_REQUEST :
							  VIA_WIRE_REQUEST,
		.flags = quote[offsetof(struct via_wire, flags)] ==
			 VIA_WIRE_AUTH ? VIA_WIRE_AUTH : VIA_WIRE_SUM,
		.dst = cpu_to_be32(via_ether_id(ev->vi)),
		.cookie = cpu_to_be64(ev->conn.cookie),
	};

	return !memcmp(&w, quote, VIA_WIRE_QUOTE);
}

/*
 * The host does not speak this version: an attempt to reach it ends.  It does
 * not where the frame quotes nothing of its request, half of whose cookie is
 * in the quote; and a connection that stands has shown that its peer does.
 * The VI that asked is in the quote, too: any host can send such frames, and
 * each costs one look-up in an array, however many attempts there are.  A host
 * with a key would say it with an authenticator, which VERSION has not: it is
 * told, and ends nothing.
 */
static void rx_version(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	char text[VIA_HOST_TEXT];
	struct via_ether_vi *ev;
	struct via_vi *vi;
	__be32 id;
	bool told;

	via_ether_count(nic, VERSIONS_IN);
	if (h->about != VIA_WIRE_VERSION ||
	    (h->lowest <= VIA_WIRE_VERSION && h->highest >= VIA_WIRE_VERSION))
		return;
	memcpy(&id, h->quote + offsetof(struct via_wire, dst), sizeof(id));
	vi = via_ether_find(nic, be32_to_cpu(id));
	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	told = asks_host(ev, f->src) && quotes_request(ev, h->quote);
	if (told && !via_secret_of(nic, f->src))
		via_ether_conn_end(ev, VIA_R_NOT_REACHABLE);
	via_ether_unlock(vi);
	if (told)
		pr_info_ratelimited("%s: %s speaks versions %u to %u of the wire, this host %u\n",
				    nic->ka->name,
				    via_host_text(text, f->src, nic->host.len),
				    h->lowest, h->highest, VIA_WIRE_VERSION);
}

/*
 * CHALLENGE: the request is repeated at once, with the token that it tells.
 * Like VERSION it names the VI that asked, so no list is searched.
 */
static void rx_challenge(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
			 const struct via_frame_hdr *h)
{
	enum via_session_offer offer;
	struct via_hello_hdr hello;
	struct via_ether_vi *ev;
	struct via_vi *vi;

	if (via_wire_parse_hello(f->hdr, &hello) || !hello.token) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	vi = via_ether_find(nic, h->dst);
	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	if (ev->conn.cookie != h->cookie || !asks_host(ev, f->src))
		goto out;
	/* A host with a key proves its epoch by the session. */
	if (!via_secret_of(nic, f->src) &&
	    !via_peer_saw_epoch(ev->peer, hello.epoch))
		goto out;
	offer = via_session_propose(ev->peer, &hello);
	/* The same one again answers a request that came late. */
	if (offer == VIA_SESSION_NEW ||
	    (offer == VIA_SESSION_KNOWN && ev->attempt.token != hello.token)) {
		via_peer_keep_token(ev->peer, hello.token);
		ev->rcv.last_rx = jiffies;
		via_ether_send_try(ev);
	}
out:
	via_ether_unlock(vi);
}

void via_ether_attempt_rx(struct via_ether_nic *nic,
			  const struct via_ether_frame *f,
			  const struct via_frame_hdr *h)
{
	switch (h->type) {
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_ACCEPT:
		return rx_accept(nic, f, h);
	case VIA_WIRE_CHALLENGE:
		return rx_challenge(nic, f, h);
	case VIA_WIRE_VERSIONS:
		return rx_version(nic, f, h);
	default:
		return rx_verdict(nic, f, h);
	}
}

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

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections, both sides.
 *
 *   client                                     server
 *     |------------- REQUEST ------------------->| matched with a waiter
 *     |<------------ WAIT -----------------------| its program decides
 *     |<------------ ACCEPT ---------------------| repeated until
 *     |------------- CONFIRM ------------------->| this, or data, arrives
 *
 * Each end sends again what is not answered; a repeated frame is recognised
 * by the client's MAC, VI id and cookie and gets the same answer.  Peer to
 * peer is the same with one of the two in the client's part: p2p.c.
 */

#include <linux/slab.h>
#include "ether.h"

#define REQS_MAX	1024u		/* unanswered requests of a NIC */
#define TRY_FIRST_MS	20
#define TRY_LAST_MS	500
#define TRY_WAITING_MS	1000		/* the server is there, and decides */

/* nic->lock held. */
static void unlist_req(struct via_ether_nic *nic, struct via_ether_req *req)
{
	lockdep_assert_held(&nic->lock);
	list_del_init(&req->link);
	via_peer_del_req(req);
	nic->nreqs--;
}

/* It is off the list. */
static void free_req(struct via_ether_req *req)
{
	via_peer_put(req->peer);
	kfree(req);
}

/*
 * Unlink the request of a client; false when there is none.  The caller gets
 * a copy and a use of its peer, and its reference on the connection, if that is
 * there yet: without one the request's maker is still at it, and frees it as
 * soon as it sees it unlinked.
 */
static bool take_req(struct via_ether_nic *nic, const u8 *mac, u32 vi,
		     u64 cookie, struct via_ether_req *copy)
{
	struct via_ether_req *req = NULL;
	struct via_peer *peer;
	bool mine = false;

	rcu_read_lock();
	peer = via_peer_find(nic, mac);
	if (peer) {
		spin_lock(&nic->lock);
		req = via_peer_req(peer, vi, cookie);
		if (req) {
			unlist_req(nic, req);
			*copy = *req;
			mine = req->conn;
			if (!mine)
				via_peer_hold(peer);
		}
		spin_unlock(&nic->lock);
	}
	rcu_read_unlock();
	if (mine)
		kfree(req);
	return req;
}

static void drop_taken(const struct via_ether_req *copy)
{
	if (copy->conn)
		via_conn_put(copy->conn);
	via_peer_put(copy->peer);
}

/* What the other end has told of itself.  Both queue locks held. */
static void set_remote(struct via_ether_vi *ev, u32 vi, u64 cookie,
		       u32 first_seq, u32 mtu, u32 frames, bool sum)
{
	rcu_read_lock();
	ev->key_id = via_peer_key_id(ev->peer);
	rcu_read_unlock();
	spin_lock(&ev->nic->lock);
	via_peer_del_end(ev);
	spin_unlock(&ev->nic->lock);
	mtu = min(mtu, READ_ONCE(ev->nic->mtu));
	ev->seal = ev->key_id ? VIA_WIRE_AUTH : sum ? VIA_WIRE_SUM : 0;
	ev->seal_len = via_wire_seal_len(ev->seal);
	ev->tx_odd = ev->seal ? VIA_ODD_SEALED : 0;
	if (ev->reliable && !via_ether_rtt_low(ev))
		ev->tx_odd |= VIA_ODD_ASK;
	mtu -= ev->seal_len;
	ev->remote_id = vi;
	ev->remote_cookie = cookie;
	ev->seg_send = mtu - VIA_WIRE_SEND_HDR;
	ev->seg_write = mtu - VIA_WIRE_WRITE_HDR;
	ev->dma_from = via_ether_dma_from(ev);
	via_win_init(&ev->tx, ev->first_seq, min(frames, via_ether_window));
	ev->rtt_at = jiffies - 1;
	ev->stamp = jiffies;
	ev->retries = 0;
	ev->backoff = 0;
	ev->spent = 0;
	ev->again = ev->first_seq;
	ev->in_vain = false;
	ev->resent = 0;
	ev->timeouts = 0;
	via_win_rx_init(&ev->rx, first_seq, via_ether_credit(ev->nic));
	ev->acked = first_seq;
	/* A window that is small is not to wait for its last frame. */
	ev->ack_every = clamp(ev->rx.limit / 4, 1u, via_ether_ack_every);
	ev->turns = 0;
	ev->doubt = VIA_ETHER_DOUBT;
	ev->pushed_at = jiffies;
	ev->push = false;
	ev->last_rx = jiffies;
	ev->next_challenge = jiffies;
	via_ether_head_init(ev);
	via_peer_add_end(ev);
}

void via_ether_set_remote(struct via_ether_vi *ev, const struct via_conn_hdr *c,
			  bool sum)
{
	ev->remote_epoch = c->hello.epoch;
	set_remote(ev, c->vi, c->sender_cookie, c->first_seq, c->hello.mtu,
		   c->hello.frames, sum);
}

/*
 * Begin an attempt of ours.  The addresses stay while the caller is at it; the
 * deadline may have come already, and with it the verdict.
 */
enum via_verdict via_ether_attempt(struct via_vi *vi,
				   enum via_ether_phase phase)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_peer *peer;
	bool pending;

	if (vi->remote.host_len != ETH_ALEN ||
	    !is_valid_ether_addr(vi->remote.host) ||
	    !via_ether_allowed(ev->nic, vi->remote.host))
		return VIA_R_NOT_REACHABLE;
	peer = via_peer_get(ev->nic, vi->remote.host, GFP_KERNEL);
	if (!peer)
		return VIA_R_ERROR_RESOURCE;
	local_bh_disable();
	via_ether_lock(vi);
	pending = vi->state == VIA_STATE_PENDING;
	if (pending) {
		ether_addr_copy(ev->remote_mac, vi->remote.host);
		WRITE_ONCE(ev->peer, peer);
		ev->deadline = vi->deadline;
		ev->forever = vi->forever;
		via_ether_start(ev, phase);
	}
	via_ether_unlock(vi);
	if (pending)
		via_ether_conn_tick(ev);
	else
		via_peer_put(peer);
	local_bh_enable();
	return 0;
}

/* ops->connect */
enum via_verdict via_ether_connect(struct via_vi *vi)
{
	return via_ether_attempt(vi, VIA_PHASE_REQUEST);
}

/* Both queue locks held, the VI is Pending. */
static void start_accept(struct via_ether_vi *ev, const struct via_conn *conn,
			 const struct via_ether_client *c,
			 const struct via_ether_req *req)
{
	spin_lock(&ev->nic->lock);
	via_peer_hold(req->peer);
	spin_unlock(&ev->nic->lock);
	WRITE_ONCE(ev->peer, req->peer);
	ether_addr_copy(ev->remote_mac, c->mac);
	/* A client that confirms in the last moment is not sent away. */
	ev->deadline = conn->deadline + msecs_to_jiffies(TRY_FIRST_MS);
	ev->forever = req->forever;
	via_ether_start(ev, VIA_PHASE_ACCEPT);
	ev->remote_epoch = c->epoch;
	set_remote(ev, c->vi, c->cookie, c->first_seq, c->mtu, c->frames,
		   c->want_seal || ev->want_seal);
}

/* ops->accept */
enum via_verdict via_ether_accept(struct via_conn *conn, struct via_vi *vi)
{
	const struct via_ether_client *c = (const void *)conn->priv;
	struct via_ether_nic *nic = conn->nic->priv;
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_req req;
	bool pending;

	local_bh_disable();
	if (!take_req(nic, c->mac, c->vi, c->cookie, &req)) {
		local_bh_enable();
		return VIA_R_TIMEOUT;
	}
	via_ether_lock(vi);
	/* An attempt that is over by now has its verdict. */
	pending = vi->state == VIA_STATE_PENDING;
	if (pending)
		start_accept(ev, conn, c, &req);
	via_ether_unlock(vi);
	if (pending) {
		via_ether_remember(req.peer, c, VIA_WIRE_ACCEPT, 0);
		via_ether_conn_tick(ev);
	}
	drop_taken(&req);
	local_bh_enable();
	return pending ? 0 : VIA_R_TIMEOUT;
}

/* ops->reject */
void via_ether_reject(struct via_conn *conn)
{
	const struct via_ether_client *c = (const void *)conn->priv;
	struct via_ether_nic *nic = conn->nic->priv;
	struct via_ether_req req;

	local_bh_disable();
	if (take_req(nic, c->mac, c->vi, c->cookie, &req)) {
		via_ether_remember(req.peer, c, VIA_WIRE_REFUSE,
				   VIA_WIRE_R_REJECT);
		via_ether_answer(nic, VIA_WIRE_REFUSE, VIA_WIRE_R_REJECT, c);
		drop_taken(&req);
	}
	local_bh_enable();
}

/* Both queue locks held. */
static void stands(struct via_ether_vi *ev)
{
	ev->phase = VIA_PHASE_CONNECTED;
	via_ether_join(ev);
}

/*
 * The client has shown that it knows of the connection.  True when the VI is
 * connected.  BH off, no lock held.
 */
bool via_ether_confirmed(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	bool ok;

	via_ether_lock(vi);
	/* The list of allowed hosts may be another one by now. */
	if (ev->phase == VIA_PHASE_ACCEPT &&
	    via_ether_allowed(ev->nic, ev->remote_mac) &&
	    ev->key_id == READ_ONCE(ev->peer->want_key) &&
	    via_conn_established(vi, vi->p2p ? &ev->remote_attrs : NULL))
		stands(ev);
	ok = ev->phase == VIA_PHASE_CONNECTED;
	via_ether_unlock(vi);
	return ok;
}

/* End the attempt.  Both queue locks held, phase not CONNECTED. */
void via_ether_conn_end(struct via_ether_vi *ev, enum via_verdict verdict)
{
	via_ether_disconnect(ev->vi, verdict == VIA_R_TIMEOUT);
	via_conn_failed(ev->vi, verdict);
}

/* What is sent, and sent again, in this phase.  A queue lock held. */
static u8 conn_frame(const struct via_ether_vi *ev)
{
	if (ev->phase == VIA_PHASE_REQUEST)
		return VIA_WIRE_REQUEST;
	if (ev->phase == VIA_PHASE_P2P)
		return VIA_WIRE_PEER_REQUEST;
	return ev->vi->p2p ? VIA_WIRE_PEER_ACCEPT : VIA_WIRE_ACCEPT;
}

/*
 * The client has said nothing for so long that a connection would have broken:
 * it is gone, however much time it has given itself.  A queue lock
 * held.
 */
static bool accept_unheard(const struct via_ether_vi *ev)
{
	return ev->phase == VIA_PHASE_ACCEPT &&
	       time_after_eq(jiffies, ev->last_rx + via_ether_dead());
}

/* Time for another try, or none is left.  BH off, no lock held. */
void via_ether_conn_tick(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	u64 lost = 0;
	u32 ms;

	via_ether_lock(vi);
	if (!via_ether_trying(ev))
		goto out;
	if (!ev->forever && time_after_eq(via_now(), ev->deadline)) {
		via_ether_conn_end(ev, VIA_R_TIMEOUT);
		goto out;
	}
	if (time_before(jiffies, ev->next_try))
		goto out;
	if (unlikely(accept_unheard(ev))) {
		if (vi->p2p)
			lost = ev->remote_cookie;
		else
			via_ether_conn_end(ev, VIA_R_TIMEOUT);
		goto out;
	}
	ms = ev->waiting ? TRY_WAITING_MS :
	     min(TRY_FIRST_MS << min(ev->tries, 5u), TRY_LAST_MS);
	ev->tries++;
	ev->next_try = jiffies + via_ether_scaled(ms);
	if (ev->phase != VIA_PHASE_ACCEPT)
		via_ether_count(ev->nic, REQUESTS_OUT);
	via_ether_send_conn(ev, conn_frame(ev));
out:
	via_ether_unlock(vi);
	if (unlikely(lost))
		via_ether_p2p_lost(ev, lost);
}

void via_ether_conn_addr(struct via_net_addr *a, const u8 *host, u32 host_len,
			 const u8 *disc, u32 disc_len)
{
	BUILD_BUG_ON(VIA_WIRE_HOST_MAX > VIA_ADDR_MAX);
	BUILD_BUG_ON(VIA_WIRE_DISC_MAX > VIA_DISC_MAX);
	a->host_len = host_len;
	a->disc_len = disc_len;
	memcpy(a->host, host, host_len);
	memcpy(a->disc, disc, disc_len);
}

/* Have the agent match it; @req->client is copied. */
static struct via_conn *offer_req(struct via_ether_nic *nic,
				  const struct via_ether_req *req,
				  const struct via_conn_hdr *c)
{
	struct via_net_addr local = {}, remote = {};
	struct via_vi_attrs attrs = {
		.reliability = c->reliability,
		.max_transfer = c->max_transfer,
		.rights = c->rights,
	};
	unsigned long timeout = req->forever ? MAX_JIFFY_OFFSET :
						req->deadline - jiffies;

	BUILD_BUG_ON(sizeof(req->client) > VIA_CONN_PRIV);
	via_ether_conn_addr(&local, c->server_host, c->server_host_len,
			    c->server_disc, c->server_disc_len);
	via_ether_conn_addr(&remote, c->client_host, c->client_host_len,
			    c->client_disc, c->client_disc_len);
	return via_conn_incoming(nic->ka, &local, &remote, &attrs, timeout,
				 &req->client, sizeof(req->client));
}

/*
 * The agent has matched it, or not (ERR_PTR): the request has its @conn, or is
 * off the list.  False: it is off the list, and the caller's to free.
 */
static bool keep_req(struct via_ether_nic *nic, struct via_ether_req *req,
		     struct via_conn *conn)
{
	bool taken;

	spin_lock(&nic->lock);
	taken = list_empty(&req->link);
	if (IS_ERR(conn)) {
		if (!taken)
			unlist_req(nic, req);
		taken = true;
	} else if (!taken) {
		req->conn = conn;
	}
	spin_unlock(&nic->lock);
	return !taken;
}

/*
 * Hand a new request to the agent.  Returns the answer, or 0: it was given.
 * @req may be gone: the agent's program may have it.
 */
static u8 new_request(struct via_ether_nic *nic, struct via_ether_req *req,
		      const struct via_conn_hdr *c)
{
	struct via_conn *conn = offer_req(nic, req, c);

	if (keep_req(nic, req, conn))
		return VIA_WIRE_WAIT;
	/* Answered or cancelled already: it was left to us to free it. */
	if (!IS_ERR(conn)) {
		via_conn_put(conn);
	} else if (PTR_ERR(conn) == -ENOENT) {
		via_ether_remember(req->peer, &req->client, VIA_WIRE_REFUSE,
				   VIA_WIRE_R_NO_MATCH);
		via_ether_answer(nic, VIA_WIRE_REFUSE, VIA_WIRE_R_NO_MATCH,
				 &req->client);
	}
	free_req(req);
	return 0;
}

/* The client, as its REQUEST tells of it. */
static void read_client(struct via_ether_client *client, const u8 *mac,
			const struct via_conn_hdr *c)
{
	ether_addr_copy(client->mac, mac);
	client->vi = c->vi;
	client->cookie = c->sender_cookie;
	client->epoch = c->hello.epoch;
	client->first_seq = c->first_seq;
	client->mtu = c->hello.mtu;
	client->frames = c->hello.frames;
	client->want_seal = c->options & VIA_WIRE_O_SUM;
}

/*
 * List a request, if it is a new one and there is room.  False: it is not
 * listed, and @type is the answer, or 0.
 */
static bool list_req(struct via_ether_nic *nic, struct via_ether_req *req,
		     u8 *type, u8 *reason)
{
	const struct via_ether_client *c = &req->client;
	struct via_peer *peer = req->peer;
	struct via_ether_req *old;
	bool new = false;

	spin_lock(&nic->lock);
	old = via_peer_req(peer, c->vi, c->cookie);
	*type = via_ether_verdict(peer, c, reason);
	/* An accepted one is known as long as the connection stands. */
	if (!*type && via_peer_end(peer, c->vi, c->cookie))
		*type = VIA_WIRE_ACCEPT;
	if (old) {
		old->seen = jiffies;
		*type = VIA_WIRE_WAIT;
	} else if (!*type && nic->nreqs < REQS_MAX &&
		   peer->nreqs < VIA_PEER_REQS && !nic->stopping) {
		nic->nreqs++;
		list_add_tail(&req->link, &nic->reqs);
		via_peer_add_req(req);
		new = true;
	}
	spin_unlock(&nic->lock);
	return new;
}

static void rx_request(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_ether_client client;
	struct via_ether_req *req;
	struct via_conn_hdr c;
	u8 type, reason = 0;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	via_ether_count(nic, REQUESTS_IN);
	if (!via_ether_proven(nic, f, h, &c))
		return;
	/* Without memory: the client will ask again. */
	req = kzalloc(sizeof(*req), GFP_ATOMIC | __GFP_NOWARN);
	if (!req)
		return;
	req->peer = via_peer_get(nic, f->src, GFP_ATOMIC);
	if (!req->peer) {
		kfree(req);
		return;
	}
	read_client(&req->client, f->src, &c);
	/* A request that is handed to the agent may be gone when it returns. */
	client = req->client;
	req->seen = jiffies;
	req->forever = c.timeout_ms == VIA_WIRE_FOREVER;
	req->deadline = jiffies + msecs_to_jiffies(c.timeout_ms);

	if (list_req(nic, req, &type, &reason)) {
		via_ether_arm(nic);
		type = new_request(nic, req, &c);
	} else {
		free_req(req);
	}
	/* An accepted one hears of it from the VI that accepted it. */
	if (type && type != VIA_WIRE_ACCEPT)
		via_ether_answer(nic, type, reason, &client);
}

/*
 * An ACCEPT that no VI here waits for: one may have refused it before.  Else
 * its sender is answered with the end that it names, as any stranger is.
 */
static void rx_accept_late(struct via_ether_nic *nic,
			   const struct via_ether_frame *f,
			   const struct via_conn_hdr *accept, u64 cookie,
			   const struct via_ether_client *c)
{
	struct via_peer *peer = via_peer_find(nic, c->mac);
	u8 type = 0, reason;

	if (peer) {
		spin_lock(&nic->lock);
		type = via_ether_verdict(peer, c, &reason);
		spin_unlock(&nic->lock);
	}
	if (type == VIA_WIRE_REFUSE) {
		via_ether_answer(nic, type, reason, c);
		return;
	}
	via_ether_count(nic, NO_VI);
	via_ether_send_reset(nic, c->mac, accept->to, cookie,
			     accept->first_seq, f->len);
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
	if (ev->phase == (p2p ? VIA_PHASE_P2P : VIA_PHASE_REQUEST)) {
		if (p2p && !via_ether_p2p_fits(ev, &attrs, from))
			return true;
		/* The server grants it, or has more than that. */
		if (ev->want_seal && !sum && !READ_ONCE(ev->peer->want_key))
			return false;
		via_ether_set_remote(ev, c, sum);
		if (!via_conn_established(ev->vi, &attrs))
			return false;
		stands(ev);
	} else if (ev->phase != VIA_PHASE_CONNECTED ||
		   ev->remote_cookie != c->sender_cookie) {
		return false;
	}
	/* Repeated: the one before was lost. */
	via_ether_answer(ev->nic, VIA_WIRE_CONFIRM, 0, from);
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
	ether_addr_copy(from.mac, f->src);
	vi = via_ether_find(nic, c.to);
	if (vi) {
		ev = vi->priv;
		via_ether_lock(vi);
		if (ev->cookie && ev->cookie == h->cookie &&
		    ether_addr_equal(ev->remote_mac, f->src)) {
			/* Before the attempt may end, and with it its peer. */
			if (c.hello.proof)
				via_peer_keep_proof(ev->peer, c.hello.proof);
			known = take_accept(ev, &c, &from,
					    h->type == VIA_WIRE_PEER_ACCEPT);
		}
		via_ether_unlock(vi);
	}
	if (!known)
		rx_accept_late(nic, f, &c, h->cookie, &from);
}

/* The end that an answer is for, still at it.  Both queue locks held. */
static void take_verdict(struct via_ether_vi *ev, const struct via_frame_hdr *h)
{
	via_ether_heard(ev);
	if (ev->phase == VIA_PHASE_ACCEPT) {
		if (h->type == VIA_WIRE_REFUSE && ev->vi->p2p)
			via_ether_conn_end(ev,
					   via_ether_p2p_verdict(h->reason));
		return;
	}
	if (ev->phase != VIA_PHASE_REQUEST)
		return;
	if (h->type == VIA_WIRE_WAIT) {
		ev->waiting = true;
		ev->next_try = jiffies + via_ether_scaled(TRY_WAITING_MS);
	} else if (h->type == VIA_WIRE_REFUSE) {
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
	ours = ev->cookie && ev->cookie == h->cookie &&
	       ether_addr_equal(ev->remote_mac, f->src);
	if (ours)
		take_verdict(ev, h);
	via_ether_unlock(vi);
	if (ours && h->type == VIA_WIRE_CONFIRM)
		via_ether_confirmed(ev);
}

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

/*
 * The peer has no such end of a connection as @id and @cookie say.  What
 * stands ends by RESET only, which tells in @seq what it answers.
 */
static void no_such_end(struct via_ether_nic *nic, const u8 *mac, u32 id,
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

static void rx_cancel(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h)
{
	struct via_ether_req req;

	if (!take_req(nic, f->src, h->vi, h->cookie, &req))
		return no_such_end(nic, f->src, h->vi, h->cookie, NULL);
	if (req.conn)
		via_conn_cancel(req.conn);
	drop_taken(&req);
}

/* Is it an attempt to reach that host, not answered?  Both queue locks held. */
static bool asks_host(const struct via_ether_vi *ev, const u8 *mac)
{
	return (ev->phase == VIA_PHASE_REQUEST ||
		ev->phase == VIA_PHASE_P2P) &&
	       ether_addr_equal(ev->remote_mac, mac);
}

/* Do the bytes begin the request that is being sent?  Both queue locks held. */
static bool quotes_request(const struct via_ether_vi *ev, const u8 *quote)
{
	struct via_wire w = {
		.version = VIA_WIRE_VERSION,
		.type = ev->phase == VIA_PHASE_P2P ? VIA_WIRE_PEER_REQUEST :
						     VIA_WIRE_REQUEST,
		.flags = quote[offsetof(struct via_wire, flags)] ==
			 VIA_WIRE_AUTH ? VIA_WIRE_AUTH : VIA_WIRE_SUM,
		.dst = cpu_to_be32(via_ether_id(ev->vi)),
		.cookie = cpu_to_be64(ev->cookie),
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
		pr_info_ratelimited("%s: %pM speaks versions %u to %u of the wire, this host %u\n",
				    nic->ka->name, f->src, h->lowest,
				    h->highest, VIA_WIRE_VERSION);
}

/*
 * CHALLENGE: the request is repeated at once, with the proof that it tells.
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

	if (via_wire_parse_hello(f->hdr, &hello) || !hello.proof) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	vi = via_ether_find(nic, h->dst);
	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	if (ev->cookie != h->cookie || !asks_host(ev, f->src))
		goto out;
	offer = via_session_propose(ev->peer, &hello);
	/* The same one again answers a request that came late. */
	if (offer == VIA_SESSION_NEW ||
	    (offer == VIA_SESSION_KNOWN && ev->proof != hello.proof)) {
		via_peer_keep_proof(ev->peer, hello.proof);
		ev->last_rx = jiffies;
		via_ether_send_conn(ev, conn_frame(ev));
	}
out:
	via_ether_unlock(vi);
}

/* Frames that are about connections, not on one.  BH off, RCU read side. */
void via_ether_conn_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	/* No host has such an address, and an answer would be a broadcast. */
	if (unlikely(!is_valid_ether_addr(f->src))) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (unlikely(!via_ether_allowed(nic, f->src))) {
		via_ether_count(nic, STRANGER);
		return;
	}
	switch (h->type) {
	case VIA_WIRE_REQUEST:
		return rx_request(nic, f, h);
	case VIA_WIRE_PEER_REQUEST:
		return via_ether_p2p_request(nic, f, h);
	case VIA_WIRE_ACCEPT:
	case VIA_WIRE_PEER_ACCEPT:
		return rx_accept(nic, f, h);
	case VIA_WIRE_CANCEL:
		return rx_cancel(nic, f, h);
	case VIA_WIRE_DISCONNECT_ACK:
		return via_ether_unbury(nic, f->src, h);
	case VIA_WIRE_RESET:
		via_ether_count(nic, RESETS_IN);
		return no_such_end(nic, f->src, h->src, h->cookie, &h->seq);
	case VIA_WIRE_NAME_QUERY:
	case VIA_WIRE_NAME_REPLY:
		return via_ether_name_rx(nic, f, h);
	case VIA_WIRE_WAIT:
	case VIA_WIRE_REFUSE:
	case VIA_WIRE_CONFIRM:
		return rx_verdict(nic, f, h);
	case VIA_WIRE_CHALLENGE:
		return rx_challenge(nic, f, h);
	case VIA_WIRE_VERSIONS:
		return rx_version(nic, f, h);
	default:
		/* What this version of the class does not do. */
		via_ether_count(nic, BAD_TYPE);
	}
}

/* Drop requests whose client has given up without a word, or all. */
void via_ether_reqs_expire(struct via_ether_nic *nic, bool all)
{
	struct via_ether_req *req, *n;
	LIST_HEAD(old);

	spin_lock(&nic->lock);
	list_for_each_entry_safe(req, n, &nic->reqs, link) {
		/* One without conn is in its maker's hands. */
		if (!req->conn)
			continue;
		if (all || (!req->forever &&
			    time_after(jiffies, req->deadline)) ||
		    time_after(jiffies, req->seen + via_ether_dead())) {
			unlist_req(nic, req);
			list_add_tail(&req->link, &old);
		}
	}
	spin_unlock(&nic->lock);
	list_for_each_entry_safe(req, n, &old, link) {
		via_conn_cancel(req->conn);
		via_conn_put(req->conn);
		free_req(req);
	}
}

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
 * by the client's MAC, VI index and cookie and gets the same answer.
 */

#include <linux/slab.h>
#include "ether.h"

#define REQS_MAX	1024u		/* unanswered requests of a NIC */
#define TRY_FIRST_MS	20
#define TRY_LAST_MS	500
#define TRY_WAITING_MS	1000		/* the server is there, and decides */
#define REMEMBER_MS	5000
#define RTO_FIRST_US	20000		/* until measured */

static bool same_client(const struct via_ether_client *c, const u8 *mac,
			u16 vi, u32 cookie)
{
	return c->vi == vi && c->cookie == cookie &&
	       ether_addr_equal(c->mac, mac);
}

static void answer(struct via_ether_nic *nic, u8 type,
		   const struct via_ether_client *c)
{
	struct via_ether_ctl ctl = {
		.mac = c->mac,
		.type = type,
		.dst = c->vi,
		.cookie = c->cookie,
	};

	via_ether_send_ctl(nic, &ctl);
}

/* nic->lock held. */
static struct via_ether_req *find_req(struct via_ether_nic *nic,
				      const u8 *mac, u16 vi, u32 cookie)
{
	struct via_ether_req *req;

	lockdep_assert_held(&nic->lock);
	list_for_each_entry(req, &nic->reqs, link)
		if (same_client(&req->client, mac, vi, cookie))
			return req;
	return NULL;
}

/*
 * Unlink the request of a client; false when there is none.  The caller gets
 * a copy and its reference on the connection, if that is there yet: without
 * one the request's maker is still at it, and frees it as soon as it sees it
 * unlinked.
 */
static bool take_req(struct via_ether_nic *nic, const u8 *mac, u16 vi,
		     u32 cookie, struct via_ether_req *copy)
{
	struct via_ether_req *req;
	bool mine = false;

	spin_lock(&nic->lock);
	req = find_req(nic, mac, vi, cookie);
	if (req) {
		list_del_init(&req->link);
		nic->nreqs--;
		*copy = *req;
		mine = req->conn;
	}
	spin_unlock(&nic->lock);
	if (mine)
		kfree(req);
	return req;
}

static void drop_taken(const struct via_ether_req *copy)
{
	if (copy->conn)
		via_conn_put(copy->conn);
}

static void remember(struct via_ether_nic *nic,
		     const struct via_ether_client *c, u8 type)
{
	u32 i;

	spin_lock(&nic->lock);
	i = nic->next_verdict++ % VIA_ETHER_VERDICTS;
	ether_addr_copy(nic->verdicts[i].mac, c->mac);
	nic->verdicts[i].vi = c->vi;
	nic->verdicts[i].cookie = c->cookie;
	nic->verdicts[i].type = type;
	nic->verdicts[i].until = jiffies + msecs_to_jiffies(REMEMBER_MS);
	spin_unlock(&nic->lock);
}

/* The answer given to this client before, or 0.  nic->lock held. */
static u8 find_verdict(struct via_ether_nic *nic,
		       const struct via_ether_client *c)
{
	u32 i;

	for (i = 0; i < VIA_ETHER_VERDICTS; i++)
		if (nic->verdicts[i].cookie == c->cookie &&
		    nic->verdicts[i].vi == c->vi &&
		    ether_addr_equal(nic->verdicts[i].mac, c->mac) &&
		    time_before(jiffies, nic->verdicts[i].until))
			return nic->verdicts[i].type;
	return 0;
}

/* What the other end has told of itself.  Both queue locks held. */
static void set_peer(struct via_ether_vi *ev, u16 vi, u32 cookie,
		     u32 first_seq, u32 mtu, u32 frames)
{
	mtu = min(mtu, READ_ONCE(ev->nic->mtu));
	ev->peer_vi = vi;
	ev->peer_cookie = cookie;
	ev->seg_send = mtu - VIA_WIRE_SEND_HDR;
	ev->seg_write = mtu - VIA_WIRE_WRITE_HDR;
	via_win_init(&ev->tx, ev->first_seq, min(frames, via_ether_window));
	via_rtt_init(&ev->rtt, max_t(u32, RTO_FIRST_US, via_ether_rto_min()));
	ev->rtt_at = jiffies - 1;
	ev->stamp = jiffies;
	ev->retries = 0;
	ev->resent = 0;
	ev->timeouts = 0;
	ev->rx.next = first_seq;
	ev->rx.held = 0;
	ev->acked = first_seq;
	ev->turns = 0;
	ev->push = false;
	ev->late = false;
	ev->last_rx = jiffies;
	via_ether_head_init(ev);
}

/* ops->connect */
int via_ether_connect(struct via_vi *vi)
{
	struct via_ether_vi *ev = vi->priv;
	int ret = 0;

	local_bh_disable();
	via_ether_lock(vi);
	if (vi->remote.host_len != ETH_ALEN ||
	    !is_valid_ether_addr(vi->remote.host)) {
		ret = VIA_R_NOT_REACHABLE;
	} else {
		ether_addr_copy(ev->peer_mac, vi->remote.host);
		ev->deadline = vi->deadline;
		ev->forever = vi->forever;
		via_ether_start(ev, VIA_PHASE_REQUEST);
	}
	via_ether_unlock(vi);
	if (!ret)
		via_ether_conn_tick(ev);
	local_bh_enable();
	return ret;
}

/* ops->accept */
int via_ether_accept(struct via_conn *conn, struct via_vi *vi)
{
	const struct via_ether_client *c = (const void *)conn->priv;
	struct via_ether_nic *nic = conn->nic->priv;
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_req req;

	local_bh_disable();
	if (!take_req(nic, c->mac, c->vi, c->cookie, &req)) {
		local_bh_enable();
		return VIA_R_TIMEOUT;
	}
	via_ether_lock(vi);
	ether_addr_copy(ev->peer_mac, c->mac);
	/* Who confirms in the last moment is not sent away. */
	ev->deadline = conn->deadline + msecs_to_jiffies(TRY_FIRST_MS);
	ev->forever = req.forever;
	via_ether_start(ev, VIA_PHASE_ACCEPT);
	set_peer(ev, c->vi, c->cookie, c->first_seq, c->mtu, c->frames);
	via_ether_unlock(vi);
	remember(nic, c, VIA_WIRE_ACCEPT);
	via_ether_conn_tick(ev);
	drop_taken(&req);
	local_bh_enable();
	return 0;
}

/* ops->reject */
void via_ether_reject(struct via_conn *conn)
{
	const struct via_ether_client *c = (const void *)conn->priv;
	struct via_ether_nic *nic = conn->nic->priv;
	struct via_ether_req req;

	local_bh_disable();
	if (take_req(nic, c->mac, c->vi, c->cookie, &req)) {
		remember(nic, c, VIA_WIRE_REJECT);
		answer(nic, VIA_WIRE_REJECT, c);
		drop_taken(&req);
	}
	local_bh_enable();
}

/*
 * The client has shown that it knows of the connection.  True when the VI is
 * connected.  BH off, no lock held.
 */
bool via_ether_confirmed(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	u8 phase;

	via_ether_lock(vi);
	phase = ev->phase;
	if (phase == VIA_PHASE_ACCEPT)
		ev->phase = VIA_PHASE_CONNECTED;
	via_ether_unlock(vi);
	if (phase == VIA_PHASE_ACCEPT)
		/* False: the agent has called disconnect(), or will. */
		return via_conn_established(vi, NULL);
	return phase == VIA_PHASE_CONNECTED;
}

/* End an attempt that is still in @phase.  BH off, no lock held. */
void via_ether_conn_fail(struct via_ether_vi *ev, enum via_ether_phase phase,
			 u32 verdict)
{
	struct via_vi *vi = ev->vi;
	bool mine;

	via_ether_lock(vi);
	mine = ev->phase == phase;
	if (mine)
		via_ether_disconnect(vi, verdict == VIA_R_TIMEOUT);
	via_ether_unlock(vi);
	if (mine)
		via_conn_failed(vi, verdict);
}

/* Time for another try, or none is left.  BH off, no lock held. */
void via_ether_conn_tick(struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	enum via_ether_phase phase;
	bool late = false;
	u32 ms;

	via_ether_lock(vi);
	phase = ev->phase;
	if (phase != VIA_PHASE_REQUEST && phase != VIA_PHASE_ACCEPT)
		goto out;
	late = !ev->forever && time_after_eq(via_now(), ev->deadline);
	if (late || time_before(jiffies, ev->next_try))
		goto out;
	ms = ev->waiting ? TRY_WAITING_MS :
	     min(TRY_FIRST_MS << min(ev->tries, 5u), TRY_LAST_MS);
	ev->tries++;
	ev->next_try = jiffies + via_ether_scaled(ms);
	if (phase == VIA_PHASE_REQUEST)
		via_ether_count(ev->nic, REQUESTS_OUT);
	via_ether_send_conn(ev, phase == VIA_PHASE_REQUEST ?
			    VIA_WIRE_REQUEST : VIA_WIRE_ACCEPT);
out:
	via_ether_unlock(vi);
	if (late)
		via_ether_conn_fail(ev, phase, VIA_R_TIMEOUT);
}

static void fill_addr(struct via_net_addr *a, const u8 *host, u32 host_len,
		      const u8 *disc, u32 disc_len)
{
	BUILD_BUG_ON(VIA_WIRE_HOST_MAX > VIA_ADDR_MAX);
	BUILD_BUG_ON(VIA_WIRE_DISC_MAX > VIA_DISC_MAX);
	a->host_len = host_len;
	a->disc_len = disc_len;
	memcpy(a->host, host, host_len);
	memcpy(a->disc, disc, disc_len);
}

/* Hand a new request to the agent.  Returns the answer. */
static u8 new_request(struct via_ether_nic *nic, struct via_ether_req *req,
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
	struct via_conn *conn;
	bool taken;

	BUILD_BUG_ON(sizeof(req->client) > VIA_CONN_PRIV);
	fill_addr(&local, c->server_host, c->server_host_len,
		  c->server_disc, c->server_disc_len);
	fill_addr(&remote, c->client_host, c->client_host_len,
		  c->client_disc, c->client_disc_len);
	conn = via_conn_incoming(nic->ka, &local, &remote, &attrs, timeout,
				 &req->client, sizeof(req->client));

	spin_lock(&nic->lock);
	taken = list_empty(&req->link);
	if (IS_ERR(conn)) {
		if (!taken) {
			list_del_init(&req->link);
			nic->nreqs--;
		}
		taken = true;
	} else if (!taken) {
		req->conn = conn;
	}
	spin_unlock(&nic->lock);
	if (!taken)
		return VIA_WIRE_WAIT;
	/* Answered or cancelled already: it was left to us to free it. */
	if (!IS_ERR(conn)) {
		via_conn_put(conn);
	} else if (PTR_ERR(conn) == -ENOENT) {
		remember(nic, &req->client, VIA_WIRE_NO_MATCH);
		answer(nic, VIA_WIRE_NO_MATCH, &req->client);
	}
	kfree(req);
	return 0;
}

static void rx_request(struct via_ether_nic *nic,
		       const struct via_ether_frame *f)
{
	struct via_ether_req *req, *old;
	struct via_conn_hdr c;
	u8 type;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	via_ether_count(nic, REQUESTS_IN);
	/* Without memory: the client will ask again. */
	req = kzalloc(sizeof(*req), GFP_ATOMIC | __GFP_NOWARN);
	if (!req)
		return;
	ether_addr_copy(req->client.mac, f->src);
	req->client.vi = c.vi;
	req->client.cookie = c.peer_cookie;
	req->client.first_seq = c.first_seq;
	req->client.mtu = c.mtu;
	req->client.frames = c.frames;
	req->seen = jiffies;
	req->forever = c.timeout_ms == VIA_WIRE_FOREVER;
	req->deadline = jiffies + msecs_to_jiffies(c.timeout_ms);

	spin_lock(&nic->lock);
	old = find_req(nic, f->src, c.vi, c.peer_cookie);
	type = find_verdict(nic, &req->client);
	if (old) {
		old->seen = jiffies;
		type = VIA_WIRE_WAIT;
	} else if (!type && nic->nreqs < REQS_MAX && !nic->stopping) {
		nic->nreqs++;
		list_add_tail(&req->link, &nic->reqs);
		spin_unlock(&nic->lock);
		via_ether_arm(nic);
		type = new_request(nic, req, &c);
		/* req may be gone: the agent's program may have it. */
		if (type) {
			struct via_ether_client who = {
				.vi = c.vi,
				.cookie = c.peer_cookie,
			};

			ether_addr_copy(who.mac, f->src);
			answer(nic, type, &who);
		}
		return;
	}
	spin_unlock(&nic->lock);
	/* An accepted one hears of it from the VI that accepted it. */
	if (type && type != VIA_WIRE_ACCEPT)
		answer(nic, type, &req->client);
	kfree(req);
}

static void rx_accept(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h)
{
	struct via_vi *vi = via_vi_lookup(nic->ka, h->dst);
	struct via_vi_attrs attrs;
	struct via_ether_vi *ev;
	struct via_conn_hdr c;
	bool fresh = false, known = false;

	if (via_wire_parse_conn(f->hdr, &c)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (!vi)
		goto stranger;
	ev = vi->priv;
	via_ether_lock(vi);
	if (ev->cookie && ev->cookie == h->cookie &&
	    ether_addr_equal(ev->peer_mac, f->src)) {
		fresh = ev->phase == VIA_PHASE_REQUEST;
		known = fresh || (ev->phase == VIA_PHASE_CONNECTED &&
				  ev->peer_cookie == c.peer_cookie);
		ev->last_rx = jiffies;
		if (fresh) {
			set_peer(ev, c.vi, c.peer_cookie, c.first_seq, c.mtu,
				 c.frames);
			ev->phase = VIA_PHASE_CONNECTED;
		}
	}
	via_ether_unlock(vi);
	if (!known)
		goto stranger;
	if (fresh) {
		attrs = (struct via_vi_attrs) {
			.reliability = c.reliability,
			.max_transfer = c.max_transfer,
			.rights = c.rights,
		};
		/* False: the agent has called disconnect(), or will. */
		if (!via_conn_established(vi, &attrs))
			return;
	}
	spin_lock(&vi->rq.lock);
	if (ev->phase == VIA_PHASE_CONNECTED)
		via_ether_send_ack(ev, VIA_WIRE_CONFIRM);
	spin_unlock(&vi->rq.lock);
	return;
stranger:
	via_ether_count(nic, NO_VI);
	via_ether_send_reset(nic, f->src, c.vi, c.peer_cookie);
}

/* WAIT, NO_MATCH, REJECT at the client; CONFIRM at the server. */
static void rx_verdict(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_vi *vi = via_vi_lookup(nic->ka, h->dst);
	struct via_ether_vi *ev;
	enum via_ether_phase phase = VIA_PHASE_NONE;

	if (!vi)
		return;
	ev = vi->priv;
	via_ether_lock(vi);
	if (ev->cookie && ev->cookie == h->cookie &&
	    ether_addr_equal(ev->peer_mac, f->src)) {
		phase = ev->phase;
		ev->last_rx = jiffies;
	}
	if (phase == VIA_PHASE_REQUEST && h->type == VIA_WIRE_WAIT) {
		ev->waiting = true;
		ev->next_try = jiffies + via_ether_scaled(TRY_WAITING_MS);
	}
	via_ether_unlock(vi);
	if (phase == VIA_PHASE_ACCEPT && h->type == VIA_WIRE_CONFIRM)
		via_ether_confirmed(ev);
	else if (phase == VIA_PHASE_REQUEST && h->type == VIA_WIRE_NO_MATCH)
		via_ether_conn_fail(ev, phase, VIA_R_NO_MATCH);
	else if (phase == VIA_PHASE_REQUEST && h->type == VIA_WIRE_REJECT)
		via_ether_conn_fail(ev, phase, VIA_R_REJECT);
}

/* The peer has no such end of a connection as dst and cookie say. */
static void no_peer(struct via_ether_nic *nic, const u8 *mac, u16 dst,
		    u32 cookie)
{
	struct via_ether_vi *ev;
	enum via_ether_phase phase;

	list_for_each_entry_rcu(ev, &nic->live, live_link) {
		spin_lock(&ev->vi->sq.lock);
		phase = ev->phase;
		if (phase < VIA_PHASE_ACCEPT || ev->peer_vi != dst ||
		    ev->peer_cookie != cookie ||
		    !ether_addr_equal(ev->peer_mac, mac))
			phase = VIA_PHASE_NONE;
		if (phase == VIA_PHASE_CONNECTED)
			via_vi_break_later(ev->vi, 0);
		spin_unlock(&ev->vi->sq.lock);
		if (phase == VIA_PHASE_ACCEPT)
			via_ether_conn_fail(ev, phase, VIA_R_TIMEOUT);
		via_vi_settle(ev->vi);
		if (phase)
			return;
	}
}

static void rx_cancel(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		      const struct via_frame_hdr *h)
{
	struct via_ether_req req;

	if (!take_req(nic, f->src, h->dst, h->cookie, &req))
		return no_peer(nic, f->src, h->dst, h->cookie);
	if (req.conn)
		via_conn_cancel(req.conn);
	drop_taken(&req);
}

/* Frames that are about connections, not on one.  BH off, RCU read side. */
void via_ether_conn_rx(struct via_ether_nic *nic,
		       const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	switch (h->type) {
	case VIA_WIRE_REQUEST:
		return rx_request(nic, f);
	case VIA_WIRE_ACCEPT:
		return rx_accept(nic, f, h);
	case VIA_WIRE_CANCEL:
		return rx_cancel(nic, f, h);
	case VIA_WIRE_RESET:
		via_ether_count(nic, RESETS_IN);
		return no_peer(nic, f->src, h->dst, h->cookie);
	default:
		return rx_verdict(nic, f, h);
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
			list_move_tail(&req->link, &old);
			nic->nreqs--;
		}
	}
	spin_unlock(&nic->lock);
	list_for_each_entry_safe(req, n, &old, link) {
		via_conn_cancel(req->conn);
		via_conn_put(req->conn);
		kfree(req);
	}
}

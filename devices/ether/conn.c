// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
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
 * by the client's address, VI id and cookie and gets the same answer.  Peer to
 * peer is the same with one of the two in the client's part: p2p.c.
 */

#include "admit.h"
#include "conn.h"
#include "handshake.h"
#include "xmit.h"

#define TRY_FIRST_MS	20
#define TRY_LAST_MS	500
#define TRY_WAITING_MS	1000		/* the server is there, and decides */
#define TRIES_VISIT	128u		/* attempts looked at in a tick */

/* As others were told; less than that is no MTU. */
static u32 own_mtu(const struct via_ether_nic *nic)
{
	return max(READ_ONCE(nic->mtu), VIA_WIRE_MTU_MIN);
}

/* The tick that is to look at an attempt: a later one.  A queue lock held. */
static u64 try_at(const struct via_ether_vi *ev)
{
	u64 now = get_jiffies_64();
	long left = ev->attempt.next - (unsigned long)now;

	if (!ev->attempt.forever)
		left = min_t(long, left, ev->attempt.deadline - via_now());
	return now + max(left, 1L);
}

static void fill_addr(struct via_wire_addr *w, const struct via_net_addr *a)
{
	u32 host = min_t(u32, a->host_len, VIA_WIRE_HOST_MAX);
	u32 disc = min_t(u32, a->disc_len, VIA_WIRE_DISC_MAX);

	w->host_len = host;
	w->disc_len = disc;
	memcpy(w->host, a->host, host);
	memcpy(w->disc, a->disc, disc);
}

/* A reply goes where addresses are that the client knows. */
static void fill_reply(struct via_wire_conn *c, const struct via_reply *reply)
{
	u32 n = min_t(u32, reply->len, VIA_WIRE_DISC_MAX);

	BUILD_BUG_ON(VIA_WIRE_REPLY_MAX != VIA_REPLY_MAX);
	c->options |= cpu_to_be32(VIA_WIRE_O_REPLY);
	memset(c->client.disc, 0, sizeof(c->client.disc));
	memset(c->server.disc, 0, sizeof(c->server.disc));
	c->client.disc_len = n;
	c->server.disc_len = reply->len - n;
	memcpy(c->client.disc, reply->data, n);
	memcpy(c->server.disc, reply->data + n, reply->len - n);
}

/* What is left of the client's time, in milliseconds. */
static u32 time_left(const struct via_ether_vi *ev)
{
	if (ev->attempt.forever)
		return VIA_WIRE_FOREVER;
	if (time_after_eq(via_now(), ev->attempt.deadline))
		return 0;
	return min_t(u64, jiffies_to_msecs(ev->attempt.deadline - via_now()),
		     VIA_WIRE_FOREVER - 1);
}

/* With it the host that is accepted here next asks without a CHALLENGE. */
static u64 fresh_token(struct via_ether_vi *ev)
{
	struct via_token_of of;

	via_ether_token_of(&of, ev->nic, ev->conn.remote.addr,
			   ev->conn.remote_epoch);
	return via_ether_token_make(ev->nic, &of);
}

/* (PEER_)REQUEST or (PEER_)ACCEPT, from what the VI knows and is about. */
static bool via_ether_send_conn(struct via_ether_vi *ev, u8 type)
{
	bool client = type == VIA_WIRE_REQUEST ||
		      type == VIA_WIRE_PEER_REQUEST;
	const struct via_reply *reply;
	struct via_vi *vi = ev->vi;
	struct {
		struct via_wire_hello h;
		struct via_wire_conn c;
	} __packed __aligned(8) f = {};
	struct via_xmit ctl = {
		.peer = ev->peer,
		.host = ev->conn.remote.addr,
		.dst = client ? via_ether_id(vi) : 0,
		.cookie = client ? ev->conn.cookie : ev->conn.remote_cookie,
		.vi = via_ether_id(vi),
		.flow = vi->index,
		.size = sizeof(f),
		.type = type,
	};

	via_ether_fill_hello(&f.h, ev->nic);
	if (client)
		ev->attempt.token = via_peer_told(ev->peer);
	f.h.token = cpu_to_be64(client ? ev->attempt.token : fresh_token(ev));
	f.c.vi = cpu_to_be32(via_ether_id(vi));
	f.c.to = client ? 0 : cpu_to_be32(ev->conn.remote_id);
	f.c.sender_cookie = cpu_to_be64(ev->conn.cookie);
	f.c.first_seq = cpu_to_be32(ev->conn.first_seq);
	f.c.reliability = cpu_to_be32(vi->attrs.reliability);
	f.c.max_transfer = cpu_to_be32(vi->attrs.max_transfer);
	f.c.rights = cpu_to_be32(vi->attrs.rights);
	f.c.timeout_ms = cpu_to_be32(time_left(ev));
	if (client ? ev->conn.want_seal : ev->conn.seal == VIA_WIRE_SUM)
		f.c.options = cpu_to_be32(VIA_WIRE_O_SUM);
	if (vi->kernel && type == VIA_WIRE_REQUEST)
		f.c.options |= cpu_to_be32(VIA_WIRE_O_REPLY);
	if (client ? !!vi->kernel : via_conn_notes(vi))
		f.c.options |= cpu_to_be32(VIA_WIRE_O_NOTES);
	fill_addr(&f.c.client, client ? &vi->local : &vi->remote);
	fill_addr(&f.c.server, client ? &vi->remote : &vi->local);
	reply = via_conn_reply(vi);
	if (reply && type == VIA_WIRE_ACCEPT)
		fill_reply(&f.c, reply);
	return via_ether_xmit(ev->nic, &ctl, &f);
}

/* What is put off meanwhile is looked at once more than need be. */
void via_ether_attempt_begin(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;
	u64 at = try_at(ev);
	bool earlier;

	spin_lock(&nic->lock);
	earlier = !via_order_has(&ev->on.connecting) || at < ev->on.connecting.key;
	if (earlier) {
		via_order_del(&nic->connecting, &ev->on.connecting);
		via_order_add(&nic->connecting, &ev->on.connecting, at);
	}
	spin_unlock(&nic->lock);
	if (earlier)
		via_ether_arm(nic);
}

/* No frame is longer than that.  Both queue locks held. */
static void fit(struct via_ether_vi *ev, u32 mtu)
{
	mtu = min(mtu, READ_ONCE(ev->peer->path)) - ev->conn.seal_len;
	ev->conn.seg_send = mtu - VIA_WIRE_SEND_HDR;
	ev->conn.seg_write = mtu - VIA_WIRE_WRITE_HDR;
}

void via_ether_update_mtu(struct via_ether_vi *ev)
{
	u32 mtu = READ_ONCE(ev->nic->mtu);

	if (ev->conn.phase < VIA_PHASE_ACCEPT)
		return;
	if (mtu >= VIA_WIRE_MTU_MIN)
		fit(ev, min(mtu, ev->conn.mtu));
	else if (ev->conn.phase == VIA_PHASE_CONNECTED)
		via_ether_give_up(ev, VIA_END_OURS, VIA_WIRE_R_MTU_REDUCED);
	else
		via_ether_conn_end(ev, VIA_R_NOT_REACHABLE);
}

/* What the other end has told of itself.  Both queue locks held. */
static void set_remote(struct via_ether_vi *ev, u32 vi, u64 cookie,
		       u32 first_seq, u32 mtu, u32 frames, bool sum)
{
	rcu_read_lock();
	ev->conn.key_id = via_peer_key_id(ev->peer);
	rcu_read_unlock();
	spin_lock(&ev->nic->lock);
	via_peer_del_end(ev);
	spin_unlock(&ev->nic->lock);
	ev->conn.seal = ev->conn.key_id ? VIA_WIRE_AUTH : sum ? VIA_WIRE_SUM : 0;
	ev->conn.seal_len = via_wire_seal_len(ev->conn.seal);
	ev->snd.odd = ev->conn.seal ? VIA_ODD_SEALED : 0;
	if (ev->conn.reliable && !via_ether_rtt_net(ev))
		ev->snd.odd |= VIA_ODD_ASK;
	ev->conn.remote_id = vi;
	ev->conn.remote_cookie = cookie;
	ev->conn.mtu = min(mtu, own_mtu(ev->nic));
	fit(ev, ev->conn.mtu);
	ev->conn.dma_from = via_ether_dma_from(ev);
	via_win_init(&ev->snd.win, ev->conn.first_seq,
		     min(frames, via_ether_window));
	/* At Unreliable nothing is kept of a frame: no ring bounds the window. */
	if (!ev->conn.reliable)
		ev->snd.win.limit = ev->snd.win.most;
	ev->rcv.heard_ack = ev->conn.first_seq;
	via_ether_share_begin(ev);
	via_rto_init(&ev->rto, ev->conn.first_seq, jiffies);
	ev->snd.resent = 0;
	ev->snd.timeouts = 0;
	via_win_rx_init(&ev->rcv.win, first_seq, via_ether_credit(ev->nic));
	ev->snd.acked = first_seq;
	/* A window that is small is not to wait for its last frame. */
	ev->delack.least = clamp(ev->rcv.win.limit / 4, 1u, via_ether_ack_every);
	ev->delack.most = clamp(ev->rcv.win.limit / 4, 1u,
				VIA_ETHER_ACK_RARELY * via_ether_ack_every);
	via_delack_init(&ev->delack, first_seq, ev->conn.first_seq,
			ktime_get_ns());
	ev->rcv.last_rx = jiffies;
	ev->rcv.next_challenge = jiffies;
	via_ether_head_init(ev);
	via_peer_add_end(ev);
}

void via_ether_set_remote(struct via_ether_vi *ev, const struct via_conn_hdr *c,
			  bool sum)
{
	ev->conn.remote_epoch = c->hello.epoch;
	via_conn_takes(ev->vi, via_ether_takes(c->options & VIA_WIRE_O_NOTES));
	set_remote(ev, c->vi, c->sender_cookie, c->first_seq, c->hello.mtu,
		   c->hello.frames, sum);
}

/*
 * Begin an attempt of ours.  The addresses stay while the caller is at it; the
 * deadline may have come already, and with it the verdict.
 */
static enum via_verdict attempt(struct via_vi *vi, enum via_ether_phase phase)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_peer *peer;
	bool pending;

	if (vi->remote.host_len != ev->nic->host.len ||
	    !ev->nic->ops->host_valid(ev->nic, vi->remote.host) ||
	    !via_ether_allowed(ev->nic, vi->remote.host) ||
	    READ_ONCE(ev->nic->mtu) < VIA_WIRE_MTU_MIN)
		return VIA_R_NOT_REACHABLE;
	peer = via_peer_get(ev->nic, vi->remote.host, GFP_KERNEL);
	if (!peer)
		return VIA_R_ERROR_RESOURCE;
	local_bh_disable();
	via_ether_lock(vi);
	pending = vi->state == VIA_STATE_PENDING;
	if (pending) {
		ev->conn.remote = peer->host;
		WRITE_ONCE(ev->peer, peer);
		ev->attempt.deadline = vi->deadline;
		ev->attempt.forever = vi->forever;
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
	return attempt(vi, VIA_PHASE_REQUEST);
}

/* ops->p2p_connect */
enum via_verdict via_ether_p2p_connect(struct via_vi *vi)
{
	return attempt(vi, VIA_PHASE_P2P);
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
	ev->conn.remote = c->host;
	/* A client that confirms in the last moment is not sent away. */
	ev->attempt.deadline = conn->deadline + msecs_to_jiffies(TRY_FIRST_MS);
	ev->attempt.forever = req->forever;
	via_ether_start(ev, VIA_PHASE_ACCEPT);
	ev->conn.remote_epoch = c->epoch;
	via_conn_takes(ev->vi, c->takes);
	set_remote(ev, c->vi, c->cookie, c->first_seq, c->mtu, c->frames,
		   c->want_seal || ev->conn.want_seal);
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
	if (!via_ether_take_req(nic, c->host.addr, c->vi, c->cookie, &req)) {
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
		via_ether_cache_reply(req.peer, c, VIA_WIRE_ACCEPT, 0, NULL);
		via_ether_conn_tick(ev);
	}
	via_ether_drop_req(&req);
	local_bh_enable();
	return pending ? 0 : VIA_R_TIMEOUT;
}

/* Both queue locks held. */
void via_ether_stands(struct via_ether_vi *ev)
{
	ev->conn.phase = VIA_PHASE_CONNECTED;
	via_peer_join(ev);
	/* The path may have got another MTU since set_remote(). */
	fit(ev, min(ev->conn.mtu, own_mtu(ev->nic)));
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
	if (ev->conn.phase == VIA_PHASE_ACCEPT &&
	    via_ether_allowed(ev->nic, ev->conn.remote.addr) &&
	    ev->conn.key_id == READ_ONCE(ev->peer->want_key) &&
	    via_conn_established(vi, vi->p2p ? &ev->attempt.attrs : NULL))
		via_ether_stands(ev);
	ok = ev->conn.phase == VIA_PHASE_CONNECTED;
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
	if (ev->conn.phase == VIA_PHASE_REQUEST)
		return VIA_WIRE_REQUEST;
	if (ev->conn.phase == VIA_PHASE_P2P)
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
	return ev->conn.phase == VIA_PHASE_ACCEPT &&
	       time_after_eq(jiffies, ev->rcv.last_rx + via_ether_dead());
}

/* The request, or the ACCEPT.  A queue lock held. */
void via_ether_send_try(struct via_ether_vi *ev)
{
	via_ether_send_conn(ev, conn_frame(ev));
}

void via_ether_server_waits(struct via_ether_vi *ev)
{
	ev->attempt.waiting = true;
	ev->attempt.next = jiffies + via_ether_scaled(TRY_WAITING_MS);
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
	if (!ev->attempt.forever &&
	    time_after_eq(via_now(), ev->attempt.deadline)) {
		via_ether_conn_end(ev, VIA_R_TIMEOUT);
		goto out;
	}
	if (time_before(jiffies, ev->attempt.next))
		goto out;
	if (unlikely(accept_unheard(ev))) {
		if (vi->p2p)
			lost = ev->conn.remote_cookie;
		else
			via_ether_conn_end(ev, VIA_R_TIMEOUT);
		goto out;
	}
	ms = ev->attempt.waiting ? TRY_WAITING_MS :
	     min(TRY_FIRST_MS << min(ev->attempt.tries, 5u), TRY_LAST_MS);
	ev->attempt.tries++;
	ev->attempt.next = jiffies + via_ether_scaled(ms);
	if (ev->conn.phase != VIA_PHASE_ACCEPT)
		via_ether_count(ev->nic, REQUESTS_OUT);
	via_ether_send_try(ev);
out:
	if (via_ether_trying(ev))
		via_ether_attempt_begin(ev);
	via_ether_unlock(vi);
	if (unlikely(lost))
		via_ether_p2p_lost(ev, lost);
}

/*
 * The next attempt whose time has come; its visit puts it back in its place if it
 * goes on.  NULL: there is none, or it is enough for this tick.
 */
static struct via_ether_vi *next_try(struct via_ether_nic *nic,
				     struct via_work *work)
{
	struct via_ether_vi *ev = NULL;
	u64 now = get_jiffies_64();
	struct via_order_node *first;

	spin_lock(&nic->lock);
	first = via_order_first(&nic->connecting);
	if (first && first->key <= now && via_work_visit(work)) {
		ev = container_of(first, struct via_ether_vi, on.connecting);
		via_order_del(&nic->connecting, first);
	}
	spin_unlock(&nic->lock);
	return ev;
}

bool via_ether_tries_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	struct via_order_node *first = via_order_first(&nic->connecting);

	lockdep_assert_held(&nic->lock);
	if (first)
		*at = first->key;
	return first;
}

/* What is left has times that are over, so the timer is armed for them. */
bool via_ether_tries_run(struct via_ether_nic *nic)
{
	struct via_work work = VIA_WORK(TRIES_VISIT);
	struct via_ether_vi *ev;

	while ((ev = next_try(nic, &work)))
		via_ether_conn_tick(ev);
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
		if (p2p && !via_ether_p2p_fits(ev, &attrs, from))
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
					   via_ether_p2p_verdict(h->reason));
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

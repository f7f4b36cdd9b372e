// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connections, both sides: how one begins, stands and ends, and the class's part
 * of a VI with it.  What comes about one is handled by handshake.c.
 *
 *   client                                     server
 *     |------------- REQUEST ------------------->| matched with a waiter
 *     |<------------ WAIT -----------------------| its program decides
 *     |<------------ ACCEPT ---------------------| repeated until
 *     |------------- CONFIRM ------------------->| this, or data, arrives
 *
 * Each end sends again what is not answered; a repeated frame is recognised
 * by the client's address, VI id and cookie and gets the same answer.  Peer to
 * peer is the same with one of the two in the client's part: handshake.c.
 */

#include <linux/random.h>
#include <linux/slab.h>
#include "../../kernel/via_conn.h"
#include "acks.h"
#include "admit.h"
#include "allow.h"
#include "conn.h"
#include "end.h"
#include "param.h"
#include "reply_cache.h"
#include "request.h"
#include "run.h"
#include "share.h"
#include "stats.h"
#include "timer.h"
#include "timewait.h"
#include "vi.h"
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

int via_ether_vi_create(struct via_vi *vi)
{
	struct via_ether_vi *ev = vi->priv;

	ev->vi = vi;
	ev->nic = vi->nic->priv;
	via_order_node_init(&ev->on.connecting);
	INIT_LIST_HEAD(&ev->on.run);
	INIT_LIST_HEAD(&ev->on.conns);
	INIT_HLIST_NODE(&ev->on.ends);
	via_credit_init(&ev->snd.credit);
	return 0;
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
	long left = ev->attempt.deadline - via_now();

	if (ev->attempt.forever)
		return VIA_WIRE_FOREVER;
	return min_t(u64, jiffies_to_msecs(max(left, 0L)),
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
static void via_ether_attempt_begin(struct via_ether_vi *ev)
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

/* An attempt begins, to ev->peer.  Both queue locks held. */
static void start_attempt(struct via_ether_vi *ev, enum via_ether_phase phase)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	do {
		ev->conn.cookie = get_random_u64();
	} while (!ev->conn.cookie);
	ev->conn.first_seq = get_random_u32();
	ev->conn.want_seal = READ_ONCE(via_ether_checksum);
	/* From here until the VI is Idle again its attributes stay. */
	ev->conn.reliable = ev->vi->attrs.reliability != VIA_UNRELIABLE;
	ev->conn.phase = phase;
	ev->attempt.tries = 0;
	ev->conn.asked = false;
	ev->attempt.next = jiffies;
	ev->attempt.waiting = false;
	ev->conn.reason = VIA_WIRE_R_CLOSED;
	ev->rcv.last_rx = jiffies;

	via_ether_attempt_begin(ev);
}

/*
 * No frame is longer than the peer, our interface and the path between them take.
 * Both queue locks held.
 */
static void fit_segments(struct via_ether_vi *ev)
{
	u32 mtu = min3(ev->conn.mtu, own_mtu(ev->nic),
		       READ_ONCE(ev->peer->path)) - ev->conn.seal_len;

	ev->conn.seg_send = mtu - VIA_WIRE_SEND_HDR;
	ev->conn.seg_write = mtu - VIA_WIRE_WRITE_HDR;
}

void via_ether_update_mtu(struct via_ether_vi *ev)
{
	if (ev->conn.phase < VIA_PHASE_ACCEPT)
		return;
	if (READ_ONCE(ev->nic->mtu) >= VIA_WIRE_MTU_MIN)
		fit_segments(ev);
	else if (ev->conn.phase == VIA_PHASE_CONNECTED)
		via_ether_give_up(ev, VIA_END_OURS, VIA_WIRE_R_MTU_REDUCED);
	else
		via_ether_conn_end(ev, VIA_R_NOT_REACHABLE);
}

static void head_init(struct via_ether_vi *ev)
{
	ev->conn.head = (struct via_wire) {
		.version = VIA_WIRE_VERSION,
		.dst = cpu_to_be32(ev->conn.remote_id),
		.cookie = cpu_to_be64(ev->conn.remote_cookie),
	};
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
	ev->conn.mtu = mtu;
	fit_segments(ev);
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
	ev->snd.cpu = VIA_CPU_NONE;
	/* A window that is small is not to wait for its last frame. */
	ev->delack.least = clamp(ev->rcv.win.limit / 4, 1u, via_ether_ack_every);
	ev->delack.most = clamp(ev->rcv.win.limit / 4, 1u,
				VIA_ETHER_ACK_RARELY * via_ether_ack_every);
	via_delack_init(&ev->delack, first_seq, ev->conn.first_seq,
			ktime_get_ns());
	ev->rcv.last_rx = jiffies;
	ev->rcv.next_challenge = jiffies;
	head_init(ev);
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
static enum via_verdict begin_attempt(struct via_vi *vi,
				      enum via_ether_phase phase)
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
		start_attempt(ev, phase);
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
	return begin_attempt(vi, VIA_PHASE_REQUEST);
}

/* ops->p2p_connect */
enum via_verdict via_ether_p2p_connect(struct via_vi *vi)
{
	return begin_attempt(vi, VIA_PHASE_P2P);
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
	start_attempt(ev, VIA_PHASE_ACCEPT);
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
	fit_segments(ev);
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
		start_attempt(ev, VIA_PHASE_P2P);
	}
	via_ether_unlock(vi);
	if (claim)
		via_p2p_release(vi, claim);
}

/* The connection is over.  Both queue locks held. */
static void reads_forget(struct via_ether_vi *ev)
{
	ev->snd.odd = 0;
	ev->answers.turn = false;
	ev->reads.pending = 0;
	ev->reads.head = 0;
	ev->reads.tail = 0;
	ev->answers.head = 0;
	ev->answers.next = 0;
	ev->answers.tail = 0;
	ev->answers.off = 0;
	ev->reads.acked_late = 0;
}

static void held_free(struct via_ether_vi *ev)
{
	u32 seq = ev->rcv.win.next + 1;

	for (; via_win_held(&ev->rcv.win, &seq); seq++) {
		kfree(ev->rcv.held[seq % ev->rcv.win.size]);
		via_ether_give_room(ev);
	}
	kfree(ev->rcv.held);
	ev->rcv.held = NULL;
	via_win_rx_init(&ev->rcv.win, ev->rcv.win.next, 1);
}

/*
 * The attempt or the connection is over: no frame finds the VI any more, no
 * timer looks at it.  Both queue locks held.
 */
static void via_ether_forget(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	ev->conn.phase = VIA_PHASE_NONE;
	ev->snd.busy = false;
	reads_forget(ev);
	ev->rcv.open = false;
	ev->rcv.dsack_due = false;
	ev->rcv.untold = false;
	ev->rcv.ce_echo = false;
	via_rto_end(&ev->rto);
	ev->delack.interval = 0;
	held_free(ev);
	via_ether_share_end(ev);
	kfree(via_win_end(&ev->snd.win));
	via_win_init(&ev->snd.win, 0, 1);

	spin_lock(&nic->lock);
	via_order_del(&nic->connecting, &ev->on.connecting);
	via_ether_unwatch(ev);
	via_ether_ack_deadline_over(ev);
	via_ether_run_forget(ev);
	if (ev->peer) {
		via_ether_owes_no_more(ev);
		via_peer_del_end(ev);
		via_peer_part(ev);
		via_peer_drop(ev->peer);
	}
	WRITE_ONCE(ev->peer, NULL);
	/* What is searched by it has had it until here. */
	ev->conn.cookie = 0;
	spin_unlock(&nic->lock);
}

/* ops->vi_forget: both queue locks held, and the state may be any. */
void via_ether_vi_forget(struct via_vi *vi)
{
	via_ether_forget(vi->priv);
}

/* The numbers of both halves, as they are when the connection ends. */
static struct via_end_frame via_ether_end_of(const struct via_ether_vi *ev)
{
	struct via_end_frame end = {
		.host = ev->conn.remote,
		.plain = !ev->conn.seal,
		.dst = ev->conn.remote_id,
		.cookie = ev->conn.remote_cookie,
		.seq = ev->snd.win.nxt,
		.ack = ev->rcv.win.next,
		.reason = ev->conn.reason,
		.src = via_ether_id(ev->vi),
	};

	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	return end;
}

/*
 * Tell the other end.  It may answer at once, so what the answer ends is there
 * before.  Both queue locks held.
 */
static void leave_peer(struct via_ether_vi *ev)
{
	struct via_end_frame end = via_ether_end_of(ev);

	via_ether_count_at(ev->nic, VIA_C_END_OURS + ev->conn.reason);
	via_timewait_begin(ev, &end);
	via_ether_send_disconnect(ev->peer, &end);
}

/* transport->disconnect: both queue locks held. */
void via_ether_disconnect(struct via_vi *vi, bool tell)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_client me = {
		.vi = via_ether_id(vi),
		.cookie = ev->conn.cookie,
		.host = ev->conn.remote,
	};

	/* What the class has not broken, and given a reason, the agent has. */
	if (atomic_read(&vi->broken) & VIA_BROKEN_TELL &&
	    ev->conn.reason == VIA_WIRE_R_CLOSED)
		ev->conn.reason = VIA_WIRE_R_TRANSPORT;
	if (tell && (ev->conn.phase == VIA_PHASE_REQUEST ||
		     ev->conn.phase == VIA_PHASE_P2P))
		via_ether_answer(ev->nic, vi->index, VIA_WIRE_CANCEL, 0, &me);
	else if (tell && ev->conn.phase != VIA_PHASE_NONE)
		leave_peer(ev);
	via_ether_forget(ev);
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

void via_ether_set_mtu(struct via_ether_nic *nic, u32 mtu)
{
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS);
	struct via_ether_vi *ev;
	struct via_vi *vi;
	u32 i = 0;

	mtu = min(mtu, VIA_WIRE_MTU_MAX);
	WRITE_ONCE(nic->mtu, mtu);
	WRITE_ONCE(nic->ka->limits.native_mtu,
		   max(mtu, VIA_WIRE_MTU_MIN) - VIA_WIRE_SEND_HDR);
	local_bh_disable();
	rcu_read_lock();
	while ((vi = via_ether_next_vi(nic, &i, &work, true))) {
		ev = vi->priv;
		via_ether_lock(vi);
		/* One that begins from now on reads the new one. */
		via_ether_update_mtu(ev);
		via_ether_unlock(vi);
		via_ether_settle(vi, &work);
	}
	rcu_read_unlock();
	local_bh_enable();
}
EXPORT_SYMBOL_GPL(via_ether_set_mtu);

void via_ether_vi_stats(struct via_vi *vi, struct via_stats_sink *sink)
{
	struct via_ether_vi *ev = vi->priv;
	const struct via_peer *peer = READ_ONCE(ev->peer);

	if (!peer || READ_ONCE(ev->conn.phase) != VIA_PHASE_CONNECTED)
		return;
	/* Racy by nature; each is one word, the peer's memory is RCU's. */
	via_stat(sink, "tx_next_seq", READ_ONCE(ev->snd.win.nxt));
	via_stat(sink, "rx_next_seq", READ_ONCE(ev->rcv.win.next));
	via_stat(sink, "checksum", READ_ONCE(ev->conn.seal) == VIA_WIRE_SUM);
	via_stat(sink, "authenticator",
		 READ_ONCE(ev->conn.seal) == VIA_WIRE_AUTH);
	via_stat(sink, "tx_in_flight", via_win_flight(&ev->snd.win));
	via_stat(sink, "tx_window", READ_ONCE(ev->snd.win.most));
	via_stat(sink, "tx_cwnd", READ_ONCE(peer->pool.cong.cwnd));
	via_stat(sink, "tx_granted", READ_ONCE(peer->pool.granted));
	via_stat(sink, "tx_credit", READ_ONCE(ev->snd.win.credit));
	if (!ev->conn.reliable)
		return;
	via_stat(sink, "rtt_us", READ_ONCE(peer->timing.rtt.srtt) / 8);
	via_stat(sink, "rto_us", via_peer_rto(peer));
	via_stat(sink, "retransmits", READ_ONCE(ev->snd.resent));
	via_stat(sink, "timeouts", READ_ONCE(ev->snd.timeouts));
	via_stat(sink, "rx_held", READ_ONCE(ev->rcv.win.held));
	via_stat(sink, "ping_pong", clamp(READ_ONCE(ev->delack.pingpong), 0,
					  VIA_DELACK_PINGPONG));
	via_stat(sink, "reads_pending", READ_ONCE(ev->reads.tail) -
					READ_ONCE(ev->reads.head));
	via_stat(sink, "answers_pending", READ_ONCE(ev->answers.tail) -
					  READ_ONCE(ev->answers.head));
}

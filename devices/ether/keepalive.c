// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Is the other host there, and does it have the connections that this one has?
 *
 * A peer with connections that has said nothing for a second is sent HEARTBEAT,
 * one frame for all of them, and answers with HEARTBEAT_ACK.  Hosts that both
 * ask do so by turns, and a VI that is idle costs neither a frame nor a visit.
 *
 *   the peer says nothing		after 8 s and 4 HEARTBEATs all of its
 *					connections end
 *   another epoch in HEARTBEAT_ACK	the peer was started again: connections
 *					of the epoch before end
 *   another digest in it		see below
 *
 * A side whose connections have changed since HEARTBEAT_ACK agreed with them
 * asks each second until it does again, whatever else is heard, and a side that
 * is asked about other connections than it has asks, too.  Where two of them in a
 * row differ, with nothing begun or ended between them, or three with that, LIST
 * tells the peer which of its connections are known here.  One that a LIST
 * lacks is asked, by an ACK with ACK_NOW, and its answer is RESET; one that the
 * LIST of a second later lacks, too, and that was not heard meanwhile, ends.
 * So LIST ends nothing by itself: it may have been under way for long, or be
 * forged.
 *
 * HEARTBEAT_ACK proves where it comes from: it repeats the nonce of the
 * HEARTBEAT, 64 bits that only the host at that address has seen.  HEARTBEAT
 * proves nothing, and has no effect but its answer and one HEARTBEAT a second.
 * LIST is looked at while HEARTBEAT_ACKs differ, by the peer's proven word.
 */

#include <linux/random.h>
#include "acks.h"
#include "admit.h"
#include "conn.h"
#include "end.h"
#include "keepalive.h"
#include "param.h"
#include "stats.h"
#include "vi.h"
#include "xmit.h"

#define ASKED_MAX	4ul		/* HEARTBEATs that a dead peer was sent */
#define LISTS_VISIT	32u		/* LISTs sent in a visit */
#define LIST_OF		32u		/* ends of the peer's that one is of */
#define MISSING_MAX	64u		/* asked for one LIST */
#define KEEPALIVE_VISIT	256u		/* peers, and connections that end, at a tick */

/* HEARTBEATs that were not answered, at least, of what has died. */
static u32 least_asked(void)
{
	return clamp(via_ether_dead() / (2 * via_ether_heartbeat()), 1ul,
		     ASKED_MAX);
}

/* Does it stand, on this peer?  A queue lock held. */
static bool is_vi_up(const struct via_ether_vi *ev, const struct via_peer *peer)
{
	return ev->peer == peer && ev->conn.phase == VIA_PHASE_CONNECTED &&
	       !via_vi_is_broken(ev->vi);
}

static u32 fold_digest(u64 sum)
{
	return (u32)sum + (u32)(sum >> 32);
}

/* What this host has: of the frames.  nic->lock not held; @peer may be NULL. */
static void own_heartbeat(const struct via_peer *peer,
			  struct via_heartbeat_hdr *b)
{
	b->connections = 0;
	b->digest = 0;
	if (!peer)
		return;
	spin_lock(&peer->nic->lock);
	b->connections = peer->vis.n;
	b->digest = fold_digest(peer->keepalive.sum);
	spin_unlock(&peer->nic->lock);
}

/* Are these what this host has?  nic->lock held. */
static bool has_same_vis(const struct via_peer *peer,
			 const struct via_heartbeat_hdr *b)
{
	return b->connections == peer->vis.n &&
	       b->digest == fold_digest(peer->keepalive.sum);
}

static void send_heartbeat(struct via_peer *peer)
{
	struct via_ether_nic *nic = peer->nic;
	unsigned long heard = READ_ONCE(peer->last_rx);
	struct via_peer_keepalive *hb = &peer->keepalive;
	struct via_heartbeat_hdr b;
	u64 epoch;

	own_heartbeat(peer, &b);
	spin_lock(&nic->lock);
	b.time = hb->nonce;
	hb->check = false;
	epoch = peer->epoch;
	spin_unlock(&nic->lock);
	b.epoch = nic->epoch;
	/* It would be as good as none to a host that cannot trust it. */
	b.token = 0;
	hb->next = jiffies + via_ether_heartbeat();
	if (hb->asked_since != heard)
		hb->asked = 0;
	hb->asked_since = heard;
	hb->asked++;
	via_ether_count(nic, HEARTBEATS_OUT);
	via_ether_send_heartbeat(nic, peer, peer->host.addr, VIA_WIRE_HEARTBEAT,
				 epoch, &b);
}

/*
 * The peer has said nothing for long enough, and has been asked meanwhile: a
 * host whose own CPU did not run has not asked.
 */
static bool is_peer_silent(const struct via_peer *peer)
{
	unsigned long heard = READ_ONCE(peer->last_rx);

	return time_after_eq(jiffies, heard + via_ether_dead()) &&
	       peer->keepalive.asked_since == heard &&
	       peer->keepalive.asked >= least_asked() &&
	       time_after_eq(jiffies, peer->keepalive.next);
}

/* Are there connections that only a HEARTBEAT_ACK can settle? */
static bool is_peer_unsettled(const struct via_peer *peer)
{
	return READ_ONCE(peer->keepalive.check) || !READ_ONCE(peer->keepalive.agreed);
}

/*
 * Is it time to ask?  A peer that has answered is to ask next, or we do a
 * second later; one that has not is asked again.  One that asks all the time
 * and is not heard is asked all the same.
 */
static bool is_heartbeat_due(const struct via_peer *peer)
{
	unsigned long theirs = READ_ONCE(peer->asked_us);
	unsigned long heard = READ_ONCE(peer->last_rx);
	unsigned long interval = via_ether_heartbeat(), at = peer->keepalive.next;

	if (time_before(jiffies, at))
		return false;
	if (is_peer_unsettled(peer) || jiffies - heard >= 3 * interval)
		return true;
	if (jiffies - heard < interval)
		return false;
	if (peer->keepalive.asked_since != heard)
		at = time_after(theirs + interval, at) ? theirs + interval : at + interval;
	return time_after_eq(jiffies, at);
}

/*
 * A connection that the peer seems not to have.  It is asked, or it was, a
 * second ago or more, and has not been heard since.  Both queue locks held.
 */
static void ask_missing_vi(struct via_ether_vi *ev)
{
	unsigned long interval = via_ether_heartbeat();

	if (!ev->conn.asked ||
	    !time_after(ev->conn.asked_at, ev->rcv.last_rx)) {
		ev->conn.asked = true;
		ev->conn.asked_at = jiffies;
		via_ether_send_ack_request(ev);
	} else if (jiffies - ev->conn.asked_at >= interval / 2) {
		via_ether_end(ev, VIA_END_LIST, 0);
	}
}

/* Is it one of those that are to end?  Both queue locks held, it stands. */
static void end_one(struct via_ether_vi *ev, u32 ends)
{
	if (ends & VIA_PEER_UPDATE_MTU)
		via_ether_update_mtu(ev);
	if (ends & VIA_PEER_END_RESTARTED &&
	    ev->conn.remote_epoch != ev->peer->epoch)
		via_ether_end(ev, VIA_END_RESTARTED, 0);
	/* One that has just begun was heard. */
	else if (ends & VIA_PEER_END_SILENT &&
		 jiffies - ev->rcv.last_rx >= via_ether_dead())
		via_ether_give_up(ev, VIA_END_SILENT, VIA_WIRE_R_TRANSPORT);
	else if (ends & VIA_PEER_END_NONE)
		ask_missing_vi(ev);
}

/*
 * Each step takes the first connection and makes it the last, under the lock
 * that guards the list: after as many steps as there were connections each that
 * stood all the time has been first once, whatever came and went meanwhile.
 * NULL: there are no more steps, or it is enough for now.
 */
static struct via_ether_vi *next_end(struct via_peer *peer, u32 *ends,
				     struct via_work *work)
{
	struct via_peer_keepalive *hb = &peer->keepalive;
	struct via_ether_vi *ev = NULL;

	spin_lock(&peer->nic->lock);
	*ends = hb->ends;
	if (hb->left && via_work_visit(work)) {
		ev = via_peer_turn(peer);
		hb->left = ev ? hb->left - 1 : 0;
	}
	if (!hb->left)
		hb->ends = 0;
	spin_unlock(&peer->nic->lock);
	return ev;
}

/* True: some are left. */
static bool end_some(struct via_peer *peer, struct via_work *work)
{
	struct via_ether_vi *ev;
	u32 ends;

	while ((ev = next_end(peer, &ends, work))) {
		via_ether_lock(ev->vi);
		if (is_vi_up(ev, peer))
			end_one(ev, ends);
		via_ether_unlock(ev->vi);
		via_ether_settle(ev->vi, work);
	}
	return READ_ONCE(peer->keepalive.left);
}

static void end_silent(struct via_peer *peer)
{
	spin_lock(&peer->nic->lock);
	via_peer_ends(peer, VIA_PEER_END_SILENT);
	spin_unlock(&peer->nic->lock);
}

/*
 * The next LIST: those of the peer's ends that are known here, from where the
 * last one ended.  False: it was the last one, or none is to be sent.
 */
static bool send_list(struct via_peer *peer)
{
	struct via_ether_nic *nic = peer->nic;
	u64 cookie[VIA_WIRE_LIST_MAX], low, high, epoch;
	struct via_ether_vi *ev;
	u32 n = 0;

	spin_lock(&nic->lock);
	low = peer->keepalive.list_from;
	if (!low) {
		spin_unlock(&nic->lock);
		return false;
	}
	high = low + min(peer->keepalive.list_span, U64_MAX - low);
	for (ev = via_peer_theirs(peer, low);
	     ev && ev->conn.remote_cookie <= high && n < VIA_WIRE_LIST_MAX;
	     ev = via_peer_next_theirs(ev))
		/* Two that drew one number are one here. */
		if (!n || cookie[n - 1] != ev->conn.remote_cookie)
			cookie[n++] = ev->conn.remote_cookie;
	if (n == VIA_WIRE_LIST_MAX)
		high = cookie[n - 1];
	/* 0: all have been told. */
	peer->keepalive.list_from = high + 1;
	epoch = peer->epoch;
	spin_unlock(&nic->lock);
	via_ether_send_list(peer, epoch, low, high, cookie, n);
	return high != U64_MAX;
}

/* True: it is to be visited again at once. */
static bool visit_peer(struct via_peer *peer, struct via_work *work)
{
	struct via_work lists = VIA_WORK(LISTS_VISIT);
	bool more = false;

	if (unlikely(is_peer_silent(peer)))
		end_silent(peer);
	else if (is_heartbeat_due(peer))
		send_heartbeat(peer);
	if (unlikely(READ_ONCE(peer->keepalive.left)))
		more = end_some(peer, work);
	if (unlikely(READ_ONCE(peer->keepalive.list_from))) {
		while (via_work_visit(&lists) && send_list(peer))
			;
		via_work_charge(work, LISTS_VISIT - lists.left);
	}
	return more;
}

/*
 * The peer at the head of those that are looked at; it is the last one then.
 * NULL: all have had their turn, or it is enough for this tick.
 */
static struct via_peer *next_peer(struct via_ether_nic *nic,
				  struct via_work *work)
{
	struct via_peer *peer = NULL;

	spin_lock(&nic->lock);
	if (nic->tick.peers_left && via_work_visit(work)) {
		peer = list_first_entry_or_null(&nic->peers->on,
						struct via_peer, on_link);
		nic->tick.peers_left = peer ? nic->tick.peers_left - 1 : 0;
	}
	if (peer)
		list_move_tail(&peer->on_link, &nic->peers->on);
	spin_unlock(&nic->lock);
	return peer;
}

bool via_keepalive_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	lockdep_assert_held(&nic->lock);
	return !list_empty(&nic->peers->on);
}

/*
 * As end_some() walks; a peer's memory is there for the read side.  A round of all
 * peers may take several ticks, each of which goes on where the last one ended.
 */
bool via_keepalive_run(struct via_ether_nic *nic)
{
	struct via_work work = VIA_WORK(KEEPALIVE_VISIT);
	struct via_peer *peer;
	bool more;

	spin_lock(&nic->lock);
	if (!nic->tick.peers_left)
		nic->tick.peers_left = nic->peers->non;
	spin_unlock(&nic->lock);
	while ((peer = next_peer(nic, &work)))
		nic->tick.peers_again |= visit_peer(peer, &work);
	if (READ_ONCE(nic->tick.peers_left))
		return true;
	more = nic->tick.peers_again;
	nic->tick.peers_again = false;
	return more;
}

void via_keepalive_check(struct via_peer *peer)
{
	WRITE_ONCE(peer->keepalive.check, true);
}

/*
 * Those of our ends that @l tells of lack, among it: work for as many as a LIST
 * has and as many as are asked, however many connections there are.  What is
 * found is there for the caller's RCU read side.
 */
static u32 find_missing(struct via_peer *peer, const struct via_list_hdr *l,
			struct via_ether_vi **ev)
{
	struct via_ether_vi *at;
	u32 n = 0, i = 0;

	lockdep_assert_held(&peer->nic->lock);
	for (at = via_peer_ours(peer, l->low);
	     at && at->conn.cookie <= l->high && n < MISSING_MAX;
	     at = via_peer_next_ours(at)) {
		while (i < l->count &&
		       be64_to_cpu(l->at[i].cookie) < at->conn.cookie)
			i++;
		if (i == l->count ||
		    be64_to_cpu(l->at[i].cookie) != at->conn.cookie)
			ev[n++] = at;
	}
	return n;
}

static void look_for_missing(struct via_peer *peer,
			     const struct via_list_hdr *l)
{
	struct via_ether_vi *ev[MISSING_MAX];
	u32 n = 0, i;

	spin_lock(&peer->nic->lock);
	if (peer->keepalive.differs == VIA_PEER_DIFFERS)
		n = find_missing(peer, l, ev);
	spin_unlock(&peer->nic->lock);
	for (i = 0; i < n; i++) {
		via_ether_lock(ev[i]->vi);
		/* It may have ended meanwhile, or be another one. */
		if (is_vi_up(ev[i], peer))
			ask_missing_vi(ev[i]);
		via_ether_unlock(ev[i]->vi);
		via_vi_settle(ev[i]->vi);
	}
}

static void rx_list(struct via_ether_nic *nic, const struct via_ether_frame *f,
		    const struct via_frame_hdr *h)
{
	struct via_peer *peer = via_peer_find(nic, f->src);
	struct via_list_hdr l;

	if (via_wire_parse_list(f->hdr, &l)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	via_ether_count(nic, LISTS_IN);
	if (peer && h->cookie == nic->epoch)
		look_for_missing(peer, &l);
}

/*
 * HEARTBEAT.  A host that has no connections with the sender, or was started
 * again since, answers as it answers unknown hosts.
 */
static void rx_heartbeat(struct via_ether_nic *nic,
			 const struct via_ether_frame *f,
			 const struct via_frame_hdr *h,
			 const struct via_heartbeat_hdr *theirs)
{
	struct via_peer *peer = via_peer_find(nic, f->src);
	struct via_heartbeat_hdr b = { .time = theirs->time, .epoch = nic->epoch };
	bool known = peer && h->cookie == nic->epoch;
	struct via_token_of of;

	via_ether_count(nic, HEARTBEATS_IN);
	if (known) {
		spin_lock(&nic->lock);
		known = !list_empty(&peer->on_link);
		if (known && (theirs->epoch != peer->epoch ||
			      !has_same_vis(peer, theirs)))
			WRITE_ONCE(peer->keepalive.check, true);
		spin_unlock(&nic->lock);
		WRITE_ONCE(peer->asked_us, jiffies);
	}
	if (!known && !via_ether_may_answer(nic, f->src, VIA_LIMIT_ANSWER,
					    f->len, VIA_WIRE_HEARTBEAT_LEN))
		return;
	own_heartbeat(peer, &b);
	via_ether_token_of(&of, nic, f->src, theirs->epoch);
	b.token = via_ether_token_make(nic, &of);
	via_ether_send_heartbeat(nic, peer, f->src, VIA_WIRE_HEARTBEAT_ACK,
				 theirs->epoch, &b);
}

/* What the peer has is compared.  nic->lock held. */
static void compare_vis(struct via_peer *peer,
			const struct via_heartbeat_hdr *b)
{
	struct via_peer_keepalive *hb = &peer->keepalive;

	lockdep_assert_held(&peer->nic->lock);
	if (has_same_vis(peer, b)) {
		hb->agreed = true;
		hb->differs = 0;
		hb->list_from = 0;
		return;
	}
	if (hb->differs && hb->differs_at == hb->changes)
		hb->differs = VIA_PEER_DIFFERS;
	else
		hb->differs = min(hb->differs + 1, VIA_PEER_DIFFERS);
	hb->differs_at = hb->changes;
	hb->agreed = false;
	if (hb->differs < VIA_PEER_DIFFERS || hb->list_from)
		return;
	/* It has none, so it may have no LIST to send. */
	if (!b->connections)
		via_peer_ends(peer, VIA_PEER_END_NONE);
	hb->list_from = 1;
	/* Cookies are random: each LIST is of about as many of the peer's. */
	hb->list_span = U64_MAX >> fls(b->connections / LIST_OF);
}

/* HEARTBEAT_ACK: the answer to a HEARTBEAT of ours, or nothing. */
static void rx_heartbeat_ack(struct via_ether_nic *nic, const struct via_ether_frame *f,
			     const struct via_heartbeat_hdr *b)
{
	struct via_peer *peer = via_peer_find(nic, f->src);
	bool ours = false;

	if (peer) {
		spin_lock(&nic->lock);
		ours = b->time == peer->keepalive.nonce &&
		       !list_empty(&peer->on_link);
		if (ours)
			peer->keepalive.nonce = get_random_u64();
		spin_unlock(&nic->lock);
	}
	if (!ours || !via_peer_saw_epoch(peer, b->epoch))
		return;
	via_ether_count(nic, HEARTBEAT_ACKS_IN);
	WRITE_ONCE(peer->last_rx, jiffies);
	if (b->token)
		via_peer_keep_token(peer, b->token);
	spin_lock(&nic->lock);
	compare_vis(peer, b);
	spin_unlock(&nic->lock);
}

void via_keepalive_rx(struct via_ether_nic *nic,
		      const struct via_ether_frame *f,
		       const struct via_frame_hdr *h)
{
	struct via_heartbeat_hdr b;

	if (h->type == VIA_WIRE_LIST)
		return rx_list(nic, f, h);
	if (via_wire_parse_heartbeat(f->hdr, &b)) {
		via_ether_count(nic, BAD_FIELD);
		return;
	}
	if (h->type == VIA_WIRE_HEARTBEAT)
		rx_heartbeat(nic, f, h, &b);
	else
		rx_heartbeat_ack(nic, f, &b);
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Is the other host still there, and does it still have our connections?
 *
 * A peer is sent one heartbeat a second, on one of its connections, however
 * many there are, and only if that one has been silent for a second.  Two hosts
 * that both ask do so by turns: one a second together.  The connections take
 * turns, too.  The one that is asked stays the next one to be
 * asked until it has been heard.  The timer looks at that one and not at the
 * others: an idle VI costs no frame and no visit.
 *
 *   the peer says nothing at all	after 8 s and 4 heartbeats all of its
 *					connections end
 *   the connection that is asked has	it alone ends, by the same rule
 *   no answer, while others are heard
 *   the peer does not know it (RESET)	it ends, and all others are asked, 64 in
 *					each visit: a host that was started
 *					again has lost them all
 *
 * With more than eight connections a turn takes longer than the 8 s within
 * which a lost one is to be found.  What a host can lose alone is what it ended
 * itself, and its DISCONNECT is sent again for so long (tomb.c).  What is
 * left, a host that ended a connection and could not say so in 8 s while it
 * was heard on others, is found at the connection's turn.  BEAT and LIST of
 * docs/wire.md compare all connections in one frame and take this over.
 */

#include "ether.h"

#define ASKED_MAX	4ul		/* heartbeats that a dead peer was sent */
#define LOOKS		64u		/* for one that is silent, in a visit */
#define HURRY		64u		/* asked in a visit, when one was lost */

/* The connection whose turn it is, or NULL; @pass: it is the last one then. */
static struct via_ether_vi *turn(struct via_peer *peer, bool pass)
{
	struct via_ether_nic *nic = peer->nic;
	struct via_ether_vi *ev;

	spin_lock(&nic->lock);
	ev = list_first_entry_or_null(&peer->conns, struct via_ether_vi,
				      conn_link);
	if (ev && pass)
		list_move_tail(&ev->conn_link, &peer->conns);
	spin_unlock(&nic->lock);
	return ev;
}

/* It has been looked at: the next one.  Another one may have come meanwhile. */
static void pass(struct via_peer *peer, struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = peer->nic;

	spin_lock(&nic->lock);
	if (!list_empty(&ev->conn_link) && ev->peer == peer)
		list_move_tail(&ev->conn_link, &peer->conns);
	spin_unlock(&nic->lock);
}

static u32 conns(struct via_peer *peer)
{
	u32 n;

	spin_lock(&peer->nic->lock);
	n = peer->nconns;
	spin_unlock(&peer->nic->lock);
	return n;
}

/* Heartbeats that were asked in vain, at least, of what has died. */
static u32 often(void)
{
	return clamp(via_ether_dead() / (2 * via_ether_heartbeat()), 1ul,
		     ASKED_MAX);
}

/* Does it stand, on this peer?  A queue lock held. */
static bool stands(const struct via_ether_vi *ev, const struct via_peer *peer)
{
	return ev->peer == peer && ev->phase == VIA_PHASE_CONNECTED &&
	       !via_vi_is_broken(ev->vi);
}

/* Both queue locks held. */
static void send_heartbeat(struct via_ether_vi *ev)
{
	if (ev->asked_since != ev->last_rx)
		ev->asked = 0;
	ev->asked_since = ev->last_rx;
	ev->asked++;
	via_ether_count(ev->nic, HEARTBEATS_OUT);
	via_ether_send_question(ev);
}

/* Both queue locks held. */
static void end(struct via_ether_vi *ev, unsigned long since)
{
	via_ether_count(ev->nic, DEAD);
	via_ether_give_up(ev, since, "frame");
}

/*
 * Ask it, if it is silent; false: it is not, or it does not stand, and another
 * one is to be asked.
 */
static bool ask(struct via_peer *peer, struct via_ether_vi *ev)
{
	struct via_vi *vi = ev->vi;
	unsigned long silent;
	bool asked = false;

	if (jiffies - READ_ONCE(ev->last_rx) < via_ether_heartbeat())
		return false;
	via_ether_lock(vi);
	silent = jiffies - ev->last_rx;
	if (!stands(ev, peer) || silent < via_ether_heartbeat()) {
		/* another context was faster */
	} else if (ev->asked && ev->asked_since != ev->last_rx) {
		/* It was asked, and has been heard since. */
		ev->asked = 0;
	} else if (ev->asked >= often() && silent >= via_ether_dead()) {
		end(ev, ev->last_rx);
	} else {
		send_heartbeat(ev);
		asked = true;
	}
	via_ether_unlock(vi);
	via_vi_settle(vi);
	return asked;
}

/* The next one that is silent. */
static void ask_one(struct via_peer *peer)
{
	/* One more: it may be the only one, and have answered. */
	u32 n = min(conns(peer) + 1, LOOKS);
	unsigned long heard = READ_ONCE(peer->last_rx);
	struct via_ether_vi *ev;

	for (; n; n--) {
		ev = turn(peer, false);
		if (!ev)
			return;
		if (ask(peer, ev)) {
			peer->next_ask = jiffies + via_ether_heartbeat();
			if (peer->asked_since != heard)
				peer->asked = 0;
			peer->asked_since = heard;
			peer->asked++;
			return;
		}
		pass(peer, ev);
	}
}

/* A connection was lost: are others?  All are asked, each once. */
static void ask_many(struct via_peer *peer)
{
	u32 n = min(READ_ONCE(peer->hurry), HURRY);
	struct via_ether_vi *ev;

	spin_lock(&peer->nic->lock);
	/* It is none by now if the last connection has gone. */
	WRITE_ONCE(peer->hurry, peer->hurry - min(n, peer->hurry));
	spin_unlock(&peer->nic->lock);
	for (; n; n--) {
		ev = turn(peer, true);
		if (!ev)
			return;
		via_ether_lock(ev->vi);
		if (stands(ev, peer))
			send_heartbeat(ev);
		via_ether_unlock(ev->vi);
	}
}

/*
 * The peer has said nothing for long enough, and has been asked meanwhile: a
 * host whose own CPU did not run has not asked.
 */
static bool unheard(const struct via_peer *peer)
{
	unsigned long heard = READ_ONCE(peer->last_rx);

	return time_after_eq(jiffies, heard + via_ether_dead()) &&
	       peer->asked_since == heard && peer->asked >= often() &&
	       time_after_eq(jiffies, peer->next_ask);
}

/*
 * All of its connections.  Each step takes the first one and makes it the last,
 * under the lock that guards the list: after as many steps as there were
 * connections each that stood all the time has been first once, whatever came
 * and went meanwhile.
 */
static void end_all(struct via_peer *peer)
{
	unsigned long heard = READ_ONCE(peer->last_rx);
	struct via_ether_vi *ev;
	u32 n = conns(peer);

	for (; n; n--) {
		ev = turn(peer, true);
		if (!ev)
			return;
		via_ether_lock(ev->vi);
		/* One that has just begun was heard. */
		if (stands(ev, peer) &&
		    jiffies - ev->last_rx >= via_ether_dead())
			end(ev, heard);
		via_ether_unlock(ev->vi);
		via_vi_settle(ev->vi);
	}
}

/* As end_all() walks. */
void via_ether_anew(struct via_peer *peer, u64 epoch)
{
	struct via_ether_vi *ev;
	u32 n = conns(peer);

	for (; n; n--) {
		ev = turn(peer, true);
		if (!ev)
			return;
		via_ether_lock(ev->vi);
		/* It knows nothing of them: there is nothing to tell it. */
		if (stands(ev, peer) && ev->remote_epoch != epoch)
			via_vi_break_later(ev->vi, 0);
		via_ether_unlock(ev->vi);
		via_vi_settle(ev->vi);
	}
}

/*
 * Is it time to ask?  A peer that has answered is to ask next, or we do a
 * second later; one that has not is asked again.
 */
static bool due(const struct via_peer *peer)
{
	unsigned long theirs = READ_ONCE(peer->asked_us);
	unsigned long beat = via_ether_heartbeat(), at = peer->next_ask;

	if (peer->asked_since != READ_ONCE(peer->last_rx))
		at = time_after(theirs + beat, at) ? theirs + beat : at + beat;
	return time_after_eq(jiffies, at);
}

static void visit(struct via_peer *peer)
{
	if (unlikely(READ_ONCE(peer->hurry)))
		ask_many(peer);
	if (unlikely(unheard(peer)))
		end_all(peer);
	else if (due(peer))
		ask_one(peer);
}

/* The peer at the head of those with connections; it is the last one then. */
static struct via_peer *next_peer(struct via_ether_nic *nic)
{
	struct via_peer *peer;

	spin_lock(&nic->lock);
	peer = list_first_entry_or_null(&nic->peers->on, struct via_peer,
					on_link);
	if (peer)
		list_move_tail(&peer->on_link, &nic->peers->on);
	spin_unlock(&nic->lock);
	return peer;
}

/* As end_all() walks; a peer's memory is there for the read side. */
void via_ether_silence(struct via_ether_nic *nic)
{
	struct via_peer *peer;
	u32 n;

	spin_lock(&nic->lock);
	n = nic->peers->non;
	spin_unlock(&nic->lock);
	for (; n; n--) {
		peer = next_peer(nic);
		if (!peer)
			return;
		visit(peer);
	}
}

void via_ether_join(struct via_ether_vi *ev)
{
	struct via_peer *peer = ev->peer;
	struct via_ether_nic *nic = ev->nic;

	WRITE_ONCE(peer->last_rx, jiffies);
	spin_lock(&nic->lock);
	if (list_empty(&ev->conn_link)) {
		list_add_tail(&ev->conn_link, &peer->conns);
		if (!peer->nconns++) {
			list_add_tail(&peer->on_link, &nic->peers->on);
			nic->peers->non++;
		}
	}
	spin_unlock(&nic->lock);
}

void via_ether_part(struct via_ether_vi *ev)
{
	struct via_peer *peer = ev->peer;

	lockdep_assert_held(&ev->nic->lock);
	if (list_empty(&ev->conn_link))
		return;
	list_del_init(&ev->conn_link);
	if (!--peer->nconns) {
		list_del_init(&peer->on_link);
		WRITE_ONCE(peer->hurry, 0);
		ev->nic->peers->non--;
	}
}

void via_ether_doubt(struct via_peer *peer)
{
	spin_lock(&peer->nic->lock);
	if (!peer->hurry)
		WRITE_ONCE(peer->hurry, peer->nconns);
	spin_unlock(&peer->nic->lock);
}

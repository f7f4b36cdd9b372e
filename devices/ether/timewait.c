// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is left of a connection that this host has ended: its DISCONNECT, sent
 * again a few times until a DISCONNECT_ACK answers it.  The other end hears of
 * it, or nothing of this host for as long as ends a connection anyhow.
 *
 * A NIC keeps TIMEWAIT_MAX of them, which bounds what programs that connect and
 * disconnect all the time add to the wire: 2,048 frames a second.  A
 * DISCONNECT without a place, or memory, is sent once; if that is lost,
 * HEARTBEAT_ACK finds it (keepalive.c).
 *
 *  1. DISCONNECT says why the connection has ended, RESET does not.  So as long as
 *     DISCONNECT is not answered, it is also the answer to frames of that connection,
 *     and no RESET overtakes it.
 *  2. So the other end learns the reason from the first frame about the end that
 *     arrives.  It does not where each is lost until it gives the connection up: by LIST
 *     or silence (keepalive.c), or since its frames are not acknowledged; or where this
 *     host has forgotten it, after via_ether_dead().  That takes three lost frames at
 *     least, DISCONNECTs and what asks for one.  Then its oldest descriptor has
 *     VIA_ST_TRANSPORT_ERROR, or all are flushed.
 */

#include <linux/slab.h>
#include "end.h"
#include "param.h"
#include "timewait.h"
#include "vi.h"
#include "xmit.h"

#define TIMEWAIT_MAX	4096u
#define REPEATS		4u		/* within via_ether_dead() */
#define TIMEWAIT_VISIT	512u		/* sent in one visit */

/**
 * struct via_timewait - a DISCONNECT that is sent again
 * @link:	nic->lock: on the list of the NIC
 * @node:	nic->lock: among those of its peer, id and cookie
 * @own:	nic->lock: the same by the names of this end
 * @peer:	constant, with a use of it
 * @end:	constant: what it says
 * @cookie:	constant: of this end
 * @next:	nic->lock: jiffies when it is due
 * @left:	nic->lock: repetitions
 */
struct via_timewait {
	struct list_head link;
	struct hlist_node node;
	struct hlist_node own;
	struct via_peer *peer;
	struct via_end_frame end;
	u64 cookie;
	unsigned long next;
	u32 left;
};

static unsigned long repeat_period(void)
{
	return via_ether_dead() / REPEATS;
}

static u32 place_of(const struct via_peer *peer, u32 id, u64 cookie)
{
	return via_peer_hash(peer, id, cookie) &
	       ((1u << VIA_PEER_TIMEWAIT_BITS) - 1);
}

static struct hlist_head *old_bucket(const struct via_peer *peer, u32 id,
				     u64 cookie)
{
	return &peer->nic->peers->named[place_of(peer, id, cookie)];
}

/* The same by the names of this end. */
static struct hlist_head *own_bucket(const struct via_peer *peer, u32 id,
				     u64 cookie)
{
	return &peer->nic->peers->left[place_of(peer, id, cookie)];
}

/* Both queue locks held, BH off. */
void via_timewait_begin(struct via_ether_vi *ev, const struct via_end_frame *end)
{
	struct via_ether_nic *nic = ev->nic;
	struct via_peers *peers = nic->peers;
	struct via_timewait *tw;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (READ_ONCE(peers->ntimewait) >= TIMEWAIT_MAX)
		return;
	tw = kmalloc(sizeof(*tw), GFP_ATOMIC | __GFP_NOWARN);
	if (!tw)
		return;
	*tw = (struct via_timewait) {
		.peer = ev->peer,
		.end = *end,
		.cookie = ev->conn.cookie,
		.next = jiffies + repeat_period(),
		.left = REPEATS,
	};
	spin_lock(&nic->lock);
	via_peer_hold(tw->peer);
	via_peer_timewaits(tw->peer, 1);
	peers->ntimewait++;
	list_add_tail(&tw->link, &peers->timewaits);
	hlist_add_head(&tw->node, old_bucket(tw->peer, end->dst, end->cookie));
	hlist_add_head(&tw->own, own_bucket(tw->peer, end->src, tw->cookie));
	spin_unlock(&nic->lock);
}

/* nic->lock held. */
static void drop_timewait(struct via_ether_nic *nic, struct via_timewait *tw)
{
	list_del(&tw->link);
	hlist_del(&tw->node);
	hlist_del(&tw->own);
	nic->peers->ntimewait--;
	via_peer_timewaits(tw->peer, -1);
	via_peer_drop(tw->peer);
	kfree(tw);
}

/*
 * The first one, if it is due: what it says, and its peer, which this read side
 * of RCU keeps.  All wait equally long.
 */
static struct via_peer *first_due(struct via_ether_nic *nic,
				  struct via_end_frame *end)
{
	struct via_peer *peer = NULL;
	struct via_timewait *tw;

	spin_lock(&nic->lock);
	tw = list_first_entry_or_null(&nic->peers->timewaits,
				      struct via_timewait, link);
	if (tw && time_after_eq(jiffies, tw->next)) {
		peer = tw->peer;
		*end = tw->end;
		tw->next = jiffies + repeat_period();
		if (--tw->left)
			list_move_tail(&tw->link, &nic->peers->timewaits);
		else
			drop_timewait(nic, tw);
	}
	spin_unlock(&nic->lock);
	return peer;
}

bool via_timewait_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	lockdep_assert_held(&nic->lock);
	return !list_empty(&nic->peers->timewaits);
}

bool via_timewait_run(struct via_ether_nic *nic)
{
	struct via_end_frame end;
	struct via_work work = VIA_WORK(TIMEWAIT_VISIT);
	struct via_peer *peer;

	while (via_work_visit(&work)) {
		peer = first_due(nic, &end);
		if (!peer)
			break;
		via_ether_send_disconnect(peer, &end);
	}
	return false;
}

/* RCU read side, BH off. */
bool via_timewait_has(const struct via_peer *peer,
		      const struct via_frame_hdr *h)
{
	const struct via_timewait *tw;
	bool found = false;

	spin_lock(&peer->nic->lock);
	hlist_for_each_entry(tw, old_bucket(peer, h->src, h->cookie), node)
		found |= tw->end.cookie == h->cookie && tw->peer == peer;
	spin_unlock(&peer->nic->lock);
	return found;
}

struct via_peer *via_timewait_left(struct via_ether_nic *nic, const u8 *host,
				   const struct via_frame_hdr *h,
				   struct via_end_frame *end)
{
	struct via_peer *peer = via_peer_find(nic, host);
	const struct via_timewait *tw;
	bool found = false;

	if (!peer)
		return NULL;
	spin_lock(&nic->lock);
	hlist_for_each_entry(tw, own_bucket(peer, h->dst, h->cookie), own) {
		if (tw->cookie == h->cookie && tw->end.src == h->dst &&
		    tw->peer == peer) {
			*end = tw->end;
			found = true;
			break;
		}
	}
	spin_unlock(&nic->lock);
	return found ? peer : NULL;
}

void via_timewait_acked(struct via_ether_nic *nic, const u8 *host,
			const struct via_frame_hdr *h)
{
	struct via_peer *peer = via_peer_find(nic, host);
	struct via_timewait *tw;

	if (!peer)
		return;
	spin_lock(&nic->lock);
	hlist_for_each_entry(tw, old_bucket(peer, h->src, h->cookie), node) {
		if (tw->end.cookie == h->cookie && tw->end.dst == h->src &&
		    tw->end.seq == h->seq && tw->peer == peer) {
			drop_timewait(nic, tw);
			break;
		}
	}
	spin_unlock(&nic->lock);
}

void via_timewait_stop(struct via_ether_nic *nic)
{
	struct via_timewait *tw, *n;

	spin_lock_bh(&nic->lock);
	list_for_each_entry_safe(tw, n, &nic->peers->timewaits, link) {
		drop_timewait(nic, tw);
	}
	spin_unlock_bh(&nic->lock);
}

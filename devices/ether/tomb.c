// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is left of a connection that this host has ended: its DISCONNECT, sent
 * again a few times until a DISCONNECT_ACK answers it.  The other end hears of
 * it, or nothing of this host for as long as ends a connection anyhow.
 *
 * A NIC keeps TOMBS_MAX of them, which bounds what programs that connect and
 * disconnect all the time add to the wire: 2,048 frames a second.  A
 * DISCONNECT without a place, or memory, is sent once; if that is lost, BEAT
 * finds it (beat.c).
 */

#include <linux/slab.h>
#include "ether.h"

#define TOMBS_MAX	4096u
#define REPEATS		4u		/* within via_ether_dead() */
#define TOMBS_VISIT	512u		/* sent in one visit */

/**
 * struct via_ether_tomb - a DISCONNECT that is sent again
 * @link:	nic->lock: on the list of the NIC
 * @node:	nic->lock: among those of its peer, id and cookie
 * @peer:	constant, with a use of it
 * @end:	constant: what it says
 * @next:	nic->lock: jiffies when it is due
 * @left:	nic->lock: repetitions
 */
struct via_ether_tomb {
	struct list_head link;
	struct hlist_node node;
	struct via_peer *peer;
	struct via_ether_end end;
	unsigned long next;
	u32 left;
};

static unsigned long period(void)
{
	return via_ether_dead() / REPEATS;
}

static struct hlist_head *bucket(const struct via_peer *peer, u32 id,
				 u64 cookie)
{
	u32 i = via_peer_hash(peer, id, cookie) &
		((1u << VIA_PEER_TOMB_BITS) - 1);

	return &peer->nic->peers->named[i];
}

/* Both queue locks held, BH off. */
void via_ether_bury(struct via_ether_vi *ev, const struct via_ether_end *end)
{
	struct via_ether_nic *nic = ev->nic;
	struct via_peers *peers = nic->peers;
	struct via_ether_tomb *tomb;

	lockdep_assert_held(&ev->vi->rq.lock);
	if (READ_ONCE(peers->ntombs) >= TOMBS_MAX)
		return;
	tomb = kmalloc(sizeof(*tomb), GFP_ATOMIC | __GFP_NOWARN);
	if (!tomb)
		return;
	*tomb = (struct via_ether_tomb) {
		.peer = ev->peer,
		.end = *end,
		.next = jiffies + period(),
		.left = REPEATS,
	};
	spin_lock(&nic->lock);
	via_peer_hold(tomb->peer);
	via_peer_tombs(tomb->peer, 1);
	peers->ntombs++;
	list_add_tail(&tomb->link, &peers->tombs);
	hlist_add_head(&tomb->node, bucket(tomb->peer, end->dst, end->cookie));
	spin_unlock(&nic->lock);
}

/* nic->lock held. */
static void drop(struct via_ether_nic *nic, struct via_ether_tomb *tomb)
{
	list_del(&tomb->link);
	hlist_del(&tomb->node);
	nic->peers->ntombs--;
	via_peer_tombs(tomb->peer, -1);
	via_peer_drop(tomb->peer);
	kfree(tomb);
}

/*
 * The first one, if it is due: what it says, and its peer, which this read side
 * of RCU keeps.  All wait equally long.
 */
static struct via_peer *due(struct via_ether_nic *nic,
			    struct via_ether_end *end)
{
	struct via_peer *peer = NULL;
	struct via_ether_tomb *tomb;

	spin_lock(&nic->lock);
	tomb = list_first_entry_or_null(&nic->peers->tombs,
					struct via_ether_tomb, link);
	if (tomb && time_after_eq(jiffies, tomb->next)) {
		peer = tomb->peer;
		*end = tomb->end;
		tomb->next = jiffies + period();
		if (--tomb->left)
			list_move_tail(&tomb->link, &nic->peers->tombs);
		else
			drop(nic, tomb);
	}
	spin_unlock(&nic->lock);
	return peer;
}

bool via_ether_tombs_wanted(const struct via_ether_nic *nic, unsigned long *at)
{
	lockdep_assert_held(&nic->lock);
	return !list_empty(&nic->peers->tombs);
}

bool via_ether_tombs(struct via_ether_nic *nic)
{
	struct via_ether_end end;
	struct via_work work = VIA_WORK(TOMBS_VISIT);
	struct via_peer *peer;

	while (via_work_visit(&work)) {
		peer = due(nic, &end);
		if (!peer)
			break;
		via_ether_send_disconnect(peer, &end);
	}
	return false;
}

/* RCU read side, BH off. */
bool via_ether_buried(const struct via_peer *peer,
		      const struct via_frame_hdr *h)
{
	const struct via_ether_tomb *tomb;
	bool found = false;

	spin_lock(&peer->nic->lock);
	hlist_for_each_entry(tomb, bucket(peer, h->src, h->cookie), node)
		found |= tomb->end.cookie == h->cookie && tomb->peer == peer;
	spin_unlock(&peer->nic->lock);
	return found;
}

void via_ether_unbury(struct via_ether_nic *nic, const u8 *host,
		      const struct via_frame_hdr *h)
{
	struct via_peer *peer = via_peer_find(nic, host);
	struct via_ether_tomb *tomb;

	if (!peer)
		return;
	spin_lock(&nic->lock);
	hlist_for_each_entry(tomb, bucket(peer, h->src, h->cookie), node) {
		if (tomb->end.cookie == h->cookie && tomb->end.dst == h->src &&
		    tomb->end.seq == h->seq && tomb->peer == peer) {
			drop(nic, tomb);
			break;
		}
	}
	spin_unlock(&nic->lock);
}

void via_ether_tombs_end(struct via_ether_nic *nic)
{
	struct via_ether_tomb *tomb, *n;

	spin_lock_bh(&nic->lock);
	list_for_each_entry_safe(tomb, n, &nic->peers->tombs, link) {
		drop(nic, tomb);
	}
	spin_unlock_bh(&nic->lock);
}

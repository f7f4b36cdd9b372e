// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers to attempts, and the memory of the last of them: an answer that was
 * lost is given again, and a late duplicate of a request starts nothing.
 */

#include <linux/slab.h>
#include "param.h"
#include "reply_cache.h"
#include "request.h"
#include "vi.h"

/* nic->lock not held. */
void via_ether_cache_reply(struct via_peer *peer,
			   const struct via_ether_client *c, u8 type, u8 reason,
			const struct via_reply *reply)
{
	struct via_reply *copy = NULL;
	struct via_peer_reply *v;

	/* Without memory: should the answer be lost, it is given without. */
	if (reply)
		copy = kmemdup(reply, sizeof(*reply),
			       GFP_ATOMIC | __GFP_NOWARN);
	spin_lock(&peer->nic->lock);
	v = &peer->reply[peer->next_reply++ % VIA_PEER_REPLIES];
	kfree(v->reply);
	*v = (struct via_peer_reply) {
		.vi = c->vi,
		.cookie = c->cookie,
		.type = type,
		.reason = reason,
		.reply = copy,
		.until = jiffies + via_ether_scaled(VIA_PEER_KEPT_MS),
	};
	spin_unlock(&peer->nic->lock);
}

/* The peer ends, or is never found by an attempt again.  nic->lock held. */
void via_ether_forget_replies(struct via_peer *peer)
{
	u32 i;

	lockdep_assert_held(&peer->nic->lock);
	for (i = 0; i < VIA_PEER_REPLIES; i++) {
		kfree(peer->reply[i].reply);
		peer->reply[i].reply = NULL;
	}
}

/* The answer given to this one before, or 0.  nic->lock held. */
u8 via_ether_cached_reply(const struct via_peer *peer,
			  const struct via_ether_client *c, u8 *reason,
		     struct via_reply *reply)
{
	const struct via_peer_reply *v;
	u32 i;

	lockdep_assert_held(&peer->nic->lock);
	for (i = 0; i < VIA_PEER_REPLIES; i++) {
		v = &peer->reply[i];
		if (v->cookie != c->cookie || v->vi != c->vi ||
		    time_after_eq(jiffies, v->until))
			continue;
		*reason = v->reason;
		reply->len = 0;
		if (v->reply)
			*reply = *v->reply;
		return v->type;
	}
	return 0;
}

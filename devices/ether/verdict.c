// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers to attempts, and the memory of the last of them: an answer that was
 * lost is given again, and a late duplicate of a request starts nothing.
 */

#include "ether.h"

/* nic->lock not held. */
void via_ether_remember(struct via_peer *peer,
			const struct via_ether_client *c, u8 type, u8 reason)
{
	struct via_peer_verdict *v;

	spin_lock(&peer->nic->lock);
	v = &peer->verdict[peer->next_verdict++ % VIA_PEER_VERDICTS];
	*v = (struct via_peer_verdict) {
		.vi = c->vi,
		.cookie = c->cookie,
		.type = type,
		.reason = reason,
		.until = jiffies + via_ether_scaled(VIA_PEER_KEPT_MS),
	};
	spin_unlock(&peer->nic->lock);
}

/* The answer given to this one before, or 0.  nic->lock held. */
u8 via_ether_verdict(const struct via_peer *peer,
		     const struct via_ether_client *c, u8 *reason)
{
	const struct via_peer_verdict *v;
	u32 i;

	lockdep_assert_held(&peer->nic->lock);
	for (i = 0; i < VIA_PEER_VERDICTS; i++) {
		v = &peer->verdict[i];
		if (v->cookie != c->cookie || v->vi != c->vi ||
		    time_after_eq(jiffies, v->until))
			continue;
		*reason = v->reason;
		return v->type;
	}
	return 0;
}

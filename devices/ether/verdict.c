// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Answers to attempts, and the memory of the last of them: an answer that was
 * lost is given again, and a late duplicate of a request starts nothing.
 */

#include "ether.h"

/* Ten tries of a client that knows we are there (TRY_WAITING_MS in conn.c). */
#define REMEMBER_MS	10000

/* nic->lock not held. */
void via_ether_remember(struct via_ether_nic *nic,
			const struct via_ether_client *c, u8 type, u8 reason)
{
	u32 i;

	spin_lock(&nic->lock);
	i = nic->next_verdict++ % VIA_ETHER_VERDICTS;
	ether_addr_copy(nic->verdicts[i].mac, c->mac);
	nic->verdicts[i].vi = c->vi;
	nic->verdicts[i].cookie = c->cookie;
	nic->verdicts[i].type = type;
	nic->verdicts[i].reason = reason;
	nic->verdicts[i].until = jiffies + via_ether_scaled(REMEMBER_MS);
	spin_unlock(&nic->lock);
}

/* The answer given to this one before, or 0.  nic->lock held. */
u8 via_ether_verdict(struct via_ether_nic *nic,
		     const struct via_ether_client *c, u8 *reason)
{
	u32 i;

	lockdep_assert_held(&nic->lock);
	for (i = 0; i < VIA_ETHER_VERDICTS; i++) {
		if (nic->verdicts[i].cookie != c->cookie ||
		    nic->verdicts[i].vi != c->vi ||
		    !ether_addr_equal(nic->verdicts[i].mac, c->mac) ||
		    time_after_eq(jiffies, nic->verdicts[i].until))
			continue;
		*reason = nic->verdicts[i].reason;
		return nic->verdicts[i].type;
	}
	return 0;
}

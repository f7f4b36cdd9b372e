// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The table of VIs that look for their peers, for p2p.c and for devices.
 *
 * The table is a place to look, not the truth: that is the state, under the
 * queue locks.  A VI may stand in it after its attempt has ended, until a finder
 * meets it; it never stands in it with the addresses of another attempt.  Only the
 * holder of file->mutex lists a VI or begins an attempt: it finds the VI Idle,
 * takes it out of the table, and then publishes other addresses.
 */

#include <linux/export.h>
#include "connect.h"
#include "p2p.h"
#include "vi.h"

/* What a VI is found by: its addresses, and its claim; 0: none. */
struct via_p2p_key {
	const struct via_net_addr *local;
	const struct via_net_addr *remote;
	u64 claim;
};

static bool via_addr_equal(const struct via_net_addr *a,
			   const struct via_net_addr *b)
{
	return via_disc_equal(a, b) && a->host_len == b->host_len &&
	       !memcmp(a->host, b->host, a->host_len);
}

static bool via_p2p_is(const struct via_table_node *n, const void *key)
{
	const struct via_vi *vi = container_of(n, struct via_vi, p2p_node);
	const struct via_p2p_key *k = key;

	return vi->p2p_claim == k->claim &&
	       via_addr_equal(&vi->local, k->local) &&
	       via_addr_equal(&vi->remote, k->remote);
}

/* Strangers choose all of it. */
static u32 via_p2p_hash(const struct via_nic *nic, const struct via_p2p_key *k)
{
	u32 h = via_table_hash(&nic->conn.p2p, k->local->disc,
			       k->local->disc_len);

	h = via_table_hash_more(h, k->remote->disc, k->remote->disc_len);
	h = via_table_hash_more(h, k->remote->host, k->remote->host_len);
	return via_table_hash_more(h, &k->claim, sizeof(k->claim));
}

/* nic->conn.lock held; it is not in the table. */
static void via_p2p_insert(struct via_vi *vi, u64 claim)
{
	const struct via_p2p_key key = { &vi->local, &vi->remote, claim };
	struct via_nic *nic = vi->nic;

	lockdep_assert_held(&nic->conn.lock);
	vi->p2p_claim = claim;
	via_table_add(&nic->conn.p2p, &vi->p2p_node, via_p2p_hash(nic, &key),
		      via_p2p_is, &key);
}

bool via_p2p_looks(const struct via_vi *vi, const struct via_net_addr *local,
		   const struct via_net_addr *remote)
{
	return READ_ONCE(vi->state) == VIA_STATE_PENDING && vi->p2p &&
	       via_addr_equal(&vi->local, local) &&
	       via_addr_equal(&vi->remote, remote) && !via_conn_overdue(vi);
}
EXPORT_SYMBOL_GPL(via_p2p_looks);

void via_p2p_list(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	lockdep_assert_held(&vi->file->mutex);
	spin_lock_bh(&nic->conn.lock);
	/* Taken out by via_conn_begin(), under the same mutex. */
	via_p2p_insert(vi, 0);
	spin_unlock_bh(&nic->conn.lock);
}

void via_p2p_unlist(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	spin_lock_bh(&nic->conn.lock);
	via_table_del(&nic->conn.p2p, &vi->p2p_node);
	spin_unlock_bh(&nic->conn.lock);
}

void via_p2p_over(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	spin_lock_bh(&nic->conn.lock);
	/* It may look for a peer again: then it was Pending before listed. */
	if (READ_ONCE(vi->state) != VIA_STATE_PENDING)
		via_table_del(&nic->conn.p2p, &vi->p2p_node);
	spin_unlock_bh(&nic->conn.lock);
}

/*
 * The first of that key that looks, but @not.  Those whose attempt has ended
 * leave the table here, so that each is passed by once.  nic->conn.lock held.
 */
static struct via_vi *via_p2p_look(struct via_nic *nic,
				   const struct via_p2p_key *k,
				   const struct via_vi *not)
{
	u32 hash = via_p2p_hash(nic, k);
	struct via_table_node *first, *n;
	struct via_vi *vi;

	lockdep_assert_held(&nic->conn.lock);
	while ((first = via_table_find(&nic->conn.p2p, hash, via_p2p_is, k))) {
		vi = container_of(first, struct via_vi, p2p_node);
		n = first;
		if (vi == not) {
			n = via_table_next(first, first);
			if (!n)
				return NULL;
			vi = container_of(n, struct via_vi, p2p_node);
		}
		if (via_p2p_looks(vi, k->local, k->remote))
			return vi;
		/* It will not with these addresses. */
		via_table_del(&nic->conn.p2p, n);
	}
	return NULL;
}

struct via_vi *via_p2p_first(struct via_vi *vi)
{
	const struct via_p2p_key key = { &vi->remote, &vi->local, 0 };
	struct via_nic *nic = vi->nic;
	struct via_vi *found;

	spin_lock_bh(&nic->conn.lock);
	found = via_p2p_look(nic, &key, vi);
	/* In the table it is linked, and so referenced. */
	if (found)
		kref_get(&found->ref);
	spin_unlock_bh(&nic->conn.lock);
	return found;
}

struct via_vi *via_p2p_find(struct via_nic *nic,
			    const struct via_net_addr *local,
			    const struct via_net_addr *remote, u64 claim)
{
	struct via_p2p_key key = { local, remote, claim };
	struct via_vi *found;

	spin_lock_bh(&nic->conn.lock);
	found = via_p2p_look(nic, &key, NULL);
	if (!found && claim) {
		key.claim = 0;
		found = via_p2p_look(nic, &key, NULL);
		if (found) {
			via_table_del(&nic->conn.p2p, &found->p2p_node);
			via_p2p_insert(found, claim);
		}
	}
	spin_unlock_bh(&nic->conn.lock);
	return found;
}
EXPORT_SYMBOL_GPL(via_p2p_find);

void via_p2p_release(struct via_vi *vi, u64 claim)
{
	struct via_nic *nic = vi->nic;

	spin_lock_bh(&nic->conn.lock);
	if (via_table_has(&vi->p2p_node) && vi->p2p_claim == claim) {
		via_table_del(&nic->conn.p2p, &vi->p2p_node);
		via_p2p_insert(vi, 0);
	}
	spin_unlock_bh(&nic->conn.lock);
}
EXPORT_SYMBOL_GPL(via_p2p_release);

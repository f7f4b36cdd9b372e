// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peer-to-peer connections: VIs that look for their peers, and their matching.
 *
 * A VI that looks for its peer is on one of nic->p2p_lists, by a hash of the
 * two discriminators, in the order of the calls.  Two match when each one's
 * local address is the other's remote one.  Where both are on this host the
 * later one joins them; else the device asks, in frames, and finds the VI
 * here when it is asked.
 *
 * The list is a place to look, not the truth: that is the state, under the
 * queue locks.  A VI may stand on it for a while after its attempt has ended;
 * it never stands on it with the addresses of another attempt.  Only the
 * holder of file->mutex lists a VI or begins an attempt: it finds the VI Idle,
 * takes it off the list, and then publishes other addresses.
 */

#include <linux/export.h>
#include <linux/jhash.h>
#include "connect.h"
#include "loop.h"
#include "p2p.h"
#include "vi.h"

static struct list_head *via_p2p_bucket(struct via_nic *nic,
					const struct via_net_addr *local,
					const struct via_net_addr *remote)
{
	/* Strangers choose both: without the seed also the bucket. */
	u32 h = jhash(local->disc, local->disc_len, nic->p2p_seed);

	h = jhash(remote->disc, remote->disc_len, h);
	return &nic->p2p_lists[h & (VIA_P2P_BUCKETS - 1)];
}

static bool via_addr_equal(const struct via_net_addr *a,
			   const struct via_net_addr *b)
{
	return via_disc_equal(a, b) && a->host_len == b->host_len &&
	       !memcmp(a->host, b->host, a->host_len);
}

bool via_p2p_looks(const struct via_vi *vi, const struct via_net_addr *local,
		   const struct via_net_addr *remote)
{
	return READ_ONCE(vi->state) == VIA_STATE_PENDING && vi->p2p &&
	       via_addr_equal(&vi->local, local) &&
	       via_addr_equal(&vi->remote, remote) && !via_conn_overdue(vi);
}
EXPORT_SYMBOL_GPL(via_p2p_looks);

static void via_p2p_list(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	lockdep_assert_held(&vi->file->mutex);
	BUILD_BUG_ON(VIA_P2P_BUCKETS & (VIA_P2P_BUCKETS - 1));
	spin_lock_bh(&nic->conn_lock);
	vi->p2p_claim = 0;
	/* Taken off by via_conn_begin(), under the same mutex. */
	list_add_tail(&vi->p2p_link,
		      via_p2p_bucket(nic, &vi->local, &vi->remote));
	spin_unlock_bh(&nic->conn_lock);
}

void via_p2p_unlist(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	spin_lock_bh(&nic->conn_lock);
	list_del_init(&vi->p2p_link);
	spin_unlock_bh(&nic->conn_lock);
}

void via_p2p_over(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;

	/*
	 * If it is being listed now, it stays listed until its next attempt or
	 * its end: finders pass it by.
	 */
	if (list_empty_careful(&vi->p2p_link))
		return;
	spin_lock_bh(&nic->conn_lock);
	/* It may look for a peer again: then it was Pending before listed. */
	if (READ_ONCE(vi->state) != VIA_STATE_PENDING)
		list_del_init(&vi->p2p_link);
	spin_unlock_bh(&nic->conn_lock);
}

/* The first on this host that looks for @vi, with a reference. */
static struct via_vi *via_p2p_first(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;
	struct via_vi *other, *found = NULL;

	spin_lock_bh(&nic->conn_lock);
	list_for_each_entry(other, via_p2p_bucket(nic, &vi->remote,
						  &vi->local), p2p_link) {
		if (other == vi ||
		    !via_p2p_looks(other, &vi->remote, &vi->local))
			continue;
		/* On the list it is linked, and so referenced. */
		kref_get(&other->ref);
		found = other;
		break;
	}
	spin_unlock_bh(&nic->conn_lock);
	return found;
}

/*
 * Join two, or tell both why not.  False when @other is not there any more:
 * there may be another.
 */
static bool via_p2p_join(struct via_vi *vi, struct via_vi *other)
{
	bool here = true;
	int verdict;

	via_vi_lock_two(vi, other);
	if (via_vi_may(vi, VIA_EV_JOIN)) {
		here = via_p2p_looks(other, &vi->remote, &vi->local);
		verdict = via_attrs_compare(&vi->attrs, &other->attrs);
		if (here && verdict) {
			via_conn_failed(vi, verdict);
			via_conn_failed(other, verdict);
		} else if (here) {
			via_loop_join(vi, other);
		}
	}
	via_vi_unlock_two(vi, other);
	if (here) {
		via_p2p_over(vi);
		via_p2p_over(other);
	}
	return here;
}

/* Both ends are on this host.  Each is listed before it looks. */
static void via_p2p_meet(struct via_vi *vi)
{
	struct via_vi *other;
	bool done = false;

	while (!done) {
		other = via_p2p_first(vi);
		if (!other)
			return;
		done = via_p2p_join(vi, other);
		via_vi_put(other);
	}
}

static enum via_verdict via_p2p_ask(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;
	int ret, idx;

	if (!nic->ops->p2p_connect || !via_nic_enter(nic, &idx))
		return VIA_R_NOT_REACHABLE;
	ret = nic->ops->p2p_connect(vi);
	via_nic_leave(nic, idx);
	return ret;
}

int via_p2p_request(struct via_file *f, const struct via_conn_request *arg)
{
	struct via_nic *nic = f->nic;
	struct via_vi *vi;
	bool own;
	int ret;

	/* The address to be found by is our own, or left out. */
	if (arg->local.host_len && !via_addr_is_own(nic, &arg->local))
		return VIA_R_INVALID_PARAMETER;
	ret = via_conn_start(f, arg, true, &vi, &own);
	if (ret)
		return ret;
	via_p2p_list(vi);
	if (own)
		via_p2p_meet(vi);
	else
		ret = via_p2p_ask(vi);
	if (ret) {
		via_conn_refuse(vi, NULL, ret);
		via_p2p_over(vi);
	}
	via_vi_put(vi);
	return 0;
}

struct via_vi *via_p2p_find(struct via_nic *nic,
			    const struct via_net_addr *local,
			    const struct via_net_addr *remote, u64 claim)
{
	struct via_vi *vi, *found = NULL;

	spin_lock_bh(&nic->conn_lock);
	list_for_each_entry(vi, via_p2p_bucket(nic, local, remote),
			    p2p_link) {
		if (!via_p2p_looks(vi, local, remote))
			continue;
		if (vi->p2p_claim == claim) {
			found = vi;
			break;
		}
		if (!found && !vi->p2p_claim)
			found = vi;
	}
	if (found)
		found->p2p_claim = claim;
	spin_unlock_bh(&nic->conn_lock);
	return found;
}
EXPORT_SYMBOL_GPL(via_p2p_find);

void via_p2p_release(struct via_vi *vi, u64 claim)
{
	spin_lock_bh(&vi->nic->conn_lock);
	if (vi->p2p_claim == claim)
		vi->p2p_claim = 0;
	spin_unlock_bh(&vi->nic->conn_lock);
}
EXPORT_SYMBOL_GPL(via_p2p_release);

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Peer-to-peer connections: VIs that look for their peers, and their matching.
 *
 * A VI that looks for its peer is in nic->conn.p2p, by its two addresses and its
 * claim.  Those of one key are in the order of the calls.  Two match when each one's
 * local address is the other's remote one.  Where both are on this host the
 * later one joins them; else the device asks, in frames, and finds the VI
 * here when it is asked.
 */

#include "connect.h"
#include "kapi.h"
#include "loop.h"
#include "p2p.h"
#include "vi.h"

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
			via_kernel_join(vi, other);
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

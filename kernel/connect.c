// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Connections: attempts of VIs begin, and programs fetch their results.  What is
 * common to all networks; frames are the device's, VIs of one host are loop.c's.
 *
 * An attempt lives in the VI: state Pending, verdict NOT_DONE, until it is
 * joined or refused, or its deadline or a disconnect ends it (attempt.c).  What
 * a server has before it has a VI is in request.c, peer to peer is in p2p.c.
 */

#include <linux/jiffies.h>
#include "connect.h"
#include "kapi.h"
#include "loop.h"
#include "p2p.h"
#include "via_trace.h"
#include "vi.h"

/*
 * A wait may be longer than asked, never shorter: round up, and the tick that
 * runs already does not count.  ns is not 0.
 */
static unsigned long via_conn_timeout(u64 ns)
{
	if (ns == VIA_FOREVER)
		return VIA_CONN_FOREVER;
	return min_t(u64, nsecs_to_jiffies64(ns - 1) + 2, VIA_CONN_FOREVER);
}

/**
 * struct via_attempt - what a VI is to try
 * @local:	own address
 * @remote:	the peer's
 * @attrs:	the peer's VI where it is known already, else NULL
 * @reply:	what goes with it, where it is an answer; else NULL
 * @deadline:	via_now()
 * @forever:	no deadline
 * @own:	the peer is on this host
 * @p2p:	peer to peer
 */
struct via_attempt {
	const struct via_net_addr *local;
	const struct via_net_addr *remote;
	const struct via_vi_attrs *attrs;
	const struct via_reply *reply;
	unsigned long deadline;
	bool forever;
	bool own;
	bool p2p;
};

/*
 * May an attempt begin?  The holder of file->mutex alone begins one, so what is
 * Idle here is Idle or in Error until it does.
 */
static bool via_conn_may_begin(struct via_vi *vi)
{
	bool ok;

	via_vi_lock(vi);
	ok = via_vi_may(vi, VIA_EV_BEGIN);
	via_vi_unlock(vi);
	return ok;
}

/* Idle to Pending; file->mutex held. */
static bool via_conn_begin(struct via_vi *vi, const struct via_attempt *a)
{
	bool ok;

	lockdep_assert_held(&vi->file->mutex);
	/* An attempt that is over, its result not fetched, is no obstacle. */
	via_conn_expire(vi);
	if (!via_conn_may_begin(vi))
		return false;
	/* Not to be found with the addresses that follow. */
	via_p2p_unlist(vi);
	/* Nor what another thread has begun to leave and not finished. */
	via_loop_transport.disconnected(vi);

	via_vi_lock(vi);
	/* The NIC may have gone meanwhile. */
	ok = via_vi_may(vi, VIA_EV_BEGIN);
	if (ok) {
		vi->local = *a->local;
		vi->remote = *a->remote;
		if (a->attrs)
			vi->remote_attrs = *a->attrs;
		vi->deadline = a->deadline;
		vi->forever = a->forever;
		vi->p2p = a->p2p;
		vi->attempt++;
		vi->verdict = VIA_R_NOT_DONE;
		atomic_and(VIA_BROKEN_CALL, &vi->broken);
		vi->xport = a->own ? &via_loop_transport :
				     vi->nic->ops->transport;
		if (unlikely(vi->kernel))
			via_kernel_begin(vi, a->reply);
		via_vi_move(vi, VIA_EV_BEGIN, NULL);
		trace_via_connect(vi, a->attrs, a->own);
	}
	via_vi_unlock(vi);
	return ok;
}

/* Have the device answer a request that came over the wire. */
static enum via_verdict via_conn_accept_wire(struct via_conn *conn,
					     struct via_vi *vi)
{
	struct via_nic *nic = conn->nic;
	int ret, idx;

	if (!via_nic_enter(nic, &idx))
		return VIA_R_NOT_REACHABLE;
	ret = nic->ops->accept(conn, vi);
	via_nic_leave(nic, idx);
	return ret;
}

/*
 * Take a request with a VI: Idle to Pending.  0, and the request is to be
 * answered; else it is back on the list, or dropped because the client is gone.
 */
static enum via_verdict via_conn_accept_begin(struct via_file *f,
					      struct via_conn *conn,
					      struct via_vi *vi)
{
	struct via_attempt attempt = {
		.local = &conn->local,
		.remote = &conn->remote,
		.attrs = &conn->attrs,
		.reply = conn->reply,
		.deadline = conn->deadline,
		.own = conn->client,
	};
	enum via_verdict ret;

	if (time_after_eq(via_now(), conn->deadline)) {
		/*
		 * It hears nothing of us: its own clock, which may be a tick
		 * behind ours, says TIMEOUT; it was not rejected.
		 */
		via_conn_put(conn);
		return VIA_R_TIMEOUT;
	}
	ret = via_attrs_compare(&vi->attrs, &conn->attrs);
	if (!ret && !via_conn_begin(vi, &attempt))
		ret = VIA_R_INVALID_STATE;
	if (ret) {
		/* The client knows nothing yet: the server may try again. */
		if (!via_conn_untake(f, conn)) {
			via_conn_put(conn);
			ret = VIA_R_TIMEOUT;
		}
	}
	return ret;
}

/* Answer a request with a VI that is Pending; drops the request. */
static void via_conn_accept_answer(struct via_conn *conn, struct via_vi *vi)
{
	enum via_verdict ret;

	if (READ_ONCE(conn->dead))
		ret = VIA_R_TIMEOUT;
	else if (conn->client)
		ret = via_loop_accept(conn, vi);
	else
		ret = via_conn_accept_wire(conn, vi);
	if (ret)
		via_conn_refuse(vi, NULL, ret);
	via_conn_put(conn);
}

int via_conn_accept(struct via_file *f, const struct via_conn_accept *arg)
{
	struct via_conn *conn;
	struct via_vi *vi;
	int ret;

	lockdep_assert_held(&f->mutex);
	vi = via_vi_get(f, arg->vi);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	conn = via_conn_take(f, arg->conn);
	ret = conn ? via_conn_accept_begin(f, conn, vi) :
		     VIA_R_INVALID_PARAMETER;
	/* The verdict, if there is one already, is fetched by CONN_RESULT. */
	if (!ret)
		via_conn_accept_answer(conn, vi);
	via_vi_put(vi);
	return ret;
}

enum via_verdict via_conn_start(struct via_file *f,
				const struct via_conn_request *arg, bool p2p,
				struct via_vi **vi, bool *own)
{
	struct via_net_addr local = arg->local;
	struct via_nic *nic = f->nic;
	struct via_attempt attempt = {
		.local = &local,
		.remote = &arg->remote,
		.forever = arg->timeout == VIA_FOREVER,
		.own = via_addr_is_own(nic, &arg->remote),
		.p2p = p2p,
	};

	lockdep_assert_held(&f->mutex);
	if (!arg->timeout || !via_addr_ok(&local) ||
	    !via_addr_ok(&arg->remote) ||
	    arg->remote.host_len != nic->addr_len)
		return VIA_R_INVALID_PARAMETER;
	/* What the peer is told: the address frames will come from. */
	local.host_len = nic->addr_len;
	memcpy(local.host, nic->addr, nic->addr_len);

	*vi = via_vi_get(f, arg->vi);
	if (!*vi)
		return VIA_R_INVALID_PARAMETER;
	attempt.deadline = via_now() + via_conn_timeout(arg->timeout);
	if (!via_conn_begin(*vi, &attempt)) {
		via_vi_put(*vi);
		return VIA_R_INVALID_STATE;
	}
	*own = attempt.own;
	return 0;
}

static enum via_verdict via_conn_ask(struct via_vi *vi)
{
	struct via_nic *nic = vi->nic;
	int ret, idx;

	if (!nic->ops->connect || !via_nic_enter(nic, &idx))
		return VIA_R_NOT_REACHABLE;
	ret = nic->ops->connect(vi);
	via_nic_leave(nic, idx);
	return ret;
}

int via_conn_request(struct via_file *f, const struct via_conn_request *arg)
{
	struct via_vi *vi;
	bool own;
	int ret;

	ret = via_conn_start(f, arg, false, &vi, &own);
	if (ret)
		return ret;
	ret = own ? via_loop_connect(vi) : via_conn_ask(vi);
	if (ret)
		via_conn_refuse(vi, NULL, ret);
	via_vi_put(vi);
	return 0;
}

/*
 * Take the verdict of an attempt, once.  Another attempt's, or that of the
 * other kind, is not ours to take.
 */
static int via_conn_fetch(struct via_vi *vi, u32 attempt,
			  struct via_conn_result *arg)
{
	u32 ret = VIA_VERDICT_NONE;

	via_vi_lock(vi);
	if (vi->attempt == attempt &&
	    vi->p2p == !!(arg->flags & VIA_CONN_PEER)) {
		ret = vi->verdict;
		if (ret == VIA_R_SUCCESS)
			arg->attrs = vi->remote_attrs;
		if (ret != VIA_R_NOT_DONE)
			vi->verdict = VIA_VERDICT_NONE;
	}
	via_vi_unlock(vi);
	return ret == VIA_VERDICT_NONE ? VIA_R_INVALID_STATE : ret;
}

static bool vi_settled(const struct via_vi *vi, u32 attempt)
{
	return READ_ONCE(vi->verdict) != VIA_R_NOT_DONE ||
	       READ_ONCE(vi->attempt) != attempt ||
	       READ_ONCE(vi->sq.dead);
}

/* Until the verdict, the deadline (0) or a signal (negative). */
static long via_conn_sleep(struct via_vi *vi, u32 attempt)
{
	long left;

	/* Once more where the counter of jiffies has leapt. */
	do {
		left = READ_ONCE(vi->forever) ? MAX_SCHEDULE_TIMEOUT :
		       (long)(READ_ONCE(vi->deadline) - via_now());
		left = max(left, 0L);
		left = wait_event_interruptible_timeout(vi->conn_wait,
							vi_settled(vi, attempt),
							left);
	} while (!left && !via_conn_overdue(vi));
	return left;
}

int via_conn_result(struct via_file *f, struct via_conn_result *arg)
{
	bool p2p = arg->flags & VIA_CONN_PEER;
	struct via_vi *vi;
	long left = 1;
	u32 attempt;
	bool wait;
	int ret;

	if (arg->flags & ~(VIA_CONN_NOWAIT | VIA_CONN_PEER))
		return -EINVAL;
	vi = via_vi_get(f, arg->vi);
	if (!vi)
		return VIA_R_INVALID_PARAMETER;
	/* With the lock: the verdict that follows is of the same attempt. */
	via_vi_lock(vi);
	attempt = vi->attempt;
	wait = vi->p2p == p2p && !(arg->flags & VIA_CONN_NOWAIT);
	via_vi_unlock(vi);
	if (wait)
		left = via_conn_sleep(vi, attempt);
	via_conn_expire(vi);
	ret = via_conn_fetch(vi, attempt, arg);
	if (ret == VIA_R_NOT_DONE && left < 0)
		ret = -EINTR;
	else if (p2p)
		via_p2p_over(vi);
	via_vi_put(vi);
	return ret;
}

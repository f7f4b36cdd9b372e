// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Moves of a VI from state to state, and what follows each.  What an event does is in
 * the table of state.c.
 *
 *  1. A state changes in via_vi_move() alone, with both queue locks held: of two
 *     events that race one comes first, and the other meets the state that it left.
 *  2. A dead VI does not move: what it has shared may be gone.
 *  3. A VI that is Idle or in Error has no transport, and one that is Connected has
 *     one.
 *  4. The new state is stored before the flush: either the poster sees it and rings,
 *     or the flush sees what was posted (docs/explain/ordering.md).
 *  5. What needs no queue lock held (telling the peer, waking, calls of a consumer)
 *     comes after the move, in via_vi_left().
 *  6. What breaks a connection under one queue lock marks it, vi->broken; the context
 *     that drops the lock makes the move, in via_vi_settle().  Meanwhile nothing is
 *     sent.  Of several marks there is one move, and one report.
 *
 *  from        event        to         function
 *  Idle        BEGIN        Pending    via_conn_begin(), connect.c
 *  Pending     JOIN         Connected  via_conn_make(), attempt.c
 *  Pending     REFUSE       Idle       via_conn_failed(), attempt.c
 *  Pending     EXPIRE       Idle       via_conn_expire(), attempt.c
 *  any         DISCONNECT   Idle       via_vi_disconnect()
 *  Connected   LOST, BROKEN Error      __via_vi_settle()
 *  any         NIC_GONE     Error      via_vi_fail()
 *  Idle        CHANGE       Idle       via_vi_set(), vi.c
 *  Idle        DESTROY                 via_vi_destroy(), vi.c, asks only
 */

#include <linux/export.h>
#include "event.h"
#include "kapi.h"
#include "p2p.h"
#include "queue.h"
#include "vi.h"
#include "via_trace.h"

static void via_vi_report(struct via_vi *vi, u32 code, u32 opcode, u64 desc,
			  u32 flags)
{
	struct via_event ev = {
		.vi		= vi->id,
		.code		= code,
		.opcode		= opcode,
		.flags		= flags,
		.desc		= desc,
		.resource	= code == VIA_ERR_POST_DESC ?
				  VIA_RES_DESCRIPTOR : VIA_RES_VI,
	};

	/* A consumer in the kernel has moved(). */
	if (vi->kernel)
		return;
	if (code == VIA_ERR_CATASTROPHIC)
		ev.resource = VIA_RES_NIC;
	via_events_post(&vi->file->events, &ev);
}

void via_vi_error(struct via_vi *vi, u32 code, u32 opcode, u64 desc)
{
	via_vi_report(vi, code, opcode, desc, 0);
}
EXPORT_SYMBOL_GPL(via_vi_error);

static void via_vi_flush(struct via_vi *vi)
{
	via_queue_flush(vi, &vi->sq);
	via_queue_flush(vi, &vi->rq);
}

bool via_vi_move(struct via_vi *vi, enum via_vi_event event,
		 const struct via_transport_ops **left)
{
	struct via_move move = via_state_move(vi->state, event);
	const struct via_transport_ops *xport = vi->xport;
	u32 flags = 0, from = vi->state;

	via_vi_assert_locked(vi);
	/* No error of our own, and none of what else may end a connection. */
	if (event == VIA_EV_LOST &&
	    atomic_read(&vi->broken) & VIA_BROKEN_LEFT)
		flags = VIA_EVENT_F_ORDERLY;
	if (left)
		*left = NULL;
	/* (2): what a dead VI has shared may be gone. */
	if (move.to == VIA_STATE_REFUSED || vi->sq.dead)
		return false;
	if (move.what & VIA_DO_DETACH && xport) {
		xport->disconnect(vi, move.what & VIA_DO_TELL);
		*left = xport;
	}
	/* (3) */
	if (move.to == VIA_STATE_IDLE || move.to == VIA_STATE_ERROR) {
		vi->xport = NULL;
		atomic_and(VIA_BROKEN_CALL, &vi->broken);
	}
	if (move.to == VIA_STATE_ERROR)
		via_conn_fault(vi, flags ? VIA_KERNEL_FAULT_PEER_LEFT :
					   VIA_KERNEL_FAULT_LOST);
	/* (4): pairs with the poster's barrier. */
	vi->state = move.to;
	WRITE_ONCE(vi->shared->state, move.to);
	if (move.what & VIA_DO_FLUSH)
		via_vi_flush(vi);
	if (move.what & VIA_DO_REPORT)
		via_vi_report(vi, VIA_ERR_CONN_LOST, 0, 0, flags);
	if (vi->kernel && from != move.to)
		vi->file->kernel->moved(vi, from);
	return true;
}

void via_vi_judge(struct via_vi *vi, enum via_verdict verdict)
{
	via_vi_assert_locked(vi);
	vi->verdict = verdict;
	trace_via_verdict(vi);
}

void via_vi_left(struct via_vi *vi, const struct via_transport_ops *left)
{
	if (left && left->disconnected)
		left->disconnected(vi);
	via_p2p_over(vi);
	wake_up_all(&vi->conn_wait);
	via_kernel_settle(vi);
}

void __via_vi_settle(struct via_vi *vi)
{
	const struct via_transport_ops *left = NULL;
	u32 broken;

	via_kernel_settle(vi);
	if (!(atomic_read(&vi->broken) & ~VIA_BROKEN_CALL))
		return;
	via_vi_lock(vi);
	broken = atomic_read(&vi->broken) & ~VIA_BROKEN_CALL;
	if (broken)
		via_vi_move(vi, broken & VIA_BROKEN_TELL ?
			    VIA_EV_BROKEN : VIA_EV_LOST, &left);
	/* (6): in any other state it comes too late. */
	atomic_and(VIA_BROKEN_CALL, &vi->broken);
	via_vi_unlock(vi);
	if (left)
		via_vi_left(vi, left);
}
EXPORT_SYMBOL_GPL(__via_vi_settle);

void via_vi_disconnect(struct via_vi *vi)
{
	const struct via_transport_ops *left;

	lockdep_assert_held(&vi->file->mutex);
	via_vi_lock(vi);
	if (vi->state == VIA_STATE_PENDING)
		via_vi_judge(vi, VIA_R_INVALID_STATE);
	else if (vi->p2p)
		vi->verdict = VIA_VERDICT_NONE;
	via_vi_move(vi, VIA_EV_DISCONNECT, &left);
	via_vi_unlock(vi);
	via_vi_left(vi, left);
}

void via_vi_fail(struct via_vi *vi)
{
	const struct via_transport_ops *left;
	struct via_nic *nic = vi->nic;

	via_vi_lock(vi);
	if (vi->state == VIA_STATE_PENDING)
		via_vi_judge(vi, VIA_R_NOT_REACHABLE);
	via_vi_move(vi, VIA_EV_NIC_GONE, &left);
	if (nic->ops->vi_forget)
		nic->ops->vi_forget(vi);
	via_vi_unlock(vi);
	via_vi_left(vi, left);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ends of connections: each goes through one of three functions, which count it
 * by its rule and tell the log, at a limited rate.  The end of a program is not
 * told.
 */

#include "../../kernel/via_conn.h"
#include "end.h"
#include "stats.h"
#include "vi.h"

static const char *const reasons[VIA_WIRE_R_ENDS] = {
	[VIA_WIRE_R_CLOSED] = "its program left",
	[VIA_WIRE_R_NO_RECEIVE] = "no receive was posted",
	[VIA_WIRE_R_RECEIVE] = "the posted receive was in error",
	[VIA_WIRE_R_RDMA] = "an RDMA Write was refused",
	[VIA_WIRE_R_PROTOCOL] = "malformed frames",
	[VIA_WIRE_R_TRANSPORT] = "an error of transport",
	[VIA_WIRE_R_LINK] = "the interface went down",
	[VIA_WIRE_R_READ] = "an RDMA Read was refused",
	[VIA_WIRE_R_MTU_REDUCED] = "the MTU of the interface was lowered",
};

/* By the reason that this end gives, and by that of the peer. */
static const u8 faults[VIA_WIRE_R_ENDS][2] = {
	[VIA_WIRE_R_CLOSED] = { VIA_KERNEL_FAULT_LOST,
				VIA_KERNEL_FAULT_PEER_LEFT },
	[VIA_WIRE_R_NO_RECEIVE] = { VIA_KERNEL_FAULT_LOCAL_RECEIVE,
				    VIA_KERNEL_FAULT_PEER_RECEIVE },
	[VIA_WIRE_R_RECEIVE] = { VIA_KERNEL_FAULT_LOCAL_RECEIVE,
				 VIA_KERNEL_FAULT_PEER_RECEIVE },
	[VIA_WIRE_R_RDMA] = { VIA_KERNEL_FAULT_LOCAL_ACCESS,
			      VIA_KERNEL_FAULT_PEER_ACCESS },
	[VIA_WIRE_R_PROTOCOL] = { VIA_KERNEL_FAULT_LOST,
				  VIA_KERNEL_FAULT_LOST },
	[VIA_WIRE_R_TRANSPORT] = { VIA_KERNEL_FAULT_LOST,
				   VIA_KERNEL_FAULT_LOST },
	[VIA_WIRE_R_LINK] = { VIA_KERNEL_FAULT_LOST, VIA_KERNEL_FAULT_LOST },
	[VIA_WIRE_R_READ] = { VIA_KERNEL_FAULT_LOCAL_ACCESS,
			      VIA_KERNEL_FAULT_PEER_READ },
	[VIA_WIRE_R_MTU_REDUCED] = { VIA_KERNEL_FAULT_LOST, VIA_KERNEL_FAULT_LOST },
};

static void tell_log(const struct via_ether_vi *ev, const char *who,
		     const char *what)
{
	char text[VIA_HOST_TEXT];

	pr_info_ratelimited("%s: VI %u: connection with %s ended%s: %s\n",
			    ev->nic->ka->name, ev->vi->index,
			    via_host_text(text, ev->conn.remote.addr,
					  ev->conn.remote.len),
			    who, what);
}

void via_ether_end(struct via_ether_vi *ev, enum via_ether_why why, u32 reason)
{
	static const char *const rules[] = {
		[VIA_END_RESET] = "the peer does not know it (RESET)",
		[VIA_END_LIST] = "the peer does not know it (LIST)",
		[VIA_END_RESTARTED] = "the peer's host was started again",
		[VIA_END_SILENT] = "the peer's host does not answer",
		[VIA_END_UNACKED] = "a frame is not acknowledged",
	};
	struct via_ether_nic *nic = ev->nic;
	struct via_vi *vi = ev->vi;

	if (via_vi_is_broken(vi))
		return;
	if (why == VIA_END_RESET)
		via_ether_count(nic, END_RESET);
	else if (why == VIA_END_LIST)
		via_ether_count(nic, END_LIST);
	else if (why == VIA_END_RESTARTED)
		via_ether_count(nic, END_RESTARTED);
	else if (why == VIA_END_SILENT)
		via_ether_count(nic, END_SILENT);
	else if (why == VIA_END_UNACKED)
		via_ether_count(nic, END_UNACKED);
	via_conn_fault(vi, why == VIA_END_OURS ? faults[reason][0] :
						 VIA_KERNEL_FAULT_LOST);
	tell_log(ev, "", why == VIA_END_OURS ? reasons[reason] : rules[why]);
	ev->conn.reason = reason;
	/* One that does not know it is not told. */
	via_vi_break_later(vi, reason ? VIA_BROKEN_TELL : 0);
}

void via_ether_give_up(struct via_ether_vi *ev, enum via_ether_why why,
		       u32 reason)
{
	struct via_vi *vi = ev->vi;

	/* What is in flight may be answers to the peer's reads only. */
	if (ev->conn.reliable && vi->sq.head != vi->sq.next &&
	    (via_win_flight(&ev->snd.win) || ev->reads.head != ev->reads.tail))
		via_send_complete(vi, VIA_ST_TRANSPORT_ERROR, 0);
	/* It may be our frames only that do not get through. */
	via_ether_end(ev, why, reason);
}

void via_ether_end_told(struct via_ether_vi *ev, u32 reason)
{
	/* One that is not known yet. */
	if (reason >= VIA_WIRE_R_ENDS)
		reason = VIA_WIRE_R_TRANSPORT;
	via_ether_count_at(ev->nic, VIA_C_END_TOLD + reason);
	if (reason != VIA_WIRE_R_CLOSED)
		tell_log(ev, " by the peer", reasons[reason]);
	via_conn_fault(ev->vi, faults[reason][1]);
	via_vi_break_later(ev->vi, reason == VIA_WIRE_R_CLOSED ?
			   VIA_BROKEN_LEFT : 0);
}

/* So many descriptors that are flushed take as long as a visit. */
#define FLUSHES		32u

void via_ether_settle(struct via_vi *vi, struct via_work *work)
{
	u32 was = READ_ONCE(vi->sq.head) + READ_ONCE(vi->rq.head);

	via_vi_settle(vi);
	via_work_charge(work, (READ_ONCE(vi->sq.head) +
			       READ_ONCE(vi->rq.head) - was) / FLUSHES);
}

struct via_vi *via_ether_next_vi(struct via_ether_nic *nic, u32 *index,
				 struct via_work *work, bool sleeps)
	__must_hold(RCU)
{
	struct via_vi *vi = NULL;

	while (!vi && *index < nic->ka->limits.max_vi) {
		if (via_work_visit(work)) {
			vi = via_vi_next(nic->ka, index);
			++*index;
			continue;
		}
		rcu_read_unlock();
		local_bh_enable();
		if (sleeps)
			cond_resched();
		local_bh_disable();
		rcu_read_lock();
		*work = VIA_WORK(VIA_ETHER_VISITS);
	}
	return vi;
}

void via_ether_end_some(struct via_ether_nic *nic,
			bool (*fits)(const struct via_ether_vi *ev), u32 reason,
			bool sleeps)
{
	struct via_work work = VIA_WORK(VIA_ETHER_VISITS);
	struct via_ether_vi *ev;
	struct via_vi *vi;
	u32 i = 0;

	local_bh_disable();
	rcu_read_lock();
	while ((vi = via_ether_next_vi(nic, &i, &work, sleeps))) {
		ev = vi->priv;
		spin_lock(&vi->sq.lock);
		if (ev->conn.phase == VIA_PHASE_CONNECTED &&
		    (!fits || fits(ev))) {
			via_ether_end(ev, VIA_END_OURS, reason);
		}
		spin_unlock(&vi->sq.lock);
		via_ether_settle(vi, &work);
	}
	rcu_read_unlock();
	local_bh_enable();
}

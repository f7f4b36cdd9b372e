// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The class's part of a VI: its beginning and its end. */

#include <linux/random.h>
#include <linux/slab.h>
#include "conn.h"

int via_ether_vi_create(struct via_vi *vi)
{
	struct via_ether_vi *ev = vi->priv;

	ev->vi = vi;
	ev->nic = vi->nic->priv;
	via_order_node_init(&ev->on.connecting);
	INIT_LIST_HEAD(&ev->on.run);
	INIT_LIST_HEAD(&ev->on.owing);
	INIT_LIST_HEAD(&ev->on.conns);
	INIT_HLIST_NODE(&ev->on.ends);
	via_credit_init(&ev->snd.credit);
	return 0;
}

/* An attempt begins, to ev->peer.  Both queue locks held. */
void via_ether_start(struct via_ether_vi *ev, enum via_ether_phase phase)
{
	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	do {
		ev->conn.cookie = get_random_u64();
	} while (!ev->conn.cookie);
	ev->conn.first_seq = get_random_u32();
	ev->conn.want_seal = READ_ONCE(via_ether_checksum);
	/* From here until the VI is Idle again its attributes stay. */
	ev->conn.reliable = ev->vi->attrs.reliability != VIA_UNRELIABLE;
	ev->conn.phase = phase;
	ev->attempt.tries = 0;
	ev->conn.asked = false;
	ev->attempt.next = jiffies;
	ev->attempt.waiting = false;
	ev->conn.reason = VIA_WIRE_R_CLOSED;
	ev->rcv.last_rx = jiffies;

	via_ether_attempt_begin(ev);
}

static void held_free(struct via_ether_vi *ev)
{
	u32 seq = ev->rcv.win.next + 1;

	for (; via_win_held(&ev->rcv.win, &seq); seq++) {
		kfree(ev->rcv.held[seq % ev->rcv.win.size]);
		via_ether_give_room(ev);
	}
	kfree(ev->rcv.held);
	ev->rcv.held = NULL;
	via_win_rx_init(&ev->rcv.win, ev->rcv.win.next, 1);
}

/*
 * The attempt or the connection is over: no frame finds the VI any more, no
 * timer looks at it.  Both queue locks held.
 */
static void via_ether_forget(struct via_ether_vi *ev)
{
	struct via_ether_nic *nic = ev->nic;

	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	ev->conn.phase = VIA_PHASE_NONE;
	ev->snd.busy = false;
	via_ether_reads_forget(ev);
	ev->rcv.open = false;
	ev->rcv.dsack_due = false;
	ev->rcv.untold = false;
	ev->rcv.ce_echo = false;
	via_rto_end(&ev->rto);
	ev->delack.interval = 0;
	held_free(ev);
	via_ether_share_end(ev);
	kfree(via_win_end(&ev->snd.win));
	via_win_init(&ev->snd.win, 0, 1);

	spin_lock(&nic->lock);
	via_order_del(&nic->connecting, &ev->on.connecting);
	via_ether_unwatch(ev);
	via_ether_ack_deadline_over(ev);
	via_ether_run_forget(ev);
	if (ev->peer) {
		via_ether_owes_no_more(ev);
		via_peer_del_end(ev);
		via_peer_part(ev);
		via_peer_drop(ev->peer);
	}
	WRITE_ONCE(ev->peer, NULL);
	/* What is searched by it has had it until here. */
	ev->conn.cookie = 0;
	spin_unlock(&nic->lock);
}

/* ops->vi_forget: both queue locks held, and the state may be any. */
void via_ether_vi_forget(struct via_vi *vi)
{
	via_ether_forget(vi->priv);
}

/* The numbers of both halves, as they are when the connection ends. */
static struct via_end_frame via_ether_end_of(const struct via_ether_vi *ev)
{
	struct via_end_frame end = {
		.host = ev->conn.remote,
		.plain = !ev->conn.seal,
		.dst = ev->conn.remote_id,
		.cookie = ev->conn.remote_cookie,
		.seq = ev->snd.win.nxt,
		.ack = ev->rcv.win.next,
		.reason = ev->conn.reason,
		.src = via_ether_id(ev->vi),
	};

	lockdep_assert_held(&ev->vi->sq.lock);
	lockdep_assert_held(&ev->vi->rq.lock);
	return end;
}

/*
 * Tell the other end.  It may answer at once, so what the answer ends is there
 * before.  Both queue locks held.
 */
static void leave(struct via_ether_vi *ev)
{
	struct via_end_frame end = via_ether_end_of(ev);

	via_ether_count_at(ev->nic, VIA_C_END_OURS + ev->conn.reason);
	via_timewait_begin(ev, &end);
	via_ether_send_disconnect(ev->peer, &end);
}

/* transport->disconnect: both queue locks held. */
void via_ether_disconnect(struct via_vi *vi, bool tell)
{
	struct via_ether_vi *ev = vi->priv;
	struct via_ether_client me = {
		.vi = via_ether_id(vi),
		.cookie = ev->conn.cookie,
		.host = ev->conn.remote,
	};

	/* What the class has not broken, and given a reason, the agent has. */
	if (atomic_read(&vi->broken) & VIA_BROKEN_TELL &&
	    ev->conn.reason == VIA_WIRE_R_CLOSED)
		ev->conn.reason = VIA_WIRE_R_TRANSPORT;
	if (tell && (ev->conn.phase == VIA_PHASE_REQUEST ||
		     ev->conn.phase == VIA_PHASE_P2P))
		via_ether_answer(ev->nic, vi->index, VIA_WIRE_CANCEL, 0, &me);
	else if (tell && ev->conn.phase != VIA_PHASE_NONE)
		leave(ev);
	via_ether_forget(ev);
}

void via_ether_vi_stats(struct via_vi *vi, struct via_stats_sink *sink)
{
	struct via_ether_vi *ev = vi->priv;
	const struct via_peer *peer = READ_ONCE(ev->peer);

	if (!peer || READ_ONCE(ev->conn.phase) != VIA_PHASE_CONNECTED)
		return;
	/* Racy by nature; each is one word, the peer's memory is RCU's. */
	via_stat(sink, "tx_next_seq", READ_ONCE(ev->snd.win.nxt));
	via_stat(sink, "rx_next_seq", READ_ONCE(ev->rcv.win.next));
	via_stat(sink, "checksum", READ_ONCE(ev->conn.seal) == VIA_WIRE_SUM);
	via_stat(sink, "authenticator",
		 READ_ONCE(ev->conn.seal) == VIA_WIRE_AUTH);
	via_stat(sink, "tx_in_flight", via_win_flight(&ev->snd.win));
	via_stat(sink, "tx_window", READ_ONCE(ev->snd.win.most));
	via_stat(sink, "tx_cwnd", READ_ONCE(peer->pool.cong.cwnd));
	via_stat(sink, "tx_granted", READ_ONCE(peer->pool.granted));
	via_stat(sink, "tx_credit", READ_ONCE(ev->snd.win.credit));
	if (!ev->conn.reliable)
		return;
	via_stat(sink, "rtt_us", READ_ONCE(peer->timing.rtt.srtt) / 8);
	via_stat(sink, "rto_us", via_peer_rto(peer));
	via_stat(sink, "retransmits", READ_ONCE(ev->snd.resent));
	via_stat(sink, "timeouts", READ_ONCE(ev->snd.timeouts));
	via_stat(sink, "rx_held", READ_ONCE(ev->rcv.win.held));
	via_stat(sink, "ping_pong", clamp(READ_ONCE(ev->delack.pingpong), 0,
					  VIA_DELACK_PINGPONG));
	via_stat(sink, "reads_pending", READ_ONCE(ev->reads.tail) -
					READ_ONCE(ev->reads.head));
	via_stat(sink, "answers_pending", READ_ONCE(ev->answers.tail) -
					  READ_ONCE(ev->answers.head));
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The end of a connection. The state changes at once; the rest is done by
 * eng_disconnect_work(), in steps:
 *
 * - DISCONNECT_PULLS: pulls of this end write to the program's memory, so
 *   descriptors complete flushed only when the last one has ended. Then
 *   DISCONNECT goes.
 * - DISCONNECT_AWAIT: the peer may be pulling from memory of announced
 *   messages. It is given back to the program when the peer says that it has
 *   stopped, or does not for AWAIT_NS.
 * - Everything posted completes, and the VI has no peer.
 */
#include <errno.h>
#include <stdlib.h>

#include "eng.h"

#define AWAIT_NS	2000000000u
#define PULLS_NS	5000000000u

/* disconnect_flags: the peer's has come. */
#define DISCONNECT_SEEN	0x80

/* Complete all that is posted as flushed. */
void eng_flush(struct eng_nic *nic, struct eng_vi *v, struct eng_queue *q)
{
	struct eng_slot *s;
	uint32_t i, st;

	while ((i = eng_get(&q->done)) != eng_get(&q->tail)) {
		s = eng_queue_slot(q, i);
		eng_slot_unexport(nic, v, s);
		/* The outcome was known, and only the turn had not come. */
		st = VIP_STATUS_DESC_FLUSHED_ERROR;
		if (!q->recv && i != q->next && s->state == SLOT_FINISHED)
			st = s->d.status;
		eng_complete(nic, v, q, via_desc_op(s->d.control, q->recv) | st,
			     st ? 0 : s->d.length, 0);
	}
}

/* Messages that have begun to come. */
static void drop_incoming(struct eng_vi *v)
{
	for (; v->in_head != v->in_tail; v->in_head++)
		free(v->in[v->in_head % ENG_INFLIGHT].data);
	v->in_head = 0;
	v->in_tail = 0;
}

/*
 * DISCONNECT, LOST or BROKEN; flags: disconnect_flags, and what they say goes
 * with the word to the peer, if it is told.
 */
void eng_vi_disconnect(struct eng_nic *nic, struct eng_vi *v,
		       enum via_vi_event event, uint8_t flags, int orderly)
{
	struct via_move move = via_state_move(v->state, event);
	VIP_VI_STATE was = v->state;

	if (move.to == VIA_STATE_REFUSED)
		return;
	if (was == VIP_STATE_CONNECT_PENDING)
		eng_conn_end(nic, v, event, VIP_INVALID_STATE);
	else if (event == VIA_EV_DISCONNECT && v->conn.p2p)
		v->conn.verdict = ENG_REPORTED;
	eng_vi_move(v, event);
	v->quick = NULL;
	if (was != VIP_STATE_CONNECTED) {
		if (!v->disconnecting) {
			eng_flush(nic, v, &v->q[VIPL_SENDQ]);
			eng_flush(nic, v, &v->q[VIPL_RECVQ]);
		}
		return;
	}
	if (move.what & VIA_DO_REPORT)
		eng_event(v, VIP_ERROR_CONN_LOST, 0, 0, orderly);
	v->disconnecting = DISCONNECT_PULLS;
	v->disconnect_deadline = 0;
	v->disconnect_flags = flags;
	v->disconnect_op = move.what & VIA_DO_TELL ? WIRE_DISCONNECT :
			   flags & DISCONNECT_SEEN ? WIRE_DISCONNECT_ACK : 0;
	eng_todo(nic, v, TODO_DISCONNECT);
}

/* An error of this end. */
void eng_break(struct eng_nic *nic, struct eng_vi *v)
{
	eng_vi_disconnect(nic, v, VIA_EV_BROKEN, 0, 0);
}

/* A message of the peer's was refused: it is told which, and why. */
void eng_refuse(struct eng_nic *nic, struct eng_vi *v, uint32_t seq,
		uint32_t status)
{
	if (!via_state_may(v->state, VIA_EV_BROKEN))
		return;
	v->disconnect_seq = seq;
	v->disconnect_status = status;
	eng_vi_disconnect(nic, v, VIA_EV_BROKEN, WIRE_REFUSED, 0);
}

static void send_disconnect(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_wire h = {
		.op = v->disconnect_op,
		.flags = v->disconnect_flags & (WIRE_ORDERLY | WIRE_REFUSED),
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
		.seq = v->disconnect_seq,
		.ack = v->rx_done,
		.status = v->disconnect_status,
	};

	if (v->disconnect_op && v->peer->state == PEER_UP)
		eng_peer_send(nic, v->peer, &h, NULL, 0);
}

/*
 * Pulls that the transport does not have yet are dropped; not those of reads
 * that were answered before the peer left, whose memory waits for our
 * DISCONNECT_ACK.
 */
static void drop_rndvs(struct eng_vi *v, int all)
{
	struct vipl_list *l, *next;
	struct eng_rndv *x;

	for (l = v->rndvs.next; l != &v->rndvs; l = next) {
		next = l->next;
		x = vipl_container(l, struct eng_rndv, link);
		if (!all && (x->started ||
			     (x->read &&
			      v->disconnect_op == WIRE_DISCONNECT_ACK)))
			continue;
		vipl_list_del(&x->link);
		if (x->started) {
			/* The peer is down: the transport frees it with it. */
			x->vi = NULL;
			vipl_list_add_tail(&x->link, &v->peer->orphans);
		} else {
			eng_rndv_free(x);
		}
	}
}

static void finish_disconnect(struct eng_nic *nic, struct eng_vi *v)
{
	drop_rndvs(v, 1);
	v->pulls = 0;
	eng_answers_drop(nic, v, 1);
	drop_incoming(v);
	v->reads = 0;
	v->disconnecting = DISCONNECT_NONE;
	v->nonce = 0;
	eng_flush(nic, v, &v->q[VIPL_SENDQ]);
	eng_flush(nic, v, &v->q[VIPL_RECVQ]);
	eng_time(nic, v, ENG_FOREVER);
	eng_peer_detach(v);
	eng_wake(nic, &v->conn.sleepers);
}

/*
 * The VI's own pulls run. Nonzero: wait on; 0: they take too long, and the
 * peer, which does not serve them, is given up.
 */
static int wait_pulls(struct eng_nic *nic, struct eng_vi *v)
{
	uint64_t now = eng_now();

	if (!v->disconnect_deadline) {
		v->disconnect_deadline = now + PULLS_NS;
		eng_time(nic, v, v->disconnect_deadline);
		return 1;
	}
	if (now < v->disconnect_deadline) {
		if (vipl_list_empty(&v->timed))
			eng_time(nic, v, v->disconnect_deadline);
		return 1;
	}
	eng_peer_down(v->peer, -ETIMEDOUT);
	return 0;
}

void eng_disconnect_work(struct eng_nic *nic, struct eng_vi *v)
{
	int down;

	if (!v->disconnecting)
		return;
	down = v->peer->state != PEER_UP;
	if (v->disconnecting == DISCONNECT_PULLS) {
		drop_rndvs(v, 0);
		if (!down && eng_rndvs_start(nic, v))
			eng_stall(v);
		if (!down && !vipl_list_empty(&v->rndvs)) {
			if (wait_pulls(nic, v))
				return;
			down = 1;
		}
		send_disconnect(nic, v);
		if (v->exported && !down &&
		    !(v->disconnect_flags & DISCONNECT_SEEN)) {
			v->disconnecting = DISCONNECT_AWAIT;
			v->disconnect_deadline = eng_now() + AWAIT_NS;
			eng_time(nic, v, v->disconnect_deadline);
			return;
		}
	} else if (!down && !(v->disconnect_flags & DISCONNECT_SEEN) &&
		   eng_now() < v->disconnect_deadline) {
		return;
	}
	finish_disconnect(nic, v);
}

/* The NIC closes: nothing is waited for. */
void eng_disconnect_now(struct eng_nic *nic, struct eng_vi *v)
{
	eng_vi_disconnect(nic, v, VIA_EV_DISCONNECT, WIRE_ORDERLY, 0);
	if (!v->disconnecting)
		return;
	if (v->disconnecting == DISCONNECT_PULLS)
		send_disconnect(nic, v);
	finish_disconnect(nic, v);
}

/* Message seq of ours was refused, and all before it were not. */
static void take_refusal(struct eng_nic *nic, struct eng_vi *v,
			 const struct eng_wire *h)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	uint32_t i = v->tx_base + h->seq, st;
	struct eng_slot *s = eng_queue_slot(q, i);
	int read;

	if (i - eng_get(&q->done) >= q->next - eng_get(&q->done) ||
	    s->state != SLOT_FLYING)
		return;
	st = h->status & (VIP_STATUS_RDMA_PROT_ERROR |
			  VIP_STATUS_REMOTE_DESC_ERROR);
	if (!st)
		st = VIP_STATUS_TRANSPORT_ERROR;
	read = (s->d.control & VIP_CONTROL_OP_MASK) == VIP_CONTROL_OP_RDMAREAD;
	/* Delivery alone was done, so at that level it is good. */
	if (!read && v->attrs.reliability != VIP_SERVICE_RELIABLE_RECEPTION)
		st = 0;
	s->d.status = st;
	s->state = SLOT_FINISHED;
	if (read)
		v->reads--;
	eng_retire(nic, v, 0);
}

void eng_rx_disconnect(struct eng_nic *nic, struct eng_vi *v,
		       const struct eng_wire *h)
{
	if (v->state == VIP_STATE_CONNECTED && h->op == WIRE_DISCONNECT) {
		if (h->flags & WIRE_REFUSED)
			take_refusal(nic, v, h);
		eng_vi_disconnect(nic, v, VIA_EV_LOST, DISCONNECT_SEEN,
				  h->flags & WIRE_ORDERLY);
	} else if (v->disconnecting) {
		v->disconnect_flags |= DISCONNECT_SEEN;
		eng_todo(nic, v, TODO_DISCONNECT);
	}
}

VIP_RETURN eng_disconnect(struct vipl_vi *obj)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);

	eng_enter(nic);
	if (v->id)
		eng_vi_disconnect(nic, v, VIA_EV_DISCONNECT, WIRE_ORDERLY, 0);
	if (nic->dirty)
		eng_settle(nic);
	/* All posted descriptors have completed when this returns. */
	while (v->disconnecting && nic->live)
		eng_sleep(nic, &v->conn.sleepers, ENG_FOREVER);
	eng_leave(nic);
	return VIP_SUCCESS;
}

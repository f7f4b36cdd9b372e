// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The end of a connection. The state changes at once; the rest is done by
 * eng_leave_work(), in steps:
 *
 * - LEFT_PULLS: pulls of this end write to the program's memory, so descriptors
 *   complete flushed only when the last one has ended. Then BYE goes.
 * - LEFT_AWAIT: the peer may be pulling from memory of announced messages. It
 *   is given back to the program when the peer says that it has stopped, or
 *   does not for AWAIT_NS.
 * - Everything posted completes, and the VI has no peer.
 */
#include <errno.h>

#include "eng.h"

#define AWAIT_NS	2000000000u
#define PULLS_NS	5000000000u

#define BYE_SEEN	0x80		/* bye_flags: the peer's has come */

void eng_vi_leave(struct eng_nic *nic, struct eng_vi *v, enum eng_why why,
		  int orderly)
{
	VIP_VI_STATE was = v->state;

	if (why != WHY_DISCONNECT && was != VIP_STATE_CONNECTED)
		return;
	if (was == VIP_STATE_CONNECT_PENDING)
		eng_conn_end(nic, v, VIP_INVALID_STATE);
	else if (why == WHY_DISCONNECT && v->conn.p2p)
		v->conn.verdict = ENG_TOLD;
	v->state = why == WHY_DISCONNECT ? VIP_STATE_IDLE : VIP_STATE_ERROR;
	v->quick = NULL;
	if (was != VIP_STATE_CONNECTED) {
		if (!v->leaving) {
			eng_flush(nic, v, &v->q[VIPL_SENDQ]);
			eng_flush(nic, v, &v->q[VIPL_RECVQ]);
		}
		return;
	}
	if (why != WHY_DISCONNECT)
		eng_event(v, VIP_ERROR_CONN_LOST, 0, 0, orderly);
	v->leaving = LEFT_PULLS;
	v->bye_deadline = 0;
	v->bye_op = why == WHY_LOST ? 0 :
		    why == WHY_LEFT ? WIRE_BYE_ACK : WIRE_BYE;
	if (why == WHY_DISCONNECT)
		v->bye_flags = WIRE_ORDERLY;
	else if (why == WHY_LEFT)
		v->bye_flags = BYE_SEEN;
	eng_todo(nic, v, TODO_BYE);
}

/* An error of this end. */
void eng_break(struct eng_nic *nic, struct eng_vi *v)
{
	if (v->state != VIP_STATE_CONNECTED)
		return;
	v->bye_flags = 0;
	eng_vi_leave(nic, v, WHY_BROKEN, 0);
}

/* A message of the peer's was refused: it is told which, and why. */
void eng_refuse(struct eng_nic *nic, struct eng_vi *v, uint32_t seq,
		uint32_t status)
{
	if (v->state != VIP_STATE_CONNECTED)
		return;
	v->bye_flags = WIRE_REFUSED;
	v->bye_seq = seq;
	v->bye_status = status;
	eng_vi_leave(nic, v, WHY_BROKEN, 0);
}

static void say_bye(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_wire h = {
		.op = v->bye_op,
		.flags = v->bye_flags & (WIRE_ORDERLY | WIRE_REFUSED),
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
		.seq = v->bye_seq,
		.ack = v->rx_done,
		.status = v->bye_status,
	};

	if (v->bye_op && v->peer->state == PEER_UP)
		eng_peer_send(nic, v->peer, &h, NULL, 0);
}

/*
 * Pulls that the transport does not have yet are dropped; not those of reads
 * that were answered before the peer left, whose memory waits for our BYE_ACK.
 */
static void drop_xfers(struct eng_vi *v, int all)
{
	struct eng_list *l, *next;
	struct eng_xfer *x;

	for (l = v->xfers.next; l != &v->xfers; l = next) {
		next = l->next;
		x = eng_container(l, struct eng_xfer, link);
		if (!all && (x->started ||
			     (x->read && v->bye_op == WIRE_BYE_ACK)))
			continue;
		eng_list_del(&x->link);
		if (x->started) {
			/* The peer is down: the transport frees it with it. */
			x->vi = NULL;
			eng_list_add_tail(&x->link, &v->peer->orphans);
		} else {
			eng_xfer_free(x);
		}
	}
}

static void finish(struct eng_nic *nic, struct eng_vi *v)
{
	drop_xfers(v, 1);
	v->pulls = 0;
	eng_answers_drop(nic, v, 1);
	eng_in_reset(v);
	v->reads = 0;
	v->leaving = LEFT_NOT;
	v->nonce = 0;
	eng_flush(nic, v, &v->q[VIPL_SENDQ]);
	eng_flush(nic, v, &v->q[VIPL_RECVQ]);
	eng_time(nic, v, ENG_FOREVER);
	eng_peer_detach(v);
	eng_wake(nic, &v->conn.sleepers);
}

/*
 * Its own pulls run. Nonzero: wait on; 0: they take too long, and the peer,
 * which does not serve them, is given up.
 */
static int wait_pulls(struct eng_nic *nic, struct eng_vi *v)
{
	uint64_t now = eng_now();

	if (!v->bye_deadline) {
		v->bye_deadline = now + PULLS_NS;
		eng_time(nic, v, v->bye_deadline);
		return 1;
	}
	if (now < v->bye_deadline) {
		if (eng_list_empty(&v->timed))
			eng_time(nic, v, v->bye_deadline);
		return 1;
	}
	eng_peer_down(v->peer, -ETIMEDOUT);
	return 0;
}

void eng_leave_work(struct eng_nic *nic, struct eng_vi *v)
{
	int down;

	if (!v->leaving)
		return;
	down = v->peer->state != PEER_UP;
	if (v->leaving == LEFT_PULLS) {
		drop_xfers(v, 0);
		if (!down && eng_xfers_start(nic, v))
			eng_stall(v);
		if (!down && !eng_list_empty(&v->xfers)) {
			if (wait_pulls(nic, v))
				return;
			down = 1;
		}
		say_bye(nic, v);
		if (v->exposed && !down && !(v->bye_flags & BYE_SEEN)) {
			v->leaving = LEFT_AWAIT;
			v->bye_deadline = eng_now() + AWAIT_NS;
			eng_time(nic, v, v->bye_deadline);
			return;
		}
	} else if (!down && !(v->bye_flags & BYE_SEEN) &&
		   eng_now() < v->bye_deadline) {
		return;
	}
	finish(nic, v);
}

/* The NIC closes: nothing is waited for. */
void eng_leave_now(struct eng_nic *nic, struct eng_vi *v)
{
	eng_vi_leave(nic, v, WHY_DISCONNECT, 0);
	if (!v->leaving)
		return;
	if (v->leaving == LEFT_PULLS)
		say_bye(nic, v);
	finish(nic, v);
}

/* Message seq of ours was refused, and all before it were not. */
static void refused(struct eng_nic *nic, struct eng_vi *v,
		    const struct eng_wire *h)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	uint32_t i = v->tx_base + h->seq, st;
	struct eng_slot *s = eng_slot(q, i);
	int read;

	if (i - eng_get(&q->done) >= q->next - eng_get(&q->done) ||
	    s->state != SLOT_FLYING)
		return;
	st = h->status & (VIP_STATUS_RDMA_PROT_ERROR |
			  VIP_STATUS_REMOTE_DESC_ERROR);
	if (!st)
		st = VIP_STATUS_TRANSPORT_ERROR;
	read = (s->control & VIP_CONTROL_OP_MASK) == VIP_CONTROL_OP_RDMAREAD;
	/* Delivery alone was done, so at that level it is good. */
	if (!read && v->reliability != VIP_SERVICE_RELIABLE_RECEPTION)
		st = 0;
	s->status = st;
	s->state = SLOT_FINISHED;
	if (read)
		v->reads--;
	eng_retire(nic, v, 0);
}

void eng_rx_bye(struct eng_nic *nic, struct eng_vi *v,
		const struct eng_wire *h)
{
	if (v->state == VIP_STATE_CONNECTED && h->op == WIRE_BYE) {
		if (h->flags & WIRE_REFUSED)
			refused(nic, v, h);
		eng_vi_leave(nic, v, WHY_LEFT, h->flags & WIRE_ORDERLY);
	} else if (v->leaving) {
		v->bye_flags |= BYE_SEEN;
		eng_todo(nic, v, TODO_BYE);
	}
}

VIP_RETURN eng_disconnect(struct vipl_vi *obj)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);

	eng_enter(nic);
	if (v->id)
		eng_vi_leave(nic, v, WHY_DISCONNECT, 0);
	if (nic->dirty)
		eng_settle(nic);
	/* What is posted has completed when this returns. */
	while (v->leaving && nic->live)
		eng_sleep(nic, &v->conn.sleepers, ENG_FOREVER);
	eng_leave(nic);
	return VIP_SUCCESS;
}

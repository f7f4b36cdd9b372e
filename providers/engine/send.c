// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Send queues: from descriptors to packets, from acknowledgements back. */
#include <errno.h>

#include "eng.h"

/* Complete the head with an error of this end. */
static __attribute__((noinline)) void fail_head(struct eng_nic *nic,
						struct eng_vi *v,
						struct eng_slot *s, uint32_t st)
{
	/* The slot was no message: the next one has its number. */
	v->tx_base++;
	eng_complete(nic, v, &v->q[VIPL_SENDQ],
		     st | via_desc_op(s->d.control, 0), 0, 0);
	if (eng_reliable(v))
		nic->later.works->broken(nic, v);
}

void eng_slot_unexport(struct eng_nic *nic, struct eng_vi *v,
		       struct eng_slot *s)
{
	if (likely(!s->export))
		return;
	eng_export_drop(nic, v, s->export);
	s->export = NULL;
}

/* The header of the message in a slot. */
static inline void fill_header(struct eng_wire *h, const struct eng_vi *v,
			       const struct eng_slot *s, uint32_t i, uint8_t op)
{
	h->op = op;
	h->flags = s->d.control & VIP_CONTROL_IMMEDIATE ? WIRE_IMM : 0;
	if (sizeof(void *) == 4 && op != WIRE_SEND)
		h->flags |= WIRE_HALF;
	h->nsrc = 0;
	h->dst = v->peer_id;
	h->nonce = v->peer_nonce;
	h->seq = i - v->tx_base;
	h->ack = v->rx_done;
	h->len = s->d.length;
	h->imm = s->d.immediate;
	h->raddr = s->d.raddr;
	h->rhandle = s->d.rhandle;
	h->status = 0;
	h->spare[0] = 0;
	h->spare[1] = 0;
}

/* Everything but a plain message of one segment. */
static __attribute__((noinline)) int xmit_many(struct eng_nic *nic,
					       struct eng_vi *v,
					       struct eng_slot *s,
					       const struct eng_wire *h)
{
	struct iovec iov[VIA_SEG_MAX];
	int n = eng_gather(nic, v, s, iov);

	return n < 0 ? -EFAULT : eng_peer_xmit(v->peer, h, iov, n);
}

static struct eng_export *export_slot(struct eng_nic *nic, struct eng_vi *v,
				      struct eng_slot *s, uint32_t *st)
{
	struct eng_export *e = eng_export_new(s->d.nsegs);
	struct via_seg *seg = via_desc_segs(&s->d);
	struct eng_region *r;
	uint32_t i;
	int err;

	*st = VIP_STATUS_TRANSPORT_ERROR;
	if (!e)
		return NULL;
	v->exported++;
	for (i = 0; i < s->d.nsegs; i++) {
		if (!seg[i].len)
			continue;
		r = eng_local(nic, v, seg[i].handle, seg[i].addr, seg[i].len);
		if (!r) {
			*st = VIP_STATUS_PROTECTION_ERROR;
			break;
		}
		err = eng_export_add(nic, v, e, r, seg[i].addr, seg[i].len);
		if (err == -EFAULT)
			*st = VIP_STATUS_PROTECTION_ERROR;
		if (err)
			break;
	}
	if (i == s->d.nsegs)
		return e;
	eng_export_drop(nic, v, e);
	return NULL;
}

/* A message that the peer is to pull: 0, -EAGAIN, or a status. */
static __attribute__((noinline)) int announce_message(struct eng_nic *nic,
						      struct eng_vi *v,
						      struct eng_slot *s,
						      struct eng_wire *h)
{
	struct eng_export *e;
	struct iovec iov;
	uint32_t st;
	int r;

	e = export_slot(nic, v, s, &st);
	if (!e)
		return (int)st;
	h->flags |= WIRE_SRCS;
	h->nsrc = (uint16_t)e->n;
	iov.iov_base = e->src;
	iov.iov_len = e->n * sizeof(*e->src);
	r = eng_peer_xmit(v->peer, h, &iov, 1);
	if (r) {
		eng_export_drop(nic, v, e);
		return r;
	}
	s->export = e;
	return 0;
}

/*
 * Start the message of a slot. 0: it is on its way; 1: not now, something that
 * is under way comes first; -EAGAIN: no room; other: it failed, or the peer is
 * lost, and there is nothing more to start.
 */
static inline int start_message(struct eng_nic *nic, struct eng_vi *v,
				struct eng_queue *q, struct eng_slot *s,
				uint32_t i)
{
	uint32_t op = s->d.control & VIP_CONTROL_OP_MASK;
	struct via_seg *seg = &s->d.seg[0];
	struct eng_wire h;
	struct iovec iov;
	int r;

	if (unlikely(v->reads) && (s->d.control & VIP_CONTROL_QFENCE ||
				   v->reads >= ENG_READS))
		return 1;
	fill_header(&h, v, s, i, WIRE_SEND + op);
	if (unlikely(op == VIP_CONTROL_OP_RDMAREAD)) {
		r = eng_peer_xmit(v->peer, &h, NULL, 0);
		if (!r)
			v->reads++;
	} else if (unlikely(s->d.length > nic->t->eager)) {
		/* Retiring the first of them comes here again. */
		if (nic->t->flags & ENG_COPIES &&
		    i - eng_get(&q->done) >= ENG_COPIED)
			return 1;
		r = announce_message(nic, v, s, &h);
	} else if (likely(s->d.nsegs == 1 && !s->d.more && s->d.length)) {
		iov.iov_base = (void *)(uintptr_t)seg->addr;
		iov.iov_len = seg->len;
		r = likely(eng_local(nic, v, seg->handle, seg->addr,
				     seg->len) != NULL) ?
			eng_peer_xmit(v->peer, &h, &iov, 1) : -EFAULT;
	} else {
		r = xmit_many(nic, v, s, &h);
	}
	if (unlikely(r)) {
		if (r == -EFAULT)
			r = VIP_STATUS_PROTECTION_ERROR;
		if (r < 0)
			return r;
		s->d.status = (uint32_t)r;
		return 1;
	}
	eng_acks_rode(v);
	if (likely(!v->acks && !(h.flags & WIRE_SRCS) &&
		   op != VIP_CONTROL_OP_RDMAREAD)) {
		if (likely(i == eng_get(&q->done))) {
			eng_complete(nic, v, q, op ? VIP_STATUS_OP_RDMA_WRITE :
				     VIP_STATUS_OP_SEND, s->d.length, 0);
			return 0;
		}
		s->state = SLOT_FINISHED;
	} else {
		s->state = SLOT_FLYING;
	}
	q->next = i + 1;
	v->quick = NULL;
	return 0;
}

/* Send what is posted. May call the transport. */
void eng_run(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	struct eng_peer *p = v->peer;
	struct eng_slot *s;
	uint32_t i;
	int r;

	while ((i = q->next) != eng_get(&q->tail) &&
	       likely(v->state == VIP_STATE_CONNECTED)) {
		/* Packets that wait already come first. */
		if (unlikely(p->full || !vipl_list_empty(&p->out))) {
			eng_stall(v);
			return;
		}
		if (unlikely(i - eng_get(&q->done) >= ENG_INFLIGHT))
			return;
		s = eng_queue_slot(q, i);
		if (likely(s->state == SLOT_POSTED))
			eng_load(nic, v, s, 0);
		r = 0;
		if (likely(!s->d.status))
			r = start_message(nic, v, q, s, i);
		if (unlikely(s->d.status && q->next == i)) {
			/* Messages before it complete first. */
			if (i != eng_get(&q->done))
				return;
			fail_head(nic, v, s, s->d.status);
		} else if (unlikely(r)) {
			if (r == -EAGAIN)
				eng_stall(v);
			return;
		}
	}
}

/*
 * Complete what is finished, in order. Unless may_call, which is so inside of
 * eng_rx(), not what the transport has to unexport.
 */
void eng_retire(struct eng_nic *nic, struct eng_vi *v, int may_call)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	uint32_t i, from = eng_get(&q->done);
	struct eng_slot *s;

	while ((i = eng_get(&q->done)) != q->next) {
		s = eng_queue_slot(q, i);
		if (s->state != SLOT_FINISHED)
			break;
		if (unlikely(s->export != NULL)) {
			if (!may_call) {
				eng_todo(nic, v, TODO_SEND);
				return;
			}
			eng_slot_unexport(nic, v, s);
		}
		eng_complete(nic, v, q,
			     s->d.status | via_desc_op(s->d.control, 0),
			     s->d.status ? 0 : s->d.length, 0);
	}
	eng_look_quick(v);
	/* There is room for more of them now. */
	if (i != from && q->next != eng_get(&q->tail))
		eng_todo(nic, v, TODO_SEND);
}

/* The peer has dealt with so many messages of this connection. */
void eng_acked(struct eng_nic *nic, struct eng_vi *v, uint32_t ack)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	uint32_t to = v->tx_base + ack;
	struct eng_slot *s;

	if (likely((int32_t)(to - v->acked) <= 0))
		return;
	/* Messages that are complete need no acknowledgement. */
	if ((int32_t)(eng_get(&q->done) - v->acked) > 0)
		v->acked = eng_get(&q->done);
	if ((int32_t)(to - v->acked) <= 0)
		return;
	/* More than was sent: it makes that up. */
	if (to - v->acked > q->next - v->acked) {
		nic->later.works->broken(nic, v);
		return;
	}
	for (; v->acked != to; v->acked++) {
		s = eng_queue_slot(q, v->acked);
		if (s->state == SLOT_FLYING &&
		    (s->d.control & VIP_CONTROL_OP_MASK) !=
		    VIP_CONTROL_OP_RDMAREAD)
			s->state = SLOT_FINISHED;
	}
	eng_retire(nic, v, 0);
}

/* Nothing else that goes to the peer has said it. May call the transport. */
void eng_send_ack(struct eng_vi *v)
{
	struct eng_wire h = {
		.op = WIRE_ACK,
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
		.ack = v->rx_done,
	};
	struct eng_peer *p = v->peer;

	if (v->ack_sent == v->rx_done)
		return;
	if (p->full || !vipl_list_empty(&p->out) ||
	    eng_peer_xmit(p, &h, NULL, 0) == -EAGAIN) {
		eng_stall(v);
		return;
	}
	v->ack_sent = h.ack;
	/* The last one that went alone was not answered. */
	if (v->alone)
		v->replies = 0;
	v->alone = 1;
	v->ack_alone = v->rx_done;
}

/* Send the acknowledgements without a ride. May call the transport. */
void eng_late_acks(struct eng_nic *nic)
{
	struct vipl_list *l;
	struct eng_vi *v;

	nic->tardy = 0;
	while ((l = vipl_list_pop(&nic->late))) {
		v = vipl_container(l, struct eng_vi, late);
		if (v->state != VIP_STATE_CONNECTED ||
		    v->ack_sent == v->rx_done)
			continue;
		v->replies = 0;
		eng_send_ack(v);
	}
	if (nic->dirty)
		eng_settle(nic);
}

/* The end of a read. */
static void read_end(struct eng_nic *nic, struct eng_vi *v, struct eng_slot *s,
		     uint32_t st)
{
	v->reads--;
	s->d.status = st;
	s->state = SLOT_FINISHED;
	eng_retire(nic, v, 0);
	if (st)
		nic->later.works->broken(nic, v);
}

/* The answer to a read: the bytes, or where they can be pulled from. */
void eng_rx_answer(struct eng_nic *nic, struct eng_vi *v,
		   const struct eng_wire *h, const void *data, size_t len)
{
	struct eng_queue *q = &v->q[VIPL_SENDQ];
	uint32_t i = v->tx_base + h->seq;
	struct eng_slot *s = eng_queue_slot(q, i);
	struct eng_rndv *x;

	if (i - eng_get(&q->done) >= q->next - eng_get(&q->done) ||
	    s->state != SLOT_FLYING || h->len != s->d.length ||
	    (s->d.control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_RDMAREAD) {
		nic->later.works->broken(nic, v);
		return;
	}
	if (!(h->flags & WIRE_SRCS)) {
		read_end(nic, v, s, len != h->len ? VIP_STATUS_TRANSPORT_ERROR :
			 (uint32_t)eng_scatter(nic, v, s, data, h->len));
		return;
	}
	x = eng_rndv_new(nic, v, h, data, len, s->d.nsegs);
	if (!x) {
		read_end(nic, v, s, VIP_STATUS_TRANSPORT_ERROR);
		return;
	}
	if (eng_rndv_dst(nic, v, x, s, s->d.length)) {
		eng_rndv_free(x);
		read_end(nic, v, s, VIP_STATUS_PROTECTION_ERROR);
		return;
	}
	x->seq = h->seq;
	x->read = 1;
	s->state = SLOT_ANSWERED;
	vipl_list_add_tail(&x->link, &v->rndvs);
	eng_todo(nic, v, TODO_IN);
}

/* The pull of an answer has ended. */
void eng_read_done(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x)
{
	struct eng_wire h = {
		.op = WIRE_TAKEN,
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
		.seq = x->seq,
		.ack = v->rx_done,
	};
	struct eng_slot *s;

	s = eng_queue_slot(&v->q[VIPL_SENDQ], v->tx_base + x->seq);
	if (v->state == VIP_STATE_CONNECTED)
		eng_peer_send(nic, v->peer, &h, NULL, 0);
	read_end(nic, v, s, x->err == -EFAULT ? VIP_STATUS_PROTECTION_ERROR :
		 x->err ? VIP_STATUS_TRANSPORT_ERROR : 0);
}

/* The peer has pulled an answer. */
void eng_rx_taken(struct eng_nic *nic, struct eng_vi *v, uint32_t seq)
{
	struct eng_export *e;
	struct vipl_list *l;

	for (l = v->answers.next; l != &v->answers; l = l->next) {
		e = vipl_container(l, struct eng_export, link);
		if (e->seq == seq) {
			e->taken = 1;
			eng_todo(nic, v, TODO_IN);
			return;
		}
	}
}

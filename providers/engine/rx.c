// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Packets of peers: which part of the engine each is for. Transports call it. */
#include <string.h>

#include "eng.h"

/* The VI that a packet of a connection is for, if it may be that. */
static inline struct eng_vi *find_target(struct eng_nic *nic,
					 struct eng_peer *p,
					 const struct eng_wire *h)
{
	uint32_t i = h->dst & 0xffff;
	struct eng_vi *v;

	if (unlikely(i >= ENG_VIS))
		return NULL;
	v = nic->vis[i];
	if (unlikely(!v || v->id != h->dst || v->nonce != h->nonce ||
		     v->peer != p || !h->nonce))
		return NULL;
	return v;
}

/*
 * The short way of a short message: whole, without immediate data, in its turn,
 * for a receive of one segment. Nonzero when it is done.
 */
static inline int rx_plain(struct eng_nic *nic, struct eng_vi *v,
			   const struct eng_wire *h, const void *data,
			   size_t len)
{
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	uint32_t i = q->next;
	struct eng_slot *s = eng_queue_slot(q, i);

	if (unlikely(h->seq != v->rx_next || v->in_head != v->in_tail ||
		     len != h->len || !len || i == eng_get(&q->tail) ||
		     len > s->d.length || q->scan ||
		     !eng_is_plain(nic, v, q, s) ||
		     !eng_cached(nic, v, q, ENG_CACHE_DATA,
				 s->d.seg[0].handle,
				 s->d.seg[0].addr, len)))
		return 0;
	eng_copy((void *)(uintptr_t)s->d.seg[0].addr, data, len);
	v->rx_next++;
	v->rx_done++;
	eng_complete_plain(nic, v, q, s, i, VIP_STATUS_OP_RECEIVE,
			   (uint32_t)len);
	if (unlikely(v->acks))
		eng_todo(nic, v, TODO_ACK);
	return 1;
}

static void rx_connected(struct eng_nic *nic, struct eng_vi *v,
			 const struct eng_wire *h, const void *data, size_t len)
{
	eng_acked(nic, v, h->ack);
	if (unlikely(v->state != VIP_STATE_CONNECTED))
		return;
	switch (h->op) {
	case WIRE_SEND:
	case WIRE_WRITE:
	case WIRE_READ:
		eng_rx_message(nic, v, h, data, len);
		break;
	case WIRE_ANSWER:
		eng_rx_answer(nic, v, h, data, len);
		break;
	case WIRE_TAKEN:
		eng_rx_taken(nic, v, h->seq);
		break;
	default:
		break;
	}
}

/* As eng_fast_rx() where that does not do it: the header in its long form. */
void eng_rx_plain(struct eng_peer *p, const struct eng_plain *plain,
		  const void *payload, size_t len)
{
	struct eng_wire h = {
		.op = WIRE_SEND,
		.dst = plain->dst,
		.nonce = plain->nonce,
		.seq = plain->seq,
		.ack = plain->ack,
		.len = (uint32_t)len,
	};
	struct eng_nic *nic = p->nic;
	struct eng_vi *v;

	if (unlikely(!nic->live || p->state != PEER_UP))
		return;
	v = find_target(nic, p, &h);
	if (unlikely(!v || v->state != VIP_STATE_CONNECTED))
		return;
	if (unlikely(eng_is_ack(v, h.ack)) ||
	    unlikely(!rx_plain(nic, v, &h, payload, len)))
		rx_connected(nic, v, &h, payload, len);
}

void eng_rx(struct eng_peer *p, const struct eng_header *header,
	    const void *payload, size_t len)
{
	struct eng_nic *nic = p->nic;
	struct eng_wire h;
	struct eng_vi *v;

	/* Read once: the peer may be able to write to it. */
	memcpy(&h, header, sizeof(h));
	if (unlikely(!nic->live || p->state != PEER_UP))
		return;
	if (unlikely(h.op >= WIRE_CONNECT)) {
		eng_rx_conn(nic, p, &h, payload, len);
		return;
	}
	v = find_target(nic, p, &h);
	if (unlikely(!v))
		return;
	if (likely(v->state == VIP_STATE_CONNECTED)) {
		if (likely(h.op == WIRE_SEND && !h.flags &&
			   !eng_is_ack(v, h.ack)) &&
		    likely(rx_plain(nic, v, &h, payload, len)))
			return;
		if (unlikely(h.op == WIRE_DISCONNECT)) {
			eng_acked(nic, v, h.ack);
			eng_rx_disconnect(nic, v, &h);
			return;
		}
		rx_connected(nic, v, &h, payload, len);
	} else if (h.op == WIRE_DISCONNECT || h.op == WIRE_DISCONNECT_ACK) {
		eng_rx_disconnect(nic, v, &h);
	}
}

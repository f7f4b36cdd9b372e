// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peers: the NIC handles at the other ends. A peer lives until it is down and
 * no VI has it any more. Only eng_peer_work() frees one, which no transport
 * operation is below.
 */
#include <errno.h>
#include <stdlib.h>

#include "eng.h"

#define OUT_MAX		16384u	/* packets that wait: the peer takes none */

void *eng_peer_priv(struct eng_peer *p)
{
	return p->priv;
}

struct eng_nic *eng_peer_nic(struct eng_peer *p)
{
	return p->nic;
}

struct eng_peer *eng_peer_make(struct eng_nic *nic, const uint8_t *addr)
{
	struct eng_peer *p = calloc(1, sizeof(*p) + nic->t->peer_size);

	if (!p)
		return NULL;
	p->nic = nic;
	p->state = PEER_HANDSHAKE;
	memcpy(p->addr, addr, nic->ident.addr_len);
	vipl_list_init(&p->work);
	vipl_list_init(&p->out);
	vipl_list_init(&p->vis);
	vipl_list_init(&p->stalled);
	vipl_list_init(&p->conns);
	vipl_list_init(&p->orphans);
	vipl_list_add_tail(&p->link, &nic->peers);
	return p;
}

static void look_ready(struct eng_peer *p)
{
	p->ready = p->state == PEER_UP && !p->full && vipl_list_empty(&p->out);
}

void eng_peer_todo(struct eng_peer *p)
{
	if (vipl_list_empty(&p->work))
		vipl_list_add_tail(&p->work, &p->nic->peer_work);
	p->nic->dirty = 1;
}

void eng_peer_attach(struct eng_vi *v, struct eng_peer *p)
{
	eng_peer_detach(v);
	v->peer = p;
	vipl_list_add_tail(&v->peer_link, &p->vis);
}

void eng_peer_detach(struct eng_vi *v)
{
	struct eng_peer *p = v->peer;

	if (!p)
		return;
	v->peer = NULL;
	v->quick = NULL;
	vipl_list_del(&v->peer_link);
	/* The VI may be on p->stalled. */
	vipl_list_del(&v->work);
	if (v->todo)
		eng_todo(p->nic, v, 0);
	if (p->state == PEER_DOWN)
		eng_peer_todo(p);
}

/* The VI goes on when there is room. */
void eng_stall(struct eng_vi *v)
{
	v->todo |= TODO_SEND | TODO_ACK | TODO_IN;
	vipl_list_del(&v->work);
	vipl_list_add_tail(&v->work, &v->peer->stalled);
	/* Not full: what waits before it is about to go. */
	if (!v->peer->full)
		eng_peer_todo(v->peer);
}

int eng_peer_xmit(struct eng_peer *p, const struct eng_wire *h,
		  const struct iovec *iov, unsigned int n)
{
	int r;

	if (unlikely(p->state != PEER_UP))
		return -ENOTCONN;
	r = p->nic->t->xmit(p, (const struct eng_header *)(const void *)h, iov,
			    n);
	if (unlikely(r == -EAGAIN)) {
		p->full = 1;
		p->ready = 0;
	}
	return r;
}

struct eng_packet *eng_packet_new(const struct eng_wire *h, uint32_t len)
{
	struct eng_packet *k = malloc(sizeof(*k) + len);

	if (!k)
		return NULL;
	k->h = *h;
	k->len = len;
	return k;
}

/* Send it after what waits already; it is freed. */
void eng_packet_send(struct eng_nic *nic, struct eng_peer *p,
		     struct eng_packet *k)
{
	(void)nic;
	if (p->state == PEER_DOWN) {
		free(k);
		return;
	}
	vipl_list_add_tail(&k->link, &p->out);
	p->ready = 0;
	eng_peer_todo(p);
	if (++p->nout > OUT_MAX)
		eng_peer_down(p, -EPIPE);
}

/* A packet that is not a message; sent later, in order. */
void eng_peer_send(struct eng_nic *nic, struct eng_peer *p,
		   const struct eng_wire *h, const void *data, uint32_t len)
{
	struct eng_packet *k = eng_packet_new(h, len);

	if (!k) {
		/* Without it nothing that follows makes sense. */
		eng_peer_down(p, -ENOMEM);
		return;
	}
	if (len)
		memcpy(k->data, data, len);
	eng_packet_send(nic, p, k);
}

static void drop_out(struct eng_peer *p)
{
	struct vipl_list *l;

	while ((l = vipl_list_pop(&p->out)))
		free(vipl_container(l, struct eng_packet, link));
	p->nout = 0;
}

static void peer_free(struct eng_nic *nic, struct eng_peer *p)
{
	struct vipl_list *l;

	nic->t->peer_release(p);
	while ((l = vipl_list_pop(&p->orphans)))
		eng_rndv_free(vipl_container(l, struct eng_rndv, link));
	drop_out(p);
	vipl_list_del(&p->work);
	vipl_list_del(&p->link);
	free(p);
}

/* Send the packets that wait, in order; stop when there is no room. */
static void send_out(struct eng_peer *p)
{
	struct eng_packet *k;
	struct iovec iov;
	int r;

	while (!p->full && !vipl_list_empty(&p->out)) {
		k = vipl_container(p->out.next, struct eng_packet, link);
		iov.iov_base = k->data;
		iov.iov_len = k->len;
		r = eng_peer_xmit(p, &k->h, &iov, k->len ? 1 : 0);
		if (r)
			return;
		vipl_list_del(&k->link);
		p->nout--;
		free(k);
	}
	look_ready(p);
}

static void is_up(struct eng_nic *nic, struct eng_peer *p)
{
	struct vipl_list *l, *next;
	struct eng_vi *v;

	/* The VIs that asked for its handshake. */
	for (l = p->vis.next; l != &p->vis; l = next) {
		next = l->next;
		v = vipl_container(l, struct eng_vi, peer_link);
		if (v->state == VIP_STATE_CONNECT_PENDING && !v->conn.asked &&
		    !v->conn.serving)
			eng_conn_ask(nic, v);
	}
	send_out(p);
	while (!p->full && vipl_list_empty(&p->out) &&
	       (l = vipl_list_pop(&p->stalled)))
		eng_todo(nic, vipl_container(l, struct eng_vi, work), 0);
}

static void is_down(struct eng_nic *nic, struct eng_peer *p)
{
	/* A process that ends leaves in order, as with the kernel's agent. */
	int orderly = !p->err || p->err == -ECONNRESET;
	struct vipl_list *l, *next;
	struct eng_vi *v;

	drop_out(p);
	while (!vipl_list_empty(&p->conns))
		eng_conn_free(nic, vipl_container(p->conns.next,
						  struct eng_conn, peer_link));
	for (l = p->vis.next; l != &p->vis; l = next) {
		next = l->next;
		v = vipl_container(l, struct eng_vi, peer_link);
		if (v->disconnecting)
			eng_todo(nic, v, TODO_DISCONNECT);
		else if (v->state == VIP_STATE_CONNECTED)
			eng_vi_disconnect(nic, v, VIA_EV_LOST, 0, orderly);
		else if (p->as)
			eng_peer_attach(v, p->as);
		else
			eng_conn_peer_down(nic, v, p->err);
	}
	if (p->as && p->as->state == PEER_UP)
		eng_peer_todo(p->as);
	if (vipl_list_empty(&p->vis) && !p->busy)
		peer_free(nic, p);
}

void eng_peer_work(struct eng_nic *nic, struct eng_peer *p)
{
	if (p->state == PEER_UP)
		is_up(nic, p);
	else if (p->state == PEER_DOWN)
		is_down(nic, p);
}

/* Do packets wait to be transmitted? */
int eng_peers_wait(struct eng_nic *nic)
{
	struct vipl_list *l;
	struct eng_peer *p;

	for (l = nic->peers.next; l != &nic->peers; l = l->next) {
		p = vipl_container(l, struct eng_peer, link);
		if (p->state == PEER_UP && !vipl_list_empty(&p->out))
			return 1;
	}
	return 0;
}

/* The NIC handle closes, and no VI is left. */
void eng_peers_end(struct eng_nic *nic)
{
	struct eng_peer *p;

	while (!vipl_list_empty(&nic->peers)) {
		p = vipl_container(nic->peers.next, struct eng_peer, link);
		if (p->state == PEER_UP)
			nic->t->part(p);
		p->state = PEER_DOWN;
		while (!vipl_list_empty(&p->conns))
			eng_conn_free(nic, vipl_container(p->conns.next,
							  struct eng_conn,
							 peer_link));
		peer_free(nic, p);
	}
}

/* Functions that transports call. */

struct eng_peer *eng_peer_new(struct eng_nic *nic, const uint8_t *addr)
{
	return nic->live ? eng_peer_make(nic, addr) : NULL;
}

void eng_peer_up(struct eng_peer *p)
{
	if (p->state != PEER_HANDSHAKE)
		return;
	p->state = PEER_UP;
	look_ready(p);
	eng_peer_todo(p);
}

void eng_peer_same(struct eng_peer *p, struct eng_peer *as)
{
	if (p->state == PEER_DOWN)
		return;
	p->as = as;
	p->state = PEER_DOWN;
	p->ready = 0;
	eng_peer_todo(p);
}

void eng_peer_down(struct eng_peer *p, int err)
{
	struct vipl_list *l;

	if (p->state == PEER_DOWN)
		return;
	/* A NIC that turned out to be this one. */
	for (l = p->nic->peers.next; l != &p->nic->peers; l = l->next)
		if (vipl_container(l, struct eng_peer, link)->as == p)
			vipl_container(l, struct eng_peer, link)->as = NULL;
	p->state = PEER_DOWN;
	p->ready = 0;
	p->err = err;
	eng_peer_todo(p);
}

void eng_room(struct eng_peer *p)
{
	p->full = 0;
	look_ready(p);
	eng_peer_todo(p);
}

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

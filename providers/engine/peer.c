// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peers: the NIC handles at the other ends, and the packets that wait for room. A
 * peer lives until it is down and no VI has it any more. Only work.c frees one, which
 * no transport operation is below.
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
		vipl_list_add_tail(&p->work, &p->nic->later.peers);
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

void eng_peer_drop_out(struct eng_peer *p)
{
	struct vipl_list *l;

	while ((l = vipl_list_pop(&p->out)))
		free(vipl_container(l, struct eng_packet, link));
	p->nout = 0;
}

/* Send the packets that wait, in order; stop when there is no room. */
void eng_peer_send_out(struct eng_peer *p)
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

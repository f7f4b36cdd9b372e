// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What is done of work that was put off (settle.c): of VIs, peers, discriminators. */
#include <errno.h>
#include <stdlib.h>

#include "eng.h"

static void vi_work(struct eng_nic *nic, struct eng_vi *v)
{
	uint8_t todo = v->todo;

	v->todo = 0;
	if (todo & TODO_DISCONNECT)
		eng_disconnect_work(nic, v);
	else if (v->disconnecting && todo & TODO_IN)
		eng_disconnect_work(nic, v);	/* room for its pulls */
	if (v->state != VIP_STATE_CONNECTED)
		return;
	if (todo & TODO_IN)
		eng_in_work(nic, v);
	if (todo & TODO_SEND) {
		eng_retire(nic, v, 1);
		eng_run(nic, v);
	}
	if (!(todo & TODO_ACK) || v->state != VIP_STATE_CONNECTED ||
	    v->ack_sent == v->rx_done)
		return;
	/* The progress thread sees to it that a ride that fails is short. */
	if (v->replies < ENG_REPLIES || v->rx_done - v->ack_sent > 8 ||
	    nic->leader == &nic->ticker || eng_get(&nic->tick) != TICK_ON)
		eng_send_ack(v);
	else if (vipl_list_empty(&v->late))
		eng_late(nic, v);
}

static void peer_free(struct eng_nic *nic, struct eng_peer *p)
{
	struct vipl_list *l;

	nic->t->peer_release(p);
	while ((l = vipl_list_pop(&p->orphans)))
		eng_rndv_free(vipl_container(l, struct eng_rndv, link));
	eng_peer_drop_out(p);
	vipl_list_del(&p->work);
	vipl_list_del(&p->link);
	free(p);
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
	eng_peer_send_out(p);
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

	eng_peer_drop_out(p);
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

static void peer_work(struct eng_nic *nic, struct eng_peer *p)
{
	if (p->state == PEER_UP)
		is_up(nic, p);
	else if (p->state == PEER_DOWN)
		is_down(nic, p);
}

const struct eng_works eng_works = {
	.vi = vi_work,
	.peer = peer_work,
	.disc = eng_disc_work,
	.expire = eng_conn_expire,
	.late_acks = eng_late_acks,
	.broken = eng_break,
	.may_pull = eng_in_may_pull,
	.pulled = eng_in_pulled,
};

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

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * What happens to attempts to connect: packets about them, a peer that goes, time that
 * is over. Which attempt there is, and how it ends: conn.c, request.c, p2p.c.
 */
#include <errno.h>
#include <string.h>

#include "eng.h"

/* Pending to Idle when its time is over; else what is to be done in time. */
void eng_conn_expire(struct eng_nic *nic, struct eng_vi *v, uint64_t now)
{
	if (!via_state_may(v->state, VIA_EV_EXPIRE))
		return;
	if (now >= v->conn.deadline && v->conn.deadline != ENG_FOREVER)
		eng_conn_end(nic, v, VIA_EV_EXPIRE, VIP_TIMEOUT);
	else
		eng_p2p_retry(nic, v, now);
}

/* The peer of an attempt is down. */
void eng_conn_peer_down(struct eng_nic *nic, struct eng_vi *v, int err)
{
	struct eng_attempt *a = &v->conn;

	eng_peer_detach(v);
	if (v->state != VIP_STATE_CONNECT_PENDING)
		return;
	if (a->p2p && (a->asked || a->serving || !err || err == -ENOENT)) {
		/* Not there, or there no longer: it may come yet. */
		a->asked = 0;
		a->serving = 0;
		eng_p2p_none(nic, v);
	} else if (a->serving) {
		eng_conn_end(nic, v, VIA_EV_REFUSE, VIP_TIMEOUT);
	} else if (!err && !a->again) {
		/* The peer parted as we asked: there may be another. */
		a->again = 1;
		a->asked = 0;
		err = eng_conn_handshake(nic, v);
		if (err)
			eng_conn_end(nic, v, VIA_EV_REFUSE, eng_conn_verdict_of(err));
	} else {
		eng_conn_end(nic, v, VIA_EV_REFUSE,
			     a->asked ? VIP_REJECT : eng_conn_verdict_of(err));
	}
}

/* The VI with that id whose attempt has that nonce, or NULL. */
static struct eng_vi *find_pending(struct eng_nic *nic,
				   const struct eng_wire *h)
{
	struct eng_vi *v;

	if ((h->dst & 0xffff) >= ENG_VIS || !h->nonce)
		return NULL;
	v = nic->vis[h->dst & 0xffff];
	if (!v || v->id != h->dst || v->nonce != h->nonce ||
	    v->state != VIP_STATE_CONNECT_PENDING)
		return NULL;
	return v;
}

static void rx_accept(struct eng_nic *nic, struct eng_peer *peer,
		      const struct eng_wire *h, const struct wire_conn *c)
{
	struct eng_wire a = { .dst = c->vi, .nonce = c->nonce };
	struct via_vi_attrs theirs = eng_wire_attrs(c);
	struct eng_vi *v = find_pending(nic, h);

	if (!v || v->conn.serving || !v->conn.asked || v->peer != peer ||
	    via_attrs_compare(&v->attrs, &theirs)) {
		a.op = WIRE_GONE;
		eng_peer_send(nic, peer, &a, NULL, 0);
		return;
	}
	a.op = WIRE_CONFIRM;
	eng_peer_send(nic, peer, &a, NULL, 0);
	eng_conn_up(nic, v, c);
}

static void rx_reject(struct eng_nic *nic, struct eng_peer *peer,
		      const struct eng_wire *h, const struct wire_conn *c)
{
	struct eng_vi *v = find_pending(nic, h);
	VIP_RETURN r = VIP_REJECT;

	if (!v || v->conn.serving || !v->conn.asked || v->peer != peer)
		return;
	if (h->status == VIP_NO_MATCH || h->status == VIP_INVALID_MTU ||
	    h->status == VIP_INVALID_RELIABILITY_LEVEL)
		r = (VIP_RETURN)h->status;
	v->conn.theirs.len = c->priv_len;
	memcpy(v->conn.theirs.data, c->priv, c->priv_len);
	eng_conn_end(nic, v, VIA_EV_REFUSE, r);
}

/* Answers to ACCEPT. */
static void rx_served(struct eng_nic *nic, struct eng_peer *peer,
		      const struct eng_wire *h)
{
	struct eng_vi *v = find_pending(nic, h);

	if (!v || !v->conn.serving || v->peer != peer)
		return;
	if (h->op == WIRE_CONFIRM) {
		eng_conn_up(nic, v, NULL);
		return;
	}
	v->conn.serving = 0;
	v->conn.asked = 0;
	if (v->conn.p2p)
		eng_p2p_none(nic, v);
	else
		eng_conn_end(nic, v, VIA_EV_REFUSE, VIP_TIMEOUT);
}

static void rx_cancel(struct eng_nic *nic, struct eng_peer *peer,
		      uint64_t nonce)
{
	struct vipl_list *l;
	struct eng_conn *c;

	for (l = peer->conns.next; l != &peer->conns; l = l->next) {
		c = vipl_container(l, struct eng_conn, peer_link);
		if (c->nonce == nonce) {
			eng_conn_free(nic, c);
			return;
		}
	}
}

/* The peer's attributes of a VI; 0 when they are well-formed. */
static int parse_conn(const void *data, size_t len, struct wire_conn *c)
{
	if (len != sizeof(*c))
		return -1;
	memcpy(c, data, sizeof(*c));
	return c->version != WIRE_VERSION || c->local_len > VIPL_DISC_MAX ||
	       c->remote_len > VIPL_DISC_MAX || c->priv_len > VIPL_PRIVATE_MAX;
}

void eng_rx_conn(struct eng_nic *nic, struct eng_peer *peer,
		 const struct eng_wire *h, const void *data, size_t len)
{
	struct eng_vi *v;
	struct wire_conn c;

	if (h->op <= WIRE_REJECT && parse_conn(data, len, &c))
		return;
	switch (h->op) {
	case WIRE_CONNECT:
		eng_rx_connect(nic, peer, &c);
		break;
	case WIRE_LOOK:
		eng_rx_look(nic, peer, &c);
		break;
	case WIRE_ACCEPT:
		rx_accept(nic, peer, h, &c);
		break;
	case WIRE_REJECT:
		rx_reject(nic, peer, h, &c);
		break;
	case WIRE_CONFIRM:
	case WIRE_GONE:
		rx_served(nic, peer, h);
		break;
	case WIRE_CANCEL:
		rx_cancel(nic, peer, h->raddr);
		break;
	case WIRE_NONE:
		v = find_pending(nic, h);
		if (v && v->conn.p2p && !v->conn.serving && v->peer == peer) {
			v->conn.asked = 0;
			eng_p2p_none(nic, v);
		}
		break;
	default:
		break;
	}
}

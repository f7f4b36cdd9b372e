// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Connections: the attempts of VIs, and their verdicts.
 *
 * An attempt lives in the VI: state CONNECT_PENDING, verdict NOT_DONE, from
 * eng_conn_begin() to eng_conn_up() or eng_conn_end(). The end that says ACCEPT
 * serves: it is connected when CONFIRM comes. The nonce of a VI is new for each
 * attempt, so what is late finds none.
 */
#include <errno.h>

#include "eng.h"

struct via_vi_attrs eng_wire_attrs(const struct wire_conn *c)
{
	return (struct via_vi_attrs){
		.reliability = c->reliability,
		.max_transfer = c->transfer,
		.rights = c->rights,
	};
}

static void fill_conn(const struct eng_vi *v, struct wire_conn *c)
{
	const struct eng_attempt *a = &v->conn;
	uint64_t now = eng_now();

	*c = (struct wire_conn){
		.version = WIRE_VERSION,
		.vi = v->id,
		.nonce = v->nonce,
		.timeout = a->deadline == ENG_FOREVER ? UINT64_MAX :
			   a->deadline > now ? a->deadline - now : 0,
		.transfer = v->attrs.max_transfer,
		.reliability = (uint16_t)v->attrs.reliability,
		.rights = (uint16_t)v->attrs.rights,
		.local_len = a->local.disc_len,
		.remote_len = a->remote.disc_len,
		.priv_len = (uint16_t)a->mine.len,
	};
	memcpy(c->local, a->local.disc, a->local.disc_len);
	memcpy(c->remote, a->remote.disc, a->remote.disc_len);
	memcpy(c->priv, a->mine.data, a->mine.len);
}

/* Off the list of its discriminator, where it is peer to peer. */
static void unlist(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_disc *d = v->conn.disc;

	vipl_list_del(&v->conn.look);
	v->conn.disc = NULL;
	if (d)
		eng_disc_todo(nic, d);
}

/* The attempt has a verdict; those that wait for it hear. */
static void settle_attempt(struct eng_nic *nic, struct eng_vi *v,
			   VIP_RETURN verdict)
{
	struct vipl_event ev = {
		.kind = VIPL_EVENT_CONN,
		.vi = (VIP_VI_HANDLE)atomic_load(&v->handle),
	};

	unlist(nic, v);
	eng_time(nic, v, ENG_FOREVER);
	v->conn.verdict = verdict;
	v->conn.serving = 0;
	if (v->conn.event && ev.vi)
		eng_host->event(nic->obj, &ev);
	eng_wake(nic, &v->conn.sleepers);
}

/* REFUSE, EXPIRE or DISCONNECT of an attempt: Pending to Idle. */
void eng_conn_end(struct eng_nic *nic, struct eng_vi *v,
		  enum via_vi_event event, VIP_RETURN verdict)
{
	struct via_move move = eng_vi_move(v, event);
	struct eng_attempt *a = &v->conn;
	struct eng_wire h = { .raddr = v->nonce };

	if (move.to == VIA_STATE_REFUSED)
		return;
	if (move.what & VIA_DO_TELL && v->peer && v->peer->state == PEER_UP) {
		if (a->serving) {
			/* The VI may have become connected meanwhile. */
			h.op = WIRE_DISCONNECT;
			h.dst = v->peer_id;
			h.nonce = v->peer_nonce;
			eng_peer_send(nic, v->peer, &h, NULL, 0);
		} else if (a->asked && !a->p2p) {
			h.op = WIRE_CANCEL;
			eng_peer_send(nic, v->peer, &h, NULL, 0);
		}
	}
	v->nonce = 0;
	eng_peer_detach(v);
	settle_attempt(nic, v, verdict);
}

/* May an attempt begin? Waits for the end of the last connection. */
int eng_conn_may_begin(struct eng_nic *nic, struct eng_vi *v)
{
	nic->later.works->expire(nic, v, eng_now());
	while (v->state == VIP_STATE_IDLE && v->disconnecting && nic->live)
		eng_sleep(nic, &v->conn.sleepers, ENG_FOREVER);
	return v->id && via_state_may(v->state, VIA_EV_BEGIN);
}

void eng_conn_begin(struct eng_nic *nic, struct eng_vi *v,
		    const struct vipl_addr *local,
		    const struct vipl_addr *remote, uint64_t deadline)
{
	struct eng_attempt *a = &v->conn;

	a->verdict = VIP_NOT_DONE;
	a->count++;
	a->deadline = deadline;
	a->retry = ENG_FOREVER;
	a->p2p = 0;
	a->event = 0;
	a->asked = 0;
	a->serving = 0;
	a->crossed = 0;
	a->again = 0;
	a->local = *local;
	a->remote = *remote;
	if (nic->t->as_here)
		nic->t->as_here(nic, a->remote.host);
	/* The peer learns the address that packets come from. */
	a->local.host_len = (uint16_t)nic->ident.addr_len;
	memcpy(a->local.host, nic->ident.addr, nic->ident.addr_len);
	a->mine.len = 0;
	a->theirs.len = 0;
	a->disc = NULL;
	eng_vi_move(v, VIA_EV_BEGIN);
	v->nonce = eng_random();
	eng_time(nic, v, deadline);
}

/* Pending to Connected: c is what the other end said of itself, or NULL. */
void eng_conn_up(struct eng_nic *nic, struct eng_vi *v,
		 const struct wire_conn *c)
{
	struct eng_attempt *a = &v->conn;

	if (c) {
		v->peer_id = c->vi;
		v->peer_nonce = c->nonce;
		a->attrs = eng_wire_attrs(c);
		a->theirs.len = c->priv_len;
		memcpy(a->theirs.data, c->priv, c->priv_len);
	}
	v->tx_base = v->q[VIPL_SENDQ].next;
	v->acked = v->tx_base;
	v->rx_next = 0;
	v->rx_done = 0;
	v->ack_sent = 0;
	v->ack_alone = 0;
	v->alone = 0;
	v->replies = 0;
	v->disconnect_flags = 0;
	v->tx = (struct eng_wire){
		.op = WIRE_SEND,
		.dst = v->peer_id,
		.nonce = v->peer_nonce,
	};
	v->plain = (struct eng_plain){
		.nonce = v->peer_nonce,
		.dst = v->peer_id,
	};
	eng_vi_move(v, VIA_EV_JOIN);
	eng_look_quick(v);
	settle_attempt(nic, v, VIP_SUCCESS);
}

static struct eng_peer *find_known_peer(struct eng_nic *nic,
					const struct vipl_addr *a)
{
	struct vipl_list *l;
	struct eng_peer *p;

	if (!(nic->t->flags & ENG_ONE_NIC))
		return NULL;
	for (l = nic->peers.next; l != &nic->peers; l = l->next) {
		p = vipl_container(l, struct eng_peer, link);
		if (p->state != PEER_DOWN &&
		    !memcmp(p->addr, a->host, nic->ident.addr_len))
			return p;
	}
	return NULL;
}

/* Begin the handshake with the NIC of v->conn.remote: 0 or a negative errno. */
int eng_conn_handshake(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_peer *p = find_known_peer(nic, &v->conn.remote);
	int err;

	if (p) {
		eng_peer_attach(v, p);
		if (p->state == PEER_UP)
			eng_peer_todo(p);
		return 0;
	}
	p = eng_peer_make(nic, v->conn.remote.host);
	if (!p)
		return -ENOMEM;
	eng_peer_attach(v, p);
	p->busy = 1;
	err = nic->t->handshake(p, &v->conn.remote);
	p->busy = 0;
	if (err) {
		eng_peer_detach(v);
		eng_peer_down(p, err);
	}
	return err;
}

VIP_RETURN eng_conn_verdict_of(int err)
{
	if (err == -ENOENT)
		return VIP_NO_MATCH;
	return err == -ENOMEM || err == -ENOBUFS ? VIP_ERROR_RESOURCE :
						   VIP_NOT_REACHABLE;
}

/* The peer is up: say what is wanted. */
void eng_conn_ask(struct eng_nic *nic, struct eng_vi *v)
{
	struct eng_wire h = { .op = v->conn.p2p ? WIRE_LOOK : WIRE_CONNECT };
	struct wire_conn c;

	fill_conn(v, &c);
	v->conn.asked = 1;
	eng_peer_send(nic, v->peer, &h, &c, sizeof(c));
}

/* Answer another end's CONNECT or LOOK. */
void eng_conn_serve(struct eng_nic *nic, struct eng_vi *v,
		    struct eng_peer *peer, uint32_t id, uint64_t nonce)
{
	struct eng_wire h = { .op = WIRE_ACCEPT, .dst = id, .nonce = nonce };
	struct wire_conn c;

	eng_peer_attach(v, peer);
	v->peer_id = id;
	v->peer_nonce = nonce;
	v->conn.serving = 1;
	fill_conn(v, &c);
	eng_peer_send(nic, peer, &h, &c, sizeof(c));
}

void eng_reject(struct eng_nic *nic, struct eng_peer *peer, uint32_t vi,
		uint64_t nonce, VIP_RETURN verdict,
		const struct vipl_private *priv)
{
	struct eng_wire h = {
		.op = WIRE_REJECT,
		.dst = vi,
		.nonce = nonce,
		.status = verdict,
	};
	struct wire_conn c = { .version = WIRE_VERSION };

	if (priv) {
		c.priv_len = (uint16_t)priv->len;
		memcpy(c.priv, priv->data, priv->len);
	}
	eng_peer_send(nic, peer, &h, &c, sizeof(c));
}

static VIP_RETURN request_conn(struct vipl_vi *obj,
			       const struct vipl_addr *local,
			       const struct vipl_addr *remote,
			       VIP_ULONG timeout,
			       const struct vipl_private *priv, int event)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	int err;

	if (remote->host_len != nic->ident.addr_len || !timeout)
		return VIP_INVALID_PARAMETER;
	if (!nic->live || !eng_conn_may_begin(nic, v))
		return VIP_INVALID_STATE;
	eng_conn_begin(nic, v, local, remote, eng_deadline(timeout));
	v->conn.event = (uint8_t)event;
	if (priv)
		v->conn.mine = *priv;
	err = eng_conn_handshake(nic, v);
	if (err)
		eng_conn_end(nic, v, VIA_EV_REFUSE, eng_conn_verdict_of(err));
	if (nic->dirty)
		eng_settle(nic);
	return VIP_SUCCESS;
}

/* The verdict of the VI's attempt, once. The engine lock is held. */
VIP_RETURN eng_conn_verdict(struct eng_nic *nic, struct eng_vi *v, int p2p,
			    int wait, VIP_VI_ATTRIBUTES *attrs,
			    struct vipl_private *priv)
{
	struct eng_attempt *a = &v->conn;
	uint32_t count = a->count;
	VIP_RETURN r;

	for (;;) {
		nic->later.works->expire(nic, v, eng_now());
		/* Another attempt, or one of another kind, is not ours. */
		if (a->count != count || a->p2p != p2p ||
		    a->verdict == ENG_REPORTED)
			return VIP_INVALID_STATE;
		r = a->verdict;
		if (r != VIP_NOT_DONE)
			break;
		if (!wait)
			return r;
		if (!nic->live)
			return VIP_INVALID_STATE;
		eng_sleep(nic, &a->sleepers, a->deadline);
	}
	a->verdict = ENG_REPORTED;
	if (r == VIP_SUCCESS && attrs)
		*attrs = via_attrs_to_vip(&a->attrs);
	if (priv)
		*priv = a->theirs;
	return r;
}

VIP_RETURN eng_conn_request(struct vipl_vi *obj, const struct vipl_addr *local,
			    const struct vipl_addr *remote, VIP_ULONG timeout,
			    VIP_VI_ATTRIBUTES *attrs)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	VIP_RETURN r;

	eng_enter(nic);
	r = request_conn(obj, local, remote, timeout, NULL, 0);
	if (r == VIP_SUCCESS)
		r = eng_conn_verdict(nic, eng_vi_of(obj), 0, 1, attrs, NULL);
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_conn_request_start(struct vipl_vi *obj,
				  const struct vipl_addr *local,
				  const struct vipl_addr *remote,
				  VIP_ULONG timeout,
				  const struct vipl_private *priv)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	VIP_RETURN r;

	eng_enter(nic);
	r = request_conn(obj, local, remote, timeout, priv, 1);
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_conn_result(struct vipl_vi *obj, VIP_VI_ATTRIBUTES *attrs,
			   struct vipl_private *priv)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	VIP_RETURN r;

	eng_enter(nic);
	if (nic->live)
		eng_progress(nic);
	r = eng_conn_verdict(nic, eng_vi_of(obj), 0, 0, attrs, priv);
	eng_leave(nic);
	return r;
}

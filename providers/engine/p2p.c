// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Peer to peer: a VI that looks for its peer is found by its discriminator,
 * and asks the NIC that waits for the other one. The one that is asked serves.
 * When both ask at once the smaller nonce asks and the other one serves. A VI
 * that found nothing is found later, and asks again now and then.
 */
#include <errno.h>

#include "eng.h"

#define RETRY_NS	20000000u
#define RETRY_MAX_NS	500000000u

static void look_later(struct eng_nic *nic, struct eng_vi *v, uint64_t ns)
{
	struct eng_attempt *a = &v->conn;

	a->retry = eng_now() + ns;
	eng_time(nic, v, a->retry < a->deadline ? a->retry : a->deadline);
}

/* No VI over there looks for this one, yet. */
void eng_p2p_none(struct eng_nic *nic, struct eng_vi *v)
{
	/* The peer may have asked meanwhile, and left it to us. */
	look_later(nic, v, v->conn.crossed ? 0 : RETRY_NS);
	/* Another NIC may wait for it by now. */
	if (!v->conn.crossed)
		eng_peer_detach(v);
	v->conn.crossed = 0;
}

static VIP_RETURN look_for_match(struct eng_nic *nic, struct eng_vi *v)
{
	int err = 0;

	if (v->peer && v->peer->state == PEER_UP)
		eng_conn_ask(nic, v);
	else if (!v->peer)
		err = eng_conn_handshake(nic, v);
	/* As many peers as there may be: one of them may end. */
	if (!err || err == -ENOENT || err == -ENOBUFS)
		return VIP_SUCCESS;
	return err == -ENOMEM ? VIP_ERROR_RESOURCE : VIP_NOT_REACHABLE;
}

void eng_p2p_retry(struct eng_nic *nic, struct eng_vi *v, uint64_t now)
{
	struct eng_attempt *a = &v->conn;
	uint64_t ns;

	if (!a->p2p || now < a->retry) {
		/* The timer has been taken off. */
		if (vipl_list_empty(&v->timed))
			eng_time(nic, v, a->p2p && a->retry < a->deadline ?
				 a->retry : a->deadline);
		return;
	}
	ns = a->again < 5 ? (uint64_t)RETRY_NS << a->again++ : RETRY_MAX_NS;
	look_later(nic, v, ns);
	/* Also one that has asked: the one that left it to us may be gone. */
	if (!a->serving)
		look_for_match(nic, v);
}

VIP_RETURN eng_peer_request(struct vipl_vi *obj, const struct vipl_addr *local,
			    const struct vipl_addr *remote, VIP_ULONG timeout)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_disc *d;

	if (!timeout || remote->host_len != nic->ident.addr_len)
		return r;
	/* The address to be found by is our own, or left out. */
	if (!eng_own_host(nic, local))
		return r;
	eng_enter(nic);
	r = VIP_INVALID_STATE;
	if (!nic->live || !eng_conn_may_begin(nic, v))
		goto out;
	r = VIP_ERROR_RESOURCE;
	d = eng_disc_find(nic, local->disc, local->disc_len, 1);
	if (!d)
		goto out;
	eng_conn_begin(nic, v, local, remote, eng_deadline(timeout));
	v->conn.p2p = 1;
	v->conn.event = 1;
	v->conn.disc = d;
	vipl_list_add_tail(&v->conn.look, &d->looks);
	/* First it can be found, then it looks: of two one finds the other. */
	r = VIP_ERROR_RESOURCE;
	if (!eng_disc_announce(nic, d)) {
		look_later(nic, v, RETRY_NS);
		r = look_for_match(nic, v);
	}
	if (r != VIP_SUCCESS)
		eng_conn_end(nic, v, VIA_EV_REFUSE, r);
	r = VIP_SUCCESS;
out:
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_peer_result(struct vipl_vi *obj, int wait,
			   VIP_VI_ATTRIBUTES *attrs)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	VIP_RETURN r;

	eng_enter(nic);
	if (nic->live)
		eng_progress(nic);
	r = eng_conn_verdict(nic, eng_vi_of(obj), 1, wait, attrs, NULL);
	eng_leave(nic);
	return r;
}

/* Does VI v look for the VI that asks? */
static int looks_for(const struct eng_nic *nic, const struct eng_vi *v,
		     const struct eng_peer *peer, const struct wire_conn *c)
{
	const struct vipl_addr *a = &v->conn.remote;

	return v->state == VIP_STATE_CONNECT_PENDING && !v->conn.serving &&
	       v->nonce != c->nonce && a->disc_len == c->local_len &&
	       !memcmp(a->disc, c->local, c->local_len) &&
	       !memcmp(a->host, peer->addr, nic->ident.addr_len);
}

/* Has it asked itself, so that it goes on and the other one serves? */
static int goes_first(const struct eng_vi *v, const struct wire_conn *c)
{
	const u64 own = cpu_to_be64(v->nonce), other = cpu_to_be64(c->nonce);

	return v->conn.asked && via_asks_first(&own, &other, sizeof(own));
}

/* The first that may serve, or else the first. */
static struct eng_vi *find_look(struct eng_nic *nic, struct eng_peer *peer,
				const struct wire_conn *c)
{
	struct eng_disc *d = eng_disc_find(nic, c->remote, c->remote_len, 0);
	struct eng_vi *v, *found = NULL;
	struct vipl_list *l;

	if (!d)
		return NULL;
	for (l = d->looks.next; l != &d->looks; l = l->next) {
		v = vipl_container(l, struct eng_vi, conn.look);
		if (!looks_for(nic, v, peer, c))
			continue;
		if (!goes_first(v, c))
			return v;
		if (!found)
			found = v;
	}
	return found;
}

void eng_rx_look(struct eng_nic *nic, struct eng_peer *peer,
		 const struct wire_conn *c)
{
	struct eng_wire none = {
		.op = WIRE_NONE,
		.dst = c->vi,
		.nonce = c->nonce,
	};
	struct eng_vi *v = find_look(nic, peer, c);
	struct via_vi_attrs theirs = eng_wire_attrs(c);
	VIP_RETURN r;

	if (!v) {
		eng_peer_send(nic, peer, &none, NULL, 0);
		return;
	}
	if (goes_first(v, c)) {
		/* The peer gets our LOOK, and serves. */
		v->conn.crossed = 1;
		return;
	}
	r = (VIP_RETURN)via_attrs_compare(&v->attrs, &theirs);
	if (r != VIP_SUCCESS) {
		eng_reject(nic, peer, c->vi, c->nonce, r, NULL);
		eng_conn_end(nic, v, VIA_EV_REFUSE, r);
		return;
	}
	v->conn.attrs = theirs;
	eng_conn_serve(nic, v, peer, c->vi, c->nonce);
}

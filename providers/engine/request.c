// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Servers: discriminators that are waited for, and requests that arrive for
 * them. A request is given to the thread that waits longest (eng_waiter), or
 * kept for a program that listens, else the client gets NO_MATCH. Then it has
 * an id until the program accepts or rejects it, or the client gives up.
 */
#include <stdlib.h>

#include "eng.h"

static struct vipl_list *disc_bucket(struct eng_nic *nic, const uint8_t *disc,
				     uint32_t len)
{
	uint32_t h = 2166136261u, i;

	for (i = 0; i < len; i++)
		h = (h ^ disc[i]) * 16777619u;
	return &nic->discs[(h ^ h >> 15) % ENG_DISC_HASH];
}

struct eng_disc *eng_disc_find(struct eng_nic *nic, const uint8_t *disc,
			       uint32_t len, int make)
{
	struct vipl_list *b = disc_bucket(nic, disc, len), *l;
	struct eng_disc *d;

	for (l = b->next; l != b; l = l->next) {
		d = vipl_container(l, struct eng_disc, link);
		if (d->len == len && !memcmp(d->data, disc, len))
			return d;
	}
	d = make ? calloc(1, sizeof(*d)) : NULL;
	if (!d)
		return NULL;
	d->len = len;
	memcpy(d->data, disc, len);
	vipl_list_init(&d->work);
	vipl_list_init(&d->waiters);
	vipl_list_init(&d->kept);
	vipl_list_init(&d->looks);
	vipl_list_add_tail(&d->link, b);
	return d;
}

static int is_waited_for(const struct eng_disc *d)
{
	return d->backlog || !vipl_list_empty(&d->waiters) ||
	       !vipl_list_empty(&d->looks);
}

/* Tell the transport whether it is waited for: 0, or why it cannot be. */
int eng_disc_announce(struct eng_nic *nic, struct eng_disc *d)
{
	int now = is_waited_for(d), err = 0;

	if (now != (int)d->announced)
		err = nic->t->waiting(nic, d->data, d->len, now);
	if (!err)
		d->announced = (uint32_t)now;
	return err;
}

/* It goes when it is not waited for. */
void eng_disc_work(struct eng_nic *nic, struct eng_disc *d)
{
	vipl_list_del(&d->work);
	eng_disc_announce(nic, d);
	if (!is_waited_for(d) && vipl_list_empty(&d->kept)) {
		vipl_list_del(&d->link);
		free(d);
	}
}

void eng_discs_free(struct eng_nic *nic)
{
	struct vipl_list *l;
	uint32_t i;

	for (i = 0; i < ENG_DISC_HASH; i++)
		while ((l = vipl_list_pop(&nic->discs[i])))
			free(vipl_container(l, struct eng_disc, link));
}

/* The request is answered, or its client has given up. */
void eng_conn_free(struct eng_nic *nic, struct eng_conn *c)
{
	vipl_list_del(&c->link);
	vipl_list_del(&c->peer_link);
	if (c->disc) {
		c->disc->nkept--;
		eng_disc_todo(nic, c->disc);
	}
	if (c->waiter)
		c->waiter->conn = NULL;
	nic->nconns--;
	free(c);
}

static struct eng_conn *conn_new(struct eng_nic *nic, struct eng_peer *peer,
				 const struct wire_conn *w)
{
	struct eng_conn *c = calloc(1, sizeof(*c));
	uint64_t now = eng_now();

	if (!c)
		return NULL;
	c->peer = peer;
	c->vi = w->vi;
	c->nonce = w->nonce;
	c->deadline = w->timeout >= ENG_FOREVER - now ? ENG_FOREVER :
		      now + w->timeout;
	c->attrs = eng_wire_attrs(w);
	c->local.host_len = (uint16_t)nic->ident.addr_len;
	memcpy(c->local.host, nic->ident.addr, nic->ident.addr_len);
	c->local.disc_len = w->remote_len;
	memcpy(c->local.disc, w->remote, w->remote_len);
	c->remote.host_len = (uint16_t)nic->ident.addr_len;
	memcpy(c->remote.host, peer->addr, nic->ident.addr_len);
	c->remote.disc_len = w->local_len;
	memcpy(c->remote.disc, w->local, w->local_len);
	c->priv.len = w->priv_len;
	memcpy(c->priv.data, w->priv, w->priv_len);
	vipl_list_init(&c->link);
	vipl_list_add_tail(&c->peer_link, &peer->conns);
	nic->nconns++;
	return c;
}

void eng_rx_connect(struct eng_nic *nic, struct eng_peer *peer,
		    const struct wire_conn *w)
{
	struct eng_disc *d = eng_disc_find(nic, w->remote, w->remote_len, 0);
	struct vipl_event ev = { .kind = VIPL_EVENT_CONN };
	struct eng_waiter *waiter = NULL;
	struct eng_conn *c = NULL;
	struct vipl_list *l;

	l = d ? vipl_list_pop(&d->waiters) : NULL;
	if (l)
		waiter = vipl_container(l, struct eng_waiter, link);
	if ((waiter || (d && d->nkept < d->backlog)) &&
	    nic->nconns < ENG_CONNS)
		c = conn_new(nic, peer, w);
	if (!c) {
		if (waiter)
			vipl_list_add_tail(&waiter->link, &d->waiters);
		eng_reject(nic, peer, w->vi, w->nonce, VIP_NO_MATCH, NULL);
		return;
	}
	if (waiter) {
		waiter->conn = c;
		c->waiter = waiter;
		eng_disc_todo(nic, d);
		eng_wake(nic, &waiter->sleepers);
		return;
	}
	c->disc = d;
	d->nkept++;
	vipl_list_add_tail(&c->link, &d->kept);
	eng_host->event(nic->obj, &ev);
}

/* Give it an id, and tell the program what it is. */
static void hand_over(struct eng_nic *nic, struct eng_conn *c,
		      struct vipl_request *req)
{
	if (c->disc) {
		c->disc->nkept--;
		eng_disc_todo(nic, c->disc);
	}
	c->disc = NULL;
	c->waiter = NULL;
	do
		c->id = ++nic->conn_id;
	while (!c->id);
	vipl_list_del(&c->link);
	vipl_list_add_tail(&c->link, &nic->conns);
	req->id = c->id;
	req->remote = c->remote;
	req->attrs = via_attrs_to_vip(&c->attrs);
	req->priv = c->priv;
}

int eng_own_host(struct eng_nic *nic, const struct vipl_addr *a)
{
	if (!a->host_len)
		return 1;
	return a->host_len == nic->ident.addr_len &&
	       (!memcmp(a->host, nic->ident.addr, nic->ident.addr_len) ||
		(nic->t->leads_here && nic->t->leads_here(nic, a->host)));
}

/*
 * Wait in the queue of a discriminator; the engine lock is held. *err: it cannot
 * be waited for.
 */
static struct eng_conn *wait_for(struct eng_nic *nic, struct eng_disc *d,
				 uint64_t deadline, int *err)
{
	struct eng_waiter w;

	w.conn = NULL;
	vipl_list_init(&w.sleepers);
	vipl_list_add_tail(&w.link, &d->waiters);
	nic->nwaiters++;
	*err = eng_disc_announce(nic, d);
	while (!*err && !w.conn && nic->live) {
		if (eng_sleep(nic, &w.sleepers, deadline))
			break;
		/* A request that was given to the waiter may be gone again. */
		if (!w.conn && vipl_list_empty(&w.link)) {
			d = NULL;
			break;
		}
	}
	nic->nwaiters--;
	if (!vipl_list_empty(&w.link)) {
		vipl_list_del(&w.link);
		if (d)
			eng_disc_todo(nic, d);
	}
	return w.conn;
}

VIP_RETURN eng_conn_wait(struct vipl_nic *obj, const struct vipl_addr *local,
			 VIP_ULONG timeout, struct vipl_request *req)
{
	struct eng_nic *nic = eng_nic_of(obj);
	uint64_t deadline = timeout ? eng_deadline(timeout) : 0;
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_disc *d;
	struct eng_conn *c;
	int err = 0;

	if (!eng_own_host(nic, local))
		return r;
	eng_enter(nic);
	if (nic->live)
		eng_progress(nic);
	for (;;) {
		r = VIP_INVALID_PARAMETER;
		if (!nic->live)
			break;
		c = NULL;
		r = VIP_ERROR_RESOURCE;
		d = eng_disc_find(nic, local->disc, local->disc_len, 1);
		if (!d)
			break;
		if (!vipl_list_empty(&d->kept)) {
			c = vipl_container(d->kept.next, struct eng_conn, link);
		} else if (!timeout) {
			eng_disc_todo(nic, d);
		} else if (nic->nwaiters >= ENG_CONNS) {
			eng_disc_todo(nic, d);
			break;
		} else {
			c = wait_for(nic, d, deadline, &err);
			if (err)
				break;
		}
		if (c) {
			hand_over(nic, c, req);
			r = VIP_SUCCESS;
			break;
		}
		r = VIP_TIMEOUT;
		if (!timeout || (deadline != ENG_FOREVER &&
				 eng_now() >= deadline))
			break;
	}
	eng_leave(nic);
	return r;
}

static struct eng_conn *conn_find(struct eng_nic *nic, uint32_t id)
{
	struct vipl_list *l;
	struct eng_conn *c;

	for (l = nic->conns.next; l != &nic->conns; l = l->next) {
		c = vipl_container(l, struct eng_conn, link);
		if (c->id == id)
			return c;
	}
	return NULL;
}

static VIP_RETURN accept_it(struct eng_nic *nic, uint32_t id, struct eng_vi *v,
			    const struct vipl_private *priv, int event,
			    int *gone)
{
	struct eng_conn *c = nic->live ? conn_find(nic, id) : NULL;
	VIP_RETURN r;

	*gone = 1;
	/* The client has given up. */
	if (!c)
		return VIP_TIMEOUT;
	if (c->deadline != ENG_FOREVER && eng_now() >= c->deadline) {
		eng_conn_free(nic, c);
		return VIP_TIMEOUT;
	}
	/* The client knows nothing yet: the server may try again. */
	*gone = 0;
	r = (VIP_RETURN)via_attrs_compare(&v->attrs, &c->attrs);
	if (r != VIP_SUCCESS)
		return r;
	if (!eng_conn_may_begin(nic, v))
		return VIP_INVALID_STATE;
	*gone = 1;
	/* The thread may have slept. */
	c = conn_find(nic, id);
	if (!c)
		return VIP_TIMEOUT;
	eng_conn_begin(nic, v, &c->local, &c->remote, c->deadline);
	v->conn.event = (uint8_t)event;
	v->conn.attrs = c->attrs;
	v->conn.theirs = c->priv;
	if (priv)
		v->conn.mine = *priv;
	eng_conn_serve(nic, v, c->peer, c->vi, c->nonce);
	eng_conn_free(nic, c);
	if (nic->dirty)
		eng_settle(nic);
	return VIP_SUCCESS;
}

VIP_RETURN eng_conn_accept(struct vipl_nic *obj, uint32_t conn,
			   struct vipl_vi *vi, const struct vipl_private *priv,
			   int *gone)
{
	struct eng_nic *nic = eng_nic_of(obj);
	struct eng_vi *v = eng_vi_of(vi);
	VIP_RETURN r;

	eng_enter(nic);
	r = accept_it(nic, conn, v, priv, 0, gone);
	if (r == VIP_SUCCESS)
		r = eng_conn_verdict(nic, v, 0, 1, NULL, NULL);
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_conn_accept_start(struct vipl_nic *obj, uint32_t conn,
				 struct vipl_vi *vi,
				 const struct vipl_private *priv, int *gone)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r;

	eng_enter(nic);
	r = accept_it(nic, conn, eng_vi_of(vi), priv, 1, gone);
	eng_leave(nic);
	return r;
}

VIP_RETURN eng_conn_reject(struct vipl_nic *obj, uint32_t conn,
			   const struct vipl_private *priv)
{
	struct eng_nic *nic = eng_nic_of(obj);
	struct eng_conn *c;

	eng_enter(nic);
	c = nic->live ? conn_find(nic, conn) : NULL;
	/* A client that gave up meanwhile needs no answer. */
	if (c) {
		eng_reject(nic, c->peer, c->vi, c->nonce, VIP_REJECT, priv);
		eng_conn_free(nic, c);
	}
	eng_leave(nic);
	return VIP_SUCCESS;
}

static void reject_all(struct eng_nic *nic, struct vipl_list *conns)
{
	struct eng_conn *c;

	while (!vipl_list_empty(conns)) {
		c = vipl_container(conns->next, struct eng_conn, link);
		eng_reject(nic, c->peer, c->vi, c->nonce, VIP_REJECT, NULL);
		eng_conn_free(nic, c);
	}
}

VIP_RETURN eng_conn_listen(struct vipl_nic *obj, const struct vipl_addr *local,
			   uint32_t backlog)
{
	struct eng_nic *nic = eng_nic_of(obj);
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct eng_disc *d;

	if (!eng_own_host(nic, local))
		return r;
	eng_enter(nic);
	if (nic->live) {
		r = VIP_ERROR_RESOURCE;
		d = eng_disc_find(nic, local->disc, local->disc_len, 1);
		if (d) {
			d->backlog = backlog;
			if (!backlog)
				reject_all(nic, &d->kept);
			if (eng_disc_announce(nic, d))
				d->backlog = 0;
			else
				r = VIP_SUCCESS;
			eng_disc_work(nic, d);
		}
	}
	eng_leave(nic);
	return r;
}

/* The NIC handle closes. */
void eng_requests_end(struct eng_nic *nic)
{
	struct vipl_list *l, *next;
	struct eng_disc *d;
	uint32_t i;

	reject_all(nic, &nic->conns);
	for (i = 0; i < ENG_DISC_HASH; i++) {
		for (l = nic->discs[i].next; l != &nic->discs[i]; l = next) {
			next = l->next;
			d = vipl_container(l, struct eng_disc, link);
			d->backlog = 0;
			reject_all(nic, &d->kept);
			eng_disc_todo(nic, d);
		}
	}
}

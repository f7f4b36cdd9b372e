// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Virtual interfaces: creation, attributes, destruction. */
#include <stdlib.h>

#include "eng.h"

static void set_attrs(struct eng_vi *v, const VIP_VI_ATTRIBUTES *a,
		      uint32_t ptag)
{
	v->attrs = via_attrs_from_vip(a, ptag);
	v->quick_most = v->attrs.max_transfer < ENG_PLAIN_MAX ?
			v->attrs.max_transfer : ENG_PLAIN_MAX;
	v->acks = v->attrs.reliability == VIP_SERVICE_RELIABLE_RECEPTION ||
		  (v->attrs.reliability == VIP_SERVICE_RELIABLE_DELIVERY &&
		   !(eng_transport->flags & ENG_ARRIVED));
}

static void queue_init(struct eng_queue *q, struct eng_slot *slots,
		       struct vipl_cq *cq, int recv)
{
	eng_lock_take(&q->lock);
	q->handle = 0;
	atomic_store(&q->collected, 0);
	atomic_store(&q->done, 0);
	atomic_store(&q->tail, 0);
	eng_lock_drop(&q->lock);
	q->next = 0;
	q->limit = ENG_QUEUE;
	q->check = 0;
	q->scan = 0;
	q->slots = slots;
	q->cq = cq ? eng_cq_of(cq) : NULL;
	if (q->cq)
		q->cq->queues++;
	q->recv = (uint8_t)recv;
	q->notify = 0;
	q->watched = q->cq != NULL;
	memset(q->cache, 0, sizeof(q->cache));
	vipl_list_init(&q->sleepers);
	atomic_store(&q->spin_ns, 20000);
}

/* A free index and its next generation: the VI's id; 0: none. */
static uint32_t new_id(struct eng_nic *nic)
{
	uint32_t i, k;

	if (nic->nvis >= nic->ident.vi)
		return 0;
	for (k = 0; k < ENG_VIS; k++) {
		i = (nic->vi_hint + k) % ENG_VIS;
		if (nic->vis[i])
			continue;
		nic->vi_hint = i + 1;
		if (!++nic->vi_gen[i])
			nic->vi_gen[i] = 1;
		return (uint32_t)nic->vi_gen[i] << 16 | i;
	}
	return 0;
}

static void vi_init(struct eng_nic *nic, struct eng_vi *v, struct vipl_vi *obj)
{
	atomic_store(&v->nic, nic);
	v->obj = obj;
	v->state = VIP_STATE_IDLE;
	v->todo = 0;
	v->peer = NULL;
	v->quick = NULL;
	v->nonce = 0;
	v->reads = 0;
	v->in_head = 0;
	v->in_tail = 0;
	v->pulls = 0;
	v->exported = 0;
	v->disconnecting = DISCONNECT_NONE;
	vipl_list_init(&v->rndvs);
	vipl_list_init(&v->answers);
	vipl_list_init(&v->work);
	vipl_list_init(&v->peer_link);
	vipl_list_init(&v->timed);
	vipl_list_init(&v->cached);
	vipl_list_init(&v->late);
	memset(&v->conn, 0, sizeof(v->conn));
	v->conn.verdict = ENG_REPORTED;
	vipl_list_init(&v->conn.look);
	vipl_list_init(&v->conn.sleepers);
}

VIP_RETURN eng_vi_create(struct vipl_vi *obj, const VIP_VI_ATTRIBUTES *attrs,
			 uint32_t ptag, struct vipl_cq *send_cq,
			 struct vipl_cq *recv_cq)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = VIP_ERROR_RESOURCE;
	struct eng_slot *slots;

	slots = calloc(2 * ENG_QUEUE, sizeof(*slots));
	if (!slots)
		return r;
	eng_enter(nic);
	if (!nic->live)
		goto out;
	r = VIP_INVALID_PTAG;
	if (ptag && eng_ptag_use(nic, ptag))
		goto out;
	r = VIP_ERROR_RESOURCE;
	vi_init(nic, v, obj);
	v->id = new_id(nic);
	if (!v->id) {
		eng_ptag_unuse(nic, ptag);
		goto out;
	}
	set_attrs(v, attrs, ptag);
	queue_init(&v->q[VIPL_SENDQ], slots, send_cq, 0);
	queue_init(&v->q[VIPL_RECVQ], slots + ENG_QUEUE, recv_cq, 1);
	nic->vis[v->id & 0xffff] = v;
	nic->nvis++;
	slots = NULL;
	r = VIP_SUCCESS;
out:
	eng_leave(nic);
	free(slots);
	return r;
}

/* The engine lock is held. */
static void set_live(struct eng_nic *nic, struct eng_vi *v, uintptr_t h)
{
	int i;

	atomic_store(&v->handle, h);
	for (i = 0; i < 2; i++) {
		eng_lock_take(&v->q[i].lock);
		v->q[i].handle = h;
		eng_lock_drop(&v->q[i].lock);
		if (h)
			continue;
		v->q[i].notify = 0;
		eng_wake(nic, &v->q[i].sleepers);
	}
}

void eng_vi_live(struct vipl_vi *obj, VIP_VI_HANDLE h)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));

	eng_enter(nic);
	set_live(nic, eng_vi_of(obj), (uintptr_t)h);
	eng_leave(nic);
}

VIP_RETURN eng_vi_retire(struct vipl_vi *obj)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = VIP_SUCCESS;
	int i;

	eng_enter(nic);
	for (i = 0; i < 2; i++)
		if (eng_get(&v->q[i].tail) != eng_get(&v->q[i].done))
			r = VIP_ERROR_RESOURCE;
	if (r == VIP_SUCCESS)
		set_live(nic, v, 0);
	eng_leave(nic);
	return r;
}

/* Out of every table and list: the engine does not find it any more. */
void eng_vi_end(struct eng_nic *nic, struct eng_vi *v)
{
	int i;

	if (!v->id)
		return;
	vipl_list_del(&v->work);
	vipl_list_del(&v->timed);
	vipl_list_del(&v->cached);
	vipl_list_del(&v->late);
	v->todo = 0;
	for (i = 0; i < 2; i++) {
		if (v->q[i].cq)
			v->q[i].cq->queues--;
		v->q[i].cq = NULL;
		eng_wake(nic, &v->q[i].sleepers);
	}
	if (v->conn.verdict == VIP_NOT_DONE)
		v->conn.verdict = VIP_INVALID_STATE;
	eng_wake(nic, &v->conn.sleepers);
	eng_ptag_unuse(nic, v->attrs.ptag);
	nic->vis[v->id & 0xffff] = NULL;
	nic->nvis--;
	v->id = 0;
}

VIP_RETURN eng_vi_destroy(struct vipl_vi *obj)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = VIP_INVALID_STATE;

	eng_enter(nic);
	eng_conn_expire(nic, v, eng_now());
	if (via_state_may(v->state, VIA_EV_DESTROY) && !v->disconnecting) {
		eng_vi_end(nic, v);
		r = VIP_SUCCESS;
	}
	eng_leave(nic);
	return r;
}

void eng_vi_release(struct vipl_vi *obj)
{
	struct eng_vi *v = eng_vi_of(obj);
	struct eng_nic *nic = eng_vi_nic(v);
	struct eng_slot *slots;
	struct eng_queue *q;
	uint32_t i;

	/* At the close of a NIC handle this comes before shutdown. */
	if (nic) {
		eng_enter(nic);
		if (v->id) {
			eng_disconnect_now(nic, v);
			eng_vi_end(nic, v);
		}
		eng_leave(nic);
	}
	/*
	 * The engine does not know it any more, and a stale handle reaches no
	 * slot.
	 */
	slots = v->q[VIPL_SENDQ].slots;
	for (q = v->q; slots && q < v->q + 2; q++) {
		for (i = eng_get(&q->done); i != eng_get(&q->tail); i++)
			free(eng_queue_slot(q, i)->d.more);
		q->slots = NULL;
	}
	free(slots);
	free(v->in);
	v->in = NULL;
}

VIP_RETURN eng_vi_query(struct vipl_vi *obj, VIP_VI_STATE *state,
			VIP_VI_ATTRIBUTES *attrs)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);

	eng_enter(nic);
	if (nic->live)
		eng_progress(nic);
	eng_conn_expire(nic, v, eng_now());
	*state = v->state;
	*attrs = via_attrs_to_vip(&v->attrs);
	eng_leave(nic);
	return VIP_SUCCESS;
}

VIP_RETURN eng_vi_set(struct vipl_vi *obj, const VIP_VI_ATTRIBUTES *attrs,
		      uint32_t ptag)
{
	struct eng_nic *nic = eng_nic_of(vipl_nic_of(obj));
	struct eng_vi *v = eng_vi_of(obj);
	VIP_RETURN r = VIP_INVALID_STATE;
	struct eng_queue *q = &v->q[VIPL_RECVQ];
	uint32_t i;

	eng_enter(nic);
	eng_conn_expire(nic, v, eng_now());
	if (!via_state_may(v->state, VIA_EV_CHANGE) || v->disconnecting)
		goto out;
	r = VIP_INVALID_PTAG;
	if (ptag && eng_ptag_use(nic, ptag))
		goto out;
	eng_ptag_unuse(nic, v->attrs.ptag);
	set_attrs(v, attrs, ptag);
	eng_caches_drop(nic);
	/* Descriptors checked by the old ones are to be checked anew. */
	i = eng_get(&q->done);
	if (i != eng_get(&q->tail))
		eng_queue_slot(q, i)->state = SLOT_POSTED;
	r = VIP_SUCCESS;
out:
	eng_leave(nic);
	return r;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Handlers for one completion each.
 *
 * A queue (a CQ, too) has a list of handlers in the order of registration.
 * While it is not empty the queue is armed: the provider has been told, and
 * an event will come, or the service thread is at work on the list. A head
 * that is complete when its handler is registered is taken at once, into the
 * list; everything else is taken by the service thread, with the Done that
 * programs call. So a Done or a Wait of another thread may come first, and
 * then the handler waits for the next.
 *
 * Arming comes before taking: what arming finds complete is announced by an
 * event, and that event brings the service thread to what was taken.
 */
#include <stdlib.h>

#include "msg.h"
#include "notify.h"
#include "service.h"

#define BATCH	32	/* handlers called for one event */

#define CQ	2	/* beside VIPL_SENDQ and VIPL_RECVQ */

/* A queue by its handle; the object is referenced. */
struct source {
	int kind;
	void *handle;
	struct vipl_obj *obj;
	struct vipl_notify *n;
};

static struct vipl_vi *source_vi(const struct source *s)
{
	return vipl_container(s->obj, struct vipl_vi, obj);
}

static struct vipl_cq *source_cq(const struct source *s)
{
	return vipl_container(s->obj, struct vipl_cq, obj);
}

/* Returns 0, or -1 when the handle names nothing. */
static int source_get(struct source *s, int kind, void *handle)
{
	struct vipl_vi *vi;
	struct vipl_cq *cq;

	s->kind = kind;
	s->handle = handle;
	if (kind == CQ) {
		cq = vipl_cq_get(handle);
		if (!cq)
			return -1;
		s->obj = &cq->obj;
		s->n = &cq->notify;
		return 0;
	}
	vi = vipl_vi_get(handle);
	if (!vi)
		return -1;
	s->obj = &vi->obj;
	s->n = &vi->notify[kind];
	return 0;
}

static void source_put(const struct source *s)
{
	if (s->kind == CQ)
		vipl_cq_put(source_cq(s));
	else
		vipl_vi_put(source_vi(s));
}

/* Ask for an event; n->lock held. */
static void arm_source(const struct source *s)
{
	const struct vipl_provider *ops = vipl_ops(s->obj);
	VIP_RETURN r;

	atomic_store(&s->n->armed, 1);
	r = s->kind == CQ ? ops->cq_notify(source_cq(s)) :
			    ops->vi_notify(source_vi(s), s->kind);
	if (r != VIP_SUCCESS)
		atomic_store(&s->n->armed, 0);
}

/* Take the head for p, if it is complete; n->lock held. */
static void take_head(const struct source *s, struct vipl_pending *p)
{
	const struct vipl_provider *ops = vipl_ops(s->obj);

	if (s->kind == CQ) {
		p->taken = ops->cq_done(source_cq(s), s->handle, &p->vi,
					&p->recv) == VIP_SUCCESS;
		return;
	}
	p->desc = NULL;
	if (s->kind == VIPL_RECVQ)
		ops->recv_done(source_vi(s), s->handle, &p->desc);
	else
		ops->send_done(source_vi(s), s->handle, &p->desc);
	/* Whatever the code: with a descriptor it is a completion. */
	p->taken = p->desc != NULL;
}

/* The first taken entry speaks of a VI that is gone: the others move up. */
static void drop_first(struct vipl_notify *n)
{
	struct vipl_pending *p = n->first;

	for (; p->next && p->next->taken; p = p->next) {
		p->vi = p->next->vi;
		p->recv = p->next->recv;
	}
	p->taken = 0;
}

/* The next handler to call, off the list; NULL: none. n->lock held. */
static struct vipl_pending *next_pending(const struct source *s)
{
	struct vipl_notify *n = s->n;
	struct vipl_pending *p = n->first;

	if (!p) {
		atomic_store(&n->armed, 0);
		return NULL;
	}
	while (s->kind == CQ && p->taken && !vipl_vi_lookup(p->vi))
		drop_first(n);
	if (!p->taken)
		take_head(s, p);
	if (!p->taken) {
		arm_source(s);
		return NULL;
	}
	n->first = p->next;
	if (!n->first)
		n->last = NULL;
	return p;
}

static void call_handler(struct vipl_nic *nic, const struct source *s,
			 const struct vipl_pending *p)
{
	VIP_NIC_HANDLE h = (VIP_NIC_HANDLE)vipl_obj_handle(&nic->obj,
							   VIPL_NIC);

	vipl_inside = 1;
	if (s->kind == CQ)
		p->cq_fn(p->context, h, p->vi, p->recv);
	else
		p->vi_fn(p->context, h, s->handle, p->desc);
	vipl_inside = 0;
}

/* Returns nonzero when the batch is used up, or -1 in a forked child. */
static int serve_source(struct vipl_nic *nic, const struct source *s)
{
	struct vipl_notify *n = s->n;
	struct vipl_pending *p;
	int i;

	for (i = 0; i < BATCH; i++) {
		vipl_lock(&n->lock);
		p = vipl_is_live(s->obj, s->handle) ? next_pending(s) : NULL;
		/*
		 * Inside the lock: a cancel finds the guard held, or no call.
		 */
		if (p)
			vipl_lock(&n->call_guard);
		vipl_unlock(&n->lock);
		if (!p)
			return 0;
		call_handler(nic, s, p);
		free(p);
		/* If the handler forked, there is no such queue any more. */
		if (!atomic_load(&nic->obj.refs))
			return -1;
		vipl_unlock(&n->call_guard);
	}
	return 1;
}

void vipl_notify_serve(struct vipl_nic *nic, const struct vipl_event *ev)
{
	struct source s;
	int kind = CQ, r;
	void *handle;

	handle = ev->cq;
	if (ev->kind != VIPL_EVENT_CQ) {
		kind = ev->kind == VIPL_EVENT_RECV ? VIPL_RECVQ : VIPL_SENDQ;
		handle = ev->vi;
	}
	if (!handle || source_get(&s, kind, handle))
		return;
	/* A provider speaks of its own objects only. */
	r = s.obj->pub.nic == nic ? serve_source(nic, &s) : 0;
	if (r < 0)
		return;
	if (r > 0) {
		/* Others have their turn before this one has another. */
		vipl_lock(&s.n->lock);
		if (vipl_is_live(s.obj, s.handle))
			arm_source(&s);
		vipl_unlock(&s.n->lock);
	}
	source_put(&s);
}

/* n->lock held. Returns 0, or -1: no thread would ever call it. */
static int add_pending(const struct source *s, struct vipl_pending *p)
{
	struct vipl_notify *n = s->n;
	struct vipl_pending *before = n->last;

	if (!atomic_load(&n->armed))
		arm_source(s);
	if (!atomic_load(&n->armed))
		return -1;
	if (!before || before->taken)
		take_head(s, p);
	if (before)
		before->next = p;
	else
		n->first = p;
	n->last = p;
	return 0;
}

static VIP_RETURN ask_notify(int kind, void *handle,
			     const struct vipl_pending *want)
{
	VIP_RETURN r = VIP_INVALID_PARAMETER;
	struct vipl_pending *p;
	struct source s;

	if (source_get(&s, kind, handle))
		return r;
	if (!want->vi_fn && !want->cq_fn)
		goto out;
	r = VIP_ERROR_RESOURCE;
	p = malloc(sizeof(*p));
	if (!p)
		goto out;
	*p = *want;
	if (!vipl_service_start(s.obj->pub.nic, 1)) {
		vipl_lock(&s.n->lock);
		if (!vipl_is_live(s.obj, handle))
			r = VIP_INVALID_PARAMETER;
		else if (!add_pending(&s, p))
			r = VIP_SUCCESS;
		vipl_unlock(&s.n->lock);
	} else if (!vipl_is_live(s.obj, handle)) {
		r = VIP_INVALID_PARAMETER;
	}
	if (r != VIP_SUCCESS)
		free(p);
out:
	source_put(&s);
	return r;
}

static VIP_RETURN send_notify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			      VIP_VI_CALLBACK Handler)
{
	const struct vipl_pending p = { .vi_fn = Handler, .context = Context };

	return ask_notify(VIPL_SENDQ, ViHandle, &p);
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler)
{
	return VIPL_CALL(send_notify(ViHandle, Context, Handler));
}

static VIP_RETURN recv_notify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			      VIP_VI_CALLBACK Handler)
{
	const struct vipl_pending p = { .vi_fn = Handler, .context = Context };

	return ask_notify(VIPL_RECVQ, ViHandle, &p);
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Handler)
{
	return VIPL_CALL(recv_notify(ViHandle, Context, Handler));
}

static VIP_RETURN cq_notify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
			    VIP_CQ_CALLBACK Handler)
{
	const struct vipl_pending p = { .cq_fn = Handler, .context = Context };

	return ask_notify(CQ, CQHandle, &p);
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
		       VIP_CQ_CALLBACK Handler)
{
	return VIPL_CALL(cq_notify(CQHandle, Context, Handler));
}

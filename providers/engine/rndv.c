// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The rendezvous of long messages: exports for peers, what is pulled from theirs, and
 * the regions that both keep.
 */
#include <stdlib.h>

#include "eng.h"

static void unpin(struct eng_nic *nic, struct eng_pin *p)
{
	if (!--p->r->pins[p->epoch] &&
	    unlikely(!vipl_list_empty(&nic->mem_sleepers)))
		eng_wake(nic, &nic->mem_sleepers);
}

struct eng_export *eng_export_new(uint32_t n)
{
	struct eng_export *e;

	e = calloc(1, sizeof(*e) + n * (sizeof(*e->src) + sizeof(*e->pin)));
	if (!e)
		return NULL;
	vipl_list_init(&e->link);
	e->src = (struct eng_src *)(void *)(e + 1);
	e->pin = (struct eng_pin *)(void *)(e->src + n);
	return e;
}

/* Export a range of a region that was checked: 0 or -errno. */
int eng_export_add(struct eng_nic *nic, struct eng_vi *v, struct eng_export *e,
		   struct eng_region *r, uint64_t addr, uint32_t len)
{
	struct eng_src *src = &e->src[e->n];
	int err;

	err = nic->t->export_mem(v->peer, r->priv, (void *)(uintptr_t)addr, len,
			     src);
	if (err)
		return err;
	src->len = len;
	e->pin[e->n++] = eng_region_pin(r);
	return 0;
}

/* Every one was counted in v->exported. */
void eng_export_drop(struct eng_nic *nic, struct eng_vi *v,
		     struct eng_export *e)
{
	uint32_t i;

	for (i = 0; i < e->n; i++) {
		nic->t->unexport_mem(v->peer, &e->src[i]);
		unpin(nic, &e->pin[i]);
	}
	vipl_list_del(&e->link);
	free(e);
	v->exported--;
}

void eng_answers_drop(struct eng_nic *nic, struct eng_vi *v, int all)
{
	struct vipl_list *l, *next;
	struct eng_export *e;

	for (l = v->answers.next; l != &v->answers; l = next) {
		next = l->next;
		e = vipl_container(l, struct eng_export, link);
		if (all || e->taken)
			eng_export_drop(nic, v, e);
	}
}

/*
 * A pull of what a packet announces, to at most ndst places; NULL: it is
 * nonsense, or there is no memory. What the peer says is copied first.
 */
struct eng_rndv *eng_rndv_new(struct eng_nic *nic, struct eng_vi *v,
			      const struct eng_wire *h, const void *data,
			      size_t len, uint32_t ndst)
{
	uint32_t i, n = h->nsrc;
	struct eng_rndv *x;
	uint64_t sum = 0;

	if (!n || n > ENG_SRC_SEGS || len != n * sizeof(*x->src))
		return NULL;
	x = calloc(1, sizeof(*x) + n * sizeof(*x->src) +
		   ndst * (sizeof(*x->dst) + sizeof(*x->pin)));
	if (!x)
		return NULL;
	x->nic = nic;
	x->vi = v;
	vipl_list_init(&x->link);
	x->src = (struct eng_src *)(void *)(x + 1);
	x->pin = (struct eng_pin *)(void *)(x->src + n);
	x->dst = (struct iovec *)(void *)(x->pin + ndst);
	memcpy(x->src, data, len);
	for (i = 0; i < n; i++) {
		if (x->src[i].len > h->len || !x->src[i].len)
			break;
		sum += x->src[i].len;
	}
	if (i < n || sum != h->len) {
		free(x);
		return NULL;
	}
	x->pull.src = x->src;
	x->pull.nsrc = n;
	x->pull.dst = x->dst;
	x->pull.len = h->len;
	return x;
}

static void eng_rndv_add(struct eng_rndv *x, struct eng_region *r,
			 uint64_t addr, uint32_t len)
{
	struct iovec *iov = &x->dst[x->pull.ndst++];

	iov->iov_base = (void *)(uintptr_t)addr;
	iov->iov_len = len;
	x->pin[x->npins++] = eng_region_pin(r);
}

/* The target of an RDMA Write, which needs two places: see ENG_LAST_APART. */
void eng_rndv_write(struct eng_rndv *x, struct eng_region *r, uint64_t addr,
		    uint32_t len)
{
	if (!(x->nic->t->flags & ENG_LAST_APART)) {
		eng_rndv_add(x, r, addr, len);
		return;
	}
	if (len > 1)
		eng_rndv_add(x, r, addr, len - 1);
	else
		x->pin[x->npins++] = eng_region_pin(r);
	x->last_at = addr + len - 1;
	x->dst[x->pull.ndst++].iov_len = 1;
}

/* Into the first len bytes of a descriptor: 0, or a status. */
int eng_rndv_dst(struct eng_nic *nic, struct eng_vi *v, struct eng_rndv *x,
		 struct eng_slot *s, uint32_t len)
{
	struct via_seg *seg = via_desc_segs(&s->d);
	struct eng_region *r;
	uint32_t i, n;

	for (i = 0; len && i < s->d.nsegs; i++) {
		n = seg[i].len < len ? seg[i].len : len;
		if (!n)
			continue;
		r = eng_local(nic, v, seg[i].handle, seg[i].addr, n);
		if (!r)
			return VIP_STATUS_PROTECTION_ERROR;
		eng_rndv_add(x, r, seg[i].addr, n);
		len -= n;
	}
	return len ? VIP_STATUS_LENGTH_ERROR : 0;
}

void eng_rndv_free(struct eng_rndv *x)
{
	uint32_t i;

	for (i = 0; i < x->npins; i++)
		unpin(x->nic, &x->pin[i]);
	free(x);
}

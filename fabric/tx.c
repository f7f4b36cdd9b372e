// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Operations on the data VI's send queue.
 *
 * An operation is one descriptor, or as many as its bytes need.  Those that
 * are not wholly posted are on ep->txq, in order; only its first one has
 * descriptors on the VI.  A message that has no credit is one of them.
 */
#include <arpa/inet.h>
#include <string.h>

#include "fab.h"

/* Also room for its completion.  NULL: *err is negative. */
struct via_tx *via_tx_new(struct via_ep *ep, int *err)
{
	struct via_tx *t = ep->tx_free;

	*err = ep->state == VIA_EP_DOWN ? -FI_ENOTCONN : -FI_EOPBADSTATE;
	if (ep->state != VIA_EP_CONNECTED)
		return NULL;
	*err = -FI_ENOCQ;
	if (!ep->tx_cq)
		return NULL;
	*err = -FI_EAGAIN;
	if (!t || via_cq_reserve(ep->tx_cq)) {
		ep->nic->starved = true;
		return NULL;
	}
	ep->tx_free = t->next;
	memset(t, 0, sizeof(*t));
	return t;
}

/* Where nothing of it was posted. */
static void drop_unposted(struct via_ep *ep, struct via_tx *t)
{
	via_cq_unreserve(ep->tx_cq);
	t->next = ep->tx_free;
	ep->tx_free = t;
}

static int take_iov(struct via_tx *t, const struct iovec *iov, void **desc,
		    size_t n)
{
	size_t i;

	if (n > VIA_IOV)
		return -FI_EINVAL;
	for (i = 0; i < n; i++) {
		if (!iov[i].iov_len)
			continue;
		/* FI_MR_LOCAL: all but what is injected is registered. */
		if (!desc || !desc[i])
			return -FI_EINVAL;
		if (iov[i].iov_len > SIZE_MAX - t->left)
			return -FI_EMSGSIZE;
		t->iov[t->n] = iov[i];
		t->mem[t->n++] = ((struct via_mr *)desc[i])->h;
		t->left += iov[i].iov_len;
	}
	return 0;
}

static int take_copy(struct via_ep *ep, struct via_tx *t,
		     const struct iovec *iov, size_t n)
{
	char *to = ep->inject + (size_t)(t - ep->tx) * VIA_INJECT;
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (iov[i].iov_len > VIA_INJECT - len)
			return -FI_EMSGSIZE;
		memcpy(to + len, iov[i].iov_base, iov[i].iov_len);
		len += iov[i].iov_len;
	}
	t->iov[0].iov_base = to;
	t->iov[0].iov_len = len;
	t->mem[0] = ep->mem;
	t->n = !!len;
	t->left = len;
	return 0;
}

static void complete_tx(struct via_ep *ep, struct via_tx *t)
{
	struct via_comp c = {
		.e.op_context = t->context,
		.e.flags = t->flags,
		.err = t->err,
		.prov = t->prov,
	};

	/* ofi_rxm takes no error without a context. */
	if (!t->mute && (t->err || !t->silent))
		via_cq_add(ep->tx_cq, &c);
	else
		via_cq_unreserve(ep->tx_cq);
	t->next = ep->tx_free;
	ep->tx_free = t;
	if (ep->nic->starved) {
		ep->nic->starved = false;
		ep->nic->kicks++;
	}
}

static int tell_written(struct via_ep *ep, const struct via_tx *t)
{
	uint64_t len = htobe64(t->len);
	struct via_ctl_msg m = {
		.type = VIA_CTL_WRITTEN,
		.posted = htonl(ep->posted),
		.data = htobe64(t->data),
		.len = sizeof(len),
	};
	int ret;

	memcpy(m.cm, &len, sizeof(len));
	ret = via_ctl_send(&ep->ctl, &m);

	if (!ret) {
		ep->told = ep->posted;
		vipl_list_del(&ep->owing);
	}
	return ret;
}

/* Writes whose data have yet to be told of: there may be room now. */
void via_tx_written(struct via_ep *ep)
{
	struct via_tx *t;

	while ((t = ep->written) && !tell_written(ep, t)) {
		ep->written = t->next;
		if (!ep->written)
			ep->written_end = &ep->written;
		complete_tx(ep, t);
	}
}

static void finish_tx(struct via_ep *ep, struct via_tx *t)
{
	if (t->err || t->kind != VIA_TX_WRITE || !t->imm) {
		complete_tx(ep, t);
		return;
	}
	t->next = NULL;
	*ep->written_end = t;
	ep->written_end = &t->next;
	via_tx_written(ep);
}

/* Local segments of one descriptor.  Returns their bytes. */
static size_t fill_segments(struct via_tx *t, VIP_DATA_SEGMENT *s, size_t max,
			    unsigned int *n)
{
	size_t len = 0, part;

	while (t->i < t->n && len < max && *n < VIA_IOV) {
		part = t->iov[t->i].iov_len - t->off;
		if (part > max - len)
			part = max - len;
		s[*n].Data.AddressBits =
			(uintptr_t)t->iov[t->i].iov_base + t->off;
		s[*n].Handle = t->mem[t->i];
		s[*n].Length = (VIP_UINT32)part;
		++*n;
		len += part;
		t->off += part;
		if (t->off == t->iov[t->i].iov_len) {
			t->i++;
			t->off = 0;
		}
	}
	return len;
}

static VIP_RETURN post_one(struct via_ep *ep, struct via_tx *t)
{
	uint16_t idx = ep->tx_idx[ep->tx_idle - 1];
	VIP_DESCRIPTOR *d = (void *)(ep->tx_desc + idx * VIA_DESC_BYTES);
	VIP_DESCRIPTOR_SEGMENT *s = d->DS;
	unsigned int n = 0;
	VIP_RETURN r;
	size_t len;

	memset(&d->CS, 0, sizeof(d->CS));
	if (t->kind == VIA_TX_SEND) {
		d->CS.Control = VIP_CONTROL_OP_SENDRECV;
		if (t->imm) {
			d->CS.Control |= VIP_CONTROL_IMMEDIATE;
			d->CS.ImmediateData = (VIP_UINT32)t->data;
		}
	} else {
		d->CS.Control = t->kind == VIA_TX_WRITE ?
			VIP_CONTROL_OP_RDMAWRITE : VIP_CONTROL_OP_RDMAREAD;
		memset(s, 0, sizeof(*s));
		s->Remote.Data.AddressBits = t->raddr;
		s->Remote.Handle = t->rkey;
		s++;
	}
	len = fill_segments(t, (VIP_DATA_SEGMENT *)(void *)s, ep->transfer, &n);
	d->CS.SegCount = (VIP_UINT16)(n + (t->kind != VIA_TX_SEND));
	d->CS.Length = (VIP_UINT32)len;
	r = VipPostSend(ep->data.h, d, ep->mem);
	if (r != VIP_SUCCESS)
		return r;
	ep->nic->has_sent = true;
	ep->tx_idle--;
	ep->tx_of[idx] = t;
	t->inflight++;
	t->raddr += len;
	t->left -= len;
	t->posted = !t->left;
	return r;
}

void via_tx_pump(struct via_ep *ep)
{
	struct via_tx *t;
	VIP_RETURN r;

	while ((t = ep->txq) && ep->tx_idle && !ep->dying) {
		if (t->kind == VIA_TX_SEND && !via_credit_take(ep))
			return;
		r = post_one(ep, t);
		if (r != VIP_SUCCESS) {
			t->err = via_err_of(r);
			t->prov = -(int)r;
			t->posted = true;
		}
		if (!t->posted)
			continue;
		ep->txq = t->next;
		if (!ep->txq)
			ep->txq_end = &ep->txq;
		if (!t->inflight)
			finish_tx(ep, t);
	}
}

/* Whether what is posted now goes at once, a message or RDMA. */
static bool goes_at_once(struct via_ep *ep, bool message)
{
	bool yes = !ep->txq && ep->tx_idle &&
		     (!message || ep->used != ep->credits);

	if (!yes)
		ep->nic->starved = true;
	return yes;
}

static void queue_tx(struct via_ep *ep, struct via_tx *t)
{
	t->next = NULL;
	*ep->txq_end = t;
	ep->txq_end = &t->next;
	via_tx_pump(ep);
	if (!vipl_list_empty(&ep->owing))
		via_credit_flush(ep);
}

/* Returns 1: one is done, 0: none is, -1: it failed, and so will the rest. */
int via_tx_done(struct via_ep *ep)
{
	VIP_DESCRIPTOR *d = NULL;
	struct via_tx *t;
	uint16_t idx;
	int err;

	/* An empty queue is VIP_DESCRIPTOR_ERROR, too, and no descriptor. */
	VipSendDone(ep->data.h, &d);
	if (!d)
		return 0;
	idx = (uint16_t)(((char *)d - ep->tx_desc) / VIA_DESC_BYTES);
	t = ep->tx_of[idx];
	ep->tx_idx[ep->tx_idle++] = idx;
	t->inflight--;
	err = via_err_of_status(d->CS.Status);
	if (err && !t->err) {
		t->err = err;
		t->prov = (int)d->CS.Status;
	}
	if (t->posted && !t->inflight)
		finish_tx(ep, t);
	if (!err)
		via_tx_pump(ep);
	return err ? -1 : 1;
}

static void cancel_list(struct via_ep *ep, struct via_tx **list,
			struct via_tx ***end)
{
	struct via_tx *t, *next;

	t = *list;
	*list = NULL;
	*end = list;
	for (; t; t = next) {
		next = t->next;
		if (!t->err) {
			t->err = FI_ECANCELED;
			t->prov = VIP_STATUS_DESC_FLUSHED_ERROR;
		}
		complete_tx(ep, t);
	}
}

/* The VI is disconnected and has no descriptors left. */
void via_tx_cancel(struct via_ep *ep)
{
	cancel_list(ep, &ep->written, &ep->written_end);
	cancel_list(ep, &ep->txq, &ep->txq_end);
}

int via_tx_submit(struct via_ep *ep, struct via_tx *t, const struct iovec *iov,
		  void **desc, size_t n, bool inject, uint64_t most)
{
	int ret = inject ? take_copy(ep, t, iov, n) :
			   take_iov(t, iov, desc, n);

	t->len = t->left;
	if (!ret && t->left > most)
		ret = -FI_EMSGSIZE;
	/* Nothing tells of it later: it goes now, or is not accepted. */
	if (!ret && t->mute && !goes_at_once(ep, t->flags & FI_MSG))
		ret = -FI_EAGAIN;
	if (ret)
		drop_unposted(ep, t);
	else
		queue_tx(ep, t);
	return ret;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Messages. */
#include <string.h>

#include "fab.h"

#define SEND_FLAGS	(FI_COMPLETION | FI_INJECT | FI_MORE | \
			 FI_REMOTE_CQ_DATA | VIA_LEVELS)
#define RECV_FLAGS	(FI_COMPLETION | FI_MORE)

static struct via_ep *ep_of(struct fid_ep *ep)
{
	return vipl_container(ep, struct via_ep, fid);
}

/* @mute: no entry in the CQ, whatever becomes of it. */
static ssize_t post_send(struct via_ep *ep, const struct iovec *iov,
			 void **desc, size_t n, uint64_t data, void *context,
			 uint64_t flags, bool mute)
{
	struct via_tx *t;
	int ret;

	pthread_mutex_lock(&ep->nic->lock);
	t = via_tx_new(ep, &ret);
	if (!t)
		goto out;
	t->kind = VIA_TX_SEND;
	t->context = context;
	t->flags = FI_SEND | FI_MSG;
	t->silent = ep->tx_selective && !(flags & FI_COMPLETION);
	t->mute = mute;
	t->imm = !!(flags & FI_REMOTE_CQ_DATA);
	t->data = data;
	ret = via_tx_submit(ep, t, iov, desc, n, flags & FI_INJECT, ep->transfer);
out:
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static ssize_t msg_send(struct fid_ep *ep, const void *buf, size_t len,
			void *desc, fi_addr_t dest, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	(void)dest;
	return post_send(ep_of(ep), &iov, &desc, 1, 0, context, ep_of(ep)->tx_flags,
		    false);
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t dest,
			 void *context)
{
	(void)dest;
	return post_send(ep_of(ep), iov, desc, count, 0, context,
		    ep_of(ep)->tx_flags, false);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	if (flags & ~SEND_FLAGS)
		return -FI_EINVAL;
	return post_send(ep_of(ep), msg->msg_iov, msg->desc, msg->iov_count,
		    msg->data, msg->context, flags, false);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	(void)dest;
	return post_send(ep_of(ep), &iov, NULL, 1, 0, NULL, FI_INJECT, true);
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t dest,
			    void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	(void)dest;
	return post_send(ep_of(ep), &iov, &desc, 1, data, context,
		    ep_of(ep)->tx_flags | FI_REMOTE_CQ_DATA, false);
}

static ssize_t msg_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	(void)dest;
	return post_send(ep_of(ep), &iov, NULL, 1, data, NULL,
		    FI_INJECT | FI_REMOTE_CQ_DATA, true);
}

/* Returns the descriptor of a free slot filled in, or a negative error. */
static int fill_recv(struct via_ep *ep, uint16_t idx, const struct iovec *iov,
		     void **desc, size_t n, VIP_DESCRIPTOR **out)
{
	VIP_DESCRIPTOR *d = (void *)(ep->rx_desc + idx * VIA_DESC_BYTES);
	VIP_DATA_SEGMENT *s = (void *)d->DS;
	size_t i, part, len = 0, most = ep->nic->attr.MaxTransferSize;

	if (n > VIA_IOV)
		return -FI_EINVAL;
	memset(&d->CS, 0, sizeof(d->CS));
	for (i = 0; i < n; i++) {
		/* No message is longer; a descriptor's length has 32 bits. */
		part = iov[i].iov_len < most - len ? iov[i].iov_len : most - len;
		if (!part)
			continue;
		if (!desc || !desc[i])
			return -FI_EINVAL;
		s->Data.AddressBits = (uintptr_t)iov[i].iov_base;
		s->Handle = ((struct via_mr *)desc[i])->h;
		s->Length = (VIP_UINT32)part;
		len += part;
		d->CS.SegCount++;
		s++;
	}
	d->CS.Length = (VIP_UINT32)len;
	*out = d;
	return 0;
}

static ssize_t post_recv(struct via_ep *ep, const struct iovec *iov,
			 void **desc, size_t n, void *context, uint64_t flags)
{
	VIP_DESCRIPTOR *d;
	VIP_RETURN r;
	uint16_t idx;
	int ret;

	pthread_mutex_lock(&ep->nic->lock);
	ret = ep->state == VIA_EP_DOWN ? -FI_ENOTCONN :
	      ep->state == VIA_EP_NEW ? -FI_EOPBADSTATE :
	      !ep->rx_cq ? -FI_ENOCQ :
	      !ep->rx_idle ? -FI_EAGAIN : 0;
	if (ret)
		goto out;
	idx = ep->rx_idx[ep->rx_idle - 1];
	ret = fill_recv(ep, idx, iov, desc, n, &d);
	if (!ret)
		ret = via_cq_reserve(ep->rx_cq);
	if (ret)
		goto out;
	r = VipPostRecv(ep->data.h, d, ep->mem);
	if (r != VIP_SUCCESS) {
		via_cq_unreserve(ep->rx_cq);
		ret = -via_err_of(r);
		goto out;
	}
	ep->rx_idle--;
	ep->rx[idx].context = context;
	ep->rx[idx].silent = ep->rx_selective && !(flags & FI_COMPLETION);
	ep->posted++;
	via_credit_check(ep);
out:
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static ssize_t msg_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };

	(void)src;
	return post_recv(ep_of(ep), &iov, &desc, 1, context, ep_of(ep)->rx_flags);
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 void *context)
{
	(void)src;
	return post_recv(ep_of(ep), iov, desc, count, context, ep_of(ep)->rx_flags);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg,
			   uint64_t flags)
{
	if (flags & ~RECV_FLAGS)
		return -FI_EINVAL;
	return post_recv(ep_of(ep), msg->msg_iov, msg->desc, msg->iov_count,
		    msg->context, flags);
}

/* As via_tx_done. */
int via_rx_done(struct via_ep *ep)
{
	VIP_DESCRIPTOR *d = NULL;
	struct via_comp c = { .e.flags = FI_RECV | FI_MSG };
	struct via_rx *rx;
	uint16_t idx;

	VipRecvDone(ep->data.h, &d);
	if (!d)
		return 0;
	idx = (uint16_t)(((char *)d - ep->rx_desc) / VIA_DESC_BYTES);
	rx = &ep->rx[idx];
	ep->rx_idx[ep->rx_idle++] = idx;
	ep->taken++;
	via_credit_check(ep);
	c.e.op_context = rx->context;
	c.err = via_err_of_status(d->CS.Status);
	if (c.err)
		c.prov = (int)d->CS.Status;
	else
		c.e.len = d->CS.Length;
	if (d->CS.Status & VIP_STATUS_IMMEDIATE) {
		c.e.flags |= FI_REMOTE_CQ_DATA;
		c.e.data = d->CS.ImmediateData;
	}
	if (c.err || !rx->silent)
		via_cq_add(ep->rx_cq, &c);
	else
		via_cq_unreserve(ep->rx_cq);
	return c.err ? -1 : 1;
}

struct fi_ops_msg via_msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};

/*
 * The connection is over, or there never was one: the VIs are disconnected,
 * what was posted completes flushed.  What had come before it is delivered.
 */
void via_ep_end(struct via_ep *ep)
{
	struct via_ctl_msg m;

	if (ep->dying || ep->state == VIA_EP_NEW)
		return;
	ep->dying = true;
	ep->state = VIA_EP_DOWN;
	vipl_list_del(&ep->link);
	vipl_list_del(&ep->owing);
	VipDisconnect(ep->data.h);
	VipDisconnect(ep->ctl.vi.h);
	while (via_tx_done(ep))
		;
	while (via_rx_done(ep))
		;
	while (via_ctl_sent(&ep->ctl) > 0)
		;
	while (via_ctl_take(&ep->ctl, &m) > 0)
		;
	via_tx_cancel(ep);
}

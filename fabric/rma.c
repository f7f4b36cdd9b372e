// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * RDMA.  What is longer than a VIA message goes in several (tx.c).  Data with
 * a write do not take one of the target's receives: a control message follows
 * when the write is in the target's memory.
 */
#include "fab.h"

#define RMA_FLAGS	(FI_COMPLETION | FI_INJECT | FI_MORE | \
			 FI_REMOTE_CQ_DATA | VIA_LEVELS)
/* The bytes of a read are here when it completes, at any level. */
#define READ_FLAGS	(FI_COMPLETION | FI_MORE | VIA_LEVELS)

static struct via_ep *ep_of(struct fid_ep *ep)
{
	return vipl_container(ep, struct via_ep, fid);
}

struct target {
	uint64_t	addr, key, data;
};

static ssize_t post_rma(struct via_ep *ep, enum via_tx_kind kind,
			const struct iovec *iov, void **desc, size_t n,
			const struct target *at, void *context, uint64_t flags,
			bool mute)
{
	struct via_tx *t;
	int ret;

	if (at->key > UINT32_MAX)
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->nic->lock);
	t = via_tx_new(ep, &ret);
	if (!t)
		goto out;
	t->kind = kind;
	t->context = context;
	t->flags = FI_RMA | (kind == VIA_TX_WRITE ? FI_WRITE : FI_READ);
	t->silent = ep->tx_selective && !(flags & FI_COMPLETION);
	t->mute = mute;
	t->imm = !!(flags & FI_REMOTE_CQ_DATA);
	t->data = (uint32_t)at->data;
	t->raddr = at->addr;
	t->rkey = (uint32_t)at->key;
	ret = via_tx_submit(ep, t, iov, desc, n, flags & FI_INJECT, VIA_RMA_MAX);
out:
	pthread_mutex_unlock(&ep->nic->lock);
	return ret;
}

static ssize_t rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			fi_addr_t src, uint64_t addr, uint64_t key,
			void *context)
{
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct target at = { .addr = addr, .key = key };

	(void)src;
	return post_rma(ep_of(ep), VIA_TX_READ, &iov, &desc, 1, &at, context,
			ep_of(ep)->tx_flags & ~FI_INJECT, false);
}

static ssize_t rma_readv(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t src,
			 uint64_t addr, uint64_t key, void *context)
{
	struct target at = { .addr = addr, .key = key };

	(void)src;
	return post_rma(ep_of(ep), VIA_TX_READ, iov, desc, count, &at, context,
			ep_of(ep)->tx_flags & ~FI_INJECT, false);
}

static ssize_t rma_msg(struct via_ep *ep, enum via_tx_kind kind,
		       const struct fi_msg_rma *m, uint64_t flags)
{
	struct target at = { .data = m->data };
	size_t i, len = 0;

	if (m->rma_iov_count != 1)
		return -FI_EINVAL;
	for (i = 0; i < m->iov_count; i++)
		len += m->msg_iov[i].iov_len;
	if (len != m->rma_iov->len)
		return -FI_EINVAL;
	at.addr = m->rma_iov->addr;
	at.key = m->rma_iov->key;
	return post_rma(ep, kind, m->msg_iov, m->desc, m->iov_count, &at,
			m->context, flags, false);
}

static ssize_t rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	if (flags & ~READ_FLAGS)
		return -FI_EINVAL;
	return rma_msg(ep_of(ep), VIA_TX_READ, msg, flags);
}

static ssize_t rma_write(struct fid_ep *ep, const void *buf, size_t len,
			 void *desc, fi_addr_t dest, uint64_t addr,
			 uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct target at = { .addr = addr, .key = key };

	(void)dest;
	return post_rma(ep_of(ep), VIA_TX_WRITE, &iov, &desc, 1, &at, context,
			ep_of(ep)->tx_flags, false);
}

static ssize_t rma_writev(struct fid_ep *ep, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t dest,
			  uint64_t addr, uint64_t key, void *context)
{
	struct target at = { .addr = addr, .key = key };

	(void)dest;
	return post_rma(ep_of(ep), VIA_TX_WRITE, iov, desc, count, &at, context,
			ep_of(ep)->tx_flags, false);
}

static ssize_t rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	if (flags & ~RMA_FLAGS)
		return -FI_EINVAL;
	return rma_msg(ep_of(ep), VIA_TX_WRITE, msg, flags);
}

static ssize_t rma_inject(struct fid_ep *ep, const void *buf, size_t len,
			  fi_addr_t dest, uint64_t addr, uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct target at = { .addr = addr, .key = key };

	(void)dest;
	return post_rma(ep_of(ep), VIA_TX_WRITE, &iov, NULL, 1, &at, NULL,
			FI_INJECT, true);
}

static ssize_t rma_writedata(struct fid_ep *ep, const void *buf, size_t len,
			     void *desc, uint64_t data, fi_addr_t dest,
			     uint64_t addr, uint64_t key, void *context)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct target at = { .addr = addr, .key = key, .data = data };

	(void)dest;
	return post_rma(ep_of(ep), VIA_TX_WRITE, &iov, &desc, 1, &at, context,
			ep_of(ep)->tx_flags | FI_REMOTE_CQ_DATA, false);
}

static ssize_t rma_injectdata(struct fid_ep *ep, const void *buf, size_t len,
			      uint64_t data, fi_addr_t dest, uint64_t addr,
			      uint64_t key)
{
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct target at = { .addr = addr, .key = key, .data = data };

	(void)dest;
	return post_rma(ep_of(ep), VIA_TX_WRITE, &iov, NULL, 1, &at, NULL,
			FI_INJECT | FI_REMOTE_CQ_DATA, true);
}

struct fi_ops_rma via_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};

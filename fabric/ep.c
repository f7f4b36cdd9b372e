// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Endpoints: made, bound, enabled and ended.  Connections are in cm.c. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fab.h"

static size_t round_up_64(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static void slab_free(struct via_ep *ep)
{
	if (ep->mem)
		VipDeregisterMem(ep->nic->h, ep->slab, ep->mem);
	if (ep->slab)
		munmap(ep->slab, ep->slab_len);
	ep->mem = 0;
	ep->slab = NULL;
}

/* Memory that the NIC reads and writes, registered in one piece. */
static int slab_make(struct via_ep *ep)
{
	VIP_MEM_ATTRIBUTES attr = { .Ptag = ep->domain->ptag };
	size_t tx = (size_t)ep->ntx * VIA_DESC_BYTES;
	size_t rx = (size_t)ep->rx_size * VIA_DESC_BYTES;
	size_t inject = round_up_64((size_t)ep->tx_size * VIA_INJECT);
	VIP_RETURN r;
	char *p;

	ep->slab_len = (tx + rx + inject + VIA_CTL_BYTES + 4095) &
		       ~(size_t)4095;
	p = mmap(NULL, ep->slab_len, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -FI_ENOMEM;
	ep->slab = p;
	r = VipRegisterMem(ep->nic->h, p, ep->slab_len, &attr, &ep->mem);
	if (r != VIP_SUCCESS) {
		ep->mem = 0;
		via_warn(FI_LOG_EP_CTRL,
			 "%s: cannot register %zu bytes for an endpoint: is the limit of locked memory (ulimit -l) large enough?\n",
			 ep->nic->name, ep->slab_len);
		return -via_err_of(r);
	}
	ep->tx_desc = p;
	ep->rx_desc = p + tx;
	ep->inject = p + tx + rx;
	return 0;
}

static int tables_make(struct via_ep *ep)
{
	uint32_t i;

	ep->tx = calloc(ep->tx_size, sizeof(*ep->tx));
	ep->tx_idx = calloc(ep->ntx, sizeof(*ep->tx_idx));
	ep->tx_of = calloc(ep->ntx, sizeof(*ep->tx_of));
	ep->rx = calloc(ep->rx_size, sizeof(*ep->rx));
	ep->rx_idx = calloc(ep->rx_size, sizeof(*ep->rx_idx));
	if (!ep->tx || !ep->tx_idx || !ep->tx_of || !ep->rx || !ep->rx_idx)
		return -FI_ENOMEM;
	for (i = 0; i < ep->tx_size; i++) {
		ep->tx[i].next = ep->tx_free;
		ep->tx_free = &ep->tx[i];
	}
	for (i = 0; i < ep->ntx; i++)
		ep->tx_idx[i] = (uint16_t)i;
	for (i = 0; i < ep->rx_size; i++)
		ep->rx_idx[i] = (uint16_t)i;
	ep->tx_idle = ep->ntx;
	ep->rx_idle = ep->rx_size;
	return 0;
}

static void tables_free(struct via_ep *ep)
{
	free(ep->tx);
	free(ep->tx_idx);
	free(ep->tx_of);
	free(ep->rx);
	free(ep->rx_idx);
	ep->tx = NULL;
	ep->tx_idx = ep->rx_idx = NULL;
	ep->tx_of = NULL;
	ep->rx = NULL;
}

static void vis_close(struct via_ep *ep)
{
	via_vi_close(ep->nic, &ep->data);
	via_vi_close(ep->nic, &ep->ctl.vi);
}

static int enable_ep(struct via_ep *ep)
{
	VIP_RETURN r;
	int ret;

	if (ep->state != VIA_EP_NEW)
		return -FI_EOPBADSTATE;
	if (!ep->eq)
		return -FI_ENOEQ;
	if (!ep->tx_cq && !ep->rx_cq)
		return -FI_ENOCQ;
	ret = slab_make(ep);
	if (ret)
		goto err;
	pthread_mutex_lock(&ep->nic->lock);
	r = via_vi_open(ep->nic, &ep->data, ep->domain->ptag, ep->transfer);
	ret = -via_err_of(r);
	if (!ret)
		ret = via_ctl_open(ep->nic, &ep->ctl,
				   ep->inject +
				   round_up_64((size_t)ep->tx_size *
					       VIA_INJECT),
				   ep->mem, ep->domain->ptag, ep->transfer);
	if (!ret) {
		ep->state = VIA_EP_IDLE;
	} else {
		if (ep->ctl.vi.h)
			VipDisconnect(ep->ctl.vi.h);
		vis_close(ep);
	}
	pthread_mutex_unlock(&ep->nic->lock);
	if (!ret)
		return 0;
	via_warn(FI_LOG_EP_CTRL, "%s: no VI for an endpoint: %s\n",
		 ep->nic->name, fi_strerror(-ret));
err:
	slab_free(ep);
	return ret;
}

static int ep_close(struct fid *fid)
{
	struct via_ep *ep = via_ep_of(fid);

	pthread_mutex_lock(&ep->nic->lock);
	via_ep_end(ep);
	vis_close(ep);
	if (ep->request)
		via_request_reject(ep->request, NULL, 0);
	ep->request = NULL;
	pthread_mutex_unlock(&ep->nic->lock);
	if (ep->eq) {
		via_eq_purge(ep->eq, fid);
		atomic_fetch_sub(&ep->eq->refs, 1);
	}
	if (ep->tx_cq)
		atomic_fetch_sub(&ep->tx_cq->refs, 1);
	if (ep->rx_cq)
		atomic_fetch_sub(&ep->rx_cq->refs, 1);
	if (ep->port >= 0)
		close(ep->port);
	slab_free(ep);
	tables_free(ep);
	atomic_fetch_sub(&ep->domain->refs, 1);
	free(ep);
	return 0;
}

static int bind_cq(struct via_ep *ep, struct via_cq *cq, uint64_t flags)
{
	bool selective = !!(flags & FI_SELECTIVE_COMPLETION);

	if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
	    !(flags & (FI_TRANSMIT | FI_RECV)) || cq->domain != ep->domain)
		return -FI_EINVAL;
	if ((flags & FI_TRANSMIT && ep->tx_cq) ||
	    (flags & FI_RECV && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = selective;
		atomic_fetch_add(&cq->refs, 1);
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = selective;
		atomic_fetch_add(&cq->refs, 1);
	}
	return 0;
}

static int ep_bind(struct fid *fid, struct fid *b, uint64_t flags)
{
	struct via_ep *ep = via_ep_of(fid);
	struct via_eq *eq;
	int ret;

	if (ep->state != VIA_EP_NEW)
		return -FI_EOPBADSTATE;
	switch (b->fclass) {
	case FI_CLASS_CQ:
		return bind_cq(ep, vipl_container(b, struct via_cq, fid.fid),
			       flags);
	case FI_CLASS_EQ:
		eq = vipl_container(b, struct via_eq, fid.fid);
		if (ep->eq || eq->fabric != ep->domain->fabric)
			return -FI_EINVAL;
		ret = via_eq_attach(eq, ep->nic);
		if (ret)
			return ret;
		ep->eq = eq;
		atomic_fetch_add(&eq->refs, 1);
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct via_ep *ep = via_ep_of(fid);
	uint64_t *flags = arg;

	switch (command) {
	case FI_ENABLE:
		return enable_ep(ep);
	case FI_GETOPSFLAG:
		*flags = *flags & FI_TRANSMIT ? ep->tx_flags : ep->rx_flags;
		return 0;
	case FI_SETOPSFLAG:
		if (*flags & FI_TRANSMIT)
			ep->tx_flags = *flags & ~FI_TRANSMIT;
		else if (*flags & FI_RECV)
			ep->rx_flags = *flags & ~FI_RECV;
		else
			return -FI_EINVAL;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

int via_getopt(struct fid *fid, int level, int name, void *val, size_t *len)
{
	(void)fid;
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	if (*len < sizeof(size_t))
		return -FI_ETOOSMALL;
	*(size_t *)val = VIA_CM_DATA;
	*len = sizeof(size_t);
	return 0;
}

int via_setopt(struct fid *fid, int level, int name, const void *val,
	       size_t len)
{
	(void)fid;
	(void)level;
	(void)name;
	(void)val;
	(void)len;
	return -FI_ENOPROTOOPT;
}

static struct fi_ops ep_fid_ops = VIA_FID_OPS(ep_close, ep_bind, ep_control);
static struct fi_ops_ep ep_ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = VIA_NO,
	.getopt = via_getopt,
	.setopt = via_setopt,
	.tx_ctx = VIA_NO,
	.rx_ctx = VIA_NO,
	.rx_size_left = VIA_NO,
	.tx_size_left = VIA_NO,
};

static uint32_t size_of(size_t asked, uint32_t def)
{
	return !asked ? def : asked > VIA_SIZE_MAX ? VIA_SIZE_MAX :
						     (uint32_t)asked;
}

static void ep_init(struct via_ep *ep, struct via_domain *d,
		    const struct fi_info *info)
{
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &via_ep_cm_ops;
	ep->fid.msg = &via_msg_ops;
	ep->fid.rma = &via_rma_ops;
	ep->fid.tagged = &via_no_tagged;
	ep->fid.atomic = &via_no_atomic;
	ep->fid.collective = &via_no_collective;
	ep->domain = d;
	ep->nic = d->nic;
	ep->port = -1;
	ep->tx_size = size_of(info->tx_attr ? info->tx_attr->size : 0,
			      VIA_TX_SIZE);
	ep->rx_size = size_of(info->rx_attr ? info->rx_attr->size : 0,
			      VIA_RX_SIZE);
	ep->tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	/* For what RDMA takes more than one of. */
	ep->ntx = 2 * ep->tx_size;
	ep->txq_end = &ep->txq;
	ep->written_end = &ep->written;
	ep->data.kind = VIA_VI_DATA;
	ep->data.ep = ep;
	ep->ctl.vi.ep = ep;
	vipl_list_init(&ep->link);
	vipl_list_init(&ep->owing);
	ep->transfer = (uint32_t)ep->nic->attr.MaxTransferSize;
	if (info->src_addr && via_addr_ok(info->src_addr, info->src_addrlen))
		memcpy(&ep->src, info->src_addr, sizeof(ep->src));
	if (info->dest_addr && via_addr_ok(info->dest_addr,
					   info->dest_addrlen))
		memcpy(&ep->dest, info->dest_addr, sizeof(ep->dest));
}

/* Of a server: the request.  Of a client: a passive endpoint for its name. */
static int take_handle(struct via_ep *ep, struct fid *handle)
{
	struct via_request *r;

	if (handle->fclass != FI_CLASS_CONNREQ)
		return via_pep_yield(handle, ep->nic, &ep->src, &ep->port);
	pthread_mutex_lock(&ep->nic->lock);
	/* The object has to be of the same NIC, and of no other endpoint. */
	r = vipl_container(handle, struct via_request, fid);
	r = r->nic == ep->nic ? via_request_claim(handle) : NULL;
	pthread_mutex_unlock(&ep->nic->lock);
	if (!r)
		return -FI_EINVAL;
	ep->request = r;
	ep->transfer = r->transfer;
	return 0;
}

int via_ep_open(struct fid_domain *fid, struct fi_info *info,
		struct fid_ep **out, void *context)
{
	struct via_domain *d = vipl_container(fid, struct via_domain, fid);
	struct via_ep *ep;

	if (info->ep_attr && info->ep_attr->type != FI_EP_MSG &&
	    info->ep_attr->type != FI_EP_UNSPEC)
		return -FI_EINVAL;
	if (info->ep_attr && (info->ep_attr->rx_ctx_cnt == FI_SHARED_CONTEXT ||
			      info->ep_attr->tx_ctx_cnt == FI_SHARED_CONTEXT))
		return -FI_ENOSYS;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep_init(ep, d, info);
	ep->fid.fid.context = context;
	if (tables_make(ep)) {
		tables_free(ep);
		free(ep);
		return -FI_ENOMEM;
	}
	if (info->handle && take_handle(ep, info->handle)) {
		tables_free(ep);
		free(ep);
		return -FI_EINVAL;
	}
	atomic_fetch_add(&d->refs, 1);
	*out = &ep->fid;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Memory regions: the key is VIPL's handle, addresses are the program's. */
#include <stdlib.h>
#include <sys/resource.h>

#include "fab.h"

/* Bits that libfabric's own layers use among themselves: ofi_rxm sets one. */
#define INTERNAL	(0xfull << 60)

static int mr_close(struct fid *fid)
{
	struct via_mr *mr = vipl_container(fid, struct via_mr, fid.fid);
	VIP_RETURN r = VIP_SUCCESS;

	if (mr->len)
		r = VipDeregisterMem(mr->domain->nic->h, mr->addr, mr->h);
	if (r != VIP_SUCCESS)
		return -via_err_of(r);
	atomic_fetch_sub(&mr->domain->refs, 1);
	free(mr);
	return 0;
}

static struct fi_ops mr_fid_ops = VIA_FID_OPS(mr_close, VIA_NO, VIA_NO);

/* The limit that people meet first, and what they can do about it. */
static void explain_memlock(const struct via_domain *d, size_t len)
{
	struct rlimit lim;

	if (!(d->nic->features & VIP_FEATURE_MEMLOCK) ||
	    getrlimit(RLIMIT_MEMLOCK, &lim) || lim.rlim_cur == RLIM_INFINITY) {
		via_warn(FI_LOG_MR, "%s: cannot register %zu bytes\n",
			 d->nic->name, len);
		return;
	}
	via_warn(FI_LOG_MR,
		 "%s: cannot register %zu bytes; the limit of locked memory is %llu KiB: raise it (ulimit -l, limits.conf(5)), or set FI_OFI_RXM_MSG_RX_SIZE=16\n",
		 d->nic->name, len, (unsigned long long)lim.rlim_cur / 1024);
}

static int register_region(struct fid *fid, const void *buf, size_t len,
			   uint64_t access, uint64_t flags, void *context,
			   struct fid_mr **out)
{
	struct via_domain *d = vipl_container(fid, struct via_domain, fid.fid);
	VIP_MEM_ATTRIBUTES attr = {
		.Ptag = d->ptag,
		.EnableRdmaWrite = !!(access & FI_REMOTE_WRITE),
		.EnableRdmaRead = !!(access & FI_REMOTE_READ),
	};
	struct via_mr *mr;
	VIP_RETURN r = VIP_SUCCESS;

	if (fid->fclass != FI_CLASS_DOMAIN || flags & ~INTERNAL ||
	    access & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE |
		       FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -FI_EINVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	/* VIPL has no region without bytes, libfabric has. */
	if (len)
		r = VipRegisterMem(d->nic->h, (void *)buf, len, &attr, &mr->h);
	if (r != VIP_SUCCESS) {
		free(mr);
		if (r == VIP_ERROR_RESOURCE)
			explain_memlock(d, len);
		return -via_err_of(r);
	}
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = context;
	mr->fid.fid.ops = &mr_fid_ops;
	mr->fid.mem_desc = mr;
	mr->fid.key = mr->h;
	mr->domain = d;
	mr->addr = (void *)buf;
	mr->len = len;
	atomic_fetch_add(&d->refs, 1);
	*out = &mr->fid;
	return 0;
}

static int mr_reg(struct fid *fid, const void *buf, size_t len,
		  uint64_t access, uint64_t offset, uint64_t requested_key,
		  uint64_t flags, struct fid_mr **mr, void *context)
{
	(void)requested_key;	/* FI_MR_PROV_KEY */
	return offset ? -FI_EINVAL :
			register_region(fid, buf, len, access, flags, context,
					mr);
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count,
		   uint64_t access, uint64_t offset, uint64_t requested_key,
		   uint64_t flags, struct fid_mr **mr, void *context)
{
	(void)requested_key;
	return offset || count != 1 ? -FI_EINVAL :
		register_region(fid, iov->iov_base, iov->iov_len, access, flags,
				context, mr);
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr,
		      uint64_t flags, struct fid_mr **mr)
{
	if (attr->iface != FI_HMEM_SYSTEM)
		return -FI_ENOSYS;
	if (attr->iov_count != 1 || attr->offset || attr->auth_key_size)
		return -FI_EINVAL;
	return register_region(fid, attr->mr_iov->iov_base,
			       attr->mr_iov->iov_len, attr->access, flags,
			       attr->context, mr);
}

struct fi_ops_mr via_mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};

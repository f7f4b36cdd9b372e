// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A domain is a protection tag on a VI NIC: its endpoints reach its regions,
 * and no others.
 */
#include <stdlib.h>

#include "fab.h"

static int domain_close(struct fid *fid)
{
	struct via_domain *d = vipl_container(fid, struct via_domain, fid.fid);

	if (atomic_load(&d->refs))
		return -FI_EBUSY;
	VipDestroyPtag(d->nic->h, d->ptag);
	via_nic_put(d->nic);
	atomic_fetch_sub(&d->fabric->refs, 1);
	free(d);
	return 0;
}

static struct fi_ops domain_fid_ops = VIA_FID_OPS(domain_close, VIA_NO, VIA_NO);
static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = VIA_NO,
	.cq_open = via_cq_open,
	.endpoint = via_ep_open,
	.scalable_ep = VIA_NO,
	.cntr_open = VIA_NO,
	.poll_open = VIA_NO,
	.stx_ctx = VIA_NO,
	.srx_ctx = VIA_NO,
	.query_atomic = VIA_NO,
	.query_collective = VIA_NO,
};

int via_domain_open(struct fid_fabric *fid, struct fi_info *info,
		    struct fid_domain **out, void *context)
{
	struct via_domain *d;
	VIP_RETURN r;
	int ret;

	if (!info->domain_attr || !info->domain_attr->name)
		return -FI_EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -FI_ENOMEM;
	ret = via_nic_get(info->domain_attr->name, &d->nic);
	if (ret)
		goto err;
	r = VipCreatePtag(d->nic->h, &d->ptag);
	if (r != VIP_SUCCESS) {
		via_nic_put(d->nic);
		ret = -via_err_of(r);
		goto err;
	}
	d->fid.fid.fclass = FI_CLASS_DOMAIN;
	d->fid.fid.context = context;
	d->fid.fid.ops = &domain_fid_ops;
	d->fid.ops = &domain_ops;
	d->fid.mr = &via_mr_ops;
	d->fabric = vipl_container(fid, struct via_fabric, fid);
	atomic_fetch_add(&d->fabric->refs, 1);
	*out = &d->fid;
	return 0;
err:
	free(d);
	return ret;
}

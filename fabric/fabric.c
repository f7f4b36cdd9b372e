// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdlib.h>

#include "fab.h"

static int fabric_close(struct fid *fid)
{
	struct via_fabric *f = vipl_container(fid, struct via_fabric, fid.fid);

	if (atomic_load(&f->refs))
		return -FI_EBUSY;
	free(f);
	return 0;
}

/* Whether a thread may sleep on the descriptors of these queues. */
static int fabric_trywait(struct fid_fabric *fabric, struct fid **fids,
			  int count)
{
	int i, ret;

	(void)fabric;
	for (i = 0; i < count; i++) {
		switch (fids[i]->fclass) {
		case FI_CLASS_CQ:
			ret = via_cq_trywait(vipl_container(fids[i], struct via_cq,
							    fid.fid));
			break;
		case FI_CLASS_EQ:
			ret = via_eq_trywait(vipl_container(fids[i], struct via_eq,
							    fid.fid));
			break;
		default:
			ret = -FI_EINVAL;
		}
		if (ret)
			return ret;
	}
	return 0;
}

static struct fi_ops fabric_fid_ops = VIA_FID_OPS(fabric_close, VIA_NO, VIA_NO);
static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = via_domain_open,
	.passive_ep = via_pep_open,
	.eq_open = via_eq_open,
	.wait_open = VIA_NO,
	.trywait = fabric_trywait,
};

int via_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **out,
		    void *context)
{
	struct via_fabric *f = calloc(1, sizeof(*f));

	(void)attr;
	if (!f)
		return -FI_ENOMEM;
	f->fid.fid.fclass = FI_CLASS_FABRIC;
	f->fid.fid.context = context;
	f->fid.fid.ops = &fabric_fid_ops;
	f->fid.ops = &fabric_ops;
	*out = &f->fid;
	return 0;
}

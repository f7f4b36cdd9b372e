/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory regions and protection domains. */
#ifndef _VR_MR_H
#define _VR_MR_H

#include <rdma/ib_umem.h>
#include "dev.h"

/**
 * struct vr_pd - a protection domain
 * @ib:		the RDMA core's part
 * @ptag:	constant: of the agent; VIs and memory of it go together
 */
struct vr_pd {
	struct ib_pd ib;
	u32 ptag;
};

static inline struct vr_pd *vr_pd_of(struct ib_pd *ib)
{
	return container_of(ib, struct vr_pd, ib);
}

/**
 * struct vr_mr - a memory region
 * @ib:		the RDMA core's part
 * @dev:	constant
 * @mem:	constant: the agent's
 * @umem:	constant: pages of a program; NULL: of work requests
 * @pages:	the consumer's between its calls of ib_map_mr_sg(): of the next
 *		registration
 * @npages:	likewise
 * @most:	constant: room in @pages
 */
struct vr_mr {
	struct ib_mr ib;
	struct vr_dev *dev;
	struct via_kernel_mem *mem;
	struct ib_umem *umem;
	struct page **pages;
	u32 npages;
	u32 most;
};

static inline struct vr_mr *vr_mr_of(struct ib_mr *ib)
{
	return container_of(ib, struct vr_mr, ib);
}

/* IB_WR_REG_MR: with that key and those rights.  0 or -errno.  Any context. */
int vr_mr_register(struct vr_mr *mr, u32 key, int access);
/* IB_WR_LOCAL_INV.  False: no such key is valid.  Any context. */
bool vr_mr_invalidate(struct vr_dev *d, u32 key);

int vr_alloc_pd(struct ib_pd *ib, struct ib_udata *udata);
int vr_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata);
struct ib_mr *vr_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *vr_mr_of_user(struct ib_pd *pd, u64 start, u64 len, u64 virt,
			    int access, struct ib_udata *udata);
struct ib_mr *vr_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 most);
int vr_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n,
		 unsigned int *offset);
int vr_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions.
 *
 *  1. A key is the agent's handle of a piece of memory: 24 random bits, and 8 that
 *     its registration chooses.  The agent compares protection tag, rights and bounds
 *     with each use.
 *  2. Deregistration and invalidation return when no byte is copied there any more, so
 *     that pages can be given back at once.
 *  3. No key stands for all memory: local_dma_lkey is 0, good in work requests of
 *     consumers in the kernel alone, and no peer can name it.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "mr.h"

#define VR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_OPTIONAL)
/* Programs ask for what only some of them use; no request is atomic here. */
#define VR_USER_ACCESS	(VR_ACCESS | IB_ACCESS_REMOTE_ATOMIC)

int vr_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct vr_dev *d = vr_dev_of(ib->device);
	int ret;

	if (!vr_take(d, VR_KIND_PD))
		return -ENOMEM;
	ret = via_kernel_ptag_make(d->file, &vr_pd_of(ib)->ptag);
	if (ret)
		vr_give(d, VR_KIND_PD);
	return ret;
}

int vr_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct vr_dev *d = vr_dev_of(ib->device);
	int ret = via_kernel_ptag_unmake(d->file, vr_pd_of(ib)->ptag);

	if (!ret)
		vr_give(d, VR_KIND_PD);
	return ret;
}

static u32 vr_rights(int access)
{
	u32 rights = 0;

	if (access & IB_ACCESS_LOCAL_WRITE)
		rights |= VIA_KERNEL_MEM_STORE;
	if (access & IB_ACCESS_REMOTE_WRITE)
		rights |= VIA_RDMA_WRITE;
	if (access & IB_ACCESS_REMOTE_READ)
		rights |= VIA_RDMA_READ;
	return rights;
}

/* Asked for by consumers that want a key of all memory for their peers. */
struct ib_mr *vr_get_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void vr_mr_free(struct vr_mr *mr)
{
	if (!IS_ERR_OR_NULL(mr->mem))
		via_kernel_mem_free(mr->mem);
	if (!IS_ERR_OR_NULL(mr->umem))
		ib_umem_release(mr->umem);
	kvfree(mr->pages);
	vr_give(mr->dev, VR_KIND_MR);
	kfree(mr);
}

/* A region with room for so many pages, off. */
static struct vr_mr *vr_mr_new(struct ib_pd *pd, u32 most)
{
	struct vr_dev *d = vr_dev_of(pd->device);
	struct vr_mr *mr;

	if (!vr_take(d, VR_KIND_MR))
		return ERR_PTR(-ENOMEM);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr) {
		vr_give(d, VR_KIND_MR);
		return ERR_PTR(-ENOMEM);
	}
	mr->dev = d;
	mr->most = most;
	mr->pages = kvmalloc_array(most, sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages) {
		vr_mr_free(mr);
		return ERR_PTR(-ENOMEM);
	}
	mr->mem = via_kernel_mem_make(d->file, vr_pd_of(pd)->ptag, most);
	if (IS_ERR(mr->mem)) {
		int ret = PTR_ERR(mr->mem);

		vr_mr_free(mr);
		return ERR_PTR(ret == -EDQUOT ? -ENOMEM : ret);
	}
	mr->ib.lkey = via_kernel_mem_handle(mr->mem);
	mr->ib.rkey = mr->ib.lkey;
	return mr;
}

static int vr_mr_turn_on(struct vr_mr *mr, u32 key, u32 rights)
{
	struct via_kernel_span span = {
		.handle = key,
		.rights = rights,
		.start = mr->ib.iova,
		.len = mr->ib.length,
		.pages = mr->pages,
		.npages = mr->npages,
	};

	return via_kernel_mem_on(mr->mem, &span);
}

/* The program's pages, in the order of their addresses. */
static void vr_mr_list_pages(struct vr_mr *mr)
{
	struct sg_page_iter at;

	for_each_sgtable_page(&mr->umem->sgt_append.sgt, &at, 0)
		if (mr->npages < mr->most)
			mr->pages[mr->npages++] = sg_page_iter_page(&at);
}

/* The low 8 bits of its key are the program's. */
static int vr_mr_tell_key(struct vr_mr *mr, struct ib_udata *udata, u32 *key)
{
	struct siw_uresp_reg_mr resp = {};
	struct siw_ureq_reg_mr req = {};
	int ret;

	if (!udata)
		return 0;
	if (udata->inlen) {
		ret = ib_copy_from_udata(&req, udata,
					 min(sizeof(req), udata->inlen));
		if (ret)
			return ret;
		*key |= req.stag_key;
	}
	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	resp.stag = *key;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

struct ib_mr *vr_mr_of_user(struct ib_pd *pd, u64 start, u64 len, u64 virt,
			    int access, struct ib_udata *udata)
{
	struct ib_umem *umem;
	struct vr_mr *mr;
	u32 key;
	int ret;

	if (access & ~VR_USER_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	/* An address stands at its own place in a page. */
	if (!len || (start ^ virt) & ~PAGE_MASK)
		return ERR_PTR(-EINVAL);
	umem = ib_umem_get_va(pd->device, start, len, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = vr_mr_new(pd, ib_umem_num_pages(umem));
	if (IS_ERR(mr)) {
		ib_umem_release(umem);
		return ERR_CAST(mr);
	}
	mr->umem = umem;
	mr->ib.iova = virt;
	mr->ib.length = len;
	vr_mr_list_pages(mr);
	key = mr->ib.lkey;
	ret = vr_mr_tell_key(mr, udata, &key);
	if (!ret)
		ret = vr_mr_turn_on(mr, key, vr_rights(access));
	if (ret) {
		vr_mr_free(mr);
		return ERR_PTR(ret);
	}
	mr->ib.lkey = key;
	mr->ib.rkey = key;
	/* The agent has its own list. */
	kvfree(mr->pages);
	mr->pages = NULL;
	return &mr->ib;
}

struct ib_mr *vr_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 most)
{
	struct vr_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!most || most > VR_FRWR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = vr_mr_new(pd, most);
	return IS_ERR(mr) ? ERR_CAST(mr) : &mr->ib;
}

/* Addresses are the kernel's own: the device has no DMA of its own. */
static int vr_mr_set_page(struct ib_mr *ib, u64 addr)
{
	struct vr_mr *mr = vr_mr_of(ib);

	if (mr->npages == mr->most)
		return -ENOMEM;
	mr->pages[mr->npages++] = virt_to_page((void *)(uintptr_t)addr);
	return 0;
}

int vr_map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n,
		 unsigned int *offset)
{
	vr_mr_of(ib)->npages = 0;
	return ib_sg_to_pages(ib, sg, n, offset, vr_mr_set_page);
}

int vr_mr_register(struct vr_mr *mr, u32 key, int access)
{
	if (mr->umem || access & ~VR_ACCESS)
		return -EINVAL;
	return vr_mr_turn_on(mr, key, vr_rights(access) |
			     VIA_KERNEL_MEM_INVALIDATE);
}

bool vr_mr_invalidate(struct vr_dev *d, u32 key)
{
	struct via_kernel_mem *mem;
	bool done;

	rcu_read_lock();
	mem = via_kernel_mem_find(d->file, key);
	done = mem && via_kernel_mem_off(mem, key);
	rcu_read_unlock();
	return done;
}

int vr_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	vr_mr_free(vr_mr_of(ib));
	return 0;
}

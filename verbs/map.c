// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory that a program maps.
 *
 * What can be mapped belongs to the entry of the RDMA core, since mmap() of another
 * thread may be under way while its object is destroyed; the last reference frees it.
 */

#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/ib_verbs.h>
#include <rdma/siw-abi.h>
#include <rdma/uverbs_ioctl.h>
#include "map.h"

/*
 * Places in a program's map of the device, in pages.  libsiw takes SIW_INVAL_UOBJ_KEY for
 * an error, which as a place would be that of page 144: all are behind it.
 */
#define VR_MAP_FIRST	((SIW_INVAL_UOBJ_KEY >> PAGE_SHIFT) + 1)

struct vr_map {
	struct rdma_user_mmap_entry entry;
	void *addr;
};

static struct vr_map *vr_map_of(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct vr_map, entry);
}

int vr_buf_alloc(struct vr_buf *b, size_t len, struct ib_udata *udata, u64 *key)
{
	struct vr_ucontext *ctx =
		rdma_udata_to_drv_context(udata, struct vr_ucontext, ib);
	struct vr_map *m;

	b->map = NULL;
	b->addr = vmalloc_user(len);
	if (!b->addr)
		return -ENOMEM;
	if (!ctx)
		return 0;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		goto err;
	m->addr = b->addr;
	if (rdma_user_mmap_entry_insert_range(&ctx->ib, &m->entry,
					      PAGE_ALIGN(len), VR_MAP_FIRST,
					      U32_MAX))
		goto err;
	b->map = m;
	*key = rdma_user_mmap_get_offset(&m->entry);
	return 0;
err:
	kfree(m);
	vfree(b->addr);
	b->addr = NULL;
	return -ENOMEM;
}

void vr_buf_free(struct vr_buf *b)
{
	if (b->map)
		rdma_user_mmap_entry_remove(&b->map->entry);
	else
		vfree(b->addr);
	b->addr = NULL;
}

int vr_mmap(struct ib_ucontext *ctx, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int ret;

	entry = rdma_user_mmap_entry_get(ctx, vma);
	if (!entry)
		return -EINVAL;
	ret = remap_vmalloc_range(vma, vr_map_of(entry)->addr, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

void vr_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct vr_map *m = vr_map_of(entry);

	vfree(m->addr);
	kfree(m);
}

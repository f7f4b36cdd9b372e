// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Registered memory: handles, limits, what a program asks. */

#include <linux/net.h>
#include <linux/slab.h>
#include "dma.h"
#include "ledger.h"
#include "memory.h"
#include "ptag.h"
#include "vi.h"

static int via_mem_check_rights(struct via_file *f, u32 rights)
{
	if (rights & ~(VIA_RDMA_WRITE | VIA_RDMA_READ))
		return -EINVAL;
	if (rights & VIA_RDMA_READ && !f->nic->limits.rdma_read)
		return VIA_R_INVALID_RDMAREAD;
	return 0;
}

static int via_mem_check(struct via_file *f, const struct via_mem_register *a)
{
	const struct via_limits *lim = &f->nic->limits;
	u64 end;
	int ret;

	if (!a->len || a->len > lim->max_block_bytes ||
	    check_add_overflow(a->addr, a->len, &end) || end > TASK_SIZE)
		return VIA_R_INVALID_PARAMETER;
	ret = via_mem_check_rights(f, a->rights);
	if (ret)
		return ret;
	if (f->memory.count >= lim->max_regions ||
	    a->len > lim->max_register_bytes - f->memory.bytes)
		return VIA_R_ERROR_RESOURCE;
	return 0;
}

/* Where the data path finds the region of an index. */
static struct via_region **via_region_place(struct via_file *f, u32 index)
{
	struct via_region ***chunk;

	lockdep_assert_held(&f->mutex);
	chunk = &f->memory.dir[index / VIA_REGION_CHUNK];
	if (!*chunk)
		/* Pairs with the lookup's READ_ONCE: zeroed before published. */
		smp_store_release(chunk, kcalloc(VIA_REGION_CHUNK,
						 sizeof(**chunk),
						 GFP_KERNEL_ACCOUNT));
	return *chunk ? *chunk + index % VIA_REGION_CHUNK : NULL;
}

/* Give the region its handle; publishes it. */
static int via_region_publish(struct via_file *f, struct via_region *r)
{
	struct via_region **place;
	u32 index;
	int ret;

	ret = xa_alloc_cyclic(&f->memory.regions, &index, r,
			      XA_LIMIT(1, VIA_HANDLE_MASK), &f->memory.next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	if (ret == 1)
		f->memory.gen++;
	r->handle = f->memory.gen << VIA_HANDLE_BITS | index;
	place = via_region_place(f, index);
	if (!place) {
		xa_erase(&f->memory.regions, index);
		return -ENOMEM;
	}
	/* Pairs with the address dependency of the lookup: r is complete. */
	smp_store_release(place, r);
	return 0;
}

static struct via_region *via_region_alloc(struct via_file *f,
					   const struct via_mem_register *a)
{
	struct via_region *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);

	if (!r)
		return NULL;
	INIT_LIST_HEAD(&r->map_link);
	r->file = f;
	r->ptag = a->ptag;
	r->rights = a->rights;
	r->start = a->addr;
	r->len = a->len;
	r->npages = ((a->addr & ~PAGE_MASK) + a->len + PAGE_SIZE - 1) >>
		    PAGE_SHIFT;
	return r;
}

/* The region's place among the limits, and its tag, are taken. */
static int via_region_reserve(struct via_file *f,
			      const struct via_mem_register *arg)
{
	int ret = via_file_lock(f);

	if (ret)
		return ret;
	ret = via_mem_check(f, arg);
	if (!ret && !via_ptag_use(f, arg->ptag))
		ret = VIA_R_INVALID_PTAG;
	if (!ret) {
		f->memory.count++;
		f->memory.bytes += arg->len;
	}
	via_file_unlock(f);
	return ret;
}

static void via_region_unreserve(struct via_file *f, u32 ptag, u64 len)
{
	lockdep_assert_held(&f->mutex);
	f->memory.count--;
	f->memory.bytes -= len;
	via_ptag_unuse(f, ptag);
}

/*
 * It is complete: it may be used, if the handle still may.  Once the mutex is
 * dropped another thread may deregister it.
 */
static int via_region_enter(struct via_file *f, struct via_region *r,
			    u32 *handle)
{
	int ret;

	via_dma_map(f->nic, r);
	ret = via_file_lock(f);
	if (!ret) {
		if (via_region_publish(f, r))
			ret = VIA_R_ERROR_RESOURCE;
		else
			atomic_long_inc(&via_made.regions);
		*handle = r->handle;
		via_file_unlock(f);
	}
	return ret;
}

/*
 * Pages are pinned with no lock held.  So the handle is looked at twice: what
 * was reserved before they are is given back if it has ended meanwhile.
 */
int via_mem_register(struct via_file *f, struct via_mem_register *arg)
{
	struct via_region *r;
	int ret;

	arg->reason = VIA_REASON_NONE;
	ret = via_region_reserve(f, arg);
	if (ret)
		return ret;

	ret = VIA_R_ERROR_RESOURCE;
	r = via_region_alloc(f, arg);
	if (!r)
		goto err_reserved;
	ret = via_region_fill(f, r, arg);
	if (ret)
		goto err_free;
	ret = via_region_enter(f, r, &arg->handle);
	if (ret)
		goto err_unmap;
	return 0;

err_unmap:
	if (via_dma_unmap(f->nic, r))
		via_region_end(f, r);
	goto err_reserved;
err_free:
	via_region_free(r);
err_reserved:
	mutex_lock(&f->mutex);
	via_region_unreserve(f, arg->ptag, arg->len);
	via_file_unlock(f);
	return ret;
}

/* Wait until no queue of the file is in the middle of using a region. */
static void via_region_quiesce(struct via_file *f)
{
	struct via_vi *vi;

	list_for_each_entry(vi, &f->vis, link) {
		via_vi_lock(vi);
		via_vi_unlock(vi);
	}
}

static void via_region_destroy(struct via_file *f, struct via_region *r)
{
	u32 index = r->handle & VIA_HANDLE_MASK;

	WRITE_ONCE(*via_region_place(f, index), NULL);
	xa_erase(&f->memory.regions, index);
	via_region_quiesce(f);
	via_region_unreserve(f, r->ptag, r->len);
	if (via_dma_unmap(f->nic, r))
		via_region_end(f, r);
	atomic_long_inc(&via_gone.regions);
}

/* The program names a region by its start and its handle, both. */
static struct via_region *via_region_named(struct via_file *f, u64 addr,
					   u32 handle)
{
	struct via_region *r;

	lockdep_assert_held(&f->mutex);
	r = xa_load(&f->memory.regions, handle & VIA_HANDLE_MASK);
	return r && r->handle == handle && r->start == addr ? r : NULL;
}

int via_mem_deregister(struct via_file *f, u64 addr, u32 handle)
{
	struct via_region *r = via_region_named(f, addr, handle);

	if (!r)
		return VIA_R_INVALID_PARAMETER;
	via_region_destroy(f, r);
	return 0;
}

int via_mem_query(struct via_file *f, struct via_mem_attrs *arg)
{
	struct via_region *r;

	if (arg->reserved)
		return -EINVAL;
	r = via_region_named(f, arg->addr, arg->handle);
	if (!r)
		return VIA_R_INVALID_PARAMETER;
	arg->ptag = r->ptag;
	arg->rights = r->rights;
	return 0;
}

/*
 * The data path reads the tag and the rights one after the other, in any
 * order.  So that it never finds more than the old or the new attributes
 * allow, first the rights that go are gone everywhere, then the old tag.
 */
static void via_region_change(struct via_file *f, struct via_region *r,
			      u32 ptag, u32 rights)
{
	if (r->rights & ~rights) {
		WRITE_ONCE(r->rights, r->rights & rights);
		via_region_quiesce(f);
	}
	if (r->ptag != ptag) {
		WRITE_ONCE(r->ptag, ptag);
		via_region_quiesce(f);
	}
	WRITE_ONCE(r->rights, rights);
}

int via_mem_set(struct via_file *f, const struct via_mem_attrs *arg)
{
	struct via_region *r;
	u32 old;
	int ret;

	if (arg->reserved)
		return -EINVAL;
	r = via_region_named(f, arg->addr, arg->handle);
	if (!r)
		return VIA_R_INVALID_PARAMETER;
	ret = via_mem_check_rights(f, arg->rights);
	if (ret)
		return ret;
	if (!via_ptag_use(f, arg->ptag))
		return VIA_R_INVALID_PTAG;
	old = r->ptag;
	via_region_change(f, r, arg->ptag, arg->rights);
	via_ptag_unuse(f, old);
	return 0;
}

bool via_mem_next(struct via_file *f, u32 from, struct via_mem_view *view)
{
	unsigned long index = from;
	struct via_region *r;

	/* It is freed after it was erased, so not before the unlock. */
	xa_lock(&f->memory.regions);
	r = xa_find(&f->memory.regions, &index, ULONG_MAX, XA_PRESENT);
	if (r) {
		view->index = index;
		view->ptag = READ_ONCE(r->ptag);
		view->rights = READ_ONCE(r->rights);
		view->npages = r->npages;
		view->len = r->len;
	}
	xa_unlock(&f->memory.regions);
	return r;
}

void via_mem_destroy_all(struct via_file *f)
{
	struct via_region *r;
	unsigned long index;

	lockdep_assert_held(&f->mutex);
	xa_for_each(&f->memory.regions, index, r) {
		via_region_destroy(f, r);
		cond_resched();
	}
	xa_destroy(&f->memory.regions);
}

bool via_page_frags_add(struct via_page_frags *pages, struct page *page, u32 off,
			u32 len)
{
	void *at = page_address(page) + off;
	u32 n = pages->n;

	if (n && compound_head(pages->frag[n - 1].page) == compound_head(page) &&
	    page_address(pages->frag[n - 1].page) + pages->frag[n - 1].off +
	    pages->frag[n - 1].len == at) {
		pages->frag[n - 1].len += len;
		return true;
	}
	/* A page of the slab allocator may be another object's before it is gone. */
	if (unlikely(n == VIA_PAGE_FRAGS_MAX || !sendpage_ok(page)))
		return false;
	get_page(page);
	pages->frag[n].page = page;
	pages->frag[n].off = off;
	pages->frag[n].len = len;
	pages->n++;
	return true;
}

void via_page_frags_put(struct via_page_frags *pages)
{
	while (pages->n)
		put_page(pages->frag[--pages->n].page);
}
EXPORT_SYMBOL_GPL(via_page_frags_put);

bool via_region_pages(const struct via_region *r, u64 addr, u32 len,
		      struct via_page_frags *pages)
{
	u64 off = addr - (r->start & PAGE_MASK);
	u32 n;

	for (; len; len -= n, off += n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(off));
		if (!via_page_frags_add(pages, r->pages[via_region_page(r, off)],
					offset_in_page(off), n))
			return false;
	}
	return true;
}

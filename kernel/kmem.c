// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory of consumers in the kernel.
 *
 *  1. A piece is found by RCU and used under its own lock, so that turning it off,
 *     which a consumer does in the middle of its work queue, waits for the copy of one
 *     frame at most and not for a grace period.
 *  2. Handles are drawn at random: a peer names memory by nothing else.
 *  3. The lock is inside of queue locks, and only one is ever held.
 */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "engine.h"
#include "file.h"
#include "kmem.h"
#include "memory.h"
#include "ptag.h"

#define VIA_KMEM_KEY_BITS	8
#define VIA_KMEM_INDEXES	(1u << (32 - VIA_KMEM_KEY_BITS))
#define VIA_KMEM_DRAWS		64	/* of a handle that is free */

/**
 * struct via_kernel_mem - a piece of memory
 * @r:		lock, but for what is constant: its tag, @pages and its file
 * @on:		lock: it can be used
 * @lock:	held while bytes are copied, inside of queue locks; so what was
 *		turned off is in use nowhere
 * @most:	constant: room in @pages
 * @rcu:	frees it
 * @pages:	lock: those of @r
 */
struct via_kernel_mem {
	struct via_region r;
	bool on;
	spinlock_t lock;
	u32 most;
	struct rcu_head rcu;
	struct page *pages[];
};

static u32 via_kmem_index(u32 handle)
{
	return handle >> VIA_KMEM_KEY_BITS;
}

u32 via_kernel_mem_handle(const struct via_kernel_mem *m)
{
	return READ_ONCE(m->r.handle);
}
EXPORT_SYMBOL_GPL(via_kernel_mem_handle);

struct via_kernel_mem *via_kernel_mem_find(struct via_file *f, u32 handle)
{
	return xa_load(&f->kmem, via_kmem_index(handle));
}
EXPORT_SYMBOL_GPL(via_kernel_mem_find);

/* A random index that is free.  file->mutex held. */
static int via_kmem_publish(struct via_file *f, struct via_kernel_mem *m)
{
	u32 i, index;
	void *old;

	lockdep_assert_held(&f->mutex);
	for (i = 0; i < VIA_KMEM_DRAWS; i++) {
		index = get_random_u32() % VIA_KMEM_INDEXES;
		/* 0 is all memory, for the consumer itself. */
		if (!index || xa_load(&f->kmem, index))
			continue;
		m->r.handle = index << VIA_KMEM_KEY_BITS;
		old = xa_store(&f->kmem, index, m, GFP_KERNEL);
		return xa_err(old);
	}
	return -ENOMEM;
}

struct via_kernel_mem *via_kernel_mem_make(struct via_file *f, u32 ptag,
					   u32 pages)
{
	struct via_kernel_mem *m;
	int ret;

	m = kvzalloc(struct_size(m, pages, pages), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&m->lock);
	m->most = pages;
	m->r.pages = m->pages;
	m->r.ptag = ptag;
	m->r.file = f;
	mutex_lock(&f->mutex);
	ret = f->dead ? -ENXIO : 0;
	if (!ret && pages > f->kernel_most.pages - f->kernel_pages)
		ret = -EDQUOT;
	if (!ret && !via_ptag_use(f, ptag))
		ret = -EINVAL;
	if (!ret) {
		ret = via_kmem_publish(f, m);
		if (ret)
			via_ptag_unuse(f, ptag);
		else
			f->kernel_pages += pages;
	}
	via_file_unlock(f);
	if (!ret)
		return m;
	kvfree(m);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(via_kernel_mem_make);

/* Whatever its handle. */
static void via_kmem_off(struct via_kernel_mem *m)
{
	spin_lock_bh(&m->lock);
	m->on = false;
	spin_unlock_bh(&m->lock);
}

static void via_kmem_unpublish(struct via_kernel_mem *m)
{
	struct via_file *f = m->r.file;

	lockdep_assert_held(&f->mutex);
	via_kmem_off(m);
	xa_erase(&f->kmem, via_kmem_index(m->r.handle));
	via_ptag_unuse(f, m->r.ptag);
	f->kernel_pages -= m->most;
	kvfree_rcu(m, rcu);
}

void via_kernel_mem_free(struct via_kernel_mem *m)
{
	struct via_file *f = m->r.file;

	mutex_lock(&f->mutex);
	via_kmem_unpublish(m);
	via_file_unlock(f);
}
EXPORT_SYMBOL_GPL(via_kernel_mem_free);

void via_kmem_destroy_all(struct via_file *f)
{
	struct via_kernel_mem *m;
	unsigned long i;

	xa_for_each(&f->kmem, i, m)
		via_kmem_unpublish(m);
}

static int via_kmem_check_span(const struct via_kernel_mem *m,
			       const struct via_kernel_span *s)
{
	u64 end;

	if (via_kmem_index(s->handle) != via_kmem_index(m->r.handle) ||
	    s->rights & ~(VIA_RDMA_WRITE | VIA_RDMA_READ |
			  VIA_KERNEL_MEM_STORE | VIA_KERNEL_MEM_INVALIDATE) ||
	    check_add_overflow(s->start, s->len, &end))
		return -EINVAL;
	if (s->npages > m->most)
		return -ENOSPC;
	return (u64)s->npages << PAGE_SHIFT <
	       (s->start & ~PAGE_MASK) + s->len ? -EINVAL : 0;
}

int via_kernel_mem_on(struct via_kernel_mem *m,
		      const struct via_kernel_span *span)
{
	int ret = via_kmem_check_span(m, span);

	if (ret)
		return ret;
	spin_lock_bh(&m->lock);
	if (m->on) {
		ret = -EBUSY;
	} else {
		WRITE_ONCE(m->r.handle, span->handle);
		m->r.rights = span->rights;
		m->r.start = span->start;
		m->r.len = span->len;
		m->r.npages = span->npages;
		memcpy(m->pages, span->pages,
		       array_size(span->npages, sizeof(*m->pages)));
		m->on = true;
	}
	spin_unlock_bh(&m->lock);
	return ret;
}
EXPORT_SYMBOL_GPL(via_kernel_mem_on);

bool via_kernel_mem_off(struct via_kernel_mem *m, u32 handle)
{
	bool was;

	spin_lock_bh(&m->lock);
	was = m->on && m->r.handle == handle;
	if (was)
		m->on = false;
	spin_unlock_bh(&m->lock);
	return was;
}
EXPORT_SYMBOL_GPL(via_kernel_mem_off);

static bool via_kmem_of_vi(const struct via_vi *vi,
			   const struct via_kernel_mem *m)
{
	return !vi->attrs.ptag || vi->attrs.ptag == m->r.ptag;
}

bool via_kernel_mem_invalidate(struct via_vi *vi, u32 handle)
{
	struct via_kernel_mem *m;
	bool was = false;

	rcu_read_lock();
	m = via_kernel_mem_find(vi->file, handle);
	if (m) {
		spin_lock_bh(&m->lock);
		was = m->on && m->r.handle == handle && via_kmem_of_vi(vi, m) &&
		      m->r.rights & VIA_KERNEL_MEM_INVALIDATE;
		if (was)
			m->on = false;
		spin_unlock_bh(&m->lock);
	}
	rcu_read_unlock();
	return was;
}
EXPORT_SYMBOL_GPL(via_kernel_mem_invalidate);

static u32 via_kmem_right(const struct via_kmem_use *use)
{
	if (use->remote)
		return use->store ? VIA_RDMA_WRITE : VIA_RDMA_READ;
	return use->store ? VIA_KERNEL_MEM_STORE : 0;
}

/* May this VI do that with it?  m->lock held. */
static bool via_kmem_may(const struct via_vi *vi,
			 const struct via_kernel_mem *m,
			 const struct via_kmem_use *use)
{
	u32 right = via_kmem_right(use);

	return m->on && m->r.handle == use->handle &&
	       via_kmem_of_vi(vi, m) &&
	       (m->r.rights & right) == right &&
	       via_region_covers(&m->r, use->addr, use->len);
}

static bool via_kmem_use(struct via_vi *vi, const struct via_kmem_use *use,
			 void *buf)
{
	struct via_kernel_mem *m;
	bool ok = false;

	rcu_read_lock();
	m = via_kernel_mem_find(vi->file, use->handle);
	if (m) {
		spin_lock(&m->lock);
		ok = via_kmem_may(vi, m, use);
		if (ok && buf)
			via_region_copy(&m->r, use->addr, buf, use->len,
					use->store);
		spin_unlock(&m->lock);
	}
	rcu_read_unlock();
	return ok;
}

/* Memory of the kernel, by its own address. */
static void via_kmem_copy_own(const struct via_kmem_use *use, void *buf)
{
	void *p = (void *)(uintptr_t)use->addr;

	if (use->store)
		via_copy_in(p, buf, use->len);
	else
		memcpy(buf, p, use->len);
}

enum via_status via_kmem_copy(struct via_vi *vi, const struct via_kmem_use *use,
			      void *buf)
{
	if (!vi->kernel)
		return use->remote ? VIA_ST_RDMA_PROT_ERROR :
				     VIA_ST_PROTECTION_ERROR;
	/* RDMA of no bytes names no memory. */
	if (use->remote && (!(vi->attrs.rights & via_kmem_right(use)) ||
			    (use->len && !via_kmem_use(vi, use, buf))))
		return VIA_ST_RDMA_PROT_ERROR;
	if (use->remote || !use->len)
		return 0;
	if (use->handle == VIA_KERNEL_MEM_ALL) {
		if (buf)
			via_kmem_copy_own(use, buf);
		return 0;
	}
	return via_kmem_use(vi, use, buf) ? 0 : VIA_ST_PROTECTION_ERROR;
}

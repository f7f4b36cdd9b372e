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
#include <linux/rculist.h>
#include <linux/slab.h>
#include "engine.h"
#include "file.h"
#include "kmem.h"
#include "memory.h"
#include "ptag.h"

#define VIA_KMEM_KEY_BITS	8
#define VIA_KMEM_INDEXES	(1u << (32 - VIA_KMEM_KEY_BITS))
#define VIA_KMEM_DRAWS		64	/* of a handle that is free */
/* Lists by the index's low bits, 128 KiB: with 64k pieces, a look-up meets four. */
#define VIA_KMEM_LISTS		16384u

/**
 * struct via_kernel_mem - a piece of memory
 * @r:		lock, but for what is constant: its tag, @pages and its file
 * @on:		lock: it can be used
 * @lock:	held while bytes are copied, inside of queue locks; so what was
 *		turned off is in use nowhere
 * @most:	constant: room in @pages
 * @node:	file->mutex to write, RCU to read: in file->kmem
 * @rcu:	frees it
 * @pages:	lock: those of @r
 */
struct via_kernel_mem {
	struct via_region r;
	bool on;
	spinlock_t lock;
	u32 most;
	struct hlist_node node;
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

int via_kmem_init(struct via_file *f)
{
	f->kmem = kvcalloc(VIA_KMEM_LISTS, sizeof(*f->kmem), GFP_KERNEL);
	return f->kmem ? 0 : -ENOMEM;
}

static struct hlist_head *via_kmem_list(struct via_file *f, u32 index)
{
	return &f->kmem[index % VIA_KMEM_LISTS];
}

static __always_inline struct via_kernel_mem *via_kmem_find(struct via_file *f,
							    u32 handle)
{
	u32 index = via_kmem_index(handle);
	struct via_kernel_mem *m;

	hlist_for_each_entry_rcu(m, via_kmem_list(f, index), node)
		if (via_kmem_index(via_kernel_mem_handle(m)) == index)
			return m;
	return NULL;
}

struct via_kernel_mem *via_kernel_mem_find(struct via_file *f, u32 handle)
{
	return via_kmem_find(f, handle);
}
EXPORT_SYMBOL_GPL(via_kernel_mem_find);

/* A random index that is free.  file->mutex held. */
static int via_kmem_publish(struct via_file *f, struct via_kernel_mem *m)
{
	u32 i, index;
	bool taken;

	lockdep_assert_held(&f->mutex);
	for (i = 0; i < VIA_KMEM_DRAWS; i++) {
		index = get_random_u32() % VIA_KMEM_INDEXES;
		/* 0 is all memory, for the consumer itself. */
		m->r.handle = index << VIA_KMEM_KEY_BITS;
		rcu_read_lock();
		taken = !index || via_kernel_mem_find(f, m->r.handle);
		rcu_read_unlock();
		if (taken)
			continue;
		hlist_add_head_rcu(&m->node, via_kmem_list(f, index));
		return 0;
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
	hlist_del_rcu(&m->node);
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
	struct hlist_node *n;
	u32 i;

	for (i = 0; f->kmem && i < VIA_KMEM_LISTS; i++)
		hlist_for_each_entry_safe(m, n, &f->kmem[i], node)
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

/* Is it on, by that handle, for that VI, with those rights?  m->lock held. */
static bool via_kmem_allows(const struct via_vi *vi,
			    const struct via_kernel_mem *m, u32 handle,
			    u32 rights)
{
	return m->on && m->r.handle == handle &&
	       (!vi->attrs.ptag || vi->attrs.ptag == m->r.ptag) &&
	       (m->r.rights & rights) == rights;
}

bool via_kernel_mem_invalidate(struct via_vi *vi, u32 handle)
{
	struct via_kernel_mem *m;
	bool was = false;

	rcu_read_lock();
	m = via_kernel_mem_find(vi->file, handle);
	if (m) {
		spin_lock_bh(&m->lock);
		was = via_kmem_allows(vi, m, handle,
				      VIA_KERNEL_MEM_INVALIDATE);
		if (was)
			m->on = false;
		spin_unlock_bh(&m->lock);
	}
	rcu_read_unlock();
	return was;
}
EXPORT_SYMBOL_GPL(via_kernel_mem_invalidate);

/* May so many bytes of a segment be used so?  m->lock held. */
static bool via_kmem_good(const struct via_vi *vi, const struct via_kernel_mem *m,
			  const struct via_seg *seg, u32 off, u32 len, u32 right)
{
	return via_kmem_allows(vi, m, seg->handle, right) &&
	       via_region_covers(&m->r, seg->addr + off, len);
}

/* A queue lock is held, so this is a read side of RCU. */
static bool via_kmem_use(struct via_vi *vi, const struct via_seg *seg, u32 off,
			 u32 len, void *buf, u32 right)
{
	bool ok, store = right & (VIA_RDMA_WRITE | VIA_KERNEL_MEM_STORE);
	struct via_kernel_mem *m = via_kmem_find(vi->file, seg->handle);

	if (unlikely(!m))
		return false;
	spin_lock(&m->lock);
	ok = via_kmem_good(vi, m, seg, off, len, right);
	if (likely(ok) && buf)
		via_region_copy(&m->r, seg->addr + off, buf, len, store);
	spin_unlock(&m->lock);
	return ok;
}

/* Memory of the kernel, by its own address. */
static void via_kmem_copy_own(u64 addr, u32 len, void *buf, bool store)
{
	void *p = (void *)(uintptr_t)addr;

	if (store)
		via_copy_in(p, buf, len);
	else
		memcpy(buf, p, len);
}

enum via_status via_kmem_move(struct via_vi *vi, const struct via_seg *seg,
			      u32 off, u32 len, void *buf, bool store)
{
	if (!vi->kernel)
		return VIA_ST_PROTECTION_ERROR;
	if (!len)
		return 0;
	if (seg->handle == VIA_KERNEL_MEM_ALL) {
		if (buf)
			via_kmem_copy_own(seg->addr + off, len, buf, store);
		return 0;
	}
	return via_kmem_use(vi, seg, off, len, buf,
			    store ? VIA_KERNEL_MEM_STORE : 0) ?
	       0 : VIA_ST_PROTECTION_ERROR;
}

enum via_status via_kmem_serve(struct via_vi *vi, const struct via_seg *seg,
			       void *buf, bool store)
{
	u32 right = store ? VIA_RDMA_WRITE : VIA_RDMA_READ;

	if (!vi->kernel || !(vi->attrs.rights & right))
		return VIA_ST_RDMA_PROT_ERROR;
	/* RDMA of no bytes names no memory. */
	return !seg->len || via_kmem_use(vi, seg, 0, seg->len, buf, right) ?
	       0 : VIA_ST_RDMA_PROT_ERROR;
}

/* Of the kernel's linear memory; other memory is not named so. */
static bool via_kmem_pages_own(u64 addr, u32 len, struct via_page_frags *pages)
{
	u32 n;

	for (; len; len -= n, addr += n) {
		n = min_t(u32, len, PAGE_SIZE - offset_in_page(addr));
		if (is_vmalloc_addr((void *)(uintptr_t)addr) ||
		    !via_page_frags_add(pages,
					virt_to_page((void *)(uintptr_t)addr),
					offset_in_page(addr), n))
			return false;
	}
	return true;
}

bool via_kmem_pages(struct via_vi *vi, const struct via_seg *seg, u32 off, u32 len,
		    bool peer, struct via_page_frags *pages)
{
	u32 right = peer ? VIA_RDMA_READ : 0;
	struct via_kernel_mem *m;
	bool ok;

	if (!vi->kernel || (vi->attrs.rights & right) != right)
		return false;
	if (!peer && seg->handle == VIA_KERNEL_MEM_ALL)
		return via_kmem_pages_own(seg->addr + off, len, pages);
	m = via_kmem_find(vi->file, seg->handle);
	if (unlikely(!m))
		return false;
	spin_lock(&m->lock);
	ok = via_kmem_good(vi, m, seg, off, len, right) &&
	     via_region_pages(&m->r, seg->addr + off, len, pages);
	spin_unlock(&m->lock);
	return ok;
}

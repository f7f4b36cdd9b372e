// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The area that a VI shares with its program: one mapping of VIA_AREA_SIZE, of which
 * the pages are there that its rings need.
 *
 *  1. The first page is there from the beginning.  It has the state, the indexes and
 *     rings of VIA_VI_FEW slots.  A longer ring lies where it would in an area of
 *     VIA_QUEUE_ENTRIES, whatever its length.
 *  2. A ring only becomes longer, and a page that is there stays until the VI's shared
 *     part goes.  Whoever finds a page under RCU, or holds that part, may use it.
 *  3. A program that touches a page that is not there gets SIGBUS.  One that comes is
 *     in all of its mappings, each at its first touch (via_area_fault()).
 *  4. What the agent knows of a ring is in struct via_queue, not in the area; it changes
 *     under the queue's lock and that of its CQ (queue.c, 5).  So whatever a program
 *     writes, and when, selects a slot of its own ring, no other memory.
 *  5. area_mutex lets one queue of a VI grow at a time.  Memory and quota are taken
 *     before the queue's lock.  Where growing fails they are given back, and neither
 *     the ring nor a page has changed.
 *  6. The agent's mapping of a ring that was replaced goes when the locks are dropped:
 *     all who read a ring hold one of them, and read its address under it.
 *
 *  event                              function
 *  a VI is made, or goes              via_area_alloc(), via_area_free()
 *  the program maps it                via_area_mmap()
 *  it touches a page                  via_area_fault()
 *  it wants to post more              via_area_grow()
 */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "area.h"
#include "cq.h"
#include "file.h"
#include "quota.h"
#include "vi.h"

#define VIA_AREA_PAGES	(VIA_AREA_SIZE >> PAGE_SHIFT)
/* Slots of a ring outside the first page, at least: a page. */
#define VIA_AREA_LEAST	64u
/* Pages of a queue's slots and words; each may begin and end within a page. */
#define VIA_RING_PAGES	(VIA_QUEUE_ENTRIES * 80 / PAGE_SIZE + 2)

/**
 * struct via_area - pages of the area
 * @charged:	area_mutex: of them, those that the user's quota knows: all but the first
 * @page:	area_mutex to write: NULL where none is
 */
struct via_area {
	u32 charged;
	struct page *page[VIA_AREA_PAGES];
};

/**
 * struct via_growth - a longer ring, until it is its queue's
 * @n:		pages
 * @fresh:	of them, how many were not there before
 * @at:		place of each in the area
 * @page:	each
 * @map:	all, one behind the other
 * @ring:	in them
 */
struct via_growth {
	u32 n;
	u32 fresh;
	u32 at[VIA_RING_PAGES];
	struct page *page[VIA_RING_PAGES];
	void *map;
	struct via_ring ring;
};

struct via_vi_shared *via_area_alloc(struct via_area **areap)
{
	struct via_area *area;

	BUILD_BUG_ON(sizeof(struct via_vi_shared) > VIA_VI_FEW_SEND_SLOTS);
	BUILD_BUG_ON(VIA_VI_FEW_RECV_COMP +
		     VIA_VI_FEW * sizeof(struct via_completion) >
		     VIA_VI_HDR_SIZE);

	area = kzalloc(sizeof(*area), GFP_KERNEL_ACCOUNT);
	if (!area)
		return NULL;
	area->page[0] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!area->page[0]) {
		kfree(area);
		return NULL;
	}
	*areap = area;
	/* Every page of this kind has an address. */
	return page_address(area->page[0]);
}

void via_area_free(struct via_vi *vi)
{
	struct via_area *area = vi->area;
	u32 i, n = area->charged;

	if (n) {
		vunmap(vi->sq.map);
		vunmap(vi->rq.map);
		via_quota_uncharge(vi->file->quota, VIA_QUOTA_VI_PAGES, n);
	}
	/* A page that the program still maps goes with its mapping. */
	__free_page(area->page[0]);
	for (i = 1; n; i++) {
		if (area->page[i]) {
			__free_page(area->page[i]);
			n--;
		}
	}
	kfree(area);
	vi->area = NULL;
}

/* (2), (3): a VI that is gone, or another one at its index, has none for it. */
static vm_fault_t via_area_fault(struct vm_fault *vmf)
{
	struct via_file *f = vmf->vma->vm_file->private_data;
	u32 id = (uintptr_t)vmf->vma->vm_private_data;
	struct page *page = NULL;
	struct via_vi *vi;

	rcu_read_lock();
	vi = via_vi_lookup(f->nic, id & 0xffff);
	if (vi && vi->id == id && vi->file == f && vmf->pgoff < VIA_AREA_PAGES)
		/* Pairs with the store-release of one that comes. */
		page = smp_load_acquire(&vi->area->page[vmf->pgoff]);
	if (page)
		get_page(page);
	rcu_read_unlock();
	vmf->page = page;
	return page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct via_area_vm_ops = {
	.fault		= via_area_fault,
};

int via_area_mmap(struct via_vi *vi, struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != VIA_AREA_SIZE ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_MIXEDMAP | VM_DONTCOPY | VM_DONTEXPAND |
			  VM_DONTDUMP);
	/* via_area_fault() takes the offset for a page's place in the area. */
	vma->vm_pgoff = 0;
	vma->vm_private_data = (void *)(uintptr_t)vi->id;
	vma->vm_ops = &via_area_vm_ops;
	/* The page that each post and each look wants; the others by faults. */
	return vm_insert_page(vma, vma->vm_start, vi->area->page[0]);
}

/* @bytes at an offset of the area; returns where in the mapping they will be. */
static size_t via_growth_add(struct via_growth *g, struct via_area *area,
			     size_t offset, size_t bytes)
{
	u32 i = offset >> PAGE_SHIFT, last = (offset + bytes - 1) >> PAGE_SHIFT;
	/* The words may begin in the page in which the slots end. */
	bool same = g->n && g->at[g->n - 1] == i;
	size_t at = (g->n - same) * PAGE_SIZE + offset_in_page(offset);

	for (i += same; i <= last; i++) {
		g->at[g->n] = i;
		g->page[g->n++] = area->page[i];
		g->fresh += !area->page[i];
	}
	return at;
}

static void via_growth_free(struct via_growth *g, struct via_area *area)
{
	u32 i;

	vunmap(g->map);
	kfree(g->ring.loaded);
	for (i = 0; i < g->n; i++)
		if (g->page[i] && !area->page[g->at[i]])
			__free_page(g->page[i]);
	kfree(g);
}

/* Pages, the agent's mapping of them, room for loaded sends; false: no memory. */
static bool via_growth_fill(struct via_growth *g, bool loads)
{
	u32 i;

	if (loads) {
		g->ring.loaded = kcalloc(VIA_INFLIGHT, sizeof(*g->ring.loaded),
					 GFP_KERNEL_ACCOUNT);
		if (!g->ring.loaded)
			return false;
	}

	for (i = 0; i < g->n; i++) {
		if (g->page[i])
			continue;
		g->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!g->page[i])
			return false;
	}
	g->map = vmap(g->page, g->n, VM_MAP, PAGE_KERNEL);
	return g->map;
}

/* A ring of that many slots; NULL: no memory, or with @ret the quota. */
static struct via_growth *via_growth_alloc(struct via_vi *vi,
					   const struct via_queue *q,
					   u32 entries, int *ret)
{
	bool recv = q->recv, loads = !recv && q->ring_mask < VIA_INFLIGHT - 1;
	size_t slots = recv ? VIA_VI_RECV_SLOTS(VIA_QUEUE_ENTRIES) :
			      VIA_VI_SEND_SLOTS;
	size_t comp = recv ? VIA_VI_RECV_COMP(VIA_QUEUE_ENTRIES) :
			     VIA_VI_SEND_COMP(VIA_QUEUE_ENTRIES);
	struct via_quota *quota = vi->file->quota;
	struct via_growth *g;

	*ret = VIA_R_ERROR_RESOURCE;
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return NULL;
	slots = via_growth_add(g, vi->area, slots,
			       entries * sizeof(struct via_slot));
	comp = via_growth_add(g, vi->area, comp,
			      entries * sizeof(struct via_completion));
	if (!via_quota_charge(quota, VIA_QUOTA_VI_PAGES, g->fresh)) {
		*ret = -EDQUOT;
		kfree(g);
		return NULL;
	}
	if (!via_growth_fill(g, loads)) {
		via_quota_uncharge(quota, VIA_QUOTA_VI_PAGES, g->fresh);
		via_growth_free(g, vi->area);
		return NULL;
	}
	g->ring.entries = entries;
	g->ring.slots = g->map + slots;
	g->ring.comp = g->map + comp;
	return g;
}

/* False: the VI is being destroyed. */
static bool via_area_switch(struct via_vi *vi, struct via_queue *q,
			    struct via_growth *g)
{
	struct page **page = vi->area->page;
	bool dead;
	u32 i;

	spin_lock_bh(&q->lock);
	dead = q->dead;
	if (!dead)
		via_queue_lengthen(q, &g->ring);
	spin_unlock_bh(&q->lock);
	if (dead)
		return false;
	for (i = 0; i < g->n; i++)
		/* Pairs with the load-acquire of a fault. */
		smp_store_release(&page[g->at[i]], g->page[i]);
	vi->area->charged += g->fresh;
	/* (6) */
	swap(q->map, g->map);
	return true;
}

/* area_mutex held. */
static int via_area_grow_locked(struct via_vi *vi, struct via_queue *q,
				u32 entries)
{
	struct via_growth *g;
	int ret;

	lockdep_assert_held(&vi->area_mutex);
	if (entries <= q->entries)
		return 0;
	/* A page of slots, at least. */
	entries = max_t(u32, roundup_pow_of_two(entries), VIA_AREA_LEAST);
	g = via_growth_alloc(vi, q, entries, &ret);
	if (!g)
		return ret;
	ret = 0;
	if (!via_area_switch(vi, q, g)) {
		via_quota_uncharge(vi->file->quota, VIA_QUOTA_VI_PAGES,
				   g->fresh);
		ret = VIA_R_INVALID_PARAMETER;
	}
	via_growth_free(g, vi->area);
	return ret;
}

int via_area_grow(struct via_vi *vi, bool recv, u32 entries)
{
	int ret;

	if (mutex_lock_killable(&vi->area_mutex))
		return -EINTR;
	ret = via_area_grow_locked(vi, recv ? &vi->rq : &vi->sq, entries);
	mutex_unlock(&vi->area_mutex);
	return ret;
}

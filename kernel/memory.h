/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered memory: pinned, accounted, checked on every use.  int is a call's
 * result, VIA_R_* or -errno; the other conventions are in via_ka.h.
 */
#ifndef _VIA_MEMORY_H
#define _VIA_MEMORY_H

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include "file.h"

/**
 * struct via_region - one registration
 *
 * Found and used only under a queue lock of a VI of the same file, and never
 * kept beyond it.  So deregistering unlinks, then takes and drops those locks
 * once: no use is left, at no cost to the data path.  Tag and rights may be
 * set in the same way: each is one word, written under file->mutex, and the
 * old value is in use nowhere once those locks were taken and dropped.
 *
 * @handle:	constant
 * @ptag:	file->mutex to write, a queue lock to read: 0 is the default tag
 * @rights:	file->mutex to write, a queue lock to read: VIA_RDMA_*
 * @npages:	constant
 * @start:	constant: the program's address
 * @len:	constant: bytes
 * @pages:	constant: pinned pages
 * @map:	where they are for DMA
 * @file:	constant: the owner
 * @map_link:	nic->dma.lock: on nic->dma.maps while mapped
 * @mapped:	@map is not empty: set before the region is published, cleared
 *		by the one that unmaps it, last of all
 * @orphan:	nic->dma.lock: deregistered while it was being unmapped by the
 *		end of the device, with a reference to @file
 */
struct via_region {
	u32 handle;
	u32 ptag;
	u32 rights;
	u32 npages;
	u64 start;
	u64 len;
	struct page **pages;
	struct via_mem_map map;
	struct via_file *file;
	struct list_head map_link;
	bool mapped;
	bool orphan;
};

/*
 * No lock held: to pin is to wait for what a program can hold back.  The other
 * calls want file->mutex.
 */
int via_mem_register(struct via_file *f, struct via_mem_register *arg);
int via_mem_deregister(struct via_file *f, u64 addr, u32 handle);
int via_mem_query(struct via_file *f, struct via_mem_attrs *arg);
int via_mem_set(struct via_file *f, const struct via_mem_attrs *arg);
void via_mem_destroy_all(struct via_file *f);
/*
 * Charge, take memory and pin: a call's result; why it failed is in @arg.  Sleeps,
 * no lock held.  end: unpin and free a region that nothing uses any more, free:
 * one that was not filled.  No lock need be held.
 */
int via_region_fill(struct via_file *f, struct via_region *r,
		    struct via_mem_register *arg);
void via_region_free(struct via_region *r);
void via_region_end(struct via_file *f, struct via_region *r);

/**
 * struct via_mem_view - a region as an administrator is told of it
 * @index:	its handle without the generation, which no descriptor may use
 * @ptag:	its tag
 * @rights:	VIA_RDMA_*
 * @npages:	pinned
 * @len:	bytes
 */
struct via_mem_view {
	u32 index;
	u32 ptag;
	u32 rights;
	u32 npages;
	u64 len;
};

/*
 * The first region with an index of @from or more; false: there is none.
 * Process context; file->mutex need not be held, and is not waited for.
 */
bool via_mem_next(struct via_file *f, u32 from, struct via_mem_view *view);

/* A live region by handle, or NULL.  A queue lock of the file is held. */
static inline struct via_region *via_region_find(struct via_file *f,
						 u32 handle)
{
	u32 index = handle & VIA_HANDLE_MASK;
	struct via_region **chunk;
	struct via_region *r;

	chunk = READ_ONCE(f->memory.dir[index / VIA_REGION_CHUNK]);
	if (unlikely(!chunk))
		return NULL;
	r = READ_ONCE(chunk[index % VIA_REGION_CHUNK]);
	return likely(r && r->handle == handle) ? r : NULL;
}

/* Does addr..addr+len lie inside?  Safe for any values. */
static inline bool via_region_covers(const struct via_region *r, u64 addr,
				     u64 len)
{
	u64 off = addr - r->start;

	return off <= r->len && len <= r->len - off;
}

/* Index of the page of a byte that was checked; not beyond it, in speculation. */
static inline u32 via_region_page(const struct via_region *r, u64 off)
{
	return array_index_nospec(off >> PAGE_SHIFT, r->npages);
}

/*
 * Kernel address of a byte of the region; *n is cut to what is contiguous
 * there.  64-bit kernels only, so every page has an address.
 */
static inline void *via_region_addr(const struct via_region *r, u64 addr,
				    u32 *n)
{
	u64 off = addr - (r->start & PAGE_MASK);
	u32 in_page = off & ~PAGE_MASK;

	*n = min_t(u32, *n, PAGE_SIZE - in_page);
	return page_address(r->pages[via_region_page(r, off)]) + in_page;
}

/*
 * Add a piece of a page, with a reference, behind the last one or to it.  False: there
 * are too many, or the page cannot be held by a reference.
 */
bool via_page_frags_add(struct via_page_frags *pages, struct page *page, u32 off,
			u32 len);
/* The same of what lies at @addr of a region that was checked. */
bool via_region_pages(const struct via_region *r, u64 addr, u32 len,
		      struct via_page_frags *pages);

/* Bus address of a byte of a mapped region, likewise. */
static inline dma_addr_t via_region_dma(const struct via_region *r, u64 addr,
					u32 *n)
{
	u64 off = addr - (r->start & PAGE_MASK);
	u32 in_page = off & ~PAGE_MASK;
	const struct via_mem_map *map = &r->map;

	*n = min_t(u32, *n, PAGE_SIZE - in_page);
	off = via_region_page(r, off);
	return in_page + (unlikely(map->dma) ? map->dma[off] :
			  page_to_phys(r->pages[off]) + map->bias);
}

#endif

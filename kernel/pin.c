// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Pages of regions: pinned, charged.
 *
 * Pages are pinned for writing and for long, whatever the rights of the
 * region, so that one rule holds for every kernel: what cannot be written by
 * the program (or belongs to a file system or a device) cannot be registered.
 * Pins are charged to RLIMIT_MEMLOCK of the owner's address space and to a
 * total per user.
 *
 *  1. What is there is pinned without a lock (pin_user_pages_fast()), a huge page at
 *     once.  FOLL_NOFAULT: no page is waited for, whoever would bring it (FUSE,
 *     userfaultfd, swap), and what is not there is left to the slow way.
 *  2. Mappings are looked at under mmap_lock, which is dropped before (1).  A program
 *     may put another mapping in between (munmap(), mmap(), mremap()), so what was
 *     pinned is judged by itself: anonymous pages stay pinned.  Those are memory of
 *     this process alone, wherever they were mapped.  Others are unpinned, and the
 *     slow way judges their mapping and pins under one hold of mmap_lock.
 *  3. Only a page that may be written at that moment is pinned without a lock, so it
 *     is no page that fork() or KSM shares.  A fork() at the same time is seen by the
 *     kernel (mm->write_protect_seq), and a later one copies what is pinned.
 *  4. A page that is pinned is not moved, its huge page is not split, and it stays
 *     the region's after its mapping has gone.
 *  5. Pins are of single pages, whatever huge page they belong to, and are counted in
 *     pages: by kernel, limits and ledger.  A huge page may be mapped in part, and
 *     a part of it registered.
 *  6. mm->mmap_lock is the only lock held here.  A program can hold it; what waits
 *     for it is its own call, which holds nothing that others want.
 */

#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/userfaultfd_k.h>
#include "ledger.h"
#include "memory.h"
#include "quota.h"

/* What a mapping is to registration. */
enum via_vma_kind {
	VIA_VMA_REFUSED,
	VIA_VMA_ANON,
	VIA_VMA_MEMORY,		/* shmem, hugetlb */
	VIA_VMA_FILE,		/* private, of a file: the copy is memory */
};

/*
 * Writable, and neither a device nor a file that is shared.  Not what a
 * userfaultfd brings: mmap_lock is held while the program would be waited for.
 */
static enum via_vma_kind via_kind_of_vma(struct vm_area_struct *vma)
{
	unsigned long magic;

	if (!(vma->vm_flags & VM_WRITE) || userfaultfd_armed(vma) ||
	    vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP))
		return VIA_VMA_REFUSED;
	if (!vma->vm_file)
		return VIA_VMA_ANON;
	magic = file_inode(vma->vm_file)->i_sb->s_magic;
	if (magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC)
		return VIA_VMA_MEMORY;
	return vma->vm_flags & VM_MAYSHARE ? VIA_VMA_REFUSED : VIA_VMA_FILE;
}

/* Of the mappings in a range the last kind in the list above, or REFUSED. */
static enum via_vma_kind via_range_kind(struct mm_struct *mm, u64 start,
					u64 end)
{
	enum via_vma_kind kind, worst = VIA_VMA_ANON;
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	while (start < end) {
		vma = find_vma(mm, start);
		if (!vma || vma->vm_start > start)
			return VIA_VMA_REFUSED;
		kind = via_kind_of_vma(vma);
		if (kind == VIA_VMA_REFUSED)
			return kind;
		if (kind > worst)
			worst = kind;
		start = vma->vm_end;
	}
	return worst;
}

/* How many of the pages, from the first on, are anonymous (2).  They are pinned. */
static long via_count_anon(struct page **pages, long n)
{
	struct folio *folio;
	struct page *page;
	long i = 0, end;

	while (i < n) {
		page = pages[i];
		folio = page_folio(page);
		if (!folio_test_anon(folio))
			break;
		end = i + 1;
		if (folio_test_large(folio))
			end = min_t(long, n, i + folio_nr_pages(folio) -
					     folio_page_idx(folio, page));
		/* Pages of one folio need not be mapped one after the other. */
		while (++i < end && pages[i] == ++page)
			;
	}
	return i;
}

/* (1), (2): pin what is there, and anonymous.  Returns how many. */
static long via_pin_present(struct page **pages, u64 start, u32 n)
{
	long got, anon;

	got = pin_user_pages_fast(start, n, FOLL_WRITE | FOLL_LONGTERM |
					    FOLL_NOFAULT, pages);
	if (got <= 0)
		return 0;
	anon = via_count_anon(pages, got);
	if (anon < got)
		unpin_user_pages(pages + anon, got - anon);
	return anon;
}

/* Are the mappings anonymous?  -errno: there are some that are refused. */
static int via_range_is_anon(struct mm_struct *mm, u64 start, u32 n)
{
	enum via_vma_kind kind;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	kind = via_range_kind(mm, start, start + ((u64)n << PAGE_SHIFT));
	mmap_read_unlock(mm);
	return kind == VIA_VMA_REFUSED ? -EFAULT : kind == VIA_VMA_ANON;
}

/*
 * Pin some pages, of which each is memory already or comes without help from a
 * program.  Returns how many, 0: fault them in first, or -errno.
 *
 * Linux 6.1 pins for long with mmap_lock held and cannot be killed while it
 * waits for a page.  A file may be served by a program (FUSE) or by another
 * machine, so of its private copy only what is there is pinned.
 */
static long via_pin_slowly(struct via_region *r, struct mm_struct *mm,
			   u64 start, u32 done, u32 n)
{
	unsigned int flags = FOLL_WRITE | FOLL_LONGTERM;
	enum via_vma_kind kind;
	long ret = -EFAULT;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	kind = via_range_kind(mm, start, start + ((u64)n << PAGE_SHIFT));
	if (kind == VIA_VMA_FILE)
		flags |= FOLL_NOFAULT;
	if (kind != VIA_VMA_REFUSED)
		ret = pin_user_pages(start, n, flags, r->pages + done);
	mmap_read_unlock(mm);
	if (kind == VIA_VMA_FILE && ret <= 0)
		return 0;
	return ret ?: -EFAULT;
}

/* The same, by the way that suits the first pages. */
static long via_pin_some(struct via_region *r, struct mm_struct *mm, u64 start,
			 u32 done, u32 n)
{
	long ret = via_range_is_anon(mm, start, n);

	if (ret > 0)
		ret = via_pin_present(r->pages + done, start, n);
	return ret ?: via_pin_slowly(r, mm, start, done, n);
}

/*
 * Have the pages there, as if the program had written to them: no lock is held
 * while one is waited for, and a fatal signal ends it.  They are kept until
 * they are pinned, but may be replaced.
 */
static long via_fault_some(struct via_region *r, u64 start, u32 done, u32 n)
{
	long got, i;

	got = get_user_pages_unlocked(start, n, r->pages + done, FOLL_WRITE);
	for (i = 0; i < got; i++)
		put_page(r->pages[done + i]);
	return got ?: -EFAULT;
}

#define VIA_PIN_CHUNK	512u	/* pages pinned in one go */
#define VIA_PIN_TRIES	100u	/* for pages that go as soon as they have come */

/* Pin r->npages pages from first on; all or nothing. */
static int via_region_pin(struct via_region *r, struct mm_struct *mm,
			  u64 first)
{
	u32 done = 0, n, tries = 0;
	u64 start;
	long ret;

	while (done < r->npages) {
		ret = -EINTR;
		if (fatal_signal_pending(current))
			goto err;
		start = first + ((u64)done << PAGE_SHIFT);
		n = min(r->npages - done, VIA_PIN_CHUNK);
		ret = via_pin_some(r, mm, start, done, n);
		if (!ret) {
			ret = tries++ < VIA_PIN_TRIES ?
			      via_fault_some(r, start, done, n) : -EFAULT;
			if (ret < 0)
				goto err;
			continue;
		}
		if (ret < 0)
			goto err;
		tries = 0;
		done += ret;
		cond_resched();
	}
	return 0;
err:
	if (done)
		unpin_user_pages(r->pages, done);
	/* A fault that a fatal signal has ended may say EFAULT. */
	return fatal_signal_pending(current) ? -EINTR : ret;
}

/*
 * Counted as pinned, as InfiniBand does it, and not as locked: that count is
 * guarded by mmap_lock, which a program can hold by a fault that its own file
 * system answers, and the end of a handle waits for no program.  What is locked
 * counts here, too, so that a region gets no more than RLIMIT_MEMLOCK leaves.
 */
static bool via_pages_charge(struct mm_struct *mm, u32 npages)
{
	u64 most = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	u64 pinned = atomic64_add_return(npages, &mm->pinned_vm);

	if (pinned + READ_ONCE(mm->locked_vm) <= most || capable(CAP_IPC_LOCK))
		return true;
	atomic64_sub(npages, &mm->pinned_vm);
	return false;
}

static void via_pages_uncharge(struct mm_struct *mm, u32 npages)
{
	atomic64_sub(npages, &mm->pinned_vm);
}

static void via_region_unpin(struct via_file *f, struct via_region *r)
{
	u32 done, n;

	/* A region may have millions of pages. */
	for (done = 0; done < r->npages; done += n) {
		n = min(r->npages - done, VIA_PIN_CHUNK);
		unpin_user_pages_dirty_lock(r->pages + done, n, true);
		cond_resched();
	}
	via_pages_uncharge(f->mm, r->npages);
	via_quota_uncharge(f->quota, VIA_QUOTA_PAGES, r->npages);
	atomic_long_add(r->npages, &via_gone.pages);
}

void via_region_free(struct via_region *r)
{
	kvfree(r->pages);
	kfree(r);
}

void via_region_end(struct via_file *f, struct via_region *r)
{
	via_region_unpin(f, r);
	via_region_free(r);
}

/*
 * Charge, then take memory and pin; the reverse order of via_region_unpin().
 */
int via_region_fill(struct via_file *f, struct via_region *r,
		    struct via_mem_register *arg)
{
	int ret;

	if (!via_pages_charge(f->mm, r->npages)) {
		arg->reason = VIA_REASON_MEMLOCK;
		return VIA_R_ERROR_RESOURCE;
	}
	if (!via_quota_charge(f->quota, VIA_QUOTA_PAGES, r->npages)) {
		arg->reason = VIA_REASON_USER_QUOTA;
		ret = VIA_R_ERROR_RESOURCE;
		goto err_account;
	}
	r->pages = kvmalloc_array(r->npages, sizeof(*r->pages),
				  GFP_KERNEL_ACCOUNT);
	ret = r->pages ? via_region_pin(r, f->mm, arg->addr & PAGE_MASK) :
			 -ENOMEM;
	if (!ret) {
		atomic_long_add(r->npages, &via_made.pages);
		return 0;
	}
	if (ret == -ENOMEM)
		ret = VIA_R_ERROR_RESOURCE;
	else if (ret != -EINTR)
		ret = VIA_R_INVALID_PARAMETER;
	via_quota_uncharge(f->quota, VIA_QUOTA_PAGES, r->npages);
err_account:
	via_pages_uncharge(f->mm, r->npages);
	return ret;
}

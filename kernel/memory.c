// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registered memory.
 *
 * Pages are pinned for writing and for long, whatever the rights of the
 * region, so that one rule holds for every kernel: what cannot be written by
 * the program (or belongs to a file system or a device) cannot be registered.
 * Pins are charged to RLIMIT_MEMLOCK of the owner's address space and to a
 * total per user.
 */

#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/userfaultfd_k.h>
#include "dma.h"
#include "ledger.h"
#include "memory.h"
#include "ptag.h"
#include "quota.h"
#include "vi.h"

/* What a mapping is to registration. */
enum via_vma_kind {
	VIA_VMA_REFUSED,
	VIA_VMA_MEMORY,		/* anonymous, shmem, huge pages */
	VIA_VMA_FILE,		/* private, of a file: the copy is memory */
};

/*
 * Writable, and neither a device nor a file that is shared.  Not what a
 * userfaultfd brings: mmap_lock is held while the program would be waited for.
 */
static enum via_vma_kind via_vma_kind(struct vm_area_struct *vma)
{
	unsigned long magic;

	if (!(vma->vm_flags & VM_WRITE) || userfaultfd_armed(vma) ||
	    vma->vm_flags & (VM_IO | VM_PFNMAP | VM_MIXEDMAP))
		return VIA_VMA_REFUSED;
	if (!vma->vm_file)
		return VIA_VMA_MEMORY;
	magic = file_inode(vma->vm_file)->i_sb->s_magic;
	if (magic == TMPFS_MAGIC || magic == HUGETLBFS_MAGIC)
		return VIA_VMA_MEMORY;
	return vma->vm_flags & VM_MAYSHARE ? VIA_VMA_REFUSED : VIA_VMA_FILE;
}

/* The worst of the mappings in a range: FILE if there is one, or REFUSED. */
static enum via_vma_kind via_range_kind(struct mm_struct *mm, u64 start,
					u64 end)
{
	enum via_vma_kind kind, worst = VIA_VMA_MEMORY;
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	while (start < end) {
		vma = find_vma(mm, start);
		if (!vma || vma->vm_start > start)
			return VIA_VMA_REFUSED;
		kind = via_vma_kind(vma);
		if (kind == VIA_VMA_REFUSED)
			return kind;
		if (kind == VIA_VMA_FILE)
			worst = kind;
		start = vma->vm_end;
	}
	return worst;
}

/*
 * Pin some pages, of which each is memory already or comes without help from a
 * program.  Returns how many, 0: fault them in first, or -errno.
 *
 * Linux 6.1 pins for long with mmap_lock held and cannot be killed while it
 * waits for a page.  A file may be served by a program (FUSE) or by another
 * machine, so of its private copy only what is there is pinned.
 */
static long via_pin_some(struct via_region *r, struct mm_struct *mm, u64 start,
			 u32 done, u32 n)
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
	if (f->region_count >= lim->max_regions ||
	    a->len > lim->max_register_bytes - f->region_bytes)
		return VIA_R_ERROR_RESOURCE;
	return 0;
}

/* Where the data path finds the region of an index. */
static struct via_region **via_region_place(struct via_file *f, u32 index)
{
	struct via_region ***chunk;

	lockdep_assert_held(&f->mutex);
	chunk = &f->region_dir[index / VIA_REGION_CHUNK];
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

	ret = xa_alloc_cyclic(&f->regions, &index, r,
			      XA_LIMIT(1, VIA_HANDLE_MASK), &f->region_next,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	if (ret == 1)
		f->region_gen++;
	r->handle = f->region_gen << VIA_HANDLE_BITS | index;
	place = via_region_place(f, index);
	if (!place) {
		xa_erase(&f->regions, index);
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

static void via_region_free(struct via_region *r)
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
static int via_region_fill(struct via_file *f, struct via_region *r,
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
		f->region_count++;
		f->region_bytes += arg->len;
	}
	via_file_unlock(f);
	return ret;
}

static void via_region_unreserve(struct via_file *f, u32 ptag, u64 len)
{
	lockdep_assert_held(&f->mutex);
	f->region_count--;
	f->region_bytes -= len;
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
	xa_erase(&f->regions, index);
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
	r = xa_load(&f->regions, handle & VIA_HANDLE_MASK);
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
	xa_lock(&f->regions);
	r = xa_find(&f->regions, &index, ULONG_MAX, XA_PRESENT);
	if (r) {
		view->index = index;
		view->ptag = READ_ONCE(r->ptag);
		view->rights = READ_ONCE(r->rights);
		view->npages = r->npages;
		view->len = r->len;
	}
	xa_unlock(&f->regions);
	return r;
}

void via_mem_destroy_all(struct via_file *f)
{
	struct via_region *r;
	unsigned long index;

	lockdep_assert_held(&f->mutex);
	xa_for_each(&f->regions, index, r) {
		via_region_destroy(f, r);
		cond_resched();
	}
	xa_destroy(&f->regions);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory: allocation that can fail, pages, address spaces, what is pinned.
 *
 * A program's address is an address of this process, so that the kernel's
 * address of a pinned page is the same one.  Pages that are shared with a
 * program are of a file in memory, mapped where the program asked for it.
 */
#ifndef SIM_KERNEL_MM_H
#define SIM_KERNEL_MM_H

#include "sched.h"

#define GFP_KERNEL		1u
#define GFP_ATOMIC		2u
#define GFP_NOWAIT		2u
#define GFP_KERNEL_ACCOUNT	5u
#define __GFP_ACCOUNT		4u
#define __GFP_ZERO		8u
#define __GFP_NOWARN		16u
#define __GFP_HIGHMEM		0u

bool sim_alloc_fails(void);
void *sim_kmalloc(size_t n, gfp_t gfp);
void kfree(const void *p);
#define kmalloc(n, g)		sim_kmalloc(n, g)
#define kzalloc(n, g)		sim_kmalloc(n, (g) | __GFP_ZERO)
#define kcalloc(n, s, g)	sim_kmalloc((size_t)(n) * (s), (g) | __GFP_ZERO)
#define kmalloc_array(n, s, g)	sim_kmalloc((size_t)(n) * (s), g)
#define kvmalloc_array(n, s, g)	sim_kmalloc((size_t)(n) * (s), g)
#define kvcalloc(n, s, g)	kcalloc(n, s, g)
#define kvzalloc(n, g)		kzalloc(n, g)
#define kvfree(p)		kfree(p)
void kfree_sensitive(const void *p);
#define SIM_SECRET		8
extern const u8 *sim_secret;	/* no freed memory may have these */
char *kstrdup(const char *s, gfp_t gfp);
void *kmemdup(const void *p, size_t n, gfp_t gfp);

/* Pages */

#define PAGE_SHIFT		12
#define PAGE_SIZE		4096ul
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define PAGE_ALIGN(x)		ALIGN(x, PAGE_SIZE)
#define TASK_SIZE		0x7ffffffff000ul
#define PAGE_KERNEL		0
#define VM_MAP			4
#define VM_USERMAP		8

struct page {
	void *addr;			/* kernel's address of its bytes */
	int refs;
	int pins;
	bool user;			/* of a program, not of the arena */
	bool anon;			/* of a program, and of no file */
	struct page *next;
};

/* All are of one page. */
struct folio {
	struct page page;
};

#define page_folio(p)		((struct folio *)(p))
#define folio_test_anon(f)	((f)->page.anon)
#define folio_test_large(f)	((void)(f), false)
#define folio_nr_pages(f)	((void)(f), 1l)
#define folio_page_idx(f, p)	((p) - &(f)->page)

struct page *alloc_page(gfp_t gfp);
void __free_page(struct page *p);
void get_page(struct page *p);
void put_page(struct page *p);
unsigned long get_zeroed_page(gfp_t gfp);
void free_page(unsigned long addr);
struct page *virt_to_page(const void *addr);
#define compound_head(p)	(p)
#define sendpage_ok(p)		((p)->refs > 0)
bool is_vmalloc_addr(const void *addr);	/* no page of alloc_page() has it */
#define offset_in_page(p)	((unsigned long)(p) & ~PAGE_MASK)
#define page_address(p)		((p)->addr)
#define page_to_phys(p)		((phys_addr_t)(uintptr_t)(p)->addr)
void *vmap(struct page **pages, unsigned int n, unsigned long flags, int prot);
void vunmap(const void *addr);
unsigned long totalram_pages(void);
extern unsigned long sim_ram;		/* pages; a scenario's to change */

/* Address spaces */

#define VM_READ			0x1ul
#define VM_WRITE		0x2ul
#define VM_SHARED		0x8ul
#define VM_MAYWRITE		0x20ul
#define VM_MAYSHARE		0x80ul
#define VM_PFNMAP		0x400ul
#define VM_IO			0x4000ul
#define VM_DONTCOPY		0x20000ul
#define VM_DONTEXPAND		0x40000ul
#define VM_DONTDUMP		0x4000000ul
#define VM_MIXEDMAP		0x10000000ul
#define TMPFS_MAGIC		0x01021994
#define HUGETLBFS_MAGIC		0x958458f6

typedef unsigned long vm_flags_t;

struct file;
struct vm_area_struct;
struct page;

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
	struct page *page;
};

typedef unsigned int vm_fault_t;
#define VM_FAULT_SIGBUS		0x2u

struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
	int (*mremap)(struct vm_area_struct *vma);
	int (*may_split)(struct vm_area_struct *vma, unsigned long addr);
};

struct vm_area_struct {
	struct list_head link;		/* of the mm */
	struct mm_struct *vm_mm;
	unsigned long vm_start, vm_end, vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
	struct page **pages;		/* mapped in it; NULL: not there yet */
	u32 npages;
	bool fixed;			/* in memory that stays mapped */
	bool inherited;			/* a child's, in its parent's memory */
	/* Its pages come only when this says so: a fault that takes time. */
	bool (*arrived)(void *arg);
	void *arrived_arg;
	struct list_head faulting;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
	atomic_t count;
	struct list_head vmas;
	unsigned long locked_vm;	/* pages: mlock() */
	atomic64_t pinned_vm;		/* pages */
	long locked_max;		/* RLIMIT_MEMLOCK, pages */
	bool dead;			/* its mappings are gone */
};

struct mm_struct *sim_mm_new(void);
#define mmgrab(m)		atomic_inc(&(m)->count)
void mmdrop(struct mm_struct *m);
#define mmap_read_lock_killable(m) down_read_killable(&(m)->mmap_lock)
#define mmap_read_lock(m)	down_read(&(m)->mmap_lock)
#define mmap_read_unlock(m)	up_read(&(m)->mmap_lock)
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr);
#define userfaultfd_armed(v)	false
int vm_insert_page(struct vm_area_struct *vma, unsigned long addr,
		   struct page *page);
int vm_map_pages(struct vm_area_struct *vma, struct page **pages,
		 unsigned long n);
/* All pages that a program's touch would bring.  mmap_lock held. */
void sim_fault_in(struct vm_area_struct *vma);
int account_locked_vm(struct mm_struct *mm, unsigned long pages, bool inc);
#define rlimit(what) \
	((unsigned long)current->mm->locked_max << PAGE_SHIFT)

#define FOLL_WRITE		1u
#define FOLL_LONGTERM		2u
#define FOLL_NOFAULT		4u
long pin_user_pages(unsigned long start, unsigned long n, unsigned int flags,
		    struct page **pages);
long pin_user_pages_fast(unsigned long start, unsigned long n,
			 unsigned int flags, struct page **pages);

static inline void vm_flags_set(struct vm_area_struct *v, unsigned long flags)
{
	v->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *v,
				  unsigned long flags)
{
	v->vm_flags &= ~flags;
}

long get_user_pages_unlocked(unsigned long start, unsigned long n,
			     struct page **pages, unsigned int flags);
void unpin_user_pages(struct page **pages, unsigned long n);
void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty);
unsigned long copy_from_user(void *to, const void *from, unsigned long n);
unsigned long copy_to_user(void *to, const void *from, unsigned long n);
#define u64_to_user_ptr(x)	((void *)(uintptr_t)(x))
#define access_ok(p, n)		true
#define get_user(x, p)		(copy_from_user(&(x), p, sizeof(x)) ? -EFAULT : 0)
#define put_user(x, p)							\
({									\
	typeof(*(p)) _v = (x);						\
	copy_to_user(p, &_v, sizeof(_v)) ? -EFAULT : 0;			\
})

struct mem_cgroup;
#define get_mem_cgroup_from_mm(m)	((struct mem_cgroup *)(m))
#define mem_cgroup_put(m)		((void)(m))
struct mem_cgroup *set_active_memcg(struct mem_cgroup *group);
/* Bytes allocated and not freed, charged to some group or to none. */
extern size_t sim_charged, sim_uncharged;

extern long sim_pins;			/* acquired and not released */

/* Arrays by index */

struct xarray {
	spinlock_t xa_lock;
	void **slots;
	unsigned long n;		/* slots there are */
	bool alloc1;
};

#define XA_FLAGS_ALLOC1		1
#define XA_FLAGS_ALLOC		0
struct xa_limit { u32 max, min; };
#define XA_LIMIT(lo, hi)	((struct xa_limit){ .min = (lo), .max = (hi) })
#define xa_init_flags(xa, f)						\
do {									\
	memset(xa, 0, sizeof(*(xa)));					\
	spin_lock_init(&(xa)->xa_lock);					\
} while (0)
#define xa_lock(xa)		spin_lock(&(xa)->xa_lock)
#define xa_unlock(xa)		spin_unlock(&(xa)->xa_lock)
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_store(struct xarray *xa, unsigned long index, void *p, gfp_t gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
int xa_alloc_cyclic(struct xarray *xa, u32 *index, void *p,
		    struct xa_limit limit, u32 *next, gfp_t gfp);
void xa_destroy(struct xarray *xa);
int xa_err(void *p);
void *sim_xa_next(struct xarray *xa, unsigned long *index);
#define xa_for_each(xa, i, p)						\
	for ((i) = 0; ((p) = sim_xa_next(xa, &(i))); (i)++)
#define XA_PRESENT		0
#define xa_find(xa, i, max, f)	((void)(max), (void)(f), sim_xa_next(xa, i))
#define xa_mk_value(v)		((void *)((uintptr_t)(v) << 1 | 1))
#define xa_to_value(p)		((unsigned long)(uintptr_t)(p) >> 1)
bool sim_xa_empty(struct xarray *xa);
#define xa_empty(xa)		sim_xa_empty(xa)

struct idr {
	void **slots;
	int n;
};

#define DEFINE_IDR(n)		struct idr n
int idr_alloc(struct idr *idr, void *p, int start, int end, gfp_t gfp);
void *idr_find(struct idr *idr, unsigned long id);
void *idr_remove(struct idr *idr, unsigned long id);
void *idr_replace(struct idr *idr, void *p, unsigned long id);
void idr_destroy(struct idr *idr);

#endif

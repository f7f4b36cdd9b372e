// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory. */
#include <sys/mman.h>
#include <unistd.h>
#include "mm.h"
#include "dev.h"
#include "../engine.h"
#include "model.h"

/* Allocation: each one is known until it is freed, with its place in the code. */

#define ALLOCS_BITS	18

static struct alloc {
	const void *p;
	void *from;
	size_t n;
	bool charged;
} *allocs;
static u32 nallocs, alloc_count;
size_t sim_charged, sim_uncharged;
const u8 *sim_secret;

static u32 alloc_slot(const void *p)
{
	u32 i = hash_long((uintptr_t)p >> 4, ALLOCS_BITS);

	while (allocs[i].p && allocs[i].p != p)
		i = (i + 1) & ((1u << ALLOCS_BITS) - 1);
	return i;
}

static void forget_alloc(u32 i)
{
	u32 mask = (1u << ALLOCS_BITS) - 1, j = i, home;

	/* What was pushed on by it moves up. */
	for (;;) {
		allocs[i].p = NULL;
		for (;;) {
			j = (j + 1) & mask;
			if (!allocs[j].p)
				return;
			home = hash_long((uintptr_t)allocs[j].p >> 4,
					 ALLOCS_BITS);
			if (((j - home) & mask) >= ((j - i) & mask))
				break;
		}
		allocs[i] = allocs[j];
		i = j;
	}
}

bool sim_alloc_fails(void)
{
	alloc_count++;
	return sim_config.fail_alloc && alloc_count == sim_config.fail_alloc;
}

u32 sim_allocations(void)
{
	return alloc_count;
}

struct mem_cgroup *set_active_memcg(struct mem_cgroup *group)
{
	struct mem_cgroup *old = sim_self->group;

	sim_self->group = group;
	return old;
}

/* As the kernel does it: in an interrupt only for a group that is named. */
static bool is_charged(gfp_t gfp)
{
	return gfp & __GFP_ACCOUNT &&
	       (sim_self->group || (current && current->mm));
}

void *sim_kmalloc(size_t n, gfp_t gfp)
{
	bool charged = is_charged(gfp);
	void *p;
	u32 i;

	if (gfp & GFP_KERNEL)
		might_sleep();
	if (sim_alloc_fails() || (sim_config.no_atomic && gfp & GFP_ATOMIC)) {
		sim_log("allocation %u of %zu bytes fails", alloc_count, n);
		return NULL;
	}
	p = gfp & __GFP_ZERO ? calloc(1, n ? n : 1) : malloc(n ? n : 1);
	if (!p)
		sim_fail("no memory: %zu bytes", n);
	if (!allocs)
		allocs = calloc(1u << ALLOCS_BITS, sizeof(*allocs));
	if (nallocs++ > 1u << (ALLOCS_BITS - 1))
		sim_fail("too many allocations");
	if (!(gfp & __GFP_ZERO))
		memset(p, 0xa5, n);
	i = alloc_slot(p);
	allocs[i] = (struct alloc){ p, __builtin_return_address(0), n,
				    charged };
	*(charged ? &sim_charged : &sim_uncharged) += n;
	return p;
}

void kfree(const void *p)
{
	u32 i;

	if (!p || IS_ERR(p))
		return;
	sim_drain();
	i = alloc_slot(p);
	if (!allocs[i].p)
		sim_fail("kfree() of what is not allocated, or twice");
	if (sim_secret && memmem(p, allocs[i].n, sim_secret, SIM_SECRET))
		sim_fail("a secret stays in memory that is freed");
	*(allocs[i].charged ? &sim_charged : &sim_uncharged) -= allocs[i].n;
	forget_alloc(i);
	nallocs--;
	free((void *)p);
}

void kfree_sensitive(const void *p)
{
	if (p && !IS_ERR(p))
		memset((void *)p, 0, allocs[alloc_slot(p)].n);
	kfree(p);
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return kmemdup(s, strlen(s) + 1, gfp);
}

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *q = sim_kmalloc(n, gfp);

	if (q)
		memcpy(q, p, n);
	return q;
}

/* The arena: pages of a file in memory, so that they can be mapped again. */

#define ARENA_PAGES	(1u << 18)	/* 1 GiB, used as it is needed */

static int arena_fd = -1;
static char *arena;
static struct page *arena_page;
static u32 *arena_free;			/* a stack of numbers */
static u32 narena_free, arena_used;
static u32 arena_out;			/* pages allocated */

static void arena_init(void)
{
	arena_fd = memfd_create("via-sim", MFD_CLOEXEC);
	if (arena_fd < 0 || ftruncate(arena_fd, (off_t)ARENA_PAGES * PAGE_SIZE))
		sim_fail("no memory file");
	arena = mmap(NULL, ARENA_PAGES * PAGE_SIZE, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_NORESERVE, arena_fd, 0);
	arena_page = calloc(ARENA_PAGES, sizeof(*arena_page));
	arena_free = calloc(ARENA_PAGES, sizeof(*arena_free));
	if (arena == MAP_FAILED || !arena_page || !arena_free)
		sim_fail("no memory for pages");
}

static u32 number_of(const struct page *p)
{
	return p - arena_page;
}

struct page *alloc_page(gfp_t gfp)
{
	struct page *p;
	u32 n;

	if (gfp & GFP_KERNEL)
		might_sleep();
	if (sim_alloc_fails())
		return NULL;
	if (!arena)
		arena_init();
	if (!narena_free && arena_used == ARENA_PAGES)
		sim_fail("no pages left");
	n = narena_free ? arena_free[--narena_free] : arena_used++;
	p = &arena_page[n];
	*p = (struct page){ .addr = arena + n * PAGE_SIZE, .refs = 1 };
	if (gfp & __GFP_ZERO)
		memset(p->addr, 0, PAGE_SIZE);
	arena_out++;
	return p;
}

void get_page(struct page *p)
{
	if (p->refs <= 0)
		sim_fail("get_page() of a free page");
	p->refs++;
}

static void user_page_gone(struct page *p);

void put_page(struct page *p)
{
	if (p->refs <= 0)
		sim_fail("put_page() of a free page");
	if (--p->refs)
		return;
	if (p->user) {
		user_page_gone(p);
		return;
	}
	/* A use after free reads poison. */
	memset(p->addr, 0x6b, PAGE_SIZE);
	arena_free[narena_free++] = number_of(p);
	arena_out--;
}

void __free_page(struct page *p)
{
	put_page(p);
}

unsigned long get_zeroed_page(gfp_t gfp)
{
	struct page *p = alloc_page(gfp | __GFP_ZERO);

	return p ? (unsigned long)p->addr : 0;
}

void free_page(unsigned long addr)
{
	if (addr)
		put_page(virt_to_page((void *)addr));
}

bool is_vmalloc_addr(const void *addr)
{
	return (uintptr_t)addr - (uintptr_t)arena >= ARENA_PAGES * PAGE_SIZE;
}

struct page *virt_to_page(const void *addr)
{
	u64 n = ((uintptr_t)addr - (uintptr_t)arena) / PAGE_SIZE;

	if (n >= ARENA_PAGES)
		sim_fail("virt_to_page() of a strange address");
	return &arena_page[n];
}

unsigned long sim_ram;

unsigned long totalram_pages(void)
{
	return sim_ram;
}

/* Pages of the arena one behind the other, at @at or anywhere. */
static void *map_pages(void *at, struct page **pages, u32 n)
{
	size_t bytes = n * PAGE_SIZE;
	u32 i = 0, run;

	if (!at)
		at = mmap(NULL, bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	while (at != MAP_FAILED && i < n) {
		for (run = 1; i + run < n; run++)
			if (pages[i + run] != pages[i] + run)
				break;
		if (mmap((char *)at + i * PAGE_SIZE, run * PAGE_SIZE,
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 arena_fd,
			 (off_t)number_of(pages[i]) * PAGE_SIZE) == MAP_FAILED)
			at = MAP_FAILED;
		i += run;
	}
	if (at == MAP_FAILED)
		sim_fail("cannot map %u pages", n);
	return at;
}

#define VMAPS_MAX	8192

static struct {
	const void *addr;
	size_t bytes;
} vmaps[VMAPS_MAX];
static int nvmaps;

void *vmap(struct page **pages, unsigned int n, unsigned long flags, int prot)
{
	void *p;

	might_sleep();
	if (sim_alloc_fails())
		return NULL;
	p = map_pages(NULL, pages, n);
	if (nvmaps == VMAPS_MAX)
		sim_fail("too many mappings");
	vmaps[nvmaps].addr = p;
	vmaps[nvmaps++].bytes = n * PAGE_SIZE;
	return p;
}

void vunmap(const void *addr)
{
	int i;

	might_sleep();
	for (i = 0; addr && i < nvmaps; i++)
		if (vmaps[i].addr == addr) {
			munmap((void *)addr, vmaps[i].bytes);
			vmaps[i] = vmaps[--nvmaps];
			return;
		}
	if (addr)
		sim_fail("vunmap() of what is not mapped");
}

/* Address spaces */

struct mm_struct *sim_mm_new(void)
{
	struct mm_struct *m = sim_kmalloc(sizeof(*m), GFP_KERNEL | __GFP_ZERO);

	if (!m)
		return NULL;
	init_rwsem(&m->mmap_lock);
	atomic_set(&m->count, 1);
	INIT_LIST_HEAD(&m->vmas);
	m->locked_max = 1l << 40;
	return m;
}

void mmdrop(struct mm_struct *m)
{
	if (atomic_dec_return(&m->count))
		return;
	if (m->locked_vm || atomic64_read(&m->pinned_vm))
		sim_fail("an address space goes with %lu pages locked and %ld pinned",
			 m->locked_vm, (long)atomic64_read(&m->pinned_vm));
	kfree(m);
}

/* What a program has not mapped through the simulator is its own memory. */
static struct vm_area_struct everything = {
	.vm_start = PAGE_SIZE * 16,
	.vm_end = TASK_SIZE,
	.vm_flags = VM_READ | VM_WRITE,
};

struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *v;

	list_for_each_entry(v, &mm->vmas, link)
		if (v->vm_start <= addr && addr < v->vm_end)
			return v;
	return addr < TASK_SIZE ? &everything : NULL;
}

/* Pages of a mapping, from one on; the others are not there. */
static int insert(struct vm_area_struct *vma, u32 from, struct page **pages,
		  u32 n)
{
	u32 i;

	if (!vma->pages) {
		vma->npages = (vma->vm_end - vma->vm_start) / PAGE_SIZE;
		vma->pages = calloc(vma->npages, sizeof(*pages));
	}
	if (!vma->pages)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (from + i >= vma->npages || vma->pages[from + i])
			sim_fail("a page is mapped where there is no place");
		get_page(pages[i]);
		vma->pages[from + i] = pages[i];
	}
	map_pages((void *)(vma->vm_start + from * PAGE_SIZE), pages, n);
	return 0;
}

int vm_insert_page(struct vm_area_struct *vma, unsigned long addr,
		   struct page *page)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	return insert(vma, (addr - vma->vm_start) / PAGE_SIZE, &page, 1);
}

void sim_fault_in(struct vm_area_struct *vma)
{
	struct vm_fault vmf = { .vma = vma };
	u32 i;

	for (i = 0; vma->vm_ops && vma->vm_ops->fault && i < vma->npages; i++) {
		if (vma->pages[i])
			continue;
		vmf.pgoff = vma->vm_pgoff + i;
		if (vma->vm_ops->fault(&vmf))
			continue;
		insert(vma, i, &vmf.page, 1);
		/* The fault's own reference is the mapping's. */
		put_page(vmf.page);
	}
}

int vm_map_pages(struct vm_area_struct *vma, struct page **pages,
		 unsigned long n)
{
	if (sim_alloc_fails())
		return -ENOMEM;
	return insert(vma, 0, pages, n);
}

int account_locked_vm(struct mm_struct *mm, unsigned long pages, bool inc)
{
	int ret = 0;

	down_write(&mm->mmap_lock);
	if (inc && mm->locked_vm + pages > mm->locked_max)
		ret = -ENOMEM;
	else if (!inc && mm->locked_vm < pages)
		sim_fail("more pages are uncharged than were charged");
	else
		mm->locked_vm += inc ? pages : -pages;
	up_write(&mm->mmap_lock);
	return ret;
}

/* A page of a program's memory: known while it is referred to. */

#define USER_BITS	12

static struct page *user_pages[1 << USER_BITS];
long sim_pins;

static struct page *user_page(unsigned long addr)
{
	u32 i = hash_long(addr >> PAGE_SHIFT, USER_BITS);
	struct page *p;

	for (p = user_pages[i]; p; p = p->next)
		if (p->addr == (void *)addr) {
			p->refs++;
			return p;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		sim_fail("no memory");
	*p = (struct page){ .addr = (void *)addr, .refs = 1, .user = true,
			    .next = user_pages[i] };
	user_pages[i] = p;
	return p;
}

static void user_page_gone(struct page *p)
{
	struct page **at =
		&user_pages[hash_long((uintptr_t)p->addr >> PAGE_SHIFT,
				      USER_BITS)];

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	free(p);
}

/* Until the page is there; -EINTR: killed. */
static int fault(struct vm_area_struct *v, bool nofault)
{
	while (v->arrived && !v->arrived(v->arrived_arg)) {
		if (nofault)
			return -EFAULT;
		if (current->killed)
			return -EINTR;
		current->__state = TASK_KILLABLE;
		sim_block(&v->faulting);
		current->__state = TASK_RUNNING;
	}
	return 0;
}

static long get_some(unsigned long start, unsigned long n, unsigned int flags,
		     struct page **pages, bool pin)
{
	struct vm_area_struct *v;
	unsigned long i;
	int err;

	might_sleep();
	for (i = 0; i < n; i++) {
		v = find_vma(current->mm, start + i * PAGE_SIZE);
		if (!v || v->vm_start > start + i * PAGE_SIZE ||
		    v->vm_flags & (VM_IO | VM_PFNMAP) ||
		    !(v->vm_flags & VM_WRITE))
			return i ? (long)i : -EFAULT;
		err = fault(v, flags & FOLL_NOFAULT);
		if (err)
			return i ? (long)i : err;
		if (sim_alloc_fails())
			return i ? (long)i : -ENOMEM;
		pages[i] = user_page(start + i * PAGE_SIZE);
		pages[i]->anon = !v->vm_file;
		if (pin) {
			pages[i]->pins++;
			sim_pins++;
		}
	}
	return n;
}

long pin_user_pages(unsigned long start, unsigned long n, unsigned int flags,
		    struct page **pages)
{
	return get_some(start, n, flags, pages, true);
}

/* The caller holds no mmap_lock: it may be taken for what is not there. */
long pin_user_pages_fast(unsigned long start, unsigned long n,
			 unsigned int flags, struct page **pages)
{
	struct mm_struct *mm = current->mm;
	long ret;

	if (!(flags & FOLL_NOFAULT))
		sim_fail("a page is waited for where only what is there counts");
	mmap_read_lock(mm);
	ret = get_some(start, n, flags, pages, true);
	mmap_read_unlock(mm);
	return ret;
}

long get_user_pages_unlocked(unsigned long start, unsigned long n,
			     struct page **pages, unsigned int flags)
{
	return get_some(start, n, flags, pages, false);
}

void unpin_user_pages(struct page **pages, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++) {
		if (pages[i]->pins-- <= 0)
			sim_fail("a page is unpinned that is not pinned");
		sim_pins--;
		put_page(pages[i]);
	}
}

void unpin_user_pages_dirty_lock(struct page **pages, unsigned long n,
				 bool dirty)
{
	might_sleep();
	unpin_user_pages(pages, n);
}

static unsigned long copy_user(void *to, const void *from, const void *user,
			       unsigned long n)
{
	might_sleep();
	sim_drain();
	if (!n)
		return 0;
	if ((uintptr_t)user < 16 * PAGE_SIZE || (uintptr_t)user > TASK_SIZE ||
	    TASK_SIZE - (uintptr_t)user < n)
		return n;
	memcpy(to, from, n);
	return 0;
}

unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	return copy_user(to, from, from, n);
}

unsigned long copy_to_user(void *to, const void *from, unsigned long n)
{
	return copy_user(to, from, to, n);
}

void sim_mm_reset(void)
{
	alloc_count = 0;
	sim_charged = sim_uncharged = 0;
	sim_ram = 1ul << 20;
	sim_pins = 0;
	sim_secret = NULL;
	/*
	 * In order again: each run is the same as alone, and pages that lie
	 * side by side are one mapping of the process, which may have 65,530.
	 */
	if (!arena_out)
		narena_free = arena_used = 0;
}

void sim_mm_check(void)
{
	u32 i;

	if (sim_pins)
		sim_fail("%ld pages stay pinned", sim_pins);
	if (arena_out)
		sim_fail("%u pages are not freed", arena_out);
	if (nvmaps)
		sim_fail("%d mappings of the kernel are left", nvmaps);
	for (i = 0; nallocs && i < 1u << ALLOCS_BITS; i++)
		if (allocs[i].p)
			sim_fail("%u allocations are not freed, the first: %zu bytes, by the caller at %p",
				 nallocs, allocs[i].n, allocs[i].from);
}
